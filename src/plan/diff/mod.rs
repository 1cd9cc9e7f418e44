//! What differs between two plans, piece by piece, the order of nodes aside. A piece says what was there and what is there now; it
//! can be made of a plan on its own (`Difference::edit`), and all of them together lead from the one plan to the other.
//!
//! A node that came or went takes its edges with it. Where a piece can't be made alone, since its edge would close a cycle with one
//! that another piece removes, `Diff::with_needed` names what must come with it.

mod apply;
mod description;
mod fields;
#[cfg(test)]
mod tests;

pub use description::{DifferenceMark, DifferenceText};
pub use fields::ChangedField;

use super::order::PlanGraph;
use super::{Edge, Node, NodeId, Plan, Route};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// Differences from an old plan to a new one: nodes in the order of the plans, then edges, then the rest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diff {
    /// Each on its own.
    pub pieces: Vec<Difference>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The address of the node in whose plan it is; `None` for the plan itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<NodeId>,
    pub change: Change,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A node is only in the new plan.
    Added(Box<Whole>),
    /// A node is only in the old plan.
    Removed(Box<Whole>),
    /// A field of a node, or fields that only make sense together, by what the difference is called: `objective`, `args.path`, `work`.
    Field { node: NodeId, name: String, slots: Vec<ChangedField> },
    /// An edge between nodes of both plans, as it was, unless it is new, and as it is, unless it is gone.
    Edge { old: Option<Box<Edge>>, new: Option<Box<Edge>> },
    /// Edges of this node, of which the first match wins, were and are in another order.
    Order { from: NodeId, old: Vec<Edge>, new: Vec<Edge> },
    /// A field of the plan itself.
    Head(ChangedField),
}

/// A node with its edges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Whole {
    /// Without its dependencies: those are among the edges.
    pub node: Node,
    /// Every edge into it and out of it.
    pub edges: Vec<Edge>,
}

impl Diff {
    /// From `old` to `new`.
    pub fn new(old: &Plan, new: &Plan) -> Self {
        let mut pieces = Vec::new();
        compare(old, new, None, &mut pieces);
        Self { pieces }
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The same differences from the new plan to the old one.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self { pieces: self.pieces.iter().map(Difference::inverse).collect() }
    }

    /// Positions of pieces in an order in which each can be made after those before it: what goes first, what comes last.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.pieces.len()).collect();
        order.sort_by_key(|at| match &self.pieces[*at].change {
            Change::Removed(_) | Change::Edge { new: None, .. } => 0,
            Change::Field { .. } | Change::Head(_) | Change::Edge { old: Some(_), .. } => 1,
            Change::Added(_) | Change::Edge { .. } => 2,
            Change::Order { .. } => 3,
        });
        order
    }

    /// A piece with those that must be made of the plan before it, in order.
    pub fn with_needed(&self, plan: &Plan, at: usize) -> Vec<usize> {
        let mut needed = vec![at];
        let Some(piece) = self.pieces.get(at) else { return Vec::new() };
        let adds = matches!(piece.change, Change::Added(_) | Change::Edge { old: None, .. });
        let may_close = adds && self.pieces.iter().any(|other| other.within == piece.within && other.goes());
        if !may_close {
            return needed;
        }
        let gone = |edge: &(NodeId, NodeId)| {
            self.pieces.iter().position(|piece| piece.within == self.pieces[at].within && piece.ends_edge(&edge.0, &edge.1))
        };
        // Each round finds a further piece, or it is the last.
        for _ in 0..self.pieces.len() {
            let mut tried = plan.clone();
            let refused = needed.iter().rev().any(|piece| self.pieces[*piece].make(&mut tried).is_err());
            let cycle = if refused { self.cycle(plan, &needed) } else { Vec::new() };
            let more: Vec<usize> = cycle.iter().filter_map(gone).filter(|piece| !needed.contains(piece)).collect();
            if more.is_empty() {
                break;
            }
            needed.extend(more);
            needed[1..].sort_unstable();
            needed.dedup();
        }
        needed.reverse();
        needed
    }

    /// The edges of a cycle that the pieces would close.
    fn cycle(&self, plan: &Plan, pieces: &[usize]) -> Vec<(NodeId, NodeId)> {
        let mut plan = plan.clone();
        for at in pieces.iter().rev() {
            if let Ok(edit) = self.pieces[*at].edit(&plan) {
                // Without looking for cycles: the one that it closes is what is wanted.
                let _ = edit.replay(&mut plan);
            }
        }
        let within = self.pieces[pieces[0]].within.as_deref();
        let Some(plan) = within.map_or(Some(&plan), |within| super::nest::find(&plan, within).and_then(|node| node.kind.body())) else {
            return Vec::new();
        };
        let graph = PlanGraph::new(plan);
        let cycles = graph.cycles();
        let Some(cycle) = cycles.first() else { return Vec::new() };
        let ends = cycle.iter().skip(1).chain(cycle.first());
        cycle.iter().zip(ends).map(|(from, to)| (graph.id(*from).clone(), graph.id(*to).clone())).collect()
    }
}

