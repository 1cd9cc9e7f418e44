//! The plan as a graph of dense indices: canonical edge order, topological order, cycles, longest paths, what needs what.
//! Everything is linear in nodes and edges; edges that name unknown nodes have a place in the list but connect nothing.

use super::fields::is_stand_in;
use super::{Edge, NodeId, Plan};
use petgraph::Direction::{self, Incoming, Outgoing};
use petgraph::algo::{astar, kosaraju_scc, toposort};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Dfs;
use std::collections::HashMap;

/// Where an edge is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgePlace {
    Edge(usize),
    /// Position of the node, and in its `depends_on`.
    Dependency(usize, usize),
}

/// One edge in canonical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderedEdge {
    /// Position of the source in `Plan::nodes`; `None` when there is no such node.
    pub from: Option<usize>,
    /// Position of the target in `Plan::nodes`; `None` when there is no such node.
    pub to: Option<usize>,
    /// Where it is written.
    pub place: EdgePlace,
}

/// A plan's graph. Positions are those of `Plan::nodes`; of nodes with the same id the first is meant.
#[derive(Clone, Debug, Default)]
pub struct PlanGraph {
    ids: Vec<NodeId>,
    positions: HashMap<NodeId, usize>,
    links: Vec<OrderedEdge>,
    /// The edges whose ends both exist, with their numbers. They were added from the last to the first, because petgraph gives a node's
    /// latest edge first.
    net: DiGraph<(), usize>,
}

impl PlanGraph {
    /// The graph of a plan.
    pub fn new(plan: &Plan) -> Self {
        let ids: Vec<NodeId> = plan.nodes.iter().map(|node| node.id.clone()).collect();
        let mut positions = HashMap::with_capacity(ids.len());
        for (at, id) in ids.iter().enumerate() {
            positions.entry(id.clone()).or_insert(at);
        }
        let find = |id: &NodeId| positions.get(id).copied();
        let written = plan.edges.iter().enumerate().map(|(i, edge)| {
            let end = |id: &NodeId| find(id).filter(|_| !is_stand_in(id, &edge.ext));
            OrderedEdge { from: end(&edge.from), to: end(&edge.to), place: EdgePlace::Edge(i) }
        });
        let mut links: Vec<OrderedEdge> = written.collect();
        for (at, node) in plan.nodes.iter().enumerate() {
            for (i, source) in node.depends_on.iter().enumerate() {
                links.push(OrderedEdge { from: find(source), to: Some(at), place: EdgePlace::Dependency(at, i) });
            }
        }
        let mut net = DiGraph::with_capacity(ids.len(), links.len());
        for _ in &ids {
            net.add_node(());
        }
        for (number, link) in links.iter().enumerate().rev() {
            if let (Some(from), Some(to)) = (link.from, link.to) {
                net.add_edge(NodeIndex::new(from), NodeIndex::new(to), number);
            }
        }
        Self { ids, positions, links, net }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    pub fn position(&self, id: &str) -> Option<usize> {
        self.positions.get(id).copied()
    }

    /// The id at a position.
    pub fn id(&self, at: usize) -> &NodeId {
        &self.ids[at]
    }

    /// Every edge in canonical order: the order of edge ids in a run.
    pub fn links(&self) -> &[OrderedEdge] {
        &self.links
    }

    /// Numbers of the edges that leave a node, in canonical order.
    pub fn outgoing(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.net.edges(NodeIndex::new(node)).map(|edge| *edge.weight())
    }

    /// Numbers of the edges that enter a node, in canonical order.
    pub fn incoming(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.net.edges_directed(NodeIndex::new(node), Incoming).map(|edge| *edge.weight())
    }

    /// Targets of a node's edges; one that two edges lead to comes twice.
    pub fn successors(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.near(node, Outgoing)
    }

    /// Sources of a node's edges; one that two edges come from comes twice.
    pub fn predecessors(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.near(node, Incoming)
    }

    fn near(&self, node: usize, direction: Direction) -> impl Iterator<Item = usize> + '_ {
        self.net.neighbors_directed(NodeIndex::new(node), direction).map(NodeIndex::index)
    }

