//! `Graph`: the shape of a run's plan by dense numbers: edges with their slots, joins, longest remaining paths, and what policy says of
//! each node once it is laid over the plan's defaults and the catalog. Made once a run; everything later reads it by index.

use super::EdgeId;
use crate::plan::{Approve, DecisionWork, Edge, Join, Node, NodeId, Plan, Policy, Risk, Route, ToolInfo, Verdict, Work};
use std::{cmp::Reverse, collections::BTreeMap};

/// A node's place in `Plan::nodes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeIx(pub u32);

impl NodeIx {
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// Order among nodes that want the same thing: longest remaining path first, then plan order.
pub(super) type Rank = (Reverse<u32>, NodeIx);

/// One edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Link {
    pub from: NodeIx,
    pub to: NodeIx,
    /// In `Plan::edges`; plain dependencies have none.
    pub doc: Option<u32>,
    /// It carries a condition or leaves a decision, so it is an alternative to the target's others.
    pub alternative: bool,
}

/// Who asks before or after a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Gates {
    pub before: bool,
    pub after: bool,
}

/// What never changes about a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shape {
    /// Incoming edges in edge order.
    pub ins: Vec<EdgeId>,
    /// Outgoing edges in edge order.
    pub outs: Vec<EdgeId>,
    /// Absent: conditional edges are alternatives, plain ones are all needed.
    pub join: Option<Join>,
    pub gates: Gates,
    /// Nodes on the longest path from here to an end, itself included.
    pub longest: u32,
    /// Indices into `Graph::locks`, in order, each once.
    pub locks: Vec<u32>,
    /// Works by a worker, so it takes a slot.
    pub takes_slot: bool,
    /// A failure may leave something done behind it.
    pub side_effects: bool,
}

/// The shape of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Graph {
    pub index: BTreeMap<NodeId, NodeIx>,
    pub nodes: Vec<Shape>,
    pub links: Vec<Link>,
    pub locks: Vec<String>,
}

impl Graph {
    /// The shape of a plan, or why it has none.
    pub fn of(plan: &Plan, catalog: &crate::plan::Catalog) -> Result<Self, String> {
        let mut graph = Self { nodes: vec![Shape::default(); plan.nodes.len()], ..Self::default() };
        for (ix, node) in plan.nodes.iter().enumerate() {
            let ix = NodeIx(u32::try_from(ix).map_err(|_| "the plan has too many nodes".to_string())?);
            if graph.index.insert(node.id.clone(), ix).is_some() {
                return Err(format!("two nodes have the id `{}`", node.id));
            }
        }
        graph.add_links(plan)?;
        let mut locks = BTreeMap::new();
        for (ix, node) in plan.nodes.iter().enumerate() {
            let policy = Settled { node, defaults: &plan.defaults };
            let tool = tool_of(node).and_then(|name| catalog.tool(name));
            let shape = &mut graph.nodes[ix];
            shape.join = policy.join();
            shape.gates = policy.gates(catalog);
            shape.takes_slot = takes_slot(&node.work);
            shape.side_effects = policy.get(|policy| policy.side_effects).unwrap_or_else(|| has_side_effects(&node.work, tool));
            let names = policy.get(|policy| policy.locks.as_ref());
            for name in names.into_iter().flatten() {
                let next = u32::try_from(graph.locks.len()).unwrap_or(u32::MAX);
                let lock = *locks.entry(name.clone()).or_insert(next);
                if lock == next {
                    graph.locks.push(name.clone());
                }
                shape.locks.push(lock);
            }
            shape.locks.sort_unstable();
            shape.locks.dedup();
        }
        graph.measure(plan)?;
        Ok(graph)
    }

    pub fn find(&self, id: &str) -> Option<NodeIx> {
        self.index.get(id).copied()
    }

    pub fn link(&self, edge: EdgeId) -> Link {
        self.links[edge.0 as usize]
    }

    pub fn rank(&self, ix: NodeIx) -> Rank {
        (Reverse(self.nodes[ix.at()].longest), ix)
    }

    fn add_links(&mut self, plan: &Plan) -> Result<(), String> {
        for (at, edge) in plan.edges.iter().enumerate() {
            let alternative = edge.when.is_some() || edge.default;
            self.add_link(plan, &edge.from, &edge.to, u32::try_from(at).ok(), alternative)?;
        }
        for node in &plan.nodes {
            for source in &node.depends_on {
                self.add_link(plan, source, &node.id, None, false)?;
            }
        }
        Ok(())
    }

    fn add_link(&mut self, plan: &Plan, from: &NodeId, to: &NodeId, doc: Option<u32>, alternative: bool) -> Result<(), String> {
        let find = |id: &NodeId| self.find(id).ok_or_else(|| format!("an edge names `{id}`, which is not a node of the plan"));
        let (source, target) = (find(from)?, find(to)?);
        let decides = Settled { node: &plan.nodes[source.at()], defaults: &plan.defaults }.route() == Route::Decision;
        let edge = EdgeId(u32::try_from(self.links.len()).map_err(|_| "the plan has too many edges".to_string())?);
        self.links.push(Link { from: source, to: target, doc, alternative: alternative || decides });
        self.nodes[source.at()].outs.push(edge);
        self.nodes[target.at()].ins.push(edge);
        Ok(())
    }

