//! `RunState`: the state of one run, and what may be asked of it.

use super::{
    Actor, Cause, Decided, EdgeId, EdgeState, Gate, GateId, NodeRun, Outcome, ReplanUnderWay, RunId, RunSettings, StopSignal, Time,
    acts::RunActs,
    by_index::ByIndex,
    evolve::steer::{Speed, Steer},
    flow::{Flow, Phase},
    graph::{NodeIx, PolicyInForce, RunGraph},
    inner_run::{InnerRun, InnerRunIx},
    queue::Queue,
};
use crate::plan::{Node, NodeId, Plan};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Deref,
};

use super::{Account, CallNeed, TokenPrice};
use crate::plan::Budget;

/// What a run is made of, beside its plan.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RunCreation {
    pub run: RunId,
    pub settings: RunSettings,
    pub by: Actor,
    /// Whether it left another run, whose events it keeps.
    pub branched: bool,
}

/// A gate and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GateState {
    pub gate: Gate,
    pub end: GateEnd,
}

/// How a gate ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum GateEnd {
    Open,
    Decided(Decided),
    Voided(Cause),
}

/// The gates of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RunGates {
    pub all: BTreeMap<GateId, GateState>,
    pub open: BTreeSet<GateId>,
    /// Hosts with their ports that may get private data, as people said in this run.
    pub hosts: BTreeSet<String>,
    pub replans: Replans,
}

/// The new plans of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Replans {
    pub now: Option<Box<ReplanUnderWay>>,
    /// Nodes that wait until the one before theirs is decided.
    pub line: Vec<NodeIx>,
    /// That there ever were.
    pub made: u32,
    /// Of those, the ones that the run asked for by itself.
    pub by_itself: u32,
    /// The failure that led to the last one of those.
    pub last_failure: Option<String>,
    /// Nodes that a planner wrote into the run.
    pub planned: BTreeSet<NodeId>,
    /// Of those, the ones that it wrote after it had read private results.
    pub private: BTreeSet<NodeId>,
}

/// How far the run is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RunProgress {
    pub started: bool,
    pub cancelled_by: Option<Actor>,
    /// Why they cancelled it, in their own text; may be empty.
    pub cancelled_why: String,
    /// Who wanted everything to wrap up.
    pub stopped_by: Option<String>,
    pub outcome: Option<(Outcome, Cause)>,
    /// What ended the process that drove it, until somebody drives it on.
    pub interrupted_by: Option<StopSignal>,
    /// When the run was created, or left the run that it branched off.
    pub created: Time,
    pub ended: Option<Time>,
    /// How long it was over before somebody opened it again, all such times together.
    pub over_ms: u64,
    /// When the last event happened.
    pub last: Time,
    pub acts: RunActs,
    pub spending: Spending,
}

/// What its model calls take.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Spending {
    pub account: Account,
    /// Since when something of it is at work, and how long it was before that.
    pub working: Option<Time>,
    pub worked_ms: u64,
    /// What people said that models cost of which nobody else knows it.
    pub prices: BTreeMap<String, TokenPrice>,
    /// Calls that fit once others have settled or people have added to a budget, oldest first.
    pub waiting: Vec<DeferredCall>,
}

/// A model call that waits until others have settled.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DeferredCall {
    pub node: NodeIx,
    pub call: String,
    pub model: String,
    pub need: CallNeed,
    /// It is a last turn: nobody is asked for more.
    pub last: bool,
    /// The gate that asks for more.
    pub gate: Option<GateId>,
}

impl RunProgress {
    /// Somebody wants more of a run that was cancelled or stopped, so that is not how it ends.
    pub fn go_on(&mut self) {
        self.cancelled_by = None;
        self.cancelled_why.clear();
        self.stopped_by = None;
    }
}

