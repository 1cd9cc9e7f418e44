//! What a server asks a model in the middle of a call: the node's own model answers, within its limits and counts, once a person or the
//! user's own setting allows it. Its tools are the server's: the model's calls go back to it, and nothing is called here.

#![expect(deprecated, reason = "servers of the generations before this one still ask for it")]

use super::scope::CallScope;
use crate::models::{CallRequest, ChatAnswer, ChatMessage, ChatRequest, Finish, ModelSettings, ToolOffer};
use crate::plan::Verdict;
use crate::tools::CallQuestion;
use rmcp::model::{
    ContentBlock, CreateMessageRequestParams, CreateMessageResult, Role, SamplingMessage, SamplingMessageContentBlock, Tool, ToolChoiceMode,
};
use serde_json::{Value, json};

const ONCE: &str = "yes";
const ALWAYS: &str = "yes to all of this call";
const NO: &str = "no";

/// The model's answer, or why there is none.
pub(super) async fn reply(request: CreateMessageRequestParams, scope: &CallScope<'_>) -> Result<CreateMessageResult, String> {
    let Some((model, name)) = &scope.context.model else {
        return Err("no model is connected to dagdeck, so none can answer; `dagdeck models` says how to set one up".to_owned());
    };
    let request = chat_request(request, name)?;
    allowed(&request, scope).await?;
    let answer = model.chat(&request, &mut |_| {}).await.map_err(|error| error.message)?;
    result(answer)
}

/// Asks people, unless they have said before what holds.
async fn allowed(request: &ChatRequest, scope: &CallScope<'_>) -> Result<(), String> {
    match scope.sampling() {
        Verdict::Allow => return Ok(()),
        Verdict::Deny => return Err("the operator lets no MCP server ask a model (`[tools.mcp] sampling`)".to_owned()),
        Verdict::Ask => {}
    }
    let text = format!(
        "the MCP server `{}` wants the model `{}` to answer it in a call of `{}`: may it?{}",
        scope.server,
        request.model,
        scope.tool,
        scope.doubt()
    );
    let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    let payload = json!({
        "server": scope.server,
        "model": request.model,
        "messages": request.messages.iter().map(line).collect::<Vec<_>>().join("\n\n"),
        "tools of the server": tools.join(", "),
        "most tokens": request.settings.max_tokens,
        "question": scope.next_number(),
    });
    let options = [ONCE, ALWAYS, NO].map(str::to_owned).to_vec();
    let answer = scope.ask(CallQuestion { text, options, payload, ..CallQuestion::default() }).await?;
    match answer.as_str() {
        Some(ONCE) => Ok(()),
        Some(ALWAYS) => {
            scope.allow_sampling();
            Ok(())
        }
        Some(_) | None => Err("the operator said no".to_owned()),
    }
}

/// A message for the person who decides.
fn line(message: &ChatMessage) -> String {
    match message {
        ChatMessage::System { content } => format!("system: {content}"),
        ChatMessage::User { content } => format!("user: {content}"),
        ChatMessage::Assistant { content, calls } => {
            let calls = calls.iter().map(|call| format!(" [calls {} {}]", call.name, call.arguments));
            format!("assistant: {content}{}", calls.collect::<String>())
        }
        ChatMessage::Tool { call, content } => format!("result of {call}: {content}"),
    }
}

fn chat_request(request: CreateMessageRequestParams, model: &str) -> Result<ChatRequest, String> {
    let choice = request.tool_choice.and_then(|choice| choice.mode);
    let tools = match choice {
        Some(ToolChoiceMode::None) => Vec::new(),
        _ => request.tools.unwrap_or_default().into_iter().map(offer).collect::<Result<_, String>>()?,
    };
    let mut messages: Vec<ChatMessage> = request.system_prompt.into_iter().map(|content| ChatMessage::System { content }).collect();
    for message in request.messages {
        messages.extend(chat_messages(message)?);
    }
    Ok(ChatRequest {
        model: model.to_owned(),
        messages,
        tools,
        needs_tools: matches!(choice, Some(ToolChoiceMode::Required)),
        settings: ModelSettings {
            temperature: request.temperature.map(f64::from),
            max_tokens: Some(u64::from(request.max_tokens)).filter(|most| *most > 0),
            stop: request.stop_sequences.unwrap_or_default(),
            ..ModelSettings::default()
        },
        ..ChatRequest::default()
    })
}

