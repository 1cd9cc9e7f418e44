//! Live edits: a run's own plan changes while it runs. Nodes that stay keep their slots, edges that stay their numbers and tokens; slots
//! of nodes that go are never used again. Nodes keep the rank that they had; new ones get theirs from what comes behind them.

use crate::engine::{
    Cause, EdgeId, NodeRun,
    evolve::amend::{Amendment, Wire},
    evolve::steer::Speed,
    flow::{Flow, PhasePart},
    graph::{GraphEdge, NodeIx, PolicyInForce},
    inner_run::InnerRunIx,
    queue::Lock,
    run::RunState,
};
use crate::plan::{Catalog, NodeId, edit::Edit, order};
use std::{collections::BTreeMap, sync::Arc};

/// The run's own plan, the only one that is edited while it runs.
const OWN: InnerRunIx = InnerRunIx(0);

impl RunState {
    /// Puts the edited plan in place of the one that is run. `nodes` go, or back to before they began.
    pub(in crate::engine) fn amend(&mut self, edits: &[Edit], nodes: &[NodeIx], void: &Cause) {
        let Ok(amendment) = self.amendment(edits) else { return };
        let back: Vec<NodeIx> = nodes.iter().copied().filter(|ix| !amendment.removed.contains(ix)).collect();
        // They free what they hold by what the plan still says.
        back.iter().for_each(|&ix| self.leave(ix, void));
        amendment.removed.iter().for_each(|&ix| self.remove(ix, void));
        let slots = self.take_slots(&amendment);
        self.lay_wires(&amendment.wires, &slots);
        self.rank_new(&amendment, &slots);
        self.settle_again(amendment, slots);
        self.reset(&back, void);
        self.begin_waiting();
        if let Speed::To { target, .. } = self.steer.speed {
            self.steer.speed = Speed::To { target, way: self.upstream(target) };
        }
    }

    fn remove(&mut self, ix: NodeIx, void: &Cause) {
        self.arrived(ix);
        self.leave(ix, void);
        self.bury(ix);
    }

    /// The slot of each node of the new plan, under its new name.
    fn take_slots(&mut self, amendment: &Amendment) -> Vec<NodeIx> {
        let stay = amendment.plan.nodes.iter().zip(&amendment.slots);
        let renamed = stay.filter_map(|(node, slot)| Some((slot.filter(|slot| amendment.renamed.contains(slot))?, node.id.clone())));
        let renamed: Vec<_> = renamed.map(|(ix, id)| (ix, id, self.nodes[ix].generation)).collect();
        let names: Vec<NodeIx> = renamed.iter().map(|(ix, ..)| *ix).collect();
        let ids: BTreeMap<NodeId, NodeId> = renamed.iter().map(|(ix, id, _)| (self.id_of(*ix), id.clone())).collect();
        for run in self.gates.all.values_mut() {
            if let Some(id) = ids.get(&run.gate.node) {
                run.gate.node.clone_from(id);
            }
        }
        self.graph.rename(renamed);
        for ix in names {
            // Whatever had the name before has used up some generations under it.
            let first = self.graph.first_generation(&self.graph.ids[ix]);
            let node = &mut self.nodes[ix];
            node.generation = node.generation.max(first);
        }
        let mut slots = Vec::with_capacity(amendment.slots.len());
        for (node, slot) in amendment.plan.nodes.iter().zip(&amendment.slots) {
            slots.push(match slot {
                Some(ix) => *ix,
                None => self.insert(node.id.clone()),
            });
        }
        slots
    }

    fn insert(&mut self, id: NodeId) -> NodeIx {
        let generation = self.graph.first_generation(&id);
        self.nodes.push(NodeRun { generation, ..NodeRun::default() });
        self.flows.push(Flow::default());
        self.graph.insert(id, OWN)
    }

    fn lay_wires(&mut self, wires: &[Wire], slots: &[NodeIx]) {
        for ix in slots {
            let shape = &mut self.graph.nodes[*ix];
            shape.ins.clear();
            shape.outs.clear();
        }
        for wire in wires {
            let link = GraphEdge { from: slots[wire.from], to: slots[wire.to], doc: wire.doc, alternative: wire.alternative };
            let edge = wire.kept.unwrap_or_else(|| {
                self.graph.links.push(link);
                EdgeId(u32::try_from(self.graph.links.len() - 1).unwrap_or(u32::MAX))
            });
            self.graph.links[edge] = link;
            self.graph.nodes[link.from].outs.push(edge);
            self.graph.nodes[link.to].ins.push(edge);
        }
        self.edges.resize(self.graph.links.len(), super::EdgeState::Undecided);
    }

    /// New nodes come before what they lead to.
    fn rank_new(&mut self, amendment: &Amendment, slots: &[NodeIx]) {
        let graph = order::PlanGraph::new(&amendment.plan);
        for at in graph.topological().into_iter().rev().filter(|&at| amendment.slots[at].is_none()) {
            let behind = graph.successors(at).map(|next| self.graph.nodes[slots[next]].longest).max();
            self.graph.nodes[slots[at]].longest = behind.unwrap_or(0) + 1;
        }
    }

    fn settle_again(&mut self, amendment: Amendment, slots: Vec<NodeIx>) {
        let nothing = Catalog::default();
        let catalog = self.head.as_ref().map_or(&nothing, |head| &head.settings.catalog);
        for ((doc, node), ix) in (0..).zip(&amendment.plan.nodes).zip(&slots) {
            self.graph.nodes[*ix].doc = doc;
            self.graph.settle(*ix, PolicyInForce { node, plan: &amendment.plan }, catalog);
        }
        self.queue.locks.resize(self.graph.locks.len(), Lock::default());
        slots.iter().for_each(|&ix| self.tally_anew(ix));
        let unfinished = slots.iter().filter(|&&ix| !self.is_over(ix)).count();
        if let Some(inner) = self.inner_runs.slot_mut(OWN) {
            inner.unfinished = u32::try_from(unfinished).unwrap_or(u32::MAX);
            inner.plan = Arc::new(amendment.plan);
            inner.slots.clone_from(&slots);
        }
    }

    /// Nodes that wait for inputs may have all of them now.
    fn begin_waiting(&mut self) {
        let Some((entry, slots)) = self.inner(OWN).filter(|_| self.progress.started).map(|inner| (inner.entry(), inner.slots.clone()))
        else {
            return;
        };
        slots.into_iter().for_each(|ix| self.begin_node(ix, entry));
    }

    /// Whether an attempt of a node is with a worker that can't hear of an edit.
    pub(in crate::engine) fn is_engaged(&self, ix: NodeIx) -> bool {
        let part = self.flows[ix].phase.part();
        part == PhasePart::AtWork || part.is_inside()
    }
}
