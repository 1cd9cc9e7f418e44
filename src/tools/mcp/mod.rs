//! MCP servers: programs and addresses of others whose tools plans and agents may use as `server:tool`. Nothing is started before it is
//! needed, and nothing without trust. The SDK stays inside this folder.

mod call;
mod connection;
mod desk;
mod elicit;
mod entry;
mod error;
mod inventory;
mod listing;
mod log;
mod named_files;
mod offers;
mod outcome;
mod process;
mod progress;
mod prompts;
mod resource_tool;
mod revision;
mod sampling;
mod scope;
mod server;
mod sign_in;
mod source;
mod tokens;
mod tool;

pub use entry::{MCP_FILE, MCP_USER_FILE, McpEntry};
pub use error::McpError;
pub use named_files::NamedFiles;
pub use offers::{McpOffers, McpPrompt, McpPromptArgument, McpResource};
pub use resource_tool::READ_RESOURCE;
pub use sign_in::SignIn;
pub use source::{McpSource, McpStatus, McpTrust};

use super::{KnownSecrets, McpConfig, Tool, ToolError};
use crate::plan::ToolServer;
use futures::future::join_all;
use resource_tool::McpResourceTool;
use revision::McpRevision;
use serde_json::{Map, Value};
use server::{McpServer, ServerHome};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::sync::watch;
use tool::McpTool;

/// The servers of one host.
#[derive(Default)]
pub struct McpServers {
    servers: BTreeMap<String, Arc<McpServer>>,
    problems: Vec<String>,
    revision: McpRevision,
}

/// What servers work with.
pub struct McpSettings<'a> {
    pub workspace: &'a Path,
    /// The folder for what is kept of them.
    pub state: &'a Path,
    pub secrets: &'a Arc<KnownSecrets>,
    pub env: &'a dyn Fn(&str) -> Option<String>,
    pub config: &'a McpConfig,
}

impl McpServers {
    /// The servers that these files name, the first file's first where two have one name. Servers that are the same `before` stay as they
    /// are. Starts nothing.
    pub fn new(sources: &[McpSource], settings: &McpSettings<'_>, before: Option<&Self>) -> Self {
        let McpSettings { workspace, state, secrets, env, config } = *settings;
        let mut all = Self { revision: before.map(|before| before.revision.clone()).unwrap_or_default(), ..Self::default() };
        let revision = all.revision.clone();
        let home = ServerHome { workspace, state, secrets, env, config, revision: &revision };
        for source in sources {
            match McpEntry::read(&source.text) {
                Ok(entries) => entries.into_iter().for_each(|entry| all.add(entry, source, &home, before)),
                Err(why) => all.problems.push(format!("`{}` {why}", source.label)),
            }
        }
        revision.changed();
        all
    }

    fn add(&mut self, entry: McpEntry, source: &McpSource, home: &ServerHome<'_>, before: Option<&Self>) {
        if self.servers.contains_key(&entry.name) {
            let message = format!("the MCP server `{}` of `{}` is not used: another file has one of that name", entry.name, source.label);
            return self.problems.push(message);
        }
        let server = Arc::new_cyclic(|me| McpServer::new(entry, source, home, me.clone()));
        let known = before.and_then(|before| before.servers.get(&server.name)).filter(|known| known.is_same(&server));
        self.servers.insert(server.name.clone(), known.cloned().unwrap_or(server));
    }

    pub(super) fn revision(&self) -> u64 {
        self.revision.now()
    }

    /// Sees each change of what servers list from now on, whichever servers there are then.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.revision.watch()
    }

    /// What is wrong with the files.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// All tools that are known: of servers that run, and of those that ran before.
    pub(super) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let of = |server: &Arc<McpServer>| {
            let tools = server.tools().unwrap_or_default();
            let names: Vec<String> = tools.iter().map(|(tool, _)| tool.name.clone()).collect();
            let tools =
                tools.into_iter().map(|(tool, has_changed)| Arc::new(McpTool::new(server.clone(), tool, has_changed)) as Arc<dyn Tool>);
            // The server's own tool of such a name goes before.
            let readers = McpResourceTool::of(server).into_iter().filter(|reader| !names.iter().any(|name| *name == reader.name()));
            tools.chain(readers.map(|reader| Arc::new(reader) as Arc<dyn Tool>)).collect::<Vec<_>>()
        };
        self.servers.values().filter(|server| server.why_off().is_none()).flat_map(of).collect()
    }

    /// What plans need to know of servers, by name.
    pub fn catalog(&self) -> BTreeMap<String, ToolServer> {
        let of = |server: &McpServer| match (server.why_off(), server.tools()) {
            (Some(off), _) => ToolServer::Off { why: off.message.clone() },
            (None, Some(_)) => ToolServer::Listed,
            (None, None) => ToolServer::Unlisted,
        };
        self.servers.iter().map(|(name, server)| (name.clone(), of(server))).collect()
    }

    pub fn status(&self) -> Vec<McpStatus> {
        self.servers.values().map(|server| server.status()).collect()
    }

    /// Makes the server of a tool ready, if it is a server's.
    pub(super) async fn ready(&self, tool: &str) -> Result<(), ToolError> {
        let Some(server) = tool.split_once(':').and_then(|(server, _)| self.servers.get(server)) else { return Ok(()) };
        let ready = server.ready().await;
        ready.map(drop).map_err(|error| {
            let (name, transient, hint) = (&server.name, error.transient, error.hint.clone());
            ToolError { transient, hint, ..ToolError::refused(format!("the MCP server `{name}` can't be used: {error}")) }
        })
    }

    /// Starts these servers, all at once, and gives what went wrong with each.
    pub async fn list(&self, wanted: impl Fn(&str, &ToolServer) -> bool) -> Vec<(String, McpError)> {
        let catalog = self.catalog();
        let wanted = self.servers.values().filter(|server| catalog.get(&server.name).is_some_and(|state| wanted(&server.name, state)));
        let listed = wanted.map(|server| async move { Some((server.name.clone(), server.ready().await.err()?)) });
        join_all(listed).await.into_iter().flatten().collect()
    }

    /// Ends the one of this name, if it is started.
    pub async fn stop_one(&self, name: &str) {
        if let Some(server) = self.servers.get(name) {
            server.stop().await;
        }
    }

    /// The text that a server makes of a prompt.
    ///
    /// # Errors
    /// When there is no such server, it can't be started, or it gives none.
    pub async fn prompt(&self, server: &str, name: &str, arguments: Map<String, Value>) -> Result<String, McpError> {
        let server = self.servers.get(server).ok_or_else(|| McpError::new("there is no such server any more"))?;
        server.ready().await?.prompt(name, arguments, server.files(), server.silence()).await
    }

    /// Begins a sign-in to a server at an address, and gives the file for its tokens too.
    ///
    /// # Errors
    /// When there is no such server, it can't be reached, or it has no sign-in that dagdeck can do.
    pub async fn sign_in(&self, server: &str) -> Result<(SignIn, PathBuf), McpError> {
        let names = || self.servers.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let found = self.servers.get(server);
        let server = found.ok_or_else(|| McpError::new("there is no such server").hint(format!("there are: {}", names())))?;
        server.sign_in().await
    }

    /// Ends those that are started.
    pub async fn stop(&self) {
        join_all(self.servers.values().map(|server| server.stop())).await;
    }
}
