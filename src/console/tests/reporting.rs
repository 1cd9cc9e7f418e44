//! What a person must know to go on: what a breakpoint keeps, whose result a result is, and what was not taken.

use serde_json::json;

use super::Deck;
use crate::console::update::ConsoleEffect;
use crate::engine::{Action, Breakpoint, Command, Done, Mark, Moment, NodeError, NodeState, RunId, WorkerFact};
use crate::host::client::{Notice, Request, There};
use crate::plan::Plan;

fn broken_at(at: Moment) -> Deck {
    let mut deck = Deck::running(200, 50);
    let point = Breakpoint { at, node: Some("scan".into()), when: None, disabled: false };
    deck.command(&RunId("run-1".into()), Command::act(Action::Break { point }));
    deck.select("scan");
    deck
}

#[test]
fn a_breakpoint_on_failure_shows_the_failure_that_it_keeps_and_the_keys_that_go_on() {
    let mut deck = broken_at(Moment::Failure);
    deck.fact("scan", WorkerFact::Failed(NodeError::permanent("the server said no").hint("ask again")));
    let screen = deck.screen();
    assert!(screen.contains("■") && screen.contains("it failed: the server said no"), "{screen}");
    assert!(screen.contains("hint: ask again"), "in its output: {screen}");
    assert!(screen.contains("; releases this node, p resumes the run"), "{screen}");
    deck.keys("W");
    assert!(deck.sees("breakpoint 1 on failure of find what is left") && deck.sees("it failed: the server said no"), "{}", deck.screen());
    deck.keys("esc ; y");
    assert_eq!(deck.engine().node(&"scan".into()).unwrap().state, NodeState::Failed);
}

#[test]
fn a_breakpoint_after_a_node_shows_the_result_that_it_keeps() {
    let mut deck = broken_at(Moment::After);
    deck.done("scan", json!({"todo": 3}));
    let screen = deck.screen();
    assert!(screen.contains("■"), "in its row: {screen}");
    assert!(screen.contains("result, kept") && screen.contains("\"todo\": 3"), "in its output: {screen}");
    deck.keys(";");
    assert!(!deck.sees("result, kept"));
}

#[test]
fn a_result_that_a_person_or_a_limit_made_is_marked_in_its_row() {
    let mut deck = Deck::running(200, 50);
    deck.later(10);
    deck.fact("scan", WorkerFact::Done(Done { result: json!("as far as I came"), mark: Some(Mark::Stopped) }));
    let run = RunId("run-1".into());
    deck.command(&run, Command::act(Action::Override { node: "list".into(), value: json!("a.rs") }));
    let screen = deck.screen();
    let row = |screen: &str, node: &str| screen.lines().skip(2).find(|line| line.contains(node)).unwrap_or_default().to_owned();
    assert!(row(&screen, "├ list").contains("overridden"), "{screen}");
    assert!(row(&screen, "find what is left").contains("stopped"), "{screen}");
    deck.command(&run, Command::act(Action::Override { node: "list".into(), value: json!(null) }));
    assert!(row(&deck.screen(), "├ list").contains("marked done"), "{}", deck.screen());
}

#[test]
fn broken_json_is_no_result_and_text_is_said_to_be_text() {
    let mut deck = Deck::running(200, 50);
    deck.select("list");
    deck.keys("m");
    deck.type_text("override");
    deck.keys("enter");
    deck.type_text("{\"a\": 1");
    deck.keys("ctrl-s");
    assert!(deck.sees("not valid JSON: EOF while parsing an object at line 1 column 7"), "{}", deck.screen());
    deck.type_text("}");
    deck.keys("ctrl-s");
    assert!(deck.sees("the new result is the JSON {\"a\":1}"), "{}", deck.screen());
    deck.keys("esc esc y m");
    deck.type_text("override");
    deck.keys("enter");
    deck.type_text("two files");
    deck.keys("ctrl-s");
    assert!(deck.sees("the new result is the text two files"), "{}", deck.screen());
    deck.keys("y");
    assert_eq!(deck.engine().node(&"list".into()).unwrap().result.as_deref(), Some(&json!("two files")));
}

