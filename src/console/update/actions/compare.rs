//! Comparing the plan with how it came, or with a plan in a file, and making one difference at a time. Undo reverts what was made.

use super::{super::UpdateTurn, act::Proposed, change::report};
use crate::console::model::{Dialog, LineThen, Model, PlanScreen, Screen, Status, TextField};
use crate::host::client::Request;
use crate::plan::Plan;
use crate::text::Plain;

/// Compares with how the plan came; from there back to the tree.
pub fn toggle(model: &mut Model, _: &mut UpdateTurn) {
    if model.place.screen == Screen::Compare {
        return model.go(Screen::Plan);
    }
    with_version(model);
}

/// Shows what differs from how the plan came.
pub fn with_version(model: &mut Model) {
    model.editor.compare_with(None);
    show(model);
}

fn show(model: &mut Model) {
    model.place.shown = PlanScreen::Plan;
    model.go(Screen::Compare);
}

/// Asks for the file of a plan to compare with.
pub fn ask_file(model: &mut Model, _: &mut UpdateTurn) {
    let note = "a path in the workspace; any format that dagdeck reads";
    model.dialogs.push(Dialog::line("compare with the plan in which file?", TextField::line(""), note, LineThen::CompareFile));
}

/// The file's name was typed.
pub fn read_file(model: &mut Model, turn: &mut UpdateTurn, path: &str) {
    if !path.is_empty() {
        turn.send(Request::ReadPlan(path.to_owned()));
        model.status = Some(Status::note("reading the plan"));
    }
}

/// The plan to compare with came.
pub fn with(model: &mut Model, name: &str, plan: Plan) {
    if model.types() || model.request.planning.is_some() {
        return;
    }
    model.editor.compare_with(Some((Plain::summary(name), Box::new(plan))));
    model.status = None;
    show(model);
}

/// Makes the selected difference: back to how the plan came, or like the other plan. `done` says what was done.
pub fn make(model: &mut Model, done: &str) {
    let compare = &model.editor.compare;
    let Some(difference) = compare.selected() else { return };
    let what = format!("{} {} {}", difference.sort, difference.subject, difference.field);
    let undo = model.hint("compare.undo");
    let made = model.editor.make_piece(&model.session.catalog);
    report(model, made.map(|()| Proposed::Sent), &format!("{done}: {}; press {undo} to undo", what.trim_end()));
}

/// To the node of the selected difference.
pub fn to_node(model: &mut Model, _: &mut UpdateTurn) {
    let node = model.editor.compare.piece().and_then(crate::plan::diff::Difference::node);
    match node.filter(|node| model.editor.addressed().node(node).is_some()) {
        Some(node) => {
            model.editor.select(&node);
            model.go(Screen::Plan);
        }
        None => model.status = Some(Status::note("the plan has no such node")),
    }
}
