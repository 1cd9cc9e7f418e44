//! YAML beside JSON: a text read into JSON's values, the place of a path in it, and a value written as YAML. Booleans are `true` and
//! `false` only (YAML 1.2), and aliases can't blow a small text up.

use super::json::{Lost, value_of};
use super::locate::{PathStep, steps};
use crate::plan::fields::step;
use crate::text::safe_json;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{DuplicateKeyPolicy, Error, Options, Spanned};
use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
};

/// Why a text is no YAML: the message, and line and column from 1.
pub(super) type YamlFault = (String, Option<(usize, usize)>);

/// The report of a number that is larger than any can be, or of what is no number.
pub(super) const NOT_FINITE: &str = "a number must be finite";

/// Reads a text.
///
/// # Errors
/// When it is no YAML, or YAML that isn't taken: several documents, too deep, too many aliases.
pub(super) fn read(text: &str) -> Result<(Value, Vec<Lost>), YamlFault> {
    serde_saphyr::with_deserializer_from_str_with_options(text, options(), |yaml| value_of(yaml)).map_err(|error| {
        let at = error.location().and_then(|at| place(at.line(), at.column()));
        (message(error.without_snippet()), at)
    })
}

/// What is wrong, without the place.
fn message(error: &Error) -> String {
    match error {
        Error::Budget { breach: BudgetBreach::Documents { .. }, .. } | Error::MultipleDocuments { .. } => {
            "the text holds several documents; a plan must be one".into()
        }
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => "nested too deeply for a plan".into(),
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => "its aliases expand to more than a plan needs".into(),
        Error::NullIntoString { .. } | Error::Unexpected { expected: "string scalar", .. } => "a key must be text".into(),
        Error::RecursiveReferencesRequireWeakTypes { .. } => "an alias refers to itself".into(),
        Error::NonFiniteFloat { .. } => NOT_FINITE.into(),
        Error::BinaryNotUtf8 { .. } => "`!!binary` must hold text".into(),
        Error::MergeValueNotMapOrSeqOfMaps { .. } => "`<<` must refer to an object".into(),
        other => {
            let text = other.to_string();
            let text = text.lines().next().unwrap_or_default().trim();
            let text = text.strip_prefix("error: ").unwrap_or(text);
            // The place is given beside the message.
            let text = text.rsplit_once(" at line ").map_or(text, |(text, _)| text);
            format!("not YAML: {text}")
        }
    }
}

fn options() -> Options {
    // A hundred thousand nodes are a plan; a text that its aliases swell is none.
    serde_saphyr::options! {
        strict_booleans: true,
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        budget: serde_saphyr::budget! {
            max_events: 20_000_000,
            max_nodes: 10_000_000,
            max_documents: 1,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 200_000 },
    }
}

fn place(line: u64, column: u64) -> Option<(usize, usize)> {
    let at = (usize::try_from(line).ok()?, usize::try_from(column).ok()?);
    (at.0 > 0 && at.1 > 0).then_some(at)
}

/// Line and column, from 1, of the values that several paths lead to, or of the nearest thing around each.
pub(super) fn locate<'p>(text: &str, paths: impl Iterator<Item = &'p str>) -> Vec<Option<(usize, usize)>> {
    let root = tree(text);
    let find = |path| {
        let at = nearest(root.as_ref()?, &steps(path)).referenced;
        place(at.line(), at.column())
    };
    paths.map(find).collect()
}

/// The text of the scalars without quotes that several paths lead to, as it is written.
pub(super) fn scalars(text: &str, paths: &[Vec<PathStep>]) -> Vec<Option<String>> {
    let root = tree(text);
    let find = |path: &Vec<PathStep>| {
        let span = nearest(root.as_ref()?, path).defined.span();
        let start = usize::try_from(span.byte_offset()?).ok()?;
        let written = text.get(start..start + usize::try_from(span.byte_len()?).ok()?)?;
        Some(written.trim().to_owned())
    };
    paths.iter().map(find).collect()
}

