//! Lines of text: going through what was typed into them before.

use super::{
    super::{UpdateTurn, keys::with_field},
    log, tree,
};
use crate::console::model::{Model, TypedLine};

/// The text that was typed into this line before.
pub fn older(model: &mut Model, _: &mut UpdateTurn) {
    let Some(line) = model.line() else { return };
    let texts = model.request.typed.before(line).to_vec();
    with_field(model, |field| field.older(&texts));
}

/// The one that was typed after it, at last what stood there; from a filter then back to what it filters.
pub fn newer(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(line) = model.line() else { return };
    let texts = model.request.typed.before(line).to_vec();
    let mut went = false;
    with_field(model, |field| went = field.newer(&texts));
    match line {
        TypedLine::Filter if !went => tree::filter_done(model, turn),
        TypedLine::LogFilter if !went => log::filter_done(model, turn),
        TypedLine::Filter | TypedLine::LogFilter | TypedLine::Request | TypedLine::Dialog(_) => {}
    }
}

/// Keeps what is typed in the line that has the focus.
pub fn keep(model: &mut Model) {
    let Some(line) = model.line() else { return };
    let mut text = String::new();
    with_field(model, |field| text = field.settled());
    model.request.typed.keep(line, &text);
}
