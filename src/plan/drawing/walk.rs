//! Walking through a drawing: along edges, and between boxes of the same layer.

use super::{BoxBody, GraphDrawing};
use crate::plan::NodeId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphMove {
    /// Along an edge to what the node needs; out of a body at its top.
    Up,
    /// Along an edge to what the node feeds; into a body that is shown, and out of it at its bottom.
    Down,
    /// To the next box on the left.
    Left,
    /// To the next box on the right.
    Right,
}

impl GraphDrawing {
    /// Where a step leads from a node; `None` where there is nothing.
    pub fn step(&self, from: &NodeId, step: GraphMove) -> Option<&NodeId> {
        let place = self.place(from)?;
        let to = match step {
            GraphMove::Up => self.above(place),
            GraphMove::Down => self.below(place),
            GraphMove::Left => self.beside(place, -1),
            GraphMove::Right => self.beside(place, 1),
        };
        to.map(|place| &self.nodes[place].id)
    }

    /// The first box of the uppermost layer.
    pub fn first(&self) -> Option<&NodeId> {
        self.entry(0).map(|place| &self.nodes[place].id)
    }

    /// The first box of the lowest layer.
    pub fn last(&self) -> Option<&NodeId> {
        let pane = self.panes.first()?;
        let at = pane.layers.bands.iter().rev().find_map(|band| band.boxes.first())?;
        Some(&self.nodes[pane.first + *at as usize].id)
    }

    fn entry(&self, pane: usize) -> Option<usize> {
        let pane = self.panes.get(pane)?;
        Some(pane.first + *pane.layers.bands.first()?.boxes.first()? as usize)
    }

    fn above(&self, place: usize) -> Option<usize> {
        let node = &self.nodes[place];
        let pane = &self.panes[node.pane];
        self.nearest(place, pane.graph.predecessors(node.at).map(|at| pane.first + at)).or(pane.owner)
    }

    fn below(&self, place: usize) -> Option<usize> {
        if let BoxBody::Open(inner) = self.nodes[place].body {
            return self.entry(inner);
        }
        self.behind(place)
    }

    /// What a node feeds; at the bottom of a body, what the body's node feeds.
    fn behind(&self, place: usize) -> Option<usize> {
        let node = &self.nodes[place];
        let pane = &self.panes[node.pane];
        let next = self.nearest(place, pane.graph.successors(node.at).map(|at| pane.first + at));
        next.or_else(|| pane.owner.and_then(|owner| self.behind(owner)))
    }

    fn beside(&self, place: usize, by: isize) -> Option<usize> {
        let node = &self.nodes[place];
        let pane = &self.panes[node.pane];
        let band = pane.layers.bands.get(*pane.layers.layer_of.get(node.at)? as usize)?;
        let here = band.boxes.iter().position(|at| *at as usize == node.at)?;
        band.boxes.get(here.checked_add_signed(by)?).map(|at| pane.first + *at as usize)
    }

    /// The box in the nearest layer; of those the one whose middle is nearest, and of those the left one.
    fn nearest(&self, to: usize, among: impl Iterator<Item = usize>) -> Option<usize> {
        let middle = |place: usize| {
            let area = self.area(place);
            area.x + area.width / 2
        };
        let (here, row) = (middle(to), self.area(to).y);
        among.filter(|place| *place != to).min_by_key(|place| (self.area(*place).y.abs_diff(row), middle(*place).abs_diff(here), *place))
    }
}
