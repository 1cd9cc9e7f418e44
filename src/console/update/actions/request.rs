//! The request line: typing a request, sending it, going through earlier ones, stopping the planner.

use super::{super::UpdateTurn, typing};
use crate::console::model::{Confirmed, Dialog, Focus, Model, NewPlan, PickItem, PickThen, PlanScreen, Screen, Status, TypedLine};
use crate::engine::{NodeState, RunId, calls_label};
use crate::host::client::{MadePlan, ModelStatus, PlanWish, Request};
use crate::plan::validate::validate;
use crate::plan::{in_brief, kinds_in_brief, titles};
use crate::text::{Plain, counted};

/// How many plans are made to choose from.
const RIVALS: u64 = 3;

/// To the request line.
pub fn focus(model: &mut Model, _: &mut UpdateTurn) {
    // What was not understood is there to be said in other words.
    if model.request.field.is_empty() && model.place.shown == PlanScreen::Plan && model.editor.review.is_not_understood() {
        let asked = model.request.typed.before(TypedLine::Request).last().cloned();
        let words = asked.unwrap_or_else(|| model.editor.plan().goal.clone());
        model.request.field.set(&words);
    }
    model.place.screen = Screen::Plan;
    model.place.focus = Focus::Request;
}

/// Sends the request to the planner, with a yes where another plan may take the place of changes that are nowhere else.
pub fn submit(model: &mut Model, turn: &mut UpdateTurn) {
    // Nothing is asked for: what is marked above is.
    if model.request.field.is_empty() && model.at_start() {
        return super::run::open_latest(model, turn);
    }
    if model.request.field.is_empty() || !asks_for_changes(model, NewPlan::Request) {
        send(model, turn);
    }
}

/// Asks before another plan takes the place of one with changes that are neither saved nor run. Says whether it had to.
pub fn asks_for_changes(model: &mut Model, by: NewPlan) -> bool {
    let would_be_lost = model.request.planning.is_none() && model.editor.compare.would_be_lost(model.editor.plan());
    if would_be_lost {
        let (save, undo) = (model.hint("plan.save"), model.hint("plan.undo"));
        let what = match by {
            NewPlan::Request => "A new plan takes the place of it and of your changes. Make one?",
            NewPlan::Rivals => "The plan that you pick takes the place of it and of your changes. Make plans to pick from?",
            NewPlan::Run => "The run's plan takes the place of it and of your changes. Copy it?",
        };
        let lines = [
            "The plan in the editor has changes that are neither saved nor run.".to_owned(),
            what.to_owned(),
            format!("No keeps all as it is, then {save} saves the plan. After a yes, {undo} brings it back until you quit."),
        ];
        model.dialogs.push(Dialog::confirm(lines.iter().map(|line| Plain::line(line)).collect(), Confirmed::NewPlan(by)));
    }
    would_be_lost
}

/// A yes: another plan may come.
pub fn new_plan(model: &mut Model, turn: &mut UpdateTurn, by: NewPlan) {
    match by {
        NewPlan::Request => send(model, turn),
        NewPlan::Rivals => send_rivals(model, turn),
        NewPlan::Run => super::run::copy_plan(model),
    }
}

/// Sends the request to the planner. A plan that is still being made is stopped.
fn send(model: &mut Model, turn: &mut UpdateTurn) {
    stop(model, turn);
    let on =
        (model.place.shown == PlanScreen::Plan && !model.editor.plan().nodes.is_empty()).then(|| Box::new(model.editor.plan().clone()));
    let after = earlier_run(model);
    let Some((id, text)) = model.request.submit(turn.now) else {
        return model.status = Some(Status::note("type what you want first"));
    };
    if let Some((_, goal)) = &after {
        model.status = Some(Status::note(&format!("the plan may use what this run gave: {}", goal.as_str())));
    }
    model.place.shown = PlanScreen::Plan;
    model.place.focus = Focus::Tree;
    model.editor.deps = None;
    let after = after.map(|(run, _)| run);
    turn.send(Request::Plan { id, wish: PlanWish { on, after, ..PlanWish::new(text) } });
}

/// The run that is shown, where it has ended with a result: a request goes on from it. Only a model can make a plan of that.
fn earlier_run(model: &Model) -> Option<(RunId, Plain)> {
    let view = model.shown_run().filter(|_| matches!(model.session.model, Some(ModelStatus::Connected { .. })))?;
    let run = &view.newest().run;
    let gave = run.outcome().is_some() && run.own_nodes().any(|(_, node)| node.state == NodeState::Succeeded);
    gave.then(|| (view.id.clone(), view.goal()))
}

fn stop(model: &mut Model, turn: &mut UpdateTurn) {
    let planning = model.request.planning.take().map(|planning| planning.id);
    for id in planning.into_iter().chain(model.request.rivals.stop()) {
        turn.send(Request::CancelPlanning(id));
    }
}

