//! Actions on a run, as a person asks for them: what each would change is shown first, each can be undone, and steering needs no question.

use serde_json::json;

use super::Deck;
use crate::console::model::{Dialog, Key, ListOf};
use crate::console::update::Msg;
use crate::engine::{Event, Mark, NodeError, NodeImpact, NodeState, Pace, WorkerFact};

fn state(deck: &Deck, node: &str) -> NodeState {
    deck.engine().node(&node.into()).unwrap().state
}

/// The last action that the engine took.
fn last_why(deck: &Deck) -> Option<String> {
    let records = deck.model.shown_run().unwrap().journal().records();
    records.iter().rev().find_map(|record| match &record.event {
        Event::Acted { why, .. } => Some(why.clone()),
        _ => None,
    })
}

#[test]
fn what_a_verb_would_change_is_shown_in_the_tree_and_as_a_list_before_it_is_said() {
    let mut deck = Deck::running(120, 40);
    deck.select("list");
    deck.keys("|");
    let screen = deck.screen();
    assert!(screen.contains("Cancel the branch at “list”?"), "{screen}");
    assert!(screen.contains("→ cancelled"), "{screen}");
    assert!(screen.contains("cancels in its work: list"), "{screen}");
    assert_eq!(deck.model.proposal().unwrap().fate(&"list".into()), Some((NodeImpact::CancelsAtWork, false)));
    assert_eq!(state(&deck, "list"), NodeState::Running, "nothing is said yet");
    deck.keys("enter space n");
    assert!(deck.model.dialogs.is_empty());
    assert_eq!(state(&deck, "list"), NodeState::Running);
    deck.keys("| y");
    assert_eq!(state(&deck, "list"), NodeState::Cancelled);
}

#[test]
fn words_of_why_stand_in_the_journal() {
    let mut deck = Deck::running(80, 24);
    deck.select("scan");
    deck.keys("ctrl-x w");
    deck.type_text("not needed");
    deck.keys("enter");
    assert!(deck.sees("why: not needed"), "{}", deck.screen());
    deck.keys("y");
    assert_eq!(state(&deck, "scan"), NodeState::Cancelled);
    assert_eq!(last_why(&deck).as_deref(), Some("not needed"));
}

#[test]
fn a_proposal_looks_again_when_the_run_goes_on() {
    let mut deck = Deck::running(120, 40);
    deck.select("list");
    deck.keys("ctrl-x");
    deck.done("list", json!("x"));
    assert!(deck.sees("can't be done any more"), "{}", deck.screen());
    deck.keys("y");
    assert_eq!(state(&deck, "list"), NodeState::Succeeded);
}

#[test]
fn a_hold_is_said_at_once_marked_and_taken_back() {
    let mut deck = Deck::running(120, 40);
    deck.select("write");
    deck.keys(";");
    assert!(deck.engine().is_held(&"write".into()));
    assert!(deck.sees("‖"), "{}", deck.screen());
    assert!(deck.sees("u undo"), "{}", deck.screen());
    assert!(deck.sees("undo: hold write"), "{}", deck.screen());
    deck.keys("u");
    assert!(!deck.engine().is_held(&"write".into()));
    assert!(deck.sees("undid: hold write"), "{}", deck.screen());
    deck.keys("u");
    assert!(deck.sees("there is nothing to undo"), "{}", deck.screen());
}

#[test]
fn a_run_pauses_steps_and_goes_on_and_its_header_says_so() {
    let mut deck = Deck::running(120, 40);
    deck.keys("p");
    assert!(deck.sees("pausing"), "{}", deck.screen());
    deck.done("list", json!("x"));
    deck.done("scan", json!("y"));
    assert_eq!(deck.engine().pace(), Pace::Paused);
    assert!(deck.sees("paused"), "{}", deck.screen());
    deck.select("count");
    deck.keys("s");
    assert_eq!(state(&deck, "count"), NodeState::Running);
    assert_eq!(deck.engine().pace(), Pace::Pausing);
    deck.keys("p");
    assert_eq!(deck.engine().pace(), Pace::Going);
}

