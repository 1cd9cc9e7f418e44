//! What is asked before a run changes, and which keys lead to the questions.

use serde_json::json;

use super::Deck;
use crate::console::{
    model::{Dialog, GateShown, Key, Screen, texts},
    update::{ConsoleEffect, Msg, update},
};
use crate::host::client::{Notice, Request};
use crate::plan::NodeId;

fn nodes(deck: &Deck) -> usize {
    deck.engine().plan().unwrap().nodes.len()
}

/// A run that is over.
fn ended() -> Deck {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("i a");
    deck.done("write", json!({"bytes": 12}));
    deck.keys("1");
    assert!(deck.engine().outcome().is_some());
    deck
}

#[test]
fn a_copy_of_a_node_in_a_run_that_is_over_is_asked_about_before_it_runs() {
    let mut deck = ended();
    deck.select("count");
    let before = nodes(&deck);
    deck.keys("c");
    assert!(matches!(deck.model.dialogs.last(), Some(Dialog::Act(_))), "{}", deck.screen());
    assert!(deck.sees("starts: count_2"), "{}", deck.screen());
    assert_eq!(nodes(&deck), before);
    deck.keys("n");
    assert_eq!(nodes(&deck), before);
    assert!(deck.engine().outcome().is_some());
    deck.keys("c y");
    assert_eq!(nodes(&deck), before + 1);
}

#[test]
fn a_node_that_would_start_at_once_in_a_run_under_way_is_asked_about_and_one_that_waits_is_not() {
    let mut deck = Deck::waiting(120, 40);
    deck.select("count");
    deck.keys("c");
    assert!(matches!(deck.model.dialogs.last(), Some(Dialog::Act(_))), "{}", deck.screen());
    deck.keys("n");
    let before = nodes(&deck);
    deck.select("write");
    deck.keys("c");
    assert!(deck.model.dialogs.is_empty(), "{}", deck.screen());
    assert_eq!(nodes(&deck), before + 1);
}

#[test]
fn a_name_in_a_run_that_is_over_changes_only_after_a_yes() {
    let mut deck = ended();
    deck.select("count");
    deck.keys("R end");
    deck.type_text("ed");
    deck.keys("enter");
    assert!(matches!(deck.model.dialogs.last(), Some(Dialog::Act(_))), "{}", deck.screen());
    assert!(deck.engine().node(&"count".into()).is_some());
    deck.keys("y");
    assert!(deck.engine().node(&"counted".into()).is_some());
}

#[test]
fn the_key_that_rejects_asks_for_the_words_also_while_another_reply_waits_to_be_confirmed() {
    let mut deck = Deck::waiting(80, 24);
    deck.keys("i X");
    assert!(deck.sees("press X again to cancel them"), "{}", deck.screen());
    deck.keys("x");
    assert!(matches!(deck.model.dialogs.last(), Some(Dialog::Line(_))), "{}", deck.screen());
    deck.type_text("too many files");
    assert_eq!(deck.engine().open_gates().count(), 1);
    assert!(deck.sees("too many files"), "{}", deck.screen());
}

#[test]
fn the_key_to_the_next_gate_takes_the_one_that_opened_at_the_selected_row_first() {
    let mut deck = Deck::new(120, 40);
    deck.plan = serde_json::from_value(json!({"dagdeck": 1, "goal": "halt and ask", "nodes": [
        {"id": "halts", "code": "return 1;", "breakpoint": true},
        {"id": "count", "code": "return 2;"},
        {"id": "write", "tool": "write_file", "args": {"path": "r.md", "content": "x"}, "approve": "before", "depends_on": ["count"]},
    ]}))
    .unwrap();
    deck.type_text("halt and ask");
    deck.keys("enter r");
    deck.select("write");
    deck.done("count", json!(2));
    assert!(deck.sees("press . first"), "{}", deck.screen());
    deck.keys(".");
    assert!(deck.model.selected_gate().is_some_and(|(_, gate)| *gate.node == *"write"), "{}", deck.screen());
}

