//! Plans inside of plans in the console: shown, folded, edited, run, decided.

use serde_json::json;

use super::{super::update::Msg, Deck};
use crate::plan::{NodeId, Plan};

/// A gather step, a map whose body asks before it writes, and a report.
fn nested() -> Plan {
    serde_json::from_value(json!({"goal": "mend all files", "nodes": [
        {"id": "find", "tool": "read_file", "args": {"path": "list"}},
        {"id": "each", "depends_on": ["find"], "over": "['a', 'b']", "body": {"nodes": [
            {"id": "look", "agent": "researcher", "objective": "look at {{item}}"},
            {"id": "save", "tool": "write_file", "args": {"path": "{{item}}", "content": "{{look}}"}, "depends_on": ["look"]}
        ]}},
        {"id": "report", "value": "{{each}}", "depends_on": ["each"]}
    ]}))
    .unwrap()
}

fn planned() -> Deck {
    let mut deck = Deck::new(100, 24);
    deck.plan = nested();
    deck.type_text("mend all files");
    deck.keys("enter");
    deck
}

fn rows(deck: &Deck) -> Vec<String> {
    deck.model.tree().rows().iter().map(|row| format!("{}{}", " ".repeat(row.depth), row.node)).collect()
}

#[test]
fn nodes_inside_stand_below_their_owner_before_what_needs_it() {
    let mut deck = planned();
    assert_eq!(rows(&deck), ["find", " each", "  each/look", "   each/save", "  report"]);
    insta::assert_snapshot!(deck.screen());
    deck.select("each");
    deck.keys("h");
    assert_eq!(rows(&deck), ["find", " each", "  report"], "folding hides what is inside, and nothing else");
}

#[test]
fn nodes_inside_are_edited_where_they_stand_and_undone() {
    let mut deck = planned();
    let depends = |deck: &Deck, id: &str| {
        deck.model.editor.node(&NodeId::new(id)).map(|node| node.depends_on.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    deck.select("each/save");
    deck.keys("D");
    deck.select("each/look");
    deck.keys("space");
    assert_eq!(depends(&deck, "each/save"), Some(vec![]));
    deck.select("find");
    deck.keys("space");
    assert!(deck.sees("don't stand in the same plan"), "{}", deck.screen());
    deck.keys("esc u");
    assert_eq!(depends(&deck, "each/save"), Some(vec!["each/look".to_owned()]));
    deck.select("each/look");
    deck.keys("R 2 enter");
    assert_eq!(depends(&deck, "each/save"), Some(vec!["each/look2".to_owned()]));
    let body = deck.model.editor.plan().nodes[1].work.body().unwrap();
    assert_eq!(body.nodes[1].depends_on, [NodeId::new("look2")]);
    deck.keys("a");
    deck.type_text("merge");
    deck.keys("enter");
    assert_eq!(depends(&deck, "each/merge"), Some(vec!["each/look2".to_owned()]));
    deck.keys("u u");
    assert_eq!(*deck.model.editor.plan(), nested());
}

#[test]
fn a_gate_inside_shows_on_the_folded_owner_and_is_decided_in_the_inbox() {
    let mut deck = planned();
    deck.send(Msg::Resize(130, 24));
    deck.keys("r");
    deck.done("find", json!("a\nb"));
    assert_eq!(rows(&deck), ["find", " each", "  each[0]/look", "   each[0]/save", "  each[1]/look", "   each[1]/save", "  report"]);
    deck.done("each[0]/look", json!("fine"));
    deck.select("each");
    deck.keys("h");
    assert!(deck.sees("1 inside waits, 1"), "{}", deck.screen());
    insta::assert_snapshot!(deck.screen());
    deck.keys("i");
    assert!(deck.sees("each[0]/save"), "{}", deck.screen());
    deck.keys("a");
    deck.done("each[0]/save", json!("saved"));
    assert_eq!(deck.engine().node(&NodeId::new("each")).unwrap().inside.over, 2);
}
