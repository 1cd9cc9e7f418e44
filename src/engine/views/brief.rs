//! `RunBrief`: what a planner is told of a run whose plan is to be made anew: what has ended and how, what is under way, and why.

use crate::engine::{
    HeldAt, NodeRun, Spent, StateGroup,
    flow::PhasePart,
    graph::NodeIx,
    inner_run::{InnerRun, InnerRunIx},
    run::RunState,
    state::EndKind,
};
use crate::plan::{NodeId, Plan};
use serde_json::Value;
use std::sync::Arc;

/// What a planner is told of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunBrief {
    pub plan: Plan,
    /// In the order of the plan.
    pub nodes: Vec<NodeBrief>,
    /// Why a new plan is wanted, in a sentence.
    pub why: String,
    /// What people said that the planner is to hear.
    pub guidance: Vec<String>,
    /// What the run has taken so far.
    pub spent: Spent,
}

/// One node of it.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeBrief {
    pub id: NodeId,
    /// The word of its state.
    pub state: &'static str,
    /// Whether it has ended well or is under way, so that no new plan may change it.
    pub stays: bool,
    /// Whether it has begun, so that it stays in the plan.
    pub has_begun: bool,
    pub result: Option<Arc<Value>>,
    pub error: Option<String>,
    /// Whether its result may hold private data.
    pub is_private: bool,
}

impl RunBrief {
    /// Whether the planner reads private results.
    pub fn is_private(&self) -> bool {
        self.nodes.iter().any(|node| node.is_private && (node.result.is_some() || node.error.is_some()))
    }
}

impl RunState {
    /// What a planner is told for the new plan that is being made.
    pub fn brief(&self) -> Option<RunBrief> {
        let replan = self.replan()?;
        let own = || self.inner(InnerRunIx(0)).into_iter().flat_map(InnerRun::nodes);
        let mut spent = self.settings().map(crate::engine::RunSettings::planning_spent).unwrap_or_default();
        self.all_nodes().for_each(|ix| spent.add(self.nodes[ix].spent()));
        let nobody = NodeId::new("");
        Some(RunBrief {
            plan: self.plan()?.clone(),
            nodes: own().map(|ix| self.node_brief(ix)).collect(),
            why: replan.trigger.reason(replan.node.as_ref().unwrap_or(&nobody), replan.by.as_ref()),
            guidance: replan.guidance.clone(),
            spent,
        })
    }

    fn node_brief(&self, ix: NodeIx) -> NodeBrief {
        let node: &NodeRun = &self.nodes[ix];
        let kept = self.flows[ix].gates.end.as_deref();
        let (result, has_failed) = match kept {
            Some(HeldAt::Result { result, .. }) => (Some(Arc::new(result.clone())), false),
            Some(HeldAt::Failure { .. }) => (None, true),
            Some(HeldAt::Start) | None => (node.result.clone().filter(|_| node.state.end() == EndKind::Gives), false),
        };
        let stays = match node.state.group() {
            StateGroup::Done | StateGroup::Working | StateGroup::Resting => true,
            StateGroup::Failed => node.state.end() == EndKind::Gives,
            StateGroup::NotRun => false,
            StateGroup::Waiting | StateGroup::Ahead => {
                self.has_started(ix) && self.flows[ix].phase.part() != PhasePart::InLine && !has_failed
            }
        };
        let state = match kept {
            Some(HeldAt::Result { .. }) => "succeeded",
            Some(HeldAt::Failure { .. }) => "failed",
            Some(HeldAt::Start) | None => node.state.word(),
        };
        NodeBrief {
            id: self.id_of(ix),
            state,
            stays,
            has_begun: self.has_started(ix),
            result,
            error: node.error.as_ref().map(|error| error.message.clone()),
            is_private: self.is_private(ix) || !self.is_over(ix) && self.is_reached(ix),
        }
    }
}
