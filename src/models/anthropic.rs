//! Anthropic's messages: the request as sent. Its form of events is in `anthropic/events.rs`.
//!
//! What stays the same from call to call (tools, system, the conversation so far) is marked for the provider's cache. An answer in a
//! schema is asked for as the call of one tool that must be called.

mod events;

pub(super) use events::Events;

use serde_json::{Map, Value, json};

use super::client::features::{Features, SchemaMode};
use super::turns::{self, TurnSide};
use super::{CallRequest, ChatMessage, ChatRequest, OutputSchema};
use crate::plan::dialect::exact_json;

/// The version of the interface that is spoken.
pub const VERSION: &str = "2023-06-01";

/// The shortest thinking that may be asked for, in tokens.
const LEAST_THINKING: u64 = 1024;

/// The body of one call, with what the server is known to take and the limit of its answer.
pub fn request_body(request: &ChatRequest, features: &Features, cap: Option<u64>) -> Value {
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    let cap = cap.unwrap_or(super::client::features::UNKNOWN_OUTPUT);
    set("model", json!(request.model));
    set("max_tokens", json!(cap));
    set("stream", json!(true));
    let forced = forced_tool(request, features.schema);
    let system = turns::system(request, forced.is_none());
    if !system.is_empty() {
        set("system", json!([{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]));
    }
    set("messages", Value::Array(messages(request)));
    let mut tools: Vec<Value> = match forced {
        Some(schema) => {
            set("tool_choice", json!({"type": "tool", "name": schema.name}));
            vec![json!({"name": schema.name, "description": "Hands in the answer.", "input_schema": schema.schema})]
        }
        None if features.refuses_tools => Vec::new(),
        None => {
            let tool =
                |tool: &super::ToolOffer| json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters});
            request.tools.iter().map(tool).collect()
        }
    };
    let without_tools = tools.is_empty();
    if let Some(last) = tools.last_mut() {
        last["cache_control"] = json!({"type": "ephemeral"});
        set("tools", Value::Array(tools));
    }
    let settings = &request.settings;
    // Thinking between calls would have to go back with its signature, which a conversation doesn't keep.
    let effort = settings.reasoning_effort.as_deref().filter(|_| without_tools && !features.refuses_reasoning_effort);
    let thinking = effort.and_then(|effort| thinking_budget(effort, cap));
    if let Some(budget) = thinking {
        set("thinking", json!({"type": "enabled", "budget_tokens": budget}));
    }
    // Thinking allows no other temperature than its own.
    if !features.refuses_sampling && thinking.is_none() {
        settings.temperature.into_iter().for_each(|temperature| set("temperature", json!(temperature.clamp(0.0, 1.0))));
        settings.top_p.into_iter().for_each(|top_p| set("top_p", json!(top_p)));
    }
    if !settings.stop.is_empty() {
        set("stop_sequences", json!(settings.stop));
    }
    Value::Object(body)
}

/// The schema that is asked for by a tool that must be called: only an object can be its input, and no other tool could be called.
pub(super) fn forced_tool(request: &ChatRequest, mode: SchemaMode) -> Option<&OutputSchema> {
    let fits = |schema: &&OutputSchema| schema.schema.get("type") == Some(&json!("object"));
    request.schema.as_ref().filter(|_| mode == SchemaMode::JsonSchema && request.tools.is_empty()).filter(fits)
}

fn thinking_budget(effort: &str, cap: u64) -> Option<u64> {
    let wanted = match effort {
        "low" => LEAST_THINKING,
        "high" => 16_384,
        _ => 4_096,
    };
    let budget = wanted.min(cap / 2);
    (budget >= LEAST_THINKING).then_some(budget)
}

/// The last part is marked: the next call repeats all of it.
fn messages(request: &ChatRequest) -> Vec<Value> {
    let mut turns = turns::of(request, |message| match message {
        ChatMessage::System { .. } => Vec::new(),
        ChatMessage::User { content } => vec![text(content)],
        ChatMessage::Assistant { content, calls } => {
            let said = Some(content).filter(|content| !content.trim().is_empty()).map(|content| text(content));
            said.into_iter().chain(calls.iter().map(call)).collect()
        }
        ChatMessage::Tool { call, content } => vec![json!({"type": "tool_result", "tool_use_id": call, "content": content})],
    });
    if let Some(last) = turns.last_mut().and_then(|(_, parts)| parts.last_mut()) {
        last["cache_control"] = json!({"type": "ephemeral"});
    }
    let role = |side| match side {
        TurnSide::Asking => "user",
        TurnSide::Model => "assistant",
    };
    turns.into_iter().map(|(side, content)| json!({"role": role(side), "content": content})).collect()
}

