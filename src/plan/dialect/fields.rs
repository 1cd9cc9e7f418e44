//! One object of a dialect's document while it is read. Known fields are taken out one by one; what is left is kept as it was.
//! A known field that says nothing (null, false, an empty text or list) is kept too, so that writing gives it back.

use crate::plan::native::{ShapeError, kind};
use serde_json::{Map, Value};

/// Names that authors write in one kind of object and that are called otherwise there.
pub(super) struct Slips {
    /// What the object is, with its article: `a tools task`.
    pub what: &'static str,
    /// A wrong name, and the right one.
    pub renamed: &'static [(&'static str, &'static str)],
    /// A name of something that is said elsewhere, and how.
    pub elsewhere: &'static [(&'static str, &'static str)],
}

/// The fields of one object.
pub(super) struct Fields {
    map: Map<String, Value>,
    kept: Map<String, Value>,
    path: String,
    what: &'static str,
}

/// Whether a value says nothing.
pub(super) fn is_quiet(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// The path of a key within a path. A key that isn't plain is quoted, so that paths can be followed back.
pub(super) fn step(path: &str, key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    match (plain, path.is_empty()) {
        (true, true) => key.to_owned(),
        (true, false) => format!("{path}.{key}"),
        (false, _) => format!("{path}[{}]", Value::String(key.to_owned())),
    }
}

impl Fields {
    /// Opens an object and refuses names that are slips.
    pub fn open(value: Value, path: &str, slips: &Slips) -> Result<Self, ShapeError> {
        let Value::Object(map) = value else {
            let message = format!("{} must be an object, not {}", slips.what, kind(&value));
            return Err(ShapeError { path: path.to_owned(), message });
        };
        let fields = Self { map, kept: Map::new(), path: path.to_owned(), what: slips.what };
        fields.refuse(slips)?;
        Ok(fields)
    }

    /// Refuses names that are slips. A name whose value says nothing, or beside the right one, does no harm.
    pub fn refuse(&self, slips: &Slips) -> Result<(), ShapeError> {
        let says = |key: &str| self.map.get(key).is_some_and(|value| !is_quiet(value));
        for (wrong, right) in slips.renamed {
            if says(wrong) && !self.map.contains_key(*right) {
                return Err(self.wrong(wrong, format!("{} has no `{wrong}`; write `{right}`", slips.what)));
            }
        }
        for (wrong, words) in slips.elsewhere {
            if says(wrong) {
                return Err(self.wrong(wrong, format!("{} has no `{wrong}`; {words}", slips.what)));
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
        self.wrong("", format!("{} needs `{key}`", self.what))
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
        self.kept.insert(key.to_owned(), value);
    }

    /// Any value but null.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        let value = self.map.shift_remove(key)?;
        if value.is_null() {
            self.keep(key, value);
            return None;
        }
        Some(value)
    }

    /// A value of one kind, or the error that says which was wanted.
    fn of<T>(&mut self, key: &str, wanted: &str, read: impl Fn(&Value) -> Option<T>) -> Result<Option<T>, ShapeError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match read(&value) {
            Some(read) => Ok(Some(read)),
            None => Err(self.wrong(key, format!("must be {wanted}, not {}", kind(&value)))),
        }
    }

    /// A text, which may be empty.
    pub fn text(&mut self, key: &str) -> Result<Option<String>, ShapeError> {
        self.of(key, "text", |value| value.as_str().map(str::to_owned))
    }

    /// A text that must be there.
    pub fn need_text(&mut self, key: &str) -> Result<String, ShapeError> {
        self.text(key)?.ok_or_else(|| self.missing(key))
    }

    /// A text that says something; an empty one counts as absent.
    pub fn words(&mut self, key: &str) -> Result<Option<String>, ShapeError> {
        let text = self.text(key)?;
        if text.as_deref() == Some("") {
            self.keep(key, Value::String(String::new()));
            return Ok(None);
        }
        Ok(text)
    }

    /// A flag; absent means false.
    pub fn flag(&mut self, key: &str) -> Result<bool, ShapeError> {
        let flag = self.of(key, "true or false", Value::as_bool)?;
        if flag == Some(false) {
            self.keep(key, Value::Bool(false));
        }
        Ok(flag == Some(true))
    }

    /// True or false, where false says something.
    pub fn choice(&mut self, key: &str) -> Result<Option<bool>, ShapeError> {
        self.of(key, "true or false", Value::as_bool)
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

    /// An object.
    pub fn object(&mut self, key: &str) -> Result<Option<Map<String, Value>>, ShapeError> {
        self.of(key, "an object", |value| value.as_object().cloned())
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

    /// A list.
    pub fn list(&mut self, key: &str) -> Result<Option<Vec<Value>>, ShapeError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(other) => Err(self.wrong(key, format!("must be a list, not {}", kind(&other)))),
        }
    }

    /// A list of texts.
    pub fn texts(&mut self, key: &str) -> Result<Option<Vec<String>>, ShapeError> {
        let Some(list) = self.list(key)? else { return Ok(None) };
        let path = self.place(key);
        let text = |(i, value)| match value {
            Value::String(text) => Ok(text),
            other => Err(ShapeError { path: format!("{path}[{i}]"), message: format!("must be text, not {}", kind(&other)) }),
        };
        list.into_iter().enumerate().map(text).collect::<Result<_, _>>().map(Some)
    }

    /// Ids of other nodes; an empty list is kept.
    pub fn ids(&mut self, key: &str) -> Result<Vec<crate::plan::NodeId>, ShapeError> {
        let ids = self.texts(key)?;
        if ids.as_ref().is_some_and(Vec::is_empty) {
            self.keep(key, Value::Array(Vec::new()));
        }
        Ok(ids.unwrap_or_default().iter().map(crate::plan::NodeId::new).collect())
    }

    /// What nobody took, and what said nothing.
    pub fn rest(mut self) -> Map<String, Value> {
        self.kept.append(&mut self.map);
        self.kept
    }
}
