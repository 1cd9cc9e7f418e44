//! `RunRecords`: the events of a run as the host sent them, and where in them something happened that a person looks for. Grows at its
//! end only; an event costs the same however many came before.

use std::sync::Arc;

use crate::engine::{Record, SearchMark};

/// The events of a run, in order.
#[derive(Clone, Debug, Default)]
pub struct RunRecords {
    records: Arc<Vec<Record>>,
    marks: Vec<(usize, SearchMark)>,
}

impl RunRecords {
    /// Takes in an event. One that is known already changes nothing; says whether it is new.
    pub fn push(&mut self, record: &Record) -> bool {
        if self.records.last().is_some_and(|last| record.seq <= last.seq) {
            return false;
        }
        if let Some(mark) = record.event.mark() {
            self.marks.push((self.records.len(), mark));
        }
        Arc::make_mut(&mut self.records).push(record.clone());
        true
    }

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
