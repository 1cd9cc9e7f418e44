//! Values: what slots of forms are filled with, and how they are written so that they can be read again.

use serde_json::Value;
use std::fmt::{self, Display, Formatter};

/// What a slot was filled with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SlotValue {
    Number(f64),
    Text {
        text: String,
        quoted: bool,
    },
    /// A file or folder as the workspace spells it, or a new one.
    Path(String),
    /// Several files, as the workspace spells them.
    Paths(Vec<String>),
    Globs(Vec<String>),
    Column(String),
    /// A value that occurs in a column.
    Member {
        column: String,
        value: String,
    },
    Value(Literal),
    Compare(Relation),
    Range(u64, u64),
    /// Days from the first up to the second, which is no part of it.
    Period(String, String),
    /// One of a fixed choice, by its own name.
    Choice(&'static str),
}

/// Slots by name, in the order of the form.
pub(super) type SlotValues = Vec<(String, SlotValue)>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Number(f64),
    Text(String),
    Truth(bool),
    /// What another column of the same row has.
    Column(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Contains,
    Starts,
    Ends,
}

impl Relation {
    pub fn words(self) -> &'static str {
        match self {
            Self::Equal => "is",
            Self::NotEqual => "is not",
            Self::Less => "less than",
            Self::AtMost => "at most",
            Self::Greater => "more than",
            Self::AtLeast => "at least",
            Self::Contains => "contains",
            Self::Starts => "starts with",
            Self::Ends => "ends with",
        }
    }

    /// By its name in the list of words.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "equal" => Self::Equal,
            "not equal" => Self::NotEqual,
            "less" => Self::Less,
            "at most" => Self::AtMost,
            "greater" => Self::Greater,
            "at least" => Self::AtLeast,
            "contains" => Self::Contains,
            "starts" => Self::Starts,
            "ends" => Self::Ends,
            _ => return None,
        })
    }

    pub fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::Contains | Self::Starts | Self::Ends => "",
        }
    }
}

impl SlotValue {
    /// As people write it.
    pub fn show(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text { text, quoted: true } => quoted(text),
            Self::Text { text, quoted: false } => text.clone(),
            Self::Path(text) => path(text),
            Self::Paths(paths) => {
                let all: Vec<String> = paths.iter().map(|text| path(text)).collect();
                let (last, rest) = all.split_last().map_or(("", &[][..]), |(last, rest)| (last.as_str(), rest));
                if rest.is_empty() { last.to_owned() } else { format!("{} and {last}", rest.join(" , ")) }
            }
            Self::Globs(globs) => globs.join(" and "),
            Self::Column(name) => name.clone(),
            Self::Member { value, .. } => value.clone(),
            Self::Value(value) => value.to_string(),
            Self::Compare(comparison) => comparison.sign().to_owned(),
            Self::Range(from, to) => format!("{from}-{to}"),
            Self::Period(from, to) => format!("{from} to before {to}"),
            Self::Choice(name) => (*name).to_owned(),
        }
    }

    pub fn value(&self) -> Value {
        match self {
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => Value::from(*number as i64),
            Self::Number(number) => Value::from(*number),
            Self::Text { text, .. } | Self::Path(text) | Self::Column(text) => Value::from(text.as_str()),
            Self::Value(Literal::Text(text) | Literal::Column(text)) => Value::from(text.as_str()),
            Self::Value(Literal::Number(number)) => Self::Number(*number).value(),
            Self::Value(Literal::Truth(truth)) => Value::from(*truth),
            Self::Member { value, .. } => Value::from(value.as_str()),
            Self::Globs(texts) | Self::Paths(texts) => Value::from(texts.clone()),
            Self::Choice(name) => Value::from(*name),
            Self::Compare(comparison) => Value::from(comparison.sign()),
            Self::Range(..) | Self::Period(..) => Value::from(self.show()),
        }
    }
}

pub(super) fn quoted(text: &str) -> String {
    if text.contains('"') { format!("`{text}`") } else { format!("\"{text}\"") }
}

/// A path as it can be read back: in quotes when it has spaces.
pub(super) fn path(path: &str) -> String {
    if path.contains(char::is_whitespace) { quoted(path) } else { path.to_owned() }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Truth(truth) => truth.fmt(f),
            Self::Column(name) => f.write_str(name),
        }
    }
}
