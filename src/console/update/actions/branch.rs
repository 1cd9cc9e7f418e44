//! Runs of runs: branching off at the event that is looked at, with an edit or as it is; resuming one that was interrupted; comparing two.

use super::super::UpdateTurn;
use crate::console::model::{
    Branching, CompareScreen, Confirm, Confirmed, Dialog, EditThen, EditorDialog, Focus, Model, Pick, PickItem, PickThen, Screen, Status,
    VersusRow, words,
};
use crate::engine::{Action, Pace, Record, Run, RunId, RunStatus, WrittenValue};
use crate::host::client::{Driver, Request};
use crate::plan::{
    NodeId,
    native::{node_from_value, node_to_value},
    nest,
};
use crate::text::Plain;

/// Asks what the branch is to have other than this run.
pub fn ask(model: &mut Model, _: &mut UpdateTurn) {
    let mut items = vec![
        PickItem::new("as_is", "as it is", "continues from this event; what follows may differ"),
        PickItem::new("paused", "paused", "the same, but starts nothing until you resume it"),
    ];
    if let Some(node) = model.selected_id() {
        items.push(PickItem::new("text", &format!("change the text of {node}"), "objective, arguments, code, value or question"));
        items.push(PickItem::new("node", &format!("edit {node} as JSON"), "its kind, limits, retries, model and all other fields"));
        items.push(PickItem::new("value", &format!("change the result of {node}"), "uses the value that you write as its result"));
    }
    let Some((_, seq)) = place(model) else { return };
    model.dialogs.push(Dialog::Pick(Pick::new(&format!("branch off after event {seq}"), items, PickThen::Branch)));
}

/// The event that is looked at, and the one with which its step ends: a branch keeps whole steps.
fn place(model: &Model) -> Option<(u64, u64)> {
    let view = model.shown_run()?;
    let records = view.journal().records();
    let at = records.get(view.replay()?.at().checked_sub(1)?)?.seq;
    Some((at, Record::whole(records, at)))
}

/// What the branch is to have other was picked.
pub fn picked(model: &mut Model, what: &str) {
    let Some(node) = model.selected_node().cloned() else {
        return confirm(model, if what == "paused" { vec![Action::Pause] } else { Vec::new() });
    };
    let id = node.id.clone();
    let (text, title, what) = match what {
        "as_is" => return confirm(model, Vec::new()),
        "paused" => return confirm(model, vec![Action::Pause]),
        "text" => (words::text(&node), words::text_title(&node), Branching::Text),
        "value" => {
            let result = model.shown_run().and_then(|view| view.seen().run.node(&id)?.result.clone());
            let text = result.as_deref().map(words::result).unwrap_or_default();
            (text, format!("the result of `{id}`"), Branching::Value)
        }
        _ => {
            let text = words::pretty(&node_to_value(&nest::node_within(nest::prefix(&id), &node)));
            (text, format!("node `{id}`"), Branching::Node)
        }
    };
    let about = if what == Branching::Value { super::act::WRITTEN } else { "" };
    let editor = EditorDialog::new(Plain::line(&format!("{title} in the branch")), &text, EditThen::Branch { node: id, what });
    model.dialogs.push(Dialog::Editor(EditorDialog { about, ..editor }));
}

/// What the branch has other was written.
///
/// # Errors
/// What is wrong with it, in words.
pub fn keep(model: &mut Model, id: &NodeId, what: Branching, text: &str) -> Result<(), String> {
    let known = model.addressed().node(id).cloned().ok_or_else(|| format!("`{id}` is not in the plan"))?;
    let action = match what {
        Branching::Value => {
            let text = text.trim_end_matches('\n');
            let value = WrittenValue::read(text)?.value();
            Action::Override { node: id.clone(), value }
        }
        Branching::Text | Branching::Node => {
            let node = match what {
                Branching::Node => {
                    let node = node_from_value(words::parse(text)?, "").map_err(|error| error.to_string())?;
                    nest::node_under(nest::prefix(id), &node)
                }
                Branching::Text | Branching::Value => {
                    let kind = words::with_text(&known.kind, text)?;
                    crate::plan::Node { kind, ..known.clone() }
                }
            };
            if node.id != *id {
                return Err(format!("keep the id `{id}`"));
            }
            let edit = model.addressed().replace(&node).ok_or("nothing changed")?;
            Action::Edit { edits: vec![edit] }
        }
    };
    confirm(model, vec![action]);
    Ok(())
}

fn confirm(model: &mut Model, actions: Vec<Action>) {
    let Some(view) = model.shown_run() else { return };
    let Some((at, seq)) = place(model) else { return };
    let records = view.journal().records();
    let mut lines = vec![Plain::line(&format!("Branch off after event {seq} of {}?", records.len()))];
    if seq > at {
        lines.push(Plain::line(&format!("A branch keeps whole steps, and the step of event {at} ends there.")));
    }
    let kept = Run::replay(records.iter().take_while(|record| record.seq <= seq));
    lines.push(Plain::line(&format!("The new run keeps everything up to there{}. This run stays as it is.", goes_on(&kept, &actions))));
    lines.extend(actions.iter().map(|action| Plain::summary(&format!("First: {}.", action.label()))));
    let then = Confirmed::Branch { run: view.id.clone(), seq, actions };
    model.dialogs.push(Dialog::Confirm(Confirm { lines, then }));
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
    let marked = model.runs.listing.get(model.runs.selected);
    if let Some((id, goal)) = marked.map(|summary| (summary.run.clone(), Plain::summary(&summary.goal))) {
        ask_resume(model, id, &goal);
    }
}

