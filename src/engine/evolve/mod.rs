//! `Run::evolve`: folds one event into the state. Total, evaluates no expressions, asks nobody: the same code live, in views and in replay.

pub(super) mod amend;
pub(super) mod bodies;
pub(super) mod calls;
pub(super) mod count;
mod live_edit;
pub(super) mod rerun;
mod spend;
pub(super) mod steer;
mod stuck;
pub(super) mod undo;
mod worker;

use crate::engine::{
    Cause, Decided, EdgeId, EdgeState, Event, HeldAt, Job, Mark, ModelSlots, NodeError, NodeFact, NodeState, Record, Spent, Time, WorkSpan,
    evolve::bodies::times,
    evolve::count::GenerationChange,
    flow::{ForwardedResult, Phase, PhasePart, Worker},
    graph::{NodeIx, tool_of},
    inner_run::{Bodies, InnerRunIx, Inputs},
    queue::Queue,
    rehearse::REHEARSAL,
    run::{DeferredCall, GateEnd, RunCreation, RunProgress, RunState},
    state::EndKind,
};
use crate::plan::{Plan, limits::SLOTS};
use serde_json::{Map, Value};
use std::{collections::BTreeSet, ops::Deref, sync::Arc};

use crate::engine::CapAmount;

/// A run: its state, which only its events change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    state: RunState,
}

impl Deref for Run {
    type Target = RunState;

    fn deref(&self) -> &RunState {
        &self.state
    }
}

impl Run {
    /// Folds one event into the state. Evaluates no expressions.
    pub fn evolve(&mut self, record: &Record) {
        self.state.evolve(record);
    }
}

impl RunState {
    /// A run of its own that goes on from here.
    pub(in crate::engine) fn copy(&self) -> Run {
        Run { state: self.clone() }
    }

    fn evolve(&mut self, record: &Record) {
        self.shade(record);
        self.fold(record);
    }

    /// Folds one event, shadows apart.
    pub(super) fn fold(&mut self, record: &Record) {
        self.seq = record.seq;
        let at = record.at;
        match &record.event {
            Event::RunCreated { run, plan, settings, by } => {
                let head = RunCreation { run: run.clone(), settings: (**settings).clone(), by: by.clone(), branched: false };
                self.create(head, (**plan).clone());
                self.progress.created = at;
            }
            Event::RunStarted => self.start(),
            event @ Event::ReplanAsked { .. } => self.replan_asked(event),
            Event::ReplanFailed { why, .. } => self.replan_failed(why),
            Event::RunCancelled { by } => {
                self.progress.cancelled_by = Some(by.clone());
                self.no_more_plans();
            }
            Event::RunEnded { outcome, reason } => {
                (self.progress.outcome, self.progress.ended) = (Some((*outcome, reason.clone())), Some(at))
            }
            Event::RunReopened { .. } => {
                self.progress.over_ms += self.progress.ended.map_or(0, |ended| at.since(ended));
                (self.progress.outcome, self.progress.ended) = (None, None);
            }
            Event::RunInterrupted { signal } => self.progress.interrupted_by = Some(*signal),
            Event::RunRecovered { model, .. } => {
                if let Some(model) = model {
                    self.use_model(model, None);
                }
                self.progress.interrupted_by = None;
                self.was_idle(at);
            }
            Event::ModelChosen { model, slots, .. } => self.use_model(model, slots.as_ref()),
            // What ended the other run doesn't end this one.
            Event::Branched { .. } => {
                self.was_idle(at);
                self.progress = RunProgress { started: self.progress.started, created: at, ..RunProgress::default() };
                self.forget_approvals();
                self.head.iter_mut().for_each(|head| head.branched = true);
            }
            Event::ApprovalRequired { gate } => self.open_gate(gate, at),
            Event::GateDecided { gate, decision, by, message: _ } => {
                let decision = self.taken(*gate, decision);
                self.close_gate(*gate, GateEnd::Decided(Decided { decision: decision.clone(), by: by.clone(), at }));
                self.answered(*gate, &decision);
            }
            Event::GateVoided { gate, reason } => {
                self.close_gate(*gate, GateEnd::Voided(reason.clone()));
                self.forget_gate(*gate);
            }
            Event::Acted { action, nodes, by, why } => self.acted(action, nodes, (&by.who, why)),
            Event::Undone { action, .. } => self.undone(*action, record.seq),
            Event::Node { node_id, fact, .. } => {
                if let Some(ix) = self.graph.find(node_id) {
                    self.evolve_node(ix, fact, at);
                    self.clock(ix, at);
                }
            }
            Event::StageStarted { .. }
            | Event::Checkpoint { .. }
            | Event::StageFinished { .. }
            | Event::LogLine { .. }
            | Event::Carried
            | Event::Refused { .. } => {}
        }
        self.happened(at);
    }

