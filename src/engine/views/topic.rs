//! `Topic`: what an event is about, and whose it is. Beside `evolve` the one list of all events: views that show some of them go by their
//! topics, so that a new event must be thought of here.

use crate::engine::{Event, NodeFact};
use crate::plan::NodeId;

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic<'a> {
    /// The run as a whole.
    Run,
    /// A question to people, and its answer.
    Gate,
    /// What people ask of the run.
    Action,
    /// The state of a node.
    Node(&'a NodeId),
    /// What a node at work calls: models, tools, people.
    Call(&'a NodeId),
    /// What a node at work writes and looks at. Its state stays.
    Text(&'a NodeId),
}

impl Event {
    /// What it is about.
    pub fn topic(&self) -> Topic<'_> {
        match self {
            Self::RunCreated { .. }
            | Self::RunStarted
            | Self::RunInterrupted { .. }
            | Self::RunRecovered { .. }
            | Self::RunReopened { .. }
            | Self::Branched { .. }
            | Self::RunCancelled { .. }
            | Self::RunSettled { .. } => Topic::Run,
            Self::ApprovalRequired { .. } | Self::GateDecided { .. } | Self::GateVoided { .. } => Topic::Gate,
            Self::Acted { .. } | Self::Carried | Self::Undone { .. } | Self::Refused { .. } => Topic::Action,
            Self::StageStarted { node_id } | Self::Checkpoint { node_id } | Self::StageFinished { node_id } => Topic::Node(node_id),
            Self::LogLine { node_id, .. } => Topic::Text(node_id),
            Self::Node { node_id, fact, .. } => match fact {
                NodeFact::Ready { .. }
                | NodeFact::Held { .. }
                | NodeFact::Started { .. }
                | NodeFact::Retrying { .. }
                | NodeFact::Routed { .. }
                | NodeFact::BodyStarted { .. }
                | NodeFact::Returned { .. }
                | NodeFact::Completed { .. }
                | NodeFact::Failed { .. }
                | NodeFact::Skipped { .. }
                | NodeFact::Passed { .. }
                | NodeFact::Cancelled { .. }
                | NodeFact::Interrupted { .. }
                | NodeFact::Unknown { .. }
                | NodeFact::BreakHit { .. } => Topic::Node(node_id),
                NodeFact::ModelStarted { .. }
                | NodeFact::ModelWaits { .. }
                | NodeFact::ModelSent { .. }
                | NodeFact::ModelAnswers { .. }
                | NodeFact::ModelTryFailed { .. }
                | NodeFact::ModelCalled { .. }
                | NodeFact::CallHeld { .. }
                | NodeFact::ToolProposed { .. }
                | NodeFact::ToolStarted { .. }
                | NodeFact::ToolRefused { .. }
                | NodeFact::ToolAnswered { .. }
                | NodeFact::ToolFinished { .. }
                | NodeFact::QuestionAnswered { .. } => Topic::Call(node_id),
                NodeFact::Message { .. } | NodeFact::Output { .. } => Topic::Text(node_id),
            },
        }
    }

    /// The node that an event is about, if it is about one. Of a gate, only its opening says it.
    pub fn node(&self) -> Option<&NodeId> {
        if let Self::ApprovalRequired { gate } = self {
            return Some(&gate.node);
        }
        match self.topic() {
            Topic::Node(node) | Topic::Call(node) | Topic::Text(node) => Some(node),
            Topic::Gate | Topic::Run | Topic::Action => None,
        }
    }
}
