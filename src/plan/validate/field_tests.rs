//! Fields that are not known, not acted on, or without effect where they are written.

use super::tests::{catalog, found, read};
use super::*;
use serde_json::{Value, json};

#[test]
fn limits_and_fields_that_are_not_acted_on() {
    let document = json!({"defaults": {"timeout_s": 0.0}, "budget": {"tokens": 0}, "nodes": [
        {"id": "a", "agent": "writer", "max_iterations": 21, "retry": {"attempts": 0}, "budget": {"usd": -1.0}, "output_schema": {"type": 3}},
        {"id": "b", "value": 1, "cache": "off", "breakpoint": "later", "on_failure": "replan", "replan_when": "b", "context": "selected"},
        {"id": "c", "code": "1", "sandbox": {"time_ms": 0}, "breakpoint": {"at": "call"}}
    ]});
    assert_eq!(
        found(document),
        [
            "bad-limit defaults.timeout_s",
            "bad-limit budget.tokens",
            "bad-limit nodes[0].retry.attempts",
            "bad-limit nodes[0].max_iterations",
            "bad-limit nodes[0].budget.usd",
            "bad-schema nodes[0].output_schema",
            "bad-breakpoint nodes[1].breakpoint",
            "no-effect nodes[2].breakpoint",
            "bad-limit nodes[2].sandbox.time_ms",
        ]
    );
    let agent = json!({"nodes": [{"id": "a", "agent": "writer"}]});
    assert_eq!(found(agent), Vec::<String>::new(), "without a budget the defaults apply");
}

#[test]
fn an_unknown_field_is_a_warning_with_the_nearest_known_name() {
    let document = json!({"dagdeck": 1, "goal": "g", "input": {"a": 1}, "x_owner": "me", "nodes": [
        {"id": "a", "value": 1},
        {"id": "b", "value": 2, "depend_on": ["a"], "tags": ["x"], "args": {"a": 1}},
        {"id": "c", "value": 3},
    ], "edges": [{"from": "b", "to": "c", "lable": "a"}]});
    assert_eq!(
        found(document.clone()),
        [
            "unknown-field input",
            "wrong-shape nodes[1].depend_on",
            "unknown-field nodes[1].tags",
            "unknown-field nodes[1].args",
            "unknown-field edges[0].lable"
        ]
    );
    let mut plan = read(document);
    let finding = validate(&plan, &catalog()).into_iter().find(|finding| finding.path.ends_with("depend_on")).unwrap();
    assert!(finding.message.ends_with("write the order as each node's `depends_on`; did you mean `depends_on`?"), "{}", finding.message);
    finding.fix.unwrap().edit.apply(&mut plan).unwrap();
    assert_eq!(plan.nodes[1].depends_on, ["a".into()]);
}

#[test]
fn fields_without_effect_in_another_dialect_are_told_unless_they_say_nothing() {
    let document = json!({"nodes": [
        {"id": "a", "agent_name": "writer", "is_entry": true, "is_exit": false, "approve": "before", "skip_conditoin": "x", "position": {"x": 1}},
        {"id": "b", "agent_name": "writer", "is_exit": true, "skip_condition": null, "tools": []},
    ], "connections": [{"source_id": "a", "target_id": "b", "context_pased": ["x"], "condition": null, "label": "then"}]});
    let (plan, _) = crate::plan::dialect::read(&document.to_string(), "-").unwrap();
    let findings = validate(&plan, &catalog());
    let told: Vec<&str> = findings.iter().filter(|f| f.code == Code::UnknownField).map(|f| f.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "the workflow format has no field `skip_conditoin`, so it does nothing; did you mean `skip_condition`?",
            "the workflow format has no field `position`, so it does nothing",
            "the workflow format doesn't use `tools`: export the plan to the native format and write it there",
            "the workflow format has no field `context_pased`, so it does nothing; did you mean `context_passed`?",
        ]
    );
}

#[test]
fn a_timeout_that_is_longer_than_what_the_code_may_run_is_said_to_have_no_effect() {
    let found = |node: Value| validate(&serde_json::from_value(json!({ "nodes": [node] })).unwrap(), &Catalog::default());
    let found_in = found(json!({"id": "a", "code": "return 1", "timeout_s": 60}));
    let message = "`timeout_s` of 60 has no effect: `sandbox.time_ms` ends the code after 5000 ms";
    assert_eq!(found_in.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>(), [message]);
    assert_eq!(found(json!({"id": "a", "code": "return 1", "timeout_s": 60, "sandbox": {"time_ms": 60_000}})), []);
}

/// The findings of a node beside another one, with one more field.
fn with_field(name: &str, value: Value) -> Vec<String> {
    let mut node = json!({"id": "step_1", "value": 1});
    node[name] = value;
    found(json!({"nodes": [node, {"id": "step_2", "value": 2}]}))
}

