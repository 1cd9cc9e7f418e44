//! `Edit`: a change to a plan as plain data. Applying one gives its inverse, which restores an equal plan, order included: every
//! edit comes down to pieces of the lists `nodes` and `edges` being put in place of others, and the inverse puts the old pieces back.
//! An edit this would create a cycle is refused with the cycle spelled out.

mod follow;
mod history;
mod lower;
#[cfg(test)]
mod tests;

pub(in crate::plan) use follow::with_name;
pub use history::History;

use super::dialect::implied_stages;
use super::order::PlanGraph;
use super::{Budget, Edge, Node, NodeId, NodeKind, Plan, Policy};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A change to a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edit {
    /// A new node, with a new id, at a position of `nodes`; `None` is the end.
    AddNode { node: Box<Node>, at: Option<usize> },
    /// A node goes, with its edges. Texts that mention it stay as they are.
    RemoveNode { id: NodeId },
    /// A node's name changes; dependencies, edges, references, conditions and code follow.
    RenameNode { from: NodeId, to: NodeId },
    /// The node with this one's id is written anew.
    ReplaceNode { node: Box<Node> },
    /// What a node does.
    #[serde(rename = "set_work")]
    SetKind {
        id: NodeId,
        /// What it does from now on.
        #[serde(rename = "work")]
        kind: KindData,
    },
    /// How a node is run.
    SetPolicy { id: NodeId, policy: Box<Policy> },
    /// A node moves to another position of `nodes`, which it has afterwards.
    MoveNode { id: NodeId, to: usize },
    /// A copy of a node, right behind it, with the same incoming edges.
    DuplicateNode { id: NodeId, copy: NodeId },
    /// A plain edge.
    AddDependency { node: NodeId, on: NodeId },
    /// Every plain edge and every written edge between two nodes goes.
    RemoveDependency { node: NodeId, on: NodeId },
    /// An edge at a position of `edges`; `None` is the end.
    AddEdge { edge: Box<Edge>, at: Option<usize> },
    /// The edge at a position of `edges` goes.
    RemoveEdge { at: usize },
    /// The edge at a position of `edges` is written anew.
    ReplaceEdge { at: usize, edge: Box<Edge> },
    /// What the plan is for.
    SetGoal { goal: String },
    /// Values known at the start.
    SetInputs { inputs: Map<String, Value> },
    /// Caps of the whole run.
    SetBudget { budget: Budget },
    /// Policy for nodes that don't say otherwise.
    SetDefaults { defaults: Box<Policy> },
    /// Everything of the plan but its nodes and edges, as a plan without any.
    SetHead { head: Box<Plan> },
    /// A piece of `nodes` is put in place of another: what inverses are made of.
    SpliceNodes { at: usize, remove: usize, insert: Vec<Node> },
    /// A piece of `edges` is put in place of another: what inverses are made of.
    SpliceEdges { at: usize, remove: usize, insert: Vec<Edge> },
    /// A change to the plan inside a node.
    Within { node: NodeId, edit: Box<Edit> },
    /// Several edits as one: all or none.
    Batch { edits: Vec<Edit> },
}

/// A work on its own, serialised as the native fields that it has in a node.
#[derive(Clone, Debug, PartialEq)]
pub struct KindData(pub NodeKind);

impl Serialize for KindData {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Node::new("work", self.0.clone()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for KindData {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Node::deserialize(deserializer).map(|node| Self(node.kind))
    }
}

/// Why an edit is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// There is no such node.
    #[error("there is no node `{0}`")]
    NoNode(NodeId),
    /// There is no edge at this position.
    #[error("there is no edge number {0}")]
    NoEdge(usize),
    /// There is no edge between these nodes.
    #[error("`{node}` does not depend on `{on}`")]
    NotDependent { node: NodeId, on: NodeId },
    /// The name is taken.
    #[error("there is already a node `{0}`")]
    Taken(NodeId),
    /// The name is not legal.
    #[error("`{0}` is not a valid id: use 1 to 64 of A-Z a-z 0-9 _ -, and not inputs, deps, nodes or run")]
    BadId(NodeId),
    /// The edge is there already.
    #[error("`{node}` already depends on `{on}`")]
    Dependent { node: NodeId, on: NodeId },
    /// The edit would close a cycle.
    #[error("this would create a cycle: {0}")]
    Cycle(String),
    /// What it would make is no node, or no plan.
    #[error("{0}")]
    Shape(String),
    /// A position is beyond the end.
    #[error("position {0} is beyond the end")]
    Beyond(usize),
    /// The node has no plan that can be changed here.
    #[error("`{0}` has no plan to edit here; if its plan is a file, edit that file")]
    NoBody(NodeId),
}

