//! The sandbox: code that nobody vouches for runs in a worker process of dagdeck's own binary, with limits that the worker sets on
//! itself before it reads a line of that code.

use std::path::PathBuf;

/// Where the worker process comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxConfig {
    /// The binary; absent: the one that runs now.
    pub program: Option<PathBuf>,
}
