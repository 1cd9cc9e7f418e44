//! From a piece to the edit that makes it of a plan.

use super::fields::{head_of, map_of};
use super::{Change, ChangedField, Difference, Whole};
use crate::plan::dialect::{node_from_value, plan_from_value};
use crate::plan::edit::{Edit, EditError};
use crate::plan::{Edge, Node, NodeId, Plan, nest};
use serde_json::{Value, json};

impl Difference {
    /// The edit that makes this difference of a plan that is like the old one in this place.
    ///
    /// # Errors
    /// When the plan has no such place any more.
    pub fn edit(&self, plan: &Plan) -> Result<Edit, EditError> {
        let Some(within) = &self.within else { return self.change.sure_edit(plan) };
        let body = nest::find(plan, within).and_then(|node| node.kind.body());
        let edit = self.change.sure_edit(body.ok_or_else(|| EditError::NoBody(within.clone()))?)?;
        Ok(Edit::within(Some(within), edit))
    }

    /// Makes the difference.
    ///
    /// # Errors
    /// When the plan has no such place any more, or the edit is refused; then the plan is as it was.
    pub fn make(&self, plan: &mut Plan) -> Result<(), EditError> {
        self.edit(plan)?.apply(plan).map(drop)
    }
}

fn find<'a>(plan: &'a Plan, id: &str) -> Result<&'a Node, EditError> {
    plan.nodes.iter().find(|node| &*node.id == id).ok_or_else(|| EditError::NoNode(NodeId::new(id)))
}

impl Change {
    /// The same, refused where an edit by id would reach another node than the one that differs.
    fn sure_edit(&self, plan: &Plan) -> Result<Edit, EditError> {
        let id = match self {
            Self::Added(whole) | Self::Removed(whole) => Some(&whole.node.id),
            Self::Field { node, .. } => Some(node),
            Self::Edge { .. } | Self::Order { .. } | Self::Head(_) => None,
        };
        let several = |id: &&NodeId| plan.nodes.iter().filter(|node| node.id == **id).count() > 1;
        match id.filter(several) {
            Some(id) => Err(EditError::Shape(format!("several nodes have the id `{id}`: give each its own first"))),
            None => self.edit(plan),
        }
    }

    fn edit(&self, plan: &Plan) -> Result<Edit, EditError> {
        match self {
            Self::Added(whole) => Ok(add_node(plan, whole)),
            Self::Removed(whole) => Ok(Edit::RemoveNode { id: whole.node.id.clone() }),
            Self::Field { node, slots, .. } => set_fields(plan, node, slots),
            Self::Edge { old: None, new: Some(new) } => Ok(add_edge(plan, new)),
            Self::Edge { old: Some(old), new: None } => remove_edge(plan, old),
            Self::Edge { old: Some(old), new: Some(new) } => replace_edge(plan, old, new),
            Self::Edge { old: None, new: None } => Ok(Edit::batch([])),
            Self::Order { from, new, .. } => Ok(reorder(plan, from, new)),
            Self::Head(slot) => set_head(plan, slot),
        }
    }
}

/// A node comes with those of its edges whose other end is there.
fn add_node(plan: &Plan, whole: &Whole) -> Edit {
    let mut node = whole.node.clone();
    let mut edits = Vec::new();
    for edge in &whole.edges {
        let other = if edge.from == node.id { &edge.to } else { &edge.from };
        if *other != node.id && find(plan, other).is_err() {
            continue;
        }
        if edge.is_plain() && edge.to == node.id {
            node.depends_on.push(edge.from.clone());
        } else {
            edits.push(Edit::AddEdge { edge: Box::new(edge.clone()), at: None });
        }
    }
    Edit::batch([Edit::AddNode { node: Box::new(node), at: None }].into_iter().chain(edits))
}

fn set_fields(plan: &Plan, id: &NodeId, slots: &[ChangedField]) -> Result<Edit, EditError> {
    let known = find(plan, id)?;
    let mut map = map_of(known);
    slots.iter().for_each(|slot| slot.put(&mut map));
    map.insert("id".into(), json!(id));
    let node = node_from_value(Value::Object(map), "").map_err(|error| EditError::Shape(error.to_string()))?;
    Ok(Edit::ReplaceNode { node: Box::new(Node { depends_on: known.depends_on.clone(), ..node }) })
}

fn set_head(plan: &Plan, slot: &ChangedField) -> Result<Edit, EditError> {
    let mut map = head_of(plan);
    slot.put(&mut map);
    map.insert("nodes".into(), json!([]));
    let head = plan_from_value(Value::Object(map)).map_err(|error| EditError::Shape(error.to_string()))?;
    Ok(Edit::SetHead { head: Box::new(head) })
}

fn add_edge(plan: &Plan, edge: &Edge) -> Edit {
    let between = plan.all_edges().any(|known| known.from == edge.from && known.to == edge.to);
    if !between && edge.is_plain() {
        Edit::AddDependency { node: edge.to.clone(), on: edge.from.clone() }
    } else {
        Edit::AddEdge { edge: Box::new(edge.clone()), at: None }
    }
}

fn remove_edge(plan: &Plan, edge: &Edge) -> Result<Edit, EditError> {
    match plan.edges.iter().position(|known| known == edge) {
        Some(at) => Ok(Edit::RemoveEdge { at }),
        None => without_dependency(plan, edge),
    }
}

/// The target without one of its plain dependencies.
fn without_dependency(plan: &Plan, edge: &Edge) -> Result<Edit, EditError> {
    let absent = || EditError::NotDependent { node: edge.to.clone(), on: edge.from.clone() };
    let mut node = find(plan, &edge.to)?.clone();
    let at = node.depends_on.iter().position(|source| edge.is_plain() && *source == edge.from).ok_or_else(absent)?;
    node.depends_on.remove(at);
    Ok(Edit::ReplaceNode { node: Box::new(node) })
}

fn replace_edge(plan: &Plan, old: &Edge, new: &Edge) -> Result<Edit, EditError> {
    match plan.edges.iter().position(|known| known == old) {
        Some(at) => Ok(Edit::ReplaceEdge { at, edge: Box::new(new.clone()) }),
        None => Ok(Edit::batch([without_dependency(plan, old)?, Edit::AddEdge { edge: Box::new(new.clone()), at: None }])),
    }
}

/// The edges that leave a node are as in `wanted`; those that it doesn't know come behind them. Plain ones are written as edges,
/// since dependencies follow all others.
fn reorder(plan: &Plan, from: &NodeId, wanted: &[Edge]) -> Edit {
    let mut edits = Vec::new();
    for node in plan.nodes.iter().filter(|node| node.depends_on.contains(from)) {
        let mut node = node.clone();
        node.depends_on.retain(|source| source != from);
        edits.push(Edit::ReplaceNode { node: Box::new(node) });
    }
    let mut mine: Vec<Edge> = plan.all_edges().filter(|edge| edge.from == *from).collect();
    mine.sort_by_key(|edge| wanted.iter().position(|known| known.to == edge.to).unwrap_or(usize::MAX));
    let at = plan.edges.iter().position(|edge| edge.from == *from).unwrap_or(plan.edges.len());
    let (before, behind) = plan.edges.split_at(at);
    let behind = behind.iter().filter(|edge| edge.from != *from).cloned();
    let insert: Vec<Edge> = before.iter().cloned().chain(mine).chain(behind).collect();
    edits.push(Edit::SpliceEdges { at: 0, remove: plan.edges.len(), insert });
    Edit::batch(edits)
}
