//! Runs: starting, switching, cancelling with what it would end shown first.

use serde_json::Map;

use super::super::UpdateTurn;
use crate::console::commands::guards::can_run;
use crate::console::model::{
    Confirmed, Dialog, Focus, Model, NewPlan, PickItem, PickThen, PlanOrigin, PlanScreen, Reading, RunView, Screen, Scroll, Status, docs,
};
use crate::engine::{Action, OPERATOR, REHEARSAL, RunId};
use crate::host::client::{ModelStatus, Request};
use crate::plan::that_need_model;
use crate::text::{Plain, counted};

/// Agents and tools are known now: a run that was asked for before starts, or it is said why it can't.
pub fn start_asked(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(first) = model.runs.asked.take() else { return };
    match can_run(model) {
        Ok(()) => start(model, turn, first),
        Err(why) => model.status = Some(Status::warn(&format!("can't start: {why}"))),
    }
}

/// Starts the plan, with these actions before its nodes may start; asks first where a run of it goes on.
pub fn ask_start(model: &mut Model, turn: &mut UpdateTurn, first: Vec<Action>) {
    if model.runs.is_starting {
        return model.status = Some(Status::note("starting"));
    }
    let same = |run: &&RunView| run.newest().run.plan().is_some_and(|plan| plan.nodes == model.editor.plan().nodes);
    let Some(status) = model.runs.going_on().find(same).map(RunView::status) else { return start(model, turn, first) };
    let to = model.hint("stage.next");
    let lines = [
        format!("A run of this plan is {} already.", status.word()),
        format!("Start another one beside it? Press {} for no, then {to} to see the one that is there.", model.hint("confirm.no")),
    ];
    model.dialogs.push(Dialog::confirm(lines.iter().map(|line| Plain::line(line)).collect(), Confirmed::Start(first)));
}

/// The same without asking.
pub fn start(model: &mut Model, turn: &mut UpdateTurn, first: Vec<Action>) {
    if !model.session.knows_catalog {
        model.runs.asked = Some(first);
        return model.status = Some(Status::note("agents and tools are still loading: the run starts when they are ready"));
    }
    let nodes = that_need_model(model.editor.plan(), &model.session.catalog);
    let is_absent = matches!(model.session.model, Some(ModelStatus::Absent { .. } | ModelStatus::Broken { .. }));
    if let (true, Some(node)) = (is_absent, nodes.first()) {
        let more = if nodes.len() > 1 { format!(" and {}", counted(nodes.len() - 1, "other")) } else { String::new() };
        let title = format!("{node}{more}: a model is needed, and none is set up");
        let items = [
            (PickThen::Command("app.model"), "set one up", "choose a provider, or give an address"),
            (PickThen::StartWith(OPERATOR, first.clone()), "answer yourself", "you are asked in the place of the model"),
            (PickThen::StartWith(REHEARSAL, first), "rehearse", "nodes that need a model or would change something only show it"),
        ];
        let items = items.map(|(then, label, detail)| PickItem::new(then, label, detail)).into();
        return model.dialogs.push(Dialog::pick(&title, items));
    }
    start_with(model, turn, first, None);
}

/// Starts the plan with a model of its own, or with the one that is used.
pub fn start_with(model: &mut Model, turn: &mut UpdateTurn, first: Vec<Action>, by: Option<&str>) {
    model.editor.deps = None;
    let plan = model.editor.plan().clone();
    model.editor.compare.keep(&plan);
    let planning = model.editor.take_planning();
    turn.send(Request::Start { plan: Box::new(plan), inputs: Map::new(), first, model: by.map(str::to_owned), planning });
    model.status = Some(Status::note("starting"));
    model.runs.is_starting = true;
}

/// Opens the inbox at the selected node's gate. A gate as it was is only read.
pub fn to_gate(model: &mut Model, turn: &mut UpdateTurn) {
    if model.replay().is_none() {
        return super::app::inbox_screen(model, turn);
    }
    let Some(view) = model.shown_run() else { return };
    let Some(gate) = model.selected_nodes_gate().and_then(|key| view.seen().run.gate(key.gate)) else { return };
    let lines = docs::gate_doc(gate.0, view.previews.get(&gate.0.id), None).from(0).map(|line| line.text().clone()).collect();
    let title = Plain::line("the gate as it was");
    model.dialogs.push(Dialog::reader(Reading::Words { title, lines }, 0));
}

/// A copy of the shown run's plan goes into the editor, with a yes where changes there are nowhere else.
pub fn take_plan(model: &mut Model, _: &mut UpdateTurn) {
    if !super::request::asks_for_changes(model, NewPlan::Run) {
        copy_plan(model);
    }
}

/// The same without asking.
pub fn copy_plan(model: &mut Model) {
    let Some((view, plan)) = model.shown_run().and_then(|view| Some((view, view.seen().run.plan()?.clone()))) else { return };
    // It belongs to the file of the plan that was run, as long as the editor has that plan.
    let is_of_editor = view.plan_before_changes() == Some(model.editor.plan());
    let file = model.editor.version().filter(|_| is_of_editor).and_then(|version| version.origin.file()).map(str::to_owned);
    super::plan::open(model, plan, PlanOrigin::Run(file));
    let (save, undo) = (model.hint("plan.save"), model.hint("plan.undo"));
    let words = format!("the plan screen shows a copy of this run's plan; {save} saves it, {undo} brings the earlier plan back");
    model.status = Some(Status::good(&words));
}

/// To what comes so many steps further: the plan, then each open run.
pub fn switch(model: &mut Model, by: usize) {
    model.place.shown = model.stage_after(by);
    (model.editor.deps, model.inspector.scroll) = (None, Scroll::Start);
}

/// To a screen about a run, or back from it to the tree.
pub fn screen(model: &mut Model, screen: Screen) {
    show_one(model);
    model.toggle(screen);
}

/// Shows the newest of the open runs, one that goes on before others, where the plan is shown.
pub fn show_one(model: &mut Model) {
    let newest = model.runs.going_on().last().or(model.runs.open.last()).map(|run| run.id.clone());
    if let (PlanScreen::Plan, Some(run)) = (&model.place.shown, newest) {
        model.place.shown = PlanScreen::Run(run);
        model.editor.deps = None;
        if let Some(view) = model.shown_run_mut() {
            view.grow();
        }
    }
}

/// Opens the run that is selected in the list.
pub fn open_listed(model: &mut Model, turn: &mut UpdateTurn) {
    if let Some(run) = model.runs.selected().map(|summary| summary.run.clone()) {
        open(model, turn, run);
    }
}

/// Opens the run that is selected at the start.
pub fn open_latest(model: &mut Model, turn: &mut UpdateTurn) {
    open_named(model, turn, model.runs.latest.selected);
}

/// Opens one of the runs that the start names.
pub fn open_named(model: &mut Model, turn: &mut UpdateTurn, nth: usize) {
    model.place.focus = Focus::Tree;
    let run = model.runs.latest.place(nth).and_then(|at| model.runs.listing.get(at)).map(|summary| summary.run.clone());
    if let Some(run) = run {
        open(model, turn, run);
    }
}

pub fn open(model: &mut Model, turn: &mut UpdateTurn, run: RunId) {
    model.runs.awaited = None;
    if model.runs.get(&run).is_some() {
        model.place.shown = PlanScreen::Run(run);
        model.go(Screen::Plan);
    } else {
        turn.send(Request::OpenRun(run));
    }
}
