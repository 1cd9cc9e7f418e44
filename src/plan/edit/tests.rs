//! Edits: each has an exact inverse, references follow renames, cycles are refused in words.

use super::*;
use crate::plan::samples::{id, plan};
use crate::plan::{CodeNode, DecisionNode, TransformNode};
use proptest::prelude::*;
use serde_json::json;

fn set_value(id: NodeId, value: serde_json::Value) -> Edit {
    Edit::SetKind { id, kind: KindData(NodeKind::Transform(TransformNode { value })) }
}

fn read(document: Value) -> Plan {
    serde_json::from_value(document).unwrap()
}

fn chain() -> Plan {
    read(json!({"nodes": [
        {"id": "a", "agent": "x"}, {"id": "b", "agent": "x", "depends_on": ["a"]}, {"id": "c", "agent": "x", "depends_on": ["b"]}
    ]}))
}

#[test]
fn an_edit_that_closes_a_cycle_is_refused_with_the_cycle_spelled_out() {
    let mut plan = chain();
    let before = plan.clone();
    let refused = Edit::AddDependency { node: "a".into(), on: "c".into() }.apply(&mut plan).unwrap_err();
    assert_eq!(refused.to_string(), "this would create a cycle: a → b → c → a");
    let edge = Edit::AddEdge { edge: Box::new(Edge::new("b", "a")), at: None };
    assert_eq!(edge.apply(&mut plan).unwrap_err().to_string(), "this would create a cycle: a → b → a");
    let itself = Edit::AddDependency { node: "a".into(), on: "a".into() };
    assert_eq!(itself.apply(&mut plan).unwrap_err().to_string(), "this would create a cycle: a → a");
    assert_eq!(plan, before);
}

#[test]
fn an_undo_may_bring_a_cycle_back() {
    let mut plan = read(json!({"nodes": [
        {"id": "a", "agent": "x", "depends_on": ["b"]}, {"id": "b", "agent": "x", "depends_on": ["a"]}
    ]}));
    let before = plan.clone();
    let mut history = History::default();
    history.apply(&mut plan, &Edit::RemoveDependency { node: "a".into(), on: "b".into() }).unwrap();
    assert!(history.undo(&mut plan).unwrap());
    assert_eq!(plan, before);
}

#[test]
fn references_follow_a_rename_everywhere() {
    let document = |id: &str| {
        json!({"dagdeck": 1, "nodes": [
            {"id": id, "agent": "x"},
            {"id": "b", "agent": "x", "objective": format!("Use {{{{ {id}.result.x }}}}, $OUTPUT[{id}], \\{{{{old}}}}, old"), "depends_on": [id],
             "when": format!("{id}.ok and nodes[\"{id}\"].status == 'old'"), "inputs": {"k": [format!("{{{{{id} | length}}}}")]}},
            {"id": "c", "code": format!("return deps[\"{id}\"].output + deps['{id}'] + xdeps.old + 'old'")},
            {"id": "d", "decide": format!("{id}.route"), "depends_on": [id]},
            {"id": "e", "value": {"old": format!("{{{{{id}}}}}")}}
        ], "edges": [{"from": id, "to": "e", "when": format!("{id}.x > 1")}, {"from": "d", "to": "e", "when": "old"}]})
    };
    let mut plan = read(document("old"));
    let before = plan.clone();
    let inverse = Edit::RenameNode { from: "old".into(), to: "new-er".into() }.apply(&mut plan).unwrap();
    assert_eq!(plan, read(document("new-er")));
    inverse.replay(&mut plan).unwrap();
    assert_eq!(plan, before);
}

#[test]
fn code_keeps_its_grammar_when_a_name_needs_brackets() {
    let mut plan = read(json!({"nodes": [{"id": "a", "agent": "x"}, {"id": "c", "code": "deps.a.output, deps?.a, deps.ab, o.deps.a"}]}));
    Edit::RenameNode { from: "a".into(), to: "a-b".into() }.apply(&mut plan).unwrap();
    let code = CodeNode { code: "deps[\"a-b\"].output, deps?.[\"a-b\"], deps.ab, o.deps.a".into(), sandbox: Default::default() };
    assert_eq!(plan.nodes[1].kind, NodeKind::Code(code));
}

#[test]
fn names_that_are_words_of_the_language_are_written_in_brackets() {
    let mut plan = read(json!({"nodes": [{"id": "a", "agent": "x"}, {"id": "d", "decide": "a.route if a else 'x'"}]}));
    Edit::RenameNode { from: "a".into(), to: "true".into() }.apply(&mut plan).unwrap();
    assert_eq!(
        plan.nodes[1].kind,
        NodeKind::Decision(DecisionNode::Expression("nodes[\"true\"].route if nodes[\"true\"] else 'x'".into()))
    );
}

