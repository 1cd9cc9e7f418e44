//! The keystroke property: whatever is typed, no gate is decided that did not meet all four conditions.

use super::Deck;
use crate::console::{
    model::{Dialog, Key, Model, QUIET_MS, Screen},
    update::{ConsoleEffect, Msg, update},
    view,
};
use crate::engine::{Action, ActionTarget, Command, GateReply, Preview, Time};
use crate::host::client::{Notice, Request};
use ratatui::{buffer::Buffer, layout::Rect};
use serde_json::json;

pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % sides as u64).unwrap()
    }
}

const KEYS: &[&str] = &[
    "a", "a", "a", "a", "x", "x", "e", "s", "-", "-", "X", "X", "A", "enter", "space", "esc", "esc", "i", "2", "1", "1", "j", "k", "j",
    "k", "J", "K", "n", "y", "z", "tab", ":", "?", "u", "o", "q", "ctrl-s", "ctrl-c", "/", "b", "G", "g", "left", "right", "ctrl-j", "E",
    "3", ".", ".", ".", ">", "<", "f1", "H", "[", "]", "(", "$", "5", "6", "v", "m", "p", "B", ";", "r", "w", "Z", "t",
];

/// What the test itself knows of what a person has seen and done.
#[derive(Default)]
struct Oracle {
    /// Revisions of gates that the newest flushed frame showed.
    seen: Vec<(String, u32, u64)>,
    /// Gates that were open where a key of the person left them, and that key was none that replies.
    went_to: Vec<(String, u32)>,
    last_key: Option<Time>,
    /// The key whose reply waits to be confirmed: only the same key gives a reply then.
    waits_for: Option<Key>,
}

impl Oracle {
    fn allows(&self, before: &Model, key: Key, (run, gate): (&str, u32), now: Time) -> bool {
        if before.inbox.asked.is_some() && self.waits_for != Some(key) {
            return false;
        }
        let Some((key, _)) = before.selected_gate() else { return false };
        let selected = key.run.0 == run && key.gate.0 == gate && self.went_to.contains(&(run.to_owned(), gate));
        let revision = before.inbox.doc(key).unwrap().revision;
        let drawn = self.seen.contains(&(run.to_owned(), gate, revision));
        let quiet = self.last_key.is_none_or(|last| now.since(last) >= QUIET_MS);
        let there = before.place.screen == Screen::Inbox || before.node_gates().contains(key);
        selected && drawn && quiet && there && !before.types()
    }

    /// A key was pressed: on a gate that is open now where the person is, they have been with it.
    fn pressed(&mut self, model: &Model, key: Key, now: Time) {
        self.last_key = Some(now);
        self.waits_for = model.inbox.asked.as_ref().map(|_| key);
        let replies = ["a", "x", "-", "X", "A"].map(|name| Key::parse(name).unwrap());
        let here = match model.place.screen {
            Screen::Inbox => model.inbox.selected.iter().cloned().collect(),
            _ => model.node_gates(),
        };
        if !replies.contains(&key) {
            self.went_to.extend(here.into_iter().map(|key| (key.run.0, key.gate.0)));
        }
    }
}

