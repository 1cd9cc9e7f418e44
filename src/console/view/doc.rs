//! Drawing a `Doc`: only the lines in sight are wrapped, however long the doc is.

use std::borrow::Cow;

use ratatui::layout::Rect;

use super::{pen::Pen, sentence};
use crate::console::{model::Doc, theme::Role};

/// Lines of a doc that were wholly in sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InSight {
    /// The first.
    pub from: usize,
    /// Behind the last.
    pub to: usize,
}

/// Draws a doc from a line on.
pub fn draw(pen: &mut Pen<'_>, area: Rect, doc: &Doc<'_>, start: usize) -> InSight {
    let mut y = area.y;
    let mut to = start;
    for (role, line) in doc.from(start) {
        if y >= area.bottom() {
            break;
        }
        // What dagdeck says has ids in backticks; what a payload has there is the payload's own.
        if is_sentence(role) && line.width() <= usize::from(area.width) {
            pen.pieces(Rect { y, height: 1, ..area }, &sentence::row(line, role));
            (y, to) = (y + 1, to + 1);
            continue;
        }
        let plain = if is_sentence(role) { Cow::Owned(sentence::bare(line)) } else { Cow::Borrowed(line) };
        let pieces = plain.wrap_hanging(usize::from(area.width));
        let room = usize::from(area.bottom() - y);
        for piece in pieces.iter().take(room) {
            pen.text(area.x, y, area.width, piece, role);
            y += 1;
        }
        to += usize::from(pieces.len() <= room);
    }
    InSight { from: start, to }
}

/// Whether lines of a role are always sentences of dagdeck, and never somebody's text.
fn is_sentence(role: Role) -> bool {
    matches!(role, Role::Heading | Role::Held | Role::Warning | Role::Waiting | Role::Stale | Role::Hint)
}

/// Draws the end of a doc. While it grows, the screen moves by part of a page, not by every line.
pub fn draw_end(pen: &mut Pen<'_>, area: Rect, doc: &Doc<'_>) -> InSight {
    let height = usize::from(area.height);
    let mut rows = 0;
    let mut start = doc.len();
    for (_, line) in doc.back() {
        rows += line.wrap_hanging(usize::from(area.width)).len();
        if rows > height {
            break;
        }
        start -= 1;
    }
    let step = (height / 3).max(1);
    let start = if start == 0 { 0 } else { start.div_ceil(step) * step };
    draw(pen, area, doc, start.min(doc.len().saturating_sub(1)))
}
