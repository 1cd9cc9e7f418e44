//! What a node's calls call for before they happen: a model call and a tool call is held where people step through the node or a
//! breakpoint says so, refused where the node is to stop, and only then started, asked about, or denied.

use super::{
    breaks::BreakpointFacts,
    budget::{AtCap, Grant},
};
use crate::engine::run::Decider;
use crate::engine::{
    CallNeed, Cause, Event, GateKind, HeldCall, NextCall, NodeFact, Outgoing, Time, ToolCall, WorkerFact,
    flow::{Pending, Wait},
    gates::REJECTIONS_BEFORE_SILENCE,
    graph::{NodeIx, tool_of},
    run::GateEnd,
};
use crate::plan::{Moment, Verdict};

/// What configuration and arguments say of a tool call, and what it would send out.
#[derive(Clone, Copy)]
pub(super) struct JudgedCall<'a> {
    pub verdict: Verdict,
    pub why: &'a str,
    pub leaves: Option<&'a Outgoing>,
}

impl Decider<'_> {
    /// A model is about to be asked.
    pub(super) fn decide_model(&self, ix: NodeIx, (call, model): (&str, &str), need: Option<&CallNeed>, now: Time) -> Vec<Event> {
        let next = NextCall::Model { model: model.to_string() };
        vec![self.hold_call(ix, call, next, need).unwrap_or_else(|| self.model_event(ix, (call, model), need, AtCap::Ask, now))]
    }

    /// Proposed, then held, started, refused, or asked about.
    pub(super) fn decide_tool(&self, ix: NodeIx, call: &ToolCall, judged: JudgedCall<'_>, now: Time) -> Vec<Event> {
        let proposed = self.fact(ix, NodeFact::ToolProposed { call: call.clone() });
        let JudgedCall { verdict, why, leaves } = judged;
        let (why, leaves) = (why.to_string(), leaves.cloned().map(Box::new));
        let next = NextCall::Tool { tool: call.tool.clone(), args: call.args.clone(), verdict, why, leaves };
        let follows = self.hold_call(ix, &call.id, next, None).unwrap_or_else(|| self.tool_event(ix, call, judged, now));
        [proposed].into_iter().chain(self.with_owed(ix, follows)).collect()
    }

    /// A question to a person. One of a node that is to stop is not asked any more.
    pub(super) fn decide_question(&self, ix: NodeIx, fact: &WorkerFact, now: Time) -> Vec<Event> {
        let WorkerFact::QuestionAsked { call, text, options, fields, payload, within } = fact else { return Vec::new() };
        if let Some(refused) = self.refused_by_stop(ix, call) {
            return vec![refused];
        }
        let (options, fields, call) = (options.clone(), fields.clone(), Some(call.clone()));
        let kind = GateKind::Question { text: text.clone(), options, fields, call, within: within.clone(), cap: None };
        self.with_owed(ix, self.gate_event(ix, kind, payload.clone(), text.clone(), now))
    }

    /// A question that nobody waits for any more, unless its answer is on its way.
    pub(super) fn decide_question_over(&self, ix: NodeIx, call: &str, why: &str) -> Vec<Event> {
        let pending = self.flows[ix].worker.iter().flat_map(|worker| &worker.pending).find(|pending| pending.call == call);
        let Some(gate) = pending.filter(|pending| !pending.decided).and_then(Pending::gate) else { return Vec::new() };
        let refused = self.fact(ix, NodeFact::ToolRefused { call: call.to_string(), message: why.to_string() });
        vec![refused, Event::GateVoided { gate, reason: why.to_string().into() }]
    }

    /// Holds a call where somebody wants to look at it first.
    fn hold_call(&self, ix: NodeIx, call: &str, next: NextCall, need: Option<&CallNeed>) -> Option<Event> {
        let drive = &self.flows[ix].drive;
        if drive.stopped_by.is_some() || self.was_released(ix, &next) {
            return None;
        }
        let seen = || match next.clone() {
            NextCall::Model { model } => BreakpointFacts { model: Some(model), ..BreakpointFacts::default() },
            NextCall::Tool { tool, args, .. } => BreakpointFacts { tool: Some(tool), args: Some(args), ..self.seen_so_far(ix) },
        };
        let (point, reason) = match self.hit(ix, Moment::Call, seen) {
            Some(hit) => (hit.point, hit.reason),
            None if drive.into => (None, Cause::SteppingThrough { node: self.id_of(ix) }),
            None => return None,
        };
        let held = Box::new(HeldCall { call: call.to_string(), next, reason, need: need.copied() });
        Some(self.fact(ix, NodeFact::CallHeld { point, held }))
    }

    /// A model call goes, with what people have to say to the agent; or it waits, asks for more, or is refused, where a cap counts it.
    /// Calls that a tool makes are no turns of the agent.
    pub(super) fn model_event(&self, ix: NodeIx, (call, model): (&str, &str), need: Option<&CallNeed>, at_cap: AtCap, now: Time) -> Event {
        let (call, model) = (call.to_string(), model.to_string());
        let reserved = match self.grant(ix, &model, need, at_cap) {
            Grant::Uncapped => None,
            Grant::Reserved(reserved) => Some(reserved),
            Grant::Later(reason) => {
                let (need, last) = (need.copied().unwrap_or_default(), at_cap == AtCap::HandBack);
                return self.fact(ix, NodeFact::ModelDeferred { call, model, need, last, reason });
            }
            Grant::Ask(asked) => return self.cap_gate(ix, call, model, *asked, now),
            Grant::Never(message) => return self.fact(ix, NodeFact::ToolRefused { call, message }),
        };
        let next = NextCall::Model { model: model.clone() };
        let is_turn = self.flows[ix].worker.as_ref().is_some_and(|worker| !worker.asks_from_tool(&next));
        let at_cap = reserved.as_ref().is_some_and(|reserved| reserved.at_cap);
        let guidance = if is_turn { self.unheard(ix).to_vec() } else { Vec::new() };
        let wrap_up = is_turn && (at_cap || self.flows[ix].drive.stopped_by.is_some());
        self.fact(ix, NodeFact::ModelStarted { call, model, guidance, wrap_up, reserved })
    }

    /// What was rejected before never runs unasked, and private data leaves only by a yes that was given for its place.
    fn tool_event(&self, ix: NodeIx, call: &ToolCall, judged: JudgedCall<'_>, now: Time) -> Event {
        let JudgedCall { verdict, why, leaves } = judged;
        if let Some(refused) = self.refused_by_stop(ix, &call.id) {
            return refused;
        }
        let rejected = self.rejections(ix, &call.tool, &call.args);
        let refuse = |message: String| self.fact(ix, NodeFact::ToolRefused { call: call.id.clone(), message });
        match verdict {
            Verdict::Deny => refuse(format!("`{}` is denied by the permission rules: {why}", call.tool)),
            Verdict::Allow | Verdict::Ask if rejected >= REJECTIONS_BEFORE_SILENCE => {
                refuse(format!("the operator rejected this call {rejected} times; don't propose it again"))
            }
            Verdict::Allow | Verdict::Ask => {
                // The gate of a tool node may have been left to its call.
                let owes = self.doc(ix).is_some_and(|node| tool_of(node).is_some()) && self.owes_approval(ix);
                let asks_anyway = owes
                    || match verdict {
                        Verdict::Ask => !self.is_approved(ix, call),
                        Verdict::Allow | Verdict::Deny => rejected > 0,
                    };
                let why = if owes { self.before_reason(ix) } else { why.to_string() };
                let leaving = leaves.and_then(|outgoing| Some((outgoing, self.asks_to_leave(ix, outgoing)?)));
                let (why, leaves) = match leaving {
                    Some((outgoing, reason)) => {
                        let why = if asks_anyway { format!("{reason}; {why}") } else { reason };
                        (why, Some(Box::new(Outgoing { asks_anyway, ..outgoing.clone() })))
                    }
                    None if asks_anyway => (why, None),
                    None => {
                        let sends = judged.leaves.map(|outgoing| self.may_leave(outgoing)).unwrap_or_default();
                        let rule = (!self.is_approved(ix, call)).then(|| why + &sends);
                        return self.fact(ix, NodeFact::ToolStarted { call: call.clone(), rule });
                    }
                };
                let kind = GateKind::Permission { call: call.id.clone(), tool: call.tool.clone(), leaves };
                self.gate_event(ix, kind, call.args.clone(), why, now)
            }
        }
    }

    /// A tool node's own call, exactly as it was approved at the gate before the node.
    fn is_approved(&self, ix: NodeIx, call: &ToolCall) -> bool {
        if self.doc(ix).and_then(tool_of).map(|tool| self.tool_name(tool)) != Some(self.tool_name(&call.tool)) {
            return false;
        }
        self.approved_payload(ix) == Some(&call.args)
    }

    /// A node that is to stop calls no more tools and asks nobody.
    pub(super) fn refused_by_stop(&self, ix: NodeIx, call: &str) -> Option<Event> {
        let who = self.flows[ix].drive.stopped_by.as_ref()?;
        let message = format!("stopped by {who}: no more tools and no more questions; return what you have");
        Some(self.fact(ix, NodeFact::ToolRefused { call: call.to_string(), message }))
    }

    /// The next of the calls that were released, and of those that nobody needs to answer any more because the node is to stop. One at a
    /// time: each may open a gate.
    pub(super) fn deliver_call(&self, ix: NodeIx, now: Time) -> Vec<Event> {
        let Some(worker) = &self.flows[ix].worker else { return Vec::new() };
        let Some(pending) = worker.pending.iter().find(|pending| pending.decided) else { return Vec::new() };
        let Pending { wait, call, .. } = pending;
        match wait {
            Wait::Gate { gate, .. } if self.is_cap_question(*gate) => self.deliver_cap(ix, *gate, call, now),
            Wait::Gate { gate, .. } => {
                let void = || Event::GateVoided { gate: *gate, reason: Cause::NodeStopping };
                let is_open = self.gate_run(*gate).is_some_and(|run| run.end == GateEnd::Open);
                self.refused_by_stop(ix, call).into_iter().chain(is_open.then(void)).collect()
            }
            Wait::Hold { held, .. } => match &held.next {
                NextCall::Model { model } => vec![self.model_event(ix, (call, model), held.need.as_ref(), AtCap::Ask, now)],
                NextCall::Tool { tool, args, verdict, why, leaves } => {
                    let call = ToolCall { id: call.clone(), tool: tool.clone(), args: args.clone() };
                    let judged = JudgedCall { verdict: *verdict, why, leaves: leaves.as_deref() };
                    self.with_owed(ix, self.tool_event(ix, &call, judged, now))
                }
            },
        }
    }
}