/// The fields of a document that have an anchor to which an alias refers.
pub(super) fn templates(text: &str) -> Vec<&str> {
    let anchored = |line: &'_ str| -> Option<(usize, usize, usize)> {
        let colon = line.find(": &").filter(|_| !line.starts_with([' ', '#', '-', '{']))?;
        let name = &line[colon + 3..];
        Some((colon, colon + 3, colon + 3 + name.find(char::is_whitespace).unwrap_or(name.len())))
    };
    let is_used = |anchor: &str| {
        let alias = format!("*{anchor}");
        text.match_indices(&alias)
            .any(|(at, _)| !text[at + alias.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-'))
    };
    let field =
        |line| anchored(line).filter(|(_, from, to)| is_used(&line[*from..*to])).map(|(colon, ..)| line[..colon].trim_matches(['"', '\'']));
    text.lines().filter_map(field).collect()
}

fn tree(text: &str) -> Option<Spanned<YamlTree>> {
    serde_saphyr::from_str_with_options(text, options()).ok()
}

/// What a path leads to, or the nearest thing around it.
fn nearest<'t>(root: &'t Spanned<YamlTree>, path: &[PathStep]) -> &'t Spanned<YamlTree> {
    let mut here = root;
    for step in path {
        let next = match (&here.value, step) {
            (YamlTree::Map(entries), PathStep::Key(key)) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            (YamlTree::List(items), PathStep::Index(index)) => items.get(*index),
            _ => None,
        };
        let Some(next) = next else { break };
        here = next;
    }
    here
}

/// The shape of a document, with places.
enum YamlTree {
    Map(Vec<(String, Spanned<YamlTree>)>),
    List(Vec<Spanned<YamlTree>>),
    Leaf,
}

impl<'de> Deserialize<'de> for YamlTree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

macro_rules! leaves {
    ($($visit:ident($($value:ty)?)),+) => {
        $(fn $visit<E>(self $(, _: $value)?) -> Result<YamlTree, E> {
            Ok(YamlTree::Leaf)
        })+
    };
}

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = YamlTree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<YamlTree, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(YamlTree::Map(entries))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<YamlTree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(YamlTree::List(items))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<YamlTree, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| YamlTree::Leaf)
    }

    leaves!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str), visit_unit(), visit_none());
}

/// Columns of a line up to which a list of plain values is written in one.
const LINE: usize = 100;

/// Writes a value, with a line break at its end; numbers at these paths as they are spelled there.
pub(super) fn write(value: &Value, spelled: &BTreeMap<String, String>) -> String {
    let mut writer = YamlWriter { out: String::new(), spelled };
    match value {
        Value::Object(map) if !map.is_empty() => writer.map(map, 0, ""),
        Value::Array(list) if !list.is_empty() => writer.list(list, 0, ""),
        other => {
            let text = writer.scalar(other, Within::Block, "");
            writer.out.push_str(&text);
            writer.out.push('\n');
        }
    }
    writer.out
}

/// Where a plain text is: commas and brackets mean something in a flow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Block,
    Flow,
}

struct YamlWriter<'s> {
    out: String,
    /// Numbers by their paths.
    spelled: &'s BTreeMap<String, String>,
}

