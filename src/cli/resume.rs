//! `dagdeck resume`: goes on with a run that was interrupted, or that stopped at a gate.

use super::{Exit, Failure, Io, Place, ResumeArgs, headless};
use crate::store::Scope;
use tokio_util::sync::CancellationToken;

/// Drives a stored run to its end, or to the next gate that no flag decides.
///
/// # Errors
/// When there is no such run, it is over, another process drives it, or the journal can't be used.
pub async fn resume(args: &ResumeArgs, place: &Place, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let flags = headless::flags(&args.gates)?;
    let run = place.store()?.resolve(&args.run, Scope::Workspace(&place.places.workspace))?;
    let host = place.host()?;
    let stop = CancellationToken::new();
    headless::cancel_on_signal(stop.clone());
    let ended = {
        let mut printer = headless::Printer { json: args.json, io: &mut *io };
        host.resume_headless(&run, &flags, &stop, &mut |record| printer.print(record)).await?
    };
    headless::finish(&ended, args.json, io)
}
