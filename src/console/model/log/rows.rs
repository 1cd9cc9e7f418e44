//! `Rows`: which events make a line of the log. What a node streams piece by piece is one row that grows, however its pieces lie among
//! those of others; an event that tells a person nothing has none. An event that comes costs the same however many came before.

use std::collections::BTreeMap;

use super::EventFilter;
use crate::console::model::RunAt;
use crate::engine::{Event, EventLine, EventTrait, NodeFact, Record, Run};
use crate::plan::NodeId;
use crate::text::{Plain, counted, thousands};

/// One line of the log.
#[derive(Clone, Debug)]
pub enum LogRow {
    /// One event, by its place in the journal.
    Event(usize),
    /// What a node streamed, with nothing else of it in between.
    Stream(Box<StreamedText>),
}

impl LogRow {
    /// The place in the journal of its first event.
    pub fn first(&self) -> usize {
        match self {
            Self::Event(at) => *at,
            Self::Stream(stream) => stream.pieces.first().copied().unwrap_or_default(),
        }
    }

    /// The place in the journal of its last event.
    pub fn last(&self) -> usize {
        match self {
            Self::Event(at) => *at,
            Self::Stream(stream) => stream.pieces.last().copied().unwrap_or_default(),
        }
    }
}

/// Streamed text, piece by piece.
#[derive(Clone, Debug, Default)]
pub struct StreamedText {
    /// Places of its pieces in the journal.
    pieces: Vec<usize>,
    chars: u64,
    /// The end of the text; a filter looks for words that lie within.
    tail: String,
}

/// Bytes of streamed text at least that a row knows the end of.
const TAIL: usize = 400;

impl StreamedText {
    fn push(&mut self, at: usize, text: &str) {
        if self.tail.len() > 2 * TAIL {
            self.tail.drain(..self.tail.ceil_char_boundary(self.tail.len() - TAIL));
        }
        self.tail.push_str(text);
        self.pieces.push(at);
        self.chars += text.chars().count() as u64;
    }

    /// Places of its pieces in the journal, in order; never none.
    pub fn pieces(&self) -> &[usize] {
        &self.pieces
    }

    /// How much was said.
    pub fn amount(&self) -> String {
        match self.chars {
            1 => counted(1, "character"),
            chars => format!("{} characters", thousands(chars)),
        }
    }

    /// How much the node said; its words come behind.
    pub fn label(&self) -> Plain {
        if self.pieces.len() == 1 { Plain::line("says") } else { Plain::line(&format!("says {}", self.amount())) }
    }

    /// What was streamed, as far as its row knows it. `piece` is one of its events.
    fn describe(&self, piece: &Event, run: &Run) -> EventLine {
        EventLine { head: self.label(), more: Plain::summary(&self.tail), ..piece.describe(run) }
    }

    /// The last line with words; what is before it shows as `…`.
    pub fn last_words(&self) -> Plain {
        let text = self.tail.trim_end();
        let line = text.lines().next_back().unwrap_or_default();
        let whole = text.len() == line.len() && self.tail.chars().count() as u64 == self.chars;
        Plain::line(if whole { "" } else { "…" }).then(&Plain::summary(line))
    }
}

/// The lines of a log.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    rows: Vec<LogRow>,
    /// For each event that was looked at the row that tells of it, or the last one before it.
    row_of: Vec<usize>,
    /// Nodes whose next piece belongs to those before it.
    growing: BTreeMap<NodeId, Growing>,
}

#[derive(Clone, Debug)]
enum Growing {
    Shown(usize),
    /// Nothing of it was let through yet.
    Hidden(Box<StreamedText>),
}

/// What is let through.
#[derive(Clone, Copy, Debug)]
pub struct Filter<'a> {
    /// Events that match this.
    pub wanted: &'a EventFilter,
    /// And are about this node, if one is named.
    pub only: Option<&'a NodeId>,
}

impl Filter<'_> {
    fn lets(&self, record: &Record, fold: &RunAt) -> bool {
        if self.only.is_some_and(|only| record.event.about(&fold.run).as_ref() != Some(only)) {
            return false;
        }
        if self.wanted.is_empty() { !is_internal(&record.event) } else { self.wanted.lets(record, fold) }
    }

    fn lets_stream(&self, stream: &StreamedText, record: &Record, fold: &RunAt) -> bool {
        let is_its = self.only.is_none_or(|only| record.event.node() == Some(only));
        is_its && (self.wanted.is_empty() || self.wanted.fits(&stream.describe(&record.event, &fold.run)))
    }
}

/// Whether an event says only how the engine goes on: listed where it is asked for.
fn is_internal(event: &Event) -> bool {
    event.has(EventTrait::Unlisted) || matches!(event, Event::Node { fact: NodeFact::Routed { dead, .. }, .. } if dead.is_empty())
}

impl Rows {
    /// How many events were looked at.
    pub fn added(&self) -> usize {
        self.row_of.len()
    }

    /// Takes in the next event.
    pub fn add(&mut self, record: &Record, filter: Filter<'_>, fold: &RunAt) {
        let at = self.added();
        let row = if let Event::Node { node_id, fact: NodeFact::Output { text }, .. } = &record.event {
            self.stream(at, node_id, text, |stream| filter.lets_stream(stream, record, fold))
        } else {
            if let Some(node) = record.event.node() {
                self.growing.remove(node);
            }
            filter.lets(record, fold).then(|| self.push(LogRow::Event(at)))
        };
        self.row_of.push(row.unwrap_or(self.rows.len().saturating_sub(1)));
    }

    /// Takes in a piece of streamed text; gives its row, if it is in one.
    fn stream(&mut self, at: usize, node: &NodeId, text: &str, lets: impl Fn(&StreamedText) -> bool) -> Option<usize> {
        if let Some(Growing::Shown(row)) = self.growing.get(node) {
            if let Some(LogRow::Stream(stream)) = self.rows.get_mut(*row) {
                stream.push(at, text);
            }
            return Some(*row);
        }
        let mut stream = match self.growing.remove(node) {
            Some(Growing::Hidden(stream)) => stream,
            Some(Growing::Shown(_)) | None => Box::default(),
        };
        stream.push(at, text);
        let (row, growing) = if lets(&stream) {
            let row = self.push(LogRow::Stream(stream));
            (Some(row), Growing::Shown(row))
        } else {
            (None, Growing::Hidden(stream))
        };
        self.growing.insert(node.clone(), growing);
        row
    }

    fn push(&mut self, row: LogRow) -> usize {
        self.rows.push(row);
        self.rows.len() - 1
    }

    /// All lines, in the order in which they began.
    pub fn all(&self) -> &[LogRow] {
        &self.rows
    }

    /// The line of an event, or of the last one before it that is let through.
    pub fn line_of(&self, event: usize) -> usize {
        self.row_of.get(event).or(self.row_of.last()).copied().unwrap_or_default()
    }
}
