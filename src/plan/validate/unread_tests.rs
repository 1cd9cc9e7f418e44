//! What unknown fields say by their values: other nodes, people who are to be asked, conditions.

use super::tests::catalog;
use super::*;
use crate::plan::{Approve, dialect};
use serde_json::{Value, json};

/// The plan with the finding of an error, and its fix made if there is one.
fn told(document: &Value, path: &str) -> Option<(Finding, Plan)> {
    let mut plan = dialect::read(&document.to_string(), "-").unwrap().0;
    let found = validate(&plan, &catalog());
    let finding = found.into_iter().find(|finding| finding.path == path && finding.code == Code::WrongShape)?;
    if let Some(fix) = &finding.fix {
        fix.edit.apply(&mut plan).unwrap();
        let left = validate(&plan, &catalog());
        assert!(left.iter().all(|other| other.path != path || !other.is_error()), "{document}: {left:?}");
    }
    Some((finding, plan))
}

/// Three nodes without an order, of which `use` has one more field.
fn field(name: &str, value: Value) -> Value {
    let mut node = json!({"id": "use", "value": 2});
    node[name] = value;
    json!({"goal": "g", "nodes": [{"id": "get_data", "value": 1}, node, {"id": "c", "value": 3}]})
}

#[test]
fn a_field_that_says_after_what_a_node_runs_is_an_error_under_any_name_until_an_edge_says_it() {
    let sources: [(&str, Value, &str, &[&str]); 12] = [
        ("timing", json!("after get_data"), "timing", &["get_data"]),
        ("tags", json!(["fast", "after:get_data"]), "tags[1]", &["get_data"]),
        ("tags", json!(["depends_on:get_data"]), "tags[0]", &["get_data"]),
        ("metadata", json!({"schedule": {"begin": "once get_data and c are done"}}), "metadata.schedule.begin", &["get_data", "c"]),
        ("preconditions", json!(["get_data has finished"]), "preconditions[0]", &["get_data"]),
        ("hint_for_runner", json!("Only start this after `get_data` gave something"), "hint_for_runner", &["get_data"]),
        ("gets", json!("get_data"), "gets", &["get_data"]),
        ("gets", json!("get_data & c"), "gets", &["get_data"]),
        ("basis", json!({"step": "get_data"}), "basis.step", &["get_data"]),
        ("wants", json!(["get_data.result"]), "wants[0]", &["get_data"]),
        ("source_text", json!("{{get_data}}"), "source_text", &["get_data"]),
        ("starts_when", json!("Get Data completes"), "starts_when", &["get_data"]),
    ];
    for (name, value, path, expected) in sources {
        let document = field(name, value);
        let (finding, plan) = told(&document, &format!("nodes[1].{path}")).unwrap_or_else(|| panic!("{document}"));
        assert!(finding.message.contains("no edge joins them like that"), "{}", finding.message);
        for id in expected {
            assert!(plan.nodes[1].depends_on.contains(&(*id).into()), "{document}: {:?}", plan.nodes[1].depends_on);
        }
        let mut joined = document.clone();
        joined["nodes"][1]["depends_on"] = json!(["get_data", "c"]);
        assert_eq!(told(&joined, &format!("nodes[1].{path}")), None, "{joined}");
    }
}

#[test]
fn an_order_with_one_meaning_is_a_safe_fix_and_the_name_of_a_node_alone_a_guess() {
    let kind = |name: &str, value: Value| told(&field(name, value), &format!("nodes[1].{name}")).unwrap().0.fix.map(|fix| fix.kind);
    assert_eq!(kind("timing", json!("after get_data")), Some(FixKind::Safe));
    assert_eq!(kind("timing", json!("before c")), Some(FixKind::Safe));
    assert_eq!(kind("gets", json!("get_data")), Some(FixKind::Guess));
    let (_, plan) = told(&field("timing", json!("before c, after get_data")), "nodes[1].timing").unwrap();
    assert_eq!((&plan.nodes[1].depends_on[..], &plan.nodes[2].depends_on[..]), (&["get_data".into()][..], &["use".into()][..]));
}

