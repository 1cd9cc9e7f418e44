//! Every document with anything like nodes opens: what is wrong with it is told all at once, what has one meaning is read that way, and
//! nothing of it is lost.

use super::support::program::Program;
use serde_json::{Value, json};

/// Code and path of each finding, and the code of the exit.
pub(super) fn told(program: &Program, document: &Value) -> (i32, Vec<String>) {
    program.file("plan.json", document.to_string());
    let ended = program.run(&["validate", "plan.json", "--json"]);
    let found = ended.json()["findings"].as_array().unwrap().clone();
    (ended.code, found.iter().map(|f| format!("{} {}", f["code"].as_str().unwrap(), f["path"].as_str().unwrap())).collect())
}

/// The document as it is written back in its own form.
fn written(program: &Program, document: &Value, form: &str) -> Value {
    program.file("plan.json", document.to_string());
    program.run(&["export", "plan.json", "--format", form]).code(0).json()
}

#[test]
fn every_wrong_shape_is_a_finding_with_its_path_all_at_once() {
    let program = Program::new();
    let document = json!({"dagdeck": 1, "goal": ["g"], "nodes": [
        {"value": 1}, {"id": 7, "value": 1}, {"id": "c", "value": 1, "depends_on": "unnamed_1"}, {"id": "d", "value": 1, "when": true},
        {"id": "e", "value": 1, "retry": {"attempts": "often"}, "timeout_s": {}}, {"id": "f"}, {"id": "g", "tool": "x", "code": "return 1"},
        {"id": "h", "over": "[1]"}, 3
    ], "edges": [{"from": "c", "to": "d"}, {"from": "c", "to": ["d", "e"]}, {"from": "c"}, "c -> f", 5]});
    let (code, found) = told(&program, &document);
    assert_eq!(code, 3);
    let expected = [
        "read-as goal",
        "read-as nodes[0].id",
        "read-as nodes[1].id",
        "read-as nodes[2].depends_on",
        "read-as nodes[3].when",
        "wrong-shape nodes[4].retry.attempts",
        "wrong-shape nodes[4].timeout_s",
        "no-kind nodes[5]",
        "wrong-shape nodes[6].code",
        "unknown-tool nodes[6].tool",
        "wrong-shape nodes[7].body",
        "empty-plan nodes[7].body.nodes",
        "wrong-shape nodes[8]",
        "read-as edges[1].to",
        "wrong-shape edges[2].to",
        "read-as edges[3]",
        "wrong-shape edges[4]",
    ];
    for line in expected {
        assert!(found.contains(&line.to_owned()), "{line} is missing: {found:#?}");
    }
    assert_eq!(written(&program, &document, "native"), document, "what nobody repaired stays as it was");
    program.run(&["run", "plan.json"]).code(3);
    let (code, found) = told(&program, &json!([1, 2]));
    assert_eq!((code, found), (3, vec!["no-plan ".to_owned()]), "nothing like nodes is refused");
}

