//! Random plans for the room's property tests.

use super::{AgentNode, Edge, MergeNode, Node, NodeId, NodeKind, Plan, ToolInput, ToolNode, TransformNode};
use proptest::prelude::*;
use serde_json::json;

/// The id of the n-th node: some hold `-`.
pub(crate) fn id(n: usize) -> NodeId {
    NodeId::new(if n.is_multiple_of(3) { format!("n-{n}") } else { format!("n{n}") })
}

fn work(kind: u8, source: Option<usize>) -> NodeKind {
    let mention = source.map(|source| format!("{{{{{}.result}}}} and $OUTPUT[{}]", id(source), id(source))).unwrap_or_default();
    match kind % 4 {
        0 => NodeKind::Agent(AgentNode { agent: Some("writer".into()), objective: Some(format!("use {mention}")), ..AgentNode::default() }),
        1 => {
            let args = [("text".to_owned(), json!([mention, 1]))].into_iter().collect();
            NodeKind::Tool(ToolNode { tool: "echo".into(), input: ToolInput::Args(args) })
        }
        2 => NodeKind::Transform(TransformNode { value: json!({ "v": mention }) }),
        _ => NodeKind::Merge(MergeNode::default()),
    }
}

/// A DAG of up to `most` nodes in shuffled document order, with dependencies, written edges, conditions and references.
pub(crate) fn plan(most: usize) -> impl Strategy<Value = Plan> {
    let nodes =
        proptest::collection::vec((any::<u8>(), proptest::collection::vec((any::<proptest::sample::Index>(), 0..4_u8), 0..4)), 1..=most);
    nodes.prop_flat_map(|nodes| {
        let plan = build(&nodes);
        Just(plan.nodes.clone()).prop_shuffle().prop_map(move |nodes| Plan { nodes, ..plan.clone() })
    })
}

fn build(nodes: &[(u8, Vec<(proptest::sample::Index, u8)>)]) -> Plan {
    let mut plan = Plan { goal: "sample".into(), ..Plan::default() };
    for (n, (kind, sources)) in nodes.iter().enumerate() {
        let mut chosen: Vec<(usize, u8)> = if n == 0 { vec![] } else { sources.iter().map(|(at, how)| (at.index(n), *how)).collect() };
        chosen.sort_unstable();
        chosen.dedup_by_key(|(source, _)| *source);
        let mut node = Node::new(id(n), work(*kind, chosen.first().map(|(source, _)| *source)));
        for (source, how) in chosen {
            match how {
                0 => plan.edges.push(Edge { when: Some(format!("{}.result.ok == 1", id(source))), ..Edge::new(id(source), id(n)) }),
                1 => plan.edges.push(Edge::new(id(source), id(n))),
                _ => node.depends_on.push(id(source)),
            }
        }
        plan.nodes.push(node);
    }
    plan
}
