//! Steering as a person sees it: what stopping does, breakpoints that are changed, calls that are held, and what the pausing key says.

use serde_json::json;

use super::Deck;
use crate::console::model::{Dialog, ListOf, RunRecords, RunView};
use crate::engine::SearchMark;
use crate::engine::{Action, ActionTarget, Command, ErrorKind, NodeError, NodeImpact, Pace, RunId, ToolCall, WorkerFact};
use crate::host::client::{Driver, Notice};
use crate::plan::Verdict;

fn written(deck: &Deck) -> Vec<(u32, String)> {
    deck.engine().breakpoints().map(|(id, point)| (id.0, point.label())).collect()
}

fn marks(deck: &Deck) -> Vec<SearchMark> {
    deck.model.shown_run().map(RunView::journal).map(RunRecords::marks).unwrap().iter().map(|(_, mark)| *mark).collect()
}

#[test]
fn stopping_shows_which_nodes_hand_back_what_they_have() {
    let mut deck = Deck::running(120, 40);
    deck.select("scan");
    deck.keys("m");
    deck.type_text("stop early");
    deck.keys("enter");
    let screen = deck.screen();
    assert!(screen.contains("ends early, with what they have: find what is left"), "{screen}");
    assert!(screen.contains("→ wraps up") && !screen.contains("no other node changes"), "{screen}");
    assert_eq!(deck.model.proposal().unwrap().fate(&"scan".into()), Some((NodeImpact::Wraps, false)));
}

#[test]
fn a_breakpoint_that_is_removed_leaves_the_mark_on_the_next_one() {
    let mut deck = Deck::running(120, 40);
    for node in ["count", "write"] {
        deck.select(node);
        deck.keys("b");
    }
    deck.keys("B G d d");
    assert_eq!(written(&deck), []);
}

#[test]
fn a_breakpoint_left_as_it_is_changes_nothing_and_one_undo_takes_a_change_back() {
    let mut deck = Deck::running(120, 40);
    deck.select("write");
    deck.keys("b B");
    let before = deck.engine().last_seq();
    deck.keys("e enter");
    assert!(matches!(deck.model.dialogs.last(), Some(Dialog::List { of: ListOf::Breaks, .. })), "{}", deck.screen());
    assert_eq!(deck.engine().last_seq(), before);
    deck.keys("e");
    deck.model.dialogs.last_mut().unwrap().field().unwrap().set("after count");
    deck.keys("enter esc");
    assert_eq!(written(&deck), [(1, "after `count`".to_owned())]);
    deck.keys("u");
    assert_eq!(written(&deck), [(1, "before `write`".to_owned())]);
}

#[test]
fn the_pausing_key_says_what_it_does_where_only_breakpoints_keep_the_run() {
    let mut deck = Deck::running(120, 40);
    assert!(deck.sees("p pause"), "{}", deck.screen());
    deck.select("count");
    deck.keys("b");
    deck.done("list", json!("x"));
    assert_eq!(deck.engine().pace(), Pace::Going);
    deck.select("write");
    let screen = deck.screen();
    assert!(screen.contains("p resume") && !screen.contains("p pause"), "{screen}");
}

/// A console in which a call of `scan` is held.
fn held() -> Deck {
    let mut deck = Deck::running(120, 40);
    deck.select("scan");
    deck.keys(",");
    let call = ToolCall { id: "1".into(), tool: "read_file".into(), args: json!({"path": "src/lib.rs", "lines": [1, 2]}) };
    deck.fact("scan", WorkerFact::ToolAsked { call, verdict: Verdict::Allow, why: String::new(), leaves: None });
    deck
}

#[test]
fn a_held_call_is_told_with_its_exact_arguments_and_the_keys_that_let_it_go() {
    let mut deck = held();
    assert_eq!(deck.engine().held_calls(&"scan".into()).count(), 1);
    let screen = deck.screen();
    assert!(screen.contains("find what is left to do is about to call read_file"), "{screen}");
    assert!(marks(&deck).contains(&SearchMark::Break), "the scrub bar marks it");
    deck.keys("j k");
    let screen = deck.screen();
    assert!(screen.contains("held before it calls read_file"), "{screen}");
    assert!(screen.contains("\"path\": \"src/lib.rs\"") && screen.contains("\"lines\": ["), "{screen}");
    assert!(screen.contains("s releases this call") && screen.contains("; all calls"), "{screen}");
    deck.keys("s");
    assert_eq!(deck.engine().held_calls(&"scan".into()).count(), 0);
    assert!(!deck.sees("held before it calls"), "{}", deck.screen());
}

