//! One reply out of its chunks: text, reasoning, tool calls by index, usage, the reason it stopped. Pure.

use serde_json::Value;

use super::think::ThinkSplitter;
use super::wire::{CallPiece, Chunk, FunctionPiece, SIGNATURE, Usage, WireMessage, text_of};
use crate::engine::TokenUsage;
use crate::models::client::api::{AnswerPiece, Assembly};
use crate::models::client::complaint;
use crate::models::{CallRequest, ChatAnswer, ChatRequest, Delta, Finish, tokens};

/// A reply under way.
#[derive(Debug, Default)]
pub struct Chunks {
    text: String,
    thinking: ThinkSplitter,
    refusal: String,
    calls: Vec<PartialCall>,
    usage: Option<Usage>,
    finish: Option<String>,
    model: Option<String>,
}

#[derive(Debug, Default)]
struct PartialCall {
    /// As the server numbers it; several may claim the same.
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    signature: Option<String>,
}

impl Assembly for Chunks {
    fn take(&mut self, event: &str, sink: &mut (dyn FnMut(Delta) + Send)) -> AnswerPiece {
        match event.trim() {
            "" => return AnswerPiece::More,
            "[DONE]" => return AnswerPiece::Done,
            _ => {}
        }
        let Ok(chunk) = serde_json::from_str::<Chunk>(event) else { return AnswerPiece::Unreadable };
        // An event without choices may be an error in a shape of its own (`{object: "error", message}`, `{detail}`).
        if chunk.error.is_some() || (chunk.choices.is_none() && chunk.usage.is_none() && complaint::is_error(event)) {
            return AnswerPiece::Error;
        }
        self.take_chunk(chunk, sink);
        AnswerPiece::More
    }

    fn take_whole(&mut self, body: &str, sink: &mut (dyn FnMut(Delta) + Send)) -> AnswerPiece {
        let Ok(chunk) = serde_json::from_str::<Chunk>(body) else { return AnswerPiece::Unreadable };
        if chunk.error.is_some() {
            return AnswerPiece::Error;
        }
        if chunk.choices.as_ref().is_none_or(Vec::is_empty) {
            return AnswerPiece::Unreadable;
        }
        self.take_chunk(chunk, sink);
        AnswerPiece::Done
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty() && self.refusal.is_empty()
    }

    fn failed(&self) -> bool {
        self.finish.as_deref() == Some("error")
    }

    fn refusal(&self) -> Option<&str> {
        Some(self.refusal.as_str()).filter(|text| !text.is_empty())
    }

    fn reported(&self) -> Option<TokenUsage> {
        self.usage.as_ref().map(Usage::tokens)
    }

    fn into_reply(mut self: Box<Self>, request: &ChatRequest) -> ChatAnswer {
        let reported = self.reported();
        if let Some(Delta::Text(rest)) = self.thinking.finish() {
            self.text.push_str(&rest);
        }
        let finish = match self.finish.as_deref().unwrap_or_default() {
            "length" | "max_tokens" | "MAX_TOKENS" => Finish::Length,
            "content_filter" | "SAFETY" => Finish::Filtered,
            // Some servers say `stop` though they ask for calls.
            _ if !self.calls.is_empty() => Finish::ToolCalls,
            _ => Finish::Stop,
        };
        let calls: Vec<CallRequest> = self
            .calls
            .into_iter()
            .enumerate()
            .map(|(at, call)| CallRequest {
                id: if call.id.is_empty() { request.made_up_id(at) } else { call.id },
                name: call.name,
                arguments: if call.arguments.trim().is_empty() { "{}".to_owned() } else { call.arguments },
                signature: call.signature,
            })
            .collect();
        let (usage, estimated) = tokens::settle(reported, request, &self.text, &calls);
        let cost_usd = self.usage.and_then(|usage| usage.cost).filter(|cost| cost.is_finite() && *cost >= 0.0);
        let model = self.model.unwrap_or_else(|| request.model.clone());
        ChatAnswer { text: self.text, calls, usage, estimated, finish, model, cost_usd, notes: Vec::new() }
    }
}

