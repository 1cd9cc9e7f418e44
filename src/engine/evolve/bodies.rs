//! Inner runs as a part of the run: how bodies enter it, begin and end, and who is around and inside whom.

use crate::engine::{
    EdgeId, EdgeState, NodeRun,
    flow::Phase,
    graph::{NodeIx, PolicyInForce, RunGraph},
    inner_run::{InnerRun, InnerRunIx, Inputs, Times},
    run::RunState,
};
use crate::plan::{Catalog, NodeId, NodeKind, Plan, SubplanNode};
use serde_json::{Map, Value};
use std::sync::Arc;

impl RunState {
    pub(in crate::engine) fn inner(&self, inner: InnerRunIx) -> Option<&InnerRun> {
        self.inner_runs.slot(inner)
    }

    pub(in crate::engine) fn inner_of(&self, ix: NodeIx) -> Option<&InnerRun> {
        self.inner(self.graph.nodes.slot(ix)?.home)
    }

    /// Nodes that entered the run with a body.
    pub(in crate::engine) fn nodes_inside(&self) -> usize {
        let own = self.inner_runs.first().map_or(0, |inner| inner.slots.len());
        self.graph.index.len().saturating_sub(own)
    }

    /// A node by the id that it has in the plan of an inner run.
    pub(in crate::engine) fn find_in(&self, inner: &InnerRun, id: &str) -> Option<NodeIx> {
        if inner.prefix.is_empty() { self.graph.find(id) } else { self.graph.find(&format!("{}{id}", inner.prefix)) }
    }

