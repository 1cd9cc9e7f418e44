//! Resources of MCP servers that an objective refers to: each is read by a call of its own, decided like any other, and is material of the
//! agent from then on.

use crate::agents::{Port, ToolReply};
use crate::engine::{AgentJob, DataSource, Dep, NodeError, NodeState, Provenance, ToolCall};
use crate::plan::{NodeId, resource_refs};
use crate::tools::mcp::READ_RESOURCE;
use serde_json::json;
use std::{borrow::Cow, sync::Arc};

/// The job and its material, with what it refers to.
///
/// # Errors
/// When a resource can't be read, or may not be.
pub(super) async fn gathered<'a>(
    job: &'a AgentJob,
    deps: &'a [Dep],
    port: &dyn Port,
) -> Result<(Cow<'a, AgentJob>, Cow<'a, [Dep]>), NodeError> {
    if job.rehearsed || job.resources.is_empty() {
        return Ok((Cow::Borrowed(job), Cow::Borrowed(deps)));
    }
    let (mut with, mut material) = (job.clone(), deps.to_vec());
    for found in job.resources.iter().flat_map(|text| resource_refs(text)) {
        let id = uuid::Uuid::now_v7().simple().to_string();
        let call = ToolCall { id, tool: format!("{}:{READ_RESOURCE}", found.server), args: json!({"uri": found.uri}) };
        let value = match port.tool(call).await {
            ToolReply::Value(value) => value,
            ToolReply::Failed(NodeError { message: why, .. }) | ToolReply::Refused(why) => {
                return Err(NodeError::permanent(format!("`{}`, which its objective refers to, can't be read: {why}", found.text)));
            }
        };
        let source = DataSource { kind: "mcp".into(), identifier: found.text.to_owned(), query: None };
        with.named.push(NodeId::from(found.text));
        material.push(Dep {
            node: NodeId::from(found.text),
            result: Arc::new(value),
            state: NodeState::Succeeded,
            error: None,
            provenance: Provenance { sources: vec![source], ..Provenance::default() },
        });
    }
    Ok((Cow::Owned(with), Cow::Owned(material)))
}
