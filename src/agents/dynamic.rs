//! Agents that a model writes: it makes a prompt for the objective and chooses tools, a person takes, edits or refuses that, and what is
//! taken then does the work like any other card.

use super::{
    Card, CardKind, ToolReply, answer,
    attempt::{call_id, limit},
    session::{ModelSession, SessionCall, StreamAudience},
    tokens,
};
use crate::engine::{ErrorKind, MessageRole, NodeError, ToolCall};
use crate::models::{ChatMessage, OutputSchema};
use crate::plan::{ToolInfo, schema_faults};
use crate::tools::{NEW_AGENT, WrittenAgent};
use serde_json::{Value, json};

/// How often the model may write it.
const ROUNDS: u32 = 2;
/// Tokens of the objective that it sees.
const OBJECTIVE: u64 = 4_000;
/// Characters of a tool's description that the model sees.
const ABOUT: usize = 160;

/// The agent for an objective, with the tools that it may use.
pub(super) async fn written(
    session: &mut ModelSession<'_>,
    objective: &str,
    card: &Card,
    tools: &[ToolInfo],
) -> Result<(Card, Vec<ToolInfo>), NodeError> {
    let args = write(session, objective, card, tools).await?;
    let taken = match session.port.tool(ToolCall { id: call_id(), tool: NEW_AGENT.to_owned(), args }).await {
        ToolReply::Value(taken) => taken,
        ToolReply::Failed(error) => return Err(NodeError::permanent(error.message)),
        ToolReply::Refused(message) => {
            let message = format!("the agent that the model wrote was refused: {message}");
            return Err(NodeError { kind: ErrorKind::Rejected, ..NodeError::permanent(message) });
        }
    };
    let agent: WrittenAgent =
        serde_json::from_value(taken).map_err(|error| NodeError::permanent(format!("the agent can't be used: {error}")))?;
    if let Some(unknown) = agent.tools.iter().find(|name| !tools.iter().any(|tool| tool.name == **name)) {
        return Err(NodeError::permanent(format!("the agent can't be used: it has no tool `{unknown}` to choose from"))
            .hint("retry the node, and edit the agent's tools when it is shown"));
    }
    let chosen = tools.iter().filter(|tool| agent.tools.contains(&tool.name)).cloned().collect();
    let WrittenAgent { description, tools, prompt, .. } = agent;
    Ok((Card { kind: CardKind::Llm, description, tools, prompt, ..card.clone() }, chosen))
}

/// Has the model write it.
async fn write(session: &mut ModelSession<'_>, objective: &str, card: &Card, tools: &[ToolInfo]) -> Result<Value, NodeError> {
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let about = |tool: &ToolInfo| format!("- {}: {}", tool.name, tool.description.chars().take(ABOUT).collect::<String>());
    let listed: Vec<String> = tools.iter().map(about).collect();
    let schema = json!({
        "type": "object",
        "properties": {
            "description": {"type": "string", "description": "What the agent does, in one sentence"},
            "tools": {"type": "array", "items": {"type": "string"}, "description": "Names of the tools that it needs, as few as possible"},
            "prompt": {"type": "string", "minLength": 1, "description": "Its system prompt"},
        },
        "required": ["description", "tools", "prompt"],
        "additionalProperties": false,
    });
    let validator = jsonschema::validator_for(&schema).map_err(|error| NodeError::permanent(error.to_string()))?;
    let task = format!(
        "Write an agent for this objective. Don't do the work yourself.\n\nObjective:\n{}\n\nTools to choose from:\n{}\n\nReply with JSON and \
         nothing else: {{\"description\": …, \"tools\": […], \"prompt\": …}}.",
        tokens::cut(objective, OBJECTIVE),
        listed.join("\n")
    );
    let mut messages = vec![ChatMessage::System { content: card.prompt.clone() }, ChatMessage::User { content: task }];
    session.port.log("a model writes the agent for this node");
    for round in 1..=ROUNDS {
        let schema = Some(OutputSchema { name: "agent".to_owned(), schema: schema.clone() });
        let permit = session.permit(&messages, &[], schema.as_ref()).await?;
        let room = session.room(&messages, &[]);
        let cap = room.ok_or_else(|| limit("too few tokens are left to write an agent", "raise the node's `budget.tokens`"))?;
        let call = SessionCall { permit, messages: &messages, offers: &[], schema, cap, stream: StreamAudience::Hide };
        let text = session.call(call).await?.text;
        session.port.message(MessageRole::Assistant, &text);
        let value = answer::parse(&text);
        let unknown = value["tools"].as_array().into_iter().flatten().filter_map(Value::as_str).find(|name| !names.contains(name));
        let fault = schema_faults(&validator, &value, 5).or_else(|| unknown.map(|name| format!("there is no tool `{name}`")));
        let Some(fault) = fault else {
            let mut args = value;
            args["keep_as"] = Value::from("");
            return Ok(args);
        };
        if round == ROUNDS {
            return Err(NodeError::permanent(format!("the model wrote no agent that can be used: {fault}"))
                .hint("retry the node, or name another agent"));
        }
        messages
            .push(ChatMessage::User { content: format!("That is not right: {fault}. Reply with the corrected JSON and nothing else.") });
    }
    Err(NodeError::permanent("no agent was written"))
}
