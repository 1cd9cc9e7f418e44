//! `StateCounts`: nodes by how they stand, in numbers.

use std::collections::BTreeMap;

use crate::engine::{NodeState, Run};
use crate::plan::NodeId;

/// Nodes by how they stand, kept up as events come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateCounts {
    by_node: BTreeMap<NodeId, Standing>,
    counts: [usize; 6],
    stale: usize,
}

/// How a node is, coarsely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Has not begun.
    Ahead,
    /// At work.
    Working,
    /// Waits for a person.
    Waiting,
    /// Ended well.
    Done,
    /// Ended badly.
    Failed,
    /// Ended without a result.
    Dropped,
}

impl Standing {
    /// The standing of a state.
    pub fn of(state: &NodeState) -> Self {
        match state {
            NodeState::Pending | NodeState::Ready | NodeState::Held => Self::Ahead,
            NodeState::Running | NodeState::Retrying { .. } => Self::Working,
            NodeState::Waiting { .. } | NodeState::Unknown => Self::Waiting,
            NodeState::Succeeded | NodeState::Passed => Self::Done,
            NodeState::Failed | NodeState::FailedSafe => Self::Failed,
            NodeState::Skipped | NodeState::Cancelled => Self::Dropped,
        }
    }
}

impl StateCounts {
    /// Nodes that stand so.
    pub fn count(&self, standing: Standing) -> usize {
        self.counts[standing as usize]
    }

    /// Nodes in all.
    pub fn total(&self) -> usize {
        self.by_node.len()
    }

    /// Nodes whose result was made of earlier ones.
    pub fn stale(&self) -> usize {
        self.stale
    }

    /// All nodes of a run, counted anew. Only what people do makes results stale or fresh, and then all is counted.
    pub(super) fn of(run: &Run) -> Self {
        let mut tally = Self::default();
        for (id, node) in run.nodes() {
            tally.note(id, Standing::of(&node.state));
            tally.stale += usize::from(node.stale.is_some());
        }
        tally
    }

    /// Counts a node in its new standing.
    pub(super) fn note(&mut self, node: &NodeId, standing: Standing) {
        self.counts[standing as usize] += 1;
        if let Some(before) = self.by_node.insert(node.clone(), standing) {
            self.counts[before as usize] -= 1;
        }
    }
}
