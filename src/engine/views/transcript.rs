//! `Transcript`: what each node wrote and logged, and which models it asked, in order, from the same events as the run. Raw text, as the
//! journal has it. A node that gets another name keeps its entries.

use crate::engine::{Event, MessageRole, ModelCall, NodeFact, Record, Renames, Time, carry};
use crate::plan::NodeId;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub enum TranscriptEntry {
    /// Of a conversation.
    Message { at: Time, role: MessageRole, content: String },
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
        let Some(node) = record.event.node() else { return };
        let log = |text: String| TranscriptEntry::Log { at, text };
        let entry = if let Event::LogLine { text, .. } = &record.event {
            log(text.clone())
        } else if let Event::Node { fact: NodeFact::Message { role, content }, .. } = &record.event {
            TranscriptEntry::Message { at, role: *role, content: content.clone() }
        } else if let Event::Node { fact: NodeFact::ModelCalled { call }, .. } = &record.event {
            TranscriptEntry::Model { at, call: call.clone() }
        } else if let Event::Node { fact: NodeFact::Interrupted { reason, .. }, .. } = &record.event {
            log(format!("the attempt was interrupted: {reason}"))
        } else if let Event::Node { fact: NodeFact::Noted { text, .. }, .. } = &record.event {
            log(text.clone())
        } else if let Event::Node { fact: NodeFact::BreakHit { reason, .. }, .. } = &record.event {
            log(reason.message())
        } else if let Event::Node { fact: NodeFact::CallHeld { held, .. }, .. } = &record.event {
            log(format!("{} is held: {}", held.next.label(), held.reason))
        } else {
            return;
        };
        self.nodes.entry(node.clone()).or_default().push(entry);
    }

    pub fn entries(&self, node: &NodeId) -> &[TranscriptEntry] {
        self.nodes.get(node).map_or(&[], Vec::as_slice)
    }
}
