//! `Streams`: streamed text of a run's workers, merged per node until it is old or long enough to be journalled.

use super::workers::AttemptKey;
use crate::engine::{Input, Time, WorkerFact};
use indexmap::IndexMap;

/// Text waits at most this long for more of it.
const HOLD_MS: u64 = 100;
/// Text that is this long waits no longer.
const HOLD_BYTES: usize = 4096;

/// Text that waits to be journalled. A worker's other facts flush its text first, so nothing of one node changes its order.
#[derive(Debug, Default)]
pub(super) struct Streams {
    held: IndexMap<AttemptKey, Held>,
}

#[derive(Debug)]
struct Held {
    /// Whether it is a thought.
    thinks: bool,
    text: String,
    due: Time,
}

impl Streams {
    /// Takes in one fact; gives the inputs that follow from it now.
    pub(super) fn take(&mut self, origin: AttemptKey, fact: WorkerFact, now: Time) -> Vec<Input> {
        if let Some((thinks, text)) = fact.streamed() {
            let other = self.held.get(&origin).is_some_and(|held| held.thinks != thinks);
            let mut inputs: Vec<Input> = if other { self.flush(&origin).into_iter().collect() } else { Vec::new() };
            let new = || Held { thinks, text: String::new(), due: now.plus(HOLD_MS) };
            let held = self.held.entry(origin.clone()).or_insert_with(new);
            held.text.push_str(text);
            if held.text.len() >= HOLD_BYTES {
                inputs.extend(self.flush(&origin));
            }
            return inputs;
        }
        let mut inputs: Vec<Input> = self.flush(&origin).into_iter().collect();
        inputs.push(origin.input(fact));
        inputs
    }

    /// When the next text is due.
    pub(super) fn next(&self) -> Option<Time> {
        // Held texts are in order of their first piece, and all wait equally long.
        self.held.first().map(|(_, held)| held.due)
    }

    /// Takes out the texts that are due.
    pub(super) fn take_due(&mut self, now: Time) -> Vec<Input> {
        let mut inputs = Vec::new();
        while let Some((origin, _)) = self.held.first().filter(|(_, held)| held.due <= now) {
            let origin = origin.clone();
            inputs.extend(self.flush(&origin));
        }
        inputs
    }

    fn flush(&mut self, origin: &AttemptKey) -> Option<Input> {
        self.held.shift_remove(origin).map(|held| origin.input(WorkerFact::stream(held.thinks, held.text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::NodeId;

    fn origin(node: &str) -> AttemptKey {
        AttemptKey { node: NodeId::new(node), generation: 1, attempt: 1 }
    }

    fn text(words: &str) -> WorkerFact {
        WorkerFact::Output(words.into())
    }

    #[test]
    fn pieces_of_one_node_merge_until_they_are_old() {
        let mut streams = Streams::default();
        for (at, (node, words)) in [("a", "one "), ("b", "x"), ("a", "two")].into_iter().enumerate() {
            assert_eq!(streams.take(origin(node), text(words), Time(at as u64)), []);
        }
        assert_eq!(streams.next(), Some(Time(100)));
        assert_eq!(streams.take_due(Time(100)), [origin("a").input(text("one two"))]);
        assert_eq!(streams.take_due(Time(101)), [origin("b").input(text("x"))]);
        assert_eq!(streams.next(), None);
    }

    #[test]
    fn thoughts_and_words_of_one_node_stay_apart_and_in_order() {
        let mut streams = Streams::default();
        let thought = |words: &str| WorkerFact::Thought(words.into());
        assert_eq!(streams.take(origin("a"), thought("let me "), Time(0)), []);
        assert_eq!(streams.take(origin("a"), thought("see"), Time(1)), []);
        assert_eq!(streams.take(origin("a"), text("four"), Time(2)), [origin("a").input(thought("let me see"))]);
        assert_eq!(streams.take_due(Time(200)), [origin("a").input(text("four"))]);
    }

    #[test]
    fn a_long_text_does_not_wait() {
        let mut streams = Streams::default();
        let long = "x".repeat(HOLD_BYTES);
        assert_eq!(streams.take(origin("a"), text(&long), Time(0)), [origin("a").input(text(&long))]);
    }

    #[test]
    fn the_end_of_a_node_comes_after_all_of_its_text() {
        let mut streams = Streams::default();
        streams.take(origin("a"), text("last words"), Time(0));
        let inputs = streams.take(origin("a"), WorkerFact::Aborted, Time(1));
        assert_eq!(inputs, [origin("a").input(text("last words")), origin("a").input(WorkerFact::Aborted)]);
    }
}
