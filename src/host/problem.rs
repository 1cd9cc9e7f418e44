//! What errors of the rooms below are to a client: a message, and a hint.

use super::{client::Problem, config::ConfigError};
use crate::agents::CardError;
use crate::models::ModelError;
use crate::plan::dialect::ReadError;
use crate::store::StoreError;
use crate::tools::{PermissionError, ToolError, sandbox::SandboxError};

macro_rules! problems {
    ($($error:ty: |$name:ident| $hint:expr;)*) => {
        $(impl From<$error> for Problem {
            fn from($name: $error) -> Self {
                Self { message: $name.to_string(), hint: $hint }
            }
        })*
    };
}

problems! {
    StoreError: |error| error.hint().map(Into::into);
    ModelError: |error| error.hint;
    ToolError: |error| error.hint;
    &CardError: |error| error.hint.clone();
    SandboxError: |error| error.hint();
    ConfigError: |error| Some(error.hint);
    PermissionError: |error| Some("fix the list in config.toml".to_owned());
    ReadError: |error| None;
}