    /// Lets a node's clock run while it works, and only then. What runs inside a node is its work.
    fn clock(&mut self, ix: NodeIx, at: Time) {
        let flow = &self.flows[ix];
        let works = match flow.phase.part() {
            PhasePart::AtWork => flow.worker.as_ref().is_none_or(|worker| worker.since.is_some() && worker.model_wait().is_none()),
            part => part.is_inside(),
        };
        let span = &mut self.nodes[ix].span;
        if works { span.work(at) } else { span.rest(at) }
    }

    /// The process that drove the run so far ended with its last event: nobody worked from then on.
    fn was_idle(&mut self, at: Time) {
        self.stop_clock(self.progress.last);
        for (node, flow) in self.nodes.iter_mut().zip(&self.flows) {
            node.span.rest(self.progress.last);
            if flow.phase.part().is_inside() {
                node.span.work(at);
            }
        }
    }

    fn evolve_node(&mut self, ix: NodeIx, fact: &NodeFact, at: Time) {
        match fact {
            NodeFact::Ready { rehearsed } => {
                self.nodes[ix].lineage.rehearsed = *rehearsed;
                self.ready(ix);
            }
            NodeFact::Held { reason } => self.hold(ix, reason),
            NodeFact::Started { attempt, job, private } => {
                self.nodes[ix].lineage.begin(*private);
                self.started(ix, *attempt, job, at);
            }
            NodeFact::Retrying { error, until, .. } => self.retrying(ix, error, *until),
            NodeFact::Routed { taken, dead, why } => {
                self.flows[ix].outcome.chosen.clone_from(why);
                taken.iter().for_each(|&edge| self.decide_edge(edge, EdgeState::Taken));
                dead.iter().for_each(|&edge| self.decide_edge(edge, EdgeState::Dead));
            }
            NodeFact::BodyStarted { index } => self.begin_body(ix, *index),
            NodeFact::Returned { mark } => {
                self.drop_worker(ix);
                self.flows[ix].gates.mark.clone_from(mark);
            }
            NodeFact::Completed { result, mark } => self.completed(ix, result, mark.as_ref(), at),
            NodeFact::Failed { error, safe, result } => self.failed(ix, error, *safe, result.as_ref(), at),
            NodeFact::EndKept { kept, reason } => self.end_kept(ix, kept, reason),
            NodeFact::Skipped { reason, by } => {
                self.flows[ix].outcome.skipped_by = *by;
                self.ended(ix, NodeState::Skipped, reason, at);
            }
            NodeFact::Passed { reason } => {
                self.flows[ix].outcome.forwards = self.received(ix);
                self.ended(ix, NodeState::Passed, reason, at);
            }
            NodeFact::Cancelled { reason } => self.ended(ix, NodeState::Cancelled, reason, at),
            NodeFact::Interrupted { reason, .. } => self.interrupted(ix, reason),
            NodeFact::Unknown { reason } => self.lost(ix, reason),
            NodeFact::BreakHit { moment, kept, reason, .. } => self.broke(ix, *moment, kept, reason),
            NodeFact::ModelStarted { call, model, guidance, wrap_up, reserved } => {
                self.model_started(ix, call, model, *wrap_up, guidance.len(), at);
                self.reserve(ix, call, reserved.as_deref());
            }
            NodeFact::ModelDeferred { call, model, need, last, reason } => {
                let (call, model) = (call.clone(), model.clone());
                self.defer(DeferredCall { node: ix, call, model, need: *need, last: *last, gate: None }, reason, at);
            }
            NodeFact::ModelWaits { call, reason } => self.model_call(ix, call, at, |call| call.waits = Some(reason.clone())),
            NodeFact::ModelSent { call, unheard, .. } => self.model_call(ix, call, at, |call| call.sent(unheard.as_deref())),
            NodeFact::ModelAnswers { call } => self.model_call(ix, call, at, |call| call.waits = None),
            NodeFact::ModelTryFailed { call, failed, next_at, reserved, .. } => {
                self.try_failed(ix, call, failed, *reserved);
                self.model_call(ix, call, at, |call| call.failed(failed, *next_at));
            }
            NodeFact::CallHeld { held, .. } => self.call_held(ix, held, at),
            NodeFact::ToolStarted { call, .. } => self.tool_started(ix, call, at),
            NodeFact::ToolFinished { call, report } => self.tool_finished(ix, call, report, at),
            NodeFact::ToolRefused { call, .. } | NodeFact::QuestionAnswered { call, .. } => self.answer_delivered(ix, call, at),
            NodeFact::ToolAnswered { call, value } => self.tool_answered(ix, call, value, at),
            // A rehearsal asks no model: its figures are estimates of what one would take.
            NodeFact::ModelCalled { call } if call.provider == REHEARSAL => {}
            NodeFact::ModelCalled { call } => {
                self.settle(ix, call);
                let lineage = &mut self.nodes[ix].lineage;
                lineage.spent.add(Spent::of(call));
                lineage.model = Some(call.model.clone());
            }
            NodeFact::ToolProposed { call } => self.tool_proposed(ix, call),
            NodeFact::Noted { label, text } => self.nodes[ix].lineage.note(label, text),
            NodeFact::Cached { source } => self.nodes[ix].lineage.take_over(source),
            NodeFact::PlanWanted { why } => self.flows[ix].gates.plan_wanted = Some(why.clone()),
            NodeFact::Message { .. } | NodeFact::Output { .. } | NodeFact::Thought { .. } => {}
        }
    }

