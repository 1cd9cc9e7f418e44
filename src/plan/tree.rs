//! A DAG as rows of a tree, honestly: each node occurs once, below the last of its parents, so that everything it needs is above it;
//! the other parents have a reference to it. What runs inside a node (`outer/inner`) is right below it, before the nodes that need it.
//! Linear in nodes and edges; stable, since children come in document order.

use super::{nest, order::PlanGraph};

/// Which end of the plan is at the top.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Orientation {
    /// What starts first is at the top; children are the nodes that need the parent.
    #[default]
    Start,
    /// The goal is at the top; children are what the parent needs.
    Goal,
}

/// Whether a row is the node itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DrawnRowKind {
    /// The node's own row.
    Node,
    /// A mention of a node that has its row elsewhere.
    Reference,
}

/// One row of the drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnRow {
    /// Position of the node in the plan.
    pub node: usize,
    /// Own row or mention.
    pub kind: DrawnRowKind,
    pub depth: usize,
    /// The row of the parent; `None` for roots.
    pub parent: Option<usize>,
    pub last: bool,
    /// It runs inside the parent, and is not one that needs it or that it needs.
    pub inside: bool,
}

/// All rows, top to bottom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawnTree {
    pub rows: Vec<DrawnRow>,
    /// For each node of the plan, its own row.
    pub row_of: Vec<usize>,
}

impl DrawnTree {
    /// Lays a plan out.
    pub fn new(graph: &PlanGraph, orientation: Orientation) -> Self {
        let mut layout = TreeLayout::new(graph, orientation);
        let roots: Vec<usize> = (0..graph.len()).filter(|&node| layout.waiting[node] == 0).collect();
        layout.roots(&roots);
        // What is left hangs on a cycle: its first node in the document becomes a root, so that nothing is hidden.
        for node in 0..graph.len() {
            if layout.tree.row_of[node] == usize::MAX {
                layout.roots(&[node]);
            }
        }
        let mut tree = layout.tree;
        if let Some(last) = tree.rows.iter_mut().rev().find(|row| row.depth == 0) {
            last.last = true;
        }
        tree
    }

    /// Whether a line runs down past the row, for each depth from 1 to the row's own; the last tells `├` from `└`.
    pub fn guides(&self, row: usize) -> Vec<bool> {
        let mut guides: Vec<bool> = self.guides_up(row).collect();
        guides.reverse();
        guides
    }

    /// The same from the row's own depth upwards, as far as it is taken.
    pub fn guides_up(&self, row: usize) -> impl Iterator<Item = bool> + '_ {
        let above = |row: &&DrawnRow| row.parent.and_then(|parent| self.rows.get(parent));
        std::iter::successors(self.rows.get(row), above).filter(|row| row.depth > 0).map(|row| !row.last)
    }
}

/// What is still to be drawn.
struct PendingRows {
    node: usize,
    parent: Option<usize>,
    last: bool,
    inside: bool,
}

struct TreeLayout {
    /// What is below each node; the first so many of them run inside it.
    children: Vec<Vec<usize>>,
    inside: Vec<usize>,
    /// Parents whose rows are still to come.
    waiting: Vec<usize>,
    tree: DrawnTree,
}

impl TreeLayout {
    fn new(graph: &PlanGraph, orientation: Orientation) -> Self {
        let mut waiting = vec![0; graph.len()];
        let mut children: Vec<Vec<usize>> = Vec::with_capacity(graph.len());
        for node in 0..graph.len() {
            let mut list: Vec<usize> = match orientation {
                Orientation::Start => graph.successors(node).collect(),
                Orientation::Goal => graph.predecessors(node).collect(),
            };
            list.sort_unstable();
            list.dedup();
            list.iter().for_each(|&child| waiting[child] += 1);
            children.push(list);
        }
        let mut inside: Vec<Vec<usize>> = vec![Vec::new(); graph.len()];
        for (node, waiting) in waiting.iter_mut().enumerate().filter(|(_, waiting)| **waiting == 0) {
            if let Some(owner) = nest::owner(graph.id(node)).and_then(|owner| graph.position(owner)) {
                inside[owner].push(node);
                *waiting = 1;
            }
        }
        for (children, inside) in children.iter_mut().zip(&mut inside).filter(|(_, inside)| !inside.is_empty()) {
            children.splice(0..0, inside.iter().copied());
        }
        let inside = inside.into_iter().map(|inside| inside.len()).collect();
        Self { children, inside, waiting, tree: DrawnTree { rows: Vec::new(), row_of: vec![usize::MAX; graph.len()] } }
    }

    fn roots(&mut self, roots: &[usize]) {
        let mut stack: Vec<PendingRows> =
            roots.iter().rev().map(|&node| PendingRows { node, parent: None, last: false, inside: false }).collect();
        while let Some(PendingRows { node, parent, last, inside }) = stack.pop() {
            let at = self.tree.rows.len();
            let depth = parent.map_or(0, |parent| self.tree.rows[parent].depth + 1);
            let drawn = self.tree.row_of[node] != usize::MAX;
            if parent.is_some() {
                self.waiting[node] = self.waiting[node].saturating_sub(1);
            }
            let own = !drawn && (parent.is_none() || self.waiting[node] == 0);
            let kind = if own { DrawnRowKind::Node } else { DrawnRowKind::Reference };
            self.tree.rows.push(DrawnRow { node, kind, depth, parent, last, inside });
            if own {
                self.tree.row_of[node] = at;
                let children = &self.children[node];
                let rows = children.iter().enumerate().rev();
                stack.extend(rows.map(|(i, &child)| PendingRows {
                    node: child,
                    parent: Some(at),
                    last: i + 1 == children.len(),
                    inside: i < self.inside[node],
                }));
            }
        }
    }
}
