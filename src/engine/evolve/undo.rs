//! Undoing an action. From the action on a shadow of the run is kept: the run as it would be without it. Events that have nothing to do
//! with the action go to both. The first one that does means that its effect has begun, and the shadow is dropped.

use crate::engine::{
    Action, Cause, Event, EventTrait, GateId, Record, Topic,
    run::{GateEnd, GateState, RunState},
};
use crate::plan::NodeId;
use std::{collections::BTreeSet, sync::Arc};

/// The most actions that can be undone one after the other.
const MOST: u32 = 8;

/// The run without its newest action.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::engine) struct Shadow {
    /// The action's place in the run.
    pub action: u64,
    pub words: String,
    /// The action's own events are still coming.
    pub open: bool,
    /// It came before the run started.
    before_start: bool,
    /// The action's own events, for the shadow below when this one is dropped.
    own: Vec<Record>,
    /// Nodes that read what the action takes back: none may start by what it left.
    reach: BTreeSet<NodeId>,
    run: RunState,
}

impl RunState {
    /// The newest action that can be undone: its place in the run, and its label. How a run starts is part of its start, which nothing
    /// undoes.
    pub fn undoable(&self) -> Option<(u64, &str)> {
        self.steer.shadow.as_ref().filter(|shadow| !shadow.before_start).map(|shadow| (shadow.action, shadow.words.as_str()))
    }

    /// The run as it is when an action is undone.
    pub(in crate::engine) fn without_action(&self, action: u64) -> Option<&Self> {
        self.steer.shadow.as_deref().filter(|shadow| shadow.action == action).map(|shadow| &shadow.run)
    }

    /// Keeps shadows in step; comes before the event is folded.
    pub(super) fn shade(&mut self, record: &Record) {
        if let Event::Acted { action, nodes, .. } = &record.event {
            return self.cast_shadow(record, action, nodes);
        }
        let Some(mut kept) = self.steer.shadow.take() else { return };
        let shadow = Arc::make_mut(&mut kept);
        // The end of the run changes nothing in the world. Nothing more comes of an action by which the run is over.
        if let Event::RunEnded { .. } = record.event {
            shadow.open = false;
            self.steer.shadow = Shadow::at_end(kept);
            return;
        }
        let stays = if !shadow.open && shadow.is_read_by(&record.event) {
            false
        } else if let Event::Undone { .. } = record.event {
            true
        } else if let Event::Carried = record.event {
            shadow.open = false;
            true
        } else if shadow.open {
            shadow.own.push(record.clone());
            self.is_thought(record)
        } else if shadow.run.is_same_for(self, &record.event) {
            shadow.run.evolve(record);
            true
        } else {
            false
        };
        self.steer.shadow = if stays { Some(kept) } else { Arc::unwrap_or_clone(kept).below(record) };
    }

    /// An action begins: the run as it is goes into the shadow, unless the action itself has an effect.
    fn cast_shadow(&mut self, record: &Record, action: &Action, nodes: &[NodeId]) {
        let below = self.steer.shadow.take();
        let mut run = self.clone();
        run.steer.shadow = below;
        run.cut_shadows(MOST - 1);
        let words = action.label();
        let thought = self.is_thought(record);
        let found = nodes.iter().filter_map(|node| self.graph.find(node)).filter(|_| action.reopens());
        let reach = self.downstream(found).into_iter().map(|ix| self.id_of(ix)).collect();
        let shadow =
            Shadow { action: record.seq, words, open: true, before_start: !self.progress.started, own: vec![record.clone()], reach, run };
        self.steer.shadow = if thought { Some(Arc::new(shadow)) } else { shadow.below(record) };
    }

    /// Puts the shadow in the run's place. Gates that the action opened stay on record.
    pub(super) fn undone(&mut self, action: u64, seq: u64) {
        let Some(shadow) = self.steer.shadow.take_if(|shadow| shadow.action == action) else { return };
        let gates = std::mem::replace(self, Arc::unwrap_or_clone(shadow).run).gates;
        for (id, gate) in gates.all {
            let undone = || GateState { end: GateEnd::Voided(Cause::Undone), ..gate };
            self.gates.all.entry(id).or_insert_with(undone);
        }
        self.seq = seq;
    }

    /// Folds an event of an action that stays.
    fn pass_on(&mut self, record: &Record) {
        if let Some(mut shadow) = self.steer.shadow.take()
            && shadow.run.is_same_for(self, &record.event)
        {
            Arc::make_mut(&mut shadow).run.pass_on(record);
            self.steer.shadow = Some(shadow);
        }
        self.fold(record);
    }

    fn cut_shadows(&mut self, most: u32) {
        match &mut self.steer.shadow {
            Some(_) if most == 0 => self.steer.shadow = None,
            Some(shadow) => Arc::make_mut(shadow).run.cut_shadows(most - 1),
            None => {}
        }
    }

    /// Whether an event of an action itself is only a matter of the state: nothing in the world follows from it. That the run is over by it
    /// is such a matter too.
    fn is_thought(&self, record: &Record) -> bool {
        self.effects(record).is_empty()
    }

