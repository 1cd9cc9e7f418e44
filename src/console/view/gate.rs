//! The card of a gate, in the inbox and beside the tree: what is asked, of whom, what would happen, and the keys that reply, with what is
//! missing where they can't yet. What was drawn of it is reported.

use ratatui::layout::Rect;

use super::pen::{Pen, Shown};
use super::{called, doc};
use crate::console::commands;
use crate::console::model::{GateKey, GateShown, Model, RunView, docs, scrolled, texts};
use crate::console::theme::Role;
use crate::engine::{Gate, Time};
use crate::text::{Glyph, Plain, began, counted};

/// Rows of a card below which it is low: who asks is on the row of what is asked, and the keys have one row.
const LOW: u16 = 18;
/// Gates of one node that are listed.
const LISTED: usize = 4;

pub fn draw(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect, key: &GateKey, shown: &mut Shown) {
    let Some((head, inside)) = doc::pane(pen, area, Role::Gate) else { return };
    let Some(view) = model.runs.get(&key.run) else { return };
    let (Some((gate, _)), Some(text)) = (view.newest().run.gate(key.gate), model.inbox.doc(key)) else { return };
    let low = area.height < LOW;
    let mark = Plain::line(pen.theme.glyph(Glyph::Gate)).then(&Plain::blank(1));
    let end = pen.pieces(head, &[(mark, Role::Gate), (docs::asks(gate), Role::Title)]);
    let about = about(view, gate, now);
    let mut used = 0;
    if low {
        let rest = Rect { x: end, width: head.right().saturating_sub(end), ..head };
        if about.width() + 2 <= usize::from(rest.width) {
            pen.pieces_right(rest, &[(about, Role::Dim)]);
        }
    } else {
        pen.text(inside.x, inside.y, inside.width, &about, Role::Dim);
        used = 2;
    }
    used += listed(model, view, key, pen, Rect { y: inside.y + used, height: inside.height.saturating_sub(used), ..inside });
    let keys = if low { 1 } else { 3 };
    let body = Rect { y: inside.y + used, height: inside.height.saturating_sub(used + keys), ..inside };
    let seen = doc::draw(pen, body, &text.doc, model.inbox.gate_scroll(key).min(text.doc.len().saturating_sub(1)));
    shown.gates.push(GateShown { key: key.clone(), revision: text.revision, from: seen.from, to: seen.to, total: text.doc.len() });
    let row = Rect { y: (body.y + seen.rows + keys / 2).min(inside.bottom().saturating_sub(1)), height: 1, ..inside };
    let (mut state, is_active) = state(model, now, key, pen);
    let words: usize = called::replies(model)
        .into_iter()
        .filter_map(|id| reply(model, id, true))
        .map(|[key, words]| key.0.width() + words.0.width() + GAP)
        .sum();
    // The keys come before how much was not seen, in few words where there is little room.
    if low && is_active && words + state.0.width() > usize::from(row.width) {
        let unseen = model.inbox.doc(key).map_or(0, |doc| model.safety.unseen(key, doc.revision));
        let rest = if unseen > 0 { format!(" {unseen} unseen ({})", model.hint("move.detail_down")) } else { String::new() };
        let asked = if model.inbox.asked.is_some() { " again?" } else { &rest };
        state.0 = Plain::line(&format!("{}{asked}", pen.theme.glyph(Glyph::Active)));
    }
    // Whether the keys reply is always said; the keys themselves are in the bottom row too.
    let free = if low {
        pen.pieces_right(row, &[state])
    } else {
        pen.pieces(Rect { y: row.y + 1, ..row }, &[state]);
        row.right()
    };
    replies(model, is_active, pen, Rect { width: free.saturating_sub(row.x + 1), ..row });
    pen.end_bar(inside);
}

/// The node's id, who does its work, and when it asked.
fn about(view: &RunView, gate: &Gate, now: Time) -> Plain {
    let worker = view.plan().nodes.iter().find(|node| node.id == gate.node).map(texts::worker);
    let asked = Plain::line("asked ").then(&began(gate.opened.0, now.0));
    let parts = [Some(Plain::summary(&gate.node)), worker, Some(asked)];
    parts.into_iter().flatten().reduce(|line, part| line.then(&Plain::line(" · ")).then(&part)).unwrap_or_default()
}

