//! The trace of a result: the results that went into it as a tree, with what each of them was made of.

use ratatui::layout::Rect;

use super::doc;
use super::pen::{Pen, below};
use crate::console::model::{Model, ScreenLayout, docs};
use crate::console::theme::Role;
use crate::text::Plain;

/// Levels that are indented.
const DEEPEST: usize = 12;

/// Draws the lines and what is behind the selected one.
pub fn draw(model: &Model, pen: &mut Pen<'_>, layout: &ScreenLayout) {
    let (area, open) = (layout.list, model.dialogs.is_empty());
    let Some(view) = model.trace() else {
        pen.title(area, &[(Plain::line("trace"), Role::Title)]);
        return pen.no_rows(below(area), "No node of a run is selected.");
    };
    let title = Plain::line("what led to ").then(&Plain::summary(view.node()));
    pen.title(area, &[(title, Role::Title)]);
    pen.list(below(area), (view.place.top, view.lines().len()), Some(view.place.selected), open, |pen, at, row| {
        let line = view.lines()[at];
        let x = row.x + 2 + u16::try_from(line.depth.min(DEEPEST) * 2).unwrap_or(0);
        pen.pieces(Rect { x, width: row.right().saturating_sub(x + 1), ..row }, &docs::trace_line(view, line));
    });
    doc::beside(pen, layout.detail, "details", &docs::traced(view), view.place.scroll);
}
