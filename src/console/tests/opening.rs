//! A plan that the console opens with: keys that come before the host has sent agents and tools do what they say once it has.

use super::{Deck, plan};
use crate::console::{model::PlanScreen, theme::Theme, update::actions::plan::open};
use crate::engine::Pace;
use crate::plan::Plan;

fn opened(plan: Plan) -> Deck {
    let mut deck = Deck::alone(100, 30, Theme::default());
    open(&mut deck.model, plan, crate::console::model::PlanOrigin::File("plan.json".into()));
    assert!(!deck.sees("error"), "nothing is found fault with before it can be judged: {}", deck.screen());
    deck
}

#[test]
fn a_run_that_is_asked_for_before_agents_and_tools_are_known_starts_when_they_are() {
    for (key, pace) in [("r", Pace::Going), ("s", Pace::Paused)] {
        let mut deck = opened(plan());
        deck.keys(key);
        deck.keys(key);
        assert!(deck.sees("agents and tools are still loading: the run starts when they are ready"), "{}", deck.screen());
        assert!(deck.runs.is_empty(), "nothing starts that was not judged");
        deck.greet();
        assert_eq!((deck.runs.len(), deck.engine().pace()), (1, pace), "one run, however often the key was pressed");
        assert!(matches!(deck.model.place.shown, PlanScreen::Run(_)));
        deck.greet();
        assert_eq!(deck.runs.len(), 1);
    }
}

#[test]
fn a_plan_that_turns_out_to_be_wrong_does_not_start_and_says_so() {
    let mut wrong = plan();
    wrong.nodes[1].depends_on[0] = "nobody".into();
    let mut deck = opened(wrong);
    deck.keys("F");
    assert!(deck.sees("agents and tools are still loading"), "{}", deck.screen());
    deck.keys("r");
    deck.greet();
    assert!(deck.runs.is_empty() && deck.sees("can't start: 1 error; press F to see"), "{}", deck.screen());
}
