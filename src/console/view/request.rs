//! The request line, and typed text anywhere.

use ratatui::layout::{Position, Rect};

use super::pen::{Pen, Shown};
use crate::console::model::{Focus, Model, TextField, request_width};
use crate::console::theme::Role;
use crate::text::Plain;

/// Draws the request as a card, with what it does below it.
pub fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect, shown: &mut Shown) {
    if area.height < 2 {
        return;
    }
    let focused = model.place.focus == Focus::Request && model.dialogs.is_empty();
    let bar = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
    let inside = pen.bar(bar, if focused { Role::Accent } else { Role::Border });
    let text = Rect { height: inside.height - 1, ..inside };
    if model.request.field.is_empty() {
        let key = model.hint("request.focus");
        let words = if focused { "What do you want done?".to_owned() } else { format!("{key} to type a request") };
        pen.words(text.x, text.y, text.width, &words, Role::Placeholder);
        if focused {
            shown.cursor = Some(Position::new(text.x, text.y));
        }
    } else {
        let (rows, cursor) = model.request.field.rows(request_width(model.place.size.0));
        draw_rows(pen, text, (&rows, cursor), (focused, model.request.field.is_offered()), shown);
    }
    let below = match &model.request.planning {
        Some(planning) => Plain::line("planning: ").then(&planning.text),
        None => Plain::line("this makes a plan; nothing runs before you start it"),
    };
    pen.text(text.x, text.bottom(), text.width, &below, Role::Dim);
}

/// Draws typed text so that the cursor is in sight; a line that is longer goes on beyond the edge.
pub fn field(pen: &mut Pen<'_>, area: Rect, field: &TextField, focused: bool, shown: &mut Shown) {
    let (row, column) = field.cursor();
    let skip = (column + 1).saturating_sub(usize::from(area.width));
    let rows: Vec<Plain> = field.shown().map(|line| line.skip_columns(skip)).collect();
    draw_rows(pen, area, (&rows, (row, column - skip)), (focused, field.is_offered()), shown);
}

/// Draws the rows in which the cursor is.
pub fn draw_rows(
    pen: &mut Pen<'_>,
    area: Rect,
    (rows, (row, column)): (&[Plain], (usize, usize)),
    (focused, is_offered): (bool, bool),
    shown: &mut Shown,
) {
    if area.width == 0 || area.height == 0 {
        return;
    }
    let top = (row + 1).saturating_sub(usize::from(area.height));
    for (y, line) in (area.top()..area.bottom()).zip(&rows[top..]) {
        pen.text(area.x, y, area.width, line, Role::Input);
        if focused && is_offered {
            let wide = u16::try_from(line.width()).unwrap_or(u16::MAX).min(area.width);
            pen.wash(Rect { x: area.x, y, width: wide, height: 1 }, Role::Cursor);
        }
    }
    if focused {
        let x = area.x + u16::try_from(column).unwrap_or(0).min(area.width - 1);
        let y = area.y + u16::try_from(row - top).unwrap_or(0);
        shown.cursor = Some(Position::new(x, y));
    }
}
