//! `McpTool`: a tool of a server, as the registry knows tools. It is what its server listed at one moment; when that changed since the call
//! was judged, nothing is called.

use super::{listing::ListedTool, outcome, scope::CallScope, server::McpServer};
use crate::engine::{DataSource, Outgoing, Preview};
use crate::plan::{Risk, ToolInfo};
use crate::tools::{Assessment, Tool, ToolContext, ToolError, ToolOutput};
use async_trait::async_trait;
use jsonschema::Validator;
use serde_json::{Map, Value, json};
use std::sync::{Arc, OnceLock};

pub(super) struct McpTool {
    server: Arc<McpServer>,
    listed: Arc<ListedTool>,
    info: ToolInfo,
    /// It isn't what the rules speak of any more.
    has_changed: bool,
    output: OnceLock<Option<Validator>>,
}

impl McpTool {
    pub(super) fn new(server: Arc<McpServer>, listed: Arc<ListedTool>, has_changed: bool) -> Self {
        let mut info = listed.info(&server.name);
        // A program on another computer reads nothing of this one, but what it gets has left.
        if server.is_remote() {
            info.risk = info.risk.max(Risk::Network);
        }
        Self { server, listed, info, has_changed, output: OnceLock::new() }
    }
}

#[async_trait]
impl Tool for McpTool {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn sends(&self) -> bool {
        self.server.is_remote() || !self.listed.hints.closed
    }

    fn asks_because(&self) -> Option<String> {
        self.has_changed
            .then(|| format!("the server `{}` describes `{}` otherwise than when it was last allowed", self.server.name, self.listed.name))
    }

    fn assess(&self, args: &Value, _context: &ToolContext) -> Assessment {
        let why = format!("of the MCP server `{}`, which says: {}", self.server.name, self.listed.hints.label());
        let leaves = self.sends().then(|| Outgoing {
            host: self.server.destination(),
            request: format!("tools/call {}", self.listed.name),
            body: Some(serde_json::to_string_pretty(args).unwrap_or_default()),
            ..Outgoing::default()
        });
        Assessment { leaves, ..Assessment::local(self.info.risk, why) }
    }

    async fn call(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let connection = self.server.ready().await?;
        if !self.server.still_has(&self.listed) {
            let name = &self.info.name;
            return Err(ToolError::refused(format!("`{name}`: its description or schema changed since the call was decided")));
        }
        if self.has_changed {
            self.server.accept(&self.listed);
        }
        let named: Map<String, Value> = args.as_object().cloned().unwrap_or_default();
        let scope = CallScope::new(&self.server, &self.info.name, context);
        let answer = connection.call(&self.listed.name, named, &scope).await;
        let result = answer.map_err(|fault| fault.of_tool(&self.info.name))?;
        let schema =
            self.output.get_or_init(|| self.listed.output_schema.as_ref().and_then(|schema| jsonschema::validator_for(schema).ok()));
        let mut output = outcome::output(result, schema.as_ref(), self.server.files(), context.watcher.as_deref())?;
        let query = Some(json!(args).to_string()).filter(|query| query.len() <= 200);
        output.sources.push(DataSource { kind: "mcp".into(), identifier: self.info.name.clone(), query });
        Ok(output)
    }

    /// A person sees by this what would be called, and an approval doesn't hold for another definition.
    fn preview(&self, _args: &Value, _context: &ToolContext) -> Option<Preview> {
        let changed = if self.has_changed { "This is not how the server described it when it was last allowed.\n" } else { "" };
        let (server, tool) = (&self.server, &self.listed);
        let hints = tool.hints.label();
        Some(Preview::Text(format!(
            "{changed}calls {} of the MCP server {} ({})\nthe server says: {hints}\n{}",
            tool.name, server.name, server.label, tool.description
        )))
    }
}
