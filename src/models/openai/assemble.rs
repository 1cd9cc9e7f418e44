//! One reply out of its chunks: text, reasoning, tool calls by index, usage, the reason it stopped. Pure.

use serde_json::Value;

use super::wire::{CallPiece, Chunk, FunctionPiece, Usage, WireMessage, text_of};
use crate::engine::TokenUsage;
use crate::models::{CallRequest, ChatMessage, ChatReply, ChatRequest, Delta, Finish, tokens};

/// A reply under way.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    text: String,
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
}

impl Assembly {
    /// Takes a chunk and passes on what is new.
    pub(super) fn take(&mut self, chunk: Chunk, sink: &mut (dyn FnMut(Delta) + Send)) {
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
        if !text.is_empty() {
            self.text.push_str(&text);
            sink(Delta::Text(text));
        }
        self.refusal.push_str(&message.refusal.unwrap_or_default());
        for piece in message.tool_calls.unwrap_or_default() {
            self.take_call(piece);
        }
    }

    /// A piece belongs to the call of its index, or to the last one when it has none. A new id together with a name opens a call
    /// even at a known index, because some servers number all calls 0.
    fn take_call(&mut self, piece: CallPiece) {
        let FunctionPiece { name, arguments } = piece.function.unwrap_or_default();
        let (id, name) = (piece.id.unwrap_or_default(), name.unwrap_or_default());
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
        match arguments {
            Some(Value::String(text)) => call.arguments.push_str(&text),
            None | Some(Value::Null) => {}
            Some(whole @ (Value::Object(_) | Value::Array(_) | Value::Bool(_) | Value::Number(_))) => call.arguments = whole.to_string(),
        }
    }

    /// Whether the server said why it stopped.
    pub(super) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Whether usage has come; it is the last thing that does.
    pub(super) fn has_usage(&self) -> bool {
        self.usage.is_some()
    }

    /// What the server says it counted.
    pub(super) fn reported(&self) -> Option<TokenUsage> {
        let Usage { prompt_tokens, completion_tokens } = self.usage?;
        Some(TokenUsage::of(prompt_tokens.unwrap_or(0), completion_tokens.unwrap_or(0)))
    }

    /// Whether anything was said at all.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty() && self.refusal.is_empty()
    }

    /// The server's own word for why it stopped.
    pub(super) fn finish_reason(&self) -> &str {
        self.finish.as_deref().unwrap_or_default()
    }

    /// Why the model refused, in its words.
    pub(super) fn refusal(&self) -> Option<&str> {
        Some(self.refusal.as_str()).filter(|text| !text.is_empty())
    }

    pub(super) fn into_reply(self, request: &ChatRequest) -> ChatReply {
        let finish = match self.finish.as_deref().unwrap_or_default() {
            "length" | "max_tokens" | "MAX_TOKENS" => Finish::Length,
            "content_filter" | "SAFETY" => Finish::Filtered,
            // Some servers say `stop` though they ask for calls.
            _ if !self.calls.is_empty() => Finish::ToolCalls,
            _ => Finish::Stop,
        };
        let made_before = request
            .messages
            .iter()
            .map(|message| match message {
                ChatMessage::Assistant { calls, .. } => calls.len(),
                ChatMessage::System { .. } | ChatMessage::User { .. } | ChatMessage::Tool { .. } => 0,
            })
            .sum::<usize>();
        let calls: Vec<CallRequest> = self
            .calls
            .into_iter()
            .enumerate()
            .map(|(at, call)| CallRequest {
                // Made-up ids go on counting through the conversation, so that they stay unique in it.
                id: if call.id.is_empty() { format!("call_{}", made_before + at + 1) } else { call.id },
                name: call.name,
                arguments: if call.arguments.trim().is_empty() { "{}".to_owned() } else { call.arguments },
            })
            .collect();
        let (usage, estimated) = usage(self.usage, request, &self.text, &calls);
        let model = self.model.unwrap_or_else(|| request.model.clone());
        ChatReply { text: self.text, calls, usage, estimated, finish, model, ..ChatReply::default() }
    }
}

/// What the provider reported; what it left out is counted here.
fn usage(reported: Option<Usage>, request: &ChatRequest, text: &str, calls: &[CallRequest]) -> (TokenUsage, bool) {
    let reported = reported.unwrap_or_default();
    // A prompt is never empty, so a count of 0 means that the server doesn't count.
    let prompt = reported.prompt_tokens.filter(|count| *count > 0);
    let completion = reported.completion_tokens.filter(|count| *count > 0 || (text.is_empty() && calls.is_empty()));
    let counted = || tokens::count(text) + calls.iter().map(|call| tokens::count(&call.name) + tokens::count(&call.arguments)).sum::<u64>();
    let estimated = prompt.is_none() || completion.is_none();
    let usage = TokenUsage::of(prompt.unwrap_or_else(|| tokens::count_prompt(request)), completion.unwrap_or_else(counted));
    (usage, estimated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reply(chunks: &[Value]) -> (ChatReply, Vec<Delta>) {
        let mut assembly = Assembly::default();
        let mut deltas = Vec::new();
        for chunk in chunks {
            assembly.take(serde_json::from_value(chunk.clone()).unwrap(), &mut |delta| deltas.push(delta));
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
