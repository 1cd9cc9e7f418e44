//! Runs that a shell leaves to the host: started there, followed, waited for, replied to from the command line.

use super::support::{hosted::Hosted, program::Ended};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

/// A write that waits for a yes.
fn gated(hosted: &Hosted) -> String {
    let plan = json!({"dagdeck": 1, "goal": "write it", "nodes": [
        {"id": "six", "tool": "calculator", "args": {"expression": "2 * 3"}},
        {"id": "write", "tool": "write_file", "args": {"path": "out.txt", "content": "{{six}}"}, "depends_on": ["six"]},
        {"id": "say", "value": "wrote {{six}}", "depends_on": ["write"]},
    ]});
    hosted.program.file("plan.json", plan.to_string())
}

/// Starts it in the host; gives the run's id.
fn detached(hosted: &Hosted, args: &[&str]) -> String {
    let ended = hosted.program.run(&[&["run", "--detach"], args].concat()).code(0);
    assert!(ended.err.contains("dagdeck attach "), "{ended}");
    ended.out.trim().to_owned()
}

/// A command line that goes on while the test does something else.
fn spawned(hosted: &Hosted, args: &[&str]) -> Child {
    let program = &hosted.program;
    let mut command = Command::new(env!("CARGO_BIN_EXE_dagdeck"));
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8").env("USER", "tester");
    command.env("HOME", program.home()).env("DAGDECK_HOME", program.home().join("state")).current_dir(program.workspace());
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn ended(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended { code: output.status.code().unwrap(), out: text(&output.stdout), err: text(&output.stderr) }
}

#[test]
fn a_detached_run_is_waited_for_and_its_gate_is_replied_to_from_the_shell() {
    let hosted = Hosted::new();
    let run = detached(&hosted, &[&gated(&hosted)]);
    hosted.program.run(&["wait", &run]).code(7).says(&["gate at write (write_file)", "dagdeck approve "]);
    let host = hosted.until("the run goes on", |host| host["runs"] == json!([run]));
    let approved = hosted.program.run(&["approve", &run]).code(0).says(&["succeeded"]);
    assert_eq!(approved.out, "wrote 6\n");
    assert_eq!(hosted.program.read("out.txt").trim(), "6");
    assert_eq!(hosted.program.run(&["wait", &run]).code(0).out, "wrote 6\n");
    assert_eq!(hosted.host()["process"], host["process"]);
    let events = hosted.program.run(&["logs", "--json", &run]).code(0).lines();
    let reply = events.iter().find(|event| event["type"] == "gate_decided" || event["event"]["type"] == "gate_decided");
    assert!(reply.is_some_and(|reply| reply.to_string().contains("\"via\":\"cli\"")), "{events:?}");
}

#[test]
fn flags_decide_the_gates_of_a_detached_run() {
    let hosted = Hosted::new();
    let run = detached(&hosted, &["--yes", &gated(&hosted)]);
    assert_eq!(hosted.program.run(&["wait", &run]).code(0).out, "wrote 6\n");
    let run = detached(&hosted, &["--deny", "write_file", &gated(&hosted)]);
    hosted.program.run(&["wait", &run]).code(5);
    hosted.program.run(&["run", "--detach", "--approve", "[", "plan.json"]).code(2);
}

#[test]
fn actions_of_the_shell_reach_a_run_in_the_host_and_refusals_come_back() {
    let hosted = Hosted::new();
    let run = detached(&hosted, &[&gated(&hosted)]);
    hosted.program.run(&["wait", &run]).code(7);
    hosted.program.run(&["pause", &run]).code(0).says(&["paused", "goes on in the host"]);
    hosted.program.run(&["undo", &run]).code(0).says(&["undid: "]);
    hosted.program.run(&["approve", &run, "six"]).code(1).says(&["no gate is open at `six`"]);
    hosted.program.run(&["cancel", &run]).code(0).says(&["cancelled"]);
    hosted.program.run(&["wait", &run]).code(6);
    hosted.program.run(&["approve", &run]).code(1);
    assert!(!hosted.program.workspace().join("out.txt").exists());
}

#[test]
fn a_run_is_followed_to_its_end_in_another_process() {
    let hosted = Hosted::new();
    let run = detached(&hosted, &[&gated(&hosted)]);
    hosted.program.run(&["wait", &run]).code(7);
    let mut logs = spawned(&hosted, &["logs", "-f", &run]);
    let waits = spawned(&hosted, &["wait", "--past-gates", &run]);
    let mut lines = BufReader::new(logs.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("write")), "the gate is told before its reply");
    hosted.program.run(&["approve", &run]).code(0);
    let rest: Vec<String> = lines.collect();
    assert!(rest.iter().any(|line| line.contains("succeeded")), "{rest:?}");
    assert!(logs.wait().unwrap().success());
    assert_eq!(ended(waits).code(0).out, "wrote 6\n");
}

