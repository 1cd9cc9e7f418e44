//! One reply out of the events of a stream of messages: text, thinking, calls, usage, the reason it stopped. Pure.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

use crate::engine::TokenUsage;
use crate::models::client::api::{AnswerPiece, Assembly};
use crate::models::client::features::SchemaMode;
use crate::models::{CallRequest, ChatAnswer, ChatRequest, Delta, Finish, tokens};

/// A reply under way.
#[derive(Debug, Default)]
pub struct Events {
    /// The tool whose input is the answer, if the request forces one.
    answer_tool: Option<String>,
    text: String,
    /// What is said beside the call that is to be the answer.
    beside: String,
    /// By the number of their block.
    calls: BTreeMap<u64, CallRequest>,
    usage: Option<MessageUsage>,
    stop: Option<String>,
    model: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StreamEvent {
    /// The reply without its content.
    MessageStart { message: WireReply },
    /// A block begins.
    ContentBlockStart { index: u64, content_block: ContentBlock },
    /// A block goes on.
    ContentBlockDelta { index: u64, delta: BlockDelta },
    /// Why it stopped, and what it took.
    MessageDelta { delta: StopDelta, usage: Option<MessageUsage> },
    /// All of it came.
    MessageStop,
    /// The server gives up.
    Error,
    /// `ping`, `content_block_stop`, and what is new.
    #[serde(other)]
    Else,
}

#[derive(Debug, Deserialize)]
struct WireReply {
    model: Option<String>,
    #[serde(default)]
    content: Vec<ContentBlock>,
    stop_reason: Option<String>,
    usage: Option<MessageUsage>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentBlock {
    /// Words of the answer.
    Text {
        #[serde(default)]
        text: String,
    },
    /// Words of a thought.
    Thinking {
        #[serde(default)]
        thinking: String,
    },
    /// A call, whose input follows.
    ToolUse { id: String, name: String, input: Option<Value> },
    #[serde(other)]
    Else,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockDelta {
    /// More words.
    TextDelta { text: String },
    /// More of a thought.
    ThinkingDelta { thinking: String },
    /// More of a call's input.
    InputJsonDelta { partial_json: String },
    #[serde(other)]
    Else,
}

#[derive(Debug, Deserialize)]
struct StopDelta {
    stop_reason: Option<String>,
}

/// What was counted. The last event has the answer's; some servers repeat the prompt's there.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct MessageUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
}

impl MessageUsage {
    /// What is said anew holds.
    fn or(self, before: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.or(before.input_tokens),
            output_tokens: self.output_tokens.or(before.output_tokens),
            cache_read_input_tokens: self.cache_read_input_tokens.or(before.cache_read_input_tokens),
            cache_creation_input_tokens: self.cache_creation_input_tokens.or(before.cache_creation_input_tokens),
        }
    }

    /// The prompt is all that was read, from the cache or not.
    fn tokens(self) -> TokenUsage {
        let cached = self.cache_read_input_tokens.unwrap_or(0);
        let cache_written = self.cache_creation_input_tokens.unwrap_or(0);
        let prompt = self.input_tokens.unwrap_or(0) + cached + cache_written;
        TokenUsage { cached, cache_written, ..TokenUsage::of(prompt, self.output_tokens.unwrap_or(0)) }
    }
}

impl Events {
    pub fn new(request: &ChatRequest, mode: SchemaMode) -> Self {
        let forced = super::forced_tool(request, mode);
        Self { answer_tool: forced.map(|schema| schema.name.clone()), ..Self::default() }
    }

    fn begin(&mut self, reply: WireReply, sink: &mut (dyn FnMut(Delta) + Send)) {
        self.model = reply.model;
        self.count(reply.usage);
        self.stop = reply.stop_reason;
        for (index, block) in (0..).zip(reply.content) {
            self.open(index, block, sink);
        }
    }

    fn open(&mut self, index: u64, block: ContentBlock, sink: &mut (dyn FnMut(Delta) + Send)) {
        match block {
            ContentBlock::Text { text } => self.say(text, sink),
            ContentBlock::Thinking { thinking } if !thinking.is_empty() => sink(Delta::Reasoning(thinking)),
            ContentBlock::ToolUse { id, name, input } => {
                if Some(&name) != self.answer_tool.as_ref() {
                    sink(Delta::Call);
                }
                self.calls.insert(index, CallRequest { id, name, ..CallRequest::default() });
                // A stream opens the block with an empty input and sends the real one in pieces.
                if let Some(input) = input.filter(|input| input.as_object().is_some_and(|fields| !fields.is_empty())) {
                    self.add_arguments(index, &input.to_string(), sink);
                }
            }
            ContentBlock::Thinking { .. } | ContentBlock::Else => {}
        }
    }

