//! `StatsScreen`: what past runs suggest, and how agents and models did, as one list of rows.

use super::list::ListCursor;
use crate::engine::{StatsBy, StatsCell};
use crate::host::client::{StatsReport, SuggestionEntry, SuggestionState};

/// The screen's list; nothing until the host has said how it was.
#[derive(Clone, Debug, Default)]
pub struct StatsScreen {
    pub report: Option<StatsReport>,
    pub by: StatsBy,
    cells: Vec<StatsCell>,
    pub place: ListCursor,
}

/// One line of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StatsRow<'a> {
    Suggestion(&'a SuggestionEntry),
    Cell(&'a StatsCell),
}

impl StatsScreen {
    pub fn len(&self) -> usize {
        self.suggestions().len() + self.cells.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn suggestions(&self) -> &[SuggestionEntry] {
        self.report.as_ref().map_or(&[], |report| &report.suggestions)
    }

    /// The row at a place: suggestions first.
    pub fn row(&self, at: usize) -> Option<StatsRow<'_>> {
        let suggestions = self.suggestions();
        match suggestions.get(at) {
            Some(entry) => Some(StatsRow::Suggestion(entry)),
            None => self.cells.get(at - suggestions.len()).map(StatsRow::Cell),
        }
    }

    pub fn selected(&self) -> Option<StatsRow<'_>> {
        self.row(self.place.selected)
    }

    /// The selected suggestion, with what was done with it.
    pub fn suggestion(&self, is_it: impl Fn(SuggestionState) -> bool) -> Option<&SuggestionEntry> {
        let Some(StatsRow::Suggestion(entry)) = self.selected() else { return None };
        Some(entry).filter(|entry| is_it(entry.state))
    }

    /// Selects another row: `to` gives it from the selected one and how many there are.
    pub fn go(&mut self, to: impl FnOnce(usize, usize) -> usize) {
        let len = self.len();
        self.place.select(to(self.place.selected, len), len);
    }

    /// Takes in what the host says. What was selected stays so where it is there.
    pub fn came(&mut self, report: StatsReport) {
        let key = self.key();
        self.report = Some(report);
        self.sum_up_from(self.by, key.as_deref());
    }

    /// Sums up by something else.
    pub fn sum_up(&mut self, by: StatsBy) {
        let key = self.key();
        self.sum_up_from(by, key.as_deref());
    }

    fn sum_up_from(&mut self, by: StatsBy, selected: Option<&str>) {
        self.by = by;
        self.cells = self.report.as_ref().map(|report| report.stats.by(by)).unwrap_or_default();
        let at = (0..self.len()).find(|at| self.row(*at).map(|row| row.key()).as_deref() == selected);
        self.place.select(at.unwrap_or(0), self.len());
    }

    fn key(&self) -> Option<String> {
        self.selected().map(|row| row.key())
    }
}

impl StatsRow<'_> {
    fn key(&self) -> String {
        match self {
            Self::Suggestion(entry) => entry.suggestion.id.clone(),
            Self::Cell(cell) => cell.key.label(),
        }
    }
}
