//! Findings inside of nodes: their addresses and places, the names that a body sees, and that fixes reach in.

use super::tests::{catalog, fixed, found, message, read};
use super::*;
use crate::plan::{Node, NodeKind};
use serde_json::json;

#[test]
fn a_sound_body_has_no_findings() {
    let document = json!({"inputs": {"city": "Oslo"}, "nodes": [
        {"id": "list", "value": [1, 2]},
        {"id": "map", "over": "list", "depends_on": ["list"], "inputs": {"all": "{{list}}"}, "max_parallel": 2, "body": {"inputs": {"unit": "m"}, "nodes": [
            {"id": "a", "value": "{{item}} {{index}} {{city}} {{all}} {{unit}} {{inputs.item}}"},
            {"id": "deep", "plan": {"nodes": [{"id": "a", "value": "{{item}} {{all}}"}]}, "depends_on": ["a"]}
        ]}},
        {"id": "loop", "until": "a.result > 3 or iteration > 2", "max_iterations": 4, "body": {"nodes": [{"id": "a", "value": "{{previous}}"}]}},
        {"id": "sub", "plan": {"nodes": [{"id": "a", "value": 1}, {"id": "b", "value": "{{a}}", "depends_on": ["a"]}]}}
    ]});
    assert_eq!(found(document), Vec::<String>::new());
}

#[test]
fn private_data_is_followed_into_what_a_body_sends() {
    let document = |list: serde_json::Value| {
        json!({"nodes": [list, {"id": "each", "over": "list", "depends_on": ["list"], "body": {"nodes": [
            {"id": "deep", "plan": {"nodes": [{"id": "send", "tool": "fetch_url", "args": {"url": "https://example.com/"}}]}}
        ]}}]})
    };
    let told = |list| validate(&read(document(list)), &catalog()).into_iter().find(|finding| finding.code == Code::PrivateData);
    assert_eq!(told(json!({"id": "list", "value": [1]})), None);
    let finding = told(json!({"id": "list", "tool": "read_file", "args": {"path": "x"}})).unwrap();
    assert_eq!(finding.node.as_deref(), Some("each"));
    assert!(finding.message.starts_with("private data from `list` reaches `fetch_url` inside it"), "{}", finding.message);
}

#[test]
fn what_one_iteration_reads_is_private_where_the_next_one_sends() {
    let document = |tool: &str, args: serde_json::Value| {
        json!({"nodes": [{"id": "loop", "until": "iteration > 1", "max_iterations": 3, "body": {"nodes": [
            {"id": "send", "tool": "fetch_url", "args": {"url": "https://example.com/"}}, {"id": "read", "tool": tool, "args": args}
        ]}}]})
    };
    let told = |tool, args| validate(&read(document(tool, args)), &catalog()).into_iter().find(|found| found.code == Code::PrivateData);
    assert!(told("read_file", json!({"path": "x"})).unwrap().message.starts_with("what one iteration reads is private in the next"));
    assert_eq!(told("calculator", json!({"expression": "1"})), None);
}

#[test]
fn findings_inside_tell_the_address_and_the_place_in_the_document() {
    let document = json!({"nodes": [
        {"id": "first", "value": 1},
        {"id": "outer", "plan": {"nodes": [
            {"id": "x", "over": "[1]", "body": {"nodes": [{"id": "y", "tool": "read_fil", "args": {}}], "edges": [{"from": "y", "to": "z"}]}},
            {"id": "s", "plan": {"nodes": []}}
        ]}},
        {"id": "last", "value": "{{nobody}}"}
    ]});
    let findings = validate(&read(document.clone()), &catalog());
    let told: Vec<_> =
        findings.iter().map(|found| (found.code.name(), found.node.as_deref().unwrap_or(""), found.edge, found.path.as_str())).collect();
    assert_eq!(
        told,
        [
            ("unknown-tool", "outer/x/y", None, "nodes[1].plan.nodes[0].body.nodes[0].tool"),
            ("unknown-dependency", "outer/x", Some(0), "nodes[1].plan.nodes[0].body.edges[0].to"),
            ("empty-plan", "outer/s", None, "nodes[1].plan.nodes[1].plan.nodes"),
            ("unknown-reference", "last", None, "nodes[2].value"),
        ]
    );
    assert_eq!(findings[2].message, "the inner plan of `outer/s` has no nodes");
    let mut plan = read(document);
    findings[0].fix.as_ref().unwrap().edit.apply(&mut plan).unwrap();
    assert!(validate(&plan, &catalog()).iter().all(|found| found.code != Code::UnknownTool));
}

