//! `RunGraph`: the shape of a run's plan by dense numbers: edges with their slots, joins, longest remaining paths, and what policy says of
//! each node once it is laid over the plan's defaults and the catalog. Grows by bodies that begin and by edits; slots are never used again.

use super::{
    EdgeId,
    by_index::{ByIndex, NumberedPlace},
    inner_run::InnerRunIx,
};
use crate::plan::{Approve, Catalog, DecisionNode, Dialect, Join, Node, NodeId, NodeKind, Plan, Policy, Risk, Route, ToolInfo, Verdict};
use std::{cmp::Reverse, collections::BTreeMap};

/// A node's slot within its run: those of the plan first, in its order, then others as they came. Never used again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeIx(pub u32);

macro_rules! slot {
    ($($name:ty),*) => {$(
        impl NumberedPlace for $name {
            fn at(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

slot!(NodeIx, InnerRunIx, EdgeId);

/// Order among nodes that want the same thing: longest remaining path first, then plan order.
pub(super) type Rank = (Reverse<u32>, NodeIx);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GraphEdge {
    pub from: NodeIx,
    pub to: NodeIx,
    /// In `Plan::edges` of its inner run; plain dependencies have none.
    pub doc: Option<u32>,
    /// It carries a condition or leaves a decision, so it is an alternative to the target's others.
    pub alternative: bool,
}

/// Who asks before or after a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct GateTimes {
    pub before: bool,
    pub after: bool,
}

/// What a node takes while it works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SlotNeed {
    /// Nothing: the engine does it itself.
    #[default]
    None,
    Slot,
    /// A slot, and one of the provider of its model.
    Model,
}

/// What the plan says of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Shape {
    /// The plan that it is in.
    pub home: InnerRunIx,
    /// Its place among the nodes of that plan.
    pub doc: u32,
    /// It is no node of the run any more.
    pub gone: bool,
    /// Incoming edges in edge order.
    pub ins: Vec<EdgeId>,
    /// Outgoing edges in edge order.
    pub outs: Vec<EdgeId>,
    /// Absent: conditional edges are alternatives, plain ones are all needed.
    pub join: Option<Join>,
    pub gates: GateTimes,
    /// Nodes on the longest path from here to an end, itself included.
    pub longest: u32,
    /// Indices into `RunGraph::locks`, in order, each once.
    pub locks: Vec<u32>,
    pub place: SlotNeed,
    /// A failure may leave something done behind it.
    pub side_effects: bool,
}

/// The shape of a run: of its plan, and of every body that began.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RunGraph {
    pub index: BTreeMap<NodeId, NodeIx>,
    /// By slot. Nodes that are gone keep theirs, but not in `index`.
    pub ids: ByIndex<NodeIx, NodeId>,
    pub nodes: ByIndex<NodeIx, Shape>,
    pub links: ByIndex<EdgeId, GraphEdge>,
    pub locks: Vec<String>,
    lock_of: BTreeMap<String, u32>,
    /// The last generation of nodes that are gone, by id: who comes after them under the same id counts on.
    past: BTreeMap<NodeId, u32>,
    /// Whether a branch has a budget, or had one.
    pub caps_branches: bool,
}

impl RunGraph {
    /// Takes in the nodes of a plan behind those that are there; their ids get `prefix`, and `below` nodes follow after each of its ends.
    ///
    /// # Errors
    /// Why the plan has no shape. Then nothing was taken in.
    pub(in crate::engine) fn append(
        &mut self,
        plan: &Plan,
        catalog: &Catalog,
        home: InnerRunIx,
        prefix: &str,
        below: u32,
    ) -> Result<(), String> {
        let (nodes, links) = (self.nodes.len(), self.links.len());
        let part = AppendedPlan { plan, prefix, first: NodeIx(u32::try_from(nodes).unwrap_or(u32::MAX)) };
        let added = self.add_nodes(plan, home, prefix).and_then(|()| {
            self.add_links(part)?;
            self.measure(part, below)
        });
        if added.is_err() {
            for id in self.ids.drain(nodes..) {
                if self.index.get(&id).is_some_and(|ix| ix.at() >= nodes) {
                    self.index.remove(&id);
                }
            }
            self.nodes.truncate(nodes);
            self.links.truncate(links);
            return added;
        }
        for (ix, node) in (part.first.0..).map(NodeIx).zip(&plan.nodes) {
            self.settle(ix, PolicyInForce { node, plan }, catalog);
        }
        Ok(())
    }

    fn add_nodes(&mut self, plan: &Plan, home: InnerRunIx, prefix: &str) -> Result<(), String> {
        for (doc, node) in (0..).zip(&plan.nodes) {
            let ix = NodeIx(u32::try_from(self.nodes.len()).map_err(|_| "the plan has too many nodes".to_string())?);
            let id = if prefix.is_empty() { node.id.clone() } else { NodeId::new(format!("{prefix}{}", node.id)) };
            self.ids.push(id.clone());
            self.nodes.push(Shape { home, doc, ..Shape::default() });
            if self.index.contains_key(&id) {
                return Err(format!("two nodes have the id `{}`", node.id));
            }
            self.index.insert(id, ix);
        }
        Ok(())
    }

    /// What policy says of a node once it is laid over the plan's defaults and the catalog.
    pub(super) fn settle(&mut self, ix: NodeIx, policy: PolicyInForce<'_>, catalog: &Catalog) {
        let tool = tool_of(policy.node).and_then(|name| catalog.tool(name));
        self.caps_branches |= policy.node.policy.branch_budget.is_some();
        let shape = &mut self.nodes[ix];
        shape.locks.clear();
        shape.join = policy.join();
        shape.gates = policy.gates(catalog);
        shape.place = place(&policy.node.kind);
        shape.side_effects = policy.side_effects().unwrap_or_else(|| has_side_effects(&policy.node.kind, tool));
        for name in policy.get(|policy| policy.locks.as_ref()).into_iter().flatten() {
            let next = u32::try_from(self.locks.len()).unwrap_or(u32::MAX);
            let lock = *self.lock_of.entry(name.clone()).or_insert(next);
            if lock == next {
                self.locks.push(name.clone());
            }
            shape.locks.push(lock);
        }
        shape.locks.sort_unstable();
        shape.locks.dedup();
    }

    pub fn find(&self, id: &str) -> Option<NodeIx> {
        self.index.get(id).copied()
    }

    pub fn link(&self, edge: EdgeId) -> GraphEdge {
        self.links[edge]
    }

    pub fn rank(&self, ix: NodeIx) -> Rank {
        (Reverse(self.nodes[ix].longest), ix)
    }

    /// A node is no part of the run any more; its slot stays, and its id is free.
    pub fn remove(&mut self, ix: NodeIx, generation: u32) {
        let id = &self.ids[ix];
        self.index.remove(id);
        self.past.insert(id.clone(), generation);
        self.nodes[ix].gone = true;
    }

    /// A node that comes with an edit, without edges.
    pub fn insert(&mut self, id: NodeId, home: InnerRunIx) -> NodeIx {
        let ix = NodeIx(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.ids.push(id.clone());
        self.index.insert(id, ix);
        self.nodes.push(Shape { home, ..Shape::default() });
        ix
    }

    /// Nodes get other names at once. The generations of the old ones stay used up.
    pub fn rename(&mut self, names: Vec<(NodeIx, NodeId, u32)>) {
        for (ix, _, generation) in &names {
            let old = &self.ids[*ix];
            self.index.remove(old);
            self.past.insert(old.clone(), *generation);
        }
        for (ix, id, _) in names {
            self.ids[ix] = id.clone();
            self.index.insert(id, ix);
        }
    }

    /// The first generation of a node that comes under this id.
    pub fn first_generation(&self, id: &NodeId) -> u32 {
        self.past.get(id).map_or(1, |last| last + 1)
    }

    fn add_links(&mut self, part: AppendedPlan<'_>) -> Result<(), String> {
        for (at, edge) in part.plan.edges.iter().enumerate() {
            let alternative = edge.when.is_some() || edge.default;
            self.add_link(part, &edge.from, &edge.to, u32::try_from(at).ok(), alternative)?;
        }
        for node in &part.plan.nodes {
            for source in &node.depends_on {
                self.add_link(part, source, &node.id, None, false)?;
            }
        }
        Ok(())
    }

    fn add_link(&mut self, part: AppendedPlan<'_>, from: &NodeId, to: &NodeId, doc: Option<u32>, alternative: bool) -> Result<(), String> {
        let find = |id: &NodeId| {
            let ix = if part.prefix.is_empty() { self.find(id) } else { self.find(&format!("{}{id}", part.prefix)) };
            ix.ok_or_else(|| format!("an edge names `{id}`, which is not a node of the plan"))
        };
        let (source, target) = (find(from)?, find(to)?);
        let policy = part.plan.nodes.get(part.place(source)).map(|node| PolicyInForce { node, plan: part.plan });
        let decides = policy.is_some_and(|policy| policy.route() == Route::Decision);
        let edge = EdgeId(u32::try_from(self.links.len()).map_err(|_| "the plan has too many edges".to_string())?);
        self.links.push(GraphEdge { from: source, to: target, doc, alternative: alternative || decides });
        self.nodes[source].outs.push(edge);
        self.nodes[target].ins.push(edge);
        Ok(())
    }

    /// Longest remaining paths, against the direction of the edges; what is left over lies on a cycle.
    fn measure(&mut self, part: AppendedPlan<'_>, below: u32) -> Result<(), String> {
        let mut left: Vec<usize> = self.nodes.from(part.first).iter().map(|node| node.outs.len()).collect();
        let mut free: Vec<NodeIx> = (part.first.0..).map(NodeIx).zip(&left).filter(|(_, outs)| **outs == 0).map(|(ix, _)| ix).collect();
        let mut measured = 0;
        while let Some(ix) = free.pop() {
            measured += 1;
            let after = self.nodes[ix].outs.iter().map(|&edge| self.nodes[self.link(edge).to].longest).max();
            self.nodes[ix].longest = after.unwrap_or(below) + 1;
            for at in 0..self.nodes[ix].ins.len() {
                let source = self.link(self.nodes[ix].ins[at]).from;
                let outs = &mut left[part.place(source)];
                *outs -= 1;
                if *outs == 0 {
                    free.push(source);
                }
            }
        }
        match left.iter().position(|&outs| outs > 0) {
            Some(at) if measured < left.len() => Err(format!("the plan has a cycle at `{}`", part.plan.nodes[at].id)),
            Some(_) | None => Ok(()),
        }
    }
}

/// A plan whose nodes are in the graph from `first` on.
#[derive(Clone, Copy)]
struct AppendedPlan<'a> {
    plan: &'a Plan,
    prefix: &'a str,
    first: NodeIx,
}

impl AppendedPlan<'_> {
    /// The place of a node among those of the plan.
    fn place(self, ix: NodeIx) -> usize {
        ix.at() - self.first.at()
    }
}