#[test]
fn the_order_that_a_plan_or_its_metadata_says_in_words_is_an_error_until_edges_say_it() {
    for (name, value, path) in [
        ("flow", json!("get_data then use then c"), "flow"),
        ("metadata", json!({"plan": "get_data -> use -> c"}), "metadata.plan"),
        ("metadata", json!({"order": ["get_data", "use", "c"]}), "metadata.order"),
        ("metadata", json!({"execution": "sequential"}), "metadata.execution"),
        ("rules", json!(["c runs only after use", "use after get_data"]), "rules[0]"),
        ("timing", json!({"use": "after get_data"}), "timing.use"),
    ] {
        let mut document = field("owner", json!("me"));
        document[name] = value;
        let (_, plan) = told(&document, path).unwrap_or_else(|| panic!("{document}"));
        assert!(plan.nodes.iter().any(|node| !node.depends_on.is_empty()), "{document}");
    }
}

#[test]
fn a_field_that_speaks_of_asking_a_person_is_an_error_under_any_name_until_a_gate_says_it() {
    for (name, value, path) in [
        ("tags", json!(["needs-sign-off"]), "tags[0]"),
        ("safety", json!("ask the owner before this runs"), "safety"),
        ("guardrails", json!([{"rule": "never send without approval"}]), "guardrails[0].rule"),
        ("preconditions", json!(["approved by the head chef"]), "preconditions[0]"),
        ("operator_ok", json!(true), "operator_ok"),
        ("metadata", json!({"risk": {"level": {"control": {"hitl": true}}}}), "metadata.risk.level.control.hitl"),
        ("mode", json!("manual"), "mode"),
        ("waits", json!("until the pharmacist confirms"), "waits"),
        ("consent", json!("required"), "consent"),
    ] {
        let document = field(name, value);
        let (finding, plan) = told(&document, &format!("nodes[1].{path}")).unwrap_or_else(|| panic!("{document}"));
        assert!(finding.message.contains("nothing asks here"), "{}", finding.message);
        assert_eq!(plan.nodes[1].policy.approve, Some(Approve::Before), "{document}");
        let mut gated = document.clone();
        gated["nodes"][1]["approve"] = json!("after");
        assert_eq!(told(&gated, &format!("nodes[1].{path}")), None, "{gated}");
        let mut beside = document.clone();
        beside["nodes"][2] = json!({"id": "c", "ask": "Go on?"});
        beside["nodes"][1]["depends_on"] = json!(["c"]);
        assert_eq!(told(&beside, &format!("nodes[1].{path}")), None, "{beside}");
    }
    for (name, value, path) in [("policy_text", json!("A human must approve this"), "policy_text"), ("oversight", json!(true), "oversight")]
    {
        let mut document = field("owner", json!("me"));
        document[name] = value;
        let (_, plan) = told(&document, path).unwrap_or_else(|| panic!("{document}"));
        assert_eq!(plan.defaults.approve, Some(Approve::Before), "{document}");
    }
    let mut document = field("owner", json!("me"));
    document["rules"] = json!(["ask the boss before get_data"]);
    document["nodes"][2]["approve"] = json!("before");
    let (_, plan) = told(&document, "rules[0]").unwrap();
    assert_eq!(plan.nodes.iter().map(|node| node.policy.approve).collect::<Vec<_>>(), [Some(Approve::Before), None, Some(Approve::Before)]);
}

#[test]
fn a_condition_over_another_nodes_result_is_an_error_where_nothing_tests_it() {
    for (name, value, path) in [
        ("activation", json!("get_data.result.score > 3"), "activation"),
        ("preconditions", json!(["{{get_data.ok}} == true"]), "preconditions[0]"),
        ("metadata", json!({"gate_rule": "get_data.total >= 5 and get_data.ok"}), "metadata.gate_rule"),
    ] {
        let mut document = field(name, value);
        document["nodes"][1]["depends_on"] = json!(["get_data"]);
        let (finding, plan) = told(&document, &format!("nodes[1].{path}")).unwrap_or_else(|| panic!("{document}"));
        assert!(finding.message.contains("nothing tests it"), "{}", finding.message);
        assert!(plan.nodes[1].policy.when.is_some(), "{document}");
    }
}

#[test]
fn what_is_said_beside_the_plan_in_harmless_fields_stays_a_warning() {
    for (name, value) in [
        ("comments", json!("runs nicely after get_data")),
        ("owner", json!("c")),
        ("priority", json!("high")),
        ("tags", json!(["c", "get_data", "review"])),
        ("category", json!("get_data")),
        ("estimated_minutes", json!(5)),
        ("rationale", json!("We need the manager's approval later, after get_data")),
        ("expected_output", json!("a table of customer reviews")),
        ("topic", json!("loan approval")),
        ("auto_approved", json!("yes")),
        ("note_to_self", json!("no approval needed here")),
        ("reviewer_rating", json!(4)),
        ("supervised", json!(false)),
        ("success_criteria", json!("use.result.rows > 3")),
        ("assigned_to", json!("the data team")),
    ] {
        let document = field(name, value);
        let plan = dialect::read(&document.to_string(), "-").unwrap().0;
        let found = validate(&plan, &catalog());
        assert!(found.iter().all(|finding| !finding.is_error()), "{document}: {found:?}");
    }
}