#[test]
fn refusals_say_why_and_a_batch_is_all_or_nothing() {
    let mut plan = chain();
    let before = plan.clone();
    let node = |id: &str| Box::new(Node::new(id, NodeKind::Transform(TransformNode { value: json!(1) })));
    let cases = [
        (Edit::AddNode { node: node("a"), at: None }, "there is already a node `a`"),
        (Edit::AddNode { node: node("z"), at: Some(9) }, "position 9 is beyond the end"),
        (
            Edit::RenameNode { from: "a".into(), to: "run".into() },
            "`run` is not a valid id: use 1 to 64 of A-Z a-z 0-9 _ -, and not inputs, deps, nodes or run",
        ),
        (Edit::RemoveNode { id: "z".into() }, "there is no node `z`"),
        (Edit::AddDependency { node: "b".into(), on: "a".into() }, "`b` already depends on `a`"),
        (Edit::RemoveDependency { node: "c".into(), on: "a".into() }, "`c` does not depend on `a`"),
        (Edit::RemoveEdge { at: 0 }, "there is no edge number 0"),
    ];
    for (edit, words) in cases {
        let batch = Edit::batch([Edit::SetGoal { goal: "g".into() }, Edit::RemoveDependency { node: "b".into(), on: "a".into() }]);
        let last = Edit::batch([batch, Edit::AddDependency { node: "b".into(), on: "a".into() }, edit]);
        assert_eq!(last.apply(&mut plan).unwrap_err().to_string(), words);
        assert_eq!(plan, before);
    }
}

#[test]
fn edits_are_plain_data_that_survive_json() {
    let edit = Edit::batch([set_value("a".into(), json!({"x": 1})), Edit::RemoveEdge { at: 3 }]);
    assert_eq!(serde_json::from_str::<Edit>(&serde_json::to_string(&edit).unwrap()).unwrap(), edit);
}

fn edit() -> impl Strategy<Value = Edit> {
    let node = || (0..9_usize).prop_map(id);
    prop_oneof![
        (node(), 0..9_usize).prop_map(|(id, at)| {
            let node = Box::new(Node::new(id, NodeKind::Transform(TransformNode { value: json!("{{n1.result}}") })));
            Edit::AddNode { node, at: Some(at) }
        }),
        node().prop_map(|id| Edit::RemoveNode { id }),
        (node(), prop_oneof![node(), Just(NodeId::new("new-1"))]).prop_map(|(from, to)| Edit::RenameNode { from, to }),
        (node(), 0..9_usize).prop_map(|(id, to)| Edit::MoveNode { id, to }),
        (node(), node()).prop_map(|(id, copy)| Edit::DuplicateNode { id, copy }),
        (node(), node()).prop_map(|(node, on)| Edit::AddDependency { node, on }),
        (node(), node()).prop_map(|(node, on)| Edit::RemoveDependency { node, on }),
        (node(), node(), 0..4_usize).prop_map(|(from, to, at)| Edit::AddEdge { edge: Box::new(Edge::new(from, to)), at: Some(at) }),
        (0..4_usize).prop_map(|at| Edit::RemoveEdge { at }),
        (node(), node(), 0..4_usize).prop_map(|(from, to, at)| Edit::ReplaceEdge { edge: Box::new(Edge::new(from, to)), at }),
        node().prop_map(|id| set_value(id, json!(2))),
        node().prop_map(|id| Edit::SetPolicy { id, policy: Box::new(Policy { timeout_s: Some(2.0), ..Policy::default() }) }),
        "[a-c]{0,3}".prop_map(|goal| Edit::SetGoal { goal }),
    ]
}

proptest! {
    #[test]
    fn undoing_everything_gives_the_plan_back_and_redoing_gives_the_edited_one(plan in plan(8), edits in proptest::collection::vec(edit(), 1..20)) {
        let before = plan.clone();
        let mut plan = plan;
        let mut history = History::default();
        let mut states = vec![plan.clone()];
        for edit in edits.chunks(2) {
            let edit = if edit.len() == 2 { Edit::batch(edit.to_vec()) } else { edit[0].clone() };
            let untouched = plan.clone();
            match history.apply(&mut plan, &edit) {
                Ok(()) => states.push(plan.clone()),
                Err(_) => prop_assert_eq!(&plan, &untouched),
            }
            prop_assert!(PlanGraph::new(&plan).cycles().is_empty());
        }
        let edited = plan.clone();
        while let Some(state) = states.pop() {
            prop_assert_eq!(&plan, &state);
            prop_assert_eq!(history.undo(&mut plan).unwrap(), !states.is_empty());
        }
        prop_assert_eq!(&plan, &before);
        while history.redo(&mut plan).unwrap() {}
        prop_assert_eq!(plan, edited);
    }
}
