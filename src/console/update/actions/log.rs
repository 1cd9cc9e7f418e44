//! The log: moving to it, filtering, following, and from an event to the run as it was then.

use super::{super::UpdateTurn, inspector, replay, typing};
use crate::console::model::{Focus, Model, RunView, Screen, Status, docs};

/// Shows the run as it was right after the selected event.
pub fn go(model: &mut Model, _: &mut UpdateTurn) {
    if let Some(event) = model.shown_run().and_then(|view| view.log.event()) {
        replay::to(model, event + 1);
        model.go(Screen::Plan);
    }
}

/// Drops the words that are filtered by.
pub fn filter_clear(model: &mut Model, _: &mut UpdateTurn) {
    typing::keep(model);
    model.place.focus = Focus::Tree;
    if let Some(view) = model.shown_run_mut() {
        view.log.filter.set("");
        view.filter_log();
    }
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
    let Some(view) = model.shown_run_mut() else { return };
    view.log.follow = !view.log.follow;
    if view.log.follow {
        view.log.select(usize::MAX);
    }
}

/// Copies the selected event.
pub fn copy(model: &mut Model, turn: &mut UpdateTurn) {
    let text = model.shown_run().and_then(RunView::selected_event).map(docs::event_json).unwrap_or_default();
    inspector::copy_text(model, turn, text);
}
