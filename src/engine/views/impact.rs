//! `Impact`: what an action would change. Found by doing the action on a copy of the run as far as the state alone decides, conditions and
//! joins included, so it is what will happen, not a description of it.

use crate::engine::{
    Action, Actor, Command, Event, Input, Mark, NodeState, Outcome, StateGroup, Time, Totals,
    flow::PhasePart,
    graph::{NodeIx, tool_of, verdict},
    run::RunState,
};
use crate::plan::{NodeId, NodeKind, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// What an action changes at a node; the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeImpact {
    /// Its result would be of an earlier state of things.
    Stale,
    /// Its open gates would be void.
    Void,
    Starts,
    Succeeds,
    /// Of those that succeed: without a model, or in a run where nothing happens outside.
    Rehearses,
    Passes,
    Holds,
    /// Of those that are held: it waits at a gate first.
    HoldsAfterGate,
    /// It is at work, can hand nothing back before its end, and would go on until then.
    Finishes,
    /// It is at work, and would hand back what it has.
    Wraps,
    /// Its join or its guard says so, or a person.
    Skips,
    Cancels,
    Fails,
    Reruns,
    /// Of those that run again: it never ran.
    Runs,
    /// Of those that run again: it asks a person again.
    AsksAgain,
    /// Of those that run again: it is rehearsed again.
    RehearsesAgain,
    /// It ran before, changed something outside, and would run again.
    ActsAgain,
    Stops,
    /// Of those at work now: it ends as cancelled.
    CancelsAtWork,
}

/// What an action would change at once. What follows later from nodes that still run is not known to anybody.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impact {
    pub(in crate::engine) nodes: BTreeMap<NodeImpact, Vec<NodeId>>,
    /// Of those that run again: only when others that run again before them lead there.
    pub(in crate::engine) later: BTreeSet<NodeId>,
    /// What would be stopped or done again has taken so much so far.
    pub lost: Totals,
    /// The run would be over by it, or would have ended otherwise, and how.
    pub ends: Option<Outcome>,
}

impl Impact {
    /// The nodes that it changes so, in the order of the run.
    pub fn nodes(&self, kind: NodeImpact) -> &[NodeId] {
        self.nodes.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// Whether what it changes at the node depends on what comes out before it.
    pub fn may_be_otherwise(&self, node: &NodeId) -> bool {
        self.later.contains(node)
    }

    /// Leaves out what is no change of the action.
    pub fn retain(&mut self, kind: NodeImpact, keep: impl FnMut(&NodeId) -> bool) {
        self.nodes.entry(kind).or_default().retain(keep);
    }

    /// Whether nothing that was done or asked is lost.
    pub fn is_harmless(&self) -> bool {
        use NodeImpact::{Fails, Finishes, Holds, HoldsAfterGate, Passes, Rehearses, Starts, Succeeds};
        let harmless =
            |kind: &NodeImpact| matches!(kind, Starts | Succeeds | Rehearses | Passes | Finishes | Holds | HoldsAfterGate | Fails);
        self.nodes.iter().all(|(kind, nodes)| harmless(kind) || nodes.is_empty())
    }

    pub(in crate::engine) fn add(&mut self, kind: NodeImpact, node: NodeId) {
        self.nodes.entry(kind).or_default().push(node);
    }
}

impl RunState {
    /// What an action would change. In proportion to the run.
    pub fn impact(&self, action: &Action, now: Time) -> Impact {
        let mut after = self.copy();
        let by = Actor { who: String::new(), via: String::new() };
        let mut batch = after.step(&Input::Command { command: Command::act(action.clone()), by }, now);
        let mut voided: BTreeSet<NodeId> = BTreeSet::new();
        voided.extend(batch.records.iter().filter_map(|record| self.voided_by(&record.event)));
        while batch.more {
            batch = after.step(&Input::Proceed, now);
            voided.extend(batch.records.iter().filter_map(|record| self.voided_by(&record.event)));
        }
        let mut impact = Impact::default();
        for ix in self.all_nodes() {
            let again = after.is_another(ix, self);
            if again {
                self.weigh_again(ix, action, &after, &mut impact);
            } else {
                self.weigh(ix, &after, &mut impact);
            }
            let keeps = || after.nodes[ix].state.group() == StateGroup::Done && after.nodes[ix].mark != Some(Mark::Overridden);
            let lost = if again { self.has_begun(ix) } else { !self.is_over(ix) && after.is_over(ix) && !keeps() };
            if lost {
                self.weigh_loss(ix, now, &mut impact);
            }
        }
        let is_new = |ix: &NodeIx| self.graph.nodes.slot(*ix).is_none() && after.owners(*ix).next().is_none();
        let starts = |ix: &NodeIx| {
            let state = &after.nodes[*ix].state;
            *state == NodeState::Ready || state.group() == StateGroup::Working
        };
        after.all_nodes().filter(is_new).filter(starts).for_each(|ix| impact.add(NodeImpact::Starts, after.id_of(ix)));
        voided.into_iter().for_each(|node| impact.add(NodeImpact::Void, node));
        if let Action::Stop { target } = action {
            let finishes = |ix: &NodeIx| self.is_at_work(*ix) && after.is_at_work(*ix) && !after.is_wrapping_up(*ix);
            self.at_any_depth(target).into_iter().filter(finishes).for_each(|ix| impact.add(NodeImpact::Finishes, self.id_of(ix)));
        }
        let ended = |run: &Self| run.outcome().map(|(outcome, _)| outcome);
        impact.ends = ended(&after).filter(|outcome| ended(self) != Some(*outcome));
        impact
    }

