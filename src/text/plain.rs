//! `Plain`: one line of text that is safe to show. Holding one is the proof: it can only be made from raw text by escaping.

use std::fmt;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::escape::{EscapeStep, Escaper};

/// Columns that a label has at most.
const LABEL: usize = 16;

/// One line that is safe to draw: no control characters, no line ends, nothing that reorders or hides text.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Plain {
    text: String,
    hidden: u32,
}

impl Plain {
    /// Raw text as one line; line ends show as `⏎`, and what looks like a key isn't shown.
    pub fn line(raw: &str) -> Self {
        Self::made(raw, Escaper::default())
    }

    /// What a person types, with its keys.
    pub fn typed(raw: &str) -> Self {
        Self::made(raw, Escaper::of_typed())
    }

    fn made(raw: &str, mut escaper: Escaper) -> Self {
        let mut text = String::with_capacity(raw.len());
        for c in raw.chars() {
            if escaper.push(c, &mut text) == EscapeStep::LineEnd {
                escaper.line_end_mark(&mut text);
            }
        }
        escaper.finish(&mut text);
        Self { text, hidden: escaper.hidden() }
    }

    /// Raw text as one line for titles and rows: white space, line ends included, becomes single spaces.
    pub fn summary(raw: &str) -> Self {
        let mut folded = String::with_capacity(raw.len());
        for word in raw.split([' ', '\t', '\n', '\r']).filter(|word| !word.is_empty()) {
            if !folded.is_empty() {
                folded.push(' ');
            }
            folded.push_str(word);
        }
        Self::line(&folded)
    }

    /// Raw text as lines. A line end at the very end opens no empty line.
    pub fn block(raw: &str) -> Vec<Self> {
        super::Block::new(raw).into_lines()
    }

    /// What an `Escaper` wrote. Private to this room, so that nobody else can vouch for a text.
    pub(super) fn escaped(text: String, hidden: u32) -> Self {
        Self { text, hidden }
    }

