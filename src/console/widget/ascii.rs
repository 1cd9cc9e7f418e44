//! `--ascii` made complete: whatever a frame still holds beyond ASCII, borders of other crates and content included.

use ratatui::buffer::Buffer;

use crate::text::ascii_of;

/// Replaces every cell that is not ASCII by its likeness. Call it last, on the whole frame.
pub fn to_ascii(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() {
            let likeness = ascii_of(cell.symbol());
            cell.set_symbol(likeness);
        }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::widgets::{Block, Widget};

    use super::*;

    #[test]
    fn a_frame_of_lines_and_wide_text_becomes_ascii_of_the_same_size() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 8, 3));
        Block::bordered().render(buffer.area, &mut buffer);
        buffer.set_string(1, 1, "漢é…", ratatui::style::Style::new());
        to_ascii(&mut buffer);
        assert_eq!(buffer, Buffer::with_lines(["+------+", "|? ?~  |", "+------+"]));
    }
}
