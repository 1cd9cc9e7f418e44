//! What a person must be told to go on: what a breakpoint keeps, whose result a result is, and what was not taken.

use serde_json::json;

use super::Deck;
use crate::engine::{Breakpoint, Command, Done, Moment, NodeError, NodeState, RunId, Verb, WorkFact};

fn broken_at(at: Moment) -> Deck {
    let mut deck = Deck::running(200, 50);
    let point = Breakpoint { at, node: Some("scan".into()), when: None };
    deck.command(&RunId("run-1".into()), Command::act(Verb::Break { point }));
    deck.select("scan");
    deck
}

#[test]
fn a_breakpoint_on_failure_shows_the_failure_that_it_keeps_and_the_keys_that_go_on() {
    let mut deck = broken_at(Moment::Failure);
    deck.fact("scan", WorkFact::Failed(NodeError::permanent("the server said no").hint("ask again")));
    let screen = deck.screen();
    assert!(screen.contains("it failed: the server said no; breakpoint 1 on failure"), "in its row: {screen}");
    assert!(screen.contains("hint: ask again"), "in its output: {screen}");
    assert!(screen.contains("; lets this node go on, p the whole run"), "{screen}");
    deck.keys("W");
    assert!(deck.sees("breakpoint 1 on failure of `scan`; it failed: the server said no"), "{}", deck.screen());
    deck.keys("esc ; y");
    assert_eq!(deck.engine().node(&"scan".into()).unwrap().state, NodeState::Failed);
}

#[test]
fn a_breakpoint_after_a_node_shows_the_result_that_it_keeps() {
    let mut deck = broken_at(Moment::After);
    deck.done("scan", json!({"todo": 3}));
    let screen = deck.screen();
    assert!(screen.contains("its result is {\"todo\":3}"), "in its row: {screen}");
    assert!(screen.contains("result, kept") && screen.contains("\"todo\": 3"), "in its output: {screen}");
    deck.keys(";");
    assert!(!deck.sees("result, kept"));
}

#[test]
fn a_result_that_a_person_or_a_limit_made_is_marked_in_its_row() {
    let mut deck = Deck::running(200, 50);
    deck.later(10);
    deck.fact("scan", WorkFact::Done(Done { result: json!("as far as I came"), mark: Some("stopped".into()) }));
    let run = RunId("run-1".into());
    deck.command(&run, Command::act(Verb::Override { node: "list".into(), value: json!("a.rs") }));
    let screen = deck.screen();
    let row = |screen: &str, node: &str| screen.lines().find(|line| line.contains(node)).unwrap_or_default().to_owned();
    assert!(row(&screen, "list_directory").contains("* overridden  a.rs"), "{screen}");
    assert!(row(&screen, "code_analyzer").contains("* stopped  as far as I came"), "{screen}");
    deck.command(&run, Command::act(Verb::Override { node: "list".into(), value: json!(null) }));
    assert!(row(&deck.screen(), "list_directory").contains("* marked done"), "{}", deck.screen());
}

#[test]
fn broken_json_is_no_result_and_text_is_said_to_be_text() {
    let mut deck = Deck::running(200, 50);
    deck.select("list");
    deck.keys("m");
    deck.type_text("override");
    deck.keys("enter");
    deck.type_text("{\"a\": 1");
    deck.keys("ctrl-s");
    assert!(deck.sees("not valid JSON: EOF while parsing an object at line 1 column 7"), "{}", deck.screen());
    deck.type_text("}");
    deck.keys("ctrl-s");
    assert!(deck.sees("takes the JSON {\"a\":1}"), "{}", deck.screen());
    deck.keys("esc m");
    deck.type_text("override");
    deck.keys("enter");
    deck.type_text("two files");
    deck.keys("ctrl-s");
    assert!(deck.sees("takes the text two files"), "{}", deck.screen());
    deck.keys("y");
    assert_eq!(deck.engine().node(&"list".into()).unwrap().result.as_deref(), Some(&json!("two files")));
}
