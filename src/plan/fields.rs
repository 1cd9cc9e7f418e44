//! One object of a document while it is read. Known fields are taken out one by one; what is left is unknown. In a dialect a known
//! field that says nothing (null, false, an empty text or list) is kept too, so that it is written again; the native form drops it.

use super::NodeId;
use crate::plan::dialect::names::PartNames;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Why a JSON value is not a plan, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", prefix(.path))]
pub struct ShapeError {
    /// The place within the document, such as `nodes[2].args`; empty for the document itself.
    pub path: String,
    pub message: String,
}

fn prefix(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("`{path}`: ") }
}

/// The unknown field that holds what of an object was read otherwise than it is written.
pub(in crate::plan) const AS_WRITTEN: &str = "as_written";

/// Whether an empty name fills the place of one that is missing, which has a finding of its own.
pub(in crate::plan) fn is_stand_in(name: &str, ext: &Map<String, Value>) -> bool {
    name.is_empty() && ext.contains_key(AS_WRITTEN)
}

/// A JSON value's kind in words.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The fields of one object.
pub(in crate::plan) struct Fields {
    pub map: Map<String, Value>,
    /// Known fields that say nothing; `None` in the native form.
    kept: Option<Map<String, Value>>,
    path: String,
    what: &'static str,
}

