//! `TextField`: text that a person types, of one line or several. Holds raw text; what is drawn of it is `Plain`.

use ratatui_textarea::{CursorMove, TextArea};

use super::{Key, MoveBy};
use crate::text::Plain;

#[derive(Clone, Debug)]
pub struct TextField {
    area: TextArea<'static>,
    lines: Lines,
    /// The text that was put in.
    before: String,
    /// Whether the text is only offered: what is typed first takes its place.
    offered: bool,
    /// Whether each letter is drawn as a star, unless a sign at the start says that it is no key.
    hidden: bool,
    /// Place among the texts that were typed before, while going through them, and what was there first.
    browsing: Option<(usize, String)>,
}

impl Default for TextField {
    fn default() -> Self {
        Self::line("")
    }
}

/// Whether a text may have line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// Line ends become spaces.
    One,
    Many,
}

impl TextField {
    /// A field with this text, the cursor behind it.
    pub fn new(lines: Lines, text: &str) -> Self {
        let mut field = Self { area: TextArea::default(), lines, before: String::new(), offered: false, hidden: false, browsing: None };
        field.set(text);
        field
    }

    /// A line with this text, the cursor behind it.
    pub fn line(text: &str) -> Self {
        Self::new(Lines::One, text)
    }

    /// An empty line whose text nobody may see.
    pub fn hidden() -> Self {
        Self { hidden: true, ..Self::line("") }
    }

    /// Whether nobody may see the text.
    pub fn is_hidden(&self) -> bool {
        self.hidden
    }

    /// A line with a text that is offered: what is typed first takes its place, a key that moves the cursor keeps it.
    pub fn offering(text: &str) -> Self {
        let mut field = Self::line(text);
        field.offer();
        field
    }

    /// Offers the text that is there, as one that was typed before.
    pub fn offer(&mut self) {
        self.offered = !self.is_empty();
    }

    /// Whether the text is only offered.
    pub fn is_offered(&self) -> bool {
        self.offered
    }

    /// Replaces the text, the cursor behind it.
    pub fn set(&mut self, text: &str) {
        let text = self.admitted(text);
        self.area = TextArea::new(text.split('\n').map(str::to_owned).collect());
        self.before = text;
        self.offered = false;
        self.browsing = None;
        self.area.move_cursor(CursorMove::Bottom);
        self.area.move_cursor(CursorMove::End);
    }

    /// Puts the cursor before the text.
    pub fn rewind(&mut self) {
        self.area.move_cursor(CursorMove::Top);
        self.area.move_cursor(CursorMove::Head);
    }

    /// Puts the cursor before the first value of JSON, behind its quote; before the text where it is none.
    pub fn to_first_value(&mut self) {
        self.rewind();
        let is_json = self.area.lines().first().is_some_and(|line| line.starts_with('{'));
        let Some((row, line)) = self.area.lines().iter().enumerate().find(|(_, line)| is_json && line.contains("\": ")) else { return };
        let behind = line.find("\": ").map_or(0, |at| at + 3);
        let behind = behind + usize::from(line[behind..].starts_with('"'));
        let (row, column) = (u16::try_from(row).unwrap_or(0), u16::try_from(line[..behind].chars().count()).unwrap_or(0));
        self.area.move_cursor(CursorMove::Jump(row, column));
    }

    pub fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    /// Whether the text is another one than was put in.
    pub fn is_changed(&self) -> bool {
        self.text() != self.before
    }

    /// Whether nothing is typed.
    pub fn is_empty(&self) -> bool {
        self.area.lines().iter().all(String::is_empty)
    }

