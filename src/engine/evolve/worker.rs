//! The part of `evolve` about gates and the worker that waits for them: its slot, its clock, its pending calls, its locks.

use crate::engine::{
    Gate, GateId, GateKind, GateReply, NextCall, NodeState, Outgoing, Time, ToolCall, ToolReport,
    flow::{Pending, Phase, SlotLine, Wait},
    gates::REJECTIONS_BEFORE_SILENCE,
    graph::{NodeIx, leaves_something, tool_of},
    run::{GateEnd, GateState, RunState},
};
use crate::plan::{NodeKind, PYTHON_TOOL, SERVICE, SHELL_TOOL, ToolReach, Verdict};
use serde_json::Value;

impl RunState {
    pub(super) fn open_gate(&mut self, gate: &Gate, at: Time) {
        let ix = self.graph.find(&gate.node);
        let mut gate = gate.clone();
        if let (Some(Phase::Lost), GateKind::Question { text, .. }) = (ix.map(|ix| self.flows[ix].phase), &mut gate.kind) {
            // So journals of version 3 have it.
            gate.kind = GateKind::UnknownEffect { text: std::mem::take(text) };
        }
        self.gates.all.insert(gate.id, GateState { gate: gate.clone(), end: GateEnd::Open });
        self.gates.open.insert(gate.id);
        let Some(ix) = ix else { return };
        let owners: Vec<NodeIx> = self.owners(ix).collect();
        owners.into_iter().for_each(|owner| self.nodes[owner].inside.waiting += 1);
        match &gate.kind {
            GateKind::Permission { call, .. } | GateKind::Question { call: Some(call), .. } => {
                if let Some(cap) = gate.kind.cap() {
                    self.ask_for_more(ix, call, cap, gate.id);
                }
                // A call that was held before is not any more: it asks.
                self.deliver(ix, call);
                let inner = matches!(gate.kind, GateKind::Question { within: Some(_), .. });
                if let Some(worker) = &mut self.flows[ix].worker {
                    worker.pending.push(Pending { wait: Wait::Gate { gate: gate.id, inner }, call: call.clone(), decided: false });
                }
                self.rest_slot(ix, at);
                self.show_worker(ix);
            }
            GateKind::UnknownEffect { .. } => self.enter(ix, Phase::AtGate(gate.id)),
            GateKind::Replan { .. } => self.replan_proposed(ix, &gate),
            GateKind::Approval | GateKind::Review | GateKind::Question { call: None, .. } | GateKind::Failure { .. } => {
                self.enter(ix, Phase::AtGate(gate.id));
                self.show(ix, NodeState::Waiting { gate: gate.id }, gate.why.clone().into());
            }
        }
        self.clock(ix, at);
    }

    pub(super) fn close_gate(&mut self, id: GateId, end: GateEnd) {
        if !self.gates.open.remove(&id) {
            return;
        }
        let node = self.gate_run(id).and_then(|run| self.graph.find(&run.gate.node));
        let owners: Vec<NodeIx> = node.into_iter().flat_map(|ix| self.owners(ix)).collect();
        for owner in owners {
            let inside = &mut self.nodes[owner].inside;
            inside.waiting = inside.waiting.saturating_sub(1);
        }
        self.replan_decided(id, &end);
        if let Some(run) = self.gates.all.get_mut(&id) {
            run.end = end;
        }
    }

    pub(super) fn answered(&mut self, id: GateId, decision: &GateReply) {
        let Some(gate) = self.gate_run(id).map(|run| run.gate.clone()) else { return };
        let Some(ix) = self.graph.find(&gate.node) else { return };
        match (&gate.kind, decision) {
            (GateKind::Approval, GateReply::Approve | GateReply::Modify { .. }) => {
                self.flows[ix].gates.approval = Some(id);
                self.queue_up(ix);
            }
            (GateKind::Permission { tool, leaves, .. }, _) => {
                if let (Some(outgoing), GateReply::Approve) = (leaves, decision) {
                    self.gates.hosts.insert(outgoing.host.clone());
                }
                let is_yes = matches!(decision, GateReply::Approve | GateReply::Modify { .. });
                if is_yes && self.doc(ix).is_some_and(|node| tool_of(node).is_some()) && self.owes_approval(ix) {
                    self.flows[ix].gates.approval = Some(id);
                }
                let repeats = self.settle_owed(ix, &gate);
                if matches!(decision, GateReply::Reject { .. }) && !repeats {
                    let key = self.call_key(tool, &gate.payload);
                    *self.flows[ix].gates.rejections.entry(key).or_default() += 1;
                }
                self.call_decided(ix, id, decision);
            }
            (GateKind::Question { call: Some(_), cap, .. }, _) => {
                if let (Some(cap), GateReply::Answer { value } | GateReply::Modify { payload: value }) = (cap, decision) {
                    self.answered_cap(cap, value);
                }
                self.settle_owed(ix, &gate);
                self.question_decided(ix, id, decision);
            }
            (GateKind::Failure { .. }, _) => self.failure_answered(ix, id, decision),
            // What follows from it comes right behind.
            (GateKind::Replan { .. }, _) => {}
            (GateKind::Approval | GateKind::Review | GateKind::Question { call: None, .. } | GateKind::UnknownEffect { .. }, _) => {
                self.enter(ix, Phase::Answered(id))
            }
        }
    }

