//! What a command line names in a stored run: a node, an event. Whatever isn't there is an error and no wrong command line, told in the
//! same words by every subcommand, with the name that was meant where one is near.

use super::{CliContext, CliError, Exit, RunPartArgs, ls::short, show};
use crate::{
    engine::{Record, Renames, Run, RunId, carry},
    host::{LocalHost, client::ModelStatus},
    plan::{NodeId, validate::nearest},
    store::{RunFilter, Store, StoreError},
    text::some_of,
};
use std::collections::BTreeMap;

/// Names the newest run.
const LAST: &str = "last";

/// Nodes that are named where one is not found.
const NAMED: usize = 20;

/// The run whose results a request is to go on from; only a model can make a plan of these.
///
/// # Errors
/// When there is no such run, or no model.
pub(super) fn earlier_run(name: Option<&str>, host: &LocalHost, place: &CliContext) -> Result<Option<RunId>, CliError> {
    let Some(name) = name else { return Ok(None) };
    let run = place.store()?.resolve(name, RunFilter::Workspace(&place.places.workspace))?;
    if !matches!(host.model(), ModelStatus::Connected { .. }) {
        let hint = "make it a request of its own, or set up a model: `dagdeck doctor` shows how";
        let error = CliError::new("only a model can go on from the results of a run, and none is set up").hint(hint);
        return Err(CliError { exit: Exit::Rehearsed, ..error });
    }
    Ok(Some(run))
}

/// The run that two optional names mean, and the rest. One alone is what the newest run has by that name, else a run.
///
/// # Errors
/// When there is neither.
pub(super) fn run_and_part<'n>(
    run: Option<&'n str>,
    part: Option<&'n str>,
    has: impl Fn(&Run, &str) -> bool,
    place: &CliContext,
) -> Result<(String, Option<&'n str>), CliError> {
    let (name, part) = match (run, part) {
        (Some(run), Some(part)) => (run, Some(part)),
        (Some(one), None) if one != LAST => {
            let newest = show::records(LAST, place).ok().map(|(id, records)| (id, Run::replay(&records), records));
            let store = place.store()?;
            match (newest, store.resolve(one, RunFilter::Workspace(&place.places.workspace))) {
                (Some((id, run, _)), _) if has(&run, one) => return Ok((id, Some(one))),
                (_, Ok(run)) => return Ok((run.0, None)),
                (Some((id, run, records)), Err(StoreError::NoSuchRun { .. })) => {
                    let CliError { hint, .. } = no_such_node(one, &id, &run, &records);
                    let message = format!("`{one}` is neither a run nor a node of the newest run, `{}`", short(&id));
                    return Err(CliError::new(message).hint(format!("{}; `dagdeck ls` lists the runs", hint.unwrap_or_default())));
                }
                (_, Err(error)) => return Err(error.into()),
            }
        }
        (_, None) => (LAST, None),
        (None, part) => (LAST, part),
    };
    Ok((name.to_owned(), part))
}

/// The same for a node.
///
/// # Errors
/// When there is neither a run nor a node called so.
pub(super) fn run_and_node<'n>(of: &'n RunPartArgs, place: &CliContext) -> Result<(String, Option<&'n str>), CliError> {
    let has = |run: &Run, name: &str| run.node(&NodeId::new(name)).is_some();
    run_and_part(of.run.as_deref(), of.part.as_deref(), has, place)
}

/// A node by the name that it has now.
///
/// # Errors
/// When no node of the run is called so.
pub(super) fn node(name: &str, id: &str, run: &Run, records: &[Record]) -> Result<NodeId, CliError> {
    let given = NodeId::new(name);
    if run.node(&given).is_some() {
        return Ok(given);
    }
    Err(no_such_node(name, id, run, records))
}

fn no_such_node(name: &str, id: &str, run: &Run, records: &[Record]) -> CliError {
    let ids = || run.nodes().map(|(id, _)| id.as_str());
    let now = called_now(name, records).filter(|now| run.node(now).is_some());
    let near = match (now, nearest(name, ids())) {
        (Some(now), _) => format!("it is called `{now}` now; "),
        (None, Some(near)) => format!("did you mean `{near}`? "),
        (None, None) => String::new(),
    };
    CliError::new(format!("run `{}` has no node `{name}`", short(id))).hint(format!("{near}its nodes are: {}", some_of(ids(), NAMED)))
}

