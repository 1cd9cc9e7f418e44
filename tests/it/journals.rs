//! Journals of every earlier version open, are shown, and go on.

use super::support::program::Program;
use dagdeck::store::Store;
use rusqlite::{Connection, params};
use serde_json::Value;
use std::path::PathBuf;

/// The workspace that the fixtures were written in.
const WRITTEN_IN: &str = "/home/anna/project";

fn fixture(version: i64) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/journals/v{version}.db"))
}

/// A home with a fixture as its journal, as if it had been written in the program's workspace.
fn home_of(version: i64) -> Program {
    let program = Program::new();
    let state = program.home().join("state");
    std::fs::create_dir_all(&state).unwrap();
    std::fs::copy(fixture(version), state.join("journal.db")).unwrap();
    let db = Connection::open(state.join("journal.db")).unwrap();
    let workspace = program.workspace().canonicalize().unwrap().display().to_string();
    db.execute("UPDATE events SET json = replace(json, ?1, ?2)", params![WRITTEN_IN, workspace]).unwrap();
    db.execute("UPDATE runs SET workspace = ?1", params![workspace]).unwrap();
    program
}

fn run_with<'r>(runs: &'r Value, goal: &str, status: &str) -> &'r str {
    let fits = |run: &&Value| run["goal"] == goal && run["status"] == status;
    runs.as_array().unwrap().iter().find(fits).unwrap_or_else(|| panic!("{goal} {status}\n{runs:#}"))["run"].as_str().unwrap()
}

#[test]
fn a_journal_of_every_earlier_version_is_kept_here() {
    assert!((1..Store::version()).all(|version| fixture(version).is_file()));
}

#[test]
fn what_runs_of_every_earlier_version_took_is_in_the_statistics() {
    for version in 1..Store::version() {
        let program = home_of(version);
        let (ls, stats) = (program.json(&["ls", "--json"]), program.json(&["stats", "--json"]));
        let over = |run: &&Value| !run["finished_at"].is_null() && run["status"] != "rehearsed" && run["imported_at"].is_null();
        let over = ls.as_array().unwrap().iter().filter(over).count();
        assert!(stats["runs"].as_u64().unwrap() as usize <= over, "version {version}: {stats:#}");
    }
}

#[test]
fn a_journal_of_version_2_opens_with_its_branches_and_a_gate_that_a_verb_taken_back_closed() {
    let program = home_of(2);
    let runs = program.json(&["ls", "--json"]);
    let (branches, others): (Vec<&Value>, Vec<&Value>) = runs.as_array().unwrap().iter().partition(|run| run["parent"].is_object());
    let ([branch], [parent]) = (&branches[..], &others[..]) else { panic!("{runs:#}") };
    assert_eq!(branch["parent"]["run"], parent["run"]);
    assert_eq!(parent["waiting"], serde_json::json!(["write", "again"]), "the skip of `write` was taken back");
    let parent = parent["run"].as_str().unwrap();
    let shown = program.json(&["show", parent, "--json"]);
    assert_eq!(shown["nodes"], program.json(&["replay", parent, "--json"])["nodes"]);
    program.run(&["resume", parent, "--approve", "write", "--deny", "again"]).code(4);
    assert_eq!(program.read("out.txt"), "hello");
    program.run(&["branch", branch["run"].as_str().unwrap(), "--until", "read", "--yes"]).code(0);
    assert_eq!(program.read("again.txt"), "hello");
}

#[test]
fn a_journal_of_version_3_opens_and_what_was_answered_in_words_stays_a_choice() {
    let program = home_of(3);
    let runs = program.json(&["ls", "--json"]);
    for run in runs.as_array().unwrap() {
        let id = run["run"].as_str().unwrap();
        let [shown, replayed] = ["show", "replay"].map(|subcommand| program.json(&[subcommand, id, "--json"])["nodes"].clone());
        assert_eq!(shown, replayed);
    }
    let done = program.json(&["show", run_with(&runs, "lost calls", "succeeded"), "--json"]);
    assert_eq!((&done["nodes"][0]["mark"], &done["gates"][1]["kind"]["kind"]), (&"overridden".into(), &"unknown_effect".into()));

    let open = run_with(&runs, "lost calls", "waiting");
    let shown = program.run(&["show", open]).code(0).out;
    let asked = ["did the call of `run_command` in `one` take effect?", "options: run again, mark done, skip"];
    assert!(asked.iter().all(|words| shown.contains(words)), "{shown}");
    program.run(&["answer", open, "one", "-m", "perhaps"]).says(&["answer one of: run again, mark done, skip"]);
    program.run(&["resume", open, "--unknown", "done"]).code(0);

    let asks = run_with(&runs, "held, broken, edited", "waiting");
    program.run(&["answer", asks, "q", "-m", "left"]).code(4).says(&["`bad` failed"]);
}

