//! `dagdeck why`: what a run or one of its nodes waits for, down to what a person can do something about.

use super::{AboutArgs, CliContext, CliError, Exit, Io, ls::short, named, show};
use crate::{
    engine::{Action, Blocker, Cause, Command, GateKind, NodeState, Obstacle, RerunReach, Run, RunId, RunStatus},
    host::{Clock, SystemClock},
    plan::NodeId,
    text::Plain,
};
use serde_json::{Value, json};

/// Tells what holds a node up, or what became of it; of a run, the same of each node that made it what it is.
///
/// # Errors
/// When there is no such run or node, or the journal can't be read.
pub fn why(args: &AboutArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let (name, node) = named::run_and_node(&args.of, place)?;
    let (id, records) = show::records(&name, place)?;
    let run = Run::replay(&records);
    let status = show::status(&run, &id, place)?;
    let is_left = run.outcome().is_none() && place.store()?.driver(&RunId(id.clone())).is_none();
    let resumed = run.without_driver(SystemClock.now());
    let chain = |node: &NodeId| {
        let mut links = run.why_in(node, status, |node| broken_off(node, &run, &resumed, short(&id)));
        for link in links.iter_mut().filter(|link| is_left && link.obstacle == Obstacle::Slot) {
            link.sentence = format!("`{}` is ready, and no dagdeck process is running the run", link.node);
            link.obstacle = Obstacle::Start;
        }
        links
    };
    let nodes = match node {
        Some(name) => vec![named::node(name, &id, &run, &records)?],
        None => of_note(&run, chain),
    };
    let chains: Vec<(NodeId, Vec<Blocker>)> = nodes.into_iter().map(|node| (node.clone(), chain(&node))).collect();
    if args.json {
        let json = |(node, links): &(NodeId, Vec<Blocker>)| json!({ "run": id, "node": node, "links": links });
        let mut all: Vec<Value> = chains.iter().map(json).collect();
        io.json(&if node.is_some() { all.swap_remove(0) } else { Value::Array(all) })?;
        return Ok(Exit::Success);
    }
    let links: Vec<Blocker> = chains.into_iter().flat_map(|(_, links)| links).collect();
    if links.is_empty() {
        let how = status.label(run.interrupted_by());
        let reason = run.outcome().map(|(_, reason)| format!(": {}", reason.message())).unwrap_or_default();
        io.line(Plain::line(&format!("{how}{reason}")).as_str())?;
    }
    for link in &links {
        io.line(Plain::line(&format!("{}{}", "  ".repeat(link.depth), link.sentence)).as_str())?;
    }
    let hints = hints((&run, &resumed), &links, status, short(&id));
    let is_imported = place.store()?.is_imported(&RunId(id.clone()))?;
    for hint in if is_imported && !hints.is_empty() { vec![imported(short(&id))] } else { hints } {
        io.say(&format!("hint: {hint}"));
    }
    Ok(Exit::Success)
}

/// The nodes that make a run what it is: those that wait for a person or failed; without any, those that a person can't help.
fn of_note(run: &Run, chain: impl Fn(&NodeId) -> Vec<Blocker>) -> Vec<NodeId> {
    let open = run.nodes_in_order().into_iter().filter(|(_, node)| !node.state.has_result());
    let first = |id: &NodeId| chain(id).into_iter().next().filter(|link| link.node == *id).map(|link| link.obstacle);
    let open: Vec<(&NodeId, bool, Option<Obstacle>)> = open.map(|(id, node)| (id, node.state.ended_badly(), first(id))).collect();
    let needs = |is_bad: bool, obstacle: Option<Obstacle>| is_bad || obstacle.is_some_and(Obstacle::is_for_people);
    let works = |obstacle: Option<Obstacle>| !matches!(obstacle, None | Some(Obstacle::Nothing | Obstacle::Nodes));
    let chosen = |is_wanted: &dyn Fn(bool, Option<Obstacle>) -> bool| -> Vec<NodeId> {
        open.iter().filter(|(_, is_bad, obstacle)| is_wanted(*is_bad, *obstacle)).map(|(id, ..)| (*id).clone()).collect()
    };
    let nodes = chosen(&needs);
    if nodes.is_empty() { chosen(&|_, obstacle| works(obstacle)) } else { nodes }
}

