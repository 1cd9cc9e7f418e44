//! Made-up data in the shape of a JSON Schema, for what no model answered; it marks itself, and is the same every time.

use crate::engine::REHEARSED;
use serde_json::{Map, Value, json};

/// How deep a schema is followed; recursive schemas end here.
const MAX_DEPTH: usize = 12;

/// The smallest value that satisfies a schema, as far as plain rules go; free strings carry the mark.
pub fn instance(schema: &Value) -> Value {
    Builder { root: schema }.value(schema, "answer", 0)
}

struct Builder<'a> {
    root: &'a Value,
}

impl Builder<'_> {
    fn value(&self, schema: &Value, name: &str, depth: usize) -> Value {
        if depth > MAX_DEPTH {
            return Value::Null;
        }
        for fixed in ["const", "default"] {
            if let Some(value) = schema.get(fixed) {
                return value.clone();
            }
        }
        for list in ["enum", "examples"] {
            if let Some(value) = schema.get(list).and_then(Value::as_array).and_then(|values| values.first()) {
                return value.clone();
            }
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let found = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            return found.map_or(Value::Null, |found| self.value(found, name, depth + 1));
        }
        for choice in ["anyOf", "oneOf"] {
            if let Some(first) = schema.get(choice).and_then(Value::as_array).and_then(|choices| choices.first()) {
                return self.value(first, name, depth + 1);
            }
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            return self.merged(parts, name, depth + 1);
        }
        self.by_type(schema, name, depth)
    }

    fn by_type(&self, schema: &Value, name: &str, depth: usize) -> Value {
        let number = |field: &str| schema.get(field).and_then(Value::as_f64);
        match type_of(schema) {
            "object" => self.object(schema, depth),
            "array" => {
                let count = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(16);
                let item = schema.get("items").unwrap_or(&Value::Null);
                (0..count).map(|_| self.value(item, name, depth + 1)).collect()
            }
            "integer" => json!(number("minimum").map_or(0, |least| least.ceil() as i64)),
            "number" => json!(number("minimum").unwrap_or(0.0)),
            "boolean" => json!(false),
            "null" => Value::Null,
            _ => {
                let mut text = format!("{REHEARSED} {name}");
                if let Some(most) = schema.get("maxLength").and_then(Value::as_u64) {
                    text = text.chars().take(usize::try_from(most).unwrap_or(usize::MAX)).collect();
                }
                json!(text)
            }
        }
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return json!({}) };
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let wanted = properties.iter().filter(|(key, _)| required.contains(&key.as_str()));
        Value::Object(wanted.map(|(key, property)| (key.clone(), self.value(property, key, depth + 1))).collect())
    }

    fn merged(&self, parts: &[Value], name: &str, depth: usize) -> Value {
        let mut merged = Map::new();
        for part in parts {
            match self.value(part, name, depth) {
                Value::Object(fields) => merged.extend(fields),
                other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => return other,
            }
        }
        Value::Object(merged)
    }
}

fn type_of(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or("null"),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
            if schema.get("properties").is_some() {
                "object"
            } else if schema.get("items").is_some() {
                "array"
            } else {
                "string"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn made_up_data_satisfies_its_schema() {
        let schema = json!({
            "type": "object",
            "$defs": {"tree": {"type": "object", "properties": {"kids": {"type": "array", "minItems": 1, "items": {"type": "string"}}}, "required": ["kids"]}},
            "properties": {
                "title": {"type": "string"},
                "level": {"enum": ["low", "high"]},
                "score": {"type": "number", "minimum": 2},
                "count": {"type": ["null", "integer"]},
                "tree": {"$ref": "#/$defs/tree"},
                "pick": {"anyOf": [{"type": "boolean"}, {"type": "string"}]},
                "left_out": {"type": "string"},
            },
            "required": ["title", "level", "score", "count", "tree", "pick"],
            "additionalProperties": false,
        });
        let value = instance(&schema);
        assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&value), "{value}");
        assert_eq!(value["title"], "[rehearsed] title");
        assert_eq!(value.get("left_out"), None);
    }

    #[test]
    fn a_recursive_schema_ends() {
        let schema = json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]});
        assert!(instance(&schema).is_object());
    }
}
