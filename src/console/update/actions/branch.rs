//! Runs of runs: branching off at the event that is looked at, with an edit or as it is; resuming one that was interrupted; comparing two.

use super::super::UpdateTurn;
use crate::console::model::{
    Branching, CompareScreen, Confirmed, Dialog, EditThen, Model, PickItem, PickThen, Screen, Status, VersusRow, texts,
};
use crate::engine::{Action, Pace, Record, Run, RunId, RunStatus, WrittenValue};
use crate::host::client::{Driver, Parent, Request, RunSummary};
use crate::plan::{Node, NodeId, nest};
use crate::text::{Plain, ago, bytes, counted, timestamp};

/// Asks what the branch is to have other than this run.
pub fn ask(model: &mut Model, _: &mut UpdateTurn) {
    let pause = PickThen::Branch(vec![Action::Pause]);
    let mut items = vec![
        PickItem::new(PickThen::Branch(Vec::new()), "as it is", "continues from this event; what follows may differ"),
        PickItem::new(pause, "paused", "the same, but starts nothing until you resume it"),
    ];
    if let Some(node) = model.selected_id() {
        items.extend(
            [
                (Branching::Text, format!("change the text of {node}"), "objective, arguments, code, value or question"),
                (Branching::Node, format!("edit {node} as JSON"), "its kind, limits, retries, model and all other fields"),
                (Branching::Value, format!("change the result of {node}"), "uses the value that you write as its result"),
            ]
            .map(|(what, label, detail)| PickItem::new(PickThen::BranchWith(what), &label, detail)),
        );
    }
    let Some((_, seq)) = place(model) else { return };
    model.dialogs.push(Dialog::pick(&format!("branch off after event {seq}"), items));
}

/// The event that is looked at, and the one with which its step ends: a branch keeps whole steps.
fn place(model: &Model) -> Option<(u64, u64)> {
    let view = model.shown_run()?;
    let records = view.journal().records();
    let at = records.get(view.replay()?.at().checked_sub(1)?)?.seq;
    Some((at, Record::whole(records, at)))
}

/// Asks for what the branch has other at the selected node.
pub fn edit(model: &mut Model, what: Branching) {
    let Some(node) = model.selected_node().cloned() else { return };
    let id = node.id.clone();
    let (text, title) = match what {
        Branching::Text => (texts::to_edit(&node), texts::text_title(&node)),
        Branching::Node => (texts::node_json(&node), format!("node `{id}`")),
        Branching::Value => {
            let result = model.shown_run().and_then(|view| view.seen().run.node(&id)?.result.clone());
            (result.as_deref().map(texts::result).unwrap_or_default(), format!("the result of `{id}`"))
        }
    };
    model.dialogs.push(Dialog::editor(&format!("{title} in the branch"), &text, EditThen::Branch(id, what)));
}

/// What the branch has other was written.
///
/// # Errors
/// What is wrong with it, in words.
pub fn keep(model: &mut Model, id: &NodeId, what: Branching, text: &str) -> Result<(), String> {
    let known = model.addressed().node(id).cloned().ok_or_else(|| format!("`{id}` is not in the plan"))?;
    let node = match what {
        Branching::Value => {
            let value = WrittenValue::read(text.trim_end_matches('\n')).map_err(|error| error.to_string())?.value();
            confirm(model, vec![Action::Override { node: id.clone(), value }]);
            return Ok(());
        }
        Branching::Node => nest::node_under(nest::prefix(id), &texts::node_of(text)?),
        Branching::Text => Node { kind: texts::with_text(&known.kind, text)?, ..known },
    };
    if node.id != *id {
        return Err(format!("keep the id `{id}`"));
    }
    let edit = model.addressed().replace(&node).ok_or("nothing changed")?;
    confirm(model, vec![Action::Edit { edits: vec![edit] }]);
    Ok(())
}

/// Asks whether to branch off and do this first.
pub fn confirm(model: &mut Model, actions: Vec<Action>) {
    let Some(view) = model.shown_run() else { return };
    let Some((at, seq)) = place(model) else { return };
    let records = view.journal().records();
    let mut lines = vec![Plain::line(&format!("Branch off after event {seq} of {}?", records.len()))];
    if seq > at {
        lines.push(Plain::line(&format!("A branch keeps whole steps: the step of event {at} ends with event {seq}.")));
    }
    let kept = Run::replay(records.iter().take_while(|record| record.seq <= seq));
    lines.push(Plain::line(&format!("The new run keeps everything up to there{}. This run stays as it is.", goes_on(&kept, &actions))));
    let first = actions.iter().filter(|action| **action != Action::Pause);
    lines.extend(first.map(|action| Plain::summary(&format!("First: {}.", action.label()))));
    let then = Confirmed::Branch { run: view.id.clone(), seq, actions };
    model.dialogs.push(Dialog::confirm(lines, then));
}

