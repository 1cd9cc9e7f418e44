//! How a node ends: with a result and its routes, in failure, skipped, or cancelled. Open gates are voided first.

use crate::engine::run::Decider;
use crate::engine::{
    Cause, ErrorKind, Event, GateKind, HeldAt, Mark, NodeError, NodeFact, NodeState, SkippedBy, Time,
    gates::schema_misfit,
    graph::NodeIx,
    resolve::{Ending, safe_result},
    route::Routes,
};
use crate::plan::{Dialect, OnFailure, Route};
use serde_json::Value;

impl Decider<'_> {
    /// A result is there: it is checked, waits at the gate after the node if there is one, else the node is complete.
    pub(super) fn finish(&self, ix: NodeIx, result: Value, mark: Option<Mark>, now: Time) -> Vec<Event> {
        let mark = self.nodes[ix].lineage.rehearsed.then_some(Mark::Rehearsal).or(mark);
        let is_made_up = mark == Some(Mark::Rehearsal);
        let schema = self.policy(ix).filter(|_| !is_made_up).and_then(|policy| policy.get(|policy| policy.output_schema.as_ref()));
        if let Some(why) = schema.and_then(|schema| schema_misfit(schema, &result)) {
            return self.fail(ix, NodeError::permanent(format!("the result doesn't fit its schema: {why}")), Some(result));
        }
        if let Some(hit) = self.break_after(ix, &result, mark.as_ref()) {
            return self.voids(ix, &Cause::HasResult).into_iter().chain([hit]).collect();
        }
        match self.result_trigger(ix, &result, mark.as_ref()) {
            Ok(None) => self.hand_in(ix, result, mark, now),
            Ok(Some(trigger)) => {
                let reason = trigger.reason(&self.id_of(ix), None).into();
                let kept = self.fact(ix, NodeFact::EndKept { kept: Box::new(HeldAt::Result { result, mark }), reason });
                self.voids(ix, &Cause::HasResult).into_iter().chain([kept]).collect()
            }
            Err(message) => self.fail(ix, plan_error(message), Some(result)),
        }
    }

    /// The result waits at the gate after the node if there is one, else the node is complete.
    pub(super) fn hand_in(&self, ix: NodeIx, result: Value, mark: Option<Mark>, now: Time) -> Vec<Event> {
        if mark == Some(Mark::Rehearsal) || !self.graph.nodes[ix].gates.after {
            return self.complete(ix, result, mark);
        }
        let returned = self.fact(ix, NodeFact::Returned { mark });
        let gate = self.gate_event(ix, GateKind::Review, result, "the plan asks before its result is used", now);
        self.voids(ix, &Cause::HasResult).into_iter().chain([returned, gate]).collect()
    }

    /// The node has its result; its routes are evaluated before that is recorded.
    pub(super) fn complete(&self, ix: NodeIx, result: Value, mark: Option<Mark>) -> Vec<Event> {
        let mut events = self.voids(ix, &Cause::HasResult);
        let state = Mark::state(mark.as_ref());
        match self.routes(Ending { node: ix, state, result: Some(&result), error: None }) {
            Ok(routes) => {
                // What a rehearsed decision was made of is made up: it gives the way that it takes.
                let decides = state == NodeState::Rehearsed && self.policy(ix).is_some_and(|policy| policy.route() == Route::Decision);
                let way = routes.taken.first().filter(|_| decides).map(|&edge| Value::from(self.route_name(edge)));
                let result = way.unwrap_or(result);
                events.extend(self.routed(ix, routes));
                events.push(self.fact(ix, NodeFact::Completed { result, mark }));
                events.extend(self.stage_over(ix));
                events
            }
            Err(message) => self.fail(ix, plan_error(message), Some(result)),
        }
    }

    /// The node failed for good, unless a breakpoint keeps that or its plan asks what becomes of it.
    pub(super) fn fail(&self, ix: NodeIx, error: NodeError, result: Option<Value>) -> Vec<Event> {
        let mut events = self.voids(ix, &Cause::HasFailed);
        if let Some(hit) = self.break_on_failure(ix, &error, result.as_ref()) {
            events.push(hit);
            return events;
        }
        if self.keeps_failure(ix, &error) {
            let reason = error.message.clone().into();
            events.push(self.fact(ix, NodeFact::EndKept { kept: Box::new(HeldAt::Failure { error, result }), reason }));
            return events;
        }
        events.extend(self.fail_for_good(ix, error, result));
        events
    }

    /// The node failed, and nobody is asked. One that fails safe takes its edges with the error as its result.
    pub(super) fn fail_for_good(&self, ix: NodeIx, error: NodeError, result: Option<Value>) -> Vec<Event> {
        let mut events = Vec::new();
        let safe = match self.policy(ix).and_then(|policy| policy.get(|policy| policy.on_failure)) {
            Some(OnFailure::Safe) => {
                let result = safe_result(&error);
                self.routes(Ending { node: ix, state: NodeState::FailedSafe, result: Some(&result), error: Some(&error.message) }).ok()
            }
            Some(OnFailure::Fail | OnFailure::Replan | OnFailure::Ask) | None => None,
        };
        match safe {
            Some(routes) => {
                events.extend(self.routed(ix, routes));
                events.push(self.fact(ix, NodeFact::Failed { error, safe: true, result }));
            }
            None => events.push(self.fact(ix, NodeFact::Failed { error, safe: false, result })),
        }
        if self.nodes[ix].attempt > 0 {
            events.extend(self.stage_over(ix));
        }
        events
    }

    /// The routes of a node's end; a decision of a stages plan that names none of them is noted in its log.
    fn routed(&self, ix: NodeIx, routes: Routes) -> impl Iterator<Item = Event> + use<> {
        let log = routes.astray.then(|| Event::LogLine { node_id: self.id_of(ix), text: routes.why.clone() });
        log.into_iter().chain([self.fact(ix, NodeFact::Routed { taken: routes.taken, dead: routes.dead, why: routes.why })])
    }

    /// What a stages plan reports when a stage that started is over (seed 004: a checkpoint after the results, then the end).
    fn stage_over(&self, ix: NodeIx) -> Vec<Event> {
        if !self.is_stage(ix) {
            return Vec::new();
        }
        let node_id = self.id_of(ix);
        vec![Event::Checkpoint { node_id: node_id.clone() }, Event::StageFinished { node_id }]
    }

    pub(super) fn is_stage(&self, ix: NodeIx) -> bool {
        self.inner_of(ix).is_some_and(|inner| inner.plan.dialect == Dialect::Stages)
    }

    /// `skip_if` held: routing goes on from here without a result.
    pub(super) fn pass(&self, ix: NodeIx, reason: Cause) -> Vec<Event> {
        match self.routes(Ending { node: ix, state: NodeState::Passed, result: None, error: None }) {
            Ok(routes) => self.routed(ix, routes).chain([self.fact(ix, NodeFact::Passed { reason })]).collect(),
            Err(message) => self.fail(ix, plan_error(message), None),
        }
    }

    /// The node never runs, or not to its end.
    pub(super) fn skip(&self, ix: NodeIx, by: SkippedBy, reason: Cause) -> Vec<Event> {
        let mut events = self.voids(ix, &reason);
        events.push(self.fact(ix, NodeFact::Skipped { reason, by }));
        events
    }

    /// Cancels a node, after everything that runs inside it.
    pub(super) fn cancel(&self, ix: NodeIx, reason: &Cause) -> Vec<Event> {
        let inside = Cause::PartOf { node: self.id_of(ix) };
        let mut events: Vec<Event> = self.open_inside(ix).flat_map(|inner| self.cancel(inner, &inside)).collect();
        events.extend(self.voids(ix, reason));
        events.push(self.fact(ix, NodeFact::Cancelled { reason: reason.clone() }));
        events
    }

    /// Cancels what is not over of a node's branch, the root with its own reason.
    pub(super) fn cancel_branch(&self, root: NodeIx, reason: &Cause) -> Vec<Event> {
        let below = Cause::Branch { node: self.id_of(root) };
        let own = self.branch_of(root).own;
        let open = own.into_iter().filter(|&ix| !self.is_over(ix));
        open.flat_map(|ix| self.cancel(ix, if ix == root { reason } else { &below })).collect()
    }

    pub(super) fn voids(&self, ix: NodeIx, reason: &Cause) -> Vec<Event> {
        self.open_of(ix).into_iter().map(|gate| Event::GateVoided { gate, reason: reason.clone() }).collect()
    }
}

/// A reference or expression of the plan is wrong.
pub(super) fn plan_error(message: String) -> NodeError {
    NodeError::new(ErrorKind::Plan, message)
}
