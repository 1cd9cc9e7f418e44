//! `dagdeck ls`: the workspace's runs, newest first.

use super::{CliContext, CliError, Exit, Io, LsArgs};
pub(super) use crate::store::short;
use crate::{
    engine::{RunId, RunStatus, elapsed},
    store::{RunFilter, RunRow},
    text::{Plain, timestamp},
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Columns of a run's goal in the list, where no terminal says how many there are.
const GOAL_COLUMNS: usize = 60;

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
    let families = families(&runs);
    let rows: Vec<[String; 3]> = families.iter().map(|(_, run)| cells(run, driver(run).as_deref())).collect();
    let [first, second, third] = [0, 1, 2].map(|at| rows.iter().map(|row| row[at].len()).max().unwrap_or(0));
    for ([status, took, nodes], (depth, run)) in rows.iter().zip(&families) {
        let (name, created) = (short(&run.run.0), timestamp(run.created.0));
        let unit = if run.nodes == 1 { "node" } else { "nodes" };
        let head = format!("{name}  {created}  {status:<first$}  {took:>second$}  {nodes:>third$} {unit:<5}  ");
        let beside = depth.checked_sub(1).map(|depth| format!("{}└ ", "  ".repeat(depth))).unwrap_or_default();
        io.row(&Plain::line(&head), &Plain::line(&beside).then(&title(*depth, run)), GOAL_COLUMNS)?;
    }
    if all > runs.len() {
        io.say(&format!("{} of {all} runs; `dagdeck ls -n {all}` lists them all", runs.len()));
    }
    Ok(Exit::Success)
}

/// How a run is, by who drives it.
pub(super) fn status(status: RunStatus, driver: Option<&str>) -> RunStatus {
    if driver.is_none() { status.without_driver() } else { status }
}

/// Runs with their branches below them, and how deep each stands; the newest family first.
fn families(runs: &[RunRow]) -> Vec<(usize, &RunRow)> {
    let known: BTreeSet<&RunId> = runs.iter().map(|run| &run.run).collect();
    let parent = |run: &RunRow| run.parent.as_ref().map(|(parent, _)| parent.clone()).filter(|parent| known.contains(parent));
    let mut below: BTreeMap<Option<RunId>, Vec<&RunRow>> = BTreeMap::new();
    for run in runs {
        below.entry(parent(run)).or_default().push(run);
    }
    let mut open: Vec<(usize, &RunRow)> = below.remove(&None).unwrap_or_default().into_iter().rev().map(|run| (0, run)).collect();
    let mut listed = Vec::new();
    while let Some((depth, run)) = open.pop() {
        listed.push((depth, run));
        let branches = below.remove(&Some(run.run.clone())).unwrap_or_default();
        open.extend(branches.into_iter().rev().map(|branch| (depth + 1, branch)));
    }
    listed
}

/// How a run stands, how long it took, how large it is.
fn cells(run: &RunRow, driver: Option<&str>) -> [String; 3] {
    let took = run.finished.map_or_else(|| "-".to_owned(), |end| elapsed(end.since(run.created)).into_string());
    [status(run.status, driver).label(run.interrupted_by), took, run.nodes.to_string()]
}

/// Where it came from, and its goal. A branch below its parent needn't name it.
fn title(depth: usize, run: &RunRow) -> Plain {
    let branch = match (&run.parent, depth) {
        (Some((_, seq)), 1..) => format!("after event {seq}: "),
        (Some((parent, seq)), 0) => format!("from {} after event {seq}: ", short(&parent.0)),
        (None, _) => String::new(),
    };
    let imported = if run.imported.is_some() { "imported: " } else { "" };
    Plain::line(&format!("{branch}{imported}")).then(&Plain::summary(&run.goal))
}

fn as_json(run: &RunRow, driver: Option<&str>) -> Value {
    json!({
        "run": run.run, "status": status(run.status, driver), "interrupted_by": run.interrupted_by, "driver": driver, "goal": run.goal,
        "workspace": run.workspace, "created_at": run.created, "finished_at": run.finished, "nodes": run.nodes, "waiting": run.waiting,
        "parent": run.parent.as_ref().map(|(run, seq)| json!({"run": run, "seq": seq})), "imported_at": run.imported,
    })
}
