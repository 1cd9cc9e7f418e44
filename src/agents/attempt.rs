//! One attempt of an agent node: its limits, how it ends, and what its model calls go by.

use serde_json::Value;
use std::time::Duration;

use super::Card;
use crate::engine::{AgentJob, Done, ErrorKind, NodeError};
use crate::plan::limits::{LIMITED_CONTEXT_PERCENT, MOST_ITERATIONS, UNKNOWN_WINDOW};

/// Limits that hold for one attempt. Its time is the engine's to keep: it knows what is work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AttemptLimits {
    pub iterations: u32,
    /// Prompt and answer tokens together, where somebody wrote a limit. Without one, only what the model writes is counted.
    pub tokens: Option<u64>,
    /// Tokens that the model may write where nobody did.
    pub written: u64,
    /// Tokens that the model takes in.
    pub window: u64,
}

impl AttemptLimits {
    /// The node's limits, else the card's, else the default ones. A job says 0 for what its node leaves open.
    pub fn new(job: &AgentJob, card: &Card, window: Option<u64>) -> Self {
        let iterations = if job.max_iterations > 0 { Some(job.max_iterations) } else { card.limits.max_iterations };
        let tokens = if job.max_tokens > 0 { Some(job.max_tokens) } else { card.limits.max_tokens };
        Self {
            iterations: iterations.unwrap_or(job.otherwise.iterations).clamp(1, MOST_ITERATIONS),
            tokens,
            written: job.otherwise.tokens,
            window: window.unwrap_or(UNKNOWN_WINDOW),
        }
    }

    /// Tokens that a prompt and its answer have to fit into.
    pub fn space(&self) -> u64 {
        self.tokens.map_or(self.window, |limit| limit.min(self.window))
    }

    /// Tokens of earlier results where so many have room, fewer under a limit that somebody wrote.
    pub fn context(&self, room: u64) -> u64 {
        self.tokens.map_or(room, |limit| room.min(limit.saturating_mul(LIMITED_CONTEXT_PERCENT) / 100))
    }

    /// The limit that holds, whichever tokens it counts.
    pub fn limit(&self) -> u64 {
        self.tokens.unwrap_or(self.written)
    }
}

/// How an attempt ended, unless it simply failed.
#[derive(Clone, Debug, PartialEq)]
pub enum AttemptEnd {
    /// It has its result.
    Done(Done),
    /// At a limit that fails the node, with what the agent handed back.
    Limit { error: NodeError, handed_back: Value },
}

/// A name for a call that no other attempt of the node has used.
pub(super) fn call_id() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

pub(super) fn limit(message: impl Into<String>, hint: &str) -> NodeError {
    NodeError { kind: ErrorKind::Limit, ..NodeError::permanent(message) }.hint(hint)
}
