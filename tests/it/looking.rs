//! A state folder that can't be written: everything that only looks at runs works, and what would write says so and leaves nothing.

use super::support::program::{Ended, Program};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs};
use serde_json::json;
use std::{
    fs::{Permissions, read_dir, set_permissions},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    thread,
};

/// A run that ended, and one before it that waits at a gate.
fn with_runs() -> Program {
    let program = Program::new();
    let nodes = json!([
        {"id": "first", "value": 1},
        {"id": "second", "code": "return deps.first.output + 1", "depends_on": ["first"]},
        {"id": "write", "tool": "write_file", "args": {"path": "out.txt", "content": "{{second}}"}, "depends_on": ["second"]},
    ]);
    let file = program.file("plan.json", json!({"dagdeck": 1, "goal": "count", "nodes": nodes}).to_string());
    program.run(&["run", &file]).code(7);
    program.run(&["run", &file, "--yes"]).code(0);
    program
}

fn journal(program: &Program) -> PathBuf {
    program.home().join("state/journal.db")
}

/// Takes the right to write the folder and all that stands in it, or gives it back.
fn writable(folder: &Path, given: bool) {
    let (of_folders, of_files) = if given { (0o700, 0o600) } else { (0o500, 0o400) };
    set_permissions(folder, Permissions::from_mode(0o700)).unwrap();
    for entry in read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            writable(&entry.path(), given);
        } else {
            set_permissions(entry.path(), Permissions::from_mode(of_files)).unwrap();
        }
    }
    set_permissions(folder, Permissions::from_mode(of_folders)).unwrap();
}

/// Looks while the state folder can't be written, by the superuser neither: the powers to do it all the same are gone for the thread that
/// looks and for what it starts.
fn unwritable<T: Send>(program: &Program, look: impl FnOnce() -> T + Send) -> T {
    let state = program.home().join("state");
    writable(&state, false);
    let powers = CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH | CapabilitySet::FOWNER;
    let looked = thread::scope(|scope| {
        let looker = scope.spawn(|| {
            set_no_new_privs(true).unwrap();
            let now = capabilities(None).unwrap();
            let inheritable = CapabilitySet::empty();
            let less = CapabilitySets { effective: now.effective - powers, permitted: now.permitted - powers, inheritable };
            set_capabilities(None, less).unwrap();
            std::fs::write(state.join("new"), "x").unwrap_err();
            look()
        });
        looker.join().unwrap()
    });
    writable(&state, true);
    looked
}

const LOOKERS: [&[&str]; 13] = [
    &["ls", "--json"],
    &["show", "last", "--json"],
    &["show", "last", "second"],
    &["show", "last", "--timeline"],
    &["why", "last", "write"],
    &["trace", "last", "write"],
    &["replay", "last", "--events", "--json"],
    &["replay", "last", "--until", "second"],
    &["diff", "last", "last", "--results"],
    &["export", "last"],
    &["export", "last", "--run-file", "-"],
    &["rerun", "last", "second", "--dry-run"],
    &["branch", "last", "--at", "1", "--dry-run"],
];

#[test]
fn runs_are_looked_at_where_nothing_can_be_written_and_verbs_that_write_say_so() {
    let program = with_runs();
    let seen = || LOOKERS.map(|args| program.run(args).code(0).out);
    let (before, bytes) = (seen(), std::fs::read(journal(&program)).unwrap());
    let gated = program.json(&["ls", "--json"])[1]["run"].as_str().unwrap().to_owned();
    let file = program.run(&["export", "last", "--run-file", "-"]).code(0).out;
    unwritable(&program, || {
        assert_eq!(seen(), before);
        let writers: [&[&str]; 7] = [
            &["run", "plan.json", "--yes"],
            &["resume", &gated],
            &["approve", &gated],
            &["skip", &gated, "write"],
            &["rerun", "last", "second"],
            &["branch", "last", "--at", "1"],
            &["import", "-"],
        ];
        for args in writers {
            program.feed(args, file.clone()).code(1).says(&["journal.db` is read-only", "hint: ", "--home"]);
        }
        let mut deck = program.console_with(&["console", "--run", "last"], (100, 30));
        deck.sees("3/3 done").sees("is read-only").send("q").sees("succeeded");
        assert_eq!(deck.ended(), 0);
    });
    assert_eq!(std::fs::read(journal(&program)).unwrap(), bytes);
}

#[test]
fn what_a_killed_program_left_in_the_write_ahead_log_is_seen_too() {
    let program = with_runs();
    // A connection that stays open keeps the log from being taken in, as a crash does.
    let db = rusqlite::Connection::open(journal(&program)).unwrap();
    db.query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, i64>(0)).unwrap();
    program.run(&["rerun", "last", "second", "--alone"]).code(0);
    let before = program.json(&["show", "last", "--json"]);
    assert!(std::fs::metadata(journal(&program).with_file_name("journal.db-wal")).unwrap().len() > 0);
    unwritable(&program, || assert_eq!(program.json(&["show", "last", "--json"]), before));

    // Without the index of the log nobody can tell what holds of it, so nothing is told rather than what is out of date.
    let copy = Program::new();
    std::fs::create_dir_all(copy.home().join("state")).unwrap();
    for name in ["journal.db", "journal.db-wal"] {
        std::fs::copy(journal(&program).with_file_name(name), journal(&copy).with_file_name(name)).unwrap();
    }
    unwritable(&copy, || copy.run(&["ls"]).code(1).says(&["can't be used", "hint: "]));
}

#[test]
fn an_older_journal_that_can_not_be_brought_up_to_date_is_told_with_a_way_out() {
    let program = Program::new();
    std::fs::create_dir_all(program.home().join("state")).unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/journals/v2.db");
    std::fs::copy(fixture, journal(&program)).unwrap();
    let told = |ended: Ended| ended.code(1).says(&["older dagdeck (schema 2", "hint: copy its folder"]);
    unwritable(&program, || told(program.run(&["ls"])));
    program.run(&["ls"]).code(0);
}
