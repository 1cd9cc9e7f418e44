//! The first screen: what to do, with examples.

use ratatui::layout::Rect;

use super::doc;
use super::pen::Pen;
use crate::console::model::{Doc, EXAMPLES, Focus, Model, texts};
use crate::console::theme::Role;
use crate::engine::Time;
use crate::host::client::RunSummary;
use crate::text::{Glyph, Plain, ago, counted};

/// Columns of how a run is, and of how long ago.
const STATE: usize = 24;
const AGO: usize = 11;

/// Lists the runs that wait for somebody, and those that ended last. Gives the rows that it takes.
fn runs(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect) -> u16 {
    let latest = &model.runs.latest;
    if latest.count() == 0 {
        return 0;
    }
    let is_free = model.place.focus == Focus::Tree && model.dialogs.is_empty();
    let (mut y, mut nth) = (area.y, 0);
    for (title, (places, all)) in [("Open runs", &latest.open), ("Recent runs", &latest.ended)] {
        if places.is_empty() {
            continue;
        }
        let more = if *all > places.len() { format!("{title}, the last {} of {all}", places.len()) } else { title.to_owned() };
        pen.words(area.x, y, area.width, &more, Role::Dim);
        y += 1;
        for run in places.iter().filter_map(|at| model.runs.listing.get(*at)) {
            let row = Rect { x: area.x.saturating_sub(2), y, width: area.width + 2, height: 1 };
            if y < area.bottom() {
                entry(run, now, pen, Rect { x: area.x, width: area.width, ..row });
                if is_free && nth == latest.selected {
                    pen.select(row, true);
                }
            }
            (y, nth) = (y + 1, nth + 1);
        }
    }
    let list = model.hint("app.runs");
    let words = match is_free {
        true => format!("{} opens it, {list} lists all runs, {} starts a request", model.hint("start.open"), model.hint("request.focus")),
        false => format!("{} goes to these, {} opens one", model.hint("request.tree"), model.hint("start.open")),
    };
    pen.words(area.x, y, area.width, &words, Role::Dim);
    y + 2 - area.y
}

/// A run on one line: what it is for, how it is, and since when.
fn entry(run: &RunSummary, now: Time, pen: &mut Pen<'_>, row: Rect) {
    let role = texts::status_role(run.status);
    let mark = Plain::line(pen.theme.glyph(run.status.glyph())).then(&Plain::blank(1));
    let waits = if run.waiting.is_empty() { String::new() } else { format!(", {}", counted(run.waiting.len(), "open gate")) };
    let state = Plain::line(&format!("  {}{waits}", run.status.word())).pad(STATE);
    let ended = ago(now.since(run.finished.unwrap_or(run.last))).pad_start(AGO);
    let end = pen.pieces_right(row, &[(state, role), (ended, Role::Dim)]);
    let goal = Plain::summary(&run.goal);
    pen.pieces(
        Rect { width: end.saturating_sub(row.x), ..row },
        &[(mark, role), (goal.truncate(usize::from(end.saturating_sub(row.x + 2))), Role::Text)],
    );
}

/// Says what to do when there is no plan.
pub fn draw(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect) {
    let above = u16::from(area.height > 12);
    let area =
        Rect { x: area.x + 2, y: area.y + above, width: area.width.saturating_sub(4).min(100), height: area.height.saturating_sub(above) };
    let listed = if model.request.planning.is_none() { runs(model, now, pen, area) } else { 0 };
    let area = Rect { y: area.y + listed, height: area.height.saturating_sub(listed), ..area };
    let mut doc = Doc::default();
    if let Some(planning) = &model.request.planning {
        doc.line(Role::Text, Plain::line("Making a plan. Its nodes appear here one by one."));
        doc.line(Role::Dim, planning.text.clone());
    } else {
        doc.line(Role::Heading, Plain::line(&format!("Type what you want done, then press {}.", model.hint("request.submit"))));
        doc.line(Role::Text, Plain::line("dagdeck makes a plan, which you can read, change and run. Nothing runs until you start it."));
        doc.line(Role::Text, Plain::default());
        doc.line(Role::Dim, Plain::line("For example"));
        let bullet = Plain::line(pen.theme.glyph(Glyph::Bullet)).then(&Plain::blank(2));
        for (example, needs_model) in EXAMPLES {
            let mark = if needs_model && model.session.lacks_model() { "  (needs a model)" } else { "" };
            doc.line(Role::Text, bullet.clone().then(&Plain::line(example)).then(&Plain::line(mark)));
        }
        if model.session.lacks_model() {
            let words = format!(
                "No model is set up: plans come from the built-in planner, and tools run for real. Where a plan needs a model, you \
                 can answer in its place or rehearse. Press esc, then {}, to set one up.",
                model.hint("app.model")
            );
            doc.line(Role::Text, Plain::default());
            doc.line(Role::Dim, Plain::line(&words));
        }
    }
    doc::draw(pen, area, &doc, 0);
}
