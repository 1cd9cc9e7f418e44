//! A text read into a value, with what a value can't hold: of a key that occurs twice in an object the first is read, and a number of
//! more digits than are kept is rounded. Each is noted with its path, as it would else be lost without notice.

use crate::plan::fields::step;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::cell::RefCell;
use std::fmt;

/// What a value doesn't hold of its text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lost {
    pub path: String,
    pub message: String,
    /// Whether somebody has to decide which of two is meant.
    pub is_doubled: bool,
}

/// The value of a JSON text.
pub(super) fn read(text: &str) -> serde_json::Result<(Value, Vec<Lost>)> {
    let mut json = serde_json::Deserializer::from_str(text);
    let read = value_of(&mut json)?;
    json.end()?;
    Ok(read)
}

/// The value that a deserializer has, and what it doesn't hold.
pub(super) fn value_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(Value, Vec<Lost>), D::Error> {
    let lost = RefCell::default();
    let value = ValueReading { at: &Place::Document, lost: &lost }.deserialize(deserializer)?;
    Ok((value, lost.into_inner()))
}

/// A value without a key that occurs twice.
pub(super) struct Strict(pub Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (value, lost) = value_of(deserializer)?;
        lost.into_iter().find(|lost| lost.is_doubled).map_or(Ok(Self(value)), |lost| Err(D::Error::custom(lost.message)))
    }
}

/// Where a value is, from the inside out.
enum Place<'p> {
    Document,
    Field(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, usize),
}

impl Place<'_> {
    fn path(&self) -> String {
        match self {
            Self::Document => String::new(),
            Self::Field(around, name) => step(&around.path(), name),
            Self::Item(around, at) => format!("{}[{at}]", around.path()),
        }
    }
}

#[derive(Clone, Copy)]
struct ValueReading<'p> {
    at: &'p Place<'p>,
    lost: &'p RefCell<Vec<Lost>>,
}

impl<'de> DeserializeSeed<'de> for ValueReading<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueReading<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let at = Place::Field(self.at, &key);
            if map.contains_key(&key) {
                entries.next_value::<IgnoredAny>()?;
                let message = format!("`{key}` appears twice in one object, and only the first is read; keep one of them");
                self.lost.borrow_mut().push(Lost { path: at.path(), message, is_doubled: true });
                continue;
            }
            let value = entries.next_value_seed(ValueReading { at: &at, ..self })?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(ValueReading { at: &Place::Item(self.at, list.len()), ..self })? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    /// A whole number this large was written with more digits than are kept, or with an exponent.
    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number must be finite"))?;
        if !(-9.3e18..1.8e19).contains(&value) {
            let message = format!("a number this large is not kept digit by digit: it is {number}; in quotes it keeps all of them");
            self.lost.borrow_mut().push(Lost { path: self.at.path(), message, is_doubled: false });
        }
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}
