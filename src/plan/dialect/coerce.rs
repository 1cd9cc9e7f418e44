//! Values as other kinds of value: what a number, a flag, a text or a list obviously means where another kind belongs.

use super::exact::exact_json;
use super::locate::{PathStep, at, at_mut};
use serde_json::{Map, Value, json};

/// The ends of an edge that is written as a pair or with an arrow.
pub(super) fn ends_of(edge: &Value) -> Option<(String, String)> {
    match edge {
        Value::Array(pair) => match pair.as_slice() {
            [Value::String(from), Value::String(to)] => Some((from.clone(), to.clone())),
            _ => None,
        },
        Value::String(text) => {
            let (from, to) = ["->", "→", "=>"].into_iter().find_map(|arrow| text.split_once(arrow))?;
            let is_one = |end: &str| !end.is_empty() && !["->", "→", "=>", ","].iter().any(|other| end.contains(other));
            let (from, to) = (from.trim(), to.trim());
            (is_one(from) && is_one(to)).then(|| (from.to_owned(), to.to_owned()))
        }
        _ => None,
    }
}

/// The object with the value at a place as other kinds of value, likely ones first.
pub(super) fn coerced(map: &Map<String, Value>, field: &str, way: &[PathStep]) -> Vec<Map<String, Value>> {
    let Some(value) = map.get(field).and_then(|value| at(value, way)) else { return Vec::new() };
    let meant: Vec<Value> = match value {
        Value::Number(_) | Value::String(_) if field == "retry" && way.is_empty() => attempts(value).into_iter().collect(),
        Value::Number(number) => vec![json!(number.to_string())],
        Value::Bool(flag) => vec![json!(flag.to_string())],
        Value::String(text) if field == "on_failure" => on_failure(text).into_iter().collect(),
        Value::String(text) => {
            let number = text.trim().parse::<serde_json::Number>().ok().map(Value::Number);
            let flag = match text.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" => Some(json!(true)),
                "false" | "no" | "off" => Some(json!(false)),
                _ => None,
            };
            let number = number.or(flag);
            let list = if number.is_some() { None } else { Some(json!([text])) };
            let object = exact_json(text).ok().filter(Value::is_object);
            object.into_iter().chain(number).chain(list).chain(number_list(text)).collect()
        }
        Value::Array(list) if ["args", "arguments"].contains(&field) && way.is_empty() && !list.is_empty() => {
            vec![by_name(list).unwrap_or_else(|| json!({ ARGS: list }))]
        }
        Value::Array(list) => match list.as_slice() {
            [only] if !only.is_array() && !only.is_object() => vec![only.clone()],
            _ => Vec::new(),
        },
        Value::Null | Value::Object(_) => Vec::new(),
    };
    let changed = meant.into_iter().filter_map(|meant| {
        let mut map = map.clone();
        *at_mut(map.get_mut(field)?, way)? = meant;
        Some(map)
    });
    changed.collect()
}

/// What other systems call what follows a failure.
fn on_failure(text: &str) -> Option<Value> {
    let meant = match text.trim().to_ascii_lowercase().as_str() {
        "continue" | "ignore" | "proceed" | "warn" => "safe",
        "abort" | "stop" | "halt" | "exit" | "error" | "fail_fast" | "terminate" => "fail",
        "escalate" | "pause" | "human" | "ask_user" | "manual" => "ask",
        _ => return None,
    };
    Some(json!(meant))
}

/// A retry that says no more than how often.
fn attempts(value: &Value) -> Option<Value> {
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())?;
    Some(json!({ "attempts": number }))
}

/// The name of arguments that have none.
const ARGS: &str = "args";

/// A list of names with values, as an object.
fn by_name(list: &[Value]) -> Option<Value> {
    let named = list.iter().map(|entry| Some((entry.get("name")?.as_str()?.to_owned(), entry.get("value")?.clone())));
    named.collect::<Option<Map<_, _>>>().map(Value::Object)
}

/// A text that reads as a number may still be the one entry of a list of texts.
fn number_list(text: &str) -> Option<Value> {
    text.trim().parse::<f64>().ok().map(|_| json!([text]))
}