/// Several plans for what is typed, else for the goal of the plan that is there. Those that were made before are shown again where nothing
/// is typed.
pub fn rivals(model: &mut Model, turn: &mut UpdateTurn) {
    let typed = model.request.field.text().trim().to_owned();
    if typed.is_empty() && !model.request.rivals.made.is_empty() {
        return choose_rival(model);
    }
    let text = if typed.is_empty() { model.editor.plan().goal.trim().to_owned() } else { typed };
    if text.is_empty() {
        focus(model, turn);
        return model.status = Some(Status::note("type what you want first"));
    }
    if !matches!(model.session.model, Some(ModelStatus::Connected { .. })) {
        return model.status = Some(Status::warn("without a model there is one plan for a request: more need a model"));
    }
    if !asks_for_changes(model, NewPlan::Rivals) {
        send_rivals(model, turn);
    }
}

fn send_rivals(model: &mut Model, turn: &mut UpdateTurn) {
    let typed = model.request.field.text().trim().to_owned();
    let text = if typed.is_empty() { model.editor.plan().goal.trim().to_owned() } else { typed };
    stop(model, turn);
    model.place.shown = PlanScreen::Plan;
    model.place.focus = Focus::Tree;
    for (rival, id) in (0..).zip(model.request.submit_rivals(&text, RIVALS, turn.now)) {
        turn.send(Request::Plan { id, wish: PlanWish { rival, ..PlanWish::new(text.as_str()) } });
    }
}

/// The plans that came, to take one.
pub fn choose_rival(model: &mut Model) {
    let item = |(number, made): &(usize, MadePlan)| {
        let errors = validate(&made.plan, &model.session.catalog).iter().filter(|finding| finding.is_error()).count();
        let found = (errors > 0).then(|| counted(errors, "error"));
        let took = (!made.calls.is_empty()).then(|| format!("planning took {}", calls_label(&made.calls)));
        let detail = [found, Some(kinds_in_brief(&made.plan)), Some(titles(&made.plan)), took];
        let detail = detail.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        PickItem::new(PickThen::Rival(*number), &format!("plan {number}: {}", in_brief(&made.plan)), &detail)
    };
    let items: Vec<PickItem> = model.request.rivals.made.iter().map(item).collect();
    model.dialogs.push(Dialog::pick("several plans: which one?", items));
}

/// Puts one of several plans into the editor; undo leads back.
pub fn take_rival(model: &mut Model, number: usize) {
    let rivals = &mut model.request.rivals.made;
    let Some((_, made)) = rivals.iter().find(|(known, _)| *known == number) else { return };
    // The others were asked for on behalf of the one that is taken first.
    let made = MadePlan { calls: Vec::new(), ..made.clone() };
    let calls = rivals.iter_mut().flat_map(|(_, rival)| std::mem::take(&mut rival.calls)).collect();
    let made = MadePlan { calls, ..made };
    super::super::notices::take_plan(model, made);
    let (again, undo) = (model.hint("plan.rivals"), model.hint("plan.undo"));
    model.status = Some(Status::good(&format!("plan {number} is here; press {again} for the others, {undo} to undo")));
}

/// One up in the text, or back in the history from its first line.
pub fn older(model: &mut Model, turn: &mut UpdateTurn) {
    match (model.request.field.cursor().0, turn.key) {
        (0, _) | (_, None) => typing::older(model, turn),
        (_, Some(key)) => model.request.field.key(key),
    }
}

/// One down in the text, or forward in the history from its last line.
pub fn newer(model: &mut Model, turn: &mut UpdateTurn) {
    let last = model.request.field.cursor().0 + 1 >= model.request.field.height();
    match (last, turn.key) {
        (true, _) | (_, None) => typing::newer(model, turn),
        (false, Some(key)) => model.request.field.key(key),
    }
}

/// To the tree; what is typed stays.
pub fn leave(model: &mut Model, _: &mut UpdateTurn) {
    model.place.focus = Focus::Tree;
}

/// Stops the planner; nodes that came stay.
pub fn cancel(model: &mut Model, turn: &mut UpdateTurn) {
    if model.request.planning.is_some() {
        let text = model.request.planning.as_ref().map(|planning| planning.text.clone()).unwrap_or_default();
        stop(model, turn);
        model.status = Some(Status::note(if model.editor.is_growing() {
            "planning stopped; the nodes so far are in the editor"
        } else {
            "planning stopped; nothing of the plan had come"
        }));
        model.editor.settle();
        if model.request.field.is_empty() {
            model.request.field.set(text.as_str());
        }
        model.editor.refresh(&model.session.catalog);
    }
}