    /// Longest remaining paths, against the direction of the edges; what is left over lies on a cycle.
    fn measure(&mut self, plan: &Plan) -> Result<(), String> {
        let mut left: Vec<usize> = self.nodes.iter().map(|node| node.outs.len()).collect();
        let mut free: Vec<usize> = (0..left.len()).filter(|&ix| left[ix] == 0).collect();
        let mut measured = 0;
        while let Some(ix) = free.pop() {
            measured += 1;
            let below = self.nodes[ix].outs.iter().map(|&edge| self.nodes[self.link(edge).to.at()].longest).max();
            self.nodes[ix].longest = below.unwrap_or(0) + 1;
            for at in 0..self.nodes[ix].ins.len() {
                let source = self.link(self.nodes[ix].ins[at]).from.at();
                left[source] -= 1;
                if left[source] == 0 {
                    free.push(source);
                }
            }
        }
        match left.iter().position(|&outs| outs > 0) {
            Some(ix) if measured < left.len() => Err(format!("the plan has a cycle at `{}`", plan.nodes[ix].id)),
            Some(_) | None => Ok(()),
        }
    }
}

/// A node's policy laid over the plan's defaults.
#[derive(Clone, Copy)]
pub(super) struct Settled<'a> {
    pub node: &'a Node,
    pub defaults: &'a Policy,
}

impl<'a> Settled<'a> {
    pub fn get<T>(self, field: impl Fn(&'a Policy) -> Option<T>) -> Option<T> {
        field(&self.node.policy).or_else(|| field(self.defaults))
    }

    fn join(self) -> Option<Join> {
        let natural = match self.node.work {
            Work::Merge(_) => Some(Join::Settled),
            Work::Agent(_)
            | Work::Tool(_)
            | Work::Code(_)
            | Work::Decision(_)
            | Work::Transform(_)
            | Work::Approval(_)
            | Work::Plan(_)
            | Work::Loop(_)
            | Work::Map(_) => None,
        };
        self.get(|policy| policy.join).or(natural)
    }

    pub fn route(self) -> Route {
        let natural = match self.node.work {
            Work::Decision(_) => Route::Decision,
            Work::Agent(_)
            | Work::Tool(_)
            | Work::Code(_)
            | Work::Merge(_)
            | Work::Transform(_)
            | Work::Approval(_)
            | Work::Plan(_)
            | Work::Loop(_)
            | Work::Map(_) => Route::All,
        };
        self.node.policy.route.unwrap_or(match natural {
            Route::Decision => Route::Decision,
            Route::All | Route::First => self.defaults.route.unwrap_or(natural),
        })
    }

    /// A card's wish counts where the plan says nothing. A plan can add gates and silence a card; where the configuration asks
    /// about the node's tool, no plan takes that away. An approval node is its own gate.
    fn gates(self, catalog: &crate::plan::Catalog) -> Gates {
        let name = self.node.work.agent().and_then(|agent| agent.agent.as_deref());
        let card = name.and_then(|name| catalog.agents.iter().find(|info| info.name == name));
        let wish = self.get(|policy| policy.approve).or_else(|| card.and_then(|card| card.approve));
        let asks = tool_of(self.node).is_some_and(|name| verdict(catalog, name) == Verdict::Ask);
        let asks_itself = matches!(self.node.work, Work::Approval(_));
        match wish {
            Some(Approve::Before) => Gates { before: !asks_itself, after: false },
            Some(Approve::After) => Gates { before: asks, after: true },
            Some(Approve::Both) => Gates { before: !asks_itself, after: true },
            Some(Approve::Never) | None => Gates { before: asks, after: false },
        }
    }
}

/// The tool of a tool node.
pub(super) fn tool_of(node: &Node) -> Option<&str> {
    match &node.work {
        Work::Tool(work) => Some(&work.tool),
        Work::Agent(_)
        | Work::Code(_)
        | Work::Decision(_)
        | Work::Merge(_)
        | Work::Transform(_)
        | Work::Approval(_)
        | Work::Plan(_)
        | Work::Loop(_)
        | Work::Map(_) => None,
    }
}

/// What configuration says of a tool; one that nobody knows asks.
pub(super) fn verdict(catalog: &crate::plan::Catalog, tool: &str) -> Verdict {
    catalog.tool(tool).map_or(Verdict::Ask, |tool| tool.verdict)
}

/// Whether a risk leaves something behind; unknown means it does.
pub(super) fn leaves_something(tool: Option<&ToolInfo>) -> bool {
    tool.is_none_or(|tool| match tool.risk {
        Risk::Read | Risk::Network => false,
        Risk::Write | Risk::Execute => true,
    })
}

fn takes_slot(work: &Work) -> bool {
    match work {
        Work::Agent(_) | Work::Tool(_) | Work::Code(_) | Work::Decision(DecisionWork::Agent(_)) => true,
        Work::Decision(DecisionWork::Expression(_))
        | Work::Merge(_)
        | Work::Transform(_)
        | Work::Approval(_)
        | Work::Plan(_)
        | Work::Loop(_)
        | Work::Map(_) => false,
    }
}

/// An agent acts only through tool calls, which are on record: what it did is known per attempt and not guessed here.
fn has_side_effects(work: &Work, tool: Option<&ToolInfo>) -> bool {
    match work {
        Work::Tool(_) => leaves_something(tool),
        Work::Agent(_)
        | Work::Code(_)
        | Work::Decision(_)
        | Work::Merge(_)
        | Work::Transform(_)
        | Work::Approval(_)
        | Work::Plan(_)
        | Work::Loop(_)
        | Work::Map(_) => false,
    }
}

/// The document of an edge, for its condition and its keys.
pub(super) fn edge_doc(plan: &Plan, link: Link) -> Option<&Edge> {
    link.doc.and_then(|at| plan.edges.get(at as usize))
}
