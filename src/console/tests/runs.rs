//! Runs of runs: branches below the run that they left, resuming what was interrupted, and two runs side by side.

use ratatui::style::Color;
use serde_json::json;

use super::{Deck, actor, screens::shoot_at};
use crate::console::theme::{Depth, Role, load, shipped};
use crate::console::{
    model::Screen,
    update::{ConsoleEffect, Msg, next_wake, update},
};
use crate::engine::{Action, Command, Event, Input, NodeFact, Outcome, PeekedText, Record, RunId, RunPeek, RunStatus};
use crate::host::client::{Driver, FoundSummary, Notice, Parent, Request, RunSummary};
use crate::plan::Approve;

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

fn summary(name: &str, parent: Option<(&str, u64)>) -> RunSummary {
    RunSummary {
        run: RunId(name.into()),
        goal: format!("goal of {name}"),
        created: crate::engine::Time(1_750_000_000_000),
        over_ms: 0,
        last: crate::engine::Time(1_750_000_000_000),
        outcome: None,
        driver: Driver::Nobody,
        nodes: 4,
        waiting: Vec::new(),
        status: RunStatus::Interrupted,
        parent: parent.map(|(run, seq)| Parent { run: RunId(run.into()), seq }),
        imported: None,
    }
}

fn last_request(deck: &Deck) -> Option<&Request> {
    deck.asked.iter().rev().find_map(|action| match action {
        ConsoleEffect::Send(request) => Some(request),
        _ => None,
    })
}

/// The events of the shown run under another name, with another result of a node.
fn other(deck: &Deck, node: &str) -> Vec<Record> {
    let mut records = deck.model.shown_run().unwrap().journal().records().to_vec();
    for record in &mut records {
        match &mut record.event {
            Event::RunCreated { run, .. } => *run = RunId("run-9".into()),
            Event::Node { node_id, fact: NodeFact::Completed { result, .. }, .. } if node_id.as_str() == node => {
                *result = json!("one\ntwo\nother")
            }
            _ => {}
        }
    }
    records
}

#[test]
fn branches_stand_below_the_run_that_they_left() {
    let mut deck = Deck::new(120, 40);
    let listing = vec![summary("d", Some(("b", 7))), summary("c", None), summary("b", Some(("a", 12))), summary("a", None)];
    deck.notice(Notice::Runs(listing));
    let order: Vec<&str> = deck.model.runs.listing.iter().map(|summary| summary.run.0.as_str()).collect();
    assert_eq!((order, deck.model.runs.depths.clone()), (vec!["c", "a", "b", "d"], vec![0, 0, 1, 2]));
    deck.keys("tab 3");
    assert!(deck.sees("└ from event 12: goal of b"), "{}", deck.screen());
}

#[test]
fn the_selection_stays_on_its_run_when_the_list_changes() {
    let mut deck = Deck::new(120, 40);
    deck.notice(Notice::Runs(vec![summary("b", None), summary("a", None)]));
    deck.keys("tab 3 j");
    deck.notice(Notice::Runs(vec![summary("c", None), summary("b", None), summary("a", None)]));
    assert_eq!(deck.model.runs.listing[deck.model.runs.place.selected].run.0, "a");
}

#[test]
fn a_run_is_found_by_its_goal_and_opened() {
    let mut deck = Deck::new(80, 24);
    deck.notice(Notice::Runs(vec![summary("b", None), summary("a", None)]));
    deck.keys("tab 3 /");
    deck.type_text("of a");
    deck.keys("enter");
    assert_eq!(last_request(&deck), Some(&Request::OpenRun(RunId("a".into()))));
}

