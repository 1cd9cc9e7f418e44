//! `Transcript`: a second fold of the events, for views: what each node said and did, in order. Raw text, as the journal has it.
//! A node that gets another name keeps what it said. Streamed output is bounded per node: its tail is kept, and how much was cut is known.

use super::{Event, ModelCall, NodeError, NodeFact, Record, Renames, Time, ToolCall, ToolReport, carry};
use crate::plan::NodeId;
use serde_json::Value;
use std::collections::BTreeMap;

/// Streamed text kept of one node, in bytes.
pub const OUTPUT_KEPT: usize = 256 * 1024;
/// How far output grows beyond that before it is cut, so that cutting is rare.
const OUTPUT_SLACK: usize = 64 * 1024;
/// Characters of a last line.
const LINE: usize = 240;

/// One thing that a node said or did.
#[derive(Clone, Debug, PartialEq)]
pub enum TranscriptEntry {
    /// An attempt started.
    Attempt {
        /// When.
        at: Time,
        /// From 1.
        attempt: u32,
    },
    /// An attempt failed and another one follows.
    Retrying {
        /// When.
        at: Time,
        /// Why.
        error: NodeError,
        /// Not before.
        until: Time,
    },
    /// A message of its conversation.
    Message {
        /// When.
        at: Time,
        /// `system`, `user`, `assistant` or `tool`.
        role: String,
        /// Its text.
        content: String,
    },
    /// Streamed text, pieces joined.
    Output {
        /// When the first piece came.
        at: Time,
        /// The text, or its tail.
        text: String,
        /// Bytes cut off before it.
        cut: u64,
    },
    /// A tool call.
    Tool {
        /// When it was proposed.
        at: Time,
        /// The call; its arguments are those that ran, once it ran.
        call: ToolCall,
        /// How far it is.
        status: ToolStatus,
    },
    /// An answer to a question of the node.
    Answered {
        /// When.
        at: Time,
        /// The answer.
        value: Value,
    },
    /// A line of its log.
    Log {
        /// When.
        at: Time,
        /// The line.
        text: String,
    },
    /// A model call ended.
    Model {
        /// When.
        at: Time,
        /// What it took.
        call: ModelCall,
    },
}

/// How far a tool call is.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolStatus {
    /// Waits for a decision.
    Proposed,
    /// Runs.
    Running,
    /// Will not run; the words that went to the model.
    Refused(String),
    /// A person gave this in its place.
    Answered(Value),
    /// Ended.
    Done(ToolReport),
}

/// What one node said and did.
#[derive(Clone, Debug, Default, PartialEq)]
struct NodeTranscript {
    entries: Vec<TranscriptEntry>,
    /// Bytes in `TranscriptEntry::Output`.
    output: usize,
    last_line: String,
    revision: u64,
}

/// What every node of a run said and did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    nodes: BTreeMap<NodeId, NodeTranscript>,
    renames: Renames,
}

