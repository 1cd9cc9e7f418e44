//! `Steer`: how people drive a run: pace, holds, breakpoints. What of it evolves, and who may start.

use crate::engine::{
    Action, ActionTarget, BreakId, Breakpoint, Cause, GateKind, HeldAt, Moment, NodeState,
    evolve::undo::Shadow,
    flow::{Phase, PhasePart},
    graph::NodeIx,
    run::RunState,
};
use crate::plan::NodeId;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// How a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    Going,
    /// Nothing starts any more; what is under way finishes.
    Pausing,
    /// Nothing is under way.
    Paused,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::engine) enum Speed {
    /// The one who is ready.
    #[default]
    Free,
    /// Nobody.
    Paused,
    /// What leads to a node; before it all pause.
    To { target: NodeIx, way: BTreeSet<NodeIx> },
}

/// How people drive a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::engine) struct Steer {
    pub speed: Speed,
    pub points: BTreeMap<BreakId, Breakpoint>,
    /// Breakpoints that there ever were.
    pub made: u32,
    /// Tools that the run has used, by their own names.
    pub used: BTreeSet<String>,
    /// The run as it would be without the newest action that can be undone.
    pub shadow: Option<Arc<Shadow>>,
}

impl Steer {
    fn halt(&mut self) {
        self.speed = Speed::Paused;
    }
}

impl RunState {
    /// How the run goes on.
    pub fn pace(&self) -> Pace {
        let idle = self.queue.busy == 0 && self.queue.resuming.is_empty();
        match self.steer.speed {
            Speed::Paused if idle => Pace::Paused,
            Speed::Paused => Pace::Pausing,
            Speed::Free | Speed::To { .. } => Pace::Going,
        }
    }

    pub fn breakpoints(&self) -> impl Iterator<Item = (BreakId, &Breakpoint)> {
        self.steer.points.iter().map(|(&id, point)| (id, point))
    }

    /// The breakpoint that the plan sets at a node. One that can't be read was a finding of the plan, and halts nothing.
    pub(in crate::engine) fn plan_breakpoint(&self, ix: NodeIx) -> Option<Breakpoint> {
        let written = self.policy(ix).and_then(|policy| policy.get(|policy| policy.breakpoint.as_ref()))?;
        let point = Breakpoint::written(written).ok().flatten()?;
        Some(Breakpoint { node: Some(self.id_of(ix).to_string()), ..point })
    }

    /// Whether the plan sets a breakpoint at a node.
    pub fn has_plan_breakpoint(&self, node: &NodeId) -> bool {
        self.graph.find(node).is_some_and(|ix| self.plan_breakpoint(ix).is_some())
    }

    /// The breakpoints that the plan sets, each with its node. In proportion to the run.
    pub fn plan_breakpoints(&self) -> impl Iterator<Item = (NodeId, Breakpoint)> {
        self.all_nodes().filter_map(|ix| Some((self.id_of(ix), self.plan_breakpoint(ix)?)))
    }

    /// Whether a person holds the node, started or not.
    pub fn is_held(&self, node: &NodeId) -> bool {
        self.graph.find(node).is_some_and(|ix| self.flows[ix].halt.hold.is_some())
    }

    /// What a breakpoint or a hold keeps from happening at a node.
    pub fn kept(&self, node: &NodeId) -> Option<&HeldAt> {
        self.graph.find(node).and_then(|ix| self.flows[ix].halt.kept.as_deref())
    }

    pub(in crate::engine) fn is_paused(&self) -> bool {
        self.steer.speed == Speed::Paused
    }

    /// Whether it runs to a node.
    pub(in crate::engine) fn is_led(&self) -> bool {
        matches!(self.steer.speed, Speed::To { .. })
    }

    /// The node that goes next, if one may.
    pub(in crate::engine) fn next_start(&self) -> Option<NodeIx> {
        let place = |ix: NodeIx| self.graph.nodes[ix].place;
        match &self.steer.speed {
            Speed::Free => self.queue.next(place),
            Speed::Paused => None,
            Speed::To { way, .. } => self.queue.next_of(place, |ix| way.contains(&ix) || self.owners(ix).any(|owner| way.contains(&owner))),
        }
    }

