//! `dagdeck ls`: the workspace's runs, newest first.

use super::{CliContext, CliError, Exit, Io, LsArgs};
pub(super) use crate::engine::short_name as short;
use crate::{
    engine::{ModelCall, RunId, RunStatus, calls_label, elapsed_of},
    host::{Clock, SystemClock},
    store::{PLANNINGS, PlanningRecord, RunFilter, RunRow},
    text::{Plain, counted, timestamp},
};
use serde_json::{Value, json};

/// Columns of a run's goal in the list, where no terminal says how many there are.
pub(super) const GOAL_COLUMNS: usize = 60;

/// Lists runs.
///
/// # Errors
/// When the journal can't be read.
pub fn ls(args: &LsArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let store = place.store()?;
    let mut runs = store.runs(RunFilter::Workspace(&place.places.workspace))?;
    let all = runs.len();
    runs.truncate(usize::from(args.limit));
    let driver = |run: &RunRow| if run.outcome.is_none() { store.driver(&run.run) } else { None };
    if args.json {
        io.json(&Value::Array(runs.iter().map(|run| as_json(run, driver(run).as_deref())).collect()))?;
        return Ok(Exit::Success);
    }
    if let Some(none) = runs.is_empty().then(|| store.resolve("last", RunFilter::Workspace(&place.places.workspace)).err()).flatten() {
        io.say(&none.to_string());
        if let Some(hint) = none.hint() {
            io.say(&format!("hint: {hint}"));
        }
    }
    let rows: Vec<[String; 3]> = runs.iter().map(|run| cells(run, driver(run).as_deref())).collect();
    let [first, second, third] = [0, 1, 2].map(|at| rows.iter().map(|row| row[at].len()).max().unwrap_or(0));
    for ([status, took, nodes], run) in rows.iter().zip(&runs) {
        let (name, created) = (short(&run.run.0), timestamp(run.created.0));
        let unit = if run.nodes == 1 { "node" } else { "nodes" };
        let head = format!("{name}  {created}  {status:<first$}  {took:>second$}  {nodes:>third$} {unit:<5}  ");
        io.row(&Plain::line(&head), &title(run), GOAL_COLUMNS)?;
    }
    failed_plannings(place, io);
    if all > runs.len() {
        io.say(&format!("{} of {all} runs; `dagdeck ls -n {all}` lists them all", runs.len()));
    }
    Ok(Exit::Success)
}

/// Requests that became no plan are in no run: how many there were, and the last one.
fn failed_plannings(place: &CliContext, io: &mut Io<'_>) {
    let mut failed = PlanningRecord::all(&place.places.home, &place.places.workspace);
    failed.retain(|record| record.failed.is_some());
    let Some(PlanningRecord { at, request, failed: Some(why), .. }) = failed.last() else { return };
    let calls: Vec<ModelCall> = failed.iter().flat_map(|record| record.calls.clone()).collect();
    let took = if calls.is_empty() { String::new() } else { format!(" ({})", calls_label(&calls)) };
    let (request, why) = (Plain::summary(request).truncate(GOAL_COLUMNS), Plain::summary(why));
    let file = place.places.home.join(PLANNINGS);
    io.say(&format!(
        "{} failed before there was a plan{took}; the last {} \"{request}\": {why}",
        counted(failed.len(), "request"),
        timestamp(at.0)
    ));
    io.say(&format!("{} has them all", file.display()));
}

/// How a run is, by who drives it.
pub(super) fn status(run: &RunRow, driver: Option<&str>) -> RunStatus {
    if driver.is_none() { run.status.left } else { run.status.driven }
}

/// How a run stands, how long it took, how large it is.
fn cells(run: &RunRow, driver: Option<&str>) -> [String; 3] {
    let status = status(run, driver);
    let ms = status.elapsed_ms(run.created, (run.last, run.over_ms), SystemClock.now());
    let took = elapsed_of(status, run.status.interrupted_by, ms).into_string();
    [status.label(run.status.interrupted_by), took, run.nodes.to_string()]
}

/// Where it came from, and its goal.
fn title(run: &RunRow) -> Plain {
    let from = |(parent, seq): &(RunId, u64)| match seq {
        0 => format!("follows {}: ", short(&parent.0)),
        seq => format!("from {} after event {seq}: ", short(&parent.0)),
    };
    let branch = run.parent.as_ref().map(from).unwrap_or_default();
    let imported = if run.imported.is_some() { "imported: " } else { "" };
    Plain::line(&format!("{branch}{imported}")).then(&Plain::summary(&run.goal))
}

fn as_json(run: &RunRow, driver: Option<&str>) -> Value {
    json!({
        "run": run.run, "status": status(run, driver), "interrupted_by": run.status.interrupted_by, "driver": driver, "goal": run.goal,
        "workspace": run.workspace, "created_at": run.created, "finished_at": run.finished(), "nodes": run.nodes, "waiting": run.waiting,
        "parent": run.parent.as_ref().map(|(run, seq)| json!({"run": run, "seq": seq})), "imported_at": run.imported,
    })
}
