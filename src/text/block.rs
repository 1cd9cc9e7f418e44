//! `Block`: lines that are safe to show and can grow at the end. A piece of a stream costs what the piece is long.

use super::Plain;
use super::escape::{EscapeStep, Escaper};

/// Text of several lines, made from raw text whole or piece by piece; how it was cut into pieces makes no difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The last one may still grow.
    lines: Vec<Plain>,
    escaper: Escaper,
    /// Whether the last line has had its line end, so that the next character opens a new one.
    closed: bool,
}

impl Block {
    /// Raw text as lines.
    pub fn new(raw: &str) -> Self {
        let mut block = Self::default();
        block.push(raw);
        block
    }

    pub fn push(&mut self, raw: &str) {
        if raw.is_empty() {
            return;
        }
        let mut text = self.reopen();
        for c in raw.chars() {
            if self.closed {
                self.lines.push(Plain::default());
                self.closed = false;
            }
            if self.escaper.push(c, &mut text) == EscapeStep::LineEnd {
                self.settle(std::mem::take(&mut text));
                self.escaper = Escaper::default();
                self.closed = true;
            }
        }
        if !self.closed {
            self.settle(text);
        }
    }

    /// The lines. A line end at the very end opens no empty line.
    pub fn lines(&self) -> &[Plain] {
        &self.lines
    }

    /// The lines, given away, with whatever the end held back.
    pub fn into_lines(mut self) -> Vec<Plain> {
        if !self.lines.is_empty() && !self.closed {
            let mut text = self.reopen();
            self.escaper.finish(&mut text);
            self.settle(text);
        }
        self.lines
    }

    /// The last line that shows anything.
    pub fn last_visible(&self) -> Option<&Plain> {
        self.lines.iter().rev().find(|line| !line.as_str().trim().is_empty())
    }

    /// Characters spelled out in all lines together.
    pub fn hidden(&self) -> u32 {
        self.lines.iter().map(Plain::hidden).sum()
    }

    /// Whether nothing was pushed yet.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// All lines wrapped to so many columns.
    pub fn wrap(&self, columns: usize) -> Vec<Plain> {
        self.lines.iter().flat_map(|line| line.wrap(columns)).collect()
    }

    /// Takes the text of the growing line out; `settle` puts it back.
    fn reopen(&mut self) -> String {
        if self.lines.is_empty() {
            self.lines.push(Plain::default());
        }
        if self.closed {
            return String::new();
        }
        self.lines.last_mut().map(std::mem::take).unwrap_or_default().into_string()
    }

    fn settle(&mut self, text: String) {
        if let Some(last) = self.lines.last_mut() {
            *last = Plain::escaped(text, self.escaper.hidden());
        }
    }
}
