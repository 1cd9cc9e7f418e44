//! What other systems write: their references, their documents, and the text around those.

use super::support::program::{Ended, Program};
use serde_json::{Value, json};

/// The document after `validate --fix` or `--fix=guess`, and the exit code of that.
fn fixed(document: &Value, how: &str) -> (i32, Value) {
    let program = Program::new();
    program.file("plan.json", document.to_string());
    let ended = program.run(&["validate", "plan.json", how]);
    (ended.code, serde_json::from_str(&program.read("plan.json")).unwrap())
}

fn found(document: &Value) -> Ended {
    let program = Program::new();
    program.file("plan.json", document.to_string());
    program.run(&["validate", "plan.json"])
}

/// A plan of three nodes: `find`, then `sum`, then one that reads something by this text.
fn reading(text: &str, depends_on: &Value) -> Value {
    json!({"dagdeck": 1, "nodes": [{"id": "find", "value": 1}, {"id": "sum_2", "value": 2, "depends_on": ["find"]},
        {"id": "last", "value": text, "depends_on": depends_on}]})
}

#[test]
fn a_reference_as_other_systems_write_it_is_read_with_its_order_where_one_node_is_meant() {
    for (written, right, on) in [
        ("${find.output}", "{{find.result}}", "find"),
        ("see {find.result.title}!", "see {{find.result.title}}!", "find"),
        ("$find.result", "{{find.result}}", "find"),
        ("${steps.find.output}", "{{find.result}}", "find"),
        ("<result of find>", "{{find.result}}", "find"),
        ("${sum_2.output}", "{{sum_2.result}}", "sum_2"),
    ] {
        for order in [json!([on]), json!([])] {
            let (code, document) = fixed(&reading(written, &order), "--fix");
            let last = &document["nodes"][2];
            assert_eq!((code, &last["value"], &last["depends_on"]), (0, &json!(right), &json!([on])), "{written}");
        }
    }
    for (written, right, on) in [
        ("${find}", "{{find.result}}", "find"),
        ("say {find}", "say {{find.result}}", "find"),
        ("<node-0>", "{{find.result}}", "find"),
        ("<node-0>.output", "{{find.result}}", "find"),
        ("<GENERATED>-0", "{{find.result}}", "find"),
        ("$1", "{{find.result}}", "find"),
        ("<result of step 2>", "{{sum_2.result}}", "sum_2"),
        ("#E1", "{{find.result}}", "find"),
        ("@2.links", "{{sum_2.result.links}}", "sum_2"),
    ] {
        let ordered = reading(written, &json!([on]));
        let (code, document) = fixed(&ordered, "--fix=guess");
        assert_eq!((code, &document["nodes"][2]["value"]), (0, &json!(right)), "{written}");
        let told = found(&ordered).code(0);
        assert!(told.out.contains("warning[foreign-reference] nodes[2].value"), "{told}");
    }
    let (_, document) = fixed(&reading("<node-1>", &json!([])), "--fix");
    assert_eq!(document["nodes"][2]["value"], "<node-1>", "without an order a position is a guess");
    let (_, document) = fixed(&reading("<node-1>", &json!([])), "--fix=guess");
    assert_eq!((&document["nodes"][2]["value"], &document["nodes"][2]["depends_on"]), (&json!("{{sum_2.result}}"), &json!(["sum_2"])));
}

#[test]
fn a_path_with_the_words_of_another_system_reads_the_result_itself() {
    let (code, document) = fixed(&reading("{{steps.find.output}}", &json!(["find"])), "--fix");
    assert_eq!((code, &document["nodes"][2]["value"]), (0, &json!("{{find.result}}")));
    let agent =
        json!({"nodes": [{"id": "a", "agent": "writer", "objective": "x"}, {"id": "b", "value": "{{a.output.x}}", "depends_on": ["a"]}]});
    let told = found(&agent).code(0);
    assert!(told.out.contains("`a.output` reads a field of the result of `a`; the result itself is `a.result`"), "{told}");
    assert_eq!(fixed(&agent, "--fix").1["nodes"][1]["value"], "{{a.output.x}}", "it may be meant");
    assert_eq!(fixed(&agent, "--fix=guess").1["nodes"][1]["value"], "{{a.result.x}}");
}

