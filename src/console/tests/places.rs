//! Where a person is led, what stays as it was on the way, and what is out of sight.

use serde_json::json;

use super::Deck;
use crate::console::{
    model::{Dialog, Screen, Status, TreeRowKind},
    update::next_wake,
};
use crate::engine::{Action, NodeError, Record, RunId, RunStatus, Time, WorkerFact};
use crate::host::client::{Driver, Notice, Problem, RunSummary};

fn run(name: &str) -> RunId {
    RunId(name.into())
}

fn selected(deck: &Deck) -> &str {
    deck.model.selected_id().map(|id| id.as_str()).unwrap_or_default()
}

fn said(deck: &Deck) -> &str {
    deck.model.status.as_ref().map(|Status { text, .. }| text.as_str()).unwrap_or_default()
}

fn problem() -> Problem {
    Problem { message: "the disk is full".into(), hint: None }
}

#[test]
fn a_hidden_node_is_shown_by_unfolding_what_it_stands_below_and_nothing_else() {
    let mut deck = Deck::running(120, 40);
    for node in ["list", "scan"] {
        deck.select(node);
        deck.keys("space");
    }
    deck.select("write");
    let rows = deck.model.tree().rows().iter();
    let folded: Vec<&str> = rows.filter(|row| matches!(row.kind, TreeRowKind::Folded(_))).map(|row| row.node.as_str()).collect();
    assert_eq!((folded, selected(&deck)), (vec!["list"], "write"));
}

#[test]
fn a_search_hides_no_node_and_stays_wherever_one_goes() {
    let mut deck = Deck::running(120, 40);
    deck.model.with_tree(|tree, plan| {
        tree.filter.set("wri");
        tree.rebuild(plan);
    });
    deck.select("write");
    assert_eq!(deck.model.tree().filter.text(), "wri");
    deck.select("list");
    assert_eq!((deck.model.tree().filter.text().as_str(), selected(&deck)), ("wri", "list"));
}

#[test]
fn a_gate_inside_a_node_of_a_run_that_is_not_shown_leads_to_it() {
    let mut deck = Deck::new(120, 40);
    let gated = json!({"id": "w", "tool": "write_file", "args": {"path": "a", "content": "x"}, "approve": "before"});
    let first = json!({"id": "first", "tool": "list_directory", "args": {"path": "src"}});
    let outer = json!({"id": "outer", "plan": {"goal": "inside", "nodes": [gated]}, "depends_on": ["first"]});
    deck.plan = serde_json::from_value(json!({"dagdeck": 1, "goal": "outer", "nodes": [first, outer]})).unwrap();
    deck.type_text("x");
    deck.keys("enter r");
    deck.start(super::plan(), Vec::new());
    deck.done_in(&run("run-1"), "first", json!("x"));
    deck.keys("i enter");
    assert_eq!((deck.model.shown_run().unwrap().id.0.as_str(), selected(&deck)), ("run-1", "outer/w"));
}

fn event(deck: &Deck) -> Option<usize> {
    deck.model.shown_run().and_then(|view| view.log.event())
}

#[test]
fn a_filter_that_hides_every_event_leads_back_to_the_one_that_was_selected() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("5 k k k");
    let here = event(&deck);
    deck.keys("/");
    deck.type_text("zz");
    assert_eq!(event(&deck), None);
    deck.keys("esc");
    assert_eq!(event(&deck), here);
    assert!(here > Some(2));
}

#[test]
fn events_of_one_node_alone_stay_so_and_are_titled_so_while_words_are_typed_and_dropped() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("5 g j j j j j o");
    let only = |deck: &Deck| deck.model.shown_run().unwrap().log.only_node().map(ToString::to_string);
    let node = only(&deck).unwrap();
    deck.keys("/");
    deck.type_text("s");
    let title = deck.screen().lines().nth(2).unwrap().to_owned();
    assert!(title.contains("filter: s") && title.contains("of find what is left to do"), "{title}");
    deck.keys("esc");
    assert_eq!(only(&deck), Some(node));
}

fn listed(name: &str, imported: Option<Time>) -> RunSummary {
    RunSummary {
        run: run(name),
        goal: format!("goal of {name}"),
        created: Time(1_750_000_000_000),
        over_ms: 0,
        last: Time(1_750_000_000_000),
        outcome: None,
        driver: Driver::Nobody,
        nodes: 4,
        waiting: Vec::new(),
        status: RunStatus::Interrupted,
        parent: None,
        imported,
    }
}

fn records(deck: &Deck) -> Vec<Record> {
    deck.model.shown_run().unwrap().journal().records().to_vec()
}

