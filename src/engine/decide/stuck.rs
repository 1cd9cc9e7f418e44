//! What follows from a failure that its plan asks people about: the gate with what can be chosen, and what each choice comes to.

use crate::engine::run::Decider;
use crate::engine::{
    Cause, Decided, Event, FailureChoice, GateKind, GateReply, HeldAt, NodeError, SkippedBy, Time, gate::choice_labels, graph::NodeIx,
};
use crate::plan::OnFailure;
use serde_json::Value;

impl Decider<'_> {
    /// Whether people are asked what becomes of a failure. Who stopped or cancelled a node has said so already.
    pub(super) fn asks_on_failure(&self, ix: NodeIx) -> bool {
        let asks = self.policy(ix).and_then(|policy| policy.get(|policy| policy.on_failure)) == Some(OnFailure::Ask);
        let is_stopped = self.is_wrapping_up(ix) || self.progress.stopped_by.is_some() || self.progress.cancelled_by.is_some();
        asks && !is_stopped && !self.nodes[ix].lineage.rehearsed
    }

    /// Asks what becomes of a node whose attempts are over.
    pub(super) fn follow_stuck(&self, ix: NodeIx, now: Time) -> Vec<Event> {
        let Some((error, _)) = self.failure(ix) else { return Vec::new() };
        let id = self.id_of(ix);
        let choices: Vec<FailureChoice> = [FailureChoice::Retry]
            .into_iter()
            .chain(self.listens(ix).then_some(FailureChoice::Model))
            .chain([FailureChoice::Skip, FailureChoice::Fail])
            .collect();
        let text = format!("`{id}` failed. Choose: {}", choice_labels(&choices, " / "));
        let hint = error.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        let acted = if self.nodes[ix].lineage.acted { "; it may have changed something already, which a retry would do again" } else { "" };
        let why = format!("{}{hint}{acted}", error.message);
        // What it was to do may be what can't be known.
        let payload = self.payload(ix).unwrap_or_default();
        vec![self.gate_event(ix, GateKind::Failure { text, choices }, payload, why, now)]
    }

    /// What people said of a failure.
    pub(super) fn follow_failure(&self, ix: NodeIx, decided: &Decided) -> Vec<Event> {
        match &decided.decision {
            GateReply::Modify { .. } | GateReply::OnFailure { choice: FailureChoice::Retry | FailureChoice::Model, .. } => {
                vec![self.ready_event(ix)]
            }
            GateReply::OnFailure { choice: FailureChoice::Skip, .. } | GateReply::Skip => {
                self.skip(ix, SkippedBy::Person, Cause::Skipped { by: decided.by.who.clone(), why: String::new() })
            }
            GateReply::CancelBranch => self.cancel_branch(ix, &Cause::Cancelled { by: decided.by.who.clone(), why: String::new() }),
            GateReply::OnFailure { choice: FailureChoice::Fail, .. }
            | GateReply::Reject { .. }
            | GateReply::Approve
            | GateReply::Answer { .. }
            | GateReply::Lost { .. } => match self.failure(ix) {
                Some((error, result)) => self.fail_for_good(ix, error.clone(), result.cloned()),
                None => Vec::new(),
            },
        }
    }

    /// How its attempts failed, and what they gave.
    fn failure(&self, ix: NodeIx) -> Option<(&NodeError, Option<&Value>)> {
        match self.flows[ix].gates.end.as_deref()? {
            HeldAt::Failure { error, result } => Some((error, result.as_ref())),
            HeldAt::Start | HeldAt::Result { .. } => None,
        }
    }
}
