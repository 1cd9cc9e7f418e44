//! `Timers`: the timers of one run, by due time. Nothing ticks: whoever holds them sleeps until `next`.

use crate::engine::{Time, Timer};
use std::collections::{BTreeMap, HashMap};

/// Timers that are set. Setting one again moves it.
#[derive(Debug, Default)]
pub(super) struct Timers {
    by_due: BTreeMap<(Time, u64), Timer>,
    keys: HashMap<Timer, (Time, u64)>,
    /// Tells timers of one moment apart; those set first are due first.
    count: u64,
}

impl Timers {
    pub(super) fn set(&mut self, timer: Timer, at: Time) {
        self.clear(&timer);
        self.count += 1;
        self.keys.insert(timer.clone(), (at, self.count));
        self.by_due.insert((at, self.count), timer);
    }

    pub(super) fn clear(&mut self, timer: &Timer) {
        if let Some(key) = self.keys.remove(timer) {
            self.by_due.remove(&key);
        }
    }

    /// When the next one is due.
    pub(super) fn next(&self) -> Option<Time> {
        self.by_due.first_key_value().map(|((at, _), _)| *at)
    }

    /// Takes out those that are due, oldest first.
    pub(super) fn take_due(&mut self, now: Time) -> Vec<Timer> {
        let mut due = Vec::new();
        while let Some(entry) = self.by_due.first_entry().filter(|entry| entry.key().0 <= now) {
            let timer = entry.remove();
            self.keys.remove(&timer);
            due.push(timer);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::TimerKind;
    use crate::plan::NodeId;

    fn timer(node: &str) -> Timer {
        Timer { node: NodeId::new(node), generation: 1, attempt: 1, kind: TimerKind::Timeout }
    }

    #[test]
    fn timers_come_out_by_due_time_and_then_in_the_order_they_were_set() {
        let mut timers = Timers::default();
        timers.set(timer("late"), Time(30));
        timers.set(timer("b"), Time(10));
        timers.set(timer("a"), Time(10));
        assert_eq!(timers.next(), Some(Time(10)));
        assert_eq!(timers.take_due(Time(20)), [timer("b"), timer("a")]);
        assert_eq!(timers.next(), Some(Time(30)));
    }

    #[test]
    fn a_timer_set_again_moves_and_a_cleared_one_is_never_due() {
        let mut timers = Timers::default();
        timers.set(timer("a"), Time(10));
        timers.set(timer("a"), Time(20));
        timers.set(timer("b"), Time(5));
        timers.clear(&timer("b"));
        assert_eq!(timers.take_due(Time(15)), []);
        assert_eq!(timers.take_due(Time(20)), [timer("a")]);
        assert_eq!(timers.next(), None);
    }
}
