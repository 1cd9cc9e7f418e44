//! The inspector: tabs, scrolling, zoom, copying.

use super::super::{ConsoleEffect, UpdateTurn};
use super::gates;
use crate::console::model::{Dialog, Model, MoveBy, Reading, Scroll, Status, Tab, around, docs};
use crate::text::{bytes, counted};

/// To the tab so many further.
pub fn tab(model: &mut Model, by: isize) {
    let tab = around(model.tabs(), model.tab(), by);
    if model.shown_run().is_some() {
        model.inspector.run_tab = tab;
    } else {
        model.inspector.plan_tab = tab;
    }
    model.inspector.scroll = Scroll::Start;
}

/// Scrolls by so many lines.
pub fn scroll(model: &mut Model, by: isize) {
    if model.card_gate().is_some() {
        return gates::scroll(model, MoveBy::Rows(by));
    }
    let rows = model.layout().detail_rows().max(1);
    let len = docs::inspector(model).len();
    let last = len.saturating_sub(1);
    let at = match model.inspector.scroll {
        Scroll::Line(at) => at,
        Scroll::Start if model.tab() != Tab::Output || model.shown_run().is_none() => 0,
        Scroll::Start | Scroll::End => len.saturating_sub(rows),
    };
    let to = at.saturating_add_signed(by).min(last);
    model.inspector.scroll = if by > 0 && to + rows > len { Scroll::End } else { Scroll::Line(to) };
}

/// Moves through the lines; at the end it follows what comes.
pub fn go(model: &mut Model, by: MoveBy) {
    match by {
        MoveBy::Top | MoveBy::Bottom if model.card_gate().is_some() => gates::scroll(model, by),
        MoveBy::Rows(by) => scroll(model, by),
        MoveBy::Top => model.inspector.scroll = Scroll::Line(0),
        MoveBy::Bottom => model.inspector.scroll = Scroll::End,
    }
}

/// Back to where a tab begins, after the selection changed.
pub fn follow(model: &mut Model) {
    if !matches!(model.inspector.scroll, Scroll::Start) && model.selected_id().is_none() {
        model.inspector.scroll = Scroll::Start;
    }
}

/// The pane alone, without borders.
pub fn zoom(model: &mut Model, turn: &mut UpdateTurn) {
    if model.selected_gate().is_some() {
        return gates::zoom(model, turn);
    }
    let scroll = match model.inspector.scroll {
        Scroll::Line(at) => at,
        Scroll::Start | Scroll::End => 0,
    };
    model.dialogs.push(Dialog::reader(Reading::Inspector, scroll));
}

/// Shows a result as it is written, or drawn again.
pub fn source(model: &mut Model, _: &mut UpdateTurn) {
    model.inspector.source = !model.inspector.source;
    let now = if model.inspector.source { "as it is written" } else { "drawn" };
    model.status = Some(Status::note(&format!("results are shown {now}")));
}

/// Copies what the inspector shows; of the output of a node, its result alone.
pub fn copy(model: &mut Model, turn: &mut UpdateTurn) {
    let result = model.selected_text().filter(|_| model.tab() == Tab::Output && model.card_gate().is_none());
    let text = result.unwrap_or_else(|| docs::inspector(model).copied());
    copy_text(model, turn, text);
}

/// Hands text to the terminal's clipboard. Whether it takes it, it doesn't say.
pub fn copy_text(model: &mut Model, turn: &mut UpdateTurn, text: String) {
    if text.is_empty() {
        return model.status = Some(Status::warn("nothing to copy"));
    }
    let lines = counted(text.lines().count(), "line");
    // Whether the terminal takes it is not known.
    let way = model.selected_result().map(|_| format!("; {} saves to a file", model.hint("run.save_result"))).unwrap_or_default();
    model.status = Some(Status::good(&format!("{lines} ({}) sent to the terminal's clipboard{way}", bytes(text.len() as u64))));
    turn.effects.push(ConsoleEffect::Copy(text));
}