/// The state of one run. Others read it; only `evolve` has one that it can change, but for copies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunState {
    pub(super) head: Option<Box<RunCreation>>,
    pub(super) graph: RunGraph,
    pub(super) nodes: ByIndex<NodeIx, NodeRun>,
    pub(super) flows: ByIndex<NodeIx, Flow>,
    pub(super) edges: ByIndex<EdgeId, EdgeState>,
    pub(super) gates: RunGates,
    pub(super) queue: Queue,
    /// Nodes whose phase calls for a decision.
    pub(super) agenda: BTreeSet<NodeIx>,
    /// Its own plan first, then every body that began.
    pub(super) inner_runs: ByIndex<InnerRunIx, InnerRun>,
    pub(super) progress: RunProgress,
    pub(super) steer: Steer,
    pub(super) seq: u64,
}

/// When the nodes start that may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Starts {
    Now,
    Later,
}

/// Reads the state of a run and gives events; it can change nothing.
#[derive(Clone, Copy)]
pub(super) struct Decider<'a> {
    pub state: &'a RunState,
}

impl Deref for Decider<'_> {
    type Target = RunState;

    fn deref(&self) -> &RunState {
        self.state
    }
}

impl RunState {
    /// The run's name; `None` before `RunCreated`.
    pub fn id(&self) -> Option<&RunId> {
        self.head.as_ref().map(|head| &head.run)
    }

    /// The plan that is run.
    pub fn plan(&self) -> Option<&Plan> {
        self.inner_runs.first().map(|inner| &*inner.plan)
    }

    /// The settings kept since the start.
    pub fn settings(&self) -> Option<&RunSettings> {
        self.head.as_ref().map(|head| &head.settings)
    }

    /// What its model calls have taken and keep.
    pub fn account(&self) -> Account {
        self.progress.spending.account
    }

    /// How long something of it was at work.
    pub fn worked_ms(&self, now: Time) -> u64 {
        let Spending { working, worked_ms, .. } = self.progress.spending;
        worked_ms + working.map_or(0, |since| now.since(since))
    }

    /// When its time is up, by its budget, if it goes on as now.
    pub(super) fn time_is_up(&self) -> Option<Time> {
        let since = self.progress.spending.working?;
        let cap = self.budget()?.seconds?;
        Some(since.plus(((cap * 1e3) as u64).saturating_sub(self.progress.spending.worked_ms)))
    }

    /// What it may take.
    pub fn budget(&self) -> Option<&Budget> {
        self.plan().map(|plan| &plan.budget)
    }

    pub fn by(&self) -> Option<&Actor> {
        self.head.as_ref().map(|head| &head.by)
    }

    pub fn node(&self, id: &NodeId) -> Option<&NodeRun> {
        self.graph.find(id).map(|ix| &self.nodes[ix])
    }

    /// All nodes that there are: those of the plan in its order, then those of bodies as they began.
    pub fn nodes(&self) -> impl Iterator<Item = (&NodeId, &NodeRun)> {
        let own = self.inner_runs.first().into_iter().flat_map(InnerRun::nodes);
        let inside = (0..).map(NodeIx).zip(&self.graph.nodes).filter(|(_, shape)| shape.home != InnerRunIx(0) && !shape.gone);
        own.chain(inside.map(|(ix, _)| ix)).map(|ix| (&self.graph.ids[ix], &self.nodes[ix]))
    }

    /// The nodes of the run's own plan, in its order.
    pub fn own_nodes(&self) -> impl Iterator<Item = (&NodeId, &NodeRun)> {
        self.inner_runs.first().into_iter().flat_map(InnerRun::nodes).map(|ix| (&self.graph.ids[ix], &self.nodes[ix]))
    }

    /// Whether an edge let its target go.
    pub fn edge_state(&self, edge: EdgeId) -> EdgeState {
        self.edges.slot(edge).copied().unwrap_or_default()
    }

    /// Open gates, oldest first.
    pub fn open_gates(&self) -> impl Iterator<Item = &Gate> {
        self.gates.open.iter().filter_map(|&id| self.gate_run(id)).map(|run| &run.gate)
    }

