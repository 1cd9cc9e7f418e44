//! `Fold`: a run after some of its events: the engine's own fold, and what its nodes said, as it may be drawn. The newest state of a
//! run is one, and so is what a replay shows. A copy is cheap as long as it isn't changed: texts are shared.

use std::{collections::BTreeMap, sync::Arc};

use crate::console::model::NodeConversation;
use crate::engine::{Action, Event, NodeFact, NodeState, Record, Renames, Run, Spent, Time, Timeline, Topic, carry};
use crate::plan::NodeId;

/// A run after some of its events.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    /// The engine's fold.
    pub run: Run,
    transcripts: BTreeMap<NodeId, Arc<NodeConversation>>,
    renames: Renames,
    /// What models took so far.
    pub spent: Spent,
    /// What nodes waited for and did, by time.
    pub timeline: Timeline,
    /// When its last event happened.
    pub last: Time,
    /// How often nodes came, went or were rewritten so far: equal in two folds of one run means that their plans are equal.
    shape: u32,
    /// The last event after which a node may stand otherwise.
    moved: u64,
}

impl Fold {
    /// Takes in the next event.
    pub fn apply(&mut self, record: &Record) {
        self.run.evolve(record);
        self.timeline.fold(&self.run, record);
        self.last = record.at;
        if !matches!(record.event.topic(), Topic::Text(_)) {
            self.moved = record.seq;
        }
        carry(&mut self.transcripts, &self.renames.fold(record));
        match &record.event {
            Event::RunCreated { settings, .. } => {
                self.spent.add(settings.planning_spent());
                self.shape += 1;
            }
            // An undone action leaves all as it was before.
            Event::Undone { .. } | Event::Node { fact: NodeFact::BodyStarted { .. }, .. } => self.shape += 1,
            Event::Acted { .. } => self.shape += u32::from(reshapes(&record.event)),
            Event::Node { node_id, fact: NodeFact::Started { attempt, job, .. }, .. } => {
                if *attempt == 1 {
                    self.transcripts.insert(node_id.clone(), Arc::default());
                }
                let transcript = self.transcript_mut(node_id);
                transcript.begin();
                transcript.give(job);
            }
            Event::Node { node_id, fact: NodeFact::Output { text }, .. } => self.transcript_mut(node_id).stream(text),
            Event::Node { fact: NodeFact::ModelCalled { call }, .. } => self.spent.add(Spent::of(call)),
            Event::Node { node_id, fact: NodeFact::Message { role, content }, .. } => self.transcript_mut(node_id).say(role, content),
            Event::LogLine { node_id, text } => self.transcript_mut(node_id).note(text),
            Event::Node { node_id, fact: NodeFact::Completed { result, .. }, .. } => self.transcript_mut(node_id).finish(result),
            Event::Node { node_id, fact: NodeFact::Failed { result: Some(result), .. }, .. } => self.transcript_mut(node_id).finish(result),
            Event::RunInterrupted { .. }
            | Event::RunStarted
            | Event::RunCancelled { .. }
            | Event::RunSettled { .. }
            | Event::ApprovalRequired { .. }
            | Event::GateDecided { .. }
            | Event::GateVoided { .. }
            | Event::StageStarted { .. }
            | Event::Checkpoint { .. }
            | Event::StageFinished { .. }
            | Event::Branched { .. }
            | Event::RunReopened { .. }
            | Event::RunRecovered { .. }
            | Event::Carried
            | Event::Refused { .. }
            | Event::Node { .. } => {}
        }
    }

    /// What a node said.
    pub fn transcript(&self, node: &NodeId) -> Option<&NodeConversation> {
        // One that is to run again has not said anything yet.
        let speaks = self.run.node(node).is_some_and(|node| node.attempt > 0 || node.result.is_some());
        self.transcripts.get(node).filter(|_| speaks).map(|transcript| &**transcript)
    }

    fn transcript_mut(&mut self, node: &NodeId) -> &mut NodeConversation {
        Arc::make_mut(self.transcripts.entry(node.clone()).or_default())
    }

    /// How a node is.
    pub fn state(&self, node: &NodeId) -> Option<&NodeState> {
        self.run.node(node).map(|node| &node.state)
    }

    /// The last event after which a node may stand otherwise than before: others only add words.
    pub fn moved(&self) -> u64 {
        self.moved
    }

    /// Equal in two folds of one run means that their plans are equal.
    pub fn shape(&self) -> u32 {
        self.shape
    }
}

/// Whether other nodes may be there after an event of people: nodes that run again leave what ran inside them behind.
fn reshapes(event: &Event) -> bool {
    let Event::Acted { action, .. } = event else { return true };
    matches!(**action, Action::Edit { .. } | Action::Retry { .. } | Action::Rerun { .. } | Action::Rewind { .. } | Action::Override { .. })
}
