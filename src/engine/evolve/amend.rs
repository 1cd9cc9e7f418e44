//! `Amendment`: an edited plan laid over the slots of the run's own plan: which node keeps its slot, which edge its number, and what
//! became of each. Found from the edits alone, so that deciding and folding see the same.

use crate::engine::{
    EdgeId,
    graph::{NodeIx, PolicyInForce},
    inner_run::InnerRunIx,
    run::RunState,
};
use crate::plan::{Edge, NodeId, NodeKind, Plan, Policy, Route, edit::Edit};
use std::collections::{BTreeMap, BTreeSet};

/// An edited plan over a run.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Amendment {
    pub plan: Plan,
    /// The slot of each of its nodes; absent: the node is new.
    pub slots: Vec<Option<NodeIx>>,
    /// Its edges: `Plan::edges` in order, then `depends_on` in node order.
    pub wires: Vec<Wire>,
    /// Slots whose node is not in it.
    pub removed: BTreeSet<NodeIx>,
    /// Slots that get another name.
    pub renamed: BTreeSet<NodeIx>,
    /// Slots whose node is run in another way.
    pub changed: BTreeSet<NodeIx>,
    /// Of those, the ones whose result may be another one by it.
    pub remade: BTreeSet<NodeIx>,
    /// Slots that other edges lead to.
    pub rewired: BTreeSet<NodeIx>,
}

/// An edge of an edited plan, by positions of its nodes.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Wire {
    pub from: usize,
    pub to: usize,
    /// In `Plan::edges`; plain dependencies have none.
    pub doc: Option<u32>,
    pub alternative: bool,
    /// The number that it had before.
    pub kept: Option<EdgeId>,
}

impl RunState {
    /// The run's own plan after edits.
    ///
    /// # Errors
    /// The plan's own message where an edit doesn't apply; why the run can't take the plan in.
    pub(in crate::engine) fn amendment(&self, edits: &[Edit]) -> Result<Amendment, String> {
        let Some(inner) = self.inner(InnerRunIx(0)).filter(|inner| inner.slots.len() == inner.plan.nodes.len()) else {
            return Err("the changed plan can't run".to_string());
        };
        let mut plan = (*inner.plan).clone();
        Edit::batch(edits.iter().cloned()).apply(&mut plan).map_err(|error| error.to_string())?;
        if plan == *inner.plan {
            return Err("that changes nothing".to_string());
        }
        if plan.inputs != inner.plan.inputs || plan.dialect != inner.plan.dialect {
            return Err("the inputs and the format of a run's plan stay as they were at its start; branch off to change them".to_string());
        }
        let mut old = (*inner.plan).clone();
        edits.iter().flat_map(Edit::renames).for_each(|(from, to)| follow_name(from, to, &mut old));
        let mut amendment = Amendment { plan, ..Amendment::default() };
        amendment.find_slots(&old, &inner.slots);
        amendment.compare(&old, &inner.plan, self);
        self.wire(&old, &mut amendment)?;
        Ok(amendment)
    }

    /// Finds which edges are those of before: between the same nodes, with the same meaning, in order.
    fn wire(&self, old: &Plan, amendment: &mut Amendment) -> Result<(), String> {
        let mut before: BTreeMap<(NodeIx, NodeIx), Vec<EdgeId>> = BTreeMap::new();
        for ix in self.inner(InnerRunIx(0)).into_iter().flat_map(|inner| inner.nodes()) {
            for &edge in &self.graph.nodes[ix].outs {
                before.entry((ix, self.graph.link(edge).to)).or_default().push(edge);
            }
        }
        let places: BTreeMap<&NodeId, usize> = amendment.plan.nodes.iter().enumerate().map(|(at, node)| (&node.id, at)).collect();
        let place = |id: &NodeId| places.get(id).copied().ok_or_else(|| format!("an edge names `{id}`, which is not a node of the plan"));
        let mut wires = Vec::new();
        for (doc, edge) in (0..).zip(&amendment.plan.edges) {
            wires.push(Wire {
                from: place(&edge.from)?,
                to: place(&edge.to)?,
                doc: Some(doc),
                alternative: is_alternative(edge),
                kept: None,
            });
        }
        for (to, node) in amendment.plan.nodes.iter().enumerate() {
            for source in &node.depends_on {
                wires.push(Wire { from: place(source)?, to, doc: None, alternative: false, kept: None });
            }
        }
        for wire in &mut wires {
            let node = &amendment.plan.nodes[wire.from];
            wire.alternative |= PolicyInForce { node, plan: &amendment.plan }.route() == Route::Decision;
            let ends = amendment.slots[wire.from].zip(amendment.slots[wire.to]);
            let known = ends.and_then(|ends| before.get_mut(&ends));
            let means = wire.doc.and_then(|at| amendment.plan.edges.get(at as usize)).map(meaning);
            let same = |&edge: &EdgeId| self.graph.link(edge).doc.and_then(|at| old.edges.get(at as usize)).map(meaning) == means;
            wire.kept = known.and_then(|known| known.iter().position(same).map(|at| known.remove(at)));
            if wire.kept.is_none() {
                amendment.rewired.extend(amendment.slots[wire.to]);
            }
        }
        let lost = before.iter().filter(|(_, edges)| !edges.is_empty()).map(|((_, to), _)| *to);
        amendment.rewired.extend(lost.filter(|to| !amendment.removed.contains(to)));
        amendment.wires = wires;
        Ok(())
    }
}

