//! Dialogs: taking what was typed or picked, leaving.

use serde_json::Value;

use super::{
    super::{ConsoleEffect, NextCommand, Parting, UpdateTurn},
    act, app, branch, breaks,
    change::change,
    compare, deps, gates, inspector, plan, replay, save, typing,
};
use crate::console::model::{
    Confirm, Confirmed, Dialog, EditThen, EditorDialog, LineDialog, LineThen, Model, PickThen, Reading, ReplyDraft, Status, docs, words,
};
use crate::engine::{Action, ActionTarget, Command};
use crate::host::client::{Request, There};
use crate::plan::Plan;
use crate::text::Plain;

/// Leaves the topmost dialog.
pub fn close(model: &mut Model, _: &mut UpdateTurn) {
    model.dialogs.pop();
}

/// Takes the line.
pub fn keep_line(model: &mut Model, turn: &mut UpdateTurn) {
    typing::keep(model);
    let Some(Dialog::Line(line)) = model.dialogs.pop() else { return };
    let text = line.field.text();
    if !line.field.is_changed() && line.then.is_edit() {
        return;
    }
    let done = match &line.then {
        LineThen::Rename { node } => plan::keep_id(model, turn, node, text.trim()),
        LineThen::Goal => plan::keep_goal(model, turn, text.trim()),
        LineThen::CompareFile => {
            compare::read_file(model, turn, text.trim());
            Ok(())
        }
        LineThen::FindEvent => {
            replay::found(model, &text);
            Ok(())
        }
        LineThen::Why => {
            act::keep_why(model, &text);
            Ok(())
        }
        LineThen::Break { id } => breaks::keep(model, turn, *id, text.trim()),
        LineThen::SaveFile => {
            save::to_file(model, turn, text.trim());
            Ok(())
        }
        LineThen::Condition { edge } => {
            let when = text.trim();
            change(model, turn, |plan| Ok(plan.set_condition(edge, (!when.is_empty()).then_some(when)))).map(|_| ())
        }
        LineThen::Reject { gate } => {
            gates::keep_draft(model, turn, gate, ReplyDraft::Words(text));
            Ok(())
        }
    };
    if let Err(why) = done {
        model.dialogs.push(Dialog::Line(LineDialog { note: Some(Plain::summary(&why)), ..line }));
    }
}

/// A line end at the cursor.
pub fn newline(model: &mut Model, _: &mut UpdateTurn) {
    if let Some(Dialog::Editor(editor)) = model.dialogs.last_mut() {
        editor.field.newline();
    }
}

/// Takes the text.
pub fn keep_editor(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(Dialog::Editor(editor)) = model.dialogs.pop() else { return };
    if editor.field.text() == editor.before && editor.then.is_edit() {
        return;
    }
    if let Err(why) = keep_text(model, turn, &editor.then, &editor.field.text()) {
        model.dialogs.push(Dialog::Editor(EditorDialog { note: Some(Plain::summary(&why)), ..editor }));
    }
}

fn keep_text(model: &mut Model, turn: &mut UpdateTurn, then: &EditThen, text: &str) -> Result<(), String> {
    match then {
        EditThen::NodeText { node } => plan::keep_text(model, turn, node, text),
        EditThen::Node { node } => plan::keep_node(model, turn, node, text),
        EditThen::Edge { edge } => deps::keep_edge(model, turn, edge, text),
        EditThen::NewNode { node } => plan::keep_new(model, turn, node, text),
        EditThen::Override { node } => act::keep_value(model, turn, node, text),
        EditThen::Guide { node } => act::keep_guide(model, turn, node, text),
        EditThen::Feedback { node, to } => act::keep_feedback(model, turn, node, to, text),
        EditThen::Branch { node, what } => branch::keep(model, node, *what, text),
        EditThen::Inputs => plan::keep_inputs(model, turn, text),
        EditThen::WholePlan => {
            let value = words::parse(text)?;
            let plan: Plan = serde_json::from_value(value).map_err(|error| format!("not a plan: {error}"))?;
            model.editor.replace_plan(&model.session.catalog, &plan)
        }
        EditThen::Payload { gate } => {
            gates::keep_draft(model, turn, gate, ReplyDraft::Payload(words::parse(text)?));
            Ok(())
        }
        EditThen::Answer { gate } => {
            let answer = text.trim_end_matches('\n');
            gates::keep_draft(model, turn, gate, ReplyDraft::Answer(Value::String(answer.to_owned())));
            Ok(())
        }
        EditThen::FormAnswer { gate } => {
            gates::keep_draft(model, turn, gate, ReplyDraft::Answer(words::parse(text)?));
            Ok(())
        }
    }
}

/// The outside editor has ended. A text that can't be taken comes back in a dialog, so that it isn't lost.
pub fn edited(model: &mut Model, turn: &mut UpdateTurn, then: &EditThen, before: &str, text: Result<String, String>) {
    let text = match text {
        // Editors end the last line by themselves.
        Ok(text) if text.trim_end_matches('\n') == before.trim_end_matches('\n') => {
            model.status = Some(Status::note("nothing changed"));
            return;
        }
        Ok(text) => text,
        Err(why) => {
            model.status = Some(Status::warn(&why));
            return;
        }
    };
    if let Err(why) = keep_text(model, turn, then, &text) {
        let editor = EditorDialog::new(Plain::line("fix it here, or cancel"), &text, then.clone());
        model.dialogs.push(Dialog::Editor(EditorDialog { before: before.to_owned(), note: Some(Plain::summary(&why)), ..editor }));
    }
}

