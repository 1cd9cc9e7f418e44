//! Calls of a running node before they happen: model calls and tool calls that a breakpoint or a person who steps through it holds, and
//! the guidance that waits for its next turn. The part of `evolve` about them; what they call for is in `decide/calls.rs`.

use crate::engine::{
    Cause, GateKind, HeldCall, NextCall, NodeState, Time, ToolCall,
    flow::{Flow, ModelTries, Pending, Phase, PhasePart, Wait},
    graph::NodeIx,
    run::RunState,
};
use crate::plan::NodeId;
use std::collections::BTreeMap;

impl RunState {
    /// A yes was for the run where it was given: what has not ended is asked about again.
    pub(super) fn forget_approvals(&mut self) {
        self.forget_spending();
        self.gates.hosts.clear();
        for ix in self.all_nodes().filter(|&ix| !self.is_over(ix)).collect::<Vec<_>>() {
            self.flows[ix].gates.owed.clear();
            let answered = match self.flows[ix].phase {
                Phase::Answered(gate) => self.gate_run(gate).is_some_and(|run| run.gate.kind == GateKind::Approval),
                phase => phase.part() == PhasePart::InLine,
            };
            self.flows[ix].gates.approval = None;
            if answered && self.asks_first(ix) {
                self.show(ix, NodeState::Ready, Cause::None);
                self.enter(ix, Phase::Asking);
            }
        }
    }

    /// Calls of a node that are held before they happen, oldest first.
    pub fn held_calls(&self, node: &NodeId) -> impl Iterator<Item = &HeldCall> {
        let worker = self.graph.find(node).and_then(|ix| self.flows[ix].worker.as_ref());
        worker.into_iter().flat_map(|worker| &worker.pending).filter(|pending| !pending.decided).filter_map(Pending::held)
    }

    /// Whether somebody asked a node to return what it has, and it is still at that.
    pub(in crate::engine) fn is_wrapping_up(&self, ix: NodeIx) -> bool {
        let flow = &self.flows[ix];
        flow.drive.stopped_by.is_some() && flow.phase != Phase::Ended
    }

    /// What an agent at work has not received yet; of one that has not started, everything.
    pub(in crate::engine) fn unheard(&self, ix: NodeIx) -> &[String] {
        let flow = &self.flows[ix];
        let heard = flow.worker.as_ref().map_or(0, |worker| worker.heard);
        flow.guidance.texts.get(heard..).unwrap_or_default()
    }

    /// Whether a call of the node is held.
    pub(in crate::engine) fn holds_call(&self, ix: NodeIx) -> bool {
        let worker = self.flows[ix].worker.as_ref();
        worker.is_some_and(|worker| worker.pending.iter().any(Pending::is_held))
    }

    /// Whether somebody can let a call of the node go: one that is held, or was when its attempt broke off. Of a node that nobody knows
    /// about, nothing goes before somebody has reported what happened to it.
    pub(in crate::engine) fn is_at_call(&self, ix: NodeIx) -> bool {
        let was_held = !self.flows[ix].drive.held_before.is_empty() && self.nodes[ix].state != NodeState::Unknown;
        was_held || self.holds_call(ix)
    }

    /// What a call is counted by: the same call of a later attempt has the same name.
    pub(super) fn call_name(&self, next: &NextCall) -> String {
        match next {
            NextCall::Model { model } => format!("model {model}"),
            NextCall::Tool { tool, args, .. } => self.call_key(tool, args),
        }
    }

    /// Whether an attempt that broke off came to this call, and somebody released it there.
    pub(in crate::engine) fn was_released(&self, ix: NodeIx, next: &NextCall) -> bool {
        let flow = &self.flows[ix];
        if flow.drive.passed.is_empty() {
            return false;
        }
        let name = self.call_name(next);
        let made = flow.worker.as_ref().and_then(|worker| worker.made.get(&name)).copied().unwrap_or(0);
        flow.drive.passed.get(&name).is_some_and(|&passed| made < passed)
    }

