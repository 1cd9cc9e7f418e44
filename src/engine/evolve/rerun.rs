//! Running again: nodes go back to before they began, in a new generation. Edges between them wait again; edges that lead out of them
//! stay as they are, and who works with what came over those is stale. What was inside of them is gone.

use crate::engine::{
    Action, Cause, EdgeState, GateId, GateKind, NodeRun, NodeState, Spent,
    evolve::count::GenerationChange,
    flow::{EdgeCounts, Flow, FlowHold, FlowOutcome, NodeSteering, Phase},
    graph::NodeIx,
    inner_run::{InnerRun, InnerRunIx},
    run::{GateEnd, RunState},
    state::EndKind,
};
use crate::plan::Dialect;
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

impl Action {
    /// Whether it may be asked of a run that is over, which goes on by it: nodes run again.
    pub fn reopens(&self) -> bool {
        self.voids_with().is_some()
    }

    /// Why gates of the nodes that it resets to before they began close; absent: it resets none.
    pub(in crate::engine) fn voids_with(&self) -> Option<Cause> {
        match self {
            Self::Retry { .. } | Self::Rerun { .. } | Self::Override { .. } => Some(Cause::RunsAgain { action: self.label() }),
            Self::Edit { .. } => Some(Cause::Edited),
            Self::Rewind { node, to, .. } => Some(Cause::Feedback { node: node.clone(), to: to.clone() }),
            Self::Cancel { .. }
            | Self::Stop { .. }
            | Self::Hold { .. }
            | Self::Release { .. }
            | Self::Skip { .. }
            | Self::Guide { .. }
            | Self::Pause
            | Self::Resume
            | Self::Step { .. }
            | Self::RunTo { .. }
            | Self::StepInto { .. }
            | Self::Break { .. }
            | Self::Unbreak { .. }
            | Self::Rebreak { .. } => None,
        }
    }
}

impl RunState {
    /// The part of an action that makes nodes run again.
    pub(super) fn again(&mut self, action: &Action, nodes: &[NodeIx]) {
        // One that only goes on from where it is asks for nothing more.
        if !nodes.is_empty() {
            self.progress.go_on();
        }
        let rejected = if let Action::Rewind { to, .. } = action { self.graph.find(to).and_then(|ix| self.handed_in(ix)) } else { None };
        self.reset(nodes, &action.voids_with().unwrap_or_default());
        let Action::Rewind { node, to, feedback } = action else { return };
        if let Some(ix) = self.graph.find(to) {
            let flow = &mut self.flows[ix];
            flow.guidance.rewinds += 1;
            flow.guidance.rejected = rejected;
            flow.guidance.texts.push(format!("the result of `{node}` was rejected: {feedback}"));
        }
    }

    /// The result of a node, or what it handed in for review.
    fn handed_in(&self, ix: NodeIx) -> Option<Arc<Value>> {
        let reviewed = self.open_of(ix).into_iter().filter_map(|gate| self.gate_run(gate)).find(|run| run.gate.kind == GateKind::Review);
        self.nodes[ix].result.clone().or_else(|| reviewed.map(|run| Arc::new(run.gate.payload.clone())))
    }

    /// Takes nodes of one inner run back to before they began. Open questions of theirs are void.
    pub(super) fn reset(&mut self, nodes: &[NodeIx], void: &Cause) {
        let all: BTreeSet<NodeIx> = nodes.iter().copied().collect();
        let Some(&first) = all.first() else { return };
        all.iter().for_each(|&ix| self.reset_node(ix, &all, void));
        all.iter().for_each(|&ix| self.tally_anew(ix));
        let home = self.graph.nodes[first].home;
        if let Some(inner) = self.inner_runs.slot_mut(home) {
            let flows = &self.flows;
            inner.walked.retain(|ix| !all.contains(ix) || flows[*ix].outcome.former.is_some());
        }
        self.walk_again(home);
        if !self.progress.started {
            return;
        }
        let entry = self.inner(home).and_then(InnerRun::entry);
        all.into_iter().for_each(|ix| self.begin_node(ix, entry));
    }

