//! Fixes: what has one meaning is applied by `--fix`, what is a guess only when it is asked for, and the document keeps its form.

use super::support::program::Program;
use serde_json::{Value, json};

/// The document after `validate --fix` or `--fix=guess`, and the exit code of that.
fn fixed(document: &Value, how: &str) -> (i32, Value) {
    let program = Program::new();
    program.file("plan.json", document.to_string());
    let ended = program.run(&["validate", "plan.json", how]);
    (ended.code, serde_json::from_str(&program.read("plan.json")).unwrap())
}

/// A line of nodes, each with the ids that it names.
fn line(depends_on: &[Value]) -> Value {
    let names = ["fetch_page", "read_text", "count-words", "report"];
    let node = |(name, ids): (&&str, &Value)| json!({"id": name, "value": 1, "depends_on": ids});
    json!({"dagdeck": 1, "nodes": names.iter().zip(depends_on).map(node).collect::<Vec<_>>()})
}

fn orders(document: &Value) -> Vec<Value> {
    document["nodes"].as_array().unwrap().iter().map(|node| node["depends_on"].clone()).collect()
}

#[test]
fn names_by_position_are_safe_only_if_one_counting_leads_all_of_them_to_earlier_nodes() {
    let right = [json!([]), json!(["fetch_page"]), json!(["read_text"]), json!(["count-words"])];
    for named in
        [[json!([]), json!(["Step_1"]), json!(["<node-2>"]), json!(["#3"])], [json!([]), json!(["0"]), json!([1]), json!(["task 2"])]]
    {
        assert_eq!(fixed(&line(&named), "--fix"), (0, line(&right)), "{named:?}");
    }
    // From 1 the second node would wait for itself, and no name is 0.
    let torn = line(&[json!([]), json!(["step_2"]), json!(["step_1"]), json!(["step_3"])]);
    assert_eq!(fixed(&torn, "--fix"), (3, torn.clone()));
    let (code, guessed) = fixed(&torn, "--fix=guess");
    assert_eq!((code, &orders(&guessed)[2..]), (0, &[json!(["fetch_page"]), json!(["count-words"])][..]));
}

#[test]
fn names_that_differ_in_case_and_separators_alone_are_safe_and_near_ones_are_guesses() {
    let same = line(&[json!([]), json!(["Fetch-Page"]), json!(["READ TEXT"]), json!(["countWords"])]);
    let (code, document) = fixed(&same, "--fix");
    assert_eq!((code, orders(&document)), (0, vec![json!([]), json!(["fetch_page"]), json!(["read_text"]), json!(["count-words"])]));
    let near = line(&[json!([]), json!(["fetch_pge"]), json!(["red_text"]), json!(["count-words"])]);
    assert_eq!(fixed(&near, "--fix"), (3, near.clone()));
    let (code, document) = fixed(&near, "--fix=guess");
    assert_eq!(
        (code, orders(&document)),
        (0, orders(&line(&[json!([]), json!(["fetch_page"]), json!(["read_text"]), json!(["count-words"])])))
    );
    let tool = json!({"dagdeck": 1, "nodes": [{"id": "a", "tool": "reed_file", "args": {"path": "plan.json"}}]});
    assert_eq!(fixed(&tool, "--fix"), (3, tool.clone()), "a near tool is a guess");
    let tool = json!({"dagdeck": 1, "nodes": [{"id": "a", "tool": "Read-File", "args": {"path": "plan.json"}}]});
    assert_eq!(fixed(&tool, "--fix").1["nodes"][0]["tool"], "read_file");
}

