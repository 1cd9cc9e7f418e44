//! What is said of an action that a person asked for, once it was done.

use crate::console::model::{Model, Status};
use crate::engine::{Action, Event, NodeFact, NodeState, Pace, RunId};
use crate::plan::NodeId;

/// What is said of an action that was done.
pub fn acted(model: &Model, id: &RunId, action: &Action, nodes: &[NodeId]) -> Status {
    let left = at_work(model, id);
    if let (Action::Step { .. }, [node, ..]) = (action, nodes) {
        let what = if starts(model, id, node) { "started" } else { "continued" };
        Status::good(&format!("{what} `{node}`"))
    } else if let Action::Stop { target } = action
        && !left.is_empty()
    {
        let run = if left.len() == 1 { "runs" } else { "run" };
        Status::good(&format!("stopping {}: {} still {run}", target.label(), left.join(", ")))
    } else {
        match model.runs.get(id).map(|view| view.newest().run.pace()) {
            Some(Pace::Pausing) if *action == Action::Pause => Status::good("pausing the run: nodes that run now finish"),
            Some(_) | None => Status::good(&past(&action.label())),
        }
    }
}

/// An action that was done, by its words for one to do.
fn past(label: &str) -> String {
    const PAST: [(&str, &str); 26] = [
        ("pause", "paused"),
        ("mark", "marked"),
        ("rewind", "rewound"),
        ("run", "running"),
        ("step", "stepped"),
        ("resume", "resumed"),
        ("hold", "held"),
        ("release", "released"),
        ("cancel", "cancelling"),
        ("stop", "stopping"),
        ("retry", "retrying"),
        ("rerun", "rerunning"),
        ("skip", "skipped"),
        ("override", "overrode"),
        ("edit", "edited"),
        ("change", "changed"),
        ("delete", "deleted"),
        ("rename", "renamed"),
        ("move", "moved"),
        ("copy", "copied"),
        ("make", "made"),
        ("guide", "guided"),
        ("add", "added"),
        ("remove", "removed"),
        ("disable", "disabled"),
        ("enable", "enabled"),
    ];
    let (verb, rest) = label.split_once(' ').unwrap_or((label, ""));
    let done = PAST.iter().find(|(known, _)| *known == verb).map(|(_, done)| format!("{done} {rest}"));
    done.map_or_else(|| format!("done: {label}"), |done| done.trim_end().to_owned())
}

/// The nodes of a run that are at work.
fn at_work(model: &Model, id: &RunId) -> Vec<String> {
    let nodes = model.runs.get(id).into_iter().flat_map(|view| view.newest().run.own_nodes());
    let nodes = nodes.filter(|(_, node)| node.state.is_at_work());
    nodes.map(|(id, _)| format!("`{id}`")).collect()
}

/// Whether the newest action started a node, and did not only continue it at a call or a gate.
fn starts(model: &Model, id: &RunId, node: &NodeId) -> bool {
    let records = model.runs.get(id).map(|view| view.journal().records()).unwrap_or_default();
    let own = records.iter().rev().take_while(|record| !matches!(record.event, Event::Acted { .. }));
    own.into_iter().any(|record| matches!(&record.event, Event::Node { node_id, fact: NodeFact::Started { .. }, .. } if node_id == node))
}

/// The node that the newest action ran to, once all that it needs is done.
pub fn run_to<'a>(model: &'a Model, id: &RunId) -> Option<&'a NodeId> {
    let view = model.runs.get(id)?;
    let acted = view.journal().records().iter().rev().find_map(|record| {
        let Event::Acted { action, .. } = &record.event else { return None };
        Some(&**action)
    });
    let Some(Action::RunTo { node }) = acted else { return None };
    (view.newest().state(node) == Some(&NodeState::Ready)).then_some(node)
}
