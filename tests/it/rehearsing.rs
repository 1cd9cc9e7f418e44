//! Plans that need a model where none is set up: refused, rehearsed, or answered by a person.

use super::support::program::Program;
use serde_json::{Value, json};

/// Summarizes a file into another one, for which a model is needed, and writes a third one, for which none is.
fn plan(program: &Program) -> String {
    program.file("notes.txt", "the notes");
    let nodes = json!([
        {"id": "read", "tool": "read_file", "args": {"path": "notes.txt"}},
        {"id": "sum", "agent": "writer", "objective": "Summarize {{read.result}}", "depends_on": ["read"]},
        {"id": "write", "tool": "write_file", "args": {"path": "sum.md", "content": "{{sum.title}}"}, "depends_on": ["sum"]},
        {"id": "copy", "tool": "write_file", "args": {"path": "copy.txt", "content": "{{read.result}}"}, "depends_on": ["read"]},
    ]);
    program.file("plan.json", json!({"dagdeck": 1, "goal": "test", "nodes": nodes}).to_string())
}

fn files(program: &Program) -> Vec<String> {
    let entries = std::fs::read_dir(program.workspace()).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn states(program: &Program) -> Value {
    let shown = program.json(&["show", "--json"]);
    let nodes = shown["nodes"].as_array().unwrap().iter();
    nodes.map(|node| (node["id"].as_str().unwrap().to_owned(), node["state"].clone())).collect::<serde_json::Map<_, _>>().into()
}

#[test]
fn a_rehearsed_run_changes_no_file_and_exits_8() {
    let program = Program::new();
    let plan = plan(&program);
    let before = files(&program);
    let ended = program
        .run(&["run", &plan, "--rehearse", "--yes"])
        .code(8)
        .says(&[": what needs a model or would change something was only rehearsed"]);
    assert!(
        ended.out.contains("[rehearsed] would call write_file: {\"path\":\"sum.md\",\"content\":\"[rehearsed: sum.title]\"}"),
        "{ended}"
    );
    assert_eq!(files(&program), before);
    assert_eq!(states(&program), json!({"read": "succeeded", "sum": "rehearsed", "write": "rehearsed", "copy": "rehearsed"}));
    assert!(program.run(&["ls"]).code(0).out.contains("rehearsed"));
    program.run(&["show", "last", "sum"]).code(0);
    let replayed = program.run(&["run", &plan, "--model", "rehearsal", "--yes", "--json"]).code(8);
    let last: Value = serde_json::from_str(replayed.out.lines().last().unwrap()).unwrap();
    assert_eq!((&last["outcome"], &last["exit"]), (&json!("rehearsed"), &json!(8)));
    assert_eq!(files(&program), before);
}

#[test]
fn a_plan_that_needs_a_model_and_has_none_runs_nothing_and_exits_8() {
    let program = Program::new();
    let plan = plan(&program);
    program
        .run(&["run", &plan, "--yes"])
        .code(8)
        .says(&["error: node `sum` needs a model: no model is set up, so nothing ran", "--rehearse"]);
    assert_eq!(program.json(&["ls", "--json"]), json!([]));
}

#[test]
fn a_broken_model_setting_is_an_error_and_never_a_rehearsal() {
    let program = Program::new().env("OPENAI_BASE_URL", "no address");
    let plan = plan(&program);
    program.run(&["run", &plan, "--yes"]).code(1).says(&["node `sum` needs a model: the address in OPENAI_BASE_URL is wrong"]);
    program.run(&["run", &plan, "--rehearse"]).code(8);
    let free = program.file("free.json", json!({"dagdeck": 1, "goal": "x", "nodes": [{"id": "a", "value": 1}]}).to_string());
    program.run(&["run", &free]).code(0);
}