    /// A node whose generation ends, as it runs again, or leaves the run. What is inside of others goes with those.
    fn weigh_again(&self, ix: NodeIx, action: &Action, after: &Self, impact: &mut Impact) {
        let id = self.id_of(ix);
        if self.is_at_work(ix) {
            impact.add(NodeImpact::Stops, id.clone());
        }
        let is_given = |id: &NodeId| matches!(action, Action::Override { node, .. } if node == id);
        let owner = self.owners(ix).filter(|&owner| after.is_another(owner, self)).last();
        if let Some(owner) = owner {
            if self.has_acted(ix)
                && !is_given(&self.id_of(owner))
                && after.again_as(owner, &self.nodes[owner].state) == Some(NodeImpact::Reruns)
            {
                impact.add(NodeImpact::ActsAgain, id);
            }
            return;
        }
        if after.graph.nodes[ix].gone {
            return impact.add(NodeImpact::Cancels, id);
        }
        let Some(kind) = after.again_as(ix, &self.nodes[ix].state).filter(|_| !is_given(&id)) else { return };
        if after.nodes[ix].state == NodeState::Pending {
            impact.later.insert(id.clone());
        }
        let asks = self.asks(ix) || after.graph.nodes[ix].gates.before || after.needs_permission(ix);
        let asks_again = kind == NodeImpact::Reruns && self.has_asked(ix) && asks;
        match kind {
            _ if asks_again && !self.has_begun(ix) => return impact.add(NodeImpact::AsksAgain, id),
            NodeImpact::Reruns if self.has_acted(ix) => {
                impact.add(NodeImpact::ActsAgain, id.clone());
                if asks_again {
                    impact.add(NodeImpact::AsksAgain, id.clone());
                }
            }
            NodeImpact::Reruns if self.nodes[ix].state == NodeState::Rehearsed && (after.rehearses(ix) || after.rehearses_inside(ix)) => {
                impact.add(NodeImpact::RehearsesAgain, id.clone());
            }
            NodeImpact::Reruns if !self.has_begun(ix) => {
                if after.nodes[ix].state == NodeState::Running {
                    impact.add(NodeImpact::Starts, id);
                }
                return;
            }
            NodeImpact::Reruns if asks_again => impact.add(NodeImpact::AsksAgain, id.clone()),
            NodeImpact::Reruns if !self.has_started(ix) => impact.add(NodeImpact::Runs, id.clone()),
            _ => {}
        }
        impact.add(kind, id);
    }

    /// What becomes of a node in a new generation: it runs again, or ends before it could.
    fn again_as(&self, ix: NodeIx, before: &NodeState) -> Option<NodeImpact> {
        let node = &self.nodes[ix];
        let ended = match node.state.group() {
            StateGroup::NotRun if node.attempt == 0 && node.state == NodeState::Skipped => NodeImpact::Skips,
            StateGroup::NotRun if node.attempt == 0 => NodeImpact::Cancels,
            StateGroup::Done if node.attempt == 0 && node.state == NodeState::Passed => NodeImpact::Passes,
            StateGroup::Failed if node.attempt == 0 => NodeImpact::Fails,
            _ => NodeImpact::Reruns,
        };
        (ended == NodeImpact::Reruns || node.state != *before).then_some(ended)
    }

    /// Whether a node of before is gone, or in another generation. A name that was used before raises the generation by itself.
    fn is_another(&self, ix: NodeIx, before: &Self) -> bool {
        let raised = self.nodes[ix].generation > before.nodes[ix].generation;
        self.graph.nodes[ix].gone || raised && self.graph.ids[ix] == before.graph.ids[ix]
    }