/// Whether a value says nothing.
pub(in crate::plan) fn is_quiet(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// The path of a key within a path. A key that isn't plain is quoted, so that paths can be followed back.
pub(in crate::plan) fn step(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    match (plain, path.is_empty()) {
        (true, true) => key.to_owned(),
        (true, false) => format!("{path}.{key}"),
        (false, _) => format!("{path}[{}]", Value::String(key.to_owned())),
    }
}

impl Fields {
    /// Opens an object of a dialect and refuses what is said elsewhere there.
    pub fn open(value: Value, path: &str, names: &PartNames) -> Result<Self, ShapeError> {
        let fields = Self { kept: Some(Map::new()), ..Self::native(value, path, names.what)? };
        fields.refuse(names)?;
        Ok(fields)
    }

    /// Opens an object of the native form.
    pub fn native(value: Value, path: &str, what: &'static str) -> Result<Self, ShapeError> {
        match value {
            Value::Object(map) => Ok(Self { map, kept: None, path: path.to_owned(), what }),
            other => Err(ShapeError { path: path.to_owned(), message: format!("{what} must be an object, not {}", kind(&other)) }),
        }
    }

    /// Refuses names of what is said elsewhere. A name whose value says nothing does no harm.
    fn refuse(&self, names: &PartNames) -> Result<(), ShapeError> {
        let says = |key: &str| self.map.get(key).is_some_and(|value| !is_quiet(value));
        for (wrong, words) in &names.elsewhere {
            if says(wrong) {
                return Err(self.wrong(wrong, format!("{} has no `{wrong}`; {words}", names.what)));
            }
        }
        Ok(())
    }

    /// The path of a field; of the object itself for an empty key.
    pub fn place(&self, key: &str) -> String {
        if key.is_empty() { self.path.clone() } else { step(&self.path, key) }
    }

    /// An error at a field.
    pub fn wrong(&self, key: &str, message: impl Into<String>) -> ShapeError {
        ShapeError { path: self.place(key), message: message.into() }
    }

    /// An error for a field that is needed and isn't there.
    pub fn missing(&self, key: &str) -> ShapeError {
        self.wrong(key, format!("{} needs `{key}`", self.what))
    }

    /// Whether a field is there and not null.
    pub fn has(&self, key: &str) -> bool {
        self.map.get(key).is_some_and(|value| !value.is_null())
    }

    /// A field as it is, without taking it.
    pub fn peek(&self, key: &str) -> Option<&Value> {
        self.map.get(key)
    }

    /// Keeps something for writing back.
    pub fn keep(&mut self, key: &str, value: Value) {
        if let Some(kept) = &mut self.kept {
            kept.insert(key.to_owned(), value);
        }
    }

    pub fn take(&mut self, key: &str) -> Option<Value> {
        let value = self.map.shift_remove(key)?;
        if value.is_null() {
            self.keep(key, value);
            return None;
        }
        Some(value)
    }

    /// A value of one kind, or the error that says which was wanted.
    fn of<T>(&mut self, key: &str, wanted: &str, read: impl Fn(Value) -> Result<T, Value>) -> Result<Option<T>, ShapeError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        read(value).map(Some).map_err(|value| self.wrong(key, format!("must be {wanted}, not {}", kind(&value))))
    }

    /// A value of a type that serde reads; an error names the place inside.
    pub fn typed<T: DeserializeOwned>(&mut self, key: &str) -> Result<Option<T>, ShapeError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        serde_path_to_error::deserialize(value).map(Some).map_err(|error| self.inside(key, &error))
    }

    /// The error of serde at a place inside a field, or inside the object for an empty key.
    pub fn inside(&self, key: &str, error: &serde_path_to_error::Error<serde_json::Error>) -> ShapeError {
        let inner = error.path().to_string();
        let path = match (self.place(key), inner.as_str()) {
            (path, ".") => path,
            (path, inner) if path.is_empty() || inner.starts_with('[') => path + inner,
            (path, inner) => format!("{path}.{inner}"),
        };
        ShapeError { path, message: plain(&error.inner().to_string()) }
    }

    /// A text, which may be empty.
    pub fn text(&mut self, key: &str) -> Result<Option<String>, ShapeError> {
        self.of(key, "text", text)
    }

    /// A text that must be there.
    pub fn need_text(&mut self, key: &str) -> Result<String, ShapeError> {
        self.text(key)?.ok_or_else(|| self.missing(key))
    }

    /// A text that says something; an empty one counts as absent.
    pub fn some_text(&mut self, key: &str) -> Result<Option<String>, ShapeError> {
        let text = self.text(key)?;
        if text.as_deref() == Some("") {
            self.keep(key, Value::String(String::new()));
            return Ok(None);
        }
        Ok(text)
    }

    /// A flag; absent means false.
    pub fn flag(&mut self, key: &str) -> Result<bool, ShapeError> {
        let flag = self.of(key, "true or false", |value| value.as_bool().ok_or(value))?;
        if flag == Some(false) {
            self.keep(key, Value::Bool(false));
        }
        Ok(flag == Some(true))
    }

    /// True or false, where false says something.
    pub fn choice(&mut self, key: &str) -> Result<Option<bool>, ShapeError> {
        self.of(key, "true or false", |value| value.as_bool().ok_or(value))
    }

    /// A whole number that isn't negative.
    pub fn count(&mut self, key: &str) -> Result<Option<u64>, ShapeError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let whole = value.as_u64().or_else(|| value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..9e15).contains(n)).map(|n| n as u64));
        whole.map(Some).ok_or_else(|| self.wrong(key, format!("must be a whole number from 0, not {value}")))
    }

    /// A number that isn't negative.
    pub fn amount(&mut self, key: &str) -> Result<Option<f64>, ShapeError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        value.as_f64().filter(|n| *n >= 0.0).map(Some).ok_or_else(|| self.wrong(key, format!("must be a number from 0, not {value}")))
    }

    pub fn object(&mut self, key: &str) -> Result<Option<Map<String, Value>>, ShapeError> {
        self.of(key, "an object", |value| match value {
            Value::Object(map) => Ok(map),
            other => Err(other),
        })
    }

    /// An object or text where it is one; anything else is kept as it was.
    pub fn object_if_any(&mut self, key: &str) -> Map<String, Value> {
        match self.map.get(key) {
            Some(Value::Object(map)) if !map.is_empty() => match self.map.shift_remove(key) {
                Some(Value::Object(map)) => map,
                _ => Map::new(),
            },
            _ => Map::new(),
        }
    }

    /// A text where it is one; anything else is kept as it was.
    pub fn text_if_any(&mut self, key: &str) -> String {
        match self.map.get(key) {
            Some(Value::String(text)) if !text.is_empty() => {
                let text = text.clone();
                self.map.shift_remove(key);
                text
            }
            _ => String::new(),
        }
    }

    pub fn list(&mut self, key: &str) -> Result<Option<Vec<Value>>, ShapeError> {
        self.of(key, "a list", |value| match value {
            Value::Array(list) => Ok(list),
            other => Err(other),
        })
    }

    /// A list whose entries are read one by one, each with its place.
    pub fn each<T>(&mut self, key: &str, read: impl Fn(Value, &str) -> Result<T, ShapeError>) -> Result<Option<Vec<T>>, ShapeError> {
        let Some(list) = self.list(key)? else { return Ok(None) };
        let path = self.place(key);
        list.into_iter().enumerate().map(|(i, value)| read(value, &format!("{path}[{i}]"))).collect::<Result<_, _>>().map(Some)
    }

    pub fn texts(&mut self, key: &str) -> Result<Option<Vec<String>>, ShapeError> {
        self.each(key, |value, path| {
            text(value).map_err(|value| ShapeError { path: path.to_owned(), message: format!("must be text, not {}", kind(&value)) })
        })
    }

    /// Ids of other nodes; an empty list is kept.
    pub fn ids(&mut self, key: &str) -> Result<Vec<NodeId>, ShapeError> {
        let ids = self.texts(key)?;
        if ids.as_ref().is_some_and(Vec::is_empty) {
            self.keep(key, Value::Array(Vec::new()));
        }
        Ok(ids.unwrap_or_default().iter().map(NodeId::new).collect())
    }

    /// What nobody took, and what said nothing.
    pub fn rest(mut self) -> Map<String, Value> {
        let mut kept = self.kept.unwrap_or_default();
        kept.append(&mut self.map);
        kept
    }
}

fn text(value: Value) -> Result<String, Value> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(other),
    }
}

/// What serde says of a value, in words for people; what isn't of its usual form stays as it is.
fn plain(message: &str) -> String {
    let wrong = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    let Some((found, expected)) = wrong.and_then(|wrong| wrong.split_once(", expected ")) else { return message.to_owned() };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of at least 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a string" | "string" => "text",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        other if other == "a map" || other.starts_with("struct ") => "an object",
        other => other,
    };
    let found = match found {
        "map" => "an object",
        "sequence" => "a list",
        "unit value" => "null",
        other => other.split_once(' ').map_or(other, |(_, value)| value.trim_matches('`')),
    };
    format!("must be {expected}, not {found}")
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn the_words_of_serde_become_words_for_people() {
        assert_eq!(plain("invalid value: integer `-5`, expected u64"), "must be a whole number of at least 0, not -5");
        assert_eq!(plain("invalid type: string \"soon\", expected f64"), "must be a number, not \"soon\"");
        assert_eq!(plain("invalid type: map, expected a sequence"), "must be a list, not an object");
        assert_eq!(plain("unknown variant `x`, expected `y`"), "unknown variant `x`, expected `y`");
    }
}
