//! `Impact`: what an action would change. Found by trying the action on a copy of the run, so it is what will happen, not a description of it.

use super::{Action, Actor, Command, Event, Input, NodeState, Outcome, Time, Totals, flow::PhasePart, graph::NodeIx, run::Run};
use crate::plan::NodeId;
use std::collections::BTreeSet;

/// What an action would change at once. What follows later from nodes that still run is not known to anybody.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Impact {
    /// At work now; they would be stopped.
    pub stops: Vec<NodeId>,
    /// At work now; they would return what they have, and end.
    pub wraps: Vec<NodeId>,
    /// They would be skipped, as their ways are closed.
    pub skips: Vec<NodeId>,
    /// They would be cancelled before they start.
    pub cancels: Vec<NodeId>,
    /// They would run again.
    pub reruns: Vec<NodeId>,
    /// They would be held.
    pub holds: Vec<NodeId>,
    /// They would start at once.
    pub starts: Vec<NodeId>,
    /// Their open questions would be void.
    pub voids: Vec<NodeId>,
    /// Their results would be of an earlier state of things.
    pub stale: Vec<NodeId>,
    /// What would be stopped or done again has taken so much so far.
    pub lost: Totals,
    /// The run would be over by it, and how.
    pub ends: Option<Outcome>,
}

impl Impact {
    /// Whether nothing that was done or asked is lost.
    pub fn is_harmless(&self) -> bool {
        let lists = [&self.stops, &self.wraps, &self.skips, &self.cancels, &self.reruns, &self.voids, &self.stale];
        lists.into_iter().all(Vec::is_empty)
    }
}

impl Run {
    /// What an action would change. In proportion to the run.
    pub fn impact(&self, action: &Action, now: Time) -> Impact {
        let mut after = self.clone();
        let by = Actor { who: String::new(), via: String::new() };
        let batch = after.step(&Input::Command { command: Command::act(action.clone()), by }, now);
        let mut impact = Impact::default();
        for ix in self.all_nodes() {
            let again = after.is_another(ix, self);
            if again {
                self.weigh_again(ix, action, &after, &mut impact);
            } else {
                self.weigh(ix, &after, &mut impact);
            }
            let lost = if again { self.has_begun(ix) } else { !self.is_over(ix) && after.is_over(ix) };
            if lost {
                self.weigh_loss(ix, now, &mut impact);
            }
        }
        let voided: BTreeSet<NodeId> = batch.records.iter().filter_map(|record| self.voided_by(&record.event)).collect();
        impact.voids = voided.into_iter().collect();
        impact.ends = if self.stage.outcome.is_none() { after.outcome().map(|(outcome, _)| outcome) } else { None };
        impact
    }

    /// A node whose generation ends, as it runs again, or leaves the run. What is inside of others goes with those.
    fn weigh_again(&self, ix: NodeIx, action: &Action, after: &Self, impact: &mut Impact) {
        let id = self.id_of(ix);
        if self.is_at_work(ix) {
            impact.stops.push(id.clone());
        }
        let is_given = matches!(action, Action::Override { node, .. } if *node == id);
        if is_given || self.owners(ix).any(|owner| after.is_another(owner, self)) {
            return;
        }
        if after.graph.nodes[ix].gone {
            impact.cancels.push(id);
        } else if self.has_begun(ix) {
            impact.reruns.push(id);
        }
    }

    /// Whether a node of before is gone, or in another generation. A name that was used before raises the generation by itself.
    fn is_another(&self, ix: NodeIx, before: &Self) -> bool {
        let raised = self.nodes[ix].generation > before.nodes[ix].generation;
        self.graph.nodes[ix].gone || raised && self.graph.ids[ix] == before.graph.ids[ix]
    }

    /// A node that stays in its generation.
    fn weigh(&self, ix: NodeIx, after: &Self, impact: &mut Impact) {
        let (id, node, then) = (self.id_of(ix), &self.nodes[ix], &after.nodes[ix]);
        if then.stale.is_some() && node.stale.is_none() {
            impact.stale.push(id.clone());
        }
        if then.state == node.state && then.reason == node.reason {
            return;
        }
        if after.is_wrapping_up(ix) && !self.is_wrapping_up(ix) {
            return impact.wraps.push(id);
        }
        if after.flows[ix].halt.hold.is_some() && self.flows[ix].halt.hold.is_none() {
            return impact.holds.push(id);
        }
        let list = match &then.state {
            state if state.is_final() && self.is_at_work(ix) => &mut impact.stops,
            NodeState::Skipped => &mut impact.skips,
            NodeState::Cancelled => &mut impact.cancels,
            NodeState::Held => &mut impact.holds,
            NodeState::Running if node.state != NodeState::Running => &mut impact.starts,
            NodeState::Pending
            | NodeState::Ready
            | NodeState::Waiting { .. }
            | NodeState::Running
            | NodeState::Retrying { .. }
            | NodeState::Succeeded
            | NodeState::Passed
            | NodeState::Failed
            | NodeState::FailedSafe
            | NodeState::Unknown => return,
        };
        list.push(id);
    }

    /// What a node has taken so far. A composite one has taken what those inside it have.
    fn weigh_loss(&self, ix: NodeIx, now: Time, impact: &mut Impact) {
        let node = &self.nodes[ix];
        impact.lost.tokens += node.lineage.tokens.total();
        impact.lost.cost_usd += node.lineage.cost_usd;
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

    /// Whether an attempt of it is under way.
    pub(super) fn is_at_work(&self, ix: NodeIx) -> bool {
        match self.flows[ix].phase.part() {
            PhasePart::AtWork | PhasePart::Inside | PhasePart::Resting => true,
            PhasePart::Ahead
            | PhasePart::InLine
            | PhasePart::AtGate(_)
            | PhasePart::Answered
            | PhasePart::Kept
            | PhasePart::Lost
            | PhasePart::Over => false,
        }
    }
}