impl Edit {
    /// Several edits as one.
    pub fn batch(edits: impl IntoIterator<Item = Self>) -> Self {
        Self::Batch { edits: edits.into_iter().collect() }
    }

    /// The edit for the plan inside the node at an address, `None` for the plan itself.
    pub fn within(owner: Option<&str>, edit: Self) -> Self {
        let steps = owner.into_iter().flat_map(|owner| owner.rsplit('/'));
        steps.fold(edit, |edit, step| Self::Within { node: NodeId::new(step), edit: Box::new(edit) })
    }

    /// The new names that it gives to nodes of the plan itself, in order: each old one with its new one.
    pub fn renames(&self) -> Vec<(&NodeId, &NodeId)> {
        match self {
            Self::RenameNode { from, to } if from != to => vec![(from, to)],
            Self::Batch { edits } => edits.iter().flat_map(Self::renames).collect(),
            _ => Vec::new(),
        }
    }

    /// Changes the plan and gives the edit that undoes it; `replay` that one.
    ///
    /// # Errors
    /// The plan is unchanged, and the error says why.
    pub fn apply(&self, plan: &mut Plan) -> Result<Self, EditError> {
        if let Self::Within { node, edit } = self {
            let inverse = edit.apply(body(plan, node)?)?;
            return Ok(Self::Within { node: node.clone(), edit: Box::new(inverse) });
        }
        let watched = self.touches_edges() && PlanGraph::new(plan).cycles().is_empty();
        let before = implied_work(plan);
        let inverse = self.replay(plan)?;
        let inverse = if before.0.is_empty() { inverse } else { follow_implied(before, plan, inverse)? };
        if watched {
            let graph = PlanGraph::new(plan);
            if let Some(cycle) = graph.cycles().first() {
                let cycle = graph.spell(cycle);
                inverse.replay(plan)?;
                return Err(EditError::Cycle(cycle));
            }
        }
        Ok(inverse)
    }

    /// Changes the plan as `apply` does, without looking for cycles: an undo may bring one back.
    ///
    /// # Errors
    /// The plan is unchanged, and the error says why.
    pub fn replay(&self, plan: &mut Plan) -> Result<Self, EditError> {
        match self {
            Self::SetGoal { goal } => Ok(Self::SetGoal { goal: std::mem::replace(&mut plan.goal, goal.clone()) }),
            Self::SetInputs { inputs } => Ok(Self::SetInputs { inputs: std::mem::replace(&mut plan.inputs, inputs.clone()) }),
            Self::SetBudget { budget } => Ok(Self::SetBudget { budget: std::mem::replace(&mut plan.budget, budget.clone()) }),
            Self::SetDefaults { defaults } => {
                Ok(Self::SetDefaults { defaults: Box::new(std::mem::replace(&mut plan.defaults, (**defaults).clone())) })
            }
            Self::SetHead { head } => {
                let (nodes, edges) = (std::mem::take(&mut plan.nodes), std::mem::take(&mut plan.edges));
                let head = Plan { nodes, edges, source: plan.source.clone(), ..(**head).clone() };
                let old = std::mem::replace(plan, head);
                Ok(Self::SetHead { head: Box::new(old) })
            }
            Self::SpliceNodes { at, remove, insert } => {
                let old = splice(&mut plan.nodes, *at, *remove, insert)?;
                Ok(Self::SpliceNodes { at: *at, remove: insert.len(), insert: old })
            }
            Self::SpliceEdges { at, remove, insert } => {
                let old = splice(&mut plan.edges, *at, *remove, insert)?;
                Ok(Self::SpliceEdges { at: *at, remove: insert.len(), insert: old })
            }
            Self::Batch { edits } => replay_all(edits, plan),
            Self::Within { node, edit } => {
                let inverse = edit.replay(body(plan, node)?)?;
                Ok(Self::Within { node: node.clone(), edit: Box::new(inverse) })
            }
            _ => replay_all(&lower::lower(self, plan)?, plan),
        }
    }

