//! When commands can't be used, and the reason as a person reads it.

use std::borrow::Cow;

use crate::console::model::{Confirm, Confirmed, Dialog, Model, PlanScreen, RuleProposal, RunView, Screen};
use crate::engine::{Action, Command, StateGroup};
use crate::host::client::{Driver, SuggestionState};
use crate::plan::{DecisionNode, NodeKind};
use crate::text::counted;

/// Why a command can't be used now, in words.
pub type DisabledReason = Cow<'static, str>;

pub fn always(_: &Model) -> Result<(), DisabledReason> {
    Ok(())
}

/// Something was typed into the line with the focus before.
pub fn typed_before(model: &Model) -> Result<(), DisabledReason> {
    let texts = model.line().map_or(&[][..], |line| model.request.typed.before(line));
    if texts.is_empty() { Err("nothing was typed here before".into()) } else { Ok(()) }
}

/// There is a plan or a run to look at.
pub fn has_nodes(model: &Model) -> Result<(), DisabledReason> {
    if model.plan().nodes.is_empty() {
        Err(format!("there is no plan yet: {} types a request", model.hint("request.focus")).into())
    } else {
        Ok(())
    }
}

/// The graph is drawn as boxes, which inner plans are inside of.
pub fn shows_boxes(model: &Model) -> Result<(), DisabledReason> {
    has_nodes(model)?;
    match model.tree().drawing.stages() {
        Some(_) => Err(format!("by stages no inner plan is shown: {} shows boxes", model.hint("graph.form")).into()),
        None => Ok(()),
    }
}

/// Something of what is shown waits for a person.
pub fn needs_you(model: &Model) -> Result<(), DisabledReason> {
    has_nodes(model)?;
    let waits = model.shown_run().map_or_else(|| !model.editor.findings().is_empty(), |view| !view.stops().is_empty());
    if waits { Ok(()) } else { Err("nothing here needs you".into()) }
}

/// The plan itself is shown, and nobody is generating it.
pub fn editing(model: &Model) -> Result<(), DisabledReason> {
    if model.request.planning.is_some() {
        return Err("the plan is still being made: wait, or stop planning".into());
    }
    match model.place.shown {
        PlanScreen::Plan => Ok(()),
        PlanScreen::Run(_) => Err(format!("not in a run: {} copies its plan into the editor", model.hint("run.take_plan")).into()),
    }
}

/// What is shown can be changed: the plan, or a run, which goes on with it where it was over.
pub fn changing(model: &Model) -> Result<(), DisabledReason> {
    match model.place.shown {
        PlanScreen::Plan => editing(model),
        PlanScreen::Run(_) => run_present(model),
    }
}

/// The same, and there are nodes.
pub fn changing_nodes(model: &Model) -> Result<(), DisabledReason> {
    changing(model)?;
    has_nodes(model)
}

/// The same, and the selected node may go: from a run only one that it has not begun.
pub fn changing_removal(model: &Model) -> Result<(), DisabledReason> {
    changing_nodes(model)?;
    let Some((view, id)) = model.shown_run().zip(model.selected_id()) else { return Ok(()) };
    let removal = Command::act(Action::Edit { edits: vec![model.addressed().remove(id)] });
    view.newest().run.refusal(&removal).map_or(Ok(()), |why| Err(why.into()))
}

/// The plan is shown and has nodes.
pub fn editing_nodes(model: &Model) -> Result<(), DisabledReason> {
    editing(model)?;
    has_nodes(model)
}

/// The selected node runs an agent or a tool.
pub fn changing_worker(model: &Model) -> Result<(), DisabledReason> {
    changing_nodes(model)?;
    match model.selected_node().map(|node| &node.kind) {
        Some(NodeKind::Agent(_) | NodeKind::Tool(_) | NodeKind::Decision(DecisionNode::Agent(_))) => Ok(()),
        _ => Err("the selected node has neither an agent nor a tool".into()),
    }
}

/// Something can be undone.
pub fn can_undo(model: &Model) -> Result<(), DisabledReason> {
    editing(model)?;
    if model.editor.can_undo() { Ok(()) } else { Err("nothing to undo".into()) }
}