#[test]
fn a_list_at_the_end_of_an_edge_opens_as_several_edges_and_stays_as_written() {
    let program = Program::new();
    let nodes =
        json!([{"id": "a", "value": 1}, {"id": "b", "value": 2}, {"id": "c", "value": "{{a}} {{b}}"}, {"id": "d", "value": "{{b}}"}]);
    let edges = json!([{"from": ["a", "b"], "to": ["c", "d"], "id": "e", "when": "1 > 0"}, {"from": "c", "to": ["d", "none"]}]);
    let document = json!({"dagdeck": 1, "goal": "g", "nodes": nodes, "edges": edges});
    let (code, found) = told(&program, &document);
    assert_eq!((code, &found[..]), (3, &["read-as edges[0].from".to_owned(), "unknown-dependency edges[1].to".to_owned()][..]));
    assert_eq!(written(&program, &document, "native"), document, "what nobody repaired stays as it was");
    let text = program.run(&["validate", "plan.json"]);
    assert!(text.out.contains("`edges[0].from`, `edges[0].to`, `edges[1].to` are lists"), "{text}");
    let read = written(&program, &document, "stages")["edges"].clone();
    assert_eq!(read.as_array().map(|edges| edges.len()), Some(6), "{read}");
    let good = json!({"dagdeck": 1, "goal": "g", "nodes": nodes, "edges": [edges[0], {"from": "c", "to": "d"}]});
    program.file("plan.json", good.to_string());
    program.run(&["validate", "--fix", "plan.json"]).code(0);
    let fixed: Value = serde_json::from_str(&program.read("plan.json")).unwrap();
    let pair = |from: &str, to: &str| json!({"from": from, "to": to, "when": "1 > 0"});
    let mut first = pair("a", "c");
    first["id"] = json!("e");
    assert_eq!(fixed["edges"], json!([first, pair("a", "d"), pair("b", "c"), pair("b", "d"), {"from": "c", "to": "d"}]));
    let walk = |target: Value| {
        json!({"nodes": [{"id": "a", "agent_name": "writer", "is_entry": true}, {"id": "b", "agent_name": "writer", "is_exit": true},
            {"id": "c", "agent_name": "writer", "is_exit": true}], "connections": [{"source_id": "a", "target_id": target}]})
    };
    assert!(told(&program, &walk(json!(["b", "c"]))).1.contains(&"read-as connections[0].target_id".to_owned()));
    assert_eq!(written(&program, &walk(json!(["b", "c"])), "workflow"), walk(json!(["b", "c"])));
}

#[test]
fn commas_before_closing_brackets_are_read_past_and_said() {
    let program = Program::new();
    program.file(
        "plan.json",
        "{\"dagdeck\": 1, \"goal\": \"g\", \"nodes\": [{\"id\": \"a\", \"value\": [1, 2,],},\n {\"id\": \"b\", \"vaule\": 2},],}",
    );
    let found = program.run(&["validate", "plan.json"]).code(3).out;
    let line = "the text has commas before closing brackets: read without them; fix: remove them";
    assert!(found.contains(line) && found.contains("plan.json:2:23: warning[unknown-field] nodes[1].vaule"), "{found}");
    let document = json!({"dagdeck": 1, "goal": "g", "nodes": [{"id": "a", "value": [1, 2]}, {"id": "b", "vaule": 2}]});
    assert_eq!(program.run(&["export", "plan.json"]).code(0).json(), document);
}

#[test]
fn a_gate_under_a_name_that_nobody_listed_or_inside_of_settings_asks_too() {
    let program = Program::new();
    let touch = |more: Value| {
        let mut node = json!({"id": "a", "tool": "run_command", "args": {"command": "touch made"}});
        node.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"dagdeck": 1, "goal": "g", "nodes": [node]})
    };
    program.configure("[permissions]\nallow = [\"run_command\"]\n");
    for (more, path) in [
        (json!({"policy": {"approve": "before"}}), "policy.approve"),
        (json!({"metadata": {"requires_approval": true}}), "metadata.requires_approval"),
        (json!({"require_human_approval": true}), "require_human_approval"),
        (json!({"interrupt_before": "yes"}), "interrupt_before"),
        (json!({"approve": "always"}), "approve"),
    ] {
        let document = touch(more);
        let (code, found) = told(&program, &document);
        assert!(code == 0 && found.contains(&format!("read-as nodes[0].{path}")), "{path}: {found:?}");
        assert_eq!(written(&program, &document, "native"), document);
        program.run(&["run", "plan.json"]).code(7).says(&["the plan asks before this node starts"]);
        assert!(!program.workspace().join("made").exists(), "{path}");
    }
    for more in [json!({"approved": true}), json!({"auto_approve": true}), json!({"metadata": {"approval_timeout": 30}})] {
        let (_, found) = told(&program, &touch(more.clone()));
        assert!(found.iter().all(|line| !line.starts_with("read-as ")), "{more}: {found:?}");
    }
}