    /// The part of an action that is a change of its own; all else follows as events.
    pub(super) fn acted(&mut self, action: &Action, nodes: &[NodeId], (who, why): (&str, &str)) {
        let found: Vec<NodeIx> = nodes.iter().filter_map(|id| self.graph.find(id)).collect();
        match action {
            Action::Hold { .. } => found.into_iter().for_each(|ix| self.hold_back(ix, who)),
            Action::Release { .. } => found.into_iter().for_each(|ix| self.release_all(ix)),
            Action::Pause => self.steer.halt(),
            Action::Resume => {
                self.steer.speed = Speed::Free;
                found.into_iter().for_each(|ix| self.release_all(ix));
            }
            Action::Step { .. } => self.step_on(&found),
            Action::RunTo { node } => {
                if let Some(target) = self.graph.find(node) {
                    self.steer.speed = Speed::To { target, way: found.into_iter().collect() };
                    if self.is_at_start(target) {
                        self.arrived(target);
                    }
                }
            }
            Action::Break { point } => {
                self.steer.made += 1;
                self.steer.points.insert(BreakId(self.steer.made), point.clone());
            }
            Action::Unbreak { point } => {
                self.steer.points.remove(point);
            }
            Action::Rebreak { point, with } => {
                self.steer.points.insert(*point, with.clone());
            }
            Action::Retry { .. } | Action::Rerun { .. } | Action::Override { .. } | Action::Rewind { .. } => self.again(action, &found),
            Action::Edit { edits } => self.amend(edits, &found, &action.voids_with().unwrap_or_default()),
            Action::StepInto { .. } => found.into_iter().for_each(|ix| self.step_into(ix)),
            Action::Stop { target } => {
                if *target == ActionTarget::Run {
                    self.progress.stopped_by = Some(who.to_string());
                }
                found.into_iter().for_each(|ix| self.wind_up(ix, who));
            }
            Action::Guide { text, .. } => found.into_iter().for_each(|ix| self.flows[ix].guidance.texts.push(text.clone())),
            Action::Cancel { target: ActionTarget::Run } => why.clone_into(&mut self.progress.cancelled_why),
            Action::Cancel { .. } | Action::Skip { .. } => {}
        }
    }

    fn step_on(&mut self, nodes: &[NodeIx]) {
        // A step inside of a node leaves everything else as it goes. One that is at its start again is at no call yet.
        let at_call = |ix: &NodeIx| self.is_at_call(*ix) && self.flows[*ix].phase != Phase::Held;
        let inside: Vec<NodeIx> = nodes.iter().copied().filter(at_call).collect();
        if !inside.is_empty() {
            for ix in inside {
                self.flows[ix].drive.into = true;
                self.free_call(ix);
            }
            return;
        }
        self.steer.halt();
        nodes.iter().for_each(|&ix| self.release(ix));
    }

    /// Whether nothing but a slot or a lock is between a node and its start, once what was kept goes on.
    fn is_about_to_start(&self, ix: NodeIx) -> bool {
        let part = self.flows[ix].phase.part();
        part == PhasePart::InLine || part == PhasePart::Held && !self.flows[ix].keeps_an_end()
    }

    /// Whether a node waits before its start, or at the gate before that.
    fn is_at_start(&self, ix: NodeIx) -> bool {
        let gate = self.open_of(ix).into_iter().filter_map(|gate| self.gate_run(gate)).any(|run| run.gate.kind == GateKind::Approval);
        gate || self.is_about_to_start(ix)
    }

    /// A run to here ends where the node may start, or never will.
    pub(super) fn arrived(&mut self, ix: NodeIx) {
        if matches!(self.steer.speed, Speed::To { target, .. } if target == ix) {
            self.steer.halt();
        }
    }

