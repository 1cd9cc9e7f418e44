//! The tree: folding, going in and out, searching, turning, finding what needs a person.

use super::{super::UpdateTurn, typing};
use crate::console::model::{Focus, Model, Screen, Standing, Status, TreeRow, TreeRowKind};

/// To the inspector.
pub fn open(model: &mut Model, _: &mut UpdateTurn) {
    if model.tree().row().is_some() {
        model.place.focus = Focus::Inspector;
    }
}

/// Unfolds, or goes to the first node below.
pub fn go_in(model: &mut Model, _: &mut UpdateTurn) {
    model.with_tree(|tree, plan| match tree.row().map(|row| row.kind) {
        Some(TreeRowKind::Folded(_)) => tree.toggle_fold(plan),
        Some(TreeRowKind::Open) => tree.step(1),
        Some(TreeRowKind::Leaf) | None => {}
    });
}

/// Folds, or goes to the node above.
pub fn go_out(model: &mut Model, _: &mut UpdateTurn) {
    model.with_tree(|tree, plan| match (tree.row().map(|row| row.kind), tree.above()) {
        (Some(TreeRowKind::Open), _) => tree.toggle_fold(plan),
        (Some(TreeRowKind::Leaf | TreeRowKind::Folded(_)), Some(above)) => tree.select(above),
        (_, None) | (None, _) => {}
    });
}

/// From the start down, or from the goal down.
pub fn orient(model: &mut Model, _: &mut UpdateTurn) {
    model.place.screen = Screen::Plan;
    model.with_tree(|tree, plan| tree.turn(plan));
}

/// To the filter line.
pub fn filter(model: &mut Model, _: &mut UpdateTurn) {
    model.place.screen = Screen::Plan;
    model.place.focus = Focus::Filter;
    model.with_tree(|tree, _| tree.begin_search());
}

/// Shows all nodes again.
pub fn filter_clear(model: &mut Model, _: &mut UpdateTurn) {
    typing::keep(model);
    model.place.focus = Focus::Tree;
    clear_filter(model);
}

/// Takes the filter off; the selection stays on its node.
pub fn clear_filter(model: &mut Model) {
    model.with_tree(|tree, plan| tree.end_search(plan));
}

/// The next node with a finding, a gate, a failure, or a stale result.
pub fn attention(model: &mut Model, _: &mut UpdateTurn) {
    let rows = model.tree().rows();
    let start = model.tree().selected() + 1;
    let mut order = (start..rows.len()).chain(0..start.min(rows.len()));
    let found = order.find(|at| needs_person(model, &rows[*at]));
    match found {
        Some(at) => model.with_tree(|tree, _| tree.select(at)),
        None => model.status = Some(Status::good("nothing here needs you")),
    }
}

/// A folded row counts for what is inside it too.
fn needs_person(model: &Model, row: &TreeRow) -> bool {
    let folded = matches!(row.kind, TreeRowKind::Folded(_));
    match model.shown_run() {
        None => {
            let editor = &model.editor;
            editor.review.of_node(&row.node).next().is_some() || folded && editor.review.inside(&row.node).next().is_some()
        }
        Some(run) => run.seen().run.node(&row.node).is_some_and(|node| match Standing::of(&node.state) {
            _ if node.stale.is_some() => true,
            Standing::Waiting | Standing::Failed => true,
            Standing::Working | Standing::Done => folded && node.inside.waiting + node.inside.bad > 0,
            Standing::Ahead | Standing::Dropped => false,
        }),
    }
}