#[test]
fn every_name_of_an_order_means_depends_on_in_every_form_and_stays_as_written() {
    let program = Program::new();
    for name in ["dependencies", "deps", "needs", "after", "dependsOn", "requires"] {
        for value in [json!(["a"]), json!("a")] {
            let node = |mut node: Value| {
                node[name] = value.clone();
                node
            };
            let documents = [
                ("native", json!({"nodes": [{"id": "a", "value": 1}, node(json!({"id": "b", "value": 2}))]})),
                (
                    "orchestration",
                    json!({"nodes": [{"id": "a", "agent": "writer", "objective": "x"}, node(json!({"id": "b", "agent": "writer", "objective": "y"}))]}),
                ),
                (
                    "tools",
                    json!({"dag": [{"id": "a", "tool": "calculator", "query": "1"}, node(json!({"id": "b", "tool": "calculator", "query": "2"}))]}),
                ),
                (
                    "hybrid",
                    json!({"tasks": [{"id": "a", "type": "code_execution", "code": "return 1"}, node(json!({"id": "b", "type": "code_execution", "code": "return 2"}))]}),
                ),
            ];
            for (form, document) in documents {
                if form == "tools" && name == "dependencies" && value.is_array() {
                    continue;
                }
                let (code, found) = told(&program, &document);
                assert_eq!(code, 0, "{form} {name}: {found:?}");
                assert_eq!(found.len(), 1, "{form} {name}: {found:?}");
                assert!(found[0].starts_with("read-as ") && found[0].ends_with(&format!("[1].{name}")), "{form} {name}: {found:?}");
                assert_eq!(written(&program, &document, form), document, "{form} {name}");
                let native = written(&program, &document, "native");
                let is_native = form == "native";
                assert!(is_native || native["nodes"][1]["depends_on"] == json!(["a"]), "{form} {name}: {native}");
            }
        }
    }
}

#[test]
fn two_names_for_one_field_are_a_finding_and_the_second_counts_for_nothing() {
    let program = Program::new();
    let document =
        json!({"nodes": [{"id": "a", "value": 1}, {"id": "b", "value": 2}, {"id": "c", "value": 3, "depends_on": ["a"], "needs": ["b"]}]});
    assert_eq!(told(&program, &document), (3, vec!["wrong-shape nodes[2].needs".to_owned()]));
    assert_eq!(written(&program, &document, "native"), document);
}

#[test]
fn a_field_that_looks_like_a_gate_asks_a_person() {
    let gates = [
        json!({"gate": {"before": true}}),
        json!({"approval": "required"}),
        json!({"requires_approval": true}),
        json!({"confirm": "yes"}),
        json!({"human_in_the_loop": true}),
        json!({"requiresApproval": true}),
        json!({"approve": true}),
        json!({"hitl": {"enabled": true}}),
    ];
    for gate in gates {
        let program = Program::new();
        let mut node = json!({"id": "b", "tool": "write_file", "args": {"path": "made.txt", "content": "x"}});
        node.as_object_mut().unwrap().extend(gate.as_object().unwrap().clone());
        let document = json!({"dagdeck": 1, "nodes": [node]});
        let (_, found) = told(&program, &document);
        assert!(found.iter().any(|line| line.starts_with("read-as nodes[0].")), "{gate}: {found:?}");
        assert_eq!(written(&program, &document, "native"), document, "{gate}");
        program.run(&["run", "plan.json"]).code(7);
        assert!(!program.workspace().join("made.txt").exists(), "{gate}");
    }
    for (form, document) in [
        ("tools", json!({"dag": [{"id": "a", "tool": "calculator", "query": "1 + 1", "approval": true}]})),
        ("hybrid", json!({"tasks": [{"id": "a", "type": "code_execution", "code": "return 1", "requires_approval": true}]})),
    ] {
        let program = Program::new();
        let (code, found) = told(&program, &document);
        assert_eq!((code, found.len()), (0, 1), "{form}: {found:?}");
        assert_eq!(written(&program, &document, form), document, "{form}");
        program.run(&["run", "plan.json"]).code(7);
    }
    let program = Program::new();
    let never = json!({"dagdeck": 1, "nodes": [{"id": "a", "value": 1, "requires_approval": false}]});
    assert_eq!(told(&program, &never), (0, vec![]), "what asks nobody is no gate");
}