    /// Whether an event is about something that is the same here and there.
    fn is_same_for(&self, other: &Self, event: &Event) -> bool {
        if let Event::Acted { action, nodes, .. } = event {
            // A step leaves the run paused, whoever undoes the pause before it.
            let paces = matches!(**action, Action::Step { .. }) && self.is_paused() != other.is_paused();
            return !paces && action.node().into_iter().chain(nodes).all(|node| self.node_like(other, node));
        }
        match event.topic() {
            Topic::Run | Topic::Action => !event.has(EventTrait::EndsRun),
            Topic::Gate(gate) => event.node().map_or_else(|| self.gate_like(other, gate), |node| self.node_like(other, node)),
            Topic::Node(node) | Topic::Call(node) | Topic::Text(node) => {
                self.node_like(other, node)
                    && (!event.has(EventTrait::DecidesEdges) || self.ways_like(other, node))
                    && (!event.has(EventTrait::AsksForLocks) || self.locks_like(other, node))
                    && (event.has(EventTrait::Reports) || self.driven_like(other, node))
            }
        }
    }

    /// Whether people drive a node in the same way here and there.
    fn driven_like(&self, other: &Self, node: &NodeId) -> bool {
        let points = |run: &Self| run.breakpoints().filter(|(_, point)| point.means(node)).map(|(id, _)| id).collect::<Vec<_>>();
        let drives = |run: &Self| {
            let flow = &run.flows[run.graph.find(node)?];
            Some((flow.drive.clone(), flow.guidance.texts.clone(), flow.worker.as_ref().map(|worker| worker.pending.clone())))
        };
        points(self) == points(other) && drives(self) == drives(other)
    }

    /// Whether the locks of a node are in the same hands.
    fn locks_like(&self, other: &Self, node: &NodeId) -> bool {
        let holders = |run: &Self| {
            let locks = &run.graph.nodes[run.graph.find(node)?].locks;
            Some(locks.iter().map(|&lock| run.queue.locks[lock as usize].holder.map(|ix| run.id_of(ix))).collect::<Vec<_>>())
        };
        holders(self) == holders(other)
    }

    fn gate_like(&self, other: &Self, gate: GateId) -> bool {
        match (self.gate_run(gate), other.gate_run(gate)) {
            (Some(here), Some(there)) => here == there && self.node_like(other, &here.gate.node),
            (_, _) => false,
        }
    }

    fn node_like(&self, other: &Self, node: &NodeId) -> bool {
        let (Some(here), Some(there)) = (self.graph.find(node), other.graph.find(node)) else { return false };
        let (flow, other_flow) = (&self.flows[here], &other.flows[there]);
        let (node, other_node) = (&self.nodes[here], &other.nodes[there]);
        let planned = match (self.policy(here), other.policy(there)) {
            (Some(one), Some(two)) => std::ptr::eq(one.plan, two.plan) || one.node == two.node && one.plan.defaults == two.plan.defaults,
            (_, _) => false,
        };
        planned
            && (flow.phase, flow.tally, &flow.halt.hold, node.generation, node.attempt)
                == (other_flow.phase, other_flow.tally, &other_flow.halt.hold, other_node.generation, other_node.attempt)
    }

    /// Whether the same ways lead out of a node, under the same numbers.
    fn ways_like(&self, other: &Self, node: &NodeId) -> bool {
        let (Some(here), Some(there)) = (self.graph.find(node), other.graph.find(node)) else { return false };
        let target = |run: &Self, edge| run.id_of(run.graph.link(edge).to);
        let (outs, other_outs) = (&self.graph.nodes[here].outs, &other.graph.nodes[there].outs);
        outs == other_outs && outs.iter().all(|&edge| target(self, edge) == target(other, edge))
    }
}

impl Shadow {
    /// Whether an event is a step of a node that works with what the action left.
    fn is_read_by(&self, event: &Event) -> bool {
        event.has(EventTrait::ReadsOthers) && event.node().is_some_and(|node| self.reach.contains(node))
    }

    /// The shadow below, brought to where this one's action has its effect; none when that touches what it would undo.
    fn below(self, record: &Record) -> Option<Arc<Self>> {
        let mut run = self.run;
        let mut kept = run.steer.shadow.take()?;
        let lower = Arc::make_mut(&mut kept);
        for own in self.own.iter().filter(|own| own.seq != record.seq).chain([record]) {
            if !lower.run.is_same_for(&run, &own.event) {
                return None;
            }
            lower.run.pass_on(own);
            run.fold(own);
        }
        Some(kept)
    }

    /// Whether there is something to undo once the run is over: something would go on, or have another result. What only steered
    /// the run means nothing any more.
    fn outlasts_the_end(&self) -> bool {
        let goes_on = self.run.inner_runs.first().is_some_and(|inner| inner.unfinished > 0);
        goes_on || !self.reach.is_empty()
    }

    /// This one, or the first one below it that outlasts the end of the run.
    fn at_end(kept: Arc<Self>) -> Option<Arc<Self>> {
        if kept.outlasts_the_end() {
            return Some(kept);
        }
        let last = kept.own.last().cloned()?;
        Arc::unwrap_or_clone(kept).below(&last).and_then(Self::at_end)
    }
}
