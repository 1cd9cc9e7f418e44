//! Follows the journal for one client: what another process does to a run that the client has open is sent on as it is committed. It waits
//! on the system's file events and wakes for nothing else.

use super::{
    client::{Driver, Notice},
    local::Shared,
    session::Listener,
};
use crate::{agents::Watch, engine::RunId};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The runs that a client has open: the last event that it was sent, and who drives the run.
#[derive(Debug, Default)]
pub(super) struct SeenRuns(Mutex<HashMap<RunId, (u64, Driver)>>);

impl SeenRuns {
    /// Keeps in mind what a notice says, and takes out of it what the client was sent before; `None` where that is all.
    pub(super) fn pass(&self, mut notice: Notice) -> Option<Notice> {
        let mut seen = self.lock();
        match &mut notice {
            Notice::RunOpened { run, records, driver } => {
                let last = records.last().map_or(0, |record| record.seq);
                seen.insert(run.clone(), (last, driver.clone()));
            }
            Notice::Events { run, records } => {
                if let Some((last, _)) = seen.get_mut(run) {
                    records.retain(|record| record.seq > *last);
                    *last = records.last()?.seq;
                }
            }
            Notice::Driver { run, driver } => {
                if let Some((_, known)) = seen.get_mut(run) {
                    known.clone_from(driver);
                }
            }
            _ => {}
        }
        Some(notice)
    }

    fn all(&self) -> Vec<(RunId, (u64, Driver))> {
        self.lock().iter().map(|(run, seen)| (run.clone(), seen.clone())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, (u64, Driver)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends on what others do, until the client goes.
pub(super) async fn follow(shared: &Shared, seen: &Arc<SeenRuns>, listener: &Listener) {
    let home = shared.places.home.clone();
    // Without file events a run shows what was there when it was opened.
    let Ok(mut watch) = Watch::new(vec![home.join("locks"), home]) else { return std::future::pending().await };
    loop {
        watch.changed().await;
        for (run, (last, known)) in seen.all() {
            if shared.session(&run).is_some() {
                continue;
            }
            let driver = shared.driver(&run);
            let records = shared.store.records_after(&run, last).unwrap_or_default();
            if !records.is_empty() {
                // The client goes together with this task.
                let _ = listener.send(Notice::Events { run: run.clone(), records });
            }
            // A run that ended here is still shown as this client's own.
            if driver != known && !(known.is_here() && driver == Driver::Nobody) {
                let _ = listener.send(Notice::Driver { run, driver });
            }
        }
    }
}
