//! Runs of the shell: exit codes, flags that decide, signals.

use super::cli::{plan, small};
use super::support::program::Program;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

#[test]
fn the_message_of_a_step_a_breakpoint_and_a_resume_is_kept() {
    let program = Program::new();
    let nodes = json!([
        {"id": "a", "value": 1, "approve": "before"},
        {"id": "b", "value": 2, "depends_on": ["a"]},
        {"id": "c", "value": 3, "depends_on": ["b"]},
        {"id": "d", "value": 4, "depends_on": ["c"]},
    ]);
    let file = program.file("plan.json", json!({"nodes": nodes}).to_string());
    program.run(&["run", &file]).code(7);
    program.run(&["break", "d", "-m", "look at d"]).code(0);
    program.run(&["pause"]).code(0);
    program.run(&["approve"]).code(7);
    program.run(&["step", "-m", "only one"]).code(7);
    program.run(&["run-to", "c", "-m", "as far as c"]).code(7);
    program.run(&["resume", "-m", "go on"]).code(7);
    let events = program.run(&["replay", "--events"]).code(0).out;
    for words in ["look at d", "only one", "as far as c", "go on"] {
        assert!(events.contains(words), "{words}: {events}");
    }
}

#[test]
fn the_exit_code_tells_how_the_run_ended() {
    let program = Program::new();
    let fails = || json!({"id": "fails", "code": "throw new Error('boom')"});
    program.run(&["run", &plan(&program, json!([{"id": "a", "value": 1}, fails()]))]).code(4).says(&["boom", " partial, elapsed "]);
    program.run(&["run", &plan(&program, json!([fails()]))]).code(5).says(&["boom", " failed, elapsed "]);
    let outcomes: Vec<Value> = program.json(&["ls", "--json"]).as_array().unwrap().iter().map(|run| run["status"].clone()).collect();
    assert_eq!(outcomes, ["failed", "partial"], "newest first");
}

#[test]
fn inputs_are_set_by_flag_and_wrong_flags_are_refused_before_anything_happens() {
    let program = Program::new();
    let file = plan(&program, json!([{"id": "a", "value": "{{inputs.name}} is {{inputs.age}}"}]));
    let ended = program.run(&["run", &file, "--set", "name=Ada L=", "--set", "age=36"]).code(0);
    assert_eq!(ended.out, "Ada L= is 36\n");
    for wrong in [["--set", "name"], ["--set", "=1"], ["--approve", "["], ["--deny", "a{b"]] {
        program.run(&["run", &file, wrong[0], wrong[1]]).code(2).says(&["error: ", wrong[0], "hint: "]);
    }
    assert_eq!(program.json(&["ls", "--json"]).as_array().unwrap().len(), 1);
}

/// One gate of each kind that a flag can decide, and one that only a person can.
fn gated(program: &Program) -> String {
    plan(
        program,
        json!([
            {"id": "note", "tool": "write_file", "args": {"path": "note.txt", "content": "hello"}},
            {"id": "before", "value": 1, "approve": "before"},
            {"id": "after", "value": 2, "approve": "after"},
            {"id": "sure", "ask": "Go on?"},
        ]),
    )
}

#[test]
fn headless_gates_fail_closed_and_say_what_would_reply() {
    let program = Program::new();
    let ended = program.run(&["run", &gated(&program)]).code(7);
    for node in ["note", "before", "after"] {
        assert!(ended.err.contains(&format!("gate at {node}")), "{node}\n{ended}");
    }
    assert_eq!(ended.err.matches("hint: `dagdeck approve ").count(), 3, "{ended}");
    ended.says(&["` replies; `dagdeck resume ", " --yes` approves every gate that needs only a yes", "4 open gates; "]);
    let ended = program.run(&["run", &gated(&program)]).code(7);
    ended.says(&["  path: note.txt\n  content: hello", " --approve sure` says yes"]);
    assert!(!program.workspace().join("note.txt").exists());
    let shown = program.json(&["show", "--json"]);
    assert_eq!(shown["status"], "waiting");
    assert!(shown["gates"].as_array().unwrap().iter().all(|gate| gate["decision"].is_null()));
    assert_eq!(shown["gates"][0]["payload"], json!({"path": "note.txt", "content": "hello"}), "the exact payload");

    let last = program.run(&["run", &gated(&program), "--json"]).code(7).lines().pop().unwrap();
    assert_eq!((&last["outcome"], &last["exit"]), (&json!("waiting"), &json!(7)));
}