    /// Whether it may close a cycle. An edit inside a node leaves the edges around it as they are.
    fn touches_edges(&self) -> bool {
        use Edit::{
            RemoveDependency, RemoveEdge, RemoveNode, SetBudget, SetDefaults, SetGoal, SetHead, SetInputs, SetKind, SetPolicy, Within,
        };
        match self {
            Self::Batch { edits } => edits.iter().any(Self::touches_edges),
            RemoveNode { .. } | RemoveDependency { .. } | RemoveEdge { .. } | Within { .. } => false,
            SetKind { .. } | SetPolicy { .. } | Self::MoveNode { .. } | Self::DuplicateNode { .. } => false,
            SetGoal { .. } | SetInputs { .. } | SetBudget { .. } | SetDefaults { .. } | SetHead { .. } => false,
            _ => true,
        }
    }
}

/// The stages whose work follows from their name and what leads into them, and still does: that work by id and by position.
fn implied_work(plan: &Plan) -> (HashMap<NodeId, NodeKind>, HashMap<usize, NodeKind>) {
    let implied: Vec<_> = implied_stages(plan).into_iter().filter(|(at, work)| plan.nodes[*at].kind == *work).collect();
    (implied.iter().map(|(at, work)| (plan.nodes[*at].id.clone(), work.clone())).collect(), implied.into_iter().collect())
}

/// Where such a stage has another name now, or other sources lead into it, its work changes too.
fn follow_implied(
    (by_id, by_place): (HashMap<NodeId, NodeKind>, HashMap<usize, NodeKind>),
    plan: &mut Plan,
    inverse: Edit,
) -> Result<Edit, EditError> {
    let now = implied_stages(plan).into_iter().map(|(at, kind)| (at, Node { kind, ..plan.nodes[at].clone() }));
    let stale = |(at, _): &(usize, Node)| {
        let kind = Some(&plan.nodes[*at].kind);
        by_id.get(&plan.nodes[*at].id) == kind || by_place.get(at) == kind
    };
    let edits: Vec<Edit> = now.filter(stale).map(|(at, node)| lower::put_node(at, node)).collect();
    Ok(Edit::batch([replay_all(&edits, plan)?, inverse]))
}

/// The plan inside a node.
fn body<'a>(plan: &'a mut Plan, id: &NodeId) -> Result<&'a mut Plan, EditError> {
    let node = plan.nodes.iter_mut().find(|node| node.id == *id).ok_or_else(|| EditError::NoNode(id.clone()))?;
    node.kind.body_mut().ok_or_else(|| EditError::NoBody(id.clone()))
}

fn replay_all(edits: &[Edit], plan: &mut Plan) -> Result<Edit, EditError> {
    let mut inverses = Vec::with_capacity(edits.len());
    for edit in edits {
        match edit.replay(plan) {
            Ok(inverse) => inverses.push(inverse),
            Err(error) => {
                for inverse in inverses.iter().rev() {
                    inverse.replay(plan)?;
                }
                return Err(error);
            }
        }
    }
    inverses.reverse();
    Ok(Edit::Batch { edits: inverses })
}

fn splice<T: Clone>(list: &mut Vec<T>, at: usize, remove: usize, insert: &[T]) -> Result<Vec<T>, EditError> {
    let end = at.saturating_add(remove);
    if end > list.len() {
        return Err(EditError::Beyond(end));
    }
    Ok(list.splice(at..end, insert.iter().cloned()).collect())
}
