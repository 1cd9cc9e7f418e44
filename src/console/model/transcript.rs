//! `NodeConversation`: what a node said and did, as it may be drawn. Raw text of the journal becomes `Plain` here and nowhere later.

use serde_json::Value;

use super::{DrawnLine, drawn_markdown, drawn_table};
use crate::engine::{Job, MessageRole, result_line, result_notes, result_text};
use crate::text::{Block, Plain};

/// Lines of streamed text that are kept for the screen; the journal keeps all.
const KEPT: usize = 20_000;
/// Columns of one kept line: longer ones go on in the next, so that scrolling by lines reaches everything.
const LONGEST: usize = 240;

/// Bytes of a streamed line after which it goes on in the next, so that a frame never wraps more than a few of them.
const LONGEST_STREAMED: usize = 4_000;

/// What a node said and did, in this generation.
#[derive(Clone, Debug, Default)]
pub struct NodeConversation {
    /// Text that the attempt streamed.
    pub output: Block,
    /// What its model thinks, until it has its result.
    pub thoughts: Block,
    /// Bytes of the line that still grows.
    open: usize,
    /// Its result for reading.
    pub result: Vec<Plain>,
    /// The same drawn, where it is Markdown or a table.
    pub drawn: Option<Vec<DrawnLine>>,
    /// Columns of its widest line.
    pub widest: usize,
    /// What has to be known about its result.
    pub notes: Vec<Plain>,
    /// Its result on one line.
    headline: Option<Plain>,
    /// Its conversation with a model: role, text.
    pub messages: Vec<ConversationMessage>,
    /// What its last attempt was given, with references resolved.
    pub given: Vec<Plain>,
    /// Lines of its log.
    pub log: Vec<Plain>,
}

/// One message of a conversation.
#[derive(Clone, Debug)]
pub struct ConversationMessage {
    pub role: MessageRole,
    pub lines: Vec<Plain>,
}

impl NodeConversation {
    /// An attempt begins: it speaks anew. What those before it said stays among the messages and in the journal.
    pub fn begin(&mut self) {
        (self.output, self.thoughts, self.open) = (Block::default(), Block::default(), 0);
    }

    /// Takes in streamed text.
    pub fn stream(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
            let (piece, after) = rest.split_at(rest.floor_char_boundary(end.min(LONGEST_STREAMED)));
            if self.open + piece.len() > LONGEST_STREAMED {
                self.output.push("\n");
                self.open = 0;
            }
            self.output.push(piece);
            self.open = if piece.ends_with('\n') { 0 } else { self.open + piece.len() };
            rest = after;
        }
        if self.output.lines().len() > KEPT * 2 {
            let kept: Vec<&str> = self.output.lines()[KEPT..].iter().map(Plain::as_str).collect();
            self.output = Block::new(&kept.join("\n"));
        }
    }

    /// Takes in the result, with the tool that reported it. What tools give is no Markdown, whatever it looks like.
    pub fn finish(&mut self, result: &Value, is_of_tool: bool, reporter: Option<&str>) {
        self.thoughts = Block::default();
        let text = result_text(result, reporter);
        self.drawn = match result {
            Value::String(text) if !is_of_tool => drawn_markdown(text),
            Value::Object(_) | Value::Array(_) => drawn_table(&text),
            _ => None,
        };
        self.result = lines(&text);
        let drawn = self.drawn.iter().flatten().map(DrawnLine::text);
        let read = if self.drawn.is_some() { drawn.map(Plain::width).max() } else { self.result.iter().map(Plain::width).max() };
        self.widest = read.unwrap_or(0);
        self.notes = result_notes(result).map(|note| Plain::line(&format!("note: {note}"))).collect();
        self.headline = headline(result, reporter);
    }

    /// Takes in what an attempt is given.
    pub fn give(&mut self, job: &Job) {
        self.given = match job {
            Job::Agent(agent) => lines(cut(agent.objective.as_deref().unwrap_or_default())),
            Job::Tool { args, .. } => lines(cut(&super::texts::pretty(args))),
            Job::Inside { inputs, .. } if !inputs.is_empty() => lines(cut(&super::texts::pretty(&Value::Object(inputs.clone())))),
            Job::Code { .. } | Job::Inline { .. } | Job::Inside { .. } => Vec::new(),
        };
    }

    /// Takes in a message.
    pub fn say(&mut self, role: MessageRole, content: &str) {
        self.messages.push(ConversationMessage { role, lines: lines(content) });
    }

    /// Takes in a line of the log.
    pub fn note(&mut self, text: &str) {
        if self.log.len() < KEPT {
            self.log.extend(lines(text));
        }
    }

    /// What the row in the tree says: the result once it is there, before that the last line that shows anything.
    pub fn last_line(&self) -> Option<&Plain> {
        self.headline.as_ref().or_else(|| self.output.last_visible()).or_else(|| self.thoughts.last_visible()).or_else(|| self.log.last())
    }
}

/// Bytes of a result that are looked at for its one line.
const HEADLINE: usize = 400;

/// A result on one line: its first words, else compact JSON.
fn headline(result: &Value, reporter: Option<&str>) -> Option<Plain> {
    let line = if result.is_null() { String::new() } else { result_line(result, reporter) };
    (!line.is_empty()).then(|| Plain::summary(start(&line)))
}

/// Bytes of what an attempt is given that are kept for the screen; the journal keeps all.
const GIVEN: usize = 64 << 10;

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(GIVEN)]
}

fn start(text: &str) -> &str {
    &text[..text.floor_char_boundary(HEADLINE)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_without_line_ends_becomes_lines_that_a_frame_can_wrap() {
        let mut transcript = NodeConversation::default();
        for _ in 0..3_000 {
            transcript.stream("wörd ");
        }
        transcript.stream(&"x".repeat(10_000));
        transcript.stream("\nend");
        let lines = transcript.output.lines();
        assert!(lines.iter().all(|line| line.as_str().len() <= LONGEST_STREAMED));
        assert_eq!(lines.iter().map(|line| line.as_str().len()).sum::<usize>(), 3_000 * 6 + 10_000 + 3);
        assert_eq!(lines.last().map(Plain::as_str), Some("end"));
    }
}
