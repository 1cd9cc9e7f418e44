//! What a worker's facts call for.

use super::calls::JudgedCall;
use crate::engine::run::Decider;
use crate::engine::{Cause, ErrorKind, Event, FailedTry, ModelCall, NodeError, NodeFact, Time, WorkerFact, graph::NodeIx, tries};
use crate::plan::{NodeId, Retry};
use crate::text::{cost, thousands};

impl Decider<'_> {
    pub(super) fn decide_work(&self, ix: NodeIx, fact: &WorkerFact, now: Time) -> Vec<Event> {
        match fact {
            WorkerFact::Done(done) => self.finish(ix, done.result.clone(), done.mark.clone(), now),
            WorkerFact::Cached(source) => vec![self.fact(ix, NodeFact::Cached { source: source.clone() })],
            WorkerFact::Failed(error) => self.decide_failure(ix, error.clone(), now),
            WorkerFact::HandedBack { error, result } => self.fail(ix, error.clone(), Some(result.clone())),
            WorkerFact::Aborted => self.cancel(ix, &Cause::WorkerStopped),
            WorkerFact::ModelAsked { call, model, need } => self.decide_model(ix, (call, model), need.as_ref(), now),
            WorkerFact::ModelWaits { call, reason } => {
                vec![self.fact(ix, NodeFact::ModelWaits { call: call.clone(), reason: reason.clone() })]
            }
            WorkerFact::ModelSent { call, unheard } => {
                let number = self.tries_of(ix, call) + 1;
                vec![self.fact(ix, NodeFact::ModelSent { call: call.clone(), number, unheard: unheard.clone() })]
            }
            WorkerFact::ModelAnswers { call } => vec![self.fact(ix, NodeFact::ModelAnswers { call: call.clone() })],
            WorkerFact::ModelTryFailed { call, failed } => vec![self.decide_try(ix, call, failed, now)],
            WorkerFact::ToolAsked { call, verdict, why, leaves } => {
                self.decide_tool(ix, call, JudgedCall { verdict: *verdict, why, leaves: leaves.as_deref() }, now)
            }
            WorkerFact::ToolDone { call, report } => {
                vec![self.fact(ix, NodeFact::ToolFinished { call: call.clone(), report: report.clone() })]
            }
            WorkerFact::QuestionAsked { .. } => self.decide_question(ix, fact, now),
            WorkerFact::QuestionOver { call, why } => self.decide_question_over(ix, call, why),
            WorkerFact::ModelCalled(call) => self.decide_called(ix, call),
            WorkerFact::Message { role, content } => vec![self.fact(ix, NodeFact::Message { role: *role, content: content.clone() })],
            WorkerFact::Output(text) => vec![self.fact(ix, NodeFact::Output { text: text.clone() })],
            WorkerFact::Thought(text) => vec![self.fact(ix, NodeFact::Thought { text: text.clone() })],
            WorkerFact::Noted { label, text } => vec![self.fact(ix, NodeFact::Noted { label: label.clone(), text: text.clone() })],
            WorkerFact::PlanWanted(why) => vec![self.fact(ix, NodeFact::PlanWanted { why: why.clone() })],
            WorkerFact::Log(text) => vec![Event::LogLine { node_id: self.id_of(ix), text: text.clone() }],
        }
    }

    /// A fact of an attempt that is over: on record where something ended, and nothing more.
    pub(super) fn decide_late(&self, node: &NodeId, fact: &WorkerFact) -> Vec<Event> {
        let words = match fact {
            WorkerFact::Done(_) => "a result came after the attempt was over; it is not used",
            WorkerFact::Failed(_) | WorkerFact::HandedBack { .. } => "a failure came after the attempt was over",
            WorkerFact::ToolDone { .. } => "a tool call ended after the attempt was over",
            _ => return Vec::new(),
        };
        self.graph.find(node).map(|_| Event::LogLine { node_id: node.clone(), text: words.to_string() }).into_iter().collect()
    }

    /// Another attempt, the end, or a question: after an effect that may have happened, only a person may go on.
    pub(super) fn decide_failure(&self, ix: NodeIx, error: NodeError, now: Time) -> Vec<Event> {
        let passes = match error.kind {
            ErrorKind::NothingBegan => true,
            ErrorKind::Transient if self.may_have_begun(ix) => {
                let reason = Cause::Doubt { after: Box::new(error.message.into()) };
                let lost = self.fact(ix, NodeFact::Unknown { reason });
                return self.voids(ix, &Cause::AttemptOver).into_iter().chain([lost]).collect();
            }
            ErrorKind::Transient => true,
            ErrorKind::Timeout | ErrorKind::Limit | ErrorKind::Plan | ErrorKind::Rejected | ErrorKind::Permanent => false,
        };
        let (retry, attempt, failures) = (self.retry(ix), self.nodes[ix].attempt, self.flows[ix].failures + 1);
        if !passes || failures >= retry.attempts || self.is_wrapping_up(ix) {
            return self.fail(ix, error, None);
        }
        let until = now.plus(tries::pause(&retry, failures, &self.seed(ix)).max(error.retry_after_ms.unwrap_or(0)));
        let retrying = self.fact(ix, NodeFact::Retrying { attempt, error, until });
        self.voids(ix, &Cause::AttemptOver).into_iter().chain([retrying]).collect()
    }

    /// Another try of a model call, or its end; the worker hears which.
    fn decide_try(&self, ix: NodeIx, call: &str, failed: &FailedTry, now: Time) -> Event {
        let number = self.tries_of(ix, call) + 1;
        let seed = format!("{}/{}", self.seed(ix), self.nodes[ix].attempt);
        let next_at = tries::next_try(&self.retry(ix), number, failed, &seed).map(|wait| now.plus(wait));
        let (next_at, reserved) = match (next_at, self.held_amount(ix, call)) {
            // What is sent otherwise goes on with what was reserved.
            (Some(at), Some(held)) if failed.otherwise.is_none() => {
                let reserved = self.next_reservation(ix, held, failed);
                (reserved.map(|_| at), reserved)
            }
            (next_at, _) => (next_at, None),
        };
        self.fact(ix, NodeFact::ModelTryFailed { call: call.to_string(), number, failed: failed.clone(), next_at, reserved })
    }

    /// A call that ended; one for which more is charged than was asked for is noted.
    fn decide_called(&self, ix: NodeIx, call: &ModelCall) -> Vec<Event> {
        let beyond = self.held_amount(ix, &call.id).map_or(0, |held| held.beyond(call));
        let note = |label: &str, text: String| self.fact(ix, NodeFact::Noted { label: label.to_owned(), text });
        let more = || note("charged more", format!("{} charged {} tokens more than it was asked for", call.provider, thousands(beyond)));
        let warns = self.settings().map_or(0.0, |settings| settings.warn_usd);
        let before = self.progress.spending.account.used;
        let after = before.plus(self.taken_by_call(ix, call));
        let is_passed = warns > 0.0 && (before.usd()..after.usd()).contains(&warns);
        let dear = || note("costs", format!("the run has cost {} by now; it warns from {} on", cost(after.usd()), cost(warns)));
        let called = self.fact(ix, NodeFact::ModelCalled { call: call.clone() });
        [called].into_iter().chain((beyond > 0).then(more)).chain(is_passed.then(dear)).collect()
    }

    /// Tries that a model call has used.
    fn tries_of(&self, ix: NodeIx, call: &str) -> u32 {
        let worker = self.flows[ix].worker.as_ref();
        worker.and_then(|worker| worker.models.get(call)).map_or(0, |call| call.tries)
    }

    fn retry(&self, ix: NodeIx) -> Retry {
        self.policy(ix).and_then(|policy| policy.get(|policy| policy.retry.clone())).unwrap_or_default()
    }

    /// What jitter is made of.
    fn seed(&self, ix: NodeIx) -> String {
        format!("{}/{}", self.id().map_or("", |run| run.0.as_str()), self.id_of(ix))
    }

    /// Agents act only through calls on record; other work is judged by what it may do. A plan that says that nothing is left behind
    /// is believed.
    fn may_have_begun(&self, ix: NodeIx) -> bool {
        if self.policy(ix).and_then(|policy| policy.get(|policy| policy.side_effects)) == Some(false) {
            return false;
        }
        let began = self.flows[ix].worker.as_ref().is_some_and(|worker| worker.began);
        began || self.graph.nodes[ix].side_effects && !self.listens(ix)
    }
}
