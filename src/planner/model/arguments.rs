//! The arguments of a tool as a plan may write them: the tool's own schema, where any value may also be a reference, in the subset that
//! servers take. And the same in words, for models that see no schema.

use serde_json::{Map, Value, json};

use crate::plan::ToolInfo;
use crate::text::Plain;

/// How deep objects inside of objects are spelled out.
const DEPTH: usize = 3;
/// Longest description of an argument in the words.
const DESCRIPTION: usize = 90;

/// The schema of a tool's arguments; texts are as `text`. What can't be said in the subset is left open: any object.
pub(super) fn schema(input: &Value, text: &Value) -> Value {
    object(input, text, DEPTH).unwrap_or_else(|| json!({"type": "object"}))
}

fn object(schema: &Value, text: &Value, depth: usize) -> Option<Value> {
    let properties = match schema.get("properties") {
        Some(properties) => properties.as_object()?.clone(),
        // No arguments at all; else they are free.
        None if schema.get("additionalProperties") == Some(&Value::Bool(false)) => Map::new(),
        None => return None,
    };
    let depth = depth.checked_sub(1)?;
    let required = required(schema);
    let mut exact = Map::new();
    for (name, field) in &properties {
        exact.insert(name.clone(), value(field, text, depth)?);
    }
    Some(json!({"type": "object", "required": required, "properties": exact, "additionalProperties": false}))
}

/// One argument: its type, or a text that holds a reference.
fn value(schema: &Value, text: &Value, depth: usize) -> Option<Value> {
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        let choices: Vec<&Value> = choices.iter().filter(|choice| !choice.is_null()).collect();
        return choices.iter().all(|choice| choice.is_string()).then(|| json!({"type": "string", "enum": choices}));
    }
    let mut ways = vec![text.clone()];
    let kinds = kinds(schema)?;
    // Where a text will do, a plan refers to objects and writes none.
    let only_objects = kinds.iter().all(|kind| matches!(*kind, "object" | "null"));
    for kind in kinds {
        match kind {
            "string" | "null" => {}
            "object" if only_objects => ways.push(object(schema, text, depth)?),
            "object" => {}
            "array" => {
                let any = json!({"type": "string"});
                let item = value(schema.get("items").unwrap_or(&any), text, depth.checked_sub(1)?)?;
                ways.push(json!({"type": "array", "items": item}));
            }
            scalar => ways.push(json!({ "type": scalar })),
        }
    }
    Some(if ways.len() == 1 { text.clone() } else { json!({ "anyOf": ways }) })
}

/// The JSON types that a value may have; nothing where the schema says it in another way.
fn kinds(schema: &Value) -> Option<Vec<&str>> {
    match schema.get("type")? {
        Value::String(kind) => Some(vec![kind]),
        Value::Array(kinds) => Some(kinds.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

fn required(schema: &Value) -> Vec<&str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// `path: text, limit?: whole number`, with what each required one is where `explained`.
pub(super) fn in_words(tool: &ToolInfo, explained: bool) -> String {
    let required = required(&tool.input_schema);
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    let parts = properties.into_iter().flatten().map(|(name, schema)| {
        let is_required = required.contains(&name.as_str());
        let mark = if is_required { "" } else { "?" };
        let about = schema.get("description").and_then(Value::as_str).filter(|_| explained && is_required);
        let about = about.map(|text| format!(" ({})", Plain::summary(text).truncate(DESCRIPTION))).unwrap_or_default();
        format!("{name}{mark}: {}{about}", kind_in_words(schema))
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn kind_in_words(schema: &Value) -> String {
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return choices.iter().filter(|choice| !choice.is_null()).map(Value::to_string).collect::<Vec<_>>().join("|");
    }
    let kinds = kinds(schema).unwrap_or_else(|| vec!["any"]);
    let words = kinds.into_iter().filter(|kind| *kind != "null").map(|kind| match kind {
        "array" => match schema.get("items") {
            Some(items) => format!("list of {}", kind_in_words(items)),
            None => "list".to_owned(),
        },
        kind => kind.to_owned(),
    });
    words.collect::<Vec<_>>().join("|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Risk, Verdict};

    #[test]
    fn what_the_subset_cannot_say_is_left_open() {
        let text = json!({"type": "string"});
        for open in [json!({"type": "object"}), json!({"type": "object", "properties": {"x": {"anyOf": []}}})] {
            assert_eq!(schema(&open, &text), json!({"type": "object"}), "{open}");
        }
        let none = json!({"type": "object", "additionalProperties": false});
        assert_eq!(schema(&none, &text)["additionalProperties"], false);
    }

    #[test]
    fn types_are_told_in_words() {
        let input_schema = json!({"type": "object", "required": ["path"], "properties": {
            "path": {"type": ["string", "array"], "items": {"type": "string"}, "description": "File, or a list of files."},
            "mode": {"enum": ["a", "b", null]}, "last": {"type": ["integer", "null"], "description": "How many."},
        }});
        let tool =
            ToolInfo { name: "t".into(), description: String::new(), input_schema, risk: Risk::Read, verdict: Verdict::Allow, reach: None };
        assert_eq!(in_words(&tool, true), "path: string|list of string (File, or a list of files.), mode?: \"a\"|\"b\", last?: integer");
        assert_eq!(in_words(&tool, false), "path: string|list of string, mode?: \"a\"|\"b\", last?: integer");
    }
}
