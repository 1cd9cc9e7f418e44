//! `dagdeck logs` and `dagdeck wait`: what happens in a run, and how it ends.

use super::{
    CliContext, CliError, Exit, Io, LogsArgs, WaitArgs,
    follow::{AtGates, Followed, follow},
    headless::{finish, message},
    ls::short,
};
use crate::{
    engine::{Record, Run, RunId},
    host::RunWatch,
    store::RunFilter,
    text::{Plain, timestamp},
};

fn find(name: &str, place: &CliContext) -> Result<(RunId, RunWatch), CliError> {
    let store = place.store()?;
    let run = store.resolve(name, RunFilter::Workspace(&place.places.workspace))?;
    let watch = RunWatch::open(store, &place.places.home, run.clone())?;
    Ok((run, watch))
}

/// Prints what happened in a run, and goes on with that until it is over if it is to be followed.
///
/// # Errors
/// When there is no such run, or the journal can't be read.
pub async fn logs(args: &LogsArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let (run, mut watch) = find(&args.of.run, place)?;
    let mut failed = None;
    let mut print = |record: &Record| {
        let printed = line(record, args.json, io);
        failed = failed.take().or(printed.err());
    };
    if args.follow {
        if let Followed::Signalled(signal) = follow(&mut watch, AtGates::GoesOn, &mut print).await? {
            return Ok(Exit::Signalled(signal));
        }
    } else {
        watch.take()?.iter().for_each(&mut print);
    }
    if let Some(error) = failed {
        return Err(error);
    }
    if args.follow && !args.json {
        io.say(&format!("run {} {}", short(&run.0), watch.state().status_without_driver().word()));
    }
    Ok(Exit::Success)
}

fn line(record: &Record, as_json: bool, io: &mut Io<'_>) -> Result<(), CliError> {
    if as_json {
        io.json_line(record)?;
    } else if let Some(message) = message(&record.event, &Run::default()) {
        io.line(&format!("{}  {message}", timestamp(record.at.0)))?;
    }
    Ok(io.out.flush()?)
}

/// Waits until a run is over, or waits for people itself, and prints its output; exits as `dagdeck run` does.
///
/// # Errors
/// When there is no such run, the journal can't be read, or no process drives the run.
pub async fn wait(args: &WaitArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let (run, mut watch) = find(&args.of.run, place)?;
    let gates = if args.past_gates { AtGates::GoesOn } else { AtGates::Ends };
    let followed = follow(&mut watch, gates, &mut |_| {}).await?;
    let (name, state) = (short(&run.0).to_owned(), watch.state().clone());
    match followed {
        Followed::Signalled(signal) => {
            io.say(&format!("run {name} goes on: `dagdeck wait {name}` waits again"));
            return Ok(Exit::Signalled(signal));
        }
        Followed::Left if state.outcome().is_none() && !state.is_parked() => {
            let status = state.status_without_driver().word();
            return Err(CliError::new(format!("no process drives run {name}: it is {}", Plain::line(status)))
                .hint(format!("`dagdeck resume {name}` resumes it")));
        }
        Followed::Over | Followed::AtGates | Followed::Left => {}
    }
    let ended = place.host_to_look()?.verdict(run, state).await;
    finish(&ended, args.json, io)
}
