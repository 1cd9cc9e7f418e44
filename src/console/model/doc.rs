//! `Doc`: text for reading, line by line, with a role for each part. The inspector, gates, help and the zoomed pane are docs, so that
//! what is copied is exactly what is read.

use std::borrow::Cow;

use crate::{console::theme::Role, text::Plain};

#[derive(Clone, Debug, Default)]
pub struct Doc<'a> {
    parts: Vec<(Role, Cow<'a, [Plain]>)>,
    len: usize,
}

impl<'a> Doc<'a> {
    /// Appends lines that stand elsewhere.
    pub fn lines(&mut self, role: Role, lines: &'a [Plain]) {
        self.len += lines.len();
        self.parts.push((role, Cow::Borrowed(lines)));
    }

    /// Appends one line.
    pub fn line(&mut self, role: Role, line: Plain) {
        self.len += 1;
        match self.parts.last_mut() {
            Some((last, Cow::Owned(lines))) if *last == role => lines.push(line),
            _ => self.parts.push((role, Cow::Owned(vec![line]))),
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
        self.line(Role::Text, Plain::line(&format!("{name:<12} ")).then(value));
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
        Doc { parts: self.parts.iter().map(|(role, lines)| (*role, Cow::Borrowed(&**lines))).collect(), len: self.len }
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
    pub fn from(&self, start: usize) -> impl Iterator<Item = (Role, &Plain)> {
        let mut skip = start;
        self.parts.iter().flat_map(move |(role, lines)| {
            let left = lines.get(skip..).unwrap_or(&[]);
            skip = skip.saturating_sub(lines.len());
            left.iter().map(|line| (*role, line))
        })
    }

    /// Lines before one, backwards.
    pub fn back(&self) -> impl Iterator<Item = (Role, &Plain)> {
        self.parts.iter().rev().flat_map(|(role, lines)| lines.iter().rev().map(|line| (*role, line)))
    }

    /// The first line of the last page: from it on, all fits into so many rows of so many columns.
    pub fn last_page(&self, columns: usize, rows: usize) -> usize {
        let mut left = rows;
        let fits = self.back().take_while(|(_, line)| {
            let wrapped = line.wrap_hanging(columns).len();
            let fits = wrapped <= left;
            left = left.saturating_sub(wrapped);
            fits
        });
        let fit = fits.count();
        self.len.saturating_sub(fit.max(1))
    }

    /// All of it as text, for the clipboard.
    pub fn copied(&self) -> String {
        self.from(0).map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("\n")
    }
}
