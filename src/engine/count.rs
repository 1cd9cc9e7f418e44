//! How ends are counted: in the node's own plan and for those around it. One function for both directions, so that running again undoes//! back exactly what the end gave. And what ends give to a walk.

use super::{Mark, NodeState, SkippedBy, graph::NodeIx, run::Run};
use crate::plan::Dialect;
use serde_json::Value;
use std::sync::Arc;

/// What happens to a node's generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GenerationChange {
    /// It is over.
    Ends,
    /// It was over, and the node runs again.
    Reopens,
}

/// What an end counts for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Weight {
    /// An exit that ended well.
    pub exits: u32,
    /// An exit that a person kept from running.
    pub forgone: u32,
    /// Something went wrong, as its plan sees it.
    pub bad: u32,
    /// Something went wrong, as those around it see it.
    bad_inside: u32,
}

impl GenerationChange {
    fn shift(self, number: &mut u32, by: u32) {
        *number = match self {
            Self::Ends => *number + by,
            Self::Reopens => number.saturating_sub(by),
        };
    }
}

impl Run {
    /// Counts an end in its inner run and for those around it, or undoes that. The last one of a body lets the owner go on.
    pub(super) fn count(&mut self, ix: NodeIx, turn: GenerationChange) {
        let weight = self.weight(ix);
        let home = self.graph.nodes[ix].home;
        let Some(inner) = self.inner_runs.slot_mut(home) else { return };
        turn.shift(&mut inner.counts.exits, weight.exits);
        turn.shift(&mut inner.counts.forgone, weight.forgone);
        turn.shift(&mut inner.counts.bad, weight.bad);
        let was_over = inner.counts.unfinished == 0;
        match turn {
            GenerationChange::Ends => inner.counts.unfinished = inner.counts.unfinished.saturating_sub(1),
            GenerationChange::Reopens => inner.counts.unfinished += 1,
        }
        let is_over = inner.counts.unfinished == 0;
        let owner = inner.owner;
        let owners: Vec<NodeIx> = self.owners(ix).collect();
        for owner in owners {
            let inside = &mut self.nodes[owner].inside;
            turn.shift(&mut inside.over, 1);
            turn.shift(&mut inside.bad, weight.bad_inside);
        }
        match owner.filter(|&owner| !self.is_over(owner)) {
            Some(owner) if is_over => self.body_ended(owner),
            Some(owner) if was_over => self.body_reopened(owner),
            Some(_) | None => {}
        }
    }

    pub(super) fn weight(&self, ix: NodeIx) -> Weight {
        let exit = u32::from(self.graph.nodes[ix].outs.is_empty() || self.is_terminal(ix));
        let node = &self.nodes[ix];
        let partial = u32::from(node.mark == Some(Mark::Partial));
        match node.state {
            NodeState::Succeeded => Weight { exits: exit, bad: partial, ..Weight::default() },
            NodeState::Passed => Weight { exits: exit, ..Weight::default() },
            NodeState::Failed | NodeState::Cancelled => Weight { bad: 1, bad_inside: 1, ..Weight::default() },
            // A failure that its consumers know of is theirs to judge; at an exit nobody is left to.
            NodeState::FailedSafe => Weight { bad: exit, bad_inside: 1, ..Weight::default() },
            NodeState::Skipped => match self.flows[ix].outcome.skipped_by {
                SkippedBy::Person => Weight { forgone: exit, ..Weight::default() },
                SkippedBy::Plan => Weight::default(),
            },
            NodeState::Pending
            | NodeState::Ready
            | NodeState::Held
            | NodeState::Waiting { .. }
            | NodeState::Running
            | NodeState::Retrying { .. }
            | NodeState::Unknown => Weight::default(),
        }
    }

    /// A walk takes in what a node that has just ended gives. One that ran again alone keeps its place.
    pub(super) fn walk_on(&mut self, ix: NodeIx) {
        let again = self.flows[ix].outcome.former.take().is_some();
        let gives = self.nodes[ix].state == NodeState::Succeeded;
        let result = self.nodes[ix].result.clone().filter(|_| gives);
        let home = self.graph.nodes[ix].home;
        let Some(inner) = self.inner_runs.slot_mut(home).filter(|inner| inner.plan.dialect.walks()) else { return };
        if again && inner.walked.contains(&ix) {
            if result.is_none() {
                inner.walked.retain(|&walked| walked != ix);
            }
            return self.walk_again(home);
        }
        let Some(result) = result else { return };
        inner.walked.push(ix);
        if let (Dialect::Workflow, Value::Object(given)) = (inner.plan.dialect, &*result) {
            Arc::make_mut(&mut inner.inputs).extend(given.clone());
        }
    }
}
