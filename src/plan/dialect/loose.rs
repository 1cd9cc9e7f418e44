//! JSON as people and programs write it: with comments, with commas before closing brackets, with Python's words and quotes, with names
//! that have no quotes, or one object a line. All of that has one meaning.

use super::json::Strict;
use serde_json::Value;
use std::iter::Peekable;
use std::str::Chars;

/// The value of a text that is JSON but for such things, the JSON that it means, and what was read past.
pub(super) fn read(text: &str) -> Option<(Value, String, &'static str)> {
    let mut tidy = Tidy { out: String::with_capacity(text.len()), has_commas: false, has_others: false };
    tidy.text(&mut text.chars().peekable());
    let message = match (tidy.has_commas, tidy.has_others) {
        (true, false) => "the text has commas before closing brackets: read without them",
        (_, true) => "the text has comments, or quotes and words that JSON has not: read as JSON without them",
        (false, false) => "the text has one object a line: read as a list",
    };
    if tidy.has_commas || tidy.has_others {
        let value = serde_json::from_str::<Strict>(&tidy.out).ok()?.0;
        return Some((value, tidy.out, message));
    }
    let lines: Vec<Value> = serde_json::Deserializer::from_str(text)
        .into_iter::<Strict>()
        .map(|value| value.ok().map(|value| value.0).filter(Value::is_object))
        .collect::<Option<_>>()?;
    (lines.len() > 1).then(|| (Value::Array(lines), text.to_owned(), message))
}

struct Tidy {
    out: String,
    has_commas: bool,
    has_others: bool,
}

impl Tidy {
    fn text(&mut self, rest: &mut Peekable<Chars>) {
        while let Some(c) = rest.next() {
            match c {
                '"' | '\'' => self.quoted(c, rest),
                '/' if rest.peek() == Some(&'/') => self.comment(rest, '\n'),
                '#' => self.comment(rest, '\n'),
                '/' if rest.peek() == Some(&'*') => self.comment(rest, '/'),
                '}' | ']' => {
                    let end = self.out.trim_end().len();
                    if self.out[..end].ends_with(',') {
                        self.has_commas = true;
                        self.out.replace_range(end - 1..end, " ");
                    }
                    self.out.push(c);
                }
                c if c.is_alphabetic() || c == '_' => self.word(c, rest),
                c => self.out.push(c),
            }
        }
    }

    /// A text in quotes of either kind, with JSON's.
    fn quoted(&mut self, quote: char, rest: &mut Peekable<Chars>) {
        self.has_others |= quote == '\'';
        self.out.push('"');
        while let Some(c) = rest.next() {
            match c {
                '\\' => match rest.next() {
                    Some('\'') => self.out.push('\''),
                    escaped => self.out.extend(['\\'].into_iter().chain(escaped)),
                },
                c if c == quote => break,
                '"' => self.out.push_str("\\\""),
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    /// Reads past a comment; lines stay lines.
    fn comment(&mut self, rest: &mut Peekable<Chars>, end: char) {
        self.has_others = true;
        let mut before = ' ';
        for c in rest.by_ref() {
            if c == '\n' {
                self.out.push('\n');
            }
            if c == end && (end == '\n' || before == '*') {
                return;
            }
            before = c;
        }
    }

    /// A word outside of quotes: one of Python's, a name, or what JSON has itself.
    fn word(&mut self, first: char, rest: &mut Peekable<Chars>) {
        let mut word = String::from(first);
        while let Some(c) = rest.next_if(|c| c.is_alphanumeric() || ['_', '-'].contains(c)) {
            word.push(c);
        }
        let mut behind = rest.clone();
        let is_name = behind.find(|c| !c.is_whitespace()) == Some(':');
        let meant = match word.as_str() {
            "None" | "undefined" if !is_name => "null".to_owned(),
            "True" if !is_name => "true".to_owned(),
            "False" if !is_name => "false".to_owned(),
            _ if is_name => format!("\"{word}\""),
            _ => word.clone(),
        };
        self.has_others |= meant != word;
        self.out.push_str(&meant);
    }
}