#[test]
fn a_lost_connection_keeps_an_order_and_a_node_that_reads_itself_reads_its_only_dependency() {
    let lost = line(&[json!([]), json!(["qqqqqqqqqqqq"]), json!(["read_text"]), json!(["count-words"])]);
    assert_eq!(fixed(&lost, "--fix"), (3, lost.clone()), "no removal is safe");
    assert_eq!(orders(&fixed(&lost, "--fix=guess").1)[1], json!(["fetch_page"]));
    let itself = json!({"dagdeck": 1, "nodes": [{"id": "a", "value": 1}, {"id": "b", "value": "{{b.result}}", "depends_on": ["a"]}]});
    assert_eq!(fixed(&itself, "--fix"), (3, itself.clone()));
    let (code, document) = fixed(&itself, "--fix=guess");
    assert_eq!((code, &document["nodes"][1]["value"]), (0, &json!("{{a.result}}")));
    let backwards = json!({"dagdeck": 1, "nodes": [{"id": "a", "value": "{{b.result}}"}, {"id": "b", "value": 1, "depends_on": ["a"]}]});
    let (code, document) = fixed(&backwards, "--fix=guess");
    assert_eq!((code, &document["nodes"][0]["depends_on"]), (0, &json!(["b"])), "{document}");
}

#[test]
fn fixing_writes_the_document_back_in_its_own_form_and_diff_only_shows() {
    let document = json!({"by": "hand", "dag": [
        {"id": 1, "tool": "calculator", "query": "1 + 1"},
        {"id": "b", "tool": "calculator", "query": "2 + 2", "needs": 1}
    ]});
    let program = Program::new();
    let text = document.to_string();
    program.file("plan.json", &text);
    let shown = program.run(&["validate", "plan.json", "--diff"]).code(0);
    assert!(shown.out.contains("+") && shown.out.contains("\"dependencies\""), "{shown}");
    assert_eq!(program.read("plan.json"), text, "nothing is written");
    let report = program.run(&["validate", "plan.json", "--fix", "--json"]).code(0).json();
    assert!(report["fixed"].as_array().unwrap().iter().all(|fix| fix["kind"] == "safe"), "{report}");
    let right = json!({"by": "hand", "dag": [
        {"id": "1", "tool": "calculator", "query": "1 + 1"},
        {"id": "b", "tool": "calculator", "query": "2 + 2", "dependencies": ["1"]}
    ]});
    assert_eq!(serde_json::from_str::<Value>(&program.read("plan.json")).unwrap(), right);
    assert_eq!(program.feed(&["validate", "-", "--fix"], text).code(0).json(), right, "from stdin to stdout");
}

#[test]
fn fixes_for_agents_keep_the_form_of_an_orchestration_or_workflow_file() {
    for document in [
        json!({"nodes": [{"id": "a", "agent": "writer", "objective": "x", "depends_on": []}, {"id": "b", "agent": "writer", "objective": "{{a}}", "after": "a"}]}),
        json!({"nodes": [{"id": "a", "agent_name": "writer", "is_entry": true}, {"id": "b", "agent_name": "writer"}],
            "connections": [{"source": "a", "target_id": "b"}]}),
    ] {
        let (code, written) = fixed(&document, "--fix");
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!((code, keys(&written)), (0, keys(&document)), "{written}");
    }
}

#[test]
fn fixing_a_plan_by_id_keeps_its_ids_and_its_text_keeps_its_lines() {
    let program = Program::new();
    for (list, order) in [("nodes", "depends_on"), ("dag", "dependencies"), ("tasks", "depends_on")] {
        let work = json!({"tool": "current_time", "query": "now"});
        let mut second = work.clone();
        second[order] = json!(["a"]);
        program.file("plan.json", json!({ list: {"a": work, "b": second} }).to_string());
        program.run(&["validate", "plan.json", "--fix"]);
        let text = program.read("plan.json");
        let nodes = &serde_json::from_str::<Value>(&text).unwrap()[list];
        assert_eq!((&nodes[0]["id"], &nodes[1]["id"], &nodes[1][order]), (&json!("a"), &json!("b"), &json!(["a"])), "{text}");
        assert!(!text.contains("as_written") && text.lines().count() == 1, "{text}");
        program.run(&["validate", "plan.json", "--fix"]).says(&["applied 0 changes"]);
    }
}

