//! What the state calls for: the commands that come first among the hints, those that could not be meant, and what they are called now.

use crate::console::commands::guards;
use crate::console::model::{GateKey, Model, PlanScreen, ReplyDraft, RunView, Screen, StopKind, options_to_pick};
use crate::engine::{Action, Command, NodeState, Pace, RerunReach, Run, StateGroup};
use crate::plan::NodeId;

/// The commands that help most here, in the order in which the state calls for them: help first, as everywhere.
pub fn for_now(model: &Model, usual: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let first = first(model);
    let (help, rest): (Vec<&str>, Vec<&str>) = usual.partition(|id| *id == "app.help");
    let rest = rest.into_iter().filter(|id| !first.contains(id) && !is_refused(model, id));
    help.into_iter().chain(first.iter().copied()).chain(rest).collect()
}

/// The commands that the state calls for, the most useful first.
pub fn suggested(model: &Model) -> Vec<&'static str> {
    first(model).iter().copied().filter(|id| !is_refused(model, id)).collect()
}

fn first(model: &Model) -> &'static [&'static str] {
    if !matches!(model.place.screen, Screen::Plan | Screen::Graph) || model.replay().is_some() || model.types() {
        return &[];
    }
    if rewrites(model) {
        return match (model.plan().nodes.len(), model.session.lacks_model()) {
            (..=1, true) => &["request.focus", "app.model", "plan.findings", "plan.undo"],
            (..=1, false) => &["request.focus", "plan.findings", "plan.undo"],
            (_, true) => &["request.focus", "plan.delete", "app.model", "plan.findings", "plan.undo"],
            (_, false) => &["request.focus", "plan.delete", "plan.findings", "plan.undo"],
        };
    }
    if model.place.shown == PlanScreen::Plan && model.editor.review.errors() > 0 {
        return &["plan.findings", "plan.fix", "plan.edit"];
    }
    let Some((view, node)) = model.shown_run().zip(model.selected_id()) else { return &[] };
    let run = &view.newest().run;
    if !view.goes_on() {
        return match () {
            () if failed(model) => &["act.again", "plan.edit", "act.why", "tree.attention", "act.menu"],
            () if did_not_run(model) => &["act.why", "tree.attention", "act.again", "act.menu"],
            () if view.is_output(node) && model.offers_plan() => {
                &["inspector.copy", "run.save_result", "run.take_plan", "app.back", "tree.attention", "request.focus", "replay.toggle"]
            }
            () if view.is_output(node) => {
                &["inspector.copy", "run.save_result", "app.back", "tree.attention", "request.focus", "replay.toggle"]
            }
            () if model.offers_plan() => &["tree.attention", "run.take_plan", "act.menu"],
            () => &["tree.attention", "act.menu"],
        };
    }
    if let Some(key) = model.card_gate() {
        // What has no room beside the tree is read before it is replied to.
        if model.layout().detail.is_empty() {
            return &["graph.open", "tree.open", "tree.attention"];
        }
        return match (model.inbox.drafts.get(&key), awaits_answer(model, &key)) {
            (Some(ReplyDraft::Words(_)), _) => &["gate.reject", "gate.drop", "gate.skip", "tree.attention"],
            (Some(ReplyDraft::Answer(_) | ReplyDraft::Payload(_)), false) => &["gate.approve", "gate.edit", "gate.drop", "tree.attention"],
            (_, true) => &["gate.edit", "gate.reject", "gate.skip", "tree.attention"],
            (None, false) => &["gate.approve", "gate.edit", "gate.reject", "gate.skip", "tree.attention"],
        };
    }
    if run.held_calls(node).next().is_some() {
        return &["act.into", "act.step", "act.pause", "act.undo"];
    }
    if run.kept(node).is_some() {
        return &["act.step", "act.into", "act.hold", "act.pause", "act.undo", "act.menu"];
    }
    match run.pace() {
        Pace::Pausing | Pace::Paused if !view.stops().is_empty() => &["tree.attention", "act.pause", "act.step", "act.undo", "act.menu"],
        Pace::Pausing | Pace::Paused => &["act.pause", "act.step", "act.undo", "act.menu"],
        Pace::Going if failed(model) => &["act.again", "plan.edit", "act.why", "tree.attention"],
        Pace::Going if !view.stops().is_empty() => &["tree.attention"],
        Pace::Going if did_not_run(model) => &["act.why", "act.again"],
        Pace::Going => &[],
    }
}

/// What can be replied to the gate that has the card, the most useful first.
pub fn replies(model: &Model) -> Vec<&'static str> {
    let key = model.card_gate();
    let draft = key.as_ref().and_then(|key| model.inbox.drafts.get(key));
    let waits = key.as_ref().is_some_and(|key| awaits_answer(model, key));
    let always = guards::gate_takes_rule(model).is_ok().then_some("gate.allow_host");
    let approve = (!waits).then_some("gate.approve");
    match draft {
        Some(ReplyDraft::Words(_)) => vec!["gate.reject", "gate.drop", "gate.skip"],
        Some(ReplyDraft::Answer(_) | ReplyDraft::Payload(_)) => {
            approve.into_iter().chain(["gate.edit", "gate.drop", "gate.skip"]).collect()
        }
        None => {
            let back = guards::gate_of_agent(model).is_ok().then_some("gate.back");
            approve.into_iter().chain(always).chain(["gate.edit", "gate.reject"]).chain(back).chain(["gate.skip"]).collect()
        }
    }
}

/// Whether a gate asks a question to which no answer is written.
fn awaits_answer(model: &Model, key: &GateKey) -> bool {
    let gate = model.runs.get(&key.run).and_then(|view| view.newest().run.gate(key.gate));
    gate.is_some_and(|(gate, _)| gate.kind.wants_answer())
        && !matches!(model.inbox.drafts.get(key), Some(ReplyDraft::Answer(_) | ReplyDraft::Payload(_)))
}