#[test]
fn a_run_of_a_run_file_that_is_not_over_is_marked_and_says_what_goes_on_with_it() {
    let mut deck = Deck::waiting(120, 40);
    deck.notice(Notice::Runs(vec![listed("run-9", Some(Time(1_750_000_000_000)))]));
    let records = records(&deck);
    deck.notice(Notice::RunOpened { run: run("run-9"), records, driver: Driver::Nobody });
    assert!(said(&deck).contains("press H to replay it, then b to branch off"), "{}", said(&deck));
    deck.keys("!");
    assert!(said(&deck).contains("branch off to continue"), "{}", said(&deck));
    deck.keys("3 !");
    assert!(said(&deck).contains("branch off to continue"), "{}", said(&deck));
    assert!(deck.model.dialogs.is_empty());
    let screen = deck.screen();
    assert!(screen.contains("imported: goal of run-9") && screen.contains("interrupted"), "{screen}");
}

#[test]
fn a_run_of_a_run_file_that_is_opened_before_the_list_comes_is_never_offered_to_be_resumed() {
    let mut deck = Deck::waiting(120, 40);
    let records = records(&deck);
    deck.notice(Notice::RunOpened { run: run("run-9"), records, driver: Driver::Nobody });
    assert!(said(&deck).ends_with("to resume it"), "{}", said(&deck));
    deck.notice(Notice::Runs(vec![listed("run-9", Some(Time(1_750_000_000_000)))]));
    assert!(said(&deck).contains("press H to replay it, then b to branch off"), "{}", said(&deck));
}

#[test]
fn what_is_out_of_sight_wakes_nobody() {
    let mut deck = Deck::running(120, 40);
    for (keys, wakes) in [("3", false), ("i", false), ("1", true), ("5", true), ("v", true)] {
        deck.keys(keys);
        assert_eq!(next_wake(&deck.model, deck.now).is_some(), wakes, "a run at work, after {keys}");
    }
    let mut deck = Deck::waiting(120, 40);
    deck.keys("H 0 space");
    for (keys, wakes) in [("5", true), ("3", false), ("1", true)] {
        deck.keys(keys);
        assert_eq!(next_wake(&deck.model, deck.now).is_some(), wakes, "a replay that plays, after {keys}");
    }
}

#[test]
fn a_run_that_could_not_be_opened_to_compare_is_shown_when_it_is_opened_later() {
    let mut deck = Deck::waiting(120, 40);
    deck.notice(Notice::Runs(vec![listed("run-9", None)]));
    deck.keys("= enter");
    deck.notice(Notice::Problem(problem()));
    let records = records(&deck);
    deck.notice(Notice::RunOpened { run: run("run-9"), records, driver: Driver::Nobody });
    assert_eq!(deck.model.place.screen, Screen::Plan);
    assert_eq!(deck.model.shown_run().unwrap().id, run("run-9"));
}

#[test]
fn a_run_whose_journal_is_written_again_is_frozen_no_longer() {
    let mut deck = Deck::running(120, 40);
    let word = |deck: &Deck| deck.model.shown_run().unwrap().status().word();
    deck.notice(Notice::Frozen { run: run("run-1"), problem: problem() });
    assert_eq!(word(&deck), "frozen");
    let screen = deck.screen();
    assert!(screen.contains(problem().message.as_str()), "{screen}");
    deck.done("list", json!("x"));
    assert_eq!(word(&deck), "running");
}

#[test]
fn what_was_picked_from_the_menu_is_done_though_the_selection_went_elsewhere() {
    let mut deck = Deck::running(120, 40);
    deck.select("list");
    deck.keys("m");
    deck.type_text("skip");
    deck.select("count");
    deck.keys("enter");
    assert_eq!(deck.model.proposal().map(|proposal| &proposal.action), Some(&Action::Skip { node: "list".into() }));
}

#[test]
fn a_run_that_opens_below_a_dialog_does_not_change_what_that_is_about() {
    let mut deck = Deck::running(120, 40);
    deck.keys("B");
    let records = records(&deck);
    deck.notice(Notice::RunOpened { run: run("run-9"), records, driver: Driver::Nobody });
    assert_eq!(deck.model.shown_run().unwrap().id, run("run-1"));
    assert!(matches!(deck.model.dialogs.last(), Some(Dialog::List { of: crate::console::model::ListOf::Breaks, .. })));
    assert!(said(&deck).contains("run 2 is open"), "{}", said(&deck));
}