fn ask_resume(model: &mut Model, run: RunId, goal: &Plain) {
    let lines = vec![
        Plain::line("Resume this run?"),
        Plain::summary(&run.0).then(&Plain::line("  ")).then(goal),
        Plain::line(
            "It continues where it was interrupted. Finished nodes stay. Interrupted nodes run again if that is safe; where an effect may have happened, you are asked first.",
        ),
    ];
    model.dialogs.push(Dialog::Confirm(Confirm { lines, then: Confirmed::Resume(run) }));
}

/// Picks the run to compare the shown one with.
pub fn ask_other(model: &mut Model, _: &mut UpdateTurn) {
    let Some(shown) = model.shown_run().map(|view| view.id.clone()) else { return };
    let parent = model.runs.listing.iter().find(|summary| summary.run == shown).and_then(|summary| summary.parent.as_ref());
    let parent = parent.map(|parent| parent.run.clone());
    let mut items = Vec::new();
    for (at, view) in model.runs.open.iter().enumerate().filter(|(_, view)| view.id != shown) {
        let detail = told_apart(model, &view.id, view.status().word(), view.goal().as_str());
        items.push(PickItem::new(&view.id.0, &format!("run {}", at + 1), &detail));
    }
    for summary in model.runs.listing.iter().filter(|summary| summary.run != shown && model.runs.get(&summary.run).is_none()) {
        let began = crate::text::timestamp(summary.created.0);
        let detail = told_apart(model, &summary.run, summary.status.word(), &summary.goal);
        items.push(PickItem::new(&summary.run.0, began.as_str(), &detail));
    }
    // The run that it branched off is what people mean most.
    items.sort_by_key(|item| Some(&item.value) != parent.as_ref().map(|parent| &parent.0));
    if items.is_empty() {
        model.status = Some(Status::note("there is no other run to compare with"));
        return;
    }
    model.dialogs.push(Dialog::Pick(Pick::new("compare this run with", items, PickThen::CompareRun)));
}

/// What tells a run from others of the same plan: how it stands, its name, and what it branched off.
fn told_apart(model: &Model, run: &RunId, word: &str, goal: &str) -> String {
    let parent = model.runs.listing.iter().find(|summary| summary.run == *run).and_then(|summary| summary.parent.as_ref());
    let from = parent.map(|parent| format!(", from event {} of {}", parent.seq, words::run_name(&parent.run))).unwrap_or_default();
    format!("{word}, {}{from}, {goal}", words::run_name(run))
}

/// The other run was picked; one that is not open is opened first.
pub fn compare_picked(model: &mut Model, turn: &mut UpdateTurn, other: &str) {
    let Some(shown) = model.shown_run().map(|view| view.id.clone()) else { return };
    let other = RunId(other.to_owned());
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
    model.place.screen = Screen::Versus;
    model.place.focus = Focus::Tree;
}

/// To the selected node in the run that is shown.
pub fn to_node(model: &mut Model, _: &mut UpdateTurn) {
    let node = model.runs.versus.as_ref().and_then(|versus| match versus.row(versus.selected)? {
        VersusRow::Node(node) => Some(node.node.clone()),
        VersusRow::Plan(difference) => Some(NodeId::new(&difference.subject)),
    });
    model.place.screen = Screen::Plan;
    if let Some(node) = node.filter(|node| model.addressed().node(node).is_some()) {
        model.with_tree(|tree, plan| {
            tree.reveal(plan, &node);
        });
    }
}

/// A run was opened: where it was opened to be compared, it is. Says whether it was.
pub fn opened(model: &mut Model, id: &RunId) -> bool {
    let Some((shown, _)) = model.runs.awaited.take_if(|(_, awaited)| awaited == id) else { return false };
    compare(model, &shown, id);
    true
}

/// What to say when a run is opened that nobody drives.
pub fn say_interrupted(model: &mut Model, id: &RunId) {
    let Some(view) = model.runs.get(id) else { return };
    if view.driver == Driver::Nobody && view.newest().run.outcome().is_none() {
        let key = |id: &str| model.hint(id);
        model.status = Some(Status::warn(&match model.runs.is_imported(id) {
            true => {
                let (replay, branch) = (key("replay.toggle"), key("replay.branch"));
                format!("this run was imported and is not over: press {replay} to replay it, then {branch} to branch off and continue")
            }
            false => {
                let how = RunStatus::Interrupted.label(view.newest().run.interrupted_by());
                format!("this run was {how}: press {} to resume it", key("run.resume"))
            }
        }));
    }
}