    fn call_decided(&mut self, ix: NodeIx, id: GateId, decision: &GateReply) {
        let is_rejected = matches!(decision, GateReply::Reject { .. }) && self.doc(ix).and_then(tool_of).is_some();
        self.pending_decided(ix, |pending| pending.gate() == Some(id), is_rejected || ends_node(decision));
    }

    /// A no to a question goes back to who asked it.
    fn question_decided(&mut self, ix: NodeIx, id: GateId, decision: &GateReply) {
        self.pending_decided(ix, |pending| pending.gate() == Some(id), ends_node(decision));
    }

    /// Answers for a worker: delivered at once, unless its work goes on from here and its slot is gone.
    pub(super) fn pending_decided(&mut self, ix: NodeIx, which: impl Fn(&Pending) -> bool, ends: bool) {
        let Some(worker) = &mut self.flows[ix].worker else { return };
        let mut lines = Vec::new();
        for pending in worker.pending.iter_mut().filter(|pending| which(pending)) {
            pending.decided = true;
            lines.push(pending.line());
        }
        if lines.is_empty() {
            return;
        }
        if !ends && self.wants_slot(ix) {
            self.queue.resuming.extend(lines.into_iter().map(|line| (line, ix)));
        } else {
            self.agenda.insert(ix);
        }
        self.show_worker(ix);
    }

    /// Whether the answers that are there can only be delivered with a slot.
    fn wants_slot(&self, ix: NodeIx) -> bool {
        let Some(worker) = &self.flows[ix].worker else { return false };
        let starts_call = |pending: &Pending| {
            pending.gate().and_then(|gate| self.gate_run(gate)).is_some_and(|run| match (&run.gate.kind, &run.end) {
                (GateKind::Permission { .. }, GateEnd::Decided(decided)) => {
                    matches!(decided.decision, GateReply::Approve | GateReply::Modify { .. })
                }
                (GateKind::Question { within, .. }, GateEnd::Decided(decided)) => within.is_some() && !ends_node(&decided.decision),
                _ => false,
            })
        };
        // A call that is held and then asks about itself needs no slot to ask; one that is refused unasked goes on with its work.
        let flow = &self.flows[ix];
        let asks = |pending: &Pending| match pending.held().map(|held| &held.next) {
            Some(NextCall::Tool { tool, args, verdict, leaves, .. }) => {
                let by_risk = *verdict == Verdict::Ask && flow.gates.approval.is_none();
                let leaving =
                    *verdict != Verdict::Deny && leaves.as_ref().is_some_and(|outgoing| self.asks_to_leave(ix, outgoing).is_some());
                let is_silent = self.rejections(ix, tool, args) >= REJECTIONS_BEFORE_SILENCE;
                (by_risk || leaving) && flow.drive.stopped_by.is_none() && !is_silent
            }
            Some(NextCall::Model { .. }) | None => false,
        };
        let starts = |pending: &Pending| starts_call(pending) || pending.held().is_some() && !asks(pending);
        let all = worker.pending.iter().all(|pending| pending.decided && !asks(pending));
        worker.since.is_none() && (all || worker.pending.iter().any(|pending| pending.decided && starts(pending)))
    }

    /// How often people rejected a call of this node.
    pub(in crate::engine) fn rejections(&self, ix: NodeIx, tool: &str, args: &Value) -> u32 {
        self.flows[ix].gates.rejections.get(&self.call_key(tool, args)).copied().unwrap_or(0)
    }

    /// An answer that was owed is given with this one; says whether there was any.
    fn settle_owed(&mut self, ix: NodeIx, gate: &Gate) -> bool {
        let owed = self.owed(ix, &gate.kind, &gate.payload);
        self.flows[ix].gates.owed.retain(|known| Some(*known) != owed);
        owed.is_some()
    }

