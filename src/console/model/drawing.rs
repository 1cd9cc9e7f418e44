//! `FoldedGraph`: the plan as boxes and lines, which bodies are folded in it, and which part of it is in sight. The layout is computed
//! when the plan or the folds change; the selection is that of the tree. Where the boxes don't fit, they are folded by stages.

use std::collections::BTreeSet;

pub use super::graph_stages::{STAGE_GUTTER, StageRow, Stages, outermost};
use crate::plan::drawing::{BoxBody, BoxText, GraphDrawing, Window};
use crate::plan::{NodeId, Plan, nest};

/// Rows and columns that are kept in sight around the selected box, so that its lines show.
const AROUND: u32 = 2;

/// The plan as boxes and lines.
#[derive(Clone, Debug, Default)]
pub struct FoldedGraph {
    /// Nothing while it must be computed again.
    chart: Option<Box<GraphDrawing>>,
    /// Addresses of nodes whose bodies are not shown.
    folded: BTreeSet<NodeId>,
    /// The first column and row in sight.
    corner: (u32, u32),
    /// Which form somebody chose.
    chosen: Option<GraphForm>,
    /// The nodes by stages, where they are shown so.
    stages: Option<Stages>,
}

/// What the graph is drawn as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GraphForm {
    /// Boxes and lines.
    Boxes,
    /// Nodes by stages, without lines.
    Stages,
}

/// The address in the document of a node of a run: `map/inner` of `map[3]/inner`.
pub fn address(id: &str) -> NodeId {
    let steps: Vec<&str> = id.split('/').map(|step| step.split_once('[').map_or(step, |(id, _)| id)).collect();
    NodeId::new(steps.join("/"))
}

impl FoldedGraph {
    /// The plan has changed.
    pub fn stale(&mut self) {
        self.chart = None;
        if let Some(stages) = &mut self.stages {
            stages.stale();
        }
    }

    /// The nodes by stages, where they are shown so.
    pub fn stages(&self) -> Option<&Stages> {
        self.stages.as_ref()
    }

    /// Shows it in the other form from here on.
    pub fn toggle_form(&mut self) {
        self.chosen = Some(if self.stages.is_some() { GraphForm::Boxes } else { GraphForm::Stages });
    }

    /// What it is drawn as on a screen of this size: where somebody chose nothing, as boxes if these fit.
    fn form(&self, chart: &GraphDrawing, (width, height): (u16, u16)) -> GraphForm {
        let size = chart.size();
        let fits = size.width <= u32::from(width) && size.height <= u32::from(height);
        self.chosen.unwrap_or(if fits { GraphForm::Boxes } else { GraphForm::Stages })
    }

    /// Computes the layout where it must be. `plan` is the document, with what is inside of its nodes.
    pub fn refresh(&mut self, plan: &Plan) {
        if self.chart.is_none() {
            let folded = &self.folded;
            self.chart = Some(Box::new(GraphDrawing::new(plan, BoxText::Titles, &|id| !folded.contains(id))));
        }
    }

    /// The layout; nothing before the first refresh.
    pub fn chart(&self) -> Option<&GraphDrawing> {
        self.chart.as_deref()
    }

    /// The place of the box that shows a node of the tree: its own, or that of the folded one that it is in.
    pub fn place(&self, id: &NodeId) -> Option<usize> {
        let chart = self.chart()?;
        let address = address(id);
        let mut here: &str = &address;
        loop {
            match chart.place(here) {
                Some(place) => return Some(place),
                None => here = nest::owner(here)?,
            }
        }
    }

    /// Folds or unfolds the node's body, else the body that it is in. Gives the address of the node that was folded.
    pub fn toggle(&mut self, id: &NodeId) -> Option<NodeId> {
        let chart = self.chart()?;
        let node = chart.nodes().get(self.place(id)?)?;
        let owner = match node.body {
            BoxBody::Open(_) | BoxBody::Folded(_) => node.id.clone(),
            BoxBody::None => NodeId::new(nest::owner(&node.id)?),
        };
        if !self.folded.remove(&owner) {
            self.folded.insert(owner.clone());
        }
        self.stale();
        Some(owner)
    }

