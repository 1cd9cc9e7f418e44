//! What rows and panes say while a model is waited for, and while it thinks.

use serde_json::json;

use super::Deck;
use crate::engine::{Cause, Time, WorkerFact};

/// A deck at 80 columns whose agent is about to ask a model.
fn asking() -> Deck {
    let mut deck = Deck::running(80, 24);
    deck.select("scan");
    deck.fact("scan", WorkerFact::ModelAsked { call: "m".into(), model: "small".into(), need: None });
    deck
}

#[test]
fn the_card_says_at_80_columns_what_the_call_waits_for_and_until_when() {
    let provider = || "a-provider-with-a-long-name.example.org:18110".to_owned();
    let mut deck = asking();
    let waits = |reason| WorkerFact::ModelWaits { call: "m".into(), reason };
    deck.fact("scan", waits(Cause::ModelSlot { provider: provider() }));
    assert!(deck.sees("waits for a free slot"), "{}", deck.screen());
    let until = Time(1_750_000_040_000);
    deck.fact("scan", waits(Cause::ModelRate { provider: provider(), until }));
    assert!(deck.sees(crate::text::clock(until.0).as_str()), "{}", deck.screen());
    deck.fact("scan", WorkerFact::ModelSent { call: "m".into(), unheard: None });
    assert!(deck.sees("waits for the model to begin its answer") && !deck.sees(crate::text::clock(until.0).as_str()), "{}", deck.screen());
    deck.fact("scan", WorkerFact::ModelAnswers { call: "m".into() });
    assert!(!deck.sees("waits for the model to begin"), "{}", deck.screen());
}

#[test]
fn thoughts_are_shown_as_they_come_and_the_result_takes_their_place() {
    let mut deck = asking();
    deck.fact("scan", WorkerFact::ModelSent { call: "m".into(), unheard: None });
    deck.fact("scan", WorkerFact::ModelAnswers { call: "m".into() });
    deck.fact("scan", WorkerFact::Thought("Three files are ".into()));
    assert!(deck.sees("thinking") && deck.sees("Three files are") && !deck.sees("no output yet"), "{}", deck.screen());
    deck.fact("scan", WorkerFact::Thought("left, it seems.".into()));
    assert!(deck.sees("Three files are left, it seems."), "{}", deck.screen());
    deck.fact("scan", WorkerFact::Output("So three".into()));
    assert!(deck.sees("So three"), "{}", deck.screen());
    deck.done("scan", json!("three"));
    assert!(!deck.sees("it seems"), "{}", deck.screen());
}