impl Difference {
    /// The difference the other way round.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let change = match self.change.clone() {
            Change::Added(whole) => Change::Removed(whole),
            Change::Removed(whole) => Change::Added(whole),
            Change::Field { node, name, slots } => {
                Change::Field { node, name, slots: slots.into_iter().map(ChangedField::inverse).collect() }
            }
            Change::Edge { old, new } => Change::Edge { old: new, new: old },
            Change::Order { from, old, new } => Change::Order { from, old: new, new: old },
            Change::Head(slot) => Change::Head(slot.inverse()),
        };
        Self { within: self.within.clone(), change }
    }

    /// The node that it is about, by its address.
    pub fn node(&self) -> Option<NodeId> {
        let id = match &self.change {
            Change::Added(whole) | Change::Removed(whole) => &whole.node.id,
            Change::Field { node, .. } => node,
            Change::Edge { old, new } => &new.as_ref().or(old.as_ref())?.to,
            Change::Order { from, .. } => from,
            Change::Head(_) => return self.within.clone(),
        };
        Some(match &self.within {
            Some(within) => NodeId::new(format!("{within}/{id}")),
            None => id.clone(),
        })
    }

    /// The node of the whole plan whose work it writes, itself or inside.
    pub fn writes(&self) -> Option<NodeId> {
        let id = match &self.change {
            Change::Added(whole) => &whole.node.id,
            Change::Field { node, .. } => node,
            Change::Removed(_) | Change::Edge { .. } | Change::Order { .. } | Change::Head(_) => return None,
        };
        let outer = self.within.as_deref().map(|within| NodeId::new(within.split('/').next().unwrap_or(within)));
        Some(outer.unwrap_or_else(|| id.clone()))
    }

    /// Whether it takes something away.
    fn goes(&self) -> bool {
        matches!(self.change, Change::Removed(_) | Change::Edge { new: None, .. })
    }

    /// Whether it takes an edge between two nodes away.
    fn ends_edge(&self, from: &NodeId, to: &NodeId) -> bool {
        match &self.change {
            Change::Removed(whole) => whole.node.id == *from || whole.node.id == *to,
            Change::Edge { old: Some(edge), new: None } => edge.from == *from && edge.to == *to,
            Change::Added(_) | Change::Field { .. } | Change::Edge { .. } | Change::Order { .. } | Change::Head(_) => false,
        }
    }
}

/// Adds the differences of two plans, then those of the plans inside of their nodes.
fn compare(old: &Plan, new: &Plan, within: Option<&NodeId>, pieces: &mut Vec<Difference>) {
    let (before, after) = (by_id(old), by_id(new));
    let mut add = |change: Change| pieces.push(Difference { within: within.cloned(), change });
    let mut inner = Vec::new();
    let mut met: HashMap<&NodeId, usize> = HashMap::new();
    for node in &new.nodes {
        // Of several with one id each is compared with the one in its place.
        let met = met.entry(&node.id).or_default();
        let known = before.get(&node.id).and_then(|nodes| nodes.get(*met));
        *met += 1;
        match known {
            None => add(Change::Added(Box::new(whole(new, node)))),
            Some(known) => {
                fields::of_node(known, node).into_iter().for_each(&mut add);
                inner.extend(fields::bodies(known, node).map(|bodies| (node.id.clone(), bodies)));
            }
        }
    }
    let mut met: HashMap<&NodeId, usize> = HashMap::new();
    for node in &old.nodes {
        let met = met.entry(&node.id).or_default();
        *met += 1;
        if after.get(&node.id).is_none_or(|nodes| nodes.len() < *met) {
            add(Change::Removed(Box::new(whole(old, node))));
        }
    }
    let common = |edge: &Edge| [&edge.from, &edge.to].into_iter().all(|id| before.contains_key(id) && after.contains_key(id));
    edges(old, new, &common).into_iter().for_each(&mut add);
    orders(old, new).into_iter().for_each(&mut add);
    fields::of_head(old, new).into_iter().for_each(|slot| add(Change::Head(slot)));
    for (id, (old, new)) in inner {
        let address = within.map_or(id.clone(), |within| NodeId::new(format!("{within}/{id}")));
        compare(old, new, Some(&address), pieces);
    }
}

