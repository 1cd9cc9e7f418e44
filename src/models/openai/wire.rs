//! The chat completions format: the request as sent, chunks and errors as received. Lenient in what it takes: nulls, missing
//! fields, text as a list of parts, arguments as an object, codes as text or number.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::engine::TokenUsage;
use crate::models::client::features::{CapParameter, Features, SchemaMode};
use crate::models::{CallRequest, ChatMessage, ChatRequest, OutputSchema, json as text_json};

/// The body of one call, with what the server is known to take and the limit of its answer.
pub fn request_body(request: &ChatRequest, features: &Features, cap: Option<u64>) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model));
    body.insert("messages".into(), Value::Array(messages(request, features.schema)));
    body.insert("stream".into(), json!(true));
    if !features.refuses_usage_option {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    if !request.tools.is_empty() && !features.refuses_tools {
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters}})
        });
        body.insert("tools".into(), tools.collect());
    }
    if let Some(schema) = &request.schema
        && let Some(format) = response_format(schema, features.schema)
    {
        body.insert("response_format".into(), format);
    }
    add_settings(&mut body, request, features, cap);
    Value::Object(body)
}

fn add_settings(body: &mut Map<String, Value>, request: &ChatRequest, features: &Features, cap: Option<u64>) {
    let settings = &request.settings;
    let mut add = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(name.to_owned(), value);
        }
    };
    match features.cap {
        CapParameter::MaxTokens => add("max_tokens", cap.map(Value::from)),
        CapParameter::MaxCompletionTokens => add("max_completion_tokens", cap.map(Value::from)),
        CapParameter::Refused => {}
    }
    if !features.refuses_sampling {
        add("temperature", settings.temperature.map(Value::from));
        add("top_p", settings.top_p.map(Value::from));
    }
    add("seed", settings.seed.map(Value::from));
    add("stop", (!settings.stop.is_empty()).then(|| json!(settings.stop)));
    if !features.refuses_reasoning_effort {
        add("reasoning_effort", settings.reasoning_effort.clone().map(Value::from));
    }
}

fn response_format(schema: &OutputSchema, mode: SchemaMode) -> Option<Value> {
    match mode {
        SchemaMode::JsonSchema => Some(json!({
            "type": "json_schema",
            "json_schema": {"name": schema.name, "schema": schema.schema, "strict": fits_strict(&schema.schema)},
        })),
        SchemaMode::JsonObject => Some(json!({"type": "json_object"})),
        SchemaMode::Prompt => None,
    }
}

/// Whether a schema keeps the rules that strict servers demand: each object lists all its properties as required and allows no others.
fn fits_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            let object_fits = match map.get("properties").and_then(Value::as_object) {
                Some(properties) => {
                    let required = map.get("required").and_then(Value::as_array).map_or(0, Vec::len);
                    required == properties.len() && map.get("additionalProperties") == Some(&Value::Bool(false))
                }
                None => map.get("type") != Some(&json!("object")),
            };
            object_fits && !map.contains_key("oneOf") && map.values().all(fits_strict)
        }
        Value::Array(items) => items.iter().all(fits_strict),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// The messages. Where the server can't hold an answer to a schema by itself, the prompt asks for it: in the first system message,
/// because many chat templates allow only one.
fn messages(request: &ChatRequest, mode: SchemaMode) -> Vec<Value> {
    let mut messages: Vec<Value> = request.messages.iter().map(message).collect();
    let Some(schema) = request.schema.as_ref().filter(|_| mode != SchemaMode::JsonSchema) else { return messages };
    let instruction = text_json::instruction(&schema.schema);
    match request.messages.first() {
        Some(ChatMessage::System { content }) => messages[0] = json!({"role": "system", "content": format!("{content}\n\n{instruction}")}),
        Some(_) | None => messages.insert(0, json!({"role": "system", "content": instruction})),
    }
    messages
}

fn message(message: &ChatMessage) -> Value {
    match message {
        ChatMessage::System { content } => json!({"role": "system", "content": content}),
        ChatMessage::User { content } => json!({"role": "user", "content": content}),
        ChatMessage::Assistant { content, calls } if calls.is_empty() => json!({"role": "assistant", "content": content}),
        ChatMessage::Assistant { content, calls } => {
            let content = if content.is_empty() { Value::Null } else { json!(content) };
            json!({"role": "assistant", "content": content, "tool_calls": calls.iter().map(call).collect::<Vec<_>>()})
        }
        ChatMessage::Tool { call, content } => json!({"role": "tool", "tool_call_id": call, "content": content}),
    }
}

/// A call as history. Servers parse the arguments again, and some answer 500 when they can't, so broken ones go back as `{}`;
/// the tool's error message tells the model what was wrong.
fn call(call: &CallRequest) -> Value {
    let is_object = serde_json::from_str::<Map<String, Value>>(&call.arguments).is_ok();
    let arguments = if is_object { call.arguments.as_str() } else { "{}" };
    let mut sent = json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}});
    if let Some(signature) = &call.signature {
        sent["extra_content"] = json!({"google": {"thought_signature": signature}});
    }
    sent
}

/// Where Gemini puts the signature of a call.
pub(super) const SIGNATURE: &str = "/google/thought_signature";

