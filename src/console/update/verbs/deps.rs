//! Dependencies in place: the tree stays, rows are taken and given back, and the effect shows at once.

use super::{super::Turn, plan::report};
use crate::console::model::{Dialog, LineDialog, LineThen, Lines, Model, Pick, PickItem, PickThen, Screen, Status, TextField};
use crate::plan::{Edge, NodeId};
use crate::text::Plain;

/// Starts changing the selected node's dependencies.
pub fn begin(model: &mut Model, _: &mut Turn) {
    let Some(id) = model.selected_id().cloned() else { return };
    model.status = Some(Status::note(&format!("what `{id}` depends on: move, Space takes or gives back, Esc ends")));
    model.place.screen = Screen::Plan;
    model.editor.deps = Some(id);
}

/// Takes the selected row as a dependency, or gives it back.
pub fn toggle(model: &mut Model, _: &mut Turn) {
    let (Some(target), Some(source)) = (model.editor.deps.clone(), model.selected_id().cloned()) else { return };
    let had = model.editor.depends(&target, &source);
    let done = model.editor.toggle_dependency(&model.session.catalog, &target, &source);
    let said = if had { format!("`{target}` no longer depends on `{source}`") } else { format!("`{target}` depends on `{source}`") };
    report(model, done, &said);
}

/// Back to the tree, at the node whose dependencies were changed.
pub fn done(model: &mut Model, _: &mut Turn) {
    if let Some(target) = model.editor.deps.take() {
        model.editor.select(&target);
    }
}

/// Picks an incoming edge to put a condition on.
pub fn condition(model: &mut Model, _: &mut Turn) {
    let Some(id) = model.selected_id().cloned() else { return };
    let edges = model.editor.edges_into(&id);
    match edges.len() {
        0 => model.status = Some(Status::warn(&format!("`{id}` depends on nothing"))),
        1 => edit_condition(model, edges.into_iter().next()),
        _ => {
            let items = edges.iter().map(|edge| PickItem::new(&edge.from, &edge.from, edge.when.as_deref().unwrap_or("always")));
            let pick = Pick::new(&format!("condition on which edge into `{id}`?"), items.collect(), PickThen::Edge { node: id });
            model.dialogs.push(Dialog::Pick(pick));
        }
    }
}

/// The edge was picked.
pub fn edge_picked(model: &mut Model, to: &NodeId, from: &str) {
    let edge = model.editor.edges_into(to).into_iter().find(|edge| edge.from.as_str() == from);
    edit_condition(model, edge);
}

fn edit_condition(model: &mut Model, edge: Option<Edge>) {
    let Some(edge) = edge else { return };
    model.dialogs.push(Dialog::Line(LineDialog {
        title: Plain::line(&format!("`{}` to `{}` when", edge.from, edge.to)),
        field: TextField::new(Lines::One, edge.when.as_deref().unwrap_or_default()),
        note: Some(Plain::line("an expression over results, such as score > 0.8; empty means always")),
        then: LineThen::Condition { edge: Box::new(edge) },
    }));
}
