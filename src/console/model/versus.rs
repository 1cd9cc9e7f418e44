//! `Versus`: two runs side by side: what differs in their plans, and what became of their nodes. Made when it is asked for, of both runs
//! as they stand then.

use crate::engine::{Change, Comparison, RunId};
use crate::plan::diff::{Diff, Piece, Told};
use crate::text::Plain;

use super::RunView;

/// Two runs side by side.
#[derive(Clone, Debug)]
pub struct Versus {
    /// Both runs, with their goals.
    pub sides: [(RunId, Plain); 2],
    /// What differs in their plans.
    told: Vec<Told>,
    /// What became of their nodes.
    comparison: Comparison,
    /// Places in the comparison of nodes that are not the same.
    changed: Vec<usize>,
    /// Which row is selected.
    pub selected: usize,
    /// First row in sight.
    pub top: usize,
    /// First line of the selected one's details in sight.
    pub scroll: usize,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub enum VersusRow<'a> {
    /// A difference between the plans.
    Plan(&'a Told),
    /// A node that is not the same in both.
    Node(&'a crate::engine::Versus),
}

impl Versus {
    /// Compares two runs as they stand now.
    pub fn new(left: &RunView, right: &RunView) -> Self {
        let (ours, theirs) = (&left.newest().run, &right.newest().run);
        let told = match (ours.plan(), theirs.plan()) {
            (Some(ours), Some(theirs)) => Diff::new(ours, theirs).pieces.iter().map(Piece::told).collect(),
            (_, _) => Vec::new(),
        };
        let comparison = Comparison::new(ours, theirs);
        let nodes = comparison.nodes.iter().enumerate();
        let changed = nodes.filter(|(_, node)| node.change != Change::Same).map(|(at, _)| at).collect();
        let sides = [left, right].map(|view| (view.id.clone(), view.goal()));
        Self { sides, told, comparison, changed, selected: 0, top: 0, scroll: 0 }
    }

    /// Rows in all: what differs in the plans, then the nodes.
    pub fn len(&self) -> usize {
        self.told.len() + self.changed.len()
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One row.
    pub fn row(&self, at: usize) -> Option<VersusRow<'_>> {
        match self.told.get(at) {
            Some(told) => Some(VersusRow::Plan(told)),
            None => {
                let node = self.changed.get(at.checked_sub(self.told.len())?)?;
                self.comparison.nodes.get(*node).map(VersusRow::Node)
            }
        }
    }

    /// What became of both in numbers.
    pub fn comparison(&self) -> &Comparison {
        &self.comparison
    }
}