#[test]
fn a_node_that_calls_itself_an_approval_never_runs_as_something_else() {
    let program = Program::new();
    let document = json!({"nodes": [{"id": "a", "type": "approval", "prompt": "may it run?"}]});
    let (code, found) = told(&program, &document);
    assert!(code == 3 && found.contains(&"wrong-shape nodes[0].type".to_owned()), "{found:?}");
}

#[test]
fn lists_under_other_names_and_nodes_by_id_are_read_and_written_back() {
    let program = Program::new();
    let b = json!({"id": "b", "value": "{{a}}", "deps": ["a"]});
    for document in [
        json!({"steps": [{"id": "a", "value": 1}, b]}),
        json!([{"id": "a", "value": 1}, b]),
        json!({"nodes": {"a": {"value": 1}, "b": {"value": "{{a}}", "needs": "a"}}}),
        json!({"nodes": [{"id": "a", "value": 1}, {"id": "b", "value": "{{a}}"}], "links": [{"source": "a", "target": "b"}]}),
        json!({"nodes": [{"id": "a", "value": 1}, {"id": "b", "value": "{{a}}"}], "edges": [["a", "b"]]}),
    ] {
        let (code, found) = told(&program, &document);
        assert_eq!(code, 0, "{document}: {found:?}");
        assert_eq!(written(&program, &document, "native"), document);
        assert_eq!(program.run(&["run", "plan.json"]).code(0).out, "1\n", "{document}");
    }
}

#[test]
fn a_name_in_yaml_is_what_is_written_also_where_it_looks_like_a_number() {
    let program = Program::new();
    let plan = |document: &str| {
        program.file("plan.yaml", document);
        let found = program.run(&["validate", "plan.yaml", "--json"]).json()["findings"].clone();
        let lines: Vec<String> = found.as_array().unwrap().iter().map(|f| format!("{} {}", f["code"], f["path"])).collect();
        (program.run(&["export", "plan.yaml"]).code(0).json(), lines.join("\n"))
    };
    let (read, found) = plan(
        "goal: g\nnodes:\n- {id: 01, value: 1.10}\n- {id: 0x1f, value: {id: 0x1f}, depends_on: [01]}\n\
         - {id: 1e3, value: '{{01}}, {{0x1f.id}}', depends_on: [0x1f, 01]}\n- id: yes\n  value: 1\n  when: nodes[\"1e3\"].status == 'succeeded'\n\
         - {id: no, value: 2}\n- {id: &on on, value: 3, depends_on: [no, True]}\n- {id: True, value: 4}\n- {id: 007, value: 5, depends_on: [*on]}\n\
         edges:\n- {from: 1e3, to: yes, label: 1.10}\n- [007, 01]\n- {from: [007, on], to: 01}\n",
    );
    let nodes = json!([
        {"id": "01", "value": 1.1}, {"id": "0x1f", "value": {"id": 31}, "depends_on": ["01"]},
        {"id": "1e3", "value": "{{01}}, {{0x1f.id}}", "depends_on": ["0x1f", "01"]},
        {"id": "yes", "value": 1, "when": "nodes[\"1e3\"].status == 'succeeded'"}, {"id": "no", "value": 2},
        {"id": "on", "value": 3, "depends_on": ["no", "True"]}, {"id": "True", "value": 4}, {"id": "007", "value": 5, "depends_on": ["on"]}
    ]);
    let edges = json!([{"from": "1e3", "to": "yes", "label": "1.10"}, ["007", "01"], {"from": ["007", "on"], "to": "01"}]);
    assert_eq!(read, json!({"goal": "g", "nodes": nodes, "edges": edges}));
    assert!(!found.contains("error") && !found.contains("bad-id") && !found.contains("unknown"), "{found}");
    program.file("next.yaml", program.run(&["export", "plan.yaml", "--format", "native", "--yaml"]).code(0).out);
    assert_eq!(program.run(&["export", "next.yaml"]).code(0).json(), read, "as YAML it says the same");
    let ran = program.run(&["run", "plan.yaml", "--json"]).code(0);
    assert!(ran.out.contains("1.1, 31"), "{ran}");

    let (read, found) = plan("nodes:\n  01: {value: 1}\n  1.10: {value: 2, needs: 01}\n");
    assert_eq!(read, json!({"nodes": {"01": {"value": 1}, "1.10": {"value": 2, "needs": "01"}}}));
    assert!(found.contains("bad-id") && !found.contains("unknown-dependency"), "{found}");
    plan("stages: [01, 1e3]\ndefs:\n- {stage_id: 1e3, type: MERGE}\n- {stage_id: 01, type: TRANSFORM, value: 01}\n");
    let read = program.run(&["export", "plan.yaml", "--format", "stages"]).code(0).json();
    assert_eq!((&read["stages"], &read["defs"][0]["stage_id"]), (&json!(["01", "1e3"]), &json!("1e3")));
    assert_eq!(read["defs"][1], json!({"stage_id": "01", "type": "TRANSFORM", "value": "01"}));
}

