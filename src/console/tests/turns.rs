//! A second request, and several plans for one.

use serde_json::json;

use super::Deck;
use crate::console::{model::Screen, update::ConsoleEffect};
use crate::host::client::{ModelList, Notice, Request};
use crate::plan::{Node, NodeId};

#[test]
fn a_request_that_changes_the_plan_shows_what_changed_and_undo_leads_back() {
    let mut deck = Deck::planned(120, 36);
    let before = deck.model.editor.plan().clone();
    deck.plan.nodes.push(serde_json::from_value::<Node>(json!({"id": "mail", "value": "{{write}}", "depends_on": ["write"]})).unwrap());
    deck.keys("n");
    deck.type_text("now also mail it");
    deck.keys("enter");
    let screen = deck.screen();
    assert_eq!(deck.model.place.screen, Screen::Compare, "{screen}");
    assert!(screen.contains("1 difference") && screen.contains("mail"), "{screen}");
    deck.keys("esc");
    assert!(deck.model.editor.addressed().node(&NodeId::new("mail")).is_some());
    deck.keys("u");
    assert_eq!(*deck.model.editor.plan(), before);
}

#[test]
fn several_plans_are_listed_one_is_taken_and_the_others_stay_at_hand() {
    let mut deck = Deck::new(120, 36);
    deck.type_text("list the rust files");
    deck.keys("esc V");
    let screen = deck.screen();
    for words in ["which one?", "plan 1: ", "plan 2: ", "plan 3: ", "longest chain"] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
    assert!(deck.model.editor.plan().nodes.is_empty(), "nothing is taken by itself");
    deck.keys("down enter");
    assert_eq!(deck.model.editor.plan().nodes, deck.plan.nodes);
    assert!(deck.sees("plan 2 is here"), "{}", deck.screen());
    deck.keys("V");
    assert!(deck.sees("which one?"), "{}", deck.screen());
}

#[test]
fn a_model_that_is_not_listed_can_be_named_and_the_one_in_use_is_marked() {
    let mut deck = Deck::new(80, 24);
    deck.keys("esc M");
    assert_eq!(deck.asked.pop(), Some(ConsoleEffect::Send(Request::ListModels)));
    let why = Some("OPENAI_MODEL names it".to_owned());
    let list =
        ModelList { names: vec!["test-model".into(), "operator".into()], used: Some("test-model".into()), why, ..Default::default() };
    deck.notice(Notice::Models(list));
    let screen = deck.screen();
    assert!(screen.contains("In use: test-model (OPENAI_MODEL names it).") && screen.contains("another name"), "{screen}");
    deck.keys("down down enter");
    deck.type_text("own-model");
    deck.keys("enter");
    assert_eq!(deck.asked.pop(), Some(ConsoleEffect::Send(Request::UseModel { model: "own-model".into(), run: None })));
    // A name that matches nothing is one that isn't listed.
    deck.notice(Notice::Models(ModelList { names: vec!["test-model".into()], ..Default::default() }));
    deck.type_text("other-model");
    assert!(deck.screen().contains("enter takes this name as it is"), "{}", deck.screen());
    deck.keys("enter");
    assert_eq!(deck.asked.pop(), Some(ConsoleEffect::Send(Request::UseModel { model: "other-model".into(), run: None })));
}
