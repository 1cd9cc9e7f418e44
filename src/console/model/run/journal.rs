//! `RunRecords`: the events of a run as the host sent them, and where in them something happened that a person looks for. Grows at its
//! end only; an event costs the same however many came before.

use std::sync::Arc;

use crate::engine::{Event, NodeFact, Record};

/// The events of a run, in order.
#[derive(Clone, Debug, Default)]
pub struct RunRecords {
    records: Arc<Vec<Record>>,
    marks: Vec<(usize, SearchMark)>,
}

/// What a person looks for in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMark {
    /// A gate opened.
    Gate,
    /// A node failed, or nobody knows what became of it.
    Failure,
    /// A person did something.
    Action,
    /// A breakpoint was met, or a call was held.
    Break,
}

impl SearchMark {
    fn of(event: &Event) -> Option<Self> {
        match event {
            Event::ApprovalRequired { .. } => Some(Self::Gate),
            Event::Node { fact: NodeFact::Failed { .. } | NodeFact::Unknown { .. }, .. } => Some(Self::Failure),
            Event::Node { fact: NodeFact::BreakHit { .. } | NodeFact::CallHeld { .. }, .. } => Some(Self::Break),
            Event::GateDecided { .. } | Event::Acted { .. } | Event::Undone { .. } => Some(Self::Action),
            Event::RunCreated { .. }
            | Event::RunStarted
            | Event::RunInterrupted { .. }
            | Event::RunRecovered { .. }
            | Event::RunReopened { .. }
            | Event::Branched { .. }
            | Event::RunCancelled { .. }
            | Event::RunSettled { .. }
            | Event::GateVoided { .. }
            | Event::StageStarted { .. }
            | Event::Checkpoint { .. }
            | Event::StageFinished { .. }
            | Event::LogLine { .. }
            | Event::Carried
            | Event::Refused { .. }
            | Event::Node { .. } => None,
        }
    }
}

impl RunRecords {
    /// Takes in an event. One that is known already changes nothing; says whether it is new.
    pub fn push(&mut self, record: &Record) -> bool {
        if self.records.last().is_some_and(|last| record.seq <= last.seq) {
            return false;
        }
        if let Some(mark) = SearchMark::of(&record.event) {
            self.marks.push((self.records.len(), mark));
        }
        Arc::make_mut(&mut self.records).push(record.clone());
        true
    }

    /// All events.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Places of what a person looks for, in order.
    pub fn marks(&self) -> &[(usize, SearchMark)] {
        &self.marks
    }

    /// How many events there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether nothing happened yet.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}
