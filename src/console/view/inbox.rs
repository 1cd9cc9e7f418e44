//! The inbox: the list of open gates, and all there is to know of the selected one. What was drawn of it is reported.

use ratatui::layout::Rect;

use super::pen::{Pen, Shown, below, text_of};
use super::{doc, gate, sentence};
use crate::console::commands::guards::IMPORTED;
use crate::console::model::{GateKey, Model, ScreenLayout, docs};
use crate::console::theme::Role;
use crate::engine::{Decided, Time};
use crate::host::client::Driver;
use crate::text::{Glyph, Plain, ago};

pub fn draw(model: &Model, now: Time, pen: &mut Pen<'_>, layout: &ScreenLayout, shown: &mut Shown) {
    list(model, now, pen, layout.list);
    detail(model, now, pen, layout.detail, shown);
}

fn list(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect) {
    let gates = &model.inbox.gates;
    let words = match gates.len() {
        0 => "no open gate".to_owned(),
        1 => "1 open gate".to_owned(),
        many => format!("{many} open gates, oldest first"),
    };
    let words = others(model).map(|others| format!("{words}; {others}")).unwrap_or(words);
    pen.title(area, &[(Plain::line(&words), Role::Title)]);
    pen.list(below(area), (model.inbox.top, gates.len()), model.inbox.place(), true, |pen, at, line| {
        entry(model, now, &gates[at], pen, line)
    });
}

/// Columns of how long ago a gate opened.
const AGE: usize = 11;

fn entry(model: &Model, now: Time, key: &GateKey, pen: &mut Pen<'_>, line: Rect) {
    let Some(view) = model.runs.get(&key.run) else { return };
    let Some((gate, _)) = view.newest().run.gate(key.gate) else { return };
    let written = if model.inbox.drafts.contains_key(key) { pen.theme.glyph(Glyph::Modified) } else { " " };
    // Runs may be of one plan: only their numbers tell them apart.
    let run = model.runs.number(&key.run).filter(|_| model.runs.open.len() > 1).map(|at| format!("  run {at}")).unwrap_or_default();
    let pieces = [
        (Plain::line(pen.theme.glyph(Glyph::Gate)), Role::Gate),
        (Plain::line(written), Role::Warning),
        (Plain::line(" ").then(&docs::gate_title(view, gate)), Role::Text),
        (Plain::line(&run), Role::Dim),
        (Plain::line("  ").then(&view.goal()), Role::Dim),
    ];
    let row = text_of(line);
    let age = ago(now.since(gate.opened)).pad_start(AGE);
    let end = pen.pieces_right(row, &[(age, Role::Dim)]);
    pen.pieces(Rect { width: end.saturating_sub(row.x), ..row }, &pieces);
}

fn detail(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect, shown: &mut Shown) {
    if let Some(key) = model.card_gate() {
        return gate::draw(model, now, pen, area, &key, shown);
    }
    let Some((head, inside)) = doc::pane(pen, area, Role::Border) else { return };
    closed(model, now, pen, Rect { height: 1 + inside.height, ..head });
    pen.end_bar(inside);
}

/// What became of the selected gate, or how to select one.
fn closed(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect) {
    let view = model.inbox.selected.as_ref().and_then(|key| model.runs.get(&key.run));
    let gate = view.and_then(|view| view.newest().run.gate(model.inbox.selected.as_ref()?.gate));
    let title = |gate| view.map(|view| docs::gate_title(view, gate)).unwrap_or_default();
    let words = match gate {
        Some((gate, Some(decided))) => {
            let next = format!(". {} goes to the next gate", model.hint("move.down"));
            let next = if model.inbox.gates.is_empty() { String::new() } else { next };
            title(gate).then(&Plain::blank(2)).then(&outcome(decided, now)).then(&Plain::line(&next))
        }
        Some((gate, None)) => title(gate).then(&Plain::line(&open_elsewhere(model))),
        None if model.inbox.gates.is_empty() => {
            let back = model.hint("app.back");
            Plain::line(&format!("What the runs of this console ask you comes here. {back} goes back."))
        }
        None => Plain::line(&format!("Press {} or {} to select a gate.", model.hint("move.down"), model.hint("move.up"))),
    };
    pen.lines(area, &sentence::rows(&words, Role::Dim, usize::from(area.width)));
}

/// Why an open gate of the selected run can't be replied to here, or that it is no longer open.
fn open_elsewhere(model: &Model) -> String {
    let Some((key, run)) = model.inbox.selected.as_ref().and_then(|key| Some((key, model.runs.get(&key.run)?))) else {
        return String::new();
    };
    if !run.newest().run.open_gates().any(|gate| gate.id == key.gate) {
        return "  closed, no reply is needed any more".to_owned();
    }
    match &run.driver {
        Driver::Elsewhere(who) => format!("  open, but the run is under way in {who}: reply there"),
        Driver::Here | Driver::Nobody if model.runs.is_imported(&run.id) => format!("  open, but {IMPORTED}"),
        Driver::Here | Driver::Nobody => {
            format!("  open, but no dagdeck process is running the run: press {} to resume it, then reply", model.hint("gate.go_on"))
        }
    }
}

/// How many listed runs wait that this console doesn't drive, and where they are.
fn others(model: &Model) -> Option<String> {
    let key = model.hint("app.runs");
    match model.runs.latest.wait_elsewhere {
        0 => None,
        1 => Some(format!("1 run elsewhere has an open gate: {key} lists it")),
        many => Some(format!("{many} runs elsewhere have open gates: {key} lists them")),
    }
}

fn outcome(decided: &Decided, now: Time) -> Plain {
    let what = decided.decision.label();
    let when = ago(now.since(decided.at));
    Plain::line(&format!("{what} by ")).then(&Plain::summary(&decided.by.who)).then(&Plain::blank(1)).then(&when)
}