    /// A tool call of a node at work was proposed.
    pub(super) fn tool_proposed(&mut self, ix: NodeIx, call: &ToolCall) {
        let name = self.call_key(&call.tool, &call.args);
        self.count_call(ix, name);
    }

    pub(super) fn count_call(&mut self, ix: NodeIx, name: String) {
        if let Some(worker) = &mut self.flows[ix].worker {
            *worker.made.entry(name).or_default() += 1;
        }
    }

    /// A call waits until somebody releases it; the clock and the slot of its worker stop as at a gate.
    pub(super) fn call_held(&mut self, ix: NodeIx, held: &HeldCall, at: Time) {
        let name = self.call_name(&held.next);
        // A tool call was counted when it was proposed.
        if matches!(held.next, NextCall::Model { .. }) {
            self.count_call(ix, name.clone());
        }
        let Flow { worker: Some(worker), drive, .. } = &mut self.flows[ix] else { return };
        let nth = worker.made.get(&name).copied().unwrap_or(0);
        drive.held_before.retain(|known| *known != (name.clone(), nth));
        worker.holds += 1;
        let (number, inner) = (worker.holds, worker.asks_from_tool(&held.next));
        let wait = Wait::Hold { number, inner, held: Box::new(held.clone()), name, nth };
        worker.pending.push(Pending { wait, call: held.call.clone(), decided: false });
        self.queue.held_calls += 1;
        self.rest_slot(ix, at);
        self.show_worker(ix);
    }

    /// Lets the oldest held call of a node go. Where none is held, the oldest of those that were when its attempt broke off goes once the
    /// node comes to it again.
    pub(super) fn free_call(&mut self, ix: NodeIx) {
        let Flow { worker, drive, .. } = &mut self.flows[ix];
        let Some(pending) = worker.iter().flat_map(|worker| &worker.pending).find(|pending| pending.is_held()) else {
            if !drive.held_before.is_empty() {
                drive.passed.extend([drive.held_before.remove(0)]);
            }
            return;
        };
        drive.passed.extend(pending.place());
        let call = pending.call.clone();
        self.pending_decided(ix, |pending| pending.call == call && pending.is_held(), false);
    }

    /// Lets all held calls of a node go, also those that were held when its attempt broke off.
    pub(super) fn free_calls(&mut self, ix: NodeIx) {
        let Flow { worker, drive, .. } = &mut self.flows[ix];
        let held = worker.iter().flat_map(|worker| &worker.pending).filter(|pending| pending.is_held());
        let mut places: Vec<(String, u32)> = held.filter_map(Pending::place).collect();
        places.append(&mut drive.held_before);
        // Of calls by one name the last one counts.
        places.sort_unstable();
        drive.passed.extend(places);
        self.pending_decided(ix, Pending::is_held, false);
    }

    /// The attempt broke off: who releases its held calls later means those of the next one.
    pub(super) fn leave_calls(&mut self, ix: NodeIx) {
        let Flow { worker: Some(worker), drive, .. } = &mut self.flows[ix] else { return };
        drive.held_before.extend(worker.pending.iter().filter(|pending| pending.is_held()).filter_map(Pending::place));
    }

    /// No later attempt goes on where the one that is over was.
    pub(super) fn forget_calls(&mut self, ix: NodeIx) {
        let drive = &mut self.flows[ix].drive;
        drive.passed.clear();
        drive.held_before.clear();
    }

    /// The worker hears that its model call may go.
    pub(super) fn model_started(&mut self, ix: NodeIx, call: &str, model: &str, last_turn: bool, heard: usize, at: Time) {
        self.begin_model(ix, call, model, None, at);
        if let Some(worker) = &mut self.flows[ix].worker {
            worker.heard += heard;
        }
        self.flows[ix].drive.on_last_turn |= last_turn;
        self.deliver(ix, call);
    }

