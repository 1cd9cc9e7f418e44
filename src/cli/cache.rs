//! `dagdeck cache`: the results that later runs may take, why one was taken or not, and their end.

use super::{
    CacheAction, CacheArgs, CacheClearArgs, CacheWhyArgs, CliContext, CliError, Exit, Io,
    ls::{GOAL_COLUMNS, short},
};
use crate::{
    engine::{NodeRun, NodeState, Run},
    host::{Caching, Clock, SystemClock},
    plan::{CachePolicy, NodeId, NodeKind},
    store::{CacheLook, CacheScope, ResultCache, RunFilter},
    text::{Plain, bytes, counted, duration},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Lists, explains or clears.
///
/// # Errors
/// When a run or node is unknown, or the cache can't be used.
pub fn cache(args: &CacheArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    match &args.action {
        None => list(args, place, io),
        Some(CacheAction::Why(args)) => why(args, place, io),
        Some(CacheAction::Clear(args)) => clear(args, place, io),
    }
}

fn list(args: &CacheArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let cache = ResultCache::of(&place.places.home);
    let scope = (!args.all).then_some(place.places.workspace.as_path());
    let rows = if cache.exists() { cache.list(scope)? } else { Vec::new() };
    if args.json {
        io.json(&json!(rows))?;
        return Ok(Exit::Success);
    }
    if rows.is_empty() {
        io.say("no result is kept yet: those of agents and code are, once a run ends well");
        return Ok(Exit::Success);
    }
    let now = SystemClock.now();
    io.line(&format!("{:>9}  {:>5}  {:>7}  {:<8}  {}", "made ago", "uses", "size", "run", "node"))?;
    for row in &rows {
        let age = duration(now.since(row.made)).into_string();
        let head = format!("{age:>9}  {:>5}  {:>7}  {:<8}  ", row.uses, bytes(row.bytes).as_str(), short(&row.run.0));
        let whose = if args.all { format!("  {}", row.workspace) } else { String::new() };
        io.row(&Plain::line(&head), &Plain::summary(&format!("{} ({}){whose}", row.node, row.worker)), GOAL_COLUMNS)?;
    }
    let all: u64 = rows.iter().map(|row| row.bytes).sum();
    io.say(&format!("{}, {}; `dagdeck cache why RUN` says what a run took of them", counted(rows.len(), "result"), bytes(all)));
    Ok(Exit::Success)
}

fn why(args: &CacheWhyArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let store = place.store()?;
    let id = store.resolve(&args.run, RunFilter::Workspace(&place.places.workspace))?;
    let run = Run::replay(&store.records(&id)?);
    let cache = ResultCache::of(&place.places.home);
    let looks = if cache.exists() { cache.looks(&id)? } else { Vec::new() };
    let looks: BTreeMap<&NodeId, &CacheLook> = looks.iter().map(|look| (&look.node, look)).collect();
    let nodes = run.nodes_in_order();
    if let Some(node) = args.node.as_ref().filter(|node| nodes.iter().all(|(id, _)| id.as_str() != node.as_str())) {
        return Err(CliError::new(format!("run `{}` has no node `{node}`", short(&id.0))).hint("`dagdeck show` lists its nodes"));
    }
    let wanted = nodes.into_iter().filter(|(id, _)| args.node.as_ref().is_none_or(|node| id.as_str() == node));
    let all: Vec<(&NodeId, bool, String)> = wanted
        .map(|(id, node)| match (looks.get(id), &node.lineage.cached) {
            (Some(look), _) => (id, look.hit, look.why.clone()),
            (None, Some(source)) => (id, true, source.message()),
            (None, None) => (id, false, not_looked(&run, id, node)),
        })
        .collect();
    if args.json {
        io.json(&all.iter().map(|(id, hit, why)| json!({"node_id": id, "cached": hit, "why": why})).collect::<Value>())?;
        return Ok(Exit::Success);
    }
    let width = all.iter().map(|(id, ..)| id.as_str().len()).max().unwrap_or(0);
    for (id, hit, why) in all {
        io.line(&format!("{id:<width$}  {:<6}  {}", if hit { "cached" } else { "made" }, Plain::summary(&why)))?;
    }
    Ok(Exit::Success)
}

/// Why nothing was looked for, as far as the run shows.
fn not_looked(run: &Run, id: &NodeId, node: &NodeRun) -> String {
    let doc = run.node_doc(id);
    let written = run.cache_policy(id);
    let works = doc.is_some_and(|doc| doc.kind.agent().is_some() || doc.kind.tool().is_some() || matches!(doc.kind, NodeKind::Code(_)));
    let why = if !works {
        "nothing to keep: only agents, tools and code work"
    } else if node.attempt == 0 {
        "it has not run"
    } else if Caching::of(run) == Caching::Off {
        "the run was started with `--no-cache`"
    } else if written == Some(Ok(CachePolicy::Off)) {
        "the plan says `cache: \"off\"`"
    } else if node.state == NodeState::Rehearsed {
        "it was only rehearsed"
    } else if doc.is_some_and(|doc| doc.kind.tool().is_some()) && written.is_none() {
        "calls of tools are made each time, unless the node's `cache` gives a time"
    } else {
        "not looked for: its work may leave something behind, people answer it or guided it, or the cache was off"
    };
    why.to_owned()
}

fn clear(args: &CacheClearArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let cache = ResultCache::of(&place.places.home);
    let mut runs = Vec::new();
    if !args.runs.is_empty() {
        let store = place.store()?;
        for name in &args.runs {
            runs.push(store.resolve(name, RunFilter::Workspace(&place.places.workspace))?);
        }
    }
    let scope = match (args.all, runs.as_slice()) {
        (true, _) => CacheScope::All,
        (false, []) => CacheScope::Workspace(&place.places.workspace),
        (false, runs) => CacheScope::Runs(runs),
    };
    let gone = cache.clear(scope)?;
    io.say(&format!("deleted {}; the journal keeps what runs gave", counted(gone, "cached result")));
    Ok(Exit::Success)
}