/// How a branch goes on that keeps this of a run, and begins with these actions.
fn goes_on(kept: &Run, actions: &[Action]) -> &'static str {
    if kept.outcome().is_some() && actions.is_empty() {
        ". This run was over by then, so nothing is left to do"
    } else if actions.contains(&Action::Pause) {
        " and is paused: nothing runs until you resume it"
    } else if kept.pace() == Pace::Going {
        " and continues by itself: it calls models and tools for real"
    } else {
        " and is paused, as this run was: nothing runs until you resume it"
    }
}

/// Asks whether to drive the shown run on.
pub fn resume(model: &mut Model, _: &mut UpdateTurn) {
    if let Some((id, goal)) = model.shown_run().map(|view| (view.id.clone(), view.goal())) {
        ask_resume(model, id, &goal);
    }
}

/// The same for the run that is selected in the list.
pub fn resume_listed(model: &mut Model, _: &mut UpdateTurn) {
    if let Some((id, goal)) = model.runs.selected().map(|summary| (summary.run.clone(), Plain::summary(&summary.goal))) {
        ask_resume(model, id, &goal);
    }
}

/// The same for a run by its id.
pub fn ask_resume(model: &mut Model, run: RunId, goal: &Plain) {
    let lines = vec![
        Plain::line("Resume this run?"),
        Plain::summary(&run.0).then(&Plain::line("  ")).then(goal),
        Plain::line(
            "Finished nodes stay. Nodes that were at work run again if that is safe; where an effect may have happened, you are asked first.",
        ),
    ];
    model.dialogs.push(Dialog::confirm(lines, Confirmed::Resume(run)));
}

/// Begins to delete the selected run: what that frees is part of the question.
pub fn delete(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(summary) = model.runs.selected() else { return };
    turn.send(Request::WeighRun(summary.run.clone()));
}

/// Asks whether a run is to be deleted that takes so many bytes.
pub fn ask_delete(model: &mut Model, turn: &UpdateTurn, run: &RunId, size: u64) {
    let Some(summary) = model.runs.selected().filter(|summary| summary.run == *run && model.dialogs.is_empty()) else { return };
    let about = format!(
        "{}, began {} ({}), {}, {} in the journal",
        summary.status.word(),
        timestamp(summary.created.0),
        ago(turn.now.since(summary.created)),
        counted(summary.nodes as usize, "node"),
        bytes(size)
    );
    let mut lines = vec![
        Plain::line("Delete this run?"),
        Plain::summary(&summary.goal),
        Plain::line(&about),
        Plain::line("Its results and its log are deleted for good. Files that it wrote stay."),
    ];
    if summary.outcome.is_none() {
        lines.push(Plain::line("It has not ended: what it still had to do is never done."));
    }
    model.dialogs.push(Dialog::confirm(lines, Confirmed::DeleteRun(summary.run.clone())));
}

/// Picks the run to compare the shown one with.
pub fn ask_other(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(shown) = model.shown_run().map(|view| view.id.clone()) else { return };
    let parent = parent_of(model, &shown).map(|parent| parent.run.clone());
    let item = |run: &RunId, which: &str, word: &str, goal: &str| {
        let from = parent_of(model, run).map(|parent| match parent.seq {
            0 => format!(", follows {}", texts::run_name(&parent.run)),
            seq => format!(", from event {seq} of {}", texts::run_name(&parent.run)),
        });
        let detail = format!("{word}, {which}, {}{}", texts::run_name(run), from.unwrap_or_default());
        PickItem::new(PickThen::CompareRun(run.clone()), goal, &detail)
    };
    let open = model.runs.open.iter().enumerate().filter(|(_, view)| view.id != shown);
    let open = open.map(|(at, view)| item(&view.id, &format!("run {}", at + 1), view.status().word(), view.goal().as_str()));
    let others = model.runs.listing.iter().filter(|summary| summary.run != shown && model.runs.get(&summary.run).is_none());
    let others = others.map(|other| item(&other.run, ago(turn.now.since(other.created)).as_str(), other.status.word(), &other.goal));
    let mut items: Vec<PickItem> = open.chain(others).collect();
    // The run that it branched off is what people mean most.
    items.sort_by_key(|item| !matches!(&item.then, PickThen::CompareRun(run) if Some(run) == parent.as_ref()));
    if items.is_empty() {
        return model.status = Some(Status::note("there is no other run to compare with"));
    }
    model.dialogs.push(Dialog::pick("compare this run with", items));
}

