//! What errors of the rooms below are to a client: a message, and a hint.

use super::{client::Problem, config::ConfigError};
use crate::agents::CardError;
use crate::models::ModelError;
use crate::plan::dialect::ReadError;
use crate::store::StoreError;
use crate::tools::{PermissionError, ToolError, sandbox::SandboxError};

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self { message: error.to_string(), hint: error.hint().map(Into::into) }
    }
}

impl From<ModelError> for Problem {
    fn from(ModelError { message, hint, .. }: ModelError) -> Self {
        Self { message, hint }
    }
}

impl From<ToolError> for Problem {
    fn from(ToolError { message, hint, .. }: ToolError) -> Self {
        Self { message, hint }
    }
}

impl From<&CardError> for Problem {
    fn from(error: &CardError) -> Self {
        Self { message: error.to_string(), hint: error.hint.clone() }
    }
}

impl From<SandboxError> for Problem {
    fn from(error: SandboxError) -> Self {
        Self { message: error.to_string(), hint: error.hint() }
    }
}

impl From<ConfigError> for Problem {
    fn from(error: ConfigError) -> Self {
        Self::new(error.to_string()).hint(error.hint)
    }
}

impl From<PermissionError> for Problem {
    fn from(error: PermissionError) -> Self {
        Self::new(error.to_string()).hint("fix the list in config.toml")
    }
}

impl From<ReadError> for Problem {
    fn from(error: ReadError) -> Self {
        Self::new(error.to_string())
    }
}
