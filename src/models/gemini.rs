//! Gemini's own form: the request as sent. Its form of events is in `gemini/events.rs`.
//!
//! Calls and their results belong together by name and order: Gemini's ids of calls are optional, and not all of its servers know them.

mod events;

pub(super) use events::Candidates;

use serde_json::{Map, Value, json};

use super::client::features::{Features, SchemaMode};
use super::turns::{self, TurnSide};
use super::{CallRequest, ChatMessage, ChatRequest};
use crate::plan::dialect::exact_json;

/// Where the calls of a model go. Tuned models are named with the folder that they are in.
pub fn path(model: &str) -> String {
    let folder = if model.contains('/') { "" } else { "models/" };
    format!("{folder}{model}:streamGenerateContent?alt=sse")
}

/// The body of one call, with what the server is known to take and the limit of its answer.
pub fn request_body(request: &ChatRequest, features: &Features, cap: Option<u64>) -> Value {
    let mut body = Map::new();
    let tools: &[_] = if features.refuses_tools { &[] } else { &request.tools };
    // A type of the answer goes with no tools.
    let mode = if tools.is_empty() { features.schema } else { SchemaMode::Prompt };
    let system = turns::system(request, mode != SchemaMode::JsonSchema);
    if !system.is_empty() {
        body.insert("systemInstruction".to_owned(), json!({"parts": [text(&system)]}));
    }
    body.insert("contents".to_owned(), contents(request));
    if !tools.is_empty() {
        let tool =
            |tool: &super::ToolOffer| json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters});
        body.insert("tools".to_owned(), json!([{"functionDeclarations": tools.iter().map(tool).collect::<Vec<_>>()}]));
    }
    let settings = generation_config(request, features, mode, cap);
    if !settings.is_empty() {
        body.insert("generationConfig".to_owned(), Value::Object(settings));
    }
    Value::Object(body)
}

