//! Rules for calls: after a reply what such a yes or no could be for more calls, which of them it covers, and keeping it.

use super::super::UpdateTurn;
use crate::console::model::{
    Asks, Dialog, FormDialog, FormThen, GateKey, Model, Pick, PickItem, PickThen, RuleProposal, Status, TextField,
};
use crate::engine::{Event, GateReply, Record, RunId};
use crate::host::client::{Patterns, Request, RuleOffer, RuleScope};
use crate::plan::{Field, FieldKind};
use crate::text::{Plain, counted};
use serde_json::Value;

/// Characters of the longest argument that a pattern is offered for.
const LONGEST: usize = 300;

/// A reply that this console gave is on record: what rules it could become is asked.
pub fn decided(model: &mut Model, turn: &mut UpdateTurn, id: &RunId, records: &[Record]) {
    let Some(RuleProposal::Awaited(key)) = &model.inbox.proposal else { return };
    let is_it = |record: &Record| matches!(record.event, Event::GateDecided { gate, .. } if gate == key.gate);
    if key.run == *id && records.iter().any(is_it) {
        turn.send(Request::OfferRules { run: key.run.clone(), gate: key.gate });
    }
}

/// Says that a rule can be kept, once it is known what it would have covered.
pub fn offered(model: &mut Model, key: GateKey, offers: Vec<RuleOffer>) {
    if !matches!(&model.inbox.proposal, Some(RuleProposal::Awaited(awaited)) if *awaited == key) {
        return;
    }
    let widest = offers.iter().rev().find(|offer| offer.rule.is_ok());
    let Some(covered) = widest.map(|offer| &offer.covered) else { return model.inbox.proposal = None };
    let decided = model.runs.get(&key.run).and_then(|view| view.newest().run.gate(key.gate));
    let Some((gate, Some(decided))) = decided else { return };
    let is_no = matches!(decided.decision, GateReply::Reject { .. });
    let (did, then, like) =
        if is_no { ("rejected", "are refused", covered.rejected) } else { ("approved", "ask no more", covered.approved) };
    let earlier = if like > 1 { format!(": it would have covered {} that you {did}", counted(like, "call")) } else { String::new() };
    let said = format!("{did} `{}` · {} keeps a rule, so that such calls {then}{earlier}", gate.node, model.hint("rules.propose"));
    // How the run ended goes before: the key is among the hints, too.
    if model.status.as_ref().is_some_and(|status| status.text.as_str().starts_with(did)) {
        model.status = Some(Status::good(&model.runs.get(&key.run).map_or_else(|| said.clone(), |view| view.titled(&said))));
    }
    model.inbox.proposal = Some(RuleProposal::Offered(key, offers));
}

/// Shows which rules can be kept.
pub fn propose(model: &mut Model, _: &mut UpdateTurn) {
    let Some(RuleProposal::Offered(key, offers)) = &model.inbox.proposal else { return };
    let item = |offer: &RuleOffer| {
        let then = PickThen::KeepRule(key.clone(), offer.scope);
        match &offer.rule {
            Ok(rule) => PickItem::new(then, rule, &offer.covered.label()),
            Err(why) => PickItem { refused: Some(Plain::line(why)), ..PickItem::new(then, offer.scope.word(), "") },
        }
    };
    let mut items: Vec<PickItem> = offers.iter().map(item).collect();
    let own = PickItem::new(PickThen::ShapeRule(key.clone()), "one of your own", "write which arguments it covers, such as git log *");
    items.extend((!arguments(model, key).is_empty()).then_some(own));
    let mut pick = Pick::new("which calls are decided like this one from now on?", items);
    pick.note = Plain::line("a rule counts until it is ended: `dagdeck permissions --revoke`");
    model.dialogs.push(Dialog::Pick(pick));
}

/// The arguments of the call that a pattern can be written for.
fn arguments(model: &Model, key: &GateKey) -> Vec<(String, String)> {
    let decided = model.runs.get(&key.run).and_then(|view| view.newest().run.gate(key.gate));
    let Some((gate, Some(decided))) = decided else { return Vec::new() };
    let args = if let GateReply::Modify { payload } = &decided.decision { payload } else { &gate.payload };
    let texts = args.as_object().into_iter().flatten().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    texts.filter(|(_, text)| text.len() <= LONGEST && !text.contains('\n')).collect()
}

/// Asks for the patterns of a rule, beginning with the call as it was.
pub fn shape(model: &mut Model, key: &GateKey) {
    let field = |(name, text): (String, String)| {
        let label = Some(format!("{name} (a pattern; empty: any)"));
        let field = Field { name, kind: FieldKind::Text, label, default: None, options: Vec::new(), optional: true };
        (Asks::Field(field), TextField::line(&text))
    };
    let fields = arguments(model, key).into_iter().map(field).collect();
    let title = Plain::line("a rule for this workspace: which arguments does it cover?");
    let then = FormThen::Rule(key.clone(), None);
    model.dialogs.push(Dialog::Form(FormDialog { title, fields, focus: 0, note: None, then }));
}

/// The patterns that were typed.
pub fn patterns(typed: &Value) -> Patterns {
    let texts = typed.as_object().into_iter().flatten().filter_map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned())));
    texts.filter(|(_, text)| !text.is_empty()).collect()
}

/// Asks what the rule would cover, where its patterns are others than before.
pub fn reshaped(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(Dialog::Form(FormDialog { fields, then: FormThen::Rule(key, asked), .. })) = model.dialogs.last_mut() else { return };
    let typed = fields.iter().filter_map(|(asks, text)| match asks {
        Asks::Field(field) => Some((field.name.clone(), text.text().trim().to_owned())),
        Asks::Option(_) => None,
    });
    let only: Patterns = typed.filter(|(_, text)| !text.is_empty()).collect();
    if asked.as_ref() != Some(&only) {
        *asked = Some(only.clone());
        turn.send(Request::WeighRule { run: key.run.clone(), gate: key.gate, only });
    }
}

/// Shows what the rule would cover; what was asked of other patterns is over.
pub fn weighed(model: &mut Model, key: &GateKey, only: &Patterns, offer: &RuleOffer) {
    let Some(Dialog::Form(FormDialog { then: FormThen::Rule(of, asked), note, .. })) = model.dialogs.last_mut() else { return };
    if of == key && asked.as_ref() == Some(only) {
        *note = Some(match &offer.rule {
            Ok(rule) => Plain::summary(&format!("{rule}; {}", offer.covered.label())),
            Err(why) => Plain::summary(why),
        });
    }
}

/// Has a rule kept.
pub fn keep(turn: &mut UpdateTurn, key: GateKey, scope: RuleScope, only: Patterns) {
    turn.send(Request::KeepRule { run: key.run, gate: key.gate, scope, only });
}

/// A rule is kept.
pub fn kept(model: &mut Model, id: u32, what: &str, file: &str) {
    model.inbox.proposal = None;
    if matches!(model.dialogs.last(), Some(Dialog::Form(FormDialog { then: FormThen::Rule(..), .. }))) {
        model.dialogs.pop();
    }
    model.status = Some(Status::good(&format!("rule {id}: {what}; kept in {file}")));
}
