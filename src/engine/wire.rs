//! Events on the wire: `type` first, then a node's id and generation where it is about one, then what the fact has, all side by side.
//! Journal, run file and protocol write this form; it stays as published, whatever shape events have in the code.

use super::{Cause, Event, NodeFact};
use crate::plan::NodeId;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, DeserializeSeed, EnumAccess, Error as _, IgnoredAny, IntoDeserializer, MapAccess, VariantAccess, Visitor},
    forward_to_deserialize_any,
    ser::{Error as _, Impossible, SerializeStruct, SerializeStructVariant},
};
use serde_json::Value;
use std::fmt;

const TAG: &str = "type";
const NODE: &str = "node_id";
const GENERATION: &str = "generation";
const CAUSE: &str = "cause";

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        // What is only a sentence is written as one.
        let cause = self.cause().filter(|cause| !matches!(cause, Cause::None | Cause::Text { .. }));
        if let Self::Node { node_id, generation, fact } = self {
            return fact.serialize(Flat { out, about: Some((node_id, *generation)), cause });
        }
        Self::serialize(self, Flat { out, about: None, cause })
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Flattened)
    }
}

/// Writes an enum's variant as one flat object.
struct Flat<'a, S> {
    out: S,
    about: Option<(&'a NodeId, u32)>,
    cause: Option<&'a Cause>,
}

/// The cause comes last.
struct FlatFields<'a, T>(T, Option<&'a Cause>);

impl<S: Serializer> Flat<'_, S> {
    fn begin(self, name: &'static str, tag: &str, fields: usize) -> Result<S::SerializeStruct, S::Error> {
        let about = if self.about.is_some() { 2 } else { 0 };
        let mut out = self.out.serialize_struct(name, 1 + about + fields + usize::from(self.cause.is_some()))?;
        out.serialize_field(TAG, tag)?;
        if let Some((node, generation)) = self.about {
            out.serialize_field(NODE, node)?;
            out.serialize_field(GENERATION, &generation)?;
        }
        Ok(out)
    }
}

/// An event is an enum of named fields; serde asks for nothing else.
macro_rules! no_event {
    ($($name:ident($($arg:ty),*) -> $ok:ty;)*) => {
        $(fn $name(self, $(_: $arg),*) -> Result<$ok, S::Error> { Err(S::Error::custom("an event has named fields")) })*
    };
}

impl<'a, S: Serializer> Serializer for Flat<'a, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Impossible<S::Ok, S::Error>;
    type SerializeTuple = Impossible<S::Ok, S::Error>;
    type SerializeTupleStruct = Impossible<S::Ok, S::Error>;
    type SerializeTupleVariant = Impossible<S::Ok, S::Error>;
    type SerializeMap = Impossible<S::Ok, S::Error>;
    type SerializeStruct = Impossible<S::Ok, S::Error>;
    type SerializeStructVariant = FlatFields<'a, S::SerializeStruct>;

    fn serialize_unit_variant(self, name: &'static str, _: u32, tag: &'static str) -> Result<S::Ok, S::Error> {
        self.begin(name, tag, 0)?.end()
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        tag: &'static str,
        fields: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        let cause = self.cause;
        self.begin(name, tag, fields).map(|out| FlatFields(out, cause))
    }

    fn serialize_some<T: ?Sized + Serialize>(self, _: &T) -> Result<S::Ok, S::Error> {
        self.serialize_none()
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, _: &T) -> Result<S::Ok, S::Error> {
        self.serialize_none()
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(self, _: &'static str, _: u32, _: &'static str, _: &T) -> Result<S::Ok, S::Error> {
        self.serialize_none()
    }

    no_event! {
        serialize_none() -> S::Ok;
        serialize_bool(bool) -> S::Ok;
        serialize_i8(i8) -> S::Ok;
        serialize_i16(i16) -> S::Ok;
        serialize_i32(i32) -> S::Ok;
        serialize_i64(i64) -> S::Ok;
        serialize_u8(u8) -> S::Ok;
        serialize_u16(u16) -> S::Ok;
        serialize_u32(u32) -> S::Ok;
        serialize_u64(u64) -> S::Ok;
        serialize_f32(f32) -> S::Ok;
        serialize_f64(f64) -> S::Ok;
        serialize_char(char) -> S::Ok;
        serialize_str(&str) -> S::Ok;
        serialize_bytes(&[u8]) -> S::Ok;
        serialize_unit() -> S::Ok;
        serialize_unit_struct(&'static str) -> S::Ok;
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
    }
}

impl<T: SerializeStruct> SerializeStructVariant for FlatFields<'_, T> {
    type Ok = T::Ok;
    type Error = T::Error;

    fn serialize_field<V: ?Sized + Serialize>(&mut self, name: &'static str, value: &V) -> Result<(), T::Error> {
        self.0.serialize_field(name, value)
    }

    fn end(mut self) -> Result<T::Ok, T::Error> {
        if let Some(cause) = self.1 {
            self.0.serialize_field(CAUSE, cause)?;
        }
        self.0.end()
    }
}

/// Reads one flat object.
struct Flattened;

