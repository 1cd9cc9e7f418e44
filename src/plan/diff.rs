//! What differs between two plans: nodes by id, edges by their ends and place among edges with the same ends.

use super::{Edge, Node, NodeId, Plan};
use std::collections::{HashMap, HashSet};

/// Differences from an old plan to a new one; each list in the order of the plan that it names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diff {
    /// Nodes of the new plan only.
    pub added: Vec<NodeId>,
    /// Nodes of the old plan only.
    pub removed: Vec<NodeId>,
    /// Nodes of both that are not equal, dependencies aside.
    pub changed: Vec<NodeId>,
    /// Edges of the new plan only, plain dependencies included.
    pub edges_added: Vec<Edge>,
    /// Edges of the old plan only, plain dependencies included.
    pub edges_removed: Vec<Edge>,
    /// Goal, inputs, budget, defaults, metadata or unknown fields differ.
    pub head: bool,
}

impl Diff {
    /// From `old` to `new`.
    pub fn new(old: &Plan, new: &Plan) -> Self {
        let before: HashMap<&NodeId, &Node> = old.nodes.iter().map(|node| (&node.id, node)).collect();
        let after: HashSet<&NodeId> = new.nodes.iter().map(|node| &node.id).collect();
        let mut diff = Self::default();
        for node in &new.nodes {
            match before.get(&node.id) {
                None => diff.added.push(node.id.clone()),
                Some(old) if !same_apart_from_edges(old, node) => diff.changed.push(node.id.clone()),
                Some(_) => {}
            }
        }
        diff.removed = old.nodes.iter().map(|node| &node.id).filter(|id| !after.contains(id)).cloned().collect();
        diff.edges_added = missing(new, old);
        diff.edges_removed = missing(old, new);
        let head = |plan: &Plan| (plan.goal.clone(), plan.inputs.clone(), plan.budget.clone(), plan.defaults.clone());
        diff.head = head(old) != head(new) || old.metadata != new.metadata || old.ext != new.ext;
        diff
    }

    /// Whether nothing differs but the order.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn same_apart_from_edges(a: &Node, b: &Node) -> bool {
    a.work == b.work && a.policy == b.policy && a.ext == b.ext
}

/// Edges of `plan` that have no equal in `other`.
fn missing(plan: &Plan, other: &Plan) -> Vec<Edge> {
    let mut there: HashMap<(NodeId, NodeId), Vec<Edge>> = HashMap::new();
    for edge in other.all_edges() {
        there.entry((edge.from.clone(), edge.to.clone())).or_default().push(edge);
    }
    let mut missing = Vec::new();
    for edge in plan.all_edges() {
        let equals = there.get_mut(&(edge.from.clone(), edge.to.clone()));
        let equal = equals.and_then(|edges| edges.iter().position(|other| *other == edge).map(|at| edges.swap_remove(at)));
        if equal.is_none() {
            missing.push(edge);
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(document: serde_json::Value) -> Plan {
        serde_json::from_value(document).unwrap()
    }

    #[test]
    fn a_diff_tells_nodes_edges_and_the_head_apart() {
        let old = read(json!({"goal": "g", "nodes": [
            {"id": "a", "value": 1}, {"id": "b", "value": 1, "depends_on": ["a"]}, {"id": "c", "value": 1, "depends_on": ["b"]}
        ]}));
        let new = read(json!({"goal": "h", "nodes": [
            {"id": "b", "value": 2, "depends_on": ["d"]}, {"id": "a", "value": 1}, {"id": "d", "value": 1}
        ], "edges": [{"from": "a", "to": "b", "when": "a"}]}));
        let diff = Diff::new(&old, &new);
        assert_eq!((diff.added, diff.removed, diff.changed), (vec!["d".into()], vec!["c".into()], vec!["b".into()]));
        assert_eq!(diff.edges_added, [Edge { when: Some("a".into()), ..Edge::new("a", "b") }, Edge::new("d", "b")]);
        assert_eq!(diff.edges_removed, [Edge::new("a", "b"), Edge::new("b", "c")]);
        assert!(diff.head);
        assert!(Diff::new(&old, &old).is_empty());
    }
}
