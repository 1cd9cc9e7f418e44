//! The card of a gate, in the inbox and beside the tree: what is asked, of whom, what would happen, and the keys that reply, with what is
//! missing where they can't yet. What was drawn of it is reported.

use ratatui::layout::Rect;

use super::pen::{Pen, Shown};
use super::{called, doc, sentence};
use crate::console::commands;
use crate::console::model::{GateKey, GateShown, Model, RunView, docs, scrolled, texts};
use crate::console::theme::Role;
use crate::engine::{Gate, Time};
use crate::text::{Glyph, Plain, ago, counted};

/// Rows of a card below which it is low: who asks is on the row of what is asked, and the keys have one row.
const LOW: u16 = 18;
/// Rows around the text of a card that is not low.
const AROUND: usize = 8;
/// Rows of what is asked at most.
const QUESTION: u16 = 5;
/// Gates of one node that are listed.
const LISTED: usize = 4;

pub fn draw(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect, key: &GateKey, shown: &mut Shown) {
    let Some((head, inside)) = doc::pane(pen, area, Role::Gate) else { return };
    let Some(view) = model.runs.get(&key.run) else { return };
    let (Some((gate, _)), Some(text)) = (view.newest().run.gate(key.gate), model.inbox.doc(key)) else { return };
    // What is asked about has all the room before there is air around it.
    let width = usize::from(inside.width);
    let rows: usize = text.doc.from(0).take(usize::from(area.height)).map(|line| line.height(width)).sum();
    let low = area.height < LOW || rows + AROUND > usize::from(area.height);
    let mark = Plain::line(pen.theme.glyph(Glyph::Gate)).then(&Plain::blank(1));
    let (rest, inside) = doc::headed(pen, (head, inside), Some((mark, Role::Gate)), (&docs::asks(gate), Role::Title), QUESTION);
    let about = about(view, gate, now);
    let mut used = 0;
    if low {
        if about.width() + 2 <= usize::from(rest.width) {
            pen.pieces_right(rest, &[(about, Role::Dim)]);
        }
    } else {
        for row in about.wrap(width).iter().take(2) {
            pen.text(inside.x, inside.y + used, inside.width, row, Role::Dim);
            used += 1;
        }
        used += 1;
    }
    used += listed(model, view, key, pen, Rect { y: inside.y + used, height: inside.height.saturating_sub(used), ..inside });
    let (state, is_active) = state(model, now, key, pen);
    let state = if low && is_active { shortened(model, key, state, width, pen) } else { state };
    let keys = key_rows(model, is_active, width);
    let said = sentence::rows(&state.0, state.1, width);
    // In a low card whether the keys reply is said beside them, where there is room.
    let beside = low && keys.len() == 1 && width_of(&keys[0]) + GAP + state.0.width() <= width;
    let gap = u16::from(!low);
    let below = u16::try_from(keys.len() + if beside { 0 } else { said.len() }).unwrap_or(1);
    let body = Rect { y: inside.y + used, height: inside.height.saturating_sub(used + below + gap), ..inside };
    let seen = doc::draw(pen, body, &text.doc, model.inbox.gate_scroll(key).min(text.doc.len().saturating_sub(1)));
    shown.gates.push(GateShown { key: key.clone(), revision: text.revision, from: seen.from, to: seen.to, total: text.doc.len() });
    let y = (body.y + seen.rows + gap).min(inside.bottom().saturating_sub(below));
    let rows: Vec<_> = keys.into_iter().chain(said.into_iter().filter(|_| !beside)).collect();
    pen.lines(Rect { y, height: inside.bottom().saturating_sub(y), ..inside }, &rows);
    if beside {
        pen.pieces_right(Rect { y, height: 1, ..inside }, &[state]);
    }
    pen.end_bar(inside);
}

/// The node's id, who does its work, and when it asked.
fn about(view: &RunView, gate: &Gate, now: Time) -> Plain {
    let worker = view.plan().nodes.iter().find(|node| node.id == gate.node).map(texts::worker);
    // Nothing is drawn while all of it waits, so that a moment would soon be false.
    let since = Some(ago(now.since(gate.opened))).filter(|since| since.as_str() != "now");
    let asked = Plain::line("asked ").then(&since.unwrap_or_else(|| Plain::line("< 1 min ago")));
    let worker = worker.filter(|worker| *worker.as_str() != *gate.node);
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

/// In few words whether the keys reply, so that they and what is missing have one row.
fn shortened(model: &Model, key: &GateKey, (words, role): (Plain, Role), width: usize, pen: &Pen<'_>) -> (Plain, Role) {
    let keys = called::replies(model).into_iter().filter_map(|id| reply(model, id, true));
    if keys.map(|pieces| width_of(&pieces) + GAP).sum::<usize>() + words.width() <= width {
        return (words, role);
    }
    let unseen = model.inbox.doc(key).map_or(0, |doc| model.safety.unseen(key, doc.revision));
    let rest = if unseen > 0 { format!(" {unseen} unseen ({})", to_unseen(model, key)) } else { String::new() };
    let asked = if model.inbox.asked.is_some() { " again?" } else { &rest };
    (Plain::line(&format!("{}{asked}", pen.theme.glyph(Glyph::Active))), role)
}

/// The key that leads to lines of a gate that were never in sight: down while there are some below, else up.
fn to_unseen(model: &Model, key: &GateKey) -> String {
    let revision = model.inbox.doc(key).map_or(0, |doc| doc.revision);
    let is_below = model.safety.unseen_from(key, revision, model.inbox.gate_scroll(key));
    model.hint(if is_below { "move.detail_down" } else { "move.detail_up" })
}

fn width_of(pieces: &[(Plain, Role)]) -> usize {
    pieces.iter().map(|(text, _)| text.width()).sum()
}

/// The keys that reply, on as many rows as they take.
fn key_rows(model: &Model, is_active: bool, width: usize) -> Vec<Vec<(Plain, Role)>> {
    let mut rows: Vec<Vec<(Plain, Role)>> = vec![Vec::new()];
    for pieces in called::replies(model).into_iter().filter_map(|id| reply(model, id, is_active)) {
        if rows.last().is_some_and(|row| !row.is_empty() && width_of(row) + GAP + width_of(&pieces) > width) {
            rows.push(Vec::new());
        }
        if let Some(row) = rows.last_mut() {
            if !row.is_empty() {
                row.push((Plain::blank(GAP), Role::Text));
            }
            row.extend(pieces);
        }
    }
    rows
}

/// Columns behind a key.
const GAP: usize = 2;

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
        return says(&format!("press {} first: it opened just now", model.hint("tree.attention")), Role::Waiting);
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
        (false, _) => format!("keys active, {} not seen ({})", counted(unseen, "line"), to_unseen(model, key)),
    };
    ((Plain::line(&format!("{} {words}", pen.theme.glyph(Glyph::Active))), Role::Key), true)
}
