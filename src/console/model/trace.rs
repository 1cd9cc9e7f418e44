//! `TraceView`: where a result came from, as lines that a person walks: the results that went into it, and at each of them the inputs,
//! calls, files, sources and approvals.

use crate::engine::{Event, EventTrait, NodeFact, Record, Renames, Trace, TraceRow, Transcript, carry};
use crate::plan::NodeId;
use std::collections::BTreeMap;

use super::{RunAt, list::ListCursor};

/// Where a result came from.
#[derive(Clone, Debug)]
pub struct TraceView {
    node: NodeId,
    /// What that node was called first: actions may change its name.
    first: NodeId,
    /// After how many events it is so.
    folded: usize,
    /// What the records say beside the run until then.
    notes: TraceNotes,
    trace: Trace,
    lines: Vec<TraceLine>,
    pub place: ListCursor,
}

/// One line of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceLine {
    /// How deep it is.
    pub depth: usize,
    /// The step that it belongs to, in `Trace::steps`.
    pub step: usize,
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
    File(usize),
    Source(usize),
    Approval(usize),
}

/// What the events tell that the run doesn't keep: what models were asked, and the first name of each node that has another one.
#[derive(Clone, Debug, Default)]
struct TraceNotes {
    asked: Transcript,
    renames: Renames,
    firsts: BTreeMap<NodeId, NodeId>,
}

impl TraceNotes {
    fn fold(&mut self, records: &[Record]) {
        let tells = |record: &&Record| {
            record.event.has(EventTrait::Steers) || matches!(record.event, Event::Node { fact: NodeFact::ModelCalled { .. }, .. })
        };
        for record in records.iter().filter(tells) {
            self.asked.fold(record);
            let names = self.renames.fold(record);
            for (old, _) in &names {
                self.firsts.entry(old.clone()).or_insert_with(|| old.clone());
            }
            carry(&mut self.firsts, &names);
        }
    }

    fn first(&self, node: &NodeId) -> NodeId {
        self.firsts.get(node).unwrap_or(node).clone()
    }

    fn now(&self, first: &NodeId) -> NodeId {
        self.firsts.iter().find(|(_, other)| *other == first).map_or(first, |(now, _)| now).clone()
    }
}

impl TraceView {
    /// The trace of a node's result after some events; nothing where there is no such node.
    pub fn new(fold: &RunAt, records: &[Record], node: &NodeId) -> Option<Self> {
        let mut notes = TraceNotes::default();
        notes.fold(records);
        let first = notes.first(node);
        Self::of(notes, first, fold, records.len())
    }

    /// The trace of the node that was called so first, after so many events.
    fn of(notes: TraceNotes, first: NodeId, fold: &RunAt, folded: usize) -> Option<Self> {
        let node = notes.now(&first);
        let trace = fold.run.trace(&node, &notes.asked)?;
        let lines = trace.rows.iter().enumerate().flat_map(|(at, row)| lines_of(&trace, at, row)).collect();
        Some(Self { node, first, folded, notes, trace, lines, place: ListCursor::default() })
    }

    /// The same after other events, where they are others; the selection stays where it is.
    pub fn refresh(&mut self, fold: &RunAt, records: &[Record]) {
        if records.len() == self.folded {
            return;
        }
        // Words that stream in go into no trace.
        if records.get(self.folded..).is_some_and(|fresh| fresh.iter().all(|record| record.event.is_text())) {
            self.folded = records.len();
            return;
        }
        let (mut notes, known) = match records.len() > self.folded {
            true => (std::mem::take(&mut self.notes), self.folded),
            false => (TraceNotes::default(), 0),
        };
        notes.fold(records.get(known..).unwrap_or_default());
        if let Some(fresh) = Self::of(notes, self.first.clone(), fold, records.len()) {
            *self = Self { place: self.place, ..fresh };
        } else {
            // The node is not there, and may come back.
            (self.notes, self.folded) = (TraceNotes::default(), 0);
        }
    }

    pub fn node(&self) -> &NodeId {
        &self.node
    }

    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    pub fn lines(&self) -> &[TraceLine] {
        &self.lines
    }

    pub fn line(&self) -> Option<TraceLine> {
        self.lines.get(self.place.selected).copied()
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
