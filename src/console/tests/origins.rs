//! Timeline and trace: what each node waited for and did, and where a result comes from, with ways from there to the rest.

use serde_json::json;

use super::Deck;
use crate::console::model::{Screen, Tab};
use crate::console::update::next_wake;
use crate::engine::{Action, Command, Doing, ToolCall, ToolReport, WorkerFact};
use crate::plan::{Verdict, edit::Edit};

fn ended() -> Deck {
    let mut deck = Deck::waiting(120, 40);
    deck.later(4_000);
    deck.keys("i a");
    deck.done("write", json!({"bytes": 12}));
    deck.keys("1");
    deck
}

#[test]
fn bars_show_what_nodes_waited_for_and_the_critical_path() {
    let mut deck = ended();
    deck.select("write");
    deck.keys("6");
    let screen = deck.screen();
    let row = |id: &str| screen.lines().find(|line| line.contains(id) && line.contains('━')).unwrap_or("").to_owned();
    assert!(row("write").contains('┄') && row("write").contains('✓'), "{screen}");
    assert!(screen.contains("on the critical path"), "the node that ended last is on it: {screen}");
    assert!(screen.contains("waits at a gate"), "what the selected one did is shown: {screen}");
    assert_eq!(next_wake(&deck.model, deck.now), None);
}

#[test]
fn a_bar_leads_to_its_node_and_to_its_trace() {
    let mut deck = ended();
    deck.keys("6 g j enter");
    assert_eq!(deck.model.place.screen, Screen::Plan);
    assert_eq!(deck.model.selected_id().map(|id| id.as_str()), Some("count"));
    deck.keys("6 o");
    assert!(deck.sees("what led to count"), "{}", deck.screen());
}

#[test]
fn the_timeline_of_a_replay_ends_where_the_replay_stands() {
    let mut deck = ended();
    deck.keys("6 H 0 ) )");
    let screen = deck.screen();
    assert!(screen.contains("event") && !screen.contains("waits at a gate"), "{screen}");
}

#[test]
fn a_trace_goes_down_to_calls_files_and_answers_and_leads_there() {
    let mut deck = Deck::running(120, 40);
    let call = ToolCall { id: "1".into(), tool: "read_file".into(), args: json!({"path": "src/lib.rs"}) };
    deck.fact("scan", WorkerFact::ToolAsked { call, verdict: Verdict::Allow, why: String::new(), leaves: None });
    deck.fact(
        "scan",
        WorkerFact::ToolDone { call: "1".into(), report: ToolReport { ok: true, value: json!("text"), ..ToolReport::default() } },
    );
    deck.done("list", json!("x"));
    deck.done("scan", json!({"todo": 3}));
    deck.done("count", json!(2));
    deck.keys("i a");
    deck.done("write", json!({"bytes": 12}));
    deck.keys("1");
    deck.select("write");
    deck.keys("7");
    let screen = deck.screen();
    for words in ["approved by ada", "call   read_file", "count", "find what is left to do", "as a dependency"] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    let lines = screen.lines().map(str::to_owned).collect::<Vec<_>>();
    let at = |words: &str| lines.iter().position(|line| line.contains(words)).unwrap() - 3;
    let (gate, call) = (at("approved by ada"), at("call   read_file"));
    deck.keys(&vec!["j"; gate].join(" "));
    deck.keys("enter");
    assert_eq!(deck.model.place.screen, Screen::Log);
    assert!(deck.sees("▶ ") && deck.model.shown_run().unwrap().selected_event().is_some());
    deck.select("write");
    deck.keys("7");
    deck.keys(&vec!["j"; call].join(" "));
    deck.keys("enter");
    assert_eq!((deck.model.place.screen, deck.model.selected_id().map(|id| id.as_str())), (Screen::Plan, Some("scan")));
    assert!(deck.model.tab() == Tab::Tools, "{}", deck.screen());
}

#[test]
fn a_node_that_gets_another_name_keeps_what_it_said_and_a_replay_shows_the_old_name() {
    let mut deck = Deck::running(120, 40);
    deck.done("list", json!("src/lib.rs"));
    let run = deck.model.shown_run().unwrap().id.clone();
    let edit = Edit::RenameNode { from: "list".into(), to: "files".into() };
    deck.command(&run, Command::act(Action::Edit { edits: vec![edit] }));
    let said = |deck: &Deck, id: &str| {
        let seen = deck.model.shown_run().unwrap().seen();
        let bar = seen.timeline.stretches(&id.into()).iter().any(|stretch| stretch.doing == Doing::Working);
        (seen.transcript(&id.into()).map(|said| said.result.len()), bar)
    };
    assert_eq!((said(&deck, "files"), said(&deck, "list").0), ((Some(1), true), None));
    deck.select("files");
    assert!(deck.sees("src/lib.rs"), "{}", deck.screen());
    deck.keys("H (");
    assert_eq!((said(&deck, "list").0, said(&deck, "files").0), (Some(1), None), "{}", deck.screen());
}

#[test]
fn a_trace_that_is_open_follows_its_node_to_another_name_and_back() {
    let mut deck = Deck::running(120, 40);
    deck.done("list", json!("src/lib.rs"));
    let run = deck.model.shown_run().unwrap().id.clone();
    deck.select("list");
    deck.keys("7");
    let rename = |from: &str, to: &str| {
        let edit = Edit::RenameNode { from: from.into(), to: to.into() };
        Command::act(Action::Edit { edits: vec![edit] })
    };
    for (from, to) in [("list", "files"), ("files", "sources")] {
        deck.command(&run, rename(from, to));
        assert!(deck.sees(&format!("what led to {to}")), "{}", deck.screen());
    }
    deck.command(&run, Command::Undo);
    assert!(deck.sees("what led to files"), "{}", deck.screen());
    deck.keys("H 0 ) )");
    assert!(deck.sees("what led to list"), "{}", deck.screen());
    deck.keys("$");
    assert!(deck.sees("what led to files"), "{}", deck.screen());
}
