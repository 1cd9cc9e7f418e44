//! `RunPeek`: what there is to know of a run before it is opened: how far it is, why it is as it is, what it asks, how its results begin.

use super::describe::{RunStatus, result_line};
use crate::engine::{Gate, NodeRun, Outcome, RunState};
use crate::plan::{Node, NodeId};
use serde::{Deserialize, Serialize};

/// Lines of a result, and bytes of one of them.
const LINES: usize = 40;
/// Results that are read.
const RESULTS: usize = 5;
const LONGEST: usize = 1_000;

/// A run in a few words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPeek {
    /// The events that it was read from.
    pub events: u64,
    /// Its nodes in numbers.
    pub counts: String,
    /// Why it ended as it did, or what broke it off; may be empty.
    pub reason: String,
    /// What it waits for, or what came out, in a few words; may be empty.
    pub note: String,
    /// What its open gates ask, the oldest first.
    pub gates: Vec<String>,
    /// How the results of its final nodes begin.
    pub results: Vec<PeekedText>,
    /// Results that are not among these.
    pub more: usize,
}

/// What a node gave, and what the node is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeekedText {
    pub title: String,
    pub text: String,
    /// Whether there is more of it.
    pub is_cut: bool,
}

impl RunState {
    /// A sentence with other names in place of the ids of nodes, which are in backticks.
    pub fn named(&self, sentence: &str, name: impl Fn(&NodeId) -> String) -> String {
        let mut parts = sentence.split('`');
        let mut said = parts.next().unwrap_or_default().to_owned();
        for (at, part) in parts.enumerate() {
            let is_inside = at % 2 == 0;
            let node = is_inside.then(|| NodeId::from(part)).filter(|id| self.node(id).is_some());
            said.push('`');
            said.push_str(&node.map_or_else(|| part.to_owned(), |id| name(&id)));
        }
        said
    }

    fn title(&self, id: &NodeId) -> String {
        self.node_doc(id).map_or_else(|| id.to_string(), |node: &Node| node.title_or_id().into_string())
    }

    /// What a gate asks, and of which node where that doesn't say so.
    fn asked(&self, gate: &Gate) -> String {
        let (title, asks) = (self.title(&gate.node), gate.asks());
        if asks.contains(&title) { asks } else { format!("{title}: {asks}") }
    }

    /// What it waits for, else what came out of it, on one line.
    fn note(&self, reason: &str, result: Option<String>) -> String {
        let halted = || {
            self.nodes_in_order().into_iter().map(|(id, _)| id).find(|id| self.kept(id).is_some() || self.held_calls(id).next().is_some())
        };
        if let Some(gate) = self.open_gates().next() {
            return self.asked(gate);
        }
        match self.outcome() {
            None => halted().map(|id| format!("halted: {}", self.title(id))).unwrap_or_else(|| reason.to_owned()),
            Some((Outcome::Succeeded | Outcome::Rehearsed, _)) => {
                let wrote = self.changes().files_label();
                if wrote.is_empty() { result.unwrap_or_default() } else { wrote.into_string() }
            }
            Some((Outcome::Partial | Outcome::Failed | Outcome::Cancelled, _)) => reason.replace('`', ""),
        }
    }

    /// The run in a few words, by what it is now.
    pub fn peek(&self, status: RunStatus) -> RunPeek {
        let reason = match self.outcome() {
            Some((_, cause)) => self.named(&cause.message(), |id| self.title(id)),
            None if status == RunStatus::Interrupted => status.label(self.interrupted_by()),
            None => String::new(),
        };
        let finals = self.nodes_in_order().into_iter().filter(|(id, _)| self.is_final(id));
        let is_there = |node: &NodeRun| node.result.as_deref().is_some_and(|result| !result.is_null());
        let ended: Vec<(&NodeId, &NodeRun)> = finals.filter(|(_, node)| is_there(node)).collect();
        let first = ended.first().and_then(|(_, node)| node.result.as_deref().map(|result| result_line(result, node.reporter(result))));
        let results: Vec<(&NodeId, String)> = ended.iter().filter_map(|(id, node)| Some((*id, node.result_text()?))).collect();
        RunPeek {
            events: self.last_seq(),
            counts: self.counts(status).label().into_string(),
            note: self.note(&reason, first.map(|line| line.trim_start_matches(['#', ' ']).to_owned())),
            reason,
            gates: self.open_gates().map(|gate| self.asked(gate)).collect(),
            results: results.iter().take(RESULTS).map(|(id, text)| beginning(self.title(id), text)).collect(),
            more: results.len().saturating_sub(RESULTS),
        }
    }
}

fn beginning(title: String, text: &str) -> PeekedText {
    let lines: Vec<&str> = text.lines().take(LINES).map(|line| &line[..line.floor_char_boundary(LONGEST)]).collect();
    let is_cut = text.lines().count() > LINES;
    PeekedText { title, text: lines.join("\n"), is_cut }
}
