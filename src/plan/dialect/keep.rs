//! What nobody changed is written as it was read: the order of fields, fields that say nothing, another way to say the same.
//!
//! A writer gives one text for a plan, whatever text the plan came from. So the plan that the source says is written too: where both
//! writings are equal, the source holds; where they differ, the difference goes into the source. The result reads as the plan does, or
//! the writer's own text is taken.

use crate::plan::Plan;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet, VecDeque};

/// What a writer makes of a plan, `written`, as far as it can be put into the source that the plan was read from: `read` and `write` are
/// the reader and the writer of its shape.
pub(super) fn as_read(written: Value, source: Value, read: impl Fn(Value) -> Option<Plan>, write: impl Fn(&Plan) -> Value) -> Value {
    let Some(before) = read(source.clone()) else { return written };
    let before = write(&before);
    if before == written {
        return source;
    }
    let kept = keep(&source, &before, &written);
    if read(kept.clone()) == read(written.clone()) { kept } else { written }
}

/// The source with what differs between its own plan's writing and today's.
fn keep(source: &Value, before: &Value, now: &Value) -> Value {
    match (source, before, now) {
        _ if before == now => source.clone(),
        (Value::Object(source), Value::Object(before), Value::Object(now)) => Value::Object(fields(source, before, now)),
        (Value::Array(source), Value::Array(before), Value::Array(now)) if source.len() == before.len() => entries(source, before, now),
        _ => now.clone(),
    }
}

fn fields(source: &Map<String, Value>, before: &Map<String, Value>, now: &Map<String, Value>) -> Map<String, Value> {
    // The writer's name for a field that has another one in the source.
    let alias = |value: &Value| before.iter().find(|(name, same)| *same == value && !source.contains_key(*name)).map(|(name, _)| name);
    let mut placed = HashSet::new();
    let mut kept = Map::new();
    for (key, value) in source {
        let is_written = before.contains_key(key) || now.contains_key(key);
        let name = is_written.then_some(key).or_else(|| alias(value));
        let Some(name) = name else {
            // No writer knows it, so nobody changed it.
            kept.insert(key.clone(), value.clone());
            continue;
        };
        placed.insert(name);
        if let Some(now) = now.get(name) {
            kept.insert(key.clone(), before.get(name).map_or_else(|| now.clone(), |before| keep(value, before, now)));
        }
    }
    // What the writer adds by itself, and the source did without, stays away.
    let added = now.iter().filter(|(name, value)| !placed.contains(name) && before.get(*name) != Some(*value));
    kept.extend(added.map(|(name, value)| (name.clone(), value.clone())));
    kept
}

/// Entries of before and now are the same one if they are equal, else by their name, else (renamed) by all but their name.
fn entries(source: &[Value], before: &[Value], now: &[Value]) -> Value {
    let mut old: Vec<Option<usize>> = vec![None; now.len()];
    for by in [Value::to_string, |entry| split(entry).0, |entry| split(entry).1] as [fn(&Value) -> String; 3] {
        let taken: HashSet<usize> = old.iter().flatten().copied().collect();
        let mut places: HashMap<String, VecDeque<usize>> = HashMap::new();
        for at in (0..before.len()).filter(|at| !taken.contains(at)) {
            places.entry(by(&before[at])).or_default().push_back(at);
        }
        for (old, entry) in old.iter_mut().zip(now).filter(|(old, _)| old.is_none()) {
            *old = places.get_mut(&by(entry)).and_then(VecDeque::pop_front);
        }
    }
    let kept = old.iter().zip(now).map(|(old, entry)| old.map_or_else(|| entry.clone(), |at| keep(&source[at], &before[at], entry)));
    kept.collect()
}

/// The name of an entry, and the rest of it: an id, or the ends of an edge, which writers put first.
fn split(entry: &Value) -> (String, String) {
    let Value::Object(fields) = entry else { return (entry.to_string(), String::new()) };
    let id = ["id", "stage_id"].into_iter().find(|name| fields.get(*name).is_some_and(Value::is_string));
    let is_name = |at: usize, key: &str| id.map_or(at < 2, |id| id == key);
    let (name, rest): (Vec<_>, Vec<_>) = fields.iter().enumerate().partition(|(at, (key, _))| is_name(*at, key));
    let text = |part: Vec<(usize, (&String, &Value))>| part.iter().map(|(_, (key, value))| format!("{key}:{value} ")).collect();
    (text(name), text(rest))
}
