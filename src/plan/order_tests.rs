//! Order, cycles and the tree, on hand-made and random plans.

use super::order::*;
use super::samples::plan;
use super::tree::{DrawnTree, Orientation};
use super::{Edge, MergeNode, Node, NodeKind, Plan};
use proptest::prelude::*;
use serde_json::json;

fn read(nodes: &[(&str, &[&str])]) -> Plan {
    let nodes: Vec<_> = nodes.iter().map(|(id, deps)| json!({"id": id, "merge": true, "depends_on": deps})).collect();
    serde_json::from_value(json!({ "nodes": nodes })).unwrap()
}

fn names(graph: &PlanGraph, nodes: &[usize]) -> Vec<String> {
    nodes.iter().map(|&node| graph.id(node).to_string()).collect()
}

#[test]
fn edges_come_first_then_dependencies_in_node_order() {
    let mut plan = read(&[("a", &[]), ("b", &["a"]), ("c", &["b", "nobody"])]);
    plan.edges.push(Edge::new("a", "c"));
    let shown: Vec<String> = plan.all_edges().map(|edge| format!("{}-{}", edge.from, edge.to)).collect();
    assert_eq!(shown, ["a-c", "a-b", "b-c", "nobody-c"]);
    let graph = PlanGraph::new(&plan);
    assert_eq!(graph.links()[3], OrderedEdge { from: None, to: Some(2), place: EdgePlace::Dependency(2, 1) });
    assert_eq!(graph.incoming(2).collect::<Vec<_>>(), [0, 2]);
    for (link, edge) in graph.links().iter().zip(plan.all_edges()) {
        assert_eq!(plan.edge_at(link.place), Some(edge));
    }
}

#[test]
fn each_knot_is_spelled_as_a_cycle() {
    let plan = read(&[("a", &["c"]), ("b", &["a"]), ("c", &["b"]), ("d", &["d"]), ("e", &["a"]), ("f", &[])]);
    let graph = PlanGraph::new(&plan);
    let cycles: Vec<String> = graph.cycles().iter().map(|cycle| graph.spell(cycle)).collect();
    assert_eq!(cycles, ["a → b → c → a", "d → d"]);
    assert_eq!(names(&graph, &graph.topological()), ["f"]);
    assert_eq!(graph.closes(5, 0), None);
    let chain = PlanGraph::new(&read(&[("a", &[]), ("b", &["a"]), ("c", &["b"])]));
    assert_eq!(chain.spell(&chain.closes(2, 0).unwrap()), "c → a → b → c");
}

#[test]
fn a_node_behind_a_cycle_or_on_two_has_no_place_in_the_order() {
    let plan = read(&[("x", &[]), ("a", &["x", "c", "b"]), ("b", &["a"]), ("c", &["b"]), ("d", &["c", "y"]), ("y", &[]), ("z", &["y"])]);
    let graph = PlanGraph::new(&plan);
    let mut sound = names(&graph, &graph.topological());
    sound.sort_unstable();
    assert_eq!(sound, ["x", "y", "z"]);
    assert_eq!(graph.cycles().len(), 1, "one cycle of each knot");
}

fn draw(plan: &Plan, orientation: Orientation) -> Vec<String> {
    let graph = PlanGraph::new(plan);
    let tree = DrawnTree::new(&graph, orientation);
    let drawn = |at: usize| {
        let row = tree.rows[at];
        let guides: String = tree.guides(at).iter().map(|runs| if *runs { "|" } else { "'" }).collect();
        let others: String = tree.other_parents(&graph, row.node).map(|other| format!("+{}", graph.id(other))).collect();
        format!("{guides}{}{others}", graph.id(row.node))
    };
    (0..tree.rows.len()).map(drawn).collect()
}

#[test]
fn a_node_with_several_parents_occurs_once_below_the_last_of_them() {
    let plan = read(&[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c"]), ("e", &["a"])]);
    assert_eq!(draw(&plan, Orientation::Start), ["a", "|b", "|c", "|d+b", "'e"]);
    assert_eq!(draw(&plan, Orientation::Goal), ["|d", "||b", "|'c", "'e", "'a+b+c"]);
    assert_eq!(draw(&read(&[("a", &["b"]), ("b", &["a"]), ("c", &[])]), Orientation::Start), ["|c", "'a+b", "'b"]);
}

#[test]
fn a_chain_of_ten_thousand_is_laid_out_without_recursion() {
    let mut plan = Plan::default();
    for n in 0..10_000 {
        let mut node = Node::new(format!("n{n}").as_str(), NodeKind::Merge(MergeNode::default()));
        node.depends_on = if n == 0 { vec![] } else { vec![format!("n{}", n - 1).as_str().into()] };
        plan.nodes.push(node);
    }
    let graph = PlanGraph::new(&plan);
    assert_eq!(DrawnTree::new(&graph, Orientation::Start).rows[9_999].depth, 9_999);
}

proptest! {
    #[test]
    fn order_respects_edges_and_trees_show_every_node_and_every_edge(plan in plan(12)) {
        let graph = PlanGraph::new(&plan);
        let order = graph.topological();
        prop_assert_eq!(order.len(), graph.len());
        let mut rank = vec![0; graph.len()];
        order.iter().enumerate().for_each(|(at, &node)| rank[node] = at);
        for node in 0..graph.len() {
            for source in graph.predecessors(node) {
                prop_assert!(rank[source] < rank[node]);
                prop_assert!(graph.descendants(source)[node]);
                prop_assert!(graph.closes(node, source).is_some());
            }
        }
        for orientation in [Orientation::Start, Orientation::Goal] {
            let tree = DrawnTree::new(&graph, orientation);
            prop_assert_eq!(tree.rows.len(), graph.len());
            let others = |row: &super::tree::DrawnRow| tree.other_parents(&graph, row.node).count();
            let below: usize = tree.rows.iter().map(|row| usize::from(row.parent.is_some()) + others(row)).sum();
            let mut pairs: Vec<_> = graph.links().iter().map(|link| (link.from, link.to)).collect();
            pairs.sort_unstable();
            pairs.dedup();
            prop_assert_eq!(below, pairs.len());
            for (at, row) in tree.rows.iter().enumerate() {
                prop_assert_eq!(tree.row_of[row.node], at);
                prop_assert!(tree.guides(at).len() <= row.depth + 1);
            }
        }
    }
}