    /// A gate, open or decided, with its decision.
    pub fn gate(&self, id: GateId) -> Option<(&Gate, Option<&Decided>)> {
        self.gate_run(id).map(GateState::view)
    }

    /// All gates in order of opening.
    pub fn gates(&self) -> impl Iterator<Item = (&Gate, Option<&Decided>)> {
        self.gates.all.values().map(GateState::view)
    }

    /// Why a gate ended without an answer; `None` while it is open and when it was answered.
    pub fn voided(&self, id: GateId) -> Option<&Cause> {
        match &self.gate_run(id)?.end {
            GateEnd::Voided(reason) => Some(reason),
            GateEnd::Open | GateEnd::Decided(_) => None,
        }
    }

    /// Whether the run has begun: nodes may start.
    pub fn is_started(&self) -> bool {
        self.progress.started
    }

    /// How the run ended and why; `None` while it goes on.
    pub fn outcome(&self) -> Option<(Outcome, &Cause)> {
        self.progress.outcome.as_ref().map(|(outcome, reason)| (*outcome, reason))
    }

    /// The signal that ended the process which drove the run last; `None` where none did, and once the run goes on.
    pub fn interrupted_by(&self) -> Option<StopSignal> {
        self.progress.interrupted_by
    }

    /// Whether only people keep the run from going on (open gates, unknown nodes, holds, breakpoints, a pause): no worker runs, no timer is due.
    pub fn is_parked(&self) -> bool {
        let waits = !self.gates.open.is_empty() || self.queue.kept > 0 || self.queue.held_calls > 0 || self.steer.speed == Speed::Paused;
        self.progress.started && self.progress.outcome.is_none() && self.is_idle() && waits
    }

    /// Whether no worker runs and no timer is due.
    pub(super) fn is_idle(&self) -> bool {
        self.queue.busy == 0 && self.queue.resuming.is_empty() && self.queue.resting == 0 && !self.is_replanning()
    }

    /// The new plan that is being made, or waits for people.
    pub fn replan(&self) -> Option<&ReplanUnderWay> {
        self.gates.replans.now.as_deref()
    }

    /// Whether a new plan is being made.
    pub fn is_replanning(&self) -> bool {
        self.replan().is_some_and(|replan| replan.gate.is_none())
    }

    /// Events folded so far.
    pub fn last_seq(&self) -> u64 {
        self.seq
    }

    pub(super) fn gate_run(&self, id: GateId) -> Option<&GateState> {
        self.gates.all.get(&id)
    }

    pub(super) fn id_of(&self, ix: NodeIx) -> NodeId {
        self.graph.ids.slot(ix).cloned().unwrap_or_else(|| NodeId::new(""))
    }

    pub(super) fn is_over(&self, ix: NodeIx) -> bool {
        self.flows[ix].phase == Phase::Ended
    }

    pub(super) fn generation(&self, ix: NodeIx) -> u32 {
        self.nodes[ix].generation
    }

    pub(super) fn doc(&self, ix: NodeIx) -> Option<&Node> {
        self.policy(ix).map(|policy| policy.node)
    }

    pub(super) fn policy(&self, ix: NodeIx) -> Option<PolicyInForce<'_>> {
        let inner = self.inner_of(ix)?;
        let node = inner.plan.nodes.get(self.graph.nodes[ix].doc as usize)?;
        Some(PolicyInForce { node, plan: &inner.plan })
    }

    /// The node of a worker's input, when it speaks for the attempt under way.
    pub(super) fn live(&self, node: &NodeId, generation: u32, attempt: u32) -> Option<NodeIx> {
        let ix = self.graph.find(node)?;
        let run = &self.nodes[ix];
        (run.generation == generation && run.attempt == attempt && self.flows[ix].worker.is_some()).then_some(ix)
    }
}

impl GateState {
    fn view(&self) -> (&Gate, Option<&Decided>) {
        match &self.end {
            GateEnd::Decided(decided) => (&self.gate, Some(decided)),
            GateEnd::Open | GateEnd::Voided(_) => (&self.gate, None),
        }
    }
}