#[test]
fn whoever_waits_hears_that_the_host_was_killed() {
    let hosted = Hosted::new();
    let plan = json!({"dagdeck": 1, "goal": "long", "nodes": [{"id": "long", "tool": "run_command", "args": {"command": "sleep 1000"}}]});
    let plan = hosted.program.file("plan.json", plan.to_string());
    let run = detached(&hosted, &["--yes", &plan]);
    let mut logs = spawned(&hosted, &["logs", "-f", &run]);
    let mut lines = BufReader::new(logs.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("long")), "it has begun");
    let waits = spawned(&hosted, &["wait", &run]);
    hosted.kill();
    ended(waits).code(1).says(&["no process drives run", "dagdeck resume"]);
    assert!(logs.wait().unwrap().success());
}

#[test]
fn a_host_that_is_killed_at_any_instant_loses_nothing_and_does_nothing_twice() {
    let effects = ["effect-1", "effect-2", "effect-3"];
    let command = |id: &str| json!({"id": id, "tool": "run_command", "args": {"command": format!("echo {id} >> effects.log")}, "depends_on": ["start"]});
    let mut nodes = vec![json!({"id": "start", "tool": "calculator", "args": {"expression": "6 * 7"}})];
    nodes.extend(effects.map(command));
    nodes.push(json!({"id": "join", "value": "all there", "depends_on": effects}));
    for instant in [1, 4, 7, 10, 13, 16, 19, 24] {
        let hosted = Hosted::new();
        let plan = hosted.program.file("plan.json", json!({"dagdeck": 1, "goal": "survive", "nodes": nodes}).to_string());
        let run = detached(&hosted, &["--yes", &plan]);
        // Attached consoles and those who wait for the run are there when it happens.
        let mut deck = hosted.attach();
        deck.sees("survive");
        let mut logs = spawned(&hosted, &["logs", "-f", "--json", &run]);
        let told: Vec<String> = BufReader::new(logs.stdout.take().unwrap()).lines().map_while(Result::ok).take(instant).collect();
        hosted.kill();
        logs.wait().unwrap();
        deck.sees("the host has ended");
        drop(deck);
        let before = states(&hosted);
        // What is unknown is skipped: it may have happened.
        let resumed = hosted.program.run(&["resume", &run, "--yes", "--unknown", "skip"]);
        let now: Vec<String> = hosted.program.run(&["logs", "--json", &run]).code(0).out.lines().map(str::to_owned).collect();
        assert_eq!(told[..], now[..told.len()], "what was told is what is journalled");
        let log = std::fs::read_to_string(hosted.program.workspace().join("effects.log")).unwrap_or_default();
        for (id, state) in states(&hosted) {
            let times = log.lines().filter(|line| *line == id).count();
            assert!(times <= 1, "{id} {times} times: {log}\n{resumed}");
            if effects.contains(&id.as_str()) && state == "succeeded" {
                assert_eq!(times, 1, "{id}");
            }
            if before[&id] == "succeeded" {
                assert_eq!(state, "succeeded", "{id}");
            }
        }
    }
}

fn states(hosted: &Hosted) -> BTreeMap<String, String> {
    let shown = hosted.program.json(&["show", "last", "--json"]);
    let text = |node: &Value, field: &str| node[field].as_str().unwrap().to_owned();
    shown["nodes"].as_array().unwrap().iter().map(|node| (text(node, "id"), text(node, "state"))).collect()
}

#[test]
fn what_can_not_be_detached_is_refused_before_anything_is_planned() {
    let hosted = Hosted::new();
    hosted.program.run(&["run", "--detach", "--trust", "list the files"]).code(2).says(&["`--trust` holds for one process"]);
    hosted.program.run(&["wait", "nope"]).code(1);
    hosted.program.run(&["logs"]).code(1);
    assert_eq!(hosted.host(), Value::Null);
}
