//! What a plan says in its own way: an order in words, groups or numbers, and commands as lists of words.

use super::support::program::Program;
use serde_json::{Value, json};

#[test]
fn an_order_in_words_groups_arrows_or_numbers_is_an_error_until_edges_say_it() {
    let program = Program::new();
    let nodes = json!([{"id": "a", "value": 1}, {"id": "b", "value": 2}, {"id": "c", "value": 3}]);
    let plan = |name: &str, value: Value| json!({"nodes": nodes, name: value});
    let numbered = |name: &str| json!({"nodes": [{"id": "a", "value": 1, name: 1}, {"id": "b", "value": 2, name: 2}, {"id": "c", "value": 3, name: 3}]});
    for document in [
        plan("execution", json!("sequential")),
        plan("process", json!({"type": "Sequential"})),
        plan("parallel", json!(false)),
        plan("order", json!(["a", "b", "c"])),
        plan("parallel_groups", json!([["a"], ["b"], ["c"]])),
        plan("waves", json!([{"wave": 1, "members": ["a"]}, {"wave": 2, "members": ["b"]}, {"wave": 3, "members": ["c"]}])),
        plan("graph", json!("a -> b -> c")),
        numbered("step"),
        numbered("execution_order"),
    ] {
        let file = program.file("plan.json", document.to_string());
        let found = program.run(&["validate", &file]).code(3);
        assert!(found.out.contains("orders nothing here"), "{document}: {found}");
        assert!(found.out.contains("guess: make each node depend on those before it"), "{document}: {found}");
        program.run(&["validate", &file, "--fix=guess"]).code(0);
        let fixed: Value = serde_json::from_str(&program.read("plan.json")).unwrap();
        assert_eq!([&fixed["nodes"][1]["depends_on"], &fixed["nodes"][2]["depends_on"]], [&json!(["a"]), &json!(["b"])], "{document}");
    }
    for document in [plan("adjacency_list", json!([[0, 1]])), plan("adjacency", json!({"a": ["b"]}))] {
        program.run(&["validate", &program.file("plan.json", document.to_string())]).code(3);
    }
    let kept = json!([{"id": "a", "value": 1, "step": 1}, {"id": "b", "value": 2, "step": 2, "depends_on": ["a"]}]);
    for document in [
        json!({"nodes": kept, "order": ["a", "b"], "execution": "sequential", "groups": [["a"], ["b"]]}),
        plan("execution", json!("parallel")),
        plan("dependencies", json!(["numpy"])),
    ] {
        program.run(&["validate", &program.file("plan.json", document.to_string())]).code(0);
    }
}

#[test]
fn a_link_to_another_node_under_an_unknown_name_is_an_error_in_each_of_its_shapes() {
    let program = Program::new();
    let plan = |name: &str, value: &Value, depends_on: Value| {
        json!({"nodes": [{"id": "get", "value": 1}, {"id": "use", "value": 2, name: value, "depends_on": depends_on}]}).to_string()
    };
    let listed = json!([{"node": "get", "output": "result"}]);
    let shapes = [json!("get"), json!(["get"]), json!("get.output"), listed, json!({"task": "get"}), json!({"get": "result"})];
    for name in ["waits_on", "prereqs", "upstream_tasks", "input_from", "uses", "trigger", "next_steps", "sends_to", "connected_to"] {
        for shape in &shapes {
            let found = program.run(&["validate", &program.file("plan.json", plan(name, shape, json!([])))]).code(3);
            assert!(found.out.contains("orders nothing here"), "{name} {shape}: {found}");
            let kept = program.run(&["validate", &program.file("plan.json", plan(name, shape, json!(["get"])))]);
            assert_eq!(kept.code, 0, "{name} {shape}: {kept}");
        }
    }
    program.file("plan.json", plan("waits_on", &shapes[3], json!([])));
    program.run(&["validate", "plan.json", "--fix=guess"]).code(0);
    let fixed: Value = serde_json::from_str(&program.read("plan.json")).unwrap();
    assert_eq!(fixed["nodes"][1]["depends_on"], json!(["get"]));
    program.run(&["validate", &program.file("plan.json", plan("reviews", &json!(["get"]), json!(["get"])))]).code(0);
    let other = plan("input_from", &json!("the shop"), json!([]));
    program.run(&["validate", &program.file("plan.json", other)]).code(0);
}

#[test]
fn a_gate_in_the_words_of_another_system_or_by_what_is_denied_asks() {
    let program = Program::new();
    program.configure("[permissions]\nallow = [\"run_command\"]\n");
    for (name, value, path) in [
        ("interrupt", json!(true), "interrupt"),
        ("human", json!(true), "human"),
        ("sign_off_by", json!("lead"), "sign_off_by"),
        ("auto_approve", json!(false), "auto_approve"),
        ("settings", json!({"autoRun": "no"}), "settings.autoRun"),
        ("skip_confirmation", json!(false), "skip_confirmation"),
    ] {
        let document = json!({"nodes": [{"id": "a", "tool": "run_command", "args": {"command": "touch made"}, name: value}]});
        let ended = program.run(&["run", &program.file("plan.json", document.to_string())]).code(7);
        ended.says(&[&format!("`{path}` is read as `approve: before`"), "the plan asks before this node starts"]);
        assert!(!program.workspace().join("made").exists(), "{name}");
    }
    for (name, value) in [("auto_approve", json!(true)), ("human", json!({"approve": false})), ("human_readable", json!(true))] {
        let document = json!({"nodes": [{"id": "a", "value": 1, name: value}]});
        program.run(&["run", &program.file("plan.json", document.to_string())]).code(0);
    }
}

