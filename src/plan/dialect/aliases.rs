//! What names and values of fields mean that authors write in their own way, and which of them would ask a person.

use super::names::NAMES;
use serde_json::{Map, Value};

/// Whether a value is an object that says what to do.
pub(in crate::plan) fn is_step(value: &Value) -> bool {
    NAMES.node.work.iter().any(|name| value.get(*name).is_some_and(|value| !value.is_null()))
}

/// Whether a value is an object that says what to do by its title alone.
pub(super) fn is_titled(value: &Value) -> bool {
    ["title", "name"].iter().any(|name| value.get(*name).is_some_and(Value::is_string))
}

/// What a node's words mean that says what to do by none of the usual names.
pub(super) fn work(node: &Map<String, Value>) -> Option<(&'static str, &'static str)> {
    let has = |names: &[&str]| names.iter().any(|name| node.get(*name).is_some_and(|value| !value.is_null()));
    let says_text = |name: &&str| node.get(*name).is_some_and(Value::is_string);
    let says = |name: &&&str| says_text(name);
    if has(&["tool", "tool_name", "code", "ask", "question", "decide", "merge", "value", "plan", "until", "over", "body", "query"])
        || NAMES.node.command.iter().any(says_text)
    {
        return None;
    }
    if has(&NAMES.node.args) && !has(&["agent", "agent_name", "agent_id", "role"]) {
        // Where nothing else says what to do, a name is that of what is called.
        let is_said = has(&["objective", "prompt", "instruction", "instructions", "goal", "description", "type", "kind"]);
        let names: &[&str] = if is_said { &[] } else { &["api", "name"] };
        let one =
            |name: &&str| node.get(*name).is_some_and(|value| value.as_array().is_some_and(|list| list.len() == 1 && list[0].is_string()));
        let mut calls = ["task", "action", "function"].iter().chain(names);
        return calls.find(|name| says_text(name) || one(name)).map(|name| (*name, "tool"));
    }
    if has(&["objective", "prompt", "instruction", "instructions", "goal"]) {
        return None;
    }
    let asks_or_tells = has(&["type", "kind", "approve"]) || has(&NAMES.gate.names);
    let titles: &[&str] = if asks_or_tells { &[] } else { &["title", "name"] };
    ["task", "action", "description"].iter().chain(titles).find(says).map(|name| (*name, "objective"))
}

/// A name without what people write in different ways: case, `_`, `-` and spaces.
pub(in crate::plan) fn plain(name: &str) -> String {
    letters(name).collect()
}

fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| !['_', '-', ' '].contains(c)).flat_map(char::to_lowercase)
}

/// Whether two names differ at most in case, `_`, `-` and spaces.
pub(super) fn is_alike(one: &str, other: &str) -> bool {
    letters(one).eq(letters(other))
}

/// When a field that would have a person asked asks, by its name and value; `own` is a further name.
pub(in crate::plan) fn gate(name: &str, value: &Value, own: Option<&str>) -> Option<&'static str> {
    if name == "approve" && own.is_none() {
        return None;
    }
    let is_known = own == Some(name) || NAMES.gate.names.iter().any(|gate| is_alike(gate, name));
    if denies(value) && NAMES.gate.denied.iter().any(|gate| is_alike(gate, name)) {
        return Some("before");
    }
    let is_flag = || NAMES.gate.flags.iter().any(|flag| is_alike(flag, name));
    let asked = asks(value).filter(|_| is_known || says_yes(value) && (is_flag() || is_like_a_gate(name)))?;
    Some(if asked == "before" && plain(name).ends_with("after") { "after" } else { asked })
}

/// A gate inside of what holds settings of a node or of a plan, or of a field that nobody knows, with its path.
pub(super) fn inner_gate(object: &Map<String, Value>, is_known: impl Fn(&str) -> bool) -> Option<(String, &'static str)> {
    let holds = |name: &str| ["policy", "config", "settings", "options", "metadata"].contains(&name) || !is_known(name);
    let inner = object.iter().filter_map(|(name, value)| Some((name, value.as_object().filter(|_| holds(name))?)));
    let mut fields = inner.flat_map(|(holder, fields)| fields.iter().map(move |(name, value)| (holder, name, value)));
    fields.find_map(|(holder, name, value)| gate_within(name, value, MOST_INNER).map(|(path, asked)| (format!("{holder}.{path}"), asked)))
}

/// How deep a gate may be inside of settings.
const MOST_INNER: usize = 2;

/// A gate that a field is, or that is inside of it, with its path.
pub(in crate::plan) fn gate_within(name: &str, value: &Value, depth: usize) -> Option<(String, &'static str)> {
    if let Some(asked) = gate(name, value, Some("approve")) {
        return Some((name.to_owned(), asked));
    }
    let fields = value.as_object().filter(|_| depth > 0)?;
    let (path, asked) = fields.iter().find_map(|(inner, value)| gate_within(inner, value, depth - 1))?;
    Some((format!("{name}.{path}"), asked))
}

/// Whether a name speaks of asking a person, though nobody has listed it.
pub(in crate::plan) fn is_like_a_gate(name: &str) -> bool {
    let name = plain(name);
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    has(&NAMES.gate.like) && !has(&NAMES.gate.unlike)
}

/// Whether a value is a plain yes.
fn says_yes(value: &Value) -> bool {
    value == &Value::Bool(true) || value.as_str().is_some_and(|text| NAMES.gate.yes.contains(&plain(text).as_str()))
}

/// Whether a value is a plain no.
fn denies(value: &Value) -> bool {
    value == &Value::Bool(false) || value.as_str().is_some_and(|text| ["false", "no", "never", "off"].contains(&plain(text).as_str()))
}

/// Whether a value of `approve` is none that the field has, and may still say when it asks.
pub(super) fn is_no_choice(value: &Value) -> bool {
    let is_choice = |text: &str| ["never", "before", "after", "both"].contains(&text);
    value.is_boolean() || value.is_object() || value.as_str().is_some_and(|text| !is_choice(text))
}

/// When a gate asks, by its value; nothing if it says that nobody is asked.
pub(in crate::plan) fn asks(value: &Value) -> Option<&'static str> {
    match value {
        Value::String(text) => match plain(text).as_str() {
            text if NAMES.gate.no.contains(&text) => None,
            "after" => Some("after"),
            "both" => Some("both"),
            _ => Some("before"),
        },
        Value::Object(map) => {
            let says = |name: &str| map.get(name).map(|value| asks(value).is_some());
            let off = ["enabled", "required"].into_iter().any(|name| says(name) == Some(false));
            match (says("before"), says("after")) {
                _ if off => None,
                (Some(true), Some(true)) => Some("both"),
                (Some(false) | None, Some(true)) => Some("after"),
                (Some(true), _) | (None, None) => Some("before").filter(|_| !map.is_empty()),
                (Some(false), _) | (None, Some(false)) => None,
            }
        }
        Value::Bool(true) => Some("before"),
        Value::Number(number) => (number.as_f64() != Some(0.0)).then_some("before"),
        Value::Array(list) => (!list.is_empty()).then_some("before"),
        Value::Null | Value::Bool(false) => None,
    }
}
