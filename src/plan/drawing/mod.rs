//! A plan as a drawing of boxes and lines: which boxes there are, what is in them, how they are joined. A sub-plan is one box
//! when it is folded, else a frame around its own drawing; lines never lead through a frame, since bodies are closed. The drawing is
//! computed once for a plan and its folds; `view` then gives what a window shows of it, touching only what is in the window.

mod stroke;
#[cfg(test)]
mod tests;
mod text;
mod view;
mod walk;

pub use stroke::{EdgeStroke, Stroke};
pub use text::text;
pub use view::{ArrowLabel, GraphView, VisibleBox, Window};
pub use walk::GraphMove;

use super::layers::{Area, Layers, Size, Sketch, Tie};
use super::order::PlanGraph;
use super::{Edge, NodeId, NodeKind, Plan, SubplanNode};
use crate::text::Plain;
use std::collections::HashMap;

/// The least columns inside a box.
const NARROWEST: usize = 11;
/// The most columns inside a box.
const WIDEST: usize = 26;
/// Columns up to which the name of a box is on one row, and rows that it has at most.
const ON_A_ROW: usize = 20;
const ROWS: usize = 2;
/// Columns of a frame's upper edge for the state and the turn of what is in it.
const FRAME: usize = 14;
/// The most columns of an edge's label.
const LABEL: usize = 32;

/// What boxes say of their nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoxText {
    /// Their ids; what is folded behind a mark.
    #[default]
    Ids,
    /// Their titles, each behind a mark.
    Titles,
}

/// The drawing of a plan.
#[derive(Clone, Debug, Default)]
pub struct GraphDrawing {
    /// The plan itself, then the bodies that are shown.
    panes: Vec<Pane>,
    /// Those of a pane are together, in document order.
    nodes: Vec<Box>,
    text: BoxText,
    /// Boxes by their addresses; of those with the same address the first.
    places: HashMap<NodeId, usize>,
}

/// One plan in the drawing, or the body of an unfolded sub-plan.
#[derive(Clone, Debug)]
pub struct Pane {
    /// The box that it is in; `None` for the plan itself.
    pub owner: Option<usize>,
    /// Its first box in `GraphDrawing::nodes`.
    first: usize,
    /// Where its first cell is in the whole drawing.
    origin: (u32, u32),
    layers: Layers,
    graph: PlanGraph,
    /// The edge of each tie: its number in canonical order, and its label.
    edges: Vec<(usize, Plain)>,
}

#[derive(Clone, Debug)]
pub struct Box {
    /// The node's address: `outer/inner` in a body.
    pub id: NodeId,
    pub pane: usize,
    /// The node's position in the plan of its pane.
    pub at: usize,
    /// What the node is called, and the same on the rows of its box.
    pub title: Plain,
    pub rows: Vec<Plain>,
    /// Who does it, or what sort of work it is; on a frame, what happens to the plan in it.
    pub caption: Plain,
    /// What is inside, where the node has a plan of its own.
    pub body: BoxBody,
}

/// What is inside a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxBody {
    /// The node has no plan of its own.
    None,
    /// It has one of so many nodes, which is not shown.
    Folded(usize),
    /// It is shown: the pane.
    Open(usize),
}

impl GraphDrawing {
    /// The drawing of a plan. `is_open` says of the address of a node with a plan of its own whether that is shown.
    pub fn new(plan: &Plan, text: BoxText, is_open: &dyn Fn(&NodeId) -> bool) -> Self {
        let mut drawing = Self { text, ..Self::default() };
        drawing.pane(plan, None, is_open);
        // Outer panes come before the inner ones, so that origins add up.
        for pane in 1..drawing.panes.len() {
            if let Some(owner) = drawing.panes[pane].owner {
                let area = drawing.area(owner);
                let inner = drawing.panes[pane].layers.size.width;
                drawing.panes[pane].origin = (area.x + area.width.saturating_sub(inner) / 2, area.y + 1);
            }
        }
        for (place, node) in drawing.nodes.iter().enumerate() {
            drawing.places.entry(node.id.clone()).or_insert(place);
        }
        drawing
    }

