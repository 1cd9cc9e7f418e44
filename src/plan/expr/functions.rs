//! The functions of the expression language: one table of names, numbers of values, words, and what each does. What the library has is the
//! library's; null in gives null out.

use super::guards::{contains, order};
use super::values::{is_null, json, kind, made, make, misfit, no_secret, text_of};
use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{Environment, Error, State, filters};
use std::ops::RangeInclusive;

/// Its first value is always there.
type FunctionBody = fn(&State, &[Value]) -> Result<Value, Error>;

/// A function's names, how many values it takes, and what it does.
pub struct FunctionInfo {
    /// The first is the usual one.
    pub names: &'static [&'static str],
    /// Least and most values.
    pub takes: RangeInclusive<usize>,
    /// One line for help.
    pub description: &'static str,
    body: FunctionBody,
}

const fn row(names: &'static [&'static str], least: usize, most: usize, description: &'static str, body: FunctionBody) -> FunctionInfo {
    FunctionInfo { names, takes: least..=most, description, body }
}

pub static FUNCTIONS: [FunctionInfo; 29] = [
    row(&["length", "len", "count"], 1, 1, "characters of a text, entries of a list or object; 0 for null", |_, of| {
        Ok(length(&of[0])?.into())
    }),
    row(&["lower"], 1, 1, "text in lower case", |state, of| made(state, text(&of[0])?.to_lowercase())),
    row(&["upper"], 1, 1, "text in upper case", |state, of| made(state, text(&of[0])?.to_uppercase())),
    row(&["trim"], 1, 1, "text without spaces around it", |state, of| made(state, text(&of[0])?.trim().to_owned())),
    row(&["contains", "includes"], 2, 2, "whether a text holds a text, a list an entry, an object a key", |_, of| {
        Ok(contains(&of[0], &of[1])?.into())
    }),
    row(&["starts_with", "startswith"], 2, 2, "whether a text starts with another", |_, of| {
        Ok(text(&of[0])?.starts_with(text(&of[1])?).into())
    }),
    row(&["ends_with", "endswith"], 2, 2, "whether a text ends with another", |_, of| Ok(text(&of[0])?.ends_with(text(&of[1])?).into())),
    row(&["replace"], 3, 3, "text with every occurrence of the second replaced by the third", replace),
    row(&["split"], 1, 2, "pieces of a text between a separator, or between spaces", split),
    row(&["lines"], 1, 1, "lines of a text", |state, of| pieces(state, text(&of[0])?.lines())),
    row(&["join"], 1, 2, "entries of a list as one text, with a separator", join),
    row(&["first"], 1, 1, "first entry of a list, first character of a text", |_, of| filters::first(&of[0])),
    row(&["last"], 1, 1, "last entry of a list, last character of a text", |_, of| filters::last(of[0].clone())),
    row(&["slice"], 2, 3, "part of a list or text from a position up to another", slice),
    row(&["keys"], 1, 1, "keys of an object", |_, of| Ok(object(&of[0])?.try_iter()?.collect())),
    row(&["values"], 1, 1, "values of an object", |_, of| object(&of[0])?.try_iter()?.map(|key| of[0].get_item(&key)).collect()),
    row(&["sort"], 1, 1, "entries of a list in order", |_, of| Ok(sorted(&of[0])?.into())),
    row(&["unique"], 1, 1, "entries of a list, each once", |state, of| filters::unique(state, list(&of[0])?.clone(), with_case())),
    row(&["reverse"], 1, 1, "list or text backwards", |_, of| filters::reverse(&of[0])),
    row(&["sum"], 1, 1, "numbers of a list added up", |state, of| filters::sum(state, list(&of[0])?.clone(), None, None, no_options())),
    row(&["min"], 1, 8, "smallest of a list or of its values", |_, of| Ok(present(of)?.first().cloned().unwrap_or_default())),
    row(&["max"], 1, 8, "largest of a list or of its values", |_, of| Ok(present(of)?.last().cloned().unwrap_or_default())),
    row(&["abs"], 1, 1, "number without its sign", |_, of| filters::abs(of[0].clone())),
    row(&["round"], 1, 2, "number rounded to a number of digits, by default 0", round),
    row(&["int"], 1, 1, "whole number from a number or text; null when it is none", |_, of| Ok(int(&of[0]))),
    row(&["float", "number"], 1, 1, "number from a number or text; null when it is none", |_, of| Ok(float(&of[0]))),
    row(&["string", "str"], 1, 1, "value as text", |state, of| made(state, text_of(&of[0])?.into_owned())),
    row(&["json", "tojson"], 1, 1, "value as JSON text", |state, of| made(state, json(&of[0])?.to_string())),
    row(&["default"], 2, 2, "first value, or the second when the first is null", |_, of| Ok(of[usize::from(is_null(&of[0]))].clone())),
];

