//! Follows a run, whichever process drives it.

use super::{CliError, signals::end_signal};
use crate::{
    engine::{Record, StopSignal},
    host::RunWatch,
};
use std::time::Duration;
use tokio::time::timeout;

/// How long a gate stays open before it counts as one that waits for a person: a flag's reply may be on its way.
const SETTLED: Duration = Duration::from_millis(500);

/// Whether a run is followed past gates that wait for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtGates {
    /// It ends there, if nothing else goes on.
    Ends,
    GoesOn,
}

/// Why a run is followed no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Followed {
    /// The run is over.
    Over,
    /// It waits for people, and nothing else goes on.
    AtGates,
    /// No process drives it.
    Left,
    /// Whoever follows was told to end; the run goes on.
    Signalled(StopSignal),
}

/// Follows a run from its first event on. Every event goes to `sink` once it is in the journal.
///
/// # Errors
/// When the journal can't be read.
pub(super) async fn follow(watch: &mut RunWatch, gates: AtGates, sink: &mut (dyn FnMut(&Record) + Send)) -> Result<Followed, CliError> {
    let signal = end_signal();
    tokio::pin!(signal);
    loop {
        // Asked first: what its driver wrote last is in the journal then.
        let is_driven = watch.is_driven();
        watch.take()?.iter().for_each(&mut *sink);
        if watch.state().outcome().is_some() {
            return Ok(Followed::Over);
        }
        if !is_driven {
            return Ok(Followed::Left);
        }
        let waits = gates == AtGates::Ends && watch.state().is_parked();
        tokio::select! {
            signal = &mut signal => return Ok(Followed::Signalled(signal)),
            changed = timeout(if waits { SETTLED } else { Duration::MAX }, watch.changed()) => {
                if changed.is_err() {
                    return Ok(Followed::AtGates);
                }
            }
        }
    }
}
