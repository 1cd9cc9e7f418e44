//! The functions of the expression language: one table of names, numbers of values and words, and what each does.

use super::ExprError;
use super::eval::{Machine, Val, float, plain};
use crate::plan::native::kind;
use serde_json::Value;
use std::{borrow::Cow, cmp::Ordering, ops::RangeInclusive};

/// A function's names, how many values it takes, and what it does in a person's words.
pub struct FunctionInfo {
    /// The first is the usual one.
    pub names: &'static [&'static str],
    /// Least and most values.
    pub takes: RangeInclusive<usize>,
    /// One line for help.
    pub words: &'static str,
    function: Function,
}

/// One function of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Length,
    Lower,
    Upper,
    Trim,
    Contains,
    StartsWith,
    EndsWith,
    Replace,
    Split,
    Lines,
    Join,
    First,
    Last,
    Slice,
    Keys,
    Values,
    Sort,
    Unique,
    Reverse,
    Sum,
    Min,
    Max,
    Abs,
    Round,
    Int,
    Float,
    Text,
    Json,
    Default,
}

const fn row(names: &'static [&'static str], least: usize, most: usize, function: Function, words: &'static str) -> FunctionInfo {
    FunctionInfo { names, takes: least..=most, words, function }
}

/// Every function.
pub const FUNCTIONS: [FunctionInfo; 29] = [
    row(&["length", "len", "count"], 1, 1, Function::Length, "characters of a text, entries of a list or object; 0 for null"),
    row(&["lower"], 1, 1, Function::Lower, "text in lower case"),
    row(&["upper"], 1, 1, Function::Upper, "text in upper case"),
    row(&["trim"], 1, 1, Function::Trim, "text without spaces around it"),
    row(&["contains", "includes"], 2, 2, Function::Contains, "whether a text holds a text, a list an entry, an object a key"),
    row(&["starts_with", "startswith"], 2, 2, Function::StartsWith, "whether a text starts with another"),
    row(&["ends_with", "endswith"], 2, 2, Function::EndsWith, "whether a text ends with another"),
    row(&["replace"], 3, 3, Function::Replace, "text with every occurrence of the second replaced by the third"),
    row(&["split"], 1, 2, Function::Split, "pieces of a text between a separator, or between spaces"),
    row(&["lines"], 1, 1, Function::Lines, "lines of a text"),
    row(&["join"], 1, 2, Function::Join, "entries of a list as one text, with a separator"),
    row(&["first"], 1, 1, Function::First, "first entry of a list, first character of a text"),
    row(&["last"], 1, 1, Function::Last, "last entry of a list, last character of a text"),
    row(&["slice"], 2, 3, Function::Slice, "part of a list or text from a position up to another"),
    row(&["keys"], 1, 1, Function::Keys, "keys of an object"),
    row(&["values"], 1, 1, Function::Values, "values of an object"),
    row(&["sort"], 1, 1, Function::Sort, "entries of a list in order"),
    row(&["unique"], 1, 1, Function::Unique, "entries of a list, each once"),
    row(&["reverse"], 1, 1, Function::Reverse, "list or text backwards"),
    row(&["sum"], 1, 1, Function::Sum, "numbers of a list added up"),
    row(&["min"], 1, 8, Function::Min, "smallest of a list or of its values"),
    row(&["max"], 1, 8, Function::Max, "largest of a list or of its values"),
    row(&["abs"], 1, 1, Function::Abs, "number without its sign"),
    row(&["round"], 1, 2, Function::Round, "number rounded to a number of digits, by default 0"),
    row(&["int"], 1, 1, Function::Int, "whole number from a number or text; null when it is none"),
    row(&["float", "number"], 1, 1, Function::Float, "number from a number or text; null when it is none"),
    row(&["string", "str"], 1, 1, Function::Text, "value as text"),
    row(&["json", "tojson"], 1, 1, Function::Json, "value as JSON text"),
    row(&["default"], 2, 2, Function::Default, "first value, or the second when the first is null"),
];

impl Function {
    pub(super) fn named(name: &str) -> Option<Self> {
        FUNCTIONS.iter().find(|info| info.names.contains(&name)).map(|info| info.function)
    }

    pub(super) fn takes(self) -> RangeInclusive<usize> {
        FUNCTIONS.iter().find(|info| info.function == self).map_or(0..=0, |info| info.takes.clone())
    }
}

