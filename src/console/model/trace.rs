//! `TraceView`: where a result came from, as lines that a person walks: the results that went into it, and at each of them the inputs,
//! calls, files, sources and approvals.

use crate::engine::{Event, Record, Trace, TraceRow, Transcript};
use crate::plan::NodeId;

use super::Fold;

/// Where a result came from.
#[derive(Clone, Debug)]
pub struct TraceView {
    /// Whose result.
    node: NodeId,
    /// After how many events it is so.
    folded: usize,
    /// What models were asked until then.
    asked: Transcript,
    trace: Trace,
    lines: Vec<TraceLine>,
    /// Which line is selected.
    pub selected: usize,
    /// First line in sight.
    pub top: usize,
    /// First line of the selected one's details in sight.
    pub scroll: usize,
}

/// One line of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceLine {
    /// How deep it stands.
    pub depth: usize,
    /// The step that it belongs to, in `Trace::steps`.
    pub step: usize,
    /// What it tells.
    pub what: Traced,
}

/// What a line of a trace tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traced {
    /// A node's result; its place in `Trace::rows`.
    Result(usize),
    /// An input of the plan, by its place among those of the step.
    Input(usize),
    /// A tool call, likewise.
    Call(usize),
    /// A file, likewise.
    File(usize),
    /// A source, likewise.
    Source(usize),
    /// A gate, likewise.
    Approval(usize),
}

impl TraceView {
    /// The trace of a node's result after some events; nothing where there is no such node.
    pub fn new(fold: &Fold, records: &[Record], node: &NodeId) -> Option<Self> {
        Self::after(Transcript::default(), 0, fold, records, node)
    }

    /// The same, where what models were asked in the first so many of the events is known.
    fn after(mut asked: Transcript, known: usize, fold: &Fold, records: &[Record], node: &NodeId) -> Option<Self> {
        // Of what nodes said, a trace tells the models alone; verbs may change names.
        let told = |record: &&Record| matches!(record.event, Event::ModelCalled { .. } | Event::Acted { .. } | Event::Undone { .. });
        records.iter().skip(known).filter(told).for_each(|record| asked.fold(record));
        let trace = fold.run.trace(node, &asked)?;
        let lines = trace.rows.iter().enumerate().flat_map(|(at, row)| lines_of(&trace, at, row)).collect();
        Some(Self { node: node.clone(), folded: records.len(), asked, trace, lines, selected: 0, top: 0, scroll: 0 })
    }

    /// The same after other events, where they are others; the selection stays where it is.
    pub fn refresh(&mut self, fold: &Fold, records: &[Record]) {
        if records.len() == self.folded {
            return;
        }
        // Words that stream in go into no trace.
        let is_words = |record: &Record| matches!(record.event, Event::Output { .. } | Event::Message { .. } | Event::LogLine { .. });
        if records.get(self.folded..).is_some_and(|fresh| fresh.iter().all(is_words)) {
            self.folded = records.len();
            return;
        }
        let (asked, known) = match records.len() > self.folded {
            true => (std::mem::take(&mut self.asked), self.folded),
            false => (Transcript::default(), 0),
        };
        if let Some(fresh) = Self::after(asked, known, fold, records, &self.node) {
            let selected = self.selected.min(fresh.lines.len().saturating_sub(1));
            *self = Self { selected, top: self.top, scroll: self.scroll, ..fresh };
        } else {
            // The node has another name now, and may get its own back.
            (self.asked, self.folded) = (Transcript::default(), 0);
        }
    }

    /// Whose result.
    pub fn node(&self) -> &NodeId {
        &self.node
    }

    /// The trace.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// All lines.
    pub fn lines(&self) -> &[TraceLine] {
        &self.lines
    }

    /// The selected line.
    pub fn line(&self) -> Option<TraceLine> {
        self.lines.get(self.selected).copied()
    }

    /// The node that the selected line is about.
    pub fn selected_node(&self) -> Option<&NodeId> {
        self.trace.steps.get(self.line()?.step).map(|step| &step.node)
    }
}

fn lines_of(trace: &Trace, at: usize, row: &TraceRow) -> Vec<TraceLine> {
    let line = |depth, what| TraceLine { depth, step: row.step, what };
    let mut lines = vec![line(row.depth, Traced::Result(at))];
    let Some(step) = trace.step(row).filter(|_| !row.again) else { return lines };
    let below = row.depth + 1;
    lines.extend((0..step.inputs.len()).map(|at| line(below, Traced::Input(at))));
    lines.extend((0..step.approvals.len()).map(|at| line(below, Traced::Approval(at))));
    lines.extend((0..step.calls.len()).map(|at| line(below, Traced::Call(at))));
    lines.extend((0..step.files.len()).map(|at| line(below, Traced::File(at))));
    lines.extend((0..step.sources.len()).map(|at| line(below, Traced::Source(at))));
    lines
}
