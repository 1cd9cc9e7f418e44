//! The story of the main job, on the screen.

use serde_json::json;

use super::{
    super::update::{ConsoleEffect, Msg, Parting, next_wake, update},
    Deck, EVERYWHERE,
};
use crate::console::model::{Focus, Screen};
use crate::engine::{GateReply, NodeError, Outcome, ToolCall, WorkerFact};
use crate::host::client::{ModelStatus, Notice, Request};
use crate::plan::Verdict;

#[test]
fn an_empty_console_says_what_to_do() {
    let mut deck = Deck::new(80, 24);
    let screen = deck.screen();
    assert!(screen.contains("Type what you want done"), "{screen}");
    assert!(screen.contains("test-model"), "{screen}");
    deck.notice(Notice::Model(ModelStatus::Absent { how: "set OPENAI_API_KEY and start again".into() }));
    let screen = deck.screen();
    assert!(screen.contains("no model (M)") && screen.contains("No model is set up"), "{screen}");
    deck.keys("esc");
    assert!(deck.sees("n to type a request"), "{}", deck.screen());
}

#[test]
fn before_a_run_that_needs_a_model_and_has_none_the_console_says_which_node_and_offers_three_ways() {
    let mut deck = Deck::planned(100, 30);
    deck.notice(Notice::Model(ModelStatus::Absent { how: "set OPENAI_API_KEY and start again".into() }));
    deck.keys("r");
    let screen = deck.screen();
    for words in ["a model is needed, and none is set up", "set one up", "answer yourself", "rehearse"] {
        assert!(screen.contains(words), "{words}\n{screen}");
    }
    assert!(deck.model.runs.open.is_empty(), "nothing starts by itself");
    deck.keys("down down enter");
    let Some(ConsoleEffect::Send(Request::Start { model, .. })) = deck.asked.last() else { panic!("{:?}", deck.asked) };
    assert_eq!(model.as_deref(), Some("rehearsal"));
}

#[test]
fn a_request_becomes_a_plan_in_the_tree() {
    let mut deck = Deck::planned(80, 24);
    assert_eq!(deck.model.place.focus, Focus::Tree);
    let screen = deck.screen();
    for id in ["list", "count", "find what is left", "write"] {
        assert!(screen.contains(id), "{screen}");
    }
    assert_eq!(deck.model.editor.review.errors(), 0, "{:?}", deck.model.editor.findings());
}

#[test]
fn nodes_run_at_the_same_time_and_their_output_streams() {
    let mut deck = Deck::running(120, 40);
    deck.fact("scan", WorkerFact::Output("two things are left\n".into()));
    deck.select("scan");
    assert!(deck.sees("2 running"), "{}", deck.screen());
    assert!(deck.sees("two things are left"), "{}", deck.screen());
}

#[test]
fn a_gate_shows_in_row_badge_and_inbox_and_its_approval_lets_the_node_run() {
    let mut deck = Deck::waiting(100, 30);
    assert!(deck.sees("1 needs you"), "{}", deck.screen());
    deck.keys("i");
    assert!(deck.sees("write: may it start?"), "{}", deck.screen());
    assert!(deck.sees("longest.md"), "{}", deck.screen());
    deck.later(1_000);
    assert!(deck.sees("keys active"), "{}", deck.screen());
    deck.keys("a");
    deck.done("write", json!({"bytes": 12}));
    assert_eq!(deck.engine().outcome().unwrap().0, Outcome::Succeeded);
    assert!(deck.sees("approved by ada"), "{}", deck.screen());
}

#[test]
fn words_of_a_rejection_are_sent_by_the_reject_key_only() {
    let mut deck = Deck::waiting(80, 24);
    deck.keys("i x");
    deck.type_text("not there");
    deck.keys("enter");
    assert_eq!(deck.engine().open_gates().count(), 1, "nothing is decided by typing or Enter");
    assert!(deck.sees("not there"), "{}", deck.screen());
    deck.keys("x");
    assert_eq!(deck.engine().open_gates().count(), 0);
    assert!(deck.engine().node(&"write".into()).unwrap().reason.message().contains("not there"));
}

#[test]
fn text_typed_while_a_gate_opens_goes_into_the_request_line_all_of_it() {
    let mut deck = Deck::running(80, 24);
    deck.keys("n");
    deck.type_text("approve all ");
    deck.done("list", json!("x"));
    deck.done("scan", json!("y"));
    deck.done("count", json!(1));
    assert_eq!(deck.engine().open_gates().count(), 1);
    deck.type_text("axsX y");
    assert_eq!(deck.model.request.field.text(), "approve all axsX y");
    assert_eq!(deck.engine().open_gates().count(), 1);
    assert_eq!(deck.model.place.screen, Screen::Plan);
}

