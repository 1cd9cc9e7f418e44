//! The screen of costs, and the budget that a person sets on a plan and on a run.

use super::Deck;
use crate::engine::{CallNeed, ModelCall, TokenUsage, WorkerFact};
use serde_json::json;

/// A deck whose agent has a call under way, out of a budget of 10,000 tokens.
fn calling() -> Deck {
    let mut deck = Deck::running(120, 34);
    deck.select("scan");
    let need = Some(CallNeed { prompt: 500, least: 64, most: 4_000, last: 300, price: None });
    deck.fact("scan", WorkerFact::ModelAsked { call: "m".into(), model: "small".into(), need });
    deck.fact("scan", WorkerFact::ModelSent { call: "m".into(), unheard: None });
    deck
}

fn ended(deck: &mut Deck) {
    let (id, model, usage) = ("m".to_owned(), "small".to_owned(), TokenUsage::of(1_200, 300));
    let call = ModelCall { id, model, provider: "here".into(), usage, cost_usd: Some(0.5), ..ModelCall::default() };
    deck.fact("scan", WorkerFact::ModelCalled(call));
}

#[test]
fn the_screen_of_costs_says_what_is_spent_reserved_and_what_it_went_to() {
    let mut deck = calling();
    deck.keys("9");
    assert!(deck.sees("No model was asked: nothing is spent."), "{}", deck.screen());
    ended(&mut deck);
    for words in [
        "cost  by node",
        "1×",
        "1.5k",
        "$0.50",
        "spent",
        "1 model call, 1.5k tokens, $0.50",
        "kept",
        "300 tokens for last turns",
        "10,000 tokens",
    ] {
        assert!(deck.sees(words), "{words}\n{}", deck.screen());
    }
    assert!(deck.sees("1.5k of 10k tokens"), "the header has it too\n{}", deck.screen());
    deck.keys("o");
    assert!(deck.sees("cost  by agent"), "{}", deck.screen());
    deck.keys("o");
    assert!(deck.sees("cost  by model") && deck.sees("small"), "{}", deck.screen());
    deck.keys("esc");
    assert!(!deck.sees("by model"), "{}", deck.screen());
}

#[test]
fn a_failed_attempt_is_told_apart() {
    let mut deck = calling();
    ended(&mut deck);
    deck.keys("9");
    assert!(!deck.sees("for attempts that failed"), "{}", deck.screen());
    deck.fact("scan", WorkerFact::Failed(crate::engine::NodeError::permanent("it broke")));
    assert!(deck.sees("100 % for attempts that failed"), "{}", deck.screen());
}

#[test]
fn the_budget_of_a_plan_is_set_before_it_runs_and_that_of_a_run_while_it_does() {
    let mut deck = Deck::planned(120, 34);
    deck.keys(":");
    deck.type_text("budget");
    deck.keys("enter");
    deck.type_text(", lots");
    deck.keys("enter");
    assert!(deck.sees("`lots` is no budget") || deck.sees("lots is no budget"), "{}", deck.screen());
    deck.keys("backspace backspace backspace backspace");
    deck.type_text("$2");
    deck.keys("enter");
    assert_eq!(deck.model.editor.plan().budget, serde_json::from_value(json!({"tokens": 10_000, "usd": 2.0})).unwrap());

    deck.keys("r 9 $");
    deck.type_text(", 5 calls");
    deck.keys("enter");
    let budget = deck.engine().budget().cloned().unwrap();
    assert_eq!((budget.model_calls, budget.usd), (Some(5), Some(2.0)), "{}", deck.screen());
}