    /// The gate whose answer is owed to this question. A yes holds for what was asked; a no also where there is one more reason to ask,
    /// which it is itself.
    pub(in crate::engine) fn owed(&self, ix: NodeIx, kind: &GateKind, payload: &Value) -> Option<GateId> {
        let place = |out: &Option<Box<Outgoing>>| out.as_deref().map(|out| Outgoing { asks_anyway: false, allowed: false, ..out.clone() });
        let same = |gate: &Gate, is_yes: bool| match (&gate.kind, kind) {
            (GateKind::Permission { tool: before, leaves: out, .. }, GateKind::Permission { tool, leaves, .. }) => {
                let covers = if is_yes { leaves.is_none() } else { place(out) == place(leaves) };
                self.tool_name(before) == self.tool_name(tool) && (out == leaves || covers)
            }
            (GateKind::Question { text: before, .. }, GateKind::Question { text, .. }) => before == text,
            _ => false,
        };
        let generation = self.generation(ix);
        self.flows[ix].gates.owed.iter().copied().find(|&id| {
            self.gate(id).is_some_and(|(gate, decided)| {
                let is_yes = decided.is_some_and(|decided| match decided.decision {
                    GateReply::Approve
                    | GateReply::Modify { .. }
                    | GateReply::Answer { .. }
                    | GateReply::Lost { .. }
                    | GateReply::OnFailure { .. } => true,
                    GateReply::Reject { .. } | GateReply::Skip | GateReply::CancelBranch => false,
                });
                gate.generation == generation && gate.payload == *payload && same(gate, is_yes)
            })
        })
    }

    pub(super) fn forget_gate(&mut self, id: GateId) {
        let Some(ix) = self.gate_run(id).and_then(|run| self.graph.find(&run.gate.node)) else { return };
        if let Some(worker) = &mut self.flows[ix].worker {
            worker.pending.retain(|pending| pending.gate() != Some(id));
        }
        // A stop puts questions in line that nobody has answered.
        self.queue.resuming.remove(&(SlotLine::Gate(id), ix));
    }

    /// A worker that only waits for people gives its slot back and its clock stops.
    pub(super) fn rest_slot(&mut self, ix: NodeIx, at: Time) {
        let Some(worker) = &mut self.flows[ix].worker else { return };
        worker.tick(at);
        if worker.is_idle() && worker.since.take().is_some() {
            self.queue.give_back(self.graph.nodes[ix].place);
        }
    }

    pub(super) fn take_slot(&mut self, ix: NodeIx, at: Time) {
        let Some(worker) = &mut self.flows[ix].worker else { return };
        if worker.since.is_none() {
            worker.since = Some(at);
            self.queue.take(self.graph.nodes[ix].place);
        }
        for pending in &worker.pending {
            self.queue.resuming.remove(&(pending.line(), ix));
        }
    }

    /// The worker hears about a call; it goes on once nothing else is pending.
    pub(super) fn answer_delivered(&mut self, ix: NodeIx, call: &str, at: Time) {
        if self.undefer(ix, call) {
            self.model_call(ix, call, at, |call| call.waits = None);
        }
        let Some(worker) = &self.flows[ix].worker else { return };
        if !worker.pending.iter().any(|pending| pending.call == call) {
            return;
        }
        if worker.pending.len() == 1 || worker.pending.iter().any(|pending| pending.call == call && pending.is_inner()) {
            self.take_slot(ix, at);
        }
        self.deliver(ix, call);
    }

    pub(super) fn deliver(&mut self, ix: NodeIx, call: &str) {
        // A tool node and an agent that is a service have but one call, so the next attempt makes this very one.
        let is_tool = self.doc(ix).and_then(tool_of).is_some();
        let gates = &self.gates.all;
        let calls_once = |gate: &GateId| {
            let tool = gates.get(gate).and_then(|state| state.gate.tool.as_deref());
            is_tool || tool.is_some_and(|tool| tool.starts_with(SERVICE))
        };
        let flow = &mut self.flows[ix];
        let Some(worker) = &mut flow.worker else { return };
        for pending in worker.pending.extract_if(.., |pending| pending.call == call) {
            self.queue.resuming.remove(&(pending.line(), ix));
            self.queue.held_calls -= u32::from(pending.held().is_some());
            flow.gates.owed.extend(pending.gate().filter(calls_once));
        }
        if !worker.pending.iter().any(|pending| pending.decided) {
            self.agenda.remove(&ix);
        } else if worker.since.is_some() {
            self.agenda.insert(ix);
        }
        self.show_worker(ix);
    }

