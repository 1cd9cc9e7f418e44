//! The first screen: what to do, with examples.

use ratatui::layout::Rect;

use super::doc;
use super::pen::Pen;
use crate::console::model::{Doc, EXAMPLES, Focus, Model, texts};
use crate::console::theme::Role;
use crate::engine::Time;
use crate::host::client::RunSummary;
use crate::text::{Glyph, Plain, ago};

/// Columns of how long ago, and of a row's own key.
const AGO: usize = 9;
const KEY: usize = 5;
/// Most columns of a goal, as a part of the row: the rest says what it waits for, or what came out.
const GOAL: (u16, u16) = (1, 2);

/// Lists the runs that wait for somebody, and those that ended last or since the last look. Gives the rows that it takes.
fn runs(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect) -> u16 {
    let latest = &model.runs.latest;
    if latest.count() == 0 {
        return 0;
    }
    let is_free = model.place.focus == Focus::Tree && model.dialogs.is_empty();
    // Where nothing is typed, enter opens the marked one.
    let is_marked = is_free || model.request.field.is_empty();
    let ended = if latest.is_news { "since you last looked" } else { "ended last" };
    let (mut y, mut nth) = (area.y, 0);
    for (title, (places, all)) in [("under way, or needs you", &latest.open), (ended, &latest.ended)] {
        if places.is_empty() {
            continue;
        }
        let more = if *all > places.len() { format!("{title}, {} of {all}", places.len()) } else { title.to_owned() };
        pen.words(area.x, y, area.width, &more, Role::Dim);
        y += 1;
        for run in places.iter().filter_map(|at| model.runs.listing.get(*at)) {
            if y < area.bottom() {
                let row = Rect { x: area.x.saturating_sub(2), y, width: area.width + 2, height: 1 };
                entry(model, (nth, run), now, pen, Rect { x: area.x, width: area.width, ..row });
                if is_marked && nth == latest.selected {
                    pen.select(row, is_free);
                }
            }
            (y, nth) = (y + 1, nth + 1);
        }
        y += 1;
    }
    y - area.y
}

/// A run on one line: what it is for, what it waits for or what came out, how long ago, and its key.
fn entry(model: &Model, (nth, run): (usize, &RunSummary), now: Time, pen: &mut Pen<'_>, row: Rect) {
    let role = texts::status_role(run.status);
    let peek = model.runs.peeked.of(&run.run);
    let is_halted = peek.is_some_and(|peek| peek.note.starts_with("halted"));
    let (glyph, role) = match (run.waiting.is_empty(), is_halted) {
        (false, _) => (Glyph::Gate, Role::Gate),
        (true, true) => (Glyph::AtBreakpoint, Role::Held),
        (true, false) => (run.status.glyph(), role),
    };
    let note = peek.map(|peek| peek.note.as_str()).filter(|note| !note.is_empty()).unwrap_or_else(|| run.status.word());
    let key = model.hint(&format!("start.row_{}", nth + 1));
    let end = Plain::line(ago(now.since(run.finished().unwrap_or(run.last))).as_str().trim_end_matches(" ago")).pad_start(AGO);
    let end = pen.pieces_right(row, &[(end, Role::Dim), (Plain::line(&key).pad_start(KEY), Role::Key)]);
    let most = usize::from(row.width * GOAL.0 / GOAL.1);
    let goal = Plain::summary(&run.goal).truncate(most.saturating_sub(4)).pad(most.saturating_sub(2));
    let mark = Plain::line(pen.theme.glyph(glyph)).then(&Plain::blank(1));
    let note = Plain::summary(note);
    pen.pieces(Rect { width: end.saturating_sub(row.x + 1), ..row }, &[(mark, role), (goal, Role::Text), (note, Role::Dim)]);
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
        // Somebody with runs has been here.
        let examples = if listed > 0 { 1 } else { EXAMPLES.len() };
        if listed == 0 {
            doc.line(Role::Text, Plain::line("dagdeck makes a plan, which you can read, change and run. Nothing runs until you start it."));
            doc.line(Role::Text, Plain::default());
        }
        doc.line(Role::Dim, Plain::line("For example"));
        let bullet = Plain::line(pen.theme.glyph(Glyph::Bullet)).then(&Plain::blank(2));
        for (example, needs_model) in EXAMPLES.into_iter().take(examples) {
            let mark = if needs_model && model.session.lacks_model() { "  (needs a model)" } else { "" };
            doc.line(Role::Text, bullet.clone().then(&Plain::line(example)).then(&Plain::line(mark)));
        }
        if model.session.lacks_model() && listed == 0 {
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
