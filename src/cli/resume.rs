//! `dagdeck resume`: goes on with a run that was interrupted, that stopped at a gate, or that is paused.

use super::{CliContext, CliError, Exit, Io, ResumeArgs, headless::StoredRun};
use crate::engine::{Action, Command};

/// Drives a stored run to its end, or to the next gate that no flag decides.
///
/// # Errors
/// When there is no such run, it is over, another process drives it, or the journal can't be used.
pub async fn resume(args: &ResumeArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let drive = StoredRun::find(&args.run, &args.gates, args.json, place)?;
    let paused = Command::act(Action::Resume);
    let commands = if drive.state.refusal(&paused).is_none() { vec![paused] } else { Vec::new() };
    drive.resume(commands, place, io).await
}
