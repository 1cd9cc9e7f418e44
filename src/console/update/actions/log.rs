//! The log: moving to it, filtering, following, and from an event to the run as it was then.

use super::{super::UpdateTurn, inspector, replay, typing};
use crate::console::model::{Focus, Model, RunView, Screen, Status, docs};

/// To the log, or back to the tree.
pub fn screen(model: &mut Model, _: &mut UpdateTurn) {
    super::run::show_one(model);
    if model.place.screen == Screen::Log {
        model.place.screen = Screen::Plan;
    } else {
        model.place.screen = Screen::Log;
    }
    model.place.focus = Focus::Tree;
}

fn with(model: &mut Model, change: impl FnOnce(&mut RunView)) {
    if let Some(view) = model.shown_run_mut() {
        change(view);
    }
}

/// Shows the run as it was right after the selected event.
pub fn go(model: &mut Model, _: &mut UpdateTurn) {
    if let Some(event) = model.shown_run().and_then(|view| view.log.event()) {
        replay::to(model, event + 1);
        model.place.screen = Screen::Plan;
    }
}

/// To the filter line.
pub fn filter(model: &mut Model, _: &mut UpdateTurn) {
    model.place.focus = Focus::Filter;
}

/// Drops the words that are filtered by.
pub fn filter_clear(model: &mut Model, _: &mut UpdateTurn) {
    typing::keep(model);
    model.place.focus = Focus::Tree;
    with(model, |view| {
        view.log.filter.set("");
        view.filter_log();
    });
}

/// Only events of the selected event's node, or of all nodes again.
pub fn only_node(model: &mut Model, _: &mut UpdateTurn) {
    let Some(view) = model.shown_run_mut() else { return };
    let node = match view.log.only_node() {
        Some(_) => None,
        None => view.selected_event().and_then(|record| record.event.about(&view.newest().run)),
    };
    let none = node.is_none() && view.log.only_node().is_none();
    view.log_only(node);
    if none {
        model.status = Some(Status::note("the selected event is about no node"));
    }
}

/// Whether the newest event stays selected as events come.
pub fn follow(model: &mut Model, _: &mut UpdateTurn) {
    with(model, |view| {
        view.log.follow = !view.log.follow;
        if view.log.follow {
            view.log.select(usize::MAX);
        }
    });
}

/// Copies the selected event.
pub fn copy(model: &mut Model, turn: &mut UpdateTurn) {
    let text = model.shown_run().and_then(RunView::selected_event).map(docs::event_json).unwrap_or_default();
    inspector::copy_text(model, turn, text);
}
