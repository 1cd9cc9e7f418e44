//! The part of `evolve` about a node whose attempts are over without its end: somebody says what follows.

use crate::engine::{Cause, FailureChoice, GateId, GateReply, HeldAt, NodeState, flow::Phase, graph::NodeIx, run::RunState};

impl RunState {
    /// What its attempts came to waits for people.
    pub(super) fn end_kept(&mut self, ix: NodeIx, kept: &HeldAt, reason: &Cause) {
        self.drop_worker(ix);
        self.drop_locks(ix);
        self.forget_calls(ix);
        if let HeldAt::Failure { error, .. } = kept {
            self.nodes[ix].error = Some(error.clone());
        }
        self.flows[ix].gates.end = Some(Box::new(kept.clone()));
        self.show(ix, NodeState::Held, reason.clone());
        self.enter(ix, Phase::Stuck);
    }

    /// A person said what becomes of a failure. What they changed holds for the attempts that follow.
    pub(super) fn failure_answered(&mut self, ix: NodeIx, id: GateId, reply: &GateReply) {
        let flow = &mut self.flows[ix];
        flow.failures = 0;
        match reply {
            GateReply::Modify { .. } => flow.gates.approval = Some(id),
            GateReply::OnFailure { choice: FailureChoice::Model, with } => flow.gates.model = Some(with.clone()),
            GateReply::OnFailure { choice: FailureChoice::Retry | FailureChoice::Skip | FailureChoice::Fail, .. }
            | GateReply::Approve
            | GateReply::Reject { .. }
            | GateReply::Answer { .. }
            | GateReply::Lost { .. }
            | GateReply::Skip
            | GateReply::CancelBranch => {}
        }
        self.enter(ix, Phase::Answered(id));
    }

    /// What a node's attempts came to counts no more: it begins another one, with nothing inside.
    pub(super) fn try_again(&mut self, ix: NodeIx) {
        if self.flows[ix].gates.end.take().is_none() || self.flows[ix].bodies.is_none() {
            return;
        }
        let spent = self.empty(ix, &Cause::AttemptOver);
        self.nodes[ix].earlier.add(spent);
    }
}