#[test]
fn a_run_is_deleted_after_a_yes_and_shown_no_more() {
    let mut deck = Deck::running(80, 24);
    deck.done("scan", json!("one"));
    let records = other(&deck, "none");
    deck.notice(Notice::Runs(vec![summary("run-9", None)]));
    deck.notice(Notice::RunOpened { run: RunId("run-9".into()), records, driver: Driver::Nobody });
    let run = RunId("run-9".into());
    let weighed = Notice::RunWeighed { run: run.clone(), bytes: 12_000 };
    deck.keys("3 d");
    assert_eq!(last_request(&deck), Some(&Request::WeighRun(run)), "how much it takes is part of the question");
    deck.notice(weighed.clone());
    assert!(deck.sees("Delete this run?") && deck.sees("It has not ended"), "{}", deck.screen());
    assert!(deck.sees("goal of run-9") && deck.sees("12 kB in the journal") && deck.sees("interrupted, began"), "{}", deck.screen());
    deck.keys("n");
    assert!(!matches!(last_request(&deck), Some(Request::DeleteRun(_))));
    deck.keys("d");
    deck.notice(weighed);
    deck.keys("y");
    assert_eq!(last_request(&deck), Some(&Request::DeleteRun(RunId("run-9".into()))));
    deck.notice(Notice::RunDeleted { run: RunId("run-9".into()), bytes: 12_000 });
    deck.notice(Notice::Runs(Vec::new()));
    assert!(deck.sees("deleted; 12 kB are free for other runs"), "{}", deck.screen());
    assert!(deck.model.runs.get(&RunId("run-9".into())).is_none() && deck.model.shown_run().is_none());
}

#[test]
fn a_branch_off_the_event_that_is_looked_at_asks_and_takes_an_edit_along() {
    let mut deck = Deck::waiting(120, 40);
    deck.select("count");
    deck.keys("H 0 ) )");
    let seq = deck.model.replay().unwrap().at() as u64;
    deck.select("count");
    deck.keys("b");
    deck.type_text("change the text");
    deck.keys("enter");
    deck.model.dialogs.last_mut().unwrap().field().unwrap().set("return 7;");
    deck.keys("ctrl-s");
    assert!(deck.sees(&format!("Branch off after event {seq}")) && deck.sees("First: change count"), "{}", deck.screen());
    deck.asked.clear();
    deck.keys("y");
    let Some(Request::Branch { run, seq: at, actions }) = last_request(&deck) else { panic!("{:?}", deck.asked) };
    assert_eq!((run.0.as_str(), *at), ("run-1", seq));
    assert!(matches!(actions.as_slice(), [Action::Edit { .. }]), "{actions:?}");
}

#[test]
fn a_branch_says_where_it_really_begins_and_how_it_goes_on() {
    let mut deck = Deck::waiting(120, 40);
    deck.keys("p H 0");
    let records = deck.model.shown_run().unwrap().journal().records().to_vec();
    let within = records.iter().find(|record| record.more).unwrap().seq;
    let ends = Record::whole(&records, within);
    let to = |deck: &mut Deck, seq: u64| {
        while (deck.model.replay().unwrap().at() as u64) < seq {
            deck.keys("]");
        }
    };
    to(&mut deck, within);
    deck.keys("b");
    assert!(deck.sees(&format!("branch off after event {ends}")), "{}", deck.screen());
    deck.keys("enter");
    assert!(
        deck.sees(&format!("the step of event {within} ends with event ")) && deck.sees("and continues by itself"),
        "{}",
        deck.screen()
    );
    deck.keys("n");
    to(&mut deck, records.len() as u64);
    deck.keys("b enter");
    assert!(deck.sees("is paused, as this run was"), "{}", deck.screen());
}

#[test]
fn a_run_that_nobody_drives_says_so_and_is_continued_after_a_question() {
    let mut deck = Deck::waiting(120, 40);
    let records = other(&deck, "none");
    deck.notice(Notice::RunOpened { run: RunId("run-9".into()), records, driver: Driver::Nobody });
    assert!(deck.sees("no dagdeck process is running this run: press ! to resume it"), "{}", deck.screen());
    deck.keys("!");
    assert!(deck.sees("Resume this run?"), "{}", deck.screen());
    deck.asked.clear();
    deck.keys("y");
    assert_eq!(last_request(&deck), Some(&Request::Resume(RunId("run-9".into()))));
    deck.keys("<");
    deck.keys("!");
    assert!(deck.sees("already under way here"), "{}", deck.screen());
}