impl<'de> Visitor<'de> for Flattened {
    type Value = Event;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Event, A::Error> {
        let mut before = Vec::new();
        let tag = loop {
            match map.next_key::<String>()? {
                Some(key) if key == TAG => break map.next_value::<String>()?,
                Some(key) => before.push((key, map.next_value::<Value>()?)),
                None => return Err(A::Error::missing_field(TAG)),
            }
        };
        let mut fields = WireFields { map, before, value: None, node: None, generation: None, cause: None, sieves: true, found: false };
        let fact = NodeFact::deserialize(Tagged { tag: &tag, fields: &mut fields });
        if !fields.found {
            fields.sieves = false;
            let event = Event::deserialize(Tagged { tag: &tag, fields: &mut fields })?;
            return Ok(caused(event, fields.cause));
        }
        let fact = fact?;
        let node_id = fields.node.ok_or_else(|| A::Error::missing_field(NODE))?;
        let generation = fields.generation.ok_or_else(|| A::Error::missing_field(GENERATION))?;
        let cause = fields.cause;
        Ok(caused(Event::Node { node_id, generation, fact }, cause))
    }
}

/// Puts the data in the place of its sentence.
fn caused(mut event: Event, cause: Option<Cause>) -> Event {
    if let (Some(place), Some(cause)) = (event.cause_mut(), cause) {
        *place = cause;
    }
    event
}

/// The fields beside the tag; keeps whose they are, and hands out the rest.
struct WireFields<A> {
    map: A,
    /// What came before the tag, last first; our own writers put the tag first.
    before: Vec<(String, Value)>,
    value: Option<Value>,
    node: Option<NodeId>,
    generation: Option<u32>,
    /// None where it is one of another version: the sentence stays.
    cause: Option<Cause>,
    /// Whose they are is kept; a few events of the run have such fields of their own.
    sieves: bool,
    /// The tag names a variant.
    found: bool,
}

impl<'de, A: MapAccess<'de>> WireFields<A> {
    fn owned<T: Deserialize<'de>>(value: Value) -> Result<T, A::Error> {
        T::deserialize(value).map_err(A::Error::custom)
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for &mut WireFields<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some((key, value)) = self.before.pop() {
            match key.as_str() {
                NODE if self.sieves => self.node = Some(WireFields::<A>::owned(value)?),
                GENERATION if self.sieves => self.generation = Some(WireFields::<A>::owned(value)?),
                CAUSE => self.cause = serde_json::from_value(value).ok(),
                _ => {
                    self.value = Some(value);
                    return seed.deserialize(key.into_deserializer()).map(Some);
                }
            }
        }
        let mut seed = Some(seed);
        loop {
            match self.map.next_key_seed(WireKey(&mut seed, self.sieves))? {
                Some(Name::Node) => self.node = Some(self.map.next_value()?),
                Some(Name::Generation) => self.generation = Some(self.map.next_value()?),
                Some(Name::Cause) => self.cause = serde_json::from_value(self.map.next_value()?).ok(),
                Some(Name::Other(key)) => return Ok(Some(key)),
                None => return Ok(None),
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        match self.value.take() {
            Some(value) => seed.deserialize(value).map_err(A::Error::custom),
            None => self.map.next_value_seed(seed),
        }
    }
}

enum Name<T> {
    Node,
    Generation,
    Cause,
    Other(T),
}

/// Looks at a key before the one who asked for it does.
struct WireKey<'a, K>(&'a mut Option<K>, bool);

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for WireKey<'_, K> {
    type Value = Name<K::Value>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl<'de, K: DeserializeSeed<'de>> Visitor<'de> for WireKey<'_, K> {
    type Value = Name<K::Value>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a field of an event")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<Self::Value, E> {
        match (key, self.0.take()) {
            (NODE, seed) if self.1 => {
                *self.0 = seed;
                Ok(Name::Node)
            }
            (CAUSE, seed) => {
                *self.0 = seed;
                Ok(Name::Cause)
            }
            (GENERATION, seed) if self.1 => {
                *self.0 = seed;
                Ok(Name::Generation)
            }
            (_, Some(seed)) => seed.deserialize(key.into_deserializer()).map(Name::Other),
            (_, None) => Err(E::custom("a key is asked for once")),
        }
    }
}

/// A variant by its tag, with the fields beside it.
struct Tagged<'a, A> {
    tag: &'a str,
    fields: &'a mut WireFields<A>,
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for Tagged<'_, A> {
    type Error = A::Error;

    fn deserialize_enum<V: Visitor<'de>>(self, _: &'static str, tags: &'static [&'static str], visitor: V) -> Result<V::Value, A::Error> {
        self.fields.found = tags.contains(&self.tag);
        if self.fields.found { visitor.visit_enum(self) } else { Err(A::Error::custom(format!("unknown event `{}`", self.tag))) }
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, A::Error> {
        Err(A::Error::custom("an event has named fields"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

impl<'de, A: MapAccess<'de>> EnumAccess<'de> for Tagged<'_, A> {
    type Error = A::Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), A::Error> {
        Ok((seed.deserialize(self.tag.into_deserializer())?, self))
    }
}

impl<'de, A: MapAccess<'de>> VariantAccess<'de> for Tagged<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        let mut fields = self.fields;
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.fields)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, _: T) -> Result<T::Value, A::Error> {
        Err(A::Error::custom("an event has named fields"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, A::Error> {
        Err(A::Error::custom("an event has named fields"))
    }
}
