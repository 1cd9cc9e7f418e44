//! Dependencies in place: the tree stays, rows are added and removed, and the effect shows at once.

use super::super::UpdateTurn;
use super::change::{change, report};
use crate::console::model::{
    Dialog, EditThen, HistoryStep, LineThen, Model, PickItem, PickThen, PlanScreen, Screen, Status, TextField, texts,
};
use crate::plan::native::{edge_from_value, edge_to_value};
use crate::plan::{Edge, nest};

/// Starts changing the selected node's dependencies.
pub fn begin(model: &mut Model, _: &mut UpdateTurn) {
    let Some(id) = model.selected_id().cloned() else { return };
    let (toggle, done) = (model.hint("deps.toggle"), model.hint("deps.done"));
    model.status = Some(Status::note(&format!("choose what `{id}` depends on: {toggle} adds or removes the selected node, {done} ends")));
    model.place.screen = Screen::Plan;
    model.editor.deps = Some(id);
}

/// Adds the selected row as a dependency, or removes it.
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
        PlanScreen::Plan => super::plan::step(model, HistoryStep::Undo),
        PlanScreen::Run(_) => super::act::undo(model, turn),
    }
}

/// Back to the tree, at the node whose dependencies were changed.
pub fn done(model: &mut Model, _: &mut UpdateTurn) {
    if let Some(target) = model.editor.deps.take() {
        model.reveal(&target);
    }
}

/// Asks for which incoming edge to do this; one edge is taken at once.
pub fn pick_edge(model: &mut Model, turn: &mut UpdateTurn, title: &str, then: fn(Box<Edge>) -> PickThen) {
    let Some(id) = model.selected_id().cloned() else { return };
    let edges = model.addressed().edges_into(&id);
    match edges.len() {
        0 => model.status = Some(Status::warn(&format!("`{id}` depends on nothing"))),
        1 => edges.into_iter().for_each(|edge| super::dialogs::follow(model, turn, then(Box::new(edge)))),
        _ => {
            let item = |edge: Edge| {
                let (from, when) = (edge.from.to_string(), edge.when.clone());
                PickItem::new(then(Box::new(edge)), &from, when.as_deref().unwrap_or("always"))
            };
            model.dialogs.push(Dialog::pick(&format!("{title} into `{id}`?"), edges.into_iter().map(item).collect()));
        }
    }
}

/// Asks for the condition of an edge.
pub fn edit_condition(model: &mut Model, edge: Box<Edge>) {
    let decides = model.addressed().node(&edge.from).is_some_and(|node| node.kind.is_decision());
    let note = match decides {
        true => "the answer that takes this edge; empty: the id of its target",
        false => "an expression over results, such as score > 0.8; empty: always",
    };
    let field = TextField::line(edge.when.as_deref().unwrap_or_default());
    model.dialogs.push(Dialog::line(&format!("`{}` to `{}` when", edge.from, edge.to), field, note, LineThen::Condition(edge)));
}

/// Opens all of an edge as JSON.
pub fn edit_edge(model: &mut Model, edge: Box<Edge>) {
    let text = texts::pretty(&edge_to_value(&nest::edge_within(nest::prefix(&edge.to), &edge)));
    model.dialogs.push(Dialog::editor(&format!("edge from `{}` to `{}`", edge.from, edge.to), &text, EditThen::Edge(edge)));
}

/// The edge was edited.
///
/// # Errors
/// What is wrong with the text, in words.
pub fn keep_edge(model: &mut Model, turn: &mut UpdateTurn, edge: &Edge, text: &str) -> Result<(), String> {
    let changed = edge_from_value(texts::parse(text)?, "edge").map_err(|error| error.to_string())?;
    change(model, turn, |plan| Ok(plan.replace_edge(edge, changed))).map(drop)
}
