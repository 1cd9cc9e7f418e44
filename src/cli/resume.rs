//! `dagdeck resume`: continues a run that was interrupted, waits at a gate, or is paused.

use super::{
    CliContext, CliError, Exit, Io, ResumeArgs,
    headless::{StoredRun, flags},
};
use crate::engine::{Action, Command};

/// Continues a stored run to its end, or to the next gate that no flag decides.
///
/// # Errors
/// When there is no such run, it is over, another process drives it, or the journal can't be used.
pub async fn resume(args: &ResumeArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let flags = flags(&args.gates)?;
    let stored = StoredRun::find(&args.of.run, args.json, place)?;
    let paused = Command::act(Action::Resume);
    let commands = if stored.state.refusal(&paused).is_none() { vec![paused] } else { Vec::new() };
    stored.resume(commands, &flags, place, io).await
}