#[test]
fn nodes_that_are_numbered_have_their_numbers_for_ids() {
    let program = Program::new();
    let document = json!({"plan": [
        {"step": 1, "action": "read_file", "action_input": {"path": "a.txt"}},
        {"step": 2, "action": "write_file", "action_input": {"path": "b.txt", "content": "{{1}}"}, "depends_on": [1]},
    ]});
    let file = program.file("plan.json", document.to_string());
    let found = program.run(&["validate", &file]).code(0);
    assert!(found.out.contains("has no `id`: read as \"2\", its `step`"), "{found}");
    program.run(&["validate", &file, "--fix"]).code(0);
    let fixed: Value = serde_json::from_str(&program.read("plan.json")).unwrap();
    assert_eq!(
        [&fixed["nodes"][1]["id"], &fixed["nodes"][1]["tool"], &fixed["nodes"][1]["depends_on"]],
        [&json!("2"), &json!("write_file"), &json!(["1"])]
    );
}

#[test]
fn a_command_with_a_list_of_words_is_one_line_in_which_each_word_stays_one() {
    let program = Program::new();
    let document = json!({"steps": [{"id": "a", "command": "printf", "args": ["%s|", "x; touch made", "it's", 3]}]});
    program.file("plan.json", document.to_string());
    let found = program.run(&["validate", "plan.json"]).code(0);
    assert!(found.out.contains(r"with the line `printf '%s|' 'x; touch made' 'it'\''s' 3`"), "{found}");
    assert_eq!(program.run(&["export", "plan.json"]).code(0).json(), document);
    let ran = program.run(&["run", "plan.json", "--yes"]).code(0);
    assert!(ran.out.contains("x; touch made|it's|3|"), "{ran}");
    assert!(!program.workspace().join("made").exists());
    program.run(&["validate", "plan.json", "--fix"]).code(0);
    let fixed: Value = serde_json::from_str(&program.read("plan.json")).unwrap();
    let node = json!({"id": "a", "tool": "run_command", "args": {"command": r"printf '%s|' 'x; touch made' 'it'\''s' 3"}});
    assert_eq!(fixed["nodes"][0], node);
}

#[test]
fn a_call_as_an_object_of_its_name_and_its_arguments_is_that_call() {
    let program = Program::new();
    let args = json!({"expression": "1 + 1"});
    for (name, call) in
        [("tool", json!({"name": "calculator", "args": args})), ("function", json!({"name": "calculator", "arguments": args.to_string()}))]
    {
        let document = json!({"nodes": [{"id": "a", name: call}]});
        program.file("plan.json", document.to_string());
        let found = program.run(&["validate", "plan.json"]).code(0);
        assert!(found.out.contains(&format!("`{name}` is read as a call of `calculator`")), "{found}");
        assert_eq!(program.run(&["export", "plan.json"]).code(0).json(), document);
        assert_eq!(program.run(&["run", "plan.json"]).code(0).out.trim(), "2");
        program.run(&["validate", "plan.json", "--fix"]).code(0);
        let fixed: Value = serde_json::from_str(&program.read("plan.json")).unwrap();
        assert_eq!(fixed["nodes"][0], json!({"id": "a", "tool": "calculator", "args": args}));
    }
    let odd = json!({"nodes": [{"id": "a", "tool": {"name": "calculator", "args": {}, "when": "x"}}]});
    program.run(&["validate", &program.file("plan.json", odd.to_string())]).code(3);
}

#[test]
fn a_condition_that_is_a_word_for_how_the_source_ended_runs_nothing_until_it_is_mended() {
    let program = Program::new();
    let plan = |word: &str| {
        json!({"nodes": [{"id": "a", "value": 1}, {"id": "b", "value": 2}], "edges": [{"from": "a", "to": "b", "when": word}]}).to_string()
    };
    for (word, fix) in [("success", "fix: take"), ("on_success", "fix: take"), ("always", "guess: take"), ("failure", "join: always")] {
        let file = program.file("plan.json", plan(word));
        let found = program.run(&["run", &file]).code(3);
        assert!(found.err.contains("so this would never hold") && found.err.contains(fix), "{word}: {found}");
    }
    program.run(&["validate", &program.file("plan.json", plan("success")), "--fix"]).code(0);
    assert_eq!(program.run(&["run", "plan.json"]).code(0).out.trim(), "2");
    let named = json!({"inputs": {"success": true}, "nodes": [{"id": "a", "value": 1, "when": "success"}]});
    program.run(&["validate", &program.file("plan.json", named.to_string())]).code(0);
}

#[test]
fn ends_of_a_walk_whose_connections_may_be_lost_are_marked_by_a_guess() {
    let program = Program::new();
    let nodes = json!([{"id": "a", "agent_name": "writer", "is_entry": true}, {"id": "b", "agent_name": "writer"}]);
    let plan = |connections: Value| program.file("plan.json", json!({"nodes": nodes, "connections": connections}).to_string());
    let lost = program.run(&["validate", &plan(json!({"a": {"main": [[{"node": "b"}]]}}))]).code(3);
    assert!(lost.out.contains("guess: mark as final"), "{lost}");
    let whole = program.run(&["validate", &plan(json!([{"source_id": "a", "target_id": "b"}]))]).code(3);
    assert!(whole.out.contains("; fix: mark as final"), "{whole}");
}
