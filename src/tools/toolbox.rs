//! `Toolbox`: the tools as they are now: those that come with dagdeck, and those of MCP servers, which come and go.

use super::{
    PermissionError, Tool, ToolError, ToolRegistry, ToolsConfig,
    mcp::{McpError, McpServers},
};
use crate::plan::ToolServer;
use std::sync::{Arc, PoisonError, RwLock};

/// The tools of a host.
pub struct Toolbox {
    own: ToolRegistry,
    servers: RwLock<Arc<McpServers>>,
    /// What only certain agents call, and how often that changed.
    hidden: RwLock<(u64, Vec<Arc<dyn Tool>>)>,
    /// The tools as they were at a revision of the servers and of the hidden ones.
    now: RwLock<((u64, u64), Arc<ToolRegistry>)>,
}

impl Toolbox {
    /// The built-in tools under a configuration, and no servers yet.
    ///
    /// # Errors
    /// A permission list that can't be read.
    pub fn new(config: &ToolsConfig) -> Result<Self, PermissionError> {
        let own = ToolRegistry::builtin(config)?;
        let now = RwLock::new(((0, 0), Arc::new(own.clone())));
        Ok(Self { own, servers: RwLock::default(), hidden: RwLock::default(), now })
    }

    pub fn servers(&self) -> Arc<McpServers> {
        self.servers.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes other servers; those that aren't among them end when their last call has.
    pub fn set_servers(&self, servers: McpServers) {
        *self.servers.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(servers);
    }

    /// Takes other tools that neither plans nor models name.
    pub fn set_hidden(&self, tools: Vec<Arc<dyn Tool>>) {
        let mut hidden = self.hidden.write().unwrap_or_else(PoisonError::into_inner);
        *hidden = (hidden.0 + 1, tools);
    }

    /// The tools as they are now.
    pub fn now(&self) -> Arc<ToolRegistry> {
        let servers = self.servers();
        // Read before the tools are: what changes meanwhile is seen the next time.
        let (changes, hidden) = self.hidden.read().unwrap_or_else(PoisonError::into_inner).clone();
        let revision = (servers.revision(), changes);
        let (known, registry) = self.now.read().unwrap_or_else(PoisonError::into_inner).clone();
        if known == revision {
            return registry;
        }
        let mut registry = self.own.clone();
        servers.tools().into_iter().for_each(|tool| registry.add(tool));
        hidden.into_iter().for_each(|tool| registry.add_hidden(tool));
        let registry = Arc::new(registry);
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = (revision, registry.clone());
        registry
    }

    /// The tools once the one of this name can be called: its server is started, if it has one.
    ///
    /// # Errors
    /// When the server can't be started.
    pub async fn ready(&self, tool: &str) -> Result<Arc<ToolRegistry>, ToolError> {
        self.servers().ready(tool).await?;
        Ok(self.now())
    }

    /// Starts the servers that nobody knows the tools of, as far as they are wanted, and gives what went wrong with each.
    pub async fn list(&self, wanted: impl Fn(&str) -> bool) -> Vec<(String, McpError)> {
        self.servers().list(|name, state| *state == ToolServer::Unlisted && wanted(name)).await
    }
}