#[test]
fn stages_that_are_ids_objects_or_both_open_and_each_without_an_object_is_told() {
    let program = Program::new();
    let a = json!({"stage_id": "a", "type": "TRANSFORM", "value": 1});
    let b = json!({"id": "b", "type": "TRANSFORM", "value": "{{a}}"});
    for document in [
        json!({"stages": ["a", b], "stage_definitions": [a]}),
        json!({"stages": ["a", b], "definitions": {"a": {"type": "TRANSFORM", "value": 1}}}),
        json!({"stages": [a, "b"], "b": {"type": "TRANSFORM", "value": "{{a}}"}}),
        json!({"stages": ["a", "b"], "nodes": [b, a]}),
        json!({"workflow": {"stages": ["a", "b"], "definitions": [a, b]}}),
        json!({"workflow": {"stages": ["a", b]}, "definitions": [a]}),
    ] {
        assert_eq!(told(&program, &document), (0, vec![]), "{document}");
        assert_eq!(written(&program, &document, "stages"), document);
        assert_eq!(program.run(&["run", "plan.json"]).code(0).out, "1\n", "{document}");
    }
    let edge = json!({"from_stage_id": "a", "to_stage_id": "none"});
    for (document, lines) in [
        (json!({"stages": ["a", "b"]}), vec!["wrong-shape stages[0]", "wrong-shape stages[1]"]),
        (json!({"stages": ["a", b], "edges": [edge]}), vec!["wrong-shape stages[0]", "unknown-dependency edges[0].to_stage_id"]),
        (
            json!({"stages": ["a", "b"], "definitions": [{"stage_id": "b"}]}),
            vec!["wrong-shape stages[0]", "wrong-shape definitions[0].type"],
        ),
        (json!({"workflow": {"stages": [3, "a"]}}), vec!["wrong-shape workflow.stages[0]", "wrong-shape workflow.stages[1]"]),
    ] {
        let (code, found) = told(&program, &document);
        assert_eq!(code, 3, "{document}: {found:?}");
        assert!(lines.iter().all(|line| found.iter().any(|found| found == line)), "{document}: {found:?}");
        assert_eq!(written(&program, &document, "stages"), document, "what nobody repaired stays as it was");
    }
    program.file("plan.json", json!({"stages": ["Find it", "a"]}).to_string());
    let found = program.run(&["validate", "plan.json"]).code(3).out;
    let says = "there is no stage object for `Find it`; write it in its place, or beside the list as an entry of `stage_definitions`; \
        guess: make it an agent that works by its name";
    assert!(found.contains(says), "{found}");
    program.run(&["validate", "--fix", "plan.json"]).code(3).says(&["applied 1 change"]);
    assert!(program.run(&["validate", "plan.json"]).out.contains("guess: make it"), "a safe fix of the id makes no stage of it");
    program.run(&["validate", "--fix=guess", "plan.json"]).code(0);
    let fixed: Value = serde_json::from_str(&program.read("plan.json")).unwrap();
    assert_eq!(fixed["stages"][1], json!({"stage_id": "a", "type": "AGENT"}), "{fixed}");

    for stages in [json!(["first", "then"]), json!([["x"], ["y"]]), json!(["x", "y"])] {
        let nodes = json!([{"id": "x", "value": 1}, {"id": "y", "value": 2, "depends_on": ["x"]}]);
        let document = json!({"nodes": nodes, "stages": stages});
        assert_eq!(told(&program, &document), (3, vec!["wrong-shape stages".to_owned()]), "{document}");
        assert_eq!(written(&program, &document, "native"), document);
    }
}