    /// The composite nodes around a node, the nearest first.
    pub(in crate::engine) fn owners(&self, ix: NodeIx) -> impl Iterator<Item = NodeIx> + '_ {
        std::iter::successors(self.inner_of(ix).and_then(|inner| inner.owner), |&owner| self.inner_of(owner).and_then(|inner| inner.owner))
    }

    /// Nodes inside a composite one that are not over, at any depth of its own bodies.
    pub(in crate::engine) fn open_inside(&self, ix: NodeIx) -> impl Iterator<Item = NodeIx> + '_ {
        let inner_runs = self.flows[ix].bodies.iter().flat_map(|bodies| &bodies.inner_runs).filter_map(|&inner| self.inner(inner));
        inner_runs.filter(|inner| inner.unfinished > 0).flat_map(InnerRun::nodes).filter(|&ix| !self.is_over(ix))
    }

    /// The nodes of the body of a composite node that began last.
    pub(in crate::engine) fn newest_body(&self, id: &NodeId) -> impl Iterator<Item = NodeIx> + '_ {
        let bodies = self.graph.find(id).and_then(|ix| self.flows[ix].bodies.as_ref());
        bodies.and_then(|bodies| self.inner(*bodies.inner_runs.last()?)).into_iter().flat_map(InnerRun::nodes)
    }

    /// A body of a composite node enters the run.
    pub(super) fn begin_body(&mut self, ix: NodeIx, index: Option<u32>) {
        let Some(inputs) = self.body_inputs(ix) else { return };
        let id = self.id_of(ix);
        let prefix = match index {
            Some(index) => format!("{id}[{index}]/"),
            None => format!("{id}/"),
        };
        let Some(bodies) = &mut self.flows[ix].bodies else { return };
        bodies.inner_runs.push(InnerRunIx(u32::try_from(self.inner_runs.len()).unwrap_or(u32::MAX)));
        bodies.open += 1;
        let body = Arc::clone(&bodies.body);
        let nodes = u32::try_from(body.nodes.len()).unwrap_or(u32::MAX);
        self.add_inner(body, Some(ix), prefix, inputs);
        let owners: Vec<NodeIx> = [ix].into_iter().chain(self.owners(ix)).collect();
        owners.into_iter().for_each(|owner| self.nodes[owner].inside.nodes += nodes);
        let inner = InnerRunIx(u32::try_from(self.inner_runs.len() - 1).unwrap_or(u32::MAX));
        if let Some(who) = self.flows[ix].halt.hold.clone() {
            let slots = self.inner(inner).map(|inner| inner.slots.clone()).unwrap_or_default();
            slots.into_iter().for_each(|inner| self.hold_back(inner, &who));
        }
        self.begin_inner(inner);
        if nodes == 0 {
            self.body_ended(ix);
        } else {
            self.await_bodies(ix);
        }
    }

    /// How many nodes a composite node has inside: those that began, and those of a map's entries that have not begun but will.
    pub fn count_inside(&self, id: &NodeId) -> u32 {
        let Some(ix) = self.graph.find(id) else { return 0 };
        let bodies = self.flows[ix].bodies.as_ref().filter(|bodies| matches!(bodies.times, Times::Each(_)) && !self.is_over(ix));
        let ahead = bodies.map_or(0, |bodies| bodies.all().saturating_sub(bodies.inner_runs.len()) * bodies.body.nodes.len());
        self.nodes[ix].inside.nodes.saturating_add(u32::try_from(ahead).unwrap_or(u32::MAX))
    }

    /// What the next body of a composite node gets: what all get, and what its turn gives.
    fn body_inputs(&self, ix: NodeIx) -> Option<Arc<Inputs>> {
        let bodies = self.flows[ix].bodies.as_ref()?;
        let at = bodies.inner_runs.len();
        let turn = match &bodies.times {
            Times::Once => Map::new(),
            Times::Until(_) => {
                let previous = bodies.inner_runs.last().map_or(Value::Null, |&inner| self.body_result(inner));
                Map::from_iter([("iteration".to_string(), Value::from(at + 1)), ("previous".to_string(), previous)])
            }
            Times::Each(items) => {
                let item = items.get(at).cloned().unwrap_or_default();
                Map::from_iter([("item".to_string(), item), ("index".to_string(), Value::from(at))])
            }
        };
        Some(Inputs::new(turn, Some(Arc::clone(&bodies.inputs))))
    }

    /// What a body gives: the result of its one final node, else an object by final node; of a walk, what it gave last; null where nothing
    /// was due.
    pub(in crate::engine) fn body_result(&self, at: InnerRunIx) -> Value {
        let Some(inner) = self.inner(at).filter(|_| !self.plan_end(at).had_nothing_due()) else { return Value::Null };
        let result = |ix: NodeIx| self.nodes[ix].result.as_deref().cloned();
        if inner.plan.dialect.walks() {
            return inner.walked.last().copied().and_then(result).unwrap_or_default();
        }
        let exits: Vec<NodeIx> = inner.nodes().filter(|ix| self.graph.nodes[*ix].outs.is_empty()).collect();
        match exits[..] {
            [exit] => result(exit).unwrap_or_default(),
            _ => {
                let named = exits.into_iter().filter_map(|ix| Some((self.doc(ix)?.id.to_string(), result(ix)?)));
                Value::Object(named.collect())
            }
        }
    }

    /// Takes a plan's nodes into the run. That they have a shape was found out before the run was created.
    pub(super) fn add_inner(&mut self, plan: Arc<Plan>, owner: Option<NodeIx>, prefix: String, inputs: Arc<Inputs>) {
        let first = NodeIx(u32::try_from(self.graph.nodes.len()).unwrap_or(u32::MAX));
        let links = EdgeId(u32::try_from(self.graph.links.len()).unwrap_or(u32::MAX));
        let home = InnerRunIx(u32::try_from(self.inner_runs.len()).unwrap_or(u32::MAX));
        let below = owner.map_or(0, |owner| self.graph.nodes[owner].longest.saturating_sub(1));
        let nothing = Catalog::default();
        let catalog = self.head.as_ref().map_or(&nothing, |head| &head.settings.catalog);
        let shaped = self.graph.append(&plan, catalog, home, &prefix, below);
        let count = if shaped.is_ok() { plan.nodes.len() } else { 0 };
        self.edges.resize(self.graph.links.len(), EdgeState::Undecided);
        let ids = self.graph.ids.from(first).iter();
        self.nodes.extend(ids.map(|id| NodeRun { generation: self.graph.first_generation(id), ..NodeRun::default() }));
        self.flows.extend(std::iter::repeat_with(crate::engine::flow::Flow::default).take(count));
        self.queue.locks.resize(self.graph.locks.len(), crate::engine::queue::Lock::default());
        for link in self.graph.links.from(links) {
            let tally = &mut self.flows[link.to].tally;
            let tokens = if link.alternative { &mut tally.alternatives } else { &mut tally.plain };
            tokens.waiting += 1;
        }
        let unfinished = u32::try_from(count).unwrap_or(u32::MAX);
        let slots = (first.0..).map(NodeIx).take(count).collect();
        self.inner_runs.push(InnerRun { plan, owner, prefix, slots, base: Arc::clone(&inputs), inputs, unfinished, walked: Vec::new() });
    }

    /// The nodes of a plan may start.
    pub(super) fn begin_inner(&mut self, inner: InnerRunIx) {
        let Some((entry, nodes)) = self.inner(inner).map(|inner| (inner.entry(), inner.slots.clone())) else { return };
        nodes.into_iter().for_each(|ix| self.begin_node(ix, entry));
    }

    /// A node waits for its inputs, or may start as they are there. Of a walk only its entry starts without any, and every other node that
    /// nothing leads to never will.
    pub(super) fn begin_node(&mut self, ix: NodeIx, entry: Option<NodeIx>) {
        if self.flows[ix].phase != Phase::Inputs {
            return;
        }
        match entry {
            Some(entry) if entry == ix => self.enter(ix, Phase::Joined { go: true }),
            Some(_) if self.graph.nodes[ix].ins.is_empty() => self.enter(ix, Phase::Joined { go: false }),
            Some(_) | None => self.judge(ix),
        }
    }

    /// A body is over, so its owner goes on.
    pub(super) fn body_ended(&mut self, owner: NodeIx) {
        // The next turn of a loop works with what the last one gave, and begins by a condition that may read any node of it.
        if self.doc(owner).is_some_and(|node| matches!(node.kind, NodeKind::Loop(_))) {
            self.nodes[owner].lineage.private |= self.gives_private_bodies(owner);
        }
        if let Some(bodies) = &mut self.flows[owner].bodies {
            bodies.open = bodies.open.saturating_sub(1);
        }
        self.await_bodies(owner);
    }

    /// Something runs again in a body that was over.
    pub(super) fn body_reopened(&mut self, owner: NodeIx) {
        if let Some(bodies) = &mut self.flows[owner].bodies {
            bodies.open += 1;
        }
        self.await_bodies(owner);
    }

    /// Puts a composite node on the agenda when it must decide something, else lets it wait.
    pub(super) fn await_bodies(&mut self, ix: NodeIx) {
        let stops = self.flows[ix].drive.stopped_by.is_some();
        let calls = self.flows[ix].bodies.as_ref().is_some_and(|bodies| if stops { bodies.open == 0 } else { bodies.calls() });
        self.enter(ix, if calls { Phase::Bodies } else { Phase::Inside });
    }
}