/// Functions that look inside of a text.
const INSIDE: [&str; 15] = [
    "length",
    "lower",
    "upper",
    "contains",
    "starts_with",
    "ends_with",
    "replace",
    "split",
    "lines",
    "first",
    "last",
    "slice",
    "reverse",
    "int",
    "float",
];

/// Functions that have something to say about null.
const OF_NULL: [&str; 5] = ["length", "contains", "default", "min", "max"];

impl FunctionInfo {
    /// Whether it takes as many values; else why not.
    pub(super) fn check(&self, given: usize) -> Result<(), String> {
        let (least, most) = (self.takes.start(), self.takes.end());
        match self.takes.contains(&given) {
            true => Ok(()),
            false if least == most => Err(format!("`{}` takes {least} values, not {given}", self.names[0])),
            false => Err(format!("`{}` takes {least} to {most} values, not {given}", self.names[0])),
        }
    }

    fn call(&self, state: &State, values: &[Value]) -> Result<Value, Error> {
        self.check(values.len()).map_err(misfit)?;
        if INSIDE.contains(&self.names[0]) {
            values.iter().try_for_each(|value| no_secret(&format!("`{}`", self.names[0]), value))?;
        }
        if is_null(&values[0]) && !OF_NULL.contains(&self.names[0]) { Ok(Value::UNDEFINED) } else { (self.body)(state, values) }
    }
}

pub(super) fn named(name: &str) -> Option<&'static FunctionInfo> {
    FUNCTIONS.iter().find(|info| info.names.contains(&name))
}

/// Adds every function to the environment, to be called and to be used as a filter.
pub(super) fn add(env: &mut Environment<'static>) {
    for info in &FUNCTIONS {
        for name in info.names {
            env.add_function(*name, |state: &State, values: Rest<Value>| info.call(state, &values));
            env.add_filter(*name, |state: &State, values: Rest<Value>| info.call(state, &values));
        }
    }
}

fn expected(wanted: &str, value: &Value) -> Error {
    misfit(format!("expected {wanted}, found {}", kind(value)))
}

fn text(value: &Value) -> Result<&str, Error> {
    value.as_str().ok_or_else(|| expected("text", value))
}

fn list(value: &Value) -> Result<&Value, Error> {
    if matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) { Ok(value) } else { Err(expected("a list", value)) }
}

fn object(value: &Value) -> Result<&Value, Error> {
    if value.kind() == ValueKind::Map { Ok(value) } else { Err(expected("an object", value)) }
}

fn length(value: &Value) -> Result<usize, Error> {
    if is_null(value) { Ok(0) } else { value.len().ok_or_else(|| expected("a text, a list or an object", value)) }
}

fn replace(state: &State, of: &[Value]) -> Result<Value, Error> {
    let (whole, old, new) = (text(&of[0])?, text(&of[1])?, text_of(&of[2])?);
    if old.is_empty() {
        return Err(misfit("`replace` needs a text to look for"));
    }
    let found = whole.matches(old).count();
    make(state, (whole.len() - found * old.len()).saturating_add(found.saturating_mul(new.len())))?;
    Ok(whole.replace(old, &new).into())
}

fn split(state: &State, of: &[Value]) -> Result<Value, Error> {
    match of.get(1) {
        None => pieces(state, text(&of[0])?.split_whitespace()),
        Some(separator) if text(separator)?.is_empty() => Err(misfit("`split` needs a separator that isn't empty")),
        Some(separator) => pieces(state, text(&of[0])?.split(text(separator)?)),
    }
}