    fn pane(&mut self, plan: &Plan, owner: Option<usize>, is_open: &dyn Fn(&NodeId) -> bool) -> usize {
        let (pane, first) = (self.panes.len(), self.nodes.len());
        let graph = PlanGraph::new(plan);
        self.panes.push(Pane { owner, first, origin: (0, 0), layers: Layers::default(), graph, edges: Vec::new() });
        for (at, node) in plan.nodes.iter().enumerate() {
            let id = match owner {
                Some(owner) => NodeId::new(format!("{}/{}", self.nodes[owner].id, node.id)),
                None => node.id.clone(),
            };
            let body = node.kind.body().map_or(BoxBody::None, |plan| BoxBody::Folded(plan.nodes.len()));
            let mut caption = worker(&node.kind);
            if let BoxBody::Folded(nodes) = body {
                caption = caption.then(&Plain::line(&format!(", {nodes} {}", if nodes == 1 { "node" } else { "nodes" })));
            }
            let title = match self.text {
                BoxText::Ids => Plain::summary(&node.id),
                BoxText::Titles => node.title_or_id(),
            };
            let rows = rows(&title);
            self.nodes.push(Box { id, pane, at, title, rows, caption, body });
        }
        for (at, node) in plan.nodes.iter().enumerate() {
            let inner = node.kind.body().filter(|inner| !inner.nodes.is_empty() && is_open(&self.nodes[first + at].id));
            if let Some(inner) = inner {
                self.nodes[first + at].body = BoxBody::Open(self.pane(inner, Some(first + at), is_open));
                self.nodes[first + at].caption = rule(&node.kind);
            }
        }
        let within = first..first + plan.nodes.len();
        let columns_of = |place: usize| self.inside(&self.nodes[place]);
        let widest = within.clone().map(columns_of).max().unwrap_or(0).clamp(NARROWEST, WIDEST);
        let highest = within.clone().map(|place| self.nodes[place].rows.len()).max().unwrap_or(1);
        let boxes = within.map(|place| self.size_of(place, (widest, highest))).collect();
        let graph = &self.panes[pane].graph;
        let joined = graph.links().iter().enumerate().filter_map(|(number, link)| Some((number, link.from?, link.to?, link.place)));
        let (mut edges, mut ties) = (Vec::new(), Vec::new());
        for (number, from, to, place) in joined {
            let label = plan.edge_at(place).and_then(|edge| caption(&edge)).unwrap_or_default();
            ties.push(Tie { from, to, label: columns(label.width()) });
            edges.push((number, label));
        }
        self.panes[pane].layers = Layers::new(&Sketch { boxes, ties });
        self.panes[pane].edges = edges;
        pane
    }

    /// Columns of the marks before a box's name.
    pub fn mark(&self, node: &Box) -> usize {
        let state = if self.text == BoxText::Titles { 2 } else { 0 };
        state + if node.body == BoxBody::None { 0 } else { 2 }
    }

    /// Columns that are needed inside of a box; none inside of a frame, which is as wide as what it holds.
    fn inside(&self, node: &Box) -> usize {
        let rows = node.rows.iter().map(Plain::width).max().unwrap_or(0);
        if matches!(node.body, BoxBody::Open(_)) { 0 } else { (rows + self.mark(node)).max(node.caption.width()) }
    }

    /// The boxes of one plan are as wide and as high as the largest of them.
    fn size_of(&self, place: usize, (inside, rows): (usize, usize)) -> Size {
        let node = &self.nodes[place];
        let odd = |width: u32| width | 1;
        match node.body {
            BoxBody::None | BoxBody::Folded(_) => Size { width: odd(columns(inside) + 4), height: columns(rows) + 3 },
            BoxBody::Open(pane) => {
                let inner = self.panes[pane].layers.size;
                let title = columns((node.title.width() + node.caption.width() + FRAME).min(2 * WIDEST));
                Size { width: odd((inner.width + 4).max(title)), height: inner.height + 2 }
            }
        }
    }

    /// Columns and rows of the whole drawing.
    pub fn size(&self) -> Size {
        self.panes.first().map_or(Size::default(), |pane| pane.layers.size)
    }

    pub fn nodes(&self) -> &[Box] {
        &self.nodes
    }