#[test]
fn a_frame_follows_where_the_one_before_showed_more_of_a_gate_than_it_says() {
    let mut deck = Deck::waiting(80, 18);
    deck.keys(".");
    deck.flush();
    let (key, doc) = deck.model.selected_gate().and_then(|(key, _)| Some((key.clone(), deck.model.inbox.doc(key)?))).unwrap();
    let (revision, total) = (doc.revision, doc.doc.len());
    assert!(deck.model.unseen_lines() > 0, "{}", deck.screen());
    let whole = GateShown { key, revision, from: 0, to: total, total };
    assert_eq!(update(&mut deck.model, Msg::FrameFlushed(vec![whole.clone()]), deck.now), [ConsoleEffect::Frame]);
    assert_eq!(update(&mut deck.model, Msg::FrameFlushed(vec![whole]), deck.now), []);
}

#[test]
fn the_only_argument_of_a_call_is_edited_as_the_text_that_it_is() {
    let mut deck = Deck::planned(120, 40);
    deck.select("list");
    deck.keys("e");
    let Some(Dialog::Editor(editor)) = deck.model.dialogs.last() else { panic!("{}", deck.screen()) };
    assert_eq!(editor.field.text(), "src");
    deck.model.dialogs.last_mut().unwrap().field().unwrap().set("tests\n");
    deck.keys("ctrl-s");
    let list = deck.model.editor.addressed().node(&NodeId::new("list")).cloned().unwrap();
    assert_eq!(texts::to_edit(&list), "tests");
    assert_eq!(texts::text(&list), "{\n  \"path\": \"tests\"\n}");
}

#[test]
fn what_ends_beside_the_stepped_node_is_not_said_to_be_the_one_that_was_stepped() {
    let mut deck = Deck::running(120, 40);
    deck.keys("p");
    deck.done("list", json!("x"));
    deck.select("count");
    deck.keys("s");
    deck.done("scan", json!("y"));
    let screen = deck.screen();
    assert!(screen.contains("find what is left to do: succeeded") && !screen.contains("ran find"), "{screen}");
}

#[test]
fn a_time_in_the_log_is_said_once_and_how_the_engine_goes_on_only_when_it_is_asked_for() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("5");
    assert_eq!(deck.model.place.screen, Screen::Log);
    let screen = deck.screen();
    let clocks: Vec<&str> = screen.lines().filter_map(|line| line.get(2..11)).filter(|time| time.ends_with('Z')).collect();
    let mut once = clocks.clone();
    once.dedup();
    assert_eq!(clocks, once, "{screen}");
    assert!(!screen.contains("edge taken"), "{screen}");
    deck.keys("/");
    deck.type_text("edge");
    assert!(deck.sees("edge taken"), "{}", deck.screen());
}

#[test]
fn a_command_gets_other_keys_which_hold_at_once_and_are_kept() {
    let mut deck = Deck::planned(120, 40);
    deck.keys(":");
    deck.type_text("change keys");
    deck.keys("enter");
    deck.type_text("plan.run");
    deck.keys("enter");
    assert!(deck.sees("keys of plan.run"), "{}", deck.screen());
    deck.model.dialogs.last_mut().unwrap().field().unwrap().set("s");
    deck.keys("enter");
    assert!(deck.sees("means both"), "{}", deck.screen());
    deck.model.dialogs.last_mut().unwrap().field().unwrap().set("f9 r");
    deck.keys("enter");
    let kept = Request::KeepKeys { command: "plan.run".into(), keys: vec!["f9".into(), "r".into()] };
    assert_eq!(deck.asked.pop(), Some(ConsoleEffect::Send(kept)));
    assert_eq!(deck.model.look.keymap.hint("plan.run").as_deref(), Some("f9"));
    deck.notice(Notice::KeysKept { command: "plan.run".into(), file: "/home/ada/config.toml".into() });
    assert!(deck.sees("keys of plan.run, kept in /home/ada/config.toml"), "{}", deck.screen());
}

#[test]
fn a_key_that_comes_twice_at_once_starts_one_run() {
    let mut deck = Deck::planned(120, 40);
    deck.flush();
    let run = Key::parse("r").unwrap();
    let starts =
        |effects: Vec<ConsoleEffect>| effects.iter().filter(|effect| matches!(effect, ConsoleEffect::Send(Request::Start { .. }))).count();
    let first = starts(update(&mut deck.model, Msg::Key(run), deck.now));
    let second = starts(update(&mut deck.model, Msg::Key(run), deck.now));
    assert_eq!((first, second), (1, 0));
}