#[test]
fn the_log_tells_held_and_started_calls_by_their_kinds() {
    let mut deck = held();
    deck.keys("s");
    deck.fact("scan", WorkerFact::ModelAsked { call: "2".into(), model: "large".into(), need: None });
    deck.keys("s 5 /");
    deck.type_text("kind:model");
    let screen = deck.screen();
    assert!(screen.contains("held before it calls the model large") && screen.contains("model call started"), "{screen}");
    assert!(!screen.contains("held before it calls read_file"), "{screen}");
    deck.model.shown_run_mut().unwrap().log.filter.set("kind:tool");
    deck.model.shown_run_mut().unwrap().filter_log();
    assert!(deck.sees("held before it calls read_file"), "{}", deck.screen());
}

fn asks(deck: &mut Deck, id: &str, tool: &str) {
    let call = ToolCall { id: id.into(), tool: tool.into(), args: json!({"path": id}) };
    deck.fact("scan", WorkerFact::ToolAsked { call, verdict: Verdict::Allow, why: String::new(), leaves: None });
}

fn status(deck: &Deck) -> &str {
    deck.model.status.as_ref().map_or("", |status| status.text.as_str())
}

#[test]
fn of_several_held_calls_the_status_and_the_inspector_tell_the_one_that_the_key_lets_go() {
    let mut deck = held();
    for (id, tool) in [("2", "list_directory"), ("3", "write_file")] {
        asks(&mut deck, id, tool);
        assert!(status(&deck).starts_with("`find what is left to do` is about to call `read_file` (1 of "), "{}", status(&deck));
    }
    assert!(status(&deck).contains("(1 of 3)"), "{}", status(&deck));
    let screen = deck.screen();
    assert!(screen.contains("held before it calls read_file (1 of 3)") && screen.contains("src/lib.rs"), "{screen}");
    assert!(screen.contains("then `list_directory`, `write_file`"), "{screen}");
    deck.keys("s");
    assert!(deck.sees("held before it calls list_directory (1 of 2)"), "{}", deck.screen());
    deck.keys("s");
    assert!(deck.sees("held before it calls write_file") && !deck.sees("1 of 1"), "{}", deck.screen());
}

#[test]
fn the_stepping_key_goes_on_from_stop_to_stop() {
    let mut deck = held();
    assert!(deck.sees(", next call"), "{}", deck.screen());
    for id in ["2", "3"] {
        deck.keys(",");
        assert_eq!(deck.engine().held_calls(&"scan".into()).count(), 0, "the call goes");
        assert!(!deck.sees(", next call"), "{}", deck.screen());
        asks(&mut deck, id, "read_file");
        assert_eq!(deck.engine().held_calls(&"scan".into()).count(), 1, "the next one is held");
    }
    assert!(deck.sees(", next call"), "{}", deck.screen());
}

/// A second console that shows the run of the first, which somebody else drives, or nobody.
fn driven_by(deck: &Deck, driver: Driver) -> Deck {
    let records = deck.model.shown_run().unwrap().journal().records().to_vec();
    let mut other = Deck::new(120, 40);
    other.notice(Notice::RunOpened { run: RunId("run-1".into()), records, driver });
    other.keys("tab");
    other.select("scan");
    other
}

#[test]
fn keys_of_a_run_that_is_interrupted_driven_elsewhere_or_over_say_just_that_and_none_that_does_nothing_is_named() {
    let mut deck = held();
    let mut interrupted = driven_by(&deck, Driver::Nobody);
    let screen = interrupted.screen();
    assert!(screen.contains("held before it calls read_file") && !screen.contains("lets this call go"), "{screen}");
    assert!(screen.contains("interrupted"), "{screen}");
    for key in ["s", "p", "ctrl-k", "b", "r", "e"] {
        interrupted.keys(key);
        assert!(
            status(&interrupted).ends_with(": no dagdeck process is running this run: press ! to resume it"),
            "{key}: {}",
            status(&interrupted)
        );
    }
    let mut elsewhere = driven_by(&deck, Driver::Elsewhere("process 7 (console)".into()));
    assert!(elsewhere.sees("under way in process 7 (console)"), "{}", elsewhere.screen());
    elsewhere.keys("s");
    assert_eq!(status(&elsewhere), "Step: this run is under way in process 7 (console)");
    deck.command(&RunId("run-1".into()), Command::act(Action::Pause));
    let mut paused = driven_by(&deck, Driver::Nobody);
    paused.keys("s");
    assert!(status(&paused).ends_with("press ! to resume it") && !status(&paused).contains("over"), "{}", status(&paused));
    deck.command(&RunId("run-1".into()), Command::act(Action::Cancel { target: ActionTarget::Run }));
    let mut over = driven_by(&deck, Driver::Nobody);
    assert!(over.sees("cancelled") && !over.sees("not under way") && !over.sees("view only"), "{}", over.screen());
    over.keys("s");
    assert_eq!(status(&over), "Step: this run has ended");
    over.keys("r");
    assert!(over.sees("y do it"), "actions open it again: {}", over.screen());
}