#[test]
fn a_breakpoint_comes_and_goes_by_its_key_and_is_marked() {
    let mut deck = Deck::running(120, 40);
    deck.select("count");
    deck.keys("b");
    assert!(deck.sees("□ │ count"), "{}", deck.screen());
    deck.done("list", json!("x"));
    assert_eq!(state(&deck, "count"), NodeState::Held);
    assert!(deck.sees("count halted: "), "{}", deck.screen());
    deck.keys("p");
    assert_eq!(state(&deck, "count"), NodeState::Running);
    deck.keys("b");
    assert_eq!(deck.engine().breakpoints().count(), 0);
}

#[test]
fn breakpoints_are_added_changed_and_removed_in_their_list() {
    let mut deck = Deck::running(120, 40);
    deck.select("write");
    deck.keys("B a");
    deck.type_text(" when nonsense > 1");
    deck.keys("enter");
    assert!(deck.sees("there is no nonsense here"), "{}", deck.screen());
    deck.model.dialogs.last_mut().unwrap().field().unwrap().set("before write when attempt > 1");
    deck.keys("enter");
    assert!(deck.sees("before write when attempt > 1"), "{}", deck.screen());
    deck.keys("e");
    deck.model.dialogs.last_mut().unwrap().field().unwrap().set("after write");
    deck.keys("enter");
    assert!(deck.sees("after write") && !deck.sees("attempt > 1"), "{}", deck.screen());
    assert_eq!(deck.engine().breakpoints().count(), 1);
    deck.keys("d");
    assert_eq!(deck.engine().breakpoints().count(), 0);
    assert!(matches!(deck.model.dialogs.last(), Some(Dialog::List { of: ListOf::Breaks, .. })));
}

#[test]
fn the_menu_offers_what_can_be_done_and_says_why_not_of_the_rest() {
    let mut deck = Deck::running(120, 40);
    deck.select("list");
    deck.keys("m");
    let Some(Dialog::Pick(pick)) = deck.model.dialogs.last() else { panic!() };
    let refused: Vec<bool> = pick.items.iter().map(|item| item.refused.is_some()).collect();
    assert!(refused.is_sorted(), "what can't be done stands last: {refused:?}");
    let hold = pick.items.iter().find(|item| item.label.as_str() == "Hold").unwrap();
    assert!(hold.refused.as_ref().unwrap().as_str().contains("has started"), "{hold:?}");
    deck.type_text("skip");
    deck.keys("enter");
    assert!(deck.sees("Skip “list”?"), "{}", deck.screen());
    deck.keys("y");
    assert_eq!(state(&deck, "list"), NodeState::Skipped);
}

#[test]
fn a_result_is_overridden_by_a_value_that_a_person_writes() {
    let mut deck = Deck::running(120, 40);
    deck.select("scan");
    deck.keys("m");
    deck.type_text("override");
    deck.keys("enter");
    deck.type_text("{\"todo\": 7}");
    deck.keys("ctrl-s y");
    let node = deck.engine().node(&"scan".into()).unwrap();
    assert_eq!((node.result.as_deref(), node.mark.as_ref().map(Mark::as_str)), (Some(&json!({"todo": 7})), Some("overridden")));
}

#[test]
fn nothing_is_said_to_a_run_that_is_looked_at_as_it_was() {
    let mut deck = Deck::running(120, 40);
    deck.keys("H [");
    let before = deck.engine().last_seq();
    for keys in ["p", "s", ";", "x", "X", "ctrl-k", "u", "r", "e", "a", "d", "D", "m"] {
        deck.keys(keys);
        assert!(deck.model.dialogs.is_empty(), "{keys} opens something");
    }
    assert_eq!(deck.engine().last_seq(), before);
    assert!(deck.sees("this is the run after event"), "{}", deck.screen());
}

