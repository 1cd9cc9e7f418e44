//! The plan as a graph of dense indices: canonical edge order, topological order, cycles, longest paths, ancestors, branches.
//! Everything is linear in nodes and edges; edges that name unknown nodes have a place in the list but connect nothing.

use super::{Edge, NodeId, Plan};
use std::collections::{HashMap, VecDeque};

/// Where an edge is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgePlace {
    /// Position in `Plan::edges`.
    Edge(usize),
    /// Position of the node, and in its `depends_on`.
    Dependency(usize, usize),
}

/// One edge in canonical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Position of the source in `Plan::nodes`; `None` when there is no such node.
    pub from: Option<usize>,
    /// Position of the target in `Plan::nodes`; `None` when there is no such node.
    pub to: Option<usize>,
    /// Where it is written.
    pub place: EdgePlace,
}

/// What cancelling a branch touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// The root and what only it feeds, in the order in which they were found.
    pub only: Vec<usize>,
    /// Nodes that the branch feeds and others too.
    pub shared: Vec<usize>,
}

/// A plan's graph. Positions are those of `Plan::nodes`; of nodes with the same id the first is meant.
#[derive(Clone, Debug)]
pub struct Graph {
    ids: Vec<NodeId>,
    positions: HashMap<NodeId, usize>,
    links: Vec<Link>,
    out: Lists,
    into: Lists,
}