/// The last change to what is shown can be undone: of the plan, or of a run.
pub fn can_undo_change(model: &Model) -> Result<(), DisabledReason> {
    match model.place.shown {
        PlanScreen::Plan => can_undo(model),
        PlanScreen::Run(_) => can_take_back(model),
    }
}

/// Something can be done again.
pub fn can_redo(model: &Model) -> Result<(), DisabledReason> {
    editing(model)?;
    if model.editor.can_redo() { Ok(()) } else { Err("nothing to redo".into()) }
}

/// It is known how the plan came.
pub fn has_version(model: &Model) -> Result<(), DisabledReason> {
    editing(model)?;
    if model.editor.compare.has_version() {
        Ok(())
    } else {
        Err(format!("there is no plan yet: {} types a request", model.hint("request.focus")).into())
    }
}

/// A difference to how the plan came is selected.
pub fn differs_from_version(model: &Model) -> Result<(), DisabledReason> {
    differs(model, true, "this compares with another plan: take the change over instead")
}

/// A difference to another plan is selected.
pub fn differs_from_other(model: &Model) -> Result<(), DisabledReason> {
    differs(model, false, "this compares with the original: undo the change instead")
}

fn differs(model: &Model, is_from_version: bool, why_not: &'static str) -> Result<(), DisabledReason> {
    editing(model)?;
    let compare = &model.editor.compare;
    match compare.selected() {
        Some(_) if compare.is_with_version() == is_from_version => Ok(()),
        Some(_) => Err(why_not.into()),
        None => Err("there is no difference".into()),
    }
}

pub fn has_findings(model: &Model) -> Result<(), DisabledReason> {
    editing(model)?;
    if !model.session.knows_catalog {
        return Err("agents and tools are still loading".into());
    }
    has_nodes(model)?;
    if model.editor.findings().is_empty() { Err("there are no findings: the plan is valid".into()) } else { Ok(()) }
}

/// The plan can be started, or may turn out to be: then the start waits until that is known.
pub fn can_run(model: &Model) -> Result<(), DisabledReason> {
    editing_nodes(model)?;
    match model.editor.review.errors() {
        0 => Ok(()),
        errors => Err(format!("{}; press {} to see", counted(errors, "error"), model.hint("plan.findings")).into()),
    }
}

/// A run is shown, live or past.
pub fn run_shown(model: &Model) -> Result<(), DisabledReason> {
    model.shown_run().map(|_| ()).ok_or(Cow::Borrowed("no run is shown"))
}

/// A run is shown, or one is open that can be.
pub fn some_run(model: &Model) -> Result<(), DisabledReason> {
    if model.runs.open.is_empty() { run_shown(model) } else { Ok(()) }
}

/// The run is shown as it is now: what was can't be changed.
fn present(model: &Model, run: &RunView) -> Result<(), DisabledReason> {
    let Some(replay) = run.replay() else { return Ok(()) };
    let (at, all, now) = (replay.at(), run.journal().len(), model.hint("replay.last"));
    let branch = model.hint("replay.branch");
    Err(format!("this is the run after event {at} of {all}: {now} leaves the replay, {branch} branches a new run off from here").into())
}

/// The log of the shown run has a line.
pub fn has_events(model: &Model) -> Result<(), DisabledReason> {
    run_shown(model)?;
    if model.shown_run().is_some_and(|view| !view.log.is_empty()) { Ok(()) } else { Err("there is no event".into()) }
}

/// The shown run is looked at as it was.
pub fn replaying(model: &Model) -> Result<(), DisabledReason> {
    run_shown(model)?;
    if model.replay().is_some() { Ok(()) } else { Err("no replay: start one first".into()) }
}

/// The same, and an event was searched for.
pub fn searched(model: &Model) -> Result<(), DisabledReason> {
    replaying(model)?;
    if model.replay().is_some_and(|replay| !replay.wanted.is_empty()) { Ok(()) } else { Err("search for an event first".into()) }
}