impl Amendment {
    /// `old` has the new names of nodes that were renamed.
    fn find_slots(&mut self, old: &Plan, slots: &[NodeIx]) {
        let known: BTreeMap<&NodeId, NodeIx> = old.nodes.iter().map(|node| &node.id).zip(slots.iter().copied()).collect();
        self.slots = self.plan.nodes.iter().map(|node| known.get(&node.id).copied()).collect();
        let kept: BTreeSet<NodeIx> = self.slots.iter().copied().flatten().collect();
        self.removed = slots.iter().copied().filter(|slot| !kept.contains(slot)).collect();
    }

    /// Finds what became of each node that stays. References that followed a name are the same.
    fn compare(&mut self, old: &Plan, before: &Plan, run: &RunState) {
        let places: BTreeMap<&NodeId, usize> = old.nodes.iter().enumerate().map(|(at, node)| (&node.id, at)).collect();
        for (node, slot) in self.plan.nodes.iter().zip(&self.slots) {
            let (Some(slot), Some(&at)) = (*slot, places.get(&node.id)) else { continue };
            if run.graph.ids[slot] != node.id || before.nodes[at].id != node.id {
                self.renamed.insert(slot);
            }
            let (one, two) = (PolicyInForce { node: &old.nodes[at], plan: old }, PolicyInForce { node, plan: &self.plan });
            if one.node.entry != two.node.entry || one.node.kind != two.node.kind || one.laid_over() != two.laid_over() {
                self.changed.insert(slot);
            }
            if makes(one) != makes(two) {
                self.remade.insert(slot);
            }
        }
    }
}

/// Gives a node its new name in the plan of before; a node that has that name there already makes room.
fn follow_name(from: &NodeId, to: &NodeId, plan: &mut Plan) {
    if plan.nodes.iter().any(|node| node.id == *to) {
        let aside = (0..).map(|number| NodeId::new(format!("aside-{number}")));
        let free = aside.into_iter().find(|id| plan.nodes.iter().all(|node| node.id != *id));
        rename(plan, to, free.as_ref().unwrap_or(to));
    }
    rename(plan, from, to);
}

fn rename(plan: &mut Plan, from: &NodeId, to: &NodeId) {
    let edit = Edit::RenameNode { from: from.clone(), to: to.clone() };
    // A node that came with the edits has no name in the plan of before.
    drop(edit.replay(plan));
}

fn is_alternative(edge: &Edge) -> bool {
    edge.when.is_some() || edge.default
}

/// What of an edge the run goes by.
fn meaning(edge: &Edge) -> (Option<&String>, Option<&Vec<String>>, bool) {
    (edge.when.as_ref(), edge.context.as_ref(), edge.default)
}

/// What of a node its result comes from: not how often it is tried, who is asked, or what it may not run beside.
fn makes(settled: PolicyInForce<'_>) -> (&NodeKind, bool, Policy) {
    let policy = Policy {
        approve: None,
        side_effects: None,
        retry: None,
        timeout_s: None,
        budget: None,
        branch_budget: None,
        cache: None,
        locks: None,
        ..settled.laid_over()
    };
    (&settled.node.kind, settled.node.exit, policy)
}
