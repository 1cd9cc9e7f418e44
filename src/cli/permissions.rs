//! `dagdeck permissions`: the rules that decide calls, where each is kept and how often it did; and the rules that replies to gates make.

use super::{CliContext, CliError, Exit, Io, PermissionsArgs, RuleArgs, headless::StoredRun, ls::short};
use crate::{
    engine::{Actor, Event, Gate, GateId, GateReply, NodeFact, RunId, RunState},
    host::{Clock, KeptRule, KeptRules, PermissionLog, RuleOffer, RuleScope, RuleSource, SystemClock, Trust, user},
    store::{Audit, Store},
    text::{Plain, counted, duration},
};
use serde_json::json;
use std::path::Path;

/// What the user of the command line changes goes on record.
pub(super) fn by_user(store: &Store) -> PermissionLog<'_> {
    PermissionLog { store, by: Actor { who: user(), via: "cli".to_owned() }, at: SystemClock.now() }
}

/// Lists the rules, ends some, or proposes and keeps one for calls like one that was approved.
///
/// # Errors
/// When the configuration can't be used, a rule can't be ended, or none can be made.
pub fn permissions(args: &PermissionsArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    if let Some(name) = &args.like {
        return like(name, args, place, io);
    }
    if args.rule.scope.is_some() {
        return Err(CliError::usage("`--for` needs `--like NODE`: the node or gate whose call was approved"));
    }
    let kept = Trust::of(&place.places.home, &place.places.workspace).rules();
    if !args.revoke.is_empty() {
        let store = place.store()?;
        for id in &args.revoke {
            kept.revoke(*id, &by_user(&store))?;
            io.say(&format!("revoked rule {id}"));
        }
        return Ok(Exit::Success);
    }
    let config = place.config()?.permissions;
    let rules = kept.list()?;
    if args.json {
        io.json(&json!({"configuration": config, "kept": rules, "file": kept.file()}))?;
        return Ok(Exit::Success);
    }
    let audit = place.store().ok().and_then(|store| store.audit().ok()).unwrap_or_default();
    let decided = |list: &str, rule: &str| decided(&audit, &place.places.workspace, &format!("`permissions.{list}` has `{rule}`"));
    let lists = [("deny", &config.deny), ("ask", &config.ask), ("allow", &config.allow)];
    for (name, glob) in lists.into_iter().flat_map(|(name, globs)| globs.iter().map(move |glob| (name, glob))) {
        io.line(&format!("{name:<5}  {}  (permissions.{name} of the configuration; {})", Plain::line(glob), decided(name, glob)))?;
    }
    for rule in &config.rules {
        let (verdict, label): (&str, String) = (rule.verdict.into(), rule.label());
        io.line(&format!("{verdict:<5}  {}  (permissions.rules of the configuration; {})", Plain::line(&label), decided("rules", &label)))?;
    }
    for KeptRule { id, hits, made, .. } in &rules {
        let label = rules.iter().find(|rule| rule.id == *id).map(KeptRule::label).unwrap_or_default();
        let age = duration(SystemClock.now().since(*made));
        let used = counted(usize::try_from(*hits).unwrap_or(usize::MAX), "call");
        io.line(&format!("rule {id}: {}; decided {used}, made {age} ago", Plain::line(&label)))?;
    }
    for (kind, verdict) in
        [("read", config.read), ("reach the network", config.network), ("write", config.write), ("execute", config.execute)]
    {
        let verdict: &str = verdict.into();
        io.line(&format!("{verdict:<5}  calls that {kind}, where no rule says otherwise"))?;
    }
    if !rules.is_empty() {
        io.say(&format!("numbered rules are kept in {}; `dagdeck permissions --revoke NUMBER` ends one", kept.file().display()));
    }
    Ok(Exit::Success)
}

/// How many calls of a workspace a rule of the configuration let run, asked about or refused, in words: its reason begins so.
fn decided(audit: &Audit, workspace: &Path, reason: &str) -> String {
    let is_it = |event: &Event| {
        if let Event::ApprovalRequired { gate } = event {
            return gate.why.contains(reason);
        }
        if let Event::GateDecided { by, .. } = event {
            return by.who.contains(reason);
        }
        let Event::Node { fact, .. } = event else { return false };
        let by_rule = if let NodeFact::ToolStarted { rule, .. } = fact { rule.as_deref() } else { None };
        let refused = if let NodeFact::ToolRefused { message, .. } = fact { Some(message.as_str()) } else { None };
        by_rule.or(refused).is_some_and(|words| words.contains(reason))
    };
    let calls = audit.of_workspace(workspace).into_iter().filter(|(_, _, event)| is_it(event)).count();
    format!("decided {}", counted(calls, "call"))
}

