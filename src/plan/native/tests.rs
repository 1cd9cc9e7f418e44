//! The native form: what is read is written back, and what is wrong is told with its place.

use super::*;
use crate::plan::dialect::{node_to_value, plan_from_value};
use crate::plan::{Join, NodeKind, ToolInput};
use crate::plan::{Node, Plan};
use serde_json::Value;
use serde_json::json;

/// A document with every work and most fields.
pub(in crate::plan) fn every_work() -> Value {
    json!({
        "dagdeck": 1, "goal": "g", "inputs": {"city": "Oslo"},
        "nodes": [
            {"id": "a", "agent": "writer", "objective": "Write {{inputs.city}}", "retry": {"attempts": 2, "backoff_ms": 1, "max_ms": 2}},
            {"id": "b", "tool": "read_file", "args": {"path": "x"}, "depends_on": ["a"], "join": "any", "approve": "before"},
            {"id": "c", "tool": "web_search", "query": "q", "x-colour": "red", "locks": ["net"]},
            {"id": "d", "code": "return 1", "sandbox": {"time_ms": 5}},
            {"id": "e", "decide": "a.result"},
            {"id": "f", "merge": true}, {"id": "g", "merge": {"template": {"k": "{{a}}"}}},
            {"id": "h", "value": null}, {"id": "i", "value": ["{{a}}"]},
            {"id": "j", "ask": {"text": "Sure?", "options": ["yes"], "fields": [{"name": "n", "kind": "number", "default": 3}]}},
            {"id": "k", "plan": {"dagdeck": 1, "nodes": [{"id": "a", "value": 1, "entry": true}], "dialect": "workflow", "by": "me"}},
            {"id": "l", "plan": "sub/other.json", "inputs": {"x": "{{a}}"}},
            {"id": "m", "until": "a.result", "body": {"dagdeck": 1, "nodes": [{"id": "a", "value": "{{inputs.iteration}}"}]}, "max_iterations": 3},
            {"id": "n", "over": "a.result", "max_parallel": 2, "body": {"dagdeck": 1, "nodes": [{"id": "a", "value": "{{inputs.item}}"}]}},
            {"id": "o", "decide": {"agent": "writer", "objective": "Which way?"}, "exit": true}
        ],
        "edges": [{"from": "e", "to": "f", "when": "yes", "default": true, "context": ["k"], "id": "e1", "label": "l", "weight": 3}],
        "budget": {"tokens": 10}, "defaults": {"timeout_s": 9.0}, "metadata": {"m": 1}, "author": "me"
    })
}

#[test]
fn every_work_and_unknown_fields_are_written_back_as_they_were_read() {
    let document = every_work();
    let plan: Plan = serde_json::from_value(document.clone()).unwrap();
    assert_eq!(serde_json::to_value(&plan).unwrap(), document);
    assert_eq!(plan.nodes[1].policy.join, Some(Join::Any));
    assert_eq!(plan.nodes[2].ext["x-colour"], "red");
    assert!(matches!(&plan.nodes[2].kind, NodeKind::Tool(tool) if tool.input == ToolInput::Query("q".into())));
    assert_eq!(plan.edges[0].ext["weight"], 3);
    assert_eq!(plan.ext["author"], "me");
}

#[test]
fn all_policy_fields_are_known_to_the_reader() {
    let policy = crate::plan::Policy {
        when: Some("x".into()),
        skip_if: Some("x".into()),
        join: Some(Join::All),
        route: Some(crate::plan::Route::All),
        approve: Some(crate::plan::Approve::Never),
        side_effects: Some(true),
        retry: Some(crate::plan::Retry::default()),
        timeout_s: Some(1.0),
        budget: Some(crate::plan::Budget::default()),
        branch_budget: Some(crate::plan::Budget::default()),
        model: Some("m".into()),
        tools: Some(vec![]),
        context: Some(crate::plan::ContextMode::Concat),
        inputs: Some(serde_json::Map::new()),
        on_failure: Some(crate::plan::OnFailure::Safe),
        cache: Some(json!("off")),
        locks: Some(vec![]),
        output_schema: Some(json!({})),
        breakpoint: Some(json!("before")),
        max_iterations: Some(3),
        replan_when: Some("x".into()),
        notes: Some("n".into()),
    };
    let node = Node { policy, ..Node::new("a", NodeKind::Merge(Default::default())) };
    let text = serde_json::to_string(&node).unwrap();
    assert_eq!(serde_json::from_str::<Node>(&text).unwrap(), node);
}

