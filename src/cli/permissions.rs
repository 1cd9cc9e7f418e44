//! `dagdeck permissions`: the rules that decide calls, where each is kept and how often it did; and the rules that replies to gates make.

use super::{CliContext, CliError, Exit, Io, PermissionsArgs, RuleArgs};
use crate::{
    engine::{Gate, GateKind, GateReply, RunId, RunState},
    host::{Clock, KeptRule, KeptRules, RuledCall, SystemClock, Trust, user},
    plan::Verdict,
    text::{Plain, counted, duration},
};
use serde_json::json;

/// Lists the rules, or ends some.
///
/// # Errors
/// When the configuration can't be used, or a rule can't be ended.
pub fn permissions(args: &PermissionsArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let kept = Trust::of(&place.places.home, &place.places.workspace).rules();
    for id in &args.revoke {
        kept.revoke(*id)?;
        io.say(&format!("revoked rule {id}"));
    }
    if !args.revoke.is_empty() {
        return Ok(Exit::Success);
    }
    let config = place.config()?.permissions;
    let rules = kept.list()?;
    if args.json {
        io.json(&json!({"configuration": config, "kept": rules, "file": kept.file()}))?;
        return Ok(Exit::Success);
    }
    let lists = [("deny", &config.deny), ("ask", &config.ask), ("allow", &config.allow)];
    for (name, glob) in lists.into_iter().flat_map(|(name, globs)| globs.iter().map(move |glob| (name, glob))) {
        io.line(&format!("{name:<5}  {}  (permissions.{name} of the configuration)", Plain::line(glob)))?;
    }
    for rule in &config.rules {
        let verdict: &str = rule.verdict.into();
        io.line(&format!("{verdict:<5}  {}  (permissions.rules of the configuration)", Plain::line(&rule.label())))?;
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
        let tool =
            state.tool_of_gate(gate).ok_or_else(|| CliError::new("no rule can be made here: the gate isn't about the call of a tool"))?;
        match &gate.kind {
            GateKind::Permission { leaves: Some(_), .. } => {
                let message = "no rule can be made here: the gate is about data that leaves";
                return Err(CliError::new(message).hint("`dagdeck trust --host` allows a host for good"));
            }
            GateKind::Approval if !state.asks_by_permission(gate) => {
                return Err(CliError::new("no rule can be made here: the plan itself asks, and no rule takes its gates away"));
            }
            _ => {}
        }
        let (verdict, args) = match reply {
            GateReply::Modify { payload } => (Verdict::Allow, payload),
            GateReply::Reject { .. } => (Verdict::Deny, &gate.payload),
            _ => (Verdict::Allow, &gate.payload),
        };
        let only = self.only.iter().map(|only| {
            let pair = only.split_once('=').map(|(name, pattern)| (name.to_owned(), pattern.to_owned()));
            pair.ok_or_else(|| CliError::usage(format!("`--only {only}` is not NAME=PATTERN")))
        });
        let call = RuledCall { run, node: &gate.node, tool, args, workspace: &place.places.workspace };
        let rule = KeptRule::of(call, verdict, scope, only.collect::<Result<_, _>>()?, (user(), SystemClock.now()))?;
        let rules = Trust::of(&place.places.home, &place.places.workspace).rules();
        let rule = rules.add(rule)?;
        io.say(&format!("rule {}: {}; `dagdeck permissions --revoke {}` ends it", rule.id, Plain::line(&rule.label()), rule.id));
        Ok(Some(NewRule { rules, id: rule.id }))
    }
}

/// A rule whose reply isn't on record yet.
pub(super) struct NewRule {
    rules: KeptRules,
    id: u32,
}

impl NewRule {
    /// The reply was refused, so nobody said this.
    pub(super) fn take_back(&self, io: &mut Io<'_>) {
        match self.rules.revoke(self.id) {
            Ok(()) => io.say(&format!("rule {} was ended, because the reply was refused", self.id)),
            Err(problem) => io.say(&CliError::from(problem).to_string()),
        }
    }
}
