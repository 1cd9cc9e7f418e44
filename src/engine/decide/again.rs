//! Actions that reset nodes to before they began: rerun, retry, rewind, override of what is over. Which nodes, why not, and what follows.

use crate::engine::run::Decider;
use crate::engine::{
    Action, Actor, Cause, EdgeState, Event, HeldAt, NodeState, Record, RerunReach, StateGroup, Time, flow::Phase, graph::NodeIx,
    inner_run::Times,
};
use crate::plan::NodeId;
use std::collections::BTreeSet;

/// The most rounds of feedback to one node.
const MOST_ROUNDS: u32 = 3;

impl Decider<'_> {
    /// Whether what follows from an action follows from the state behind it, as it resets nodes or changes the plan.
    pub(super) fn resets(&self, action: &Action) -> bool {
        action.reopens() && !action.node().and_then(|node| self.graph.find(node)).is_some_and(|ix| self.goes_on_by(action, ix))
    }

    /// Whether an action that could reset its node only lets it continue from where it is.
    fn goes_on_by(&self, action: &Action, ix: NodeIx) -> bool {
        let rests = self.flows[ix].phase == Phase::Resting;
        matches!(action, Action::Retry { .. }) && rests || matches!(action, Action::Override { .. }) && !self.is_over(ix)
    }

    /// The action, opening a run that is over first; then void questions, then what follows from the state that the action leaves.
    pub(super) fn decide_again(&self, action: &Action, nodes: &[NodeIx], acted: Event, (why, by): (&str, &Actor)) -> Vec<Event> {
        let mut after = self.state.clone();
        after.steer.shadow = None;
        let mut events: Vec<Event> = self.reopened(by).into_iter().chain([acted]).collect();
        for (seq, event) in (self.seq + 1..).zip(&events) {
            after.fold(&Record { seq, at: Time::default(), more: false, event: event.clone() });
        }
        let reason = action.voids_with().unwrap_or_default();
        let gates = nodes.iter().flat_map(|&ix| self.questions_of(ix));
        events.extend(gates.map(|gate| Event::GateVoided { gate, reason: reason.clone() }));
        events.extend(Decider { state: &after }.consequences(action, why, by));
        events
    }

    /// Nodes that an action resets to before they began, in order of their slots.
    pub(super) fn reset_by(&self, action: &Action) -> Vec<NodeIx> {
        let to = if let Action::Rewind { to, .. } = action { Some(to) } else { action.node() };
        let Some(ix) = to.and_then(|to| self.graph.find(to)).filter(|_| self.resets(action)) else { return Vec::new() };
        let alone = matches!(action, Action::Rerun { scope: RerunReach::Alone, .. });
        let nodes = if alone { self.alone(ix) } else { self.downstream([ix]) };
        nodes.into_iter().collect()
    }

    /// A node, and those next to it that have not begun: they wait for its new result. Nodes that hand a result on are in between.
    fn alone(&self, ix: NodeIx) -> BTreeSet<NodeIx> {
        let mut found = BTreeSet::from([ix]);
        let mut next = vec![ix];
        while let Some(from) = next.pop() {
            for &edge in &self.graph.nodes[from].outs {
                let target = self.graph.link(edge).to;
                // What was rehearsed because of it is void with it.
                let hands_on = self.nodes[target].state == NodeState::Passed || self.nodes[target].lineage.rehearsed;
                let hands_on = hands_on && self.edge_state(edge) == EdgeState::Taken;
                let waits = !self.is_over(target) && !self.has_started(target);
                let is_new = (hands_on || waits) && found.insert(target);
                if is_new && hands_on {
                    next.push(target);
                }
            }
        }
        found
    }

    pub(super) fn rerun_refusal(&self, ix: NodeIx) -> Option<String> {
        if !self.is_over(ix) && !self.has_started(ix) {
            return Some(format!("`{}` is {}: it has not run yet", self.id_of(ix), self.nodes[ix].state.word()));
        }
        self.inside_refusal(ix).or_else(|| self.closed_refusal(ix))
    }

    pub(super) fn retry_refusal(&self, ix: NodeIx) -> Option<String> {
        let (id, state) = (self.id_of(ix), &self.nodes[ix].state);
        match state.group() {
            StateGroup::Resting => None,
            StateGroup::Waiting if *state != NodeState::Unknown => Some(format!("`{id}` is {} and has not ended", state.word())),
            StateGroup::Failed | StateGroup::NotRun | StateGroup::Waiting => self.inside_refusal(ix).or_else(|| self.closed_refusal(ix)),
            StateGroup::Done => Some(format!("`{id}` is {}, so there is nothing to retry: rerun it instead", state.word())),
            StateGroup::Ahead | StateGroup::Working => Some(format!("`{id}` is {} and has not ended", state.word())),
        }
    }

    /// A node whose way is closed would only be skipped again.
    fn closed_refusal(&self, ix: NodeIx) -> Option<String> {
        let shape = &self.graph.nodes[ix];
        let entry = self.inner_of(ix).and_then(|inner| inner.entry());
        let never = entry.is_some_and(|entry| entry != ix) && shape.ins.is_empty();
        let closed = entry != Some(ix) && self.flows[ix].tally.verdict(shape.join) == Some(false);
        let hint = match self.closed_by(ix) {
            Some(edge) => format!(": rerun `{}` first", self.id_of(self.graph.link(edge).from)),
            None => String::new(),
        };
        (never || closed).then(|| format!("`{}` would be skipped again: {}{hint}", self.id_of(ix), self.dead_reason(ix).message()))
    }

    /// What is inside a node runs again only while that is at work, and of several turns only in the last.
    pub(super) fn inside_refusal(&self, ix: NodeIx) -> Option<String> {
        let mut inner = ix;
        for owner in self.owners(ix) {
            let id = self.id_of(owner);
            if !self.flows[owner].phase.part().is_inside() {
                return Some(format!("`{}` is a part of `{id}`, which has its result: rerun `{id}`", self.id_of(ix)));
            }
            let home = self.graph.nodes[inner].home;
            let bodies = self.flows[owner].bodies.as_ref();
            if bodies.is_some_and(|bodies| matches!(bodies.times, Times::Until(_)) && bodies.inner_runs.last() != Some(&home)) {
                return Some(format!("the iteration of `{id}` that `{}` belongs to has ended: rerun `{id}`", self.id_of(ix)));
            }
            inner = owner;
        }
        None
    }

    pub(super) fn rewind_refusal(&self, ix: NodeIx, to: &NodeId, feedback: &str) -> Option<String> {
        let id = self.id_of(ix);
        let Some(target) = self.graph.find(to) else { return Some(format!("there is no node `{to}`")) };
        if target != ix && !self.upstream(ix).contains(&target) {
            return Some(format!("`{id}` doesn't depend on `{to}`: feedback goes to the node itself or to one that it depends on"));
        }
        if !self.has_given(ix) {
            return Some(format!("`{id}` is {} and has no result that could be rejected", self.nodes[ix].state.word()));
        }
        if !self.listens(target) {
            return Some(format!("`{to}` is not an agent, so it can't take feedback: edit it, or rerun it"));
        }
        if feedback.trim().is_empty() {
            return Some(format!("say what `{to}` is to do better"));
        }
        if self.flows[target].guidance.rewinds >= MOST_ROUNDS {
            let hint = format!("edit it, rerun it, or override the result of `{id}`");
            return Some(format!("`{to}` was sent back with feedback {MOST_ROUNDS} times already: {hint}"));
        }
        self.inside_refusal(target)
    }

    /// Whom the result of a node may be rejected to: the agents that it depends on, and the node itself where it is one.
    pub(super) fn feedback_targets(&self, node: &NodeId) -> BTreeSet<NodeId> {
        let Some(ix) = self.graph.find(node) else { return BTreeSet::new() };
        let agents = self.upstream(ix).into_iter().chain([ix]).filter(|&ix| self.listens(ix));
        agents.map(|ix| self.id_of(ix)).collect()
    }

    /// Whether there is a result: on record, at the gate behind the node, or kept by a breakpoint.
    fn has_given(&self, ix: NodeIx) -> bool {
        let kept = matches!(self.flows[ix].halt.kept.as_deref(), Some(HeldAt::Result { .. }));
        kept || self.nodes[ix].result.is_some() || self.is_at_after_gate(ix)
    }

    /// What takes the place of a composite node's work ends what is inside it first.
    pub(super) fn instead(&self, ix: NodeIx, events: Vec<Event>) -> Vec<Event> {
        let reason = Cause::PartOf { node: self.id_of(ix) };
        let inside = self.open_inside(ix).flat_map(|inner| self.cancel(inner, &reason));
        inside.chain(events).collect()
    }
}
