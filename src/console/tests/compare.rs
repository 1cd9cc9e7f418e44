//! Comparing the plan with original and with a plan in a file, by keys.

use super::{Deck, plan, screens::shoot_at};
use crate::console::{model::Screen, update::ConsoleEffect};
use crate::host::client::{Notice, Request};
use crate::plan::{NodeId, Plan};
use serde_json::json;

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 36)];

/// The plan of the story with another goal, without `scan`, and with another folder in `list`.
fn edited(width: u16, height: u16) -> Deck {
    let mut deck = Deck::planned(width, height);
    deck.select("scan");
    deck.keys("d O");
    deck.type_text(" today");
    deck.keys("enter");
    let mut list = deck.model.editor.addressed().node(&NodeId::new("list")).unwrap().clone();
    list.kind = serde_json::from_value::<crate::plan::Node>(json!({"id": "list", "tool": "list_directory", "args": {"path": "tests"}}))
        .unwrap()
        .kind;
    let catalog = deck.model.session.catalog.clone();
    let edit = deck.model.editor.addressed().replace(&list).unwrap();
    deck.model.editor.make(&catalog, &edit).unwrap();
    deck
}

/// What is in `other.json`.
fn other() -> Plan {
    let mut other = plan();
    other.goal = "count the lines of rust".into();
    other.nodes[1].depends_on.clear();
    other.nodes[1].kind =
        serde_json::from_value::<crate::plan::Node>(json!({"id": "count", "code": "const n = 1;\nreturn n;"})).unwrap().kind;
    other
}

fn against_file(width: u16, height: u16) -> Deck {
    let mut deck = Deck::planned(width, height);
    deck.keys(":");
    deck.type_text("compare with a file");
    deck.keys("enter");
    deck.type_text("other.json");
    deck.keys("enter");
    assert_eq!(deck.asked.pop(), Some(ConsoleEffect::Send(Request::ReadPlan("other.json".into()))));
    deck.notice(Notice::PlanRead { path: "other.json".into(), plan: Box::new(other()) });
    deck
}

#[test]
fn what_was_changed_since_the_plan_came() {
    shoot_at(&SIZES, "compare_version", |width, height| {
        let mut deck = edited(width, height);
        deck.keys("=");
        deck
    });
}

#[test]
fn what_another_plan_has_other() {
    shoot_at(&SIZES, "compare_file", against_file);
}

#[test]
fn one_difference_is_taken_back_and_undone() {
    let mut deck = edited(100, 30);
    deck.keys("=");
    assert!(deck.sees("3 differences from the original"), "{}", deck.screen());
    let lost = deck.model.editor.compare.differences().iter().position(|difference| difference.subject == "scan").unwrap();
    deck.model.editor.compare.place.selected = lost;
    deck.keys("x");
    assert!(deck.model.editor.addressed().node(&NodeId::new("scan")).is_some(), "{}", deck.screen());
    assert!(deck.model.editor.addressed().depends(&NodeId::new("write"), &NodeId::new("scan")), "it came back with its edges");
    assert!(deck.sees("2 differences") && deck.sees("set back"), "{}", deck.screen());
    deck.keys("u");
    assert!(deck.sees("3 differences"), "{}", deck.screen());
    deck.keys("x x x");
    assert!(deck.sees("no difference from the original"), "{}", deck.screen());
    deck.keys("=");
    assert_eq!(deck.model.place.screen, Screen::Plan);
    assert_eq!(deck.model.editor.plan().goal, plan().goal);
}

#[test]
fn differences_to_a_file_are_taken_over_one_by_one() {
    let mut deck = against_file(100, 30);
    assert!(deck.sees("3 differences from other.json"), "{}", deck.screen());
    deck.keys("x");
    assert!(deck.sees("take the change over instead"), "{}", deck.screen());
    deck.keys("a a a");
    assert!(deck.sees("no difference from other.json"), "{}", deck.screen());
    assert_eq!(deck.model.editor.plan().goal, other().goal);
    deck.keys("esc u u u");
    assert_eq!(deck.model.editor.plan().goal, plan().goal);
    assert!(deck.model.editor.addressed().depends(&NodeId::new("count"), &NodeId::new("list")));
}

#[test]
fn the_node_of_a_difference_is_found_in_the_tree() {
    let mut deck = against_file(100, 30);
    deck.keys("enter");
    assert_eq!((deck.model.place.screen, deck.model.selected_id().unwrap().as_str()), (Screen::Plan, "count"));
}
