//! When commands can't be used, and the reason as a person reads it.

use crate::console::model::{Model, Stage};
use crate::plan::{DecisionWork, Work};

/// Always.
pub fn always(_: &Model) -> Result<(), &'static str> {
    Ok(())
}

/// There is a plan or a run to look at.
pub fn has_nodes(model: &Model) -> Result<(), &'static str> {
    if model.plan().nodes.is_empty() { Err("there is no plan yet: type a request first") } else { Ok(()) }
}

/// The plan itself is shown, and nobody is generating it.
pub fn editing(model: &Model) -> Result<(), &'static str> {
    if model.request.planning.is_some() {
        return Err("the plan is still being made: wait, or cancel it");
    }
    match model.place.stage {
        Stage::Plan => Ok(()),
        Stage::Run(_) => Err("this is a run: take its plan into the editor to change it"),
    }
}

/// The plan is shown and has nodes.
pub fn editing_nodes(model: &Model) -> Result<(), &'static str> {
    editing(model)?;
    has_nodes(model)
}

/// The selected node runs an agent or a tool.
pub fn editing_worker(model: &Model) -> Result<(), &'static str> {
    editing_nodes(model)?;
    match model.selected_node().map(|node| &node.work) {
        Some(Work::Agent(_) | Work::Tool(_) | Work::Decision(DecisionWork::Agent(_))) => Ok(()),
        _ => Err("the selected node has neither an agent nor a tool"),
    }
}

/// Something can be undone.
pub fn can_undo(model: &Model) -> Result<(), &'static str> {
    editing(model)?;
    if model.editor.can_undo() { Ok(()) } else { Err("nothing to undo") }
}

/// Something can be done again.
pub fn can_redo(model: &Model) -> Result<(), &'static str> {
    editing(model)?;
    if model.editor.can_redo() { Ok(()) } else { Err("nothing to redo") }
}

/// It is known how the plan came.
pub fn has_version(model: &Model) -> Result<(), &'static str> {
    editing(model)?;
    if model.editor.compare.has_version() { Ok(()) } else { Err("there is no plan yet: type a request first") }
}

/// A difference to how the plan came is selected.
pub fn differs_from_version(model: &Model) -> Result<(), &'static str> {
    editing(model)?;
    let compare = &model.editor.compare;
    match (compare.piece(), compare.is_with_version()) {
        (Some(_), true) => Ok(()),
        (Some(_), false) => Err("this compares with another plan: take the difference over instead"),
        (None, _) => Err("there is no difference"),
    }
}

/// A difference to another plan is selected.
pub fn differs_from_other(model: &Model) -> Result<(), &'static str> {
    editing(model)?;
    let compare = &model.editor.compare;
    match (compare.piece(), compare.is_with_version()) {
        (Some(_), false) => Ok(()),
        (Some(_), true) => Err("this compares with how the plan came: take the difference back instead"),
        (None, _) => Err("there is no difference"),
    }
}

/// There are findings.
pub fn has_findings(model: &Model) -> Result<(), &'static str> {
    editing(model)?;
    if model.editor.findings().is_empty() { Err("there are no findings: the plan is in order") } else { Ok(()) }
}

/// The plan can be started.
pub fn can_run(model: &Model) -> Result<(), &'static str> {
    editing_nodes(model)?;
    if model.editor.review.errors() > 0 { Err("the plan has errors: see the findings") } else { Ok(()) }
}

/// A run is shown, live or past.
pub fn run_shown(model: &Model) -> Result<(), &'static str> {
    model.shown_run().map(|_| ()).ok_or("no run is shown")
}

/// The shown run goes on.
pub fn run_live(model: &Model) -> Result<(), &'static str> {
    let run = model.shown_run().ok_or("no run is shown")?;
    if run.goes_on() { Ok(()) } else { Err("this run has ended") }
}

/// The selected node of the shown run has not ended.
pub fn node_live(model: &Model) -> Result<(), &'static str> {
    run_live(model)?;
    let state = model.selected_id().and_then(|id| model.shown_run()?.run.node(id)).map(|node| node.state.is_final());
    match state {
        Some(false) => Ok(()),
        Some(true) => Err("the selected node has ended"),
        None => Err("no node is selected"),
    }
}

/// The selected node of the shown run waits for a decision.
pub fn node_gated(model: &Model) -> Result<(), &'static str> {
    run_shown(model)?;
    model.selected_nodes_gate().map(|_| ()).ok_or("the selected node waits for nobody")
}

/// Planning goes on.
pub fn planning(model: &Model) -> Result<(), &'static str> {
    if model.request.planning.is_some() { Ok(()) } else { Err("no plan is being made") }
}

/// A gate is selected in the inbox.
pub fn gate(model: &Model) -> Result<(), &'static str> {
    model.selected_gate().map(|_| ()).ok_or("no gate is open")
}

/// The selected gate has an answer that was written but not given.
pub fn draft(model: &Model) -> Result<(), &'static str> {
    gate(model)?;
    if model.selected_draft().is_some() { Ok(()) } else { Err("nothing was written for this gate") }
}

/// There are runs in the list.
pub fn has_runs(model: &Model) -> Result<(), &'static str> {
    if model.runs.listing.is_empty() { Err("there are no runs yet") } else { Ok(()) }
}

/// The plan or a run can be switched to.
pub fn has_stages(model: &Model) -> Result<(), &'static str> {
    if model.runs.open.is_empty() { Err("no run is open") } else { Ok(()) }
}
