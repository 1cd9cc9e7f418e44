//! The timeline: the rows of the tree with a lane as wide as the screen, on one scale with an axis. The critical path is bold.

use ratatui::layout::Rect;

use super::lane::{Lane, Scale, looks};
use super::pen::{Pen, below};
use super::row::state_mark;
use super::{doc, inspector};
use crate::console::model::{Model, RunView, ScreenLayout, docs, texts};
use crate::console::theme::Role;
use crate::engine::{Bar, Doing, Time, TimelineChart};
use crate::text::{Plain, duration};

/// Rows around the bars: title and axis above, the legend and one that is empty below.
const AROUND: u16 = 4;

/// Draws the bars and what the selected node did.
pub fn draw(model: &Model, now: Time, pen: &mut Pen<'_>, layout: &ScreenLayout) {
    let area = layout.list;
    let Some(view) = model.shown_run() else {
        pen.title(area, &[(Plain::line("timeline"), Role::Title)]);
        return pen.no_rows(below(area), "No run is shown.");
    };
    let Some(chart) = view.chart() else { return };
    let wide = chart.bars.iter().map(|bar| view.title_of(&bar.node).width()).max().unwrap_or(0);
    let name = u16::try_from(wide).unwrap_or(u16::MAX).clamp(6, area.width / 3);
    let x = area.x + name + 5;
    let lane = Rect { x, width: area.right().saturating_sub(x + TOOK).max(1), ..area };
    let scale = Scale::of(view, now);
    axis(scale, pen, Rect { y: area.y + 1, height: 1, ..lane });
    let rows = Rect { y: area.y + 2, height: area.height.saturating_sub(AROUND), ..area };
    let end = pen.out_of_sight(area, (model.place.first_bar, chart.bars.len()), rows.height, [&[], &[]]);
    let title = Rect { width: end.saturating_sub(area.x + 1), ..area };
    pen.title(title, &[(Plain::line("timeline  "), Role::Title), (chart.label(), Role::Text)]);
    let selected = model.selected_id().and_then(|id| chart.bars.iter().position(|bar| bar.node == *id));
    pen.list(rows, (model.place.first_bar, chart.bars.len()), selected, model.dialogs.is_empty(), |pen, at, line| {
        draw_bar(view, (&chart.bars[at], chart.end), scale, pen, (line, name, lane));
    });
    let used = u16::try_from(chart.bars.len().saturating_sub(model.place.first_bar)).unwrap_or(u16::MAX).min(rows.height);
    legend(chart, pen, Rect { y: (rows.y + used + 1).min(rows.bottom()), height: 1, ..area });
    let Some((id, node)) = model.selected_id().zip(model.selected_node()) else { return };
    let mark = state_mark(view, id);
    let card = doc::CardHead {
        mark: mark.map(|(glyph, role)| (Plain::line(pen.theme.glyph(glyph)).then(&Plain::blank(1)), role)),
        title: view.title_of(id),
        about: inspector::about(model, node, now),
    };
    doc::card(pen, layout.detail, mark.map_or(Role::Border, |(_, role)| role), &card, (&docs::stretches(view, chart, id), 0));
}

/// Columns of the working time behind a bar.
const TOOK: u16 = 8;

/// Seconds between two ticks from ten on; below, 1, 2 and 5 of each unit.
const TICKS: [u64; 16] = [10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 604800];
/// Columns between two ticks at least.
const APART: u64 = 12;

fn axis(scale: Scale, pen: &mut Pen<'_>, row: Rect) {
    let (start, length) = scale.span();
    let round = (0..4).flat_map(|power| [1, 2, 5].map(|first| first * 10_u64.pow(power)));
    let mut ticks = round.chain(TICKS.map(|seconds| seconds * 1_000));
    // The fewest that leave them apart.
    let tick = ticks.find(|tick| tick.saturating_mul(u64::from(row.width)) / length >= APART).unwrap_or(length);
    for ms in (0..=length / tick.max(1)).map(|at| at * tick) {
        let words = match ms {
            0 => Plain::line("0"),
            // A round number of seconds is written as one.
            1_000..=9_999 if ms % 1_000 == 0 => Plain::line(&format!("{}s", ms / 1_000)),
            ms => duration(ms),
        };
        let wide = u16::try_from(words.width()).unwrap_or(0);
        let moment = start.plus(ms);
        let at = scale.columns(moment, moment, row.width).start.min(row.width.saturating_sub(wide));
        pen.text(row.x + at, row.y, row.width.saturating_sub(at), &words, Role::Dim);
    }
}

fn draw_bar(view: &RunView, (bar, end): (&Bar, Time), scale: Scale, pen: &mut Pen<'_>, (line, name, lane): (Rect, u16, Rect)) {
    if let Some((glyph, role)) = state_mark(view, &bar.node) {
        pen.glyph(line.x + 1, line.y, 1, glyph, role);
    }
    let role = if bar.critical { Role::Title } else { Role::Text };
    pen.text(line.x + 3, line.y, name, &view.title_of(&bar.node).truncate_middle(usize::from(name)), role);
    let work = view.seen().run.node(&bar.node).map_or(Role::Dim, |node| texts::lane_role(&node.state));
    Lane { stretches: &bar.stretches, scale, role: work }.draw(pen, Rect { y: line.y, height: 1, ..lane });
    let worked = bar.worked(end);
    if worked > 0 {
        pen.pieces_right(Rect { width: line.width.saturating_sub(1), ..line }, &[(duration(worked), Role::Dim)]);
    }
}

/// What the marks mean that there are.
fn legend(chart: &TimelineChart, pen: &mut Pen<'_>, row: Rect) {
    let all: [(&[Doing], &str); 6] = [
        (&[Doing::Working], "works"),
        (&[Doing::Gate, Doing::Unknown], "waits for you"),
        (&[Doing::Held], "held"),
        (&[Doing::Slot], "waits for a slot"),
        (&[Doing::Model], "waits for its model"),
        (&[Doing::Resting], "waits for its next attempt"),
    ];
    let occurs = |doing: &Doing| chart.bars.iter().flat_map(|bar| &bar.stretches).any(|stretch| stretch.doing == *doing);
    let mut pieces: Vec<(Plain, Role)> = Vec::new();
    for (doings, words) in all {
        if let Some((glyph, role)) = doings.iter().find(|doing| occurs(doing)).and_then(|doing| looks(*doing, Role::Dim)) {
            pieces.push((Plain::line(pen.theme.glyph(glyph)), role));
            pieces.push((Plain::line(&format!(" {words}  ")), Role::Dim));
        }
    }
    if chart.bars.iter().any(|bar| bar.critical) {
        pieces.push((Plain::line("critical path"), Role::Title));
    }
    pen.pieces(Rect { x: row.x + 3, width: row.width.saturating_sub(4), ..row }, &pieces);
}
