//! `Timeline`: a third fold of the events, for views: what each node waited for and did, and when, and who had what it waited for.
//! `Timeline::chart` draws it up: a bar a node, the critical path as it really was, and the shortest time that the same work could have
//! taken. A node that gets another name keeps its bar.

use crate::engine::{
    Action, Event, EventTrait, NewNames, NodeFact, NodeRun, NodeState, Record, Renames, Run, StateGroup, Time, Topic, carry, flow::Phase,
    graph::NodeIx, run::RunState,
};
use crate::plan::NodeId;
use serde::Serialize;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

/// What a node does for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// Waits for its sources.
    Inputs,
    /// Ready; waits for a free slot.
    Slot,
    /// Held: by a lock, a breakpoint, a hold, a pause.
    Held,
    /// Waits for an answer to a gate.
    Gate,
    /// At work, and waits for its model: for a place there, the next try, the beginning of the answer.
    Model,
    /// Works. A node with a plan inside works as long as that does.
    Working,
    /// Rests until its next attempt.
    Resting,
    /// Waits for somebody to say what became of it.
    Unknown,
}

impl Doing {
    /// What a node of a run does; nothing when it is over.
    pub(in crate::engine) fn of(node: &NodeRun, run: &RunState) -> Option<Self> {
        Some(match node.state.group() {
            StateGroup::Ahead | StateGroup::Working if node.reason.is_model_wait() => Self::Model,
            StateGroup::Ahead if node.state == NodeState::Pending => Self::Inputs,
            StateGroup::Ahead if node.state == NodeState::Ready && !run.is_paused() => Self::Slot,
            StateGroup::Ahead => Self::Held,
            StateGroup::Waiting if node.state == NodeState::Unknown => Self::Unknown,
            StateGroup::Waiting => Self::Gate,
            StateGroup::Working => Self::Working,
            StateGroup::Resting => Self::Resting,
            StateGroup::Done | StateGroup::Failed | StateGroup::NotRun => return None,
        })
    }
}

/// A while in which a node does one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Stretch {
    pub doing: Doing,
    /// In which generation of the node.
    pub generation: u32,
    /// In which attempt; 0 before the first.
    pub attempt: u32,
    pub from: Time,
    /// Until when; absent while it goes on.
    pub to: Option<Time>,
}

impl Stretch {
    /// How long it is, where `now` ends what goes on.
    pub fn ms(&self, now: Time) -> u64 {
        self.to.unwrap_or(now).since(self.from)
    }
}

/// One node against time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bar {
    pub node: NodeId,
    /// In order and without gaps; empty before the run began.
    pub stretches: Vec<Stretch>,
    /// What it really started after.
    pub after: Option<After>,
    /// Whether it is on the critical path.
    pub critical: bool,
}

impl Bar {
    /// The work time of the newest generation, as the tree shows it.
    pub fn worked(&self, now: Time) -> u64 {
        let newest = self.stretches.iter().map(|stretch| stretch.generation).max();
        let own = self.stretches.iter().filter(|stretch| Some(stretch.generation) == newest && stretch.doing == Doing::Working);
        own.map(|stretch| stretch.ms(now)).sum()
    }

    /// Time spent on one thing, all generations and attempts together.
    pub fn spent(&self, doing: Doing, now: Time) -> u64 {
        self.stretches.iter().filter(|stretch| stretch.doing == doing).map(|stretch| stretch.ms(now)).sum()
    }
}

/// The node that held another one up last, before that one could start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct After {
    pub node: NodeId,
    #[serde(flatten)]
    pub by: StartCause,
}

/// What one node starts after another by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum StartCause {
    /// It was its source and ended.
    Source,
    /// It was of the turn before and ended.
    Turn,
    /// All slots were in use, and it gave one back.
    Slot,
    /// It gave a lock back.
    Lock { lock: String },
}