    /// Takes a key that means no command.
    pub fn key(&mut self, key: Key) {
        if key.ends_line() {
            return self.newline();
        }
        let offered = std::mem::take(&mut self.offered);
        let replaced = offered && (key.typed().is_some() || key.deletes());
        if replaced || key.clears_line() && self.lines == Lines::One {
            self.area.select_all();
            self.area.cut();
        }
        if key.clears_line() {
            self.area.delete_line_by_head();
        } else if key.undoes() {
            self.undo();
        } else if let Some(end) = key.text_end() {
            self.rewind();
            if end == MoveBy::Bottom {
                self.area.move_cursor(CursorMove::Bottom);
                self.area.move_cursor(CursorMove::End);
            }
        } else if !(replaced && key.deletes()) {
            self.area.input(key.event());
        }
        self.area.cancel_selection();
    }

    /// A line end at the cursor, where there may be one.
    pub fn newline(&mut self) {
        if self.lines == Lines::Many {
            self.area.insert_newline();
        }
    }

    /// Text at the cursor, as pasted.
    pub fn paste(&mut self, text: &str) {
        let text = self.admitted(text);
        if std::mem::take(&mut self.offered) {
            self.area.select_all();
        }
        self.area.insert_str(text);
    }

    /// One back in what was typed before, oldest first, to the last text that is another one.
    pub fn older(&mut self, texts: &[String]) {
        let (at, now) = (self.browsing.as_ref().map_or(texts.len(), |(at, _)| *at), self.text());
        let Some(older) = texts.iter().take(at).rposition(|text| *text != now) else { return };
        let first = self.browsing.take().map_or(now, |(_, first)| first);
        self.set(&texts[older]);
        self.browsing = Some((older, first));
    }

    /// One forward in what was typed before, at last to what was there first. Says whether it went.
    pub fn newer(&mut self, texts: &[String]) -> bool {
        let Some((at, first)) = self.browsing.take() else { return false };
        match texts.get(at + 1) {
            Some(newer) => {
                self.set(newer);
                self.browsing = Some((at + 1, first));
            }
            None => self.set(&first),
        }
        true
    }

    /// The text, as it is taken: going through earlier ones begins at the newest again.
    pub fn settled(&mut self) -> String {
        self.browsing = None;
        self.text()
    }

    /// Lines as they may be drawn.
    pub fn shown(&self) -> impl Iterator<Item = Plain> + '_ {
        let drawn = |line: &String| {
            if self.hidden && !line.starts_with(['$', '!']) { Plain::line(&"*".repeat(line.chars().count())) } else { Plain::typed(line) }
        };
        self.area.lines().iter().map(drawn)
    }

    /// The text in rows of so many columns, and the cursor's row and column there. The cursor behind a full row still has its column.
    pub fn rows(&self, width: usize) -> (Vec<Plain>, (usize, usize)) {
        let (line, column) = self.cursor();
        let (mut rows, mut cursor) = (Vec::new(), (0, 0));
        for (at, shown) in self.shown().enumerate() {
            for (start, row) in shown.rows(width.saturating_sub(1)) {
                if at == line && start <= column {
                    cursor = (rows.len(), column - start);
                }
                rows.push(row);
            }
        }
        (rows, cursor)
    }

    /// Of each of these rows, whether its line goes on in the next one.
    pub fn goes_on(&self, width: usize) -> Vec<bool> {
        let rows_of = |line: Plain| {
            let rows = line.rows(width.saturating_sub(1)).len();
            (1..=rows).map(move |row| row < rows)
        };
        self.shown().flat_map(rows_of).collect()
    }

    /// Undoes what was typed last.
    pub fn undo(&mut self) {
        self.area.undo();
    }

    /// Number of lines.
    pub fn height(&self) -> usize {
        self.area.lines().len()
    }

    /// The cursor's line and its column on the screen.
    pub fn cursor(&self) -> (usize, usize) {
        let at = self.area.cursor();
        let (row, column) = (at.0, at.1);
        let before: String = self.area.lines().get(row).map(|line| line.chars().take(column).collect()).unwrap_or_default();
        (row, if self.hidden && !before.starts_with(['$', '!']) { column } else { Plain::typed(&before).width() })
    }

    fn admitted(&self, text: &str) -> String {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        match self.lines {
            Lines::One => text.replace('\n', " "),
            Lines::Many => text,
        }
    }
}