#[test]
fn an_agent_that_decides_may_stand_flat_in_its_node() {
    let flat: Node = serde_json::from_value(json!({"id": "a", "decide": true, "agent": "writer", "objective": "Which?"})).unwrap();
    let written = serde_json::to_value(&flat).unwrap();
    assert_eq!(written, json!({"id": "a", "decide": {"agent": "writer", "objective": "Which?"}}));
}

#[test]
fn plans_stand_eight_deep_in_each_other_and_no_deeper() {
    let nested = |depth: usize| (0..depth).fold(json!({"nodes": []}), |body, _| json!({"nodes": [{"id": "a", "plan": body}]}));
    assert!(plan_from_value(nested(MAX_DEPTH)).is_ok());
    assert!(error(nested(MAX_DEPTH + 1)).ends_with("plans can be nested 8 deep at most"));
}

fn error(value: Value) -> String {
    plan_from_value(value).unwrap_err().to_string()
}

#[test]
fn an_error_names_its_place() {
    let node = |node: Value| json!({"dagdeck": 1, "nodes": [{"id": "z", "merge": true}, node]});
    let cases = [
        (json!([]), "a plan must be an object, not a list"),
        (json!({"goal": "x"}), "a plan needs a list of `nodes`"),
        (json!({"dagdeck": 2, "nodes": []}), "`dagdeck`: format version 2 is unknown; this dagdeck reads version 1"),
        (node(json!(3)), "`nodes[1]`: a node must be an object, not a number"),
        (node(json!({"merge": true})), "`nodes[1].id`: a node needs `id`"),
        (node(json!({"id": 3})), "`nodes[1].id`: must be text, not a number"),
        (node(json!({"id": "a", "tool": "t", "code": "c"})), "`nodes[1].code`: `a` has more than one kind, `tool` and `code`: keep one"),
        (node(json!({"id": "a", "plan": {}})), "`nodes[1].plan`: a plan needs a list of `nodes`"),
        (node(json!({"id": "a", "over": "x"})), "`nodes[1].body`: `over` needs a `body`: the plan that is repeated"),
        (
            node(json!({"id": "a", "body": {"nodes": []}})),
            "`nodes[1].body`: `a` has a `body`: it needs `until` to make it a loop, or `over` to run it once for each entry of a list",
        ),
        (
            node(json!({"id": "a", "until": "x", "body": {"nodes": [{"id": "b", "value": 1, "depends_on": 3}]}})),
            "`nodes[1].body.nodes[0].depends_on`: must be a list, not a number",
        ),
        (
            node(json!({"id": "a", "decide": {"agent": "w", "tool": "t"}})),
            "`nodes[1].decide.tool`: a decision has no such field, only `agent`, `objective`, `role`, `goal`",
        ),
        (
            json!({"nodes": [], "dialect": "klingon"}),
            "`dialect`: unknown variant `klingon`, expected one of `native`, `orchestration`, `tools`, `hybrid`, `workflow`, `stages`",
        ),
        (node(json!({"id": "a", "tool": "t", "args": {}, "query": "q"})), "`nodes[1].query`: a tool takes `args` or `query`, not both"),
        (node(json!({"id": "a", "merge": 3})), "`nodes[1].merge`: must be `true` or an object with a `template`"),
        (node(json!({"id": "a", "merge": true, "depends_on": ["z", 4]})), "`nodes[1].depends_on[1]`: must be text, not a number"),
        (json!({"nodes": [], "edges": [{"from": "a"}]}), "`edges[0].to`: an edge needs `to`"),
        (json!({"nodes": [], "defaults": {"colour": 1}}), "`defaults.colour`: unknown policy field"),
    ];
    for (document, message) in cases {
        assert_eq!(error(document), message);
    }
    let text = error(node(json!({"id": "a", "merge": true, "timeout_s": 3, "join": "some"})));
    assert!(text.starts_with("`nodes[1].join`: unknown variant `some`"), "{text}");
}

#[test]
fn a_null_counts_as_absent_and_a_bare_question_is_an_approval() {
    let plan =
        plan_from_value(json!({"nodes": [{"id": "a", "ask": "Go on?", "tool": null, "when": null, "value": null, "args": null}]})).unwrap();
    assert!(matches!(&plan.nodes[0].kind, NodeKind::Approval(ask) if ask.text == "Go on?"));
    assert_eq!(node_to_value(&plan.nodes[0]), json!({"id": "a", "ask": {"text": "Go on?"}}));
}
