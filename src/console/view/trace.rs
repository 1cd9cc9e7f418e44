//! The trace of a result: the results that went into it as a tree, with what each of them was made of.

use ratatui::layout::Rect;

use super::pen::{Pen, below};
use super::{doc, inspector, row::state_mark};
use crate::console::model::{Model, ScreenLayout, Traced, docs};
use crate::console::theme::Role;
use crate::engine::Time;
use crate::text::Plain;

/// Levels that are indented.
const DEEPEST: usize = 12;

/// Draws the lines and what is behind the selected one.
pub fn draw(model: &Model, now: Time, pen: &mut Pen<'_>, layout: &ScreenLayout) {
    let (area, open) = (layout.list, model.dialogs.is_empty());
    let Some((view, run)) = model.trace().zip(model.shown_run()) else {
        pen.title(area, &[(Plain::line("trace"), Role::Title)]);
        return pen.no_rows(below(area), "No node of a run is selected.");
    };
    let title = Plain::line("what led to ").then(&run.title_of(view.node()));
    pen.title(area, &[(title, Role::Title)]);
    pen.list(below(area), (view.place.top, view.lines().len()), Some(view.place.selected), open, |pen, at, row| {
        let line = view.lines()[at];
        let x = row.x + 2 + u16::try_from(line.depth.min(DEEPEST) * 2).unwrap_or(0);
        let mark = view.trace().steps.get(line.step).and_then(|step| state_mark(run, &step.node));
        if let Some((glyph, role)) = mark.filter(|_| matches!(line.what, Traced::Result(_))) {
            pen.glyph(x, row.y, 1, glyph, role);
        }
        let x = x + 2;
        pen.pieces(Rect { x, width: row.right().saturating_sub(x + 1), ..row }, &docs::trace_line(view, run, line));
    });
    let Some(id) = view.selected_node() else { return };
    let mark = state_mark(run, id);
    let card = doc::CardHead {
        mark: mark.map(|(glyph, role)| (Plain::line(pen.theme.glyph(glyph)).then(&Plain::blank(1)), role)),
        title: run.title_of(id),
        about: run.seen().run.node_doc(id).map(|node| inspector::about(model, node, now)).unwrap_or_default(),
    };
    doc::card(pen, layout.detail, mark.map_or(Role::Border, |(_, role)| role), &card, (&docs::traced(view, run), view.place.scroll));
}