#[test]
fn names_of_several_nodes_where_one_id_belongs_are_a_dependency_on_each_of_them() {
    for written in
        [json!("get_data and c"), json!("after get_data & c"), json!(["get_data + c"]), json!("both get_data and c"), json!("get_data c")]
    {
        let mut document = field("owner", json!("me"));
        document["nodes"][1]["depends_on"] = written;
        let mut plan = dialect::read(&document.to_string(), "-").unwrap().0;
        let found = validate(&plan, &catalog());
        let finding = found.into_iter().find(|finding| finding.code == Code::UnknownDependency).unwrap();
        assert!(finding.message.ends_with("it names `get_data`, `c`"), "{}", finding.message);
        let fix = finding.fix.unwrap();
        assert_eq!(fix.kind, FixKind::Safe);
        fix.edit.apply(&mut plan).unwrap();
        assert_eq!(plan.nodes[1].depends_on, ["get_data".into(), "c".into()], "{document}");
    }
    let mut document = field("owner", json!("me"));
    document["edges"] = json!([{"from": "get_data and c", "to": "use"}]);
    let mut plan = dialect::read(&document.to_string(), "-").unwrap().0;
    let fix = validate(&plan, &catalog()).into_iter().find(|finding| finding.code == Code::UnknownDependency).unwrap().fix.unwrap();
    fix.edit.apply(&mut plan).unwrap();
    let ends: Vec<(&str, &str)> = plan.edges.iter().map(|edge| (edge.from.as_str(), edge.to.as_str())).collect();
    assert_eq!(ends, [("get_data", "use"), ("c", "use")]);
}

#[test]
fn an_or_and_a_failure_are_no_plain_order() {
    let kind = |name: &str, value: Value| told(&field(name, value), &format!("nodes[1].{name}")).unwrap().0.fix.map(|fix| fix.kind);
    assert_eq!(kind("timing", json!("after get_data or c")), Some(FixKind::Guess));
    assert_eq!(kind("on_error", json!("c")), None);
    let (finding, _) = told(&field("paths", json!({"high": "get_data", "low": "c"})), "nodes[1].paths.high").unwrap();
    assert_eq!(finding.fix, None);
    let mut joined = field("fallback_for", json!("get_data"));
    joined["nodes"][1]["depends_on"] = json!(["get_data"]);
    assert!(told(&joined, "nodes[1].fallback_for").is_some(), "an edge doesn't say that it runs after a failure alone");
    let (_, plan) = told(&field("constraint", json!("not before get_data")), "nodes[1].constraint").unwrap();
    assert_eq!(plan.nodes[1].depends_on, ["get_data".into()]);
}

#[test]
fn what_a_node_makes_under_a_name_comes_before_the_node_that_takes_it() {
    let mut document = field("consumes", json!("dough"));
    document["nodes"][0]["produces"] = json!(["dough", "flour_bill"]);
    let (finding, plan) = told(&document, "nodes[1].consumes").unwrap();
    assert_eq!((finding.fix.unwrap().kind, &plan.nodes[1].depends_on[..]), (FixKind::Guess, &["get_data".into()][..]));
    document["nodes"][2]["produces"] = json!("dough");
    assert_eq!(told(&document, "nodes[1].consumes"), None, "two nodes make it");
}

#[test]
fn an_order_that_is_no_list_of_ids_has_the_nodes_that_it_names_as_a_guess() {
    for written in [json!({"all": ["get_data", "c"]}), json!({"get_data": "rows", "c": "rows"}), json!([{"id": "get_data", "if": "c"}])] {
        let mut document = field("owner", json!("me"));
        document["nodes"][1]["depends_on"] = written;
        let mut plan = dialect::read(&document.to_string(), "-").unwrap().0;
        let found = validate(&plan, &catalog());
        let fix = found.into_iter().find(|finding| finding.code == Code::WrongShape).unwrap().fix.unwrap();
        assert_eq!(fix.kind, FixKind::Guess);
        fix.edit.apply(&mut plan).unwrap();
        assert_eq!(plan.nodes[1].depends_on, ["get_data".into(), "c".into()], "{document}");
    }
    let mut document = field("owner", json!("me"));
    document["nodes"][1]["depends_on"] = json!([{"id": "get_data", "type": "hard"}, {"step": "c", "status": "completed"}]);
    let plan = dialect::read(&document.to_string(), "-").unwrap().0;
    assert_eq!(plan.nodes[1].depends_on, ["get_data".into(), "c".into()]);
}