/// Leaves the editor; asks once when the text was changed.
pub fn leave_editor(model: &mut Model, _: &mut UpdateTurn) {
    let Some(Dialog::Editor(editor)) = model.dialogs.last() else { return };
    if editor.field.text() == editor.before {
        model.dialogs.pop();
        return;
    }
    let lines = vec![Plain::line("You changed the text. Discard the changes?")];
    model.dialogs.push(Dialog::Confirm(Confirm { lines, then: Confirmed::DropText }));
}

/// The next field of a form.
pub fn next_field(model: &mut Model, _: &mut UpdateTurn) {
    if let Some(Dialog::Form(form)) = model.dialogs.last_mut() {
        form.focus = (form.focus + 1) % form.fields.len().max(1);
    }
}

/// The previous field of a form.
pub fn previous_field(model: &mut Model, _: &mut UpdateTurn) {
    if let Some(Dialog::Form(form)) = model.dialogs.last_mut() {
        let len = form.fields.len().max(1);
        form.focus = (form.focus + len - 1) % len;
    }
}

/// Takes the answers.
pub fn keep_form(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(Dialog::Form(form)) = model.dialogs.last_mut() else { return };
    match gates::form_answer(form) {
        Ok(answer) => {
            let gate = form.gate.clone();
            model.dialogs.pop();
            gates::keep_draft(model, turn, &gate, ReplyDraft::Answer(answer));
        }
        Err(why) => form.note = Some(Plain::summary(&why)),
    }
}

/// Takes the marked line.
pub fn take(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(Dialog::Pick(pick)) = model.dialogs.last() else { return };
    let Some(item) = pick.marked() else { return };
    if let Some(why) = &item.refused {
        model.status = Some(Status::warn(&format!("{}: {}", item.label.as_str(), why.as_str())));
        return;
    }
    let (value, then) = (item.value.clone(), pick.then.clone());
    model.dialogs.pop();
    match then {
        PickThen::Command => turn.next = Some(NextCommand::Run(value)),
        PickThen::AddKind => plan::add_kind(model, turn, &value),
        PickThen::AddWorker { kind } => plan::add_worker(model, turn, kind, &value),
        PickThen::Worker { node } => plan::set_worker(model, turn, &node, &value),
        PickThen::Edge { node } => deps::edge_picked(model, &node, &value),
        PickThen::WholeEdge { node } => deps::whole_edge_picked(model, &node, &value),
        PickThen::Act { mut offers } => {
            if let Some(at) = value.parse().ok().filter(|at| *at < offers.len()) {
                act::picked(model, turn, offers.swap_remove(at));
            }
        }
        PickThen::Branch => branch::picked(model, &value),
        PickThen::CompareRun => branch::compare_picked(model, turn, &value),
        PickThen::Rewind { node } => act::ask_feedback(model, node, value.as_str().into()),
        PickThen::Theme => turn.effects.push(ConsoleEffect::UseTheme(value)),
        PickThen::Model => turn.send(Request::UseModel((!value.is_empty()).then_some(value))),
        PickThen::Option { gate } => gates::keep_draft(model, turn, &gate, ReplyDraft::Answer(Value::String(value))),
    }
}

/// Does what was asked.
pub fn yes(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(Dialog::Confirm(confirm)) = model.dialogs.pop() else { return };
    match confirm.then {
        Confirmed::Branch { run, seq, actions } => turn.send(Request::Branch { run, seq, actions }),
        Confirmed::Resume(run) => turn.send(Request::Resume(run)),
        Confirmed::CancelAllAndQuit => {
            let runs: Vec<_> = model.runs.going_on().map(|run| run.id.clone()).collect();
            for run in runs {
                turn.send(Request::Command { run, command: Command::act(Action::Cancel { target: ActionTarget::Run }) });
            }
            turn.effects.push(ConsoleEffect::Quit { summary: app::summary(model, turn.now, "cancelled"), parting: Parting::Cancels });
        }
        Confirmed::DropText => {
            model.dialogs.pop();
        }
        Confirmed::Leave => app::leave(model, turn),
        Confirmed::Replace { path, plan } => turn.send(Request::SavePlan { path, plan, there: There::IsReplaced }),
    }
}

/// Copies what is read.
pub fn copy_reader(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(Dialog::Reader(reader)) = model.dialogs.last() else { return };
    let text = match &reader.what {
        Reading::Inspector => docs::inspector(model).copied(),
        Reading::Gate => model.inbox.selected.as_ref().and_then(|key| model.inbox.doc(key)).map(|doc| doc.doc.copied()).unwrap_or_default(),
        Reading::Help { lines, .. } => lines.copied(),
        Reading::Words { lines, .. } => lines.iter().map(Plain::as_str).collect::<Vec<_>>().join("\n"),
    };
    inspector::copy_text(model, turn, text);
}