#[test]
fn an_attempt_speaks_anew() {
    let mut deck = Deck::running(120, 40);
    deck.select("scan");
    deck.fact("scan", WorkerFact::Output("first words. ".into()));
    assert!(deck.sees("first words."), "{}", deck.screen());
    deck.fact("scan", WorkerFact::Failed(NodeError { kind: ErrorKind::NothingBegan, ..NodeError::permanent("connection lost") }));
    deck.keys("r y");
    assert_eq!(deck.engine().node(&"scan".into()).unwrap().attempt, 2);
    deck.fact("scan", WorkerFact::Output("second words. ".into()));
    let screen = deck.screen();
    assert!(screen.contains("second words.") && !screen.contains("first words."), "{screen}");
}

#[test]
fn the_plan_says_of_a_paused_run_that_it_is_paused() {
    let mut deck = Deck::planned(120, 40);
    deck.keys("s >");
    let screen = deck.screen();
    assert!(screen.contains("1 run is paused (>)") && !screen.contains("goes on"), "{screen}");
}

#[test]
fn feedback_is_offered_to_agents_only() {
    let mut deck = Deck::running(120, 40);
    deck.done("list", json!("a.rs"));
    deck.done("count", json!("1"));
    deck.select("count");
    deck.keys("m");
    deck.type_text("rewind");
    deck.keys("enter");
    assert!(status(&deck).contains("is not an agent, so it can't take feedback"), "{}", status(&deck));
    deck.keys("esc");
    deck.done("scan", json!("todo"));
    deck.select("scan");
    deck.keys("m");
    deck.type_text("rewind");
    deck.keys("enter enter");
    assert!(deck.sees("find what is left to do: what should be better"), "{}", deck.screen());
}

#[test]
fn a_node_whose_run_was_interrupted_says_so_and_what_continues_it() {
    let deck = Deck::running(120, 40);
    let mut left = driven_by(&deck, Driver::Nobody);
    let row = |screen: &str| screen.lines().find(|line| line.contains("find what is left")).map(str::to_owned);
    let screen = left.screen();
    assert!(row(&screen).is_some_and(|row| row.contains("!") && !row.contains('●')), "{screen}");
    left.keys("W");
    assert!(left.sees("find what is left to do was interrupted; ! resumes the run and"), "{}", left.screen());
    assert!(!left.sees("is running"), "{}", left.screen());
}

#[test]
fn at_a_gate_the_agent_that_made_it_gets_the_words_and_works_again() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys(".");
    assert!(deck.sees("R send back"), "{}", deck.screen());
    deck.keys("R");
    assert!(deck.sees("find what is left to do: what should be better"), "{}", deck.screen());
    deck.type_text("say it shorter");
    deck.keys("enter y");
    let run = deck.engine();
    assert!(run.node(&"scan".into()).is_some_and(|node| !node.state.has_ended() && node.generation == 2), "{}", deck.screen());
    assert_eq!(run.open_gates().count(), 0, "what was asked about is to be made anew");
}

#[test]
fn a_breakpoint_of_the_list_is_disabled_and_enabled_by_a_key() {
    let mut deck = Deck::running(80, 24);
    deck.select("write");
    deck.keys("b B space");
    assert!(deck.sees("before write  disabled") && deck.engine().breakpoints().all(|(_, point)| point.disabled), "{}", deck.screen());
    deck.keys("e");
    deck.type_text(" when attempt > 1");
    deck.keys("enter");
    assert!(deck.sees("before write when attempt > 1  disabled"), "{}", deck.screen());
    deck.keys("space");
    assert!(deck.sees("not hit yet") && deck.engine().breakpoints().all(|(_, point)| !point.disabled), "{}", deck.screen());
}
