//! `Transcript`: what each node wrote and logged, and which models it asked, in order, from the same events as the run. Raw text, as the
//! journal has it. A node that gets another name keeps its entries.

use super::{Event, ModelCall, NodeFact, Record, Renames, Time, carry};
use crate::plan::NodeId;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub enum TranscriptEntry {
    /// Of a conversation; `role` is `system`, `user`, `assistant` or `tool`.
    Message { at: Time, role: String, content: String },
    /// A line of the log, or what held or interrupted the node.
    Log { at: Time, text: String },
    /// A model call ended.
    Model { at: Time, call: ModelCall },
}

/// The entries of every node of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    nodes: BTreeMap<NodeId, Vec<TranscriptEntry>>,
    renames: Renames,
}

impl Transcript {
    pub fn fold(&mut self, record: &Record) {
        carry(&mut self.nodes, &self.renames.fold(record));
        let at = record.at;
        let (node, entry) = match &record.event {
            Event::LogLine { node_id, text } => (node_id, TranscriptEntry::Log { at, text: text.clone() }),
            Event::Node { node_id, fact, .. } => match fact {
                NodeFact::Message { role, content } => {
                    (node_id, TranscriptEntry::Message { at, role: role.clone(), content: content.clone() })
                }
                NodeFact::ModelCalled { call } => (node_id, TranscriptEntry::Model { at, call: call.clone() }),
                NodeFact::Interrupted { reason, .. } => {
                    (node_id, TranscriptEntry::Log { at, text: format!("the attempt was interrupted: {}", reason.message()) })
                }
                NodeFact::BreakHit { reason, .. } => (node_id, TranscriptEntry::Log { at, text: reason.message() }),
                NodeFact::CallHeld { held, .. } => {
                    (node_id, TranscriptEntry::Log { at, text: format!("{} is held: {}", held.next.label(), held.reason.message()) })
                }
                NodeFact::Ready
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
                | NodeFact::Unknown { .. }
                | NodeFact::ModelStarted { .. }
                | NodeFact::ToolProposed { .. }
                | NodeFact::ToolStarted { .. }
                | NodeFact::ToolRefused { .. }
                | NodeFact::ToolAnswered { .. }
                | NodeFact::ToolFinished { .. }
                | NodeFact::QuestionAnswered { .. }
                | NodeFact::Output { .. } => return,
            },
            Event::RunCreated { .. }
            | Event::RunStarted
            | Event::RunInterrupted { .. }
            | Event::RunRecovered { .. }
            | Event::RunReopened { .. }
            | Event::Branched { .. }
            | Event::RunCancelled { .. }
            | Event::RunSettled { .. }
            | Event::ApprovalRequired { .. }
            | Event::GateDecided { .. }
            | Event::GateVoided { .. }
            | Event::StageStarted { .. }
            | Event::Checkpoint { .. }
            | Event::StageFinished { .. }
            | Event::Acted { .. }
            | Event::Carried
            | Event::Undone { .. }
            | Event::Refused { .. } => return,
        };
        self.nodes.entry(node.clone()).or_default().push(entry);
    }

    /// Oldest first.
    pub fn entries(&self, node: &NodeId) -> &[TranscriptEntry] {
        self.nodes.get(node).map_or(&[], Vec::as_slice)
    }
}
