//! Why a node isn't running: all that it waits for, down to what a person can do something about.

use crate::engine::{
    Cause, EdgeId, EdgeState, GateId, NodeState, RunStatus, StateGroup, Time,
    evolve::steer::Speed,
    flow::{Flow, PhasePart},
    graph::{NodeIx, SlotNeed},
    inside_ended,
    run::RunState,
    state::EndKind,
};
use crate::plan::{NodeId, nest};
use crate::text::{clock, some_of};
use indexmap::IndexSet;
use serde::Serialize;
use std::collections::BTreeSet;

/// The most links that are shown.
const LINKS: usize = 100;
/// Names in one sentence, and links to those who hold what a node waits for.
const NAMES: usize = 5;

/// One link of what holds a node up. The chain is a tree: each link behind the one that waits for it, each node once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Blocker {
    pub node: NodeId,
    /// 0 for the node that was asked for.
    pub depth: usize,
    /// What it waits for.
    pub sentence: String,
    /// What its start waits for.
    #[serde(flatten)]
    pub obstacle: Obstacle,
}

/// What a node's start waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "waits_for")]
pub enum Obstacle {
    /// The start of the run.
    Start,
    /// Other nodes: the links below it.
    Nodes,
    /// One of the run or of a provider is to become free.
    Slot,
    /// The end of a pause, or of a run to another node.
    Pause,
    /// Others hold one that it needs.
    Lock,
    /// A person is to release it.
    Hold,
    /// Somebody has to go on from a breakpoint.
    Breakpoint,
    /// A person is to reply.
    Gate { gate: GateId },
    /// The next try is due.
    Retry { until: Time },
    /// Somebody has to say what became of it.
    Word,
    /// It works, or is about to.
    Work,
    /// Nothing: it is over.
    Nothing,
}

impl Obstacle {
    /// Whether a person has to do something.
    pub fn is_for_people(self) -> bool {
        match self {
            Self::Start | Self::Pause | Self::Hold | Self::Breakpoint | Self::Gate { .. } | Self::Word => true,
            Self::Nodes | Self::Slot | Self::Lock | Self::Retry { .. } | Self::Work | Self::Nothing => false,
        }
    }
}

/// What is shown of one node, and who holds it up.
struct BlockerNotes {
    sentence: String,
    obstacle: Obstacle,
    blockers: Vec<NodeIx>,
}

impl BlockerNotes {
    fn new(sentence: String, obstacle: Obstacle) -> Self {
        Self { sentence, obstacle, blockers: Vec::new() }
    }

    fn by(self, blockers: Vec<NodeIx>) -> Self {
        Self { blockers, ..self }
    }
}

impl RunState {
    /// What a node waits for: itself first, then each of those that hold it up with what holds that one up, what people can do something
    /// about before the rest. Empty when there is no such node.
    pub fn why(&self, node: &NodeId) -> Vec<Blocker> {
        let mut links = Vec::new();
        let mut next: Vec<(usize, NodeIx)> = Vec::new();
        match self.graph.find(node) {
            Some(ix) => next.push((0, ix)),
            None => {
                let owner = std::iter::successors(nest::owner(node), |owner| nest::owner(owner)).find_map(|id| self.graph.find(id));
                let (Some(owner), Some(_)) = (owner, self.plan().and_then(|plan| nest::find(plan, node))) else { return links };
                let sentence = format!("`{node}` runs inside `{}`, which has not reached it yet", self.id_of(owner));
                links.push(Blocker { node: node.clone(), depth: 0, sentence, obstacle: Obstacle::Nodes });
                next.push((1, owner));
            }
        }
        let mut seen = BTreeSet::new();
        while let Some((depth, ix)) = next.pop() {
            if !seen.insert(ix) {
                continue;
            }
            let notes = self.blocker_notes(ix);
            if links.len() == LINKS {
                let sentence = format!("{} more", next.len() + 1);
                links.push(Blocker { node: self.id_of(ix), depth, sentence, obstacle: notes.obstacle });
                break;
            }
            links.push(Blocker { node: self.id_of(ix), depth, sentence: notes.sentence, obstacle: notes.obstacle });
            let mut blockers: Vec<NodeIx> = notes.blockers.into_iter().filter(|blocker| !seen.contains(blocker)).collect();
            blockers.sort_by_key(|&blocker| self.urgency(blocker));
            next.extend(blockers.into_iter().rev().map(|blocker| (depth + 1, blocker)));
        }
        links
    }

