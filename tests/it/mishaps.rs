//! The real program, and what happens to its runs when something outside of it goes wrong.

use super::support::program::{Ended, Program};
use serde_json::{Value, json};
use std::{
    fs::{File, Permissions, remove_dir_all, rename},
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};

/// A run whose first node works until there is a file `go`, and whose second leaves a file behind.
fn under_way(program: &Program, args: &[&str]) -> Child {
    begin(program, Path::new(env!("CARGO_BIN_EXE_dagdeck")), args, None)
}

/// The same with another copy of the program, and by a user whose all of it becomes.
fn begin(program: &Program, binary: &Path, args: &[&str], user: Option<u32>) -> Child {
    let tool = |id: &str, command: &str| json!({"id": id, "tool": "run_command", "args": {"command": command}});
    let mut after = tool("after", "echo done >> effects.log");
    after["depends_on"] = json!(["first"]);
    let nodes = [tool("first", "touch began; until [ -f go ]; do sleep 0.02; done; echo worked"), after];
    let file = program.file("plan.json", json!({"dagdeck": 1, "nodes": nodes}).to_string());
    std::fs::create_dir_all(program.home().join("tmp")).unwrap();
    user.into_iter().for_each(|user| hand_over(&program.home(), user));
    let mut command = as_user(program, binary, user);
    command.args(["run", &file, "--yes"]).args(args).stdin(Stdio::null());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !program.workspace().join("began").exists() {
        thread::yield_now();
    }
    child
}

fn as_user(program: &Program, binary: &Path, user: Option<u32>) -> Command {
    let mut command = Command::new(binary);
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8").env("USER", "tester");
    command.env("HOME", program.home()).env("DAGDECK_HOME", program.home().join("state")).env("TMPDIR", program.home().join("tmp"));
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    command.current_dir(program.workspace());
    command
}

fn hand_over(path: &Path, user: u32) {
    chown(path, Some(user), Some(user)).unwrap();
    if path.is_dir() {
        path.read_dir().unwrap().for_each(|entry| hand_over(&entry.unwrap().path(), user));
    }
}

/// Sets what may be done with the folder of the journal and with its files.
fn permit(program: &Program, folder: u32, file: u32) {
    let state = program.home().join("state");
    let files: Vec<_> = state.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    for (path, mode) in files.iter().map(|path| (path, file)).chain([(&state, folder)]) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
}

#[test]
fn a_run_whose_journals_folder_becomes_read_only_keeps_all_of_it_and_the_next_run_is_refused() {
    let program = Program::new();
    // Permissions bind everybody but the root user, who becomes nobody here.
    let user = rustix::process::geteuid().is_root().then_some(65534);
    let binary = program.home().join("dagdeck");
    let original = env!("CARGO_BIN_EXE_dagdeck");
    std::fs::copy(original, &binary).unwrap();
    let child = begin(&program, &binary, &[], user);
    permit(&program, 0o555, 0o444);
    program.file("go", "");
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(program.read("effects.log"), "done\n");
    let run = |args: &[&str]| {
        let mut command = as_user(&program, &binary, user);
        command.args(args);
        Ended::of(&mut command.into())
    };
    let shown = run(&["show", "last", "--json"]).code(0).json();
    let states: Vec<_> = shown["nodes"].as_array().unwrap().iter().map(|node| node["state"].clone()).collect();
    assert_eq!((&shown["status"], states), (&json!("succeeded"), vec![json!("succeeded"); 2]), "{shown:#}");
    run(&["run", "plan.json", "--yes"]).code(1).says(&["is read-only", "check the permissions"]);
    assert_eq!(program.read("effects.log"), "done\n", "nothing took effect that nobody could record");
    permit(&program, 0o755, 0o644);
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

#[test]
fn what_a_killed_fix_export_or_save_left_goes_with_the_next_one_into_that_folder() {
    let program = Program::new();
    program.run(&["run", &program.file("plan.json", json!({"nodes": [{"id": "a", "value": 1}]}).to_string())]).code(0);
    let wrong = json!({"nodes": [{"id": "a b", "value": 1}]}).to_string();
    for args in [vec!["validate", "--fix", "sub/plan.json"], vec!["export", "--run-file", "sub/run.jsonl", "last"]] {
        program.file("sub/plan.json", &wrong);
        let dead = program.file("sub/.dagdeck-019f0000000070008000000000000000.tmp", "half");
        let live = File::open(program.file("sub/.dagdeck-019f0000000070008000000000000001.tmp", "half")).unwrap();
        // As another process holds what it writes.
        rustix::fs::flock(&live, rustix::fs::FlockOperation::LockExclusive).unwrap();
        program.run(&args).code(0);
        assert!(!Path::new(&dead).exists(), "{args:?}");
        assert_eq!(program.read("sub/.dagdeck-019f0000000070008000000000000001.tmp"), "half", "{args:?}");
    }
}
