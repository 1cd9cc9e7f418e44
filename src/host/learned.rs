//! What a client asks of past runs, and what it is told. Plain data.

use crate::engine::{Calibration, Estimate, Stats, Suggestion};
use crate::plan::Plan;
use serde::{Deserialize, Serialize};

/// What is asked of past runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LearnWish {
    /// What a plan will take; answered with the same number.
    Estimate { number: u64, plan: Box<Plan> },
    /// How agents and models did, and what that suggests.
    Stats,
    /// Take a suggestion, dismiss it, or undo that; answered by what happened.
    Suggestion { id: String, turn: SuggestionTurn },
}

/// What past runs teach.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LearnedNews {
    Estimate {
        number: u64,
        report: Box<EstimateReport>,
    },
    Stats(StatsReport),
    /// What happened to a suggestion, in words, and how all are now.
    Turned(String, StatsReport),
}

/// How agents and models did, and how good estimates were.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatsReport {
    pub stats: Stats,
    pub record: Calibration,
    pub suggestions: Vec<SuggestionEntry>,
}

/// What a plan will take, and how good earlier estimates were.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EstimateReport {
    pub estimate: Estimate,
    pub record: Calibration,
}

/// A suggestion, and what a person did with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuggestionEntry {
    #[serde(flatten)]
    pub suggestion: Suggestion,
    pub state: SuggestionState,
    /// The file that taking it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// What a person did with a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum SuggestionState {
    /// Nothing yet.
    Open,
    Taken,
    Dismissed,
}

/// What a person wants done with a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SuggestionTurn {
    Take,
    Dismiss,
    Undo,
}