    /// One node back to before it began; its tokens are counted anew once all are back.
    fn reset_node(&mut self, ix: NodeIx, all: &BTreeSet<NodeIx>, void: &Cause) {
        let is_private = self.is_private(ix);
        let former = self.make_stale(ix, all).filter(|_| !self.nodes[ix].lineage.rehearsed);
        let mut spent = self.empty(ix, void);
        self.leave(ix, void);
        // A call that nobody hears the end of now counts, too.
        spent.add(self.nodes[ix].spent());
        if self.is_over(ix) {
            self.count(ix, GenerationChange::Reopens);
        }
        self.enter(ix, Phase::Inputs);
        for at in 0..self.graph.nodes[ix].outs.len() {
            let edge = self.graph.nodes[ix].outs[at];
            if all.contains(&self.graph.link(edge).to) {
                self.edges[edge] = EdgeState::Undecided;
            }
        }
        self.wait_for_sources(ix, all);
        let Flow { halt: FlowHold { hold, .. }, guidance, drive, .. } = std::mem::take(&mut self.flows[ix]);
        let reason = hold.clone().map_or(Cause::None, |by| Cause::Held { by });
        self.flows[ix] = Flow {
            halt: FlowHold { hold, ..FlowHold::default() },
            guidance,
            outcome: FlowOutcome { former_private: former.is_some() && is_private, former, ..FlowOutcome::default() },
            drive: NodeSteering { into: drive.into, ..NodeSteering::default() },
            ..Flow::default()
        };
        let generation = self.nodes[ix].generation + 1;
        self.nodes[ix] = NodeRun { generation, reason, earlier: spent, ..NodeRun::default() };
    }

    /// A source that runs again alone kept its edges: who runs again behind it waits for its new result, and for none of one that failed.
    fn wait_for_sources(&mut self, ix: NodeIx, all: &BTreeSet<NodeIx>) {
        for at in 0..self.graph.nodes[ix].ins.len() {
            let edge = self.graph.nodes[ix].ins[at];
            let source = self.graph.link(edge).from;
            if all.contains(&source) || self.edge_state(edge) == EdgeState::Undecided {
                continue;
            }
            match self.nodes[source].state.end() {
                EndKind::Gives | EndKind::HandsOn => {}
                EndKind::Closes => self.edges[edge] = EdgeState::Dead,
                EndKind::Open => self.edges[edge] = EdgeState::Undecided,
            }
        }
    }

    /// Marks those who work with a result and stay as they are. Gives that result, for those who read it until there is a new one.
    fn make_stale(&mut self, ix: NodeIx, all: &BTreeSet<NodeIx>) -> Option<Arc<Value>> {
        let leads_out = self.graph.nodes[ix].outs.iter().any(|&edge| !all.contains(&self.graph.link(edge).to));
        if !leads_out {
            return None;
        }
        let reason = Cause::Outdated { node: self.id_of(ix) };
        for consumer in self.consumers(ix) {
            if !all.contains(&consumer) {
                self.nodes[consumer].stale = Some(reason.clone());
            }
        }
        self.result_of(ix).cloned()
    }

    /// Nodes and all that can be reached from them in their inner run.
    pub(in crate::engine) fn downstream(&self, nodes: impl IntoIterator<Item = NodeIx>) -> BTreeSet<NodeIx> {
        let mut next: Vec<NodeIx> = nodes.into_iter().collect();
        let mut found: BTreeSet<NodeIx> = next.iter().copied().collect();
        while let Some(ix) = next.pop() {
            let targets = self.graph.nodes[ix].outs.iter().map(|&edge| self.graph.link(edge).to);
            next.extend(targets.filter(|&target| found.insert(target)));
        }
        found
    }

    /// Those who got a node's result and have begun to work with it, also through nodes that hand it on.
    pub(in crate::engine) fn consumers(&self, ix: NodeIx) -> Vec<NodeIx> {
        let mut found = Vec::new();
        let mut next = vec![ix];
        let mut seen = BTreeSet::new();
        while let Some(from) = next.pop() {
            for &edge in &self.graph.nodes[from].outs {
                let target = self.graph.link(edge).to;
                if self.edge_state(edge) != EdgeState::Taken || !seen.insert(target) {
                    continue;
                }
                let state = &self.nodes[target].state;
                match state.end() {
                    EndKind::HandsOn => next.push(target),
                    EndKind::Open | EndKind::Gives | EndKind::Closes => {
                        if *state != NodeState::Skipped && self.has_started(target) {
                            found.push(target);
                        }
                    }
                }
            }
        }
        found
    }

    /// Whether something of it is done in this generation: an attempt, or a result that a person gave.
    pub(in crate::engine) fn has_started(&self, ix: NodeIx) -> bool {
        let node = &self.nodes[ix];
        node.attempt > 0 || node.result.is_some()
    }

