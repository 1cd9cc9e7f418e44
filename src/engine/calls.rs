//! Calls of a running node before they happen: model calls and tool calls that a breakpoint or a person who steps through it holds, and
//! the words that wait for its next turn. The part of `evolve` about them; what they call for is in `decide/calls.rs`.

use super::{
    NodeState, Time,
    flow::{Part, Pending, Phase, Wait},
    graph::NodeIx,
    run::Run,
};
use crate::plan::{NodeId, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a node is about to call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "next")]
pub enum NextCall {
    /// A model.
    Model {
        /// Its name.
        model: String,
    },
    /// A tool.
    Tool {
        /// Its name.
        tool: String,
        /// Exact arguments.
        args: Value,
        /// What configuration and the arguments say of it, for when it is let go.
        verdict: Verdict,
        /// Why it asks, in words.
        why: String,
    },
}

/// A call that is held before it happens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldCall {
    /// Names it within the node's generation.
    pub call: String,
    /// What would be called.
    pub next: NextCall,
    /// Why it is held, in words.
    pub reason: String,
}

/// How people drive one node at work.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Drive {
    /// Each of its calls is held.
    pub into: bool,
    /// Who wants it to hand back what it has.
    pub stopped_by: Option<String>,
    /// It was told so.
    pub on_last_turn: bool,
}

impl NextCall {
    /// In words: `the model `gpt-5``, ``read_file``.
    pub fn words(&self) -> String {
        match self {
            Self::Model { model } => format!("the model `{model}`"),
            Self::Tool { tool, .. } => format!("`{tool}`"),
        }
    }
}

impl Run {
    /// Calls of a node that are held before they happen, oldest first.
    pub fn held_calls(&self, node: &NodeId) -> impl Iterator<Item = &HeldCall> {
        let worker = self.graph.find(node).and_then(|ix| self.flows[ix.at()].worker.as_ref());
        worker.into_iter().flat_map(|worker| &worker.pending).filter(|pending| !pending.decided).filter_map(Pending::held)
    }

    /// Whether each call of a node is held before it happens.
    pub fn is_stepped_into(&self, node: &NodeId) -> bool {
        self.graph.find(node).is_some_and(|ix| self.flows[ix.at()].drive.into)
    }

    /// Whether somebody asked a node to hand back what it has, and it is still at that.
    pub fn is_stopping(&self, node: &NodeId) -> bool {
        self.graph.find(node).is_some_and(|ix| self.is_wrapping_up(ix))
    }

    /// Words for a node that its agent has not been told.
    pub fn undelivered(&self, node: &NodeId) -> &[String] {
        self.graph.find(node).map_or(&[], |ix| self.untold(ix))
    }

    pub(super) fn is_wrapping_up(&self, ix: NodeIx) -> bool {
        let flow = &self.flows[ix.at()];
        flow.drive.stopped_by.is_some() && flow.phase != Phase::Ended
    }

    /// What an agent at work was not told yet; of one that has not started, everything.
    pub(super) fn untold(&self, ix: NodeIx) -> &[String] {
        let flow = &self.flows[ix.at()];
        let told = flow.worker.as_ref().map_or(0, |worker| worker.told);
        flow.guidance.get(told..).unwrap_or_default()
    }

    /// Whether a call of the node is held.
    pub(super) fn holds_call(&self, ix: NodeIx) -> bool {
        let worker = self.flows[ix.at()].worker.as_ref();
        worker.is_some_and(|worker| worker.pending.iter().any(|pending| !pending.decided && pending.held().is_some()))
    }

    /// A call waits until somebody lets it go; the clock and the slot of its worker rest as at a gate.
    pub(super) fn call_held(&mut self, ix: NodeIx, held: &HeldCall, at: Time) {
        let Some(worker) = &mut self.flows[ix.at()].worker else { return };
        worker.holds += 1;
        let (number, inner) = (worker.holds, worker.calls > 0);
        let wait = Wait::Hold { number, inner, held: Box::new(held.clone()) };
        worker.pending.push(Pending { wait, call: held.call.clone(), decided: false });
        self.queue.held_calls += 1;
        self.rest_slot(ix, at);
        self.show_worker(ix);
    }

    /// Lets held calls of a node go: the oldest, or all.
    pub(super) fn free_calls(&mut self, ix: NodeIx, most: usize) {
        let Some(worker) = &self.flows[ix.at()].worker else { return };
        let held = worker.pending.iter().filter(|pending| !pending.decided && pending.held().is_some());
        let calls: Vec<String> = held.take(most).map(|pending| pending.call.clone()).collect();
        for call in calls {
            self.pending_decided(ix, |pending| pending.call == call && pending.held().is_some(), false);
        }
    }

    /// The worker is told that its model call may go.
    pub(super) fn model_started(&mut self, ix: NodeIx, call: &str, last_turn: bool, told: usize, at: Time) {
        self.take_slot(ix, at);
        if let Some(worker) = &mut self.flows[ix.at()].worker {
            worker.told += told;
        }
        self.flows[ix.at()].drive.on_last_turn |= last_turn;
        self.deliver(ix, call);
    }

    /// Steps into a node: what keeps its start goes on, and each of its calls is held.
    pub(super) fn step_into(&mut self, ix: NodeIx) {
        self.flows[ix.at()].drive.into = true;
        if self.flows[ix.at()].phase == Phase::Kept {
            self.let_go(ix);
        }
        self.allow_start(ix);
    }

    /// A node is to hand back what it has. What it waits for is refused; of one with a plan inside nothing more begins.
    pub(super) fn wind_up(&mut self, ix: NodeIx, who: &str) {
        self.flows[ix.at()].drive.stopped_by = Some(who.to_string());
        match self.flows[ix.at()].phase.part() {
            Part::Inside => {
                self.await_bodies(ix);
                self.nodes[ix.at()].reason = self.at_work_reason(ix);
            }
            Part::Ahead
            | Part::InLine
            | Part::AtGate(_)
            | Part::Answered
            | Part::Kept
            | Part::AtWork
            | Part::Resting
            | Part::Lost
            | Part::Over => {
                self.pending_decided(ix, |pending| !pending.decided, false);
                self.show_worker(ix);
            }
        }
    }

    /// Why a node at work is as it is.
    pub(super) fn at_work_reason(&self, ix: NodeIx) -> String {
        let stopped = self.flows[ix.at()].drive.stopped_by.as_ref();
        stopped.map_or(String::new(), |who| format!("stopped by {who}; it hands back what it has"))
    }

    /// State and reason of a node whose worker is there.
    pub(super) fn show_worker(&mut self, ix: NodeIx) {
        let Some(worker) = &self.flows[ix.at()].worker else { return };
        let open = || worker.pending.iter().filter(|pending| !pending.decided);
        let working = worker.since.is_some();
        let gate = open().find_map(|pending| pending.gate());
        let held = open().find_map(|pending| pending.held());
        let (state, reason) = match (gate, held) {
            (Some(gate), _) => (NodeState::Waiting { gate }, self.gate_run(gate).map(|run| run.gate.why.clone()).unwrap_or_default()),
            (None, Some(held)) => (NodeState::Held, format!("about to call {}: {}", held.next.words(), held.reason)),
            (None, None) if working => (NodeState::Running, self.at_work_reason(ix)),
            (None, None) => (NodeState::Held, "answered; waits for a slot to go on".to_string()),
        };
        self.show(ix, state, reason);
    }
}
