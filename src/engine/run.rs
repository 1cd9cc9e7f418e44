//! `Run`: the state of one run, the fold of its events, and the rules that decide the next ones.

use super::{Decided, EdgeId, Effect, Event, Gate, GateId, Input, NodeRun, Outcome, Record, RunId, RunSettings, Time};
use crate::plan::{NodeId, Plan};

/// One input's events and what they ask of the world. Commit `records` first, then carry out `effects`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// In order; one transaction.
    pub records: Vec<Record>,
    /// In order; only after the records are in the journal.
    pub effects: Vec<Effect>,
}

/// The state of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {}

impl Run {
    /// Decides, folds, and decides again until nothing follows.
    pub fn step(&mut self, _input: &Input, _now: Time) -> Batch {
        Batch::default()
    }

    /// Folds one event into the state. Evaluates no expressions.
    pub fn evolve(&mut self, _record: &Record) {}

    /// The state after these records.
    pub fn replay<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut run = Self::default();
        for record in records {
            run.evolve(record);
        }
        run
    }

    /// The run's name; `None` before `RunCreated`.
    pub fn id(&self) -> Option<&RunId> {
        None
    }

    /// The plan that is run.
    pub fn plan(&self) -> Option<&Plan> {
        None
    }

    /// The settings kept since the start.
    pub fn settings(&self) -> Option<&RunSettings> {
        None
    }

    /// One node.
    pub fn node(&self, _id: &NodeId) -> Option<&NodeRun> {
        None
    }

    /// All nodes in plan order.
    pub fn nodes(&self) -> impl Iterator<Item = (&NodeId, &NodeRun)> {
        std::iter::empty()
    }

    /// Whether an edge was taken (`Some(true)`), died (`Some(false)`), or waits.
    pub fn edge_token(&self, _edge: EdgeId) -> Option<bool> {
        None
    }

    /// Open gates, oldest first.
    pub fn open_gates(&self) -> impl Iterator<Item = &Gate> {
        std::iter::empty()
    }

    /// A gate, open or decided, with its decision.
    pub fn gate(&self, _id: GateId) -> Option<(&Gate, Option<&Decided>)> {
        None
    }

    /// All gates in order of opening.
    pub fn gates(&self) -> impl Iterator<Item = (&Gate, Option<&Decided>)> {
        std::iter::empty()
    }

    /// How the run ended and why; `None` while it goes on.
    pub fn outcome(&self) -> Option<(Outcome, &str)> {
        None
    }

    /// Whether only open gates (or unknown nodes) keep the run from going on: no worker runs, no timer is due.
    pub fn is_parked(&self) -> bool {
        false
    }

    /// Events folded so far.
    pub fn last_seq(&self) -> u64 {
        0
    }

    /// What cancelling the branch at `node` would end: the node itself with what only it feeds, and the shared nodes it touches.
    pub fn branch(&self, _node: &NodeId) -> (Vec<NodeId>, Vec<NodeId>) {
        (Vec::new(), Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaying_nothing_gives_an_empty_run() {
        assert_eq!(Run::replay(&[] as &[Record]), Run::default());
        let _ = Event::RunStarted;
    }
}
