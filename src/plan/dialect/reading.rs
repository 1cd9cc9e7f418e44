//! What a reader took otherwise than it stands in the document: under another name, as another kind of value, or not at all. Each
//! reading is kept with its object as an unknown field, told by validation as long as nobody changed what was read, and undone when the
//! document is written, so that an unrepaired document stays as it was.

use super::names::NAMES;
use crate::plan::fields::{AS_WRITTEN, is_quiet};
use crate::plan::{Node, NodeKind, SubplanNode};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// One field that was read otherwise than it is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::plan) struct FieldReading {
    /// The field that it was read as; empty for the whole object.
    pub field: String,
    /// The value that was read; nothing if the field was left out.
    #[serde(default, deserialize_with = "value", skip_serializing_if = "Option::is_none")]
    pub read: Option<Value>,
    /// The name in the document.
    pub name: String,
    /// The place inside the field that is wrong, such as `retry.attempts`, where that isn't the field itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
    /// The value in the document; nothing if it has no such field.
    #[serde(default, deserialize_with = "value", skip_serializing_if = "Option::is_none")]
    pub written: Option<Value>,
    /// Its position in the document's object, where it was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<usize>,
    /// For people; empty for a reading that needs no word.
    pub message: String,
    /// The reading is no more than a stand-in: somebody has to decide.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wrong: bool,
    /// A list that stands under another name or as an object by id; what it holds may change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<ListForm>,
}

/// A value that is there, be it null.
fn value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// How a list of nodes, or the plan with it, stands in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::plan) enum ListForm {
    Plain,
    ById,
    /// The list is the whole document.
    Bare,
    /// The plan is one field of the document.
    Inside,
    /// Some edges of the list have lists as their ends.
    Spread,
    /// The text has more than the document: marks of a block of Markdown code, commas. It is written without them.
    #[serde(alias = "fenced")]
    Surplus,
    /// The text has other plans, too, of which none is kept where it is written.
    OtherPlans,
}

impl FieldReading {
    /// Whether it is about something that the text has and the value has not.
    pub fn is_lost(&self) -> bool {
        self.field.is_empty() && self.read.is_none() && self.list.is_none()
    }

    /// What was read for a field under its own name.
    pub fn of(field: &str, read: Value, message: String) -> Self {
        Self { field: field.to_owned(), read: Some(read), name: field.to_owned(), message, ..Self::default() }
    }

    /// Whether an object, as it is written now, still says what was read.
    pub fn holds(&self, object: &Map<String, Value>) -> bool {
        if self.list.is_some() {
            return true;
        }
        match &self.read {
            Some(read) if self.field.is_empty() => {
                let bare: Map<String, Value> =
                    object.iter().filter(|(key, _)| *key != AS_WRITTEN).map(|(k, v)| (k.clone(), v.clone())).collect();
                read.as_object() == Some(&bare)
            }
            // A writer leaves out what says nothing.
            read => read.as_ref().filter(|read| !is_quiet(read)) == object.get(&self.field).filter(|value| !is_quiet(value)),
        }
    }
}

/// The readings of an object by its unknown fields.
pub(in crate::plan) fn readings(ext: &Map<String, Value>) -> Vec<FieldReading> {
    let list = ext.get(AS_WRITTEN).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|reading| FieldReading::deserialize(reading).ok()).collect()
}

/// The unknown fields without one of the readings: what was read is written from now on.
pub(in crate::plan) fn without(ext: &Map<String, Value>, at: usize) -> Map<String, Value> {
    let mut ext = ext.clone();
    if let Some(Value::Array(list)) = ext.get_mut(AS_WRITTEN) {
        let gone = list.remove(at);
        // What was read with it stays with it.
        let is_call = |name: &str| NAMES.node.command.contains(&name) || ["tool", "function", "tool_call"].contains(&name);
        if gone["name"].as_str().is_some_and(is_call) {
            let is_told = |other: &Value| other["message"].as_str().is_some_and(|message| !message.is_empty());
            list.retain(|other| is_told(other) || other["field"] != "tool" && other["field"] != "args");
        }
        if list.is_empty() {
            ext.shift_remove(AS_WRITTEN);
        }
    }
    ext
}