/// A run against time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TimelineChart {
    /// When the run started; absent before.
    pub start: Option<Time>,
    /// Where bars that go on end: when the run settled, else the moment that the chart was asked for.
    pub end: Time,
    /// All nodes, those of bodies right behind the node that they run in.
    pub bars: Vec<Bar>,
    /// From the first node to the one that ended last, each of which started once the one before it let it: a source by its end, others
    /// by freeing a slot or a lock. A node with a plan inside comes before those inside it.
    pub critical: Vec<NodeId>,
    /// From start to end.
    pub makespan_ms: u64,
    /// The longest chain of working times through the plan: less is not possible with this work, however many slots there are and however
    /// fast people answer.
    pub bound_ms: u64,
}

/// What is kept of a node.
#[derive(Clone, Debug, Default, PartialEq)]
struct Track {
    stretches: Vec<Stretch>,
    /// The one that it is in, also where nothing of that took any time.
    generation: u32,
    /// When its sources were there, as an event.
    ready: Option<u64>,
    /// When its generation ended, as an event.
    ended: Option<u64>,
    /// Since when it does what it does, as an event.
    since: u64,
    /// When its generation started, as an event.
    started: Option<u64>,
    /// Whether it waits in line for a lock.
    locked_out: bool,
    /// What it has that others may wait for.
    has: Has,
    /// Who let it start, where it waited in line for that.
    let_in: Option<(StartCause, Freed)>,
}

/// What a node has that others may wait for.
#[derive(Clone, Debug, Default, PartialEq)]
struct Has {
    slot: bool,
    locks: Vec<u32>,
}

/// Somebody gave something back.
#[derive(Clone, Debug, PartialEq)]
struct Freed {
    node: NodeId,
    /// When, as an event.
    seq: u64,
}

/// Who freed last what others wait for.
#[derive(Clone, Debug, Default, PartialEq)]
struct LastFreed {
    /// No slot was free after the event before this one.
    full: bool,
    /// A slot, when none was free.
    slot: Option<Freed>,
    locks: BTreeMap<u32, Freed>,
}

/// What every node of a run waited for and did, by time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    tracks: BTreeMap<NodeId, Track>,
    /// When each body began, by what comes before its nodes' ids, as a moment and an event. The run's own plan has no prefix.
    begun: BTreeMap<String, (Time, u64)>,
    settled: Option<Time>,
    /// Nothing starts by itself after the last event.
    halted: bool,
    /// When the last event happened.
    last: Time,
    freed: LastFreed,
    renames: Renames,
}

impl Timeline {
    /// Takes in one event, which `run` has just folded.
    pub fn fold(&mut self, run: &RunState, record: &Record) {
        let names = self.renames.fold(record);
        if !names.is_empty() {
            self.rename(&names);
        }
        let event = &record.event;
        match event.topic() {
            Topic::Run => self.note_run(run, record),
            Topic::Action => self.note_action(run, record),
            Topic::Gate(gate) => run.gate(gate).into_iter().for_each(|(gate, _)| self.note(run, &gate.node, record)),
            Topic::Node(node) | Topic::Call(node) | Topic::Text(node) => {
                if let Event::Node { fact: NodeFact::BodyStarted { index }, .. } = event {
                    let prefix = index.map_or_else(|| format!("{node}/"), |index| format!("{node}[{index}]/"));
                    self.begun.insert(prefix, (record.at, record.seq));
                    self.note_all(run, run.newest_body(node), record);
                } else {
                    self.note(run, node, record);
                }
            }
        }
        // The one who waits in line is held by a pause, and by nothing once that ends.
        if std::mem::replace(&mut self.halted, run.is_paused()) != run.is_paused() {
            self.note_all(run, run.queue.in_line(), record);
        }
        self.last = record.at;
        self.freed.full = !run.queue.has_slot();
    }

    fn note_run(&mut self, run: &RunState, record: &Record) {
        if let Event::RunStarted = record.event {
            self.begun.insert(String::new(), (record.at, record.seq));
        } else if let Event::RunEnded { .. } = record.event {
            self.settled = Some(record.at);
        } else if let Event::RunReopened { .. } = record.event {
            self.settled = None;
        } else if record.event.has(EventTrait::ChangesDriver) {
            self.break_off(run, record.at);
        }
    }