impl Chunks {
    fn take_chunk(&mut self, chunk: Chunk, sink: &mut (dyn FnMut(Delta) + Send)) {
        if chunk.usage.is_some() {
            self.usage = chunk.usage;
        }
        if self.model.is_none() {
            self.model = chunk.model.filter(|model| !model.is_empty());
        }
        let Some(choice) = chunk.choices.and_then(|choices| choices.into_iter().next()) else { return };
        if let Some(message) = choice.delta.or(choice.message) {
            self.take_message(message, sink);
        }
        if let Some(finish) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.finish = Some(finish);
        }
    }

    fn take_message(&mut self, message: WireMessage, sink: &mut (dyn FnMut(Delta) + Send)) {
        let reasoning = message.reasoning_content.or(message.reasoning).as_ref().map(text_of).unwrap_or_default();
        if !reasoning.is_empty() {
            sink(Delta::Reasoning(reasoning));
        }
        let text = message.content.as_ref().map(text_of).unwrap_or_default();
        for delta in self.thinking.push(&text) {
            if let Delta::Text(text) = &delta {
                self.text.push_str(text);
            }
            sink(delta);
        }
        self.refusal.push_str(&message.refusal.unwrap_or_default());
        for piece in message.tool_calls.unwrap_or_default() {
            let before = self.calls.len();
            self.take_call(piece);
            if self.calls.len() > before {
                sink(Delta::Call);
            }
        }
    }

    /// A piece belongs to the call of its index, or to the last one when it has none. A new id together with a name opens a call
    /// even at a known index, because some servers number all calls 0.
    fn take_call(&mut self, piece: CallPiece) {
        let FunctionPiece { name, arguments } = piece.function.unwrap_or_default();
        let (id, name) = (piece.id.unwrap_or_default(), name.unwrap_or_default());
        let signature = piece.extra_content.and_then(|extra| extra.pointer(SIGNATURE)?.as_str().map(str::to_owned));
        let known = match piece.index {
            Some(index) => self.calls.iter().rposition(|call| call.index == Some(index)),
            None if id.is_empty() && name.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().rposition(|call| !id.is_empty() && call.id == id),
        };
        let at = known.filter(|at| id.is_empty() || name.is_empty() || self.calls[*at].id == id || self.calls[*at].name.is_empty());
        let call = match at {
            Some(at) => &mut self.calls[at],
            None => {
                self.calls.push(PartialCall { index: piece.index, ..PartialCall::default() });
                let last = self.calls.len() - 1;
                &mut self.calls[last]
            }
        };
        if call.id.is_empty() {
            call.id = id;
        }
        if call.name.is_empty() {
            call.name = name;
        }
        call.signature = signature.or(call.signature.take());
        match arguments {
            Some(Value::String(text)) => call.arguments.push_str(&text),
            None | Some(Value::Null) => {}
            Some(whole @ (Value::Object(_) | Value::Array(_) | Value::Bool(_) | Value::Number(_))) => call.arguments = whole.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reply(chunks: &[Value]) -> (ChatAnswer, Vec<Delta>) {
        let mut assembly = Box::<Chunks>::default();
        let mut deltas = Vec::new();
        for chunk in chunks {
            assert_eq!(assembly.take(&chunk.to_string(), &mut |delta| deltas.push(delta)), AnswerPiece::More);
        }
        let request = ChatRequest { model: "m".into(), ..ChatRequest::default() };
        (assembly.into_reply(&request), deltas)
    }

    fn calls(pieces: &[Value]) -> Vec<(String, String, String)> {
        let chunks: Vec<Value> = pieces.iter().map(|piece| json!({"choices": [{"delta": {"tool_calls": [piece]}}]})).collect();
        reply(&chunks).0.calls.into_iter().map(|call| (call.id, call.name, call.arguments)).collect()
    }

    fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
        (id.into(), name.into(), arguments.into())
    }

    #[test]
    fn text_and_reasoning_are_streamed_and_text_is_gathered() {
        let (reply, deltas) = reply(&[
            json!({"model": "m-1", "choices": [{"delta": {"role": "assistant", "content": null, "tool_calls": null}, "finish_reason": null}]}),
            json!({"choices": [{"delta": {"reasoning_content": "hm"}}]}),
            json!({"choices": [{"delta": {"content": "Hel"}}]}),
            json!({"choices": [{"delta": {"content": [{"type": "text", "text": "lo"}]}, "finish_reason": "stop"}], "usage": null}),
            json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}}),
        ]);
        assert_eq!(deltas, [Delta::Reasoning("hm".into()), Delta::Text("Hel".into()), Delta::Text("lo".into())]);
        assert_eq!(reply.text, "Hello");
        assert_eq!(reply.model, "m-1");
        assert_eq!((reply.usage, reply.estimated), (TokenUsage::of(5, 2), false));
        assert_eq!(reply.finish, Finish::Stop);
    }

    #[test]
    fn usage_is_counted_when_none_or_zero_comes() {
        for usage in [json!(null), json!({"prompt_tokens": 0, "completion_tokens": 0})] {
            let (reply, _) = reply(&[json!({"choices": [{"delta": {"content": "hello"}, "finish_reason": "stop"}], "usage": usage})]);
            assert!(reply.estimated);
            assert_eq!(reply.usage.completion, 2);
        }
    }

    #[test]
    fn calls_are_put_together_by_index() {
        assert_eq!(
            calls(&[
                json!({"index": 0, "id": "a", "function": {"name": "one", "arguments": ""}}),
                json!({"index": 1, "id": "b", "function": {"name": "two", "arguments": "{\"y\""}}),
                json!({"index": 0, "function": {"arguments": "{\"x\":"}}),
                json!({"index": 1, "id": null, "function": {"name": null, "arguments": ":2}"}}),
                json!({"index": 0, "function": {"arguments": "1}"}}),
            ]),
            [call("a", "one", "{\"x\":1}"), call("b", "two", "{\"y\":2}")]
        );
    }

    #[test]
    fn calls_without_index_ids_or_arguments_are_completed() {
        assert_eq!(
            calls(&[
                json!({"function": {"name": "one", "arguments": {"x": 1}}}),
                json!({"function": {"name": "two", "arguments": "{\"y\""}}),
                json!({"function": {"arguments": ":2}"}}),
                json!({"function": {"name": "three"}}),
            ]),
            [call("call_1", "one", "{\"x\":1}"), call("call_2", "two", "{\"y\":2}"), call("call_3", "three", "{}")]
        );
    }

    #[test]
    fn an_answer_of_calls_alone_begins_with_the_first_piece_of_each() {
        let piece =
            |index: u32, name: &str| json!({"index": index, "id": format!("c{index}"), "function": {"name": name, "arguments": "{"}});
        let more = json!({"index": 0, "function": {"arguments": "}"}});
        let chunks = [piece(0, "a"), more, piece(1, "b")].map(|piece| json!({"choices": [{"delta": {"tool_calls": [piece]}}]}));
        assert_eq!(reply(&chunks[..2]).1, [Delta::Call]);
        assert_eq!(reply(&chunks).1, [Delta::Call, Delta::Call]);
    }

    #[test]
    fn what_gemini_thought_before_a_call_is_kept_with_it() {
        let signed = json!({"index": 0, "id": "a", "function": {"name": "one", "arguments": "{}"},
            "extra_content": {"google": {"thought_signature": "sealed"}}});
        let (reply, _) = reply(&[json!({"choices": [{"delta": {"tool_calls": [signed]}}]})]);
        assert_eq!(reply.calls[0].signature.as_deref(), Some("sealed"));
    }

    #[test]
    fn calls_that_all_claim_index_0_stay_apart() {
        assert_eq!(
            calls(&[
                json!({"index": 0, "id": "a", "function": {"name": "one", "arguments": "{}"}}),
                json!({"index": 0, "id": "b", "function": {"name": "one", "arguments": "{}"}}),
            ]),
            [call("a", "one", "{}"), call("b", "one", "{}")]
        );
    }

    #[test]
    fn an_id_repeated_in_every_piece_opens_one_call() {
        assert_eq!(
            calls(&[
                json!({"index": 0, "id": "a", "function": {"name": "one", "arguments": "{"}}),
                json!({"index": 0, "id": "a", "function": {"name": "one", "arguments": "}"}}),
            ]),
            [call("a", "one", "{}")]
        );
    }

    #[test]
    fn finish_stop_with_calls_means_calls() {
        let piece = json!({"index": 0, "id": "a", "function": {"name": "one", "arguments": "{}"}});
        let (reply, _) = reply(&[json!({"choices": [{"delta": {"tool_calls": [piece]}, "finish_reason": "stop"}]})]);
        assert_eq!(reply.finish, Finish::ToolCalls);
    }

    #[test]
    fn a_whole_completion_is_taken_as_one_chunk() {
        let (reply, _) = reply(&[json!({"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "length"}]})]);
        assert_eq!((reply.text.as_str(), reply.finish), ("hi", Finish::Length));
    }
}
