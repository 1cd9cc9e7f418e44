//! What an answered gate calls for, once the answer itself is on record.

use crate::engine::run::Decider;
use crate::engine::{
    Cause, Decided, Event, Gate, GateId, GateKind, GateReply, LostChoice, Mark, NodeFact, SkippedBy, Time, ToolCall,
    gates::{approval_result, edited},
    graph::{NodeIx, tool_of},
    run::GateEnd,
};
use crate::plan::{ApprovalNode, NodeKind};
use serde_json::Value;

impl Decider<'_> {
    /// A gate of the node as a whole was answered.
    pub(super) fn follow_answer(&self, ix: NodeIx, id: GateId, now: Time) -> Vec<Event> {
        let Some((gate, decided)) = self.decided(id) else { return Vec::new() };
        let is_failure = matches!(gate.kind, GateKind::Failure { .. });
        if let Some(end) = self.ended_by(ix, decided).filter(|_| !is_failure) {
            return end;
        }
        match &gate.kind {
            GateKind::Failure { .. } => self.follow_failure(ix, decided),
            GateKind::Replan { .. } => Vec::new(),
            GateKind::UnknownEffect { .. } => self.follow_lost(ix, decided),
            GateKind::Question { .. } => {
                let nothing = ApprovalNode::default();
                let ask = match self.doc(ix).map(|node| &node.kind) {
                    Some(NodeKind::Approval(ask)) => ask,
                    Some(_) | None => &nothing,
                };
                self.finish(ix, approval_result(ask, &decided.decision), None, now)
            }
            GateKind::Approval | GateKind::Review | GateKind::Permission { .. } => {
                let is_yes = decided.decision == GateReply::Approve;
                let mark = if is_yes { self.flows[ix].gates.mark.clone() } else { Some(Mark::Overridden) };
                self.complete(ix, edited(&decided.decision, &gate.payload).clone(), mark)
            }
        }
    }

    /// What an answer comes to that ends the node.
    fn ended_by(&self, ix: NodeIx, decided: &Decided) -> Option<Vec<Event>> {
        let by = decided.by.who.clone();
        match &decided.decision {
            GateReply::Skip => Some(self.skip(ix, SkippedBy::Person, Cause::Skipped { by, why: String::new() })),
            GateReply::CancelBranch => Some(self.cancel_branch(ix, &Cause::Cancelled { by, why: String::new() })),
            GateReply::Reject { message } => Some(self.cancel(ix, &Cause::Rejected { message: message.clone(), by })),
            GateReply::Approve
            | GateReply::Modify { .. }
            | GateReply::Answer { .. }
            | GateReply::Lost { .. }
            | GateReply::OnFailure { .. } => None,
        }
    }

    /// Somebody reported what happened to a node that nobody knew about.
    fn follow_lost(&self, ix: NodeIx, decided: &Decided) -> Vec<Event> {
        match &decided.decision {
            GateReply::Lost { choice: LostChoice::Again } => vec![self.ready_event(ix)],
            GateReply::Lost { choice: LostChoice::Done } => self.complete(ix, Value::Null, Some(Mark::Overridden)),
            GateReply::Lost { choice: LostChoice::Skip } => {
                self.skip(ix, SkippedBy::Person, Cause::Skipped { by: decided.by.who.clone(), why: String::new() })
            }
            GateReply::Modify { payload } => self.complete(ix, payload.clone(), Some(Mark::Overridden)),
            _ => self.skip(ix, SkippedBy::Person, Cause::Unanswered),
        }
    }

    /// Answers that a worker waits for, all that are there. One that ends the node ends it for all of them. A tool node has nothing but
    /// its call, so a rejection of that is one of the node, wherever it was asked about; a no to a question goes back to who asked it.
    pub(super) fn deliver_answers(&self, ix: NodeIx, now: Time) -> Vec<Event> {
        let Some(worker) = &self.flows[ix].worker else { return Vec::new() };
        let mut events = Vec::new();
        for pending in worker.pending.iter().filter(|pending| pending.decided) {
            let Some((gate, decided)) = pending.gate().and_then(|gate| self.decided(gate)) else { continue };
            if gate.kind.cap().is_some() && !events.is_empty() {
                // What it may take is judged once the others have theirs.
                continue;
            }
            let is_question = matches!(gate.kind, GateKind::Question { .. });
            let goes_back =
                matches!(decided.decision, GateReply::Reject { .. }) && (is_question || self.doc(ix).and_then(tool_of).is_none());
            if let Some(end) = self.ended_by(ix, decided).filter(|_| !goes_back) {
                return end;
            }
            if let Some(cap) = gate.kind.cap() {
                return vec![self.cap_reply(ix, cap, &decided.decision, &pending.call, now)];
            }
            events.push(self.delivery(ix, gate, &decided.decision, &pending.call));
        }
        if events.is_empty() { self.deliver_call(ix, now) } else { events }
    }

    /// What an answer comes to for the worker. A call that was approved and has not begun doesn't run in a node that is to stop.
    fn delivery(&self, ix: NodeIx, gate: &Gate, decision: &GateReply, call: &str) -> Event {
        let starts = matches!((&gate.kind, decision), (GateKind::Permission { .. }, GateReply::Approve | GateReply::Modify { .. }));
        if let Some(refused) = self.refused_by_stop(ix, call).filter(|_| starts) {
            return refused;
        }
        let call = call.to_string();
        let fact = match (&gate.kind, decision) {
            (_, GateReply::Reject { message }) => {
                let message = if message.is_empty() {
                    "the operator said no".to_string()
                } else {
                    Cause::Rejected { message: message.clone(), by: String::new() }.message()
                };
                NodeFact::ToolRefused { call, message }
            }
            (GateKind::Permission { .. }, GateReply::Answer { value }) => NodeFact::ToolAnswered { call, value: value.clone() },
            (GateKind::Permission { tool, .. }, _) => {
                let args = edited(decision, &gate.payload).clone();
                NodeFact::ToolStarted { call: ToolCall { id: call, tool: tool.clone(), args }, rule: None }
            }
            (
                GateKind::Question { .. }
                | GateKind::UnknownEffect { .. }
                | GateKind::Failure { .. }
                | GateKind::Replan { .. }
                | GateKind::Approval
                | GateKind::Review,
                _,
            ) => NodeFact::QuestionAnswered { call, value: edited(decision, &gate.payload).clone() },
        };
        self.fact(ix, fact)
    }

    fn decided(&self, id: GateId) -> Option<(&Gate, &Decided)> {
        let run = self.gate_run(id)?;
        match &run.end {
            GateEnd::Decided(decided) => Some((&run.gate, decided)),
            GateEnd::Open | GateEnd::Voided(_) => None,
        }
    }
}
