//! How far a replay is: a bar with marks for gates, failures and what people did, and the event that is looked at, in words.

use ratatui::layout::Rect;

use super::{pen::Pen, sentence};
use crate::console::model::{Model, Replay, RunView, texts};
use crate::console::theme::Role;
use crate::engine::SearchMark;
use crate::text::{Glyph, Plain, duration, time_of_day};

/// Draws the bar and the event.
pub fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let Some((view, replay)) = model.shown_run().and_then(|view| Some((view, view.replay()?))) else { return };
    if area.height < 2 {
        return;
    }
    let row = |at: u16| Rect { y: area.y + at, height: 1, ..area };
    bar(view, replay, pen, row(0));
    event_line(model, view, replay, pen, row(1));
    if area.height > 2 {
        legend(view, pen, row(2));
    }
}

/// What the bar marks. What went wrong is drawn over what was asked, and that over what was done about it.
const MARKS: [(SearchMark, Glyph, Role, &str); 4] = [
    (SearchMark::Action, Glyph::Acted, Role::Accent, "people acted"),
    (SearchMark::Break, Glyph::AtBreakpoint, Role::Held, "halted"),
    (SearchMark::Gate, Glyph::Gate, Role::Gate, "asked"),
    (SearchMark::Failure, Glyph::Failed, Role::Failed, "failed"),
];

/// What the marks mean that there are.
fn legend(view: &RunView, pen: &mut Pen<'_>, row: Rect) {
    let occurs = |wanted: SearchMark| view.journal().marks().iter().any(|(_, mark)| *mark == wanted);
    let told = MARKS.into_iter().filter(|(mark, ..)| occurs(*mark)).flat_map(|(_, glyph, role, words)| {
        [(Plain::line(pen.theme.glyph(glyph)), role), (Plain::line(&format!(" {words}   ")), Role::Dim)]
    });
    let here = [(Plain::line(pen.theme.glyph(Glyph::Here)), Role::Title), (Plain::line(" the event shown   "), Role::Dim)];
    let pieces: Vec<(Plain, Role)> = here.into_iter().chain(told).collect();
    pen.pieces(Rect { x: row.x + 1, width: row.width.saturating_sub(2), ..row }, &pieces);
}

/// The column of an event, where so many events share so many columns.
fn column(event: usize, events: usize, columns: u16) -> u16 {
    let last = events.saturating_sub(1).max(1);
    u16::try_from(event * usize::from(columns.saturating_sub(1)) / last).unwrap_or(u16::MAX).min(columns.saturating_sub(1))
}

fn bar(view: &RunView, replay: &Replay, pen: &mut Pen<'_>, row: Rect) {
    let pace = match replay.plays() {
        true => format!(" plays x{} ", replay.speed()),
        false if replay.at() >= view.journal().len() => " at the end ".to_owned(),
        false if replay.speed() > 1 => format!(" stopped x{} ", replay.speed()),
        false => " stopped ".to_owned(),
    };
    let left = row.x + pen.words(row.x, row.y, row.width, &pace, if replay.plays() { Role::Running } else { Role::Dim });
    let line = Rect { x: left, width: row.right().saturating_sub(left + 1), ..row };
    let events = view.journal().len();
    let here = column(replay.at().saturating_sub(1), events, line.width);
    let heavy = Plain::line(&pen.theme.glyph(Glyph::LineHeavy).repeat(usize::from(here)));
    let light = Plain::line(&pen.theme.glyph(Glyph::LineHorizontal).repeat(usize::from(line.width.saturating_sub(here))));
    pen.pieces(line, &[(heavy, Role::Accent), (light, Role::Border)]);
    for (wanted, glyph, role, _) in MARKS {
        for (at, _) in view.journal().marks().iter().filter(|(_, mark)| *mark == wanted) {
            pen.glyph(line.x + column(*at, events, line.width), line.y, 1, glyph, role);
        }
    }
    pen.glyph(line.x + here, line.y, 1, Glyph::Here, Role::Title);
}

/// With fewer columns only the event is shown.
const ROOM: u16 = 80;

fn event_line(model: &Model, view: &RunView, replay: &Replay, pen: &mut Pen<'_>, row: Rect) {
    let events = view.journal().len();
    // The event comes first where there is little room.
    let more = events.saturating_sub(replay.at());
    let goes_on = if view.goes_on() && more > 0 && row.width >= ROOM {
        format!("the run is {}: {more} more ", view.status().word())
    } else {
        String::new()
    };
    let right = pen.pieces_right(row, &[(Plain::line(&goes_on), Role::Running)]);
    let Some(record) = replay.at().checked_sub(1).and_then(|at| view.journal().records().get(at)) else { return };
    let fold = view.seen();
    let line = record.event.describe(&fold.run);
    let since = Plain::line("  +").then(&duration(fold.run.elapsed_ms(record.at)));
    let mut pieces = vec![
        (Plain::line(&format!(" event {} of {events}  ", replay.at())), Role::Heading),
        (time_of_day(record.at.0, &model.look.zone).then(&since), Role::Dim),
        (Plain::blank(2), Role::Text),
    ];
    if let Some(node) = &line.node {
        pieces.push((Plain::summary(node).then(&Plain::blank(1)), Role::Accent));
    }
    pieces.extend(sentence::row(&line.what(), texts::event_role(line.tone)));
    if !line.who.is_empty() {
        pieces.push((Plain::line(", by ").then(&line.who), Role::Dim));
    }
    let width = if model.place.size.0 < 60 { row.width } else { right.saturating_sub(row.x + 1) };
    pen.pieces(Rect { width, ..row }, &pieces);
}
