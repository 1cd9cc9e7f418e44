//! `Fold`: a run after some of its events: the engine's own fold, and what its nodes said, as it may be drawn. The newest state of a
//! run is one, and so is what a replay shows. A copy is cheap as long as it isn't changed: texts are shared.

use std::{collections::BTreeMap, sync::Arc};

use super::{Standing, Tally};
use crate::console::model::Transcript;
use crate::engine::{Event, NodeState, Record, Run, Time, Verb};
use crate::plan::NodeId;

/// A run after some of its events.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    /// The engine's fold.
    pub run: Run,
    transcripts: BTreeMap<NodeId, Arc<Transcript>>,
    /// Nodes by how they stand.
    pub tally: Tally,
    /// Tokens that models took so far.
    pub tokens: u64,
    /// US dollars so far, as far as prices are known.
    pub cost_usd: f64,
    /// When its first event happened.
    pub created: Time,
    /// When its last event happened.
    pub last: Time,
    /// How often nodes came, went or were rewritten so far: equal in two folds of one run means that their plans are equal.
    shape: u32,
}

impl Fold {
    /// Takes in the next event.
    pub fn apply(&mut self, record: &Record) {
        self.run.evolve(record);
        self.last = record.at;
        match &record.event {
            Event::RunCreated { .. } => {
                self.created = record.at;
                self.shape += 1;
                self.count_all();
            }
            // One event changes many nodes, or puts all back.
            Event::Acted { verb, .. } => {
                self.shape += u32::from(matches!(**verb, Verb::Edit { .. }));
                self.count_all();
            }
            Event::Undone { .. } => {
                self.shape += 1;
                self.count_all();
            }
            Event::RunRecovered { .. } | Event::Branched { .. } => self.count_all(),
            Event::BodyStarted { .. } => {
                self.shape += 1;
                let known = self.tally.total();
                for (id, node) in self.run.nodes().skip(known) {
                    self.tally.note(id, Standing::of(&node.state));
                }
            }
            Event::NodeStarted { node_id, attempt, job, .. } => {
                if *attempt == 1 {
                    self.transcripts.insert(node_id.clone(), Arc::default());
                }
                self.transcript_mut(node_id).give(job);
            }
            Event::Output { node_id, text, .. } => self.transcript_mut(node_id).stream(text),
            Event::ModelCalled { call, .. } => {
                self.tokens += call.usage.total();
                self.cost_usd += call.cost_usd.unwrap_or_default();
            }
            Event::Message { node_id, role, content, .. } => self.transcript_mut(node_id).say(role, content),
            Event::LogLine { node_id, text } => self.transcript_mut(node_id).note(text),
            Event::NodeCompleted { node_id, result, .. } => self.transcript_mut(node_id).finish(result),
            Event::NodeFailed { node_id, result: Some(result), .. } => self.transcript_mut(node_id).finish(result),
            _ => {}
        }
        if let Some(node) = self.node_of(&record.event)
            && let Some(state) = self.run.node(&node).map(|node| Standing::of(&node.state))
        {
            self.tally.note(&node, state);
        }
    }

    fn count_all(&mut self) {
        for (id, node) in self.run.nodes() {
            self.tally.note(id, Standing::of(&node.state));
        }
    }

    /// The node that an event is about, itself or by its gate.
    pub fn node_of(&self, event: &Event) -> Option<NodeId> {
        match event {
            Event::GateDecided { gate, .. } | Event::GateVoided { gate, .. } => self.run.gate(*gate).map(|(gate, _)| gate.node.clone()),
            Event::Acted { verb, .. } => verb.node().cloned(),
            other => other.node().cloned(),
        }
    }

    /// What a node said.
    pub fn transcript(&self, node: &NodeId) -> Option<&Transcript> {
        self.transcripts.get(node).map(|transcript| &**transcript)
    }

    fn transcript_mut(&mut self, node: &NodeId) -> &mut Transcript {
        Arc::make_mut(self.transcripts.entry(node.clone()).or_default())
    }

    /// How a node stands.
    pub fn state(&self, node: &NodeId) -> Option<&NodeState> {
        self.run.node(node).map(|node| &node.state)
    }

    /// Equal in two folds of one run means that their plans are equal.
    pub fn shape(&self) -> u32 {
        self.shape
    }
}
