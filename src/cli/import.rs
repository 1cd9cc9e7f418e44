//! `dagdeck import`: reads a run that was exported elsewhere, to look at it, replay it and branch from it.

use super::{CliContext, CliError, Exit, ImportArgs, Io, ls::short};
use crate::files;
use crate::{
    host::{Clock, SystemClock},
    store::{StoreError, read_run},
    text::Plain,
};
use serde_json::json;

/// Imports the whole run or nothing.
///
/// # Errors
/// When the file is not a run file, is cut off or changed, or the run exists already.
pub async fn import(args: &ImportArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let text = io.read_up_to(&args.file, files::RUN_FILE)?;
    let name = if args.file == "-" { "stdin" } else { &args.file };
    let read = read_run(&text, name)
        .map_err(|error| CliError { hint: error.hint.as_ref().map(ToString::to_string), ..CliError::invalid(error.to_string()) })?;
    let store = place.store()?;
    match store.import(&read.run, &read.records, &place.places.workspace, SystemClock.now()).await {
        Err(StoreError::Conflict { run }) => {
            return Err(CliError::new(format!("run `{run}` exists here already"))
                .hint("look at it with `dagdeck show` or `dagdeck replay`; `--home DIR` imports into another journal"));
        }
        done => done?,
    }
    if args.json {
        io.json(&json!({"run": read.run, "events": read.records.len(), "redacted": read.redacted}))?;
    } else {
        io.line(&read.run.0)?;
    }
    let from = Plain::line(&read.dagdeck);
    io.say(&format!(
        "imported run {}: {} events, written by dagdeck {from}; look at it with `dagdeck replay {0}`",
        short(&read.run.0),
        read.records.len()
    ));
    Ok(Exit::Success)
}
