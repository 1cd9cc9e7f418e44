//! Drawing a `Doc`: only the lines in sight are wrapped, however long the doc is.

use std::borrow::Cow;

use ratatui::layout::Rect;

use super::{pen::Pen, sentence};
use crate::console::{
    model::{Doc, DocLine},
    theme::Role,
};
use crate::text::Plain;

/// Lines of a doc that were wholly in sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InSight {
    pub from: usize,
    pub to: usize,
    pub of: usize,
    /// Rows that they take on the screen.
    pub rows: u16,
}

impl InSight {
    pub fn is_all(self) -> bool {
        self.from == 0 && self.to >= self.of
    }

    /// Which lines are in sight, behind a title; nothing where all are.
    pub fn label(self) -> (Plain, Role) {
        let words = if self.is_all() { String::new() } else { format!("  {}-{} of {}", self.from + 1, self.to, self.of) };
        (Plain::line(&words), Role::Dim)
    }
}

/// The card beside or below a list, behind its bar: the row of its title, and where text is below it. Nothing where it has no room.
pub fn pane(pen: &mut Pen<'_>, area: Rect, role: Role) -> Option<(Rect, Rect)> {
    // Beside a list the first row is as empty as that of the list's title may be.
    let area = if area.x > 0 { Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area } } else { area };
    if area.height < 2 || area.width < 4 {
        return None;
    }
    let inside = pen.bar(if area.x > 0 { area } else { Rect { x: 1, width: area.width - 1, ..area } }, role);
    Some((Rect { height: 1, ..inside }, Rect { y: inside.y + 1, height: inside.height - 1, ..inside }))
}

/// Draws the title of a card whole, on so many rows at most. Gives the column behind it on its last row, and what is left of the card.
pub fn headed(
    pen: &mut Pen<'_>,
    (head, below): (Rect, Rect),
    mark: Option<(Plain, Role)>,
    (title, role): (&Plain, Role),
    most: u16,
) -> (Rect, Rect) {
    let x = pen.pieces(head, mark.as_slice());
    let room = Rect { x, width: head.right().saturating_sub(x), ..head };
    let most = most.min(below.height).max(1);
    let mut rows = title.wrap(usize::from(room.width).max(1));
    let is_cut = rows.len() > usize::from(most);
    rows.truncate(usize::from(most));
    let used = u16::try_from(rows.len()).unwrap_or(most).max(1);
    let mut end = room.x;
    for (y, row) in (room.y..).zip(&rows) {
        end = room.x + pen.text(room.x, y, room.width, row, role);
    }
    if is_cut {
        let (y, mark) = (room.y + used - 1, Plain::line("…"));
        end = room.x
            + pen.text(room.x, y, room.width, &rows.pop().unwrap_or_default().truncate(usize::from(room.width) - 1).then(&mark), role);
    }
    let rest = Rect { x: end, y: head.y + used - 1, width: head.right().saturating_sub(end), height: 1 };
    (rest, Rect { y: head.y + used, height: (below.bottom()).saturating_sub(head.y + used), ..below })
}

/// What a card says above its doc.
pub struct CardHead {
    pub mark: Option<(Plain, Role)>,
    pub title: Plain,
    /// Which, who and when.
    pub about: Plain,
}

/// Draws a doc as a card, from a line on: a title, what it is about, and the doc.
pub fn card(pen: &mut Pen<'_>, area: Rect, bar: Role, head: &CardHead, (doc, scroll): (&Doc<'_>, usize)) {
    let Some((first, below)) = pane(pen, area, bar) else { return };
    let (_, below) = headed(pen, (first, below), head.mark.clone(), (&head.title, Role::Title), 2);
    let gap = if below.height > LOW { 2 } else { 1 };
    let inside = Rect { y: below.y + gap, height: below.height.saturating_sub(gap), ..below };
    let seen = draw(pen, inside, doc, scroll.min(doc.len().saturating_sub(1)));
    pen.pieces(Rect { height: 1, ..below }, &[(head.about.clone(), Role::Dim), seen.label()]);
    pen.end_bar(below);
}

/// Rows below which a card has no empty one.
const LOW: u16 = 6;

/// Draws a doc as a card beside a list, from a line on.
pub fn beside(pen: &mut Pen<'_>, area: Rect, title: &str, doc: &Doc<'_>, scroll: usize) {
    let Some((head, inside)) = pane(pen, area, Role::Border) else { return };
    let seen = draw(pen, inside, doc, scroll.min(doc.len().saturating_sub(1)));
    pen.pieces(head, &[(Plain::line(title), Role::Dim), seen.label()]);
    pen.end_bar(inside);
}

/// Draws a doc from a line on.
pub fn draw(pen: &mut Pen<'_>, area: Rect, doc: &Doc<'_>, start: usize) -> InSight {
    let mut y = area.y;
    let mut to = start;
    for line in doc.from(start) {
        if y >= area.bottom() {
            break;
        }
        let (role, line) = match line {
            DocLine::Text(role, line) => (role, line),
            DocLine::Drawn(line) => {
                let rows = line.rows(usize::from(area.width));
                let room = usize::from(area.bottom() - y);
                pen.lines(Rect { y, height: area.bottom() - y, ..area }, &rows);
                y += u16::try_from(rows.len().min(room)).unwrap_or(area.height);
                to += usize::from(rows.len() <= room);
                continue;
            }
        };
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
    InSight { from: start, to, of: doc.len(), rows: y - area.y }
}

/// Whether lines of a role are always sentences of dagdeck, and never somebody's text.
fn is_sentence(role: Role) -> bool {
    matches!(role, Role::Heading | Role::Held | Role::Warning | Role::Waiting | Role::Stale | Role::Hint | Role::Rehearsed)
}

/// Draws the end of a doc. While it grows, the screen moves by part of a page, not by every line.
pub fn draw_end(pen: &mut Pen<'_>, area: Rect, doc: &Doc<'_>) -> InSight {
    let height = usize::from(area.height);
    let mut rows = 0;
    let mut start = doc.len();
    for line in doc.back() {
        rows += line.height(usize::from(area.width));
        if rows > height {
            break;
        }
        start -= 1;
    }
    let step = (height / 3).max(1);
    let start = if start == 0 { 0 } else { start.div_ceil(step) * step };
    draw(pen, area, doc, start.min(doc.len().saturating_sub(1)))
}
