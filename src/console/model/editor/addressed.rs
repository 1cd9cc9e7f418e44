//! `Addressed`: a plan whose nodes are named as the tree names them, also those inside of other nodes. It looks things up and makes
//! the edits that a person means; what becomes of an edit is up to the caller.

use crate::plan::{Edge, Node, NodeId, Plan, edit::Edit, nest};

/// A plan, with the same laid flat.
#[derive(Clone, Copy, Debug)]
pub struct Addressed<'a> {
    /// As it is written.
    pub plan: &'a Plan,
    /// With what is inside its nodes, flat.
    pub shown: &'a Plan,
}

impl<'a> Addressed<'a> {
    /// A node by its address.
    pub fn node(self, address: &NodeId) -> Option<&'a Node> {
        self.shown.nodes.iter().find(|node| node.id == *address)
    }

    /// Whether a plan is inside a node and has no nodes yet.
    pub fn is_empty_inside(self, id: &NodeId) -> bool {
        let body = nest::find(self.plan, id).and_then(|node| node.kind.body());
        body.is_some_and(|body| body.nodes.is_empty())
    }

    /// An id that no node beside `beside` has, made of these words; as an address.
    pub fn free_id(self, beside: Option<&NodeId>, words: &str) -> NodeId {
        let prefix = beside.map_or("", |beside| nest::prefix(beside));
        let legal = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
        let base: String = words.chars().map(legal).take(56).collect();
        let base = if base.is_empty() { "node".to_owned() } else { base };
        let numbered = (2..).map(|number| NodeId::new(format!("{prefix}{base}_{number}")));
        let first = NodeId::new(format!("{prefix}{base}"));
        let mut all = std::iter::once(first.clone()).chain(numbered);
        all.find(|id| self.node(id).is_none()).unwrap_or(first)
    }

    /// Whether a node has an edge from another one.
    pub fn depends(self, target: &NodeId, source: &NodeId) -> bool {
        self.node(target).is_some_and(|node| node.depends_on.contains(source))
            || self.shown.edges.iter().any(|edge| edge.from == *source && edge.to == *target)
    }

    /// All edges into a node; plain dependencies as edges without a condition.
    pub fn edges_into(self, id: &NodeId) -> Vec<Edge> {
        let plain = self.node(id).map(|node| node.depends_on.as_slice()).unwrap_or_default();
        let plain = plain.iter().map(|from| Edge::new(from.clone(), id.clone()));
        self.shown.edges.iter().filter(|edge| edge.to == *id).cloned().chain(plain).collect()
    }

    /// Adds a node at the end.
    pub fn append(self, node: &Node) -> Edit {
        let within = nest::node_within(nest::prefix(&node.id), node);
        at(&node.id, Edit::AddNode { node: Box::new(within), at: None })
    }

    /// Deletes a node with its edges.
    pub fn remove(self, id: &NodeId) -> Edit {
        at(id, Edit::RemoveNode { id: local(id) })
    }

    /// Adds a copy of a node behind it.
    pub fn duplicate(self, id: &NodeId, copy: &NodeId) -> Edit {
        at(id, Edit::DuplicateNode { id: local(id), copy: local(copy) })
    }

    /// Writes a node anew under its id; nothing where it is so already.
    pub fn replace(self, node: &Node) -> Option<Edit> {
        let within = nest::node_within(nest::prefix(&node.id), node);
        (self.node(&node.id) != Some(node)).then(|| at(&node.id, Edit::ReplaceNode { node: Box::new(within) }))
    }

    /// Renames a node, what refers to it follows; nothing where it is called so already.
    pub fn rename(self, from: &NodeId, to: &NodeId) -> Option<Edit> {
        (local(from) != *to).then(|| at(from, Edit::RenameNode { from: local(from), to: to.clone() }))
    }

    /// Adds a dependency, or removes it.
    ///
    /// # Errors
    /// Why it is refused, in words.
    pub fn toggle_dependency(self, target: &NodeId, source: &NodeId) -> Result<Edit, String> {
        if target == source {
            return Err(format!("`{target}` can't depend on itself"));
        }
        if nest::prefix(target) != nest::prefix(source) {
            return Err(format!("`{target}` and `{source}` are not in the same plan: pass what the inner plan needs as `inputs`"));
        }
        let (node, on) = (local(target), local(source));
        let edit = if self.depends(target, source) { Edit::RemoveDependency { node, on } } else { Edit::AddDependency { node, on } };
        Ok(at(target, edit))
    }

    /// Gives an edge another condition, or none; nothing where it has it already.
    pub fn set_condition(self, edge: &Edge, when: Option<&str>) -> Option<Edit> {
        let changed = Edge { when: when.map(str::to_owned), ..nest::edge_within(nest::prefix(&edge.to), edge) };
        self.replace_edge(edge, changed)
    }

    /// Writes an edge anew; `changed` names nodes as they are called where it is. Nothing where it is so already.
    pub fn replace_edge(self, edge: &Edge, changed: Edge) -> Option<Edit> {
        let address = &edge.to;
        let edge = nest::edge_within(nest::prefix(address), edge);
        if edge == changed {
            return None;
        }
        let edges = match nest::owner(address) {
            Some(owner) => nest::find(self.plan, owner).and_then(|node| node.kind.body()).map(|body| &body.edges),
            None => Some(&self.plan.edges),
        };
        let changed = Box::new(changed);
        let edit = match edges.into_iter().flatten().position(|known| *known == edge) {
            Some(at) => Edit::ReplaceEdge { at, edge: changed },
            None => Edit::batch([
                Edit::RemoveDependency { node: edge.to.clone(), on: edge.from.clone() },
                Edit::AddEdge { edge: changed, at: None },
            ]),
        };
        Some(at(address, edit))
    }
}

/// An edit of the plan that a node is in; it is made of ids as they are there.
fn at(address: &NodeId, edit: Edit) -> Edit {
    Edit::within(nest::owner(address), edit)
}

/// The id of a node as it is in the plan that it is in.
fn local(address: &NodeId) -> NodeId {
    NodeId::new(&address[nest::prefix(address).len()..])
}
