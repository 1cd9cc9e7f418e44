//! `Plan` and `Edge`: the document that people edit and the engine runs.

use super::{Node, NodeId, NodeKind, Policy};
use crate::text::Plain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

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
    /// By whose rules it is read.
    pub dialect: Dialect,
    /// Free data of the author.
    pub metadata: Map<String, Value>,
    /// Fields of the document that this version doesn't know, kept for writing back.
    pub ext: Map<String, Value>,
    /// The text that it was read from.
    pub source: PlanSource,
}

impl Plan {
    /// What it is for, in one line for people: its goal, else what other formats call its title, name or description. Empty where nobody
    /// wrote one.
    pub fn headline(&self) -> Plain {
        let written = ["title", "name", "description"].into_iter().filter_map(|field| self.ext.get(field)?.as_str());
        let mut lines = [self.goal.as_str()].into_iter().chain(written).map(Plain::summary);
        lines.find(|line| !line.is_empty()).unwrap_or_default()
    }
}

/// The text of a document, so that what nobody changed is written as it was. It is no part of what a plan says: plans are equal whatever
/// they were read from.
#[derive(Clone, Debug, Default)]
pub struct PlanSource(Option<Arc<SourceDocument>>);

/// A document as it was read.
#[derive(Debug)]
pub(super) struct SourceDocument {
    pub text: String,
    /// The name of the text; a file's ending tells its syntax.
    pub origin: String,
    pub shape: Dialect,
}

impl PlanSource {
    pub(super) fn new(document: SourceDocument) -> Self {
        Self(Some(Arc::new(document)))
    }

    pub(super) fn as_ref(&self) -> Option<&SourceDocument> {
        self.0.as_deref()
    }
}

impl PartialEq for PlanSource {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// By whose rules a plan is read: which shape it came in, how tokens walk, which findings it can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(strum::EnumIter))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Dialect {
    /// dagdeck's own.
    #[default]
    Native,
    /// `{nodes: [{id, agent, objective, depends_on}], metadata}`.
    Orchestration,
    /// `{dag: [{id, tool, query, dependencies}]}`.
    Tools,
    /// `{tasks: […]}`: tool calls, code and delegated agents.
    Hybrid,
    /// `{nodes, connections}`: one token walks, the first connection whose condition holds.
    Workflow,
    /// `{stages, edges}`: one token walks from stage to stage.
    Stages,
}

impl Dialect {
    /// Every dialect, in the order of help.
    pub const ALL: [Self; 6] = [Self::Native, Self::Orchestration, Self::Tools, Self::Hybrid, Self::Workflow, Self::Stages];

    /// Its name on the command line and in the native form.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether a document of it can hold such a node.
    pub fn holds(self, kind: &NodeKind) -> bool {
        match self {
            Self::Native => true,
            Self::Orchestration | Self::Workflow => matches!(kind, NodeKind::Agent(_)),
            Self::Tools => matches!(kind, NodeKind::Tool(_)),
            Self::Hybrid => matches!(kind, NodeKind::Agent(_) | NodeKind::Tool(_) | NodeKind::Code(_)),
            Self::Stages => {
                matches!(kind, NodeKind::Agent(_) | NodeKind::Tool(_) | NodeKind::Decision(_) | NodeKind::Merge(_) | NodeKind::Transform(_))
            }
        }
    }

    /// Whether one token walks the plan, from its entry along one edge at a time.
    pub fn walks(self) -> bool {
        match self {
            Self::Workflow | Self::Stages => true,
            Self::Native | Self::Orchestration | Self::Tools | Self::Hybrid => false,
        }
    }
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
    /// Whether it says nothing but that the one comes before the other.
    pub fn is_plain(&self) -> bool {
        *self == Self::new(self.from.clone(), self.to.clone())
    }

    /// An edge without a condition.
    pub fn new(from: impl Into<NodeId>, to: impl Into<NodeId>) -> Self {
        Self { from: from.into(), to: to.into(), when: None, context: None, default: false, id: None, label: None, ext: Map::new() }
    }
}

/// Caps; absent means the default or none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Tokens of prompts and answers together.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub tokens: Option<u64>,
    /// Money in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub usd: Option<f64>,
    /// Work time in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub seconds: Option<f64>,
    /// Model calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub model_calls: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::Dialect;
    use strum::IntoEnumIterator;

    #[test]
    fn every_dialect_is_listed() {
        assert_eq!(Dialect::iter().collect::<Vec<_>>(), Dialect::ALL);
    }
}