impl Transcript {
    /// Takes in one event.
    pub fn fold(&mut self, record: &Record) {
        let at = record.at;
        carry(&mut self.nodes, &self.renames.fold(record));
        match &record.event {
            Event::Node { node_id, fact: NodeFact::Started { attempt, .. }, .. } => {
                self.push(node_id, TranscriptEntry::Attempt { at, attempt: *attempt })
            }
            Event::Node { node_id, fact: NodeFact::Retrying { error, until, .. }, .. } => {
                self.push(node_id, TranscriptEntry::Retrying { at, error: error.clone(), until: *until });
            }
            Event::Node { node_id, fact: NodeFact::Message { role, content }, .. } => {
                self.push(node_id, TranscriptEntry::Message { at, role: role.clone(), content: content.clone() });
            }
            Event::Node { node_id, fact: NodeFact::Output { text }, .. } => self.node(node_id).stream(at, text),
            Event::Node { node_id, fact: NodeFact::Interrupted { reason, .. }, .. } => {
                self.push(node_id, TranscriptEntry::Log { at, text: format!("the attempt broke off: {reason}") });
            }
            Event::Node { node_id, fact: NodeFact::BreakHit { reason, .. }, .. } => {
                self.push(node_id, TranscriptEntry::Log { at, text: reason.clone() })
            }
            Event::Node { node_id, fact: NodeFact::CallHeld { held, .. }, .. } => {
                self.push(node_id, TranscriptEntry::Log { at, text: format!("{} is held: {}", held.next.words(), held.reason) });
            }
            Event::LogLine { node_id, text } => self.push(node_id, TranscriptEntry::Log { at, text: text.clone() }),
            Event::Node { node_id, fact: NodeFact::ModelCalled { call }, .. } => {
                self.push(node_id, TranscriptEntry::Model { at, call: call.clone() })
            }
            Event::Node { node_id, fact: NodeFact::ToolProposed { call }, .. } => {
                self.push(node_id, TranscriptEntry::Tool { at, call: call.clone(), status: ToolStatus::Proposed });
            }
            Event::Node { node_id, fact: NodeFact::ToolStarted { call }, .. } => self.node(node_id).run_tool(at, call),
            Event::Node { node_id, fact: NodeFact::ToolRefused { call, message }, .. } => {
                self.node(node_id).end_tool(call, ToolStatus::Refused(message.clone()));
            }
            Event::Node { node_id, fact: NodeFact::ToolAnswered { call, value }, .. } => {
                self.node(node_id).end_tool(call, ToolStatus::Answered(value.clone()))
            }
            Event::Node { node_id, fact: NodeFact::ToolFinished { call, report }, .. } => {
                self.node(node_id).end_tool(call, ToolStatus::Done(report.clone()))
            }
            Event::Node { node_id, fact: NodeFact::QuestionAnswered { value, .. }, .. } => {
                self.push(node_id, TranscriptEntry::Answered { at, value: value.clone() })
            }
            _ => {}
        }
    }

    /// What a node said and did, oldest first.
    pub fn entries(&self, node: &NodeId) -> &[TranscriptEntry] {
        self.nodes.get(node).map_or(&[], |node| &node.entries)
    }

    /// The last line with words that a node wrote, cut to a line's length.
    pub fn last_line(&self, node: &NodeId) -> Option<&str> {
        self.nodes.get(node).map(|node| node.last_line.as_str()).filter(|line| !line.is_empty())
    }

    /// Grows with each change of a node's entries; 0 when there are none. Views cache by it.
    pub fn revision(&self, node: &NodeId) -> u64 {
        self.nodes.get(node).map_or(0, |node| node.revision)
    }

    fn node(&mut self, id: &NodeId) -> &mut NodeTranscript {
        if !self.nodes.contains_key(id) {
            self.nodes.insert(id.clone(), NodeTranscript::default());
        }
        self.nodes.entry(id.clone()).or_default()
    }

    fn push(&mut self, id: &NodeId, entry: TranscriptEntry) {
        self.node(id).push(entry);
    }
}

impl NodeTranscript {
    fn push(&mut self, entry: TranscriptEntry) {
        self.revision += 1;
        match &entry {
            TranscriptEntry::Log { text, .. } => self.line(text),
            TranscriptEntry::Message { role, content, .. } if role == "assistant" => self.line(content),
            TranscriptEntry::Message { .. }
            | TranscriptEntry::Attempt { .. }
            | TranscriptEntry::Retrying { .. }
            | TranscriptEntry::Output { .. }
            | TranscriptEntry::Tool { .. }
            | TranscriptEntry::Answered { .. }
            | TranscriptEntry::Model { .. } => {}
        }
        self.entries.push(entry);
    }

    fn line(&mut self, text: &str) {
        if let Some(line) = text.lines().rev().map(str::trim).find(|line| !line.is_empty()) {
            self.last_line = line.chars().take(LINE).collect();
        }
    }

    fn stream(&mut self, at: Time, piece: &str) {
        self.output += piece.len();
        match self.entries.last_mut() {
            Some(TranscriptEntry::Output { text, .. }) => text.push_str(piece),
            Some(_) | None => self.entries.push(TranscriptEntry::Output { at, text: piece.to_string(), cut: 0 }),
        }
        self.revision += 1;
        if self.output > OUTPUT_KEPT + OUTPUT_SLACK {
            self.cut();
        }
        // The line may have begun in an earlier piece.
        if let Some(TranscriptEntry::Output { text, .. }) = self.entries.last() {
            let tail: String = text.chars().rev().take(4 * LINE).collect::<Vec<_>>().into_iter().rev().collect();
            self.line(&tail);
        }
    }

