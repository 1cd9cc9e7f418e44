//! `FinishedRows`: which rows of a run fold by themselves. Long runs of siblings that succeeded become one row; what is selected, what failed
//! and what waits never do.

use std::collections::BTreeSet;

use super::{TreeRow, TreeRowKind};
use crate::plan::NodeId;

/// The least rows that fold.
const MANY: usize = 10;

/// What is known of finished rows.
#[derive(Clone, Debug, Default)]
pub struct FinishedRows {
    /// The nodes that are done, and of which nothing is left to say.
    nodes: BTreeSet<NodeId>,
    /// Rows whose children a person unfolded; nothing for the first level.
    opened: BTreeSet<Option<NodeId>>,
    /// The row that a person is on, or is led to.
    pub exempt: Option<NodeId>,
}

impl FinishedRows {
    /// Says which nodes are done now. Gives whether that changes the rows.
    pub fn are(&mut self, nodes: BTreeSet<NodeId>) -> bool {
        let changes = nodes != self.nodes && nodes.len().max(self.nodes.len()) >= MANY;
        if changes {
            self.nodes = nodes;
        }
        changes
    }

    /// The rows with long runs of finished siblings as one each.
    pub fn fold(&self, rows: Vec<TreeRow>) -> Vec<TreeRow> {
        if self.nodes.len() < MANY {
            return rows;
        }
        let mut folded: Vec<TreeRow> = Vec::with_capacity(rows.len());
        let mut alike: Vec<TreeRow> = Vec::new();
        let mut above: Vec<(usize, NodeId)> = Vec::new();
        for row in rows {
            let goes_on = alike.last().is_some_and(|last| last.depth == row.depth && last.inside == row.inside);
            if !goes_on {
                settle(&mut folded, &mut alike);
            }
            while above.last().is_some_and(|(depth, _)| *depth >= row.depth) {
                above.pop();
            }
            let parent = above.last().map(|(_, node)| node.clone());
            above.push((row.depth, row.node.clone()));
            let is_quiet = row.kind == TreeRowKind::Leaf && self.nodes.contains(&row.node) && self.exempt.as_ref() != Some(&row.node);
            if is_quiet && !self.opened.contains(&parent) {
                alike.push(row);
            } else {
                settle(&mut folded, &mut alike);
                folded.push(row);
            }
        }
        settle(&mut folded, &mut alike);
        folded
    }

    /// Unfolds the rows below one, or those of the first level, or folds them again.
    pub fn open(&mut self, parent: Option<NodeId>, is_open: bool) {
        if is_open {
            self.opened.insert(parent);
        } else {
            self.opened.remove(&parent);
        }
    }

    /// Whether a person unfolded the rows below one.
    pub fn is_open(&self, parent: &Option<NodeId>) -> bool {
        self.opened.contains(parent)
    }
}

/// Takes rows that are alike over: as one where they are many. It is drawn where the last of them is.
fn settle(folded: &mut Vec<TreeRow>, alike: &mut Vec<TreeRow>) {
    match (alike.len(), alike.last().cloned()) {
        (count @ MANY.., Some(mut last)) => {
            last.kind = TreeRowKind::Finished(count);
            folded.push(last);
            alike.clear();
        }
        (_, _) => folded.append(alike),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::model::TreeView;
    use crate::plan::Plan;
    use serde_json::json;

    #[test]
    fn long_runs_of_finished_siblings_are_one_row_and_what_failed_or_is_selected_stays() {
        let nodes: Vec<_> = (0..40).map(|at| json!({"id": format!("p{at}"), "value": at})).collect();
        let plan: Plan = serde_json::from_value(json!({"goal": "many", "nodes": nodes})).unwrap();
        let mut tree = TreeView::default();
        tree.rebuild(&plan);
        tree.select(0);
        let done = |all: &[usize]| all.iter().map(|at| NodeId::from(format!("p{at}").as_str())).collect::<BTreeSet<_>>();
        let kinds = |tree: &TreeView| tree.rows().iter().map(|row| (row.node.to_string(), row.kind)).collect::<Vec<_>>();
        let all_but_20: Vec<usize> = (0..40).filter(|at| *at != 20).collect();
        tree.finish(&plan, done(&all_but_20));
        let due =
            [("p0", TreeRowKind::Leaf), ("p19", TreeRowKind::Finished(19)), ("p20", TreeRowKind::Leaf), ("p39", TreeRowKind::Finished(19))];
        assert_eq!(kinds(&tree), due.map(|(id, kind)| (id.to_owned(), kind)));
        tree.select(1);
        assert_eq!(tree.node(), None, "a row for many is none of them");
        tree.reveal(&plan, &NodeId::from("p30"));
        assert_eq!(tree.node().map(|id| id.as_str()), Some("p30"));
        tree.select(0);
        tree.finish(&plan, done(&all_but_20[..38]));
        tree.select(0);
        tree.toggle_fold(&plan);
        assert_eq!(tree.rows().len(), 40, "{:?}", kinds(&tree));
    }
}