    /// A node that stays in its generation. One at work stops where a person ends it; else it is what it becomes.
    fn weigh(&self, ix: NodeIx, after: &Self, impact: &mut Impact) {
        let (id, node, then) = (self.id_of(ix), &self.nodes[ix], &after.nodes[ix]);
        if then.stale.is_some() && node.stale.is_none() {
            impact.add(NodeImpact::Stale, id.clone());
        }
        if after.flows[ix].halt.hold.is_some() && self.flows[ix].halt.hold.is_none() && !self.is_over(ix) {
            if matches!(self.flows[ix].phase.part(), PhasePart::AtGate(_)) {
                impact.add(NodeImpact::HoldsAfterGate, id.clone());
            }
            return impact.add(NodeImpact::Holds, id);
        }
        if then.state == node.state && then.reason == node.reason {
            return;
        }
        if after.is_wrapping_up(ix) && !self.is_wrapping_up(ix) {
            return impact.add(NodeImpact::Wraps, id);
        }
        let is_given = then.mark == Some(Mark::Overridden);
        let kind = match then.state.group() {
            StateGroup::Done if is_given && self.is_at_work(ix) => NodeImpact::Stops,
            StateGroup::Done if is_given => return,
            StateGroup::Done if then.state == NodeState::Passed => NodeImpact::Passes,
            StateGroup::Done => {
                if then.state == NodeState::Rehearsed {
                    impact.add(NodeImpact::Rehearses, id.clone());
                }
                NodeImpact::Succeeds
            }
            StateGroup::NotRun => {
                let is_cancelled = then.state == NodeState::Cancelled;
                if is_cancelled && self.is_at_work(ix) {
                    impact.add(NodeImpact::CancelsAtWork, id.clone());
                }
                match (self.is_at_work(ix), is_cancelled) {
                    (true, _) => NodeImpact::Stops,
                    (false, true) => NodeImpact::Cancels,
                    (false, false) => NodeImpact::Skips,
                }
            }
            StateGroup::Failed => NodeImpact::Fails,
            StateGroup::Ahead if then.state == NodeState::Held => NodeImpact::Holds,
            // One that goes on after a held call or a gate in its middle doesn't start.
            StateGroup::Working
                if then.state == NodeState::Running && (then.generation, then.attempt) != (node.generation, node.attempt) =>
            {
                NodeImpact::Starts
            }
            StateGroup::Ahead | StateGroup::Waiting | StateGroup::Working | StateGroup::Resting => return,
        };
        impact.add(kind, id);
    }

    /// Whether an attempt of it may have changed something outside. A tool acts by its call, which is on record.
    fn has_acted(&self, ix: NodeIx) -> bool {
        let node = &self.nodes[ix];
        let is_tool = self.doc(ix).is_some_and(|doc| doc.kind.tool().is_some());
        let declared = self.graph.nodes[ix].side_effects && !is_tool;
        node.attempt > 0 && node.state != NodeState::Rehearsed && (node.lineage.acted || declared)
    }

    /// What a node has taken so far. A composite one has taken what those inside it have.
    fn weigh_loss(&self, ix: NodeIx, now: Time, impact: &mut Impact) {
        let node = &self.nodes[ix];
        let spent = &node.lineage.spent;
        impact.lost.tokens += spent.tokens.total();
        impact.lost.cost_usd += spent.cost_usd;
        impact.lost.estimated |= spent.estimated;
        impact.lost.unpriced |= spent.unpriced;
        if self.flows[ix].bodies.is_none() {
            *impact.lost.work_ms.get_or_insert(0) += node.work_ms_by(now).unwrap_or_default();
        }
    }

    fn voided_by(&self, event: &Event) -> Option<NodeId> {
        let Event::GateVoided { gate, .. } = event else { return None };
        self.gate(*gate).map(|(gate, _)| gate.node.clone())
    }

    /// Whether something of it is under way or done.
    fn has_begun(&self, ix: NodeIx) -> bool {
        self.is_over(ix) || self.has_started(ix)
    }

    /// Whether it is a question to a person.
    fn asks(&self, ix: NodeIx) -> bool {
        self.doc(ix).is_some_and(|node| matches!(node.kind, NodeKind::Approval(_)))
    }

    /// Whether the rules have its one tool asked about at each call.
    fn needs_permission(&self, ix: NodeIx) -> bool {
        let tool = self.doc(ix).and_then(tool_of);
        tool.zip(self.settings()).is_some_and(|(tool, settings)| verdict(&settings.catalog, tool) == Verdict::Ask)
    }

    fn has_asked(&self, ix: NodeIx) -> bool {
        let id = self.id_of(ix);
        self.gates().any(|(gate, _)| gate.node == id)
    }

    /// Whether an attempt of it is under way.
    pub(in crate::engine) fn is_at_work(&self, ix: NodeIx) -> bool {
        matches!(self.flows[ix].phase.part(), PhasePart::AtWork | PhasePart::Inside | PhasePart::Resting)
    }
}
