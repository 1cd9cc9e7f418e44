//! `Record`: an event with its place in a run, and what a run is named, keeps from its start, and ends as.

use super::{Event, ModelCall, RunId, Spent, Time};
use crate::plan::{Catalog, limits::AgentLimits};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Slot of an edge within its run: those of the plan first (`Plan::edges` in order, then `depends_on` in node order), then those of bodies
/// and of edits as they came. Never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EdgeId(pub u32);

/// An event with its place in the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// From 1, without gaps.
    pub seq: u64,
    /// When it was decided.
    pub at: Time,
    /// The step that it belongs to goes on with the next event: the run is whole, and may be left or branched, only after the last one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    #[serde(flatten)]
    pub event: Event,
}

impl Record {
    /// The first place from `seq` on after which a run is whole: where the step of that event ends.
    pub fn whole(records: &[Self], seq: u64) -> u64 {
        let behind = records.partition_point(|record| record.seq < seq);
        records[behind..].iter().find(|record| !record.more).map_or(seq, |record| record.seq)
    }
}

/// How many calls the provider of a run's model works at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSlots {
    pub provider: String,
    pub slots: u32,
}

/// What a run keeps from its start to its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSettings {
    /// The agents and tools that the plan may use, as they were at the start.
    pub catalog: Catalog,
    /// Nodes that may work at once; 0 means the default of 16.
    pub slots: u32,
    /// Where its provider takes fewer calls at once than that: so many agents work at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_slots: Option<ModelSlots>,
    /// Model for agents that don't name one; absent: none is set up, and what needs one is rehearsed.
    pub model: Option<String>,
    /// What has a side effect is rehearsed too: nothing outside changes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rehearse: bool,
    /// Inputs that were read from files or stdin: what they hold is private.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub private_inputs: Vec<String>,
    /// Whether the request was read from a file or stdin, or goes on from private results: then all that was made of it is private.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub private_request: bool,
    /// The run whose results the request goes on from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<RunId>,
    /// What holds for agents whose plan and card say nothing.
    #[serde(skip_serializing_if = "AgentLimits::is_default")]
    pub agent_limits: AgentLimits,
    /// US dollars from which on it warns once of what it costs; 0: never.
    #[serde(skip_serializing_if = "is_nothing")]
    pub warn_usd: f64,
    /// The model calls that made the plan, where a model did: they count in this run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub planning: Vec<ModelCall>,
    /// What the host keeps with the run; the engine doesn't read it.
    pub host: Value,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands in a reference")]
fn is_nothing(usd: &f64) -> bool {
    *usd == 0.0
}

impl RunSettings {
    pub fn planning_spent(&self) -> Spent {
        self.planning.iter().fold(Spent::default(), |mut all, call| {
            all.add(Spent::of(call));
            all
        })
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every final node that was not routed away ended well.
    Succeeded,
    /// A final node ended well, and something failed, was cancelled, or needed a branch that was not taken.
    Partial,
    /// A final node was rehearsed, and nothing went wrong.
    Rehearsed,
    /// No final node ended well, and some ended badly.
    Failed,
    /// Somebody cancelled the run.
    Cancelled,
}

impl Outcome {
    pub const ALL: [Self; 5] = [Self::Succeeded, Self::Partial, Self::Rehearsed, Self::Failed, Self::Cancelled];

    /// In one word, as in JSON.
    pub fn word(self) -> &'static str {
        self.into()
    }
}