#[test]
fn yes_approves_what_is_no_question_and_deny_beats_it_and_who_decided_is_on_record() {
    let program = Program::new();
    program.run(&["run", &gated(&program), "--yes"]).code(7).says(&["gate at sure: Go on?", " --approve sure` says yes"]);
    assert_eq!(program.read("note.txt"), "hello");
    program.run(&["resume", "--approve", "sure"]).code(0);
    let gates = program.json(&["show", "--json"])["gates"].clone();
    let by: Vec<&Value> = gates.as_array().unwrap().iter().map(|gate| &gate["by"]["who"]).collect();
    let count = |who: &str| by.iter().filter(|by| ***by == json!(who)).count();
    assert_eq!((by.len(), count("tester (--yes)"), count("tester (--approve sure)")), (4, 3, 1), "{gates}");

    std::fs::remove_file(program.workspace().join("note.txt")).unwrap();
    program
        .run(&["run", &gated(&program), "--yes", "--approve", "sure", "--deny", "write_*"])
        .code(4)
        .says(&["note: cancelled: rejected by tester (--deny write_*)"]);
    assert!(!program.workspace().join("note.txt").exists());

    program.run(&["run", &gated(&program), "--approve", "n*"]).code(7);
    assert_eq!(program.read("note.txt"), "hello");
}

#[test]
fn a_question_that_no_yes_answers_is_approved_by_nobody_and_takes_an_answer() {
    let program = Program::new();
    let file = plan(&program, json!([{"id": "town", "ask": "It may rain. Which town?"}]));
    program.run(&["run", &file, "--yes"]).code(7).says(&["hint: only a person can answer this: `dagdeck answer "]);
    program.run(&["approve"]).code(1).says(&["can't approve gate 1 at `town`: this is a question", " 1 -m ANSWER` answers it"]);
    assert!(program.run(&["answer", "-m", "Bern"]).code(0).out.contains("Bern"));
}

#[test]
fn a_flag_that_names_nothing_of_the_run_is_a_warning() {
    let program = Program::new();
    let file = program.file("plan.json", small().to_string());
    let warned = ["warning: the plan has no input `m`", "warning: `--approve write_*` matches no node and no tool of this run"];
    program.run(&["run", &file, "--set", "m=1", "--approve", "write_*"]).code(0).says(&warned);
}

#[test]
fn why_says_how_a_node_that_failed_runs_again_also_of_one_that_was_skipped_for_it() {
    let program = Program::new();
    let nodes = json!([{"id": "bad", "code": "throw new Error('no')"}, {"id": "next", "value": 1, "depends_on": ["bad"]}]);
    program.run(&["run", &plan(&program, nodes)]).code(5);
    for node in ["bad", "next"] {
        program.run(&["why", node]).code(0).says(&[
            "hint: `dagdeck retry ",
            " bad` tries it once more",
            "writes the plan: change it there",
        ]);
    }
}

#[test]
fn a_run_that_got_a_node_after_its_end_is_listed_with_all_of_its_nodes() {
    let program = Program::new();
    let node = |id: &str| json!({"id": id, "value": 1});
    program.run(&["run", &plan(&program, json!([node("a")]))]).code(0);
    let more = plan(&program, json!([node("a"), {"id": "b", "value": 2, "depends_on": ["a"]}]));
    program.run(&["edit", "last", &more]).code(0);
    program.run(&["resume"]).code(0);
    assert_eq!(program.json(&["ls", "--json"])[0]["nodes"], 2);
}