    fn say(&mut self, text: String, sink: &mut (dyn FnMut(Delta) + Send)) {
        // Beside the call that is the answer, text is none.
        if !text.is_empty() && self.answer_tool.is_none() {
            self.text.push_str(&text);
            sink(Delta::Text(text));
        } else if !text.is_empty() {
            self.beside.push_str(&text);
            sink(Delta::Reasoning(text));
        }
    }

    /// The answer is over. A server that calls no tool on demand has said it in words.
    fn close(&mut self, sink: &mut (dyn FnMut(Delta) + Send)) {
        let is_called = self.calls.values().any(|call| Some(&call.name) == self.answer_tool.as_ref());
        if self.stop.is_some() && !is_called && !self.beside.is_empty() {
            self.text = std::mem::take(&mut self.beside);
            sink(Delta::Text(self.text.clone()));
        }
    }

    fn add_arguments(&mut self, index: u64, piece: &str, sink: &mut (dyn FnMut(Delta) + Send)) {
        let Some(call) = self.calls.get_mut(&index) else { return };
        call.arguments.push_str(piece);
        if Some(&call.name) == self.answer_tool.as_ref() && !piece.is_empty() {
            sink(Delta::Text(piece.to_owned()));
        }
    }

    fn count(&mut self, usage: Option<MessageUsage>) {
        if let Some(usage) = usage {
            self.usage = Some(usage.or(self.usage.unwrap_or_default()));
        }
    }
}

impl Assembly for Events {
    fn take(&mut self, event: &str, sink: &mut (dyn FnMut(Delta) + Send)) -> AnswerPiece {
        if event.trim().is_empty() {
            return AnswerPiece::More;
        }
        let Ok(event) = serde_json::from_str(event) else { return AnswerPiece::Unreadable };
        match event {
            StreamEvent::MessageStart { message } => self.begin(message, sink),
            StreamEvent::ContentBlockStart { index, content_block } => self.open(index, content_block, sink),
            StreamEvent::ContentBlockDelta { index, delta } => match delta {
                BlockDelta::TextDelta { text } => self.say(text, sink),
                BlockDelta::ThinkingDelta { thinking } => sink(Delta::Reasoning(thinking)),
                BlockDelta::InputJsonDelta { partial_json } => self.add_arguments(index, &partial_json, sink),
                BlockDelta::Else => {}
            },
            StreamEvent::MessageDelta { delta, usage } => {
                self.count(usage);
                self.stop = delta.stop_reason.or(self.stop.take());
                self.close(sink);
            }
            StreamEvent::MessageStop => return AnswerPiece::Done,
            StreamEvent::Error => return AnswerPiece::Error,
            StreamEvent::Else => {}
        }
        AnswerPiece::More
    }

    fn take_whole(&mut self, body: &str, sink: &mut (dyn FnMut(Delta) + Send)) -> AnswerPiece {
        if matches!(serde_json::from_str(body), Ok(StreamEvent::Error)) {
            return AnswerPiece::Error;
        }
        match serde_json::from_str::<WireReply>(body) {
            Ok(reply) if reply.stop_reason.is_some() => {
                self.begin(reply, sink);
                self.close(sink);
            }
            Ok(_) | Err(_) => return AnswerPiece::Unreadable,
        }
        AnswerPiece::Done
    }

    fn is_finished(&self) -> bool {
        self.stop.is_some()
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty()
    }

    fn reported(&self) -> Option<TokenUsage> {
        self.usage.map(MessageUsage::tokens)
    }