/// Proposes rules for calls like the one that was approved there, or keeps one of them.
fn like(name: &str, args: &PermissionsArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let stored = StoredRun::find(args.run.as_deref().unwrap_or("last"), args.json, place)?;
    let id = approved(&stored, name)?;
    let source = RuleSource::replied(&stored.run, &stored.state, id, &place.places.workspace)?;
    if let Some(scope) = args.rule.scope {
        args.rule.make(scope, source, place, io)?;
        return Ok(Exit::Success);
    }
    let offers = source.offers(&place.store()?.audit()?);
    if args.json {
        io.json(&json!(offers))?;
        return Ok(Exit::Success);
    }
    for offer in &offers {
        let label = match &offer.rule {
            Ok(rule) => format!("{rule}; {}", offer.covered.label()),
            Err(why) => why.clone(),
        };
        io.line(&format!("--for {:<7}  {}", offer.scope.word(), Plain::line(&label)))?;
    }
    io.say("with one of these `--for`, the rule is kept");
    Ok(Exit::Success)
}

/// The gate of that number, or the last one of that node, that somebody approved.
fn approved(stored: &StoredRun, name: &str) -> Result<GateId, CliError> {
    let fits = |gate: &Gate| name == gate.node.as_str() || name.parse() == Ok(gate.id.0);
    let is_yes = |reply: &GateReply| matches!(reply, GateReply::Approve | GateReply::Modify { .. });
    let yes = stored.state.gates().filter(|(gate, decided)| fits(gate) && decided.is_some_and(|decided| is_yes(&decided.decision)));
    let last = yes.last().map(|(gate, _)| gate.id);
    last.ok_or_else(|| {
        CliError::new(format!("nothing was approved at `{name}` in run `{}`", short(&stored.run.0)))
            .hint("`dagdeck show` lists the gates of a run and what was replied")
    })
}

/// Proposes a rule for calls like the one that was approved, with the earlier calls that it would have covered.
pub(super) fn propose((run, state): (&RunId, &RunState), (gate, reply): (&Gate, &GateReply), place: &CliContext, io: &mut Io<'_>) {
    let is_yes = matches!(reply, GateReply::Approve | GateReply::Modify { .. });
    let Some(source) = RuleSource::of(run, state, (gate, reply), &place.places.workspace).ok().filter(|_| is_yes) else { return };
    let Ok(audit) = place.store().and_then(|store| Ok(store.audit()?)) else { return };
    let offers = source.offers(&audit);
    let of = |scope| offers.iter().find(|offer| offer.scope == scope && offer.rule.is_ok());
    if let Some(RuleOffer { scope, rule: Ok(rule), covered }) = of(RuleScope::Project).or_else(|| of(RuleScope::Same)) {
        let command = format!("dagdeck permissions --like {} --run {} --for {}{}", gate.id.0, short(&run.0), scope.word(), place.flags);
        io.say(&format!("`{command}` keeps a rule: {}; {}", Plain::line(rule), Plain::line(&covered.label())));
    }
}

impl RuleArgs {
    /// Keeps the rule that a reply makes, if it makes one.
    ///
    /// # Errors
    /// When no rule can cover the call, or it can't be kept.
    pub(super) fn keep(
        &self,
        (run, state): (&RunId, &RunState),
        (gate, reply): (&Gate, &GateReply),
        place: &CliContext,
        io: &mut Io<'_>,
    ) -> Result<Option<NewRule>, CliError> {
        let Some(scope) = self.scope else { return Ok(None) };
        self.make(scope, RuleSource::of(run, state, (gate, reply), &place.places.workspace)?, place, io).map(Some)
    }

    /// Keeps the rule of a scope.
    fn make(&self, scope: RuleScope, source: RuleSource<'_>, place: &CliContext, io: &mut Io<'_>) -> Result<NewRule, CliError> {
        let only = self.only.iter().map(|only| {
            let pair = only.split_once('=').map(|(name, pattern)| (name.to_owned(), pattern.to_owned()));
            pair.ok_or_else(|| CliError::usage(format!("`--only {only}` is not NAME=PATTERN")))
        });
        let rule = source.rule(scope, only.collect::<Result<_, _>>()?, (user(), SystemClock.now()))?;
        let rules = Trust::of(&place.places.home, &place.places.workspace).rules();
        let store = place.store()?;
        let rule = rules.add(rule, &by_user(&store))?;
        io.say(&format!("rule {}: {}; `dagdeck permissions --revoke {}` ends it", rule.id, Plain::line(&rule.label()), rule.id));
        Ok(NewRule { rules, store, id: rule.id })
    }
}

/// A rule whose reply isn't on record yet.
pub(super) struct NewRule {
    rules: KeptRules,
    store: Store,
    id: u32,
}

impl NewRule {
    /// The reply was refused, so nobody said this.
    pub(super) fn take_back(&self, io: &mut Io<'_>) {
        match self.rules.revoke(self.id, &by_user(&self.store)) {
            Ok(()) => io.say(&format!("rule {} was ended, because the reply was refused", self.id)),
            Err(problem) => io.say(&CliError::from(problem).to_string()),
        }
    }
}
