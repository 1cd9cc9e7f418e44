//! `Estimate`: what a plan, and each of its nodes, will take. Plain data.

use super::{Forecast, Measure};
use crate::plan::NodeId;
use serde::{Deserialize, Serialize};

/// What a plan will take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub whole: Forecast,
    /// In the order of the plan, those inside others by their addresses. What takes nothing is left out.
    pub nodes: Vec<NodeEstimate>,
    /// The nodes that make the run as long as it is; by their number alone where their times are not known.
    pub critical_path: Vec<NodeId>,
    /// The most nodes that work at once.
    pub widest: usize,
    /// Nodes that ask a person first, or afterwards.
    pub gates: Vec<NodeId>,
    /// Caps that the worst case breaks.
    pub broken_caps: Vec<BrokenCap>,
    /// Whether conditions or decisions say which nodes run.
    pub has_branches: bool,
}

/// What one node will take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeEstimate {
    pub node: NodeId,
    pub basis: EstimateBasis,
    /// How many past cases it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cases: Option<usize>,
    /// Of an agent: tokens of its first prompt, as far as that can be told before; more come with results and tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    #[serde(flatten)]
    pub takes: Forecast,
}

/// What an estimate of a node is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum EstimateBasis {
    /// Past cases of this worker, with this model.
    History,
    /// Past cases of this agent with other models.
    OtherModels,
    /// Its counted prompt and its limits.
    Limits,
    /// Nothing is known.
    Unknown,
}

/// A cap that the worst case breaks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrokenCap {
    /// Absent: the cap of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    pub measure: Measure,
    pub cap: f64,
    pub worst: f64,
}

impl Estimate {
    pub fn node(&self, id: &str) -> Option<&NodeEstimate> {
        self.nodes.iter().find(|node| &*node.node == id)
    }
}