    /// A node's place among the boxes, while it has one.
    pub fn place(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// The boxes of the plan itself by their layers, from top to bottom and from left to right.
    pub fn stages(&self) -> impl Iterator<Item = impl Iterator<Item = usize>> {
        let bands = self.panes.first().map(|pane| pane.layers.bands.as_slice()).unwrap_or_default();
        bands.iter().map(|band| band.boxes.iter().map(|at| *at as usize))
    }

    /// The boxes that a box has an edge from.
    pub fn sources(&self, place: usize) -> impl Iterator<Item = usize> {
        let pane = &self.panes[self.nodes[place].pane];
        pane.graph.predecessors(self.nodes[place].at).map(move |at| pane.first + at)
    }

    /// The boxes that it has an edge to.
    pub fn targets(&self, place: usize) -> impl Iterator<Item = usize> {
        let pane = &self.panes[self.nodes[place].pane];
        pane.graph.successors(self.nodes[place].at).map(move |at| pane.first + at)
    }

    /// Where a box is.
    pub fn area(&self, place: usize) -> Area {
        let Some(node) = self.nodes.get(place) else { return Area::default() };
        let pane = &self.panes[node.pane];
        let area = pane.layers.boxes.get(node.at).copied().unwrap_or_default();
        Area { x: area.x + pane.origin.0, y: area.y + pane.origin.1, ..area }
    }

    /// How many edges have no line.
    pub fn cut(&self) -> usize {
        self.panes.iter().map(|pane| pane.layers.cut.len()).sum()
    }

    /// Edges without a line, since the drawing would be mostly lines, or since they close a cycle.
    pub fn undrawn(&self) -> Vec<(NodeId, NodeId)> {
        let of = |pane: &Pane| {
            let id = |at: usize| self.nodes[pane.first + at].id.clone();
            let edge = |tie: &usize| {
                let link = pane.graph.links()[pane.edges[*tie].0];
                Some((id(link.from?), id(link.to?)))
            };
            pane.layers.cut.iter().filter_map(edge).collect::<Vec<_>>()
        };
        self.panes.iter().flat_map(of).collect()
    }

    /// The address of the node in whose body a pane is.
    pub fn owner(&self, pane: &Pane) -> Option<&NodeId> {
        pane.owner.map(|owner| &self.nodes[owner].id)
    }
}

impl Pane {
    /// The own ids of the nodes that an edge joins.
    pub fn ends(&self, edge: usize) -> Option<(&NodeId, &NodeId)> {
        let link = self.graph.links().get(edge)?;
        Some((self.graph.id(link.from?), self.graph.id(link.to?)))
    }

    /// The own id of the node that an edge leaves, and the edge's place among the ways out of it.
    pub fn way_out(&self, edge: usize) -> Option<(&NodeId, usize)> {
        let source = self.graph.links().get(edge)?.from?;
        Some((self.graph.id(source), self.graph.outgoing(source).position(|link| link == edge)?))
    }
}

fn columns(width: usize) -> u32 {
    u32::try_from(width).unwrap_or(u32::MAX)
}

/// An edge in few words: what people call it, else its condition.
fn caption(edge: &Edge) -> Option<Plain> {
    let label = edge.label.as_deref().or(edge.when.as_deref()).or(edge.default.then_some("else"))?;
    Some(Plain::summary(label).truncate(LABEL))
}

/// A name on as many rows as it takes, and no more than it may have.
fn rows(name: &Plain) -> Vec<Plain> {
    let mut rows = name.wrap(ON_A_ROW);
    if rows.len() > ROWS {
        rows.truncate(ROWS);
        let last = rows.pop().unwrap_or_default();
        rows.push(last.cut(ON_A_ROW - 1).then(&Plain::line("…")));
    }
    rows
}

/// Who does the work, or its sort; of a plan of its own the file.
fn worker(kind: &NodeKind) -> Plain {
    let NodeKind::Subplan(SubplanNode::File { path, .. }) = kind else { return kind.worker_label() };
    Plain::summary(path)
}

/// What happens to the plan in a frame.
fn rule(kind: &NodeKind) -> Plain {
    match kind {
        NodeKind::Loop(work) => Plain::line("loop until ").then(&Plain::summary(&work.until)),
        NodeKind::Map(work) => Plain::line("for each of ").then(&Plain::summary(&work.over)),
        _ => worker(kind),
    }
}
