//! The part of `evolve` about a node whose attempts are over without its end, and about the new plan that may come of it: who waits for
//! which, and what people said.

use crate::engine::{
    Cause, Event, FailureChoice, Gate, GateId, GateReply, HeldAt, Inside, NodeState, ReplanPiece, ReplanTrigger, ReplanUnderWay,
    flow::Phase,
    graph::NodeIx,
    run::{GateEnd, RunState},
};
use crate::engine::{GateKind, gates::edited};
use crate::plan::OnFailure;

impl RunState {
    /// What its attempts came to waits for people or the planner.
    pub(super) fn end_kept(&mut self, ix: NodeIx, kept: &HeldAt, reason: &Cause) {
        self.drop_worker(ix);
        self.drop_locks(ix);
        self.forget_calls(ix);
        if let HeldAt::Failure { error, .. } = kept {
            self.nodes[ix].error = Some(error.clone());
        }
        self.flows[ix].gates.end = Some(Box::new(kept.clone()));
        self.show(ix, NodeState::Held, reason.clone());
        let asks = self.policy(ix).and_then(|policy| policy.get(|policy| policy.on_failure)) == Some(OnFailure::Ask);
        if self.replan().is_none() || asks && matches!(kept, HeldAt::Failure { .. }) {
            return self.enter(ix, Phase::Stuck);
        }
        self.gates.replans.line.push(ix);
        self.show(ix, NodeState::Held, "another new plan is decided first".into());
        self.enter(ix, Phase::Replanning);
    }

    /// A person said what becomes of a failure. What they changed holds for the attempts that follow.
    pub(super) fn failure_answered(&mut self, ix: NodeIx, id: GateId, reply: &GateReply) {
        let flow = &mut self.flows[ix];
        flow.failures = 0;
        match reply {
            GateReply::Modify { .. } => flow.gates.approval = Some(id),
            GateReply::OnFailure { choice: FailureChoice::Model, with } => flow.gates.model = Some(with.clone()),
            GateReply::OnFailure {
                choice: FailureChoice::Retry | FailureChoice::Skip | FailureChoice::Replan | FailureChoice::Fail,
                ..
            }
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
        let gates = &mut self.flows[ix].gates;
        (gates.plan_wanted, gates.no_plan) = (None, None);
        if gates.end.take().is_none() || self.flows[ix].bodies.is_none() {
            return;
        }
        let spent = self.empty(ix, &Cause::AttemptOver);
        let node = &mut self.nodes[ix];
        node.earlier.add(spent);
        node.inside = Inside::default();
    }

    /// A new plan is being made.
    pub(super) fn replan_asked(&mut self, event: &Event) {
        let Event::ReplanAsked { number, node, trigger, guidance, by } = event else { return };
        let (node, trigger, guidance, by) = (node.clone(), trigger.clone(), guidance.clone(), by.clone());
        let asked = ReplanUnderWay { number: *number, node, trigger, guidance, by, gate: None };
        let replans = &mut self.gates.replans;
        replans.made = asked.number;
        if asked.by.is_none() {
            replans.by_itself += 1;
            replans.last_failure = if let ReplanTrigger::Failure { message } = &asked.trigger { Some(message.clone()) } else { None };
        }
        let waits = asked.node.as_ref().and_then(|node| self.graph.find(node));
        self.gates.replans.now = Some(Box::new(asked));
        if let Some(ix) = waits {
            self.flows[ix].gates.no_plan = None;
            self.show(ix, NodeState::Held, "a new plan is being made".into());
            self.enter(ix, Phase::Replanning);
        }
    }

    /// No new plan came: the node that waited for it asks people.
    pub(super) fn replan_failed(&mut self, why: &str) {
        let Some(replan) = self.gates.replans.now.take() else { return };
        if let Some(ix) = replan.node.and_then(|node| self.graph.find(&node)).filter(|&ix| self.flows[ix].phase == Phase::Replanning) {
            self.flows[ix].gates.no_plan = Some(why.to_owned());
            self.enter(ix, Phase::Stuck);
        }
        self.next_plan();
    }

    /// A proposal waits for people, and with it the node that it was asked for.
    pub(super) fn replan_proposed(&mut self, ix: NodeIx, gate: &Gate) {
        // One that asks without a planner has nothing to do with what another node waits for.
        let is_alone = self.flows[ix].phase == Phase::Stuck;
        if let Some(replan) = self.gates.replans.now.as_mut().filter(|_| !is_alone) {
            replan.gate = Some(gate.id);
        }
        let is_its_own = self.replan().is_some_and(|replan| replan.node.as_ref() == Some(&gate.node));
        if is_alone || is_its_own && self.flows[ix].phase == Phase::Replanning {
            self.enter(ix, Phase::AtGate(gate.id));
            self.show(ix, NodeState::Waiting { gate: gate.id }, gate.why.clone().into());
        }
    }

    /// A gate closes. Of a proposal, what a planner wrote into the run is known by it, and the next new plan can be made.
    pub(super) fn replan_decided(&mut self, id: GateId, end: &GateEnd) {
        let Some(run) = self.gates.all.get(&id) else { return };
        let GateKind::Replan { private, .. } = run.gate.kind else { return };
        if let GateEnd::Decided(decided) = end
            && matches!(decided.decision, GateReply::Approve | GateReply::Modify { .. })
        {
            let pieces = ReplanPiece::read(edited(&decided.decision, &run.gate.payload)).unwrap_or_default();
            let written: Vec<_> = pieces.iter().filter_map(ReplanPiece::writes).collect();
            let replans = &mut self.gates.replans;
            replans.planned.extend(written.iter().cloned());
            replans.private.extend(written.into_iter().filter(|_| private));
        }
        if self.replan().is_some_and(|replan| replan.gate == Some(id)) {
            self.gates.replans.now = None;
            self.next_plan();
        }
    }

    /// A node that ends or begins anew waits for no new plan.
    pub(super) fn needs_no_plan(&mut self, ix: NodeIx) {
        self.gates.replans.line.retain(|waiting| *waiting != ix);
        let is_for =
            |replan: &ReplanUnderWay| replan.gate.is_none() && replan.node.as_ref().is_some_and(|node| *node == self.graph.ids[ix]);
        if self.replan().is_some_and(is_for) {
            self.gates.replans.now = None;
            self.next_plan();
        }
    }

    /// The run was cancelled.
    pub(super) fn no_more_plans(&mut self) {
        self.gates.replans.line.clear();
        if self.is_replanning() {
            self.gates.replans.now = None;
        }
    }

    /// The node that has waited longest asks for its plan.
    fn next_plan(&mut self) {
        if let Some(ix) = (!self.gates.replans.line.is_empty()).then(|| self.gates.replans.line.remove(0)) {
            self.enter(ix, Phase::Stuck);
        }
    }
}
