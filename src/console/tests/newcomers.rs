//! What people lost their way with who saw the console for the first time.

use serde_json::{Value, json};

use super::Deck;
use crate::console::model::Tab;
use crate::engine::{NodeError, NodeState, RunId, WorkerFact};
use crate::host::client::{Driver, Notice};
use crate::plan::{NodeId, Plan};

/// A console in which this plan runs.
fn running((width, height): (u16, u16), nodes: Value) -> Deck {
    let mut deck = Deck::new(width, height);
    let plan: Plan = serde_json::from_value(json!({"goal": "a report", "nodes": nodes})).unwrap();
    deck.start(plan, Vec::new());
    deck.keys("esc");
    deck
}

fn selected(deck: &Deck) -> Option<&str> {
    deck.model.selected_id().map(NodeId::as_str)
}

#[test]
fn a_node_that_did_not_run_names_the_root_cause_and_the_key_that_leads_there() {
    let chain = json!([
        {"id": "lint", "tool": "read_file", "args": {"path": "a"}},
        {"id": "lint_report", "code": "return 1;", "depends_on": ["lint"]},
        {"id": "quality", "code": "return 2;", "depends_on": ["lint_report"]},
    ]);
    for size in [(80, 24), (120, 40)] {
        let mut deck = running(size, chain.clone());
        deck.fact("lint", WorkerFact::Failed(NodeError::permanent("exit code 2")));
        deck.select("quality");
        assert!(deck.sees("skipped: lint failed: exit code 2") && deck.sees("W why it did not run"), "{}", deck.screen());
        deck.model.inspector.run_tab = Tab::Timing;
        deck.keys("m");
        assert!(deck.sees("▶ Why it isn't running"), "{}", deck.screen());
        deck.keys("esc W");
        let screen = deck.screen();
        let row = |words: &str| screen.lines().position(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}: {screen}"));
        assert!(row("lint failed: exit code 2") < row("quality was skipped"), "{screen}");
        deck.keys("enter");
        assert_eq!((selected(&deck), deck.model.tab()), (Some("lint"), Tab::Output));
    }
}

#[test]
fn a_stored_run_with_a_gate_says_to_resume_it_wherever_one_wants_to_reply() {
    let deck = Deck::waiting(80, 24);
    let records = deck.model.shown_run().unwrap().journal().records().to_vec();
    let mut stored = Deck::new(80, 24);
    stored.notice(Notice::RunOpened { run: RunId("run-1".into()), records, driver: Driver::Nobody });
    stored.keys("esc .");
    assert!(stored.sees("1 needs you: press ! to resume the run, then reply"), "{}", stored.screen());
    stored.keys("a");
    assert!(stored.sees("no dagdeck process is running this run: press ! to resume it"), "{}", stored.screen());
}

#[test]
fn a_reply_that_is_not_sent_stands_on_the_row_and_is_named_on_leaving_it() {
    let writes = |id: &str| json!({"id": id, "tool": "write_file", "args": {"path": id, "content": "x"}, "approve": "before"});
    let mut deck = running((80, 24), json!([writes("one"), writes("two")]));
    deck.keys(". x");
    deck.type_text("no");
    deck.keys("enter .");
    assert_eq!(selected(&deck), Some("two"));
    assert!(deck.sees("your reply to one is not sent"), "{}", deck.screen());
    let screen = deck.screen();
    let row = screen.lines().find(|line| line.contains("reply not sent")).unwrap_or_else(|| panic!("{screen}"));
    assert!(row.contains("one"), "{row}");
}

#[test]
fn a_new_file_that_is_shown_whole_is_approved_by_one_key() {
    let mut deck = running(
        (80, 24),
        json!([{"id": "write", "tool": "write_file", "args": {"path": "todo.md", "content": "1\n2\n3\n4\n"}, "approve": "before"}]),
    );
    let key = deck.model.inbox.gates[0].clone();
    let preview = crate::engine::Preview::Diff { path: "todo.md".into(), before: None, after: "1\n2\n3\n4\n".into() };
    deck.notice(Notice::Preview { run: key.run, gate: key.gate, preview });
    deck.keys(". j k");
    assert!(deck.sees("new file todo.md") && !deck.sees("the exact payload"), "{}", deck.screen());
    deck.later(1_000);
    deck.keys("a");
    assert_eq!(deck.engine().open_gates().count(), 0, "{}", deck.screen());
}

