//! `CompareScreen`: two runs side by side: what differs in their plans, and what became of their nodes, as both are now. Compared anew when
//! a frame is to be drawn and one of them went on since, so that events cost nothing by themselves.

use crate::engine::{Comparison, ResultChange, RunId};
use crate::plan::diff::{Diff, Difference, DifferenceText};
use crate::text::Plain;

use super::{Doc, RunView, list::ListCursor};

/// Two runs side by side.
#[derive(Clone, Debug)]
pub struct CompareScreen {
    /// Both runs, with their goals.
    pub sides: [(RunId, Plain); 2],
    /// How far both were when they were compared.
    progress: [ComparedAt; 2],
    /// What differs in their plans.
    differences: Vec<DifferenceText>,
    /// What became of their nodes.
    comparison: Comparison,
    /// Places in the comparison of nodes that are not the same.
    changed: Vec<usize>,
    pub place: ListCursor,
    /// What differs at a row, since that was selected.
    difference: Option<(usize, Doc<'static>)>,
}

/// How far a run is: equal in two states of it means that its plan is equal, and all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ComparedAt {
    shape: u32,
    seq: u64,
}

impl ComparedAt {
    fn of(view: &RunView) -> Self {
        Self { shape: view.newest().shape(), seq: view.newest().run.last_seq() }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum VersusRow<'a> {
    /// A difference between the plans.
    Plan(&'a DifferenceText),
    /// A node that is not the same in both.
    Node(&'a crate::engine::NodeComparison),
}

impl CompareScreen {
    /// Compares two runs as they are now.
    pub fn new(left: &RunView, right: &RunView) -> Self {
        let (comparison, changed) = compared(left, right);
        let sides = [left, right].map(|view| (view.id.clone(), view.goal()));
        let progress = [left, right].map(ComparedAt::of);
        Self { sides, progress, differences: differences(left, right), comparison, changed, place: ListCursor::default(), difference: None }
    }

    /// Compares again where one of the runs went on since; says whether it did. The selection stays on its row.
    pub fn refresh(&mut self, left: &RunView, right: &RunView) -> bool {
        let progress = [left, right].map(ComparedAt::of);
        if progress == self.progress {
            return false;
        }
        let selected = self.row(self.place.selected).map(|row| row.place());
        if progress.map(|progress| progress.shape) != self.progress.map(|progress| progress.shape) {
            self.differences = differences(left, right);
            self.sides = [left, right].map(|view| (view.id.clone(), view.goal()));
        }
        (self.comparison, self.changed) = compared(left, right);
        (self.progress, self.difference) = (progress, None);
        match (0..self.len()).find(|at| self.row(*at).map(|row| row.place()) == selected) {
            Some(at) => self.place.selected = at,
            None => self.place = ListCursor { selected: self.place.selected.min(self.len().saturating_sub(1)), ..ListCursor::default() },
        }
        true
    }

    /// Rows in all: what differs in the plans, then the nodes.
    pub fn len(&self) -> usize {
        self.differences.len() + self.changed.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn row(&self, at: usize) -> Option<VersusRow<'_>> {
        match self.differences.get(at) {
            Some(difference) => Some(VersusRow::Plan(difference)),
            None => {
                let node = self.changed.get(at.checked_sub(self.differences.len())?)?;
                self.comparison.nodes.get(*node).map(VersusRow::Node)
            }
        }
    }

    /// Compares what is at the selected row, unless that was done. In proportion to two whole results, so not once a frame.
    pub fn look(&mut self, describe: impl FnOnce(&Self) -> Doc<'static>) -> &Doc<'static> {
        let drawn = self.difference.take().filter(|(at, _)| *at == self.place.selected);
        let (_, doc) = self.difference.insert(drawn.unwrap_or_else(|| (self.place.selected, describe(self))));
        doc
    }

    /// What differs at the selected row, as it was looked at last.
    pub fn difference(&self) -> Option<&Doc<'static>> {
        self.difference.as_ref().map(|(_, doc)| doc)
    }

    /// What became of both in numbers.
    pub fn comparison(&self) -> &Comparison {
        &self.comparison
    }
}

impl VersusRow<'_> {
    /// Where it tells of something, whatever it tells.
    fn place(self) -> (&'static str, String, String) {
        match self {
            Self::Plan(difference) => (difference.sort, difference.subject.clone(), difference.field.clone()),
            Self::Node(node) => ("", node.node.to_string(), String::new()),
        }
    }
}

/// What differs in the plans of two runs, in words.
fn differences(left: &RunView, right: &RunView) -> Vec<DifferenceText> {
    match (left.newest().run.plan(), right.newest().run.plan()) {
        (Some(ours), Some(theirs)) => Diff::new(ours, theirs).pieces.iter().map(Difference::description).collect(),
        (_, _) => Vec::new(),
    }
}

/// What became of the nodes of two runs, and places in it of those that are not the same.
fn compared(left: &RunView, right: &RunView) -> (Comparison, Vec<usize>) {
    let comparison = Comparison::new(&left.newest().run, &right.newest().run);
    let nodes = comparison.nodes.iter().enumerate();
    let changed = nodes.filter(|(_, node)| node.change != ResultChange::Same).map(|(at, _)| at).collect();
    (comparison, changed)
}