#[test]
fn a_journal_of_version_4_opens_and_its_audit_begins_with_what_is_allowed_from_then_on() {
    let program = home_of(4);
    let runs = program.json(&["ls", "--json"]);
    assert_eq!(runs.as_array().unwrap().iter().filter(|run| run["status"] == "waiting").count(), 3);
    program.run(&["audit"]).code(0).says(&["the audit has no entry", "older than it"]);
    let asks = runs.as_array().unwrap().iter().find(|run| run["waiting"] == serde_json::json!(["w"])).unwrap();
    program.run(&["resume", asks["run"].as_str().unwrap(), "--approve", "w"]).code(7);
    assert_eq!(program.read("out.txt"), "hello");
    let audit = program.run(&["audit", "--tool", "write_file"]).code(0).out;
    assert!(audit.contains("w: ran write_file (after a yes)"), "{audit}");
}

#[test]
fn a_journal_of_version_5_opens_and_its_form_is_filled_in() {
    let program = home_of(5);
    let runs = program.json(&["ls", "--json"]);
    let asks = run_with(&runs, "ask by a form", "waiting");
    assert!(program.run(&["show", asks]).code(0).out.contains("field guests: a number, preset 2"));
    program.run(&["answer", asks, "who", "-m", "{\"name\": 5}"]).says(&["`name` must be text"]);
    program.run(&["answer", asks, "who", "-m", "{\"name\": \"Bea\"}"]).code(0);
    assert_eq!(program.json(&["show", asks, "--json"])["nodes"][1]["result"], "Bea and 2 more");
}

#[test]
fn a_journal_of_version_6_opens_with_its_failure_and_goes_on() {
    let program = home_of(6);
    let runs = program.json(&["ls", "--json"]);
    let open = run_with(&runs, "fails, waits and asks", "waiting");
    let [shown, replayed] = ["show", "replay"].map(|subcommand| program.json(&[subcommand, open, "--json"])["nodes"].clone());
    assert_eq!(shown, replayed);
    assert_eq!((&shown[0]["state"], &shown[1]["state"]), (&"failed".into(), &"skipped".into()));
    program.run(&["answer", open, "q", "-m", "left", "--approve", "w"]).code(4);
    assert_eq!(program.read("out.txt"), "hello");
}

#[test]
fn a_journal_of_version_7_opens_with_the_question_about_a_failure_and_goes_on() {
    let program = home_of(7);
    let open = program.json(&["ls", "--json"])[0]["run"].as_str().unwrap().to_owned();
    let [shown, replayed] = ["show", "replay"].map(|subcommand| program.json(&[subcommand, &open, "--json"])["nodes"].clone());
    assert_eq!((&shown, &shown[0]["state"]), (&replayed, &"waiting".into()));
    program.run(&["answer", &open, "bad", "-m", "skip"]).code(7);
    program.run(&["resume", &open, "--approve", "w"]).code(4);
    assert_eq!(program.read("out.txt"), "hello");
}

#[test]
fn a_journal_of_version_1_opens_is_shown_and_goes_on() {
    let program = home_of(1);
    let runs = program.json(&["ls", "--json"]);
    assert_eq!(runs.as_array().unwrap().len(), 6);
    for run in runs.as_array().unwrap() {
        let id = run["run"].as_str().unwrap();
        let [mut shown, replayed] = ["show", "replay"].map(|verb| program.json(&[verb, id, "--json"])["nodes"].clone());
        // A replay shows what was at work then; that nobody works at it now is for `show`.
        for node in shown.as_array_mut().unwrap() {
            assert!(node["interrupted"] == false || node["state"] == "running", "{node}");
            node["interrupted"] = false.into();
        }
        assert_eq!(shown, replayed);
    }
    let done = program.json(&["show", run_with(&runs, "fan out and join", "succeeded"), "--json"]);
    assert_eq!(done["nodes"][1]["result"], 42);

    let waits = run_with(&runs, "write after a yes", "waiting");
    program.run(&["resume", waits, "--yes"]).code(7).says(&["ask: which way?", "only a person can answer this"]);
    program.run(&["answer", waits, "ask", "-m", "left"]).code(0);
    assert_eq!(program.read("out.txt"), "hello");

    let cut = run_with(&runs, "cut off in the middle", "interrupted");
    assert_eq!(program.json(&["show", cut, "--json"])["status"], "interrupted");
    program.run(&["skip", cut, "slow"]).code(0).says(&["shell: unknown"]);
    program.run(&["resume", cut, "--unknown", "done", "--approve", "write"]).code(4).says(&["partial", "a person skipped what had to run"]);
    let shown = program.json(&["show", cut, "--json"]);
    assert_eq!((&shown["nodes"][1]["mark"], &shown["nodes"][2]["state"]), (&"overridden".into(), &"skipped".into()), "{shown:#}");
    assert_eq!(program.read("never.txt"), "x");
    program.run(&["resume", run_with(&runs, "cut off in the middle", "cancelled")]).code(1).says(&["the run has ended"]);
}
