//! The list of runs, newest first.

use ratatui::layout::Rect;

use super::pen::{Pen, below, text_of};
use crate::console::model::{Model, PlanScreen, texts};
use crate::console::theme::Role;
use crate::engine::Time;
use crate::host::client::RunSummary;
use crate::text::{Glyph, Plain, ago, counted, duration};

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

/// Columns of a state, of an age, of a time and of a number of nodes.
const STATE: usize = 14;
const AGE: usize = 12;
const TOOK: usize = 10;
const NODES: usize = 11;
/// Levels of branches that are drawn.
const DEEPEST: usize = 6;
/// From these widths on, the time and the number of nodes have room.
const TIMED: u16 = 90;
const WIDE: u16 = 130;

/// State and goal first, which has all the room that the figures leave; those are at the right edge.
fn entry(model: &Model, now: Time, (at, run): (usize, &RunSummary), pen: &mut Pen<'_>, line: Rect) {
    let (glyph, word, role) = (run.status.glyph(), run.status.word(), texts::status_role(run.status));
    let text = text_of(line);
    let took = duration(run.status.elapsed_ms(run.created, run.last, now)).pad_start(TOOK);
    let nodes = Plain::line(&counted(run.nodes as usize, "node")).pad_start(NODES);
    let figures = [(nodes, text.width >= WIDE), (took, text.width >= TIMED), (ago(now.since(run.created)).pad_start(AGE), true)];
    let figures: Vec<_> = figures.into_iter().filter(|(_, fits)| *fits).map(|(figure, _)| (figure, Role::Dim)).collect();
    let end = pen.pieces_right(text, &figures);
    let open = if model.place.shown == PlanScreen::Run(run.run.clone()) { "shown: " } else { "" };
    let rails = model.runs.rails(at);
    let rail = pen.rails(&rails[rails.len().saturating_sub(DEEPEST)..], Some((Glyph::TreeBranch, Glyph::TreeLast)));
    let origin = run.parent.as_ref().map(|parent| format!("from event {}: ", parent.seq)).unwrap_or_default();
    let imported = if run.imported.is_some() { "imported: " } else { "" };
    let pieces = [
        (Plain::line(pen.theme.glyph(glyph)).then(&Plain::blank(1)), role),
        (Plain::line(word).pad(STATE), role),
        (rail, Role::Border),
        (Plain::line(&format!("{open}{origin}{imported}")), Role::Dim),
        (Plain::summary(&run.goal), Role::Text),
    ];
    pen.pieces(Rect { width: end.saturating_sub(text.x + 1), ..text }, &pieces);
}
