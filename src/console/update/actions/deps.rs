//! Dependencies in place: the tree stays, rows are taken and given back, and the effect shows at once.

use super::{
    super::UpdateTurn,
    change::{change, report},
};
use crate::console::model::{
    Dialog, EditThen, EditorDialog, LineDialog, LineThen, Lines, Model, Pick, PickItem, PickThen, PlanScreen, Screen, Status, TextField,
    words,
};
use crate::plan::{
    Edge, NodeId,
    native::{edge_from_value, edge_to_value},
    nest,
};
use crate::text::Plain;

/// Starts changing the selected node's dependencies.
pub fn begin(model: &mut Model, _: &mut UpdateTurn) {
    let Some(id) = model.selected_id().cloned() else { return };
    let key = |id: &str| model.hint(id);
    let (toggle, done) = (key("deps.toggle"), key("deps.done"));
    model.status = Some(Status::note(&format!("what `{id}` depends on: {toggle} adds or removes a row, {done} ends")));
    model.place.screen = Screen::Plan;
    model.editor.deps = Some(id);
}

/// Takes the selected row as a dependency, or gives it back.
pub fn toggle(model: &mut Model, turn: &mut UpdateTurn) {
    let (Some(target), Some(source)) = (model.editor.deps.clone(), model.selected_id().cloned()) else { return };
    let had = model.addressed().depends(&target, &source);
    let done = change(model, turn, |plan| plan.toggle_dependency(&target, &source).map(Some));
    let said = if had { format!("`{target}` no longer depends on `{source}`") } else { format!("`{target}` depends on `{source}`") };
    report(model, done, &said);
}

/// Undoes the last change: of the plan, or of the run that is changed.
pub fn undo(model: &mut Model, turn: &mut UpdateTurn) {
    match model.place.shown {
        PlanScreen::Plan => super::plan::undo(model, turn),
        PlanScreen::Run(_) => super::act::undo(model, turn),
    }
}

/// Back to the tree, at the node whose dependencies were changed.
pub fn done(model: &mut Model, _: &mut UpdateTurn) {
    if let Some(target) = model.editor.deps.take() {
        model.with_tree(|tree, plan| {
            tree.reveal(plan, &target);
        });
    }
}

/// Picks an incoming edge to put a condition on.
pub fn condition(model: &mut Model, _: &mut UpdateTurn) {
    pick_edge(model, "condition on which edge", |node| PickThen::Edge { node }, edit_condition);
}

/// Picks an incoming edge to edit whole.
pub fn whole_edge(model: &mut Model, _: &mut UpdateTurn) {
    pick_edge(model, "edit which edge", |node| PickThen::WholeEdge { node }, edit_edge);
}

/// One edge is taken at once; of several, one is picked.
fn pick_edge(model: &mut Model, title: &str, then: fn(NodeId) -> PickThen, take: fn(&mut Model, Edge)) {
    let Some(id) = model.selected_id().cloned() else { return };
    let mut edges = model.addressed().edges_into(&id);
    match edges.len() {
        0 => model.status = Some(Status::warn(&format!("`{id}` depends on nothing"))),
        1 => edges.pop().into_iter().for_each(|edge| take(model, edge)),
        _ => {
            let items = edges.iter().map(|edge| PickItem::new(&edge.from, &edge.from, edge.when.as_deref().unwrap_or("always")));
            model.dialogs.push(Dialog::Pick(Pick::new(&format!("{title} into `{id}`?"), items.collect(), then(id))));
        }
    }
}

/// The edge whose condition is edited was picked.
pub fn edge_picked(model: &mut Model, to: &NodeId, from: &str) {
    if let Some(edge) = edge_between(model, to, from) {
        edit_condition(model, edge);
    }
}

/// The edge that is edited whole was picked.
pub fn whole_edge_picked(model: &mut Model, to: &NodeId, from: &str) {
    if let Some(edge) = edge_between(model, to, from) {
        edit_edge(model, edge);
    }
}

fn edge_between(model: &Model, to: &NodeId, from: &str) -> Option<Edge> {
    model.addressed().edges_into(to).into_iter().find(|edge| edge.from.as_str() == from)
}

fn edit_condition(model: &mut Model, edge: Edge) {
    let decides = model.addressed().node(&edge.from).is_some_and(|node| node.kind.is_decision());
    let note = match decides {
        true => "the answer that takes this edge; empty: the id of its target",
        false => "an expression over results, such as score > 0.8; empty: always",
    };
    model.dialogs.push(Dialog::Line(LineDialog {
        title: Plain::line(&format!("`{}` to `{}` when", edge.from, edge.to)),
        field: TextField::new(Lines::One, edge.when.as_deref().unwrap_or_default()),
        note: Some(Plain::line(note)),
        then: LineThen::Condition { edge: Box::new(edge) },
    }));
}

fn edit_edge(model: &mut Model, edge: Edge) {
    let text = words::pretty(&edge_to_value(&nest::edge_within(nest::prefix(&edge.to), &edge)));
    let title = Plain::line(&format!("edge from `{}` to `{}`", edge.from, edge.to));
    let note = Some(Plain::line("`when`, `context` (keys that pass), `default` (of a decision), `label`"));
    let editor = EditorDialog::new(title, &text, EditThen::Edge { edge: Box::new(edge) });
    model.dialogs.push(Dialog::Editor(EditorDialog { note, ..editor }));
}

/// The edge was edited.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn keep_edge(model: &mut Model, turn: &mut UpdateTurn, edge: &Edge, text: &str) -> Result<(), String> {
    let changed = edge_from_value(words::parse(text)?, "edge").map_err(|error| error.to_string())?;
    change(model, turn, |plan| Ok(plan.replace_edge(edge, changed))).map(|_| ())
}
