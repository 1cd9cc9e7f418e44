//! `Comparison`: two runs side by side, node by node: what became of each, what it gave, and what it took. What differs in their plans is
//! told by `plan::diff`.

use crate::engine::{Mark, NodeRun, RunSettings, Spent, Time, run::RunState};
use crate::plan::NodeId;
use serde::Serialize;
use serde_json::Value;
use std::{collections::BTreeSet, sync::Arc};

/// Two runs, node by node.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// The nodes of the first run in its order, then those that only the second has.
    pub nodes: Vec<NodeComparison>,
    /// What the first run took.
    pub left: Totals,
    /// What the second run took.
    pub right: Totals,
}

/// One node in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeComparison {
    pub node: NodeId,
    pub change: ResultChange,
    /// In the first run.
    pub left: Option<Side>,
    /// In the second run.
    pub right: Option<Side>,
}

/// What changed from the first run to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultChange {
    /// Nothing that counts: state and result are equal, whatever they took.
    Same,
    Result,
    State,
    /// Only the first run has it.
    Removed,
    /// Only the second run has it.
    Added,
}

/// A node in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// Its state in one word.
    pub state: &'static str,
    pub result: Option<Arc<Value>>,
    /// Message of its error.
    pub error: Option<String>,
    /// `rehearsal`, `overridden`, … when the result is not a plain one.
    pub mark: Option<Mark>,
    /// Attempts in its generation.
    pub attempts: u32,
    #[serde(flatten)]
    pub took: Totals,
}

/// What a node or a run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Of all model calls.
    pub tokens: u64,
    /// US dollars, as far as prices are known.
    pub cost_usd: f64,
    /// Whether tokens were counted here, because a provider didn't report them.
    pub estimated: bool,
    /// Whether the price of a call is unknown, so that the dollars are not all.
    pub unpriced: bool,
    /// Of a run that is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// Of a node or run that is over.
    #[serde(rename = "time_ms")]
    pub work_ms: Option<u64>,
}

impl From<Spent> for Totals {
    fn from(spent: Spent) -> Self {
        Self {
            tokens: spent.tokens.total(),
            cost_usd: spent.cost_usd,
            estimated: spent.estimated,
            unpriced: spent.unpriced,
            ..Self::default()
        }
    }
}

impl Comparison {
    /// Compares two runs: what became of `left`, and what of `right`.
    pub fn new(left: &RunState, right: &RunState) -> Self {
        let known: BTreeSet<&NodeId> = left.nodes().map(|(id, _)| id).collect();
        let ours = left.nodes_in_order().into_iter().map(|(id, node)| versus(id, Some(node), right.node(id)));
        let theirs =
            right.nodes_in_order().into_iter().filter(|(id, _)| !known.contains(id)).map(|(id, node)| versus(id, None, Some(node)));
        Self { nodes: ours.chain(theirs).collect(), left: totals(left), right: totals(right) }
    }

    /// The nodes that are not the same in both.
    pub fn changed(&self) -> impl Iterator<Item = &NodeComparison> {
        self.nodes.iter().filter(|versus| versus.change != ResultChange::Same)
    }
}

fn versus(id: &NodeId, left: Option<&NodeRun>, right: Option<&NodeRun>) -> NodeComparison {
    let change = match (left, right) {
        (Some(left), Some(right)) if left.state.word() != right.state.word() => ResultChange::State,
        (Some(left), Some(right)) if left.result != right.result || left.mark != right.mark => ResultChange::Result,
        (Some(_), Some(_)) => ResultChange::Same,
        (Some(_), None) => ResultChange::Removed,
        (None, _) => ResultChange::Added,
    };
    NodeComparison { node: id.clone(), change, left: left.map(side), right: right.map(side) }
}

fn side(node: &NodeRun) -> Side {
    Side {
        state: node.state.word(),
        result: node.result.clone(),
        error: node.error.as_ref().map(|error| error.message.clone()),
        mark: node.mark.clone(),
        attempts: node.attempt,
        took: Totals { work_ms: node.work_ms(), ..node.lineage.spent.into() },
    }
}

impl RunState {
    /// What planning and all nodes took.
    pub fn spent(&self) -> Spent {
        let planning = self.settings().map(RunSettings::planning_spent).unwrap_or_default();
        self.nodes().fold(planning, |mut all, (_, node)| {
            all.add(node.spent());
            all
        })
    }
}

fn totals(run: &RunState) -> Totals {
    let over = run.outcome().is_some();
    Totals { elapsed_ms: over.then(|| run.elapsed_ms(Time::default())), work_ms: over.then(|| run.work_ms()), ..run.spent().into() }
}
