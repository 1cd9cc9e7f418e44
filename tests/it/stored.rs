//! Runs that nobody drives: paused, decided, steered, branched, replayed and carried elsewhere from the shell.

use super::support::program::{Ended, Program};
use serde_json::{Value, json};

/// A copy behind a gate, with something that needs nobody beside it.
fn parked() -> Program {
    let program = Program::new();
    program.file("in.txt", "hello");
    let nodes = json!([
        {"id": "read", "tool": "read_file", "args": {"path": "in.txt"}},
        {"id": "write", "tool": "write_file", "args": {"path": "out.txt", "content": "{{read}}"}, "depends_on": ["read"]},
        {"id": "beside", "value": "password=letmein"},
        {"id": "after", "value": "done", "depends_on": ["write"]},
    ]);
    let file = program.file("plan.json", json!({"dagdeck": 1, "goal": "copy", "nodes": nodes}).to_string());
    program.run(&["run", &file]).code(7);
    program
}

fn states(program: &Program) -> Vec<String> {
    let shown = program.json(&["show", "last", "--json"]);
    shown["nodes"].as_array().unwrap().iter().map(|node| node["state"].as_str().unwrap().to_owned()).collect()
}

fn events(program: &Program) -> Vec<Value> {
    let out = program.run(&["replay", "last", "--events", "--json"]).code(0).out;
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_run_with_two_gates_is_resumed_with_one_flag_after_the_other() {
    let program = Program::new();
    let touch = |name: &str| json!({"id": name, "tool": "run_command", "args": {"command": format!("touch {name}.txt")}});
    let plan = json!({"dagdeck": 1, "goal": "two files", "nodes": [touch("a"), touch("b")]});
    let file = program.file("plan.json", plan.to_string());
    program.run(&["run", &file]).code(7);
    program.run(&["resume", "last", "--approve", "a"]).code(7);
    assert!(program.workspace().join("a.txt").exists() && !program.workspace().join("b.txt").exists());
    program.run(&["resume", "last", "--approve", "b"]).code(0);
    assert!(program.workspace().join("b.txt").exists());
}

/// Case 13.
#[test]
fn a_paused_run_is_not_a_failed_run() {
    let program = parked();
    program.run(&["pause", "last"]).code(0).says(&["paused", "dagdeck resume"]);
    assert_eq!(program.json(&["show", "last", "--json"])["status"], "paused");
    program.run(&["approve", "last", "write"]).code(7).says(&["paused"]);
    assert!(!program.workspace().join("out.txt").exists(), "nothing starts while it is paused");
    program.run(&["resume", "last"]).code(0);
    assert_eq!(program.read("out.txt"), "hello");
    assert_eq!(states(&program), ["succeeded"; 4]);
}

#[test]
fn a_gate_is_decided_from_the_shell_and_the_run_goes_on() {
    let program = parked();
    program.run(&["approve", "last", "read"]).code(1).says(&["no gate is open at `read`", "1 at `write`"]);
    program.run(&["approve", "last", "7"]).code(1).says(&["has no gate 7", "1 at `write`"]);
    program.run(&["reject", "last", "--message", "not now"]).code(4);
    assert_eq!(states(&program), ["succeeded", "cancelled", "succeeded", "skipped"]);
    let decided = events(&program).into_iter().find(|event| event["type"] == "gate_decided").unwrap();
    assert_eq!((&decided["by"]["who"], &decided["by"]["via"]), (&json!("tester"), &json!("cli")));
    program.run(&["approve", "last", "1"]).code(1).says(&["gate 1 was already rejected by tester"]);
    assert_eq!(events(&program).into_iter().filter(|event| event["type"] == "node_started").count(), 2, "what is done isn't done again");
}

#[test]
fn subcommands_that_only_record_exit_0_and_start_nothing() {
    let program = parked();
    let started = |program: &Program| events(program).iter().filter(|event| event["type"] == "node_started").count();
    let before = started(&program);
    program.run(&["hold", "after"]).code(0).says(&["recorded: hold `after`", " waiting: 1 open gate"]);
    program.run(&["undo"]).code(0).says(&["undid: hold `after`"]);
    program.run(&["break", "after", "--when", "tokens >"]).code(1).says(&["tokens >"]);
    program.run(&["break", "after"]).code(0).says(&["recorded: add a breakpoint before `after`"]);
    assert_eq!(program.run(&["break"]).code(0).out, "  1  before `after`\n");
    program.run(&["break", "--remove", "1"]).code(0).says(&["recorded: remove breakpoint 1"]);
    program.run(&["break"]).code(0).says(&["no breakpoints"]);
    program.run(&["skip", "write", "-m", "not today"]).code(0).says(&["recorded: skip `write`"]);
    assert_eq!(program.json(&["show", "--json"])["status"], "partial");
    program.run(&["undo"]).code(0);
    let last = program.run(&["pause", "--json"]).code(0).lines().pop().unwrap();
    assert_eq!((&last["outcome"], &last["exit"]), (&json!("paused"), &json!(0)));
    program.run(&["cancel"]).code(0).says(&["run ", " cancelled: "]);
    assert_eq!(started(&program), before);
}

#[test]
fn subcommands_that_drive_the_run_exit_with_the_state_it_halts_in() {
    let program = parked();
    program.run(&["run-to", "after"]).code(7).says(&["gate at write"]);
    program.run(&["approve", "write"]).code(7).says(&[" paused: "]);
    assert_eq!(states(&program), ["succeeded", "succeeded", "succeeded", "ready"], "it ran what `after` needs, and pauses before it");
    program.run(&["step"]).code(0).says(&["ran after (succeeded)", " succeeded, elapsed "]);
    program.run(&["step"]).code(1).says(&["can't step: the run has ended"]);
    program.run(&["rerun", "write"]).code(7).says(&["gate at write"]);
    program.run(&["reject", "1", "-m", "no"]).code(1).says(&["was already approved by tester"]);
    program.run(&["reject", "-m", "no"]).code(4);
    program.run(&["retry", "write", "--yes"]).code(7).says(&[" paused: "]);
    program.run(&["resume", "--yes"]).code(0);
    assert_eq!(states(&program), ["succeeded"; 4]);
}

#[test]
fn one_name_alone_is_of_the_newest_run_else_a_run() {
    let program = parked();
    let id = program.json(&["show", "--json"])["run"].as_str().unwrap().to_owned();
    for name in ["last", &id] {
        assert!(program.run(&["show", name]).code(0).out.contains("write"));
    }
    assert!(program.run(&["show", "read"]).code(0).out.starts_with("read succeeded"));
    program.run(&["show", "raed"]).code(1).says(&["`raed` is neither a run nor a node of the newest run", "did you mean `read`?"]);
    program.run(&["approve", "9"]).code(1).says(&["has no gate 9"]);
    for args in [&["why", "write"][..], &["trace", "read"], &["export"], &["replay"], &["stop", "--dry-run"]] {
        program.run(args).code(0);
    }
}

#[test]
fn a_branch_of_a_finished_run_without_an_edit_changes_nothing_and_says_so() {
    let program = parked();
    program.run(&["resume", "--yes"]).code(0);
    program.run(&["branch", "last"]).code(1).says(&["changes nothing: run ", " ended there", "--at", "--edit"]);
    assert_eq!(program.json(&["ls", "--json"]).as_array().unwrap().len(), 1);
}

#[test]
fn show_has_the_edges_and_says_which_nodes_are_final() {
    let program = parked();
    let shown = program.json(&["show", "--json"]);
    let edge = |from: &str, to: &str, state: &str| json!({"from": from, "to": to, "when": null, "state": state});
    assert_eq!(shown["edges"], json!([edge("read", "write", "taken"), edge("write", "after", "undecided")]));
    let finals: Vec<&Value> = shown["nodes"].as_array().unwrap().iter().map(|node| &node["final"]).collect();
    assert_eq!(finals, [false, false, true, true]);
}

#[test]
fn a_call_that_is_held_waits_in_the_journal_until_the_shell_lets_it_go() {
    let program = Program::new();
    program.file("in.txt", "hello");
    let nodes = json!([
        {"id": "read", "tool": "read_file", "args": {"path": "in.txt"}, "breakpoint": "call"},
        {"id": "write", "tool": "write_file", "args": {"path": "out.txt", "content": "{{read}}"}, "depends_on": ["read"], "breakpoint": "call"},
    ]);
    let file = program.file("plan.json", json!({"dagdeck": 1, "goal": "copy", "nodes": nodes}).to_string());
    program.run(&["run", &file, "--yes"]).code(7).says(&["held before it calls `read_file`", "dagdeck release"]);
    program.run(&["release", "last", "read", "--yes"]).code(7).says(&["held before it calls `write_file`"]);
    assert_eq!(states(&program), ["succeeded", "held"]);
    program.run(&["release", "last", "--yes"]).code(0);
    assert_eq!(program.read("out.txt"), "hello");
    let held = events(&program).into_iter().filter(|event| event["type"] == "call_held").count();
    assert_eq!(held, 2, "a call that was let go is not held again");
}

#[test]
fn a_verb_tells_first_what_it_would_change_and_says_why_on_record() {
    let program = parked();
    let before = events(&program).len();
    let told = program.run(&["cancel", "last", "write", "--branch", "--dry-run"]).code(0);
    assert!(told.out.contains("cancels before it runs: ") && told.out.contains("write") && told.out.contains("after"), "{told}");
    assert_eq!(events(&program).len(), before, "a dry run leaves nothing behind");
    program.run(&["override", "last", "write", "--value", "{\"a\": 1"]).code(1).says(&["not valid JSON", "line 1 column 7"]);
    assert_eq!(events(&program).len(), before, "what was not taken leaves nothing behind");
    program.run(&["override", "write", "--value", "\"by hand\"", "-m", "wrote it myself"]).code(0).says(&["recorded: override"]);
    assert_eq!(states(&program), ["succeeded", "succeeded", "succeeded", "ready"], "nothing starts before somebody resumes the run");
    let listed = program.run(&["ls"]).code(0);
    assert!(listed.out.contains("  not under way  "), "no driver ended in the middle of work\n{listed}");
    let why = program.run(&["why", "after"]).code(0).says(&["hint: `dagdeck resume "]);
    assert!(why.out.contains("`after` is ready, and no dagdeck process is running the run"), "{why}");
    program.run(&["resume"]).code(0);
    let shown = program.run(&["show", "last"]).code(0);
    assert!(shown.out.contains("overridden: by hand"), "{shown}");
    let acted = events(&program).into_iter().find(|event| event["type"] == "acted").unwrap();
    assert_eq!((&acted["why"], &acted["by"]["who"]), (&json!("wrote it myself"), &json!("tester")));
    assert_eq!(states(&program), ["succeeded"; 4]);
    assert!(!program.workspace().join("out.txt").exists());
    program.run(&["skip", "last", "write"]).code(1).says(&["can't skip `write`"]);
    let told = program.run(&["replay", "last", "--events"]).code(0).out;
    assert!(told.contains("tester (cli): ") && told.contains("because: wrote it myself"), "{told}");
}

#[test]
fn a_result_made_of_one_that_ran_again_alone_is_told_as_stale_until_it_is_made_anew() {
    let program = Program::new();
    let nodes = json!([{"id": "first", "value": 1}, {"id": "second", "code": "return deps.first.output + 1", "depends_on": ["first"]}]);
    let file = program.file("plan.json", json!({"dagdeck": 1, "goal": "count", "nodes": nodes}).to_string());
    program.run(&["run", &file]).code(0);
    let says = |args: &[&str], words: &[&str]| {
        let told = program.run(args).code(0).out;
        assert!(words.iter().all(|words| told.contains(words)), "{args:?}: {told}");
    };
    says(&["rerun", "last", "first", "--alone", "--dry-run"], &["runs again: first", "leaves stale: second"]);
    program.run(&["rerun", "last", "first", "--alone"]).code(0);
    says(&["show", "last"], &["2  (stale: made of an earlier result of `first`)"]);
    let why = "stale: made of an earlier result of `first`";
    says(&["show", "last", "second"], &[why, " second` runs it again with all after it"]);
    program.run(&["rerun", "last", "second"]).code(0);
    let shown = program.run(&["show", "last"]).code(0).out;
    assert!(shown.contains("second") && !shown.contains("stale"), "{shown}");
}

#[test]
fn a_replay_shows_the_run_as_it_was_and_calls_nobody() {
    let program = parked();
    program.run(&["resume", "last", "--yes"]).code(0);
    std::fs::remove_file(program.workspace().join("in.txt")).unwrap();
    let then = program.json(&["replay", "last", "--until", "read", "--json"]);
    let state = |shown: &Value, at: usize| shown["nodes"][at]["state"].as_str().unwrap().to_owned();
    assert_eq!((state(&then, 0), state(&then, 1)), ("succeeded".into(), "pending".into()));
    let first = program.json(&["replay", "last", "--at", "1", "--json"]);
    assert_eq!(state(&first, 0), "pending");
    program.run(&["replay", "last", "--at", "9999"]).code(1).says(&["no event 9999", "its events are 1 to "]);
    let last = program.json(&["replay", "last", "--json"]);
    assert_eq!(last["nodes"], program.json(&["show", "last", "--json"])["nodes"]);
}

#[test]
fn a_branch_keeps_what_came_before_and_the_list_keeps_its_order_newest_first() {
    let program = parked();
    program.run(&["approve", "last"]).code(0);
    std::fs::remove_file(program.workspace().join("out.txt")).unwrap();
    let parent = program.json(&["ls", "--json"])[0]["run"].as_str().unwrap().to_owned();
    program.run(&["branch", &parent, "--until", "read", "--deny", "write"]).code(4);
    let told = program.run(&["branch", &parent, "--at", "1", "--dry-run"]).code(0).out;
    assert!(told.starts_with("would branch from ") && told.contains("keeping events 1 to "), "{told}");
    let runs = program.json(&["ls", "--json"]);
    assert_eq!(runs[0]["parent"]["run"], json!(parent));
    assert_eq!(states(&program)[..2], ["succeeded", "cancelled"]);
    let reads = |event: &&Value| event["type"] == "node_started" && event["node_id"] == "read";
    assert_eq!(events(&program).iter().filter(reads).count(), 1, "what is kept doesn't run again");
    assert!(!program.workspace().join("out.txt").exists());
    let listed = program.run(&["ls"]).code(0).out;
    let lines: Vec<&str> = listed.lines().collect();
    let short = &parent[parent.len() - 8..];
    assert!(lines[0].contains(&format!("from {short} after event ")) && lines[1].starts_with(short), "{listed}");
    assert!(program.run(&["ls", "-n", "1"]).code(0).out.starts_with(&lines[0][..8]));
}

#[test]
fn a_run_file_opens_elsewhere_without_its_secrets_and_a_bad_one_leaves_nothing() {
    let program = parked();
    let told = program.run(&["export", "last", "--run-file", "run.jsonl"]).code(0);
    assert!(told.err.contains("secrets were removed"), "{told}");
    let file = program.read("run.jsonl");
    assert!(!file.contains("letmein"));
    let other = Program::new();
    let run = other.feed(&["import", "-", "--json"], file.clone()).code(0).json()["run"].as_str().unwrap().to_owned();
    let there = |program: &Program| {
        program.json(&["replay", &run, "--json"])["nodes"].as_array().unwrap().iter().map(|n| n["state"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(there(&other), there(&program));
    let listed = other.json(&["ls", "--json"])[0].clone();
    assert!(listed["imported_at"].is_u64() && listed["status"] == "not_under_way", "it goes on nowhere, whatever it waited for: {listed}");
    other.feed(&["import", "-"], file.clone()).code(1).says(&["exists here already"]);
    other.run(&["resume", &run]).code(1).says(&["imported from a file, so it can't go on"]);

    let third = Program::new();
    third.feed(&["import", "-"], file[..file.len() / 2].to_owned()).code(3).says(&["stdin:"]);
    third.feed(&["import", "-"], "{\"nodes\": []}").code(3).says(&["stdin:1: this is not a run file"]);
    assert_eq!(third.json(&["ls", "--json"]), json!([]));
}

#[test]
fn the_console_opens_at_a_stored_run_and_says_what_is_wrong_with_its_name() {
    let program = parked();
    let id = program.json(&["show", "last", "--json"])["run"].as_str().unwrap().to_owned();
    for name in ["last", &id, &id[..id.len() - 3]] {
        let mut deck = program.console_with(&["console", "--run", name], (100, 30));
        deck.sees("copy").sees("2/4 done").sees("press ! to resume");
    }
    // Its keys are at hand, nothing has to be left first.
    let mut deck = program.console_with(&["console", "--run", "last"], (100, 30));
    deck.sees("press ! to resume").send("!").sees("Resume this run?").send("y").loses("Resume this run?").sees("1 needs you");
    drop(deck);
    let mut deck = program.console_with(&["console", "--run", "nothing"], (100, 30));
    deck.sees("no run is called `nothing`").sees("dagdeck ls");
    assert_eq!(deck.ended(), 1);
    program.run(&["console", "plan.json", "--run", "last"]).code(2).says(&["--run <RUN>", "cannot be used with"]);
}

#[test]
fn a_run_that_is_over_is_run_again_paused_and_a_verb_is_taken_back_with_the_run_at_rest() {
    let program = parked();
    program.run(&["resume", "last", "--yes"]).code(0);
    program.run(&["rerun", "last", "write", "--pause", "--yes"]).code(2).says(&["--pause", "cannot be used with"]);
    program.run(&["rerun", "last", "write", "--pause"]).code(0).says(&["paused"]);
    assert_eq!(states(&program)[1], "waiting", "it asks again, and nothing started");
    program.run(&["resume", "last", "--yes"]).code(0);
    assert_eq!(states(&program), ["succeeded"; 4]);

    let program = parked();
    program.run(&["skip", "last", "after"]).code(0);
    program.run(&["undo", "last"]).code(0).says(&["undid: skip `after`", "waiting"]);
    assert_eq!(states(&program), ["succeeded", "waiting", "succeeded", "pending"]);
    assert_eq!(program.json(&["show", "last", "--json"])["status"], "waiting");

    // The pause that a verb came with goes with it.
    program.run(&["resume", "last", "--yes"]).code(0);
    program.run(&["rerun", "last", "write", "--pause"]).code(0);
    let told = program.json(&["undo", "last", "--dry-run", "--json"]);
    assert_eq!(told["takes_back"], json!(["pause the run", "rerun `write` with what depends on it"]));
    program.run(&["undo", "last"]).code(0).says(&["undid: pause the run, rerun `write`"]);
    assert_eq!(states(&program), ["succeeded"; 4]);
    program.run(&["undo", "last", "--dry-run"]).code(1).says(&["nothing can be undone", "only the last action can be undone"]);
}

#[test]
fn a_cancel_by_which_a_run_was_over_is_taken_back_from_the_shell_and_its_question_is_asked_again() {
    let program = parked();
    let told = program.json(&["cancel", "last", "--dry-run", "--json"]);
    assert_eq!((&told["ends"], &told["voids"]), (&json!("cancelled"), &json!(["write"])));
    program.run(&["cancel", "last"]).code(0);
    assert_eq!(program.json(&["show", "last", "--json"])["status"], "cancelled");
    program.run(&["undo", "last"]).code(0).says(&["undid: cancel the run"]);
    assert_eq!(states(&program), ["succeeded", "waiting", "succeeded", "pending"]);
    program.run(&["resume", "last", "--yes"]).code(0);
    assert_eq!(states(&program), ["succeeded"; 4]);
}

#[test]
fn what_is_not_there_is_told_alike_by_every_verb_with_the_name_that_is_near() {
    let program = parked();
    let verbs: [&[&str]; 16] = [
        &["show", "RUN", "wite"],
        &["why", "RUN", "wite"],
        &["trace", "RUN", "wite"],
        &["replay", "RUN", "--until", "wite"],
        &["branch", "RUN", "--until", "wite"],
        &["approve", "RUN", "wite"],
        &["cancel", "RUN", "wite"],
        &["stop", "RUN", "wite", "--branch"],
        &["hold", "RUN", "wite"],
        &["release", "RUN", "wite", "--dry-run"],
        &["retry", "RUN", "wite"],
        &["rerun", "RUN", "wite"],
        &["skip", "RUN", "wite"],
        &["override", "RUN", "wite", "--value", "1"],
        &["guide", "RUN", "wite", "-m", "words"],
        &["rewind", "RUN", "write", "-m", "words", "--to", "wite"],
    ];
    let before = events(&program).len();
    for verb in verbs {
        let of = |run: &'static str| verb.iter().map(|&word| if word == "RUN" { run } else { word }).collect::<Vec<_>>();
        program.run(&of("last")).code(1).says(&["has no node `wite`", "did you mean `write`? its nodes are: read, write"]);
        program.run(&of("nothing")).code(1).says(&["no run is called `nothing`", "`dagdeck ls`"]);
    }
    for verb in ["replay", "branch"] {
        program.run(&[verb, "last", "--at", "0"]).code(1).says(&["has no event 0", "its events are 1 to "]);
        program.run(&[verb, "last", "--until", "after"]).code(1).says(&["nothing has happened at `after` yet"]);
    }
    assert_eq!(events(&program).len(), before);
}

#[test]
fn tables_fit_a_narrow_terminal_row_by_row() {
    let program = Program::new();
    let long = "結果は東京の天気が晴れで、京都は曇り、大阪は雨です。".repeat(9);
    let run = |goal: &str, value: &str| {
        let nodes = json!([
            {"id": "first", "value": value},
            {"id": "one-with-a-name-of-28-letters", "code": "return deps.first.output", "depends_on": ["first"]},
        ]);
        let file = program.file("plan.json", json!({"dagdeck": 1, "goal": goal, "nodes": nodes}).to_string());
        program.run(&["run", &file]).code(0);
    };
    run(&long, "short");
    run("short", "other");
    run("short", &long);
    let run_before = program.json(&["ls", "--json"])[1]["run"].as_str().unwrap().to_owned();
    let tables: [&[&str]; 5] =
        [&["ls"], &["ls", "-n", "2"], &["show"], &["show", "--timeline"], &["diff", &run_before, "last", "--results"]];
    let mut rows = Vec::new();
    for args in tables {
        let mut terminal = program.console_with(args, (80, 40));
        terminal.ended();
        let screen = terminal.screen();
        // What is cut off says so; `diff` tells a value of the plan whole and `show` the result, on lines of their own.
        let wrapped = (0..40).filter(|row| terminal.emulator().row_wrapped(*row)).count();
        assert_eq!(wrapped, if args.len() == 1 && args[0] == "show" || args[0] == "diff" { 5 } else { 0 }, "{args:?}\n{screen}");
        rows.push(screen);
    }
    assert!(rows[0].lines().count() == 3 && rows[0].contains("東京の") && rows[0].contains('…'), "{}", rows[0]);
    assert!(rows[1].contains("2 of 3 runs; `dagdeck ls -n 3` lists them all"), "{}", rows[1]);
    assert!(rows[2].contains("one-with-a-name-of-28-letters  succeeded"), "{}", rows[2]);
}

#[test]
fn a_flag_that_would_do_nothing_is_refused() {
    let program = parked();
    let refused: [(&[&str], &str); 10] = [
        (&["undo", "last", "-m", "so"], "-m"),
        (&["branch", "last", "-m", "so"], "--edit <FILE>"),
        (&["skip", "last", "read", "--yes"], "--yes"),
        (&["hold", "last", "--pause"], "--pause"),
        (&["hold", "--branch"], "`--branch` needs a node"),
        (&["export", "last", "--ascii"], "add `--format text`"),
        (&["export", "last", "--ascii", "--format", "tree"], "`--ascii` works with `--format text` only"),
        (&["plan", "a request", "--json", "--format", "dot"], "cannot be used with '--format"),
        (&["hold", "last", "--model", "other"], "`--model` works only where something is planned or runs"),
        (&["--model", "other", "ls"], "`--model` works only where something is planned or runs"),
    ];
    for (args, words) in refused {
        program.run(args).code(2).says(&[words]);
    }
    Ended::of(program.command(&["ls"]).env("DAGDECK_MODEL", "other")).code(0);
}

#[test]
fn a_plan_with_errors_changes_no_run_and_a_run_with_holes_is_not_driven() {
    let program = parked();
    let nodes = json!([{"id": "read", "value": 1}, {"id": "write", "value": 2, "depends_on": ["nobody"]}]);
    let file = program.file("wrong.json", json!({"dagdeck": 1, "goal": "copy", "nodes": nodes}).to_string());
    let before = events(&program).len();
    program.run(&["edit", "last", &file]).code(3).says(&["can't run", "nobody"]);
    program.run(&["branch", "last", "--at", "2", "--edit", &file]).code(3).says(&["can't run", "nobody"]);
    assert_eq!((events(&program).len(), program.json(&["ls", "--json"]).as_array().unwrap().len()), (before, 1));

    let db = rusqlite::Connection::open(program.home().join("state").join("journal.db")).unwrap();
    db.execute("DELETE FROM events WHERE seq = 3", []).unwrap();
    program.run(&["resume", "last", "--yes"]).code(1).says(&["is damaged at its event 3", "is missing"]);
    db.execute("DELETE FROM events WHERE seq = 1", []).unwrap();
    program.run(&["resume", "last", "--yes"]).code(1).says(&["is damaged at its event 1", "is missing"]);
    db.execute("UPDATE events SET json = '{oops' WHERE kind = 'approval_required'", []).unwrap();
    assert_eq!(program.json(&["ls", "--json"]).as_array().unwrap().len(), 1, "the list is there all the same");
}

#[test]
fn a_branch_asks_again_and_is_the_newest_run_and_an_imported_run_is_only_branched() {
    let program = parked();
    program.run(&["resume", "last", "--yes"]).code(0);
    let approved = events(&program).into_iter().find(|event| event["type"] == "gate_decided").unwrap()["seq"].to_string();
    let parent = program.json(&["show", "last", "--json"])["run"].as_str().unwrap().to_owned();
    std::fs::remove_file(program.workspace().join("out.txt")).unwrap();
    program.run(&["branch", &parent, "--at", &approved]).code(7).says(&["gate at write"]);
    assert!(!program.workspace().join("out.txt").exists(), "a yes is for one run");
    assert_ne!(program.json(&["show", "last", "--json"])["run"], json!(parent));

    program.run(&["export", &parent, "--run-file", "run.jsonl"]).code(0);
    let renamed = program.read("run.jsonl").replace(&parent, "00000000-copy");
    program.feed(&["import", "-"], renamed).code(3).says(&["checksum"]);
}

#[test]
fn a_breakpoint_is_disabled_and_enabled_from_the_shell() {
    let program = parked();
    program.run(&["break", "last", "after"]).code(0);
    program.run(&["break", "--disable", "2"]).code(1).says(&["no breakpoint 2"]);
    program.run(&["break", "--disable", "1"]).code(0).says(&["disable breakpoint 1"]);
    assert!(program.run(&["break"]).code(0).out.contains("before `after`  (disabled)"));
    program.run(&["approve", "last", "write"]).code(0);
}

#[test]
fn prune_lists_what_would_go_and_deletes_with_a_yes() {
    let program = parked();
    let file = program.file("one.json", json!({"dagdeck": 1, "goal": "one", "nodes": [{"id": "a", "value": 1}]}).to_string());
    (0..3).for_each(|_| drop(program.run(&["run", &file]).code(0)));
    program.run(&["prune"]).code(2).says(&["which runs?", "--older", "--keep"]);
    program.run(&["prune", "--yes"]).code(2).says(&["which runs?"]);
    program.run(&["prune", "--older", "1month"]).code(2).says(&["write days"]);
    program.run(&["prune", "--older", "30d"]).code(0).says(&["nothing to delete"]);
    let list = || program.json(&["ls", "--json"]).as_array().unwrap().len();
    let listed = program.run(&["prune", "--keep", "2"]).code(0).says(&["1 run, ", "would be deleted", "--yes"]);
    assert!(listed.out.contains("  succeeded ") && listed.out.contains("one"), "{}", listed.out);
    assert_eq!(list(), 4);
    program.run(&["prune", "--keep", "2", "--yes"]).code(0).says(&["deleted 1 run"]);
    assert_eq!(list(), 3);
    program.run(&["prune", "--keep", "0", "--yes"]).code(0).says(&["deleted 2 runs"]);
    program.run(&["show", "last", "--json"]).code(0);
    program.run(&["prune", "last", "--yes"]).code(0).says(&["deleted 1 run"]);
    assert_eq!(list(), 0);
}