/// The shown run goes on here, and is shown as it is now.
pub fn run_live(model: &Model) -> Result<(), DisabledReason> {
    run_present(model)?;
    let over = model.shown_run().is_some_and(|run| run.newest().run.outcome().is_some());
    if over { Err("this run has ended".into()) } else { Ok(()) }
}

/// The selected node of the shown run has not ended.
pub fn node_live(model: &Model) -> Result<(), DisabledReason> {
    run_live(model)?;
    let node = model.selected_id().and_then(|id| model.shown_run()?.seen().run.node(id));
    let node = node.ok_or(Cow::Borrowed("no node is selected"))?;
    if node.state.has_ended() { Err("the selected node has ended".into()) } else { Ok(()) }
}

/// Why a run of a run file doesn't go on, and what does.
pub const IMPORTED: &str = "it was imported from a run file: replay it, then branch off to continue";

/// No process drives the shown run, and it isn't over.
pub fn interrupted(model: &Model) -> Result<(), DisabledReason> {
    let run = model.shown_run().ok_or(Cow::Borrowed("no run is shown"))?;
    resumes(&run.driver, run.newest().run.outcome().is_some(), model.runs.is_imported(&run.id))
}

/// The same for the run that is selected in the list.
pub fn interrupted_listed(model: &Model) -> Result<(), DisabledReason> {
    let summary = model.runs.selected().ok_or(Cow::Borrowed("no runs in this workspace yet"))?;
    resumes(&summary.driver, summary.outcome.is_some(), summary.imported.is_some())
}

/// Nobody drives the selected run of the list.
pub fn driven_by_nobody(model: &Model) -> Result<(), DisabledReason> {
    match &model.runs.selected().ok_or(Cow::Borrowed("no runs in this workspace yet"))?.driver {
        Driver::Nobody => Ok(()),
        Driver::Here => Err("this run goes on: cancel it first".into()),
        Driver::Elsewhere(who) => Err(format!("this run goes on in {who}").into()),
    }
}

fn resumes(driver: &Driver, is_over: bool, is_imported: bool) -> Result<(), DisabledReason> {
    match driver {
        _ if is_over => Err("this run has ended".into()),
        Driver::Nobody if is_imported => Err(IMPORTED.into()),
        Driver::Nobody => Ok(()),
        Driver::Here => Err("this run is already under way here".into()),
        Driver::Elsewhere(who) => Err(format!("this run is under way in {who}").into()),
    }
}

/// A node of a run is selected, live or past.
pub fn node_shown(model: &Model) -> Result<(), DisabledReason> {
    run_shown(model)?;
    model.selected_id().map(|_| ()).ok_or(Cow::Borrowed("no node is selected"))
}

/// The selected node of a run has a result.
pub fn has_result(model: &Model) -> Result<(), DisabledReason> {
    node_shown(model)?;
    model.selected_result().map(|_| ()).ok_or(Cow::Borrowed("the selected node has no result"))
}

/// A run is shown as it is now, and goes on here or is over: actions reach it.
pub fn run_present(model: &Model) -> Result<(), DisabledReason> {
    let run = model.shown_run().ok_or(Cow::Borrowed("no run is shown"))?;
    present(model, run)?;
    match (&run.driver, run.newest().run.outcome()) {
        (Driver::Here, _) | (Driver::Nobody, Some(_)) => Ok(()),
        (Driver::Elsewhere(who), _) => Err(format!("this run is under way in {who}").into()),
        (Driver::Nobody, None) if model.runs.is_imported(&run.id) => Err(IMPORTED.into()),
        (Driver::Nobody, None) => {
            let resume = model.hint("run.resume");
            Err(format!("no dagdeck process is running this run: press {resume} to resume it").into())
        }
    }
}

/// The same, and a node is selected.
pub fn node_present(model: &Model) -> Result<(), DisabledReason> {
    run_present(model)?;
    node_shown(model)
}

/// The same, and the run isn't over.
pub fn node_of_open_run(model: &Model) -> Result<(), DisabledReason> {
    run_live(model)?;
    node_shown(model)
}

