//! Edges that fields say in the form of edges, and who is asked by names that nobody listed.

use super::tests::catalog;
use super::*;
use crate::plan::{Approve, dialect};
use serde_json::{Value, json};

/// The plan, fixed as far as safe fixes go, or guesses, and whether an error is left.
fn fixed(document: &Value, most: FixKind) -> (Plan, bool) {
    let mut plan = dialect::read(&document.to_string(), "-").unwrap().0;
    for (_, fix) in fixes(&plan, &catalog(), most) {
        fix.edit.apply(&mut plan).unwrap();
    }
    let left = validate(&plan, &catalog()).iter().any(Finding::is_error);
    (plan, left)
}

fn order(plan: &Plan) -> Vec<String> {
    let mut edges: Vec<String> = plan.all_edges().map(|edge| format!("{}>{}", edge.from, edge.to)).collect();
    edges.sort();
    edges
}

fn nodes(ids: &[&str]) -> Value {
    ids.iter().map(|id| json!({"id": id, "value": 1})).collect()
}

fn beside(name: &str, value: &Value) -> Value {
    json!({"goal": "g", "nodes": nodes(&["a", "b", "c"]), name: value})
}

#[test]
fn edges_are_read_from_a_map_a_chain_or_a_text_and_written_back_as_they_were() {
    for written in [
        json!({"a": ["b"], "b": "c", "c": []}),
        json!(["a -> b -> c"]),
        json!("a -> b -> c"),
        json!("a -> b, b -> c"),
        json!("a --> b; b --> c"),
        json!("a >> b\nb >> c"),
    ] {
        let document = beside("edges", &written);
        let plan = dialect::read(&document.to_string(), "-").unwrap().0;
        let found = validate(&plan, &catalog());
        assert_eq!(order(&plan), ["a>b", "b>c"], "{written}");
        assert!(!found.iter().any(Finding::is_error) && found.iter().any(|finding| finding.code == Code::ReadAs), "{written}: {found:?}");
        let back: Value = serde_json::from_str(&dialect::write(&plan, dialect::Format::Document(plan.dialect)).text).unwrap();
        assert_eq!(back, document);
    }
    let fan = beside("edges", &json!(["a -> [b, c]"]));
    assert_eq!(order(&dialect::read(&fan.to_string(), "-").unwrap().0), ["a>b", "a>c"]);
}

#[test]
fn what_cannot_be_read_of_edges_is_an_error_and_none_of_them_is_dropped() {
    for written in [json!("a then perhaps b"), json!({"a": {"to": "b"}}), json!(["a -> b -> what is this"])] {
        let plan = dialect::read(&beside("edges", &written).to_string(), "-").unwrap().0;
        assert!(validate(&plan, &catalog()).iter().any(Finding::is_error), "{written}");
    }
}

#[test]
fn the_order_in_a_graph_or_by_the_ids_that_nodes_wait_for_is_an_error_until_a_fix_makes_it_edges() {
    for (name, value, kind) in [
        ("dependencies", json!({"b": ["a"], "c": ["b"]}), FixKind::Safe),
        ("dependency_graph", json!({"a": [], "b": ["a"], "c": "b"}), FixKind::Safe),
        (
            "dependency_graph",
            json!({"nodes": ["a", "b"], "edges": [{"from": "a", "to": "b", "type": "blocks"}, ["b", "c"]]}),
            FixKind::Guess,
        ),
        ("graph", json!({"edges": [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}]}), FixKind::Safe),
        ("adjacency", json!({"a": ["b"], "b": ["c"]}), FixKind::Safe),
        ("schedule", json!({"execution_order": ["a", "b", "c"]}), FixKind::Guess),
        ("constraints", json!(["a < b", "b < c"]), FixKind::Safe),
    ] {
        let document = beside(name, &value);
        let plan = dialect::read(&document.to_string(), "-").unwrap().0;
        assert!(validate(&plan, &catalog()).iter().any(Finding::is_error), "{document}");
        let (plan, is_left) = fixed(&document, kind);
        assert_eq!((order(&plan), is_left), (vec!["a>b".to_owned(), "b>c".to_owned()], false), "{document}");
    }
    // Which way round a graph is meant nobody can say.
    let (plan, is_left) = fixed(&beside("wiring", &json!({"a": ["b"]})), FixKind::Guess);
    assert_eq!((order(&plan).len(), is_left), (0, true));
}

#[test]
fn what_comes_next_after_a_node_becomes_edges_with_their_conditions_by_a_fix_and_a_way_back_by_none() {
    let plan = |name: &str, first: Value, second: Value| {
        let mut all = nodes(&["a", "b", "c"]);
        all[0][name] = first;
        all[1][name] = second;
        json!({"goal": "g", "nodes": all})
    };
    for name in ["next", "next_step", "goto", "on_success"] {
        let (plan, is_left) = fixed(&plan(name, json!("b"), json!(["c"])), FixKind::Safe);
        assert_eq!((order(&plan), is_left), (vec!["a>b".to_owned(), "b>c".to_owned()], false), "{name}");
    }
    let (both, is_left) = fixed(&plan("next", json!(["b", "c"]), json!("__end__")), FixKind::Guess);
    assert_eq!((order(&both), is_left), (vec!["a>b".to_owned(), "a>c".to_owned()], false));
    let ways = json!([{"to": "b", "when": "{{ a.result.ok }}"}, {"to": "c"}]);
    let (routed, is_left) = fixed(&plan("routes", ways, json!([{"to": "$end"}])), FixKind::Guess);
    assert_eq!((order(&routed), is_left), (vec!["a>b".to_owned(), "a>c".to_owned()], false));
    assert_eq!(routed.edges[0].when.as_deref(), Some("a.result.ok"));
    let mut joined = plan("routes", json!([{"to": "b", "when": "a.result.ok"}]), json!([]));
    joined["nodes"][1]["depends_on"] = json!(["a"]);
    let (only, _) = fixed(&joined, FixKind::Guess);
    assert!(only.nodes[1].depends_on.is_empty(), "the condition would let it run anyhow");
    let (back, is_left) = fixed(&plan("next", json!("b"), json!("a")), FixKind::Guess);
    assert!(is_left, "{:?}", order(&back));
}