#[test]
fn a_task_with_arguments_is_a_tool_call_and_links_by_its_name_are_its_order() {
    let program = Program::new();
    let document = json!({"task_nodes": [{"task": "Image-to-Text", "arguments": {"image": "a.png"}}, {"task": "Summarize It", "arguments": {}}],
        "task_links": [{"source": "Image-to-Text", "target": "Summarize It"}]});
    let (code, found) = told(&program, &document);
    assert_eq!(code, 3);
    let errors: Vec<_> = found.iter().filter(|line| !line.starts_with("read-as ") && !line.starts_with("unknown-tool ")).collect();
    assert_eq!(errors, ["bad-id task_nodes[1].id"], "{found:?}");
    assert_eq!(written(&program, &document, "native"), document);
    for (how, code) in [("--fix", 3), ("--fix=guess", 0)] {
        program.file("plan.json", document.to_string());
        program.run(&["validate", how, "plan.json"]).code(code);
        let fixed: Value = serde_json::from_str(&program.read("plan.json")).unwrap();
        let node = |id: &str| {
            let nodes = fixed["nodes"].as_array().or(fixed["task_nodes"].as_array()).unwrap();
            nodes.iter().find(|node| node["id"] == id || node["task"] == id).cloned()
        };
        assert!(node("Image-to-Text").is_some_and(|node| node["ask"].is_null()), "{how}: {fixed:#}");
        assert_eq!(fixed["edges"], json!([{"from": "Image-to-Text", "to": "Summarize_It"}]), "{how}: {fixed:#}");
    }
}

#[test]
fn tasks_that_say_what_to_do_in_plain_words_are_nodes_in_their_order() {
    let program = Program::new();
    let document = json!({"tasks": [{"id": 1, "title": "Find it", "description": "Find three papers"},
        {"id": 2, "title": "Sum it up", "description": "Sum them up", "dependent_task_ids": [1]}]});
    let (_, found) = told(&program, &document);
    let errors: Vec<_> = found.iter().filter(|line| !line.starts_with("read-as ")).collect();
    assert_eq!(errors, ["no-agent tasks[0].agent", "no-agent tasks[1].agent"], "{found:?}");
    assert_eq!(written(&program, &document, "native"), document);
    program.run(&["validate", "--fix", "plan.json"]).code(3);
    let nodes = program.run(&["export", "plan.json"]).code(0).json()["nodes"].clone();
    assert_eq!((&nodes[1]["objective"], &nodes[1]["depends_on"]), (&json!("Sum them up"), &json!(["1"])), "{nodes:#}");
}

