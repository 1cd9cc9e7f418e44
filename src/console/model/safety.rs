//! Keystroke safety: which gates a person has had before their eyes, and whether a key may decide. A key decides only when its gate
//! is selected, was drawn in a flushed frame since it opened or changed, no text field has the focus, and no key came for a while.

use std::collections::BTreeMap;

use crate::engine::{GateId, RunId, Time};

/// Milliseconds without a key before a key may decide.
pub const QUIET_MS: u64 = 400;

/// Names a gate among all runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GateKey {
    pub run: RunId,
    pub gate: GateId,
}

/// A gate that a frame showed, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateShown {
    pub key: GateKey,
    /// Which state of its text; a change makes it unseen.
    pub revision: u64,
    /// First line in sight.
    pub from: usize,
    /// Behind the last line in sight.
    pub to: usize,
    /// Lines in all.
    pub total: usize,
}

/// What was before a person's eyes, and when they last pressed a key.
#[derive(Clone, Debug, Default)]
pub struct Safety {
    seen: BTreeMap<GateKey, SeenText>,
    /// Which gates the newest frame showed, and in which state.
    in_sight: Vec<(GateKey, u64)>,
    last_key: Option<Time>,
    /// Keys that came at once with the last ones, and follow.
    burst: usize,
}

/// How much of one state of a gate's text was seen.
#[derive(Clone, Debug)]
struct SeenText {
    revision: u64,
    total: usize,
    /// Lines that were in sight, by number; set once and for all of this revision.
    lines: Vec<bool>,
}

impl Safety {
    /// A frame that showed these gates has reached the terminal.
    pub fn flushed(&mut self, shown: Vec<GateShown>) {
        self.in_sight = shown.iter().map(|shown| (shown.key.clone(), shown.revision)).collect();
        shown.into_iter().for_each(|shown| self.saw(shown));
    }

    fn saw(&mut self, shown: GateShown) {
        let fresh = SeenText { revision: shown.revision, total: shown.total, lines: vec![false; shown.total] };
        let seen = self.seen.entry(shown.key).or_insert_with(|| fresh.clone());
        if seen.revision != shown.revision || seen.total != shown.total {
            *seen = fresh;
        }
        for line in seen.lines.iter_mut().take(shown.to).skip(shown.from) {
            *line = true;
        }
    }

    pub fn key(&mut self, now: Time) {
        self.last_key = Some(now);
        self.burst = self.burst.saturating_sub(1);
    }

    /// Several keys came at once, and follow.
    pub fn burst(&mut self, keys: usize, now: Time) {
        self.key(now);
        self.burst = keys;
    }

    /// Whether the next key is one of several that came at once: nobody read what the one before it opened.
    pub fn in_burst(&self) -> bool {
        self.burst > 0
    }

    /// Whether the newest frame showed the gate in this state.
    pub fn in_sight(&self, key: &GateKey, revision: u64) -> bool {
        self.in_sight.iter().any(|(shown, at)| shown == key && *at == revision)
    }

    /// Lines of the gate in this state that were never in sight.
    pub fn unseen(&self, key: &GateKey, revision: u64) -> usize {
        let seen = self.seen.get(key).filter(|seen| seen.revision == revision);
        seen.map_or(0, |seen| seen.lines.iter().filter(|line| !**line).count())
    }

    /// Whether a line from that one on was never in sight.
    pub fn unseen_from(&self, key: &GateKey, revision: u64, from: usize) -> bool {
        let seen = self.seen.get(key).filter(|seen| seen.revision == revision);
        seen.is_some_and(|seen| seen.lines.iter().skip(from).any(|line| !line))
    }

    /// Whether all of the gate was drawn in this state.
    pub fn whole(&self, key: &GateKey, revision: u64) -> bool {
        self.seen.get(key).is_some_and(|seen| seen.revision == revision && seen.lines.iter().all(|line| *line))
    }

    /// Whether no key came for long enough.
    pub fn quiet(&self, now: Time) -> bool {
        now >= self.quiet_from()
    }

    /// When it will have been quiet for long enough, if no key comes.
    pub fn quiet_from(&self) -> Time {
        self.last_key.map_or(Time::default(), |last| last.plus(QUIET_MS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(revision: u64, from: usize, to: usize) -> GateShown {
        GateShown { key: GateKey { run: RunId("r".into()), gate: GateId(1) }, revision, from, to, total: 10 }
    }

    #[test]
    fn a_gate_is_seen_whole_only_after_every_line_was_in_sight() {
        let mut safety = Safety::default();
        let key = shown(1, 0, 0).key;
        assert!(!safety.in_sight(&key, 1));
        safety.flushed(vec![shown(1, 0, 6)]);
        assert!(safety.in_sight(&key, 1) && !safety.whole(&key, 1) && safety.unseen(&key, 1) == 4);
        safety.flushed(vec![shown(1, 5, 10)]);
        assert!(safety.whole(&key, 1));
    }

    #[test]
    fn a_change_makes_a_gate_unseen() {
        let mut safety = Safety::default();
        let key = shown(1, 0, 0).key;
        safety.flushed(vec![shown(1, 0, 10)]);
        assert!(!safety.in_sight(&key, 2));
        safety.flushed(vec![shown(2, 0, 3)]);
        assert!(!safety.whole(&key, 2) && !safety.in_sight(&key, 1));
    }

    #[test]
    fn a_frame_without_the_gate_takes_it_out_of_sight_and_what_was_read_stays_read() {
        let mut safety = Safety::default();
        let key = shown(1, 0, 0).key;
        safety.flushed(vec![shown(1, 0, 10)]);
        safety.flushed(Vec::new());
        assert!(!safety.in_sight(&key, 1) && safety.whole(&key, 1));
    }
}
