//! One reply out of the events of Gemini's stream: text, thoughts, calls, usage, the reason it stopped. Pure.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::engine::TokenUsage;
use crate::models::client::api::{AnswerPiece, Assembly};
use crate::models::{CallRequest, ChatAnswer, ChatRequest, Delta, Finish, tokens};
use crate::plan::dialect::exact_json;

/// A reply under way.
#[derive(Debug, Default)]
pub struct Candidates {
    text: String,
    calls: Vec<CallRequest>,
    usage: Option<UsageMetadata>,
    finish: Option<String>,
    model: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AnswerChunk {
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<Feedback>,
    usage_metadata: Option<UsageMetadata>,
    model_version: Option<String>,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Candidate {
    content: Option<Content>,
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Content {
    parts: Option<Vec<ContentPart>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ContentPart {
    text: Option<String>,
    /// The text is what the model thought.
    thought: Option<bool>,
    function_call: Option<FunctionCall>,
    thought_signature: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FunctionCall {
    id: Option<String>,
    name: String,
    args: Option<Map<String, Value>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Feedback {
    block_reason: Option<String>,
}

/// What was counted so far; each event says it anew.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct UsageMetadata {
    prompt_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
}

impl UsageMetadata {
    /// Thoughts are written too.
    fn tokens(self) -> TokenUsage {
        let reasoning = self.thoughts_token_count.unwrap_or(0);
        let written = self.candidates_token_count.unwrap_or(0) + reasoning;
        let cached = self.cached_content_token_count.unwrap_or(0);
        TokenUsage { cached, reasoning, ..TokenUsage::of(self.prompt_token_count.unwrap_or(0), written) }
    }
}

impl Candidates {
    fn take_chunk(&mut self, chunk: AnswerChunk, sink: &mut (dyn FnMut(Delta) + Send)) -> AnswerPiece {
        if chunk.error.is_some() {
            return AnswerPiece::Error;
        }
        let blocked = chunk.prompt_feedback.and_then(|feedback| feedback.block_reason);
        if chunk.candidates.is_none() && chunk.usage_metadata.is_none() && blocked.is_none() {
            return AnswerPiece::Unreadable;
        }
        self.usage = chunk.usage_metadata.or(self.usage);
        self.model = self.model.take().or(chunk.model_version);
        let candidate = chunk.candidates.and_then(|candidates| candidates.into_iter().next()).unwrap_or_default();
        for part in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
            self.take_part(part, sink);
        }
        self.finish = candidate.finish_reason.or(blocked).or(self.finish.take());
        AnswerPiece::More
    }

    fn take_part(&mut self, part: ContentPart, sink: &mut (dyn FnMut(Delta) + Send)) {
        let is_thought = part.thought == Some(true);
        match part.text.filter(|text| !text.is_empty()) {
            Some(text) if is_thought => sink(Delta::Reasoning(text)),
            Some(text) => {
                self.text.push_str(&text);
                sink(Delta::Text(text));
            }
            None => {}
        }
        if let Some(FunctionCall { id, name, args }) = part.function_call {
            let arguments = Value::Object(args.unwrap_or_default()).to_string();
            self.calls.push(CallRequest { id: id.unwrap_or_default(), name, arguments, signature: part.thought_signature });
            sink(Delta::Call);
        }
    }
}

/// A piece of an answer, in which the numbers of a call's arguments keep their digits.
fn chunk<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_value(exact_json(text)?)
}

impl Assembly for Candidates {
    fn take(&mut self, event: &str, sink: &mut (dyn FnMut(Delta) + Send)) -> AnswerPiece {
        if event.trim().is_empty() {
            return AnswerPiece::More;
        }
        let Ok(chunk) = chunk(event) else { return AnswerPiece::Unreadable };
        self.take_chunk(chunk, sink)
    }

    /// A whole answer, or the list of its events that servers send who don't know `alt=sse`.
    fn take_whole(&mut self, body: &str, sink: &mut (dyn FnMut(Delta) + Send)) -> AnswerPiece {
        let chunks = chunk::<Vec<AnswerChunk>>(body).or_else(|_| chunk(body).map(|chunk| vec![chunk]));
        let Ok(chunks) = chunks else { return AnswerPiece::Unreadable };
        for chunk in chunks {
            match self.take_chunk(chunk, sink) {
                AnswerPiece::More | AnswerPiece::Done => {}
                piece @ (AnswerPiece::Error | AnswerPiece::Unreadable) => return piece,
            }
        }
        if self.is_finished() { AnswerPiece::Done } else { AnswerPiece::Unreadable }
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.calls.is_empty()
    }

    /// It wrote a call that can't be read, or doesn't say why it stopped.
    fn failed(&self) -> bool {
        matches!(self.finish.as_deref(), Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "OTHER"))
    }

    fn reported(&self) -> Option<TokenUsage> {
        self.usage.map(UsageMetadata::tokens)
    }

    fn into_reply(self: Box<Self>, request: &ChatRequest) -> ChatAnswer {
        let reported = self.reported();
        let Self { text, calls, finish, model, .. } = *self;
        let numbered = |(at, call): (usize, CallRequest)| match call.id.is_empty() {
            true => CallRequest { id: request.made_up_id(at), ..call },
            false => call,
        };
        let calls: Vec<CallRequest> = calls.into_iter().enumerate().map(numbered).collect();
        let finish = match finish.as_deref().unwrap_or_default() {
            "MAX_TOKENS" => Finish::Length,
            "STOP" | "FUNCTION_CALL" if !calls.is_empty() => Finish::ToolCalls,
            "STOP" | "FUNCTION_CALL" | "" => Finish::Stop,
            // SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII, and what comes to be forbidden later.
            _ => Finish::Filtered,
        };
        let (usage, estimated) = tokens::settle(reported, request, &text, &calls);
        let model = model.unwrap_or_else(|| request.model.clone());
        ChatAnswer { text, calls, usage, estimated, finish, model, ..ChatAnswer::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parts(parts: &Value) -> Value {
        json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]})
    }

    #[test]
    fn the_arguments_of_a_call_keep_the_digits_of_their_numbers() {
        let mut assembly = Box::<Candidates>::default();
        let event =
            r#"{"candidates": [{"content": {"parts": [{"functionCall": {"name": "pay", "args": {"to": 12345678901234567890123}}}]}}]}"#;
        assert_eq!(assembly.take(event, &mut |_| ()), AnswerPiece::More);
        assert_eq!(assembly.into_reply(&ChatRequest::default()).calls[0].arguments, r#"{"to":"12345678901234567890123"}"#);
    }

    #[test]
    fn text_thoughts_calls_and_usage_are_put_together() {
        let mut assembly = Box::<Candidates>::default();
        let mut deltas = Vec::new();
        for event in [
            parts(&json!([{"text": "hm", "thought": true}])),
            json!({"candidates": [{"content": {"parts": [{"text": "Hel"}]}}], "usageMetadata": {"promptTokenCount": 5}, "modelVersion": "gemini-x-001"}),
            parts(&json!([{"text": "lo"}, {"functionCall": {"name": "add", "args": {"a": 1}}, "thoughtSignature": "sealed"}])),
            parts(&json!([{"functionCall": {"id": "own", "name": "now"}}])),
            json!({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}], "usageMetadata":
                {"promptTokenCount": 105, "candidatesTokenCount": 20, "thoughtsTokenCount": 7, "cachedContentTokenCount": 90}}),
        ] {
            assert_eq!(assembly.take(&event.to_string(), &mut |delta| deltas.push(delta)), AnswerPiece::More);
        }
        assert_eq!(deltas, [Delta::Reasoning("hm".into()), Delta::Text("Hel".into()), Delta::Text("lo".into()), Delta::Call, Delta::Call]);
        let reply = assembly.into_reply(&ChatRequest::default());
        let call = |id: &str, name: &str, arguments: &str, signature: Option<&str>| CallRequest {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
            signature: signature.map(str::to_owned),
        };
        assert_eq!(reply.calls, [call("call_1", "add", "{\"a\":1}", Some("sealed")), call("own", "now", "{}", None)]);
        assert_eq!((reply.text.as_str(), reply.finish, reply.model.as_str()), ("Hello", Finish::ToolCalls, "gemini-x-001"));
        assert_eq!((reply.usage, reply.estimated), (TokenUsage { cached: 90, reasoning: 7, ..TokenUsage::of(105, 27) }, false));
    }

