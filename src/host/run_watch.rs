//! `RunWatch`: follows one run in the journal, whichever process drives it. It waits on the system's file events, and on the lock of
//! the process that drives the run; it wakes for nothing else.

use super::client::Problem;
use crate::agents::Watch;
use crate::engine::{Record, Run, RunId};
use crate::store::{Store, StoreError};
use std::{path::Path, sync::Arc, thread};
use tokio::sync::oneshot;

/// Follows one run.
pub struct RunWatch {
    store: Arc<Store>,
    run: RunId,
    last: u64,
    state: Run,
    changes: Watch,
    /// Comes when the process that drives the run doesn't any more; absent where none does.
    left: Option<oneshot::Receiver<()>>,
}

impl RunWatch {
    /// From the run's first event on.
    ///
    /// # Errors
    /// When there is no such run, or the system tells of no changes of files.
    pub fn open(store: Store, home: &Path, run: RunId) -> Result<Self, Problem> {
        store.records_to(&run, 1)?;
        let changes = Watch::new(vec![home.join("locks"), home.to_owned()])
            .map_err(|error| Problem::new(format!("the system doesn't tell of changes of files, so no run can be followed: {error}")))?;
        let mut watch = Self { store: Arc::new(store), run, last: 0, state: Run::default(), changes, left: None };
        watch.look_for_driver();
        Ok(watch)
    }

    /// What is new in the journal.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn take(&mut self) -> Result<Vec<Record>, StoreError> {
        let records = self.store.records_after(&self.run, self.last)?;
        for record in &records {
            self.last = record.seq;
            self.state.evolve(record);
        }
        Ok(records)
    }

    /// The run as far as it was taken.
    pub fn state(&self) -> &Run {
        &self.state
    }

    /// Whether a process drives the run.
    pub fn is_driven(&self) -> bool {
        self.left.is_some()
    }

    /// Waits until there may be something new, or the process that drives the run is another one, or none.
    pub async fn changed(&mut self) {
        let Some(left) = &mut self.left else {
            self.changes.changed().await;
            return self.look_for_driver();
        };
        tokio::select! {
            () = self.changes.changed() => {}
            _ = left => self.look_for_driver(),
        }
    }

    /// A lock that is given back is no change of a file, so a thread waits for it. It ends with the driver or the program.
    fn look_for_driver(&mut self) {
        self.left = self.store.driver(&self.run).map(|_| {
            let (store, run) = (self.store.clone(), self.run.clone());
            let (gone, left) = oneshot::channel();
            thread::spawn(move || {
                store.wait_for_driver(&run);
                // Whoever followed may have stopped.
                let _ = gone.send(());
            });
            left
        });
    }
}
