//! The keystroke property: whatever is typed, no gate is decided that did not meet all four conditions.

use super::Deck;
use crate::console::{
    model::{Key, Model, QUIET_MS},
    update::{ConsoleEffect, Msg, update},
    view,
};
use crate::engine::{Action, ActionTarget, Command, Preview, Time};
use crate::host::client::{Notice, Request};
use ratatui::{buffer::Buffer, layout::Rect};
use serde_json::json;

/// Small, fast, repeatable.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % sides as u64).unwrap()
    }
}

const KEYS: &[&str] = &[
    "a", "a", "a", "x", "x", "e", "s", "s", "X", "X", "enter", "space", "esc", "esc", "i", "i", "2", "1", "j", "k", "J", "K", "n", "y",
    "z", "tab", ":", "?", "u", "o", "q", "ctrl-s", "ctrl-c", "/", "b", "G", "g", "left", "right", "ctrl-j", "E", "3", ".", ">", "<", "f1",
    "H", "[", "]", "(", "$", "5", "m", "p", "B", ";", "r", "w",
];

/// What the test itself knows of what a person has seen.
struct Oracle {
    /// Revisions of gates that a flushed frame showed.
    seen: Vec<(String, u32, u64)>,
    last_key: Option<Time>,
}

impl Oracle {
    fn allows(&self, before: &Model, run: &str, gate: u32, now: Time) -> bool {
        let Some((key, _)) = before.selected_gate() else { return false };
        let selected = key.run.0 == run && key.gate.0 == gate;
        let revision = before.inbox.doc(key).unwrap().revision;
        let drawn = self.seen.contains(&(run.to_owned(), gate, revision));
        let quiet = self.last_key.is_none_or(|last| now.since(last) >= QUIET_MS);
        selected && drawn && quiet && !before.types()
    }
}

#[test]
fn ten_thousand_random_keys_decide_no_gate_that_was_not_faced() {
    let mut decided = 0;
    for seed in 0..20 {
        decided += random_keys(seed, 500);
    }
    assert!(decided > 0, "the property is empty when nothing is ever decided");
}

fn random_keys(seed: u64, keys: usize) -> usize {
    let mut dice = Dice(seed);
    let mut deck = Deck::running(80, 24);
    let mut oracle = Oracle { seen: Vec::new(), last_key: None };
    let mut decided = 0;
    // Gates open in the middle of typing.
    let opens = [dice.roll(keys / 4), dice.roll(keys / 4), dice.roll(keys / 4)];
    for turn in 0..keys {
        for (at, node) in opens.iter().zip(["list", "scan", "count"]) {
            if *at + 3 == turn && deck.engine().node(&node.into()).unwrap().state.word() == "running" {
                deck.done(node, json!("x"));
            }
        }
        deck.later([20, 100, 390, 400, 900][dice.roll(5)]);
        if dice.roll(3) > 0 {
            flush(&mut deck, &mut oracle);
        }
        let key = Key::parse(KEYS[dice.roll(KEYS.len())]).unwrap();
        let before = deck.model.clone();
        let now = deck.now;
        for action in update(&mut deck.model, Msg::Key(key), now) {
            if let ConsoleEffect::Send(Request::Command { run, command }) = action {
                if let Command::Decide { gate, .. } = &command {
                    assert!(oracle.allows(&before, &run.0, gate.0, now), "seed {seed}, key {turn} `{key}` decided gate {gate:?}");
                    assert!(!key.never_decides(), "`{key}` decided");
                    decided += 1;
                }
                if command != Command::act(Action::Cancel { target: ActionTarget::Run }) {
                    let fresh = deck.engine().outcome().is_none();
                    if fresh {
                        deck.command(&run, command);
                    }
                }
            }
        }
        oracle.last_key = Some(now);
        deck.asked.clear();
        if deck.engine().outcome().is_some() {
            let decided_before = oracle.last_key;
            deck = Deck::waiting(80, 24);
            oracle = Oracle { seen: Vec::new(), last_key: decided_before };
            deck.now = deck.now.plus(1);
        }
    }
    decided
}

