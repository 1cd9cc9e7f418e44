//! Counting tokens without a tokenizer: an estimate by bytes that leans high, for budgets and for providers that report no usage.

pub use crate::text::tokens as count;

use crate::engine::TokenUsage;

use super::{CallRequest, ChatMessage, ChatRequest, OutputSchema, ToolOffer};

/// Tokens that every message costs beside its text (role, separators).
const PER_MESSAGE: u64 = 4;

/// Estimated tokens of a whole prompt: messages, tools and schema.
pub fn count_prompt(request: &ChatRequest) -> u64 {
    let messages: u64 = request.messages.iter().map(|message| PER_MESSAGE + count_message(message)).sum();
    let tools: u64 = request
        .tools
        .iter()
        .map(|tool| PER_MESSAGE + count(&tool.name) + count(&tool.description) + count(&tool.parameters.to_string()))
        .sum();
    let schema = request.schema.as_ref().map_or(0, |schema| count(&schema.schema.to_string()));
    messages + tools + schema
}

/// Tokens that no prompt of these parts passes, whatever its tokenizer and its template: one a byte, and what templates put around.
pub fn at_most(messages: &[ChatMessage], tools: &[ToolOffer], schema: Option<&OutputSchema>) -> u64 {
    let bytes = |text: &str| text.len() as u64;
    let of_message = |message: &ChatMessage| match message {
        ChatMessage::System { content } | ChatMessage::User { content } => bytes(content),
        ChatMessage::Tool { call, content } => bytes(call) + bytes(content),
        ChatMessage::Assistant { content, calls } => {
            let calls = calls.iter().map(|call| AROUND_TOOL + bytes(&call.id) + bytes(&call.name) + bytes(&call.arguments));
            bytes(content) + calls.sum::<u64>()
        }
    };
    let messages: u64 = messages.iter().map(|message| AROUND_MESSAGE + of_message(message)).sum();
    let of_tool = |tool: &ToolOffer| AROUND_TOOL + bytes(&tool.name) + bytes(&tool.description) + bytes(&tool.parameters.to_string());
    let tools: u64 = tools.iter().map(of_tool).sum::<u64>() + if tools.is_empty() { 0 } else { AROUND_TOOLS };
    AROUND_PROMPT + messages + tools + schema.map_or(0, of_schema)
}

/// The same of a schema for the answer, which may be put in words.
pub fn of_schema(schema: &OutputSchema) -> u64 {
    AROUND_SCHEMA + schema.name.len() as u64 + schema.schema.to_string().len() as u64
}

/// Tokens that templates put around a message.
const AROUND_MESSAGE: u64 = 16;
/// Around a tool or a call of one.
const AROUND_TOOL: u64 = 64;
/// Before the tools: how to call them.
const AROUND_TOOLS: u64 = 512;
/// Around a schema: how to answer by it.
const AROUND_SCHEMA: u64 = 256;
/// Around it all.
const AROUND_PROMPT: u64 = 64;

/// Estimated tokens of an answer: its text and the calls that it asks for.
pub fn count_answer(text: &str, calls: &[CallRequest]) -> u64 {
    count(text) + calls.iter().map(|call| count(&call.name) + count(&call.arguments)).sum::<u64>()
}

/// What a provider reported for a call, and whether it was counted here: what it left out is.
pub fn settle(reported: Option<TokenUsage>, request: &ChatRequest, text: &str, calls: &[CallRequest]) -> (TokenUsage, bool) {
    let mut usage = reported.unwrap_or_default();
    // A prompt is never empty, so a count of 0 means that the server doesn't count.
    let counts_prompt = usage.prompt > 0;
    let counts_answer = usage.completion > 0 || (reported.is_some() && text.is_empty() && calls.is_empty());
    if !counts_prompt {
        usage.prompt = count_prompt(request);
    }
    if !counts_answer {
        usage.completion = count_answer(text, calls);
    }
    (usage, !(counts_prompt && counts_answer))
}

fn count_message(message: &ChatMessage) -> u64 {
    match message {
        ChatMessage::System { content } | ChatMessage::User { content } | ChatMessage::Tool { content, .. } => count(content),
        ChatMessage::Assistant { content, calls } => {
            count(content) + calls.iter().map(|call| PER_MESSAGE + count(&call.name) + count(&call.arguments)).sum::<u64>()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lean_high_for_every_script() {
        assert_eq!(count(""), 0);
        assert_eq!(count("a"), 1);
        // Ten tokens by OpenAI's tokenizer.
        assert_eq!(count("The quick brown fox jumps over the lazy dog."), 11);
        assert_eq!(count("日本語"), 5);
    }

    #[test]
    fn a_prompt_counts_messages_calls_and_tools() {
        let mut request = ChatRequest { messages: vec![ChatMessage::User { content: "hello".into() }], ..ChatRequest::default() };
        let bare = count_prompt(&request);
        assert_eq!(bare, PER_MESSAGE + 2);
        request.tools.push(crate::models::ToolOffer { name: "t".into(), description: String::new(), parameters: serde_json::json!({}) });
        assert!(count_prompt(&request) > bare);
    }
}