impl YamlWriter<'_> {
    /// Each entry on its own line; the first without indentation, which the caller has written.
    fn map(&mut self, map: &Map<String, Value>, indent: usize, at: &str) {
        for (i, (key, value)) in map.iter().enumerate() {
            if i > 0 {
                pad(indent, &mut self.out);
            }
            let at = step(at, key);
            self.out.push_str(&bare_or_quoted(key, Within::Block));
            self.out.push(':');
            match value {
                Value::Object(map) if !map.is_empty() => {
                    self.out.push('\n');
                    pad(indent + 2, &mut self.out);
                    self.map(map, indent + 2, &at);
                }
                Value::Array(list) if !list.is_empty() => match self.flow(list, indent + key.len() + 2, &at) {
                    Some(line) => line_end(&line, &mut self.out),
                    None => {
                        self.out.push('\n');
                        pad(indent + 2, &mut self.out);
                        self.list(list, indent + 2, &at);
                    }
                },
                Value::String(text) if is_literal(text) => literal(text, indent + 2, &mut self.out),
                other => line_end(&self.scalar(other, Within::Block, &at), &mut self.out),
            }
        }
    }

    fn list(&mut self, list: &[Value], indent: usize, at: &str) {
        for (i, value) in list.iter().enumerate() {
            if i > 0 {
                pad(indent, &mut self.out);
            }
            let at = format!("{at}[{i}]");
            self.out.push('-');
            match value {
                Value::Object(map) if !map.is_empty() => {
                    self.out.push(' ');
                    self.map(map, indent + 2, &at);
                }
                Value::Array(inner) if !inner.is_empty() => match self.flow(inner, indent + 2, &at) {
                    Some(line) => line_end(&line, &mut self.out),
                    None => {
                        self.out.push(' ');
                        self.list(inner, indent + 2, &at);
                    }
                },
                other => line_end(&self.scalar(other, Within::Block, &at), &mut self.out),
            }
        }
    }

    /// A short list of plain values in one line.
    fn flow(&self, list: &[Value], column: usize, at: &str) -> Option<String> {
        if list
            .iter()
            .any(|value| matches!(value, Value::Array(list) if !list.is_empty()) || matches!(value, Value::Object(map) if !map.is_empty()))
        {
            return None;
        }
        let entry = |(i, value): (usize, &Value)| self.scalar(value, Within::Flow, &format!("{at}[{i}]"));
        let line = list.iter().enumerate().map(entry).collect::<Vec<_>>().join(", ");
        (column + line.chars().count() + 2 <= LINE).then(|| format!("[{line}]"))
    }

    fn scalar(&self, value: &Value, within: Within, at: &str) -> String {
        match value {
            Value::String(text) => bare_or_quoted(text, within),
            Value::Number(number) => self.spelled.get(at).cloned().unwrap_or_else(|| number.to_string()),
            other => other.to_string(),
        }
    }
}

fn pad(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

fn line_end(text: &str, out: &mut String) {
    out.push(' ');
    out.push_str(text);
    out.push('\n');
}

fn bare_or_quoted(text: &str, within: Within) -> String {
    if is_plain(text, within) { text.to_owned() } else { quoted(text) }
}

/// Whether a text can't be taken for anything else when it is without quotes.
fn is_plain(text: &str, within: Within) -> bool {
    let starts = text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    let allowed = |c: char| c.is_alphanumeric() || " _-./+=;!?%'()".contains(c) || (within == Within::Block && c == ',');
    let lower = text.to_ascii_lowercase();
    let is_word = ["true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan"].contains(&lower.as_str());
    starts && !text.ends_with(' ') && !is_word && text.chars().all(allowed) && safe_json(text) == text
}

/// In double quotes, with everything that a terminal would obey or hide written as an escape.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_ascii() && !c.is_control() => out.push(c),
            c => {
                let alone = c.to_string();
                match u32::from(c) {
                    _ if safe_json(&alone) == alone => out.push(c),
                    // Writing to a String has no way to fail.
                    code @ 0..=0xffff => drop(write!(out, "\\u{code:04x}")),
                    code => drop(write!(out, "\\U{code:08x}")),
                }
            }
        }
    }
    out.push('"');
    out
}

/// Whether a text of several lines can be written as it is.
fn is_literal(text: &str) -> bool {
    let breaks = text.trim_end_matches('\n').contains('\n');
    breaks
        && !text.ends_with("\n\n")
        && text.lines().all(|line| safe_json(line) == line && !line.ends_with(' '))
        && !text.contains(['\r', '\t'])
}

fn literal(text: &str, indent: usize, out: &mut String) {
    // The figure says where the text's own indentation begins.
    let own = if text.starts_with([' ', '\n']) { "2" } else { "" };
    let end = if text.ends_with('\n') { "" } else { "-" };
    line_end(&format!("|{own}{end}"), out);
    for line in text.lines() {
        if !line.is_empty() {
            pad(indent, out);
            out.push_str(line);
        }
        out.push('\n');
    }
}