#[test]
fn why_tells_the_whole_chain_live_and_leads_to_whoever_is_in_the_way() {
    let mut deck = Deck::running(120, 40);
    deck.select("write");
    deck.keys("W");
    let screen = deck.screen();
    assert!(screen.contains("write waits for count, find what is left to do") && screen.contains("count waits for list"), "{screen}");
    deck.done("list", json!("x"));
    deck.done("scan", json!("y"));
    assert!(deck.sees("count is running") && !deck.sees("  count waits for list"), "{}", deck.screen());
    deck.keys("j enter");
    assert_eq!(deck.model.selected_id().map(|id| id.as_str()), Some("count"));
    deck.done("count", json!("z"));
    deck.select("write");
    deck.keys("W enter");
    assert!(deck.sees("write: may it start?"), "{}", deck.screen());
    assert_eq!(deck.engine().open_gates().count(), 1);
}

#[test]
fn the_key_bar_offers_no_step_while_only_a_gate_is_open() {
    let mut deck = Deck::waiting(200, 50);
    let bar = deck.screen().lines().last().unwrap().to_owned();
    assert!(bar.contains("? help") && !bar.contains("s step"), "{bar}");
}

#[test]
fn a_text_is_kept_when_what_it_changes_is_refused() {
    let mut deck = Deck::running(120, 40);
    deck.select("list");
    deck.keys("m");
    deck.type_text("override the result");
    deck.keys("enter");
    deck.type_text("three minutes of work");
    deck.keys("ctrl-s n");
    let Some(Dialog::Editor(editor)) = deck.model.dialogs.last() else { panic!("{}", deck.screen()) };
    assert_eq!(editor.field.text(), "three minutes of work");
    deck.keys("ctrl-s y");
    assert!(deck.model.dialogs.is_empty(), "{}", deck.screen());
    assert_eq!(deck.engine().node(&"list".into()).unwrap().result.as_deref(), Some(&json!("three minutes of work")));
}

#[test]
fn a_breakpoint_of_the_plan_comes_and_goes_by_its_key_before_the_run() {
    let mut deck = Deck::planned(120, 40);
    deck.select("count");
    deck.keys("b");
    assert!(deck.sees("□") && deck.sees("each run of the plan halts before count"), "{}", deck.screen());
    deck.keys("r");
    deck.done("list", json!("x"));
    assert!(deck.sees("1 halt") && deck.sees("■"), "{}", deck.screen());
    deck.keys("g .");
    assert_eq!(deck.model.selected_id().map(|id| id.as_str()), Some("count"));
    deck.keys("> b");
    assert!(!deck.sees("□"), "{}", deck.screen());
}

#[test]
fn hits_of_a_breakpoint_are_counted() {
    let mut deck = Deck::running(120, 40);
    deck.select("count");
    deck.keys("b B");
    assert!(deck.sees("not hit yet"), "{}", deck.screen());
    deck.done("list", json!("x"));
    assert!(deck.sees("hit 1 time"), "{}", deck.screen());
}

#[test]
fn a_run_that_failed_is_edited_where_it_is() {
    let mut deck = Deck::running(120, 40);
    deck.fact("scan", WorkerFact::Failed(NodeError::permanent("no")));
    deck.done("list", json!("x"));
    deck.done("count", json!("x"));
    assert!(deck.engine().outcome().is_some(), "{}", deck.screen());
    deck.select("scan");
    deck.keys("e");
    assert!(matches!(deck.model.dialogs.last(), Some(Dialog::Editor(_))), "{}", deck.screen());
}

#[test]
fn keys_that_came_at_once_send_no_action_through_what_they_opened() {
    let mut deck = Deck::running(120, 40);
    deck.select("list");
    deck.send(Msg::Burst(2));
    deck.send(Msg::Key(Key::parse("|").unwrap()));
    deck.send(Msg::Key(Key::parse("y").unwrap()));
    assert!(deck.model.proposal().is_some(), "what the first one opened stays open");
    assert_eq!(state(&deck, "list"), NodeState::Running);
    deck.keys("y");
    assert_eq!(state(&deck, "list"), NodeState::Cancelled);
}
