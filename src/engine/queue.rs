//! `Queue`: who may start next: slots, locks, and the nodes that wait for them, best first. Pure bookkeeping; no plan, no events.

use super::{
    flow::SlotLine,
    graph::{NodeIx, Rank, SlotNeed},
};
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lock {
    pub holder: Option<NodeIx>,
    pub waiters: BTreeSet<Rank>,
}

/// Nodes that ask a model: as many work at once as its provider works calls.
#[derive(Clone, Debug, Default, PartialEq)]
struct Askers {
    slots: u32,
    busy: u32,
    /// Those that want a slot.
    ready: BTreeSet<Rank>,
}

/// Slots, locks and those who wait.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Queue {
    pub slots: u32,
    pub busy: u32,
    /// Nodes that ask a model.
    askers: Askers,
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
    pub fn new(slots: u32, model_slots: u32) -> Self {
        Self { slots, askers: Askers { slots: model_slots, ..Askers::default() }, ..Self::default() }
    }

    pub fn set_model_slots(&mut self, slots: u32) {
        self.askers.slots = slots;
    }

    pub fn has_slot(&self) -> bool {
        self.busy < self.slots
    }

    pub fn has_room(&self, place: SlotNeed) -> bool {
        match place {
            SlotNeed::None => true,
            SlotNeed::Slot => self.has_slot(),
            SlotNeed::Model => self.has_slot() && self.askers.busy < self.askers.slots,
        }
    }

    pub fn take(&mut self, place: SlotNeed) {
        self.busy += u32::from(place != SlotNeed::None);
        self.askers.busy += u32::from(place == SlotNeed::Model);
    }

    pub fn give_back(&mut self, place: SlotNeed) {
        self.busy = self.busy.saturating_sub(u32::from(place != SlotNeed::None));
        self.askers.busy = self.askers.busy.saturating_sub(u32::from(place == SlotNeed::Model));
    }

    pub fn push(&mut self, rank: Rank, place: SlotNeed) {
        match place {
            SlotNeed::None => self.inline.insert(rank),
            SlotNeed::Slot => self.ready.insert(rank),
            SlotNeed::Model => self.askers.ready.insert(rank),
        };
    }

    pub fn remove(&mut self, rank: Rank) {
        self.ready.remove(&rank);
        self.askers.ready.remove(&rank);
        self.inline.remove(&rank);
    }

    /// Nodes that wait in line for their start, and wait for nothing but a slot.
    pub fn in_line(&self) -> impl Iterator<Item = NodeIx> + '_ {
        self.ready.iter().chain(&self.askers.ready).chain(&self.inline).map(|rank| rank.1)
    }

    /// The node that goes next, if one may: of those who wait in line and those whose lock came free.
    pub fn next(&self, place: impl Fn(NodeIx) -> SlotNeed) -> Option<NodeIx> {
        if let Some(&(_, ix)) = self.inline.first() {
            return Some(ix);
        }
        let fits = |rank: &&Rank| self.has_room(place(rank.1));
        let woken = self.wakeable.iter().filter_map(|&lock| self.locks[lock as usize].waiters.first());
        self.ready.first().into_iter().chain(self.askers.ready.first()).chain(woken).filter(fits).min().map(|rank| rank.1)
    }

    /// The node that goes next of those that may. Goes through the line, so it is for people's steps only.
    pub fn next_of(&self, place: impl Fn(NodeIx) -> SlotNeed, may: impl Fn(NodeIx) -> bool) -> Option<NodeIx> {
        let fits = |rank: &&Rank| may(rank.1) && self.has_room(place(rank.1));
        let woken = self.wakeable.iter().filter_map(|&lock| self.locks[lock as usize].waiters.iter().find(fits));
        let inline = self.inline.iter().find(|rank| may(rank.1)).map(|rank| rank.1);
        let ready = self.ready.iter().find(fits).into_iter().chain(self.askers.ready.iter().find(fits));
        inline.or_else(|| ready.chain(woken).min().map(|rank| rank.1))
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
