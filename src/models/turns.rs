//! A conversation as turns of two sides, for forms that know no others: what comes from one side in a row is one turn, and the system's
//! words are apart. Pure.

use serde_json::Value;

use super::{ChatMessage, ChatRequest, json};

/// Who a turn comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnSide {
    /// A person, or a tool with what came of a call.
    Asking,
    Model,
}

/// The system's words, and the schema of the answer where that is asked for in words.
pub fn system(request: &ChatRequest, in_words: bool) -> String {
    let said = request.messages.iter().filter_map(|message| match message {
        ChatMessage::System { content } => Some(content.clone()),
        ChatMessage::User { .. } | ChatMessage::Assistant { .. } | ChatMessage::Tool { .. } => None,
    });
    let schema = request.schema.as_ref().filter(|_| in_words).map(|schema| json::instruction(&schema.schema));
    said.chain(schema).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The turns, each with the parts that a form makes of its messages. One without parts is none.
pub fn of(request: &ChatRequest, parts: impl Fn(&ChatMessage) -> Vec<Value>) -> Vec<(TurnSide, Vec<Value>)> {
    let mut turns: Vec<(TurnSide, Vec<Value>)> = Vec::new();
    for message in &request.messages {
        let side = match message {
            ChatMessage::System { .. } => continue,
            ChatMessage::User { .. } | ChatMessage::Tool { .. } => TurnSide::Asking,
            ChatMessage::Assistant { .. } => TurnSide::Model,
        };
        let parts = parts(message);
        match turns.last_mut() {
            _ if parts.is_empty() => {}
            Some((last, more)) if *last == side => more.extend(parts),
            Some(_) | None => turns.push((side, parts)),
        }
    }
    turns
}