fn generation_config(request: &ChatRequest, features: &Features, mode: SchemaMode, cap: Option<u64>) -> Map<String, Value> {
    let settings = &request.settings;
    let sampling = !features.refuses_sampling;
    let schema = request.schema.as_ref().filter(|_| mode != SchemaMode::Prompt);
    let effort = settings.reasoning_effort.as_deref().filter(|_| !features.refuses_reasoning_effort);
    let thinking = effort.map(|effort| {
        let budget = match effort {
            "low" => 1_024,
            "high" => 24_576,
            _ => 8_192,
        };
        json!({"thinkingBudget": budget, "includeThoughts": true})
    });
    let all = [
        ("temperature", settings.temperature.filter(|_| sampling).map(|temperature| json!(temperature))),
        ("topP", settings.top_p.filter(|_| sampling).map(|top_p| json!(top_p))),
        ("maxOutputTokens", cap.map(|cap| json!(cap))),
        ("seed", settings.seed.map(|seed| json!(seed))),
        ("stopSequences", (!settings.stop.is_empty()).then(|| json!(settings.stop))),
        ("responseMimeType", schema.map(|_| json!("application/json"))),
        ("responseJsonSchema", schema.filter(|_| mode == SchemaMode::JsonSchema).map(|schema| schema.schema.clone())),
        ("thinkingConfig", thinking),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn contents(request: &ChatRequest) -> Value {
    let turns = turns::of(request, |message| match message {
        ChatMessage::System { .. } => Vec::new(),
        ChatMessage::User { content } => vec![text(content)],
        ChatMessage::Assistant { content, calls } => {
            let said = Some(content).filter(|content| !content.is_empty()).map(|content| text(content));
            said.into_iter().chain(calls.iter().map(call)).collect()
        }
        ChatMessage::Tool { call, content } => {
            vec![json!({"functionResponse": {"name": name_of(request, call), "response": {"result": content}}})]
        }
    });
    let role = |side| match side {
        TurnSide::Asking => "user",
        TurnSide::Model => "model",
    };
    turns.into_iter().map(|(side, parts)| json!({"role": role(side), "parts": parts})).collect()
}

fn text(content: &str) -> Value {
    json!({"text": content})
}

/// A call as history. Broken arguments go back as an empty object; the tool's error message tells the model what was wrong.
fn call(call: &CallRequest) -> Value {
    let args = exact_json(&call.arguments).ok().filter(Value::is_object).unwrap_or_else(|| json!({}));
    let mut part = json!({"functionCall": {"name": call.name, "args": args}});
    if let Some(signature) = &call.signature {
        part["thoughtSignature"] = json!(signature);
    }
    part
}

/// The name of the tool that a call with this id was for.
fn name_of<'r>(request: &'r ChatRequest, id: &str) -> &'r str {
    let calls = request.messages.iter().rev().flat_map(|message| match message {
        ChatMessage::Assistant { calls, .. } => calls.as_slice(),
        ChatMessage::System { .. } | ChatMessage::User { .. } | ChatMessage::Tool { .. } => &[],
    });
    calls.into_iter().find(|call| call.id == id).map_or("", |call| call.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{ModelSettings, OutputSchema, ToolOffer};

    fn conversation() -> ChatRequest {
        let made = |id: &str, name: &str| CallRequest { id: id.into(), name: name.into(), arguments: "{\"a\": 1}".into(), signature: None };
        ChatRequest {
            model: "gemini".into(),
            messages: vec![
                ChatMessage::System { content: "be brief".into() },
                ChatMessage::User { content: "add".into() },
                ChatMessage::Assistant {
                    content: String::new(),
                    calls: vec![
                        CallRequest { signature: Some("sealed".into()), ..made("t1", "add") },
                        CallRequest { arguments: "{".into(), ..made("t2", "now") },
                    ],
                },
                ChatMessage::Tool { call: "t1".into(), content: "2".into() },
                ChatMessage::Tool { call: "t2".into(), content: "wrong arguments".into() },
            ],
            tools: vec![ToolOffer { name: "add".into(), description: "adds".into(), parameters: json!({"type": "object"}) }],
            ..ChatRequest::default()
        }
    }

    #[test]
    fn a_conversation_with_tools_is_written_in_parts_and_signatures_go_back() {
        assert_eq!(
            request_body(&conversation(), &Features::default(), None),
            json!({
                "systemInstruction": {"parts": [{"text": "be brief"}]},
                "tools": [{"functionDeclarations": [{"name": "add", "description": "adds", "parametersJsonSchema": {"type": "object"}}]}],
                "contents": [
                    {"role": "user", "parts": [{"text": "add"}]},
                    {"role": "model", "parts": [
                        {"functionCall": {"name": "add", "args": {"a": 1}}, "thoughtSignature": "sealed"},
                        {"functionCall": {"name": "now", "args": {}}},
                    ]},
                    {"role": "user", "parts": [
                        {"functionResponse": {"name": "add", "response": {"result": "2"}}},
                        {"functionResponse": {"name": "now", "response": {"result": "wrong arguments"}}},
                    ]},
                ],
            })
        );
    }

    #[test]
    fn a_schema_is_asked_for_by_type_and_with_tools_in_words() {
        let schema = Some(OutputSchema { name: "plan".into(), schema: json!({"type": "object"}) });
        let alone = ChatRequest { schema: schema.clone(), tools: Vec::new(), ..conversation() };
        let with = |schema| request_body(&alone, &Features { schema, ..Features::default() }, None);
        let by_schema = with(SchemaMode::JsonSchema);
        let by_type = json!({"responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}});
        assert_eq!((&by_schema["generationConfig"], &by_schema["systemInstruction"]["parts"][0]["text"]), (&by_type, &json!("be brief")));
        let by_object = with(SchemaMode::JsonObject);
        assert_eq!(by_object["generationConfig"], json!({"responseMimeType": "application/json"}));
        let beside_tools = request_body(&ChatRequest { schema, ..conversation() }, &Features::default(), None);
        for body in [by_object, with(SchemaMode::Prompt), beside_tools] {
            assert!(body["systemInstruction"]["parts"][0]["text"].as_str().unwrap().contains("JSON Schema"), "{body}");
            assert_eq!(body["generationConfig"].get("responseJsonSchema"), None);
        }
    }

    #[test]
    fn settings_are_sent_by_their_names() {
        let settings = ModelSettings {
            temperature: Some(0.5),
            max_tokens: Some(9),
            top_p: Some(0.25),
            seed: Some(7),
            stop: vec!["END".into()],
            reasoning_effort: Some("low".into()),
        };
        let request = ChatRequest { settings, ..conversation() };
        let sent = |features| request_body(&request, &features, Some(9))["generationConfig"].clone();
        let plain = json!({"maxOutputTokens": 9, "seed": 7, "stopSequences": ["END"]});
        assert_eq!(sent(Features { refuses_sampling: true, refuses_reasoning_effort: true, ..Features::default() }), plain);
        let all = sent(Features::default());
        assert_eq!(
            (&all["temperature"], &all["topP"], &all["thinkingConfig"]["thinkingBudget"]),
            (&json!(0.5), &json!(0.25), &json!(1024))
        );
    }

    #[test]
    fn models_are_in_a_folder_of_their_own() {
        assert_eq!(path("gemini-x"), "models/gemini-x:streamGenerateContent?alt=sse");
        assert_eq!(path("tunedModels/mine"), "tunedModels/mine:streamGenerateContent?alt=sse");
    }
}