/// A node's policy laid over the plan's defaults and what its dialect says.
#[derive(Clone, Copy)]
pub(super) struct PolicyInForce<'a> {
    pub node: &'a Node,
    pub plan: &'a Plan,
}

impl<'a> PolicyInForce<'a> {
    pub fn get<T>(self, field: impl Fn(&'a Policy) -> Option<T>) -> Option<T> {
        field(&self.node.policy).or_else(|| field(&self.plan.defaults))
    }

    /// All of it but what is there for people: notes and breakpoints.
    pub fn laid_over(self) -> Policy {
        Policy {
            when: self.get(|policy| policy.when.clone()),
            skip_if: self.get(|policy| policy.skip_if.clone()),
            join: self.join(),
            route: Some(self.route()),
            approve: self.get(|policy| policy.approve),
            side_effects: self.side_effects(),
            retry: self.get(|policy| policy.retry.clone()),
            timeout_s: self.get(|policy| policy.timeout_s),
            budget: self.get(|policy| policy.budget.clone()),
            branch_budget: self.node.policy.branch_budget.clone(),
            model: self.get(|policy| policy.model.clone()),
            tools: self.get(|policy| policy.tools.clone()),
            context: self.get(|policy| policy.context),
            inputs: self.get(|policy| policy.inputs.clone()),
            on_failure: self.get(|policy| policy.on_failure),
            cache: self.get(|policy| policy.cache.clone()),
            locks: self.get(|policy| policy.locks.clone()),
            output_schema: self.get(|policy| policy.output_schema.clone()),
            breakpoint: None,
            max_iterations: self.get(|policy| policy.max_iterations),
            replan_when: self.get(|policy| policy.replan_when.clone()),
            notes: None,
        }
    }

    fn join(self) -> Option<Join> {
        let settles = self.plan.dialect.walks() || matches!(self.node.kind, NodeKind::Merge(_));
        let natural = settles.then_some(Join::Settled);
        self.get(|policy| policy.join).or(natural)
    }

    pub fn route(self) -> Route {
        let natural = if self.plan.dialect.walks() { Route::First } else { Route::All };
        let decides = self.node.kind.is_decision().then_some(Route::Decision);
        self.node.policy.route.or(decides).or(self.plan.defaults.route).unwrap_or(natural)
    }

    /// What the plan says of side effects; in a hybrid plan also where it says nothing.
    pub fn side_effects(self) -> Option<bool> {
        let natural = match self.plan.dialect {
            Dialect::Hybrid => tool_of(self.node).map(|_| true),
            Dialect::Native | Dialect::Orchestration | Dialect::Tools | Dialect::Workflow | Dialect::Stages => None,
        };
        self.get(|policy| policy.side_effects).or(natural)
    }

    /// A card's wish counts where the plan says nothing. A plan can add gates and silence a card; where the configuration asks
    /// about the node's tool, no plan takes that away. An approval node is its own gate.
    fn gates(self, catalog: &Catalog) -> GateTimes {
        let name = self.node.kind.agent().and_then(|agent| agent.agent.as_deref());
        let card = name.and_then(|name| catalog.agents.iter().find(|info| info.name == name));
        let wish = self.get(|policy| policy.approve).or_else(|| card.and_then(|card| card.approve));
        let asks = tool_of(self.node).is_some_and(|name| verdict(catalog, name) == Verdict::Ask);
        let asks_itself = matches!(self.node.kind, NodeKind::Approval(_));
        match wish {
            Some(Approve::Before) => GateTimes { before: !asks_itself, after: false },
            Some(Approve::After) => GateTimes { before: asks, after: true },
            Some(Approve::Both) => GateTimes { before: !asks_itself, after: true },
            Some(Approve::Never) | None => GateTimes { before: asks, after: false },
        }
    }
}

/// The tool of a tool node.
pub(super) fn tool_of(node: &Node) -> Option<&str> {
    node.kind.tool().map(|work| work.tool.as_str())
}

/// What configuration says of a tool; one that nobody knows asks.
pub(super) fn verdict(catalog: &Catalog, tool: &str) -> Verdict {
    catalog.tool(tool).map_or(Verdict::Ask, |tool| tool.verdict)
}

/// Whether a risk leaves something behind; unknown means it does.
pub(super) fn leaves_something(tool: Option<&ToolInfo>) -> bool {
    tool.is_none_or(|tool| match tool.risk {
        Risk::Read | Risk::Network => false,
        Risk::Write | Risk::Execute => true,
    })
}

/// What a worker does takes a slot; all else the engine does itself.
fn place(work: &NodeKind) -> SlotNeed {
    match work {
        NodeKind::Agent(_) | NodeKind::Decision(DecisionNode::Agent(_)) => SlotNeed::Model,
        NodeKind::Tool(_) | NodeKind::Code(_) => SlotNeed::Slot,
        _ => SlotNeed::None,
    }
}

/// An agent acts only through tool calls, which are on record: what it did is known per attempt and not guessed here.
pub(super) fn has_side_effects(work: &NodeKind, tool: Option<&ToolInfo>) -> bool {
    work.tool().is_some() && leaves_something(tool)
}