#[test]
fn whether_how_often_or_after_what_a_node_runs_is_never_passed_over_with_a_warning() {
    let program = Program::new();
    let forms = [
        json!({"nodes": [{"id": "a", "value": 1}, {"id": "b", "value": 2}]}),
        json!({"nodes": [{"id": "a", "agent": "writer", "objective": "x"}, {"id": "b", "agent": "writer", "objective": "y"}]}),
        json!({"dag": [{"id": "a", "tool": "calculator", "query": "1"}, {"id": "b", "tool": "calculator", "query": "2"}]}),
        json!({"tasks": [{"id": "a", "type": "code_execution", "code": "return 1"}, {"id": "b", "type": "code_execution", "code": "return 2"}]}),
    ];
    for form in forms {
        for (name, value) in [
            ("enabled", json!(false)),
            ("disabled", json!(true)),
            ("run_if", json!("a > 1")),
            ("trigger_rule", json!("one_failed")),
            ("for_each", json!("a.items")),
            ("next", json!("a")),
            ("comes_before", json!(["a"])),
            ("if", json!(false)),
        ] {
            let mut document = form.clone();
            let list = document.as_object().unwrap().keys().next().unwrap().clone();
            document[&list][1][name] = value.clone();
            let (code, found) = told(&program, &document);
            let is_read = name == "if" && document.get("nodes").is_some();
            let expected = if is_read { format!("read-as {list}[1].{name}") } else { format!("wrong-shape {list}[1].{name}") };
            assert!(found.contains(&expected) && (code == 3 || is_read), "{document}: {found:?}");
        }
    }
    let document = json!({"nodes": [{"id": "a", "value": 1, "enabled": true, "skip": false, "to": "nobody", "tags": ["x"]}]});
    assert_eq!(told(&program, &document).0, 0, "what says nothing of that is no error");
}

#[test]
fn a_doubled_key_and_a_missing_file_hide_no_other_finding() {
    let program = Program::new();
    let json = r#"{"dagdeck": 1, "nodes": [
        {"id": "a", "plan": "nope.json"}, {"id": "b", "tool": "read_file", "tool": "write_file", "args": {"path": "x"}}, {"id": "c", "bogus": 1}]}"#;
    let yaml = "dagdeck: 1\nnodes:\n  - {id: a, plan: nope.json}\n  - id: b\n    tool: read_file\n    tool: write_file\n    args: {path: x}\n\
        \x20 - {id: c, bogus: 1}\n";
    for (name, text) in [("p.json", json), ("p.yaml", yaml)] {
        let file = program.file(name, text);
        let ended = program.run(&["validate", &file]).code(3);
        for words in ["nope.json: can't be read", "`tool` appears twice in one object", "bogus"] {
            assert!(ended.out.contains(words), "{words}\n{ended}");
        }
        program.run(&["validate", &file, "--fix"]).says(&["`tool` appears twice in one object"]);
        assert!(program.read(name).matches("tool").count() == 2, "nothing of it is lost: {}", program.read(name));
    }
}

