//! `RunAt`: a run after some of its events: the engine's own fold, and what its nodes said, as it may be drawn. The newest state of a
//! run is one, and so is what a replay shows. A copy is cheap as long as it isn't changed: texts are shared.

use std::{collections::BTreeMap, sync::Arc};

use crate::console::model::NodeConversation;
use crate::engine::{BreakId, Event, EventTrait, NodeFact, NodeState, Record, Renames, Run, Spent, Time, Timeline, carry};
use crate::plan::NodeId;

/// A run after some of its events.
#[derive(Clone, Debug, Default)]
pub struct RunAt {
    pub run: Run,
    transcripts: BTreeMap<NodeId, Arc<NodeConversation>>,
    renames: Renames,
    /// What models took so far.
    pub spent: Spent,
    /// How often each breakpoint halted something.
    hits: BTreeMap<BreakId, u32>,
    /// The same of the plan's own breakpoint at each node.
    plan_hits: BTreeMap<NodeId, u32>,
    /// What nodes waited for and did, by time.
    pub timeline: Timeline,
    /// When its last event happened.
    pub last: Time,
    /// How often nodes came, went or were rewritten so far: equal in two folds of one run means that their plans are equal.
    shape: u32,
    /// The last event after which a node may stand otherwise.
    moved: u64,
}

impl RunAt {
    /// Takes in the next event.
    pub fn apply(&mut self, record: &Record) {
        self.run.evolve(record);
        self.timeline.fold(&self.run, record);
        self.last = record.at;
        if !record.event.is_text() {
            self.moved = record.seq;
        }
        carry(&mut self.transcripts, &self.renames.fold(record));
        self.shape += u32::from(changes_nodes(&record.event));
        self.listen(&record.event);
    }

    /// What models took, and what nodes say.
    fn listen(&mut self, event: &Event) {
        if let Event::RunCreated { settings, .. } = event {
            self.spent.add(settings.planning_spent());
        } else if let Event::LogLine { node_id, text } = event {
            self.transcript_mut(node_id).note(text);
        }
        let Event::Node { node_id, fact, .. } = event else { return };
        if let NodeFact::BreakHit { point: Some(point), .. } | NodeFact::CallHeld { point: Some(point), .. } = fact {
            *self.hits.entry(*point).or_default() += 1;
        } else if let NodeFact::BreakHit { point: None, .. } = fact {
            *self.plan_hits.entry(node_id.clone()).or_default() += 1;
        } else if let NodeFact::Started { attempt, job, .. } = fact {
            if *attempt == 1 {
                self.transcripts.insert(node_id.clone(), Arc::default());
            }
            let transcript = self.transcript_mut(node_id);
            transcript.begin();
            transcript.give(job);
        } else if let NodeFact::Output { text } = fact {
            self.transcript_mut(node_id).stream(text);
        } else if let NodeFact::Thought { text } = fact {
            self.transcript_mut(node_id).thoughts.push(text);
        } else if let NodeFact::Noted { text, .. } = fact {
            self.transcript_mut(node_id).note(text);
        } else if let NodeFact::ModelCalled { call } = fact {
            self.spent.add(Spent::of(call));
        } else if let NodeFact::Message { role, content } = fact {
            self.transcript_mut(node_id).say(*role, content);
        } else if let NodeFact::Completed { result, .. } | NodeFact::Failed { result: Some(result), .. } = fact {
            let is_of_tool = self.run.node_doc(node_id).is_some_and(|node| node.kind.tool().is_some());
            let reporter = self.run.node(node_id).and_then(|node| node.reporter(result)).map(str::to_owned);
            self.transcript_mut(node_id).finish(result, is_of_tool, reporter.as_deref());
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

    /// How often a breakpoint halted something.
    pub fn hits(&self, point: BreakId) -> u32 {
        self.hits.get(&point).copied().unwrap_or_default()
    }

    /// How often the plan's own breakpoint at a node halted it.
    pub fn plan_hits(&self, node: &NodeId) -> u32 {
        self.plan_hits.get(node).copied().unwrap_or_default()
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

/// Whether other nodes may be there after an event. An undone action leaves all as it was before; nodes that run again leave what ran inside them behind.
fn changes_nodes(event: &Event) -> bool {
    let Event::Acted { action, .. } = event else { return event.has(EventTrait::ChangesNodes) };
    action.reopens()
}