#[test]
fn of_several_plans_in_a_text_none_is_removed_by_a_safe_fix() {
    let program = Program::new();
    let block = |plan: Value| format!("```json\n{plan}\n```\n");
    let needs = json!({"nodes": [{"id": "a", "value": "A"}, {"id": "b", "value": "B", "needs": ["a"]}]});
    let text = format!("One:\n{}Two:\n{}", block(json!({"nodes": [{"id": "a", "value": "A"}]})), block(needs));
    program.file("two.md", &text);
    let listed = program.run(&["validate", "two.md"]).code(3);
    assert!(listed.out.contains("guess: keep this one, and remove the others"), "{listed}");
    program.run(&["validate", "two.md", "--fix"]).code(1).says(&["nothing is written: the text has 2 plans", "only that one is written"]);
    assert_eq!(program.read("two.md"), text);
    program.run(&["validate", "two.md", "--fix=guess"]).code(0);
    assert!(program.read("two.md").starts_with('{'));
}

#[test]
fn a_name_that_is_made_legal_is_carried_into_the_conditions_of_edges() {
    let nodes = json!([{"id": "get age", "value": {"n": 2}}, {"id": "b", "value": "B"}]);
    let edge = |from: &str, when: &str| json!([{"from": from, "to": "b", "when": when}]);
    let document = json!({"dagdeck": 1, "nodes": nodes, "edges": edge("get age", "get age.n > 1 and 'get age' != deps['get age'].n")});
    let (code, made) = fixed(&document, "--fix");
    assert_eq!((code, &made["edges"]), (0, &edge("get_age", "get_age.n > 1 and 'get age' != deps['get_age'].n")));
}

#[test]
fn every_fix_says_whether_it_is_safe_or_a_guess() {
    let program = Program::new();
    program.file("plan.json", line(&[json!([]), json!(["Fetch_Page"]), json!(["red_text"]), json!("count-words")]).to_string());
    let report = program.run(&["validate", "plan.json", "--json"]).code(3).json();
    let kinds: Vec<_> = report["findings"].as_array().unwrap().iter().map(|finding| finding["fix"]["kind"].clone()).collect();
    assert_eq!(kinds, ["safe", "guess", "safe"]);
}

#[test]
fn a_difference_says_what_would_be_fixed_and_where_and_names_no_place_of_a_text_that_is_nowhere() {
    let program = Program::new();
    let named = [json!([]), json!(["Step_1"]), json!(["Step_2"]), json!(["nobody"])];
    program.file("plan.json", line(&named).to_string());
    let before = program.read("plan.json");
    let told = program.run(&["validate", "plan.json", "--fix", "--diff"]).says(&["would fix nodes[1].depends_on", "would apply "]);
    assert!(!told.err.contains("fixed") && !told.err.contains("plan.json:") && before == program.read("plan.json"), "{told}");
}

#[test]
fn json_that_is_read_past_its_commas_or_fence_stays_json_when_it_is_fixed() {
    for text in ["{\"nodes\": [\n {\"id\": 1, \"value\": 1},\n]}", "```json\n{\"nodes\": [{\"id\": 1, \"value\": 1}]}\n```\n"] {
        let program = Program::new();
        program.file("plan.json", text);
        program.run(&["validate", "--fix", "plan.json"]).code(0);
        let written: Value = serde_json::from_str(&program.read("plan.json")).unwrap();
        assert_eq!(written, json!({"nodes": [{"id": "1", "value": 1}]}));
        program.run(&["validate", "plan.json"]).code(0);
    }
}

