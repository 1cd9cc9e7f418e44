//! `dagdeck prune`: deletes runs, after a list of what would go and how much space it takes.

use super::{
    CliContext, CliError, Exit, Io, PruneArgs,
    ls::{GOAL_COLUMNS, short, status},
};
use crate::{
    engine::{Actor, Time},
    host::{Clock, SystemClock, user},
    store::{RunFilter, RunRow, Store},
    text::{Plain, bytes, counted, timestamp},
};

/// Lists the runs that would be deleted, or deletes them.
///
/// # Errors
/// When a run is unknown or driven by a process, or the journal can't be written.
pub fn prune(args: &PruneArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    if args.runs.is_empty() && args.older.is_none() && args.keep.is_none() {
        return Err(CliError::usage("which runs?").hint("name them, or give `--older 30d`, `--keep 10` or both"));
    }
    let store = place.store()?;
    let scope = RunFilter::Workspace(&place.places.workspace);
    let chosen = chosen(args, store.runs(scope)?, &store, scope, SystemClock.now())?;
    if chosen.is_empty() {
        io.say("no run matches: nothing to delete");
        return Ok(Exit::Success);
    }
    let mut all = 0;
    for run in &chosen {
        let size = store.size(&run.run)?;
        all += size;
        let driver = if run.outcome.is_none() { store.driver(&run.run) } else { None };
        let (name, state) = (short(&run.run.0), status(run, driver.as_deref()).word());
        let head = format!("{name}  {}  {:>7}  {state:<11}  ", timestamp(run.created.0), bytes(size).as_str());
        io.row(&Plain::line(&head), &Plain::summary(&run.goal), GOAL_COLUMNS)?;
    }
    let what = format!("{}, {}", counted(chosen.len(), "run"), bytes(all));
    if !args.yes {
        io.say(&format!("{what} would be deleted, with their results and logs; with `--yes` they are"));
        return Ok(Exit::Success);
    }
    let runs: Vec<_> = chosen.into_iter().map(|run| run.run).collect();
    let by = Actor { who: user(), via: "cli".to_owned() };
    store.delete(&runs, &by, SystemClock.now())?;
    io.say(&format!("deleted {what}; what was allowed in them stays in `dagdeck audit`"));
    if !store.compact()? {
        io.say("another dagdeck has the journal open, so its file stays as long as it is: new runs use the space");
    }
    Ok(Exit::Success)
}

/// The runs that are named; else those that have ended and are old enough and not among the newest.
fn chosen(args: &PruneArgs, runs: Vec<RunRow>, store: &Store, scope: RunFilter<'_>, now: Time) -> Result<Vec<RunRow>, CliError> {
    let mut named = Vec::new();
    for name in &args.runs {
        named.push(store.resolve(name, scope)?);
    }
    let mut runs = runs;
    if !named.is_empty() {
        runs.retain(|run| named.contains(&run.run));
        if let Some(other) = named.iter().find(|name| runs.iter().all(|run| run.run != **name)) {
            return Err(CliError::new(format!("run `{}` is of another workspace", short(&other.0))).hint("run `dagdeck prune` there"));
        }
        return Ok(runs);
    }
    runs.drain(..args.keep.unwrap_or_default().min(runs.len()));
    let old = |run: &RunRow| args.older.is_none_or(|age| run.last.0.saturating_add(age) < now.0);
    runs.retain(|run| run.outcome.is_some() && old(run));
    Ok(runs)
}
