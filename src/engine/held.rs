//! `NextCall` and `HeldCall`: a call of a node at work before it happens, as plain data.

use super::{CallNeed, Cause, Outgoing, cause::sentence};
use crate::plan::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a node is about to call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "next")]
pub enum NextCall {
    /// To a model.
    Model { model: String },
    /// To a tool, with what was judged of it.
    Tool {
        tool: String,
        args: Value,
        /// What configuration and the arguments say of it, for when it is released.
        verdict: Verdict,
        why: String,
        /// What it would send out, if it reaches a place that nobody has allowed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        leaves: Option<Box<Outgoing>>,
    },
}

/// A call that is held before it happens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldCall {
    /// Names it within the node's generation.
    pub call: String,
    /// What would be called.
    pub next: NextCall,
    /// Why it is held.
    #[serde(with = "sentence")]
    pub reason: Cause,
    /// What a model call takes at most, for when it is released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<CallNeed>,
}

impl NextCall {
    /// Label: `the model `gpt-5``, ``read_file``.
    pub fn label(&self) -> String {
        match self {
            Self::Model { model } => format!("the model `{model}`"),
            Self::Tool { tool, .. } => format!("`{tool}`"),
        }
    }
}
