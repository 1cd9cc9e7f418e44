//! `ToolsConfig`: what the configuration file says of tools. Plain data; absent fields have working defaults, unknown ones are errors.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::{PermissionConfig, sandbox::SandboxConfig};

/// Everything that the built-in tools can be told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolsConfig {
    /// What is allowed, asked or denied.
    pub permissions: PermissionConfig,
    /// Other names for tools, over the shipped ones.
    pub aliases: BTreeMap<String, String>,
    /// `fetch_url`.
    pub fetch: FetchConfig,
    /// `web_search`.
    pub search: SearchConfig,
    /// `run_command`.
    pub command: CommandConfig,
    /// The sandbox's worker process.
    #[serde(skip)]
    pub sandbox: SandboxConfig,
}

/// `fetch_url`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FetchConfig {
    /// Hosts (names or addresses) that may be reached although they are private.
    pub private_hosts: Vec<String>,
    /// Longest body in bytes.
    pub max_bytes: usize,
    /// Longest time in seconds.
    pub timeout_s: u64,
}

impl Default for FetchConfig {
    fn default() -> Self {
        Self { private_hosts: Vec::new(), max_bytes: 2 << 20, timeout_s: 30 }
    }
}

/// `web_search`. Without a provider the first whose key or address stands in the environment is used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchConfig {
    /// Which service answers.
    pub provider: Option<SearchProvider>,
    /// The service's address, where it isn't the usual one; required for SearXNG.
    pub url: Option<String>,
}

/// A search service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchProvider {
    /// serper.dev, key in `SERPER_API_KEY`.
    Serper,
    /// Brave Search, key in `BRAVE_API_KEY`.
    Brave,
    /// Tavily, key in `TAVILY_API_KEY`.
    Tavily,
    /// One's own SearXNG, address in `SEARXNG_URL`.
    Searxng,
}

/// `run_command`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CommandConfig {
    /// Environment variables that pass to commands besides the harmless usual ones.
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
