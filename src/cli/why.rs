//! `dagdeck why`: what a node of a run waits for, down to what a person can do something about.

use super::{AboutArgs, CliContext, CliError, Exit, Io, ls::short, named, show};
use crate::{
    engine::{Action, Blocker, Cause, Command, GateKind, NodeState, Obstacle, RerunReach, Run, RunId, RunStatus},
    host::{Clock, SystemClock},
    plan::NodeId,
    text::Plain,
};
use serde_json::json;

/// Tells what holds a node up, or what became of it.
///
/// # Errors
/// When there is no such run or node, or the journal can't be read.
pub fn why(args: &AboutArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let (id, records) = show::records(&args.of.run, place)?;
    let run = Run::replay(&records);
    let node = named::node(&args.of.node, &id, &run, &records)?;
    let status = show::status(&run, &id, place)?;
    let is_left = run.outcome().is_none() && place.store()?.driver(&RunId(id.clone())).is_none();
    let resumed = run.without_driver(SystemClock.now());
    let mut links = run.why_in(&node, status, |node| broken_off(node, &run, &resumed, short(&id)));
    for link in links.iter_mut().filter(|link| is_left && link.obstacle == Obstacle::Slot) {
        link.sentence = format!("`{}` is ready, and no dagdeck process is running the run", link.node);
        link.obstacle = Obstacle::Start;
    }
    if args.json {
        io.json(&json!({ "run": id, "node": args.of.node, "links": links }))?;
        return Ok(Exit::Success);
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
            GateKind::Question { .. } | GateKind::UnknownEffect { .. } => {
                format!("`dagdeck answer {name} {} -m ANSWER` answers it", gate.0)
            }
            GateKind::Approval | GateKind::Review | GateKind::Permission { .. } => {
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