#[test]
fn a_failure_shows_its_cause_and_leaves_other_branches_alone() {
    let mut deck = Deck::running(120, 40);
    deck.fact("scan", WorkerFact::Failed(NodeError::permanent("the server said no")));
    deck.select("scan");
    assert!(deck.sees("the server said no"), "{}", deck.screen());
    deck.done("list", json!("x"));
    assert!(deck.sees("count"), "{}", deck.screen());
}

#[test]
fn cancelling_a_branch_shows_what_it_ends_and_asks_first() {
    let mut deck = Deck::running(80, 24);
    deck.keys("|");
    assert!(deck.sees("Cancel the branch at “list”?"), "{}", deck.screen());
    deck.keys("enter space");
    assert!(!deck.engine().node(&"list".into()).unwrap().state.has_ended());
    deck.keys("y");
    let state = deck.engine().node(&"count".into()).unwrap().state.word();
    assert!(matches!(state, "cancelled" | "skipped"), "{state}");
    assert_eq!(deck.engine().node(&"scan".into()).unwrap().state.word(), "running");
}

#[test]
fn quitting_with_a_run_under_way_asks_and_leaves_a_summary() {
    let mut deck = Deck::running(80, 24);
    deck.keys("q");
    assert!(deck.asked.iter().all(|action| !matches!(action, ConsoleEffect::Quit { .. })));
    assert!(deck.sees("A run is under way"), "{}", deck.screen());
    deck.keys("esc q y");
    let Some(ConsoleEffect::Quit { summary, .. }) = deck.asked.last() else { panic!("{:?}", deck.asked) };
    assert!(summary.len() <= 4, "{summary:?}");
}

#[test]
fn quitting_while_a_run_waits_says_so_and_a_yes_keeps_the_run() {
    let leaves = |keys: &str| {
        let mut deck = Deck::waiting(80, 24);
        deck.keys("q");
        assert!(deck.sees("A run waits, and nothing runs now") && deck.sees("y quit, keep it"), "{}", deck.screen());
        assert!(!deck.sees("may already have had effects"), "{}", deck.screen());
        deck.keys(keys);
        let Some(ConsoleEffect::Quit { parting, .. }) = deck.asked.last().cloned() else { panic!("{:?}", deck.asked) };
        (parting, deck.engine().outcome().is_some())
    };
    assert_eq!(leaves("y"), (Parting::Leaves, false), "the run goes on later");
    assert_eq!(leaves("c"), (Parting::Cancels, true));
    let mut deck = Deck::waiting(80, 24);
    deck.keys("q n c");
    assert!(deck.asked.iter().all(|action| !matches!(action, ConsoleEffect::Quit { .. })) && deck.engine().outcome().is_none());
}

#[test]
fn escape_never_quits_and_goes_back_one_step() {
    let mut deck = Deck::waiting(80, 24);
    deck.keys("i ? esc esc enter esc esc esc esc");
    assert_eq!(deck.model.place.screen, Screen::Plan);
    assert_eq!(deck.engine().open_gates().count(), 1);
    assert!(deck.asked.iter().all(|action| !matches!(action, ConsoleEffect::Quit { .. })));
}

#[test]
fn an_edited_payload_is_approved_as_edited() {
    let mut deck = Deck::waiting(100, 30);
    deck.keys("i e end enter");
    let text = "{\"path\": \"other.md\", \"content\": \"x\"}";
    deck.model.dialogs.last_mut().unwrap().field().unwrap().set(text);
    deck.keys("ctrl-s");
    assert!(deck.sees("you edited the payload"), "{}", deck.screen());
    deck.keys("a");
    let (_, decided) = deck.engine().gates().next().unwrap();
    assert!(matches!(&decided.unwrap().decision, crate::engine::GateReply::Modify { payload } if payload["path"] == "other.md"));
}

#[test]
fn copying_says_how_much() {
    let mut deck = Deck::running(80, 24);
    deck.done("list", json!("one\ntwo"));
    deck.keys("y");
    assert!(deck.asked.iter().any(|action| matches!(action, ConsoleEffect::Copy(text) if text.contains("one"))), "{:?}", deck.asked);
    assert!(deck.sees("sent to the terminal's clipboard"), "{}", deck.screen());
}

