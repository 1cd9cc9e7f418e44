//! `Canvas`: composes a frame into bytes. One frame is one run of bytes in a synchronized update; a frame that looks like
//! the last one is no bytes at all. It never asks the terminal anything, since a late answer would arrive as keys.

use std::io;

use crossterm::queue;
use crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate};
use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use ratatui::{Frame, Terminal};

/// What the terminal shows, and how to get from there to the next frame.
pub(super) struct Canvas {
    terminal: Terminal<BytePen>,
}

impl Canvas {
    /// An empty terminal of that size with a hidden cursor.
    pub(super) fn new(size: Size) -> io::Result<Self> {
        // Colours are resolved by the theme. crossterm's own reading of NO_COLOR would also reset bold and reverse.
        crossterm::style::force_color_output(true);
        let pen = BytePen { bytes: Vec::new(), size, shown: false, place: None };
        Ok(Self { terminal: Terminal::new(pen)? })
    }

    /// The bytes that turn what the terminal shows into this frame.
    pub(super) fn compose(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<Vec<u8>> {
        self.terminal.draw(view)?;
        let drawn = std::mem::take(&mut self.terminal.backend_mut().bytes);
        if drawn.is_empty() {
            return Ok(drawn);
        }
        let mut bytes = Vec::with_capacity(drawn.len() + 16);
        queue!(bytes, BeginSynchronizedUpdate)?;
        bytes.extend(drawn);
        queue!(bytes, EndSynchronizedUpdate)?;
        Ok(bytes)
    }

    /// The size of the next frame.
    pub(super) fn size(&self) -> Size {
        self.terminal.backend().size
    }

    /// Sets the size of the next frames; another size paints all of the next one.
    pub(super) fn resize(&mut self, size: Size) {
        self.terminal.backend_mut().size = size;
    }

    /// Paints all of the next frame, because somebody else has written to the terminal. The cursor is hidden.
    pub(super) fn repaint(&mut self) -> io::Result<()> {
        let pen = self.terminal.backend_mut();
        (pen.shown, pen.place) = (false, None);
        self.terminal.clear()
    }
}

/// Changed cells up to which they are drawn by their styles.
const FEW: usize = 128;

/// A backend that gathers bytes, and none for what is so already.
struct BytePen {
    bytes: Vec<u8>,
    size: Size,
    /// Whether the cursor shows.
    shown: bool,
    /// Where it is, if nothing was drawn since it was put there.
    place: Option<Position>,
}

impl BytePen {
    fn inner(&mut self) -> CrosstermBackend<&mut Vec<u8>> {
        CrosstermBackend::new(&mut self.bytes)
    }
}

impl Backend for BytePen {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut cells: Vec<(u16, u16, &Cell)> = content.collect();
        if cells.is_empty() {
            return Ok(());
        }
        // Of a few cells here and there, those of one style go together: another style costs more than another place.
        if cells.len() <= FEW {
            let style = |cell: &Cell| (cell.fg, cell.bg, cell.modifier);
            let mut styles: Vec<_> = Vec::new();
            for (_, _, cell) in &cells {
                if !styles.contains(&style(cell)) {
                    styles.push(style(cell));
                }
            }
            cells.sort_by_key(|(_, _, cell)| styles.iter().position(|known| *known == style(cell)));
        }
        self.place = None;
        self.inner().draw(cells.into_iter())
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.shown, false) { self.inner().hide_cursor() } else { Ok(()) }
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.shown, true) { Ok(()) } else { self.inner().show_cursor() }
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(self.place.unwrap_or_default())
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let position = position.into();
        if self.place.replace(position) == Some(position) { Ok(()) } else { self.inner().set_cursor_position(position) }
    }

    fn clear(&mut self) -> io::Result<()> {
        self.clear_region(ClearType::All)
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.inner().clear_region(clear_type)
    }

    fn size(&self) -> io::Result<Size> {
        Ok(self.size)
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size, pixels: Size::ZERO })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ratatui::widgets::Paragraph;

    use super::*;
    use crate::console::theme::{Depth, Role, load};

    fn canvas() -> Canvas {
        Canvas::new(Size::new(20, 3)).unwrap()
    }

    fn text(words: &'static str) -> impl FnOnce(&mut Frame<'_>) {
        move |frame| frame.render_widget(Paragraph::new(words), frame.area())
    }

    fn shown(bytes: &[&[u8]], columns: u16) -> vt100::Parser {
        let mut screen = vt100::Parser::new(3.try_into().unwrap(), columns.try_into().unwrap(), 0);
        bytes.iter().for_each(|bytes| screen.process(bytes));
        screen
    }

    #[test]
    fn a_frame_is_one_synchronized_update_and_the_same_frame_again_is_nothing() {
        let mut canvas = canvas();
        let first = canvas.compose(text("hello")).unwrap();
        assert!(first.starts_with(b"\x1b[?2026h") && first.ends_with(b"\x1b[?2026l"));
        assert_eq!(canvas.compose(text("hello")).unwrap(), b"");
        assert_eq!(shown(&[&first], 20).screen().contents(), "hello");
    }

    #[test]
    fn a_streamed_word_costs_less_than_a_hundred_bytes() {
        let mut canvas = canvas();
        canvas.compose(text("once upon")).unwrap();
        let word = canvas.compose(text("once upon a time")).unwrap();
        assert!(word.len() < 60, "{} bytes", word.len());
    }

    #[test]
    fn a_tick_of_five_running_rows_costs_less_than_two_hundred_bytes() {
        use ratatui::style::{Color, Style};
        let mut canvas = Canvas::new(Size::new(80, 24)).unwrap();
        let tick = |second: &'static str, lane: &'static str| {
            move |frame: &mut Frame<'_>| {
                for y in 4..9 {
                    frame.buffer_mut().set_string(60, y, lane, Style::new().fg(Color::Cyan).bold());
                    frame.buffer_mut().set_string(76, y, second, Style::new().dim());
                }
                frame.buffer_mut().set_string(78, 1, second, Style::new().dim());
            }
        };
        canvas.compose(tick("3", "━━╸")).unwrap();
        let bytes = canvas.compose(tick("4", "━━━╸")).unwrap();
        assert!(bytes.len() < 200, "{} bytes", bytes.len());
    }

    #[test]
    fn the_cursor_is_moved_only_when_it_has_to() {
        let mut canvas = canvas();
        let with_cursor = |words: &'static str, x: u16| {
            move |frame: &mut Frame<'_>| {
                frame.render_widget(Paragraph::new(words), frame.area());
                frame.set_cursor_position((x, 0));
            }
        };
        let first = canvas.compose(with_cursor("ab", 2)).unwrap();
        assert_eq!(canvas.compose(with_cursor("ab", 2)).unwrap(), b"");
        let typed = canvas.compose(with_cursor("abc", 3)).unwrap();
        let moved = canvas.compose(with_cursor("abc", 1)).unwrap();
        let gone = canvas.compose(text("abc")).unwrap();
        let screen = shown(&[&first, &typed], 20);
        assert_eq!((screen.screen().cursor_position(), screen.screen().hide_cursor()), ((0, 3), false));
        let screen = shown(&[&first, &typed, &moved, &gone], 20);
        assert_eq!((screen.screen().cursor_position(), screen.screen().hide_cursor()), ((0, 1), true));
    }

    #[test]
    fn another_size_and_a_repaint_paint_everything() {
        let mut canvas = canvas();
        canvas.compose(text("hello")).unwrap();
        canvas.repaint().unwrap();
        let again = canvas.compose(text("hello")).unwrap();
        assert_eq!(shown(&[b"garbage\r\nfrom elsewhere", &again], 20).screen().contents(), "hello");
        canvas.resize(Size::new(12, 3));
        let narrow = canvas.compose(text("hello wide world")).unwrap();
        assert_eq!(shown(&[b"garbage", &narrow], 12).screen().contents(), "hello wide w");
    }

    #[test]
    fn selection_is_visible_under_no_color() {
        let theme = load("terminal", None, Depth::Mono).unwrap();
        let bytes =
            canvas().compose(|frame| frame.render_widget(Paragraph::new("row").style(theme.style(Role::Selection)), frame.area())).unwrap();
        let screen = shown(&[&bytes], 20);
        let cell = screen.screen().cell(0, 0).unwrap();
        assert!(cell.bold() && !cell.inverse(), "its state's look is seen through it");
        assert_eq!((cell.fgcolor(), cell.bgcolor()), (vt100::Color::Default, vt100::Color::Default));
    }

    #[test]
    fn bold_survives_beside_colour() {
        let theme = load("terminal", None, Depth::Ansi16).unwrap();
        let bytes =
            canvas().compose(|frame| frame.render_widget(Paragraph::new("row").style(theme.style(Role::Error)), frame.area())).unwrap();
        let screen = shown(&[&bytes], 20);
        let cell = screen.screen().cell(0, 0).unwrap();
        assert_eq!((cell.bold(), cell.fgcolor()), (true, vt100::Color::Idx(1)));
    }
}