    /// A call that needs no answer goes at once even beside an open question of its own node, so slots may run over by such calls.
    pub(super) fn tool_started(&mut self, ix: NodeIx, call: &ToolCall, at: Time) {
        let leaves = self.settings().is_some_and(|settings| leaves_something(settings.catalog.tool(&call.tool)));
        self.take_slot(ix, at);
        let name = self.tool_name(&call.tool).to_string();
        self.progress.acts.commands += usize::from([SHELL_TOOL, PYTHON_TOOL].contains(&&*name));
        self.steer.used.insert(name);
        self.nodes[ix].lineage.tools.push((call.clone(), None));
        self.nodes[ix].lineage.acted |= match self.doc(ix).map(|node| &node.kind) {
            Some(NodeKind::Tool(_)) => self.graph.nodes[ix].side_effects,
            _ => leaves,
        };
        if let Some(worker) = &mut self.flows[ix].worker {
            worker.tick(at);
            worker.calls += 1;
            worker.acted = true;
            worker.began |= leaves;
        }
        self.deliver(ix, &call.id);
    }

    pub(super) fn tool_finished(&mut self, ix: NodeIx, call: &str, report: &ToolReport, at: Time) {
        let called = self.nodes[ix].lineage.tools.iter().rev().find(|(known, report)| known.id == call && report.is_none());
        let is_private = called.is_some_and(|(known, _)| self.tool_reach(&known.tool) == ToolReach::Private);
        let is_service = called.is_some_and(|(known, _)| known.tool.starts_with(SERVICE));
        self.progress.acts.take(&report.files);
        let lineage = &mut self.nodes[ix].lineage;
        // What a service said when it failed reaches nobody: its node's next attempt asks it alone, and knows nothing of it.
        lineage.private |= is_private && (report.ok || !is_service);
        lineage.files.extend_from_slice(&report.files);
        lineage.sources.extend_from_slice(&report.sources);
        if let Some((_, slot)) = lineage.tools.iter_mut().rev().find(|(known, report)| known.id == call && report.is_none()) {
            *slot = Some(report.clone());
        }
        if let Some(worker) = &mut self.flows[ix].worker {
            worker.tick(at);
            worker.calls = worker.calls.saturating_sub(1);
        }
        self.rest_slot(ix, at);
        self.show_worker(ix);
    }

    pub(super) fn tool_answered(&mut self, ix: NodeIx, call: &str, value: &Value, at: Time) {
        let pending = self.flows[ix].worker.as_ref().and_then(|worker| worker.pending.iter().find(|pending| pending.call == call));
        let gate = pending.and_then(|pending| self.gate_run(pending.gate()?)).map(|run| run.gate.clone());
        if let Some(Gate { kind: GateKind::Permission { tool, .. }, payload, .. }) = gate {
            let report = ToolReport { ok: true, value: value.clone(), ..ToolReport::default() };
            self.nodes[ix].lineage.tools.push((ToolCall { id: call.to_string(), tool, args: payload }, Some(report)));
        }
        self.answer_delivered(ix, call, at);
    }

    pub(super) fn drop_worker(&mut self, ix: NodeIx) {
        let Some(worker) = self.flows[ix].worker.take() else { return };
        if worker.since.is_some() {
            self.queue.give_back(self.graph.nodes[ix].place);
        }
        for pending in &worker.pending {
            self.queue.resuming.remove(&(pending.line(), ix));
            self.queue.held_calls -= u32::from(pending.held().is_some());
        }
        self.flows[ix].gates.owed.extend(worker.pending.iter().filter(|pending| pending.decided).filter_map(Pending::gate));
        self.agenda.remove(&ix);
        self.drop_spending(ix, &worker);
    }

    pub(super) fn drop_locks(&mut self, ix: NodeIx) {
        if !std::mem::take(&mut self.flows[ix].locked) {
            return;
        }
        for at in 0..self.graph.nodes[ix].locks.len() {
            self.queue.set_holder(self.graph.nodes[ix].locks[at], None);
        }
    }
}

/// Whether a reply to a call's gate ends the node, whatever the gate is about.
fn ends_node(reply: &GateReply) -> bool {
    match reply {
        GateReply::Skip | GateReply::CancelBranch => true,
        GateReply::Reject { .. }
        | GateReply::Approve
        | GateReply::Modify { .. }
        | GateReply::Answer { .. }
        | GateReply::Lost { .. }
        | GateReply::OnFailure { .. } => false,
    }
}
