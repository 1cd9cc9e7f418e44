//! `Wanted`: what a search in the tree is for, as it was typed.

use crate::plan::{Node, nest};

/// What a search is for: `is:STATE`, `agent:NAME` and `tool:NAME`, and words.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// States by their words.
    pub states: Vec<String>,
    agents: Vec<String>,
    tools: Vec<String>,
    words: String,
}

impl Wanted {
    /// As it was typed.
    pub fn read(text: &str) -> Self {
        let mut wanted = Self::default();
        let mut words = Vec::new();
        for word in text.to_lowercase().split_whitespace() {
            match word.split_once(':') {
                Some(("is", state)) => wanted.states.push(state.to_owned()),
                Some(("agent", name)) => wanted.agents.push(name.to_owned()),
                Some(("tool", name)) => wanted.tools.push(name.to_owned()),
                _ => words.push(word.to_owned()),
            }
        }
        wanted.words = words.join(" ");
        wanted
    }

    pub fn means(&self, node: &Node, inputs: &serde_json::Map<String, serde_json::Value>) -> bool {
        let has = |text: &str| text.to_lowercase().contains(&self.words);
        let texts = [node.title_or_id(), super::texts::summary(node, inputs), super::texts::worker(node)];
        let worker = texts[2].as_str().to_lowercase();
        let is_tool = node.kind.tool().is_some();
        self.agents.iter().all(|name| !is_tool && worker.contains(name.as_str()))
            && self.tools.iter().all(|name| is_tool && worker.contains(name.as_str()))
            && (has(&node.id) || texts.iter().any(|text| has(text.as_str())))
    }

    /// How far a node is from what was typed: it is its id, its id begins so, or it has it somewhere.
    pub fn distance(&self, node: &Node) -> u8 {
        let id = nest::name(&node.id).to_lowercase();
        match id {
            _ if self.words.is_empty() => 2,
            id if id == self.words => 0,
            id if id.starts_with(&self.words) => 1,
            _ => 2,
        }
    }
}
