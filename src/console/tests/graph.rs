//! The Graph screen by keys: what it shows, where steps lead, and that its selection is the tree's.

use serde_json::{Value, json};

use super::{Deck, screens::shoot_at};
use crate::console::model::{Focus, Screen};
use crate::plan::Plan;

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 36)];

/// A decision with two ways, one of which is taken; a loop; a write that asks.
fn branching() -> Plan {
    serde_json::from_value(json!({"dagdeck": 1, "goal": "find what is slow", "budget": {"tokens": 10000}, "nodes": [
        {"id": "list", "tool": "list_directory", "args": {"path": "logs"}},
        {"id": "sort", "decide": "list.kind", "depends_on": ["list"]},
        {"id": "errors", "code": "return 1;"},
        {"id": "slow", "code": "return 2;"},
        {"id": "settings", "tool": "read_file", "args": {"path": "app.toml"}},
        {"id": "refine", "body": {"nodes": [
            {"id": "draft", "code": "return 3;"},
            {"id": "judge", "code": "return {ok: true};", "depends_on": ["draft"]},
        ]}, "until": "judge.ok", "max_iterations": 3, "depends_on": ["settings"]},
        {"id": "report", "tool": "write_file", "args": {"path": "r.md", "content": "x"}, "depends_on": ["refine"]},
    ], "edges": [
        {"from": "sort", "to": "errors", "when": "errors"},
        {"from": "sort", "to": "slow", "when": "slow"},
        {"from": "errors", "to": "report", "when": "errors.result == 1"},
        {"from": "slow", "to": "report", "when": "slow.result == 2"},
    ]}))
    .unwrap()
}

fn planned(width: u16, height: u16) -> Deck {
    let mut deck = Deck::new(width, height);
    deck.plan = branching();
    deck.type_text("find what is slow");
    deck.keys("enter");
    deck.select("list");
    deck
}

/// The slow way was taken, the loop is in its second turn.
fn running(width: u16, height: u16) -> Deck {
    let mut deck = planned(width, height);
    deck.keys("r v");
    deck.done("list", json!({"kind": "slow"}));
    deck.done("settings", Value::Null);
    deck.done("slow", json!(2));
    deck.done("refine[1]/draft", json!(3));
    deck.done("refine[1]/judge", json!({"ok": false}));
    deck.done("refine[2]/draft", json!(3));
    deck
}

/// Shows boxes and lines, whether they fit or not.
fn boxes(deck: &mut Deck) {
    deck.flush();
    if deck.model.tree().drawing.stages().is_some() {
        deck.keys("f");
    }
}

fn selected(deck: &Deck) -> &str {
    deck.model.selected_id().unwrap()
}

#[test]
fn the_graph_of_a_plan() {
    shoot_at(&SIZES, "graph_plan", |width, height| {
        let mut deck = planned(width, height);
        deck.keys("v");
        boxes(&mut deck);
        deck
    });
}

#[test]
fn the_graph_of_a_run() {
    shoot_at(&SIZES, "graph_run", |width, height| {
        let mut deck = running(width, height);
        deck.select("slow");
        boxes(&mut deck);
        deck.keys("ctrl-l");
        deck
    });
}

#[test]
fn the_graph_of_a_loop_in_its_second_turn() {
    shoot_at(&SIZES, "graph_loop", |width, height| {
        let mut deck = running(width, height);
        deck.select("refine[2]/judge");
        boxes(&mut deck);
        deck.keys("ctrl-l");
        deck
    });
}

#[test]
fn the_same_key_leads_back_and_so_does_escape() {
    let mut deck = planned(80, 24);
    for back in ["v", "esc", "4", "1"] {
        deck.keys("v");
        assert_eq!(deck.model.place.screen, Screen::Graph);
        deck.keys(back);
        assert_eq!(deck.model.place.screen, Screen::Plan, "{back}");
    }
}

#[test]
fn steps_follow_edges_and_the_tree_follows_the_steps() {
    let mut deck = planned(80, 24);
    deck.keys("v j j");
    assert_eq!(selected(&deck), "errors", "the nearest");
    deck.keys("l");
    assert_eq!(selected(&deck), "slow");
    deck.keys("k");
    assert_eq!(selected(&deck), "sort");
    deck.keys("down left right G");
    assert_eq!(selected(&deck), "report");
    deck.keys("v");
    assert_eq!(selected(&deck), "report", "the tree stands where the graph stood");
    deck.select("settings");
    deck.keys("v");
    assert!(deck.sees("settings"), "{}", deck.screen());
    assert_eq!(selected(&deck), "settings");
}

#[test]
fn steps_lead_into_a_body_and_out_of_it() {
    let mut deck = planned(80, 24);
    deck.select("refine");
    deck.keys("v");
    boxes(&mut deck);
    deck.keys("j");
    assert_eq!(selected(&deck), "refine/draft");
    deck.keys("j j");
    assert_eq!(selected(&deck), "report");
}