#[test]
fn ordinary_text_is_never_taken_for_a_reference() {
    for text in [
        "a toy for under $2, or $1,000, or $1.50",
        "colours #E1E, #E1E1E1 and issue #2",
        "Dear {name}, use $HOME and ${PATH}",
        "write `${find}` in <summary> tags, <b>bold</b>",
        "mail find@sum_2.org, @find said so",
        "\\{{find}} and {} and { find: 1 } and $",
    ] {
        let document = reading(text, &json!(["find"]));
        let told = found(&document).code(0);
        assert!(!told.out.contains("foreign-reference"), "{text}: {told}");
    }
    let shell = json!({"dagdeck": 1, "nodes": [{"id": "find", "value": 1}, {"id": "1", "value": 2},
        {"id": "c", "tool": "run_command", "args": {"command": "echo $1 $find ${find.output}"}, "depends_on": ["find", "1"]},
        {"id": "d", "code": "return `${find} $1`", "depends_on": ["find", "1"]}]});
    let told = found(&shell);
    assert!(!told.out.contains("foreign-reference"), "{told}");
    assert_eq!(fixed(&shell, "--fix=guess").1["nodes"][2]["args"], shell["nodes"][2]["args"]);
}

#[test]
fn a_reference_by_which_no_node_is_meant_is_a_warning_without_a_fix() {
    for text in ["<node-9>", "{nobody.result}", "<GENERATED>-7", "<result of step 8>"] {
        let document = reading(text, &json!(["find"]));
        let told = found(&document).code(0);
        assert!(told.out.contains("no node is meant by it"), "{text}: {told}");
        assert_eq!(fixed(&document, "--fix=guess").1, document);
    }
    // A dependency would close a cycle.
    let mut backwards = reading("x", &json!(["find"]));
    backwards["nodes"][0]["value"] = json!("${last.output}");
    let told = found(&backwards).code(0);
    assert!(told.out.contains("foreign-reference") && !told.out.contains("fix:"), "{told}");
}

