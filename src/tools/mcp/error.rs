//! `McpError`: why a server, or a file that names some, can't be used. `CallFault`: why a call of one gave no result.

use crate::tools::ToolError;

/// Why a server can't be used, without its name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct McpError {
    pub message: String,
    pub hint: Option<String>,
    pub(super) transient: bool,
}

impl McpError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, transient: false }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(super) fn transient(self) -> Self {
        Self { transient: true, ..self }
    }
}

impl From<McpError> for ToolError {
    fn from(error: McpError) -> Self {
        Self {
            transient: error.transient,
            hint: error.hint,
            ..ToolError::refused(format!("the MCP server can't be used: {}", error.message))
        }
    }
}

/// Why a call gave no result.
pub(super) enum CallFault {
    /// The server refused it before it did anything.
    Refused(String),
    Failed(String),
    /// The connection broke, or the server said nothing for too long.
    Lost(String),
}

impl CallFault {
    /// The same as an error of a tool.
    pub(super) fn of_tool(self, tool: &str) -> ToolError {
        let named = |message: String| format!("`{tool}`: {message}");
        match self {
            Self::Refused(message) => ToolError::refused(named(message)),
            Self::Failed(message) => ToolError::failed(named(message)),
            Self::Lost(message) => ToolError::failed(named(message)).transient(),
        }
    }
}
