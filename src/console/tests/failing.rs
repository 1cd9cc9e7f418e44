//! A failure that its plan asks about, in the console: the choices, and what each sends.

use serde_json::json;

use super::Deck;
use crate::engine::{NodeError, WorkerFact};
use crate::plan::Plan;

/// A run whose agent has failed, and asks.
fn failed(width: u16, height: u16) -> Deck {
    let mut deck = Deck::new(width, height);
    deck.plan = serde_json::from_value::<Plan>(json!({"dagdeck": 1, "goal": "write the notes", "nodes": [
        {"id": "notes", "agent": "writer", "objective": "write the notes", "on_failure": "ask"},
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
