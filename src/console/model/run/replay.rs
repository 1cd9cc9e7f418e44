//! `Replay`: a run as it was after some of its events. Going forward folds on; going back starts from a copy that was kept on the way.
//! Copies are the closer together the nearer they are, so that there are few of them, and a step back folds few events, however long
//! the run is. Nobody is called.

use super::RunAt;
use crate::engine::{Record, Time};

/// Events between the nearest copies; more where a copy of the run costs more.
const STRIDE: usize = 64;
/// Nodes whose copy costs about as much as one event.
const NODES_AN_EVENT: usize = 4;
/// Milliseconds that a replay waits for the next event at most, however long the run did.
const LONGEST_WAIT: u64 = 2_000;
/// Milliseconds between two steps of a replay at least: what happens faster is shown together.
const SHORTEST_WAIT: u64 = 40;
/// How much faster than it was, slowest first.
const SPEEDS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// A run as it was.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// How many events are folded.
    at: usize,
    fold: RunAt,
    /// Copies of earlier states, by the number of events in them.
    kept: Vec<(usize, RunAt)>,
    /// When the next event is shown, while it plays.
    due: Option<Time>,
    speed: usize,
    /// What was searched for last.
    pub wanted: String,
    /// Events folded so far, for all steps together.
    folded: usize,
}

impl Replay {
    /// The state after all of these events.
    pub fn at_the_end_of(records: &[Record]) -> Self {
        let mut replay = Self::default();
        replay.seek(records, records.len());
        replay
    }

    /// The state that is shown.
    pub fn fold(&self) -> &RunAt {
        &self.fold
    }

    /// How many events are folded. The last of them is the one that is looked at.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Events folded for all steps so far.
    pub fn folded(&self) -> usize {
        self.folded
    }

    /// Copies that are kept.
    pub fn copies(&self) -> usize {
        self.kept.len()
    }

    /// Goes to the state after so many of these events, the first one at least.
    pub fn seek(&mut self, records: &[Record], to: usize) {
        let to = to.clamp(1, records.len().max(1));
        if to < self.at {
            self.kept.truncate(self.kept.partition_point(|(at, _)| *at <= to));
            (self.at, self.fold) = self.kept.last().cloned().unwrap_or_default();
        }
        for record in records.iter().take(to).skip(self.at) {
            self.fold.apply(record);
            self.at += 1;
            self.folded += 1;
            self.keep(to);
        }
    }

    /// Keeps a copy where the last one is far enough behind, seen from where it goes.
    fn keep(&mut self, to: usize) {
        let last = self.kept.last().map_or(0, |(at, _)| *at);
        let stride = STRIDE.max(self.fold.run.nodes().count() / NODES_AN_EVENT);
        if self.at - last >= stride.max(to - self.at) {
            self.kept.push((self.at, self.fold.clone()));
            self.thin();
        }
    }

    /// Drops copies that are closer together than they are far away, so that their number grows with the logarithm of the way.
    fn thin(&mut self) {
        let mut at = 0;
        while at + 2 < self.kept.len() {
            let before = at.checked_sub(1).map_or(0, |before| self.kept[before].0);
            let after = self.kept[at + 1].0;
            if after - before <= self.at - after {
                self.kept.remove(at);
            } else {
                at += 1;
            }
        }
    }

    /// Whether it goes on by itself.
    pub fn plays(&self) -> bool {
        self.due.is_some()
    }

    /// When it goes on by itself.
    pub fn due(&self) -> Option<Time> {
        self.due
    }

    /// How much faster it plays than it was.
    pub fn speed(&self) -> u32 {
        SPEEDS.get(self.speed).copied().unwrap_or(1)
    }

    /// The next speed, faster or slower.
    pub fn change_speed(&mut self, by: isize) {
        self.speed = self.speed.saturating_add_signed(by).min(SPEEDS.len() - 1);
    }

    pub fn play(&mut self, records: &[Record], now: Time) {
        self.due = Some(now.plus(self.wait(records).max(SHORTEST_WAIT)));
    }

    pub fn stop(&mut self) {
        self.due = None;
    }

    /// Milliseconds until the next event is shown; nothing where there is none.
    fn wait(&self, records: &[Record]) -> u64 {
        let next = records.get(self.at).map_or(self.fold.last, |next| next.at);
        (next.since(self.fold.last) / u64::from(self.speed())).min(LONGEST_WAIT)
    }

    /// Shows what is due. It stops by itself behind the last event; says whether it did so now.
    pub fn tick(&mut self, records: &[Record], now: Time) -> bool {
        let Some(mut due) = self.due.filter(|due| *due <= now) else { return false };
        while due <= now && self.at < records.len() {
            self.seek(records, self.at + 1);
            due = due.plus(self.wait(records));
        }
        let ends = self.at >= records.len();
        self.due = (!ends).then(|| due.max(now.plus(SHORTEST_WAIT)));
        ends
    }
}
