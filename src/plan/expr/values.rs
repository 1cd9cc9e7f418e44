//! The border to the library: JSON in, JSON out, and a meter that counts the text which one evaluation makes, because the library's fuel
//! counts instructions only, not how much one of them does.

use super::error::MAX_OUTPUT;
use crate::text::secret_names;
use minijinja::value::{Object, Value as Inner, ValueKind};
use minijinja::{Error, ErrorKind, State};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How much an expression may read: values, and text by 64 bytes.
pub(super) const MAX_READ: usize = 1_000_000;
/// The variable that holds the meter; no path is called so.
pub(super) const METER: &str = "meter_";

/// How many bytes one evaluation has made.
#[derive(Debug, Default)]
pub(super) struct Meter(AtomicUsize);

impl Object for Meter {}

/// Counts what is about to be made.
pub(super) fn make(state: &State, bytes: usize) -> Result<(), Error> {
    let meter = state.lookup(METER);
    let before = meter.as_ref().and_then(|meter| meter.downcast_object_ref::<Meter>()).map(|meter| meter.0.fetch_add(bytes, Relaxed));
    if before.is_some_and(|before| before.saturating_add(bytes) <= MAX_OUTPUT) {
        Ok(())
    } else {
        Err(too_much(format!("the expression makes more than {MAX_OUTPUT} bytes of text")))
    }
}

/// A text that was made.
pub(super) fn made(state: &State, text: String) -> Result<Inner, Error> {
    make(state, text.len()).map(|()| Inner::from(text))
}

/// A value for the library. Null is the library's undefined: it has no fields, holds nothing and equals only itself.
pub(super) fn read(value: &Value, left: &mut usize) -> Result<Inner, Error> {
    let weight = 1 + value.as_str().map_or(0, |text| text.len() / 64);
    *left = left.checked_sub(weight).ok_or_else(|| too_much("the expression reads too much data".to_owned()))?;
    Ok(match value {
        Value::Null => Inner::UNDEFINED,
        Value::Bool(yes) => Inner::from(*yes),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => Inner::from(whole),
            (None, Some(whole)) => Inner::from(whole),
            (None, None) => number.as_f64().map_or(Inner::UNDEFINED, Inner::from),
        },
        Value::String(text) => Inner::from(text.as_str()),
        Value::Array(list) => Inner::from(list.iter().map(|value| read(value, left)).collect::<Result<Vec<_>, _>>()?),
        Value::Object(map) => {
            let fields = map.iter().map(|(key, value)| Ok((key.as_str(), read(value, left)?)));
            Inner::from_pairs(fields.collect::<Result<Vec<_>, Error>>()?)
        }
    })
}

/// The JSON of a value of the library. A whole number of more than 64 bits becomes a float, as it does wherever JSON is read.
pub(super) fn json(value: &Inner) -> Result<Value, Error> {
    let written = || serde_json::from_str(&serde_json::to_string(value)?);
    serde_json::to_value(value).or_else(|_| written()).map_err(|_| misfit("the number is too large"))
}

fn too_much(words: String) -> Error {
    Error::new(ErrorKind::OutOfFuel, words)
}

/// An error of values that don't fit.
pub(super) fn misfit(words: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, words)
}

/// A text with the mark of a secret in it is not the text that was read: a look inside would give something wrong.
pub(super) fn no_secret(what: &str, value: &Inner) -> Result<(), Error> {
    let name = value.as_str().and_then(|text| secret_names(text).next());
    let why = |name| {
        format!(
            "{what} can't look inside of a text that holds the secret {name}, as its value is not known here: \
             a tool gets it, after a yes that names it"
        )
    };
    name.map_or(Ok(()), |name| Err(misfit(why(name))))
}

pub(super) fn is_null(value: &Inner) -> bool {
    value.is_undefined() || value.is_none()
}

/// What a value is, in a person's words.
pub(super) fn kind(value: &Inner) -> &'static str {
    match value.kind() {
        ValueKind::Bool => "true or false",
        ValueKind::Number => "a number",
        ValueKind::String => "text",
        ValueKind::Seq | ValueKind::Iterable => "a list",
        ValueKind::Map => "an object",
        _ => "null",
    }
}

/// A value as text: texts bare, null empty, everything else as compact JSON.
pub(super) fn text_of(value: &Inner) -> Result<Cow<'_, str>, Error> {
    match value.as_str() {
        Some(text) => Ok(Cow::Borrowed(text)),
        None if is_null(value) => Ok(Cow::Borrowed("")),
        None => json(value).map(|value| Cow::Owned(value.to_string())),
    }
}
