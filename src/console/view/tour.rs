//! What the tour says, below the console that it shows.

use ratatui::{buffer::Buffer, layout::Rect};

use super::pen::Pen;
use crate::console::model::Model;
use crate::console::theme::Role;
use crate::console::widget::to_ascii;
use crate::text::{GlyphSet, Plain};

const ABOUT: &str = "any key ends it and acts as usual; made-up files, nothing is run or written";

/// Draws it on the last rows of the screen.
pub fn draw(model: &Model, said: &str, screen: &mut Buffer, rows: u16) {
    let theme = &model.look.theme;
    let area = Rect { y: screen.area.bottom().saturating_sub(rows), height: rows, ..screen.area };
    let mut pen = Pen { buffer: screen, theme };
    pen.wash(area, Role::Text);
    let inside = pen.bar(Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area }, Role::Accent);
    let words = Plain::line(said).wrap(usize::from(inside.width));
    for (y, line) in (inside.y..).zip(words.iter().take(usize::from(rows - 1))) {
        pen.text(inside.x, y, inside.width, line, Role::Title);
    }
    pen.words(inside.x, inside.bottom().saturating_sub(1), inside.width, ABOUT, Role::Dim);
    if theme.glyphs() == GlyphSet::Ascii {
        to_ascii(screen);
    }
}