    /// A node waits for its release. Of a composite one at work nothing more inside starts; what is there is held by itself.
    pub(super) fn hold_back(&mut self, ix: NodeIx, who: &str) {
        self.flows[ix].halt.hold = Some(who.to_string());
        let reason = Cause::Held { by: who.to_string() };
        match self.flows[ix].phase.part() {
            PhasePart::InLine => self.keep(ix, HeldAt::Start, reason),
            PhasePart::Ahead => self.nodes[ix].reason = reason,
            PhasePart::Inside => self.nodes[ix].reason = self.at_work_reason(ix),
            _ => {}
        }
    }

    /// Puts a node aside until somebody releases it.
    pub(super) fn keep(&mut self, ix: NodeIx, kept: HeldAt, reason: Cause) {
        self.flows[ix].halt.kept = Some(Box::new(kept));
        self.show(ix, NodeState::Held, reason);
        self.enter(ix, Phase::Held);
    }

    /// Lets a node go, and all of its calls from here on.
    fn release_all(&mut self, ix: NodeIx) {
        self.flows[ix].drive.into = false;
        self.free_calls(ix);
        self.release(ix);
    }

    /// Ends a hold, and what keeps the node.
    pub(super) fn release(&mut self, ix: NodeIx) {
        let held = self.flows[ix].halt.hold.take().is_some();
        match self.flows[ix].phase.part() {
            PhasePart::Held => self.enter(ix, Phase::Freed),
            PhasePart::Ahead if held => self.nodes[ix].reason = Cause::None,
            PhasePart::Inside if held => self.nodes[ix].reason = self.at_work_reason(ix),
            _ => {}
        }
    }

    /// A breakpoint keeps a node; this generation doesn't meet it again at this moment.
    pub(super) fn broke(&mut self, ix: NodeIx, at: Moment, kept: &HeldAt, reason: &Cause) {
        self.flows[ix].halt.met.insert(at);
        match kept {
            HeldAt::Start => self.arrived(ix),
            HeldAt::Result { .. } | HeldAt::Failure { .. } => {
                self.drop_worker(ix);
                self.drop_locks(ix);
            }
        }
        self.keep(ix, kept.clone(), reason.clone());
    }

    /// Nodes of a target, over or not; what runs inside of them doesn't count.
    pub(in crate::engine) fn members(&self, target: &ActionTarget) -> Vec<NodeIx> {
        match target {
            ActionTarget::Node(node) => self.graph.find(node).into_iter().collect(),
            ActionTarget::Branch(node) => self.graph.find(node).map(|ix| self.branch_of(ix).own).unwrap_or_default(),
            ActionTarget::Run => self.inner_runs.first().into_iter().flat_map(crate::engine::inner_run::InnerRun::nodes).collect(),
        }
    }

    /// Nodes of a target, and of what runs inside of them those that are not over.
    pub(in crate::engine) fn at_any_depth(&self, target: &ActionTarget) -> Vec<NodeIx> {
        let mut nodes = self.members(target);
        let mut at = 0;
        while let Some(&ix) = nodes.get(at) {
            at += 1;
            nodes.extend(self.open_inside(ix));
        }
        nodes
    }

    /// All nodes, those of bodies too.
    pub(in crate::engine) fn all_nodes(&self) -> impl Iterator<Item = NodeIx> + '_ {
        (0..).map(NodeIx).zip(&self.graph.nodes).filter(|(_, shape)| !shape.gone).map(|(ix, _)| ix)
    }

    /// Everything that a node needs of its own plan.
    pub(in crate::engine) fn upstream(&self, ix: NodeIx) -> BTreeSet<NodeIx> {
        let mut known = BTreeSet::new();
        let mut next = vec![ix];
        while let Some(ix) = next.pop() {
            let sources = self.graph.nodes[ix].ins.iter().map(|&edge| self.graph.link(edge).from);
            next.extend(sources.filter(|&source| known.insert(source)));
        }
        known
    }
}
