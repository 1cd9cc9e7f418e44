//! `Escaper`: turns raw characters into visible ones, one at a time, so that streamed text costs only its new part.
//!
//! One form for all: a character that a terminal would obey (controls, ESC, C1), that reorders text (bidi controls) or
//! that can't be seen (zero-width, tags, fillers) becomes `\u{hex}`. What only dresses an emoji (one variation selector,
//! a skin tone, joiners between emoji) is left out, because terminals disagree on its width and nothing can hide in it.

use super::secret::{REDACTED, SECRET_END, SECRET_START, is_key, is_key_letter};
use std::{borrow::Cow, fmt::Write as _};
use unicode_width::UnicodeWidthChar;

/// Columns from one tab stop to the next.
const TAB: usize = 4;
/// Combining marks that one character may carry; more of them climb over the neighbouring rows.
const MARKS: u8 = 4;
const JOINER: char = '\u{200d}';

/// What the next character would attach to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Base {
    /// Nothing: the start of a line, or an escape.
    #[default]
    None,
    Letter,
    /// An emoji that has no selector or skin tone yet.
    Emoji,
    /// An emoji that has one.
    DressedEmoji,
}

/// Whether a character ended the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EscapeStep {
    /// The line goes on.
    Within,
    /// The line is complete.
    LineEnd,
}

/// The state between two characters of one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Escaper {
    base: Base,
    marks: u8,
    column: usize,
    hidden: u32,
    /// A carriage return or an emoji's joiner, shown only if what follows doesn't explain it.
    held: Option<char>,
    /// Whether keys are shown as they are.
    is_typed: bool,
    word: KeyWord,
}

/// The letters of a key that came last, if what is shown ends with such letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum KeyWord {
    #[default]
    None,
    /// Where in what is shown it begins.
    Open(usize),
    /// It is none.
    Ordinary,
    /// The rest of it isn't shown either.
    Key,
}

impl Escaper {
    /// Shows text that a person types just as it is.
    pub(super) fn of_typed() -> Self {
        Self { is_typed: true, ..Self::default() }
    }

    /// Takes one raw character and appends what is shown of it.
    pub(super) fn push(&mut self, c: char, out: &mut String) -> EscapeStep {
        match self.held.take() {
            Some('\r') if c == '\n' => return EscapeStep::LineEnd,
            Some(JOINER) if is_emoji(c) => {}
            Some(held) => self.escape(held, out),
            None => {}
        }
        if is_key_letter(c) {
            self.letter(c, out);
            return EscapeStep::Within;
        }
        self.word = KeyWord::None;
        match c {
            '\n' => return EscapeStep::LineEnd,
            '\r' => self.held = Some(c),
            JOINER if matches!(self.base, Base::Emoji | Base::DressedEmoji) => self.held = Some(c),
            '\u{fe0e}' | '\u{fe0f}' if self.base == Base::Emoji => self.base = Base::DressedEmoji,
            '\u{1f3fb}'..='\u{1f3ff}' if self.base == Base::Emoji => self.base = Base::DressedEmoji,
            '\u{1f3fb}'..='\u{1f3ff}' if self.base == Base::DressedEmoji => self.escape(c, out),
            '\t' => {
                let spaces = TAB - self.column % TAB;
                out.extend(std::iter::repeat_n(' ', spaces));
                self.column += spaces;
                self.base = Base::Letter;
                self.marks = 0;
            }
            SECRET_START => self.show_words("[secret ", out),
            SECRET_END => self.show_words("]", out),
            c if is_hidden(c) => self.escape(c, out),
            c => self.show(c, out),
        }
        EscapeStep::Within
    }

    /// Shows what was held back, because nothing follows.
    pub(super) fn finish(&mut self, out: &mut String) {
        if let Some(held) = self.held.take() {
            self.escape(held, out);
        }
    }

    /// Appends a character that is safe as it is, unless it is a mark with nothing to sit on.
    fn show(&mut self, c: char, out: &mut String) {
        let width = c.width().unwrap_or(0);
        if width > 0 {
            self.base = if is_emoji(c) { Base::Emoji } else { Base::Letter };
            self.marks = 0;
        } else if self.base == Base::None || self.marks == MARKS {
            return self.escape(c, out);
        } else {
            self.marks += 1;
        }
        self.column += width;
        out.push(c);
    }

    /// A letter that a key may have. What looks like one isn't shown.
    fn letter(&mut self, c: char, out: &mut String) {
        if self.word == KeyWord::Key {
            return;
        }
        let start = if let KeyWord::Open(start) = self.word { start } else { out.len() };
        self.show(c, out);
        if self.word == KeyWord::Ordinary || self.is_typed {
            return;
        }
        self.word = match is_key(&out[start..]) {
            None => KeyWord::Open(start),
            Some(false) => KeyWord::Ordinary,
            Some(true) => {
                self.column = (self.column + REDACTED.len()).saturating_sub(out.len() - start);
                out.truncate(start);
                out.push_str(REDACTED);
                KeyWord::Key
            }
        };
    }

    fn show_words(&mut self, words: &str, out: &mut String) {
        words.chars().for_each(|c| self.show(c, out));
    }

    fn escape(&mut self, c: char, out: &mut String) {
        let before = out.len();
        // Writing to a String has no way to fail.
        let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        self.column += out.len() - before;
        self.base = Base::None;
        self.marks = 0;
        self.hidden += 1;
    }

    /// Appends the mark that stands for a line end where lines are shown as one.
    pub(super) fn line_end_mark(&mut self, out: &mut String) {
        out.push('⏎');
        self.column += 1;
        self.base = Base::None;
        self.marks = 0;
    }

    /// How many characters were spelled out.
    pub(super) fn hidden(&self) -> u32 {
        self.hidden
    }
}

/// A JSON document with everything in it that a terminal would obey or hide written as JSON's own escapes: it means the same.
pub fn safe_json(json: &str) -> Cow<'_, str> {
    // In its texts JSON has these three as escapes only: as themselves they lay the document out.
    let unsafe_ones = |c: char| is_hidden(c) && !matches!(c, '\n' | '\r' | '\t');
    if !json.contains(unsafe_ones) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 32);
    for c in json.chars() {
        if unsafe_ones(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String has no way to fail.
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

/// What a terminal obeys, what reorders text, and what leaves no trace on the screen.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Roughly the characters that emoji sequences are made of.
fn is_emoji(c: char) -> bool {
    matches!(c,
        '#' | '*' | '0'..='9' | '©' | '®' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23cd}' | '\u{23cf}'..='\u{23ff}' | '\u{24c2}'
        | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}'
        | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}
