//! Where servers come from, and what people are told of them.

use super::{named_files::NamedFiles, offers::McpOffers};
use serde::Serialize;
use std::path::PathBuf;

/// A file that names servers.
#[derive(Clone, Debug)]
pub struct McpSource {
    pub file: PathBuf,
    /// The same for people.
    pub label: String,
    pub text: String,
    pub trust: McpTrust,
}

/// Whether servers of a file may be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpTrust {
    /// The user's own.
    All,
    /// As long as the files that they name are these.
    Files(NamedFiles),
    No,
}

/// A server as it is now, for people.
#[derive(Clone, Debug, Serialize)]
pub struct McpStatus {
    pub name: String,
    pub state: String,
    /// How many it listed last.
    pub tools: Option<usize>,
    /// Its command line or address.
    pub label: String,
    pub origin: String,
    pub log: PathBuf,
    pub offers: McpOffers,
    pub problems: Vec<String>,
    /// Whether it may be started.
    #[serde(skip)]
    pub is_usable: bool,
    #[serde(skip)]
    pub is_fine: bool,
}
