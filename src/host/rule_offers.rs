//! `RuleSource`: the reply of which rules can be made, with the earlier replies that each would have given. Nothing is kept by an offer.

use super::{
    client::{Notice, Problem},
    inventory::{CoveredCalls, RuleOffer, RuleScope},
    kept_rules::{KeptRule, RuledCall},
    local::Shared,
};
use crate::engine::{Event, Gate, GateId, GateKind, GateReply, Run, RunId, RunState, Time, arguments};
use crate::plan::Verdict;
use crate::store::{Audit, AuditEntry};
use serde_json::Value;
use std::{collections::BTreeMap, path::Path};

/// Calls that are shown of those that an offer would have covered.
const SHOWN: usize = 3;

/// The reply that a rule is made of.
#[derive(Clone, Copy)]
pub struct RuleSource<'a> {
    call: RuledCall<'a>,
    verdict: Verdict,
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
        Ok(Self { call: RuledCall { run, node: &gate.node, tool, args, workspace }, verdict })
    }

    /// Of the yes that a gate got.
    ///
    /// # Errors
    /// Where nobody approved it, or no rule would take the place of such a reply.
    pub fn approved(run: &'a RunId, state: &'a RunState, gate: GateId, workspace: &'a Path) -> Result<Self, Problem> {
        match state.gate(gate) {
            Some((gate, Some(decided))) if matches!(decided.decision, GateReply::Approve | GateReply::Modify { .. }) => {
                Self::of(run, state, (gate, &decided.decision), workspace)
            }
            _ => Err(Problem::new(format!("gate {} of run {} was not approved", gate.0, crate::engine::short_name(&run.0)))),
        }
    }

    /// The rule of a scope.
    ///
    /// # Errors
    /// When none can cover the call.
    pub fn rule(&self, scope: RuleScope, only: BTreeMap<String, String>, by: (String, Time)) -> Result<KeptRule, Problem> {
        KeptRule::of(self.call, self.verdict, scope, only, by)
    }

    /// A rule of each scope, with what it would have decided of what the audit has of the workspace.
    pub fn offers(&self, audit: &Audit) -> Vec<RuleOffer> {
        let replies = replies(audit, self.call.workspace);
        let offer = |scope| {
            let rule = self.rule(scope, BTreeMap::new(), (String::new(), Time(0)));
            let covered = rule.as_ref().map(|rule| covered(rule, &replies, self.call.workspace)).unwrap_or_default();
            RuleOffer { scope, rule: rule.map(|rule| rule.what()).map_err(|problem| problem.message), covered }
        };
        RuleScope::ALL.map(offer).into()
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
    for (AuditEntry { run, .. }, event) in audit.of_workspace(workspace) {
        if let Event::ApprovalRequired { gate } = event
            && gate.tool.is_some()
            && !gate.is_planned()
            && gate.host().is_none()
        {
            gates.insert((run, gate.id), gate);
        }
        if let Event::GateDecided { gate, decision, by } = event
            && !by.is_rule()
            && let Some(gate) = gates.get(&(run, *gate)).copied()
        {
            let (args, is_yes) = match decision {
                GateReply::Approve => (&gate.payload, true),
                GateReply::Modify { payload } => (payload, true),
                GateReply::Reject { .. } => (&gate.payload, false),
                GateReply::Answer { .. } | GateReply::Lost { .. } | GateReply::Skip | GateReply::CancelBranch => continue,
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
    /// Rules that the yes to a gate could become.
    pub(super) fn offer_rules(&self, run: &RunId, gate: GateId) -> Result<Vec<RuleOffer>, Problem> {
        let state = Run::replay(&self.store.records(run)?);
        let audit = self.store.audit()?;
        Ok(RuleSource::approved(run, &state, gate, &self.places.workspace)?.offers(&audit))
    }

    /// Keeps the rule of a scope that the yes to a gate becomes.
    pub(super) fn keep_rule(&self, run: &RunId, gate: GateId, scope: RuleScope) -> Result<Notice, Problem> {
        let state = Run::replay(&self.store.records(run)?);
        let source = RuleSource::approved(run, &state, gate, &self.places.workspace)?;
        let rule = source.rule(scope, BTreeMap::new(), (self.user.clone(), self.clock.now()))?;
        let rules = self.places.kept_trust().rules();
        let KeptRule { id, .. } = rules.add(rule.clone())?;
        Ok(Notice::RuleKept { id, what: rule.what(), file: rules.file().display().to_string() })
    }
}
