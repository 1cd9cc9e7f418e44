//! Rules for calls: after an approval what such a yes could be for more calls, and keeping it.

use super::super::UpdateTurn;
use crate::console::model::{Dialog, GateKey, Model, Pick, PickItem, PickThen, RuleProposal, Status};
use crate::engine::{Event, Record, RunId};
use crate::host::client::{Request, RuleOffer, RuleScope};
use crate::text::{Plain, counted};

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
    let earlier = if covered.approved > 1 {
        format!(": it would have covered {} that you approved", counted(covered.approved, "call"))
    } else {
        String::new()
    };
    let node = model.runs.get(&key.run).and_then(|view| Some(view.newest().run.gate(key.gate)?.0.node.to_string())).unwrap_or_default();
    let said = format!("approved `{node}` · {} keeps a rule, so that such calls ask no more{earlier}", model.hint("rules.propose"));
    // How the run ended goes before: the key is among the hints, too.
    if model.status.as_ref().is_some_and(|status| status.text.as_str().starts_with("approved")) {
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
    let mut pick = Pick::new("which calls may run without asking from now on?", offers.iter().map(item).collect());
    pick.note = Plain::line("a rule counts until it is ended: `dagdeck permissions --revoke`");
    model.dialogs.push(Dialog::Pick(pick));
}

/// Has a rule kept.
pub fn keep(model: &mut Model, turn: &mut UpdateTurn, key: GateKey, scope: RuleScope) {
    model.inbox.proposal = None;
    turn.send(Request::KeepRule { run: key.run, gate: key.gate, scope });
}

/// A rule is kept.
pub fn kept(model: &mut Model, id: u32, what: &str, file: &str) {
    model.status = Some(Status::good(&format!("rule {id}: {what}; kept in {file}")));
}
