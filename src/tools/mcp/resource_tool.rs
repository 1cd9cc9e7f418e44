//! `McpResourceTool`: `server:list_resources` and `server:read_resource`, for servers that have something to read. An address that the server
//! listed tells it nothing; any other one may, so it counts as sent.

use super::{
    offers::{McpOffers, McpResource},
    outcome,
    scope::CallScope,
    server::McpServer,
};
use crate::engine::{DataSource, Outgoing};
use crate::plan::{Risk, ToolInfo, ToolReach, Verdict};
use crate::tools::{Assessment, Tool, ToolContext, ToolError, ToolOutput};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;

/// Most resources that the description names.
const NAMED: usize = 40;

/// What the tool that reads is called behind its server's name.
pub const READ_RESOURCE: &str = "read_resource";
const LIST: &str = "list_resources";

pub(super) struct McpResourceTool {
    server: Arc<McpServer>,
    info: ToolInfo,
    offers: McpOffers,
    work: ResourceWork,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ResourceWork {
    List,
    Read,
}

impl McpResourceTool {
    /// Both tools, where the server has something to read.
    pub(super) fn of(server: &Arc<McpServer>) -> Vec<Self> {
        let offers = server.offers();
        if offers.resources.is_none() {
            return Vec::new();
        }
        [ResourceWork::List, ResourceWork::Read].map(|work| Self::new(server.clone(), offers.clone(), work)).into()
    }

    fn new(server: Arc<McpServer>, offers: McpOffers, work: ResourceWork) -> Self {
        let (name, description, properties) = match work {
            ResourceWork::List => (LIST, format!("Lists what the MCP server `{}` lets read.", server.name), json!({})),
            ResourceWork::Read => {
                let uri = json!({"uri": {"type": "string", "description": "Address of the resource"}});
                (READ_RESOURCE, described(&server.name, &offers), uri)
            }
        };
        let required: Vec<&String> = properties.as_object().into_iter().flat_map(|properties| properties.keys()).collect();
        let schema = json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        let info = ToolInfo {
            name: format!("{}:{name}", server.name),
            description,
            input_schema: schema,
            risk: if server.is_remote() { Risk::Network } else { Risk::Read },
            verdict: Verdict::Ask,
            reach: Some(ToolReach::Private),
        };
        Self { server, info, offers, work }
    }

    /// Without its server's name.
    pub(super) fn name(&self) -> &'static str {
        match self.work {
            ResourceWork::List => LIST,
            ResourceWork::Read => READ_RESOURCE,
        }
    }
}

fn described(server: &str, offers: &McpOffers) -> String {
    let resources = offers.resources.as_deref().unwrap_or_default();
    let line = |resource: &McpResource| format!("\n{} - {}", resource.uri, resource.description);
    let named: String = resources.iter().take(NAMED).map(line).collect();
    let more = resources.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("\n({more} more: `{server}:{LIST}` lists all)") } else { String::new() };
    let gaps: String = offers.templates.iter().take(NAMED).map(line).collect();
    let gaps = if gaps.is_empty() { gaps } else { format!("\nwith gaps to fill in:{gaps}") };
    format!("Reads a resource of the MCP server `{server}` by its address.{named}{more}{gaps}")
}

#[async_trait]
impl Tool for McpResourceTool {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn sends(&self) -> bool {
        self.work == ResourceWork::Read
    }

    fn assess(&self, args: &Value, _context: &ToolContext) -> Assessment {
        let server = &self.server;
        let uri = args["uri"].as_str().unwrap_or_default();
        let why = match self.work {
            ResourceWork::List => format!("lists the resources of the MCP server `{}`", server.name),
            ResourceWork::Read => format!("reads `{uri}` from the MCP server `{}`", server.name),
        };
        let is_listed = self.offers.resources.iter().flatten().any(|resource| resource.uri == uri);
        let leaves = (self.work == ResourceWork::Read && !is_listed).then(|| Outgoing {
            host: server.destination(),
            request: format!("resources/read {uri}"),
            ..Outgoing::default()
        });
        Assessment { leaves, ..Assessment::local(self.info.risk, why) }
    }

    async fn call(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let connection = self.server.ready().await?;
        let (value, identifier) = match self.work {
            ResourceWork::List => (json!(listed(&self.server.offers())), self.info.name.clone()),
            ResourceWork::Read => {
                let uri = args["uri"].as_str().unwrap_or_default();
                let scope = CallScope::new(&self.server, &self.info.name, context);
                let read = connection.read(uri, &scope).await.map_err(|fault| fault.of_tool(&self.info.name))?;
                (outcome::resource(&read, self.server.files())?, format!("@{}:{uri}", self.server.name))
            }
        };
        let sources = vec![DataSource { kind: "mcp".into(), identifier, query: None }];
        Ok(ToolOutput { value, sources, ..ToolOutput::default() })
    }
}

fn listed(offers: &McpOffers) -> Vec<Value> {
    let one = |key: &'static str| move |resource: &McpResource| json!({key: resource.uri, "description": resource.description});
    let resources = offers.resources.iter().flatten().map(one("uri"));
    resources.chain(offers.templates.iter().map(one("uri_template"))).collect()
}
