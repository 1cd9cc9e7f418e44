//! How a run moves: `decide` says which events an input or the agenda calls for, `evolve` folds them, `effects` says what they ask of the
//! world.

use super::{
    Effect, Event, Input, Record, Time, Timer, TimerKind,
    evolve::Run,
    run::{Decider, Starts},
};
use crate::plan::NodeId;

/// One input's events and what they ask of the world. Commit `records` first, then `effects`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// In order; one transaction.
    pub records: Vec<Record>,
    /// In order; only after the records are in the journal.
    pub effects: Vec<Effect>,
    /// More may follow from the state: ask for it with `Input::Proceed`, after other inputs that are there.
    pub more: bool,
}

/// Events after which a step ends even where more would follow, so that work that needs no worker can't keep people from being heard.
const MOST_AT_ONCE: usize = 2_000;

impl Run {
    /// Decides, folds, and decides again until nothing follows, or enough has been done for one step. A settled run takes no more input; see `Run::refusal`.
    pub fn step(&mut self, input: &Input, now: Time) -> Batch {
        self.steps(std::slice::from_ref(input), now)
    }

    /// Several inputs as one step: nothing follows from the state before all of them are done.
    pub fn steps(&mut self, inputs: &[Input], now: Time) -> Batch {
        self.carry(inputs, now, Starts::Now)
    }

    /// The same of a run that nobody drives: what starts is left to those who drive it next, so nothing is asked of the world.
    pub fn record(&mut self, inputs: &[Input], now: Time) -> Vec<Record> {
        self.carry(inputs, now, Starts::Later).records
    }

    fn carry(&mut self, inputs: &[Input], now: Time, starts: Starts) -> Batch {
        let mut batch = Batch::default();
        for input in inputs {
            self.close_action(now, &mut batch);
            Decider { state: self }.decide(input, now).into_iter().for_each(|event| self.take(event, now, &mut batch));
        }
        let mut events = Vec::new();
        loop {
            events.into_iter().for_each(|event| self.take(event, now, &mut batch));
            batch.more = batch.records.len() >= MOST_AT_ONCE;
            events = if batch.more { Vec::new() } else { Decider { state: self }.follow(now, starts) };
            if events.is_empty() {
                break;
            }
        }
        self.close_action(now, &mut batch);
        if let Some(last) = batch.records.last_mut() {
            last.more = false;
        }
        batch
    }

    /// What comes from here on is not the action's own doing.
    fn close_action(&mut self, now: Time, batch: &mut Batch) {
        if self.steer.shadow.as_ref().is_some_and(|shadow| shadow.open) {
            self.take(Event::Carried, now, batch);
        }
    }

    fn take(&mut self, event: Event, now: Time, batch: &mut Batch) {
        let record = Record { seq: self.seq + 1, at: now, more: true, event };
        batch.effects.extend(self.effects(&record));
        let before = self.time_is_up();
        self.evolve(&record);
        // The clock of the run begins to run, or may run for another time than before.
        if let Some(at) = self.time_is_up().filter(|_| self.time_is_up() != before) {
            let timer = Timer { node: NodeId::new(""), generation: 0, attempt: 0, kind: TimerKind::Budget };
            batch.effects.push(Effect::SetTimer { timer, at });
        }
        batch.records.push(record);
    }

    /// The state after these records.
    pub fn replay<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut run = Self::default();
        for record in records {
            run.evolve(record);
        }
        run
    }
}