fn flush(deck: &mut Deck, oracle: &mut Oracle) {
    let (width, height) = deck.model.place.size;
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    let shown = view::draw(&deck.model, deck.now, &mut buffer);
    oracle.seen.extend(shown.gates.iter().map(|gate| (gate.key.run.0.clone(), gate.key.gate.0, gate.revision)));
    let now = deck.now;
    update(&mut deck.model, Msg::FrameFlushed(shown.gates), now);
}

#[test]
fn a_decision_key_acts_only_after_the_frame_was_flushed_and_the_keys_were_quiet() {
    let mut deck = Deck::waiting(80, 24);
    deck.later(5_000);
    let press = |deck: &mut Deck, name: &str| deck.send(Msg::Key(Key::parse(name).unwrap()));
    press(&mut deck, "i");
    deck.later(5_000);
    press(&mut deck, "a");
    assert_eq!(deck.engine().open_gates().count(), 1, "no frame has shown the gate");
    deck.flush();
    deck.later(QUIET_MS - 1);
    press(&mut deck, "a");
    assert_eq!(deck.engine().open_gates().count(), 1, "the last key was too close");
    deck.later(QUIET_MS);
    press(&mut deck, "a");
    assert_eq!(deck.engine().open_gates().count(), 0);
}

#[test]
fn what_was_not_wholly_shown_is_asked_once_more() {
    let mut deck = Deck::running(80, 24);
    deck.done("list", json!("x"));
    deck.done("scan", json!("y"));
    let long: Vec<String> = (0..80).map(|line| format!("line {line}")).collect();
    deck.done("count", json!(long.join("\n")));
    deck.keys("i a");
    assert_eq!(deck.engine().open_gates().count(), 1, "{}", deck.screen());
    assert!(deck.sees("you have not seen all of it"), "{}", deck.screen());
    deck.keys("a");
    assert_eq!(deck.engine().open_gates().count(), 0);
}

#[test]
fn another_key_takes_the_question_back() {
    let mut deck = Deck::waiting(80, 24);
    deck.keys("i X 1 i X");
    assert_eq!(deck.engine().open_gates().count(), 1);
    deck.keys("X");
    assert_eq!(deck.engine().open_gates().count(), 0);
}

#[test]
fn a_skip_tells_what_it_changes_and_wants_the_key_again() {
    let mut deck = Deck::waiting(100, 24);
    deck.keys("i s");
    assert_eq!(deck.engine().open_gates().count(), 1);
    assert!(deck.sees("skips write") && deck.sees("Press again to skip write"), "{}", deck.screen());
    deck.keys("s");
    assert_eq!(deck.engine().open_gates().count(), 0);
}

#[test]
fn the_palette_decides_nothing() {
    let mut deck = Deck::waiting(80, 24);
    deck.keys("i :");
    deck.type_text("approve");
    deck.keys("enter");
    assert_eq!(deck.engine().open_gates().count(), 1, "{}", deck.screen());
}

#[test]
fn the_selection_stays_on_a_gate_that_closed() {
    let mut deck = Deck::waiting(80, 24);
    deck.keys("i");
    let selected = deck.model.inbox.selected.clone();
    deck.keys("a");
    assert_eq!(deck.model.inbox.selected, selected);
    deck.notice(Notice::Runs(Vec::new()));
    assert_eq!(deck.model.inbox.selected, selected);
}

#[test]
fn a_write_of_the_text_that_is_there_says_so_and_shows_the_text() {
    let mut deck = Deck::waiting(120, 40);
    let (run, gate) = deck.model.inbox.gates.first().map(|key| (key.run.clone(), key.gate)).unwrap();
    let payload = deck.engine().open_gates().next().unwrap().payload.clone();
    let after = payload["content"].as_str().unwrap().to_owned();
    let preview = Preview::Diff { path: "longest.md".into(), before: Some(after.clone()), after };
    deck.notice(Notice::Preview { run, gate, preview });
    deck.keys("i");
    assert!(deck.sees("nothing would change: the file has this text already"), "{}", deck.screen());
    assert!(!deck.sees("the new text above"), "{}", deck.screen());
}