#[test]
fn that_nobody_drives_a_run_is_no_longer_said_once_somebody_does() {
    let mut deck = Deck::waiting(120, 40);
    let (records, run) = (other(&deck, "none"), RunId("run-9".into()));
    deck.notice(Notice::RunOpened { run: run.clone(), records, driver: Driver::Nobody });
    assert!(deck.sees("no dagdeck process is running this run: press ! to resume it"), "{}", deck.screen());
    deck.notice(Notice::Driver { run, driver: Driver::Elsewhere("another console".into()) });
    assert!(!deck.sees("no dagdeck process is running this run"), "{}", deck.screen());
}

#[test]
fn a_gate_of_a_run_that_nobody_drives_is_open_and_says_what_makes_it_take_replies() {
    let mut deck = Deck::waiting(120, 40);
    deck.done("scan", json!("one"));
    let records = other(&deck, "none");
    let waits = RunSummary { waiting: vec!["write".into()], status: RunStatus::Waiting, ..summary("run-8", None) };
    deck.notice(Notice::Runs(vec![waits]));
    deck.notice(Notice::RunOpened { run: RunId("run-9".into()), records, driver: Driver::Nobody });
    deck.select("write");
    deck.keys("i");
    assert!(deck.sees("1 open gate; 1 run elsewhere has an open gate: 3 lists it"), "{}", deck.screen());
    assert!(deck.sees("open, but no dagdeck process is") && deck.sees("! resume"), "{}", deck.screen());
    deck.keys("!");
    assert!(deck.sees("Resume this run?"), "{}", deck.screen());
}

#[test]
fn the_times_of_a_run_that_nobody_drives_stand_at_its_last_event() {
    let mut deck = Deck::running(120, 40);
    deck.done("list", json!("x"));
    let records = other(&deck, "none");
    deck.notice(Notice::RunOpened { run: RunId("run-9".into()), records, driver: Driver::Nobody });
    for keys in ["j k", "6", "5", "4", "1 H"] {
        deck.keys(keys);
        let before = deck.screen();
        assert!(before.contains("1/4 done  2 interrupted  ") && before.contains("elapsed 1.2s") || before.contains("replay"), "{before}");
        deck.later(3_600_000);
        assert_eq!(before, deck.screen(), "an hour changes nothing");
    }
    assert_eq!(next_wake(&deck.model, deck.now), None);
}

#[test]
fn a_branch_counts_its_time_from_where_it_left_the_other_run() {
    let mut deck = Deck::running(120, 40);
    deck.done("list", json!("x"));
    deck.later(3_600_000);
    let id = RunId("run-1".into());
    deck.input(&id, &Input::Branch { from: RunId("run-0".into()), from_seq: 1, by: actor() });
    let screen = deck.screen();
    assert!(screen.contains("2 running  ") && screen.contains("   0:00"), "{screen}");
    let scan = screen.lines().find(|line| line.contains("find what")).unwrap_or_default();
    assert!(
        scan.contains('●') && !scan.contains("1.0s") && !scan.contains("1h"),
        "what broke off there is no work of the branch: {screen}"
    );
}

/// A run beside one that was branched off with another goal and gave another result.
fn versus(width: u16, height: u16) -> Deck {
    let mut deck = Deck::waiting(width, height);
    let mut records = other(&deck, "list");
    for record in &mut records {
        if let Event::RunCreated { plan, .. } = &mut record.event {
            plan.goal = "another goal".into();
            plan.nodes[0].policy.approve = Some(Approve::After);
        }
    }
    deck.notice(Notice::Runs(vec![summary("run-9", Some(("run-1", 3)))]));
    deck.keys("=");
    deck.keys("enter");
    assert_eq!(last_request(&deck), Some(&Request::OpenRun(RunId("run-9".into()))));
    deck.notice(Notice::RunOpened { run: RunId("run-9".into()), records, driver: Driver::Nobody });
    deck
}