/// Lists of edge numbers, one after the other.
#[derive(Clone, Debug, Default)]
struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn new(nodes: usize, ends: impl Iterator<Item = Option<usize>> + Clone) -> Self {
        let mut starts = vec![0_u32; nodes + 1];
        for at in ends.clone().flatten() {
            starts[at + 1] += 1;
        }
        for i in 0..nodes {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut items = vec![0; starts[nodes] as usize];
        for (link, at) in ends.enumerate() {
            if let (Some(at), Ok(link)) = (at, u32::try_from(link)) {
                items[next[at] as usize] = link;
                next[at] += 1;
            }
        }
        Self { starts, items }
    }

    fn of(&self, node: usize) -> &[u32] {
        &self.items[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

impl Graph {
    /// The graph of a plan.
    pub fn new(plan: &Plan) -> Self {
        let ids: Vec<NodeId> = plan.nodes.iter().map(|node| node.id.clone()).collect();
        let mut positions = HashMap::with_capacity(ids.len());
        for (at, id) in ids.iter().enumerate() {
            positions.entry(id.clone()).or_insert(at);
        }
        let find = |id: &NodeId| positions.get(id).copied();
        let written = plan.edges.iter().enumerate();
        let mut links: Vec<Link> =
            written.map(|(i, edge)| Link { from: find(&edge.from), to: find(&edge.to), place: EdgePlace::Edge(i) }).collect();
        for (at, node) in plan.nodes.iter().enumerate() {
            for (i, source) in node.depends_on.iter().enumerate() {
                links.push(Link { from: find(source), to: Some(at), place: EdgePlace::Dependency(at, i) });
            }
        }
        let whole = |link: &Link| link.from.zip(link.to);
        let out = Lists::new(ids.len(), links.iter().map(|link| whole(link).map(|(from, _)| from)));
        let into = Lists::new(ids.len(), links.iter().map(|link| whole(link).map(|(_, to)| to)));
        Self { ids, positions, links, out, into }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// A node's position.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.positions.get(id).copied()
    }

    /// The id at a position.
    pub fn id(&self, at: usize) -> &NodeId {
        &self.ids[at]
    }

    /// Every edge in canonical order: the order of edge ids in a run.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Numbers of the edges that leave a node, in canonical order.
    pub fn outgoing(&self, node: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.out.of(node).iter().map(|&link| link as usize)
    }

    /// Numbers of the edges that enter a node, in canonical order.
    pub fn incoming(&self, node: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.into.of(node).iter().map(|&link| link as usize)
    }

    /// Targets of a node's edges; one that two edges lead to comes twice.
    pub fn successors(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.outgoing(node).filter_map(|link| self.links[link].to)
    }

    /// Sources of a node's edges; one that two edges come from comes twice.
    pub fn predecessors(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.incoming(node).filter_map(|link| self.links[link].from)
    }

    /// Nodes without incoming edges, in document order.
    pub fn entries(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|&node| self.into.of(node).is_empty())
    }

    /// Nodes without outgoing edges, in document order.
    pub fn exits(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|&node| self.out.of(node).is_empty())
    }

    /// Nodes so that each comes after its sources; nodes on cycles and behind them are left out.
    pub fn topological(&self) -> Vec<usize> {
        let mut waiting: Vec<usize> = (0..self.len()).map(|node| self.into.of(node).len()).collect();
        let mut order: Vec<usize> = self.entries().collect();
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            for target in self.successors(node) {
                waiting[target] -= 1;
                if waiting[target] == 0 {
                    order.push(target);
                }
            }
        }
        order
    }

    /// Cycles, at least one of each knot, as positions without the closing repeat; empty for a DAG.
    pub fn cycles(&self) -> Vec<Vec<usize>> {
        let order = self.topological();
        if order.len() == self.len() {
            return Vec::new();
        }
        let mut seen = vec![0_usize; self.len()];
        order.iter().for_each(|&node| seen[node] = usize::MAX);
        let mut cycles = Vec::new();
        for start in 0..self.len() {
            let mut here = start;
            // Each node that is left has a source that is left, so going back ends on the walk itself or on an earlier one.
            while seen[here] == 0 {
                seen[here] = start + 1;
                here = self.predecessors(here).find(|&source| seen[source] != usize::MAX).unwrap_or(here);
            }
            if seen[here] == start + 1 {
                let mut cycle = vec![here];
                let mut back = here;
                loop {
                    back = self.predecessors(back).find(|&source| seen[source] != usize::MAX).unwrap_or(here);
                    if back == here {
                        break;
                    }
                    cycle.push(back);
                }
                cycle.reverse();
                cycle.rotate_right(1);
                cycles.push(cycle);
            }
        }
        cycles
    }

    /// A way from one node to another along edges, with both ends.
    pub fn path(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut came = vec![usize::MAX; self.len()];
        let mut queue = VecDeque::from([from]);
        came[from] = from;
        while let Some(node) = queue.pop_front() {
            if node == to {
                let mut path = vec![to];
                let mut here = to;
                while here != from {
                    here = came[here];
                    path.push(here);
                }
                path.reverse();
                return Some(path);
            }
            for target in self.successors(node) {
                if came[target] == usize::MAX {
                    came[target] = node;
                    queue.push_back(target);
                }
            }
        }
        None
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

    /// For each node the weight of the heaviest path from it to an exit, itself included.
    pub fn longest_remaining(&self, weight: impl Fn(usize) -> u64) -> Vec<u64> {
        let mut longest: Vec<u64> = (0..self.len()).map(&weight).collect();
        for &node in self.topological().iter().rev() {
            let after = self.successors(node).map(|target| longest[target]).max().unwrap_or(0);
            longest[node] = weight(node).saturating_add(after);
        }
        longest
    }

    /// Which nodes a node needs, directly or not, itself excepted.
    pub fn ancestors(&self, node: usize) -> Vec<bool> {
        self.reach(node, |here| self.into.of(here), |link| link.from)
    }

    /// Which nodes need a node, directly or not, itself excepted.
    pub fn descendants(&self, node: usize) -> Vec<bool> {
        self.reach(node, |here| self.out.of(here), |link| link.to)
    }

    fn reach<'g>(&'g self, node: usize, edges: impl Fn(usize) -> &'g [u32], end: impl Fn(&Link) -> Option<usize>) -> Vec<bool> {
        let mut reached = vec![false; self.len()];
        let mut stack = vec![node];
        while let Some(here) = stack.pop() {
            for next in edges(here).iter().filter_map(|&link| end(&self.links[link as usize])) {
                if !std::mem::replace(&mut reached[next], true) {
                    stack.push(next);
                }
            }
        }
        reached
    }

    /// A node with what only it feeds, and what it feeds together with others. Proportional to the branch.
    pub fn branch(&self, root: usize) -> Branch {
        let mut fed: HashMap<usize, usize> = HashMap::new();
        let mut only = vec![root];
        let mut touched = Vec::new();
        let mut next = 0;
        while let Some(&node) = only.get(next) {
            next += 1;
            for target in self.successors(node) {
                let count = fed.entry(target).or_insert(0);
                *count += 1;
                if *count == 1 {
                    touched.push(target);
                }
                if *count == self.into.of(target).len() && target != root {
                    only.push(target);
                }
            }
        }
        touched.retain(|target| *target != root && fed.get(target).is_some_and(|count| *count < self.into.of(*target).len()));
        Branch { only, shared: touched }
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
