//! What is refused, and what is damaged, as a person reads it: the cause before any promise, and a way out that works.

use super::support::program::{Ended, Program};
use serde_json::json;

/// Two values, the second of which needs the first, run to the end.
fn over() -> Program {
    let program = Program::new();
    let nodes = json!([{"id": "a", "value": 1}, {"id": "b", "value": 2, "depends_on": ["a"]}]);
    let file = program.file("plan.json", json!({"dagdeck": 1, "goal": "two", "nodes": nodes}).to_string());
    program.run(&["run", &file]).code(0);
    program
}

fn journal(program: &Program) -> rusqlite::Connection {
    rusqlite::Connection::open(program.home().join("state/journal.db")).unwrap()
}

fn name(program: &Program) -> String {
    program.json(&["show", "last", "--json"])["run"].as_str().unwrap().to_owned()
}

fn end_of(name: &str) -> &str {
    &name[name.len() - 8..]
}

#[test]
fn a_damaged_event_is_of_one_run_and_what_stands_before_it_is_looked_at_and_branched() {
    let by_seq = "WHERE seq = ?2 AND run = ?1";
    for damage in [format!("DELETE FROM events {by_seq}"), format!("UPDATE events SET json = '{{oops' {by_seq}")] {
        let program = Program::new();
        let read = |id: &str, after: &[&str]| json!({"id": id, "tool": "read_file", "args": {"path": "plan.json"}, "depends_on": after});
        let plan = json!({"dagdeck": 1, "goal": "two", "nodes": [read("a", &[]), read("b", &["a"])]});
        program.run(&["run", &program.file("plan.json", plan.to_string())]).code(0);
        let seq = program.json(&["replay", "last", "--json"])["event"]["of"].as_u64().unwrap() - 1;
        let run = name(&program);
        program.run(&["run", "plan.json"]).code(0);
        journal(&program).execute(&damage, rusqlite::params![run, i64::try_from(seq).unwrap()]).unwrap();
        let short = end_of(&run);
        let told = program
            .run(&["show", &run])
            .code(1)
            .says(&[&format!("run `{short}` is damaged at its event {seq}"), "other runs are not affected"]);
        assert!(!told.err.contains("afresh") && !told.err.contains(&run), "{told}");
        program.run(&["show", "last"]).code(0);

        let way_out = format!("`dagdeck replay {short} --at ");
        let whole = told.err.split(&way_out).nth(1).and_then(|rest| rest.split('`').next()).unwrap();
        assert!((1..seq).contains(&whole.parse::<u64>().unwrap()), "{told}");
        program.run(&["replay", short, "--at", whole]).code(0);
        program.run(&["replay", short, "--at", &seq.to_string()]).code(1).says(&["is damaged at its event "]);
        program.run(&["branch", short, "--at", whole]).code(0);
        assert_eq!(program.json(&["show", "last", "--json"])["status"], "succeeded");
    }
}

#[test]
fn a_journal_without_a_version_is_told_on_one_line_and_an_empty_file_is_a_new_one() {
    let program = over();
    journal(&program).pragma_update(None, "user_version", 0).unwrap();
    let told = program.run(&["ls"]).code(1).says(&["journal.db", "has tables but no journal version", "hint: "]);
    assert_eq!(told.err.trim_end().lines().count(), 2, "{told}");

    let empty = Program::new();
    std::fs::create_dir_all(empty.home().join("state")).unwrap();
    std::fs::write(empty.home().join("state/journal.db"), "").unwrap();
    empty.run(&["ls"]).code(0).says(&["no runs in this workspace yet"]);
}

#[test]
fn a_dry_run_promises_nothing_that_is_refused() {
    let program = over();
    program.run(&["export", "last", "--run-file", "run.jsonl"]).code(0);
    let other = Program::new();
    other.file("run.jsonl", program.read("run.jsonl"));
    other.run(&["import", "run.jsonl"]).code(0);
    for how in [&["rerun", "last", "a"][..], &["rerun", "last", "a", "--dry-run"], &["rerun", "last", "a", "--dry-run", "--json"]] {
        let refused = other.run(how).code(1).says(&["imported from a file, so it can't go on", "dagdeck branch "]);
        assert!(refused.out.is_empty() && !refused.err.contains("runs again"), "{how:?}: {refused}");
        assert!(!refused.err.contains(&name(&other)), "{refused}");
    }
}

