//! `Mark`: why a result is not a plain one.

use super::NodeState;
use serde::{Deserialize, Serialize};

/// Why a result is not a plain one: who made it, or what cut it short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, strum::AsRefStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Mark {
    /// A person gave a result in a tool's place.
    Answered,
    /// A limit of the node ended the work early.
    BudgetExhausted,
    /// The model reached a limit of its own, or a filter, in the middle of its text.
    Cut,
    /// A person gave or changed the result.
    Overridden,
    /// Something inside a composite node went wrong, but not everything.
    Partial,
    /// No model made it.
    Rehearsal,
    /// The agent made the same call again and again.
    RepeatedCall,
    /// The model said the same words over and over, and its answer was cut off.
    RepeatedWords,
    /// A person asked the node to wrap up.
    Stopped,
    /// Of a journal that another version wrote.
    #[serde(untagged)]
    #[strum(transparent)]
    Other(String),
}

impl Mark {
    /// The mark as it is on the wire.
    pub fn as_str(&self) -> &str {
        self.as_ref()
    }

    /// Whether the result is only what was there when the work was cut short.
    pub fn is_early(&self) -> bool {
        match self {
            Self::BudgetExhausted | Self::Cut | Self::RepeatedCall | Self::RepeatedWords | Self::Stopped => true,
            Self::Answered | Self::Overridden | Self::Partial | Self::Rehearsal | Self::Other(_) => false,
        }
    }

    /// What a node is that ends with a result marked so.
    pub(super) fn state(mark: Option<&Self>) -> NodeState {
        if mark == Some(&Self::Rehearsal) { NodeState::Rehearsed } else { NodeState::Succeeded }
    }

    pub fn label(&self) -> String {
        self.as_str().replace('_', " ")
    }
}
