//! Breakpoints: one at the selected node by a key, and the list of all, to add, change and remove.

use super::{super::UpdateTurn, act};
use crate::console::model::{Dialog, LineThen, ListOf, Model, RunView, Status, TextField};
use crate::engine::{Action, BreakId, Breakpoint, Moment};
use crate::plan::NodeId;

/// A plain breakpoint before the selected node comes or goes.
pub fn toggle(model: &mut Model, turn: &mut UpdateTurn) {
    let Some((node, view)) = model.selected_id().zip(model.shown_run()) else { return };
    let point = Breakpoint { at: Moment::Before, node: Some(node.to_string()), when: None, disabled: false };
    let action = match view.newest().run.breakpoints().find(|(_, known)| known.is_like(&point)) {
        None => Action::Break { point },
        Some((id, known)) if known.disabled => Action::Rebreak { point: id, with: point },
        Some((id, _)) => Action::Unbreak { point: id },
    };
    act::attempt(model, turn, action);
}

/// The list of all breakpoints.
pub fn list(model: &mut Model, _: &mut UpdateTurn) {
    model.dialogs.push(Dialog::List { of: ListOf::Breaks, selected: 0 });
}

/// The selected breakpoint of the list; one of the plan is changed in the plan alone, which is said.
fn selected(model: &mut Model) -> Option<(BreakId, Breakpoint)> {
    let Some(Dialog::List { selected, .. }) = model.dialogs.last() else { return None };
    let run = &model.shown_run()?.newest().run;
    // One that was removed leaves the mark on the one that moves up, or on the last.
    let at = (*selected).min((run.breakpoints().count() + run.plan_breakpoints().count()).saturating_sub(1));
    let found = run.breakpoints().nth(at).map(|(id, point)| (id, point.clone()));
    if found.is_none() && run.plan_breakpoints().next().is_some() {
        let edit = model.hint("plan.node");
        model.status = Some(Status::warn(&format!("the plan sets this one: {edit} at its node changes it")));
    }
    found
}

/// Asks for a breakpoint, at a node to begin with.
pub fn ask(model: &mut Model, node: Option<&NodeId>) {
    let point = Breakpoint { at: Moment::Before, node: node.map(ToString::to_string), when: None, disabled: false };
    line(model, "new breakpoint", &point, None);
}

fn line(model: &mut Model, title: &str, point: &Breakpoint, id: Option<BreakId>) {
    model.dialogs.push(Dialog::line(title, TextField::line(&written(point)), NOTE, LineThen::Break(id)));
}

const NOTE: &str = "such as `before send when tokens > 2000`: before, after, failure or call; a node or a pattern with *; perhaps a \
                    condition over node, tool, model, args, output, error, cost_usd, tokens, attempt, first_use";

pub fn add(model: &mut Model, _: &mut UpdateTurn) {
    let node = model.selected_id().cloned();
    ask(model, node.as_ref());
}

/// Changes the selected one.
pub fn edit(model: &mut Model, _: &mut UpdateTurn) {
    if let Some((id, point)) = selected(model) {
        line(model, &format!("breakpoint {}", id.0), &point, Some(id));
    }
}

/// Removes the selected one.
pub fn remove(model: &mut Model, turn: &mut UpdateTurn) {
    if let Some((point, _)) = selected(model) {
        act::attempt(model, turn, Action::Unbreak { point });
    }
}

/// Disables the selected one, or enables it.
pub fn toggle_selected(model: &mut Model, turn: &mut UpdateTurn) {
    if let Some((point, with)) = selected(model) {
        act::attempt(model, turn, Action::Rebreak { point, with: Breakpoint { disabled: !with.disabled, ..with } });
    }
}

/// A breakpoint as a person types it.
fn written(point: &Breakpoint) -> String {
    let at = point.at.word();
    let node = point.node.as_deref().unwrap_or("*");
    let when = point.when.as_ref().map(|when| format!(" when {when}")).unwrap_or_default();
    format!("{at} {node}{when}")
}

/// A breakpoint was typed; it takes the place of the one that was changed.
///
/// # Errors
/// What is wrong with it, in words.
pub fn keep(model: &mut Model, turn: &mut UpdateTurn, id: Option<BreakId>, text: &str) -> Result<(), String> {
    let mut point = read(text)?;
    let known = |view: &RunView| view.newest().run.breakpoints().map(|(id, point)| (id, point.clone())).collect::<Vec<_>>();
    for (other, known) in model.shown_run().map(known).unwrap_or_default() {
        if known.is_like(&point) {
            return if Some(other) == id { Ok(()) } else { Err("there is already a breakpoint like that".into()) };
        }
        // What is changed stays disabled if it was.
        point.disabled |= Some(other) == id && known.disabled;
    }
    let action = match id {
        Some(id) => Action::Rebreak { point: id, with: point },
        None => Action::Break { point },
    };
    act::propose(model, turn, action).map(drop)
}

/// Reads `before fetch when attempt > 1`.
fn read(text: &str) -> Result<Breakpoint, String> {
    let (head, when) = match text.split_once(" when ") {
        Some((head, when)) => (head, Some(when.trim().to_owned()).filter(|when| !when.is_empty())),
        None => (text, None),
    };
    let mut words = head.split_whitespace();
    let word = words.next().unwrap_or_default();
    let at = word.parse::<Moment>().map_err(|_| format!("start with before, after, failure or call, not with `{word}`"))?;
    let node = words.next().filter(|node| *node != "*").map(str::to_owned);
    if let Some(word) = words.next() {
        return Err(format!("`{word}` is one word too many: start a condition with `when`"));
    }
    let point = Breakpoint { at, node, when, disabled: false };
    point.check().map_err(|error| error.to_string())?;
    Ok(point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breakpoint_reads_back_as_it_is_written() {
        for text in ["before fetch", "after *", "failure map[*]/x when attempt > 1", "call * when tool == 'write file' and cost_usd > 1"] {
            assert_eq!(written(&read(text).unwrap()), text);
        }
        assert_eq!(read("before"), Ok(Breakpoint { at: Moment::Before, node: None, when: None, disabled: false }));
        for (text, why) in
            [("", "start with"), ("sometimes x", "start with"), ("before x y", "too many"), ("before x when nope > 1", "nope")]
        {
            assert!(read(text).unwrap_err().contains(why), "{text}");
        }
    }
}