/// An action can be undone.
pub fn can_take_back(model: &Model) -> Result<(), DisabledReason> {
    run_present(model)?;
    let undoable = model.shown_run().and_then(|run| run.newest().run.undoable());
    let state = model.shown_run().zip(model.selected_id()).and_then(|(run, node)| run.newest().state(node));
    undoable.map(|_| ()).ok_or_else(|| match state {
        // A reply at a gate is no action that is undone.
        Some(state) if state.group() == StateGroup::NotRun => {
            format!("there is nothing to undo; {} runs this node after all", model.hint("act.again")).into()
        }
        Some(_) | None => "there is nothing to undo".into(),
    })
}

/// Leaving is asked about while runs go on.
pub fn quitting_runs(model: &Model) -> Result<(), DisabledReason> {
    let asks = matches!(model.dialogs.last(), Some(Dialog::Confirm(Confirm { then: Confirmed::Leave, .. })));
    let goes_on = model.runs.going_on().next().is_some();
    if asks && goes_on { Ok(()) } else { Err("there is nothing to cancel".into()) }
}

/// The same, and the plan has changes that would be lost by it.
pub fn quitting_unsaved(model: &Model) -> Result<(), DisabledReason> {
    let asks = matches!(model.dialogs.last(), Some(Dialog::Confirm(Confirm { then: Confirmed::Leave | Confirmed::NewPlan(_), .. })));
    let is_lost = model.editor.compare.would_be_lost(model.editor.plan());
    if asks && is_lost { Ok(()) } else { Err("there is nothing to save".into()) }
}

/// The selected node of the shown run waits for a decision.
pub fn node_gated(model: &Model) -> Result<(), DisabledReason> {
    run_shown(model)?;
    model.selected_nodes_gate().map(|_| ()).ok_or(Cow::Borrowed("the selected node has no open gate"))
}

pub fn planning(model: &Model) -> Result<(), DisabledReason> {
    if model.request.planning.is_some() { Ok(()) } else { Err("no plan is being made".into()) }
}

/// A gate is selected in the inbox.
pub fn gate(model: &Model) -> Result<(), DisabledReason> {
    let (key, _) = model.selected_gate().ok_or_else(|| no_gate(model))?;
    let Some(replay) = model.runs.get(&key.run).and_then(RunView::replay) else { return Ok(()) };
    let now = model.hint("gate.now");
    Err(format!("its run is shown as it was after event {}: press {now} to leave the replay", replay.at()).into())
}

/// An agent made what the selected gate asks about, so that it can work again.
pub fn gate_of_agent(model: &Model) -> Result<(), DisabledReason> {
    gate(model)?;
    let Some((key, gate)) = model.selected_gate() else { return Err(no_gate(model)) };
    if model.shown_run().is_none_or(|view| view.id != key.run) {
        return Err("show its run first: enter goes to its node".into());
    }
    if model.makers(&gate.node).is_empty() { Err("no agent before it could work again".into()) } else { Ok(()) }
}

/// An open suggestion is selected.
pub fn suggestion_open(model: &Model) -> Result<(), DisabledReason> {
    let found = model.session.stats.suggestion(|state| state == SuggestionState::Open);
    found.map(drop).ok_or_else(|| "no open suggestion is selected".into())
}

/// A suggestion is selected with which something was done.
pub fn suggestion_answered(model: &Model) -> Result<(), DisabledReason> {
    let found = model.session.stats.suggestion(|state| state != SuggestionState::Open);
    found.map(drop).ok_or_else(|| "no suggestion that you took or dismissed is selected".into())
}

/// There is something in the list of agents and tools.
pub fn has_inventory(model: &Model) -> Result<(), DisabledReason> {
    if model.session.inventory.is_empty() { Err("nothing is listed yet".into()) } else { Ok(()) }
}

fn selected(model: &Model, kind: &'static str) -> Result<(), DisabledReason> {
    let is_it = model.session.inventory.selected().is_some_and(|row| row.kind() == kind);
    if is_it { Ok(()) } else { Err(format!("select {} {kind} first", if kind == "agent" { "an" } else { "a" }).into()) }
}

pub fn tool_selected(model: &Model) -> Result<(), DisabledReason> {
    selected(model, "tool")
}

