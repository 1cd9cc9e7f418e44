//! `Log`: the events of a run as lines: which of them a filter lets through, which one is selected, and whether the newest is followed.

mod rows;

use super::{ListCursor, RunAt, RunRecords, TextField};
use crate::engine::{EventLine, Record};
use crate::plan::NodeId;

use rows::{Filter, Rows};
pub use rows::{LogRow, StreamedText};

/// The events of a run as lines.
#[derive(Clone, Debug)]
pub struct Log {
    /// What is typed to filter by.
    pub filter: TextField,
    /// Only events of this node.
    only: Option<NodeId>,
    /// What is let through.
    rows: Rows,
    pub place: ListCursor,
    /// The place in the journal of the event that a person, a replay or the end selected last: where a filter that hid it leads back to.
    chosen: Option<usize>,
    /// Whether the newest event is selected as events come.
    pub follow: bool,
}

impl Default for Log {
    fn default() -> Self {
        let (filter, rows, place) = (TextField::default(), Rows::default(), ListCursor::default());
        Self { filter, only: None, rows, place, chosen: None, follow: true }
    }
}

/// What an event must match: every word of it.
#[derive(Debug)]
pub struct EventFilter {
    words: Vec<String>,
    nodes: Vec<String>,
    kinds: Vec<String>,
}

impl EventFilter {
    /// Reads what somebody types to find events.
    pub fn parse(text: &str) -> Self {
        let mut wanted = Self { words: Vec::new(), nodes: Vec::new(), kinds: Vec::new() };
        for word in text.to_lowercase().split_whitespace() {
            match word.split_once(':') {
                Some(("node", node)) => wanted.nodes.push(node.to_owned()),
                Some(("kind", kind)) => wanted.kinds.push(kind.to_owned()),
                Some(_) | None => wanted.words.push(word.to_owned()),
            }
        }
        wanted
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.nodes.is_empty() && self.kinds.is_empty()
    }

    /// Whether an event matches.
    pub fn lets(&self, record: &Record, fold: &RunAt) -> bool {
        self.fits(&record.event.describe(&fold.run))
    }

    fn fits(&self, line: &EventLine) -> bool {
        let node = line.node.as_ref().map(|node| node.to_lowercase()).unwrap_or_default();
        let text = format!("{node} {} {} {}", line.kind.word(), line.what().as_str(), line.who.as_str()).to_lowercase();
        self.nodes.iter().all(|wanted| node.contains(wanted.as_str()))
            && self.kinds.iter().all(|wanted| line.kind.word().starts_with(wanted.as_str()))
            && self.words.iter().all(|wanted| text.contains(wanted.as_str()))
    }
}

impl Log {
    /// Takes in the events that came since.
    pub fn add(&mut self, journal: &RunRecords, fold: &RunAt) {
        let wanted = EventFilter::parse(&self.filter.text());
        let filter = Filter { wanted: &wanted, only: self.only.as_ref() };
        for record in journal.records().iter().skip(self.rows.added()) {
            self.rows.add(record, filter, fold);
        }
        if self.follow {
            self.select(usize::MAX);
        }
    }

    /// Filters again, after the filter changed. The selection stays at its event, or at the one before it as long as that is hidden.
    pub fn filter(&mut self, journal: &RunRecords, fold: &RunAt) {
        self.rows = Rows::default();
        self.add(journal, fold);
        if !self.follow {
            let line = self.chosen.map_or(self.place.selected, |event| self.rows.line_of(event));
            self.mark(line);
        }
    }

    /// Only events of this node, or of all.
    pub fn only(&mut self, node: Option<NodeId>, journal: &RunRecords, fold: &RunAt) {
        self.only = node;
        self.filter(journal, fold);
    }

    /// The node whose events alone are shown.
    pub fn only_node(&self) -> Option<&NodeId> {
        self.only.as_ref()
    }

    /// Whether a person asked for some events only.
    pub fn is_filtered(&self) -> bool {
        self.only.is_some() || !EventFilter::parse(&self.filter.text()).is_empty()
    }

    pub fn len(&self) -> usize {
        self.rows.all().len()
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn rows(&self) -> &[LogRow] {
        self.rows.all()
    }

    /// What the selected line tells.
    pub fn row(&self) -> Option<&LogRow> {
        self.rows().get(self.place.selected)
    }

    /// The place in the journal of the selected event: of what was streamed the last piece.
    pub fn event(&self) -> Option<usize> {
        self.row().map(LogRow::last)
    }

    /// Selects a line, or the last.
    pub fn select(&mut self, line: usize) {
        self.mark(line);
        self.chosen = self.event().or(self.chosen);
    }

    fn mark(&mut self, line: usize) {
        self.place.select(line, self.len());
    }

    /// Selects the event at a place in the journal, or the last one before it that is let through.
    pub fn select_event(&mut self, event: usize) {
        self.chosen = Some(event);
        self.mark(self.rows.line_of(event));
    }

    /// Scrolls so that the selected line is among `height` lines in sight. At the end that is followed it moves by part of a page, so
    /// that an event that comes costs a line on the screen and not the whole of it.
    pub fn settle(&mut self, height: usize) {
        let before = self.place.top;
        self.place.settle(self.len(), height);
        if self.follow && self.place.top > before && height > 3 {
            let spare = height / 3;
            self.place.top = self.place.top.div_ceil(spare) * spare;
        }
    }
}
