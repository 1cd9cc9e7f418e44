//! `FoldedGraph`: the plan as boxes and lines, which bodies are folded in it, and which part of it is in sight. The layout is computed
//! when the plan or the folds change; the selection is that of the tree.

use std::collections::BTreeSet;

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

    /// The part of the drawing that a pane of this size shows.
    pub fn window(&self, width: u32, height: u32) -> Window {
        Window { x: self.corner.0, y: self.corner.1, width, height }
    }

    /// Scrolls no further than needed for the node to be in sight.
    pub fn settle(&mut self, id: Option<&NodeId>, width: u32, height: u32) {
        let Some(chart) = self.chart() else { return };
        let size = chart.size();
        let area = id.and_then(|id| self.place(id)).map(|place| chart.area(place)).unwrap_or_default();
        let x = scrolled(self.corner.0, (area.x, area.width), size.width, width);
        let y = scrolled(self.corner.1, (area.y, area.height), size.height, height);
        self.corner = (x, y);
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