#[test]
fn two_runs_are_shown_side_by_side_with_plans_and_results() {
    let mut deck = versus(120, 40);
    assert_eq!(deck.model.place.screen, Screen::Versus);
    assert!(deck.model.place.shown == crate::console::model::PlanScreen::Run(RunId("run-1".into())), "the shown run stays");
    let screen = deck.screen();
    assert!(screen.contains("another goal") && screen.contains("✓ src/main.rs"), "{screen}");
    deck.keys("G");
    assert!(deck.sees("+ other"), "{}", deck.screen());
    deck.keys("enter");
    assert_eq!(deck.model.selected_id().map(|id| id.as_str()), Some("list"));
}

#[test]
fn two_runs_side_by_side_on_the_screen() {
    shoot_at(&SIZES, "versus_plan", versus);
    shoot_at(&SIZES, "versus_result", |width, height| {
        let mut deck = versus(width, height);
        deck.keys("G");
        deck
    });
}

#[test]
fn two_runs_side_by_side_go_on_as_the_runs_do_and_the_selection_stays_on_its_row() {
    let mut deck = versus(120, 40);
    deck.keys("G");
    let selected = |deck: &Deck| deck.model.runs.versus.as_ref().map(|versus| (versus.place.selected, versus.len())).unwrap();
    let before = selected(&deck);
    deck.command(&RunId("run-1".into()), Command::act(Action::Skip { node: "write".into() }));
    assert_eq!(selected(&deck), before, "an event by itself compares nothing");
    assert!(deck.sees("- skipped") && deck.sees("◆ waiting"), "{}", deck.screen());
    assert_eq!(selected(&deck), (before.0, before.1 + 1));
    assert!(deck.sees("+ other"), "the row that was selected still is: {}", deck.screen());
    let [left, right] = ["run-1", "run-9"].map(|id| deck.model.runs.get(&RunId(id.into())).unwrap().clone());
    let versus = deck.model.runs.versus.as_mut().unwrap();
    assert!(!versus.refresh(&left, &right), "what stands is not compared again");
}

#[test]
fn the_list_of_runs_is_a_tree_of_branches_on_the_screen() {
    shoot_at(&SIZES, "runs_tree", |width, height| {
        let mut deck = Deck::new(width, height);
        let ended = |summary: RunSummary, outcome, ms| RunSummary { outcome: Some(outcome), last: summary.created.plus(ms), ..summary };
        let listing = vec![
            RunSummary {
                driver: Driver::Here,
                status: crate::engine::RunStatus::Waiting,
                ..summary("the second branch", Some(("the first", 12)))
            },
            ended(summary("the branch of a branch", Some(("the first branch", 31))), Outcome::Failed, 61_000),
            ended(summary("the first branch", Some(("the first", 7))), Outcome::Partial, 9_500),
            summary("one that was interrupted", None),
            ended(summary("the first", None), Outcome::Succeeded, 125_000),
            ended(summary("a branch of a run that is not here", Some(("gone", 3))), Outcome::Cancelled, 800),
        ];
        deck.notice(Notice::Runs(listing));
        deck.keys("tab 3 j j");
        deck
    });
}

#[test]
fn what_differs_at_a_row_is_compared_once_and_not_with_each_frame() {
    let mut deck = versus(120, 40);
    deck.keys("G");
    deck.flush();
    let drawn = |deck: &Deck| {
        let versus = deck.model.runs.versus.as_ref().unwrap();
        versus.difference().unwrap().from(0).next().unwrap().text().as_str().as_ptr()
    };
    let before = drawn(&deck);
    deck.flush();
    assert_eq!(drawn(&deck), before);
    deck.keys("K");
    assert_eq!(drawn(&deck), before, "scrolling compares nothing");
    deck.keys("k");
    deck.flush();
    assert_ne!(drawn(&deck), before);
}

