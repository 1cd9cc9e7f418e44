//! `TreeView`: the rows of a DAG as a person walks them. The list of rows is computed when the plan, the folds, the filter or the
//! orientation change; moving and drawing touch only the rows in sight.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::{FinishedRows, FoldedGraph, TextField, Wanted, list::ListCursor};
use crate::plan::{Node, NodeId, Plan, nest, order::PlanGraph, tree as order, tree::Orientation};

/// One line of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeRow {
    pub node: NodeId,
    /// Index into `Plan::nodes`.
    pub index: usize,
    /// How deep it is.
    pub depth: usize,
    /// Its place in the whole drawing, before folding.
    at: usize,
    /// Whether something is below it, and whether that is shown.
    pub kind: TreeRowKind,
    /// It runs inside the node above.
    pub inside: bool,
}

/// Whether something is below a row, and whether that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeRowKind {
    /// Nothing is below it.
    Leaf,
    /// What is below is shown.
    Open,
    /// So many rows below are hidden.
    Folded(usize),
    /// It is drawn for so many finished siblings.
    Finished(usize),
}

/// The rows, and where the person is in them.
#[derive(Clone, Debug, Default)]
pub struct TreeView {
    rows: Vec<TreeRow>,
    /// Columns of the widest row of the whole drawing, from the tree on.
    widest: usize,
    /// The plan as a graph, for what feeds what.
    graph: PlanGraph,
    grown: order::DrawnTree,
    place: ListCursor,
    folded: BTreeSet<NodeId>,
    /// What is searched for.
    pub filter: TextField,
    pub search: TreeSearch,
    finished: FinishedRows,
    orientation: Orientation,
    /// The same as boxes and lines.
    pub drawing: FoldedGraph,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct TreeSearch {
    /// The nodes that the states asked for mean; absent where none is asked for.
    pub only: Option<BTreeSet<NodeId>>,
    /// Where the person was when it began.
    before: Option<NodeId>,
    /// The nodes that match, by their index into `Plan::nodes`, in the order of the tree.
    hits: Vec<usize>,
}

/// Levels of the tree that are drawn; deeper ones are a number.
pub const LEVELS: usize = 12;

impl TreeView {
    /// Computes the rows again; the selection stays on its node where that is still shown, else on its place.
    pub fn rebuild(&mut self, plan: &Plan) {
        let before = self.row().map(|row| row.node.clone());
        self.finished.exempt = self.finished.exempt.take().or_else(|| self.node().cloned());
        self.drawing.stale();
        self.graph = PlanGraph::new(plan);
        self.grown = order::DrawnTree::new(&self.graph, self.orientation);
        let rows = self.unfolded(plan);
        self.widest = rows.iter().map(|row| self.width_of(row, plan)).max().unwrap_or(0);
        if self.searches() {
            self.search.hits = self.found(plan);
            self.rows = rows;
        } else {
            (self.search.only, self.search.hits) = (None, Vec::new());
            self.rows = self.finished.fold(rows);
        }
        self.finished.exempt = None;
        if let Some(place) = before.and_then(|node| self.rows.iter().position(|row| row.node == node)) {
            self.place.selected = place;
        }
        self.select(self.place.selected);
    }

    fn unfolded(&self, plan: &Plan) -> Vec<TreeRow> {
        let mut rows: Vec<TreeRow> = Vec::with_capacity(self.grown.rows.len());
        // The depth below which everything is hidden, and the row that hides it. One that runs others inside it hides those alone.
        let mut hidden: Option<(usize, usize)> = None;
        for (at, line) in self.grown.rows.iter().enumerate() {
            if let Some((depth, folded)) = hidden {
                let beside =
                    line.depth == depth + 1 && !line.inside && matches!(rows[folded].kind, TreeRowKind::Folded(count) if count > 0);
                let only_inside = self.grown.rows.get(rows[folded].at + 1).is_some_and(|first| first.inside);
                if line.depth > depth && !(beside && only_inside) {
                    if let TreeRowKind::Folded(count) = &mut rows[folded].kind {
                        *count += 1;
                    }
                    continue;
                }
                hidden = None;
            }
            let Some(node) = plan.nodes.get(line.node) else { continue };
            if let Some(above) = rows.last_mut().filter(|above| above.kind == TreeRowKind::Leaf && above.depth < line.depth) {
                above.kind = TreeRowKind::Open;
            }
            let kind = if self.folded.contains(&node.id) {
                hidden = Some((line.depth, rows.len()));
                TreeRowKind::Folded(0)
            } else {
                TreeRowKind::Leaf
            };
            rows.push(TreeRow { node: node.id.clone(), index: line.node, depth: line.depth, at, kind, inside: line.inside });
        }
        for row in rows.iter_mut().filter(|row| row.kind == TreeRowKind::Folded(0)) {
            row.kind = TreeRowKind::Leaf;
        }
        rows
    }

    /// Whether something is searched for.
    pub fn searches(&self) -> bool {
        !self.filter.text().trim().is_empty()
    }

