//! Orders that real plans write at a phase of steps or beside the nodes: each is followed or is an error, and none is dropped.

use super::opening::told;
use super::support::program::Program;
use serde_json::{Value, json};

#[test]
fn what_a_group_of_steps_says_of_its_order_always_counts_and_nothing_of_it_is_dropped() {
    let program = Program::new();
    let order = |document: &Value| {
        program.file("plan.json", document.to_string());
        program.run(&["validate", "--fix", "plan.json"]).code(0);
        let fixed: Value = serde_json::from_str(&program.read("plan.json")).unwrap();
        let waits = |node: &Value| (node["id"].as_str().unwrap().to_owned(), node["depends_on"].clone());
        (fixed["nodes"].as_array().unwrap().iter().map(waits).collect::<Vec<_>>(), fixed)
    };
    let own = json!({"phases": [{"id": "core", "steps": [{"id": "a", "value": 1}]},
        {"id": "later", "depends_on": ["core"], "steps": [{"id": "b", "value": 2}, {"id": "c", "value": 3, "depends_on": ["b"]}]}]});
    let expected = [("a", Value::Null), ("b", json!(["a"])), ("c", json!(["b"]))].map(|(id, waits)| (id.to_owned(), waits));
    assert_eq!(order(&own).0, expected);
    for (label, names) in
        [(json!({"id": 1}), json!([1])), (json!({"phase": 1}), json!("Phase 1")), (json!({"id": "x", "name": "One"}), json!(["one"]))]
    {
        let mut first = json!({"tasks": [{"id": "a", "value": 1}]});
        first.as_object_mut().unwrap().extend(label.as_object().unwrap().clone());
        let between = json!({"id": "between", "tasks": [{"id": "m", "value": 2}]});
        let last = json!({"id": "last", "depends_on": names, "tasks": [{"id": "b", "value": 3}]});
        let (found, _) = order(&json!({"phases": [first, between, last]}));
        assert_eq!(found[2], ("b".to_owned(), json!(["a"])), "{names}");
    }
    let unknown = json!({"phases": [{"id": "x", "depends_on": ["nobody"], "tasks": [{"id": "a", "value": 1}]}]});
    let (_, found) = told(&program, &unknown);
    assert!(found.iter().any(|line| line.starts_with("unknown-dependency ")), "{found:?}");
    let with_words = json!({"phases": [{"id": "x", "name": "Build", "description": "Never SQLite", "steps": [{"id": "a", "value": 1}]}]});
    let (_, found) = told(&program, &with_words);
    assert!(found.iter().any(|line| line.starts_with("unknown-field ")), "{found:?}");
    let (_, fixed) = order(&with_words);
    assert_eq!(
        (&fixed["nodes"][0]["notes"], &fixed["nodes"][0]["group"]),
        (&json!("Build"), &json!({"description": "Never SQLite"})),
        "{fixed:#}"
    );
}

#[test]
fn an_order_that_is_written_beside_the_nodes_is_read_or_is_an_error() {
    let program = Program::new();
    let nodes = json!([{"id": 0, "value": 1}, {"id": 1, "value": 2}]);
    let pairs = json!({"nodes": nodes, "subtask_dependencies": [{"parent": 0, "child": 1}]});
    program.file("plan.json", pairs.to_string());
    program.run(&["validate", "--fix", "plan.json"]).code(0);
    let edges = program.run(&["export", "plan.json"]).code(0).json()["edges"].clone();
    assert_eq!(edges, json!([{"from": "0", "to": "1"}]));
    for beside in [json!({"links_of_tasks": [{"first": 0, "then": 1}]}), json!({"execution_order": ["0", "1"]})] {
        let mut document = json!({"nodes": nodes});
        document.as_object_mut().unwrap().extend(beside.as_object().unwrap().clone());
        program.file("plan.json", document.to_string());
        let found = program.run(&["validate", "plan.json"]).code(3).out;
        assert!(found.contains("orders nothing here"), "{found}");
    }
    // No guess takes an order out.
    let context = json!({"nodes": [{"id": "a", "value": 1}, {"id": "b", "agent": "writer", "objective": "x", "context": ["a"]}]});
    program.file("plan.json", context.to_string());
    program.run(&["validate", "--fix", "plan.json"]).code(0);
    let fixed: Value = serde_json::from_str(&program.read("plan.json")).unwrap();
    assert_eq!(fixed["nodes"][1]["depends_on"], json!(["a"]), "{fixed:#}");
}

#[test]
fn tasks_of_kinds_that_nobody_knows_are_nodes_in_their_order() {
    let program = Program::new();
    for after in [json!(["a"]), json!([{"taskId": "a"}])] {
        let tasks = json!({"tasks": [{"id": "a", "name": "Look around", "type": "research", "description": "find facts", "dependencies": []},
            {"id": "b", "type": "implementation", "description": "build it", "dependencies": after}]});
        let (_, found) = told(&program, &tasks);
        assert!(found.iter().all(|line| line.starts_with("no-agent ") || !line.starts_with("wrong-shape")), "{found:?}");
        program.run(&["validate", "--fix", "plan.json"]).code(3);
        let nodes = program.run(&["export", "plan.json"]).code(0).json()["nodes"].clone();
        assert_eq!((&nodes[1]["objective"], &nodes[1]["depends_on"]), (&json!("build it"), &json!(["a"])), "{nodes:#}");
    }
}
