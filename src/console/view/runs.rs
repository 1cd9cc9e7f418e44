//! The list of runs, newest first.

use ratatui::layout::Rect;

use super::pen::{Pen, below, text_of};
use crate::console::model::{Model, PlanScreen, texts};
use crate::console::theme::Role;
use crate::engine::{Time, elapsed};
use crate::host::client::RunSummary;
use crate::text::{Glyph, Plain, counted, timestamp};

pub fn draw(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect) {
    let runs = &model.runs;
    pen.title(area, &[(Plain::line(&format!("runs  {}", runs.listing.len())), Role::Title)]);
    if runs.listing.is_empty() {
        return pen.no_rows(below(area), "No runs yet. Make a plan and run it.");
    }
    pen.list(below(area), (runs.place.top, runs.listing.len()), Some(runs.place.selected), true, |pen, at, line| {
        entry(model, now, (at, &runs.listing[at]), pen, line);
    });
}

/// `2026-11-21 11:38`.
const MINUTES: usize = 16;
/// Where the month begins in it: the year has room on a wide screen.
const MONTH: usize = 5;
/// Levels of branches that are drawn.
const DEEPEST: usize = 6;
/// From this width on, the number of nodes has room.
const WIDE: u16 = 100;

fn entry(model: &Model, now: Time, (at, run): (usize, &RunSummary), pen: &mut Pen<'_>, line: Rect) {
    let (glyph, word, role) = (run.status.glyph(), run.status.word(), texts::status_role(run.status));
    let took = elapsed(run.status.elapsed_ms(run.created, run.last, now));
    let open = if model.place.shown == PlanScreen::Run(run.run.clone()) { "  shown" } else { "" };
    let began = timestamp(run.created.0);
    // To the minute; the seconds matter to nobody who looks for a run.
    let from = if line.width < WIDE { MONTH } else { 0 };
    let began = began.as_str().get(from..MINUTES).map_or_else(|| began.clone(), |minutes| Plain::line(&format!("{minutes}Z")));
    let nodes = if line.width < WIDE { String::new() } else { format!("{:>12}", counted(run.nodes as usize, "node")) };
    let rails = model.runs.rails(at);
    let rail = pen.rails(&rails[rails.len().saturating_sub(DEEPEST)..], Some((Glyph::TreeBranch, Glyph::TreeLast)));
    let origin = run.parent.as_ref().map(|parent| format!("from event {}: ", parent.seq)).unwrap_or_default();
    let imported = if run.imported.is_some() { "imported: " } else { "" };
    let pieces = [
        (Plain::line(pen.theme.glyph(glyph)).then(&Plain::blank(1)), role),
        (Plain::line(word).pad(14), role),
        (began.then(&Plain::blank(1)), Role::Dim),
        (took.pad_start(13), Role::Dim),
        (Plain::line(&nodes), Role::Dim),
        (Plain::blank(2).then(&rail), Role::Border),
        (Plain::line(texts::run_name(&run.run)).then(&Plain::blank(2)), Role::Dim),
        (Plain::line(&origin), Role::Dim),
        (Plain::line(imported), Role::Dim),
        (Plain::summary(&run.goal), Role::Text),
        (Plain::line(open), Role::Dim),
    ];
    pen.pieces(text_of(line), &pieces);
}