    /// An edit or an undo puts another plan, or another state, in the place of the whole run's.
    fn note_action(&mut self, run: &RunState, record: &Record) {
        if let Event::Acted { action, nodes, .. } = &record.event
            && !matches!(**action, Action::Edit { .. })
        {
            nodes.iter().for_each(|node| self.note(run, node, record));
        } else if record.event.has(EventTrait::Steers) {
            self.note_all(run, run.all_nodes(), record);
        }
    }

    /// The process that drove the run so far ended with its last event: what was at work was idle from then on, until now.
    fn break_off(&mut self, run: &RunState, at: Time) {
        for (node, track) in &mut self.tracks {
            let Some(open) = track.stretches.last_mut().filter(|open| open.to.is_none() && open.doing == Doing::Working) else { continue };
            open.to = Some(self.last);
            let still = Stretch { doing: Doing::Held, from: self.last, to: None, ..*open };
            // What works inside a node has a bar of its own; the node goes on around it.
            let goes_on = run.node(node).is_some_and(|node| node.inside.nodes > 0);
            let on = goes_on.then_some(Stretch { doing: Doing::Working, from: at, to: None, ..still });
            track.stretches.push(Stretch { to: goes_on.then_some(at), ..still });
            track.stretches.extend(on);
        }
    }

    fn rename(&mut self, names: &NewNames) {
        carry(&mut self.tracks, names);
        let let_in = self.tracks.values_mut().filter_map(|track| track.let_in.as_mut()).map(|(_, freed)| freed);
        for freed in let_in.chain(&mut self.freed.slot).chain(self.freed.locks.values_mut()) {
            if let Some((_, new)) = names.iter().find(|(old, _)| *old == freed.node) {
                freed.node.clone_from(new);
            }
        }
    }

