//! `Plan` and `Edge`: the document that people edit and the engine runs.

use super::{Node, NodeId, Policy};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A plan: a goal and a DAG of nodes. Its serialised form is the native one (`super::native`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// What the plan is for, in a person's words.
    pub goal: String,
    /// Values known at the start.
    pub inputs: Map<String, Value>,
    /// In document order.
    pub nodes: Vec<Node>,
    /// Edges that carry more than a plain dependency; see also `Node::depends_on`.
    pub edges: Vec<Edge>,
    /// Caps of the whole run.
    pub budget: Budget,
    /// Policy for nodes that don't say otherwise.
    pub defaults: Policy,
    /// Free data of the author.
    pub metadata: Map<String, Value>,
    /// Fields of the document that this version doesn't know, kept for writing back.
    pub ext: Map<String, Value>,
}

/// An edge from one node to another. Its serialised form is the native one (`super::native`).
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// Source.
    pub from: NodeId,
    /// Target.
    pub to: NodeId,
    /// Condition; on an edge that leaves a decision, a literal label.
    pub when: Option<String>,
    /// Keys of the source's result that pass; absent: all.
    pub context: Option<Vec<String>>,
    /// Taken when a decision's answer matches no edge.
    pub default: bool,
    /// The document's own name for it.
    pub id: Option<String>,
    /// Words for people.
    pub label: Option<String>,
    /// Fields that this version doesn't know, kept for writing back.
    pub ext: Map<String, Value>,
}

impl Edge {
    /// An edge without a condition.
    pub fn new(from: impl Into<NodeId>, to: impl Into<NodeId>) -> Self {
        Self { from: from.into(), to: to.into(), when: None, context: None, default: false, id: None, label: None, ext: Map::new() }
    }
}

/// Caps; absent means the default or none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Prompt and answer tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Money in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Working seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Model calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_calls: Option<u64>,
}