#[test]
fn a_plan_that_is_laid_out_with_tabs_keeps_them_when_it_is_fixed() {
    let program = Program::new();
    program.file("plan.json", "{\n\t\"nodes\": [{\"id\": 1, \"value\": \"a\\tb\"}]\n}\n");
    program.run(&["validate", "--fix", "plan.json"]).code(0);
    let written = program.read("plan.json");
    assert!(written.starts_with("{\n\t\"nodes\": [{\"id\": \"1\",") && written.contains("a\\tb"), "{written}");
    program.run(&["validate", "plan.json"]).code(0);
}

#[test]
fn a_status_that_is_read_as_a_field_of_a_result_is_told_with_the_nodes_own_as_a_guess() {
    let program = Program::new();
    let agent = |id: &str| json!({"id": id, "agent": "writer", "objective": "x"});
    let mut sure = agent("sure");
    sure["output_schema"] = json!({"type": "object", "properties": {"status": {"type": "string"}}});
    let said = json!({"id": "said", "value": {"error": "none", "b-c": 1}});
    let read = json!({"id": "r", "join": "always", "value": "{{s.status}} {{ s.error or 's.error' }} {{sure.status}} {{said.error}} {{nodes.s.status}} s.status",
        "when": "s-2.state == 'failed' or s.result.status == 'x'", "depends_on": ["s", "s-2", "sure", "said"]});
    let document = json!({"dagdeck": 1, "nodes": [agent("s"), agent("s-2"), sure, said, read]});
    program.file("plan.json", document.to_string());
    let found = program.run(&["validate", "plan.json"]).code(0).out;
    let lines: Vec<_> = found.lines().filter(|line| line.contains("own-state")).collect();
    assert_eq!(lines.len(), 3, "{found}");
    for says in [
        "its own status is `nodes.s.status`; guess",
        "its own error is `nodes.s.error`; guess",
        "its own status is `nodes[\"s-2\"].status`; guess",
    ] {
        assert!(found.contains(says), "{says}: {found}");
    }
    assert_eq!(fixed(&document, "--fix").1, document, "it may be meant");
    let (_, guessed) = fixed(&document, "--fix=guess");
    let text = "{{nodes.s.status}} {{ nodes.s.error or 's.error' }} {{sure.status}} {{said.error}} {{nodes.s.status}} s.status";
    assert_eq!(guessed["nodes"][4]["value"], text);
    assert_eq!(guessed["nodes"][4]["when"], "nodes[\"s-2\"].status == 'failed' or s.result.status == 'x'");
}

#[test]
fn texts_follow_names_by_position_and_names_that_were_made_legal() {
    let program = Program::new();
    let calculates =
        |id: &str, query: &str, sources: &[&str]| json!({"id": id, "tool": "calculator", "query": query, "depends_on": sources});
    let by_position = [calculates("x1", "20+1", &[]), calculates("x2", "{{0}}+1", &["0"]), calculates("x3", "{{1}}+3", &["1"])];
    let illegal = [calculates("get age", "20+1", &[]), calculates("x3", "{{get age}}+$OUTPUT[get age]", &["get age"])];
    for (nodes, wanted) in [(json!(by_position), "25\n"), (json!(illegal), "42\n")] {
        let plan = program.file("plan.json", json!({"dagdeck": 1, "goal": "test", "nodes": nodes}).to_string());
        let fixed = program.run(&["validate", &plan, "--fix"]).code(0);
        assert!(!fixed.err.contains("removed a dependency"), "{fixed}");
        assert_eq!(program.run(&["run", &plan]).code(0).out, wanted);
    }
}