#[test]
fn picking_an_answer_adds_no_line_to_the_question() {
    let mut deck = running((80, 24), json!([{"id": "which", "ask": {"text": "rows or lines?", "options": ["rows", "lines"]}}]));
    deck.keys(".");
    let lines = |deck: &Deck| deck.model.inbox.selected_doc().unwrap().doc.len();
    let before = lines(&deck);
    deck.keys("e enter");
    assert_eq!(lines(&deck), before);
    assert!(deck.sees("[x] rows  your reply, not sent yet"), "{}", deck.screen());
    deck.keys("a");
    assert_eq!(deck.engine().open_gates().count(), 0, "{}", deck.screen());
}

#[test]
fn a_failed_call_that_asks_anyway_is_retried_with_one_question() {
    let node = |id: &str, needs: Value| json!({"id": id, "tool": "write_file", "args": {"path": id, "content": "x"}, "depends_on": needs});
    let mut deck = running((80, 24), json!([node("one", json!([])), node("two", json!(["one"]))]));
    deck.keys(". a a");
    deck.fact("one", WorkerFact::Failed(NodeError::permanent("exit code 2")));
    deck.select("one");
    deck.keys("r");
    assert!(deck.model.dialogs.is_empty(), "{}", deck.screen());
    assert!(matches!(deck.engine().node(&"one".into()).unwrap().state, NodeState::Waiting { .. }), "it asks by itself");
    // What was read without asking is asked about, as nothing else asks.
    let mut deck = running((80, 24), json!([{"id": "one", "tool": "read_file", "args": {"path": "a"}}]));
    deck.fact("one", WorkerFact::Failed(NodeError::permanent("no such file")));
    deck.keys("r");
    assert!(deck.sees("Retry “one”?"), "{}", deck.screen());
}

#[test]
fn on_a_small_screen_the_key_that_leads_to_a_gate_shows_it_with_all_its_keys() {
    for size in [(60, 15), (100, 12)] {
        let mut deck = Deck::waiting(size.0, size.1);
        deck.keys("esc .");
        let screen = deck.screen();
        for words in ["may it start?", "a approve", "e edit", "x reject", "- skip"] {
            assert!(screen.contains(words), "{words} at {size:?}: {screen}");
        }
        deck.keys("J J J J J a");
        assert_eq!(deck.engine().open_gates().count(), 0, "{}", deck.screen());
    }
}

#[test]
fn what_was_wrong_with_a_text_is_said_until_the_text_changes_and_one_begins_in_its_first_value() {
    let mut deck = Deck::planned(80, 24);
    deck.select("write");
    deck.keys("e");
    deck.type_text("my");
    let field = deck.model.dialogs.last_mut().unwrap().field().unwrap();
    assert!(field.text().starts_with("{\n  \"path\": \"mylongest.md\","), "{}", field.text());
    field.set("{");
    deck.keys("ctrl-s");
    assert!(deck.sees("not valid JSON"), "{}", deck.screen());
    deck.type_text("}");
    assert!(!deck.sees("not valid JSON"), "{}", deck.screen());
}

#[test]
fn the_title_of_a_timeline_gives_way_to_what_is_out_of_sight() {
    let nodes: Vec<Value> = (0..30).map(|at| json!({"id": format!("n{at}"), "tool": "read_file", "args": {"path": "a"}})).collect();
    let mut deck = running((60, 15), json!(nodes));
    deck.keys("6");
    let screen = deck.screen();
    let title = screen.lines().find(|line| line.contains("timeline")).unwrap();
    let (_, more) = title.split_once("  ").unwrap();
    assert!(title.contains(" more below") && more.contains(' '), "{screen}");
    assert!(!screen.contains("retry") && !screen.contains("held"), "only what there is: {screen}");
}
