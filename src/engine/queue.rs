//! `Queue`: who may start next: slots, locks, and the nodes that wait for them, best first. Pure bookkeeping; no plan, no events.

use super::{
    flow::SlotLine,
    graph::{NodeIx, Rank},
};
use std::collections::BTreeSet;

/// One lock.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lock {
    pub holder: Option<NodeIx>,
    pub waiters: BTreeSet<Rank>,
}

/// Slots, locks and those who wait.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Queue {
    pub slots: u32,
    /// Slots in use.
    pub busy: u32,
    /// Nodes in the middle of their work that want their slot back, by what released them.
    pub resuming: BTreeSet<(SlotLine, NodeIx)>,
    /// Nodes that wait for their next attempt.
    pub resting: u32,
    /// Nodes that a hold or a breakpoint keeps.
    pub kept: u32,
    /// Calls of nodes at work that are held.
    pub held_calls: u32,
    /// Nodes that want a slot.
    ready: BTreeSet<Rank>,
    /// Nodes that the engine does itself.
    inline: BTreeSet<Rank>,
    pub locks: Vec<Lock>,
    /// Free locks that somebody waits for.
    wakeable: BTreeSet<u32>,
}

impl Queue {
    pub fn new(slots: u32) -> Self {
        Self { slots, ..Self::default() }
    }

    pub fn has_slot(&self) -> bool {
        self.busy < self.slots
    }

    pub fn push(&mut self, rank: Rank, takes_slot: bool) {
        if takes_slot {
            self.ready.insert(rank)
        } else {
            self.inline.insert(rank)
        };
    }

    pub fn remove(&mut self, rank: Rank) {
        self.ready.remove(&rank);
        self.inline.remove(&rank);
    }

    /// Nodes that wait in line for their start, and wait for nothing but a slot.
    pub fn in_line(&self) -> impl Iterator<Item = NodeIx> + '_ {
        self.ready.iter().chain(&self.inline).map(|rank| rank.1)
    }

    /// The node that goes next, if one may: of those who wait in line and those whose lock came free.
    pub fn next(&self, takes_slot: impl Fn(NodeIx) -> bool) -> Option<NodeIx> {
        if let Some(&(_, ix)) = self.inline.first() {
            return Some(ix);
        }
        let fits = |rank: &&Rank| self.has_slot() || !takes_slot(rank.1);
        let woken = self.wakeable.iter().filter_map(|&lock| self.locks[lock as usize].waiters.first());
        self.ready.first().into_iter().chain(woken).filter(fits).min().map(|rank| rank.1)
    }

    /// The node that goes next of those that may. Goes through the line, so it is for people's steps only.
    pub fn next_of(&self, takes_slot: impl Fn(NodeIx) -> bool, may: impl Fn(NodeIx) -> bool) -> Option<NodeIx> {
        let fits = |rank: &&Rank| may(rank.1) && (self.has_slot() || !takes_slot(rank.1));
        let woken = self.wakeable.iter().filter_map(|&lock| self.locks[lock as usize].waiters.iter().find(fits));
        let inline = self.inline.iter().find(|rank| may(rank.1)).map(|rank| rank.1);
        inline.or_else(|| self.ready.iter().find(fits).into_iter().chain(woken).min().map(|rank| rank.1))
    }

    /// The first of these locks that somebody else holds.
    pub fn taken(&self, locks: &[u32]) -> Option<(u32, NodeIx)> {
        locks.iter().find_map(|&lock| self.locks[lock as usize].holder.map(|holder| (lock, holder)))
    }

    pub fn wait(&mut self, lock: u32, rank: Rank) {
        self.locks[lock as usize].waiters.insert(rank);
        self.refresh(lock);
    }

    pub fn stop_waiting(&mut self, lock: u32, rank: Rank) {
        self.locks[lock as usize].waiters.remove(&rank);
        self.refresh(lock);
    }

    pub fn set_holder(&mut self, lock: u32, holder: Option<NodeIx>) {
        self.locks[lock as usize].holder = holder;
        self.refresh(lock);
    }

    fn refresh(&mut self, lock: u32) {
        let state = &self.locks[lock as usize];
        if state.holder.is_none() && !state.waiters.is_empty() {
            self.wakeable.insert(lock)
        } else {
            self.wakeable.remove(&lock)
        };
    }
}
