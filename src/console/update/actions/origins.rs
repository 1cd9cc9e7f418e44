//! Timeline and trace: moving to them, and from a bar or a line to the node, to the log, or to a trace of its own.

use super::super::UpdateTurn;
use crate::console::model::{Model, RunView, Screen, Status, Tab, TraceView, Traced};
use crate::engine::Event;
use crate::plan::NodeId;

/// To the trace of the selected node, or back to the tree.
pub fn trace(model: &mut Model, _: &mut UpdateTurn) {
    if model.place.screen == Screen::Trace {
        return model.go(Screen::Plan);
    }
    super::run::show_one(model);
    match model.selected_id().cloned() {
        Some(node) => open(model, &node),
        None => model.status = Some(Status::warn("no node is selected")),
    }
}

fn open(model: &mut Model, node: &NodeId) {
    let Some(view) = model.shown_run_mut() else { return };
    if view.open_trace(node) {
        model.go(Screen::Trace);
    } else {
        model.status = Some(Status::warn(&format!("`{node}` is not in the run yet")));
    }
}

/// Selects the bar so many further.
pub fn step(model: &mut Model, to: impl FnOnce(usize, usize) -> usize) {
    let Some(chart) = model.shown_run().and_then(RunView::chart) else { return };
    let at = model.selected_id().and_then(|id| chart.bars.iter().position(|bar| bar.node == *id)).unwrap_or(0);
    if let Some(node) = chart.bars.get(to(at, chart.bars.len())).map(|bar| bar.node.clone()) {
        model.reveal(&node);
    }
}

/// From a line of a trace to its node; a call leads to the node's tools, a gate to its answer in the log.
pub fn go(model: &mut Model, _: &mut UpdateTurn) {
    let Some(view) = model.shown_run() else { return };
    let Some((trace, line)) = view.trace.as_ref().and_then(|trace| Some((trace, trace.line()?))) else { return };
    let Some(step) = trace.trace().steps.get(line.step) else { return };
    let node = step.node.clone();
    let gate = match line.what {
        Traced::Approval(at) => step.approvals.get(at).map(|approval| approval.gate),
        Traced::Result(_) | Traced::Input(_) | Traced::Call(_) | Traced::File(_) | Traced::Source(_) => None,
    };
    let records = view.journal().records();
    let event = gate.and_then(|gate| {
        let answer = |event: &Event| matches!(event, Event::GateDecided { gate: decided, .. } if *decided == gate);
        let question = |event: &Event| matches!(event, Event::ApprovalRequired { gate: asked } if asked.id == gate);
        records.iter().rposition(|record| answer(&record.event)).or_else(|| records.iter().rposition(|record| question(&record.event)))
    });
    if matches!(line.what, Traced::Call(_) | Traced::File(_) | Traced::Source(_)) {
        model.inspector.run_tab = Tab::Tools;
    }
    model.reveal(&node);
    model.place.screen = if event.is_some() { Screen::Log } else { Screen::Plan };
    if let (Some(event), Some(view)) = (event, model.shown_run_mut()) {
        view.log.follow = false;
        view.log.select_event(event);
    }
}

/// A trace of the selected line's node.
pub fn from_here(model: &mut Model, _: &mut UpdateTurn) {
    if let Some(node) = model.trace().and_then(TraceView::selected_node).cloned() {
        open(model, &node);
    }
}
