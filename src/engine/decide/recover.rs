//! What becomes of nodes that were at work when the process that drove their run ended without leaving it. Nothing that may have left something
//! behind goes again unasked; everything else does.

use crate::engine::run::Decider;
use crate::engine::{
    Actor, Cause, Command, Decided, Event, Input, NodeFact, Record, RunId, Time,
    evolve::Run,
    graph::{NodeIx, tool_of},
    run::RunState,
};
use serde_json::Value;

impl RunState {
    /// The run as it would be recovered, before anything starts again: what actions on a run that nobody drives are held against.
    pub fn without_driver(&self, now: Time) -> Run {
        let mut run = self.copy();
        let by = Actor { who: String::new(), via: String::new() };
        run.hear(&Input::Recover { by }, now);
        run
    }

    /// Why one of these is refused, each asked after those before it, on a run that nobody drives. Answers are for questions as
    /// they were left.
    pub fn refusal_of(&self, commands: &[Command], now: Time) -> Option<String> {
        let mut run = self.without_driver(now);
        let by = Actor { who: String::new(), via: String::new() };
        commands.iter().find_map(|command| {
            let refusal = match command {
                Command::Decide { .. } => self.refusal(command),
                Command::Start | Command::Act { .. } | Command::Undo | Command::UseModel { .. } | Command::Replan { .. } => {
                    run.refusal(command)
                }
            };
            run.hear(&Input::Command { command: command.clone(), by: by.clone() }, now);
            refusal
        })
    }
}

impl Run {
    /// Carries an input through, and nothing that follows from it.
    fn hear(&mut self, input: &Input, now: Time) {
        let events = Decider { state: self }.decide(input, now);
        for event in events.into_iter().chain([Event::Carried]) {
            self.evolve(&Record { seq: self.seq + 1, at: now, more: true, event });
        }
    }
}

impl Decider<'_> {
    pub(super) fn decide_recover(&self, by: &Actor, now: Time) -> Vec<Event> {
        if self.head.is_none() {
            return Vec::new();
        }
        let recovered = Event::RunRecovered { by: by.clone(), model: None };
        [recovered].into_iter().chain(self.broken_off(&Cause::DriverEnded, now)).collect()
    }

    /// What was at work in the other run goes on there, or went on: here it is as if it had broken off.
    pub(super) fn decide_branch(&self, from: &RunId, from_seq: u64, by: &Actor, now: Time) -> Vec<Event> {
        if self.head.is_none() {
            return Vec::new();
        }
        let branched = Event::Branched { from: from.clone(), from_seq, by: by.clone() };
        [branched].into_iter().chain(self.broken_off(&Cause::BranchedOff, now)).collect()
    }

    fn broken_off(&self, why: &Cause, now: Time) -> Vec<Event> {
        let at_work = (0..).map(NodeIx).zip(&self.flows).filter(|(_, flow)| flow.worker.is_some());
        at_work.flat_map(|(ix, _)| self.break_off(ix, why.clone(), now)).collect()
    }

    /// The attempt under way has nobody who works at it any more.
    fn break_off(&self, ix: NodeIx, why: Cause, now: Time) -> Vec<Event> {
        if let Some(result) = self.returned_by_tool(ix) {
            return self.finish(ix, result.clone(), None, now);
        }
        let next = if self.may_have_acted(ix) {
            NodeFact::Unknown { reason: Cause::Doubt { after: Box::new(why) } }
        } else {
            NodeFact::Interrupted { attempt: self.nodes[ix].attempt, reason: why }
        };
        self.voids(ix, &Cause::AttemptOver).into_iter().chain([self.fact(ix, next)]).collect()
    }

    /// What the one call of a tool node gave, when it ended well and only the node's own end is missing.
    fn returned_by_tool(&self, ix: NodeIx) -> Option<&Value> {
        self.doc(ix).and_then(tool_of)?;
        let worker = self.flows[ix].worker.as_ref().filter(|worker| worker.acted && worker.calls == 0)?;
        let (_, report) = self.nodes[ix].lineage.tools.last().filter(|_| worker.pending.is_empty())?;
        report.as_ref().filter(|report| report.ok).map(|report| &report.value)
    }

    /// Whether the attempt may have left something behind. A tool node acts by its one call, and not before that was released; of an agent
    /// the calls are on record; everything else is judged by what the plan says of it. A plan that says what a node leaves is believed.
    fn may_have_acted(&self, ix: NodeIx) -> bool {
        let Some(worker) = &self.flows[ix].worker else { return false };
        let Some(node) = self.doc(ix) else { return worker.began };
        if tool_of(node).is_some() && !worker.acted {
            return false;
        }
        match self.policy(ix).and_then(|policy| policy.side_effects()) {
            Some(said) => said,
            None => worker.began,
        }
    }

    /// A question with its answer, where a person has answered this very question of this generation before, and nobody heard it.
    pub(super) fn with_owed(&self, ix: NodeIx, event: Event) -> Vec<Event> {
        let mut answer = None;
        if let Event::ApprovalRequired { gate } = &event {
            let owed = self.owed(ix, &gate.kind, &gate.payload).and_then(|known| self.gate(known)?.1.cloned());
            answer = owed.map(|Decided { decision, by, .. }| Event::GateDecided { gate: gate.id, decision, by, message: String::new() });
        }
        [event].into_iter().chain(answer).collect()
    }
}