    /// The timeline of these records, and the run that they are.
    pub fn replay<'a>(records: impl IntoIterator<Item = &'a Record>) -> (Self, Run) {
        let (mut timeline, mut run) = (Self::default(), Run::default());
        for record in records {
            run.evolve(record);
            timeline.fold(&run, record);
        }
        (timeline, run)
    }

    fn note_all(&mut self, run: &RunState, nodes: impl Iterator<Item = NodeIx>, record: &Record) {
        nodes.for_each(|ix| self.note(run, &run.graph.ids[ix], record));
    }

    /// Notes what a node does from now on, if that is something else.
    fn note(&mut self, run: &RunState, id: &NodeId, record: &Record) {
        let Some(ix) = run.graph.find(id) else { return };
        let (node, flow) = (&run.nodes[ix], &run.flows[ix]);
        if !self.tracks.contains_key(id) {
            let Some(waiting) = self.waiting(id) else { return };
            self.tracks.insert(id.clone(), Track { stretches: vec![waiting], ..Track::default() });
        }
        let Some(track) = self.tracks.get_mut(id) else { return };
        let starts = matches!(record.event, Event::Node { fact: NodeFact::Started { attempt: 1, .. }, .. });
        let let_in = if starts { self.freed.let_in(track, run, ix, record.at) } else { None };
        track.note(node, Doing::of(node, run), record);
        if starts {
            (track.started, track.let_in) = (Some(record.seq), let_in);
        }
        track.locked_out = matches!(flow.phase, Phase::Locked(_));
        self.freed.note(&mut track.has, run, ix, record.seq);
    }

    /// What a node does that nothing has happened to yet.
    fn waiting(&self, id: &str) -> Option<Stretch> {
        let (from, _) = *self.begun.get(crate::plan::nest::prefix(id))?;
        Some(Stretch { doing: Doing::Inputs, generation: 1, attempt: 0, from, to: None })
    }

    /// The stretches of one node, oldest first.
    pub fn stretches(&self, id: &NodeId) -> Vec<Stretch> {
        self.tracks.get(id).map_or_else(|| self.waiting(id).into_iter().collect(), |track| track.stretches.clone())
    }

    /// Draws the timeline up as it is at `now`, which counts only while the run goes on. In proportion to all of it.
    pub fn chart(&self, run: &RunState, now: Time) -> TimelineChart {
        let end = self.settled.unwrap_or(now);
        let start = self.begun.get("").map(|(at, _)| *at);
        let critical: Vec<NodeId> = self.critical(run).into_iter().map(|ix| run.id_of(ix)).collect();
        let on_it: BTreeSet<&NodeId> = critical.iter().collect();
        let bars = run.nodes_in_order().into_iter().map(|(id, _)| {
            let after = run.graph.find(id).and_then(|ix| self.after(run, ix)).map(|(ix, by)| After { node: run.id_of(ix), by });
            Bar { node: id.clone(), stretches: self.stretches(id), after, critical: on_it.contains(id) }
        });
        let bars = bars.collect();
        TimelineChart { start, end, bars, makespan_ms: start.map_or(0, |start| end.since(start)), bound_ms: self.bound(run, end), critical }
    }

    fn track(&self, run: &RunState, ix: NodeIx) -> Option<&Track> {
        self.tracks.get(run.graph.ids.slot(ix)?)
    }

    /// The nodes that had ended when this one could start and that it waited for, by the order in which they ended.
    fn sources(&self, run: &RunState, ix: NodeIx) -> Vec<NodeIx> {
        let Some(ready) = self.track(run, ix).and_then(|track| track.ready) else { return Vec::new() };
        let sources = run.graph.nodes[ix].ins.iter().map(|&edge| run.graph.link(edge).from);
        self.ended_before(run, sources, ready)
    }

    /// When a node that has worked ended, as an event; the greatest number while it is at it.
    pub(in crate::engine) fn worked_until(&self, run: &RunState, ix: NodeIx) -> Option<u64> {
        let track = self.track(run, ix).filter(|track| track.stretches.iter().any(|stretch| stretch.doing == Doing::Working));
        track.map(|track| track.ended.unwrap_or(u64::MAX))
    }

    /// Who let a node start that waited in line for that, and by what; unless that one has begun anew since.
    pub(in crate::engine) fn let_in(&self, run: &RunState, ix: NodeIx) -> Option<(NodeIx, StartCause)> {
        let (by, freed) = self.track(run, ix)?.let_in.as_ref()?;
        let began = self.tracks.get(&freed.node)?.started.filter(|&began| began < freed.seq);
        began.and_then(|_| run.graph.find(&freed.node)).map(|holder| (holder, by.clone()))
    }

    fn ended_before(&self, run: &RunState, nodes: impl Iterator<Item = NodeIx>, seq: u64) -> Vec<NodeIx> {
        let ended = nodes.filter_map(|ix| Some((self.track(run, ix)?.ended.filter(|&ended| ended < seq)?, ix)));
        let ended: BTreeSet<(u64, NodeIx)> = ended.collect();
        ended.into_iter().map(|(_, ix)| ix).collect()
    }

    /// What a node that no edge leads to waited for: where bodies run one after the other, all of the one before.
    fn turn_before(&self, run: &RunState, ix: NodeIx) -> Vec<NodeIx> {
        let begun = run.inner_of(ix).and_then(|inner| self.begun.get(&inner.prefix));
        let (Some(&(_, begun)), Some(before)) = (begun, run.turn_before(ix)) else { return Vec::new() };
        self.ended_before(run, run.inner(before).into_iter().flat_map(|inner| inner.nodes()), begun)
    }

    pub(in crate::engine) fn all_sources(&self, run: &RunState, ix: NodeIx) -> Vec<NodeIx> {
        if run.graph.nodes[ix].ins.is_empty() { self.turn_before(run, ix) } else { self.sources(run, ix) }
    }

    /// The longest chain of working times: sources come before those who wait for them, and what is inside before what is around it.
    fn bound(&self, run: &RunState, now: Time) -> u64 {
        let mut order: Vec<(u64, Reverse<usize>, NodeIx)> = Vec::new();
        for (id, &ix) in &run.graph.index {
            if let Some(track) = self.tracks.get(id) {
                order.push((track.ended.unwrap_or(u64::MAX), Reverse(id.matches('/').count()), ix));
            }
        }
        order.sort_unstable();
        let mut chains: BTreeMap<NodeIx, u64> = BTreeMap::new();
        let mut inside: BTreeMap<NodeIx, u64> = BTreeMap::new();
        let mut longest = 0;
        for (_, _, ix) in order {
            let own = match inside.get(&ix) {
                Some(&inside) => inside,
                None => self.track(run, ix).map_or(0, |track| track.worked_ms(now)),
            };
            let before = self.all_sources(run, ix).iter().filter_map(|source| chains.get(source)).max().copied().unwrap_or(0);
            let chain = before + own;
            chains.insert(ix, chain);
            let around = match run.inner_of(ix).and_then(|inner| inner.owner) {
                Some(owner) => inside.entry(owner).or_default(),
                None => &mut longest,
            };
            *around = chain.max(*around);
        }
        longest
    }
}