    /// Folds every body, or unfolds all when any is folded.
    pub fn toggle_all(&mut self) {
        let Some(chart) = self.chart() else { return };
        let open: BTreeSet<NodeId> =
            chart.nodes().iter().filter(|node| matches!(node.body, BoxBody::Open(_))).map(|node| node.id.clone()).collect();
        self.folded = if self.folded.is_empty() { open } else { BTreeSet::new() };
        self.stale();
    }

    /// Blank columns before a drawing that is narrower than its pane.
    pub fn blank(&self, width: u16) -> u16 {
        let drawn = self.chart().map_or(0, |chart| chart.size().width);
        width.saturating_sub(u16::try_from(drawn).unwrap_or(u16::MAX)) / 2
    }

    /// The address of the node that is drawn at a column and row of a pane so many columns wide.
    pub fn at(&self, (x, y): (u16, u16), width: u16) -> Option<&NodeId> {
        let chart = self.chart()?;
        if let Some(stages) = &self.stages {
            return chart.nodes().get(stages.at(x, y)?).map(|node| &node.id);
        }
        let (x, y) = (u32::from(x.checked_sub(self.blank(width))?) + self.corner.0, u32::from(y) + self.corner.1);
        let is_there = |place: &usize| {
            let area = chart.area(*place);
            (area.x..area.x + area.width).contains(&x) && (area.y..area.y + area.height).contains(&y)
        };
        // What is inside of a frame comes after it.
        let place = (0..chart.nodes().len()).rev().find(is_there)?;
        chart.nodes().get(place).map(|node| &node.id)
    }

    /// The part of the drawing that a pane of this size shows.
    pub fn window(&self, width: u32, height: u32) -> Window {
        Window { x: self.corner.0, y: self.corner.1, width, height }
    }

    /// Keeps the node in sight among those by stages, in a pane of that size, whatever form the graph has.
    pub fn settle_stages(&mut self, id: Option<&NodeId>, size: (u16, u16)) {
        let mut stages = self.stages.take().unwrap_or_default();
        if let Some(chart) = self.chart() {
            stages.refresh(chart, size);
            stages.settle(chart, id);
        }
        self.stages = Some(stages);
    }

    /// Scrolls no further than needed for the node to be in sight, in a pane of that size on a screen that has room for so much.
    pub fn settle(&mut self, id: Option<&NodeId>, (width, height): (u16, u16), screen: (u16, u16)) {
        let Some(chart) = self.chart() else { return };
        if self.form(chart, screen) == GraphForm::Stages {
            return self.settle_stages(id, (width, height));
        }
        let size = chart.size();
        let area = id.and_then(|id| self.place(id)).map(|place| chart.area(place)).unwrap_or_default();
        let x = scrolled(self.corner.0, (area.x, area.width), size.width, u32::from(width));
        let y = scrolled(self.corner.1, (area.y, area.height), size.height, u32::from(height));
        (self.corner, self.stages) = ((x, y), None);
    }
}

/// The first cell in sight, when `len` cells from `at` on must be among `room` of `all`. What is longer is shown from its start; what
/// is far away comes to the middle.
fn scrolled(first: u32, (at, len): (u32, u32), all: u32, room: u32) -> u32 {
    let last = all.saturating_sub(room);
    let first = first.min(last);
    let (from, to) = (at.saturating_sub(AROUND), at + len + AROUND);
    let is_far = to + room < first || from > first + 2 * room;
    let wanted = if is_far {
        from.saturating_sub(room.saturating_sub(to - from) / 2)
    } else if from < first || to - from > room {
        from
    } else {
        first.max(to.saturating_sub(room))
    };
    wanted.min(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lose_the_numbers_of_turns_and_entries() {
        assert_eq!(address("map[3]/loop[1]/inner").as_str(), "map/loop/inner");
        assert_eq!(address("plain").as_str(), "plain");
    }

    #[test]
    fn scrolling_keeps_the_box_in_sight_and_moves_no_further_than_needed() {
        assert_eq!(scrolled(0, (4, 10), 100, 40), 0);
        assert_eq!(scrolled(0, (38, 10), 100, 40), 10);
        assert_eq!(scrolled(50, (38, 10), 100, 40), 36);
        assert_eq!(scrolled(0, (90, 10), 100, 40), 60, "not beyond the end");
        assert_eq!(scrolled(0, (500, 10), 1_000, 40), 485, "far away comes to the middle");
        assert_eq!(scrolled(30, (10, 200), 1_000, 40), 8, "what is too long shows its start");
    }
}
