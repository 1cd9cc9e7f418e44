//! Diffs of small plans, and that all pieces of any diff lead from the one plan to the other.

use super::*;
use crate::plan::samples::plan;
use proptest::prelude::*;
use serde_json::json;

fn read(document: serde_json::Value) -> Plan {
    serde_json::from_value(document).unwrap()
}

fn told(diff: &Diff) -> Vec<String> {
    let line = |piece: &Difference| {
        let told = piece.description();
        [told.mark.glyph(), told.sort, &told.subject, &told.field].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    diff.pieces.iter().map(line).collect()
}

fn old() -> Plan {
    read(json!({"goal": "g", "inputs": {"n": 1}, "nodes": [
        {"id": "a", "tool": "read_file", "args": {"path": "x", "lines": 3}},
        {"id": "b", "agent": "writer", "objective": "write\nit\ndown", "depends_on": ["a"]},
        {"id": "c", "value": 1, "depends_on": ["b"]},
        {"id": "l", "body": {"nodes": [{"id": "x", "value": 1}, {"id": "y", "value": 2, "depends_on": ["x"]}]}, "until": "y", "max_iterations": 2},
    ]}))
}

fn new() -> Plan {
    read(json!({"goal": "h", "inputs": {"n": 1, "m": 2}, "nodes": [
        {"id": "b", "agent": "writer", "objective": "write\nthat\ndown", "depends_on": ["d"], "timeout_s": 5},
        {"id": "a", "tool": "read_file", "args": {"path": "y", "lines": 3}},
        {"id": "d", "code": "return 1", "depends_on": ["a"]},
        {"id": "l", "body": {"nodes": [{"id": "x", "code": "return 2"}, {"id": "y", "value": 2}]}, "until": "x", "max_iterations": 2},
    ], "edges": [{"from": "a", "to": "b", "when": "a"}]}))
}

#[test]
fn a_diff_tells_nodes_fields_edges_and_the_plan_apart() {
    let diff = Diff::new(&old(), &new());
    assert_eq!(
        told(&diff),
        [
            "~ node b objective",
            "~ node b timeout_s",
            "~ node a args.path",
            "+ node d",
            "~ node l until",
            "- node c",
            "~ edge a → b",
            "~ plan goal",
            "+ plan inputs.m",
            "~ node l/x work",
            "- edge l/x → l/y",
        ]
    );
    let lines = diff.pieces[0].description().lines.into_iter().map(|(mark, line)| format!("{} {line}", mark.glyph())).collect::<Vec<_>>();
    assert_eq!(lines, ["~ write", "- it", "+ that", "~ down"]);
    assert_eq!(
        diff.pieces[2].to_json(),
        json!({"change": "changed", "sort": "node", "subject": "a", "path": "args.path", "old": "x", "new": "y"})
    );
    assert!(Diff::new(&old(), &old()).is_empty());
}

/// Makes every piece, what goes first.
fn all(plan: &mut Plan, diff: &Diff) {
    for at in diff.order() {
        diff.pieces[at].make(plan).unwrap();
    }
}

#[test]
fn two_nodes_of_one_id_are_compared_each_with_the_one_in_its_place() {
    let twice = |second: i64| read(json!({"dagdeck": 1, "goal": "g", "nodes": [{"id": "a", "value": 1}, {"id": "a", "value": second}]}));
    assert_eq!(told(&Diff::new(&twice(2), &twice(2))), Vec::<String>::new(), "nothing differs");
    assert_eq!(Diff::new(&twice(2), &twice(3)).pieces.len(), 1);
}

#[test]
fn each_piece_can_be_made_alone_and_taken_back_alone() {
    let (old, new) = (old(), new());
    let diff = Diff::new(&old, &new);
    for (at, piece) in diff.pieces.iter().enumerate() {
        let mut plan = old.clone();
        piece.make(&mut plan).unwrap();
        let left = Diff::new(&plan, &new);
        assert!(!left.pieces.contains(piece), "{at} is made: {:?}", told(&left));
        assert!(left.pieces.len() < diff.pieces.len() || matches!(piece.change, Change::Added(_)), "{at}: {:?}", told(&left));
        piece.inverse().make(&mut plan).unwrap();
        assert_eq!(told(&Diff::new(&plan, &old)), Vec::<String>::new(), "{at} is taken back");
    }
}

#[test]
fn a_node_that_is_taken_back_comes_with_its_edges() {
    let mut plan = new();
    let diff = Diff::new(&plan, &old());
    let at = diff.pieces.iter().position(|piece| matches!(&piece.change, Change::Added(whole) if &*whole.node.id == "c")).unwrap();
    diff.pieces[at].make(&mut plan).unwrap();
    assert_eq!(plan.nodes.last().unwrap().depends_on, ["b".into()]);
}

#[test]
fn an_edge_that_turns_round_needs_the_old_one_gone() {
    let old = read(json!({"nodes": [{"id": "a", "value": 1}, {"id": "b", "value": 1, "depends_on": ["a"]}]}));
    let new = read(json!({"nodes": [{"id": "a", "value": 1, "depends_on": ["b"]}, {"id": "b", "value": 1}]}));
    let diff = Diff::new(&old, &new);
    assert_eq!(told(&diff), ["- edge a → b", "+ edge b → a"]);
    assert!(diff.pieces[1].make(&mut old.clone()).is_err());
    assert_eq!(diff.with_needed(&old, 1), [0, 1]);
    assert_eq!(diff.with_needed(&old, 0), [0]);
}

#[test]
fn the_order_of_ways_out_counts_where_the_first_match_wins() {
    let plan = |first: &str, second: &str| {
        read(
            json!({"nodes": [{"id": "d", "decide": "'x'"}, {"id": "a", "value": 1}, {"id": "b", "value": 1}, {"id": "e", "value": 1, "depends_on": ["d"]}],
            "edges": [{"from": "d", "to": first, "when": "x"}, {"from": "d", "to": second, "when": "x"}]}),
        )
    };
    let (mut old, new) = (plan("a", "b"), plan("b", "a"));
    let diff = Diff::new(&old, &new);
    assert_eq!(told(&diff), ["~ order d order of the outgoing edges"]);
    all(&mut old, &diff);
    assert!(Diff::new(&old, &new).is_empty());
}

#[test]
fn the_rest_of_a_plan_is_compared_and_made_too() {
    let mut old = read(json!({"nodes": [], "metadata": {"a": 1}, "mine": 1, "budget": {"tokens": 1}}));
    let new = read(
        json!({"nodes": [], "metadata": {"a": 2, "b": 1}, "defaults": {"timeout_s": 3}, "dialect": "workflow", "budget": {"usd": 1.5}}),
    );
    let diff = Diff::new(&old, &new);
    assert_eq!(diff.pieces.len(), 7, "{:?}", told(&diff));
    all(&mut old, &diff);
    assert!(Diff::new(&old, &new).is_empty());
}

proptest! {
    #[test]
    fn all_pieces_together_lead_from_any_plan_to_any_other(old in plan(9), new in plan(9)) {
        let diff = Diff::new(&old, &new);
        let mut made = old.clone();
        all(&mut made, &diff);
        prop_assert_eq!(told(&Diff::new(&made, &new)), Vec::<String>::new());
        let mut back = new.clone();
        all(&mut back, &diff.inverse());
        prop_assert_eq!(told(&Diff::new(&back, &old)), Vec::<String>::new());
        for at in 0..diff.pieces.len() {
            let mut alone = old.clone();
            for needed in diff.with_needed(&old, at) {
                prop_assert!(diff.pieces[needed].make(&mut alone).is_ok());
            }
        }
    }
}
