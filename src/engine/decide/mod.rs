//! What an input calls for, and what follows from the state until nothing does. Looks only at state; one function an input.

mod actions;
mod again;
mod answer;
mod bodies;
mod breaks;
mod budget;
mod calls;
mod command;
mod edits;
mod end;
mod follow;
mod recover;
mod replan;
mod steps;
mod stop;
mod stuck;
mod work;

use super::{
    Actor, Command, ErrorKind, Event, Input, NodeError, NodeFact, Outcome, RunId, RunSettings, Time, Timer, TimerKind, UnfinishedAnswer,
    evolve::bodies::unfit,
    flow::Phase,
    graph::NodeIx,
    run::{Decider, RunState},
};
use crate::plan::{NodeId, Plan};
use std::collections::BTreeSet;

impl RunState {
    /// Why a command is refused now; `None` when it can.
    pub fn refusal(&self, command: &Command) -> Option<String> {
        Decider { state: self }.refusal(command)
    }

    /// The nodes that an approval or a result of this node may send back with feedback.
    pub fn feedback_targets(&self, node: &NodeId) -> BTreeSet<NodeId> {
        Decider { state: self }.feedback_targets(node)
    }
}

impl Decider<'_> {
    /// Events of one input.
    pub(super) fn decide(&self, input: &Input, now: Time) -> Vec<Event> {
        if let Input::Branch { from, from_seq, by } = input {
            return self.decide_branch(from, *from_seq, by, now);
        }
        if self.progress.outcome.is_some() {
            return match input {
                Input::Command { command, by } if self.refusal(command).is_none() => self.decide_command(command, by),
                _ => Vec::new(),
            };
        }
        match input {
            Input::Create { run, plan, settings, by } => self.decide_create(run, plan, settings, by),
            Input::Command { command, by } => self.with_new_plan(self.decide_command(command, by), now),
            Input::Replanned { number, answer } => self.decide_proposal(*number, answer, now),
            Input::Work { node, generation, attempt, fact } => match self.live(node, *generation, *attempt) {
                Some(ix) => self.decide_work(ix, fact, now),
                None => self.decide_late(node, fact),
            },
            Input::Proceed | Input::Branch { .. } => Vec::new(),
            Input::Interrupt { signal } if self.head.is_some() => vec![Event::RunInterrupted { signal: *signal }],
            Input::Interrupt { .. } => Vec::new(),
            Input::Recover { by } => self.decide_recover(by, now),
            Input::TimerDue { timer, unfinished } => self.decide_timer(timer, unfinished.as_deref(), now),
        }
    }

    /// A plan that can't be run is settled at once, with the reason.
    fn decide_create(&self, run: &RunId, plan: &Plan, settings: &RunSettings, by: &Actor) -> Vec<Event> {
        if self.head.is_some() {
            return Vec::new();
        }
        let mut events = vec![Event::RunCreated {
            run: run.clone(),
            plan: Box::new(plan.clone()),
            settings: Box::new(settings.clone()),
            by: by.clone(),
        }];
        if let Some(reason) = unfit(plan, &settings.catalog, &[]) {
            events.push(Event::RunEnded { outcome: Outcome::Failed, reason: reason.into() });
        }
        events
    }

    fn decide_timer(&self, timer: &Timer, unfinished: Option<&UnfinishedAnswer>, now: Time) -> Vec<Event> {
        if timer.kind == TimerKind::Budget {
            return self.decide_time_up(now);
        }
        let Some(ix) = self.graph.find(&timer.node) else { return Vec::new() };
        let node = &self.nodes[ix];
        if (node.generation, node.attempt) != (timer.generation, timer.attempt) {
            return Vec::new();
        }
        match timer.kind {
            TimerKind::Retry if self.flows[ix].phase == Phase::Resting => vec![self.ready_event(ix)],
            TimerKind::Retry | TimerKind::Budget => Vec::new(),
            TimerKind::Timeout => self.decide_timeout(ix, unfinished, now),
        }
    }

    /// A clock that did not run in between is not over yet; going on set a new timer.
    fn decide_timeout(&self, ix: NodeIx, unfinished: Option<&UnfinishedAnswer>, now: Time) -> Vec<Event> {
        let (Some(worker), Some(limit)) = (&self.flows[ix].worker, self.limit_ms(ix)) else { return Vec::new() };
        if worker.since.is_none() || worker.worked_until(now) < limit {
            return Vec::new();
        }
        let message = format!("it worked for {} s, which is its limit", limit as f64 / 1000.0);
        let error = NodeError::new(ErrorKind::Timeout, message).hint("raise `timeout_s` of the node, or of [limits] for all");
        let called = unfinished.map(|answer| self.fact(ix, NodeFact::ModelCalled { call: answer.call.clone() }));
        let said = unfinished.map(|answer| answer.text.as_str()).filter(|text| !text.trim().is_empty());
        called.into_iter().chain(self.fail(ix, error, said.map(Into::into))).collect()
    }

    /// Something that happens to a node as it is now.
    pub(super) fn fact(&self, ix: NodeIx, fact: NodeFact) -> Event {
        Event::Node { node_id: self.id_of(ix), generation: self.generation(ix), fact }
    }

    pub(super) fn ready_event(&self, ix: NodeIx) -> Event {
        self.fact(ix, NodeFact::Ready { rehearsed: self.rehearses(ix) })
    }
}