#[test]
fn what_is_not_there_comes_before_what_is_over() {
    let program = over();
    let refused = program.run(&["skip", "last", "nosuch"]).code(1).says(&["has no node `nosuch`", "its nodes are: a, b"]);
    assert!(!refused.err.contains("over"), "{refused}");
    let newest = program.json(&["replay", "last", "--json"])["event"]["of"].to_string();
    for verb in ["replay", "branch"] {
        for at in [&["--at", "-1"][..], &["--at=-1"], &["--at", "0"], &["--at", "99999"]] {
            let refused = program.run(&[&[verb, "last"], at].concat()).code(1);
            let there = format!("its events are 1 to {newest}");
            assert!(refused.err.contains("has no event ") && refused.err.contains(&there), "{refused}");
        }
    }
}

#[test]
fn of_several_edits_the_one_that_is_refused_is_named() {
    let program = Program::new();
    let plan = |first: &str, rest: i32| {
        let nodes = json!([
            {"id": first, "value": 1},
            {"id": "write", "tool": "write_file", "args": {"path": "out.txt", "content": "x"}, "depends_on": [first]},
            {"id": "c", "value": rest, "depends_on": ["write"]},
        ]);
        json!({"dagdeck": 1, "goal": format!("goal {rest}"), "nodes": nodes}).to_string()
    };
    program.run(&["run", &program.file("plan.json", plan("a", 1))]).code(7);
    let file = program.file("other.json", plan("z", 2));
    for how in [&["edit", "last", &file][..], &["edit", "last", &file, "--dry-run"]] {
        let refused = program.run(how).code(1).says(&["can't "]);
        assert!(!refused.err.contains("places"), "{refused}");
    }
}

#[test]
fn without_runs_all_verbs_use_the_same_words_and_name_those_of_other_workspaces() {
    let program = Program::new();
    for verb in ["ls", "show", "resume"] {
        program.run(&[verb]).says(&["no runs in this workspace yet", "dagdeck run"]);
    }
    let program = over();
    let run = name(&program);
    let other = tempfile::tempdir().unwrap();
    for verb in ["ls", "show", "resume"] {
        let ended = Ended::of(program.command(&[verb]).current_dir(other.path()));
        ended.says(&["no runs in this workspace yet", &format!("`{}`", end_of(&run)), program.workspace().to_str().unwrap()]);
    }
    Ended::of(program.command(&["show", end_of(&run)]).current_dir(other.path())).code(0);
}

#[test]
fn a_file_in_place_of_a_verb_is_told_what_opens_and_runs_it() {
    let program = over();
    program.run(&["plan.json"]).code(2).says(&["`dagdeck console plan.json`", "`dagdeck run plan.json`"]);
    program.run(&["nothing.json"]).code(2).says(&["`dagdeck plan "]);
    let refused = program.run(&["rnu"]).code(2).says(&["did you mean `dagdeck run`?"]);
    assert!(!refused.err.contains("run-to"), "{refused}");
}

#[test]
fn a_verb_said_with_a_pause_is_taken_back_with_it_so_that_nothing_goes_on() {
    let program = over();
    program.run(&["rerun", "last", "a", "--pause"]).code(0);
    let started = |program: &Program| program.run(&["replay", "last", "--events", "--json"]).out.matches("node_started").count();
    let before = started(&program);
    program.run(&["undo", "last"]).code(0).says(&["undid: pause the run, "]);
    assert_eq!((started(&program), program.json(&["show", "last", "--json"])["status"].clone()), (before, json!("succeeded")));

    program.run(&["rerun", "last", "a", "--pause"]).code(0);
    program.run(&["pause", "last"]).code(1).says(&["paused already"]);
}