#[test]
fn the_key_of_another_reply_cancels_the_one_that_waits_to_be_confirmed() {
    let mut deck = Deck::waiting(80, 24);
    deck.keys("i X");
    assert!(deck.sees("press X again to cancel them"), "{}", deck.screen());
    deck.keys("a");
    assert!(deck.sees("cancelled: nothing was sent"), "{}", deck.screen());
    assert_eq!(deck.engine().open_gates().count(), 1);
    deck.keys("a");
    assert_eq!(deck.engine().open_gates().count(), 0, "{}", deck.screen());
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
    let mut oracle = Oracle::default();
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
        if dice.roll(12) == 0 {
            change_gate(&mut deck, &mut dice);
        }
        if dice.roll(20) == 0 {
            // A paste, or a burst of keys: neither replies.
            deck.send([Msg::Paste("aax-X".into()), Msg::TypedAtOnce("aaa".into()), Msg::Burst(3)][dice.roll(3)].clone());
            assert!(
                deck.asked
                    .iter()
                    .all(|asked| !matches!(asked, ConsoleEffect::Send(Request::Command { command: Command::Decide { .. }, .. })))
            );
            oracle.last_key = Some(deck.now);
        }
        if dice.roll(3) > 0 {
            flush(&mut deck, &mut oracle);
        }
        let key = Key::parse(KEYS[dice.roll(KEYS.len())]).unwrap();
        let before = deck.model.clone();
        let now = deck.now;
        for action in update(&mut deck.model, Msg::Key(key), now) {
            if let ConsoleEffect::Send(Request::Command { run, command }) = action {
                if let Command::Decide { gate, .. } = &command {
                    assert!(oracle.allows(&before, key, (&run.0, gate.0), now), "seed {seed}, key {turn} `{key}` decided gate {gate:?}");
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
        oracle.pressed(&deck.model, key, now);
        deck.asked.clear();
        if deck.engine().outcome().is_some() {
            let last_key = oracle.last_key;
            deck = if dice.roll(2) == 0 { Deck::waiting(80, 24) } else { Deck::waiting(120, 40) };
            oracle = Oracle { last_key, ..Oracle::default() };
            deck.now = deck.now.plus(1);
        }
    }
    decided
}

/// What an open gate would do is another thing now.
fn change_gate(deck: &mut Deck, dice: &mut Dice) {
    let Some(key) = deck.model.inbox.gates.first().cloned() else { return };
    let preview = Preview::Text(format!("it does {}", dice.roll(1_000)));
    deck.notice(Notice::Preview { run: key.run, gate: key.gate, preview });
}

fn flush(deck: &mut Deck, oracle: &mut Oracle) {
    let (width, height) = deck.model.place.size;
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    let shown = view::draw(&deck.model, deck.now, &mut buffer);
    oracle.seen = shown.gates.iter().map(|gate| (gate.key.run.0.clone(), gate.key.gate.0, gate.revision)).collect();
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
    deck.keys("i -");
    assert_eq!(deck.engine().open_gates().count(), 1);
    assert!(deck.sees("skips write") && deck.sees("Press - again to skip it"), "{}", deck.screen());
    deck.keys("-");
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

#[test]
fn a_gate_is_replied_to_beside_the_tree_where_the_person_went_to_it() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys(".");
    let screen = deck.screen();
    for words in ["may it start?", "longest.md", "a approve", "x reject", "- skip"] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
    deck.keys("a");
    assert_eq!((deck.engine().open_gates().count(), deck.model.place.screen), (0, Screen::Plan));
}

#[test]
fn a_gate_that_opens_under_the_selection_is_not_decided_by_the_key_that_was_on_its_way() {
    let mut deck = Deck::running(120, 40);
    deck.select("write");
    deck.done("list", json!("src/main.rs"));
    deck.done("scan", json!({"todo": 3}));
    deck.done("count", json!("x"));
    deck.keys("a a x -");
    assert_eq!(deck.engine().open_gates().count(), 1);
    assert!(deck.sees("press . first: it opened just now"), "{}", deck.screen());
    deck.keys(". a");
    assert_eq!(deck.engine().open_gates().count(), 0, "{}", deck.screen());
}

#[test]
fn keys_that_decide_mean_nothing_else_in_a_run() {
    let mut deck = Deck::waiting(120, 40);
    for screen in ["1", "5", "6", "7", "v", "H"] {
        deck.keys(screen);
        deck.select("list");
        deck.keys("a x - X A");
        assert!(deck.model.dialogs.is_empty(), "on {screen}: {}", deck.screen());
    }
    assert_eq!(deck.engine().open_gates().count(), 1);
}

#[test]
fn a_folded_row_decides_nothing() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("Z g a");
    assert_eq!(deck.engine().open_gates().count(), 1);
    assert!(deck.model.card_gate().is_none());
}

#[test]
fn a_text_of_a_payload_is_edited_as_that_text() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys(". e");
    let screen = deck.screen();
    assert!(screen.contains("edit which part?") && screen.contains("content"), "{screen}");
    deck.keys("enter");
    let Some(Dialog::Editor(editor)) = deck.model.dialogs.last() else { panic!("{}", deck.screen()) };
    assert!(editor.field.text().contains('\n') && !editor.field.text().contains("\\n"));
    deck.type_text("Z");
    deck.keys("ctrl-s a");
    let decided = deck.engine().gates().next().and_then(|(_, decided)| decided.cloned()).unwrap();
    let GateReply::Modify { payload } = decided.decision else { panic!("{decided:?}") };
    assert!(payload["content"].as_str().unwrap().starts_with('Z') && payload["path"] == "longest.md", "{payload}");
}

#[test]
fn a_path_that_was_edited_has_no_new_lines() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys(". e down enter end alt-enter alt-enter enter a");
    let decided = deck.engine().gates().next().and_then(|(_, decided)| decided.cloned()).unwrap();
    let GateReply::Modify { payload } = decided.decision else { panic!("{decided:?}") };
    assert_eq!(payload["path"], "longest.md");
}

#[test]
fn a_rejection_says_what_it_does() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys(". x");
    assert!(deck.sees("rejects write with this reason; the node is cancelled"), "{}", deck.screen());
}

#[test]
fn words_of_one_reply_are_not_lost_to_another() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys(". x");
    deck.type_text("too long");
    deck.keys("enter");
    assert!(deck.sees("x send the rejection") && deck.sees("u discard draft") && !deck.sees("a approve"), "{}", deck.screen());
    deck.keys("e");
    assert!(deck.sees("you wrote a reason to reject: x sends it, u discards it"), "{}", deck.screen());
    assert!(deck.model.dialogs.is_empty() && deck.sees("too long"));
    deck.keys("u e down enter end");
    deck.type_text("x");
    deck.keys("enter x");
    assert!(deck.sees("you edited what it asks about: a sends it, u discards it"), "{}", deck.screen());
    assert_eq!(deck.engine().open_gates().count(), 1);
}

#[test]
fn a_card_behind_something_open_says_when_its_keys_reply() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys(". e");
    assert!(deck.sees("close this to use the keys of the gate") && !deck.sees("not active"), "{}", deck.screen());
    deck.keys("esc");
    deck.later(1_000);
    assert!(deck.sees("keys active"), "{}", deck.screen());
}