    /// The node comes to a model call, which goes, or waits for this.
    pub(super) fn begin_model(&mut self, ix: NodeIx, call: &str, model: &str, waits: Option<Cause>, at: Time) {
        let was_held = self.flows[ix].worker.as_ref().is_some_and(|worker| worker.pending.iter().any(|pending| pending.call == call));
        let was_deferred = self.undefer(ix, call);
        if !was_held && !was_deferred {
            self.count_call(ix, self.call_name(&NextCall::Model { model: model.to_string() }));
        }
        self.take_slot(ix, at);
        let Some(worker) = &mut self.flows[ix].worker else { return };
        worker.tick(at);
        let inner = worker.calls > 0;
        // An agent's turns come one after the other.
        let over = if inner { BTreeMap::new() } else { std::mem::take(&mut worker.models) };
        worker.models.insert(call.to_string(), ModelTries { tries: 0, inner, waits, held: None, unheard: None });
        self.drop_calls(ix, over.values());
    }

    /// Something happens to a model call under way, by which the clock of its node may stop or run.
    pub(super) fn model_call(&mut self, ix: NodeIx, call: &str, at: Time, change: impl FnOnce(&mut ModelTries)) {
        let Some(worker) = &mut self.flows[ix].worker else { return };
        worker.tick(at);
        if let Some(call) = worker.models.get_mut(call) {
            change(call);
        }
        self.show_worker(ix);
    }

    /// Steps into a node: what keeps its start goes on, and each of its calls is held.
    pub(super) fn step_into(&mut self, ix: NodeIx) {
        self.flows[ix].drive.into = true;
        if self.flows[ix].phase == Phase::Held {
            self.release(ix);
        }
    }

    /// A node is to return what it has. What it waits for is refused; of one with a plan inside nothing more begins.
    pub(super) fn wind_up(&mut self, ix: NodeIx, who: &str) {
        self.flows[ix].drive.stopped_by = Some(who.to_string());
        if self.flows[ix].phase.part().is_inside() {
            self.await_bodies(ix);
            self.show(ix, NodeState::Stopping, self.at_work_reason(ix));
        } else {
            self.pending_decided(ix, |pending| !pending.decided, false);
            self.show_worker(ix);
        }
    }

    /// Why a node at work is as it is.
    pub(in crate::engine) fn at_work_reason(&self, ix: NodeIx) -> Cause {
        let flow = &self.flows[ix];
        match (&flow.drive.stopped_by, &flow.halt.hold) {
            (Some(who), _) => Cause::Stopping { by: who.clone() },
            (None, Some(who)) => Cause::HeldInside { by: who.clone() },
            (None, None) => Cause::None,
        }
    }

    /// State and reason of a node whose worker is there.
    pub(super) fn show_worker(&mut self, ix: NodeIx) {
        let Some(worker) = &self.flows[ix].worker else { return };
        let open = || worker.pending.iter().filter(|pending| !pending.decided);
        let working = worker.since.is_some();
        let gate = open().find_map(|pending| pending.gate());
        let held = open().find_map(|pending| pending.held());
        let (state, reason) = match (gate, held) {
            (Some(gate), _) => (NodeState::Waiting { gate }, self.gate_run(gate).map_or(Cause::None, |run| run.gate.why.clone().into())),
            (None, Some(held)) => (NodeState::Held, Cause::AboutToCall { call: held.next.label(), cause: Box::new(held.reason.clone()) }),
            (None, None) if working => match (&self.flows[ix].drive.stopped_by, worker.model_wait()) {
                (Some(_), _) => (NodeState::Stopping, self.at_work_reason(ix)),
                (None, Some(Cause::FirstWords)) => (NodeState::Running, Cause::FirstWords),
                (None, Some(wait)) => (NodeState::Held, wait.clone()),
                (None, None) => (NodeState::Running, self.at_work_reason(ix)),
            },
            (None, None) => (NodeState::Held, Cause::NoSlot),
        };
        self.show(ix, state, reason);
    }
}