/// Whether the plan waits for a request in other words.
fn rewrites(model: &Model) -> bool {
    model.place.shown == PlanScreen::Plan && model.editor.review.is_not_understood()
}

fn failed(model: &Model) -> bool {
    let state = model.shown_run().zip(model.selected_id()).and_then(|(view, node)| view.newest().state(node));
    state.is_some_and(NodeState::has_failed)
}

/// Whether the selected node was skipped or cancelled.
fn did_not_run(model: &Model) -> bool {
    let state = model.shown_run().zip(model.selected_id()).and_then(|(view, node)| view.newest().state(node));
    state.is_some_and(|state| state.group() == StateGroup::NotRun)
}

/// Whether the key would only be refused: nothing is left to step to, or a question is answered, and not approved.
fn is_refused(model: &Model, id: &str) -> bool {
    if id == "act.step" {
        let step = Command::act(Action::Step { node: None });
        return model.shown_run().is_some_and(|view| view.newest().run.is_parked() && view.newest().run.refusal(&step).is_some());
    }
    if id == "act.again" {
        return model.shown_run().zip(model.selected_id()).is_some_and(|(view, node)| again(&view.newest().run, node).is_none());
    }
    let drafted = |key| matches!(model.inbox.drafts.get(key), Some(ReplyDraft::Words(_)));
    match id {
        "gate.approve" => model.selected_gate().is_some_and(|(key, _)| awaits_answer(model, key) || drafted(key)),
        "gate.edit" => model.selected_gate().is_some_and(|(key, _)| drafted(key)),
        _ => false,
    }
}

/// What running a node again is called, where it can run again.
fn again(run: &Run, node: &NodeId) -> Option<&'static str> {
    let rerun = Action::Rerun { node: node.clone(), scope: RerunReach::Downstream };
    let ways = [(Action::Retry { node: node.clone() }, "retry"), (rerun, "rerun")];
    ways.into_iter().find(|(action, _)| run.refusal(&Command::act(action.clone())).is_none()).map(|(_, word)| word)
}

/// What a command is called as things stand; nothing where it is called as always.
pub fn name(model: &Model, id: &str) -> Option<String> {
    let node = || model.shown_run().zip(model.selected_id());
    let name = match id {
        "graph.form" => Some(if model.tree().drawing.stages().is_some() { "boxes" } else { "by stages" }),
        "act.into" => node().filter(|(view, node)| view.newest().run.held_calls(node).next().is_some()).map(|_| "next call"),
        "act.hold" => node().filter(|(view, node)| view.newest().run.kept(node).is_some()).map(|_| "release"),
        "act.why" => did_not_run(model).then_some("why it did not run"),
        "request.submit" if model.request.field.is_empty() && model.at_start() => Some("open the marked run"),
        "request.leave" if model.at_start() => Some("to the runs"),
        "request.leave" if model.plan().nodes.is_empty() => Some("to the keys"),
        "run.take_plan" if model.offers_plan() => Some("change the plan too"),
        "app.back" if model.reads_output() => Some("tree"),
        "app.back" if model.tree().searches() => Some("end search"),
        "act.again" => node().and_then(|(view, node)| again(&view.newest().run, node)),
        "act.pause" => model.shown_run().map(|view| if view.pacing() == Action::Resume { "resume" } else { "pause" }),
        "tree.attention" => {
            let stops = model.shown_run().map(RunView::stops).unwrap_or_default();
            let is_over = !stops.is_empty() && stops.iter().all(|stop| matches!(stop.kind, StopKind::Failure | StopKind::Stale));
            is_over.then_some("next failure")
        }
        "request.focus" if rewrites(model) => Some("change the request"),
        "app.model" if model.session.lacks_model() => Some("set up a model"),
        "replay.toggle" => model.replay().map(|_| "to now"),
        "gate.edit" => {
            let gate = model.card_gate().and_then(|key| Some(model.runs.get(&key.run)?.newest().run.gate(key.gate)?.0));
            let is_written = model.card_gate().is_some_and(|key| matches!(model.inbox.drafts.get(&key), Some(ReplyDraft::Answer(_))));
            gate.map(|gate| match (gate.kind.question().is_some(), options_to_pick(gate).is_some(), is_written) {
                (false, _, _) => "edit",
                (true, true, false) => "pick the answer",
                (true, true, true) => "pick another",
                (true, false, false) => "write the answer",
                (true, false, true) => "change the answer",
            })
        }
        "gate.reject" => match model.selected_draft() {
            Some(ReplyDraft::Words(_)) => Some("send the rejection"),
            Some(ReplyDraft::Answer(_) | ReplyDraft::Payload(_)) | None => Some("reject …"),
        },
        "gate.approve" => model.selected_draft().and_then(|draft| match draft {
            ReplyDraft::Answer(_) => Some("send your reply"),
            ReplyDraft::Payload(_) => Some("approve as edited"),
            ReplyDraft::Words(_) => None,
        }),
        "act.undo" => {
            let undoable = model.shown_run().and_then(|view| view.newest().run.undoable());
            return undoable.map(|(_, words)| format!("undo: {}", words.replace('`', "")));
        }
        "stage.next" => match model.stage_after(1) {
            PlanScreen::Plan => Some("plan"),
            PlanScreen::Run(_) if model.runs.open.len() == 1 => Some("run"),
            PlanScreen::Run(id) => return model.runs.number(&id).map(|number| format!("run {number}")),
        },
        _ => None,
    };
    name.map(str::to_owned)
}