#[test]
fn a_guess_takes_no_question_out_that_stands_beside_a_call() {
    let document = json!({"nodes": [{"id": "send", "tool": "append", "args": {}, "ask": "Send it?"}]});
    let plan = dialect::read(&document.to_string(), "-").unwrap().0;
    let finding = validate(&plan, &catalog()).into_iter().find(Finding::is_error).unwrap();
    assert_eq!((finding.path.as_str(), finding.fix), ("nodes[0].ask", None));
}

#[test]
fn steps_that_are_nodes_inside_of_an_agents_node_are_its_plan_as_a_guess() {
    let steps = json!([{"id": "x", "tool": "echo", "args": {"text": "1"}}, {"id": "y", "tool": "echo", "args": {"text": "{{x}}"}, "depends_on": ["x"]}]);
    let document = json!({"goal": "g", "nodes": [{"id": "a", "agent": "writer", "objective": "Say it", "subtasks": steps}]});
    let (finding, plan) = told(&document, "nodes[0].subtasks").unwrap();
    assert_eq!(finding.fix.unwrap().kind, FixKind::Guess);
    let body = plan.nodes[0].kind.body().unwrap();
    assert_eq!((body.goal.as_str(), body.nodes.len(), &body.nodes[1].depends_on[..]), ("Say it", 2, &["x".into()][..]));
}

#[test]
fn a_workflow_of_n8n_keeps_its_order_and_says_what_is_missing() {
    let document = json!({"name": "W", "nodes": [
        {"name": "When", "type": "n8n-nodes-base.manualTrigger", "parameters": {}, "position": [0, 0]},
        {"name": "Check", "type": "n8n-nodes-base.if", "parameters": {}, "position": [1, 0]},
        {"name": "Send", "type": "n8n-nodes-base.gmail", "parameters": {"to": "x"}, "position": [2, 0]},
    ], "connections": {
        "When": {"main": [[{"node": "Check", "type": "main", "index": 0}]]},
        "Check": {"main": [[{"node": "Send", "type": "main", "index": 0}], []]},
    }});
    let (plan, _) = dialect::read(&document.to_string(), "-").unwrap();
    let ends: Vec<(&str, &str)> = plan.edges.iter().map(|edge| (edge.from.as_str(), edge.to.as_str())).collect();
    assert_eq!(ends, [("When", "Check"), ("Check", "Send")]);
    assert_eq!(plan.edges[1].when.as_deref(), Some("output 1 of Check"));
    let found = validate(&plan, &catalog());
    assert!(found.iter().any(|finding| finding.message.contains("as n8n means them")), "{found:?}");
    assert_eq!(found.iter().filter(|finding| finding.code == Code::NoKind).count(), 3);
    assert!(found.iter().any(|finding| finding.code == Code::BadCondition), "a choice is no plain order: {found:?}");
    let written = dialect::write(&plan, dialect::Format::Document(crate::plan::Dialect::Native)).text;
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), document);
}

#[test]
fn an_input_that_names_another_node_without_a_reference_is_told_and_is_an_error_without_an_edge() {
    for value in [json!({"from": "get_data"}), json!("get_data.output")] {
        let mut document = field("inputs", json!({"rows": value}));
        let (finding, plan) = told(&document, "nodes[1].inputs.rows").unwrap();
        assert_eq!(finding.fix.unwrap().kind, FixKind::Guess);
        assert_eq!(plan.nodes[1].policy.inputs.as_ref().unwrap()["rows"], "{{get_data.result}}");
        assert_eq!(plan.nodes[1].depends_on, ["get_data".into()]);
        document["nodes"][1]["depends_on"] = json!(["get_data"]);
        let plan = dialect::read(&document.to_string(), "-").unwrap().0;
        let found: Vec<Code> = validate(&plan, &catalog()).iter().map(|finding| finding.code).collect();
        assert_eq!(found, [Code::ForeignReference]);
    }
    let plan = dialect::read(&field("inputs", json!({"rows": {"from": "Ann"}, "b": "c"})).to_string(), "-").unwrap().0;
    assert_eq!(validate(&plan, &catalog()), []);
}