#[test]
fn a_field_that_says_what_comes_after_a_node_is_an_error_whatever_it_names() {
    for (name, value) in [
        ("before", json!("Step_2")),
        ("before", json!("nope")),
        ("goto", json!(2)),
        ("next", json!(["step 2", "nope"])),
        ("to", json!("STEP-2")),
        ("next", json!({"success": "step_2", "failure": "end"})),
    ] {
        assert_eq!(with_field(name, value), [format!("wrong-shape nodes[0].{name}")]);
    }
    assert_eq!(with_field("next", json!("end")), ["unknown-field nodes[0].next"]);
    assert_eq!(with_field("to", json!("bob@example.com")), ["unknown-field nodes[0].to"]);
}

#[test]
fn a_field_that_looks_like_a_condition_or_a_limit_is_an_error_at_a_node_and_at_the_plan() {
    for (name, value) in [("guard", json!("false")), ("run_if", json!("x")), ("dry_run", json!(true)), ("denied_tools", json!(["a"]))] {
        assert_eq!(with_field(name, value.clone()), [format!("wrong-shape nodes[0].{name}")]);
        let mut document = json!({"dagdeck": 1, "nodes": [{"id": "a", "value": 1}]});
        document[name] = value;
        assert_eq!(found(document), [format!("wrong-shape {name}")]);
    }
    assert_eq!(with_field("dry_run", json!(false)), ["unknown-field nodes[0].dry_run"]);
}

#[test]
fn a_field_that_would_have_a_person_asked_reads_as_approve_at_a_node_and_at_the_plan() {
    let read = |document: Value| crate::plan::dialect::read(&document.to_string(), "-").unwrap().0;
    for (name, value) in
        [("pause_before", json!(true)), ("review", json!(true)), ("approved_by", json!("boss")), ("pre_approval", json!("x"))]
    {
        let mut document = json!({"nodes": [{"id": "a", "value": 1}]});
        document["nodes"][0][name] = value.clone();
        assert_eq!(read(document).nodes[0].policy.approve, Some(crate::plan::Approve::Before), "{name}");
        let mut document = json!({"goal": "g", "nodes": [{"id": "a", "value": 1}]});
        document[name] = value;
        let plan = read(document);
        assert_eq!(plan.defaults.approve, Some(crate::plan::Approve::Before), "{name}");
        assert_eq!(validate(&plan, &catalog()).iter().map(|finding| finding.code).collect::<Vec<_>>(), [Code::ReadAs], "{name}");
    }
    let plan = read(json!({"goal": "g", "policy": {"approve": "before"}, "nodes": [{"id": "a", "value": 1}]}));
    assert_eq!(plan.defaults.approve, Some(crate::plan::Approve::Before));
    assert_eq!(validate(&plan, &catalog()).iter().map(|finding| finding.code).collect::<Vec<_>>(), [Code::ReadAs]);
    let shown = read(json!({"nodes": [{"id": "a", "value": 1, "review": "a text", "preview": true, "reviewed": true}]}));
    assert_eq!(shown.nodes[0].policy.approve, None);
}

#[test]
fn allowed_tools_of_an_agent_are_its_tools() {
    let document = json!({"nodes": [{"id": "a", "agent": "writer", "allowed_tools": ["echo"]}]});
    let plan = crate::plan::dialect::read(&document.to_string(), "-").unwrap().0;
    assert_eq!(plan.nodes[0].policy.tools.as_deref(), Some(&["echo".to_owned()][..]));
}

#[test]
fn the_error_of_a_node_that_fails_safe_is_a_field_of_its_result() {
    let nodes = |policy: &str| {
        json!({"nodes": [
            {"id": "a", "tool": "echo", "args": {"text": "x"}, "on_failure": policy},
            {"id": "b", "value": "{{a.error}}", "depends_on": ["a"]},
        ]})
    };
    assert_eq!(found(nodes("safe")), Vec::<String>::new());
    assert_eq!(found(nodes("fail")), ["own-state nodes[1].value"]);
}

#[test]
fn an_order_that_a_form_has_elsewhere_is_told_in_that_forms_words() {
    for (document, words) in [
        (
            json!({"dag": [{"id": "a", "tool": "echo", "query": "1"}, {"id": "b", "tool": "echo", "query": "2", "next": "a"}]}),
            "each task's `dependencies`",
        ),
        (
            json!({"nodes": [{"id": "a", "agent_name": "writer", "next": "b"}, {"id": "b", "agent_name": "writer"}], "connections": []}),
            "write a connection with `source_id` and `target_id`",
        ),
    ] {
        let (plan, _) = crate::plan::dialect::read(&document.to_string(), "-").unwrap();
        let found = validate(&plan, &catalog());
        assert!(found.iter().any(|finding| finding.path.ends_with("next") && finding.message.ends_with(words)), "{found:?}");
    }
}
