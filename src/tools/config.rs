//! `ToolsConfig`: settings of the built-in tools. Plain data; absent settings have working defaults, unknown ones are errors.

use crate::plan::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::{PermissionConfig, sandbox::SandboxConfig};

/// Names of tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolsConfig {
    /// What tools may do; `[permissions]` of the configuration.
    #[serde(skip)]
    pub permissions: PermissionConfig,
    /// Another name for a tool, as in `grep = "search_files"`.
    pub aliases: BTreeMap<String, String>,
    /// The tool `fetch_url`.
    pub fetch: FetchConfig,
    /// The tool `web_search`.
    pub search: SearchConfig,
    /// The tool `run_command`.
    pub command: CommandConfig,
    /// MCP servers; docs/mcp.md says where they are named.
    pub mcp: McpConfig,
    #[serde(skip)]
    pub sandbox: SandboxConfig,
}

/// The tool `fetch_url`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FetchConfig {
    /// Private hosts (names or addresses) that may be reached.
    pub private_hosts: Vec<String>,
    /// Longest page in bytes.
    pub max_bytes: usize,
    /// Longest time in seconds.
    pub timeout_s: u64,
}

impl Default for FetchConfig {
    fn default() -> Self {
        Self { private_hosts: Vec::new(), max_bytes: 2 << 20, timeout_s: 30 }
    }
}

/// The tool `web_search`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchConfig {
    /// Search service. Without it: the first one whose environment variable is set.
    pub provider: Option<SearchService>,
    /// Address of the service; needed for SearXNG only.
    pub url: Option<String>,
}

/// A search service, in the order in which their environment variables are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchService {
    Serper,
    Brave,
    Tavily,
    Searxng,
}

impl SearchService {
    pub const ALL: [Self; 4] = [Self::Serper, Self::Brave, Self::Tavily, Self::Searxng];

    /// The environment variable with its key; for SearXNG, which has none, with its address.
    pub fn variable(self) -> &'static str {
        match self {
            Self::Serper => "SERPER_API_KEY",
            Self::Brave => "BRAVE_API_KEY",
            Self::Tavily => "TAVILY_API_KEY",
            Self::Searxng => "SEARXNG_URL",
        }
    }
}

/// The tool `run_command`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommandConfig {
    /// Environment variables that commands get besides the usual ones (`PATH`, `HOME`, `LANG`, …). Keys are never among those.
    pub env: Vec<String>,
    /// Whether commands may use the network.
    pub network: bool,
    /// Longest time in seconds that a call may ask for.
    pub max_timeout_s: u64,
    /// Memory of one process in MiB.
    pub memory_mb: u64,
}

impl Default for CommandConfig {
    fn default() -> Self {
        Self { env: Vec::new(), network: false, max_timeout_s: 600, memory_mb: 4096 }
    }
}

/// MCP servers; docs/mcp.md says where they are named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct McpConfig {
    /// Seconds that a server may take until it is ready; one that is downloaded first may need them.
    pub start_timeout_s: u64,
    /// Seconds that a server may say nothing during a call.
    pub silence_s: u64,
    /// Folders that servers learn of (their roots): `workspace`. Some servers take them as leave to work there.
    pub roots: Vec<McpRoot>,
    /// Whether a server may have your model answer it in the middle of a call: `ask`, `allow` or `deny`.
    pub sampling: Verdict,
}

/// A folder that servers may learn of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum McpRoot {
    Workspace,
}

impl Default for McpConfig {
    fn default() -> Self {
        Self { start_timeout_s: 60, silence_s: 120, roots: Vec::new(), sampling: Verdict::Ask }
    }
}
