//! What is known of past runs without opening them: one in a few words, and those that a search finds. Both read aside.

use super::client::{Driver, FoundSummary, Problem};
use super::local::Shared;
use crate::engine::{Run, RunId, RunPeek};
use crate::store::{FoundRun, RunFilter};

/// Runs that a search gives at most.
const MOST: usize = 50;

impl Shared {
    /// One run in a few words; what is wrong with its journal, where it can't be read.
    pub(super) fn peek(&self, run: &RunId) -> RunPeek {
        let read = self.store.records(run).map(|records| Run::replay(&records));
        match read {
            Ok(state) => {
                let driver = if state.outcome().is_some() { Driver::Nobody } else { self.driver(run) };
                state.peek(if driver == Driver::Nobody { state.status_without_driver() } else { state.status() })
            }
            Err(error) => RunPeek { reason: error.to_string(), ..RunPeek::default() },
        }
    }

    /// The newest runs of this workspace that have these words.
    pub(super) fn search(&self, words: &str) -> Result<Vec<FoundSummary>, Problem> {
        let found = self.store.search(RunFilter::Workspace(&self.places.workspace), words, MOST);
        let summary = |FoundRun { row, line }| FoundSummary { summary: self.summary(row), line };
        Ok(found?.into_iter().map(summary).collect())
    }
}
