//! New plans for what is left of a run: when one is asked for, what a proposal comes to, and what follows from the reply to it. What has
//! ended well or is under way stays as it is: a piece that would change it is refused as every edit is.

use crate::engine::budget::CapRoom;
use crate::engine::run::Decider;
use crate::engine::{
    Action, Actor, Cause, Event, Gate, GateKind, GateReply, HeldAt, Mark, NodeError, NodeFact, OPERATOR, REHEARSAL, Record, ReplanAnswer,
    ReplanPiece, ReplanTrigger, SkippedBy, StateGroup, Time, evolve::Run, flow::Phase, graph::NodeIx, inner_run::InnerRunIx,
    replan::MOST_BY_ITSELF, resolve::Ending,
};
use crate::plan::{OnFailure, edit::Edit};
use serde_json::Value;

impl Decider<'_> {
    /// Why no planner can be asked; `None` when one can.
    fn no_planner(&self) -> Option<String> {
        // What planning takes in the middle of a run is reserved nowhere yet.
        if self.budget().is_some_and(CapRoom::is_capped) {
            return Some("the run has a budget, and what making a new plan takes isn't counted in it".to_owned());
        }
        let model = self.settings().filter(|settings| !settings.rehearse).and_then(|settings| settings.model.as_deref());
        model
            .is_none_or(|model| [OPERATOR, REHEARSAL].contains(&model))
            .then(|| "a new plan needs a model, and none is connected".to_owned())
    }

    /// Whether people may have a new plan made for a node that failed.
    pub(super) fn offers_plan(&self, ix: NodeIx) -> bool {
        self.no_planner().is_none() && self.replan().is_none() && self.graph.nodes[ix].home == InnerRunIx(0)
    }

    /// Why a new plan can't be asked for now.
    pub(super) fn replan_refusal(&self) -> Option<String> {
        if !self.progress.started {
            return Some("the run has not started: edit its plan".to_owned());
        }
        match self.replan() {
            Some(replan) => Some(match replan.gate {
                Some(gate) => format!("a new plan waits at gate {}: reply to it first", gate.0),
                None => "a new plan is being made already".to_owned(),
            }),
            None => self.no_planner(),
        }
    }

    pub(super) fn replan_event(&self, ix: Option<NodeIx>, trigger: ReplanTrigger, guidance: Vec<String>, by: Option<&Actor>) -> Event {
        let node = ix.map(|ix| self.id_of(ix));
        Event::ReplanAsked { number: self.gates.replans.made + 1, node, trigger, guidance, by: by.cloned() }
    }

    /// Why a failure calls for a new plan, if it does.
    pub(super) fn failure_trigger(&self, ix: NodeIx, error: &NodeError) -> Option<ReplanTrigger> {
        match (self.on_failure(ix), &self.flows[ix].gates.plan_wanted) {
            (Some(OnFailure::Replan), _) => Some(ReplanTrigger::Failure { message: error.message.clone() }),
            (Some(OnFailure::Ask), _) | (_, None) => None,
            (Some(OnFailure::Fail | OnFailure::Safe) | None, Some(reason)) => Some(ReplanTrigger::Agent { reason: reason.clone() }),
        }
    }

    /// Why a result calls for a new plan, if it does. What is made up calls for nothing.
    ///
    /// # Errors
    /// Why the condition of its plan has no value.
    pub(super) fn result_trigger(&self, ix: NodeIx, result: &Value, mark: Option<&Mark>) -> Result<Option<ReplanTrigger>, String> {
        if mark == Some(&Mark::Rehearsal) || self.is_ended_by_people(ix) {
            return Ok(None);
        }
        if let Some(reason) = &self.flows[ix].gates.plan_wanted {
            return Ok(Some(ReplanTrigger::Agent { reason: reason.clone() }));
        }
        let Some(condition) = self.policy(ix).and_then(|policy| policy.get(|policy| policy.replan_when.as_ref())) else { return Ok(None) };
        let ending = Ending { node: ix, state: Mark::state(mark), result: Some(result), error: None };
        let holds = self.holds(condition, ix, Some(ending))?;
        Ok(holds.then(|| ReplanTrigger::Result { condition: condition.clone() }))
    }

    /// Why no new plan is asked for by the run itself; `None` when one is.
    pub(super) fn no_new_plan(&self, ix: NodeIx, trigger: &ReplanTrigger) -> Option<String> {
        let replans = &self.gates.replans;
        if let Some(why) = &self.flows[ix].gates.no_plan {
            return Some(why.clone());
        }
        if self.graph.nodes[ix].home != InnerRunIx(0) {
            return Some("only the run's own plan is made anew, and this node runs inside another".to_owned());
        }
        let is_same = matches!(trigger, ReplanTrigger::Failure { message } if replans.last_failure.as_ref() == Some(message));
        if is_same {
            return Some("the same failure led to the last new plan".to_owned());
        }
        if replans.by_itself >= MOST_BY_ITSELF {
            return Some(format!("the run has asked for {MOST_BY_ITSELF} new plans by itself already"));
        }
        self.no_planner()
    }

    /// The planner has answered. What its model took is on record, whatever came of it.
    pub(super) fn decide_proposal(&self, number: u32, answer: &ReplanAnswer, now: Time) -> Vec<Event> {
        let Some(replan) = self.replan().filter(|replan| replan.number == number && replan.gate.is_none()) else { return Vec::new() };
        let Some(ix) = replan.node.as_ref().and_then(|node| self.graph.find(node)).or_else(|| self.place_of_plan()) else {
            return Vec::new();
        };
        let mut events: Vec<Event> = answer.calls.iter().map(|call| self.fact(ix, NodeFact::ModelCalled { call: call.clone() })).collect();
        let pieces = answer.plan.as_ref().map_err(Clone::clone).and_then(|plan| {
            let known = self.plan().ok_or_else(|| "the run has no plan".to_owned())?;
            let pieces = ReplanPiece::between(known, plan);
            if pieces.is_empty() {
                return Err("the planner changed nothing".to_owned());
            }
            self.pieces_refusal(&pieces).map_or(Ok(pieces), |why| Err(format!("the planner's plan doesn't fit the run: {why}")))
        });
        events.push(match pieces {
            Ok(pieces) => {
                let why = replan.trigger.reason(&self.id_of(ix), replan.by.as_ref());
                let is_private = self.brief().is_some_and(|brief| brief.is_private());
                let count = |glyph: &str| pieces.iter().filter(|piece| piece.piece.starts_with(glyph)).count();
                let text = format!("take the new plan? {} added, {} removed, {} changed", count("+"), count("-"), count("~"));
                let payload = serde_json::to_value(&pieces).unwrap_or_default();
                let kind =
                    GateKind::Replan { text, trigger: replan.trigger.clone(), guidance: replan.guidance.clone(), private: is_private };
                self.gate_event(ix, kind, payload, why, now)
            }
            Err(why) => Event::ReplanFailed { number, why },
        });
        events
    }

    /// Where a proposal is shown that no node waits for: at what failed, else at what has not ended, else at the end.
    fn place_of_plan(&self) -> Option<NodeIx> {
        let nodes = || self.inner(InnerRunIx(0)).into_iter().flat_map(|inner| inner.nodes());
        let failed = nodes().find(|&ix| self.nodes[ix].state.group() == StateGroup::Failed);
        failed.or_else(|| nodes().find(|&ix| !self.is_over(ix))).or_else(|| nodes().last())
    }

    /// A result that calls for a new plan, and none can be made: goes on as it is, or not.
    pub(super) fn unplanned(&self, ix: NodeIx, trigger: ReplanTrigger, why: &str, now: Time) -> Event {
        let reason = trigger.reason(&self.id_of(ix), None);
        let text = "go on with the plan as it is?".to_owned();
        let kind = GateKind::Replan { text, trigger, guidance: Vec::new(), private: false };
        self.gate_event(ix, kind, Value::Array(Vec::new()), format!("{reason}; no new plan: {why}"), now)
    }

    /// What a person's command calls for, and what follows at once where it replies to a proposal.
    pub(super) fn with_new_plan(&self, events: Vec<Event>, now: Time) -> Vec<Event> {
        if let [decided @ Event::GateDecided { gate, decision, by, .. }] = &events[..]
            && let Some(run) = self.gate_run(*gate).filter(|run| matches!(run.gate.kind, GateKind::Replan { .. }))
        {
            return self.decide_replan(&run.gate.clone(), decided.clone(), (decision, by), now);
        }
        events
    }

    /// Why these pieces can't be made of the plan as it is now.
    fn pieces_refusal(&self, pieces: &[ReplanPiece]) -> Option<String> {
        let plan = self.plan()?;
        match ReplanPiece::edits(pieces, plan) {
            Ok(edits) => self.edit_refusal(&edits),
            Err(why) => Some(why),
        }
    }

    /// Why a reply doesn't fit a proposal.
    pub(in crate::engine) fn replan_misfit(&self, gate: &Gate, reply: &GateReply) -> Option<String> {
        let waits = self.waits_at(gate).is_some();
        match reply {
            GateReply::Approve | GateReply::Modify { .. } => {
                let payload = if let GateReply::Modify { payload } = reply { payload } else { &gate.payload };
                let Some(pieces) = ReplanPiece::read(payload) else {
                    return Some("the payload must be a list of the pieces that were shown".to_owned());
                };
                match (pieces.is_empty(), gate.payload.as_array().is_none_or(Vec::is_empty)) {
                    (true, true) => None,
                    (true, false) => Some("no piece is left: reject the new plan instead".to_owned()),
                    (false, _) => self.pieces_refusal(&pieces),
                }
            }
            GateReply::Reject { message } if !message.trim().is_empty() => self.no_planner(),
            GateReply::Reject { .. } => None,
            GateReply::Skip | GateReply::CancelBranch => (!waits).then(|| "no node waits for this plan: take it or reject it".to_owned()),
            GateReply::Answer { .. } | GateReply::Lost { .. } | GateReply::OnFailure { .. } => {
                Some("take the new plan, a part of it, or reject it".to_owned())
            }
        }
    }

    /// The node that waits at a proposal.
    fn waits_at(&self, gate: &Gate) -> Option<NodeIx> {
        self.graph.find(&gate.node).filter(|&ix| self.flows[ix].phase == Phase::AtGate(gate.id))
    }

    /// A reply to a proposal, and all that follows from it: the node that waited ends as it would have, then the plan changes. A rejection
    /// with words has the planner try once more.
    fn decide_replan(&self, gate: &Gate, decided: Event, (reply, by): (&GateReply, &Actor), now: Time) -> Vec<Event> {
        let mut after = AfterEvents { run: self.state.copy(), events: Vec::new() };
        after.add(vec![decided]);
        let ix = self.waits_at(gate);
        let GateKind::Replan { trigger, guidance, .. } = &gate.kind else { return after.events };
        match reply {
            GateReply::Reject { message } if !message.trim().is_empty() => {
                let guidance = guidance.iter().cloned().chain([message.trim().to_owned()]).collect();
                let asked = after.decider().replan_event(ix, trigger.clone(), guidance, Some(by));
                after.add(vec![asked]);
            }
            GateReply::Skip => {
                let reason = Cause::Skipped { by: by.who.clone(), why: String::new() };
                after.add(ix.map(|ix| after.decider().skip(ix, SkippedBy::Person, reason)).unwrap_or_default());
            }
            GateReply::CancelBranch => {
                let reason = Cause::Cancelled { by: by.who.clone(), why: String::new() };
                after.add(ix.map(|ix| after.decider().cancel_branch(ix, &reason)).unwrap_or_default());
            }
            GateReply::Reject { .. }
            | GateReply::Approve
            | GateReply::Modify { .. }
            | GateReply::Answer { .. }
            | GateReply::Lost { .. }
            | GateReply::OnFailure { .. } => {
                after.add(ix.map(|ix| after.decider().conclude(ix, now)).unwrap_or_default());
                let taken = match reply {
                    GateReply::Modify { payload } => Some(payload),
                    GateReply::Approve => Some(&gate.payload),
                    _ => None,
                };
                let edits = taken.and_then(ReplanPiece::read).zip(after.run.plan());
                let edits: Vec<Edit> = edits.and_then(|(pieces, plan)| ReplanPiece::edits(&pieces, plan).ok()).unwrap_or_default();
                if !edits.is_empty() {
                    let why = format!("gate {} proposed it", gate.id.0);
                    after.add(after.decider().decide_act(&Action::Edit { edits }, &why, by));
                }
            }
        }
        after.events
    }

    /// What its attempts came to is its end, as far as no gate is behind it.
    fn conclude(&self, ix: NodeIx, now: Time) -> Vec<Event> {
        match self.flows[ix].gates.end.as_deref() {
            Some(HeldAt::Failure { error, result }) => self.fail_for_good(ix, error.clone(), result.clone()),
            Some(HeldAt::Result { result, mark }) => self.hand_in(ix, result.clone(), mark.clone(), now),
            Some(HeldAt::Start) | None => Vec::new(),
        }
    }
}

/// Events of one reply, each decided by the run behind those before it.
struct AfterEvents {
    run: Run,
    events: Vec<Event>,
}

impl AfterEvents {
    fn decider(&self) -> Decider<'_> {
        Decider { state: &self.run }
    }

    fn add(&mut self, events: Vec<Event>) {
        for event in events {
            self.run.evolve(&Record { seq: self.run.last_seq() + 1, at: Time::default(), more: true, event: event.clone() });
            self.events.push(event);
        }
    }
}
