//! The inspector: tabs, scrolling, zoom, copying.

use super::super::{ConsoleEffect, UpdateTurn};
use crate::console::model::{Dialog, Model, ReaderDialog, Reading, Scroll, Status, Tab, docs};

/// The next tab.
pub fn next_tab(model: &mut Model, _: &mut UpdateTurn) {
    tab(model, 1);
}

/// The previous tab.
pub fn previous_tab(model: &mut Model, _: &mut UpdateTurn) {
    tab(model, -1);
}

fn tab(model: &mut Model, by: isize) {
    let tab = model.tab().step(model.tabs(), by);
    if model.shown_run().is_some() {
        model.inspector.run_tab = tab;
    } else {
        model.inspector.plan_tab = tab;
    }
    model.inspector.scroll = Scroll::Start;
}

/// Scrolls by so many lines.
pub fn scroll(model: &mut Model, by: isize) {
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

/// To the first line.
pub fn top(model: &mut Model) {
    model.inspector.scroll = Scroll::Line(0);
}

/// To the end, and on with it.
pub fn bottom(model: &mut Model) {
    model.inspector.scroll = Scroll::End;
}

/// Back to where a tab begins, after the selection changed.
pub fn follow(model: &mut Model) {
    if !matches!(model.inspector.scroll, Scroll::Start) && model.selected_id().is_none() {
        model.inspector.scroll = Scroll::Start;
    }
}

/// The pane alone, without borders.
pub fn zoom(model: &mut Model, _: &mut UpdateTurn) {
    let scroll = match model.inspector.scroll {
        Scroll::Line(at) => at,
        Scroll::Start | Scroll::End => 0,
    };
    model.dialogs.push(Dialog::Reader(ReaderDialog { what: Reading::Inspector, scroll }));
}

/// Copies what the inspector shows.
pub fn copy(model: &mut Model, turn: &mut UpdateTurn) {
    let text = docs::inspector(model).copied();
    copy_text(model, turn, text);
}

/// Copies text and says how much.
pub fn copy_text(model: &mut Model, turn: &mut UpdateTurn, text: String) {
    let lines = text.lines().count();
    let size = crate::text::bytes(u64::try_from(text.len()).unwrap_or(u64::MAX));
    model.status = Some(if text.is_empty() {
        Status::warn("nothing to copy")
    } else {
        Status::good(&format!("copied {lines} {}, {size}", if lines == 1 { "line" } else { "lines" }, size = size.as_str()))
    });
    if !text.is_empty() {
        turn.effects.push(ConsoleEffect::Copy(text));
    }
}