/// Text of nothing but white space is refused.
fn text(content: &str) -> Value {
    json!({"type": "text", "text": if content.trim().is_empty() { "(empty)" } else { content }})
}

/// A call as history. Broken arguments go back as an empty object; the tool's error message tells the model what was wrong.
fn call(call: &CallRequest) -> Value {
    let input = exact_json(&call.arguments).ok().filter(Value::is_object).unwrap_or_else(|| json!({}));
    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{ModelSettings, ToolOffer};

    fn conversation() -> ChatRequest {
        let made = |id: &str| CallRequest { id: id.into(), name: "add".into(), arguments: "{\"a\": 1}".into(), signature: None };
        ChatRequest {
            model: "claude".into(),
            messages: vec![
                ChatMessage::System { content: "be brief".into() },
                ChatMessage::User { content: "add".into() },
                ChatMessage::Assistant {
                    content: String::new(),
                    calls: vec![made("t1"), CallRequest { arguments: "{".into(), ..made("t2") }],
                },
                ChatMessage::Tool { call: "t1".into(), content: "2".into() },
                ChatMessage::Tool { call: "t2".into(), content: "wrong arguments".into() },
            ],
            tools: vec![ToolOffer { name: "add".into(), description: "adds".into(), parameters: json!({"type": "object"}) }],
            ..ChatRequest::default()
        }
    }

    #[test]
    fn a_conversation_with_tools_is_written_in_blocks_and_marked_for_the_cache() {
        let mark = json!({"type": "ephemeral"});
        let body = request_body(&conversation(), &Features::default(), Some(500));
        assert_eq!(
            body,
            json!({
                "model": "claude",
                "max_tokens": 500,
                "stream": true,
                "system": [{"type": "text", "text": "be brief", "cache_control": mark}],
                "tools": [{"name": "add", "description": "adds", "input_schema": {"type": "object"}, "cache_control": mark}],
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": "add"}]},
                    {"role": "assistant", "content": [
                        {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}},
                        {"type": "tool_use", "id": "t2", "name": "add", "input": {}},
                    ]},
                    {"role": "user", "content": [
                        {"type": "tool_result", "tool_use_id": "t1", "content": "2"},
                        {"type": "tool_result", "tool_use_id": "t2", "content": "wrong arguments", "cache_control": mark},
                    ]},
                ],
            })
        );
    }

    #[test]
    fn a_schema_is_a_tool_that_must_be_called_or_else_words() {
        let schema = Some(OutputSchema { name: "plan".into(), schema: json!({"type": "object", "properties": {}}) });
        let alone = ChatRequest { schema: schema.clone(), tools: Vec::new(), ..conversation() };
        let body = request_body(&alone, &Features::default(), None);
        assert_eq!((&body["tool_choice"]["name"], &body["tools"][0]["name"]), (&json!("plan"), &json!("plan")));
        assert_eq!(body["system"][0]["text"], "be brief");
        let in_words = [
            request_body(&ChatRequest { schema, ..conversation() }, &Features::default(), None),
            request_body(&alone, &Features { schema: SchemaMode::JsonObject, ..Features::default() }, None),
        ];
        for body in in_words {
            assert_eq!(body.get("tool_choice"), None);
            assert!(body["system"][0]["text"].as_str().unwrap().contains("JSON Schema"), "{body}");
        }
    }

    #[test]
    fn thinking_leaves_room_for_the_answer_and_allows_no_temperature() {
        let settings = ModelSettings { temperature: Some(1.5), reasoning_effort: Some("high".into()), ..ModelSettings::default() };
        let request = ChatRequest { tools: Vec::new(), settings, ..conversation() };
        let body = |cap| request_body(&request, &Features::default(), Some(cap));
        assert_eq!((&body(8_000)["thinking"]["budget_tokens"], body(8_000).get("temperature")), (&json!(4_000), None));
        assert_eq!((body(1_500).get("thinking"), &body(1_500)["temperature"]), (None, &json!(1.0)));
    }
}
