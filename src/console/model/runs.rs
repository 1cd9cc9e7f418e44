//! `Runs`: the runs that are open, and the list of all.

use super::RunView;
use crate::engine::RunId;
use crate::host::client::RunSummary;

/// The runs that are open, and the list of all.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// Open runs in order of opening.
    pub open: Vec<RunView>,
    /// All runs, newest first, as the host last told.
    pub listing: Vec<RunSummary>,
    /// Which line of the list is selected.
    pub selected: usize,
    /// First line in sight.
    pub top: usize,
}

impl Runs {
    /// An open run.
    pub fn get(&self, id: &RunId) -> Option<&RunView> {
        self.open.iter().find(|run| run.id == *id)
    }

    /// An open run.
    pub fn get_mut(&mut self, id: &RunId) -> Option<&mut RunView> {
        self.open.iter_mut().find(|run| run.id == *id)
    }

    /// Runs that go on in the host.
    pub fn going_on(&self) -> impl Iterator<Item = &RunView> {
        self.open.iter().filter(|run| run.goes_on())
    }
}
