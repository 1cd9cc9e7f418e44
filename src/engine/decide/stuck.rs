//! What follows from an end that somebody has a say in: a failure that its plan asks people about, and whatever calls for a new plan. The
//! gate with what can be chosen, and what each choice comes to.

use crate::engine::run::Decider;
use crate::engine::{
    Cause, Decided, Event, FailureChoice, GateKind, GateReply, HeldAt, NodeError, NodeFact, ReplanTrigger, SkippedBy, Time,
    gate::choice_labels, graph::NodeIx,
};
use crate::plan::OnFailure;
use serde_json::Value;

impl Decider<'_> {
    pub(super) fn on_failure(&self, ix: NodeIx) -> Option<OnFailure> {
        self.policy(ix).and_then(|policy| policy.get(|policy| policy.on_failure))
    }

    /// Whether what follows from a failure is for people or a planner to say.
    pub(super) fn keeps_failure(&self, ix: NodeIx, error: &NodeError) -> bool {
        let asks = self.on_failure(ix) == Some(OnFailure::Ask) || self.failure_trigger(ix, error).is_some();
        asks && !self.is_ended_by_people(ix) && !self.nodes[ix].lineage.rehearsed
    }

    /// Who stopped or cancelled a node has said what follows.
    pub(super) fn is_ended_by_people(&self, ix: NodeIx) -> bool {
        self.is_wrapping_up(ix) || self.progress.stopped_by.is_some() || self.progress.cancelled_by.is_some()
    }

    /// Asks the planner, or people.
    pub(super) fn follow_stuck(&self, ix: NodeIx, now: Time) -> Vec<Event> {
        let Some(end) = self.flows[ix].gates.end.as_deref() else { return Vec::new() };
        match end {
            HeldAt::Failure { error, .. } => {
                let Some(trigger) = self.failure_trigger(ix, error) else { return vec![self.failure_gate(ix, error, None, now)] };
                match self.no_new_plan(ix, &trigger) {
                    None => self.ask_planner(ix, end, trigger),
                    Some(why) => vec![self.failure_gate(ix, error, Some(&why), now)],
                }
            }
            HeldAt::Result { result, mark } => match self.result_trigger(ix, result, mark.as_ref()) {
                Ok(Some(trigger)) => match self.no_new_plan(ix, &trigger) {
                    None => self.ask_planner(ix, end, trigger),
                    Some(why) => vec![self.unplanned(ix, trigger, &why, now)],
                },
                Ok(None) | Err(_) => self.hand_in(ix, result.clone(), mark.clone(), now),
            },
            HeldAt::Start => Vec::new(),
        }
    }

    /// Asks the planner, once the new plan before this one is decided.
    fn ask_planner(&self, ix: NodeIx, end: &HeldAt, trigger: ReplanTrigger) -> Vec<Event> {
        let asks = || self.replan_event(Some(ix), trigger.clone(), Vec::new(), None);
        let waits =
            || self.fact(ix, NodeFact::EndKept { kept: Box::new(end.clone()), reason: trigger.reason(&self.id_of(ix), None).into() });
        vec![if self.replan().is_none() { asks() } else { waits() }]
    }

    /// Asks what becomes of a node that failed; `no_plan` is why no new plan was made.
    fn failure_gate(&self, ix: NodeIx, error: &NodeError, no_plan: Option<&str>, now: Time) -> Event {
        let id = self.id_of(ix);
        let choices = [
            (FailureChoice::Retry, true),
            (FailureChoice::Model, self.listens(ix)),
            (FailureChoice::Skip, true),
            (FailureChoice::Replan, self.offers_plan(ix)),
            (FailureChoice::Fail, true),
        ];
        let choices: Vec<FailureChoice> = choices.into_iter().filter(|(_, is_offered)| *is_offered).map(|(choice, _)| choice).collect();
        let text = format!("`{id}` failed. Choose: {}", choice_labels(&choices, " / "));
        let hint = error.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        let acted = if self.nodes[ix].lineage.acted { "; it may have changed something already, which a retry would do again" } else { "" };
        let no_plan = no_plan.map(|why| format!("; no new plan: {why}")).unwrap_or_default();
        let why = format!("{}{hint}{acted}{no_plan}", error.message);
        // What it was to do may be what can't be known.
        let payload = self.payload(ix).unwrap_or_default();
        self.gate_event(ix, GateKind::Failure { text, choices }, payload, why, now)
    }

    /// What people said of a failure.
    pub(super) fn follow_failure(&self, ix: NodeIx, decided: &Decided) -> Vec<Event> {
        match &decided.decision {
            GateReply::Modify { .. } | GateReply::OnFailure { choice: FailureChoice::Retry | FailureChoice::Model, .. } => {
                vec![self.ready_event(ix)]
            }
            GateReply::OnFailure { choice: FailureChoice::Skip, .. } | GateReply::Skip => {
                self.skip(ix, SkippedBy::Person, Cause::Skipped { by: decided.by.who.clone(), why: String::new() })
            }
            GateReply::CancelBranch => self.cancel_branch(ix, &Cause::Cancelled { by: decided.by.who.clone(), why: String::new() }),
            GateReply::OnFailure { choice: FailureChoice::Replan, with } => {
                let message = self.failure(ix).map_or_else(String::new, |(error, _)| error.message.clone());
                let guidance = Some(with.clone()).filter(|with| !with.is_empty()).into_iter().collect();
                vec![self.replan_event(Some(ix), ReplanTrigger::Failure { message }, guidance, Some(&decided.by))]
            }
            GateReply::OnFailure { choice: FailureChoice::Fail, .. }
            | GateReply::Reject { .. }
            | GateReply::Approve
            | GateReply::Answer { .. }
            | GateReply::Lost { .. } => match self.failure(ix) {
                Some((error, result)) => self.fail_for_good(ix, error.clone(), result.cloned()),
                None => Vec::new(),
            },
        }
    }

    /// How its attempts failed, and what they gave.
    fn failure(&self, ix: NodeIx) -> Option<(&NodeError, Option<&Value>)> {
        match self.flows[ix].gates.end.as_deref()? {
            HeldAt::Failure { error, result } => Some((error, result.as_ref())),
            HeldAt::Start | HeldAt::Result { .. } => None,
        }
    }
}