impl<'a> Machine<'a> {
    pub(super) fn call(&mut self, function: Function, arguments: Vec<Val<'a>>) -> Result<Value, ExprError> {
        for argument in &arguments {
            self.burn(weight(argument))?;
        }
        let null = Cow::Owned(Value::Null);
        let at = |i: usize| arguments.get(i).unwrap_or(&null).as_ref();
        let value = at(0);
        if value.is_null() && !matches!(function, Function::Length | Function::Contains | Function::Default | Function::Min | Function::Max)
        {
            return Ok(Value::Null);
        }
        match function {
            Function::Length => length(value).map(Value::from),
            Function::Lower => self.text(text(value)?.to_lowercase()),
            Function::Upper => self.text(text(value)?.to_uppercase()),
            Function::Trim => self.text(text(value)?.trim().to_owned()),
            Function::Contains => self.contains(value, at(1)).map(Value::Bool),
            Function::StartsWith => Ok(Value::Bool(text(value)?.starts_with(text(at(1))?))),
            Function::EndsWith => Ok(Value::Bool(text(value)?.ends_with(text(at(1))?))),
            Function::Replace => self.replace(text(value)?, text(at(1))?, &plain(at(2))),
            Function::Split if arguments.len() == 1 => Ok(text(value)?.split_whitespace().map(Value::from).collect()),
            Function::Split => self.split(text(value)?, text(at(1))?),
            Function::Lines => Ok(text(value)?.lines().map(Value::from).collect()),
            Function::Join => {
                let parts: Vec<Cow<str>> = list(value)?.iter().map(plain).collect();
                self.join(&parts, &plain(at(1))).map(Value::String)
            }
            Function::First => Ok(end(value, true)?),
            Function::Last => Ok(end(value, false)?),
            Function::Slice => slice(value, at(1), at(2)),
            Function::Keys => Ok(object(value)?.keys().map(|key| Value::from(key.as_str())).collect()),
            Function::Values => Ok(object(value)?.values().cloned().collect()),
            Function::Sort => self.sort(list(value)?),
            Function::Unique => self.unique(list(value)?),
            Function::Reverse => match value {
                Value::String(text) => Ok(Value::String(text.chars().rev().collect())),
                other => Ok(list(other)?.iter().rev().cloned().collect()),
            },
            Function::Sum => sum(list(value)?),
            Function::Min | Function::Max => {
                let wanted = if function == Function::Min { Ordering::Less } else { Ordering::Greater };
                match (arguments.len(), value) {
                    (1, Value::Null) => Ok(Value::Null),
                    (1, one) => self.extreme(list(one)?.iter(), wanted),
                    _ => self.extreme(arguments.iter().map(AsRef::as_ref), wanted),
                }
            }
            Function::Abs => match value.as_i64().and_then(i64::checked_abs) {
                Some(whole) => Ok(Value::from(whole)),
                None if value.is_u64() => Ok(value.clone()),
                None => Ok(float(number(value)?.abs()).unwrap_or(Value::Null)),
            },
            Function::Round => round(value, at(1)),
            Function::Int => Ok(int(value)),
            Function::Float => Ok(to_number(value)),
            Function::Text => self.text(plain(value).into_owned()),
            Function::Json => self.text(value.to_string()),
            Function::Default => Ok(if value.is_null() { at(1).clone() } else { value.clone() }),
        }
    }

    fn text(&mut self, text: String) -> Result<Value, ExprError> {
        self.make_text(text.len())?;
        Ok(Value::String(text))
    }

    fn replace(&mut self, text: &str, old: &str, new: &str) -> Result<Value, ExprError> {
        if old.is_empty() {
            return Err(ExprError::Mismatch("`replace` needs a text to look for".into()));
        }
        let found = text.matches(old).count();
        self.make_text((text.len() - found * old.len()).saturating_add(found.saturating_mul(new.len())))?;
        Ok(Value::String(text.replace(old, new)))
    }

    fn split(&mut self, text: &str, separator: &str) -> Result<Value, ExprError> {
        if separator.is_empty() {
            return Err(ExprError::Mismatch("`split` needs a separator that isn't empty".into()));
        }
        self.burn(text.matches(separator).count())?;
        Ok(text.split(separator).map(Value::from).collect())
    }

    fn sort(&mut self, list: &[Value]) -> Result<Value, ExprError> {
        self.burn(list.len().saturating_mul(8))?;
        let mut failed = None;
        let mut sorted = list.to_vec();
        // Entries that can't be ordered keep their places until the error is told.
        sorted.sort_by(|a, b| match self.order(a, b) {
            Ok(order) => order.unwrap_or_else(|| a.is_null().cmp(&b.is_null())),
            Err(error) => {
                failed.get_or_insert(error);
                Ordering::Equal
            }
        });
        failed.map_or(Ok(Value::Array(sorted)), Err)
    }

    fn unique(&mut self, list: &[Value]) -> Result<Value, ExprError> {
        let mut once: Vec<Value> = Vec::new();
        for entry in list {
            let mut seen = false;
            for other in &once {
                seen = seen || self.equal(other, entry)?;
            }
            if !seen {
                once.push(entry.clone());
            }
        }
        Ok(Value::Array(once))
    }

