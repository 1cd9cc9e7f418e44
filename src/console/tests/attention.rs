//! What is said of runs that are opened, and of those that aren't shown.

use serde_json::json;

use super::Deck;
use crate::engine::{GateId, RunId};
use crate::host::client::{Driver, Notice};

fn first() -> RunId {
    RunId("run-1".into())
}

/// A second console to which the host opens the run of the first.
fn opened(driver: Driver) -> Deck {
    let records = Deck::waiting(120, 40).model.shown_run().unwrap().journal().records().to_vec();
    let mut deck = Deck::new(120, 40);
    deck.notice(Notice::RunOpened { run: first(), records, driver });
    deck
}

#[test]
fn an_opened_run_shows_what_its_waiting_gates_would_do() {
    let mut deck = opened(Driver::Here);
    deck.keys("tab i");
    assert!(deck.sees("+ | 120 | src/lib.rs |"), "{}", deck.screen());
}

#[test]
fn no_preview_is_asked_of_a_run_that_nobody_drives_here() {
    let deck = opened(Driver::Elsewhere("ada@far".into()));
    assert!(!deck.model.runs.get(&first()).unwrap().previews.contains_key(&GateId(1)));
}

/// A console with two runs of which the second is shown; the first has a breakpoint before `count`.
fn two() -> Deck {
    let mut deck = Deck::running(120, 40);
    deck.select("count");
    deck.keys("b");
    deck.start(super::plan(), Vec::new());
    assert_eq!(deck.model.shown_run().unwrap().id, RunId("run-2".into()));
    deck
}

#[test]
fn what_happens_in_another_run_names_it_and_no_key_that_would_act_on_the_shown_one() {
    let mut deck = two();
    deck.done_in(&first(), "list", json!("x"));
    let said = deck.model.status.clone().unwrap().text;
    assert!(said.as_str().starts_with("run 1: `count` halted: "), "{}", said.as_str());
    assert!(!said.as_str().contains("is running"), "{}", said.as_str());
    deck.keys("<");
    deck.done_in(&first(), "scan", json!("x"));
    deck.keys("p");
    let said = deck.model.status.clone().unwrap().text;
    assert!(said.as_str().starts_with("resumed the run"), "{}", said.as_str());
}
