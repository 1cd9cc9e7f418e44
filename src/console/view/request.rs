//! The request line, and typed text anywhere.

use ratatui::layout::{Position, Rect};

use super::pen::{Pen, Shown};
use crate::console::model::{Focus, Model, TextField};
use crate::console::theme::Role;
use crate::text::Plain;

/// Draws the request line below its title.
pub fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect, shown: &mut Shown) {
    if area.height < 2 {
        return;
    }
    let focused = model.place.focus == Focus::Request && model.dialogs.is_empty();
    let title = match &model.request.planning {
        Some(planning) => vec![(Plain::line("planning: ").then(&planning.text), Role::Dim)],
        None => vec![(Plain::line("request"), if focused { Role::Title } else { Role::Dim })],
    };
    pen.title(area, &title, focused);
    let inside = Rect { x: area.x + 3, y: area.y + 1, width: area.width.saturating_sub(4), height: area.height - 1 };
    pen.words(area.x + 1, inside.y, 1, ">", if focused { Role::Key } else { Role::Dim });
    if model.request.field.is_empty() {
        let key = model.hint("request.focus");
        let words = if focused { "what do you want done?".to_owned() } else { format!("{key} to type a request") };
        pen.words(inside.x, inside.y, inside.width, &words, Role::Placeholder);
        if focused {
            shown.cursor = Some(Position::new(inside.x, inside.y));
        }
    } else {
        field(pen, inside, &model.request.field, focused, shown);
    }
}

/// Draws typed text so that the cursor is in sight.
pub fn field(pen: &mut Pen<'_>, area: Rect, field: &TextField, focused: bool, shown: &mut Shown) {
    if area.width == 0 || area.height == 0 {
        return;
    }
    let (row, column) = field.cursor();
    let (height, width) = (usize::from(area.height), usize::from(area.width));
    let top = (row + 1).saturating_sub(height);
    let skip = (column + 1).saturating_sub(width);
    for (y, line) in (area.top()..area.bottom()).zip(field.shown().skip(top)) {
        pen.text(area.x, y, area.width, &line.skip_columns(skip), Role::Input);
    }
    if focused && field.is_offered() {
        let wide = field.shown().next().map_or(0, |line| line.width()).saturating_sub(skip);
        pen.mark(Rect { width: u16::try_from(wide).unwrap_or(u16::MAX).min(area.width), height: 1, ..area }, true);
    }
    if focused {
        let x = area.x + u16::try_from(column - skip).unwrap_or(0).min(area.width - 1);
        let y = area.y + u16::try_from(row - top).unwrap_or(0);
        shown.cursor = Some(Position::new(x, y));
    }
}