#[test]
fn hostile_text_is_shown_escaped() {
    let mut deck = Deck::running(120, 40);
    deck.fact("list", WorkerFact::Output("\u{1b}]52;c;aGk=\u{7}\u{202e}evil\u{9b}2J\n".into()));
    let screen = deck.screen();
    assert!(!screen.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{9b}']), "{screen:?}");
    assert!(screen.contains("evil"), "{screen}");
}

#[test]
fn a_streamed_word_changes_a_few_cells_however_large_the_plan_is() {
    for nodes in [10, 2_000] {
        let mut deck = Deck::new(80, 24);
        let node = |at: usize| json!({"id": format!("n{at}"), "tool": "list_directory", "args": {"path": "src"}});
        deck.plan =
            serde_json::from_value(json!({"dagdeck": 1, "goal": "large", "nodes": (0..nodes).map(node).collect::<Vec<_>>()})).unwrap();
        deck.type_text("x");
        deck.keys("enter r");
        deck.fact("n0", WorkerFact::Output("once".into()));
        let before = deck.flush();
        deck.fact("n0", WorkerFact::Output(" upon".into()));
        let cells = before.diff(&deck.flush()).len();
        assert!((1..=10).contains(&cells), "{cells} cells with {nodes} nodes");
    }
}

/// A console in which three nodes wait at the same time.
fn three_gates() -> Deck {
    let mut deck = Deck::new(100, 30);
    let node = |id: &str| json!({"id": id, "tool": "write_file", "args": {"path": id, "content": id}, "approve": "before"});
    let nodes = ["one", "two", "three"].map(node);
    deck.plan = serde_json::from_value(json!({"dagdeck": 1, "goal": "three", "nodes": nodes})).unwrap();
    deck.type_text("x");
    deck.keys("enter r i");
    deck
}

#[test]
fn rejecting_the_first_of_three_gates_leaves_the_other_two_undecided() {
    let mut deck = three_gates();
    deck.keys("x");
    deck.type_text("no");
    deck.keys("enter x");
    let open: Vec<_> = deck.engine().open_gates().map(|gate| gate.node.to_string()).collect();
    assert_eq!(open, ["two", "three"]);
    deck.keys("a a -");
    assert_eq!(deck.engine().open_gates().count(), 2, "the selection stays on the gate that was decided");
    assert!(deck.sees("rejected by ada"), "{}", deck.screen());
}

#[test]
fn oldest_gate_comes_first_and_cancelling_one_keeps_the_others() {
    let mut deck = three_gates();
    assert_eq!(deck.model.selected_gate().unwrap().1.node.as_str(), "one");
    deck.keys("j X X");
    let open: Vec<_> = deck.engine().open_gates().map(|gate| gate.node.to_string()).collect();
    assert_eq!(open, ["one", "three"]);
}

/// A console in which a question waits.
fn asked(ask: serde_json::Value) -> Deck {
    let mut deck = Deck::new(100, 30);
    deck.plan = serde_json::from_value(json!({"dagdeck": 1, "goal": "ask", "nodes": [{"id": "ask", "ask": ask}]})).unwrap();
    deck.type_text("x");
    deck.keys("enter r i");
    deck
}

fn answer(deck: &Deck) -> serde_json::Value {
    match &deck.engine().gates().next().unwrap().1.unwrap().decision {
        GateReply::Answer { value } => value.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_option_is_picked_first_and_sent_by_the_approving_key() {
    let mut deck = asked(json!({"text": "Which one?", "options": ["red", "blue"]}));
    deck.keys("a");
    assert!(deck.sees("write the answer, then send it"), "{}", deck.screen());
    deck.keys("e enter");
    assert!(deck.sees("[x] red") && deck.sees("not sent yet: press a to send your reply"), "{}", deck.screen());
    deck.keys("e down enter");
    assert!(deck.sees("[ ] red") && deck.sees("[x] blue"), "{}", deck.screen());
    assert_eq!(deck.engine().open_gates().count(), 1, "a pick decides nothing");
    deck.keys("a");
    assert_eq!(answer(&deck), json!("blue"));
}

#[test]
fn a_form_is_checked_before_its_answers_are_taken() {
    let fields = json!([{"name": "count", "kind": "number"}, {"name": "sure", "kind": "boolean"}]);
    let mut deck = asked(json!({"text": "How many?", "fields": fields}));
    deck.keys("e");
    deck.type_text("many");
    deck.keys("ctrl-s");
    assert!(deck.sees("count must be a number"), "{}", deck.screen());
    deck.keys("backspace backspace backspace backspace 3 tab y ctrl-s");
    assert_eq!(deck.engine().open_gates().count(), 1, "a form decides nothing");
    deck.keys("a");
    assert_eq!(answer(&deck), json!({"count": 3, "sure": true}));
}

#[test]
fn hostile_text_in_ids_titles_arguments_and_results_is_shown_escaped() {
    const EVIL: &str = "\u{1b}[2J\u{202e}evil\u{200b}";
    let mut deck = Deck::new(160, 40);
    let node = json!({"id": EVIL, "tool": "write_file", "args": {"path": EVIL, "content": EVIL}, "approve": "before"});
    deck.plan = serde_json::from_value(json!({"dagdeck": 1, "goal": EVIL, "nodes": [node, {"id": "b", "tool": "read_file"}]})).unwrap();
    deck.type_text("x");
    deck.keys("enter");
    let mut screens = vec![deck.screen()];
    for keys in ["e", "esc R", "esc F", "esc"] {
        deck.keys(keys);
        screens.push(deck.screen());
    }
    deck.start(deck.plan.clone(), Vec::new());
    deck.fact("b", WorkerFact::ModelAsked { call: "1".into(), model: EVIL.into(), need: None });
    deck.done("b", json!({EVIL: EVIL}));
    deck.start(deck.plan.clone(), Vec::new());
    deck.keys("<");
    for node in [EVIL, "b"] {
        deck.select(node);
        for keys in EVERYWHERE.into_iter().chain(["]", "] ]", "] ] ]", "] ] ] ]", "H ( (", "5 k", "5 k k k", "7 j j"]) {
            let mut deck = deck.clone();
            deck.keys(keys);
            screens.push(deck.screen());
        }
    }
    for screen in screens {
        assert!(!screen.contains(['\u{1b}', '\u{202e}', '\u{200b}']), "{screen:?}");
    }
}

#[test]
fn a_gate_says_that_its_payload_holds_hidden_characters() {
    let mut deck = Deck::new(100, 30);
    let node = json!({"id": "w", "tool": "write_file", "args": {"path": "a", "content": "x\u{202e}y"}, "approve": "before"});
    deck.plan = serde_json::from_value(json!({"dagdeck": 1, "goal": "w", "nodes": [node]})).unwrap();
    deck.type_text("x");
    deck.keys("enter r i");
    assert!(deck.sees("control or hidden characters: 1"), "{}", deck.screen());
    assert!(deck.sees("x\\u{202e}y"), "{}", deck.screen());
}

#[test]
fn a_row_tells_which_tool_its_node_uses_right_now() {
    let mut deck = Deck::running(200, 50);
    let call = ToolCall { id: "1".into(), tool: "read_file".into(), args: json!({"path": "src/lib.rs"}) };
    deck.fact("scan", WorkerFact::ToolAsked { call, verdict: Verdict::Allow, why: String::new(), leaves: None });
    assert!(deck.sees("calls read_file"), "{}", deck.screen());
}

#[test]
fn nothing_is_drawn_and_nobody_wakes_while_nothing_happens() {
    for mut deck in [Deck::new(80, 24), Deck::planned(80, 24), Deck::waiting(80, 24)] {
        deck.later(10_000);
        let before = deck.flush();
        deck.later(3_600_000);
        assert_eq!(next_wake(&deck.model, deck.now), None);
        assert_eq!(update(&mut deck.model, Msg::FrameFlushed(Vec::new()), deck.now), []);
        assert!(before.diff(&deck.flush()).is_empty(), "time alone changes nothing");
    }
    let deck = Deck::running(80, 24);
    assert_eq!(next_wake(&deck.model, deck.now), Some(crate::engine::Time(deck.now.0 / 1000 * 1000 + 1000)), "elapsed seconds go on");
}

#[test]
fn help_is_there_while_typing_and_goes_back_to_it() {
    let mut deck = Deck::new(80, 24);
    deck.type_text("half a");
    deck.keys("f1");
    assert!(deck.sees("Request line"), "{}", deck.screen());
    deck.keys("esc");
    deck.type_text(" request");
    assert_eq!(deck.model.request.field.text(), "half a request");
}

#[test]
fn when_a_run_ends_the_selection_goes_to_its_output_or_its_failure_and_never_from_what_is_read() {
    let ended = |keys: &str, fails: bool| {
        let mut deck = Deck::running(80, 24);
        deck.select("list");
        deck.keys(keys);
        deck.done("list", json!("a"));
        deck.done("count", json!(1));
        match fails {
            true => deck.fact("scan", WorkerFact::Failed(NodeError::permanent("it broke"))),
            false => {
                deck.done("scan", json!(2));
                deck.keys("2 a");
                deck.done("write", json!({"bytes": 12}));
            }
        }
        deck.model.selected_id().map(ToString::to_string).unwrap()
    };
    assert_eq!(ended("j k", false), "write");
    assert_eq!(ended("j k", true), "scan");
    assert_eq!(ended("tab", true), "list", "somebody reads the card");
    assert_eq!(ended("W", true), "list", "a question lies open");
}
