//! The real program, and what happens to its runs when something outside of it goes wrong.

use super::support::program::Program;
use serde_json::{Value, json};
use std::{
    fs::{File, remove_dir_all, rename},
    process::{Child, Command, Stdio},
    thread,
};

/// A run whose first node works until there is a file `go`, and whose second leaves a file behind.
fn under_way(program: &Program, args: &[&str]) -> Child {
    let tool = |id: &str, command: &str| json!({"id": id, "tool": "run_command", "args": {"command": command}});
    let mut after = tool("after", "echo done >> effects.log");
    after["depends_on"] = json!(["first"]);
    let nodes = [tool("first", "touch began; until [ -f go ]; do sleep 0.02; done; echo worked"), after];
    let file = program.file("plan.json", json!({"dagdeck": 1, "nodes": nodes}).to_string());
    let mut command = Command::new(env!("CARGO_BIN_EXE_dagdeck"));
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8").env("USER", "tester");
    command.env("HOME", program.home()).env("DAGDECK_HOME", program.home().join("state")).env("TMPDIR", program.home().join("tmp"));
    std::fs::create_dir_all(program.home().join("tmp")).unwrap();
    command.current_dir(program.workspace()).args(["run", &file, "--yes"]).args(args).stdin(Stdio::null());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !program.workspace().join("began").exists() {
        thread::yield_now();
    }
    child
}

#[test]
fn what_a_killed_write_left_in_the_workspace_goes_when_its_run_is_resumed() {
    let program = Program::new();
    let write = json!({"id": "write", "tool": "write_file", "args": {"path": "notes/out.txt", "content": "x"}});
    let file = program.file("plan.json", json!({"dagdeck": 1, "nodes": [write]}).to_string());
    program.run(&["run", &file, "--yes"]).code(0);
    // As the program leaves it that is killed in the middle of the write.
    let journal = rusqlite::Connection::open(program.home().join("state/journal.db")).unwrap();
    let started = "(SELECT seq FROM events WHERE kind = 'tool_started')";
    journal.execute(&format!("DELETE FROM events WHERE seq > {started}"), []).unwrap();
    journal.execute(&format!("UPDATE events SET more = 0 WHERE seq = {started}"), []).unwrap();
    journal.execute("UPDATE runs SET outcome = NULL, finished = NULL", []).unwrap();
    program.file("notes/.dagdeck-019f0000000070008000000000000000.tmp", "half");
    program.file("notes/.dagdeck-mine.tmp", "a person's own");
    program.run(&["resume", "last"]).code(7);
    let mut left: Vec<_> = program.workspace().join("notes").read_dir().unwrap().map(|file| file.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [".dagdeck-mine.tmp", "out.txt"]);
}

#[test]
fn a_run_whose_journal_is_emptied_freezes_and_nothing_more_takes_effect() {
    let program = Program::new();
    let child = under_way(&program, &[]);
    drop(File::create(program.home().join("state/journal.db-wal")).unwrap());
    program.file("go", "");
    let ended = child.wait_with_output().unwrap();
    let err = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(1), "{err}");
    assert!(err.contains("was deleted, replaced or cut while it was in use"), "{err}");
    assert!(!program.workspace().join("effects.log").exists(), "nothing that is not on record took effect");
}

#[test]
fn a_run_whose_journal_is_deleted_freezes_with_a_message_and_what_is_in_memory_is_kept() {
    for how in [
        |program: &Program| remove_dir_all(program.home().join("state")).unwrap(),
        |program: &Program| {
            rename(program.home().join("state/journal.db"), program.home().join("state/old.db")).unwrap();
        },
    ] {
        let program = Program::new();
        let child = under_way(&program, &["--json"]);
        how(&program);
        program.file("go", "");
        let ended = child.wait_with_output().unwrap();
        let (out, err) = (String::from_utf8(ended.stdout).unwrap(), String::from_utf8(ended.stderr).unwrap());
        assert_eq!(ended.status.code(), Some(1), "{err}");
        assert!(err.contains("the run is frozen, nothing more of it starts: the journal `"), "{err}");
        assert!(err.contains("was deleted, replaced or cut while it was in use"), "{err}");
        assert!(!program.workspace().join("effects.log").exists(), "nothing that is not on record took effect");
        let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
        assert_eq!((&last["outcome"], &last["exit"]), (&json!("frozen"), &json!(1)));

        let (_, file) = err.split_once("`dagdeck import ").unwrap();
        let fresh = program.env("DAGDECK_HOME", "elsewhere");
        fresh.run(&["import", file.trim_end().trim_end_matches('`')]).code(0);
        let shown = fresh.json(&["show", "last", "--json"]);
        assert_eq!((&shown["nodes"][0]["state"], &shown["nodes"][1]["state"]), (&json!("succeeded"), &json!("waiting")), "{shown:#}");
    }
}
