//! `Log`: the events of a run as lines: which of them a filter lets through, which one is selected, and whether the newest is followed.
//! An event that comes costs the same however many came before.

use super::{Fold, Journal, TextField, docs, scrolled};
use crate::engine::Record;
use crate::plan::NodeId;

/// The events of a run as lines.
#[derive(Clone, Debug)]
pub struct Log {
    /// What is typed to filter by.
    pub filter: TextField,
    /// Only events of this node.
    only: Option<NodeId>,
    /// Places in the journal that are let through; all while nothing is filtered.
    through: Option<Vec<usize>>,
    /// Events that were looked at.
    heard: usize,
    /// Which line is selected.
    selected: usize,
    /// The place in the journal of the event that a person, a replay or the end selected last: where a filter that hid it leads back to.
    stands: Option<usize>,
    /// First line in sight.
    pub top: usize,
    /// First line of the selected event in sight.
    pub scroll: usize,
    /// Whether the newest event is selected as events come.
    pub follow: bool,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            filter: TextField::default(),
            only: None,
            through: None,
            heard: 0,
            selected: 0,
            stands: None,
            top: 0,
            scroll: 0,
            follow: true,
        }
    }
}

/// What an event must match: every word of it.
#[derive(Debug)]
pub struct Wanted {
    words: Vec<String>,
    nodes: Vec<String>,
    kinds: Vec<String>,
}

impl Wanted {
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
    pub fn lets(&self, record: &Record, fold: &Fold) -> bool {
        let told = docs::told(&record.event, &fold.run);
        let node = told.node.map(|node| node.to_lowercase()).unwrap_or_default();
        let text = format!("{node} {} {} {}", told.kind, told.what.as_str(), told.who.as_str()).to_lowercase();
        self.nodes.iter().all(|wanted| node.contains(wanted.as_str()))
            && self.kinds.iter().all(|wanted| told.kind.starts_with(wanted.as_str()))
            && self.words.iter().all(|wanted| text.contains(wanted.as_str()))
    }
}

impl Log {
    /// Takes in the events that came since.
    pub fn hear(&mut self, journal: &Journal, fold: &Fold) {
        let from = std::mem::replace(&mut self.heard, journal.len());
        let wanted = Wanted::parse(&self.filter.text());
        if let Some(through) = &mut self.through {
            let fresh = journal.records().iter().enumerate().skip(from);
            let only = &self.only;
            let lets = |record: &Record| {
                only.as_ref().is_none_or(|only| fold.node_of(&record.event).as_ref() == Some(only)) && wanted.lets(record, fold)
            };
            through.extend(fresh.filter(|(_, record)| lets(record)).map(|(at, _)| at));
        }
        if self.follow {
            self.select(usize::MAX);
        }
    }

    /// Filters again, after the filter changed. The selection stays at its event, or at the one before it as long as that is hidden.
    pub fn filter(&mut self, journal: &Journal, fold: &Fold) {
        let filters = self.only.is_some() || !Wanted::parse(&self.filter.text()).is_empty();
        self.through = filters.then(Vec::new);
        self.heard = 0;
        self.hear(journal, fold);
        if !self.follow {
            let line = self.stands.map_or(self.selected, |event| self.line_of(event));
            self.mark(line);
        }
    }

    /// Only events of this node, or of all.
    pub fn only(&mut self, node: Option<NodeId>, journal: &Journal, fold: &Fold) {
        self.only = node;
        self.filter(journal, fold);
    }

    /// The node whose events alone are shown.
    pub fn only_node(&self) -> Option<&NodeId> {
        self.only.as_ref()
    }

    /// Lines in all.
    pub fn len(&self) -> usize {
        self.through.as_ref().map_or(self.heard, Vec::len)
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The place in the journal of the event on a line.
    pub fn event_at(&self, line: usize) -> Option<usize> {
        match &self.through {
            Some(through) => through.get(line).copied(),
            None => (line < self.heard).then_some(line),
        }
    }

    /// The selected line.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// The place in the journal of the selected event.
    pub fn event(&self) -> Option<usize> {
        self.event_at(self.selected)
    }

    /// Selects a line, or the last.
    pub fn select(&mut self, line: usize) {
        self.mark(line);
        self.stands = self.event().or(self.stands);
    }

    fn mark(&mut self, line: usize) {
        let line = line.min(self.len().saturating_sub(1));
        if line != self.selected {
            self.scroll = 0;
        }
        self.selected = line;
    }

    /// Selects the event at a place in the journal, or the last one before it that is let through.
    pub fn select_event(&mut self, event: usize) {
        self.stands = Some(event);
        self.mark(self.line_of(event));
    }

    fn line_of(&self, event: usize) -> usize {
        match &self.through {
            Some(through) => through.partition_point(|at| *at <= event).saturating_sub(1),
            None => event,
        }
    }

    /// Scrolls so that the selected line is among `height` lines in sight. At the end that is followed it moves by part of a page, so
    /// that an event that comes costs a line on the screen and not the whole of it.
    pub fn settle(&mut self, height: usize) {
        let before = self.top;
        self.top = scrolled(self.top, self.selected, self.len(), height);
        if self.follow && self.top > before && height > 3 {
            let spare = height / 3;
            self.top = self.top.div_ceil(spare) * spare;
        }
    }
}