/// The nodes of a text as they are read: each with what it waits for.
fn order(name: &str, text: &str) -> Vec<(String, Vec<String>)> {
    let program = Program::new();
    program.file(name, text);
    program.run(&["validate", name, "--fix"]);
    let document = program.run(&["export", name]).code(0).json();
    let texts = |value: &Value| value.as_array().into_iter().flatten().map(|id| id.as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let node = |node: &Value| (node["id"].as_str().unwrap().to_owned(), texts(&node["depends_on"]));
    document["nodes"].as_array().unwrap_or_else(|| panic!("{document:#}")).iter().map(node).collect()
}

fn line() -> Vec<(String, Vec<String>)> {
    vec![("a".to_owned(), vec![]), ("b".to_owned(), vec!["a".to_owned()])]
}

#[test]
fn a_plan_inside_of_a_document_or_by_id_under_any_name_opens_and_is_written_back() {
    let steps = json!([{"id": "a", "agent": "writer", "objective": "x", "when": "true"}, {"id": "b", "tool": "read_file", "args": {"path": "x"}, "depends_on": ["a"]}]);
    let by_id = json!({"a": {"command": "make"}, "b": {"command": "make test", "needs": "a"}});
    for document in [
        json!({"plan": {"steps": steps}}),
        json!({"by": "hand", "metadata": {"x": 1}, "workflow": {"name": "w", "steps": steps}}),
        json!({"objective": "o", "dag": {"nodes": [{"id": "a", "value": 1}, {"id": "b", "value": 2, "depends_on": ["a"]}], "name": "x"}}),
        json!({"assignments": [{"id": "a", "task": "x"}, {"id": "b", "task": "y", "depends_on": ["a"]}]}),
        json!({"jobs": by_id}),
        json!({"tasks": by_id}),
        by_id,
        json!({"name": "n", "stages": [{"name": "one", "tasks": [{"id": "a", "task": "x"}]}, {"name": "two", "tasks": [{"id": "b", "task": "y"}]}]}),
    ] {
        assert_eq!(order("plan.json", &document.to_string()), line(), "{document}");
        let program = Program::new();
        program.file("plan.json", document.to_string());
        let written = program.run(&["export", "plan.json"]).code(0).json();
        assert_eq!(written, document, "{document}");
    }
}

#[test]
fn what_stages_hold_runs_stage_after_stage_with_their_gates_and_conditions() {
    let document = json!({"stages": [
        {"name": "one", "tasks": [{"name": "a", "action": "x"}, {"name": "b", "action": "y"}]},
        {"name": "two", "approval": true, "mode": "sequential", "tasks": [{"name": "c", "action": "z"}, "And then this"]}]});
    let program = Program::new();
    program.file("plan.json", document.to_string());
    program.run(&["validate", "plan.json", "--fix"]);
    let nodes = program.run(&["export", "plan.json"]).code(0).json()["nodes"].clone();
    let of = |at: usize| (nodes[at]["depends_on"].clone(), nodes[at]["approve"].clone());
    assert_eq!([of(0), of(1)], [(Value::Null, Value::Null), (Value::Null, Value::Null)], "{nodes:#}");
    assert_eq!([of(2), of(3)], [(json!(["a", "b"]), json!("before")), (json!(["c"]), json!("before"))], "{nodes:#}");
}

#[test]
fn a_plan_between_other_words_is_read_and_what_is_left_out_is_said() {
    let plan = "{\n  \"nodes\": [\n    {\"id\": \"a\", \"value\": 1},\n    {\"id\": \"b\", \"vaule\": 2, \"value\": 2, \"depends_on\": [\"a\"]}\n  ]\n}";
    for (name, text, says) in [
        ("p.md", format!("Here it is:\n\n```json\n{plan}\n```\nGood luck: {{x}}\n"), "the text around it is left out"),
        ("p.txt", format!("<think>\nWhat about {{this}}?\n</think>\n{plan}\n"), "those are left out"),
        ("p.json", format!("{plan}\n\nI kept it short.\n"), "those are left out"),
        (
            "p.md",
            format!("Agents:\n```json\n{{\"agents\": [\"a\"]}}\n```\nPlan:\n```json\n{plan}\n```\n"),
            "the text around it is left out",
        ),
        (
            "p.yaml",
            "title: a plan\n---\nnodes:\n  - {id: a, value: 1}\n  - {id: b, value: 2, needs: a}\n".to_owned(),
            "the others are left out",
        ),
        ("p.json", plan.replacen("\n", " // the plan\n", 1), "comments"),
        (
            "p.json",
            "{'nodes': [{'id': 'a', 'value': 'it\\'s', 'skip': False}, {id: 'b', 'value': None, 'depends_on': ['a'],}]}".to_owned(),
            "quotes",
        ),
        ("p.json", "{\"id\": \"a\", \"value\": 1}\n{\"id\": \"b\", \"value\": 1, \"needs\": \"a\"}\n".to_owned(), "one object a line"),
    ] {
        assert_eq!(order(name, &text), line(), "{text}");
        let program = Program::new();
        program.file(name, &text);
        let told = program.run(&["validate", name]).code(0);
        assert!(told.out.contains(says), "{told}");
        if text.contains("vaule") {
            let place = text.lines().position(|line| line.contains("vaule")).unwrap() + 1;
            assert!(told.out.contains(&format!("{name}:{place}:")), "{told}");
        }
    }
    let program = Program::new();
    program.file("plan.yaml", "nodes:\n  - id: a\n    value: |\n      ```json\n      {\"nodes\": []}\n      ```\n");
    let told = program.run(&["export", "plan.yaml"]).code(0);
    assert!(told.out.contains("```json"), "{told}");
}

#[test]
fn a_text_with_several_plans_runs_none_of_them() {
    let program = Program::new();
    let (one, two) = (r#"{"nodes": [{"id": "a", "value": 1}]}"#, r#"{"nodes": [{"id": "b", "value": 2}]}"#);
    for (name, text, line) in [
        ("p.md", format!("```json\n{one}\n```\nBetter:\n```\n{two}\n```\n"), 6),
        ("p.txt", format!("First {one}\nThen {two}\nDone."), 2),
        ("p.yaml", "nodes: [{id: a, value: 1}]\n---\nnodes: [{id: b, value: 2}]\n".to_owned(), 3),
        ("p.json", format!("{one}\n{two}\n"), 2),
    ] {
        program.file(name, &text);
        let ended = program.run(&["run", name]).code(3);
        assert!(ended.err.contains(&format!("the text has 2 plans: the last one is read, from line {line}")), "{ended}");
        program.run(&["validate", name, "--fix=guess"]).code(0);
        let kept: Value = serde_json::from_str(&program.run(&["export", name]).code(0).out).unwrap();
        assert_eq!(kept["nodes"], json!([{"id": "b", "value": 2}]), "{name}");
    }
    program.file("p.md", format!("```json\n{one}\n```\nOnce more:\n```\n{one}\n```\n"));
    program.run(&["run", "p.md"]).code(0);
}

#[test]
fn a_step_that_nobody_here_does_is_given_to_an_agent_by_a_guess_and_by_nothing_safe() {
    let document = json!({"nodes": [
        {"id": "a", "tool": "Image-to-Text", "description": "Read the sign", "args": {"image": "sign.png", "of": ["x", "y"]}},
        {"id": "b", "objective": "Translate {{a}}", "depends_on": ["a"]},
        {"id": "c", "agent": "poet", "objective": "Make a poem of {{b}}", "depends_on": ["b"]}]});
    let (code, same) = fixed(&document, "--fix");
    assert_eq!((code, same), (3, document.clone()));
    let (code, guessed) = fixed(&document, "--fix=guess");
    let nodes = &guessed["nodes"];
    assert_eq!(
        (code, &nodes[0]["role"], &nodes[1]["role"], &nodes[2]["role"]),
        (0, &json!("assistant"), &json!("assistant"), &json!("poet"))
    );
    assert_eq!(nodes[0]["objective"], "Read the sign\nImage-to-Text\nimage: sign.png\nof: x, y");
    assert_eq!((&nodes[1]["objective"], &nodes[2]["depends_on"]), (&document["nodes"][1]["objective"], &json!(["b"])));
}

#[test]
fn the_words_of_an_agent_are_its_objective_under_each_name_in_each_form() {
    for name in ["objective", "prompt", "instruction", "instructions", "task"] {
        for (form, document) in [
            ("native", json!({"goal": "g", "nodes": [{"id": "a", "agent": "writer", name: "Say it"}]})),
            ("orchestration", json!({"nodes": [{"id": "a", "agent": "writer", name: "Say it"}]})),
            ("hybrid", json!({"tasks": [{"id": "a", "type": "agent_delegation", "agent_role": "Writer", name: "Say it"}]})),
            (
                "workflow",
                json!({"nodes": [{"id": "a", "agent_name": "writer", "is_entry": true, "is_exit": true, name: "Say it"}], "connections": []}),
            ),
        ] {
            let program = Program::new();
            program.file("plan.json", document.to_string());
            program.run(&["validate", "plan.json"]).code(0);
            let written = program.run(&["export", "plan.json", "--format", form]).code(0).json();
            program.run(&["validate", "plan.json", "--fix"]).code(0);
            let node = program.run(&["export", "plan.json", "--format", "native"]).code(0).json()["nodes"][0].clone();
            let said = if form == "hybrid" { &node["goal"] } else { &node["objective"] };
            assert_eq!(*said, "Say it", "{form} {name}: {node}");
            assert_eq!(written, document, "{form} {name}");
        }
    }
}

#[test]
fn a_name_beside_an_id_is_the_title() {
    for document in [
        json!({"dag": [{"id": "a", "name": "Find it", "tool": "web_search", "query": "x", "dependencies": []}]}),
        json!({"tasks": [{"id": "a", "name": "Find it", "tool": "read_file", "arguments": {"path": "x"}}]}),
    ] {
        found(&document).code(0);
    }
}

/// The edges of a plan, from node to node by position.
fn edges(document: &Value) -> Vec<(usize, usize)> {
    let nodes = document["nodes"].as_array().unwrap();
    let at = |id: &Value| nodes.iter().position(|node| node["id"] == *id).unwrap();
    let listed = document["edges"].as_array().into_iter().flatten().map(|edge| (at(&edge["from"]), at(&edge["to"])));
    let own = nodes.iter().enumerate().flat_map(|(to, node)| {
        let sources = node["depends_on"].as_array().into_iter().flatten();
        sources.map(move |id| (at(id), to)).collect::<Vec<_>>()
    });
    let mut all: Vec<(usize, usize)> = listed.chain(own).collect();
    all.sort_unstable();
    all
}

#[test]
fn what_a_node_calls_its_result_is_a_reference_to_it_where_another_one_says_it() {
    for (name, label, said, argument) in [
        ("tool", json!({"label": "$var1"}), "$var1.id$", "{{unnamed_1.result.id}}"),
        ("name", json!({"label": "$var_1"}), "$var_1.id$", "{{unnamed_1.result.id}}"),
        ("api", json!({"responses": ["API_call_0"]}), "API_call_0", "{{unnamed_1.result}}"),
        ("task", json!({"returns": [{"type": "mask", "value": "<GENERATED>-0"}]}), "<GENERATED>-0", "{{unnamed_1.result}}"),
    ] {
        let mut first = json!({name: "calculator", "arguments": {"expression": "1 + 1"}});
        first.as_object_mut().unwrap().extend(label.as_object().unwrap().clone());
        let second = json!({name: "calculator", "arguments": {"expression": said}});
        let (code, document) = fixed(&json!([first, second]), "--fix=guess");
        assert_eq!((code, &document["nodes"][1]["args"]["expression"]), (0, &json!(argument)), "{document}");
        assert_eq!(edges(&document), [(0, 1)], "{document}");
    }
    // A word by itself may be anything.
    let plan = json!({"nodes": [{"id": "a", "value": 1, "output": "report"}, {"id": "b", "value": "report", "depends_on": ["a"]}]});
    assert_eq!(fixed(&plan, "--fix=guess").1["nodes"][1]["value"], "report");
}

#[test]
fn of_several_nodes_that_do_the_same_a_link_means_the_nearest_on_its_side() {
    let task = |name: &str| json!({"task": name, "arguments": ["x"]});
    let link = |from: &str, to: &str| json!({"source": from, "target": to});
    let nodes = json!([task("Colour"), task("Draw"), {"task": "Translate"}, task("Draw")]);
    let links = json!([link("Colour", "Draw"), link("Draw", "Translate"), link("Translate", "Draw")]);
    let (_, document) = fixed(&json!({"task_nodes": nodes, "task_links": links}), "--fix=guess");
    assert_eq!(edges(&document), [(0, 1), (1, 2), (2, 3)], "{document}");
    // The number counts from the first node, not from an id that nobody wrote.
    let mut last = task("Draw");
    last["arguments"] = json!(["<node-1>"]);
    let plan = json!({"task_nodes": [task("Draw"), task("Translate"), last], "task_links": links.as_array().unwrap()[1..]});
    let (_, document) = fixed(&plan, "--fix=guess");
    assert_eq!(edges(&document), [(0, 1), (1, 2)], "{document}");
    assert!(document["nodes"][2]["objective"].as_str().unwrap().contains("{{unnamed_2.result}}"), "{document}");
}

#[test]
fn what_an_author_says_of_the_work_of_an_agent_reaches_it_by_a_guess() {
    let plan = json!({"steps": [{"id": "a", "agent": "writer", "description": "Write it", "details": "Use short sentences only",
        "acceptance_criteria": ["under 200 words", "no jargon"], "status": "in progress"}]});
    let (code, document) = fixed(&plan, "--fix=guess");
    let objective = document["nodes"][0]["objective"].as_str().unwrap();
    assert_eq!(code, 0);
    assert_eq!(objective, "Write it\n\ndetails: Use short sentences only\n\nacceptance criteria: - under 200 words\n- no jargon");
    assert_eq!(document["nodes"][0]["status"], "in progress", "{document}");
}

#[test]
fn a_gate_inside_of_an_object_that_nobody_knows_asks() {
    let program = Program::new();
    for (name, value) in [
        ("safety", json!({"requires_approval": true})),
        ("controls", json!({"approval": "required"})),
        ("policy", json!({"approve": "before"})),
    ] {
        for plan in [
            json!({"nodes": [{"id": "a", "value": 1, name: value}]}),
            json!({"nodes": [{"id": "a", "value": 1}], name: value}),
            json!({"dag": [{"id": "a", "tool": "calculator", "query": "1", name: value}]}),
        ] {
            let file = program.file("p.json", plan.to_string());
            let ended = program.run(&["run", &file]).code(7);
            assert!(ended.err.contains("gate") && ended.err.contains(&format!("`{name}.")), "{plan}: {ended}");
        }
    }
}

#[test]
fn a_gate_inside_of_an_object_is_heard_beside_another_one() {
    let program = Program::new();
    let node = |name: &str, value: Value, approve: Value| json!({"nodes": [{"id": "a", "value": 1, "approve": approve, name: value}]});
    let before = json!({"requires_approval": true});
    let nodes = json!([{"id": "a", "value": 1}]);
    for plan in [
        node("policy", json!({"approve": "before"}), json!("after")),
        node("safety", before.clone(), json!("never")),
        json!({"nodes": nodes, "default": {"approve": "before"}, "defaults": {"timeout_s": 30}}),
        json!({"nodes": nodes, "default": {"approve": "before"}, "defaults": {"approve": "never"}}),
    ] {
        program.run(&["run", &program.file("p.json", plan.to_string())]).code(3).says(&["approve"]);
    }
    program.run(&["run", &program.file("p.json", node("safety", before, Value::Null).to_string())]).code(7);
    let same = node("policy", json!({"approve": "before"}), json!("before"));
    program.run(&["run", &program.file("p.json", same.to_string())]).code(7);
}

#[test]
fn names_by_position_count_as_the_document_as_a_whole_does() {
    let nodes = json!([{"id": "a", "value": "A"}, {"id": "b", "value": "B", "depends_on": ["0"]},
        {"id": "c", "value": "C{{Step_1}}", "depends_on": ["b"]}]);
    let program = Program::new();
    program.file("p.json", json!({"nodes": nodes}).to_string());
    program.run(&["validate", "p.json", "--fix"]).code(0);
    let fixed: Value = serde_json::from_str(&program.read("p.json")).unwrap();
    assert_eq!(fixed["nodes"][2]["value"], "C{{b}}", "{fixed}");
}

#[test]
fn a_number_by_itself_that_the_order_names_too_is_told_wherever_it_is_text() {
    let program = Program::new();
    let told = |nodes: serde_json::Value| {
        let file = program.file("plan.json", json!({ "nodes": nodes }).to_string());
        program.run(&["validate", &file]).out
    };
    let a = json!({"id": "a", "value": "A"});
    for depends_on in ["1", "a"] {
        let found = told(json!([a, {"id": "b", "value": "C $1", "depends_on": [depends_on]}]));
        assert!(found.contains("foreign-reference") && found.contains("`$1`"), "{depends_on}: {found}");
    }
    let found = told(json!([a, {"id": "b", "value": "C costs $1"}]));
    assert!(!found.contains("foreign-reference"), "a price: {found}");
    let found = told(json!([a, {"id": "b", "value": "B {{0}}"}]));
    assert!(found.contains("`{{0}}` is the number 0 here"), "{found}");
}

#[test]
fn what_a_yaml_plan_writes_once_to_repeat_it_asks_only_where_it_is_repeated() {
    let program = Program::new();
    let node = |id: &str, more: &str| format!("- {{id: {id}, tool: run_command, args: {{command: 'touch {id}'}}{more}}}\n");
    program.file("plan.yaml", format!("base: &b {{approve: before}}\nnodes:\n{}{}", node("a", ", <<: *b"), node("c", "")));
    program.configure("[permissions]\nallow = [\"run_command\"]\n");
    let ran = program.run(&["run", "plan.yaml"]).code(7);
    assert!(!ran.err.contains("base") && ran.err.contains("a:") && !program.workspace().join("a").exists(), "{ran}");
    assert!(program.workspace().join("c").exists(), "{ran}");
}

#[test]
fn the_steps_inside_of_an_agents_node_are_its_own_by_a_guess_and_stay_in_order() {
    let step = |id: u8, needs: Value| json!({"id": id, "title": format!("do {id}"), "dependencies": needs, "status": "pending"});
    let plan = |steps: Value| json!({"tasks": [{"id": 1, "title": "the whole", "description": "all of it", "subtasks": steps}]});
    let ordered = plan(json!([step(1, json!([])), step(2, json!(["1.1"])), step(3, json!([1, 2]))]));
    assert_eq!(fixed(&ordered, "--fix").0, 3, "only a person knows whether one agent is meant");
    let (code, made) = fixed(&ordered, "--fix=guess");
    let text = made.to_string();
    let places = ["1. title: do 1", "2. title: do 2", "3. title: do 3"].map(|words| text.find(words));
    assert!(code == 0 && places.is_sorted() && places[0].is_some() && !text.contains("subtasks\":"), "{text}");
    let torn = plan(json!([step(1, json!([2])), step(2, json!([]))]));
    assert!(fixed(&torn, "--fix=guess").1.to_string().contains("subtasks\":"), "their order is not that of the list");
}

#[test]
fn of_settings_with_a_gate_the_gate_is_read_and_the_rest_is_told() {
    let node = |policy: Value| json!({"dagdeck": 1, "nodes": [{"id": "a", "tool": "read_file", "args": {"path": "x"}, "policy": policy}]});
    let ended = found(&node(json!({"timeout_s": 5, "human": {"approve": true}})));
    assert!(ended.out.contains("`policy.human.approve` is read as `approve: before`"), "{ended}");
    assert!(ended.out.contains("of `policy` only `human.approve` is read: `timeout_s` there does nothing"), "{ended}");
    assert!(!ended.out.contains("so it does nothing"), "{ended}");
}

#[test]
fn a_gate_with_a_slip_in_its_name_or_at_the_plan_for_some_nodes_runs_nothing_unasked() {
    let program = Program::new();
    let refused = |document: Value, words: &[&str]| {
        let file = program.file("plan.json", document.to_string());
        program.run(&["validate", &file]).code(3).says(&[]);
        let found = program.run(&["validate", &file]).out;
        assert!(words.iter().all(|word| found.contains(word)), "{found}");
    };
    let node = json!({"id": "a", "value": 1});
    refused(json!({"goal": "g", "interrupt_before": ["a"], "nodes": [node]}), &["`interrupt_before` names nodes", "`approve` at each"]);
    let task = json!({"id": "a", "tool": "calculator", "query": "1", "dependencies": [], "aproval": true});
    refused(json!({"dag": [task]}), &["`aproval`", "if it means `approval`, this would run without asking"]);
    for (name, value) in [
        ("metadata", json!({"approval_required_for": ["a"]})),
        ("safety", json!({"nodes": {"needing_approval": ["a"]}})),
        ("interrupt_after", json!("a")),
        ("human_confirmations", json!([{"node": "a", "by": "Ann"}])),
        ("review_of", json!({"a": "before"})),
    ] {
        refused(json!({"goal": "g", "nodes": [node], name: value}), &["names nodes", "run unasked: write `approve` at each"]);
    }
    for name in ["checkpoints", "pause_points", "breakpoints"] {
        refused(json!({"goal": "g", "nodes": [node], name: ["a"]}), &["names nodes", "not halt there: write `breakpoint` at each"]);
    }
    let dated = json!({"nodes": [{"id": "a", "value": 1, "date": "2024-01-01", "state": true}]});
    let file = program.file("plan.json", dated.to_string());
    program.run(&["validate", &file]).code(0);
}