    /// The nodes that match, in the order of the tree.
    fn found(&self, plan: &Plan) -> Vec<usize> {
        let wanted = Wanted::read(&self.filter.text());
        let means = |node: &Node| {
            self.search.only.as_ref().map_or(wanted.states.is_empty(), |only| only.contains(&node.id)) && wanted.means(node, &plan.inputs)
        };
        let in_order = self.grown.rows.iter().map(|row| row.node);
        in_order.filter(|index| plan.nodes.get(*index).is_some_and(means)).collect()
    }

    /// Whether the search means a row.
    pub fn is_hit(&self, row: &TreeRow) -> bool {
        self.search.hits.contains(&row.index)
    }

    /// Which hit is selected, and how many there are.
    pub fn hit(&self) -> (Option<usize>, usize) {
        let at = self.row().and_then(|row| self.search.hits.iter().position(|hit| *hit == row.index));
        (at, self.search.hits.len())
    }

    /// Selects the hit that is nearest to what was typed: who types a whole id, or its beginning, means that one.
    pub fn to_nearest(&mut self, plan: &Plan) {
        let wanted = Wanted::read(&self.filter.text());
        let nodes = self.search.hits.iter().filter_map(|hit| plan.nodes.get(*hit));
        if let Some(nearest) = nodes.min_by_key(|node| wanted.distance(node)).map(|node| node.id.clone()) {
            self.reveal(plan, &nearest);
        }
    }

    /// Selects the next hit below, or above, on from the last to the first.
    pub fn to_hit(&mut self, plan: &Plan, is_below: bool) {
        let place = |index: usize| self.grown.row_of.get(index).copied().unwrap_or(0);
        let Some(here) = self.row().map(|row| place(row.index)) else { return };
        let hits = &self.search.hits;
        let to = match is_below {
            true => hits.iter().find(|hit| place(**hit) > here).or(hits.first()),
            false => hits.iter().rev().find(|hit| place(**hit) < here).or(hits.last()),
        };
        if let Some(node) = to.and_then(|hit| plan.nodes.get(*hit)).map(|node| node.id.clone()) {
            self.reveal(plan, &node);
        }
    }

    /// Says which nodes are finished, so that many of them take one row.
    pub fn finish(&mut self, plan: &Plan, nodes: BTreeSet<NodeId>) {
        if self.finished.are(nodes) {
            self.rebuild(plan);
        }
    }