/// A message as providers have it: results of calls are messages of their own, before what is said with them.
fn chat_messages(message: SamplingMessage) -> Result<Vec<ChatMessage>, String> {
    let (mut texts, mut calls, mut results) = (Vec::new(), Vec::new(), Vec::new());
    for block in message.content.into_vec() {
        match block {
            SamplingMessageContentBlock::Text(text) => texts.push(text.text),
            SamplingMessageContentBlock::ToolUse(call) => {
                let arguments = Value::Object(call.input).to_string();
                calls.push(CallRequest { id: call.id, name: call.name, arguments, signature: None });
            }
            SamplingMessageContentBlock::ToolResult(result) => {
                let texts: Vec<String> = result.content.iter().map(text_of).collect::<Result<_, _>>()?;
                results.push(ChatMessage::Tool { call: result.tool_use_id, content: texts.join("\n") });
            }
            _ => return Err("it sends an image or sound, and dagdeck gives models text alone".to_owned()),
        }
    }
    let content = texts.join("\n");
    Ok(match message.role {
        Role::Assistant => vec![ChatMessage::Assistant { content, calls }],
        Role::User if content.is_empty() && !results.is_empty() => results,
        Role::User => results.into_iter().chain([ChatMessage::User { content }]).collect(),
    })
}

fn text_of(block: &ContentBlock) -> Result<String, String> {
    match block {
        ContentBlock::Text(text) => Ok(text.text.clone()),
        _ => Err("it sends a result that is no text, and dagdeck gives models text alone".to_owned()),
    }
}

fn offer(tool: Tool) -> Result<ToolOffer, String> {
    if !tool.name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)) {
        return Err(format!("the tool name `{}` can't be offered to a model: it has other characters than A-Z a-z 0-9 _ -", tool.name));
    }
    Ok(ToolOffer {
        name: tool.name.into_owned(),
        description: tool.description.unwrap_or_default().into_owned(),
        parameters: Value::Object((*tool.input_schema).clone()),
    })
}

fn result(answer: ChatAnswer) -> Result<CreateMessageResult, String> {
    let stop = match answer.finish {
        Finish::Stop => CreateMessageResult::STOP_REASON_END_TURN,
        Finish::ToolCalls => CreateMessageResult::STOP_REASON_TOOL_USE,
        Finish::Length => CreateMessageResult::STOP_REASON_END_MAX_TOKEN,
        Finish::Filtered => return Err("the model's provider filtered the answer".to_owned()),
    };
    let mut content = Vec::new();
    if !answer.text.is_empty() || answer.calls.is_empty() {
        content.push(SamplingMessageContentBlock::text(answer.text));
    }
    for call in answer.calls {
        let Ok(Value::Object(input)) = serde_json::from_str(if call.arguments.is_empty() { "{}" } else { &call.arguments }) else {
            return Err("the model called a tool with arguments that are no JSON object".to_owned());
        };
        content.push(SamplingMessageContentBlock::tool_use(call.id, call.name, input));
    }
    let message = match content.len() {
        1 => SamplingMessage::new(Role::Assistant, content.remove(0)),
        _ => SamplingMessage::new_multiple(Role::Assistant, content),
    };
    Ok(CreateMessageResult::new(message, answer.model).with_stop_reason(stop))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(request: Value) -> Result<ChatRequest, String> {
        chat_request(serde_json::from_value(request).unwrap(), "m")
    }

    #[test]
    fn a_conversation_with_tools_is_one_for_the_model() {
        let messages = json!([
            {"role": "user", "content": {"type": "text", "text": "How warm?"}},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"town": "Rome"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "toolUseId": "c1", "content": [{"type": "text", "text": "20"}]},
                {"type": "text", "text": "And so?"},
            ]},
        ]);
        let tools = json!([{"name": "look", "description": "Looks.", "inputSchema": {"type": "object"}}]);
        let request =
            json!({"messages": messages, "maxTokens": 50, "systemPrompt": "Be short.", "tools": tools, "toolChoice": {"mode": "required"}});
        let read = read(request).unwrap();
        let call = CallRequest { id: "c1".into(), name: "look".into(), arguments: "{\"town\":\"Rome\"}".into(), signature: None };
        assert_eq!(
            read.messages,
            [
                ChatMessage::System { content: "Be short.".into() },
                ChatMessage::User { content: "How warm?".into() },
                ChatMessage::Assistant { content: String::new(), calls: vec![call] },
                ChatMessage::Tool { call: "c1".into(), content: "20".into() },
                ChatMessage::User { content: "And so?".into() },
            ]
        );
        assert_eq!((read.settings.max_tokens, read.needs_tools, read.tools.len()), (Some(50), true, 1));
    }

    #[test]
    fn what_is_no_text_is_refused_with_the_reason() {
        let image = json!({"role": "user", "content": {"type": "image", "data": "AA==", "mimeType": "image/png"}});
        assert!(read(json!({"messages": [image], "maxTokens": 5})).unwrap_err().contains("text alone"));
    }

    #[test]
    fn calls_of_the_model_go_back_to_the_server() {
        let call = CallRequest { id: "c".into(), name: "look".into(), arguments: "{\"a\":1}".into(), signature: None };
        let answer = ChatAnswer { calls: vec![call], finish: Finish::ToolCalls, model: "m".into(), ..ChatAnswer::default() };
        let given = json!(result(answer).unwrap());
        assert_eq!(
            (&given["stopReason"], &given["content"]["type"], &given["content"]["input"]),
            (&json!("toolUse"), &json!("tool_use"), &json!({"a": 1}))
        );
    }
}
