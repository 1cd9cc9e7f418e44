//! A failure that its plan asks about, and a new plan that is proposed, in the console: the choices, and what each sends.

use serde_json::json;

use super::Deck;
use crate::engine::{Input, NodeError, ReplanAnswer, RunId, WorkerFact};
use crate::plan::{Node, Plan};

/// A run whose agent has failed, and asks.
fn failed(width: u16, height: u16) -> Deck {
    failing(width, height, "ask")
}

fn failing(width: u16, height: u16, on_failure: &str) -> Deck {
    let mut deck = Deck::new(width, height);
    deck.plan = serde_json::from_value::<Plan>(json!({"dagdeck": 1, "goal": "write the notes", "nodes": [
        {"id": "notes", "agent": "writer", "objective": "write the notes", "on_failure": on_failure},
        {"id": "use", "value": "{{notes}}", "depends_on": ["notes"]},
    ]}))
    .unwrap();
    deck.type_text("write the notes");
    deck.keys("enter r");
    deck.fact("notes", WorkerFact::Failed(NodeError::permanent("the model refused")));
    deck
}

fn attempt(deck: &Deck) -> u32 {
    deck.engine().node(&"notes".into()).unwrap().attempt
}

#[test]
fn a_failure_offers_its_choices_and_what_each_comes_to() {
    let mut deck = failed(80, 24);
    deck.select("notes");
    deck.keys("i e");
    insta::assert_snapshot!(deck.screen());
}

#[test]
fn a_choice_is_sent_by_the_key_that_sends_and_by_no_other() {
    let mut deck = failed(120, 40);
    deck.select("notes");
    deck.keys("i a");
    assert_eq!(deck.engine().open_gates().count(), 1, "a yes is no answer to a failure");
    deck.keys("e enter");
    assert_eq!(deck.engine().open_gates().count(), 1, "what is picked is not sent yet");
    deck.keys("a");
    assert_eq!(attempt(&deck), 2, "{}", deck.screen());
    assert!(deck.sees("answered write the notes: retry") && !deck.sees("approved"), "{}", deck.screen());
}

#[test]
fn a_node_that_is_tried_again_does_not_read_as_failed() {
    let mut deck = failed(120, 40);
    deck.select("notes");
    deck.keys("i e enter a 1");
    deck.select("notes");
    assert!(deck.sees("the attempt before failed: the model refused"), "{}", deck.screen());
    assert!(!deck.sees("running: the model refused"), "{}", deck.screen());
}

#[test]
fn a_failed_node_is_tried_again_with_another_model_or_another_task() {
    let mut deck = failed(120, 40);
    deck.select("notes");
    deck.keys("i e down down enter enter");
    assert!(deck.sees("type the name of a model"), "{}", deck.screen());
    deck.type_text("large");
    deck.keys("enter a");
    assert_eq!(attempt(&deck), 2, "{}", deck.screen());
    deck.fact("notes", WorkerFact::Failed(NodeError::permanent("the model refused")));
    deck.select("notes");
    deck.keys("i e down enter enter end");
    deck.type_text(" in brief");
    deck.keys("ctrl-s a");
    assert_eq!(attempt(&deck), 3, "{}", deck.screen());
}

/// A run whose planner proposes two agents in the place of the one that failed.
fn proposed(width: u16, height: u16) -> Deck {
    let mut deck = failing(width, height, "replan");
    let known = deck.engine().plan().unwrap().clone();
    let node = |value| serde_json::from_value::<Node>(value).unwrap();
    let nodes = vec![
        known.nodes[0].clone(),
        node(json!({"id": "use", "value": "{{brief}}", "depends_on": ["brief"]})),
        node(json!({"id": "brief", "title": "Write them in brief", "agent": "writer", "objective": "write the notes in brief"})),
        node(json!({"id": "check", "title": "Check them", "agent": "writer", "objective": "check the notes"})),
    ];
    let answer = ReplanAnswer { plan: Ok(Box::new(Plan { nodes, ..known })), calls: Vec::new() };
    deck.input(&RunId("run-1".into()), &Input::Replanned { number: 1, answer: Box::new(answer) });
    deck
}

#[test]
fn a_new_plan_is_shown_piece_by_piece_before_it_is_taken() {
    let mut deck = proposed(80, 24);
    deck.select("notes");
    deck.keys("i");
    insta::assert_snapshot!(deck.screen());
}

#[test]
fn pieces_of_a_new_plan_are_left_out_and_put_back_and_only_the_rest_is_taken() {
    let mut deck = proposed(120, 40);
    deck.select("notes");
    deck.keys("i e");
    assert!(deck.sees("[x] + node check"), "{}", deck.screen());
    for _ in 0..3 {
        deck.keys("down");
    }
    deck.keys("enter");
    assert!(deck.sees("[ ] + node check") || deck.sees("[ ] + node brief"), "{}", deck.screen());
    let left_out = if deck.sees("[ ] + node check") { "check" } else { "brief" };
    deck.keys("esc a");
    deck.keys("a");
    assert!(deck.engine().node(&left_out.into()).is_none(), "{}", deck.screen());
    assert_eq!(deck.engine().open_gates().count(), 0, "{}", deck.screen());
}

#[test]
fn a_person_asks_for_a_new_plan_with_words_and_is_told_why_not_where_one_is_on_its_way() {
    let mut deck = failed(120, 40);
    deck.keys(":");
    deck.type_text("replan");
    deck.keys("enter");
    deck.type_text("with fewer steps");
    deck.keys("enter");
    let asked = deck.engine().replan().unwrap().guidance.clone();
    assert_eq!(asked, ["with fewer steps"]);
    deck.keys(":");
    deck.type_text("replan");
    deck.keys("enter");
    assert!(deck.sees("a new plan is being made already"), "{}", deck.screen());
}
