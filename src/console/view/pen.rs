//! `Pen`: the only way onto the screen. It takes `Plain` text, glyphs and roles, so that nothing else can be drawn.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::widgets::{Block, Clear, Widget};

use super::sentence;
use crate::console::model::GateShown;
use crate::console::theme::{Role, Theme};
use crate::console::widget;
use crate::text::{Glyph, Plain};

/// What a frame showed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// Where the cursor belongs, while text is typed.
    pub cursor: Option<Position>,
    /// Gates, and how much of them.
    pub gates: Vec<GateShown>,
}

/// Draws safe text in the styles of a theme.
pub struct Pen<'a> {
    pub buffer: &'a mut Buffer,
    pub theme: &'a Theme,
}

/// What of a pane is below its title.
pub fn below(area: Rect) -> Rect {
    Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }
}

/// What of a row is for text: behind the mark of the selected one.
pub fn text_of(row: Rect) -> Rect {
    Rect { x: row.x + 2, width: row.width.saturating_sub(3), ..row }
}

impl Pen<'_> {
    /// Text from a place on, in at most so many columns. Gives the columns used.
    pub fn text(&mut self, x: u16, y: u16, width: u16, text: &Plain, role: Role) -> u16 {
        if width == 0 || y >= self.buffer.area.bottom() || x >= self.buffer.area.right() {
            return 0;
        }
        let style = self.theme.style_over(role);
        let shown = text.truncate(usize::from(width));
        let (end, _) = self.buffer.set_stringn(x, y, shown.as_str(), usize::from(width), style);
        end - x
    }

    /// Words of our own.
    pub fn words(&mut self, x: u16, y: u16, width: u16, words: &str, role: Role) -> u16 {
        self.text(x, y, width, &Plain::line(words), role)
    }

    pub fn glyph(&mut self, x: u16, y: u16, width: u16, glyph: Glyph, role: Role) -> u16 {
        let mark = Plain::line(self.theme.glyph(glyph));
        self.text(x, y, width, &mark, role)
    }

    /// Pieces one after the other on one row. Gives the column behind the last.
    pub fn pieces(&mut self, area: Rect, pieces: &[(Plain, Role)]) -> u16 {
        let mut x = area.x;
        for (text, role) in pieces {
            // A line below words doesn't begin before them.
            let is_underlined = self.theme.style(*role).add_modifier.contains(Modifier::UNDERLINED);
            let before = text.as_str().bytes().take_while(|byte| is_underlined && *byte == b' ').count();
            if before > 0 {
                x += self.text(x, area.y, area.right().saturating_sub(x), &Plain::blank(before), Role::Text);
                x += self.text(x, area.y, area.right().saturating_sub(x), &text.skip_columns(before), *role);
            } else {
                x += self.text(x, area.y, area.right().saturating_sub(x), text, *role);
            }
        }
        x
    }

    /// Lines in pieces, one below the other, as far as they fit.
    pub fn lines(&mut self, area: Rect, lines: &[Vec<(Plain, Role)>]) {
        for (y, line) in (area.top()..area.bottom()).zip(lines) {
            self.pieces(Rect { y, height: 1, ..area }, line);
        }
    }

    /// Pieces at the right end of a row. Gives the column of the first.
    pub fn pieces_right(&mut self, area: Rect, pieces: &[(Plain, Role)]) -> u16 {
        let width: usize = pieces.iter().map(|(text, _)| text.width()).sum();
        let width = u16::try_from(width).unwrap_or(u16::MAX).min(area.width);
        let at = Rect { x: area.right() - width, width, ..area };
        self.pieces(at, pieces);
        at.x
    }

    /// Draws the rows of a list from `top` on, and marks the selected one.
    pub fn list(
        &mut self,
        area: Rect,
        (top, len): (usize, usize),
        selected: Option<usize>,
        focused: bool,
        mut row: impl FnMut(&mut Self, usize, Rect),
    ) {
        for (y, at) in (area.top()..area.bottom()).zip(top..len) {
            let line = Rect { y, height: 1, ..area };
            row(self, at, line);
            if selected == Some(at) {
                self.select(line, focused);
            }
        }
    }

    /// Says at the right end of a list's title how many of its entries are above and below what is in sight, each with what is to be known
    /// of them. Gives the column of the first.
    pub fn out_of_sight(&mut self, title: Rect, (top, len): (usize, usize), rows: u16, [of_above, of_below]: [&[(Plain, Role)]; 2]) -> u16 {
        let below = len.saturating_sub(top + usize::from(rows));
        let dim = |words: &str| (Plain::line(words), Role::Dim);
        let mut pieces = Vec::new();
        if top > 0 {
            pieces.push(dim(&format!("{top} more above")));
            pieces.extend_from_slice(of_above);
        }
        if below > 0 {
            pieces.push(dim(&if top > 0 { format!(", {below} below") } else { format!("{below} more below") }));
            pieces.extend_from_slice(of_below);
        }
        if pieces.is_empty() {
            return title.right();
        }
        self.pieces_right(Rect { width: title.width.saturating_sub(1), height: 1, ..title }, &pieces)
    }

    /// The lines that lead to a row of a tree: for each level whether one of it follows below. Where the row is a branch of its own, the
    /// last level ends in one of two marks.
    pub fn rails(&self, rails: &[bool], ends: Option<(Glyph, Glyph)>) -> Plain {
        let glyph = |(level, more): (usize, &bool)| match (ends.filter(|_| level + 1 == rails.len()), more) {
            (Some((branch, _)), true) => branch,
            (Some((_, last)), false) => last,
            (None, true) => Glyph::TreePipe,
            (None, false) => Glyph::TreeBlank,
        };
        Plain::line(&rails.iter().enumerate().map(|rail| self.theme.glyph(glyph(rail))).collect::<String>())
    }

    /// Says why a list has no rows, in the place of the first.
    pub fn no_rows(&mut self, area: Rect, words: &str) {
        self.words(area.x + 2, area.y, area.width.saturating_sub(2), words, Role::Dim);
    }

    /// Puts a role's style over what is there.
    pub fn wash(&mut self, area: Rect, role: Role) {
        let style = self.theme.style(role);
        self.buffer.set_style(area.intersection(self.buffer.area), style);
    }

    /// Marks a row as the selected one: a tint through which its colours are seen, and a mark.
    pub fn select(&mut self, row: Rect, focused: bool) {
        if row.is_empty() {
            return;
        }
        self.mark(row, focused);
        self.glyph(row.x, row.y, 1, Glyph::Cursor, if focused { Role::Accent } else { Role::Dim });
        self.mark(Rect { width: 1, ..row }, focused);
    }

    /// Gives a row the tint of the selected one, without a mark.
    pub fn mark(&mut self, row: Rect, focused: bool) {
        self.wash(row, if focused { Role::Selection } else { Role::SelectionUnfocused });
    }

    pub fn title(&mut self, area: Rect, title: &[(Plain, Role)]) {
        self.pieces(Rect { x: area.x + 1, width: area.width.saturating_sub(2), height: 1, ..area }, title);
    }

    /// The bar of a card at the left of an area; gives what is left of it.
    pub fn bar(&mut self, area: Rect, role: Role) -> Rect {
        for y in area.top()..area.bottom() {
            self.glyph(area.x, y, 1, Glyph::CardBar, role);
        }
        // A line below each of its rows would cut it into pieces.
        let whole = Style::new().remove_modifier(Modifier::UNDERLINED);
        self.buffer.set_style(Rect { width: 1.min(area.width), ..area }.intersection(self.buffer.area), whole);
        Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area }
    }

    /// Ends the bar of a card where the card ends: below the last row of its inside that says something.
    pub fn end_bar(&mut self, inside: Rect) {
        let is_blank = |y: u16| (inside.left()..inside.right()).all(|x| self.buffer.cell((x, y)).is_none_or(|cell| cell.symbol() == " "));
        let blank: Vec<u16> = (inside.top()..inside.bottom()).rev().take_while(|y| is_blank(*y)).collect();
        for y in blank {
            self.text(inside.x.saturating_sub(2), y, 1, &Plain::blank(1), Role::Text);
        }
    }

    /// The same as a dialog, where it is plain that esc closes it.
    pub fn panel(&mut self, width: u16, height: u16, title: &Plain) -> Rect {
        let inside = self.dialog(width, height, title);
        let frame = Rect { y: inside.y.saturating_sub(1), height: 1, ..inside };
        self.pieces_right(frame, &[(Plain::line(" esc"), Role::Key), (Plain::line(" close "), Role::Hint)]);
        inside
    }

    /// An empty box over the screen, for a dialog. Gives its inside.
    pub fn dialog(&mut self, width: u16, height: u16, title: &Plain) -> Rect {
        let screen = self.buffer.area;
        let (width, height) = (width.min(screen.width), height.saturating_add(2).min(screen.height));
        let area = Rect::new(screen.x + (screen.width - width) / 2, screen.y + (screen.height - height) / 3, width, height);
        Clear.render(area, self.buffer);
        let title = Plain::blank(1).then(&sentence::bare(title).truncate(usize::from(width.saturating_sub(4)))).then(&Plain::blank(1));
        let block = Block::bordered()
            .border_style(self.theme.style(Role::BorderFocused))
            .style(self.theme.style(Role::Text))
            .title(widget::line(&title, self.theme.style(Role::Title)));
        let inside = block.inner(area);
        block.render(area, self.buffer);
        Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside }
    }
}
