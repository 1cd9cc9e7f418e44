//! `RuleSource`: the reply of which rules can be made, with the earlier replies that each would have given. Nothing is kept by an offer.

use super::{
    client::{Notice, Problem},
    inventory::{CoveredCalls, Patterns, RuleOffer, RuleScope},
    kept_rules::{KeptRule, RuleOrigin, RuledCall},
    local::Shared,
};
use crate::engine::{Event, Gate, GateId, GateKind, GateReply, Run, RunId, RunState, Time, arguments};
use crate::plan::Verdict;
use crate::store::Audit;
use serde_json::Value;
use std::{collections::BTreeMap, path::Path};

/// Calls that are shown of those that an offer would have covered.
const SHOWN: usize = 3;

/// The reply that a rule is made of.
#[derive(Clone, Copy)]
pub struct RuleSource<'a> {
    call: RuledCall<'a>,
    verdict: Verdict,
    gate: GateId,
}

impl<'a> RuleSource<'a> {
    /// Of a reply to a gate.
    ///
    /// # Errors
    /// Where no rule would take the place of such a reply.
    pub fn of(run: &'a RunId, state: &'a RunState, (gate, reply): (&'a Gate, &'a GateReply), workspace: &'a Path) -> Result<Self, Problem> {
        let tool =
            state.tool_of_gate(gate).ok_or_else(|| Problem::new("no rule can be made here: the gate isn't about the call of a tool"))?;
        match &gate.kind {
            GateKind::Permission { leaves: Some(_), .. } => {
                let message = "no rule can be made here: the gate is about data that leaves";
                return Err(Problem::new(message).hint("`dagdeck trust --host` allows a host for good"));
            }
            GateKind::Approval if !state.asks_by_permission(gate) => {
                return Err(Problem::new("no rule can be made here: the plan itself asks, and no rule takes its gates away"));
            }
            _ => {}
        }
        let (verdict, args) = match reply {
            GateReply::Modify { payload } => (Verdict::Allow, payload),
            GateReply::Reject { .. } => (Verdict::Deny, &gate.payload),
            _ => (Verdict::Allow, &gate.payload),
        };
        Ok(Self { call: RuledCall { run, node: &gate.node, tool, args, workspace }, verdict, gate: gate.id })
    }

    /// Of the yes or no that a gate got.
    ///
    /// # Errors
    /// Where nobody approved or rejected it, or no rule would take the place of such a reply.
    pub fn replied(run: &'a RunId, state: &'a RunState, gate: GateId, workspace: &'a Path) -> Result<Self, Problem> {
        match state.gate(gate) {
            Some((gate, Some(decided)))
                if matches!(decided.decision, GateReply::Approve | GateReply::Modify { .. } | GateReply::Reject { .. }) =>
            {
                Self::of(run, state, (gate, &decided.decision), workspace)
            }
            _ => Err(Problem::new(format!("nobody approved or rejected gate {} of run {}", gate.0, crate::engine::short_name(&run.0)))),
        }
    }

    /// The rule of a scope.
    ///
    /// # Errors
    /// When none can cover the call.
    pub fn rule(&self, scope: RuleScope, only: Patterns, by: (String, Time)) -> Result<KeptRule, Problem> {
        let origin = Some(RuleOrigin { run: self.call.run.clone(), gate: self.gate });
        Ok(KeptRule { origin, ..KeptRule::of(self.call, self.verdict, scope, only, by)? })
    }

    /// A rule of each scope, with what it would have decided of what the audit has of the workspace.
    pub fn offers(&self, audit: &Audit) -> Vec<RuleOffer> {
        let replies = replies(audit, self.call.workspace);
        RuleScope::ALL.map(|scope| self.offer(scope, Patterns::new(), &replies)).into()
    }