#[test]
fn a_number_of_more_digits_than_are_kept_is_told() {
    let program = Program::new();
    let file = program.file(
        "p.json",
        r#"{"dagdeck": 1, "nodes": [{"id": "a", "value": 12345678901234567890123}, {"id": "b", "value": 12345678901234567890}]}"#,
    );
    let ended = program.run(&["validate", &file]).code(0);
    assert!(ended.out.contains("nodes[0].value: a number this large is not kept digit by digit"), "{ended}");
    assert!(!ended.out.contains("nodes[1]"), "{ended}");
    let file = program.file("q.json", r#"{"dagdeck": 1, "nodes": [{"id": "a", "value": [0.12345678901234567890, 1.50, 1e-7, 0.1]}]}"#);
    let ended = program.run(&["validate", &file]).code(0);
    let lost = "nodes[0].value[0]: `0.12345678901234567890` has more digits than are kept: it is 0.12345678901234568";
    assert!(ended.out.contains(lost) && ended.out.matches("digits").count() == 1, "{ended}");
}

#[test]
fn a_number_with_zeros_in_front_is_the_text_that_is_written() {
    let program = Program::new();
    let file = program.file("p.yaml", "goal: g\nnodes:\n  - id: a\n    value: [01234, 007, 12.5, 0x1F, 0]\n");
    let ended = program.run(&["validate", &file]).code(0);
    assert!(ended.out.contains("nodes[0].value[0]: `01234` has zeros in front, as no number has: it is read as text"), "{ended}");
    let ran = program.run(&["run", &file]).code(0);
    assert_eq!(ran.out, "01234\n007\n12.5\n31\n0\n", "{ran}");
}

#[test]
fn a_number_that_is_too_large_for_any_number_opens_as_text_and_is_told() {
    let program = Program::new();
    for (name, text) in [
        ("p.json", "{\"goal\": \"g\", \"nodes\": [{\"id\": \"a\", \"value\": [1e400,\n-1e999 , 1]}]}"),
        ("p.yaml", "goal: g\nnodes:\n  - id: a\n    value: [1e400, .inf, 1]\n"),
    ] {
        let file = program.file(name, text);
        let ended = program.run(&["validate", &file]).code(0);
        assert!(ended.out.contains("`1e400` is no number that can be kept: it is read as text"), "{ended}");
        let ran = program.run(&["run", &file]).code(0);
        assert!(ran.out.starts_with("1e400\n"), "{ran}");
    }
}

#[test]
fn an_order_that_a_node_names_as_one_text_is_never_dropped() {
    let program = Program::new();
    for name in ["before", "goto", "to", "precedes"] {
        let document = json!({"dagdeck": 1, "nodes": [{"id": "a", "value": 1, name: "b"}, {"id": "b", "value": 2}]});
        assert_eq!(told(&program, &document), (3, vec![format!("wrong-shape nodes[0].{name}")]), "{document}");
    }
}

#[test]
fn an_order_or_a_node_inside_of_an_unknown_field_is_never_dropped() {
    let program = Program::new();
    let ways = json!({"switch": {"branches": [{"condition": "x", "target": "b"}], "default": "c"}});
    let tasks = json!([{"id": 1, "title": "x"}, {"id": 2, "title": "y", "dependencies": [1]}]);
    for (field, value) in [("node_type", ways), ("examples", tasks.clone()), ("setup", json!({"inner": {"work": tasks}}))] {
        let nodes = json!([{"id": "a", "value": 1, field: value}, {"id": "b", "value": 2}, {"id": "c", "value": 3}]);
        assert_eq!(told(&program, &json!({"nodes": nodes})), (3, vec![format!("wrong-shape nodes[0].{field}")]), "{field}");
    }
    let two = json!({"tags": {"main": {"tasks": [{"id": 1, "value": 1}, {"id": 2, "value": 1, "needs": [1]}]}}, "nodes": [{"id": "a", "value": 1}]});
    assert_eq!(told(&program, &two), (3, vec!["wrong-shape tags".to_owned()]));
    // The same order twice is no error.
    let agreeing = json!({"nodes": [{"id": "a", "value": 1, "next_on_success": ["b"]}, {"id": "b", "value": 2, "depends_on": ["a"]}]});
    assert_eq!(told(&program, &agreeing), (0, vec!["unknown-field nodes[0].next_on_success".to_owned()]));
}

#[test]
fn a_fix_writes_what_its_words_say() {
    let program = Program::new();
    let file = program.file(
        "p.json",
        r#"{"dagdeck": 1, "nodes": [{"id": "a", "value": 1, "retry": "3"}, {"id": "b", "value": 1, "policy": {"approve": true}}]}"#,
    );
    program.run(&["validate", &file, "--fix"]).code(0).says(&["fixed nodes[0].retry", "0 warnings"]);
    let fixed: Value = serde_json::from_str(&program.read("p.json")).unwrap();
    assert_eq!((&fixed["nodes"][0]["retry"], &fixed["nodes"][1]["approve"]), (&json!({"attempts": 3}), &json!("before")));
}