    #[test]
    fn reasons_to_stop_are_told_apart() {
        for (reason, finish) in [("STOP", Finish::Stop), ("MAX_TOKENS", Finish::Length), ("RECITATION", Finish::Filtered)] {
            let whole = json!({"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": reason}]});
            for body in [whole.to_string(), json!([whole]).to_string()] {
                let mut assembly = Box::<Candidates>::default();
                assert_eq!(assembly.take_whole(&body, &mut |_| ()), AnswerPiece::Done);
                assert_eq!(assembly.into_reply(&ChatRequest::default()).finish, finish);
            }
        }
        let mut blocked = Box::<Candidates>::default();
        let event = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 4}});
        assert_eq!(blocked.take(&event.to_string(), &mut |_| ()), AnswerPiece::More);
        assert_eq!((blocked.is_finished(), blocked.into_reply(&ChatRequest::default()).finish), (true, Finish::Filtered));
    }

    #[test]
    fn errors_and_what_is_no_answer_are_told_apart() {
        let taken = |event: Value| Candidates::default().take(&event.to_string(), &mut |_| ());
        assert_eq!(taken(json!({"error": {"code": 503, "message": "overloaded"}})), AnswerPiece::Error);
        assert_eq!(taken(json!({"choices": []})), AnswerPiece::Unreadable);
        assert_eq!(Candidates::default().take("{\"candidates\": [{]", &mut |_| ()), AnswerPiece::Unreadable);
        let unfinished = parts(&json!([{"text": "a"}])).to_string();
        assert_eq!(Candidates::default().take_whole(&unfinished, &mut |_| ()), AnswerPiece::Unreadable);
    }
}