/// The list of runs on the screen.
fn listed(width: u16, height: u16, listing: Vec<RunSummary>) -> Deck {
    let mut deck = Deck::new(width, height);
    deck.notice(Notice::Runs(listing));
    deck.asked.clear();
    deck.keys("esc 3");
    deck
}

fn peeked(run: &str, text: &str) -> Notice {
    let results = vec![PeekedText { title: "report".into(), text: text.into(), is_cut: true }];
    let gates = vec!["lint: may it run this command?".into()];
    let peek =
        RunPeek { events: 9, counts: "3/4 done  1 waiting".into(), reason: String::new(), note: String::new(), gates, results, more: 2 };
    Notice::RunPeeked { run: RunId(run.into()), peek: Box::new(peek) }
}

fn peeks(deck: &Deck) -> Vec<&str> {
    let requests = deck.asked.iter().filter_map(|action| match action {
        ConsoleEffect::Send(Request::PeekRun(run)) => Some(run.0.as_str()),
        _ => None,
    });
    requests.collect()
}

#[test]
fn of_the_listed_runs_only_the_selected_one_is_read_and_one_at_a_time() {
    let listing = (1..=500).map(|at| summary(&format!("run {at:03}"), None)).collect();
    let mut deck = listed(80, 24, listing);
    deck.keys("j j j j");
    assert_eq!(peeks(&deck), Vec::<&str>::new(), "the next is read when the one that the start asked for came");
    deck.notice(peeked("run 001", "of another one"));
    assert_eq!(peeks(&deck), ["run 005"]);
    assert!(!deck.sees("of another one") && deck.sees("goal of run 005"), "{}", deck.screen());
    deck.notice(peeked("run 005", "| month | sum |"));
    for words in ["interrupted", "4 nodes: 3/4 done", "1 open gate", "lint: may it run this command?"] {
        assert!(deck.sees(words), "{words}: {}", deck.screen());
    }
    deck.keys("J J");
    assert!(deck.sees("| month | sum |") && deck.sees("and 2 more outputs"), "{}", deck.screen());
    deck.notice(Notice::Runs((1..=500).map(|at| summary(&format!("run {at:03}"), None)).collect()));
    assert_eq!(peeks(&deck).len(), 1, "what did not go on is not read again");
}

#[test]
fn a_listed_run_that_is_open_is_shown_as_it_is_now_and_not_read_again() {
    let mut deck = Deck::waiting(120, 40);
    deck.asked.clear();
    deck.notice(Notice::Runs(vec![RunSummary { driver: Driver::Here, status: RunStatus::Running, ..summary("run-1", None) }]));
    deck.keys("3");
    assert!(deck.sees("waiting") && deck.sees("write: may it start?") && deck.sees("◆ 1"), "{}", deck.screen());
    deck.command(&RunId("run-1".into()), Command::act(Action::Skip { node: "write".into() }));
    assert!(!deck.sees("may it start?"), "{}", deck.screen());
    assert_eq!(peeks(&deck), Vec::<&str>::new());
}

#[test]
fn runs_of_one_goal_are_told_apart_by_age_and_gates_and_by_name_on_the_card() {
    let one = |name: &str, minutes: u64, gates: usize| RunSummary {
        goal: "make the weekly report".into(),
        created: crate::engine::Time(1_750_000_000_000 - minutes * 60_000),
        waiting: vec!["write".into(); gates],
        ..summary(name, None)
    };
    let mut deck =
        listed(80, 24, vec![one("20250615-aaaa1111", 5, 2), one("20250615-bbbb2222", 95, 0), one("20250612-cccc3333", 4_000, 1)]);
    let screen = deck.screen();
    let rows: Vec<&str> = screen.lines().filter(|line| line.contains("make the weekly report") && line.contains(" ago")).collect();
    assert_eq!(rows.len(), 3, "{screen}");
    for (row, words) in rows.iter().zip([["5 min ago", "◆ 2"], ["1 h ago", "  "], ["2 days ago", "◆ 1"]]) {
        assert!(words.iter().all(|word| row.contains(word)), "{words:?} in {row}");
    }
    assert!(screen.contains("aaaa1111 · began 15:01"), "{screen}");
}