/// The last row: what helps here.
fn hints(deck: &mut Deck) -> String {
    deck.screen().lines().last().unwrap_or_default().to_owned()
}

#[test]
fn a_key_that_means_nothing_here_says_where_it_works() {
    let mut deck = Deck::planned(80, 24);
    deck.keys("esc B");
    assert!(deck.sees("not here: B works in a run (breakpoints)"), "{}", deck.screen());
    deck.keys("3 =");
    assert!(deck.sees("= means nothing here: ? shows what works"), "{}", deck.screen());
}

#[test]
fn hints_begin_with_what_the_state_calls_for() {
    let mut deck = Deck::running(80, 24);
    deck.select("scan");
    deck.keys("p");
    assert!(hints(&mut deck).contains("p resume  s step"), "{}", hints(&mut deck));
    deck.keys("p");
    deck.fact("scan", WorkerFact::Failed(NodeError::permanent("the server said no")));
    assert!(hints(&mut deck).starts_with(" r retry"), "{}", hints(&mut deck));
    deck.done("list", json!("a.rs"));
    deck.done("count", json!("1"));
    assert!(hints(&mut deck).contains("m actions"), "{}", hints(&mut deck));
    let mut deck = broken_at(Moment::After);
    deck.done("scan", json!(1));
    assert!(hints(&mut deck).starts_with(" s step  , step into  ; release"), "{}", hints(&mut deck));
}

#[test]
fn a_run_that_only_breakpoints_keep_says_so_in_the_header() {
    let mut deck = broken_at(Moment::After);
    deck.done("scan", json!(1));
    assert!(deck.sees("   1 halt  ") && deck.sees("1 running"), "others are at work: {}", deck.screen());
    deck.done("list", json!("a.rs"));
    deck.done("count", json!("1"));
    assert!(deck.sees("   held  "), "{}", deck.screen());
    deck.keys("<");
    assert!(deck.sees("1 run is held (>)"), "{}", deck.screen());
    deck.keys("5");
    assert!(deck.sees("held: breakpoint"), "the log of the run that goes on: {}", deck.screen());
}

#[test]
fn a_replay_tells_the_run_and_what_waits_as_they_were_and_the_way_back_from_the_inbox() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("H 0");
    assert!(deck.sees("running") && deck.sees("1 gate waiting now"), "{}", deck.screen());
    deck.keys("2");
    assert!(deck.sees("replay at event 1, keys inactive: $ leaves the replay"), "{}", deck.screen());
    deck.keys("$");
    deck.later(1_000);
    assert!(deck.model.replay().is_none() && deck.sees("keys active"), "{}", deck.screen());
}

#[test]
fn a_decision_without_a_selected_gate_says_how_to_select_the_next() {
    let mut deck = Deck::waiting(80, 24);
    deck.keys("i");
    deck.model.inbox.select(None);
    deck.keys("a a");
    assert!(deck.sees("no gate is selected: press j to select the open one"), "{}", deck.screen());
    assert_eq!(deck.engine().open_gates().count(), 1);
    deck.keys("j a");
    assert_eq!(deck.engine().open_gates().count(), 0);
}

#[test]
fn a_search_offers_what_was_typed_before_and_says_which_of_how_many() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("H 0 /");
    deck.type_text("started");
    deck.keys("enter");
    assert!(deck.sees("1 of ") && deck.sees("events with started"), "{}", deck.screen());
    deck.keys("/");
    deck.type_text("asks");
    deck.keys("enter");
    assert!(deck.sees("the only event with asks"), "{}", deck.screen());
    deck.keys("/ end");
    deck.type_text(" nothing");
    deck.keys("ctrl-u");
    deck.type_text("count");
    deck.keys("enter");
    assert_eq!(deck.model.replay().unwrap().wanted, "count");
}

