//! Lines of text: going through what was typed into them before.

use super::{super::UpdateTurn, inspector};
use crate::console::model::{Dialog, Focus, FormThen, Model, Screen, TextField, TreeView, TypedLine};

/// The text that was typed into this line before.
pub fn older(model: &mut Model, _: &mut UpdateTurn) {
    let Some(line) = model.line() else { return };
    let texts = model.request.typed.before(line).to_vec();
    with_field(model, |field| field.older(&texts));
}

/// The one that was typed after it, at last what was there; from a filter then back to what it filters.
pub fn newer(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(line) = model.line() else { return };
    let texts = model.request.typed.before(line).to_vec();
    let mut went = false;
    with_field(model, |field| went = field.newer(&texts));
    match line {
        TypedLine::Filter | TypedLine::LogFilter if !went => filter_done(model, turn),
        TypedLine::Filter | TypedLine::LogFilter | TypedLine::Request | TypedLine::Dialog(_) | TypedLine::SetUp(_) => {}
    }
}

/// Keeps what is typed in the line that has the focus.
pub fn keep(model: &mut Model) {
    let Some(line) = model.line() else { return };
    let mut text = String::new();
    with_field(model, |field| text = field.settled());
    model.request.typed.keep(line, &text);
}

/// Changes the text field with the focus, and what follows from its text.
pub fn with_field(model: &mut Model, change: impl FnOnce(&mut TextField)) {
    if let Some(dialog) = model.dialogs.last_mut() {
        if let Some(field) = dialog.field() {
            change(field);
        }
        match dialog {
            Dialog::Pick(pick) => pick.search(),
            // What was wrong with the text may be right now; it is read again when it is to be kept.
            Dialog::Editor(editor) => editor.note = None,
            // What a rule would cover is asked again as it is typed.
            Dialog::Form(form) if matches!(form.then, FormThen::Rule(..)) => {}
            Dialog::Form(form) => form.note = None,
            Dialog::Line(_) | Dialog::List { .. } | Dialog::Act(_) | Dialog::Confirm(_) | Dialog::Reader(_) | Dialog::Help(_) => {}
        }
        return;
    }
    match model.place.focus {
        Focus::Request => change(&mut model.request.field),
        Focus::Filter if model.place.screen == Screen::Log => {
            if let Some(view) = model.shown_run_mut() {
                change(&mut view.log.filter);
                view.filter_log();
            }
        }
        Focus::Filter => {
            model.with_tree(|tree, _| change(&mut tree.filter));
            match model.shown_run_mut() {
                Some(view) => view.filter_states(),
                None => model.with_tree(TreeView::rebuild),
            }
            if model.tree().searches() {
                model.with_tree(TreeView::to_nearest);
            }
        }
        Focus::Tree | Focus::Inspector => {}
    }
    inspector::follow(model);
}

/// Back to what is filtered, with the filter on.
pub fn filter_done(model: &mut Model, _: &mut UpdateTurn) {
    keep(model);
    model.place.focus = Focus::Tree;
}