    /// Nodes without incoming edges, in document order.
    pub fn entries(&self) -> impl Iterator<Item = usize> + '_ {
        self.net.externals(Incoming).map(NodeIndex::index)
    }

    /// Nodes without outgoing edges, in document order.
    pub fn final_nodes(&self) -> impl Iterator<Item = usize> + '_ {
        self.net.externals(Outgoing).map(NodeIndex::index)
    }

    /// Nodes so that each comes after its sources; nodes on cycles and behind them are left out.
    pub fn topological(&self) -> Vec<usize> {
        toposort(&self.net, None).map_or_else(|_| self.sound(), |order| order.into_iter().map(NodeIndex::index).collect())
    }

    /// What neither is on a cycle nor comes behind one, in topological order.
    fn sound(&self) -> Vec<usize> {
        let mut wrong = vec![false; self.len()];
        let mut order = Vec::new();
        // Knots come from the last to the first.
        for knot in kosaraju_scc(&self.net).into_iter().rev() {
            let is_wrong = self.is_cyclic(&knot) || knot.iter().any(|node| self.predecessors(node.index()).any(|source| wrong[source]));
            for node in knot {
                wrong[node.index()] = is_wrong;
                order.extend((!is_wrong).then_some(node.index()));
            }
        }
        order
    }

    /// Whether nodes that all reach each other are more than a node alone.
    fn is_cyclic(&self, knot: &[NodeIndex]) -> bool {
        knot.len() > 1 || knot.first().is_some_and(|node| self.net.contains_edge(*node, *node))
    }

    /// Cycles, one of each knot, as positions without the closing repeat; empty for a DAG.
    pub fn cycles(&self) -> Vec<Vec<usize>> {
        if toposort(&self.net, None).is_ok() {
            return Vec::new();
        }
        let mut knots = kosaraju_scc(&self.net);
        knots.retain(|knot| self.is_cyclic(knot));
        let mut knot_of = vec![usize::MAX; self.len()];
        for (number, knot) in knots.iter().enumerate() {
            knot.iter().for_each(|node| knot_of[node.index()] = number);
        }
        let mut cycles: Vec<_> = knots.iter().filter_map(|knot| self.cycle_in(knot.iter().min()?.index(), &knot_of)).collect();
        cycles.sort_unstable();
        cycles
    }

    /// Each node of a knot has a source in it, so going back comes to where one has been. The first node in document order comes first.
    fn cycle_in(&self, start: usize, knot_of: &[usize]) -> Option<Vec<usize>> {
        let mut way = vec![start];
        let mut place = HashMap::from([(start, 0)]);
        loop {
            let here = *way.last()?;
            let source = self.predecessors(here).find(|source| knot_of[*source] == knot_of[start])?;
            if let Some(from) = place.insert(source, way.len()) {
                let mut cycle = way.split_off(from);
                cycle.reverse();
                let first = cycle.iter().enumerate().min_by_key(|(_, node)| **node)?.0;
                cycle.rotate_left(first);
                return Some(cycle);
            }
            way.push(source);
        }
    }

    /// A way from one node to another along edges, with both ends.
    pub fn path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let to = NodeIndex::new(to);
        let (_, path) = astar(&self.net, NodeIndex::new(from), |node| node == to, |_| 1, |_| 0)?;
        Some(path.into_iter().map(NodeIndex::index).collect())
    }

    /// The cycle that an edge would close, without the closing repeat; `None` when it closes none.
    pub fn closes(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut path = self.path(to, from)?;
        path.rotate_right(1);
        Some(path)
    }

    /// A cycle as people read it: `a → b → a`.
    pub fn spell(&self, cycle: &[usize]) -> String {
        let names: Vec<&str> = cycle.iter().chain(cycle.first()).map(|&node| self.ids[node].as_str()).collect();
        names.join(" → ")
    }

    /// Which nodes lead to one of the targets, directly or not; the targets too.
    pub fn leading_to(&self, targets: impl IntoIterator<Item = usize>) -> Vec<bool> {
        let mut leads = vec![false; self.len()];
        let mut open: Vec<usize> = targets.into_iter().collect();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut leads[node], true) {
                open.extend(self.predecessors(node));
            }
        }
        leads
    }

    /// Which nodes need a node, directly or not, itself excepted.
    pub fn descendants(&self, node: usize) -> Vec<bool> {
        let mut needs = vec![false; self.len()];
        let mut search = Dfs::new(&self.net, NodeIndex::new(node));
        while let Some(found) = search.next(&self.net) {
            needs[found.index()] = found.index() != node;
        }
        needs
    }
}

impl Plan {
    /// The edge as written at a place; dependencies become plain edges.
    pub fn edge_at(&self, place: EdgePlace) -> Option<Edge> {
        match place {
            EdgePlace::Edge(at) => self.edges.get(at).cloned(),
            EdgePlace::Dependency(node, at) => {
                let node = self.nodes.get(node)?;
                Some(Edge::new(node.depends_on.get(at)?.clone(), node.id.clone()))
            }
        }
    }

    /// Every edge in canonical order: `edges`, then `depends_on` in node order. The position is the edge's id in a run.
    pub fn all_edges(&self) -> impl Iterator<Item = Edge> + '_ {
        let plain = self.nodes.iter().flat_map(|node| node.depends_on.iter().map(|source| Edge::new(source.clone(), node.id.clone())));
        self.edges.iter().cloned().chain(plain)
    }
}