/// A list of texts; an entry is counted as more than its bytes.
fn pieces<'t>(state: &State, pieces: impl Iterator<Item = &'t str> + Clone) -> Result<Value, Error> {
    make(state, pieces.clone().map(|piece| piece.len() + 16).sum())?;
    Ok(pieces.collect())
}

fn join(state: &State, of: &[Value]) -> Result<Value, Error> {
    let separator = of.get(1).map_or(Ok("".into()), text_of)?;
    let mut joined = String::new();
    for (i, entry) in list(&of[0])?.try_iter()?.enumerate() {
        let (separator, entry) = (if i == 0 { "" } else { &separator }, text_of(&entry)?);
        make(state, separator.len() + entry.len())?;
        joined.push_str(separator);
        joined.push_str(&entry);
    }
    Ok(joined.into())
}

/// The library would order anything against anything. Null goes last.
fn sorted(value: &Value) -> Result<Vec<Value>, Error> {
    let mut entries: Vec<Value> = list(value)?.try_iter()?.collect();
    let mut present = entries.iter().filter(|entry| !is_null(entry));
    if let Some(first) = present.next() {
        present.try_for_each(|entry| order(first, entry).map(|_| ()))?;
    }
    entries.sort_by(|a, b| (is_null(a), a).cmp(&(is_null(b), b)));
    Ok(entries)
}

/// What is not null of one list or of several values, in order.
fn present(of: &[Value]) -> Result<Vec<Value>, Error> {
    let all = if let [one] = of { one.clone() } else { of.to_vec().into() };
    let present: Vec<Value> = all.try_iter()?.filter(|value| !is_null(value)).collect();
    sorted(&present.into())
}

fn with_case() -> Kwargs {
    Kwargs::from_iter([("case_sensitive", Value::from(true))])
}

fn no_options() -> Kwargs {
    Kwargs::from_iter([] as [(&str, Value); 0])
}

fn slice(_: &State, of: &[Value]) -> Result<Value, Error> {
    let length = length(&of[0])?;
    let place = |at: Option<&Value>, otherwise: usize| -> Result<usize, Error> {
        let Some(at) = at.filter(|at| !is_null(at)) else { return Ok(otherwise) };
        let at = at.as_i64().ok_or_else(|| expected("a whole number", at))?;
        let distance = usize::try_from(at.unsigned_abs()).unwrap_or(usize::MAX);
        Ok(if at < 0 { length.saturating_sub(distance) } else { distance.min(length) })
    };
    let (from, to) = (place(of.get(1), 0)?, place(of.get(2), length)?);
    let count = to.saturating_sub(from);
    match of[0].as_str() {
        Some(text) => Ok(text.chars().skip(from).take(count).collect::<String>().into()),
        None => Ok(list(&of[0])?.try_iter()?.skip(from).take(count).collect()),
    }
}

fn round(_: &State, of: &[Value]) -> Result<Value, Error> {
    let digits = of.get(1).and_then(Value::as_i64).unwrap_or(0).clamp(0, 12);
    let exact = f64::try_from(of[0].clone()).map_err(|_| expected("a number", &of[0]))?;
    if of[0].is_integer() || digits == 0 {
        return Ok(int(&of[0]));
    }
    let scale = (0..digits).fold(1.0, |scale, _| scale * 10.0);
    Ok(((exact * scale).round() / scale).into())
}

/// Rounds a number to the nearest whole one; reads a text; true is 1.
fn int(value: &Value) -> Value {
    let number = float(value);
    match f64::try_from(number.clone()) {
        Ok(exact) if !number.is_integer() => format!("{:.0}", exact.round()).parse::<i64>().map_or(Value::UNDEFINED, Value::from),
        _ => number,
    }
}

fn float(value: &Value) -> Value {
    match (value.kind(), value.as_str().map(str::trim)) {
        (_, Some(text)) => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(whole), _) => whole.into(),
            (_, Ok(exact)) if exact.is_finite() => exact.into(),
            _ => Value::UNDEFINED,
        },
        (ValueKind::Bool, _) => i64::from(value.is_true()).into(),
        (ValueKind::Number, _) => value.clone(),
        _ => Value::UNDEFINED,
    }
}
