//! The inbox: the list of open gates, and all there is to know of the selected one. What was drawn of it is reported.

use ratatui::layout::Rect;

use super::{
    doc,
    pen::{Pen, Shown},
};
use crate::console::{
    model::{GateKey, GateShown, Model, Replay, RunView, ScreenLayout, docs},
    theme::Role,
};
use crate::engine::{Decided, Time};
use crate::text::{Glyph, Plain, clock};

/// Draws the inbox.
pub fn draw(model: &Model, now: Time, pen: &mut Pen<'_>, layout: &ScreenLayout, shown: &mut Shown) {
    list(model, pen, layout.list);
    detail(model, now, pen, layout.detail, shown);
}

fn list(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    if area.height == 0 {
        return;
    }
    let count = model.inbox.gates.len();
    let words = match count {
        0 => "no open gates".to_owned(),
        1 => "1 open gate".to_owned(),
        many => format!("{many} open gates, oldest first"),
    };
    pen.title(area, &[(Plain::line(&words), Role::Title)], true);
    let rows = model.inbox.gates.iter().skip(model.inbox.top);
    for (y, key) in (area.top() + 1..area.bottom()).zip(rows) {
        let line = Rect { y, height: 1, ..area };
        entry(model, key, pen, line);
        if model.inbox.selected.as_ref() == Some(key) {
            pen.select(line, true);
        }
    }
}

fn entry(model: &Model, key: &GateKey, pen: &mut Pen<'_>, line: Rect) {
    let Some(view) = model.runs.get(&key.run) else { return };
    let Some((gate, _)) = view.newest().run.gate(key.gate) else { return };
    let written = if model.inbox.drafts.contains_key(key) { pen.theme.glyph(Glyph::Modified) } else { " " };
    let pieces = [
        (Plain::line(pen.theme.glyph(Glyph::Gate)), Role::Gate),
        (Plain::line(written), Role::Warning),
        (clock(gate.opened.0), Role::Dim),
        (Plain::line("  ").then(&docs::gate_title(gate)), Role::Text),
        (Plain::line("  ").then(&view.goal()), Role::Dim),
    ];
    pen.pieces(Rect { x: line.x + 2, width: line.width.saturating_sub(3), ..line }, &pieces);
}

fn detail(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect, shown: &mut Shown) {
    if area.height < 2 || area.width < 4 {
        return;
    }
    let area = if area.x > 0 { pen.divide(area) } else { area };
    let inside = Rect { x: area.x + 1, y: area.y + 1, width: area.width.saturating_sub(2), height: area.height - 1 };
    let Some((key, _)) = model.selected_gate() else {
        pen.title(area, &[], false);
        return closed(model, pen, inside);
    };
    let Some(text) = model.inbox.doc(key) else { return };
    let start = model.inbox.scroll.min(text.doc.len().saturating_sub(1));
    let seen = doc::draw(pen, inside, &text.doc, start);
    shown.gates.push(GateShown { key: key.clone(), revision: text.revision, from: seen.from, to: seen.to, total: text.doc.len() });
    let replayed = model.runs.get(&key.run).and_then(RunView::replay).map(Replay::at);
    let armed = model.gate_is_faced() && model.safety.quiet(now);
    let mark = match (armed, &model.inbox.asked) {
        _ if replayed.is_some() => {
            let key = model.hint("gate.now");
            let at = replayed.unwrap_or_default();
            (Plain::line(&format!("replay at event {at}, keys inactive: press {key} to return to now")), Role::Badge)
        }
        (true, Some(_)) => {
            (Plain::line(&format!("{} press again to confirm, any other key to cancel", pen.theme.glyph(Glyph::Armed))), Role::Armed)
        }
        (true, None) => (Plain::line(&format!("{} keys active", pen.theme.glyph(Glyph::Armed))), Role::Armed),
        (false, _) => (Plain::line("keys not active yet"), Role::Dim),
    };
    let mut title = vec![mark];
    if seen.from > 0 || seen.to < text.doc.len() {
        title.push((Plain::line(&format!("  lines {}-{} of {}", seen.from + 1, seen.to, text.doc.len())), Role::Dim));
    }
    pen.title(area, &title, false);
}

/// What became of the selected gate, or how to select one.
fn closed(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let key = model.inbox.selected.as_ref();
    let gate = key.and_then(|key| model.runs.get(&key.run)?.newest().run.gate(key.gate));
    let words = match gate {
        Some((gate, Some(decided))) => docs::gate_title(gate).then(&Plain::line(": ")).then(&outcome(decided)),
        Some((gate, None)) => docs::gate_title(gate).then(&Plain::line(": closed, no reply is needed any more")),
        None if model.inbox.gates.is_empty() => {
            Plain::line(&format!("Gates of all runs appear here. Press {} to go back.", model.hint("app.back")))
        }
        None => Plain::line(&format!("Press {} or {} to select a gate.", model.hint("move.down"), model.hint("move.up"))),
    };
    for (y, line) in (area.top()..area.bottom()).zip(words.wrap(usize::from(area.width))) {
        pen.text(area.x, y, area.width, &line, Role::Dim);
    }
}

fn outcome(decided: &Decided) -> Plain {
    let what = decided.decision.label();
    Plain::line(&format!("{what} by ")).then(&Plain::summary(&decided.by.who)).then(&Plain::line(" at ")).then(&clock(decided.at.0))
}