/// What was at work when the process that drove its run ended, and what becomes of it.
fn broken_off(node: &NodeId, run: &Run, resumed: &Run, name: &str) -> String {
    let state = resumed.node(node).map(|node| &node.state);
    let next = if state == Some(&NodeState::Unknown) {
        " --unknown again|done|skip` decides what becomes of it"
    } else if state.is_some_and(NodeState::has_result) {
        "` uses its result"
    } else {
        "` runs it again"
    };
    let how = RunStatus::Interrupted.label(run.interrupted_by());
    format!("`{node}` was at work when its run was {how}: `dagdeck resume {name}{next}")
}

/// What goes on in the place of a run that was imported.
fn imported(name: &str) -> String {
    format!(
        "the run was imported from a file, so it can't go on: `dagdeck branch {name}` continues it as a new run, and asks its gates again"
    )
}

/// What a person can do about each link that waits for one.
fn hints((run, resumed): (&Run, &Run), links: &[Blocker], status: RunStatus, name: &str) -> Vec<String> {
    let hint = |link: &Blocker| match link.obstacle {
        Obstacle::Gate { gate } => run.gate(gate).map(|(asked, _)| match asked.kind {
            GateKind::Question { .. } | GateKind::UnknownEffect { .. } | GateKind::Failure { .. } => {
                format!("`dagdeck answer {name} {} -m ANSWER` answers it", gate.0)
            }
            GateKind::Approval | GateKind::Review | GateKind::Permission { .. } | GateKind::Replan { .. } => {
                format!("`dagdeck approve {name} {0}` or `dagdeck reject {name} {0}` replies; `dagdeck show {name}` shows it", gate.0)
            }
        }),
        Obstacle::Hold | Obstacle::Breakpoint => Some(format!("`dagdeck release {name} {}` releases it", link.node)),
        Obstacle::Word => Some(format!("`dagdeck resume {name} --unknown again|done|skip` decides what becomes of it")),
        // The sentence of what was interrupted says it.
        Obstacle::Start if status == RunStatus::Interrupted => None,
        Obstacle::Start | Obstacle::Pause => Some(format!("`dagdeck resume {name}` resumes the run")),
        Obstacle::Nothing => again(link, resumed, name),
        Obstacle::Nodes | Obstacle::Slot | Obstacle::Lock | Obstacle::Retry { .. } | Obstacle::Work => None,
    };
    let mut hints: Vec<String> = links.iter().filter_map(hint).collect();
    // Trying once more fails again where what it does is wrong.
    if links.iter().any(|link| link.obstacle == Obstacle::Nothing && run.node(&link.node).is_some_and(|node| node.state.has_failed())) {
        hints.push(format!(
            "`dagdeck export {name} > FILE` writes the plan: change it there, then `dagdeck edit {name} FILE` and `dagdeck resume {name}`"
        ));
    }
    if status == RunStatus::Paused && !hints.is_empty() {
        hints.push(format!("the run is paused: `dagdeck resume {name}` resumes it"));
    }
    hints.dedup();
    hints
}

/// How a node that failed, that was asked about and never ran, or whose result is stale, runs again; nothing where that is refused.
fn again(link: &Blocker, run: &Run, name: &str) -> Option<String> {
    let node = run.node(&link.node)?;
    let (id, state) = (link.node.clone(), &node.state);
    let by_person = *state == NodeState::Cancelled || matches!(node.reason, Cause::Skipped { .. });
    let (word, action) = if state.has_failed() {
        ("retry", Action::Retry { node: id })
    } else if state.has_ended() && (node.stale.is_some() || link.depth == 0 && by_person) {
        // What its condition or the plan's way skipped would be skipped again.
        ("rerun", Action::Rerun { node: id, scope: RerunReach::Downstream })
    } else {
        return None;
    };
    let accepted = run.refusal(&Command::act(action)).is_none();
    let does = if word == "retry" { "tries it once more" } else { "runs it again, with what depends on it" };
    accepted.then(|| format!("`dagdeck {word} {name} {}` {does}", link.node))
}
