//! A DAG as rows of a tree, honestly: each node occurs once, below the last of its parents, so that everything it needs is above it;
//! the other parents are named on its row. What runs inside a node (`outer/inner`) is right below it, before the nodes that need it.
//! A node that alone comes after another stands right below it, without a branch, so that a chain of a hundred is as wide as one row.
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

/// One row of the drawing: a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnRow {
    /// Position of the node in the plan.
    pub node: usize,
    /// How many nodes are above it, each below the next.
    pub depth: usize,
    /// The row of the parent; `None` for roots.
    pub parent: Option<usize>,
    /// It runs inside the parent, and is not one that needs it or that it needs.
    pub inside: bool,
    /// How the row hangs on what is above it.
    pub branch: RowBranch,
}

/// How a row hangs on what is above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowBranch {
    /// Alone at the top, or the only one to come after its parent: it stands right below, as far to the left.
    Straight,
    /// One of several, and another follows.
    Fork,
    /// The last of several.
    Last,
}

/// All rows, top to bottom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawnTree {
    pub rows: Vec<DrawnRow>,
    /// For each node of the plan, its own row.
    pub row_of: Vec<usize>,
    orientation: Orientation,
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
        tree.branch();
        tree
    }

    /// Finds out which rows fork off: those inside others, and those that don't come alone. Several roots fork off the top.
    fn branch(&mut self) {
        let top = self.rows.len();
        let above = |row: &DrawnRow| row.parent.unwrap_or(top);
        let mut siblings = vec![0_usize; top + 1];
        self.rows.iter().filter(|row| !row.inside).for_each(|row| siblings[above(row)] += 1);
        let mut followed = vec![false; top + 1];
        for at in (0..top).rev() {
            let row = self.rows[at];
            if row.inside || siblings[above(&row)] > 1 {
                let more = std::mem::replace(&mut followed[above(&row)], true);
                self.rows[at].branch = if more { RowBranch::Fork } else { RowBranch::Last };
            }
        }
    }

    /// For each level from the row's own upwards, as far as it is taken, whether a line runs down past the row. The first level is that of
    /// the row's own branch, where it has one.
    pub fn guides_up(&self, row: usize) -> impl Iterator<Item = bool> + '_ {
        let above = |row: &&DrawnRow| row.parent.and_then(|parent| self.rows.get(parent));
        std::iter::successors(self.rows.get(row), above).filter_map(|row| match row.branch {
            RowBranch::Straight => None,
            RowBranch::Fork => Some(true),
            RowBranch::Last => Some(false),
        })
    }

    /// The same from the outermost level to the row's own.
    pub fn guides(&self, row: usize) -> Vec<bool> {
        let mut guides: Vec<bool> = self.guides_up(row).collect();
        guides.reverse();
        guides
    }

    /// The node's other parents: those that its row is not below.
    pub fn other_parents<'a>(&'a self, graph: &'a PlanGraph, node: usize) -> impl Iterator<Item = usize> + 'a {
        let parent = self.row_of.get(node).and_then(|row| self.rows.get(*row)?.parent).map(|row| self.rows[row].node);
        let (sources, targets) = match self.orientation {
            Orientation::Start => (Some(graph.predecessors(node)), None),
            Orientation::Goal => (None, Some(graph.successors(node))),
        };
        let mut others: Vec<usize> = sources.into_iter().flatten().chain(targets.into_iter().flatten()).collect();
        others.sort_unstable();
        others.dedup();
        others.into_iter().filter(move |other| Some(*other) != parent)
    }
}

/// What is still to be drawn.
struct PendingRows {
    node: usize,
    parent: Option<usize>,
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
        Self { children, inside, waiting, tree: DrawnTree { rows: Vec::new(), row_of: vec![usize::MAX; graph.len()], orientation } }
    }

    fn roots(&mut self, roots: &[usize]) {
        let mut stack: Vec<PendingRows> = roots.iter().rev().map(|&node| PendingRows { node, parent: None, inside: false }).collect();
        while let Some(PendingRows { node, parent, inside }) = stack.pop() {
            if parent.is_some() {
                self.waiting[node] = self.waiting[node].saturating_sub(1);
            }
            let is_drawn = self.tree.row_of[node] != usize::MAX;
            if is_drawn || parent.is_some() && self.waiting[node] > 0 {
                continue;
            }
            let at = self.tree.rows.len();
            let depth = parent.map_or(0, |parent| self.tree.rows[parent].depth + 1);
            self.tree.rows.push(DrawnRow { node, depth, parent, inside, branch: RowBranch::Straight });
            self.tree.row_of[node] = at;
            let children = self.children[node].iter().enumerate().rev();
            stack.extend(children.map(|(i, &child)| PendingRows { node: child, parent: Some(at), inside: i < self.inside[node] }));
        }
    }
}