#[test]
fn the_timeline_is_drawn_up_again_when_a_bar_moves_or_a_second_goes_by() {
    let mut deck = Deck::running(120, 40);
    deck.keys("6");
    let end = |deck: &mut Deck| {
        deck.flush();
        deck.model.shown_run().unwrap().chart().unwrap().end
    };
    let before = end(&mut deck);
    deck.later(1);
    deck.fact("scan", WorkerFact::Output("words".into()));
    assert_eq!(end(&mut deck), before);
    deck.later(1_000);
    let after = end(&mut deck);
    assert_ne!(after, before);
    deck.later(1);
    deck.fact("list", WorkerFact::Done(crate::engine::Done { result: json!("x"), mark: None }));
    assert_ne!(end(&mut deck), after);
}

#[test]
fn a_search_lands_on_the_id_that_was_typed() {
    let mut deck = Deck::new(120, 40);
    let node = |id: &str| json!({"id": id, "tool": "list_directory", "args": {"path": "src"}});
    let nodes = ["afterboom2", "boomerang", "boom"].map(node);
    deck.plan = serde_json::from_value(json!({"dagdeck": 1, "goal": "x", "nodes": nodes})).unwrap();
    deck.type_text("x");
    deck.keys("enter /");
    deck.type_text("boom");
    assert_eq!(selected(&deck), "boom");
    assert!(deck.sees("3 of 3"), "{}", deck.screen());
    let mut went = Vec::new();
    for key in ["enter n", "n", "N", "N", "N"] {
        deck.keys(key);
        went.push(selected(&deck).to_owned());
    }
    assert_eq!(went, ["afterboom2", "boomerang", "afterboom2", "boom", "boomerang"]);
    deck.keys("/");
    assert_eq!(deck.model.tree().filter.text(), "", "a new search begins empty");
    deck.keys("esc");
    assert_eq!(selected(&deck), "boomerang");
}

#[test]
fn a_search_for_a_state_follows_the_run() {
    let mut deck = Deck::running(120, 40);
    deck.keys("/");
    deck.type_text("is:succeeded");
    deck.keys("enter");
    assert!(deck.sees("no node matches"), "{}", deck.screen());
    deck.done("list", json!("x"));
    deck.flush();
    assert!(deck.sees("1 of 1") || deck.sees("1 found"), "{}", deck.screen());
    deck.keys("/");
    deck.type_text("is:succeeded tool:nothing");
    assert!(deck.sees("no node matches") && deck.model.tree().rows().len() == 4, "{}", deck.screen());
    deck.keys("esc");
    assert!(!deck.sees("no node matches"), "{}", deck.screen());
}

#[test]
fn words_that_were_written_and_not_sent_are_named_before_the_console_is_left() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("i x");
    deck.type_text("wrong file");
    deck.keys("esc");
    assert!(deck.sees("Discard the changes?"), "{}", deck.screen());
    deck.keys("n enter ctrl-c");
    assert!(deck.sees("Either also loses this:") && deck.sees("Not sent to write: your rejection: wrong file"), "{}", deck.screen());
}

#[test]
fn another_plan_takes_the_place_of_changes_only_after_a_yes() {
    let mut deck = Deck::planned(120, 40);
    deck.keys("d n");
    deck.type_text("something else");
    deck.keys("enter");
    assert!(deck.sees("neither saved nor run") && deck.model.request.planning.is_none(), "{}", deck.screen());
    let changed = deck.model.editor.plan().clone();
    deck.keys("n");
    assert_eq!((deck.model.editor.plan(), deck.model.request.field.text().as_str()), (&changed, "something else"));
    deck.keys("enter y");
    assert_ne!(deck.model.editor.plan(), &changed);
}

#[test]
fn the_key_that_a_new_gate_names_leads_there_though_an_older_failure_is_there() {
    let mut deck = Deck::new(120, 40);
    let list = |id: &str| json!({"id": id, "tool": "list_directory", "args": {"path": "src"}});
    let write =
        json!({"id": "w", "tool": "write_file", "args": {"path": "a", "content": "x"}, "approve": "before", "depends_on": ["list"]});
    deck.start(
        serde_json::from_value(json!({"dagdeck": 1, "goal": "two", "nodes": [list("bad"), list("list"), write]})).unwrap(),
        Vec::new(),
    );
    deck.keys("esc");
    deck.fact("bad", WorkerFact::Failed(NodeError::permanent("no")));
    deck.select("list");
    deck.done("list", json!("x"));
    assert!(deck.sees("1 needs you") && deck.sees("1 failed"), "{}", deck.screen());
    let said = said(&deck).to_owned();
    assert!(said.contains("(. goes there)"), "{said}");
    deck.keys(".");
    assert_eq!(selected(&deck), "w");
    deck.keys(".");
    assert!(selected(&deck) == "bad" && deck.sees("1 failed, 1 needs you"), "{}", deck.screen());
}
