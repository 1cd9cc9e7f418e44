//! What people may ask of nodes at work: stop (return what you have), guidance for the next turn, and stepping through their calls.

use crate::engine::run::Decider;
use crate::engine::{
    ActionTarget, Cause, Event, GateKind, NodeState,
    flow::Phase,
    graph::{NodeIx, tool_of},
};

/// What a stop does to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopEffect {
    /// An agent gets one last turn without tools; of what runs inside a node nothing more begins.
    WindsUp,
    /// It works, or waits for a person, and can't hand anything back before its end.
    Finishes,
    /// It has not started, so it is cancelled.
    Ends,
    Over,
}

impl Decider<'_> {
    /// Nodes of a target that wind up, at any depth.
    pub(super) fn winding_up(&self, target: &ActionTarget) -> Vec<NodeIx> {
        self.at_any_depth(target).into_iter().filter(|&ix| self.stop_of(ix) == StopEffect::WindsUp).collect()
    }

    /// What a stop ends: what has not started. A single node is never ended by it.
    pub(super) fn unstarted(&self, target: &ActionTarget, who: &str) -> Vec<Event> {
        if matches!(target, ActionTarget::Node(node) if self.graph.find(node).is_none_or(|ix| self.stop_of(ix) != StopEffect::WindsUp)) {
            return Vec::new();
        }
        let ends = self.at_any_depth(target).into_iter().filter(|&ix| self.stop_of(ix) == StopEffect::Ends);
        ends.flat_map(|ix| self.cancel(ix, &Cause::Stopped { by: who.to_string() })).collect()
    }

    fn stop_of(&self, ix: NodeIx) -> StopEffect {
        let flow = &self.flows[ix];
        let takes_words = self.listens(ix);
        match flow.phase {
            Phase::Ended => StopEffect::Over,
            Phase::Working | Phase::Bodies | Phase::Inside if flow.drive.stopped_by.is_some() => StopEffect::Finishes,
            Phase::Bodies | Phase::Inside => StopEffect::WindsUp,
            Phase::Working if takes_words => StopEffect::WindsUp,
            Phase::Working | Phase::Inline | Phase::Answered(_) | Phase::Lost => StopEffect::Finishes,
            Phase::Inputs | Phase::Joined { .. } | Phase::Asking | Phase::Queued | Phase::Locked(_) | Phase::Resting => StopEffect::Ends,
            Phase::Stuck | Phase::Replanning => StopEffect::Finishes,
            Phase::Held | Phase::Freed if flow.keeps_an_end() => StopEffect::Finishes,
            Phase::Held | Phase::Freed => StopEffect::Ends,
            Phase::AtGate(gate) => match self.gate_run(gate).map(|run| &run.gate.kind) {
                Some(
                    GateKind::Review
                    | GateKind::Permission { .. }
                    | GateKind::UnknownEffect { .. }
                    | GateKind::Failure { .. }
                    | GateKind::Replan { .. },
                ) => StopEffect::Finishes,
                Some(GateKind::Approval | GateKind::Question { .. }) | None => StopEffect::Ends,
            },
        }
    }

    /// Why nothing can be stopped.
    pub(super) fn stop_refusal(&self, target: &ActionTarget) -> Option<String> {
        if !self.progress.started {
            return Some("the run has not started: there is nothing to return yet".to_string());
        }
        let ActionTarget::Node(node) = target else {
            let any = self.at_any_depth(target).into_iter().any(|ix| matches!(self.stop_of(ix), StopEffect::WindsUp | StopEffect::Ends));
            return (!any).then(|| format!("nothing in {} can be stopped: what has not ended finishes by itself", target.label()));
        };
        let ix = self.graph.find(node)?;
        let who = self.flows[ix].drive.stopped_by.as_ref();
        match (self.stop_of(ix), who) {
            (StopEffect::WindsUp, _) => None,
            (StopEffect::Over, _) => Some(self.over_already(ix)),
            (StopEffect::Finishes, Some(who)) => Some(format!("`{node}` was stopped by {who} already, and returns what it has")),
            (StopEffect::Finishes, None) => Some(format!("`{node}` has nothing to return before its end: wait for it, or cancel it")),
            (StopEffect::Ends, _) if matches!(self.nodes[ix].state, NodeState::Waiting { .. }) => {
                Some(format!("`{node}` waits for a reply, so it has nothing to return: reply, skip it or cancel it"))
            }
            (StopEffect::Ends, _) => Some(format!("`{node}` has not started, so it has nothing to return: cancel or skip it")),
        }
    }

    /// Why text can't reach a node.
    pub(super) fn guide_refusal(&self, ix: NodeIx, text: &str) -> Option<String> {
        let id = self.id_of(ix);
        let flow = &self.flows[ix];
        if text.trim().is_empty() {
            return Some("the text is empty".to_string());
        }
        if !self.listens(ix) {
            return Some(format!("`{id}` is not an agent, so it can't take guidance: edit it, or override its result"));
        }
        if self.is_over(ix) {
            return Some(format!("{}: rewind or rerun it", self.over_already(ix)));
        }
        if flow.drive.on_last_turn {
            return Some(format!("`{id}` is on its last turn and takes no more messages"));
        }
        let has_ended = flow.keeps_an_end() || self.is_at_after_gate(ix);
        has_ended.then(|| format!("`{id}` has ended its work: rewind or rerun it"))
    }

    /// Whether a node hears what people say to it.
    pub(super) fn listens(&self, ix: NodeIx) -> bool {
        self.doc(ix).is_some_and(|node| node.kind.agent().is_some())
    }

    /// Why a node can't be stepped through.
    pub(super) fn step_into_refusal(&self, ix: NodeIx) -> Option<String> {
        let (id, node) = (self.id_of(ix), self.doc(ix)?);
        if self.is_over(ix) {
            return Some(self.over_already(ix));
        }
        if node.kind.is_composite() {
            return Some(format!("`{id}` runs an inner plan: step into a node of that"));
        }
        if node.kind.agent().is_none() && tool_of(node).is_none() {
            return Some(format!("`{id}` calls neither models nor tools, so there is nothing to step through"));
        }
        if self.flows[ix].keeps_an_end() {
            return Some(format!("`{id}` has ended its work"));
        }
        let again = self.flows[ix].drive.into && self.flows[ix].phase == Phase::Working;
        again.then(|| format!("`{id}` is stepped through already"))
    }
}
