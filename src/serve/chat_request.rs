//! `ChatWish`: what a body of `/v1/chat/completions` asks for. What can't be done is refused in words; what has no effect is named.

use super::http_error::HttpError;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// The model that plans and runs a request as `dagdeck run` does.
pub(super) const PLANNER: &str = "dagdeck";

/// A model that begins so is one agent alone.
pub(super) const AGENT: &str = "agent:";

/// Fields that change nothing about what is done.
const HARMLESS: [&str; 4] = ["metadata", "store", "user", "safety_identifier"];

#[derive(Deserialize)]
struct ChatBody {
    #[serde(default)]
    model: Option<String>,
    messages: Vec<ChatBodyMessage>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
    #[serde(default)]
    orchestration: Option<OrchestrationOptions>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

#[derive(Deserialize)]
struct ChatBodyMessage {
    role: String,
    #[serde(default)]
    content: Value,
}

#[derive(Default, Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

/// What dagdeck takes beside OpenAI's fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OrchestrationOptions {
    /// The run goes on when the client leaves.
    pub(super) detach: bool,
    /// The text of all nodes, not only of the final one.
    pub(super) all_text: bool,
}

/// A chat that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChatWish {
    pub(super) model: String,
    /// The last message.
    pub(super) request: String,
    /// The messages before it, for a model to read; may be empty.
    pub(super) earlier: String,
    pub(super) streams: bool,
    pub(super) include_usage: bool,
    pub(super) options: OrchestrationOptions,
    /// Fields that have no effect here.
    pub(super) ignored: Vec<String>,
}

impl ChatWish {
    pub(super) fn read(body: &[u8]) -> Result<Self, HttpError> {
        let body: ChatBody = serde_json::from_slice(body).map_err(|error| HttpError::wrong(format!("the body can't be read: {error}")))?;
        let mut ignored = Vec::new();
        for (field, value) in &body.others {
            let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
            match field.as_str() {
                _ if is_empty => {}
                "tools" | "functions" => {
                    return Err(HttpError::wrong(
                        "tools of the client can't be called here: dagdeck runs its own, of agents and MCP servers",
                    ));
                }
                "n" if *value != 1 => return Err(HttpError::wrong("`n` can only be 1: a request is planned and run once")),
                "n" => {}
                "response_format" if value["type"] != "text" => {
                    return Err(HttpError::wrong("`response_format` can only be text; an agent's `output_schema` in a plan makes JSON"));
                }
                field if HARMLESS.contains(&field) => {}
                field => ignored.push(field.to_owned()),
            }
        }
        let mut turns = Vec::new();
        for message in body.messages {
            turns.push((message.role, text_of(message.content)?));
        }
        let request = match turns.pop() {
            Some((role, text)) if role == "user" && !text.trim().is_empty() => text,
            Some(_) => return Err(HttpError::wrong("the last message has to be the user's, with a text")),
            None => return Err(HttpError::wrong("`messages` is empty")),
        };
        let earlier = turns.into_iter().fold(String::new(), |mut all, (role, text)| {
            // Writing into a text can't fail.
            let _ = writeln!(all, "{role}: {text}");
            all
        });
        Ok(Self {
            model: body.model.unwrap_or_else(|| PLANNER.to_owned()),
            request,
            earlier,
            streams: body.stream.unwrap_or_default(),
            include_usage: body.stream_options.unwrap_or_default().include_usage,
            options: body.orchestration.unwrap_or_default(),
            ignored,
        })
    }
}

/// The text of a message, of one piece or several.
fn text_of(content: Value) -> Result<String, HttpError> {
    match content {
        Value::String(text) => Ok(text),
        Value::Null => Ok(String::new()),
        Value::Array(parts) => parts.iter().try_fold(String::new(), |all, part| match (part["type"].as_str(), part["text"].as_str()) {
            (Some("text"), Some(text)) => Ok(all + text),
            (kind, _) => {
                Err(HttpError::wrong(format!("a message can only hold text, and this one holds {}", kind.unwrap_or("something else"))))
            }
        }),
        _ => Err(HttpError::wrong("the content of a message is a text or a list of parts")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(body: &Value) -> Result<ChatWish, HttpError> {
        ChatWish::read(body.to_string().as_bytes())
    }

    fn refusal(field: &str, value: Value) -> String {
        let mut body = json!({"messages": [{"role": "user", "content": "hello"}]});
        body[field] = value;
        read(&body).unwrap_err().body()["error"]["message"].as_str().unwrap().to_owned()
    }

    #[test]
    fn the_last_message_is_the_request_and_those_before_it_are_its_context() {
        let parts = json!([{"type": "text", "text": "list "}, {"type": "text", "text": "it"}]);
        let messages = json!([{"role": "system", "content": "be brief"}, {"role": "user", "content": parts}]);
        let wish = read(&json!({"model": "m", "messages": messages, "temperature": 0, "user": "u", "n": 1, "tools": []})).unwrap();
        assert_eq!((wish.request.as_str(), wish.earlier.as_str()), ("list it", "system: be brief\n"));
        assert_eq!(wish.ignored, ["temperature"], "what has no effect is named");
    }

    #[test]
    fn what_cant_be_done_is_refused_in_words() {
        assert!(refusal("tools", json!([{"type": "function"}])).starts_with("tools of the client"));
        assert!(refusal("n", json!(2)).starts_with("`n` can only be 1"));
        assert!(refusal("response_format", json!({"type": "json_object"})).contains("can only be text"));
        assert!(refusal("orchestration", json!({"detatch": true})).contains("unknown field `detatch`"));
        let image = json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]);
        assert!(refusal("messages", image).contains("holds image_url"));
        assert!(refusal("messages", json!([])).contains("is empty"));
        assert!(refusal("messages", json!([{"role": "assistant", "content": "x"}])).contains("has to be the user's"));
    }
}
