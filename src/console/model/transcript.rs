//! `Transcript`: what a node said and did, as it may be drawn. Raw text of the journal becomes `Plain` here and nowhere later.

use serde_json::Value;

use crate::text::{Block, Plain};

/// Lines of streamed text that are kept for the screen; the journal keeps all.
const KEPT: usize = 20_000;
/// Columns of one kept line: longer ones go on in the next, so that scrolling by lines reaches everything.
const LONGEST: usize = 240;

/// What a node said and did, in this generation.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    /// Streamed text.
    pub output: Block,
    /// Its result for reading.
    pub result: Vec<Plain>,
    /// Its conversation with a model: role, text.
    pub messages: Vec<Message>,
    /// Lines of its log.
    pub log: Vec<Plain>,
}

/// One message of a conversation.
#[derive(Clone, Debug)]
pub struct Message {
    /// `system`, `user`, `assistant` or `tool`.
    pub role: Plain,
    /// Its text.
    pub lines: Vec<Plain>,
}

impl Transcript {
    /// Takes in streamed text.
    pub fn stream(&mut self, text: &str) {
        self.output.push(text);
        if self.output.lines().len() > KEPT * 2 {
            let kept: Vec<&str> = self.output.lines()[KEPT..].iter().map(Plain::as_str).collect();
            self.output = Block::new(&kept.join("\n"));
        }
    }

    /// Takes in the result.
    pub fn finish(&mut self, result: &Value) {
        self.result = lines(&super::words::result(result));
    }

    /// Takes in a message.
    pub fn say(&mut self, role: &str, content: &str) {
        self.messages.push(Message { role: Plain::summary(role), lines: lines(content) });
    }

    /// Takes in a line of the log.
    pub fn note(&mut self, text: &str) {
        if self.log.len() < KEPT {
            self.log.extend(lines(text));
        }
    }

    /// The last line that shows anything, for the row in the tree.
    pub fn last_line(&self) -> Option<&Plain> {
        self.output.last_visible().or_else(|| self.result.iter().find(|line| !line.as_str().trim().is_empty())).or_else(|| self.log.last())
    }
}

/// Raw text as lines, long ones cut into pieces that scrolling can reach.
pub fn lines(raw: &str) -> Vec<Plain> {
    let mut all = Vec::new();
    for line in Plain::block(raw) {
        if line.width() > LONGEST {
            all.extend(line.wrap(LONGEST));
        } else {
            all.push(line);
        }
    }
    all
}