impl LastFreed {
    /// Notes what a node has now, and what it has no more.
    fn note(&mut self, has: &mut Has, run: &RunState, ix: NodeIx, seq: u64) {
        let flow = &run.flows[ix];
        let freed = || Freed { node: run.id_of(ix), seq };
        let slot = flow.worker.as_ref().is_some_and(|worker| worker.since.is_some());
        if std::mem::replace(&mut has.slot, slot) && !slot && self.full {
            self.slot = Some(freed());
        }
        if flow.locked && has.locks.is_empty() {
            has.locks.clone_from(&run.graph.nodes[ix].locks);
        } else if !flow.locked {
            self.locks.extend(has.locks.drain(..).map(|lock| (lock, freed())));
        }
    }

    /// Who let a node in that starts now: of those that freed what it waited in line for, the last.
    fn let_in(&self, track: &Track, run: &RunState, ix: NodeIx, now: Time) -> Option<(StartCause, Freed)> {
        let stood = track.stretches.last().filter(|last| last.to.is_none() && last.from < now)?;
        // Each worker takes a slot; what the engine does itself takes none.
        let slot = || self.slot.iter().filter(|_| run.flows[ix].worker.is_some()).map(|freed| (StartCause::Slot, freed));
        let locks = run.graph.nodes[ix].locks.iter().filter_map(|&lock| {
            let by = StartCause::Lock { lock: run.graph.locks.get(lock as usize)?.clone() };
            Some((by, self.locks.get(&lock)?))
        });
        let last = match stood.doing {
            Doing::Slot => slot().find(|(_, freed)| freed.seq > track.since),
            Doing::Held if track.locked_out => {
                slot().chain(locks).filter(|(_, freed)| freed.seq > track.since).max_by_key(|(_, freed)| freed.seq)
            }
            Doing::Held | Doing::Inputs | Doing::Gate | Doing::Model | Doing::Working | Doing::Resting | Doing::Unknown => None,
        };
        last.map(|(by, freed)| (by, freed.clone()))
    }
}

impl Track {
    /// From `record` on the node does this; nothing when it is over.
    fn note(&mut self, node: &NodeRun, doing: Option<Doing>, record: &Record) {
        let (generation, attempt, at) = (node.generation, node.attempt, record.at);
        if let Some(last) = self.stretches.last_mut().filter(|last| last.to.is_none()) {
            if doing == Some(last.doing) && (last.generation, last.attempt) == (generation, attempt) {
                return;
            }
            last.to = Some(at);
            // What took no time is no wait; work shows even so.
            if last.from == at && last.doing != Doing::Working {
                self.stretches.pop();
            }
        }
        // A name that was used before raises the generation of a node that is over; nothing began anew by that.
        if doing == Some(Doing::Inputs) || doing.is_some() && generation != self.generation {
            (self.generation, self.ready) = (generation, None);
            (self.started, self.let_in) = (None, None);
        }
        if doing != Some(Doing::Inputs) {
            self.ready.get_or_insert(record.seq);
        }
        self.since = record.seq;
        match doing {
            Some(_) => self.ended = None,
            None => _ = self.ended.get_or_insert(record.seq),
        }
        self.stretches.extend(doing.map(|doing| Stretch { doing, generation, attempt, from: at, to: None }));
    }

    /// Working time of the generation that it is in.
    fn worked_ms(&self, now: Time) -> u64 {
        let works = |stretch: &&Stretch| stretch.doing == Doing::Working && stretch.generation == self.generation;
        self.stretches.iter().filter(works).map(|stretch| stretch.ms(now)).sum()
    }
}
