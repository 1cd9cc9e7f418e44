//! How agents and models did in past runs, in a list, and the selected row beside it.

use ratatui::layout::Rect;

use super::doc;
use super::pen::{Pen, below, text_of};
use crate::console::model::{Model, ScreenLayout, StatsRow, docs};
use crate::console::theme::Role;
use crate::engine::StatsCell;
use crate::host::client::{SuggestionEntry, SuggestionState};
use crate::text::{Plain, cost, count, counted, duration};

/// From this width on, tokens and time of an attempt have room.
const WIDE: u16 = 72;

pub fn draw(model: &Model, pen: &mut Pen<'_>, layout: &ScreenLayout) {
    let (screen, area) = (&model.session.stats, layout.list);
    let runs = screen.report.as_ref().map(|report| counted(usize::try_from(report.stats.runs).unwrap_or(usize::MAX), "past run"));
    let about = runs.map(|runs| format!("  of {runs}")).unwrap_or_default();
    pen.title(area, &[(Plain::line(&format!("by {}", screen.by.label())), Role::Title), (Plain::line(&about), Role::Dim)]);
    if screen.is_empty() {
        let words = if screen.report.is_some() { "No agent has worked in a run that is over." } else { "Looking …" };
        return pen.no_rows(below(area), words);
    }
    pen.list(below(area), (screen.place.top, screen.len()), Some(screen.place.selected), true, |pen, at, line| match screen.row(at) {
        Some(StatsRow::Cell(cell)) => entry(cell, pen, line),
        Some(StatsRow::Suggestion(entry)) => suggestion(entry, pen, line),
        None => {}
    });
    let Some((head, inside)) = doc::pane(pen, layout.detail, Role::Border) else { return };
    let text = docs::stats(screen);
    let seen = doc::draw(pen, inside, &text, screen.place.scroll.min(text.len().saturating_sub(1)));
    pen.pieces(head, &[seen.label()]);
    pen.end_bar(inside);
}

/// Its name, how often it succeeded, and what an attempt took on average.
fn entry(StatsCell { key, done }: &StatsCell, pen: &mut Pen<'_>, line: Rect) {
    let text = text_of(line);
    let success = match done.ran_out() {
        0 => Plain::line("-"),
        all => Plain::line(&format!("{} % of {all}", 100 * done.succeeded / all)),
    };
    let role = if done.failed > done.succeeded { Role::Failed } else { Role::Text };
    let mut pieces = vec![(success.pad_start(12), role)];
    if text.width >= WIDE {
        pieces.extend([(count(done.mean_tokens()).pad_start(7), Role::Dim), (duration(done.mean_ms()).pad_start(7), Role::Dim)]);
    }
    pieces.push((done.mean_cost().map_or_else(|| Plain::line("?"), cost).pad_start(9), Role::Dim));
    let end = pen.pieces_right(text, &pieces);
    pen.pieces(Rect { width: end.saturating_sub(text.x + 1), ..text }, &[(Plain::summary(&key.label()), Role::Text)]);
}

/// What is suggested, and whether a person did something with it.
fn suggestion(entry: &SuggestionEntry, pen: &mut Pen<'_>, line: Rect) {
    let text = text_of(line);
    let state: &str = entry.state.into();
    let (word, role) = if entry.state == SuggestionState::Open { ("suggested", Role::Accent) } else { (state, Role::Dim) };
    let end = pen.pieces_right(text, &[(Plain::line(word), role)]);
    pen.pieces(Rect { width: end.saturating_sub(text.x + 1), ..text }, &[(entry.suggestion.change.label(), role)]);
}