/// Adds readings to those of an object that is being read.
pub(super) fn note(object: &mut Map<String, Value>, readings: Vec<FieldReading>) {
    if readings.is_empty() {
        return;
    }
    let listed = readings.iter().filter_map(|reading| serde_json::to_value(reading).ok());
    match object.get_mut(AS_WRITTEN) {
        Some(Value::Array(list)) => list.extend(listed),
        _ => drop(object.insert(AS_WRITTEN.to_owned(), listed.collect())),
    }
}

/// Notes why the file that a node names for its plan can't be used, in place of what was noted before.
pub fn note_unread(node: &mut Node, problem: Option<String>) {
    let noted = readings(&node.ext).iter().position(|reading| reading.field == "plan" && reading.wrong);
    if let Some(at) = noted {
        node.ext = without(&node.ext, at);
    }
    let (NodeKind::Subplan(SubplanNode::File { path, .. }), Some(message)) = (&node.kind, problem) else { return };
    let (field, read) = ("plan".to_owned(), Some(Value::from(path.as_str())));
    let reading = FieldReading { name: field.clone(), field, written: read.clone(), read, message, wrong: true, ..FieldReading::default() };
    note(&mut node.ext, vec![reading]);
}

/// Whether a node has such a note.
pub(in crate::plan) fn is_noted_unread(node: &Node) -> bool {
    readings(&node.ext).iter().any(|reading| reading.field == "plan" && reading.wrong)
}

/// Puts what is read in the place of what is written, and notes that.
pub(super) fn replace(map: &mut Map<String, Value>, field: &str, read: Value, message: String, wrong: bool, notes: &mut Vec<FieldReading>) {
    let Some(place) = map.get_mut(field) else { return };
    let written = std::mem::replace(place, read.clone());
    if let Some(note) = notes.iter_mut().find(|note| note.field == field) {
        note.read = Some(read);
        note.message = format!("{}; {message}", note.message);
        return;
    }
    notes.push(FieldReading { written: Some(written), wrong, ..FieldReading::of(field, read, message) });
}

/// Reads a field as another one with a value of its own, and notes that.
pub(super) fn read_as(
    map: &mut Map<String, Value>,
    (name, field): (&str, &str),
    read: Value,
    message: String,
    notes: &mut Vec<FieldReading>,
) {
    let written = map.get(name).cloned();
    rename_key(map, name, field);
    map.insert(field.to_owned(), read.clone());
    notes.push(FieldReading { name: name.to_owned(), written, ..FieldReading::of(field, read, message) });
}

/// Takes a field out that can't be read.
pub(super) fn aside(map: &mut Map<String, Value>, field: &str, message: String, notes: &mut Vec<FieldReading>) {
    let at = map.keys().position(|key| key == field);
    // A body in it may have been read in part.
    let Some(written) = map.shift_remove(field).map(restored) else { return };
    if let Some(note) = notes.iter_mut().find(|note| note.field == field) {
        let message = if note.message.is_empty() { message } else { format!("{}, which {message}", note.message) };
        *note = FieldReading { read: None, message, wrong: true, at, ..note.clone() };
        return;
    }
    let (field, name) = (field.to_owned(), field.to_owned());
    notes.push(FieldReading { field, name, written: Some(written), message, wrong: true, at, ..FieldReading::default() });
}

/// Puts a field under another name, where it stood.
pub(super) fn rename_key(map: &mut Map<String, Value>, from: &str, to: &str) {
    let Some(at) = map.keys().position(|key| key == from) else { return };
    let Some(value) = map.shift_remove(from) else { return };
    map.shift_insert(at.min(map.len()), to.to_owned(), value);
}