#[test]
fn a_body_sees_its_own_names_and_no_others() {
    let document = json!({"nodes": [
        {"id": "a", "value": {"b": 1}},
        {"id": "l", "until": "a.b > index and inputs.gone", "max_iterations": 2, "depends_on": ["a"], "body": {"nodes": [
            {"id": "x", "value": "{{item}} {{inputs.item}}"}, {"id": "y", "code": "return deps.a", "when": "l.z"}
        ]}}
    ]});
    assert_eq!(
        found(document),
        [
            "outer-reference nodes[1].until",
            "unknown-name nodes[1].until",
            "unknown-input nodes[1].until",
            "unknown-reference nodes[1].body.nodes[0].value",
            "unknown-input nodes[1].body.nodes[0].value",
            "outer-reference nodes[1].body.nodes[1].code",
            "outer-reference nodes[1].body.nodes[1].when",
        ]
    );
}

#[test]
fn a_node_of_the_plan_around_can_be_given_as_an_input() {
    let document = json!({"nodes": [
        {"id": "a-1", "value": {"b": 1}},
        {"id": "l", "until": "a-1.result.b == x.result", "max_iterations": 2, "body": {"nodes": [
            {"id": "x", "value": "{{a-1.result.b}} {{a-1.b}} $OUTPUT[a-1] {{ a-1.result.b + 1 }}"},
            {"id": "y", "decide": "deps[\"a-1\"].output.b", "depends_on": ["x"]},
            {"id": "in", "plan": {"nodes": [{"id": "z", "value": "{{a-1.result}}"}]}}
        ], "edges": [{"from": "y", "to": "in", "when": "1"}]}}
    ]});
    let words = "`a-1` is outside `l`, and a body only sees its own nodes and inputs: pass it as `inputs: {\"a-1\": \"{{a-1}}\"}` of `l`";
    assert_eq!(message(document.clone()), words);
    let mut plan = read(document);
    let findings = validate(&plan, &catalog());
    findings[0].fix.as_ref().unwrap().edit.apply(&mut plan).unwrap();
    let expected = read(json!({"nodes": [
        {"id": "a-1", "value": {"b": 1}},
        {"id": "l", "until": "a-1.b == x.result", "max_iterations": 2, "depends_on": ["a-1"], "inputs": {"a-1": "{{a-1}}"}, "body": {"nodes": [
            {"id": "x", "value": "{{a-1.b}} {{a-1.b}} {{a-1}} {{ a-1.b + 1 }}"},
            {"id": "y", "decide": "a-1.b", "depends_on": ["x"]},
            {"id": "in", "plan": {"nodes": [{"id": "z", "value": "{{a-1}}"}]}}
        ], "edges": [{"from": "y", "to": "in", "when": "1"}]}}
    ]}));
    assert_eq!(plan, expected);
    let left: Vec<_> = validate(&plan, &catalog()).into_iter().map(|found| found.code).collect();
    assert_eq!(left, [Code::OneRoute]);
    // Every mention has the same fix.
    assert!(findings.iter().filter(|found| found.code == Code::OuterReference).all(|found| found.fix == findings[0].fix));
}