#[test]
fn the_timeline_has_ticks_at_round_times() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("6");
    let screen = deck.screen();
    let axis: Vec<&str> = screen.lines().nth(3).unwrap_or_default().split_whitespace().collect();
    assert!(axis.len() > 2 && axis[0] == "0" && axis[1..].iter().all(|tick| tick.ends_with("00ms") || tick.ends_with('s')), "{screen}");
    assert!(!axis.iter().any(|tick| tick.contains('.')), "{screen}");
}

/// A run of this plan that has just been started.
fn run_of(nodes: serde_json::Value) -> Deck {
    let mut deck = Deck::new(120, 40);
    deck.plan = serde_json::from_value::<Plan>(json!({"goal": "two ways", "nodes": nodes})).unwrap();
    deck.type_text("go");
    deck.keys("enter r");
    deck
}

#[test]
fn at_the_end_the_selection_goes_to_an_output_that_says_something_and_stays_on_one() {
    let nodes =
        || json!([{"id": "town", "tool": "read_file", "args": {"path": "a"}}, {"id": "slow", "tool": "read_file", "args": {"path": "b"}}]);
    let mut deck = run_of(nodes());
    deck.done("town", json!("Nantes"));
    deck.done("slow", json!(""));
    assert_eq!(deck.model.selected_id().map(|id| id.as_str()), Some("town"));
    assert!(deck.sees("Nantes") && deck.sees("an empty text"), "each output has its name:\n{}", deck.screen());
    let mut deck = run_of(nodes());
    deck.select("town");
    deck.done("slow", json!("late"));
    deck.done("town", json!("Nantes"));
    assert_eq!(deck.model.selected_id().map(|id| id.as_str()), Some("town"));
}

#[test]
fn after_a_rejection_the_answer_is_shown_at_the_end_and_the_message_names_what_was_rejected() {
    let mut deck = run_of(json!([
        {"id": "send", "tool": "write_file", "args": {"path": "a", "content": "b"}, "approve": "before"},
        {"id": "warn", "tool": "read_file", "args": {"path": "b"}},
    ]));
    deck.keys(". x");
    deck.type_text("no");
    deck.keys("enter x");
    deck.done("warn", json!("west is low"));
    assert_eq!(deck.model.selected_id().map(|id| id.as_str()), Some("warn"));
    assert!(deck.sees("partial: send was rejected by ada"), "{}", deck.screen());
}

#[test]
fn the_result_of_a_node_is_saved_to_a_file_as_it_is_read_and_no_file_is_replaced_unasked() {
    let mut deck = run_of(json!([{"id": "town", "tool": "read_file", "args": {"path": "a"}}]));
    deck.done("town", json!("Nantes"));
    deck.keys("ctrl-s enter");
    let asked = |deck: &mut Deck| match deck.asked.pop() {
        Some(ConsoleEffect::Send(Request::SaveText { path, text, there })) => (path, text, there),
        other => panic!("{other:?}"),
    };
    assert_eq!(asked(&mut deck), ("town.md".into(), "Nantes\n".into(), There::Stays));
    deck.notice(Notice::TextThere { path: "town.md".into(), text: "Nantes\n".into() });
    assert!(deck.sees("There is already a file town.md"), "{}", deck.screen());
    deck.keys("y");
    assert_eq!(asked(&mut deck).2, There::IsReplaced);
    deck.notice(Notice::TextSaved("town.md".into()));
    assert!(deck.sees("saved to town.md"), "{}", deck.screen());
}

#[test]
fn a_run_that_somebody_else_deleted_is_closed() {
    let mut deck = run_of(json!([{"id": "town", "tool": "read_file", "args": {"path": "a"}}]));
    deck.done("town", json!("Nantes"));
    deck.notice(Notice::RunGone(RunId("run-1".into())));
    assert!(deck.model.runs.open.is_empty() && deck.sees("it was deleted elsewhere"), "{}", deck.screen());
}
