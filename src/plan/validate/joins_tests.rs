//! Branches that meet again: warned of where one that is needed may not be taken, with a fix that is safe only where it must be meant.

use super::*;
use crate::plan::dialect::read;
use crate::plan::validate::tests::catalog;
use serde_json::{Value, json};

/// Each finding about a join: its node, how sure the fix is, and what it says.
fn joins(document: &Value) -> Vec<(String, FixKind, String)> {
    let (plan, _) = read(&document.to_string(), "test").unwrap();
    let found = validate(&plan, &catalog()).into_iter().filter(|finding| finding.code == Code::Alternatives);
    found.map(|finding| (finding.node.unwrap().to_string(), finding.fix.unwrap().kind, finding.message)).collect()
}

/// `s` leads to `x` and to `y`, and both lead to `j`.
fn diamond(to_x: Value, to_y: Value, join: Value) -> Value {
    let edge = |to: &str, with: Value| {
        let mut edge = json!({"from": "s", "to": to});
        edge.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
        edge
    };
    json!({"nodes": [{"id": "s", "value": 1}, {"id": "x", "value": 1}, {"id": "y", "value": 1},
        {"id": "j", "value": 1, "depends_on": ["x", "y"], "join": join}], "edges": [edge("x", to_x), edge("y", to_y)]})
}

#[test]
fn a_conditional_diamond_that_meets_under_all_is_warned_of_and_settled_is_what_it_means() {
    for (one, other) in [
        ("s.n > 3", "s.n <= 3"),
        ("s.n>3", "not (s.n > 3)"),
        ("s.ok", "not s.ok"),
        ("!(s.a and s.b)", "(s.a && s.b)"),
        ("s.n == 'a'", "s.n != 'a'"),
        ("s.n in [1, 2]", "s.n not in [1,2]"),
    ] {
        for join in [Value::Null, json!("all")] {
            let found = joins(&diamond(json!({"when": one}), json!({"when": other}), join));
            let message = format!("needs the branch for `{one}` and the one for `{other}`, but only one is taken, so it would be skipped");
            assert_eq!(found, [("j".to_owned(), FixKind::Safe, message)]);
        }
        for join in ["settled", "any", "always"] {
            assert_eq!(joins(&diamond(json!({"when": one}), json!({"when": other}), json!(join))), []);
        }
    }
    let otherwise = joins(&diamond(json!({"when": "s.ok"}), json!({"default": true}), Value::Null));
    assert_eq!((otherwise.len(), otherwise[0].1), (1, FixKind::Safe), "{otherwise:?}");
}

#[test]
fn where_both_branches_may_be_taken_settled_is_a_guess() {
    for (one, other) in [("s.a", "s.b"), ("s.n > 3", "s.n < 3"), ("not s.a and s.b", "s.a"), ("s.a == 1 or s.b", "s.a != 1 or s.b")] {
        let found = joins(&diamond(json!({"when": one}), json!({"when": other}), Value::Null));
        assert_eq!((found.len(), found[0].1), (1, FixKind::Guess), "{one}, {other}: {found:?}");
    }
    let found = joins(&diamond(json!({"when": "s.a"}), json!({}), Value::Null));
    let message = "needs the branch for `s.a`; when that is not taken, it is skipped and the run doesn't succeed";
    assert_eq!(found, [("j".to_owned(), FixKind::Guess, message.to_owned())]);
    let mut guarded = diamond(json!({}), json!({}), Value::Null);
    guarded["nodes"][1]["when"] = json!("s.a");
    assert_eq!(joins(&guarded), found, "a node's own condition is one too");
}

#[test]
fn branches_that_are_taken_together_are_not_warned_of() {
    let same = diamond(json!({"when": "s.a"}), json!({"when": "s.a"}), Value::Null);
    assert_eq!(joins(&same), []);
    let direct = json!({"nodes": [{"id": "s", "value": 1}, {"id": "t", "value": 1}, {"id": "j", "value": 1, "depends_on": ["t"], "join": "all"}],
        "edges": [{"from": "s", "to": "j", "when": "s.a"}]});
    assert_eq!(joins(&direct), [], "a condition straight into a join is meant");
    let chain = json!({"nodes": [{"id": "s", "value": 1}, {"id": "a", "value": 1}, {"id": "b", "value": 1, "depends_on": ["a"]},
        {"id": "c", "value": 1, "depends_on": ["a"]}, {"id": "j", "value": 1, "depends_on": ["a", "b", "c"]},
        {"id": "k", "merge": true, "depends_on": ["b", "c"]}, {"id": "l", "value": 1, "depends_on": ["k", "a"]}],
        "edges": [{"from": "s", "to": "a", "when": "s.ok"}]});
    assert_eq!(joins(&chain), []);
}