    /// A plan that has no shape leaves an empty run; the next event says why.
    fn create(&mut self, head: RunCreation, plan: Plan) {
        let slots = if head.settings.slots == 0 { SLOTS } else { head.settings.slots };
        let model_slots = head.settings.model_slots.as_ref().map_or(u32::MAX, |model| model.slots);
        self.queue = Queue::new(slots, model_slots);
        self.progress.spending.account.used =
            head.settings.planning.iter().fold(CapAmount::default(), |all, call| all.plus(CapAmount::of(call.usage, call.cost_usd)));
        self.head = Some(Box::new(head));
        let inputs = Inputs::new(plan.inputs.clone(), None);
        self.add_inner(Arc::new(plan), None, String::new(), inputs);
    }

    fn use_model(&mut self, model: &str, slots: Option<&ModelSlots>) {
        let Some(head) = &mut self.head else { return };
        (head.settings.model, head.settings.rehearse) = (Some(model.to_owned()), false);
        head.settings.model_slots = slots.cloned();
        self.queue.set_model_slots(slots.map_or(u32::MAX, |model| model.slots));
    }

    fn start(&mut self) {
        self.progress.started = true;
        self.begin_inner(InnerRunIx(0));
    }

    /// Puts a node on the agenda when its join is decided. Edges decided later change nothing.
    fn judge(&mut self, ix: NodeIx) {
        crate::engine::touch();
        let flow = &mut self.flows[ix];
        if flow.phase == Phase::Inputs
            && let Some(go) = flow.tally.verdict(self.graph.nodes[ix].join)
        {
            self.enter(ix, Phase::Joined { go });
        }
    }

    fn decide_edge(&mut self, edge: EdgeId, state: EdgeState) {
        crate::engine::touch();
        let Some(slot) = self.edges.slot_mut(edge) else { return };
        if *slot != EdgeState::Undecided {
            return;
        }
        *slot = state;
        let link = self.graph.link(edge);
        let tally = &mut self.flows[link.to].tally;
        let edges = if link.alternative { &mut tally.alternatives } else { &mut tally.plain };
        edges.waiting = edges.waiting.saturating_sub(1);
        match state {
            EdgeState::Taken => edges.taken += 1,
            EdgeState::Dead => edges.dead += 1,
            EdgeState::Undecided => {}
        }
        self.judge(link.to);
    }

