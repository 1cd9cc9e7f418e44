//! The end of a run: where the screen goes, and what is said.

use serde_json::Value;

use crate::console::model::{Focus, Model, RunView, Screen, Scroll, Status, Tab};
use crate::engine::{Action, Event, NodeRun, NodeState, Outcome, RunId, SearchMark, Time};
use crate::plan::NodeId;

/// Goes to what came out of a run, or to its failure, unless the person reads something else of it just now. An output that is selected
/// stays so, and one that has something to read goes before one that has not. A failure that was known before the person replied is no
/// news: the node that they replied to stays selected, so that the next key is not for another one.
pub fn show_end(model: &mut Model, id: &RunId, outcome: Outcome) {
    model.editor.forecast.is_old();
    let is_free = model.dialogs.is_empty() && model.replay().is_none() && matches!(model.place.screen, Screen::Plan | Screen::Inbox);
    let selected = model.selected_id().cloned();
    let Some(view) = model.runs.get_mut(id).filter(|_| is_free && model.place.focus == Focus::Tree) else { return };
    view.grow();
    let run = &view.newest().run;
    let nodes = run.nodes_in_order();
    let failure = || nodes.iter().find(|(_, node)| node.state == NodeState::Failed);
    // Where nothing failed, what a person rejected or cancelled is why the rest didn't run.
    let ended = || nodes.iter().find(|(_, node)| node.state == NodeState::Cancelled);
    let says = |node: &NodeRun| node.result.as_deref().is_some_and(|result| !is_blank(result));
    let output = || {
        let outputs = || nodes.iter().rev().filter(|(id, node)| run.is_final(id) && node.result.is_some());
        let here = outputs().find(|(id, node)| Some(*id) == selected.as_ref() && says(node));
        here.or_else(|| outputs().find(|(_, node)| says(node))).or_else(|| outputs().next())
    };
    let end = match outcome {
        Outcome::Failed => failure().or_else(ended).or_else(output),
        // What came out is what was wanted; what is missing is named in the message.
        Outcome::Partial => output().filter(|(_, node)| says(node)).or_else(failure).or_else(ended).or_else(output),
        Outcome::Succeeded | Outcome::Rehearsed => output(),
        Outcome::Cancelled => None,
    };
    let replied = selected.as_ref().and_then(|selected| Some((selected, last_reply(view, selected)?)));
    let end = end.filter(|(_, end)| {
        let stays = replied.is_some_and(|(selected, at)| {
            let has_failed = run.node(selected).is_some_and(|node| node.state == NodeState::Failed);
            let is_known = end.state == NodeState::Failed && end.span.finished.is_some_and(|finished| finished < at);
            has_failed || is_known
        });
        !stays
    });
    if let Some(node) = end.map(|(id, _)| NodeId::clone(id)) {
        view.with_tree(|tree, plan| tree.reveal(plan, &node));
        let is_output = view.is_output(&node);
        (model.inspector.run_tab, model.inspector.scroll) = (Tab::Output, Scroll::Start);
        // Where the tree is above it, the output has the screen, and the way back is one key.
        let layout = model.layout();
        if is_output && model.place.screen == Screen::Plan && layout.detail.y > layout.list.y {
            model.place.focus = Focus::Inspector;
        }
    }
}

/// When a person replied to a gate of that node, if that is the newest thing that they did.
fn last_reply(view: &RunView, node: &NodeId) -> Option<Time> {
    let record = view.journal().records().iter().rev().find(|record| record.event.mark() == Some(SearchMark::Action))?;
    let Event::GateDecided { gate, .. } = &record.event else { return None };
    view.newest().run.gate(*gate).filter(|(gate, _)| gate.node == *node).map(|_| record.at)
}

/// Whether the newest action was a step of that node.
pub fn is_last_step(model: &Model, id: &RunId, node: &NodeId) -> bool {
    let records = model.runs.get(id).map(|view| view.journal().records()).unwrap_or_default();
    let acted = records.iter().rev().find_map(|record| {
        let Event::Acted { action, nodes, .. } = &record.event else { return None };
        matches!(**action, Action::Step { .. }).then_some(nodes.as_slice())
    });
    acted.is_some_and(|nodes| nodes.contains(node))
}

/// Whether a result has nothing to read.
fn is_blank(result: &Value) -> bool {
    match result {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// How a run ended.
pub fn ended(view: &RunView, outcome: Outcome, reason: &str) -> Status {
    let goal = view.goal();
    let words = if reason.is_empty() { goal.as_str() } else { reason };
    match outcome {
        Outcome::Succeeded => Status::good(&format!("succeeded: {}", goal.as_str())),
        Outcome::Partial => Status::warn(&format!("partial: {words}")),
        Outcome::Rehearsed => Status::warn(&format!("rehearsed: {words}")),
        Outcome::Failed => Status::bad(&format!("failed: {words}")),
        Outcome::Cancelled => Status::warn(&format!("cancelled: {words}")),
    }
}
