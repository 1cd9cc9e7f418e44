//! `Topic`: what an event is about, and whose it is. Beside the fold itself the one list of all events: whoever tells of some of them
//! goes by their topics, so that a new event must be thought of here.

use super::Event;
use crate::plan::NodeId;

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic<'a> {
    /// The run as a whole.
    Run,
    /// A question to people, and its answer.
    Gate,
    /// What people ask of the run.
    Verb,
    /// How a node stands.
    Node(&'a NodeId),
    /// What a node at work calls: models, tools, people.
    Call(&'a NodeId),
    /// What a node at work says and looks at. It stands as before.
    Words(&'a NodeId),
}

impl Event {
    /// What it is about.
    pub fn topic(&self) -> Topic<'_> {
        match self {
            Self::RunCreated { .. }
            | Self::RunStarted
            | Self::RunRecovered { .. }
            | Self::RunReopened { .. }
            | Self::Branched { .. }
            | Self::RunCancelled { .. }
            | Self::RunSettled { .. } => Topic::Run,
            Self::ApprovalRequired { .. } | Self::GateDecided { .. } | Self::GateVoided { .. } => Topic::Gate,
            Self::Acted { .. } | Self::Carried | Self::Undone { .. } | Self::Refused { .. } => Topic::Verb,
            Self::NodeReady { node_id, .. }
            | Self::NodeHeld { node_id, .. }
            | Self::NodeStarted { node_id, .. }
            | Self::NodeRetrying { node_id, .. }
            | Self::NodeRouted { node_id, .. }
            | Self::BodyStarted { node_id, .. }
            | Self::StageStarted { node_id }
            | Self::Checkpoint { node_id }
            | Self::StageFinished { node_id }
            | Self::NodeReturned { node_id, .. }
            | Self::NodeCompleted { node_id, .. }
            | Self::NodeFailed { node_id, .. }
            | Self::NodeSkipped { node_id, .. }
            | Self::NodePassed { node_id, .. }
            | Self::NodeCancelled { node_id, .. }
            | Self::NodeInterrupted { node_id, .. }
            | Self::NodeUnknown { node_id, .. }
            | Self::BreakHit { node_id, .. } => Topic::Node(node_id),
            Self::ModelStarted { node_id, .. }
            | Self::ModelCalled { node_id, .. }
            | Self::CallHeld { node_id, .. }
            | Self::ToolProposed { node_id, .. }
            | Self::ToolStarted { node_id, .. }
            | Self::ToolRefused { node_id, .. }
            | Self::ToolAnswered { node_id, .. }
            | Self::ToolFinished { node_id, .. }
            | Self::QuestionAnswered { node_id, .. } => Topic::Call(node_id),
            Self::Message { node_id, .. }
            | Self::Output { node_id, .. }
            | Self::LogLine { node_id, .. }
            | Self::Touched { node_id, .. } => Topic::Words(node_id),
        }
    }

    /// The node that an event is about, if it is about one. Of a gate, only its opening says it.
    pub fn node(&self) -> Option<&NodeId> {
        match self.topic() {
            Topic::Node(node) | Topic::Call(node) | Topic::Words(node) => Some(node),
            Topic::Gate => match self {
                Self::ApprovalRequired { gate } => Some(&gate.node),
                _ => None,
            },
            Topic::Run | Topic::Verb => None,
        }
    }
}
