//! The log: one line an event, and the selected one whole.

use ratatui::layout::Rect;

use super::pen::{Pen, Shown, below};
use super::{doc, request, sentence};
use crate::console::model::log::LogRow;
use crate::console::model::{Focus, Model, Replay, RunView, ScreenLayout, docs, texts};
use crate::console::theme::Role;
use crate::engine::{EventTone, StateGroup};
use crate::text::{Plain, counted, offset};

/// Draws the events and the selected one.
pub fn draw(model: &Model, pen: &mut Pen<'_>, layout: &ScreenLayout, shown: &mut Shown) {
    let Some(view) = model.shown_run() else {
        pen.title(layout.list, &[(Plain::line("log"), Role::Title)]);
        return pen.no_rows(below(layout.list), "No run is shown.");
    };
    title(model, view, pen, layout.list, shown);
    lines(model, view, pen, below(layout.list));
    doc::beside(pen, layout.detail, "the event", &docs::selected_event(model), view.log.place.scroll);
}

fn title(model: &Model, view: &RunView, pen: &mut Pen<'_>, area: Rect, shown: &mut Shown) {
    let open = model.dialogs.is_empty();
    let typing = model.place.focus == Focus::Filter;
    let only = view.log.only_node().map(|node| (Plain::line(" of ").then(&view.title_of(node)), Role::Text));
    let filters = typing || !view.log.filter.is_empty();
    let words = if filters { Plain::line("filter: ").then(&Plain::blank(36)) } else { Plain::line("log") };
    pen.title(area, &[(words, Role::Title)].into_iter().chain(only).collect::<Vec<_>>());
    if filters {
        let line = Rect { x: area.x + 9, width: 36.min(area.width.saturating_sub(10)), height: 1, ..area };
        request::field(pen, line, &view.log.filter, typing && open, shown);
    }
    // The number that a replay has too: one row may stand for many events.
    let at = view.log.event().map_or(0, |at| at + 1);
    let mut said = format!(" event {at} of {}", view.journal().len());
    if view.log.is_filtered() {
        said.push_str(&format!(", {} shown", counted(view.log.len(), "row")));
    }
    if view.log.follow && view.goes_on() {
        said.push_str(", follows");
    }
    said.push(' ');
    pen.pieces_right(Rect { width: area.width.saturating_sub(1), height: 1, ..area }, &[(Plain::line(&said), Role::Dim)]);
}

/// Columns of a node's title, and on a wide terminal.
const NODE: usize = 16;
const WIDER_NODE: usize = 30;
/// Columns of how far into the run an event was.
const OFFSET: usize = 9;

fn lines(model: &Model, view: &RunView, pen: &mut Pen<'_>, area: Rect) {
    if view.log.is_empty() {
        return pen.no_rows(area, "No event matches.");
    }
    // What was not yet at the event that a replay looks at is dim.
    let now = view.replay().map_or(usize::MAX, Replay::at);
    let node_width = if area.width < 100 { NODE } else { WIDER_NODE };
    let focused = model.dialogs.is_empty() && model.place.focus != Focus::Filter;
    let place = view.log.place;
    let mut last = Plain::default();
    pen.list(area, (place.top, view.log.len()), Some(place.selected), focused, |pen, line, row| {
        let tells = &view.log.rows()[line];
        let at = tells.first();
        let Some(record) = view.journal().records().get(at) else { return };
        let event = record.event.describe(&view.newest().run);
        let ahead = |role: Role| if at < now { role } else { Role::Dim };
        let node = event.node.as_ref().map(|node| view.title_of(node)).unwrap_or_default();
        let who = if event.who.is_empty() { Plain::default() } else { Plain::line(" ").then(&event.who) };
        let right = pen.pieces_right(Rect { width: row.width.saturating_sub(1), ..row }, &[(who.truncate(22), Role::Dim)]);
        // A time says something where it is another one than above.
        let time = offset(record.at.since(view.newest().run.began())).pad_start(OFFSET);
        let shown = if time == last { Plain::blank(time.width()) } else { time.clone() };
        last = time;
        let pieces = [
            (shown.then(&Plain::blank(2)), Role::Dim),
            (node.truncate_middle(node_width).pad(node_width).then(&Plain::blank(2)), ahead(Role::Dim)),
        ];
        let x = pen.pieces(Rect { x: row.x + 2, width: right.saturating_sub(row.x + 2), ..row }, &pieces);
        let width = right.saturating_sub(x);
        let text = Plain::summary(&view.titled(event.what().as_str()));
        let said = sentence::row(&what(tells, text, width), ahead(role(event.tone)));
        pen.pieces(Rect { x, width, ..row }, &said);
    });
}

/// How the line of an event looks: a failure and a gate stand out, all else is plain.
fn role(tone: EventTone) -> Role {
    match tone {
        EventTone::Text | EventTone::Accent | EventTone::Code => Role::Text,
        EventTone::State(state) if !matches!(state.group(), StateGroup::Failed | StateGroup::Waiting) => Role::Text,
        EventTone::Dim | EventTone::Warning | EventTone::Error | EventTone::Gate | EventTone::State(_) | EventTone::Run(_) => {
            texts::event_role(tone)
        }
    }
}

/// What a line tells in so many columns: of what is streamed the end, since that is what grows.
fn what(row: &LogRow, text: Plain, width: u16) -> Plain {
    match row {
        LogRow::Event(_) => text,
        LogRow::Stream(stream) => {
            let said = stream.label().then(&Plain::line(": "));
            let room = usize::from(width).saturating_sub(said.width());
            said.then(&stream.last_words().truncate_start(room))
        }
    }
}