    fn offer(&self, scope: RuleScope, only: Patterns, replies: &[ReplyThen<'_>]) -> RuleOffer {
        let rule = self.rule(scope, only, (String::new(), Time(0)));
        let covered = rule.as_ref().map(|rule| covered(rule, replies, self.call.workspace)).unwrap_or_default();
        RuleOffer { scope, rule: rule.map(|rule| rule.what()).map_err(|problem| problem.message), covered }
    }
}

/// A call that was asked about, and whether people let it run.
struct ReplyThen<'a> {
    run: &'a RunId,
    gate: &'a Gate,
    args: &'a Value,
    is_yes: bool,
}

/// What people replied in a workspace where a tool asked, oldest first.
fn replies<'a>(audit: &'a Audit, workspace: &Path) -> Vec<ReplyThen<'a>> {
    let mut gates: BTreeMap<(&RunId, GateId), &Gate> = BTreeMap::new();
    let mut found = Vec::new();
    for (run, _, event) in audit.of_workspace(workspace) {
        if let Event::ApprovalRequired { gate } = event
            && gate.tool.is_some()
            && !gate.is_planned()
            && gate.host().is_none()
        {
            gates.insert((run, gate.id), gate);
        }
        if let Event::GateDecided { gate, decision, by, message: _ } = event
            && !by.is_rule()
            && let Some(gate) = gates.get(&(run, *gate)).copied()
        {
            let (args, is_yes) = match decision {
                GateReply::Approve => (&gate.payload, true),
                GateReply::Modify { payload } => (payload, true),
                GateReply::Reject { .. } => (&gate.payload, false),
                GateReply::Answer { .. }
                | GateReply::Lost { .. }
                | GateReply::OnFailure { .. }
                | GateReply::Skip
                | GateReply::CancelBranch => continue,
            };
            found.push(ReplyThen { run, gate, args, is_yes });
        }
    }
    found
}

fn covered(rule: &KeptRule, replies: &[ReplyThen<'_>], workspace: &Path) -> CoveredCalls {
    let is_covered = |reply: &&ReplyThen<'_>| {
        let tool = reply.gate.tool.as_deref().unwrap_or_default();
        rule.covers(RuledCall { run: reply.run, node: &reply.gate.node, tool, args: reply.args, workspace })
    };
    let covered: Vec<&ReplyThen<'_>> = replies.iter().filter(is_covered).collect();
    let approved = covered.iter().filter(|reply| reply.is_yes).count();
    let newest = covered.iter().rev().take(SHOWN).map(|reply| arguments(reply.args).to_string()).collect();
    CoveredCalls { approved, rejected: covered.len() - approved, newest }
}

impl Shared {
    /// Rules that the reply to a gate could become.
    pub(super) fn offer_rules(&self, run: &RunId, gate: GateId) -> Result<Vec<RuleOffer>, Problem> {
        let state = Run::replay(&self.store.records(run)?);
        let audit = self.store.audit()?;
        Ok(RuleSource::replied(run, &state, gate, &self.places.workspace)?.offers(&audit))
    }

    /// The rule for the workspace that it could become, with these patterns.
    pub(super) fn weigh_rule(&self, run: &RunId, gate: GateId, only: Patterns) -> Result<RuleOffer, Problem> {
        let state = Run::replay(&self.store.records(run)?);
        let (audit, workspace) = (self.store.audit()?, &self.places.workspace);
        let source = RuleSource::replied(run, &state, gate, workspace)?;
        Ok(source.offer(RuleScope::Project, only, &replies(&audit, workspace)))
    }

    /// Keeps the rule of a scope that the reply to a gate becomes.
    pub(super) fn keep_rule(&self, run: &RunId, gate: GateId, scope: RuleScope, only: Patterns) -> Result<Notice, Problem> {
        let state = Run::replay(&self.store.records(run)?);
        let source = RuleSource::replied(run, &state, gate, &self.places.workspace)?;
        let rule = source.rule(scope, only, (self.user.clone(), self.clock.now()))?;
        let rules = self.places.kept_trust().rules();
        let KeptRule { id, .. } = rules.add(rule.clone(), &self.permission_log())?;
        Ok(Notice::RuleKept { id, what: rule.what(), file: rules.file().display().to_string() })
    }
}