#[test]
fn a_body_folds_into_one_box_with_a_count() {
    let mut deck = planned(120, 36);
    deck.select("refine");
    deck.keys("v");
    boxes(&mut deck);
    assert!(deck.sees("judge") && deck.sees("loop until judge.ok"), "{}", deck.screen());
    deck.keys("space");
    assert!(!deck.sees("judge") && deck.sees("loop, 2 nodes"), "{}", deck.screen());
    deck.keys("space");
    assert!(deck.sees("judge"), "{}", deck.screen());
    deck.keys("Z");
    assert!(!deck.sees("judge"), "{}", deck.screen());
}

#[test]
fn details_open_beside_the_graph_and_escape_closes_them_first() {
    let mut deck = planned(80, 24);
    deck.keys("v enter");
    assert_eq!(deck.model.place.focus, Focus::Inspector);
    assert!(deck.sees("node  source") && deck.sees("list · list_directory"), "{}", deck.screen());
    deck.keys("esc");
    assert_eq!((deck.model.place.screen, deck.model.place.focus), (Screen::Graph, Focus::Tree));
}

#[test]
fn a_run_that_starts_from_the_graph_is_watched_there() {
    let mut deck = planned(80, 24);
    deck.keys("v r");
    assert_eq!(deck.model.place.screen, Screen::Graph);
    assert!(deck.sees("running"), "{}", deck.screen());
}

#[test]
fn a_taken_way_and_a_dead_one_differ_in_their_lines() {
    let mut deck = running(120, 36);
    boxes(&mut deck);
    deck.select("sort");
    deck.keys("ctrl-l");
    assert!(deck.sees("┃") && deck.sees("▼ slow") && deck.sees("× "), "{}", deck.screen());
    deck.model.look.theme = deck.model.look.theme.clone().with_glyphs(crate::text::GlyphSet::Ascii);
    assert!(deck.screen().is_ascii(), "{}", deck.screen());
    assert!(deck.sees("V slow"), "{}", deck.screen());
}

#[test]
fn turns_of_a_loop_are_gone_through() {
    let mut deck = running(120, 36);
    boxes(&mut deck);
    deck.select("refine[2]/draft");
    deck.keys("ctrl-l");
    assert!(deck.sees("refine[2] of 2"), "{}", deck.screen());
    deck.keys("{");
    assert_eq!(selected(&deck), "refine[1]/draft");
    assert!(deck.sees("refine[1] of 2"), "{}", deck.screen());
    deck.keys("{");
    assert!(deck.sees("no further turn"), "{}", deck.screen());
}

#[test]
fn the_graph_of_a_run_by_stages() {
    shoot_at(&SIZES, "graph_stages", |width, height| {
        let mut deck = running(width, height);
        deck.select("sort");
        deck.flush();
        if deck.model.tree().drawing.stages().is_none() {
            deck.keys("f");
        }
        deck
    });
}

#[test]
fn boxes_that_do_not_fit_are_folded_by_stages_until_somebody_wants_boxes() {
    let mut deck = planned(80, 24);
    deck.keys("v");
    let screen = deck.screen();
    assert!(screen.contains("graph of the plan, by stages") && !screen.contains("┌"), "{screen}");
    for node in ["list", "sort", "errors", "slow", "settings", "refine", "report"] {
        assert!(screen.contains(node), "all are in sight, {node} too: {screen}");
    }
    assert!(!screen.contains("judge"), "what is inside of a node is not: {screen}");
    assert!(screen.contains("f boxes"), "{screen}");
    deck.keys("f");
    assert!(deck.sees("┌") && !deck.sees("graph of the plan, by stages") && deck.sees("f by stages"), "{}", deck.screen());
    let mut deck = planned(200, 60);
    deck.keys("v");
    assert!(deck.sees("┌"), "these fit: {}", deck.screen());
}

#[test]
fn by_stages_the_marks_say_what_the_selected_node_needs_and_feeds() {
    let mut deck = planned(80, 24);
    deck.select("sort");
    deck.keys("v");
    let screen = deck.screen();
    let row = |node: &str| screen.lines().skip(3).find(|line| line.contains(node)).unwrap().to_owned();
    assert!(row("list").contains("↑   list"), "{screen}");
    assert!(row("errors").contains("↓   errors") && row("slow").contains("↓   slow"), "{screen}");
    assert!(!row("report").contains('↓') && screen.contains("↑ it needs  ↓ it feeds"), "{screen}");
}

#[test]
fn by_stages_a_step_leads_past_what_is_inside_of_a_node() {
    let mut deck = planned(80, 24);
    deck.select("refine");
    deck.keys("v j");
    assert_eq!(selected(&deck), "report");
    deck.keys("k");
    assert_ne!(selected(&deck), "refine/judge");
}
