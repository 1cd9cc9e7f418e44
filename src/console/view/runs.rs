//! The list of runs, newest first, and the selected one beside it.

use ratatui::layout::Rect;

use super::doc;
use super::pen::{Pen, below, text_of};
use crate::console::model::{Model, PlanScreen, RunView, ScreenLayout, preview, texts};
use crate::console::theme::Role;
use crate::engine::{RunStatus, Time};
use crate::host::client::RunSummary;
use crate::text::{Glyph, Plain, ago, began, duration};

pub fn draw(model: &Model, now: Time, pen: &mut Pen<'_>, layout: &ScreenLayout) {
    let (runs, area) = (&model.runs, layout.list);
    pen.title(area, &[(Plain::line(&format!("runs  {}", runs.listing.len())), Role::Title)]);
    if runs.listing.is_empty() {
        return pen.no_rows(below(area), "No runs yet. Make a plan and run it.");
    }
    let is_alone = layout.detail.is_empty();
    pen.list(below(area), (runs.place.top, runs.listing.len()), Some(runs.place.selected), true, |pen, at, line| {
        entry(model, now, (at, &runs.listing[at]), is_alone, pen, line);
    });
    selected(model, now, pen, layout.detail);
}

/// How a run is: one that goes on here as it is now, else as it was listed.
fn status(model: &Model, run: &RunSummary) -> RunStatus {
    model.runs.get(&run.run).filter(|view| view.driver.is_here()).map_or(run.status, RunView::status)
}

/// Columns of a state, of an age, and of a number of gates.
const STATE: usize = 14;
const AGE: usize = 13;
const GATES: usize = 5;
/// Columns of how long a run took, where a row has so many.
const TOOK: usize = 9;
const ROOM: u16 = 96;
/// Levels of branches that are drawn.
const DEEPEST: usize = 6;

/// The goal has all the room that the figures leave. Its name and when it began are on the card.
fn entry(model: &Model, now: Time, (at, run): (usize, &RunSummary), is_alone: bool, pen: &mut Pen<'_>, line: Rect) {
    let status = status(model, run);
    let role = texts::status_role(status);
    let text = text_of(line);
    let open = model.runs.get(&run.run);
    let gates = open.map_or(run.waiting.len(), |view| view.newest().run.open_gates().count());
    let gates = if gates > 0 { Plain::line(&format!("{} {gates}", pen.theme.glyph(Glyph::Gate))) } else { Plain::default() };
    // How long a run took that is over says something beside others.
    let took = run.finished().filter(|_| text.width >= ROOM).map(|_| elapsed(model, run, now)).unwrap_or_default();
    let figures = [
        // A theme may give what waits a ground of its own: only the gates have it.
        (Plain::blank(GATES.saturating_sub(gates.width())), Role::Dim),
        (gates, Role::Waiting),
        (took.pad_start(if text.width >= ROOM { TOOK } else { 0 }), Role::Dim),
        (ago(now.since(run.created)).pad_start(AGE), Role::Dim),
    ];
    let end = pen.pieces_right(text, &figures);
    let shown = if model.place.shown == PlanScreen::Run(run.run.clone()) { "shown: " } else { "" };
    let rails = model.runs.rails(at);
    let rail = pen.rails(&rails[rails.len().saturating_sub(DEEPEST)..], Some((Glyph::TreeBranch, Glyph::TreeLast)));
    let origin =
        run.parent.as_ref().map(|parent| if parent.seq == 0 { "follow-up: ".to_owned() } else { format!("from event {}: ", parent.seq) });
    let origin = origin.unwrap_or_default();
    let imported = if run.imported.is_some() { "imported: " } else { "" };
    // Beside the list the selected one's state is in words.
    let word = if is_alone { Plain::line(status.word()).pad(STATE) } else { Plain::default() };
    let pieces = [
        (Plain::line(pen.theme.glyph(status.glyph())).then(&Plain::blank(1)), role),
        (word, role),
        (rail, Role::Border),
        (Plain::line(&format!("{shown}{origin}{imported}")), Role::Dim),
        (Plain::summary(&run.goal), Role::Text),
    ];
    pen.pieces(Rect { width: end.saturating_sub(text.x + 1), ..text }, &pieces);
}

/// How long a run takes or took.
fn elapsed(model: &Model, run: &RunSummary, now: Time) -> Plain {
    let closed = || status(model, run).elapsed_ms(run.created, (run.last, run.over_ms), now);
    duration(model.runs.get(&run.run).map_or_else(closed, |view| view.elapsed_ms(now)))
}

/// The card of the selected run: its state, when it began and how long it took, and what was read of it.
fn selected(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect) {
    let Some(run) = model.runs.selected() else { return };
    let status = status(model, run);
    let role = texts::status_role(status);
    let Some((head, inside)) = doc::pane(pen, area, role) else { return };
    let mark = Plain::line(pen.theme.glyph(status.glyph())).then(&Plain::line(&format!(" {}", status.word())));
    let text = preview(run, model.runs.peeked.of(&run.run));
    let seen = doc::draw(pen, inside, &text, model.runs.place.scroll.min(text.len().saturating_sub(1)));
    let about = Plain::line(texts::run_name(&run.run)).then(&Plain::line(" · began ")).then(&began(run.created.0, now.0, &model.look.zone));
    let about = about.then(&Plain::line(" · ")).then(&elapsed(model, run, now));
    let end = pen.pieces(head, &[(mark, role), seen.label()]);
    pen.pieces_right(Rect { x: end + 1, width: head.right().saturating_sub(end + 1), ..head }, &[(about, Role::Dim)]);
    pen.end_bar(inside);
}
