//! The card of the selected node: what it does, who does it, and its tabs.

use ratatui::layout::Rect;

use super::doc::InSight;
use super::pen::{Pen, Shown};
use super::row::state_mark;
use super::{doc, gate};
use crate::console::model::{Focus, Model, Scroll, Tab, TreeRowKind, docs, texts};
use crate::console::theme::Role;
use crate::engine::Time;
use crate::plan::Node;
use crate::text::{Plain, duration};

/// Draws the card: title, who, tabs, and what the open tab holds.
pub fn draw(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect, shown: &mut Shown) {
    if let Some(key) = model.card_gate() {
        return gate::draw(model, now, pen, area, &key, shown);
    }
    let focused = model.place.focus == Focus::Inspector && model.dialogs.is_empty();
    let run = model.shown_run();
    let state = model.selected_id().zip(run).and_then(|(id, view)| state_mark(view, id));
    let bar = state.map_or(Role::Accent, |(_, role)| role);
    let Some((head, below)) = doc::pane(pen, area, bar) else { return };
    if let Some(TreeRowKind::Finished(count)) = model.tree().row().map(|row| row.kind) {
        pen.pieces(head, &[(Plain::line(&format!("{count} done")), Role::Title)]);
        let words = format!("{} shows each of them", model.hint("tree.open"));
        pen.text(below.x, below.y, below.width, &Plain::line(&words), Role::Dim);
        return pen.end_bar(below);
    }
    let Some(node) = model.selected_node() else { return };
    let named = || (model.title_of(node).unwrap_or_else(|| node.title_or_id()), Role::Title);
    let halted = || docs::halt_title(model).map_or_else(named, |words| (words, Role::Title));
    let (title, role) = docs::failure_title(model).map_or_else(halted, |words| (words, Role::Error));
    let mark = state.map(|(glyph, role)| (Plain::line(pen.theme.glyph(glyph)).then(&Plain::blank(1)), role));
    // A low card says who on the row of the title, so that the thing itself has room.
    let low = below.height < LOW;
    let (rest, below) = doc::headed(pen, (head, below), mark, (&title, role), if low { 2 } else { TITLE_ROWS });
    let about = about(model, node, now);
    let row = |at: u16| Rect { y: below.y + at, height: 1, ..below };
    if low {
        if about.width() + 2 <= usize::from(rest.width) {
            pen.pieces_right(rest, &[(about, Role::Dim)]);
        }
    } else {
        pen.text(below.x, below.y, below.width, &about, Role::Dim);
    }
    let tabs = u16::from(!low);
    let used = tabs + if low { 1 } else { 2 };
    let inside = Rect { y: below.y + used, height: below.height.saturating_sub(used), ..below };
    let said = docs::inspector(model);
    let live = model.tab() == Tab::Output && model.selected_works();
    let seen = match model.inspector.scroll {
        Scroll::Line(at) => doc::draw(pen, inside, &said, at.min(said.len().saturating_sub(1))),
        Scroll::Start if !live => doc::draw(pen, inside, &said, 0),
        Scroll::Start | Scroll::End => doc::draw_end(pen, inside, &said),
    };
    draw_tabs(model, pen, row(tabs), focused, seen);
    pen.end_bar(inside);
}

/// Rows of a card below which it is low, and of its title at most.
const LOW: u16 = 9;
const TITLE_ROWS: u16 = 5;

/// The node's id, who does its work, and whether it asks a person; of one at work, since when it is as it is.
pub fn about(model: &Model, node: &Node, now: Time) -> Plain {
    let state = model.shown_run().and_then(|view| Some(view.seen().run.node(&node.id)?.state.label(view.seen_status())));
    let asks = if state.is_none() && texts::gated(node, &model.session.catalog) { Some("asks you") } else { None };
    let parts = [Some(Plain::summary(&node.id)), Some(texts::worker(node)), state.or(asks).map(Plain::line)];
    let since = model.shown_run().filter(|view| view.works()).and_then(|view| {
        view.seen().run.node(&node.id).filter(|node| node.state.is_at_work())?;
        let last = view.seen().timeline.stretches(&node.id).pop()?;
        (last.to.is_none() && now.since(last.from) >= 1000).then(|| duration(now.since(last.from) / 1000 * 1000))
    });
    let since = since.map(|since| Plain::line(", ").then(&since)).unwrap_or_default();
    parts.into_iter().flatten().reduce(|line, part| line.then(&Plain::line(" · ")).then(&part)).unwrap_or_default().then(&since)
}

fn draw_tabs(model: &Model, pen: &mut Pen<'_>, row: Rect, focused: bool, seen: InSight) {
    let mut words: Vec<(Plain, Role)> = Vec::new();
    for tab in model.tabs() {
        let role = match (*tab == model.tab(), focused) {
            (true, true) => Role::TabFocused,
            (true, false) => Role::Tab,
            (false, _) => Role::Dim,
        };
        words.push((Plain::line(tab.title()), role));
        words.push((Plain::blank(2), Role::Text));
    }
    words.push(seen.label());
    pen.pieces(row, &words);
}