/// One chunk of a stream, or a whole completion (`message` in place of `delta`).
#[derive(Debug, Default, Deserialize)]
pub(super) struct Chunk {
    pub model: Option<String>,
    pub choices: Option<Vec<Choice>>,
    pub usage: Option<Usage>,
    /// An error in the middle of a stream; an object or text.
    pub error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Choice {
    pub delta: Option<WireMessage>,
    pub message: Option<WireMessage>,
    pub finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct WireMessage {
    pub content: Option<Value>,
    pub reasoning_content: Option<Value>,
    /// The newer name of `reasoning_content`; some servers send both.
    pub reasoning: Option<Value>,
    pub refusal: Option<String>,
    pub tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct CallPiece {
    pub index: Option<u64>,
    pub id: Option<String>,
    pub function: Option<FunctionPiece>,
    pub extra_content: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct FunctionPiece {
    pub name: Option<String>,
    pub arguments: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<UsageDetails>,
    completion_tokens_details: Option<UsageDetails>,
    /// DeepSeek's name for what came from its cache.
    prompt_cache_hit_tokens: Option<u64>,
    /// US dollars, from gateways that say so.
    pub cost: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
struct UsageDetails {
    cached_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
}

impl Usage {
    pub(super) fn tokens(&self) -> TokenUsage {
        let cached = self.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens).or(self.prompt_cache_hit_tokens);
        let reasoning = self.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
        TokenUsage {
            cached: cached.unwrap_or(0),
            reasoning: reasoning.unwrap_or(0),
            ..TokenUsage::of(self.prompt_tokens.unwrap_or(0), self.completion_tokens.unwrap_or(0))
        }
    }
}

/// Text that is a string, or a list of parts with `text`.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{ModelSettings, ToolOffer};

    fn request() -> ChatRequest {
        ChatRequest {
            model: "m".into(),
            messages: vec![ChatMessage::System { content: "be brief".into() }, ChatMessage::User { content: "hi".into() }],
            schema: Some(OutputSchema {
                name: "answer".into(),
                schema: json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false}),
            }),
            ..ChatRequest::default()
        }
    }

    #[test]
    fn a_body_has_only_what_was_asked_for() {
        let request = ChatRequest { schema: None, ..request() };
        assert_eq!(
            request_body(&request, &Features::default(), None),
            json!({
                "model": "m",
                "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
                "stream": true,
                "stream_options": {"include_usage": true},
            })
        );
    }

    #[test]
    fn settings_and_tools_are_sent_by_their_names() {
        let mut request = ChatRequest { schema: None, ..request() };
        request.settings = ModelSettings {
            temperature: Some(0.5),
            max_tokens: Some(9),
            top_p: Some(0.25),
            seed: Some(7),
            stop: vec!["END".into()],
            reasoning_effort: Some("low".into()),
        };
        request.tools.push(ToolOffer { name: "t".into(), description: "d".into(), parameters: json!({"type": "object"}) });
        let body = request_body(&request, &Features { cap: CapParameter::MaxCompletionTokens, ..Features::default() }, Some(9));
        assert_eq!(body["temperature"], 0.5);
        assert_eq!(body["max_completion_tokens"], 9);
        assert_eq!(body.get("max_tokens"), None);
        assert_eq!(body["stop"], json!(["END"]));
        assert_eq!(body["reasoning_effort"], "low");
        assert_eq!(body["tools"][0]["function"]["name"], "t");
        let plain =
            request_body(&request, &Features { refuses_sampling: true, refuses_reasoning_effort: true, ..Features::default() }, Some(9));
        assert_eq!(plain.get("temperature"), None);
        assert_eq!(plain.get("reasoning_effort"), None);
        assert_eq!(plain["max_tokens"], 9);
    }

    #[test]
    fn each_schema_mode_asks_in_its_own_way() {
        let body = |schema| request_body(&request(), &Features { schema, ..Features::default() }, None);
        let by_schema = body(SchemaMode::JsonSchema);
        assert_eq!(by_schema["response_format"]["json_schema"]["strict"], true);
        assert_eq!(by_schema["messages"][0]["content"], "be brief");
        let by_object = body(SchemaMode::JsonObject);
        assert_eq!(by_object["response_format"], json!({"type": "json_object"}));
        assert!(by_object["messages"][0]["content"].as_str().unwrap().contains("JSON Schema"));
        assert_eq!(body(SchemaMode::Prompt).get("response_format"), None);
    }

    #[test]
    fn strict_is_claimed_only_for_schemas_that_keep_its_rules() {
        assert!(!fits_strict(&json!({"type": "object"})));
        assert!(!fits_strict(&json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false})));
        assert!(!fits_strict(&json!({"type": "array", "items": {"type": "object", "properties": {"a": {}}}})));
        assert!(fits_strict(&json!({"type": "array", "items": {"type": "string"}})));
    }

    #[test]
    fn broken_arguments_go_back_as_an_empty_object_and_signatures_as_they_came() {
        let call = CallRequest { id: "1".into(), name: "t".into(), arguments: "{\"city\": \"Par".into(), signature: None };
        let signed = CallRequest { signature: Some("sealed".into()), ..call.clone() };
        let sent = message(&ChatMessage::Assistant { content: String::new(), calls: vec![call, signed] });
        assert_eq!(sent["tool_calls"][0]["function"]["arguments"], "{}");
        assert_eq!(sent["content"], Value::Null);
        assert_eq!(sent["tool_calls"][0].get("extra_content"), None);
        assert_eq!(sent["tool_calls"][1]["extra_content"].pointer(SIGNATURE), Some(&json!("sealed")));
    }
}