    pub fn blank(columns: usize) -> Self {
        Self { text: " ".repeat(columns), hidden: 0 }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The safe text, given away.
    pub fn into_string(self) -> String {
        self.text
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// How many characters were spelled out as `\u{…}` because a terminal would obey or hide them.
    pub fn hidden(&self) -> u32 {
        self.hidden
    }

    /// Columns that it takes on the screen.
    pub fn width(&self) -> usize {
        columns(&self.text)
    }

    /// This text with another behind it.
    #[must_use]
    pub fn then(mut self, more: &Self) -> Self {
        self.text.push_str(&more.text);
        self.hidden += more.hidden;
        self
    }

    /// At most so many columns; what was cut from the end shows as `…`.
    #[must_use]
    pub fn truncate(&self, max: usize) -> Self {
        if self.width() <= max {
            return self.clone();
        }
        let Some(room) = max.checked_sub(1) else { return Self::default() };
        let mut text = self.text[..fit(&self.text, room)].to_owned();
        text.push('…');
        Self { text, hidden: self.hidden }
    }

    /// The first columns; that the rest is cut doesn't show. For what goes on beyond the edge of a pane.
    #[must_use]
    pub fn cut(&self, max: usize) -> Self {
        Self { text: self.text[..fit(&self.text, max)].to_owned(), hidden: self.hidden }
    }

    /// At most so many columns; what was cut from the start shows as `…`. For paths and for what came last.
    #[must_use]
    pub fn truncate_start(&self, max: usize) -> Self {
        let width = self.width();
        if width <= max {
            return self.clone();
        }
        let Some(room) = max.checked_sub(1) else { return Self::default() };
        let mut left = width;
        let tail = self.text.grapheme_indices(true).find(|(_, grapheme)| {
            let fits = left <= room;
            left -= columns(grapheme);
            fits
        });
        Self { text: format!("…{}", tail.map_or("", |(at, _)| &self.text[at..])), hidden: self.hidden }
    }

    /// At most so many columns; what was cut from the middle shows as `…`. For names, whose ends tell them apart.
    #[must_use]
    pub fn truncate_middle(&self, max: usize) -> Self {
        if self.width() <= max {
            return self.clone();
        }
        let front = self.cut(max.saturating_sub(1).div_ceil(2));
        let Some(room) = max.checked_sub(front.width()) else { return Self::default() };
        front.then(&Self { hidden: 0, ..self.truncate_start(room) })
    }

    /// Exactly so many columns, text to the left.
    #[must_use]
    pub fn pad(&self, width: usize) -> Self {
        let cut = self.truncate(width);
        let missing = width.saturating_sub(cut.width());
        cut.then(&Self::blank(missing))
    }

    /// Exactly so many columns, text to the right. For figures.
    #[must_use]
    pub fn pad_start(&self, width: usize) -> Self {
        let cut = self.truncate(width);
        Self::blank(width.saturating_sub(cut.width())).then(&cut)
    }

    /// What is left after so many columns: a pane scrolled sideways. Half a wide character shows as a space.
    #[must_use]
    pub fn skip_columns(&self, skip: usize) -> Self {
        let mut gone = 0;
        for (at, grapheme) in self.text.grapheme_indices(true) {
            if gone >= skip {
                return Self::blank(gone - skip).then(&Self { text: self.text[at..].to_owned(), hidden: self.hidden });
            }
            gone += columns(grapheme);
        }
        Self::blank(gone.saturating_sub(skip))
    }

    /// Lines of at most so many columns, broken between words; words longer than a line are cut. At least one line.
    /// Spaces at a break are left out, those that indent the first line stay.
    pub fn wrap(&self, max: usize) -> Vec<Self> {
        self.wrap_below(max, 0)
    }

    /// Rows of at most so many columns that together are the whole text, spaces too, each with the column where it begins. They are broken
    /// behind a space where there is one.
    pub fn rows(&self, max: usize) -> Vec<(usize, Self)> {
        let (mut rows, mut rest, mut column) = (Vec::new(), self.text.as_str(), 0);
        loop {
            let most = fit(rest, max.max(2));
            let at = if most == rest.len() { most } else { rest[..most].rfind(' ').map_or(most, |space| space + 1) };
            let (row, after) = rest.split_at(at);
            rows.push((column, Self { text: row.to_owned(), hidden: self.hidden }));
            if after.is_empty() {
                return rows;
            }
            column += columns(row);
            rest = after;
        }
    }

    /// The same, with the later lines below where the first one's words begin: behind its indent, or behind a label and the spaces after it.
    pub fn wrap_hanging(&self, max: usize) -> Vec<Self> {
        let words = self.text.trim_start_matches(' ');
        let indent = self.text.len() - words.len();
        let label = words.split_once("  ").filter(|(label, _)| indent == 0 && columns(label) < LABEL);
        let hang = label.map_or(indent, |(label, value)| columns(label) + 2 + (value.len() - value.trim_start_matches(' ').len()));
        self.wrap_below(max, if hang > max / 3 { 0 } else { hang })
    }

    /// The same, with the later lines indented by so many columns.
    pub fn wrap_below(&self, max: usize, hang: usize) -> Vec<Self> {
        let mut wrapping = Wrapping { max: max.max(1), hang, lines: Vec::new(), line: String::new(), taken: 0, start: 0 };
        let mut rest = self.text.as_str();
        while !rest.is_empty() {
            let (gap, after) = rest.split_at(rest.find(|c| c != ' ').unwrap_or(rest.len()));
            let (word, after) = after.split_at(after.find(' ').unwrap_or(after.len()));
            wrapping.word(gap, word);
            rest = after;
        }
        wrapping.finish()
    }
}

/// A text on its way into lines.
struct Wrapping {
    max: usize,
    /// Columns that lines after the first are indented by.
    hang: usize,
    lines: Vec<Plain>,
    line: String,
    taken: usize,
    /// Columns of this line that its indent took.
    start: usize,
}

impl Wrapping {
    /// Puts a word, with the spaces before it, behind what is there or on a line of its own.
    fn word(&mut self, gap: &str, word: &str) {
        let width = columns(word);
        let behind = self.taken + gap.len();
        if word.is_empty() {
            return;
        }
        if behind + width <= self.max || (width > self.max && behind < self.max) {
            self.line.push_str(gap);
            self.taken = behind;
        } else if self.line.len() > self.start {
            self.end_line();
        }
        self.letters(word);
    }

    /// Puts letters behind what is there, over as many lines as they need.
    fn letters(&mut self, mut word: &str) {
        loop {
            let room = fit(word, self.max.saturating_sub(self.taken));
            // A wide character in a single column stands alone rather than never.
            let at = if room == 0 && self.line.len() == self.start { word.graphemes(true).next().map_or(0, str::len) } else { room };
            let (part, more) = word.split_at(at);
            self.line.push_str(part);
            self.taken += columns(part);
            if more.is_empty() {
                return;
            }
            self.end_line();
            word = more;
        }
    }

    fn end_line(&mut self) {
        self.lines.push(Plain::escaped(std::mem::replace(&mut self.line, " ".repeat(self.hang)), 0));
        (self.taken, self.start) = (self.hang, self.hang);
    }

    fn finish(mut self) -> Vec<Plain> {
        if self.line.len() > self.start || self.lines.is_empty() {
            self.end_line();
        }
        self.lines
    }
}

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl AsRef<str> for Plain {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// Columns of safe text, grapheme by grapheme, which is how cells are filled.
fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.graphemes(true).map(UnicodeWidthStr::width).sum() }
}

/// Bytes of the longest start that takes at most so many columns.
fn fit(text: &str, max: usize) -> usize {
    let mut taken = 0;
    text.grapheme_indices(true)
        .find(|(_, grapheme)| {
            taken += columns(grapheme);
            taken > max
        })
        .map_or(text.len(), |(at, _)| at)
}
