//! What an event asks of the world, read from the event and the state before it. Nothing is asked that no event says.

use super::{
    Action, Answer, Effect, ErrorKind, Event, EventTrait, Granted, HeldAt, Job, NodeFact, NodeState, Record, Time, Timer, TimerKind,
    graph::NodeIx, run::RunState,
};
use crate::plan::NodeId;

impl RunState {
    /// Effects of an event that is about to be folded.
    pub(super) fn effects(&self, record: &Record) -> Vec<Effect> {
        if !record.event.has(EventTrait::HasEffects) {
            return Vec::new();
        }
        if let Event::Node { node_id, fact, .. } = &record.event {
            return self.graph.find(node_id).map(|ix| self.node_effects(ix, fact, record)).unwrap_or_default();
        }
        if let Event::Acted { action, nodes, .. } = &record.event {
            return self.action_effects(action, nodes);
        }
        if let Event::Undone { action, .. } = &record.event {
            return self.without_action(*action).map(Self::retry_timers).unwrap_or_default();
        }
        if let Event::ModelChosen { model, .. } = &record.event {
            return vec![Effect::UseModel { model: model.clone() }];
        }
        if let Event::ReplanAsked { number, .. } = &record.event {
            return vec![Effect::Replan { number: *number }];
        }
        if !record.event.has(EventTrait::ChangesDriver) {
            return Vec::new();
        }
        // Whoever was asked for a new plan ended with the driver.
        let replan = self.replan().filter(|replan| replan.gate.is_none()).map(|replan| Effect::Replan { number: replan.number });
        self.retry_timers().into_iter().chain(replan).collect()
    }

    fn node_effects(&self, ix: NodeIx, fact: &NodeFact, record: &Record) -> Vec<Effect> {
        let at = record.at;
        if let NodeFact::Started { attempt, job, .. } = fact {
            return self.start_effects(ix, *attempt, job, at);
        }
        if let NodeFact::Retrying { attempt, error, until } = fact {
            let timer = self.timer(ix, *attempt, TimerKind::Retry);
            return self.abort_if(ix, error.kind).into_iter().chain([Effect::SetTimer { timer, at: *until }]).collect();
        }
        if let NodeFact::Failed { error, .. } = fact {
            return self.abort_if(ix, error.kind).into_iter().collect();
        }
        // A failure that is kept is one all the same.
        if let NodeFact::BreakHit { kept, .. } | NodeFact::EndKept { kept, .. } = fact {
            return if let HeldAt::Failure { error, .. } = &**kept {
                self.abort_if(ix, error.kind).into_iter().collect()
            } else {
                Vec::new()
            };
        }
        if let NodeFact::ModelAnswers { call } = fact {
            return self.resumed(ix, call, Goes::ToWork, at).into_iter().collect();
        }
        if let NodeFact::ModelTryFailed { call, next_at: Some(next), failed, reserved, .. } = fact {
            // What is sent otherwise was sent already: nobody waits to hear of it, and the next to ask must not take this for its answer.
            let answer =
                || self.answer(ix, call, Answer::Again { after_ms: next.since(at), tokens: reserved.map(|reserved| reserved.tokens) });
            return failed.otherwise.is_none().then(answer).into_iter().collect();
        }
        if let Some((call, goes, answer)) = answered(fact) {
            return [self.answer(ix, call, answer)].into_iter().chain(self.resumed(ix, call, goes, at)).collect();
        }
        self.abort(ix).filter(|_| record.event.has(EventTrait::EndsWork)).into_iter().collect()
    }

    /// What an action asks of the world by itself; what follows from it asks for the rest.
    fn action_effects(&self, action: &Action, nodes: &[NodeId]) -> Vec<Effect> {
        if !action.reopens() {
            return Vec::new();
        }
        // One that is given its result before its end resets none; what is inside it is cancelled by events of its own.
        if let Action::Override { node, .. } = action
            && nodes.is_empty()
        {
            return self.graph.find(node).and_then(|ix| self.abort(ix)).into_iter().collect();
        }
        let found = nodes.iter().filter_map(|id| self.graph.find(id));
        found.flat_map(|ix| [ix].into_iter().chain(self.inside_of(ix))).filter_map(|ix| self.abort(ix)).collect()
    }

    fn start_effects(&self, ix: NodeIx, attempt: u32, job: &Job, at: Time) -> Vec<Effect> {
        match job {
            Job::Inline { .. } | Job::Inside { .. } => Vec::new(),
            Job::Agent(_) | Job::Tool { .. } | Job::Code { .. } => {
                let start = Effect::Start {
                    node: self.id_of(ix),
                    generation: self.nodes[ix].generation,
                    attempt,
                    job: Box::new(job.clone()),
                    deps: self.material(ix, job),
                    approved: self.flows[ix].gates.approval.is_some(),
                    cache: self.cache_use(ix, attempt, job),
                };
                let timer = self
                    .limit_ms(ix)
                    .map(|limit| Effect::SetTimer { timer: self.timer(ix, attempt, TimerKind::Timeout), at: at.plus(limit) });
                [start].into_iter().chain(timer).collect()
            }
        }
    }

