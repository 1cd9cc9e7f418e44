//! `McpError`: why a server, or a file that names some, can't be used.

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