/// Nodes by their ids; a plan with a mistake has several of one id.
fn by_id(plan: &Plan) -> HashMap<&NodeId, Vec<&Node>> {
    let mut nodes: HashMap<&NodeId, Vec<&Node>> = HashMap::with_capacity(plan.nodes.len());
    plan.nodes.iter().for_each(|node| nodes.entry(&node.id).or_default().push(node));
    nodes
}

fn whole(plan: &Plan, node: &Node) -> Whole {
    let edges = plan.all_edges().filter(|edge| edge.from == node.id || edge.to == node.id).collect();
    Whole { node: Node { depends_on: Vec::new(), ..node.clone() }, edges }
}

/// Differences between edges of nodes that both plans have. Of several between the same two nodes, those that are equal belong
/// together, then the others in their order.
fn edges(old: &Plan, new: &Plan, common: &dyn Fn(&Edge) -> bool) -> Vec<Change> {
    let mut between: IndexMap<(NodeId, NodeId), (Vec<Edge>, Vec<Edge>)> = IndexMap::new();
    for (edge, is_new) in old.all_edges().map(|edge| (edge, false)).chain(new.all_edges().map(|edge| (edge, true))) {
        if !common(&edge) {
            continue;
        }
        let (before, after) = between.entry((edge.from.clone(), edge.to.clone())).or_default();
        match before.iter().position(|known| is_new && *known == edge) {
            Some(at) => {
                before.remove(at);
            }
            None if is_new => after.push(edge),
            None => before.push(edge),
        }
    }
    let mut changes = Vec::new();
    for (before, after) in between.into_values() {
        let (mut before, mut after) = (before.into_iter().map(Box::new), after.into_iter().map(Box::new));
        loop {
            match (before.next(), after.next()) {
                (None, None) => break,
                (old, new) => changes.push(Change::Edge { old, new }),
            }
        }
    }
    changes
}

/// Where the first match wins, the order of edges counts.
fn orders(old: &Plan, new: &Plan) -> Vec<Change> {
    let counts = |plan: &Plan, node: &Node| {
        let route = node.policy.route.or(plan.defaults.route);
        node.kind.is_decision() || plan.dialect.walks() || route == Some(Route::First)
    };
    let ordered: Vec<&Node> = new.nodes.iter().filter(|node| counts(new, node)).collect();
    if ordered.is_empty() {
        return Vec::new();
    }
    let (before, after) = (ways_out(old), ways_out(new));
    let mut changes = Vec::new();
    for node in ordered {
        let (Some(old), Some(new)) = (before.get(&node.id), after.get(&node.id)) else { continue };
        let targets = |edges: &[Edge], others: &[Edge]| -> Vec<NodeId> {
            let known = |id: &NodeId| others.iter().any(|edge| edge.to == *id);
            edges.iter().map(|edge| edge.to.clone()).filter(known).collect()
        };
        let (mut from, mut to) = (targets(old, new), targets(new, old));
        if from == to {
            continue;
        }
        from.sort();
        to.sort();
        // Where edges came or went between the same two nodes, their order is compared when those pieces are made.
        if from == to {
            changes.push(Change::Order { from: node.id.clone(), old: old.clone(), new: new.clone() });
        }
    }
    changes
}

fn ways_out(plan: &Plan) -> BTreeMap<NodeId, Vec<Edge>> {
    let mut ways: BTreeMap<NodeId, Vec<Edge>> = BTreeMap::new();
    plan.all_edges().for_each(|edge| ways.entry(edge.from.clone()).or_default().push(edge));
    ways
}

/// A value as people read it: text as it is, the rest as JSON.
fn readable(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => format!("{value:#}"),
    }
}
