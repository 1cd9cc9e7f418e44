//! `PeekedRun`: what was read of runs of the list, so that it can be said of them without opening them.

use super::{
    Doc, RunView,
    markdown::{drawn_markdown, drawn_table},
};
use crate::console::theme::Role;
use crate::engine::{PeekedText, RunId, RunPeek, Time};
use crate::host::client::RunSummary;
use crate::text::{Plain, counted};

/// Runs of which it is kept: those that the start names, and the selected one.
const KEPT: usize = 8;

/// What was read of a run of the list.
#[derive(Clone, Debug, Default)]
pub struct PeekedRun {
    /// What is being read: the run, as it was at its last event. One at a time, however fast the selection moves.
    asked: Option<(RunId, Time)>,
    /// What was read last, the newest last.
    known: Vec<(RunId, Time, RunPeek)>,
}

impl PeekedRun {
    /// The run that is to be read next for this line of the list, if one is.
    pub fn ask(&mut self, summary: &RunSummary) -> Option<RunId> {
        let is_known = self.known.iter().any(|(run, last, _)| *run == summary.run && *last == summary.last);
        if is_known || self.asked.is_some() {
            return None;
        }
        self.asked = Some((summary.run.clone(), summary.last));
        Some(summary.run.clone())
    }

    /// Takes in what was read.
    pub fn came(&mut self, run: &RunId, peek: RunPeek) {
        if let Some((run, last)) = self.asked.take_if(|(asked, _)| asked == run) {
            self.keep(run, last, peek);
        }
    }

    /// Takes in an open run as it is now, where it went on since.
    pub fn look(&mut self, view: &RunView) {
        let seq = view.newest().run.last_seq();
        if !self.known.iter().any(|(run, _, peek)| *run == view.id && peek.events == seq) {
            self.keep(view.id.clone(), Time::default(), view.newest().run.peek(view.status()));
        }
    }

    fn keep(&mut self, run: RunId, last: Time, peek: RunPeek) {
        self.known.retain(|(known, _, _)| *known != run);
        self.known.push((run, last, peek));
        let first = self.known.len().saturating_sub(KEPT);
        self.known.drain(..first);
    }

    /// What is known of a run.
    pub fn of(&self, run: &RunId) -> Option<&RunPeek> {
        self.known.iter().find(|(known, _, _)| known == run).map(|(_, _, peek)| peek)
    }
}

/// What there is to read of a run before it is opened.
pub fn preview(summary: &RunSummary, peek: Option<&RunPeek>) -> Doc<'static> {
    let mut doc = Doc::default();
    doc.text(Role::Title, &summary.goal);
    let Some(peek) = peek else {
        doc.line(Role::Dim, Plain::line(&counted(summary.nodes as usize, "node")));
        return doc;
    };
    if !peek.counts.is_empty() {
        doc.line(Role::Text, Plain::line(&format!("{}: {}", counted(summary.nodes as usize, "node"), peek.counts)));
    }
    if !peek.reason.is_empty() {
        doc.line(Role::Hint, Plain::summary(&peek.reason));
    }
    if !peek.gates.is_empty() {
        doc.heading(&counted(peek.gates.len(), "open gate"));
        for gate in &peek.gates {
            doc.line(Role::Waiting, Plain::summary(gate));
        }
    }
    for PeekedText { title, text, is_cut } in &peek.results {
        doc.heading(&format!("output of {title}"));
        match drawn_markdown(text).or_else(|| drawn_table(text)) {
            Some(rows) => rows.into_iter().for_each(|row| doc.drawn_line(row)),
            None => doc.text(Role::Text, text),
        }
        if *is_cut {
            doc.line(Role::Dim, Plain::line("…"));
        }
    }
    if peek.more > 0 {
        doc.line(Role::Dim, Plain::line(&format!("and {}", counted(peek.more, "more output"))));
    }
    doc
}
