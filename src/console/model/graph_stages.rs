//! `Stages`: the graph folded by stages. A node's stage is how many come before it on the longest way; nodes of a stage stand side by
//! side, on as many rows as they take, without lines. Computed when the drawing, the width or the height changes.

use std::collections::BTreeMap;
use std::ops::Range;

use super::scrolled;
use crate::plan::drawing::GraphDrawing;
use crate::plan::{NodeId, nest};

/// Columns before the nodes, with the number of the stage.
pub const STAGE_GUTTER: u16 = 4;
/// Columns of a node besides its title: two marks before it, its time, and what is blank behind it.
const AROUND_NODE: u16 = 4 + 7 + 2;
/// Columns of a node at least and at most.
const CELL: (u16, u16) = (32, 64);

/// The nodes of a plan by stages.
#[derive(Clone, Debug, Default)]
pub struct Stages {
    /// Columns of one node.
    pub cell: u16,
    /// Positions of the nodes among the boxes of the drawing, stage by stage.
    pub nodes: Vec<usize>,
    pub rows: Vec<StageRow>,
    /// The first row in sight.
    pub top: usize,
    /// The row of each position.
    row_of: BTreeMap<usize, usize>,
    /// What it was computed for.
    size: (u16, u16),
}

/// One row: some nodes of a stage; none on the row between two stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageRow {
    /// The stage's number from 1 on, where it begins.
    pub stage: Option<usize>,
    /// Its nodes, as a piece of `Stages::nodes`.
    pub nodes: Range<usize>,
}

impl Stages {
    /// The drawing has changed.
    pub fn stale(&mut self) {
        self.size = (0, 0);
    }

    /// Computes the rows for so many columns and rows, where they must be.
    pub fn refresh(&mut self, chart: &GraphDrawing, size: (u16, u16)) {
        if self.size != size {
            *self = Self { top: self.top, ..Self::new(chart, size) };
        }
    }

    /// As many nodes beside one another as have room for their titles, or as it takes for all to be in sight, if they can be; where there is
    /// room, with an empty row between two stages.
    fn new(chart: &GraphDrawing, (width, height): (u16, u16)) -> Self {
        let room = width.saturating_sub(STAGE_GUTTER).max(1);
        let counts: Vec<usize> = chart.stages().map(Iterator::count).collect();
        let gaps = counts.len().saturating_sub(1);
        let rows = |beside: u16| counts.iter().map(|count| count.div_ceil(usize::from(beside))).sum::<usize>();
        let fits = |beside: &u16, gaps: usize| rows(*beside) + gaps <= usize::from(height);
        let titles = chart.stages().flatten().filter_map(|place| chart.nodes().get(place)).map(|node| node.title.width());
        let wanted = u16::try_from(titles.max().unwrap_or(0)).unwrap_or(u16::MAX).saturating_add(AROUND_NODE).clamp(CELL.0, CELL.1);
        let most = (room / CELL.0).max(1);
        let mut ways = (room / wanted).clamp(1, most)..=most;
        let (beside, is_airy) = match (ways.clone().find(|beside| fits(beside, gaps)), ways.find(|beside| fits(beside, 0))) {
            (Some(beside), _) => (beside, true),
            (None, dense) => (dense.unwrap_or(most), false),
        };
        let mut stages = Self { cell: (room / beside).min(wanted), size: (width, height), ..Self::default() };
        for (at, places) in chart.stages().enumerate() {
            if at > 0 && is_airy {
                stages.rows.push(StageRow { stage: None, nodes: stages.nodes.len()..stages.nodes.len() });
            }
            let places: Vec<usize> = places.collect();
            for (nth, piece) in places.chunks(usize::from(beside)).enumerate() {
                let from = stages.nodes.len();
                stages.nodes.extend_from_slice(piece);
                stages.row_of.extend(piece.iter().map(|place| (*place, stages.rows.len())));
                stages.rows.push(StageRow { stage: (nth == 0).then_some(at + 1), nodes: from..stages.nodes.len() });
            }
        }
        stages
    }

    /// The position of the node that is drawn at a column and row.
    pub fn at(&self, x: u16, y: u16) -> Option<usize> {
        let row = self.rows.get(self.top + usize::from(y))?;
        let nth = usize::from(x.checked_sub(STAGE_GUTTER)? / self.cell.max(1));
        self.nodes[row.nodes.clone()].get(nth).copied()
    }

    /// Keeps the row of a node in sight.
    pub fn settle(&mut self, chart: &GraphDrawing, id: Option<&NodeId>) {
        let place = id.and_then(|id| chart.place(outermost(id)));
        let row = place.and_then(|place| self.row_of.get(&place)).copied().unwrap_or(0);
        self.top = scrolled(self.top, row, self.rows.len(), usize::from(self.size.1));
    }
}

/// The address of the node of the plan itself in whose body a node is: its own, where it is in none.
pub fn outermost(id: &str) -> &str {
    let mut id = id;
    while let Some(owner) = nest::owner(id) {
        id = owner;
    }
    id
}
