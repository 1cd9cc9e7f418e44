//! What a table is: its columns and cells, the rules of names, and what counts as a number.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Most columns of one table.
pub(super) const COLUMNS: usize = 500;

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum TableFormat {
    Csv,
    Tsv,
    Json,
    Jsonl,
    Yaml,
    Log,
    Access,
    Lines,
}

/// What all cells of a column are that aren't null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    Number,
    Boolean,
    Text,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: ColumnKind,
    /// How many decimals each of its numbers is written with.
    #[serde(skip)]
    pub decimals: Option<usize>,
}

impl Column {
    pub(in crate::tools) fn new(name: String, kind: ColumnKind) -> Self {
        Self { name, kind, decimals: None }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Boolean(bool),
    Text(String),
}

impl Cell {
    /// As text; null is none.
    pub fn as_text(&self) -> Option<String> {
        match self {
            Self::Null => None,
            Self::Integer(number) => Some(number.to_string()),
            Self::Real(number) => Some(number.to_string()),
            Self::Boolean(truth) => Some(truth.to_string()),
            Self::Text(text) => Some(text.clone()),
        }
    }
}

/// One table of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub name: String,
    /// The path as it was given.
    pub file: String,
    pub format: TableFormat,
    pub columns: Vec<Column>,
    /// As long as the columns, each.
    pub rows: Vec<Vec<Cell>>,
    /// Lines that can't be read.
    pub unreadable: usize,
    /// What a reader of the answer has to know, in sentences.
    pub notes: Vec<String>,
    /// Why nothing of the file could be read.
    pub fault: Option<String>,
}

impl Table {
    pub fn empty(name: impl Into<String>, file: &str, format: TableFormat) -> Self {
        let (columns, rows, notes) = (Vec::new(), Vec::new(), Vec::new());
        Self { name: name.into(), file: file.into(), format, columns, rows, unreadable: 0, notes, fault: None }
    }
}

/// Letters, digits and `_`; never a digit first.
pub(super) fn table_name(text: &str) -> String {
    let name: String = text.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' }).collect();
    if name.starts_with(|first: char| !first.is_ascii_digit()) { name } else { format!("t_{name}") }
}

/// Names made unlike each other by numbers; SQL doesn't tell upper from lower case.
pub(super) fn unlike(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut free = |name: String| {
        let tries = std::iter::once(name.clone()).chain((2..).map(|n| format!("{name}_{n}")));
        tries.into_iter().find(|name| taken.insert(name.to_lowercase())).unwrap_or(name)
    };
    names.into_iter().map(&mut free).collect()
}

/// Column names as they were written; those without one are numbered.
pub fn column_names(names: impl IntoIterator<Item = String>) -> Vec<String> {
    unlike(names.into_iter().enumerate().map(|(at, name)| if name.is_empty() { format!("column_{}", at + 1) } else { name }))
}

/// A plain decimal that is held exactly.
pub fn number(text: &str) -> Option<Cell> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, part) = digits.split_once('.').map_or((digits, None), |(whole, part)| (whole, Some(part)));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    match part {
        None => text.parse().ok().map(Cell::Integer),
        Some(part) if is_digits(part) && whole.trim_start_matches('0').len() + part.len() <= 15 => text.parse().ok().map(Cell::Real),
        Some(_) => None,
    }
}

/// Text that a person would take for a number, but that isn't a plain decimal.
pub(super) fn looks_numeric(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_digit() || " ,.'_+-%$€£()".contains(letter) || letter == '\u{a0}' || letter == '\u{202f}';
    let hyphens = text.chars().skip(1).filter(|letter| *letter == '-').count();
    text.chars().any(|letter| letter.is_ascii_digit()) && hyphens == 0 && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_decimals_that_are_held_exactly_are_numbers() {
        for (text, cell) in [("0", Cell::Integer(0)), ("-12", Cell::Integer(-12)), ("0.5", Cell::Real(0.5)), ("12.50", Cell::Real(12.5))] {
            assert_eq!(number(text), Some(cell), "{text}");
        }
        let texts = ["", "-", "007", "00.5", "+5", ".5", "5.", "1,234", "1.234,5", "1e5", "0x1", "5 %", "NaN", "inf", "1_000", "９"];
        for text in texts.into_iter().chain(["12345678901234567890", "0.1234567890123456", " 5"]) {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