pub fn agent_selected(model: &Model) -> Result<(), DisabledReason> {
    selected(model, "agent")
}

pub fn server_selected(model: &Model) -> Result<(), DisabledReason> {
    selected(model, "server")
}

pub fn rule_selected(model: &Model) -> Result<(), DisabledReason> {
    selected(model, "rule")
}

/// The last reply could become a rule.
pub fn rule_offered(model: &Model) -> Result<(), DisabledReason> {
    let is_offered = matches!(model.inbox.proposal, Some(RuleProposal::Offered(..)));
    if is_offered { Ok(()) } else { Err("approve or reject the call of a tool first".into()) }
}

/// The selected gate asks whether private data may be sent to one host, or whether a tool may be called.
pub fn gate_takes_rule(model: &Model) -> Result<(), DisabledReason> {
    gate(model)?;
    let (key, gate) = model.selected_gate().ok_or("no gate is selected")?;
    let takes = gate.host().is_some() || model.runs.get(&key.run).is_some_and(|view| view.newest().run.takes_rule(gate));
    if takes { Ok(()) } else { Err("it asks about this once alone: no rule can reply in your place".into()) }
}

/// Why no gate is selected. One that was decided stays selected, so that a key pressed once more decides nothing else.
fn no_gate(model: &Model) -> DisabledReason {
    let attention = model.hint("tree.attention");
    if model.place.screen != Screen::Inbox && interrupted(model).is_ok() {
        return format!("no dagdeck process is running this run: press {} to resume it, then reply", model.hint("run.resume")).into();
    }
    if model.card_gate().is_some() {
        return format!("this gate opened on the row that you were on: press {attention} first, then reply").into();
    }
    if let Some(replay) = model.replay().filter(|_| model.place.screen != Screen::Inbox) {
        return format!("this is the run after event {}: press {} to leave the replay", replay.at(), model.hint("replay.last")).into();
    }
    match model.place.screen {
        Screen::Inbox => {}
        _ if model.inbox.gates.is_empty() => return "no gate is open".into(),
        Screen::Plan | Screen::Graph => return format!("no gate is shown: press {attention} for the next that needs you").into(),
        _ => return format!("reply in the tree ({}) or in the inbox ({})", model.hint("app.plan"), model.hint("app.inbox")).into(),
    }
    let next = model.hint("move.down");
    match model.inbox.gates.len() {
        0 => "no gate is open".into(),
        1 => format!("no gate is selected: press {next} to select the open one").into(),
        many => format!("no gate is selected: press {next} to select the next of {many}").into(),
    }
}

/// No process drives the run of the selected gate, so that no reply reaches it.
pub fn gate_left(model: &Model) -> Result<(), DisabledReason> {
    let run = model.inbox.selected.as_ref().and_then(|key| model.runs.get(&key.run)).ok_or(Cow::Borrowed("no gate is selected"))?;
    resumes(&run.driver, run.newest().run.outcome().is_some(), model.runs.is_imported(&run.id))
}

/// The run of the selected gate is looked at as it was.
pub fn gate_replayed(model: &Model) -> Result<(), DisabledReason> {
    let (key, _) = model.selected_gate().ok_or(Cow::Borrowed("no gate is open"))?;
    let replayed = model.runs.get(&key.run).is_some_and(|run| run.replay().is_some());
    if replayed { Ok(()) } else { Err("its run is not in a replay".into()) }
}

/// The selected gate has an answer that was written but not given.
pub fn draft(model: &Model) -> Result<(), DisabledReason> {
    gate(model)?;
    if model.selected_draft().is_some() { Ok(()) } else { Err("you have no draft for this gate".into()) }
}

/// There are runs in the list.
pub fn has_runs(model: &Model) -> Result<(), DisabledReason> {
    if model.runs.listing.is_empty() { Err("no runs in this workspace yet".into()) } else { Ok(()) }
}

/// The plan or a run can be switched to.
pub fn has_stages(model: &Model) -> Result<(), DisabledReason> {
    if model.runs.open.is_empty() { Err("no run is open".into()) } else { Ok(()) }
}
