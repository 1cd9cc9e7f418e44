//! What dagdeck and its workers say to each other.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tools::builtin::query_data::database::QueryJob;

/// First argument of a worker that does a job.
pub(super) const JOB: &str = "__sandbox-job";
/// First argument of a worker that runs a command.
pub(super) const EXEC: &str = "__sandbox-exec";

/// First argument of a worker that tries what this computer lets it do, and what it says where it can protect mounts.
pub(super) const PROBE: &str = "__sandbox-probe";
pub(super) const MOUNTS: &str = "dagdeck: mounts";

/// First argument of a process that becomes a program which can start no other one.
pub(super) const ALONE: &str = "__sandbox-alone";
/// Longest time of a query with the reading of its tables, in milliseconds.
pub(super) const QUERY_TIME_MS: u64 = 20_000;

/// What a worker is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum SandboxJob {
    /// Run a function body with the results of dependencies by id.
    Javascript { code: String, deps: Value, inputs: Value, memory_mb: u64, time_ms: u64 },
    /// Answer a query over tables.
    Query(QueryJob),
    /// Turn a page into text.
    Html { html: String },
}

/// What a worker answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum SandboxAnswer {
    /// What it returned.
    Value { value: Value, logs: Vec<String> },
    /// The time was up.
    Time { logs: Vec<String> },
    /// It threw at this line, or can't be understood.
    Failed { message: String, line: Option<u32>, logs: Vec<String> },
}

impl SandboxAnswer {
    pub(super) fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), line: None, logs: Vec::new() }
    }
}
