//! `Standing`: how a node is, coarsely.

use crate::engine::NodeState;

/// How a node stands, coarsely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Ahead,
    Working,
    /// Waits for a person.
    Waiting,
    Done,
    Failed,
    /// Ended without a result.
    Dropped,
}

impl Standing {
    /// The standing of a state.
    pub fn of(state: &NodeState) -> Self {
        match state {
            NodeState::Pending | NodeState::Ready | NodeState::Held => Self::Ahead,
            NodeState::Running | NodeState::Stopping | NodeState::Retrying { .. } => Self::Working,
            NodeState::Waiting { .. } | NodeState::Unknown => Self::Waiting,
            NodeState::Succeeded | NodeState::Rehearsed | NodeState::Passed => Self::Done,
            NodeState::Failed | NodeState::FailedSafe => Self::Failed,
            NodeState::Skipped | NodeState::Cancelled => Self::Dropped,
        }
    }
}
