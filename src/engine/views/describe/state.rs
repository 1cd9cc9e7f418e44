//! What each state of a node means.

use crate::engine::NodeState;

impl NodeState {
    /// What it means, behind its word.
    pub fn description(&self) -> &'static str {
        match self {
            Self::Pending => "waits for the nodes that it depends on",
            Self::Ready => "starts as soon as a slot is free",
            Self::Held => "does not start: breakpoint, pause, lock, or you hold it",
            Self::Waiting { .. } => "for your reply: see the inbox",
            Self::Running => "works now",
            Self::Stopping => "returns what it has, because you stopped it",
            Self::Retrying { .. } => "an attempt failed; the next one follows",
            Self::Succeeded => "has a result",
            Self::Rehearsed => "only shows what would be done: no model, or a rehearsal",
            Self::Passed => "passes on its input without running",
            Self::Skipped => "never ran",
            Self::Failed => "failed for good",
            Self::FailedSafe => "failed; the nodes after it know and continue",
            Self::Cancelled => "cancelled, or rejected at its gate",
            Self::Unknown => "it may have taken effect or not: you decide",
        }
    }
}