    /// The same of a run that is so. What was at work when it was interrupted says that, in the words of whoever knows what continues it.
    pub fn why_in(&self, node: &NodeId, status: RunStatus, broken_off: impl Fn(&NodeId) -> String) -> Vec<Blocker> {
        let mut links = self.why(node);
        for link in links.iter_mut().filter(|link| self.node(&link.node).is_some_and(|node| node.state.is_interrupted(status))) {
            if link.obstacle == Obstacle::Work {
                (link.sentence, link.obstacle) = (broken_off(&link.node), Obstacle::Start);
            } else if link.obstacle == Obstacle::Nodes {
                let ended = self.node(&link.node).map_or(0, |node| node.inside.over);
                link.sentence = format!("`{}` was interrupted: {}", link.node, inside_ended(ended, self.count_inside(&link.node)));
            }
        }
        links
    }

    /// Why a node is in its state; may be empty. Of one that a lock kept it is what keeps it now.
    pub fn reason(&self, node: &NodeId) -> String {
        let Some(ix) = self.graph.find(node) else { return String::new() };
        if let (NodeState::Pending, Some(who)) = (&self.nodes[ix].state, &self.flows[ix].halt.hold) {
            return format!("will be held by {who}");
        }
        let in_line = self.nodes[ix].state == NodeState::Held && self.flows[ix].phase.part() == PhasePart::InLine;
        if let Some(all) = self.closed_by_all(ix) {
            return all;
        }
        if !in_line {
            let at_gate = matches!(self.flows[ix].phase.part(), PhasePart::AtGate(_));
            let hold = if at_gate { self.later_hold(ix) } else { String::new() };
            return format!("{}{hold}", self.nodes[ix].reason.message());
        }
        let (waits, _) = self.taken_locks(ix);
        match (self.is_paused(), waits.is_empty()) {
            (true, true) => "the run is paused".to_owned(),
            (true, false) => format!("the run is paused, and it {waits}"),
            (false, _) => waits,
        }
    }

    fn blocker_notes(&self, ix: NodeIx) -> BlockerNotes {
        let (id, node) = (self.id_of(ix), &self.nodes[ix]);
        let reason = node.reason.message();
        let because = if reason.is_empty() { reason } else { format!(": {reason}") };
        match (node.state.group(), &node.state) {
            (StateGroup::Ahead, NodeState::Pending) if !self.progress.started => {
                BlockerNotes::new(format!("`{id}` waits for the run to start"), Obstacle::Start)
            }
            (StateGroup::Ahead, NodeState::Pending) => self.pending(ix, &id),
            (StateGroup::Ahead, NodeState::Ready) => self.not_started(&id),
            (StateGroup::Ahead, state) => self.held(ix, &id, format!("`{id}` is {}{because}", state.word())),
            (StateGroup::Waiting, NodeState::Waiting { gate }) => {
                let hold = self.later_hold(ix);
                BlockerNotes::new(format!("`{id}` waits for a reply to gate {}{because}{hold}", gate.0), Obstacle::Gate { gate: *gate })
            }
            (StateGroup::Waiting, state) => {
                BlockerNotes::new(format!("`{id}` is {}, a person must say what happened{because}", state.word()), Obstacle::Word)
            }
            (StateGroup::Working, state) if self.count_inside(&id) > 0 => {
                let inside = inside_ended(node.inside.over, self.count_inside(&id));
                BlockerNotes::new(format!("`{id}` is {}: {inside}", state.label(self.status())), Obstacle::Nodes)
                    .by(self.open_inside(ix).collect())
            }
            (StateGroup::Resting, NodeState::Retrying { until }) => {
                BlockerNotes::new(format!("`{id}` will be retried at {}{because}", clock(until.0)), Obstacle::Retry { until: *until })
            }
            (StateGroup::Working | StateGroup::Resting, state) => {
                BlockerNotes::new(format!("`{id}` is {}{because}", state.word()), Obstacle::Work)
            }
            (StateGroup::NotRun, NodeState::Skipped) => {
                let because = self.closed_by_all(ix).map_or(because, |all| format!(": {all}"));
                BlockerNotes::new(format!("`{id}` was skipped{because}"), Obstacle::Nothing).by(self.closers(ix))
            }
            (StateGroup::Done | StateGroup::Failed | StateGroup::NotRun, state) => {
                let stale = node.stale.as_ref().map(|why| format!(", but its result is stale: {}", why.message())).unwrap_or_default();
                BlockerNotes::new(format!("`{id}` {}{because}{stale}", state.word()), Obstacle::Nothing)
            }
        }
    }

    /// Its sources, and a hold that waits for it.
    fn pending(&self, ix: NodeIx, id: &NodeId) -> BlockerNotes {
        let waiting = self.graph.nodes[ix].ins.iter().filter(|edge| self.edges[**edge] == EdgeState::Undecided);
        let mut sources: Vec<NodeIx> = waiting.map(|&edge| self.graph.link(edge).from).collect();
        sources.dedup();
        let names = self.names(&sources);
        let hold = self.later_hold(ix);
        BlockerNotes::new(format!("`{id}` waits for {names}{hold}"), Obstacle::Nodes).by(sources)
    }

