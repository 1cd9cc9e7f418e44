//! Agents that are services: the node's objective and what it gets go out as one request, decided on like any call of a tool.

use super::{Card, Port, ToolReply, answer::ResultCheck, attempt::call_id, prompt::Prompt};
use crate::engine::{AgentJob, Done, ErrorKind, MessageRole, NodeError, ToolCall};
use crate::plan::{SERVICE, value_text};
use serde_json::json;

/// Has the service do the work of a node.
pub(super) async fn ask(prompt: &Prompt, job: &AgentJob, card: &Card, check: &ResultCheck, port: &dyn Port) -> Result<Done, NodeError> {
    port.message(MessageRole::User, &prompt.user());
    let mut args = json!({"agent": card.name, "objective": prompt.objective, "context": prompt.context, "inputs": job.inputs});
    if let Some(schema) = check.schema() {
        args["output_schema"] = schema.clone();
    }
    if !check.routes().is_empty() {
        args["routes"] = json!(check.routes());
    }
    let result = match port.tool(ToolCall { id: call_id(), tool: format!("{SERVICE}{}", card.name), args }).await {
        ToolReply::Value(value) => value,
        ToolReply::Failed(error) => return Err(error),
        ToolReply::Refused(message) => return Err(NodeError { kind: ErrorKind::Rejected, ..NodeError::permanent(message) }),
    };
    port.message(MessageRole::Assistant, &value_text(&result));
    let result = match check.judge(&result) {
        Ok(judged) => judged,
        Err(fault) => fault.settle(result, port)?,
    };
    Ok(Done { result, mark: None })
}
