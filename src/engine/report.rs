//! What a node's work reports besides its result: lineage, tokens, errors. Field names are those of seed 000.

pub use super::usage::TokenUsage;
use super::{Mark, RunId, Spent, Time};
use crate::plan::NodeId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where data came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataSource {
    /// `web`, `database`, `api` or `file`.
    #[serde(rename = "type")]
    pub kind: String,
    /// URL, table, path, …
    pub identifier: String,
    /// Search text or SQL, if any.
    pub query: Option<String>,
}

/// One touch of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileAccess {
    /// Relative to the workspace.
    pub path: String,
    /// `read`, `write`, `search`, `move` (its old place) or `delete`.
    pub operation: String,
    /// First 100 characters.
    pub content_preview: Option<String>,
}

/// Whose message of an agent's conversation it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    System,
    User,
    Assistant,
    Tool,
    /// What a model thought: it is on record, and part of no conversation and no result.
    Reasoning,
}

impl MessageRole {
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// Why a model call ended of which nobody heard the end.
pub const UNHEARD: &str = "nobody heard its end";

/// One finished model call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelCall {
    /// The model's name as the answer carries it.
    pub model: String,
    /// Provider, for people; `rehearsal` and `operator` are providers too.
    pub provider: String,
    /// As reported, or counted locally.
    pub usage: TokenUsage,
    /// Whether `usage` was counted locally.
    pub estimated: bool,
    /// US dollars, when a price is known.
    pub cost_usd: Option<f64>,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
    /// Why the model stopped.
    pub finish: String,
    /// What ties it to the call that was let go; empty where nothing does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
}

/// An answer of a model that is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnfinishedAnswer {
    /// What it has taken by now, counted here.
    pub call: ModelCall,
    /// What it has said.
    pub text: String,
}

/// A tool call that an agent (or a tool node) proposes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique within the node's generation.
    pub id: String,
    /// `name` or `server:name`.
    pub tool: String,
    pub args: Value,
}

/// What a finished tool call gave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolReport {
    pub ok: bool,
    /// The result, or the error's message as a string.
    pub value: Value,
    pub files: Vec<FileAccess>,
    pub sources: Vec<DataSource>,
    /// Wall time in milliseconds.
    pub duration_ms: u64,
}

/// Why an attempt failed. A failed node is data, not an `Err`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeError {
    /// What sort of failure, for retry.
    pub kind: ErrorKind,
    /// Text for a person, lower-case start, cause first.
    pub message: String,
    pub hint: Option<String>,
    /// What the server asked for, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

impl NodeError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, retry_after_ms: None }
    }

    /// An error that a retry would not fix.
    pub fn permanent(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Permanent, message)
    }

    /// The same error with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// What sort of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// May pass by itself, and the failure proves that nothing began (connection refused, 429).
    NothingBegan,
    /// May pass by itself; an effect may have begun (timeouts, cut connections, 5xx).
    Transient,
    /// The attempt's working time ran out.
    Timeout,
    /// A limit of iterations or tokens.
    Limit,
    /// A reference or expression of the plan is wrong.
    Plan,
    /// A person or rule said no.
    Rejected,
    /// A retry would not help.
    Permanent,
}

/// Whether sending a failed model call again can help, as the client judges it: the server's answer is in its hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TryVerdict {
    /// It may pass by itself; when is for the caller to say.
    Again,
    /// It may pass by itself, and the server says how long that takes from when the call failed.
    After { ms: u64 },
    /// The same would fail again.
    Never,
}

impl TryVerdict {
    /// What the server asks to wait, in milliseconds.
    pub fn wait_ms(self) -> Option<u64> {
        match self {
            Self::After { ms } => Some(ms),
            Self::Again | Self::Never => None,
        }
    }
}

/// What a node's work hands in when it ends well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    pub result: Value,
    /// Set when the node returned what it had at a limit: `budget_exhausted`, `rehearsal`, …
    pub mark: Option<Mark>,
}

/// When and how long, for `Run` and views.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkSpan {
    /// First start of this generation.
    pub started: Option<Time>,
    /// End of this generation.
    pub finished: Option<Time>,
    /// Since when it works; absent while it waits for people, a slot, a lock or its next attempt.
    pub working: Option<Time>,
    /// Work of this generation before that, in milliseconds.
    pub worked_ms: u64,
}

impl WorkSpan {
    pub(super) fn work(&mut self, at: Time) {
        self.working.get_or_insert(at);
    }

    /// It works no more.
    pub(super) fn rest(&mut self, at: Time) {
        if let Some(since) = self.working.take() {
            self.worked_ms += at.since(since);
        }
    }
}

/// A value that is written is there, null too.
pub(super) fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// A result that an earlier run made of the same work, and how it came about there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CachedResult {
    /// The run that made it, and its node there.
    pub run: RunId,
    pub node: NodeId,
    pub made: Time,
    /// What it took then: so much is saved.
    pub spent: Spent,
    /// The model that made it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether private data went into it.
    pub private: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileAccess>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<DataSource>,
}
