//! Tools behind one trait, their risk and permission, the sandbox.

mod builtin;
mod call_rule;
mod config;
mod env_file;
mod git_rule;
mod globs;
mod known_secrets;
pub mod mcp;
mod new_agent;
mod permission;
mod plain_command;
mod registry;
pub mod sandbox;
mod service;
pub mod tables;
mod toolbox;
pub(crate) mod walk;
mod workspace;

#[cfg(test)]
pub(crate) use builtin::query_data::query;
pub use call_rule::{CallArguments, CallRule, RuleError};
pub use config::{CommandConfig, FetchConfig, McpConfig, SearchConfig, SearchService, ToolsConfig};
pub use globs::{GlobError, Globs};
pub use known_secrets::{KnownSecrets, names_in, unknown_secrets, workspace_variables};
pub use new_agent::{NEW_AGENT, NewAgent, WrittenAgent};
pub use permission::{JudgedTool, Permission, PermissionConfig, PermissionError};
pub use registry::{Judgement, ToolRegistry};
pub use service::{BadAddress, ServiceAddress, ServiceTool};
pub use toolbox::Toolbox;
pub use workspace::{Entry, EntryKind, Existing, Located, Workspace};

use async_trait::async_trait;
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::engine::{DataSource, FileAccess, Outgoing, Preview};
use crate::models::ChatModel;
use crate::plan::{ArgumentCheck, Field, Risk, ToolInfo};

/// Takes away what processes left that were killed: scratch folders, and what writes to these paths left beside them.
pub fn sweep(workspace: &Path, paths: &[String]) {
    builtin::sweep_scratch();
    let Ok(workspace) = Workspace::new(workspace) else { return };
    paths.iter().filter_map(|path| workspace.locate_for_writing(path).ok()).for_each(|at| workspace.sweep(&at));
}

#[async_trait]
pub trait Tool: Send + Sync {
    /// Name, description, schema, risk before arguments are known. `verdict` is filled in by the registry.
    fn info(&self) -> &ToolInfo;

    /// Why it would refuse arguments that its schema takes, for tools that can tell before they run.
    fn argument_check(&self) -> Option<ArgumentCheck> {
        None
    }

    /// Why a call of these arguments is never carried out, whoever approves it; then nobody is asked.
    fn refusal(&self, _args: &Value) -> Option<ToolError> {
        None
    }

    /// Whether it can work at all by the configuration. A tool that can't is not offered to planners.
    fn is_configured(&self) -> bool {
        true
    }

    /// Whether what it is given leaves this computer, although what it gives may tell of it.
    fn sends(&self) -> bool {
        false
    }

    /// What the result of a call depends on, for a tool that changes nothing.
    fn depends_on(&self, _args: &Value) -> DependsOn {
        DependsOn::Outside
    }

    /// Why a call asks even where the rules allow it.
    fn asks_because(&self) -> Option<String> {
        None
    }

    /// What this very call can do to the world (a private address is worse than a public one), with the reason in words.
    fn assess(&self, args: &Value, context: &ToolContext) -> Assessment;

    /// Runs the call. Arguments were checked against the schema. Dropping the future cancels it and kills what it started.
    ///
    /// # Errors
    /// Words for a model or a person, and whether anything began.
    async fn call(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError>;

    /// A preview of the effect for the person who decides (a diff), if the tool can make one without any effect.
    fn preview(&self, _args: &Value, _context: &ToolContext) -> Option<Preview> {
        None
    }
}

/// What the result of a call depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependsOn {
    /// Its arguments, and the model of its node where it asks one.
    Arguments,
    /// Its arguments, and what is in the files that it reports as read.
    Files,
    /// More than can be compared later.
    Outside,
}

/// The risk of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    pub risk: Risk,
    pub why: String,
    /// What it sends out of this computer, and where to.
    pub leaves: Option<Outgoing>,
}

/// What a call may use.
#[derive(Clone)]
pub struct ToolContext {
    /// The workspace; file tools stay inside it, symlinks too.
    pub workspace: PathBuf,
    /// Model for tools that need one (`summarize`), with its name; absent: rehearsal.
    pub model: Option<(Arc<dyn ChatModel>, String)>,
    /// Who is told what a call writes while it runs.
    pub watcher: Option<Arc<sandbox::Watcher>>,
    /// Who answers what a call asks while it runs.
    pub asker: Option<Arc<dyn Asker>>,
    /// The same for each attempt of one generation of a node, and for no other.
    pub attempt_key: String,
}

impl ToolContext {
    /// For calls of nobody: no model, nobody who watches or answers.
    pub fn of(workspace: PathBuf) -> Self {
        Self { workspace, model: None, watcher: None, asker: None, attempt_key: String::new() }
    }
}

/// What a call under way asks of people.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallQuestion {
    pub text: String,
    /// What to choose from, if it is no form.
    pub options: Vec<String>,
    pub fields: Vec<Field>,
    /// What a person needs to see to answer.
    pub payload: Value,
}

/// Brings what a call asks to people.
#[async_trait]
pub trait Asker: Send + Sync {
    /// Waits for the reply; whoever stops waiting takes the question back.
    ///
    /// # Errors
    /// Why there is no reply, in words.
    async fn ask(&self, question: CallQuestion) -> Result<Value, String>;
}

/// What a call gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// The result; text is a JSON string.
    pub value: Value,
    pub files: Vec<FileAccess>,
    pub sources: Vec<DataSource>,
}

impl ToolOutput {
    /// The result of work on files alone.
    fn of(value: Value, files: Vec<FileAccess>) -> Self {
        Self { value, files, sources: Vec::new() }
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    pub message: String,
    pub hint: Option<String>,
    /// May pass by itself.
    pub transient: bool,
    /// The failure proves that nothing began.
    pub nothing_began: bool,
    /// Arguments of the same tool's next call, where this one leads to it. That call is decided on like any other.
    pub goes_on: Option<Box<Value>>,
    /// How long to wait before the next attempt, where the other side said so.
    pub retry_after_ms: Option<u64>,
}

impl ToolError {
    /// A call that was refused before anything began; calling again the same way is useless.
    pub fn refused(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, transient: false, nothing_began: true, goes_on: None, retry_after_ms: None }
    }

    /// A call that failed after it began.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, transient: false, nothing_began: false, goes_on: None, retry_after_ms: None }
    }

    /// The same error with a way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error as one that may pass by itself.
    #[must_use]
    pub fn transient(mut self) -> Self {
        self.transient = true;
        self
    }
}

impl Assessment {
    /// A call that sends nothing out.
    pub fn local(risk: Risk, why: impl Into<String>) -> Self {
        Self { risk, why: why.into(), leaves: None }
    }

    /// A call that only reads.
    pub fn read(why: impl Into<String>) -> Self {
        Self::local(Risk::Read, why)
    }
}
