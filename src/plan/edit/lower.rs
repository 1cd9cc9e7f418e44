//! What each edit comes down to: splices of `nodes` and `edges`, made for one plan.

use super::{Edit, EditError, follow};
use crate::plan::{Edge, Node, NodeId, Plan, is_legal_id};

/// The splices of an edit. Each splice keeps the positions of those behind it, or goes from the end to the front.
pub(super) fn lower(edit: &Edit, plan: &Plan) -> Result<Vec<Edit>, EditError> {
    match edit {
        Edit::AddNode { node, at } => {
            free(plan, &node.id)?;
            let at = at.unwrap_or(plan.nodes.len());
            Ok(vec![Edit::SpliceNodes { at, remove: 0, insert: vec![(**node).clone()] }])
        }
        Edit::RemoveNode { id } => remove_node(plan, id),
        Edit::RenameNode { from, to } => {
            let at = find(plan, from)?;
            if from == to {
                return Ok(Vec::new());
            }
            free(plan, to)?;
            Ok(follow::rename(plan, at, from, to))
        }
        Edit::ReplaceNode { node } => Ok(vec![put_node(find(plan, &node.id)?, (**node).clone())]),
        Edit::SetKind { id, kind } => {
            let at = find(plan, id)?;
            Ok(vec![put_node(at, Node { kind: kind.0.clone(), ..plan.nodes[at].clone() })])
        }
        Edit::SetPolicy { id, policy } => {
            let at = find(plan, id)?;
            Ok(vec![put_node(at, Node { policy: (**policy).clone(), ..plan.nodes[at].clone() })])
        }
        Edit::MoveNode { id, to } => {
            let at = find(plan, id)?;
            let out = Edit::SpliceNodes { at, remove: 1, insert: Vec::new() };
            Ok(vec![out, Edit::SpliceNodes { at: *to, remove: 0, insert: vec![plan.nodes[at].clone()] }])
        }
        Edit::DuplicateNode { id, copy } => duplicate(plan, id, copy),
        Edit::AddDependency { node, on } => add_dependency(plan, node, on),
        Edit::RemoveDependency { node, on } => remove_dependency(plan, node, on),
        Edit::AddEdge { edge, at } => {
            find(plan, &edge.from)?;
            find(plan, &edge.to)?;
            let at = at.unwrap_or(plan.edges.len());
            Ok(vec![Edit::SpliceEdges { at, remove: 0, insert: vec![(**edge).clone()] }])
        }
        Edit::RemoveEdge { at } => {
            plan.edges.get(*at).ok_or(EditError::NoEdge(*at))?;
            Ok(vec![Edit::SpliceEdges { at: *at, remove: 1, insert: Vec::new() }])
        }
        Edit::ReplaceEdge { at, edge } => {
            plan.edges.get(*at).ok_or(EditError::NoEdge(*at))?;
            find(plan, &edge.from)?;
            find(plan, &edge.to)?;
            Ok(vec![put_edge(*at, (**edge).clone())])
        }
        Edit::SetGoal { .. }
        | Edit::SetInputs { .. }
        | Edit::SetBudget { .. }
        | Edit::SetDefaults { .. }
        | Edit::SetHead { .. }
        | Edit::SpliceNodes { .. }
        | Edit::SpliceEdges { .. }
        | Edit::Within { .. }
        | Edit::Batch { .. } => Ok(vec![edit.clone()]),
    }
}

pub(super) fn put_node(at: usize, node: Node) -> Edit {
    Edit::SpliceNodes { at, remove: 1, insert: vec![node] }
}

pub(super) fn put_edge(at: usize, edge: Edge) -> Edit {
    Edit::SpliceEdges { at, remove: 1, insert: vec![edge] }
}

fn find(plan: &Plan, id: &NodeId) -> Result<usize, EditError> {
    plan.nodes.iter().position(|node| node.id == *id).ok_or_else(|| EditError::NoNode(id.clone()))
}

fn free(plan: &Plan, id: &NodeId) -> Result<(), EditError> {
    if !is_legal_id(id) {
        Err(EditError::BadId(id.clone()))
    } else if find(plan, id).is_ok() {
        Err(EditError::Taken(id.clone()))
    } else {
        Ok(())
    }
}

fn remove_node(plan: &Plan, id: &NodeId) -> Result<Vec<Edit>, EditError> {
    let at = find(plan, id)?;
    let mut edits = Vec::new();
    for (i, node) in plan.nodes.iter().enumerate() {
        if i != at && node.depends_on.contains(id) {
            let mut node = node.clone();
            node.depends_on.retain(|source| source != id);
            edits.push(put_node(i, node));
        }
    }
    edits.push(Edit::SpliceNodes { at, remove: 1, insert: Vec::new() });
    let edges = plan.edges.iter().enumerate().rev().filter(|(_, edge)| edge.from == *id || edge.to == *id);
    edits.extend(edges.map(|(at, _)| Edit::SpliceEdges { at, remove: 1, insert: Vec::new() }));
    Ok(edits)
}

fn duplicate(plan: &Plan, id: &NodeId, copy: &NodeId) -> Result<Vec<Edit>, EditError> {
    let at = find(plan, id)?;
    free(plan, copy)?;
    let mut edits = vec![Edit::SpliceNodes { at: at + 1, remove: 0, insert: vec![Node { id: copy.clone(), ..plan.nodes[at].clone() }] }];
    let incoming = plan.edges.iter().filter(|edge| edge.to == *id);
    let copies: Vec<Edge> = incoming.map(|edge| Edge { to: copy.clone(), id: None, ..edge.clone() }).collect();
    if !copies.is_empty() {
        edits.push(Edit::SpliceEdges { at: plan.edges.len(), remove: 0, insert: copies });
    }
    Ok(edits)
}

fn add_dependency(plan: &Plan, node: &NodeId, on: &NodeId) -> Result<Vec<Edit>, EditError> {
    let at = find(plan, node)?;
    find(plan, on)?;
    if node == on {
        return Err(EditError::Cycle(format!("{on} → {on}")));
    }
    let mut changed = plan.nodes[at].clone();
    if changed.depends_on.contains(on) || plan.edges.iter().any(|edge| edge.from == *on && edge.to == *node) {
        return Err(EditError::Dependent { node: node.clone(), on: on.clone() });
    }
    changed.depends_on.push(on.clone());
    Ok(vec![put_node(at, changed)])
}

fn remove_dependency(plan: &Plan, node: &NodeId, on: &NodeId) -> Result<Vec<Edit>, EditError> {
    let at = find(plan, node)?;
    let mut edits = Vec::new();
    let mut changed = plan.nodes[at].clone();
    changed.depends_on.retain(|source| source != on);
    if changed.depends_on.len() != plan.nodes[at].depends_on.len() {
        edits.push(put_node(at, changed));
    }
    let between = plan.edges.iter().enumerate().rev().filter(|(_, edge)| edge.from == *on && edge.to == *node);
    edits.extend(between.map(|(at, _)| Edit::SpliceEdges { at, remove: 1, insert: Vec::new() }));
    if edits.is_empty() { Err(EditError::NotDependent { node: node.clone(), on: on.clone() }) } else { Ok(edits) }
}