/// What a node is called today that once had this name.
fn called_now(name: &str, records: &[Record]) -> Option<NodeId> {
    let (mut renames, mut names) = (Renames::default(), BTreeMap::new());
    for record in records {
        let given = renames.fold(record);
        // Whoever has had the name last is who is meant.
        if given.iter().any(|(old, _)| old.as_str() == name) {
            names = BTreeMap::from([(NodeId::new(name), ())]);
        }
        carry(&mut names, &given);
    }
    names.into_keys().next().filter(|now| now.as_str() != name)
}

/// The events of a run: all, or, where a number names one, of a damaged run also those that stand before the damage.
///
/// # Errors
/// When the run is unknown or damaged, or the journal can't be read.
pub(super) fn records(store: &Store, run: &RunId, at: Option<i64>) -> Result<Vec<Record>, CliError> {
    Ok(match at.and_then(|at| u64::try_from(at).ok()) {
        None => store.records(run)?,
        Some(at) => store.records_to(run, at)?,
    })
}

/// The event that is meant: by its number, the last one of a node as it is called now or was called then, or the newest.
///
/// # Errors
/// When the run has no such event or node, or nothing happened at it.
pub(super) fn event(at: Option<i64>, until: Option<&str>, id: &str, records: &[Record]) -> Result<u64, CliError> {
    let newest = records.last().map_or(0, |record| record.seq);
    if let Some(at) = at {
        let there = u64::try_from(at).ok().filter(|at| (1..=newest).contains(at));
        let missing = || CliError::new(format!("run `{}` has no event {at}", short(id))).hint(format!("its events are 1 to {newest}"));
        return there.ok_or_else(missing);
    }
    let Some(name) = until else { return Ok(newest) };
    let last = last_of_nodes(records);
    let then = || records.iter().rev().find(|record| record.event.node().is_some_and(|node| node.as_str() == name));
    if let Some(seq) = last.get(&NodeId::new(name)).copied().or_else(|| then().map(|record| record.seq)) {
        return Ok(seq);
    }
    let node = node(name, id, &Run::replay(records), records)?;
    Err(CliError::new(format!("nothing has happened at `{node}` yet"))
        .hint(format!("its run's events are 1 to {newest}: name one with --at")))
}

/// The last event of each node, by the name that it has at the end.
fn last_of_nodes(records: &[Record]) -> BTreeMap<NodeId, u64> {
    let (mut renames, mut last) = (Renames::default(), BTreeMap::new());
    for record in records {
        carry(&mut last, &renames.fold(record));
        if let Some(node) = record.event.node() {
            last.insert(node.clone(), record.seq);
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::{Action, Actor, Command, Input, RunSettings, Time},
        plan::{Plan, edit::Edit},
    };
    use serde_json::json;

    /// A finished run of `first`, which `second` needs, whose `first` is called `start` since.
    fn renamed() -> Vec<Record> {
        let nodes = json!([{"id": "first", "value": 1}, {"id": "second", "value": 2, "depends_on": ["first"]}]);
        let plan: Plan = serde_json::from_value(json!({ "nodes": nodes })).unwrap();
        let by = Actor { who: "anna".into(), via: "cli".into() };
        let rename = Action::Edit { edits: vec![Edit::RenameNode { from: "first".into(), to: "start".into() }] };
        let create =
            Input::Create { run: RunId("r-1".into()), plan: Box::new(plan), settings: Box::new(RunSettings::default()), by: by.clone() };
        let mut run = Run::default();
        let mut step = |inputs: &[Input]| run.steps(inputs, Time(5)).records;
        let mut records = step(&[create, Input::Command { command: Command::Start, by: by.clone() }]);
        records.extend(step(&[Input::Command { command: Command::act(rename), by }]));
        records
    }

    #[test]
    fn the_last_event_of_a_node_is_found_by_its_name_of_today_and_of_then() {
        let records = renamed();
        let last = records.iter().rfind(|record| record.event.node().is_some_and(|node| node.as_str() == "first")).unwrap();
        for name in ["first", "start"] {
            assert_eq!(event(None, Some(name), "r-1", &records).unwrap(), last.seq, "{name}");
        }
        assert_eq!(event(None, None, "r-1", &records).unwrap(), records.len() as u64);
    }

    #[test]
    fn an_old_name_is_told_with_the_new_one() {
        let records = renamed();
        let run = Run::replay(&records);
        assert_eq!(node("start", "r-1", &run, &records).unwrap().as_str(), "start");
        let hint = |name: &str| node(name, "r-1", &run, &records).unwrap_err().hint.unwrap();
        assert_eq!(hint("first"), "it is called `start` now; its nodes are: start, second");
        assert_eq!(hint("strat"), "did you mean `start`? its nodes are: start, second");
        assert_eq!(hint("x"), "its nodes are: start, second");
    }
}
