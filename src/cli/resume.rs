//! `dagdeck resume`: goes on with a run that was interrupted, that stopped at a gate, or that is paused.

use super::{Exit, Failure, Io, Place, ResumeArgs, headless::Drive};
use crate::engine::{Command, Verb};

/// Drives a stored run to its end, or to the next gate that no flag decides.
///
/// # Errors
/// When there is no such run, it is over, another process drives it, or the journal can't be used.
pub async fn resume(args: &ResumeArgs, place: &Place, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let drive = Drive::find(&args.run, &args.gates, args.json, place)?;
    let paused = Command::act(Verb::Resume);
    let commands = if drive.state.refusal(&paused).is_none() { vec![paused] } else { Vec::new() };
    drive.resume(commands, place, io).await
}