    /// The one place where a phase changes: leaves queue, lock line and agenda, enters those of the new phase.
    fn enter(&mut self, ix: NodeIx, phase: Phase) {
        let rank = self.graph.rank(ix);
        match self.flows[ix].phase {
            Phase::Queued => self.queue.remove(rank),
            Phase::Locked(lock) => self.queue.stop_waiting(lock, rank),
            Phase::Resting => self.queue.resting -= 1,
            Phase::Held => self.queue.kept -= 1,
            _ => {}
        }
        self.agenda.remove(&ix);
        self.flows[ix].phase = phase;
        match phase {
            Phase::Joined { .. }
            | Phase::Asking
            | Phase::Answered(_)
            | Phase::Inline
            | Phase::Bodies
            | Phase::Freed
            | Phase::Stuck
            | Phase::Lost => {
                self.agenda.insert(ix);
            }
            Phase::Queued => self.queue.push(rank, self.graph.nodes[ix].place),
            Phase::Locked(lock) => self.queue.wait(lock, rank),
            Phase::Resting => self.queue.resting += 1,
            Phase::Held => self.queue.kept += 1,
            Phase::Inputs | Phase::Ended | Phase::AtGate(_) | Phase::Inside | Phase::Working | Phase::Replanning => {}
        }
    }

    fn show(&mut self, ix: NodeIx, state: NodeState, reason: Cause) {
        let node = &mut self.nodes[ix];
        node.state = state;
        node.reason = reason;
    }

    fn ready(&mut self, ix: NodeIx) {
        self.arrived(ix);
        self.try_again(ix);
        self.show(ix, NodeState::Ready, Cause::None);
        if self.asks_first(ix) && self.flows[ix].halt.hold.is_none() {
            self.enter(ix, Phase::Asking);
        } else {
            self.queue_up(ix);
        }
    }

    /// Into the line for a start, unless a person holds it.
    fn queue_up(&mut self, ix: NodeIx) {
        self.flows[ix].halt.kept = None;
        match &self.flows[ix].halt.hold {
            Some(who) => {
                let reason = Cause::Held { by: who.clone() };
                self.keep(ix, HeldAt::Start, reason);
            }
            None => {
                self.show(ix, NodeState::Ready, Cause::None);
                self.enter(ix, Phase::Queued);
            }
        }
    }

    fn hold(&mut self, ix: NodeIx, reason: &Cause) {
        self.show(ix, NodeState::Held, reason.clone());
        if let Some((lock, _)) = self.queue.taken(&self.graph.nodes[ix].locks) {
            self.enter(ix, Phase::Locked(lock));
        }
    }

    fn started(&mut self, ix: NodeIx, attempt: u32, job: &Job, at: Time) {
        if attempt == 1 {
            // A cancel and a stop end all that has not begun: what begins later was asked for since, by an edit or a rerun.
            self.progress.go_on();
        }
        self.enter(ix, Phase::Working);
        self.show(ix, NodeState::Running, Cause::None);
        let node = &mut self.nodes[ix];
        node.attempt = attempt;
        node.span.started.get_or_insert(at);
        for at in 0..self.graph.nodes[ix].locks.len() {
            self.queue.set_holder(self.graph.nodes[ix].locks[at], Some(ix));
        }
        let flow = &mut self.flows[ix];
        flow.locked = true;
        if attempt == 1 {
            flow.failures = 0;
        }
        match job {
            Job::Agent(_) | Job::Tool { .. } | Job::Code { .. } => {
                flow.worker = Some(Box::new(Worker { since: Some(at), heard: flow.guidance.texts.len(), ..Worker::default() }));
                self.queue.take(self.graph.nodes[ix].place);
            }
            Job::Inline { .. } => self.enter(ix, Phase::Inline),
            Job::Inside { inputs, items } => self.open_bodies(ix, inputs, items.as_ref()),
        }
    }

    fn open_bodies(&mut self, ix: NodeIx, inputs: &Map<String, Value>, items: Option<&Vec<Value>>) {
        let Some(node) = self.doc(ix) else { return };
        let Some(body) = node.kind.body() else { return };
        let (times, most) = times(&node.kind, node.policy.max_iterations, items);
        let own = body.inputs.clone().into_iter().chain(inputs.clone()).collect();
        let around = self.inner_of(ix).map(|inner| Arc::clone(&inner.inputs));
        let body = Arc::new(body.clone());
        let bodies = Bodies { body, inputs: Inputs::new(own, around), times, inner_runs: Vec::new(), open: 0, most };
        self.flows[ix].bodies = Some(Box::new(bodies));
        self.await_bodies(ix);
    }

    fn retrying(&mut self, ix: NodeIx, error: &NodeError, until: Time) {
        self.drop_worker(ix);
        self.drop_locks(ix);
        // A new try after a failure is looked at like the first one.
        self.forget_calls(ix);
        self.flows[ix].failures += 1;
        self.nodes[ix].error = Some(error.clone());
        self.show(ix, NodeState::Retrying { until }, error.message.clone().into());
        self.enter(ix, Phase::Resting);
    }