    fn later_hold(&self, ix: NodeIx) -> String {
        self.flows[ix].halt.hold.as_ref().map(|who| format!("; then it stays held by {who}")).unwrap_or_default()
    }

    /// The first of these nodes, and how many more there are.
    fn names(&self, nodes: &[NodeIx]) -> String {
        some_of(nodes.iter().map(|&node| format!("`{}`", self.id_of(node))), NAMES)
    }

    /// Nothing but the pace and the slots keep it.
    fn not_started(&self, id: &NodeId) -> BlockerNotes {
        match &self.steer.speed {
            Speed::Paused => BlockerNotes::new(format!("`{id}` is ready, and the run is paused"), Obstacle::Pause),
            Speed::To { target, way } if self.graph.find(id).is_some_and(|ix| !way.contains(&ix)) => {
                BlockerNotes::new(format!("`{id}` is ready, but the run pauses before `{}`", self.id_of(*target)), Obstacle::Pause)
            }
            Speed::Free | Speed::To { .. } => self.no_slot(id, "is ready"),
        }
    }

    /// What a node waits for by itself, in a few words for its row: a slot, a rate, the next try, the first words.
    pub fn waits_for(&self, node: &NodeId) -> Option<String> {
        let ix = self.graph.find(node)?;
        let run = &self.nodes[ix];
        if run.state == NodeState::Ready && !self.is_paused() && !self.queue.has_room(self.graph.nodes[ix].place) {
            return Some("waits for a slot".to_owned());
        }
        let is_at_work = run.state == NodeState::Held || run.state == NodeState::Running;
        is_at_work.then(|| run.reason.short_wait()).flatten()
    }

    /// The lock or slot that keeps a node from starting at once.
    pub(in crate::engine) fn no_room(&self, ix: NodeIx) -> Option<String> {
        let (waits, _) = self.taken_locks(ix);
        let full = !self.queue.has_room(self.graph.nodes[ix].place);
        if !waits.is_empty() {
            return Some(format!("`{}` {waits}", self.id_of(ix)));
        }
        full.then(|| self.no_slot(&self.id_of(ix), "is ready").sentence)
    }

    /// Who has the slots that a node wants, which is in this state; oldest work first. Looks through all nodes: for people's questions only.
    fn no_slot(&self, id: &NodeId, state: &str) -> BlockerNotes {
        let place = self.graph.find(id).map(|ix| self.graph.nodes[ix].place).unwrap_or_default();
        let of_model = self.settings().and_then(|settings| settings.model_slots.as_ref());
        let of_model = of_model.filter(|_| self.queue.has_slot() && !self.queue.has_room(place));
        let since = |flow: &Flow| flow.worker.as_ref().and_then(|worker| worker.since);
        let counts = |ix: &NodeIx| of_model.is_none() || self.graph.nodes[*ix].place == SlotNeed::Model;
        let at_work = (0..).map(NodeIx).zip(&self.flows).filter_map(|(ix, flow)| Some((since(flow)?, ix)));
        let mut busy: Vec<(Time, NodeIx)> = at_work.filter(|(_, ix)| counts(ix)).collect();
        busy.sort_unstable();
        let mut busy: Vec<NodeIx> = busy.into_iter().map(|(_, ix)| ix).collect();
        let names = if busy.is_empty() { String::new() } else { format!(": {}", self.names(&busy)) };
        let (at, slots) = of_model.map_or((String::new(), self.queue.slots), |model| (format!(" at {}", model.provider), model.slots));
        let sentence = format!("`{id}` {state} and waits for a free slot{at} ({} of {slots} in use{names})", busy.len());
        busy.truncate(NAMES);
        BlockerNotes::new(sentence, Obstacle::Slot).by(busy)
    }

    /// The locks of a node that are taken, and who has them now, which may be others than when it came to wait in line.
    fn taken_locks(&self, ix: NodeIx) -> (String, Vec<NodeIx>) {
        let locks = self.graph.nodes[ix].locks.iter();
        let taken = locks.filter_map(|&lock| Some((&self.graph.locks[lock as usize], self.queue.locks[lock as usize].holder?)));
        let taken: Vec<(&String, NodeIx)> = taken.collect();
        let locks: Vec<String> =
            taken.iter().map(|(lock, holder)| format!("lock `{lock}`, which `{}` holds", self.id_of(*holder))).collect();
        let holders: BTreeSet<NodeIx> = taken.into_iter().map(|(_, holder)| holder).collect();
        let words = if locks.is_empty() { String::new() } else { format!("waits for {}", locks.join(", and for ")) };
        (words, holders.into_iter().collect())
    }

