//! The limits that hold where a plan, a card and the configuration say nothing, and the most that they may ask for. Each figure is here
//! and nowhere else; the schema, the findings, the prompts and the docs take it from here.

use serde::{Deserialize, Serialize};

/// Nodes of one run that work at once.
pub const SLOTS: u32 = 16;
/// Tokens that the model of an agent node writes; a limit that somebody wrote counts prompts too.
pub const AGENT_TOKENS: u64 = 10_000;
/// Work time of an agent node, without what it waits for.
pub const AGENT_SECONDS: f64 = 60.0;
/// US dollars from which on a run warns once of what it costs.
pub const WARN_USD: f64 = 1.0;
/// Turns of an agent.
pub const AGENT_ITERATIONS: u32 = 5;
/// The limits of an agent node where its plan and its card say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentLimits {
    /// Work time in seconds.
    pub timeout_s: f64,
    /// Tokens that the model writes.
    pub tokens: u64,
    /// Turns, 1 to 20.
    pub iterations: u32,
}

impl Default for AgentLimits {
    fn default() -> Self {
        Self { timeout_s: AGENT_SECONDS, tokens: AGENT_TOKENS, iterations: AGENT_ITERATIONS }
    }
}

impl AgentLimits {
    /// Whether they are the shipped ones.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Turns of a loop that a fix offers.
pub const LOOP_ITERATIONS: u32 = 5;
/// The most turns of an agent or a loop.
pub const MOST_ITERATIONS: u32 = 20;
/// The most attempts of a node.
pub const MOST_ATTEMPTS: u32 = 20;
/// Tokens that a model takes in of which nobody knows how many.
pub const UNKNOWN_WINDOW: u64 = 32_768;
/// The largest share that results of earlier steps take in an agent's prompt, of the model's window.
pub const CONTEXT_PERCENT: u64 = 40;
/// The same of a limit that somebody wrote: there a prompt counts a token a byte before it is sent, which is about four times as many.
pub const LIMITED_CONTEXT_PERCENT: u64 = 15;
/// The longest value in characters that is put into the text that refers to it; a longer one is below it.
pub const LONGEST_IN_PLACE: usize = 200;
/// The class that agents of hybrid plans ask for where they name no model.
pub const HYBRID_MODEL: &str = "haiku";
/// Memory of a script in MiB, and the most that it may ask for.
pub const SCRIPT_MEMORY_MB: (u64, u64) = (64, 1024);
/// Processor time of a script in milliseconds, and the most that it may ask for.
pub const SCRIPT_TIME_MS: (u64, u64) = (5_000, 600_000);
