//! The request line: typing a request, sending it, going through earlier ones, stopping the planner.

use super::{super::UpdateTurn, typing};
use crate::console::model::{Focus, Model, PlanScreen, Screen, Status};
use crate::host::client::{PlanWish, Request};

/// To the request line.
pub fn focus(model: &mut Model, _: &mut UpdateTurn) {
    model.place.screen = Screen::Plan;
    model.place.focus = Focus::Request;
}

/// Sends the request to the planner. A plan that is still being made is stopped.
pub fn submit(model: &mut Model, turn: &mut UpdateTurn) {
    if let Some(planning) = &model.request.planning {
        turn.send(Request::CancelPlanning(planning.id));
    }
    let Some((id, text)) = model.request.submit(turn.now) else {
        return model.status = Some(Status::note("type what you want first"));
    };
    model.place.shown = PlanScreen::Plan;
    model.place.focus = Focus::Tree;
    model.editor.deps = None;
    turn.send(Request::Plan { id, wish: PlanWish::new(text) });
}

/// One up in the text, or back in the history from its first line.
pub fn older(model: &mut Model, turn: &mut UpdateTurn) {
    match (model.request.field.cursor().0, turn.key) {
        (0, _) | (_, None) => typing::older(model, turn),
        (_, Some(key)) => model.request.field.key(key),
    }
}

/// One down in the text, or forward in the history from its last line.
pub fn newer(model: &mut Model, turn: &mut UpdateTurn) {
    let last = model.request.field.cursor().0 + 1 >= model.request.field.height();
    match (last, turn.key) {
        (true, _) | (_, None) => typing::newer(model, turn),
        (false, Some(key)) => model.request.field.key(key),
    }
}

/// To the tree; what is typed stays.
pub fn leave(model: &mut Model, _: &mut UpdateTurn) {
    model.place.focus = Focus::Tree;
}

/// Stops the planner; nodes that came stay.
pub fn cancel(model: &mut Model, turn: &mut UpdateTurn) {
    if let Some(planning) = model.request.planning.take() {
        turn.send(Request::CancelPlanning(planning.id));
        model.status = Some(Status::note("planning stopped; the nodes so far are in the editor"));
        model.editor.settle();
        model.editor.refresh(&model.session.catalog);
    }
}
