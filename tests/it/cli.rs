//! The verbs as a shell sees them: exit codes, what goes to which stream, the shapes of JSON, and what is said about bad input.

use super::support::program::{Ended, Program};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value, json};
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

/// Two nodes that run for real, and need nothing.
fn small() -> Value {
    json!({"dagdeck": 1, "goal": "double it", "nodes": [
        {"id": "sum", "tool": "calculator", "args": {"expression": "20 + 1"}},
        {"id": "twice", "code": "return Number(deps.sum.output) * 2", "depends_on": ["sum"]},
    ]})
}

/// A plan of nodes, in the workspace.
fn plan(program: &Program, nodes: Value) -> String {
    program.file("plan.json", json!({"dagdeck": 1, "goal": "test", "nodes": nodes}).to_string())
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn codes(validated: &Value) -> Vec<&str> {
    validated["findings"].as_array().unwrap().iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

#[test]
fn validate_tells_good_plans_from_bad_ones() {
    let program = Program::new();
    let good = program.file("good.json", small().to_string());
    program.run(&["validate", &good]).code(0).says(&["valid: 2 nodes, 0 warnings"]);
    assert_eq!(program.json(&["validate", &good, "--json"]), json!({"valid": true, "findings": []}));

    let bad = plan(
        &program,
        json!([
            {"id": "a", "tool": "read_flie", "args": {}, "depends_on": ["b"]},
            {"id": "b", "value": "{{ghost}}", "depends_on": ["a"]},
        ]),
    );
    let ended = program.run(&["validate", &bad]).code(3).says(&["not valid: 3 errors"]);
    for words in ["a → b → a", "`read_file`", "ghost"] {
        assert!(ended.out.contains(words), "{words}\n{ended}");
    }
    let validated = program.run(&["validate", &bad, "--json"]).code(3).json();
    assert_eq!((keys(&validated), &validated["valid"]), (vec!["valid", "findings"], &json!(false)));
    assert!(["cycle", "unknown-tool", "unknown-reference"].iter().all(|code| codes(&validated).contains(code)), "{validated}");
    for finding in validated["findings"].as_array().unwrap() {
        assert_eq!(keys(finding)[..6], ["code", "severity", "node", "path", "message", "fix"], "{finding}");
    }
}

#[test]
fn validate_reads_stdin_and_answers_in_json_even_when_the_text_is_no_plan() {
    let program = Program::new();
    program.feed(&["validate", "-"], small().to_string()).code(0);
    program.feed(&["validate", "-"], "").code(3).says(&["stdin:1:1", "the text is empty", "hint: "]);
    let validated = program.feed(&["validate", "-", "--json"], "{\"nodes\": [").code(3).json();
    assert_eq!(validated["valid"], false);
    let finding = &validated["findings"][0];
    assert!(finding["message"].as_str().unwrap().starts_with("stdin:1:11: not JSON"), "{validated}");
    assert_eq!((&finding["line"], &finding["column"]), (&json!(1), &json!(11)));
    let finding = &program.feed(&["validate", "-", "--json"], "{\"dag\": [\n {\"id\": 3}]}").code(3).json()["findings"][0];
    assert_eq!((&finding["path"], &finding["line"], &finding["column"]), (&json!("dag[0].id"), &json!(2), &json!(9)));
    let ended = program.feed(&["validate", "-"], "{\"dag\": [\n {\"id\": 3}]}").code(3);
    assert!(!ended.err.contains("schema plan"), "that is another format: {ended}");
}

#[test]
fn findings_stand_where_the_document_has_them_in_its_own_words() {
    let program = Program::new();
    let text = "{\"tasks\": [\n  {\"id\": \"a\", \"tool\": \"read_flie\", \"arguments\": {\"path\": \"x\"}}]}";
    let file = program.file("hybrid.json", text);
    let finding = &program.run(&["validate", &file, "--json"]).code(3).json()["findings"][0];
    assert_eq!((&finding["path"], &finding["line"], &finding["column"]), (&json!("tasks[0].tool"), &json!(2), &json!(23)));
    let place = format!("{file}:2:23: error[unknown-tool] tasks[0].tool: ");
    let ended = program.run(&["validate", &file]).code(3);
    assert!(ended.out.contains(&place), "{ended}");
    program.run(&["run", &file]).code(3).says(&[&place]);
}

#[test]
fn a_slip_of_the_pen_in_a_fields_name_is_told_with_what_was_meant() {
    let program = Program::new();
    let file = plan(&program, json!([{"id": "a", "value": 1}, {"id": "b", "value": 2, "lokcs": ["a"]}]));
    let ended = program.run(&["validate", &file]).code(0);
    assert!(ended.out.contains("warning[unknown-field] nodes[1].lokcs: ") && ended.out.contains("`locks`"), "{ended}");
}

/// Bad documents, with what has to be said about each of them.
fn bad_documents() -> Vec<(&'static str, Vec<u8>, Vec<&'static str>)> {
    let deep = |open: &str, close: &str| [open.repeat(100_000), close.repeat(100_000)].concat().into_bytes();
    vec![
        ("empty", Vec::new(), vec![":1:1", "empty"]),
        ("blank", b" \n\n ".to_vec(), vec!["empty"]),
        ("cut", b"{\n \"nodes\": [".to_vec(), vec![":2:", "not JSON"]),
        ("huge", vec![b'x'; 10_000_000], vec![":1:1", "not JSON"]),
        ("deep list", deep("[", "]"), vec![":1:", "nested too deeply"]),
        ("deep object", deep("{\"a\":", "}"), vec![":1:", "nested too deeply"]),
        ("NUL", b"{\"goal\": \"a\0b\"}".to_vec(), vec![":1:", "control character"]),
        ("no text", b"{\"goal\": \"\xff\xfe\"}".to_vec(), vec!["byte 11 is not UTF-8"]),
        ("UTF-16", b"\xff\xfe{\0}\0".to_vec(), vec!["byte 1 is not UTF-8"]),
        ("a list", b"[1, 2]".to_vec(), vec!["must be an object, not a list"]),
        ("a number", b"42".to_vec(), vec!["must be an object, not a number"]),
        ("no nodes", b"{\"goal\": \"g\"}".to_vec(), vec!["list of `nodes`"]),
        ("a newer format", b"{\"dagdeck\": 99, \"nodes\": []}".to_vec(), vec!["`dagdeck`", "version 99"]),
    ]
}

#[test]
fn documents_that_are_no_plans_are_told_with_place_and_way_out_by_every_verb_that_reads_them() {
    let program = Program::new();
    for (name, text, words) in bad_documents() {
        let file = program.file("bad.json", &text);
        for verb in ["validate", "run", "export"] {
            let ended = program.run(&[verb, &file]);
            assert_eq!((ended.code, ended.out.as_str()), (3, ""), "{name}, {verb}: {ended}");
            ended.says(&words).says(&["error: ", "bad.json", "hint: "]);
        }
    }
    assert_eq!(program.json(&["ls", "--json"]), json!([]), "nothing was run");
}

#[test]
fn limits_out_of_bounds_and_unknown_names_stop_a_run_before_it_begins() {
    let program = Program::new();
    for (nodes, words) in [
        (json!([{"id": "a", "value": 1, "depends_on": ["a"]}]), "a"),
        (json!([{"id": "a", "value": 1, "depends_on": ["b"]}, {"id": "b", "value": 1, "depends_on": ["a"]}]), "a → b → a"),
        (json!([{"id": "a", "value": 1}, {"id": "a", "value": 2}]), "duplicate-id"),
        (json!([{"id": "a b\u{1b}[31m", "value": 1}]), "bad-id"),
        (json!([{"id": "a", "tool": "rm_rf", "args": {}}]), "unknown-tool"),
        (json!([{"id": "a", "tool": "read_file", "args": {"path": 7}}]), "bad-arguments"),
        (json!([{"id": "a", "agent": "nobody", "objective": "x"}]), "unknown-agent"),
        (json!([{"id": "a", "value": "{{b}}"}]), "unknown-reference"),
        (json!([{"id": "a", "value": 1, "when": "1 +"}]), "bad-condition"),
        (json!([{"id": "a", "value": 1, "timeout_s": -1}]), "bad-limit"),
        (json!([{"id": "a", "value": 1, "retry": {"attempts": 0}}]), "bad-limit"),
        (json!([{"id": "a", "value": 1, "max_iterations": 21}]), "bad-limit"),
        (json!([]), "empty-plan"),
    ] {
        let ended = program.run(&["run", &plan(&program, nodes), "--yes"]).code(3).says(&[words, "nothing was run", "hint: "]);
        assert!(!ended.err.contains('\u{1b}'), "{:?}", ended.err);
    }
    assert_eq!(program.json(&["ls", "--json"]), json!([]));
}

#[test]
fn files_that_can_not_be_read_are_named() {
    let program = Program::new();
    std::fs::create_dir(program.workspace().join("folder.json")).unwrap();
    for (name, words) in [("missing.json", "No such file"), ("./missing", "No such file"), ("folder.json", "it is a folder")] {
        for verb in ["validate", "run"] {
            program.run(&[verb, name]).code(1).says(&["error: can't read", name, words, "hint: "]);
        }
    }
}

#[test]
fn devices_and_pipes_are_refused_at_once_wherever_a_file_is_named() {
    let program = Program::new();
    let pipe =
        |path: &std::path::Path| rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    pipe(&program.workspace().join("pipe"));
    pipe(&program.workspace().join("pipe.json"));
    program.run(&["run", "pipe"]).code(1).says(&["error: can't read `pipe`: it is not a regular file"]);
    for name in ["/dev/zero", "./pipe.json"] {
        for args in [&["validate", name][..], &["run", name], &["export", name, "--format", "native"], &["import", name]] {
            program.run(args).code(1).says(&["error: can't read", name, "it is not a regular file", "hint: "]);
        }
    }
    std::fs::create_dir(program.workspace().join("state")).unwrap();
    pipe(&program.workspace().join("state/journal.db"));
    program.run(&["ls", "--home", "state"]).code(1).says(&["state/journal.db` is damaged: it is not a regular file", "hint: "]);
}

#[test]
fn plans_that_name_each_other_many_times_over_are_capped_while_they_are_read() {
    let program = Program::new();
    for level in 0..6 {
        let next = format!("level{}.json", level + 1);
        let nodes: Vec<_> = (0..10).map(|n| json!({"id": format!("n{n}"), "plan": next})).collect();
        program.file(&format!("level{level}.json"), json!({"dagdeck": 1, "goal": "many", "nodes": nodes}).to_string());
    }
    program.file("level6.json", json!({"dagdeck": 1, "goal": "one", "nodes": [{"id": "a", "value": 1}]}).to_string());
    program.run(&["validate", "level0.json"]).code(3).says(&["more than 100000 nodes"]);
}

#[test]
fn run_prints_the_results_on_stdout_and_what_happens_on_stderr() {
    let program = Program::new();
    let file = program.file("plan.json", small().to_string());
    let ended = program.run(&["run", &file]).code(0).says(&["sum: started", "twice: succeeded", " succeeded, elapsed "]);
    assert_eq!(ended.out, "42\n");
    let ended = program.feed(&["run", "-"], small().to_string()).code(0);
    assert_eq!(ended.out, "42\n");
}

#[test]
fn run_json_prints_events_and_last_the_outcome() {
    let program = Program::new();
    let file = program.file("plan.json", small().to_string());
    let mut lines = program.run(&["run", &file, "--json"]).code(0).lines();
    let last = lines.pop().unwrap();
    assert_eq!(keys(&last), ["run", "outcome", "reason", "exit"]);
    assert_eq!((&last["outcome"], &last["exit"]), (&json!("succeeded"), &json!(0)));
    assert_eq!((&lines[0]["type"], &lines[0]["run"]), (&json!("run_created"), &last["run"]));
    let seqs: Vec<u64> = lines.iter().map(|line| line["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>(), "without gaps");
    let order: Vec<(&str, &str)> = lines
        .iter()
        .filter(|line| ["node_started", "node_completed"].contains(&line["type"].as_str().unwrap()))
        .map(|line| (line["type"].as_str().unwrap(), line["node_id"].as_str().unwrap()))
        .collect();
    assert_eq!(order, [("node_started", "sum"), ("node_completed", "sum"), ("node_started", "twice"), ("node_completed", "twice")]);
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
fn headless_gates_fail_closed_and_name_the_flag_that_would_decide() {
    let program = Program::new();
    let ended = program.run(&["run", &gated(&program)]).code(7);
    for node in ["note", "before", "after"] {
        assert!(
            ended.err.contains(&format!(" --approve {node}` approves it; `--yes` approves every gate that needs only a yes")),
            "{node}\n{ended}"
        );
    }
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
        .says(&["note: cancelled: rejected: --deny write_*"]);
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
        program.run(&["why", node]).code(0).says(&["hint: `dagdeck retry ", " bad` runs it again"]);
    }
}

#[test]
fn a_question_that_wants_words_waits_for_a_person_whatever_the_flags() {
    let program = Program::new();
    let file = plan(&program, json!([{"id": "pick", "ask": {"text": "Which?", "options": ["red", "blue"]}}]));
    program.run(&["run", &file, "--yes"]).code(7).says(&["Which?", "only a person can answer this"]);
}

#[test]
fn words_with_white_space_are_a_request_and_stdin_holds_a_plan_or_a_request() {
    let program = Program::new();
    std::fs::create_dir(program.workspace().join("data")).unwrap();
    program.file("data/config.old.json", "{}");
    program.run(&["run", "delete data/config.old.json"]).says(&["planned by"]);
    program.run(&["run", "data/missing.json"]).code(1).says(&["can't read `data/missing.json`"]);
    program.feed(&["run", "-"], "delete data/config.old.json").says(&["planned by"]);
    program.feed(&["run", "-"], "{\"nodes\": [").code(3).says(&["stdin:1:11"]);
    program.file("two words.json", small().to_string());
    assert_eq!(program.run(&["run", "two words.json"]).code(0).out, "42\n", "an existing file is the plan");
}

#[test]
fn several_final_nodes_each_print_their_output_under_their_name() {
    let program = Program::new();
    let file = plan(&program, json!([{"id": "a", "value": 1}, {"id": "b", "value": "x\ny"}, {"id": "c", "value": 2, "depends_on": ["a"]}]));
    assert_eq!(program.run(&["run", &file]).code(0).out, "== b\nx\ny\n== c\n2\n");
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
fn started(program: &Program, args: &[&str]) -> std::process::Child {
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

#[test]
fn export_writes_every_form_and_reads_its_own_back() {
    let program = Program::new();
    let agents = json!([
        {"id": "find", "agent": "web_researcher", "objective": "Find \"it\""},
        {"id": "tell", "agent": "writer", "objective": "Tell {{find.result}}", "depends_on": ["find"]},
    ]);
    let file = plan(&program, agents.clone());
    let export = |form: &str| program.run(&["export", &file, "--format", form]).code(0);
    assert_eq!(export("native").json(), json!({"dagdeck": 1, "goal": "test", "nodes": agents}));
    let orchestration = export("orchestration").says(&["the orchestration format doesn't hold all of the plan:", "  goal: "]);
    assert_eq!(keys(&orchestration.json()["nodes"][0]), ["id", "agent", "objective", "depends_on"]);
    let again = program.feed(&["export", "-", "--format", "orchestration"], orchestration.out.clone()).code(0);
    assert_eq!(again.out, orchestration.out);
    for (form, words) in [("mermaid", "flowchart"), ("dot", "digraph"), ("tree", "\ntell  "), ("text", "│ tell")] {
        let exported = export(form);
        assert!(exported.out.contains(words) && exported.out.contains("find"), "{form}: {exported}");
    }
    program.run(&["run", &program.file("small.json", small().to_string())]).code(0);
    assert_eq!(program.run(&["export", "last"]).code(0).json(), small());
    program.run(&["export", "nothing"]).code(1).says(&["`nothing`", "hint: "]);
    program.run(&["export", &file, "--format", "svg"]).code(2).says(&["svg", "mermaid"]);
}

#[test]
fn a_plan_of_another_system_is_read_from_yaml_and_written_in_every_form_that_holds_it() {
    let program = Program::new();
    let text = "nodes:\n  - {id: hi, agent_name: writer, is_entry: true}\n  - {id: bye, agent_name: writer, is_exit: true}\nconnections:\n  - {source_id: hi, target_id: bye, condition: hi.result}\n";
    let file = program.file("talk.yaml", text);
    let export = |options: &[&str]| program.run(&[&["export", &file][..], options].concat()).code(0);
    let workflow = export(&["--format", "workflow"]);
    assert_eq!((&workflow.json()["connections"][0]["condition"], workflow.err.as_str()), (&json!("hi.result"), ""));
    let yaml = export(&["--format", "workflow", "--yaml"]);
    assert!(yaml.out.starts_with("nodes:\n  - id: hi\n    agent_name: writer\n    is_entry: true\n"), "{yaml}");
    let again = program.feed(&["export", "-", "--format", "workflow"], yaml.out.clone()).code(0);
    assert_eq!(again.out, workflow.out);
    assert_eq!(export(&[]).json()["dialect"], "workflow");
    export(&["--format", "orchestration"]).says(&["  connections[0].condition: ", "  nodes[0].is_entry: "]);
    program.run(&["export", &file, "--format", "dot", "--yaml"]).code(2).says(&["`dot` is a drawing", "hint: "]);
    let wrong = program.file("wrong.yaml", text.replace("target_id", "target"));
    let slip = program.run(&["validate", &wrong]).code(0);
    assert!(slip.out.contains("wrong.yaml:5:29: warning[read-as] connections[0].target: `target` is read as `target_id`"), "{slip}");
}

#[test]
fn diff_tells_what_differs_and_by_its_exit_code_whether_something_does() {
    let program = Program::new();
    let node = |objective: &str| json!({"id": "tell", "agent": "writer", "objective": objective});
    let old = program.file("old.json", json!({"dagdeck": 1, "nodes": [node("say it"), {"id": "gone", "value": 1}]}).to_string());
    let new =
        program.file("new.json", json!({"dagdeck": 1, "nodes": [{"id": "first", "value": "\u{1b}[2J"}, node("say that")]}).to_string());
    let told = program.run(&["diff", &old, &new]).code(4).says(&["1 added, 1 removed, 1 changed"]);
    assert!(told.out.contains("~ node  tell  objective\n    - say it\n    + say that\n"), "{told}");
    assert!(told.out.contains("+ node  first") && told.out.contains("- node  gone") && !told.out.contains('\u{1b}'), "{told}");
    let pieces = program.run(&["diff", &old, &new, "--json"]).code(4).json();
    assert_eq!((&pieces["equal"], pieces["pieces"].as_array().unwrap().len()), (&json!(false), 3));
    program.run(&["diff", &old, &old]).code(0).says(&["equal"]);
    program.run(&["diff", &old, "missing.json"]).code(1).says(&["missing.json", "hint: "]);
    program.run(&["diff", "-", "-"]).code(2).says(&["stdin"]);
}

/// What `ls --json` tells of a run.
const LISTED: [&str; 12] = [
    "run",
    "status",
    "interrupted_by",
    "driver",
    "goal",
    "workspace",
    "created_at",
    "finished_at",
    "nodes",
    "waiting",
    "parent",
    "imported_at",
];

/// What `show --json` tells of a node.
const SHOWN: [&str; 20] = [
    "id",
    "state",
    "final",
    "interrupted",
    "reason",
    "result",
    "mark",
    "notes",
    "model",
    "private",
    "error",
    "generation",
    "stale",
    "attempts",
    "started_at",
    "finished_at",
    "tokens",
    "estimated",
    "cost_usd",
    "metadata",
];

#[test]
fn the_doctor_names_the_path_of_config_toml_also_when_there_is_none() {
    let program = Program::new();
    let settings = |program: &Program| {
        let out = program.run(&["doctor"]).out;
        out.lines().find(|line| line.contains("configuration")).unwrap().to_owned()
    };
    let none = settings(&program);
    assert!(none.contains("all settings have their defaults; settings go in ") && none.matches("config.toml").count() == 2, "{none}");
    program.configure("[limits]\nslots = 3\n");
    assert_eq!(settings(&program).matches("config.toml").count(), 1);
    assert!(program.run(&["ls", "--help"]).code(0).out.contains("`dagdeck doctor` shows where settings are"));
}

#[test]
fn ls_and_show_tell_about_runs() {
    let program = Program::new();
    program.run(&["ls"]).code(0).says(&["no runs", "hint: "]);
    program.run(&["show"]).code(1).says(&["no runs in this workspace yet", "hint: "]);
    program.run(&["run", &program.file("small.json", small().to_string())]).code(0);
    let listed = program.json(&["ls", "--json"]);
    assert_eq!(keys(&listed[0]), LISTED);
    let shown = program.json(&["show", "last", "--json"]);
    assert_eq!(keys(&shown), ["run", "status", "interrupted_by", "reason", "goal", "counts", "planning", "nodes", "edges", "gates"]);
    assert_eq!(keys(&shown["nodes"][1]), SHOWN);
    assert_eq!((&shown["nodes"][1]["result"], &shown["run"]), (&json!(42), &listed[0]["run"]));

    let name = listed[0]["run"].as_str().unwrap();
    let end = &name[name.len() - 8..];
    let text = program.run(&["show", end]).code(0);
    let head = text.out.lines().next().unwrap();
    assert!(head.starts_with(&format!("{end} succeeded, 2/2 done, elapsed ")) && head.ends_with(": double it"), "{text}");
    assert_eq!(program.json(&["show", end, "twice", "--json"])["result"], 42);
    program.run(&["show", end, "thrice"]).code(1).says(&["no node `thrice`", "sum, twice"]);
    program.run(&["show", "nothing"]).code(1).says(&["`nothing` is neither a run nor a node", "`dagdeck ls`"]);
    program.run(&["ls", "-n", "0"]).code(2).says(&["0", "--limit"]);

    let other = tempfile::tempdir().unwrap();
    let elsewhere = program.run(&["ls", "--json", "--workspace", other.path().to_str().unwrap()]);
    assert_eq!(elsewhere.json(), json!([]), "runs belong to their workspace");
}

#[test]
fn a_run_is_looked_into_by_why_trace_timeline_and_diff() {
    let program = Program::new();
    let nodes = json!([
        {"id": "sum", "tool": "calculator", "args": {"expression": "20 + {{inputs.n}}"}},
        {"id": "twice", "code": "console.log('at work'); return Number(deps.sum.output) * 2", "depends_on": ["sum"]},
        {"id": "gone", "value": 1, "when": "sum > 100", "depends_on": ["sum"]},
    ]);
    let file = program.file("plan.json", json!({"dagdeck": 1, "inputs": {"n": 1}, "nodes": nodes}).to_string());
    program.run(&["run", &file]).code(0);
    let first = program.json(&["show", "--json"])["run"].as_str().unwrap().to_owned();
    let shown = program.run(&["show", "last"]).code(0);
    let head = shown.out.lines().next().unwrap();
    assert!(
        head.contains(" succeeded, 2/3 done, 1 not run, elapsed ") && !head.contains(':'),
        "a run without a goal has no colon: {shown}"
    );
    let node = program.run(&["show", "last", "twice"]).code(0);
    assert!(node.out.contains("at work"), "{node}");
    assert_eq!(program.json(&["show", "last", "twice", "--json"])["log"][0]["text"], "at work");

    let why = program.run(&["why", "last", "gone"]).code(0);
    assert!(why.out.starts_with("`gone` was skipped"), "{why}");
    assert_eq!(program.json(&["why", "last", "gone", "--json"])["links"][0]["waits_for"], "nothing");
    program.run(&["why", "last", "twise"]).code(1).says(&["no node `twise`", "did you mean `twice`?"]);

    let trace = program.run(&["trace", "last", "twice"]).code(0);
    for words in ["twice  code, succeeded", "  sum  (as a dependency)  calculator, succeeded", "called calculator", "inputs of the plan: n"]
    {
        assert!(trace.out.contains(words), "{words}\n{trace}");
    }
    let traced = program.json(&["trace", "last", "twice", "--json"]);
    assert_eq!((&traced["steps"][1]["node"], &traced["rows"][1]["came"]["how"]), (&json!("sum"), &json!("edge")));

    let timeline = program.run(&["show", "last", "--timeline"]).code(0).says(&["critical path"]);
    assert!(timeline.out.lines().any(|line| line.starts_with("* twice") && line.ends_with("after sum")), "{timeline}");
    let chart = &program.json(&["show", "last", "--timeline", "--json"])["timeline"];
    assert_eq!(chart["critical"], json!(["sum", "twice"]));
    assert!(chart["bound_ms"].as_u64() <= chart["makespan_ms"].as_u64(), "{chart}");

    program.run(&["run", &file, "--set", "n=2"]).code(0);
    let second = program.json(&["show", "--json"])["run"].as_str().unwrap().to_owned();
    let diff = program.run(&["diff", &first, &second, "--results"]).code(4).says(&["1 node the same, 2 different"]);
    assert!(diff.out.contains("result  twice") && diff.out.contains("42") && diff.out.contains("44"), "{diff}");
    let told = program.run(&["diff", &first, &second, "--results", "--json"]).code(4).json();
    assert_eq!(told["results"]["nodes"][1]["change"], "result");
    program.run(&["diff", &file, &second, "--results"]).code(1).says(&["compares two runs"]);
}

#[test]
fn every_subcommand_shows_the_same_elapsed_time_of_a_run() {
    let program = Program::new();
    let file = program.file("plan.json", small().to_string());
    let ended = program.run(&["run", &file]).code(0).err;
    let elapsed = |text: &str| {
        let (_, after) = text.split_once("elapsed ").unwrap_or_else(|| panic!("{text}"));
        after.split([',', ' ', ':', '\n']).next().unwrap().to_owned()
    };
    let expected = elapsed(&ended);
    for args in [&["ls"][..], &["show", "last"], &["show", "last", "--timeline"], &["replay", "last"]] {
        assert_eq!(elapsed(&program.run(args).code(0).out), expected, "{args:?}");
    }
    let diff = program.run(&["diff", "last", "last", "--results"]).code(0).out;
    assert_eq!((elapsed(&diff), diff.matches(&format!("elapsed {expected}, work ")).count()), (expected, 2), "{diff}");
}

#[test]
fn an_export_that_leaves_everything_out_is_an_error_that_names_the_form_which_holds_it() {
    let program = Program::new();
    let agents = program.file("agents.json", r#"{"nodes": [{"id": "a", "agent": "writer", "objective": "o", "timeout_s": 3}]}"#);
    let ended = program.run(&["export", &agents, "--format", "tools"]).code(1).says(&["can't hold any node", "--format orchestration"]);
    assert_eq!(ended.out, "");
    let code = program.file("code.json", r#"{"nodes": [{"id": "a", "code": "return 1"}, {"id": "b", "merge": true}]}"#);
    program.run(&["export", &code, "--format", "workflow"]).code(1).says(&["--format native"]);
    program.run(&["export", &code, "--format", "stages"]).code(0).says(&["`a` is left out"]);
}

#[test]
fn an_expression_of_the_calculator_that_is_none_is_a_finding() {
    let program = Program::new();
    let node = |id: &str, expression: &str| json!({"id": id, "tool": "calculator", "args": {"expression": expression}});
    let nodes = [node("a", "difference between 69 and 55"), node("b", "{{a}} + 1"), node("c", "the age of the elder one")];
    let file = program.file("plan.json", json!({ "nodes": nodes }).to_string());
    let findings = program.run(&["validate", &file]).code(3).out;
    assert_eq!(findings.matches("bad-arguments").count(), 1, "{findings}");
    assert!(
        findings.contains("`the age of the elder one` can't be calculated") && findings.contains("such as `difference between"),
        "{findings}"
    );
}

#[test]
fn every_code_of_a_finding_is_published_with_its_severity() {
    let codes = Program::new().run(&["schema", "findings"]).code(0).json();
    let of = |code: &str| codes.as_array().unwrap().iter().find(|row| row["code"] == code).unwrap()["severity"].clone();
    assert_eq!((of("cycle"), of("no-entry"), of("read-as")), (json!("error"), json!("error"), json!("warning")));
}

#[test]
fn plan_prints_a_plan_that_validates_and_fits_the_published_schema() {
    let program = Program::new();
    let schema = program.run(&["schema"]).code(0).json();
    let planned = program.run(&["plan", "count the lines of every file and write them to lines.md", "--json"]).code(0).json();
    assert_eq!(keys(&planned), ["plan", "origin", "remarks", "calls", "changes", "valid", "findings"]);
    let faults: Vec<String> = jsonschema::validator_for(&schema).unwrap().iter_errors(&planned["plan"]).map(|e| e.to_string()).collect();
    assert_eq!(faults, Vec::<String>::new());
    let text = program.run(&["plan", "count the lines of every file and write them to lines.md"]).code(0).says(&["planned by "]);
    assert_eq!(text.json(), planned["plan"]);
    program.feed(&["validate", "-"], text.out).code(0);
    assert!(program.feed(&["plan", "-", "--format", "tree"], "find all TODO comments").code(0).out.contains("TODO"));
    for empty in ["", "  \n"] {
        program.run(&["plan", empty]).code(2).says(&["the request is empty", "hint: "]);
        program.run(&["run", empty]).code(2).says(&["the request is empty", "hint: "]);
    }
}

#[test]
fn a_request_may_end_in_a_files_name() {
    let program = Program::new();
    program.file("people.csv", "name\nAnn\n");
    program.run(&["run", "turn people.csv into people.json", "--yes"]).code(0).says(&["planned by "]);
    assert_eq!(serde_json::from_str::<Value>(&program.read("people.json")).unwrap(), json!([{ "name": "Ann" }]));
}

#[test]
fn agents_tools_models_and_doctor_list_what_there_is() {
    let program = Program::new();
    let agents = program.json(&["agents", "--json"]);
    assert!(agents.as_array().unwrap().iter().any(|agent| agent["name"] == "deep_reasoner"), "{agents}");
    assert!(program.run(&["agents"]).code(0).out.contains("deep_reasoner"));
    let tools = program.json(&["tools", "--json"]);
    let tool = |name: &str| tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone();
    let listed = program.run(&["tools"]).code(0).says(&["off: not set up"]);
    assert!(listed.out.lines().any(|line| line.starts_with("web_search ") && line.contains("  off  ")), "{listed}");
    assert_eq!((&tool("write_file")["risk"], &tool("write_file")["verdict"]), (&json!("write"), &json!("ask")));
    assert!(tool("read_file")["input_schema"]["properties"]["path"].is_object());
    assert!(program.run(&["tools"]).code(0).out.contains("run_command"));
    assert_eq!(
        program.json(&["models", "--json"]),
        json!({"used": null, "why": null, "models": ["operator", "rehearsal"], "classes": {"haiku": null, "opus": null, "sonnet": null}})
    );
    program.run(&["models"]).code(0).says(&["no model is set up", "OPENAI_API_KEY"]);
    let checks = program.run(&["doctor", "--json"]).json();
    for check in checks.as_array().unwrap() {
        assert!(["fine", "absent", "broken"].contains(&check["health"].as_str().unwrap()), "{check}");
        assert!(check["health"] == "fine" || check["remedy"].is_string(), "every fault has a remedy: {check}");
    }
}

#[test]
fn completions_and_man_are_written_for_every_verb() {
    let program = Program::new();
    let man = program.run(&["man"]).code(0).out;
    assert!(man.contains(".TH dagdeck 1"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = program.run(&["completions", shell]).code(0).out;
        for verb in ["validate", "export", "doctor"] {
            assert!(text.contains(verb), "{shell} lacks {verb}");
        }
    }
    program.run(&["completions", "tcsh"]).code(2).says(&["tcsh", "zsh"]);
    program.run(&["schema", "card"]).code(2).says(&["card", "plan"]);
}

#[test]
fn command_lines_that_make_no_sense_are_usage_errors_with_a_way_out() {
    let program = Program::new();
    for args in [vec!["run"], vec!["validate"], vec!["skip"], vec!["plan"], vec!["completions"], vec!["run", "x", "--bogus"]] {
        program.run(&args).code(2).says(&["error: ", "--help"]);
    }
    let home = Ended::of(program.command(&["skip", "last", "--bogus"]).env("DAGDECK_HOME", "/tmp")).code(2);
    assert!(home.err.contains("Usage: dagdeck skip [OPTIONS] [RUN] <NODE>\n"), "no false requirement: {home}");
    program.run(&["list my files"]).code(2).says(&["hint: `dagdeck plan "]);
    program.run(&[]).code(2).says(&["the console needs a terminal", "hint: "]);
    program.run(&["ls", "--workspace", "/nowhere/at/all"]).code(1).says(&["/nowhere/at/all", "--workspace"]);
    program.run(&["ls", "--workspace", &program.file("file.txt", "x")]).code(1).says(&["file.txt", "not a folder", "--workspace"]);
    assert!(program.run(&["--version"]).code(0).out.starts_with("dagdeck "));
}

#[test]
fn a_configuration_that_can_not_be_read_is_named_with_its_line() {
    for (text, words) in [
        ("[limits]\nslots = \"many\"\n", "config.toml:2: `slots`"),
        ("[console]\n\nthem = \"dark\"\n", "config.toml:3: there is no setting `them`"),
        ("[limits\n", "config.toml:1"),
        ("\0", "config.toml:1"),
    ] {
        let program = Program::new();
        program.configure(text);
        for args in [vec!["tools"], vec!["run", "find all TODO comments"]] {
            program.run(&args).code(1).says(&["error: ", words, "hint: "]);
        }
        let doctor = program.run(&["doctor"]).code(1);
        assert!(doctor.out.contains("BROKEN  configuration") && doctor.out.contains(words), "{doctor}");
    }
    let program = Program::new();
    program.file(".dagdeck/config.toml", "[permissions]\nallow = [\"*\"]\n");
    program.run(&["tools", "--trust"]).code(1).says(&["config.toml:2", "a project can't set"]);
}

#[test]
fn a_card_that_can_not_be_read_is_told_and_the_others_stay() {
    let program = Program::new();
    program.file(".dagdeck/agents/broken.md", "---\nname: broken\ndescription: x\ntype: wizard\n---\nHello.\n");
    let listed = program.run(&["agents", "--trust"]).code(0).says(&["broken.md:4: ", "wizard", "hint: "]);
    assert!(listed.out.contains("writer"));
}

/// The verbs that only look at a plan or at what there is.
const LOOKERS: [&[&str]; 5] = [&["validate", "plan.json"], &["export", "plan.json"], &["agents"], &["tools"], &["models"]];

#[test]
fn a_damaged_journal_is_told_with_a_way_out_and_stops_only_what_needs_it() {
    for damage in [&b"hello, I am no database"[..], &b"SQLite format 3\0"[..], &[0xAB; 10_000][..]] {
        let program = Program::new();
        plan(&program, json!([{"id": "a", "value": 1}]));
        std::fs::create_dir(program.home().join("state")).unwrap();
        let journal = program.home().join("state/journal.db");
        std::fs::write(&journal, damage).unwrap();
        for args in [vec!["ls"], vec!["show"], vec!["run", "plan.json"], vec!["export", "last"]] {
            program.run(&args).code(1).says(&["error: ", "journal.db", "hint: "]);
        }
        assert_eq!(std::fs::read(&journal).unwrap(), damage, "nothing is lost");
        let doctor = program.run(&["doctor"]).code(1);
        assert!(doctor.out.contains("BROKEN  journal"), "{doctor}");
        for args in LOOKERS {
            program.run(args).code(0);
        }
    }
}

#[test]
fn a_home_that_can_not_be_written_is_told_and_stops_only_what_needs_it() {
    let program = Program::new();
    plan(&program, json!([{"id": "a", "value": 1}]));
    let home = program.file("a-file", "x") + "/home";
    let run = |args: &[&str]| Ended::of(program.command(args).env("DAGDECK_HOME", &home));
    for args in [vec!["ls"], vec!["run", "plan.json"]] {
        run(&args).code(1).says(&["error: ", "a-file", "hint: ", "--home"]);
    }
    for args in LOOKERS {
        run(args).code(0);
    }
}

#[test]
fn without_a_home_variable_everything_still_works() {
    let program = Program::new();
    let file = program.file("plan.json", small().to_string());
    for args in [vec!["run", &file], vec!["ls"], vec!["doctor", "--json"], vec!["agents"]] {
        Ended::of(program.command(&args).env_remove("HOME").env_remove("USER")).code(0);
    }
}

#[test]
fn many_programs_at_once_share_one_journal() {
    let program = Program::new();
    let file = program.file("plan.json", small().to_string());
    let children: Vec<_> = (0..6).map(|_| started(&program, &["run", &file])).collect();
    for child in children {
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    let runs = program.json(&["ls", "--json"]);
    let done: Map<String, Value> =
        runs.as_array().unwrap().iter().map(|run| (run["run"].as_str().unwrap().to_owned(), run["status"].clone())).collect();
    assert_eq!(done.len(), 6);
    assert!(done.values().all(|status| status == "succeeded"), "{done:?}");
}