/// Why a plan can't be run, bodies included; `held` are the locks of the nodes around it.
pub(in crate::engine) fn unfit(plan: &Plan, catalog: &Catalog, held: &[String]) -> Option<String> {
    if let Err(reason) = RunGraph::default().append(plan, catalog, InnerRunIx(0), "", 0) {
        return Some(reason);
    }
    plan.nodes.iter().find_map(|node| {
        let policy = PolicyInForce { node, plan };
        let own = policy.get(|policy| policy.locks.as_ref());
        if let Some(lock) = own.into_iter().flatten().find(|lock| held.contains(lock)) {
            return Some(format!("`{}` names the lock `{lock}`, which the node around it holds", node.id));
        }
        if let NodeKind::Subplan(SubplanNode::File { path, loaded: None }) = &node.kind {
            return Some(format!("`{}` is a plan of its own in `{path}`, which was not read", node.id));
        }
        let held: Vec<String> = held.iter().chain(own.into_iter().flatten()).cloned().collect();
        let inside = unfit(node.kind.body()?, catalog, &held)?;
        Some(format!("inside `{}`: {inside}", node.id))
    })
}

/// How often a node's body runs, and how many at once.
pub(in crate::engine) fn times(work: &NodeKind, most: Option<u32>, items: Option<&Vec<Value>>) -> (Times, u32) {
    match (work, items) {
        (NodeKind::Loop(_), _) => (Times::Until(most.unwrap_or(1).clamp(1, 20)), 1),
        (NodeKind::Map(map), items) => (Times::Each(items.cloned().unwrap_or_default()), map.max_parallel.unwrap_or(u32::MAX).max(1)),
        (_, _) => (Times::Once, 1),
    }
}