#[test]
fn a_body_in_a_body_gets_the_input_from_the_node_beside_what_it_names() {
    let document = json!({"nodes": [
        {"id": "a", "value": 1},
        {"id": "o", "depends_on": ["a"], "plan": {"nodes": [{"id": "m", "over": "[1]", "body": {"nodes": [{"id": "x", "value": "{{a}}"}]}}]}}
    ]});
    assert_eq!(fixed(document.clone()), Vec::<String>::new());
    let mut plan = read(document);
    validate(&plan, &catalog())[0].fix.as_ref().unwrap().edit.apply(&mut plan).unwrap();
    assert_eq!(plan.nodes[1].policy.inputs.as_ref().unwrap().keys().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn composites_have_rules_of_their_own() {
    let document = json!({"nodes": [
        {"id": "a", "until": " ", "body": {"nodes": [{"id": "x", "value": 1}]}, "timeout_s": 3, "retry": {"attempts": 2}},
        {"id": "b", "until": "x", "max_iterations": 21, "body": {"nodes": [{"id": "x", "value": 1}]}},
        {"id": "c", "over": "'no list'", "max_parallel": 0, "body": {"nodes": [{"id": "x", "value": 1}]}},
        {"id": "d", "over": "", "body": {"nodes": [{"id": "x", "value": 1}]}},
        {"id": "e", "plan": "sub.yaml"},
        {"id": "f", "locks": ["db", "disk"], "plan": {"defaults": {"locks": ["db"]}, "nodes": [
            {"id": "x", "value": 1, "locks": ["net", "disk"]}, {"id": "g", "plan": {"nodes": [{"id": "y", "value": 1, "locks": ["disk"]}]}}
        ]}}
    ]});
    assert_eq!(
        found(document.clone()),
        [
            "loop-limit nodes[0].max_iterations",
            "empty-text nodes[0].until",
            "no-effect nodes[0].timeout_s",
            "no-effect nodes[0].retry",
            "bad-limit nodes[1].max_iterations",
            "bad-limit nodes[2].max_parallel",
            "bad-condition nodes[2].over",
            "empty-text nodes[3].over",
            "not-loaded nodes[4].plan",
            "held-lock nodes[5].plan.defaults.locks[0]",
            "held-lock nodes[5].plan.nodes[0].locks[1]",
            "held-lock nodes[5].plan.nodes[1].plan.nodes[0].locks[0]",
        ]
    );
    assert_eq!(fixed(document), ["empty-text", "bad-condition", "empty-text", "not-loaded"]);
}

#[test]
fn what_stands_in_a_file_is_told_by_its_file_and_changed_there() {
    let mut plan = read(json!({"nodes": [{"id": "s", "plan": "parts/sub.yaml"}]}));
    let body = read(json!({"nodes": [{"id": "x", "tool": "read_fil", "args": {}}]}));
    plan.nodes[0].kind = NodeKind::Subplan(super::super::SubplanNode::File { path: "parts/sub.yaml".into(), loaded: Some(Box::new(body)) });
    let findings = validate(&plan, &catalog());
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].message, "in `parts/sub.yaml`: there is no tool `read_fil`; did you mean `read_file`?");
    assert_eq!((findings[0].node.as_deref(), &findings[0].fix), (Some("s/x"), &None));
}

#[test]
fn agents_inside_have_the_budget_of_the_run_and_their_caps_are_counted() {
    let inner = json!({"nodes": [{"id": "x", "agent": "writer", "budget": {"tokens": 3000}}]});
    let document = json!({"budget": {"tokens": 10_000}, "nodes": [
        {"id": "a", "agent": "writer"}, {"id": "l", "until": "x", "max_iterations": 4, "body": inner}
    ]});
    let codes = validate(&read(document), &catalog()).into_iter().map(|found| (found.code, found.message)).collect::<Vec<_>>();
    let words = "the budgets of the agents add up to 12000 tokens, but the plan has 10000";
    assert!(codes.contains(&(Code::LowBudget, words.to_owned())), "{codes:?}");
}

#[test]
fn plans_stand_in_each_other_no_deeper_than_documents_may() {
    let mut plan = read(json!({"nodes": [{"id": "x", "value": 1}]}));
    for _ in 0..8 {
        plan =
            Plan { nodes: vec![Node::new("x", NodeKind::Subplan(super::super::SubplanNode::Inline(Box::new(plan))))], ..Plan::default() };
    }
    assert_eq!(validate(&plan, &catalog()), []);
    let deeper =
        Plan { nodes: vec![Node::new("x", NodeKind::Subplan(super::super::SubplanNode::Inline(Box::new(plan))))], ..Plan::default() };
    assert_eq!(validate(&deeper, &catalog())[0].message, "plans can be nested 8 deep at most");
}