/// Lists the gates of a node that has several, with the one that the keys reply to marked. Gives the rows used.
fn listed(model: &Model, view: &RunView, key: &GateKey, pen: &mut Pen<'_>, area: Rect) -> u16 {
    let asker = view.newest().run.gate(key.gate).map(|(gate, _)| &gate.node);
    let gates: Vec<&Gate> = view.newest().run.open_gates().filter(|gate| Some(&gate.node) == asker).collect();
    if gates.len() < 2 {
        return 0;
    }
    let at = gates.iter().position(|gate| gate.id == key.gate).unwrap_or(0);
    let rows = u16::try_from(gates.len().min(LISTED)).unwrap_or(0).min(area.height);
    let top = scrolled(0, at, gates.len(), usize::from(rows));
    let marked = model.selected_gate().map(|_| at);
    pen.list(Rect { height: rows, ..area }, (top, gates.len()), marked, true, |pen, at, line| {
        let place = Plain::line(&format!("{} of {}  ", at + 1, gates.len()));
        let row = Rect { x: line.x + 2, width: line.width.saturating_sub(2), ..line };
        pen.pieces(row, &[(place, Role::Dim), (docs::asks(gates[at]), Role::Text)]);
    });
    rows + 1
}

/// The keys that reply, as far as they fit.
fn replies(model: &Model, is_active: bool, pen: &mut Pen<'_>, row: Rect) {
    let mut x = row.x;
    for id in called::replies(model) {
        let Some(pieces) = reply(model, id, is_active) else { continue };
        let width: usize = pieces.iter().map(|(text, _)| text.width()).sum();
        if usize::from(x) + width > usize::from(row.right()) {
            break;
        }
        x = pen.pieces(Rect { x, width: row.right() - x, ..row }, &pieces) + if usize::from(row.width) < WIDE { 2 } else { 3 };
    }
}

/// Columns behind a key, and from how many columns of a row on it has one more.
const GAP: usize = 2;
const WIDE: usize = 60;

/// The key of a reply and what it is called.
fn reply(model: &Model, id: &str, is_active: bool) -> Option<[(Plain, Role); 2]> {
    let (key, command) = (model.look.keymap.hint(id)?, commands::find(id)?);
    let words = Plain::blank(1).then(&Plain::line(&called::name(model, id).unwrap_or_else(|| command.in_hints())));
    Some([(Plain::line(&key), if is_active { Role::Key } else { Role::Dim }), (words, Role::Hint)])
}

/// Whether the keys reply now, or what is missing.
fn state(model: &Model, now: Time, key: &GateKey, pen: &Pen<'_>) -> ((Plain, Role), bool) {
    let says = |words: &str, role| ((Plain::line(words), role), false);
    if let Some(replay) = model.runs.get(&key.run).and_then(RunView::replay) {
        let now = model.hint("gate.now");
        return says(&format!("replay at event {}, keys inactive: {now} leaves the replay", replay.at()), Role::Badge);
    }
    if model.selected_gate().is_none() {
        return says(&format!("opened just now: {} lets its keys reply", model.hint("tree.attention")), Role::Waiting);
    }
    if !model.dialogs.is_empty() {
        return says("close this to use the keys of the gate", Role::Dim);
    }
    if model.types() {
        return says("end the typing to use the keys of the gate", Role::Dim);
    }
    if !model.gate_is_faced() || !model.safety.quiet(now) {
        return says("keys not active yet: wait half a second", Role::Dim);
    }
    let unseen = model.inbox.doc(key).map_or(0, |doc| model.safety.unseen(key, doc.revision));
    let words = match (model.inbox.asked.is_some(), unseen) {
        (true, _) => "press again to confirm, any other key to cancel".to_owned(),
        (false, 0) => "keys active".to_owned(),
        (false, _) => format!("keys active, {} not seen ({})", counted(unseen, "line"), model.hint("move.detail_down")),
    };
    ((Plain::line(&format!("{} {words}", pen.theme.glyph(Glyph::Active))), Role::Key), true)
}
