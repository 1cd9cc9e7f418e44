//! Plans inside of plans, laid flat: a node that is inside `outer` is `outer/inner` from outside. Legal ids hold no `/`, so an
//! address tells by itself where its node is.

use super::{Edge, LoopNode, MapNode, MergeNode, Node, NodeId, NodeKind, Plan, SubplanNode};

/// A plan with what is inside its nodes, flat: the nodes of a body follow their owner under their addresses.
pub fn outline(plan: &Plan) -> Plan {
    let mut flat = Plan { nodes: Vec::new(), edges: Vec::new(), ..plan.clone() };
    flatten(plan, "", &mut flat);
    flat
}

fn flatten(plan: &Plan, prefix: &str, flat: &mut Plan) {
    flat.edges.extend(plan.edges.iter().map(|edge| edge_under(prefix, edge)));
    for node in &plan.nodes {
        flat.nodes.push(node_under(prefix, node));
        unfold(node, prefix, flat);
    }
}

/// Adds what is inside a node, which itself is under `prefix`.
pub fn unfold(node: &Node, prefix: &str, flat: &mut Plan) {
    if let Some(body) = node.kind.body() {
        flatten(body, &format!("{prefix}{}/", node.id), flat);
    }
}

/// A node under a prefix such as `outer/`.
pub fn node_under(prefix: &str, node: &Node) -> Node {
    readdressed(node, |id| under(prefix, id))
}

/// An edge under a prefix such as `outer/`.
pub fn edge_under(prefix: &str, edge: &Edge) -> Edge {
    Edge { from: under(prefix, &edge.from), to: under(prefix, &edge.to), ..edge.clone() }
}

/// A node of the plan at `prefix` as it is there: the opposite of `node_under`.
pub fn node_within(prefix: &str, node: &Node) -> Node {
    readdressed(node, |id| within(prefix, id))
}

fn readdressed(node: &Node, id: impl Fn(&NodeId) -> NodeId) -> Node {
    Node { id: id(&node.id), depends_on: node.depends_on.iter().map(id).collect(), ..node.clone() }
}

/// An edge of the plan at `prefix` as it is there: the opposite of `edge_under`.
pub fn edge_within(prefix: &str, edge: &Edge) -> Edge {
    Edge { from: within(prefix, &edge.from), to: within(prefix, &edge.to), ..edge.clone() }
}

fn within(prefix: &str, id: &NodeId) -> NodeId {
    id.strip_prefix(prefix).map_or_else(|| id.clone(), NodeId::new)
}

/// What is before the ids of those beside a node: `a/map/` of `a/map/inner`, nothing for nodes of the plan itself.
pub fn prefix(address: &str) -> &str {
    address.rfind('/').map_or("", |at| &address[..=at])
}

/// The plan with what was loaded from files written where it is used: what a run keeps.
pub fn inlined(mut plan: Plan) -> Plan {
    for node in &mut plan.nodes {
        node.kind = match std::mem::replace(&mut node.kind, NodeKind::Merge(MergeNode::default())) {
            NodeKind::Subplan(SubplanNode::Inline(body) | SubplanNode::File { loaded: Some(body), .. }) => {
                NodeKind::Subplan(SubplanNode::Inline(Box::new(inlined(*body))))
            }
            NodeKind::Loop(inner) => NodeKind::Loop(LoopNode { body: Box::new(inlined(*inner.body)), ..inner }),
            NodeKind::Map(inner) => NodeKind::Map(MapNode { body: Box::new(inlined(*inner.body)), ..inner }),
            kind => kind,
        };
    }
    plan
}

/// Whether a plan has nodes with plans inside.
pub fn is_nested(plan: &Plan) -> bool {
    plan.nodes.iter().any(|node| node.kind.body().is_some())
}

fn under(prefix: &str, id: &NodeId) -> NodeId {
    if prefix.is_empty() { id.clone() } else { NodeId::new(format!("{prefix}{id}")) }
}

/// The address of the node that an address is inside: `a/map` of `a/map[3]/inner`; `None` for nodes of the plan itself.
pub fn owner(address: &str) -> Option<&str> {
    let (outer, _) = address.rsplit_once('/')?;
    Some(match outer.strip_suffix(']').and_then(|outer| outer.rsplit_once('[')) {
        Some((outer, index)) if !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()) => outer,
        Some(_) | None => outer,
    })
}

/// What tells a node apart inside its owner: `[3]/inner` of `a/map[3]/inner`, `inner` of `a/inner`.
pub fn name(address: &str) -> &str {
    match owner(address) {
        Some(owner) => address[owner.len()..].trim_start_matches('/'),
        None => address,
    }
}

/// The node at an address of the document; numbers of turns and entries don't matter.
pub fn find<'a>(plan: &'a Plan, address: &str) -> Option<&'a Node> {
    let mut plan = plan;
    if !address.contains('/') {
        return plan.nodes.iter().find(|node| &*node.id == address);
    }
    let mut steps = address.split('/').map(|step| step.split_once('[').map_or(step, |(id, _)| id)).peekable();
    while let Some(step) = steps.next() {
        let node = plan.nodes.iter().find(|node| &*node.id == step)?;
        if steps.peek().is_none() {
            return Some(node);
        }
        plan = node.kind.body()?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn nested() -> Plan {
        serde_json::from_value(json!({"nodes": [
            {"id": "a", "value": 1},
            {"id": "b", "depends_on": ["a"], "over": "a", "body": {"nodes": [
                {"id": "c", "value": 1},
                {"id": "d", "depends_on": ["c"], "plan": {"nodes": [{"id": "e", "value": 1}]}}
            ], "edges": [{"from": "c", "to": "d", "when": "c"}]}},
            {"id": "f", "value": 1, "depends_on": ["b"]}
        ]}))
        .unwrap()
    }

    #[test]
    fn what_is_inside_follows_its_owner() {
        let flat = outline(&nested());
        let rows: Vec<String> = flat.nodes.iter().map(|node| format!("{} <- {:?}", node.id, node.depends_on)).collect();
        assert_eq!(rows, ["a <- []", "b <- [\"a\"]", "b/c <- []", "b/d <- [\"b/c\"]", "b/d/e <- []", "f <- [\"b\"]"]);
        assert_eq!((&*flat.edges[0].from, &*flat.edges[0].to), ("b/c", "b/d"));
    }

    #[test]
    fn an_address_says_where_its_node_is() {
        let of = |address| (owner(address), name(address));
        assert_eq!(of("a"), (None, "a"));
        assert_eq!(of("a/b"), (Some("a"), "b"));
        assert_eq!(of("a/map[3]/inner"), (Some("a/map"), "[3]/inner"));
        assert_eq!(find(&nested(), "b[7]/d/e").map(|node| &*node.id), Some("e"));
        assert_eq!(find(&nested(), "b/x"), None);
    }
}
