//! Comparing the plan with how it came, or with a plan in a file, and making one difference at a time. Undo takes back what was made.

use super::{super::UpdateTurn, act::Said, change::report};
use crate::console::model::{Dialog, Focus, LineDialog, LineThen, Lines, Model, PlanScreen, Screen, Status, TextField};
use crate::host::client::Request;
use crate::plan::Plan;
use crate::text::Plain;

/// Compares with how the plan came; from there back to the tree.
pub fn toggle(model: &mut Model, _: &mut UpdateTurn) {
    if model.place.screen == Screen::Compare {
        model.place.screen = Screen::Plan;
        return;
    }
    model.editor.compare_with_version();
    show(model);
}

fn show(model: &mut Model) {
    model.place.shown = PlanScreen::Plan;
    model.place.screen = Screen::Compare;
    model.place.focus = Focus::Tree;
    model.editor.deps = None;
}

/// Asks for the file of a plan to compare with.
pub fn ask_file(model: &mut Model, _: &mut UpdateTurn) {
    model.dialogs.push(Dialog::Line(LineDialog {
        title: Plain::line("compare with the plan in which file?"),
        field: TextField::new(Lines::One, ""),
        note: Some(Plain::line("a path in the workspace; any format that dagdeck reads")),
        then: LineThen::CompareFile,
    }));
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
    model.editor.compare_with(name, plan);
    model.status = None;
    show(model);
}

/// Takes the selected difference back, so that the plan is there as it came.
pub fn take_back(model: &mut Model, _: &mut UpdateTurn) {
    make(model, "set back");
}

/// Takes the selected difference over from the other plan.
pub fn accept(model: &mut Model, _: &mut UpdateTurn) {
    make(model, "taken over");
}

fn make(model: &mut Model, done: &str) {
    let compare = &model.editor.compare;
    let Some(difference) = compare.differences().get(compare.selected) else { return };
    let what = format!("{} {} {}", difference.sort, difference.subject, difference.field);
    let undo = model.hint("compare.undo");
    let made = model.editor.make_piece(&model.session.catalog);
    report(model, made.map(|()| Said::Now), &format!("{done}: {}; press {undo} to undo", what.trim_end()));
}

/// Takes the last change back.
pub fn undo(model: &mut Model, turn: &mut UpdateTurn) {
    super::plan::undo(model, turn);
    model.editor.compare_again();
}

/// Makes it again.
pub fn redo(model: &mut Model, turn: &mut UpdateTurn) {
    super::plan::redo(model, turn);
    model.editor.compare_again();
}

/// To the node of the selected difference.
pub fn to_node(model: &mut Model, _: &mut UpdateTurn) {
    let node = model.editor.compare.piece().and_then(crate::plan::diff::Difference::node);
    match node.filter(|node| model.editor.node(node).is_some()) {
        Some(node) => {
            model.editor.select(&node);
            model.place.screen = Screen::Plan;
            model.place.focus = Focus::Tree;
        }
        None => model.status = Some(Status::note("the plan has no such node")),
    }
}
