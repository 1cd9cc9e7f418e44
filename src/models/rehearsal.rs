//! The model when none is connected: says what a model would be asked, marks itself, and is the same every time. Makes no tool calls.

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{ChatMessage, ChatModel, ChatReply, ChatRequest, Delta, Finish, ModelError, tokens};
use crate::engine::TokenUsage;

/// How every rehearsal text begins, and every free string of a rehearsed JSON answer.
pub const MARK: &str = "[rehearsal]";
pub const PROVIDER: &str = "rehearsal";
/// How much of the last message is repeated.
const EXCERPT: usize = 600;
/// How deep a schema is followed; recursive schemas end here.
const MAX_DEPTH: usize = 12;

#[derive(Clone, Copy, Debug, Default)]
pub struct Rehearsal;

#[async_trait]
impl ChatModel for Rehearsal {
    fn provider(&self) -> &str {
        PROVIDER
    }

    async fn chat(&self, request: &ChatRequest, sink: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatReply, ModelError> {
        let text = match &request.schema {
            Some(schema) => instance(&schema.schema).to_string(),
            None => answer_text(request),
        };
        sink(Delta::Text(text.clone()));
        let usage = TokenUsage { prompt: tokens::count_prompt(request), completion: tokens::count(&text) };
        Ok(ChatReply { text, calls: Vec::new(), usage, estimated: true, finish: Finish::Stop, model: PROVIDER.to_owned() })
    }

    async fn list(&self) -> Result<Vec<String>, ModelError> {
        Ok(Vec::new())
    }
}

fn answer_text(request: &ChatRequest) -> String {
    let asked = request.messages.iter().rev().find_map(|message| match message {
        ChatMessage::User { content } => Some(content.trim()),
        ChatMessage::System { .. } | ChatMessage::Assistant { .. } | ChatMessage::Tool { .. } => None,
    });
    let mut text = format!("{MARK} No model is connected, so this text is made up.\n");
    text.push_str(&format!(
        "A model would get {} and about {} tokens",
        counted(request.messages.len(), "message"),
        tokens::count_prompt(request)
    ));
    if request.tools.is_empty() {
        text.push_str(", without tools.\n");
    } else {
        let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        text.push_str(&format!(", with the tools {}.\n", names.join(", ")));
    }
    if let Some(asked) = asked {
        let end = asked.char_indices().nth(EXCERPT).map(|(end, _)| end);
        text.push_str("\nIt would be asked:\n");
        text.push_str(&asked[..end.unwrap_or(asked.len())]);
        text.push_str(if end.is_some() { " […]\n" } else { "\n" });
    }
    text
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

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
                let mut text = format!("{MARK} {name}");
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
    use crate::models::{OutputSchema, ToolOffer};

    async fn text(request: &ChatRequest) -> String {
        let mut streamed = String::new();
        let reply = Rehearsal
            .chat(request, &mut |delta| match delta {
                Delta::Text(text) => streamed.push_str(&text),
                Delta::Reasoning(_) | Delta::Restart { .. } => {}
            })
            .await
            .unwrap();
        assert_eq!(streamed, reply.text);
        assert!(reply.estimated && reply.calls.is_empty());
        reply.text
    }

    #[tokio::test]
    async fn a_rehearsal_marks_itself_and_says_what_would_be_asked() {
        let request = ChatRequest {
            messages: vec![ChatMessage::System { content: "secret sauce".into() }, ChatMessage::User { content: "Sum up the log".into() }],
            tools: vec![ToolOffer { name: "read_file".into(), description: String::new(), parameters: json!({}) }],
            ..ChatRequest::default()
        };
        let said = text(&request).await;
        assert!(said.starts_with(MARK));
        assert!(said.contains("2 messages") && said.contains("read_file") && said.contains("Sum up the log"), "{said}");
        assert_eq!(said, text(&request).await);
    }

    #[tokio::test]
    async fn a_long_question_is_shortened() {
        let request = ChatRequest { messages: vec![ChatMessage::User { content: "ä".repeat(5000) }], ..ChatRequest::default() };
        assert!(text(&request).await.ends_with("ä […]\n"));
    }

    #[tokio::test]
    async fn with_a_schema_the_answer_satisfies_it() {
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
        let request = ChatRequest { schema: Some(OutputSchema { name: "s".into(), schema: schema.clone() }), ..ChatRequest::default() };
        let value: Value = serde_json::from_str(&text(&request).await).unwrap();
        assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&value), "{value}");
        assert_eq!(value["title"], "[rehearsal] title");
        assert_eq!(value.get("left_out"), None);
    }

    #[test]
    fn a_recursive_schema_ends() {
        let schema = json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]});
        assert!(instance(&schema).is_object());
    }
}