    /// Timers of nodes that wait for their next attempt; those that were set before ended with the process that held them, or rang unheard.
    fn retry_timers(&self) -> Vec<Effect> {
        let resting = self.nodes.iter().enumerate().filter_map(|(at, node)| {
            let NodeState::Retrying { until } = node.state else { return None };
            Some((NodeIx(u32::try_from(at).ok()?), node.attempt, until))
        });
        resting.map(|(ix, attempt, at)| Effect::SetTimer { timer: self.timer(ix, attempt, TimerKind::Retry), at }).collect()
    }

    /// Working time of one attempt in milliseconds.
    pub(super) fn limit_ms(&self, ix: NodeIx) -> Option<u64> {
        let seconds = self.time_limit(ix)?.max(0.0);
        let limit = std::time::Duration::try_from_secs_f64(seconds).unwrap_or(std::time::Duration::MAX);
        Some(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX))
    }

    fn timer(&self, ix: NodeIx, attempt: u32, kind: TimerKind) -> Timer {
        Timer { node: self.id_of(ix), generation: self.nodes[ix].generation, attempt, kind }
    }

    /// A new timer for what is left, when this answer sends a resting worker back to work.
    fn resumed(&self, ix: NodeIx, call: &str, goes: Goes, at: Time) -> Option<Effect> {
        let worker = self.flows[ix].worker.as_ref()?;
        let pending = worker.pending.iter().find(|pending| pending.call == call);
        let resumes = match goes {
            Goes::ToWork => true,
            Goes::OnlyIfLast => pending.is_some_and(|pending| worker.pending.len() == 1 || pending.is_inner()),
        };
        let left = self.limit_ms(ix)?.saturating_sub(worker.worked_ms);
        (resumes && (worker.since.is_none() || worker.model_wait().is_some()))
            .then(|| Effect::SetTimer { timer: self.timer(ix, self.nodes[ix].attempt, TimerKind::Timeout), at: at.plus(left) })
    }

    fn answer(&self, ix: NodeIx, call: &str, answer: Answer) -> Effect {
        let node = &self.nodes[ix];
        Effect::Answer { node: self.id_of(ix), generation: node.generation, attempt: node.attempt, call: call.to_string(), answer }
    }

    /// Stops the worker, if there is one.
    fn abort(&self, ix: NodeIx) -> Option<Effect> {
        let node = &self.nodes[ix];
        let there = self.flows[ix].worker.is_some();
        there.then(|| Effect::Abort { node: self.id_of(ix), generation: node.generation, attempt: node.attempt })
    }

    /// A worker that reported its failure is gone; one that ran out of time is not.
    fn abort_if(&self, ix: NodeIx, kind: ErrorKind) -> Option<Effect> {
        if kind == ErrorKind::Timeout { self.abort(ix) } else { None }
    }
}

/// What a worker is told about a call that it waits for, and whether it works again from then on.
fn answered(fact: &NodeFact) -> Option<(&str, Goes, Answer)> {
    if let NodeFact::ModelStarted { call, guidance, wrap_up, reserved, .. } = fact {
        let granted = reserved.as_ref().map(|reserved| Granted { tokens: reserved.call.tokens, at_cap: reserved.at_cap });
        return Some((call, Goes::ToWork, Answer::Go { guidance: guidance.clone(), wrap_up: *wrap_up, granted }));
    }
    if let NodeFact::ModelTryFailed { call, failed, .. } = fact {
        return Some((call, Goes::ToWork, Answer::Refused { message: failed.message.clone() }));
    }
    if let NodeFact::ToolStarted { call, .. } = fact {
        return Some((&call.id, Goes::ToWork, Answer::Run { args: call.args.clone() }));
    }
    if let NodeFact::ToolRefused { call, message } = fact {
        return Some((call, Goes::OnlyIfLast, Answer::Refused { message: message.clone() }));
    }
    if let NodeFact::ToolAnswered { call, value } | NodeFact::QuestionAnswered { call, value } = fact {
        return Some((call, Goes::OnlyIfLast, Answer::Value(value.clone())));
    }
    None
}

/// Whether an answer sends its worker back to work by itself, or only when nothing else is pending.
#[derive(Clone, Copy)]
enum Goes {
    ToWork,
    OnlyIfLast,
}