/// Where a run branched off.
fn parent_of<'a>(model: &'a Model, run: &RunId) -> Option<&'a Parent> {
    model.runs.listing.iter().find(|summary| summary.run == *run)?.parent.as_ref()
}

/// The other run was picked; one that is not open is opened first.
pub fn compare_picked(model: &mut Model, turn: &mut UpdateTurn, other: RunId) {
    let Some(shown) = model.shown_run().map(|view| view.id.clone()) else { return };
    if model.runs.get(&other).is_some() {
        compare(model, &shown, &other);
    } else {
        model.runs.awaited = Some((shown, other.clone()));
        turn.send(Request::OpenRun(other));
    }
}

/// Shows two runs side by side: the older one first.
fn compare(model: &mut Model, one: &RunId, other: &RunId) {
    let (first, second) = if one <= other { (one, other) } else { (other, one) };
    let (Some(left), Some(right)) = (model.runs.get(first), model.runs.get(second)) else { return };
    model.runs.versus = Some(CompareScreen::new(left, right));
    model.go(Screen::Versus);
}

/// To the selected node in the run that is shown.
pub fn to_node(model: &mut Model, _: &mut UpdateTurn) {
    let node = model.runs.versus.as_ref().and_then(|versus| match versus.row(versus.place.selected)? {
        VersusRow::Node(node) => Some(node.node.clone()),
        VersusRow::Plan(difference) => Some(NodeId::new(&difference.subject)),
    });
    model.place.screen = Screen::Plan;
    if let Some(node) = node.filter(|node| model.addressed().node(node).is_some()) {
        model.reveal(&node);
    }
}

/// A run was opened: where it was opened to be compared, it is. Says whether it was.
pub fn opened(model: &mut Model, id: &RunId) -> bool {
    let Some((shown, _)) = model.runs.awaited.take_if(|(_, awaited)| awaited == id) else { return false };
    compare(model, &shown, id);
    true
}

/// What was said of a run that nobody drove is no longer so: somebody drives it, or it has ended.
pub fn forget_interrupted(model: &mut Model, id: &RunId) {
    let goes_on = model.runs.get(id).is_some_and(|view| view.driver != Driver::Nobody || view.newest().run.outcome().is_some());
    let hint = format!("press {} to resume it", model.hint("run.resume"));
    let is_shown = model.shown_run().is_some_and(|view| view.id == *id);
    model.status.take_if(|status| goes_on && is_shown && status.text.as_str().ends_with(&hint));
}

/// Takes the list of runs in. What was said of the shown run before it came is wrong of one from a run file: nobody resumes that.
pub fn listed(model: &mut Model, runs: Vec<RunSummary>) {
    model.runs.list(runs);
    let hint = format!("press {} to resume it", model.hint("run.resume"));
    let is_said = model.status.as_ref().is_some_and(|status| status.text.as_str().ends_with(&hint));
    let shown = model.shown_run().map(|view| view.id.clone()).filter(|id| is_said && model.runs.is_imported(id));
    if let Some(id) = shown {
        say_interrupted(model, &id);
    }
}

/// What to say when a run is opened that nobody drives.
pub fn say_interrupted(model: &mut Model, id: &RunId) {
    let Some(view) = model.runs.get(id) else { return };
    if view.driver == Driver::Nobody && view.newest().run.outcome().is_none() {
        model.status = Some(Status::warn(&if model.runs.is_imported(id) {
            let (replay, branch) = (model.hint("replay.toggle"), model.hint("replay.branch"));
            format!("this run was imported and has not ended: press {replay} to replay it, then {branch} to branch off and continue")
        } else {
            let how = match view.status() {
                RunStatus::Interrupted => format!("this run was {}", RunStatus::Interrupted.label(view.newest().run.interrupted_by())),
                _ => "no dagdeck process is running this run".to_owned(),
            };
            format!("{how}: press {} to resume it", model.hint("run.resume"))
        }));
    }
}