    fn extreme<'v>(&mut self, values: impl Iterator<Item = &'v Value>, wanted: Ordering) -> Result<Value, ExprError> {
        let mut best: Option<&Value> = None;
        for value in values.filter(|value| !value.is_null()) {
            if match best {
                None => true,
                Some(best) => self.order(value, best)? == Some(wanted),
            } {
                best = Some(value);
            }
        }
        Ok(best.cloned().unwrap_or(Value::Null))
    }
}

/// What looking at a value costs.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
        Value::String(text) => 1 + text.len() / 64,
        Value::Array(list) => 1 + list.len(),
        Value::Object(map) => 1 + map.len(),
    }
}

fn misfit(wanted: &str, value: &Value) -> ExprError {
    ExprError::Mismatch(format!("expected {wanted}, found {}", kind(value)))
}

fn text(value: &Value) -> Result<&str, ExprError> {
    value.as_str().ok_or_else(|| misfit("text", value))
}

fn list(value: &Value) -> Result<&[Value], ExprError> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| misfit("a list", value))
}

fn object(value: &Value) -> Result<&serde_json::Map<String, Value>, ExprError> {
    value.as_object().ok_or_else(|| misfit("an object", value))
}

fn number(value: &Value) -> Result<f64, ExprError> {
    value.as_f64().ok_or_else(|| misfit("a number", value))
}

fn length(value: &Value) -> Result<usize, ExprError> {
    match value {
        Value::Null => Ok(0),
        Value::String(text) => Ok(text.chars().count()),
        Value::Array(list) => Ok(list.len()),
        Value::Object(map) => Ok(map.len()),
        Value::Bool(_) | Value::Number(_) => Err(misfit("a text, a list or an object", value)),
    }
}

fn end(value: &Value, first: bool) -> Result<Value, ExprError> {
    let entry = match value {
        Value::String(text) => if first { text.chars().next() } else { text.chars().last() }.map(|c| Value::from(c.to_string())),
        other => if first { list(other)?.first() } else { list(other)?.last() }.cloned(),
    };
    Ok(entry.unwrap_or(Value::Null))
}

fn slice(value: &Value, from: &Value, to: &Value) -> Result<Value, ExprError> {
    let length = length(value)?;
    let place = |at: &Value, otherwise: usize| -> Result<usize, ExprError> {
        if at.is_null() {
            return Ok(otherwise);
        }
        let at = at.as_i64().ok_or_else(|| misfit("a whole number", at))?;
        let from_end = length.saturating_sub(usize::try_from(at.unsigned_abs()).unwrap_or(usize::MAX));
        Ok(if at < 0 { from_end } else { usize::try_from(at).unwrap_or(usize::MAX).min(length) })
    };
    let (from, to) = (place(from, 0)?, place(to, length)?);
    let count = to.saturating_sub(from);
    match value {
        Value::String(text) => Ok(Value::String(text.chars().skip(from).take(count).collect())),
        other => Ok(list(other)?.iter().skip(from).take(count).cloned().collect()),
    }
}

fn sum(list: &[Value]) -> Result<Value, ExprError> {
    let whole: Option<i64> = list.iter().try_fold(0_i64, |sum, value| sum.checked_add(value.as_i64()?));
    if let Some(whole) = whole {
        return Ok(Value::from(whole));
    }
    let mut total = 0.0;
    for value in list.iter().filter(|value| !value.is_null()) {
        total += number(value)?;
    }
    float(total).ok_or_else(|| ExprError::Mismatch("the number is too large".into()))
}

fn round(value: &Value, digits: &Value) -> Result<Value, ExprError> {
    if value.is_i64() || value.is_u64() {
        return Ok(value.clone());
    }
    let exact = number(value)?;
    let digits = digits.as_i64().unwrap_or(0).clamp(0, 12);
    if digits == 0 {
        return Ok(int(value));
    }
    let scale = (0..digits).fold(1.0, |scale, _| scale * 10.0);
    Ok(float((exact * scale).round() / scale).unwrap_or_else(|| value.clone()))
}

/// Rounds a number to the nearest whole one; reads a text; true is 1.
fn int(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_i64() || number.is_u64() => value.clone(),
        Value::Number(number) => {
            number.as_f64().and_then(|exact| format!("{:.0}", exact.round()).parse::<i64>().ok()).map_or(Value::Null, Value::from)
        }
        Value::Bool(yes) => Value::from(i64::from(*yes)),
        Value::String(_) => match to_number(value) {
            Value::Null => Value::Null,
            number => int(&number),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => Value::Null,
    }
}

fn to_number(value: &Value) -> Value {
    match value {
        Value::Number(_) => value.clone(),
        Value::Bool(yes) => Value::from(i64::from(*yes)),
        Value::String(text) => {
            let text = text.trim();
            text.parse::<i64>().map(Value::from).ok().or_else(|| text.parse().ok().and_then(float)).unwrap_or(Value::Null)
        }
        Value::Null | Value::Array(_) | Value::Object(_) => Value::Null,
    }
}