    /// A node gives everything back: questions, worker, locks.
    pub(super) fn leave(&mut self, ix: NodeIx, void: &Cause) {
        self.needs_no_plan(ix);
        for gate in self.open_of(ix) {
            self.close_gate(gate, GateEnd::Voided(void.clone()));
        }
        self.drop_worker(ix);
        self.drop_locks(ix);
    }

    /// What was inside a composite node is gone: it runs anew from nothing. Gives what it took.
    pub(super) fn empty(&mut self, ix: NodeIx, void: &Cause) -> Spent {
        let mut spent = Spent::default();
        let inside = self.inside_of(ix);
        for &inner in &inside {
            self.leave(inner, void);
        }
        let numbers = self.nodes[ix].inside;
        let owners: Vec<NodeIx> = self.owners(ix).collect();
        for owner in owners {
            let around = &mut self.nodes[owner].inside;
            around.nodes = around.nodes.saturating_sub(numbers.nodes);
            around.over = around.over.saturating_sub(numbers.over);
            around.bad = around.bad.saturating_sub(numbers.bad);
        }
        for inner in inside {
            spent.add(self.nodes[inner].spent());
            self.bury(inner);
        }
        let bodies = self.flows[ix].bodies.take();
        for inner in bodies.into_iter().flat_map(|bodies| bodies.inner_runs) {
            self.inner_runs[inner] = InnerRun::default();
        }
        spent
    }

    /// A node that gave everything back leaves the run.
    pub(super) fn bury(&mut self, ix: NodeIx) {
        self.enter(ix, Phase::Ended);
        self.graph.remove(ix, self.nodes[ix].generation);
        self.nodes[ix] = NodeRun { generation: 1, ..NodeRun::default() };
        let old = std::mem::replace(&mut self.flows[ix], Flow { phase: Phase::Ended, ..Flow::default() });
        for inner in old.bodies.into_iter().flat_map(|bodies| bodies.inner_runs) {
            self.inner_runs[inner] = InnerRun::default();
        }
    }

    /// Everything inside a composite node, at any depth, over or not.
    pub(in crate::engine) fn inside_of(&self, ix: NodeIx) -> Vec<NodeIx> {
        let mut found = Vec::new();
        let mut next = vec![ix];
        while let Some(ix) = next.pop() {
            let inner_runs = self.flows[ix].bodies.iter().flat_map(|bodies| &bodies.inner_runs).filter_map(|&inner| self.inner(inner));
            let nodes: Vec<NodeIx> = inner_runs.flat_map(InnerRun::nodes).collect();
            found.extend(&nodes);
            next.extend(nodes);
        }
        found
    }

    /// Open questions of a node and of everything inside it.
    pub(in crate::engine) fn questions_of(&self, ix: NodeIx) -> Vec<GateId> {
        [ix].into_iter().chain(self.inside_of(ix)).flat_map(|ix| self.open_of(ix)).collect()
    }

    /// Counts the states of a node's edges.
    pub(in crate::engine) fn tally_anew(&mut self, ix: NodeIx) {
        let mut tally = EdgeCounts::default();
        for &edge in &self.graph.nodes[ix].ins {
            crate::engine::touch();
            let class = if self.graph.link(edge).alternative { &mut tally.alternatives } else { &mut tally.plain };
            match self.edge_state(edge) {
                EdgeState::Undecided => class.waiting += 1,
                EdgeState::Taken => class.taken += 1,
                EdgeState::Dead => class.dead += 1,
            }
        }
        self.flows[ix].tally = tally;
    }

    /// The context of a workflow, from its beginning and the results that count.
    pub(super) fn walk_again(&mut self, home: InnerRunIx) {
        let Some(inner) = self.inner_runs.slot_mut(home).filter(|inner| inner.plan.dialect == Dialect::Workflow) else { return };
        let mut context = Arc::clone(&inner.base);
        for ix in &inner.walked {
            let result = self.nodes[*ix].result.as_ref().or(self.flows[*ix].outcome.former.as_ref());
            if let Some(Value::Object(given)) = result.map(|result| &**result) {
                Arc::make_mut(&mut context).extend(given.clone());
            }
        }
        inner.inputs = context;
    }

    /// The result that others read: until there is a new one, that of before.
    pub(in crate::engine) fn result_of(&self, ix: NodeIx) -> Option<&Arc<Value>> {
        self.nodes[ix].result.as_ref().or(self.flows[ix].outcome.former.as_ref())
    }
}
