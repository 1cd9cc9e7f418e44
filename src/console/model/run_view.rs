//! `RunView`: one run as the console shows it: the engine's own fold, the tree of its plan, what its nodes said.

use std::collections::BTreeMap;

use super::{Tree, transcript::Transcript};
use crate::engine::{Event, GateId, NodeState, Outcome, Preview, Record, Run, RunId, Time};
use crate::host::client::Problem;
use crate::plan::{NodeId, Plan};
use crate::text::Plain;

/// One run.
#[derive(Clone, Debug)]
pub struct RunView {
    /// Its name.
    pub id: RunId,
    /// The fold of its events.
    pub run: Run,
    /// Its plan with all that runs inside its nodes, flat.
    outline: Plan,
    /// Bodies began since the rows were made.
    grown: bool,
    /// The rows of its plan.
    pub tree: Tree,
    /// What nodes said.
    pub transcripts: BTreeMap<NodeId, Transcript>,
    /// Pictures of what gates' payloads would do.
    pub previews: BTreeMap<GateId, Preview>,
    /// Whether it goes on in the host; else it is only looked at.
    pub live: bool,
    /// Why its journal can't be written, if it can't.
    pub frozen: Option<Problem>,
    /// Nodes by how they stand.
    pub tally: Tally,
    /// Tokens that models took so far.
    pub tokens: u64,
    /// When its first event happened.
    pub created: Time,
}

/// Nodes by how they stand, kept up as events come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    by_node: BTreeMap<NodeId, Standing>,
    counts: [usize; 6],
}

/// How a node stands, coarsely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Has not begun.
    Ahead,
    /// At work.
    Working,
    /// Waits for a person.
    Waiting,
    /// Ended well.
    Done,
    /// Ended badly.
    Failed,
    /// Ended without a result.
    Dropped,
}

impl Standing {
    /// The standing of a state.
    pub fn of(state: &NodeState) -> Self {
        match state {
            NodeState::Pending | NodeState::Ready | NodeState::Held => Self::Ahead,
            NodeState::Running | NodeState::Retrying { .. } => Self::Working,
            NodeState::Waiting { .. } | NodeState::Unknown => Self::Waiting,
            NodeState::Succeeded | NodeState::Passed => Self::Done,
            NodeState::Failed | NodeState::FailedSafe => Self::Failed,
            NodeState::Skipped | NodeState::Cancelled => Self::Dropped,
        }
    }
}

impl Tally {
    /// Nodes that stand so.
    pub fn count(&self, standing: Standing) -> usize {
        self.counts[standing as usize]
    }

    /// Nodes in all.
    pub fn total(&self) -> usize {
        self.by_node.len()
    }

    fn note(&mut self, node: &NodeId, standing: Standing) {
        self.counts[standing as usize] += 1;
        if let Some(before) = self.by_node.insert(node.clone(), standing) {
            self.counts[before as usize] -= 1;
        }
    }
}

impl RunView {
    /// A run of which nothing is known yet.
    pub fn new(id: RunId, live: bool) -> Self {
        Self {
            id,
            run: Run::default(),
            outline: Plan::default(),
            grown: false,
            tree: Tree::default(),
            transcripts: BTreeMap::new(),
            previews: BTreeMap::new(),
            live,
            frozen: None,
            tally: Tally::default(),
            tokens: 0,
            created: Time::default(),
        }
    }

    /// Takes in events that are in the journal. Says whether gates opened or closed.
    pub fn apply(&mut self, records: &[Record]) -> bool {
        let mut gates = false;
        for record in records {
            if record.seq <= self.run.last_seq() {
                continue;
            }
            self.run.evolve(record);
            self.tell(record);
            gates |= matches!(record.event, Event::ApprovalRequired { .. } | Event::GateDecided { .. } | Event::GateVoided { .. });
        }
        gates
    }

    fn tell(&mut self, record: &Record) {
        match &record.event {
            Event::RunCreated { .. } => {
                self.created = record.at;
                self.grown = true;
                for (id, node) in self.run.nodes() {
                    self.tally.note(id, Standing::of(&node.state));
                }
            }
            Event::BodyStarted { .. } => {
                self.grown = true;
                let known = self.tally.total();
                for (id, node) in self.run.nodes().skip(known) {
                    self.tally.note(id, Standing::of(&node.state));
                }
            }
            Event::NodeStarted { node_id, attempt, job, .. } => {
                if *attempt == 1 {
                    self.transcripts.insert(node_id.clone(), Transcript::default());
                }
                self.transcript(node_id).give(job);
            }
            Event::Output { node_id, text, .. } => self.transcript(node_id).stream(text),
            Event::ModelCalled { call, .. } => self.tokens += call.usage.total(),
            Event::Message { node_id, role, content, .. } => self.transcript(node_id).say(role, content),
            Event::LogLine { node_id, text } => self.transcript(node_id).note(text),
            Event::NodeCompleted { node_id, result, .. } => self.transcript(node_id).finish(result),
            Event::NodeFailed { node_id, result: Some(result), .. } => self.transcript(node_id).finish(result),
            _ => {}
        }
        if let Some(node) = self.touched(&record.event)
            && let Some(state) = self.run.node(&node).map(|node| Standing::of(&node.state))
        {
            self.tally.note(&node, state);
        }
    }

    /// The node that an event is about, itself or by its gate.
    fn touched(&self, event: &Event) -> Option<NodeId> {
        match event {
            Event::GateDecided { gate, .. } | Event::GateVoided { gate, .. } => self.run.gate(*gate).map(|(gate, _)| gate.node.clone()),
            other => other.node().cloned(),
        }
    }

    fn transcript(&mut self, node: &NodeId) -> &mut Transcript {
        self.transcripts.entry(node.clone()).or_default()
    }

    /// The plan that is run with all that runs inside its nodes, flat; an empty one before its first event.
    pub fn plan(&self) -> &Plan {
        &self.outline
    }

    /// Makes the rows again where nodes came since they were made: once a frame, however many events came in between.
    pub fn grow(&mut self) {
        if std::mem::take(&mut self.grown) {
            self.outline = self.run.outline();
            self.tree.rebuild(&self.outline);
        }
    }

    /// Changes the tree.
    pub fn with_tree(&mut self, change: impl FnOnce(&mut Tree, &Plan)) {
        change(&mut self.tree, &self.outline);
    }

    /// Whether it goes on in this host.
    pub fn goes_on(&self) -> bool {
        self.live && self.run.outcome().is_none()
    }

    /// Whether something works right now, so that elapsed times change.
    pub fn works(&self) -> bool {
        self.goes_on() && self.tally.count(Standing::Working) > 0
    }

    /// The goal for titles.
    pub fn goal(&self) -> Plain {
        Plain::summary(&self.plan().goal)
    }

    /// How it stands, in one word.
    pub fn word(&self) -> &'static str {
        match self.run.outcome().map(|(outcome, _)| outcome) {
            Some(Outcome::Succeeded) => "succeeded",
            Some(Outcome::Partial) => "partial",
            Some(Outcome::Failed) => "failed",
            Some(Outcome::Cancelled) => "cancelled",
            None if self.frozen.is_some() => "frozen",
            None if !self.live => "interrupted",
            None if self.tally.count(Standing::Working) == 0 && self.tally.count(Standing::Waiting) > 0 => "waiting",
            None => "running",
        }
    }
}
