//! `dagdeck ls`: the workspace's runs, newest first.

use super::{Exit, Failure, Io, LsArgs, Place};
use crate::{
    engine::Outcome,
    store::{RunRow, Scope},
    text::{Plain, duration, timestamp},
};
use serde_json::{Value, json};

/// Columns of a run's goal in the list.
const GOAL_COLUMNS: usize = 60;

/// Lists runs.
///
/// # Errors
/// When the journal can't be read.
pub fn ls(args: &LsArgs, place: &Place, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let mut runs = place.store()?.runs(Scope::Workspace(&place.places.workspace))?;
    runs.truncate(usize::from(args.limit));
    if args.json {
        io.json(&Value::Array(runs.iter().map(as_json).collect()))?;
        return Ok(Exit::Success);
    }
    if runs.is_empty() {
        io.say("no runs in this workspace yet");
        io.say("hint: `dagdeck` opens the console; `dagdeck run \"request\"` runs without it");
    }
    for run in &runs {
        io.line(&line(run))?;
    }
    Ok(Exit::Success)
}

/// How a run stands, in one word.
pub(super) fn status(outcome: Option<Outcome>, waits: bool) -> &'static str {
    match outcome {
        Some(Outcome::Succeeded) => "succeeded",
        Some(Outcome::Partial) => "partial",
        Some(Outcome::Failed) => "failed",
        Some(Outcome::Cancelled) => "cancelled",
        None if waits => "waiting",
        None => "open",
    }
}

fn line(run: &RunRow) -> String {
    let status = status(run.outcome, !run.waiting.is_empty());
    let took = run.finished.map_or_else(|| Plain::line("-"), |end| duration(end.since(run.created)));
    let goal = Plain::summary(&run.goal).truncate(GOAL_COLUMNS);
    let created = timestamp(run.created.0);
    format!("{}  {created}  {status:<9}  {:>7}  {:>3} nodes  {goal}", short(&run.run.0), took.as_str(), run.nodes)
}

/// The end of a run's name: enough to tell runs apart, and accepted wherever a run is named.
pub(super) fn short(run: &str) -> &str {
    run.char_indices().rev().nth(7).map_or(run, |(at, _)| &run[at..])
}

fn as_json(run: &RunRow) -> Value {
    json!({
        "run": run.run, "status": status(run.outcome, !run.waiting.is_empty()), "goal": run.goal, "workspace": run.workspace,
        "created_at": run.created, "finished_at": run.finished, "nodes": run.nodes, "waiting": run.waiting,
    })
}