    /// What a folded row hides, by the index into `Plan::nodes`.
    pub fn hidden<'a>(&'a self, row: &TreeRow) -> impl Iterator<Item = usize> + 'a {
        let count = if let TreeRowKind::Folded(count) = row.kind { count } else { 0 };
        self.grown.rows.iter().skip(row.at + 1).take(count).map(|row| row.node)
    }

    fn width_of(&self, row: &TreeRow, plan: &Plan) -> usize {
        let levels = self.grown.guides_up(row.at).take(LEVELS).count();
        let title = plan.nodes.get(row.index).map_or(0, |node| node.title_or_id().width());
        let mut others = self.others(row);
        let beside = others.next().map_or(0, |first| 4 + nest::name(first).len());
        levels * 2 + title + beside
    }

    /// Columns of the widest row, from the tree on.
    pub fn widest(&self) -> usize {
        self.widest
    }

    /// The plan as a graph; its positions are those of the plan's nodes.
    pub fn graph(&self) -> &PlanGraph {
        &self.graph
    }

    /// Rows of the whole drawing, folded or not, filtered or not.
    pub fn whole(&self) -> usize {
        self.grown.rows.len()
    }

    /// All rows.
    pub fn rows(&self) -> &[TreeRow] {
        &self.rows
    }

    /// The selected row.
    pub fn row(&self) -> Option<&TreeRow> {
        self.rows.get(self.place.selected)
    }

    /// Whether a line runs down past a row, for the deepest `levels` of its levels, and whether the last of them is its own branch.
    pub fn rails(&self, row: &TreeRow, levels: usize) -> (Vec<bool>, bool) {
        let mut rails: Vec<bool> = self.grown.guides_up(row.at).take(levels).collect();
        rails.reverse();
        (rails, self.grown.rows.get(row.at).is_some_and(|drawn| drawn.branch != order::RowBranch::Straight))
    }

    /// How many levels lead to a row.
    pub fn level(&self, row: &TreeRow) -> usize {
        self.grown.guides_up(row.at).count()
    }

    /// The nodes beside the row above that feed the row's node, or in a tree from the goal that it feeds.
    pub fn others<'a>(&'a self, row: &TreeRow) -> impl Iterator<Item = &'a NodeId> + 'a {
        self.grown.other_parents(&self.graph, row.index).map(|other| self.graph.id(other))
    }

    /// Which row is selected.
    pub fn selected(&self) -> usize {
        self.place.selected
    }

    /// The selected node; none where a row is drawn for many.
    pub fn node(&self) -> Option<&NodeId> {
        self.row().filter(|row| !matches!(row.kind, TreeRowKind::Finished(_))).map(|row| &row.node)
    }

    /// The first row in sight.
    pub fn top(&self) -> usize {
        self.place.top
    }

    /// Which way it grows.
    pub fn orientation(&self) -> Orientation {
        self.orientation
    }

    /// Selects a row, or the last one.
    pub fn select(&mut self, at: usize) {
        self.place.select(at, self.rows.len());
    }

    /// Moves the selection by so many rows.
    pub fn step(&mut self, by: isize) {
        self.select(self.place.selected.saturating_add_signed(by));
    }

    /// A search begins: one without a hit leads back here.
    pub fn begin_search(&mut self) {
        if !self.searches() {
            self.search.before = self.node().cloned();
        }
    }

    /// Searches no longer. The selection stays on its node; where nothing was found, it is where it was before the search.
    pub fn end_search(&mut self, plan: &Plan) {
        let before = self.search.before.take().filter(|_| self.search.hits.is_empty());
        self.filter.set("");
        self.rebuild(plan);
        if let Some(node) = before {
            self.reveal(plan, &node);
        }
    }

    /// Selects a node where it is itself, unfolding what hides it.
    pub fn reveal(&mut self, plan: &Plan, node: &NodeId) {
        if self.place_of(node).is_none() {
            self.unfold_above(plan, node);
            self.finished.exempt = Some(node.clone());
            self.rebuild(plan);
        }
        if let Some(place) = self.place_of(node) {
            self.place.selected = place;
        }
    }

    /// Unfolds what a node is below.
    fn unfold_above(&mut self, plan: &Plan, node: &NodeId) {
        let own = self.graph.position(node).and_then(|index| self.grown.row_of.get(index).copied());
        let Some(mut below) = own.and_then(|own| self.grown.rows.get(own)) else { return };
        for (at, line) in self.grown.rows.iter().enumerate().take(own.unwrap_or_default()).rev() {
            if line.depth >= below.depth {
                continue;
            }
            // One that runs others inside it hides those alone.
            let hides = below.inside || self.grown.rows.get(at + 1).is_none_or(|first| !first.inside);
            if let Some(above) = plan.nodes.get(line.node).filter(|_| hides) {
                self.folded.remove(&above.id);
            }
            below = line;
        }
    }

    /// Whether the row of a node, or the one that hides it, is above so many rows in sight, below them, or among them.
    pub fn side_of(&self, node: &NodeId, rows: usize) -> Ordering {
        let own = self.graph.position(node).and_then(|index| self.grown.row_of.get(index));
        let at = |row: usize| self.rows.get(row).map(|row| row.at);
        match own {
            Some(own) if at(self.place.top).is_some_and(|first| *own < first) => Ordering::Less,
            Some(own) if at(self.place.top + rows).is_some_and(|beyond| *own >= beyond) => Ordering::Greater,
            Some(_) | None => Ordering::Equal,
        }
    }

    fn place_of(&self, node: &NodeId) -> Option<usize> {
        self.rows.iter().position(|row| row.node == *node && !matches!(row.kind, TreeRowKind::Finished(_)))
    }

    /// The row that the selected one is under.
    pub fn above(&self) -> Option<usize> {
        let depth = self.row()?.depth;
        self.rows[..self.place.selected].iter().rposition(|row| row.depth < depth)
    }

    /// The node of the row that the selected one is under.
    fn parent(&self) -> Option<NodeId> {
        self.above().and_then(|above| self.rows.get(above)).map(|row| row.node.clone())
    }

    /// Folds or unfolds the selected node.
    pub fn toggle_fold(&mut self, plan: &Plan) {
        let Some(row) = self.row() else { return };
        let node = row.node.clone();
        match row.kind {
            TreeRowKind::Open => {
                self.folded.insert(node);
            }
            TreeRowKind::Folded(_) => {
                self.folded.remove(&node);
            }
            TreeRowKind::Finished(_) => {
                let parent = self.parent();
                self.finished.open(parent, true);
            }
            TreeRowKind::Leaf => {
                let parent = self.parent();
                if !self.finished.is_open(&parent) {
                    return;
                }
                self.finished.open(parent, false);
            }
        }
        self.rebuild(plan);
    }

    /// Folds every node that has something below it, or unfolds all when any is folded.
    pub fn toggle_all(&mut self, plan: &Plan) {
        if self.folded.is_empty() {
            self.folded = self.rows.iter().filter(|row| row.kind == TreeRowKind::Open).map(|row| row.node.clone()).collect();
        } else {
            self.folded.clear();
        }
        self.rebuild(plan);
    }

    /// Turns the tree around.
    pub fn turn(&mut self, plan: &Plan) {
        self.orientation = match self.orientation {
            Orientation::Start => Orientation::Goal,
            Orientation::Goal => Orientation::Start,
        };
        self.rebuild(plan);
    }

    /// Follows a rename, so that folds and the selection stay.
    pub fn rename(&mut self, from: &NodeId, to: &NodeId) {
        if self.folded.remove(from) {
            self.folded.insert(to.clone());
        }
        for row in self.rows.iter_mut().filter(|row| row.node == *from) {
            row.node = to.clone();
        }
    }

    /// Scrolls so that the selected row is among `height` rows in sight.
    pub fn settle(&mut self, height: usize) {
        self.place.settle(self.rows.len(), height);
    }
}
