//! The trace of a result: the results that went into it as a tree, with what each of them was made of.

use ratatui::layout::Rect;

use super::{doc, pen::Pen};
use crate::console::{
    model::{Model, ScreenLayout, TraceView, docs},
    theme::Role,
};
use crate::text::Plain;

/// Draws the lines and what stands behind the selected one.
pub fn draw(model: &Model, pen: &mut Pen<'_>, layout: &ScreenLayout) {
    let area = layout.list;
    let open = model.dialogs.is_empty();
    let Some(view) = model.shown_run().and_then(|view| view.trace.as_ref()) else {
        pen.title(area, &[(Plain::line("trace"), Role::Title)], open);
        pen.words(area.x + 2, area.y + 1, area.width.saturating_sub(2), "No node of a run is selected.", Role::Dim);
        return;
    };
    let title = Plain::line("where the result of ").then(&Plain::summary(view.node())).then(&Plain::line(" comes from"));
    pen.title(area, &[(title, Role::Title)], open);
    for (y, (at, line)) in (area.top() + 1..area.bottom()).zip(view.lines().iter().enumerate().skip(view.top)) {
        let row = Rect { y, height: 1, ..area };
        let indent = u16::try_from(line.depth.min(DEEPEST) * 2).unwrap_or(0);
        let x = row.x + 2 + indent;
        pen.pieces(Rect { x, width: row.right().saturating_sub(x + 1), ..row }, &docs::trace_line(view, *line));
        if at == view.selected {
            pen.select(row, open);
        }
    }
    detail(view, pen, layout.detail);
}

/// Levels that are indented.
const DEEPEST: usize = 12;

fn detail(view: &TraceView, pen: &mut Pen<'_>, area: Rect) {
    if area.height < 2 || area.width < 4 {
        return;
    }
    let area = if area.x > 0 { pen.divide(area) } else { area };
    let inside = Rect { x: area.x + 1, y: area.y + 1, width: area.width.saturating_sub(2), height: area.height - 1 };
    let said = docs::traced(view);
    doc::draw(pen, inside, &said, view.scroll.min(said.len().saturating_sub(1)));
    pen.title(area, &[(Plain::line("the source itself"), Role::Dim)], false);
}