#[test]
fn a_fix_of_json_changes_nothing_else_and_one_of_yaml_says_first_that_layout_and_comments_go() {
    let program = Program::new();
    let text = "{ \"goal\": \"g\",\n  \"nodes\": [ {\"id\":\"a\", \"value\": [1e2, 1.50]},\n    {\"id\":\"b\",\"value\":1,  \"needs\":\"a\"} ] }\n";
    let file = program.file("p.json", text);
    let shown = program.run(&["validate", &file, "--fix"]).code(0);
    assert!(!shown.err.contains("not kept"), "{shown}");
    assert_eq!(program.read("p.json"), text.replace("\"needs\":\"a\"", "\"depends_on\":[\"a\"]"));
    for (text, lost) in [
        (
            "# mine\ngoal: g\nnodes:\n- {id: a, value: 1}\n- {id: b, value: 2, needs: a}\n",
            "comments, words around the plan and its layout are not kept",
        ),
        ("goal: g\nnodes:\n- {id: a, value: +5}\n- {id: b, value: 2, needs: a}\n", "the layout of the document is not kept"),
    ] {
        let file = program.file("p.yaml", text);
        for how in ["--diff", "--fix"] {
            let shown = program.run(&["validate", &file, how]).code(0);
            assert!(shown.err.starts_with(lost), "{shown}");
        }
    }
}

#[test]
fn numbers_of_a_yaml_plan_keep_their_spelling_when_another_node_is_fixed() {
    let program = Program::new();
    let text =
        "nodes:\n  - id: a\n    value: 1e3\n  - id: b\n    value: [+5, 0x1F, 1_000, 2.50]\n  - id: c\n    value: 1\n    depends_on: [A]\n";
    let file = program.file("plan.yaml", text);
    program.run(&["validate", &file, "--fix"]).code(0);
    assert_eq!(program.read("plan.yaml"), text.replace("[A]", "[a]"));
}

#[test]
fn a_node_that_says_in_unknown_fields_alone_what_it_does_is_an_agents_by_guess_with_all_its_words() {
    let node = json!({"id": "a", "command": "/builder", "args": "implement the feature"});
    let plan = json!({"nodes": [node, {"id": "b", "value": "{{a}}", "depends_on": ["a"]}]});
    assert_eq!(fixed(&plan, "--fix"), (3, plan.clone()));
    let (code, guessed) = fixed(&plan, "--fix=guess");
    let told = json!({"id": "a", "role": "assistant", "objective": "command: /builder\nargs: implement the feature"});
    assert_eq!((code, &guessed["nodes"][0]), (0, &told));
    let ways = json!({"nodes": [{"id": "a", "command": "/builder", "args": "x", "policy_of": {"target": "b"}}]});
    assert_eq!(fixed(&ways, "--fix=guess"), (3, ways.clone()), "what holds more than words is nobody's guess");
}

#[test]
fn a_list_of_words_for_each_node_beside_them_is_no_list_of_nodes() {
    let nodes = json!([{"task": "Fetch Page", "arguments": []}, {"task": "Read Text", "arguments": []}]);
    let steps = json!([{"step": 1, "description": "Fetch it."}, {"step": 2, "description": "Read it."}]);
    let links = json!([{"source": "Fetch Page", "target": "Read Text"}]);
    let plan = |steps: Value| json!({"task_steps": steps, "task_nodes": nodes, "task_links": links});
    assert_eq!(fixed(&plan(steps.clone()), "--fix=guess").0, 0);
    let one_more = json!([steps[0], steps[1], {"step": 3, "description": "Send it."}]);
    assert_eq!(fixed(&plan(one_more), "--fix=guess").0, 3, "a step that no node does is not dropped");
}

#[test]
fn of_two_countings_the_one_that_leads_every_number_to_an_earlier_node_is_offered() {
    let nodes = json!([{"id": "a", "value": "A"}, {"id": "b", "value": "<node-1>", "depends_on": ["a"]},
        {"id": "c", "value": "<node-2> <node-1>", "depends_on": ["b"]}, {"id": "d", "value": "<node-1>"}]);
    let (code, read) = fixed(&json!({ "nodes": nodes }), "--fix=guess");
    assert_eq!((code, &read["nodes"][3]["value"], &read["nodes"][3]["depends_on"]), (0, &json!("{{a.result}}"), &json!(["a"])));
    assert_eq!(read["nodes"][2]["value"], "{{b.result}} {{a.result}}");
}
