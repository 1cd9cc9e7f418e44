//! `InnerRun`: one plan of a run: its own, or the body of a composite node, as often as that runs. Nodes of a body are in the run like all
//! others, under ids such as `outer/inner` and `map[3]/inner`; their references see their own inner run and nothing else.

use super::graph::NodeIx;
use crate::plan::{Dialect, Plan};
use serde_json::{Map, Value};
use std::sync::Arc;

/// An inner run's place in `Run::inner_runs`; the run's own plan is the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InnerRunIx(pub u32);

/// The most entries that a map may have.
pub(super) const MOST_ITEMS: usize = 10_000;

/// The most nodes that may run inside others in one run; the run's own plan doesn't count.
pub(super) const MOST_NODES: usize = 100_000;

/// What names read that are no nodes: layers, of which the innermost that has a name counts. Outer layers are shared by all that are
/// inside them, so that a body costs what its own turn gives.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Inputs {
    own: Map<String, Value>,
    around: Option<Arc<Inputs>>,
}

impl Inputs {
    pub fn new(own: Map<String, Value>, around: Option<Arc<Self>>) -> Arc<Self> {
        Arc::new(Self { own, around })
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.own.get(name).or_else(|| self.around.as_ref()?.get(name))
    }

    /// All layers as one.
    pub fn all(&self) -> Map<String, Value> {
        let around = self.around.as_ref().map(|around| around.all()).unwrap_or_default();
        around.into_iter().chain(self.own.clone()).collect()
    }

    pub fn extend(&mut self, given: Map<String, Value>) {
        self.own.extend(given);
    }
}

/// One plan that is run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct InnerRun {
    pub plan: Arc<Plan>,
    /// The composite node that it is a body of.
    pub owner: Option<NodeIx>,
    /// What comes before the ids of its nodes: `map[3]/`; empty for the run's own plan.
    pub prefix: String,
    /// Its nodes, in plan order.
    pub slots: Vec<NodeIx>,
    /// What it began with of that which names read that are no nodes.
    pub base: Arc<Inputs>,
    /// What names read that are no nodes. In a workflow it is the context: results are merged into it.
    pub inputs: Arc<Inputs>,
    /// Nodes that are not over.
    pub unfinished: u32,
    /// Nodes of a walk that have a result, in the order in which those came.
    pub walked: Vec<NodeIx>,
}

impl InnerRun {
    /// The nodes of the inner run.
    pub fn nodes(&self) -> impl Iterator<Item = NodeIx> + '_ {
        self.slots.iter().copied()
    }

    /// Where the one token of a walk starts; `None` where every node without incoming edges does.
    pub fn entry(&self) -> Option<NodeIx> {
        let first = *self.slots.first()?;
        let marked = || self.nodes().zip(&self.plan.nodes).find(|(_, node)| node.entry).map(|(ix, _)| ix);
        match self.plan.dialect {
            Dialect::Native | Dialect::Orchestration | Dialect::Tools | Dialect::Hybrid => None,
            Dialect::Stages if self.plan.edges.is_empty() => Some(first),
            Dialect::Workflow | Dialect::Stages => marked().or(Some(first)),
        }
    }
}

/// How often the body of a composite node runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Times {
    Once,
    /// Until its condition holds, at most so often.
    Until(u32),
    Each(Vec<Value>),
}

/// A composite node at work.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bodies {
    pub body: Arc<Plan>,
    /// What every body gets: the inputs around the node, the body's own defaults, and what the node gives.
    pub inputs: Arc<Inputs>,
    pub times: Times,
    /// Those that began, in order.
    pub inner_runs: Vec<InnerRunIx>,
    /// Those that have not ended.
    pub open: u32,
    /// How many may be open at once.
    pub most: u32,
}

impl Bodies {
    /// How many there will be at most.
    pub fn all(&self) -> usize {
        match &self.times {
            Times::Once => 1,
            Times::Until(most) => *most as usize,
            Times::Each(items) => items.len(),
        }
    }

    /// Whether the next body may begin without any condition being asked.
    pub fn may_begin(&self) -> bool {
        let room = self.open < self.most && self.inner_runs.len() < self.all();
        match self.times {
            Times::Once | Times::Each(_) => room,
            Times::Until(_) => room && self.inner_runs.is_empty(),
        }
    }

    /// Whether the node must decide something now: a body may begin, or all are over.
    pub fn calls(&self) -> bool {
        self.open == 0 || self.may_begin()
    }

    /// The number in the id of the next body: maps count from 0, loops from 1.
    pub fn next_index(&self) -> Option<u32> {
        let begun = u32::try_from(self.inner_runs.len()).unwrap_or(u32::MAX);
        match self.times {
            Times::Once => None,
            Times::Until(_) => Some(begun + 1),
            Times::Each(_) => Some(begun),
        }
    }
}