    /// What was approved for this generation still is, so the node is as it was before it started.
    fn interrupted(&mut self, ix: NodeIx, reason: &Cause) {
        self.leave_calls(ix);
        // A tool node that only asked is still to make its attempt.
        let only_asked = self.flows[ix].worker.as_ref().is_some_and(|worker| !worker.acted) && self.doc(ix).and_then(tool_of).is_some();
        self.nodes[ix].attempt -= u32::from(only_asked);
        self.drop_worker(ix);
        self.drop_locks(ix);
        // What broke off is no part of the work that goes on: who drove it may have ended long ago.
        self.nodes[ix].span = WorkSpan::default();
        self.ready(ix);
        self.show(ix, NodeState::Ready, reason.clone());
    }

    fn lost(&mut self, ix: NodeIx, reason: &Cause) {
        self.leave_calls(ix);
        self.drop_worker(ix);
        self.drop_locks(ix);
        self.show(ix, NodeState::Unknown, reason.clone());
        self.enter(ix, Phase::Lost);
    }

    fn completed(&mut self, ix: NodeIx, result: &Value, mark: Option<&Mark>, at: Time) {
        let node = &mut self.nodes[ix];
        node.result = Some(Arc::new(result.clone()));
        node.mark = mark.cloned();
        // What an earlier attempt met is no error of a node that succeeded.
        node.error = None;
        node.lineage.rehearsed = mark == Some(&Mark::Rehearsal);
        self.ended(ix, Mark::state(mark), &Cause::None, at);
    }

    fn failed(&mut self, ix: NodeIx, error: &NodeError, safe: bool, result: Option<&Value>, at: Time) {
        let node = &mut self.nodes[ix];
        node.error = Some(error.clone());
        node.result = if safe { Some(Arc::new(crate::engine::resolve::safe_result(error))) } else { result.cloned().map(Arc::new) };
        let state = if safe { NodeState::FailedSafe } else { NodeState::Failed };
        self.ended(ix, state, &error.message.clone().into(), at);
    }

    /// The node's generation is over: gives everything back, kills the edges that were not routed, counts.
    fn ended(&mut self, ix: NodeIx, state: NodeState, reason: &Cause, at: Time) {
        self.drop_worker(ix);
        self.drop_locks(ix);
        self.forget_calls(ix);
        let flow = &mut self.flows[ix];
        (flow.halt.kept, flow.gates.end) = (None, None);
        if flow.bodies.is_some() {
            // It was what is inside that was not to start.
            flow.halt.hold = None;
        }
        self.needs_no_plan(ix);
        // That a node never ran tells of what decided it.
        self.nodes[ix].lineage.private |= self.gives_private_bodies(ix) || !self.has_started(ix) && self.is_reached(ix);
        self.arrived(ix);
        let already = self.flows[ix].phase == Phase::Ended;
        self.enter(ix, Phase::Ended);
        for slot in 0..self.graph.nodes[ix].outs.len() {
            self.decide_edge(self.graph.nodes[ix].outs[slot], EdgeState::Dead);
        }
        self.show(ix, state, reason.clone());
        self.nodes[ix].span.finished = Some(at);
        if !already {
            self.walk_on(ix);
            self.count(ix, GenerationChange::Ends);
        }
    }

    /// What a node received, in edge order; passed sources hand on what they received themselves.
    pub(super) fn received(&self, ix: NodeIx) -> Vec<ForwardedResult> {
        let mut origins: Vec<ForwardedResult> = Vec::new();
        let mut known = BTreeSet::new();
        for &edge in &self.graph.nodes[ix].ins {
            crate::engine::touch();
            if self.edges[edge] != EdgeState::Taken {
                continue;
            }
            let source = self.graph.link(edge).from;
            let narrows = |edge: EdgeId| self.edge(edge).is_some_and(|doc| doc.context.is_some());
            let step = narrows(edge).then_some(edge);
            let found = match self.nodes[source].state.end() {
                EndKind::HandsOn => self.flows[source].outcome.forwards.clone(),
                EndKind::Gives | EndKind::Closes | EndKind::Open => vec![ForwardedResult { node: source, through: Vec::new() }],
            };
            for mut origin in found {
                origin.through.extend(step);
                if known.insert(origin.node) {
                    origins.push(origin);
                }
            }
        }
        origins
    }
}
