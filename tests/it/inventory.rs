//! What there is of agents and tools, and how it was used: on the command line and in the console.

use super::support::program::Program;
use serde_json::{Value, json};

fn plan(program: &Program, nodes: &Value) -> String {
    program.file("plan.json", json!({"dagdeck": 1, "goal": "g", "nodes": nodes}).to_string())
}

fn entry<'a>(list: &'a Value, name: &str) -> &'a Value {
    list.as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap()
}

#[test]
fn tools_and_agents_say_what_decides_about_them_and_how_they_were_used() {
    let program = Program::new();
    program.file("a.txt", "one\n");
    let read = |id: &str, path: &str| json!({"id": id, "title": id, "tool": "read_file", "args": {"path": path}});
    let file = plan(&program, &json!([read("a", "a.txt"), read("b", "ghost.txt")]));
    program.run(&["run", &file]).code(4);
    let tools = program.json(&["tools", "--json"]);
    let used = &entry(&tools, "read_file")["used"];
    assert_eq!((&used["times"], &used["failed"]), (&json!(2), &json!(1)), "{used}");
    assert!(used["last_error"].as_str().unwrap().contains("ghost.txt"), "{used}");
    assert_eq!(entry(&tools, "write_file")["rule"], "its risk is write, where `permissions.write` says ask");
    assert_eq!(entry(&tools, "write_file")["used"]["times"], 0);
    let listed = program.run(&["tools"]).code(0);
    assert!(listed.out.contains("(2 calls, 1 failed, last: "), "{listed}");
    let asked = plan(&program, &json!([{"id": "a", "title": "a", "agent": "operator", "objective": "why?"}]));
    program.run(&["run", &asked]).code(7);
    assert_eq!(entry(&program.json(&["agents", "--json"]), "operator")["used"]["times"], 1);
    program.run(&["agents"]).code(0).says(&["nodes are counted over all runs of this workspace that are kept"]);
}

#[test]
fn the_console_ends_a_rule_that_a_reply_made() {
    let program = Program::new();
    let file = plan(&program, &json!([{"id": "a", "title": "a", "tool": "run_command", "args": {"command": "id -u"}}]));
    program.run(&["run", &file]).code(7);
    program.run(&["approve", "last", "a", "--for", "project"]).code(0);
    let mut deck = program.console_with(&["console", "plan.json"], (110, 34));
    deck.sees("id -u").send("8").sees("agents & tools").sees("rule    allow run_command");
    deck.send("d").sees("end rule 1?").send("y").loses("rule    allow run_command");
    deck.send("q");
    assert_eq!(program.json(&["permissions", "--json"])["kept"], json!([]));
}

#[test]
fn the_console_tries_a_tool_by_a_form_whose_fields_are_typed_at_once() {
    let program = Program::new();
    plan(&program, &json!([{"id": "a", "title": "Look", "tool": "current_time", "args": {}}]));
    let mut deck = program.console_with(&["console", "plan.json"], (110, 34));
    deck.sees("Look").send("8").sees("agents & tools");
    deck.send("G").sees("Write a whole file").send("t").sees("try write_file");
    deck.send("\x13").sees("is needed: write something there");
    deck.send("made.txt\t").sees("made.txt").send("hello").sees("hello").send("\x13").sees("Try write_file").sees("1 needs you");
    deck.send("i").sees("keys active").send("a").sees("succeeded").send("q");
    assert_eq!(program.read("made.txt"), "hello");
}