#[test]
fn a_no_to_running_unattended_a_prompt_and_nodes_of_people_run_nothing_unasked() {
    let work = |id: &str| json!({"id": id, "value": 1});
    for (name, value) in [
        ("prompt_user", json!(true)),
        ("allow_auto_run", json!(false)),
        ("auto_executable", json!("no")),
        ("can_run_unattended", json!(false)),
        ("SafeToAutoRun", json!(false)),
        ("interactive", json!(true)),
        ("requires_user_input", json!(true)),
        ("approval_policy", json!("on-request")),
        ("approval_status", json!("pending")),
        ("actor", json!("user")),
    ] {
        let mut node = work("a");
        node[name] = value;
        let (plan, is_left) = fixed(&json!({"goal": "g", "nodes": [node]}), FixKind::Guess);
        assert_eq!((plan.nodes[0].policy.approve, is_left), (Some(Approve::Before), false), "{name}");
    }
    for (name, value) in [("manual_nodes", json!(["b"])), ("human_steps", json!("b")), ("supervised_nodes", json!(["b"]))] {
        let document = json!({"goal": "g", "nodes": [work("a"), work("b")], name: value});
        let (plan, is_left) = fixed(&document, FixKind::Safe);
        let asked: Vec<Option<Approve>> = plan.nodes.iter().map(|node| node.policy.approve).collect();
        assert_eq!((asked, is_left), (vec![None, Some(Approve::Before)], false), "{name}");
    }
    for (name, value) in [("auto_retry", json!(false)), ("auto_scale", json!(false)), ("interactive_chart", json!(true))] {
        let mut node = work("a");
        node[name] = value;
        let (plan, is_left) = fixed(&json!({"goal": "g", "nodes": [node]}), FixKind::Guess);
        assert_eq!((plan.nodes[0].policy.approve, is_left), (None, false), "{name}");
    }
}

#[test]
fn groups_by_name_and_jobs_with_steps_keep_their_order() {
    let phases = json!({"goal": "g", "phases": {"first": {"steps": nodes(&["a", "b"])}, "then": nodes(&["c"])}});
    assert_eq!(order(&dialect::read(&phases.to_string(), "-").unwrap().0), ["a>c", "b>c"]);
    let jobs = json!({"jobs": {
        "build": {"steps": [{"id": "get", "run": "git pull"}, {"id": "make", "run": "make"}]},
        "lint": {"steps": [{"id": "check", "run": "make check"}]},
        "test": {"needs": "build", "steps": [{"id": "try", "run": "make test"}]},
    }});
    assert_eq!(order(&dialect::read(&jobs.to_string(), "-").unwrap().0), ["get>make", "make>try"]);
    let inside = json!({"plan": {"goal": "g", "phases": [{"tasks": nodes(&["a"])}, {"tasks": nodes(&["b"])}]}});
    assert_eq!(order(&dialect::read(&inside.to_string(), "-").unwrap().0), ["a>b"]);
}

#[test]
fn nodes_that_refer_to_each_other_by_name_have_that_for_an_id() {
    let agents = json!({"agents": [
        {"name": "planner", "role": "x", "prompt": "plan it", "routes": [{"to": "writer"}]},
        {"name": "writer", "role": "x", "prompt": "write {{ planner.output }}", "routes": [{"to": "$end"}]},
    ]});
    let (plan, _) = fixed(&agents, FixKind::Safe);
    assert_eq!(order(&plan), ["planner>writer"]);
    let states = json!({"StartAt": "One", "States": {"One": {"Type": "Task", "Next": "Two"}, "Two": {"Type": "Task", "End": true}}});
    let (plan, is_left) = fixed(&states, FixKind::Safe);
    assert_eq!((order(&plan), is_left), (vec!["One>Two".to_owned()], true), "what they do is said nowhere");
}

#[test]
fn what_follows_a_failure_is_read_in_the_words_of_other_systems_and_a_way_to_a_node_is_an_error() {
    let plan = |word: &str| json!({"goal": "g", "nodes": [{"id": "a", "value": 1, "on_failure": word}, {"id": "b", "value": 1}]});
    for (word, meant) in [("continue", "safe"), ("abort", "fail"), ("escalate", "ask")] {
        let plan = dialect::read(&plan(word).to_string(), "-").unwrap().0;
        let found = validate(&plan, &catalog());
        assert!(found.iter().any(|finding| finding.message.ends_with(&format!("read as \"{meant}\""))), "{word}: {found:?}");
        assert!(!found.iter().any(Finding::is_error), "{word}: {found:?}");
    }
    for word in ["b", "retry"] {
        assert!(fixed(&plan(word), FixKind::Guess).1, "{word}");
    }
}