#[test]
fn a_question_that_wants_words_waits_for_a_person_whatever_the_flags() {
    let program = Program::new();
    let file = plan(&program, json!([{"id": "pick", "ask": {"text": "Which?", "options": ["red", "blue"]}}]));
    program.run(&["run", &file, "--yes"]).code(7).says(&["Which?", "only a person can answer this"]);
}

/// A run at work in a long command, with the lines that it prints.
fn at_work(program: &Program) -> (std::process::Child, impl Iterator<Item = Value>) {
    let file = plan(program, json!([{"id": "long", "tool": "run_command", "args": {"command": "exec sleep 600"}}]));
    let mut child = started(program, &["run", &file, "--yes", "--json"]);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    lines.find(|line| line["type"] == "tool_started").unwrap();
    (child, lines)
}

#[test]
fn a_signal_leaves_a_run_resumable_and_nobody_is_blamed_for_a_cancel() {
    for (signal, name, code) in [(Signal::INT, "SIGINT", 130), (Signal::TERM, "SIGTERM", 143), (Signal::HUP, "SIGHUP", 129)] {
        let program = Program::new();
        let (mut child, lines) = at_work(&program);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let last = lines.last().unwrap();
        assert_eq!((last["outcome"].as_str(), &last["exit"]), (Some("interrupted"), &json!(code)), "{last}");
        assert!(last["reason"].as_str().unwrap().contains(name), "{last}");
        assert_eq!(child.wait().unwrap().code(), Some(code));
        let events = program.run(&["replay", "last", "--events", "--json"]).code(0).out;
        assert!(!events.contains("cancel"), "{events}");
        let recorded: Value = serde_json::from_str(events.lines().last().unwrap()).unwrap();
        assert_eq!((&recorded["type"], &recorded["signal"]), (&json!("run_interrupted"), &json!(name)), "{recorded}");
        for how in [&["show", "last"][..], &["ls"], &["why", "last", "long"], &["replay", "last", "--events"]] {
            let told = program.run(how).code(0).out;
            assert!(told.contains(&format!("interrupted by {name}")), "{how:?}: {told}");
        }
        program.run(&["resume", "last", "--unknown", "skip"]).code(5);
        assert!(!program.run(&["show", "last"]).out.contains(name), "it went on since");
    }
}

#[test]
fn a_second_interrupt_soon_after_the_first_cancels_the_run() {
    let program = Program::new();
    let (mut child, lines) = at_work(&program);
    let mut err = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    err.find(|line| line.contains("press ctrl-c again")).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(lines.last().unwrap()["outcome"], "cancelled");
    assert_eq!(child.wait().unwrap().code(), Some(6));
    assert_eq!(program.json(&["show", "--json"])["nodes"][0]["state"], "cancelled");
}

/// The program under way, with its output in a pipe.
pub(super) fn started(program: &Program, args: &[&str]) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dagdeck"));
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", program.home());
    command.env("DAGDECK_HOME", program.home().join("state")).current_dir(program.workspace()).args(args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_reader_that_goes_away_is_no_error_and_the_run_goes_on() {
    let program = Program::new();
    let nodes: Vec<Value> = (0..2000).map(|i| json!({"id": format!("n{i}"), "value": "x".repeat(100)})).collect();
    let file = plan(&program, json!(nodes));
    for args in [vec!["export", &file], vec!["run", &file, "--json"], vec!["run", &file], vec!["schema"], vec!["man"], vec!["--help"]] {
        let mut child = started(&program, &args);
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(0), "{args:?}: {err}");
        assert!(!err.contains("error") && !err.contains("panicked"), "{args:?}: {err}");
    }
    assert_eq!(program.json(&["ls", "--json"]).as_array().unwrap().iter().filter(|run| run["status"] == "succeeded").count(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_under_stdout_is_an_error() {
    let program = Program::new();
    for args in [["schema"], ["man"], ["agents"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dagdeck"));
        command.env("HOME", program.home()).env("DAGDECK_HOME", program.home()).current_dir(program.workspace()).args(args);
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let ended = command.stdout(full).output().unwrap();
        let err = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.code() == Some(1) && err.contains("can't write the output: No space left"), "{args:?}: {err}");
    }
}