#[test]
fn a_run_without_a_gate_has_no_mark_of_one_in_any_theme() {
    for (name, _) in shipped() {
        let theme = load(name, None, Depth::Ansi256).unwrap();
        let ground = theme.style(Role::Text).bg.unwrap_or(Color::Reset);
        let mut deck = Deck::themed(80, 24, theme);
        deck.notice(Notice::Runs(vec![summary("one", None), summary("two", None)]));
        deck.keys("esc 3");
        let buffer = deck.flush();
        // The second row of the list, which is not selected, behind its mark.
        assert!(deck.screen().lines().nth(4).is_some_and(|row| row.contains("goal of two")), "{}", deck.screen());
        assert!((10..80).all(|x| buffer[(x, 4)].bg == ground), "{name}");
    }
}

#[test]
fn a_search_over_runs_asks_the_host_once_at_a_time_and_shows_the_line_of_a_result() {
    let mut deck = listed(80, 24, vec![summary("a run", None)]);
    deck.keys("/");
    deck.type_text("disk full");
    let asked = |deck: &Deck| {
        let requests = deck.asked.iter().filter_map(|action| match action {
            ConsoleEffect::Send(Request::SearchRuns(words)) => Some(words.clone()),
            _ => None,
        });
        requests.collect::<Vec<_>>()
    };
    assert_eq!(asked(&deck), ["d"], "one search at a time");
    assert!(deck.sees("searching …"), "{}", deck.screen());
    deck.notice(Notice::RunsFound { words: "d".into(), found: Vec::new() });
    assert_eq!(asked(&deck), ["d", "disk full"]);
    let found = FoundSummary { summary: summary("an old run", None), line: Some("09:12 disk full on /dev/sda".into()) };
    deck.notice(Notice::RunsFound { words: "disk full".into(), found: vec![found] });
    assert!(deck.sees("goal of an old run") && deck.sees("09:12 disk full on /dev/sda"), "{}", deck.screen());
    deck.keys("enter");
    assert_eq!(last_request(&deck), Some(&Request::OpenRun(RunId("an old run".into()))));
}

#[test]
fn a_run_that_is_opened_again_with_a_gate_that_is_new_asks_for_its_preview_once() {
    let deck = Deck::waiting(120, 40);
    let records = deck.model.shown_run().unwrap().journal().records().to_vec();
    let opened = |records: &[Record]| {
        let run = RunId("run-1".into());
        Msg::Notice(Box::new(Notice::RunOpened { run, records: records.to_vec(), driver: Driver::Here }))
    };
    let mut other = Deck::new(120, 40);
    other.send(opened(&records[..3]));
    let actions = update(&mut other.model, opened(&records), other.now);
    let asked = actions.iter().filter(|action| matches!(action, ConsoleEffect::Send(Request::Preview { .. })));
    assert_eq!(asked.count(), 1);
}

#[test]
fn a_request_beside_a_run_that_has_ended_goes_on_from_it() {
    let mut deck = Deck::new(120, 40);
    let nodes = json!([{"id": "list", "tool": "list_directory", "args": {"path": "src"}}]);
    deck.plan = serde_json::from_value(json!({"dagdeck": 1, "goal": "list the files", "nodes": nodes})).unwrap();
    deck.type_text("list the files");
    deck.keys("enter r n");
    deck.type_text("and as a table");
    deck.keys("enter");
    assert_eq!(deck.follows, None, "it goes on still");
    deck.keys("<");
    deck.done("list", json!("src/main.rs"));
    let model = deck.model.session.model.take();
    for expected in [None, Some(RunId("run-1".into()))] {
        deck.keys("n");
        deck.type_text("and as a table");
        deck.keys("enter");
        assert_eq!(deck.follows, expected, "only a model can go on from it");
        deck.model.session.model.clone_from(&model);
        deck.keys("<");
    }
}