    /// Cuts the oldest output, at an end of a line where there is one near.
    fn cut(&mut self) {
        let mut over = self.output.saturating_sub(OUTPUT_KEPT);
        for entry in &mut self.entries {
            let TranscriptEntry::Output { text, cut, .. } = entry else { continue };
            if over == 0 {
                break;
            }
            let mut end = over.min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            let near = text.as_bytes()[end..].iter().take(1024).position(|&byte| byte == b'\n');
            let end = near.map_or(end, |near| end + near + 1);
            text.drain(..end);
            *cut += end as u64;
            self.output -= end;
            over = over.saturating_sub(end);
        }
    }

    fn run_tool(&mut self, at: Time, call: &ToolCall) {
        match self.tool(&call.id) {
            Some((known, status)) => {
                *known = call.clone();
                *status = ToolStatus::Running;
                self.revision += 1;
            }
            None => self.push(TranscriptEntry::Tool { at, call: call.clone(), status: ToolStatus::Running }),
        }
    }

    fn end_tool(&mut self, id: &str, ended: ToolStatus) {
        if let Some((_, status)) = self.tool(id) {
            *status = ended;
            self.revision += 1;
        }
    }

    /// The latest call of that id.
    fn tool(&mut self, id: &str) -> Option<(&mut ToolCall, &mut ToolStatus)> {
        self.entries.iter_mut().rev().find_map(|entry| match entry {
            TranscriptEntry::Tool { call, status, .. } if call.id == id => Some((call, status)),
            TranscriptEntry::Tool { .. }
            | TranscriptEntry::Attempt { .. }
            | TranscriptEntry::Retrying { .. }
            | TranscriptEntry::Message { .. }
            | TranscriptEntry::Output { .. }
            | TranscriptEntry::Answered { .. }
            | TranscriptEntry::Log { .. }
            | TranscriptEntry::Model { .. } => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(events: Vec<Event>) -> Transcript {
        let mut transcript = Transcript::default();
        for (seq, event) in (1..).zip(events) {
            transcript.fold(&Record { seq, at: Time(seq), more: false, event });
        }
        transcript
    }

    fn output(text: &str) -> Event {
        Event::Node { node_id: "a".into(), generation: 1, fact: NodeFact::Output { text: text.into() } }
    }

    #[test]
    fn streamed_pieces_join_and_the_last_line_spans_them() {
        let transcript = fold(vec![output("one\ntw"), output("o three"), output("\n\n")]);
        let [TranscriptEntry::Output { text, cut: 0, .. }] = transcript.entries(&"a".into()) else { panic!("one entry") };
        assert_eq!(text, "one\ntwo three\n\n");
        assert_eq!(transcript.last_line(&"a".into()), Some("two three"));
        assert_eq!(transcript.revision(&"a".into()), 3);
        assert_eq!(transcript.revision(&"b".into()), 0);
    }

    #[test]
    fn the_tail_of_long_output_is_kept_and_what_was_cut_is_counted() {
        let line = format!("{}é\n", "x".repeat(97));
        let pieces = 5_000;
        let transcript = fold((0..pieces).map(|_| output(&line)).collect());
        let [TranscriptEntry::Output { text, cut, .. }] = transcript.entries(&"a".into()) else { panic!("one entry") };
        assert!(text.len() <= OUTPUT_KEPT + OUTPUT_SLACK);
        assert_eq!(text.len() as u64 + cut, (line.len() * pieces) as u64);
        assert!(text.starts_with('x') && text.len().is_multiple_of(line.len()), "cut at a line's end");
    }

    #[test]
    fn a_tool_call_shows_what_ran_and_what_it_gave() {
        let call = |args: &str| ToolCall { id: "1".into(), tool: "write".into(), args: Value::from(args) };
        let report = ToolReport { ok: true, value: Value::from("done"), ..ToolReport::default() };
        let transcript = fold(vec![
            Event::Node { node_id: "a".into(), generation: 1, fact: NodeFact::ToolProposed { call: call("proposed") } },
            Event::Node { node_id: "a".into(), generation: 1, fact: NodeFact::ToolStarted { call: call("edited") } },
            Event::Node { node_id: "a".into(), generation: 1, fact: NodeFact::ToolFinished { call: "1".into(), report: report.clone() } },
        ]);
        assert_eq!(
            transcript.entries(&"a".into()),
            [TranscriptEntry::Tool { at: Time(1), call: call("edited"), status: ToolStatus::Done(report) }]
        );
    }
}