/// A document with everything as it was written, as far as nobody changed it. A native document of another dialect's plan keeps its
/// notes, which name the fields of that dialect.
pub(super) fn restored(value: Value) -> Value {
    match value {
        Value::Object(map) if map.contains_key("dagdeck") && map.contains_key("dialect") => Value::Object(map),
        Value::Object(map) => {
            let map = map.into_iter().map(|(key, value)| if key == AS_WRITTEN { (key, value) } else { (key, restored(value)) }).collect();
            restored_object(map)
        }
        Value::Array(list) => list.into_iter().map(restored).collect(),
        other => other,
    }
}

fn restored_object(mut map: Map<String, Value>) -> Value {
    let all = readings(&map);
    let held: Vec<FieldReading> = all.into_iter().filter(|reading| reading.holds(&map)).collect();
    map.shift_remove(AS_WRITTEN);
    let mut outside = None;
    for reading in held {
        match (reading.list, reading.written) {
            (Some(ListForm::Surplus | ListForm::OtherPlans), _) => {}
            (Some(ListForm::Spread), written) => {
                let place = map.get_mut(&reading.field).filter(|list| Some(&**list) == reading.read.as_ref());
                if let (Some(place), Some(written)) = (place, written) {
                    *place = written;
                    rename_key(&mut map, &reading.field, &reading.name);
                }
            }
            (Some(ListForm::Inside), written) => outside = Some((reading.name, reading.at, written)),
            // Nothing else can stand beside a list that is the whole document, and an empty one is no plan.
            (Some(ListForm::Bare), _) => {
                let is_alone = map.keys().all(|key| *key == reading.field || key == "dagdeck");
                if is_alone && !is_quiet(&map[&reading.field]) {
                    return map[&reading.field].take();
                }
            }
            (Some(form), _) => {
                let list = map.shift_remove(&reading.field).unwrap_or_default();
                // An empty list tells a plan by its usual name alone.
                let name = if list.as_array().is_some_and(Vec::is_empty) { reading.field } else { reading.name };
                map.insert(name, if form == ListForm::ById { by_id(list) } else { list });
            }
            (None, Some(written)) if reading.field.is_empty() => return written,
            (None, written) => {
                let here = map.keys().position(|key| *key == reading.field).or(reading.at);
                map.shift_remove(&reading.field);
                if let Some(written) = written {
                    map.shift_insert(here.unwrap_or(map.len()).min(map.len()), reading.name, written);
                }
            }
        }
    }
    // In a list that is written as one, a key is an id.
    for node in map.values_mut().filter_map(Value::as_array_mut).flatten().filter_map(Value::as_object_mut) {
        if let Some(id) = node.shift_remove(KEY) {
            node.shift_insert(0, "id".to_owned(), id);
        }
    }
    let Some((name, at, Some(Value::Object(beside)))) = outside else { return Value::Object(map) };
    let mut document: Map<String, Value> = beside.keys().filter_map(|key| Some((key.clone(), map.shift_remove(key)?))).collect();
    document.shift_insert(at.unwrap_or_default().min(document.len()), name, Value::Object(map));
    Value::Object(document)
}

/// The id of a node that has none. Authors write `<node-1>` and `step 1` for a position: no id that they didn't write is taken for that.
pub(super) fn stand_in_id(at: usize) -> String {
    format!("unnamed_{}", at + 1)
}

/// Nodes as an object; the id of one that has none in the document is its key alone.
fn by_id(list: Value) -> Value {
    let Value::Array(list) = list else { return list };
    let entries = list.into_iter().enumerate().map(|(at, mut node)| {
        let key = node.get(KEY).or_else(|| node.get("id")).and_then(Value::as_str).map_or_else(|| stand_in_id(at), str::to_owned);
        node.as_object_mut().map(|map| map.shift_remove(KEY));
        (key, node)
    });
    Value::Object(entries.collect())
}

/// The field of a restored node that holds the key under which it stands.
pub(super) const KEY: &str = "as_written_key";