    fn into_reply(self: Box<Self>, request: &ChatRequest) -> ChatAnswer {
        let Self { answer_tool, mut text, calls, usage, stop, model, .. } = *self;
        let (answers, calls): (Vec<_>, Vec<_>) = calls.into_values().partition(|call| Some(&call.name) == answer_tool.as_ref());
        text.extend(answers.into_iter().map(|answer| answer.arguments));
        let whole = |call: CallRequest| match call.arguments.trim().is_empty() {
            true => CallRequest { arguments: "{}".to_owned(), ..call },
            false => call,
        };
        let calls: Vec<CallRequest> = calls.into_iter().map(whole).collect();
        let finish = match stop.as_deref().unwrap_or_default() {
            "max_tokens" | "model_context_window_exceeded" => Finish::Length,
            "refusal" => Finish::Filtered,
            _ if !calls.is_empty() => Finish::ToolCalls,
            _ => Finish::Stop,
        };
        let (usage, estimated) = tokens::settle(usage.map(MessageUsage::tokens), request, &text, &calls);
        let model = model.unwrap_or_else(|| request.model.clone());
        ChatAnswer { text, calls, usage, estimated, finish, model, ..ChatAnswer::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::OutputSchema;
    use serde_json::json;

    fn reply(request: &ChatRequest, events: &[Value]) -> (ChatAnswer, Vec<Delta>) {
        let mut assembly = Box::new(Events::new(request, SchemaMode::JsonSchema));
        let mut deltas = Vec::new();
        for event in events {
            assembly.take(&event.to_string(), &mut |delta| deltas.push(delta));
        }
        (assembly.into_reply(request), deltas)
    }

    fn delta(index: u64, delta: Value) -> Value {
        json!({"type": "content_block_delta", "index": index, "delta": delta})
    }

    #[test]
    fn text_thinking_calls_and_usage_are_put_together() {
        let (reply, deltas) = reply(
            &ChatRequest::default(),
            &[
                json!({"type": "message_start", "message": {"model": "claude-x", "usage":
                    {"input_tokens": 5, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 10, "output_tokens": 1}}}),
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
                delta(0, json!({"type": "thinking_delta", "thinking": "hm"})),
                delta(0, json!({"type": "signature_delta", "signature": "x"})),
                json!({"type": "ping"}),
                json!({"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}),
                delta(1, json!({"type": "text_delta", "text": "Hel"})),
                delta(1, json!({"type": "text_delta", "text": "lo"})),
                json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "t1", "name": "add", "input": {}}}),
                delta(2, json!({"type": "input_json_delta", "partial_json": "{\"a\""})),
                delta(2, json!({"type": "input_json_delta", "partial_json": ":1}"})),
                json!({"type": "content_block_start", "index": 3, "content_block": {"type": "tool_use", "id": "t2", "name": "now", "input": {}}}),
                json!({"type": "content_block_stop", "index": 3}),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 20}}),
                json!({"type": "message_stop"}),
            ],
        );
        assert_eq!(deltas, [Delta::Reasoning("hm".into()), Delta::Text("Hel".into()), Delta::Text("lo".into()), Delta::Call, Delta::Call]);
        let call = |id: &str, name: &str, arguments: &str| CallRequest {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
            signature: None,
        };
        assert_eq!(reply.calls, [call("t1", "add", "{\"a\":1}"), call("t2", "now", "{}")]);
        assert_eq!((reply.text.as_str(), reply.finish, reply.model.as_str()), ("Hello", Finish::ToolCalls, "claude-x"));
        assert_eq!((reply.usage, reply.estimated), (TokenUsage { cached: 90, cache_written: 10, ..TokenUsage::of(105, 20) }, false));
    }

    #[test]
    fn the_input_of_the_forced_tool_is_the_answer() {
        let schema = Some(OutputSchema { name: "plan".into(), schema: json!({"type": "object"}) });
        let (reply, deltas) = reply(
            &ChatRequest { schema, ..ChatRequest::default() },
            &[
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "plan", "input": {}}}),
                delta(0, json!({"type": "input_json_delta", "partial_json": "{\"nodes\""})),
                delta(0, json!({"type": "input_json_delta", "partial_json": ":[]}"})),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
            ],
        );
        assert_eq!((reply.text.as_str(), reply.calls.len(), reply.finish), ("{\"nodes\":[]}", 0, Finish::Stop));
        assert_eq!(deltas, [Delta::Text("{\"nodes\"".into()), Delta::Text(":[]}".into())]);
    }

    #[test]
    fn what_is_said_in_place_of_the_forced_tool_is_the_answer() {
        let schema = Some(OutputSchema { name: "plan".into(), schema: json!({"type": "object"}) });
        let (reply, deltas) = reply(
            &ChatRequest { schema, ..ChatRequest::default() },
            &[
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                delta(0, json!({"type": "text_delta", "text": "{\"nodes\""})),
                delta(0, json!({"type": "text_delta", "text": ":[]}"})),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
            ],
        );
        assert_eq!((reply.text.as_str(), deltas.last()), ("{\"nodes\":[]}", Some(&Delta::Text("{\"nodes\":[]}".into()))));
    }

    #[test]
    fn reasons_to_stop_are_told_apart() {
        for (reason, finish) in [("end_turn", Finish::Stop), ("max_tokens", Finish::Length), ("refusal", Finish::Filtered)] {
            let whole = json!({"content": [{"type": "text", "text": "a"}], "stop_reason": reason});
            let mut assembly = Box::new(Events::default());
            assert_eq!(assembly.take_whole(&whole.to_string(), &mut |_| ()), AnswerPiece::Done);
            assert_eq!(assembly.into_reply(&ChatRequest::default()).finish, finish);
        }
    }
}
