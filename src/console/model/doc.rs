//! `Doc`: text for reading, line by line, with a role for each part. The inspector, gates, help and the zoomed pane are docs, so that
//! what is copied is exactly what is read.

use std::borrow::Cow;

use super::DrawnLine;
use crate::{console::theme::Role, text::Plain};

#[derive(Clone, Debug, Default)]
pub struct Doc<'a> {
    parts: Vec<DocPart<'a>>,
    len: usize,
}

/// Lines that are alike.
#[derive(Clone, Debug)]
enum DocPart<'a> {
    Lines(Role, Cow<'a, [Plain]>),
    /// Lines with a role for each of their pieces.
    Drawn(Cow<'a, [DrawnLine]>),
}

/// One line of a doc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DocLine<'a> {
    Text(Role, &'a Plain),
    Drawn(&'a DrawnLine),
}

impl DocLine<'_> {
    /// Its words.
    pub fn text(&self) -> &Plain {
        match self {
            Self::Text(_, text) => text,
            Self::Drawn(line) => line.text(),
        }
    }

    /// Rows that it takes in so many columns.
    pub fn height(&self, columns: usize) -> usize {
        match self {
            Self::Text(_, text) => text.wrap_hanging(columns).len(),
            Self::Drawn(line) => line.rows(columns).len(),
        }
    }
}

impl DocPart<'_> {
    /// Its lines from one on, either way.
    fn lines(&self, start: usize) -> impl DoubleEndedIterator<Item = DocLine<'_>> {
        let (text, drawn) = match self {
            Self::Lines(role, lines) => (Some((*role, lines.get(start..).unwrap_or(&[]))), &[][..]),
            Self::Drawn(lines) => (None, lines.get(start..).unwrap_or(&[])),
        };
        let text = text.into_iter().flat_map(|(role, lines)| lines.iter().map(move |line| DocLine::Text(role, line)));
        text.chain(drawn.iter().map(DocLine::Drawn))
    }

    fn borrowed(&self) -> DocPart<'_> {
        match self {
            Self::Lines(role, lines) => DocPart::Lines(*role, Cow::Borrowed(&**lines)),
            Self::Drawn(lines) => DocPart::Drawn(Cow::Borrowed(&**lines)),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Lines(_, lines) => lines.len(),
            Self::Drawn(lines) => lines.len(),
        }
    }
}

/// Columns of the name of a value.
pub const LABEL: usize = 8;

impl<'a> Doc<'a> {
    /// Appends lines that stand elsewhere.
    pub fn lines(&mut self, role: Role, lines: &'a [Plain]) {
        self.len += lines.len();
        self.parts.push(DocPart::Lines(role, Cow::Borrowed(lines)));
    }

    /// Appends lines in pieces that something else owns.
    pub fn drawn(&mut self, lines: &'a [DrawnLine]) {
        self.len += lines.len();
        self.parts.push(DocPart::Drawn(Cow::Borrowed(lines)));
    }

    /// Appends a line in pieces.
    pub fn drawn_line(&mut self, line: DrawnLine) {
        self.len += 1;
        match self.parts.last_mut() {
            Some(DocPart::Drawn(Cow::Owned(lines))) => lines.push(line),
            _ => self.parts.push(DocPart::Drawn(Cow::Owned(vec![line]))),
        }
    }

    /// Appends one line.
    pub fn line(&mut self, role: Role, line: Plain) {
        self.len += 1;
        match self.parts.last_mut() {
            Some(DocPart::Lines(last, Cow::Owned(lines))) if *last == role => lines.push(line),
            _ => self.parts.push(DocPart::Lines(role, Cow::Owned(vec![line]))),
        }
    }

    /// Appends raw text, escaped, as lines.
    pub fn text(&mut self, role: Role, raw: &str) {
        for line in super::transcript::lines(raw) {
            self.line(role, line);
        }
    }

    /// Appends a name with its value.
    pub fn field(&mut self, name: &str, value: &Plain) {
        self.line(Role::Text, Plain::line(&format!("{name:<width$} ", width = LABEL)).then(value));
    }

    /// Appends a heading, with an empty line before it where something is above.
    pub fn heading(&mut self, words: &str) {
        if self.len > 0 {
            self.line(Role::Text, Plain::default());
        }
        self.line(Role::Heading, Plain::line(words));
    }

    /// The same without a copy of its text.
    pub fn borrowed(&self) -> Doc<'_> {
        Doc { parts: self.parts.iter().map(DocPart::borrowed).collect(), len: self.len }
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Lines from one on.
    pub fn from(&self, start: usize) -> impl Iterator<Item = DocLine<'_>> {
        let mut skip = start;
        self.parts.iter().flat_map(move |part| {
            let lines = part.lines(skip);
            skip = skip.saturating_sub(part.len());
            lines
        })
    }

    /// All lines, the last one first.
    pub fn back(&self) -> impl Iterator<Item = DocLine<'_>> {
        self.parts.iter().rev().flat_map(|part| part.lines(0).rev())
    }

    /// The first line of the last page: from it on, all fits into so many rows of so many columns.
    pub fn last_page(&self, columns: usize, rows: usize) -> usize {
        let mut left = rows;
        let fits = self.back().take_while(|line| {
            let wrapped = line.height(columns);
            let fits = wrapped <= left;
            left = left.saturating_sub(wrapped);
            fits
        });
        let fit = fits.count();
        self.len.saturating_sub(fit.max(1))
    }

    /// All of it as text, for the clipboard.
    pub fn copied(&self) -> String {
        self.from(0).map(|line| line.text().as_str().to_owned()).collect::<Vec<_>>().join("\n")
    }
}