    fn locked_out(&self, ix: NodeIx, id: &NodeId) -> BlockerNotes {
        let (waits, holders) = self.taken_locks(ix);
        match (holders.is_empty(), self.is_paused()) {
            (true, _) => self.not_started(id),
            (false, true) => BlockerNotes::new(format!("`{id}` is held: the run is paused, and it {waits}"), Obstacle::Pause).by(holders),
            (false, false) => BlockerNotes::new(format!("`{id}` is held: {waits}"), Obstacle::Lock).by(holders),
        }
    }

    fn held(&self, ix: NodeIx, id: &NodeId, sentence: String) -> BlockerNotes {
        let flow = &self.flows[ix];
        match flow.phase.part() {
            PhasePart::InLine => self.locked_out(ix, id),
            PhasePart::Held if flow.halt.hold.is_none() => {
                let kept = flow.halt.kept.as_ref().and_then(|kept| kept.label()).map(|kept| format!("; {kept}")).unwrap_or_default();
                BlockerNotes::new(format!("{sentence}{kept}"), Obstacle::Breakpoint)
            }
            PhasePart::AtWork if self.holds_call(ix) => BlockerNotes::new(sentence, Obstacle::Breakpoint),
            PhasePart::AtWork if self.nodes[ix].reason.is_model_wait() => BlockerNotes::new(sentence, self.model_obstacle(ix)),
            // What it waited for in the middle of its work was answered.
            PhasePart::AtWork => self.no_slot(id, "has its answers"),
            PhasePart::Stuck => BlockerNotes::new(sentence, Obstacle::Work),
            _ => BlockerNotes::new(sentence, Obstacle::Hold),
        }
    }

    fn model_obstacle(&self, ix: NodeIx) -> Obstacle {
        match self.nodes[ix].reason {
            Cause::ModelRate { until, .. } | Cause::NextTry { until, .. } => Obstacle::Retry { until },
            _ => Obstacle::Slot,
        }
    }

    /// The edge that closed a node's join: one that it needs, before one of several alternatives.
    /// Every source that keeps a node's join from being satisfied: with one of them alone it would be skipped again.
    fn closers(&self, ix: NodeIx) -> Vec<NodeIx> {
        let class = |edge: EdgeId| self.graph.link(edge).alternative;
        let Some(first) = self.closed_by(ix) else { return Vec::new() };
        let dead =
            self.graph.nodes[ix].ins.iter().copied().filter(|edge| self.edges[*edge] == EdgeState::Dead && class(*edge) == class(first));
        let sources: IndexSet<NodeIx> = dead.map(|edge| self.graph.link(edge).from).collect();
        sources.into_iter().collect()
    }

    /// Why a node was skipped, where several sources each would have had it skipped; what was first is on record.
    fn closed_by_all(&self, ix: NodeIx) -> Option<String> {
        let recorded = &self.nodes[ix].reason;
        let (Cause::Source { node: first, .. } | Cause::OtherWay { node: first, .. } | Cause::DeadEdge { node: first }) = recorded else {
            return None;
        };
        let closers = self.closers(ix);
        let why = |&source: &NodeIx| {
            let (node, state) = (self.id_of(source), self.nodes[source].state);
            match state.end() {
                _ if node == *first => recorded.message(),
                EndKind::Closes => Cause::Source { node, state }.message(),
                EndKind::Open | EndKind::Gives | EndKind::HandsOn => format!("`{node}` led elsewhere"),
            }
        };
        (closers.len() > 1 && self.nodes[ix].state == NodeState::Skipped).then(|| some_of(closers.iter().map(why), NAMES))
    }

    pub(in crate::engine) fn closed_by(&self, ix: NodeIx) -> Option<EdgeId> {
        let dead = self.graph.nodes[ix].ins.iter().copied().filter(|edge| self.edges[*edge] == EdgeState::Dead);
        dead.min_by_key(|edge| self.graph.link(*edge).alternative)
    }

    /// Those that a person can do something about come first, then those that wait themselves.
    pub(in crate::engine) fn urgency(&self, ix: NodeIx) -> u8 {
        let state = &self.nodes[ix].state;
        match state.group() {
            StateGroup::Waiting => 0,
            StateGroup::Ahead if *state == NodeState::Held => 1,
            StateGroup::Ahead if *state == NodeState::Pending => 2,
            StateGroup::Resting => 2,
            StateGroup::Ahead | StateGroup::Working => 3,
            StateGroup::Done | StateGroup::Failed | StateGroup::NotRun => 4,
        }
    }
}
