//! `CacheEntry`: a result with all that says whether it may be taken.

use crate::engine::{CachedResult, RunId, Time, ToolCall};
use crate::plan::NodeId;
use crate::store::row::unsigned;
use rusqlite::Row;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

/// One of the things that a result was made of, by a name for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyPart {
    pub name: String,
    pub hash: String,
}

/// A result that later runs may take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheEntry {
    /// The hash of all its parts.
    pub key: String,
    pub workspace: PathBuf,
    /// Who made it, for people: `agent writer`.
    pub worker: String,
    pub parts: Vec<KeyPart>,
    pub source: CachedResult,
    pub result: Value,
    /// The tool calls that it took.
    pub calls: Vec<ToolCall>,
    /// Files of the workspace that were read, with the hash of what was in them.
    pub files: Vec<(String, String)>,
    /// It depends on more than its parts and files: on the network, the clock, or what can't be compared.
    pub outside: bool,
}

/// What came of looking for the result of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CacheLook {
    pub run: RunId,
    pub node: NodeId,
    pub at: Time,
    pub hit: bool,
    /// For people.
    pub why: String,
}

/// A result in the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CacheRow {
    pub workspace: String,
    pub worker: String,
    pub run: RunId,
    pub node: NodeId,
    pub made: Time,
    pub used: Time,
    /// How often it was taken.
    pub uses: u64,
    pub bytes: u64,
}

impl CacheRow {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let figure = |at: usize| row.get::<_, i64>(at).map(unsigned);
        Ok(Self {
            workspace: row.get(0)?,
            worker: row.get(1)?,
            run: RunId(row.get(2)?),
            node: NodeId::new(row.get::<_, String>(3)?),
            made: Time(figure(4)?),
            used: Time(figure(5)?),
            uses: figure(6)?,
            bytes: figure(7)?,
        })
    }
}
