//! Help over the screen: its search line, its columns, and which page of it.

use ratatui::layout::Rect;

use super::dialogs::{keys, last_row};
use super::pen::{Pen, Shown};
use super::request::field;
use crate::console::model::{HelpDialog, Model};
use crate::console::theme::Role;
use crate::text::Plain;

pub fn draw(model: &Model, help: &HelpDialog, pen: &mut Pen<'_>, shown: &mut Shown) {
    let room = HelpDialog::room(model.place.size);
    let pages = help.pages(room);
    let page = help.page.min(pages.len().saturating_sub(1));
    let columns = pages.get(page).map(Vec::as_slice).unwrap_or_default();
    // The box is as high for each page, and for what is searched for in it.
    let rows = if pages.len() > 1 || !help.query.is_empty() { room.1 } else { columns.iter().map(Vec::len).max().unwrap_or(1) };
    let inside = pen.panel(HelpDialog::width(pen.buffer.area.width), u16::try_from(rows + 3).unwrap_or(u16::MAX), &Plain::line("Help"));
    pen.words(inside.x, inside.y, 1, ">", Role::Key);
    let query = Rect { x: inside.x + 2, width: inside.width.saturating_sub(2), height: 1, ..inside };
    field(pen, query, &help.query, true, shown);
    if help.query.is_empty() {
        pen.words(query.x + 1, query.y, query.width.saturating_sub(1), "type a key or a word, such as break", Role::Placeholder);
    }
    let body = Rect { y: inside.y + 2, height: inside.height.saturating_sub(3), ..inside };
    let count = u16::try_from(columns.len().max(1)).unwrap_or(1);
    let each = (body.width + 2) / count;
    for (at, column) in (0..).zip(columns) {
        pen.lines(Rect { x: body.x + at * each, width: each.saturating_sub(2).min(body.width), ..body }, column);
    }
    let row = last_row(inside);
    if pages.len() > 1 {
        let words = format!("page {} of {}", page + 1, pages.len());
        let end = pen.pieces_right(row, &[(Plain::line(&words), Role::Dim)]);
        keys(model, pen, Rect { width: end.saturating_sub(row.x), ..row }, &[("help.next", "next page"), ("help.previous", "page before")]);
    }
}
