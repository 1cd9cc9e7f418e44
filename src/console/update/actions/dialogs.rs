//! Dialogs: taking what was typed or picked, leaving.

use serde_json::Value;

use super::super::{NextCommand, TOO_FAST, UpdateTurn};
use super::change::change;
use super::{
    act, app, branch, breaks, compare, deps, failures, gates, inspector, inventory, own_keys, plan, replay, request, rules, run, save,
    setup, typing,
};
use crate::console::model::{
    Confirmed, Dialog, EditThen, EditorDialog, FormThen, LineDialog, LineThen, Model, PickThen, Reading, ReplyDraft, Status, TextField,
    texts, turned,
};
use crate::engine::Action;
use crate::host::client::{Patterns, Request, RuleScope, There};
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
    if let Err(why) = take_line(model, turn, &line.then, text.trim()) {
        model.dialogs.push(Dialog::Line(LineDialog { note: Plain::summary(&why), ..line }));
    }
}

fn take_line(model: &mut Model, turn: &mut UpdateTurn, then: &LineThen, text: &str) -> Result<(), String> {
    match then {
        LineThen::Rename(node) => return plan::keep_id(model, turn, node, text),
        LineThen::Goal => return plan::keep_goal(model, turn, text),
        LineThen::Budget => return super::cost::keep_budget(model, turn, text),
        LineThen::SaveForm(path) => return save::in_form(model, turn, path, text),
        LineThen::SetUp(line) => return setup::typed(model, turn, *line, text),
        LineThen::Keys(id) => return own_keys::keep(model, turn, id, text),
        LineThen::Break(id) => return breaks::keep(model, turn, *id, text),
        LineThen::Condition(edge) => {
            return change(model, turn, |plan| Ok(plan.set_condition(edge, (!text.is_empty()).then_some(text)))).map(drop);
        }
        LineThen::CompareFile => compare::read_file(model, turn, text),
        LineThen::FindEvent => replay::found(model, text),
        LineThen::Why => act::keep_why(model, text),
        LineThen::ModelName => app::named_model(model, turn, text),
        LineThen::SaveFile => save::to_file(model, turn, text),
        LineThen::SaveText(result) => save::text_to_file(turn, text, result),
        LineThen::Replan => failures::replan(model, turn, text),
        LineThen::GateReplan(gate) => {
            gates::keep_draft(model, turn, gate, ReplyDraft::Answer(Value::from(format!("replan {text}").trim_end())));
        }
        LineThen::GateModel(_) if text.is_empty() => return Err("type the name of a model".to_owned()),
        LineThen::GateModel(gate) => gates::keep_draft(model, turn, gate, ReplyDraft::Answer(Value::from(format!("model {text}")))),
        LineThen::Reject(gate) => gates::keep_draft(model, turn, gate, ReplyDraft::Words(text.to_owned())),
    }
    Ok(())
}

/// Undoes what was typed last.
pub fn undo_typing(model: &mut Model, _: &mut UpdateTurn) {
    super::typing::with_field(model, TextField::undo);
}

/// A line end at the cursor.
pub fn newline(model: &mut Model, _: &mut UpdateTurn) {
    if let Some(Dialog::Editor(editor)) = model.dialogs.last_mut() {
        editor.field.newline();
    }
}

pub fn keep_editor(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(Dialog::Editor(editor)) = model.dialogs.pop() else { return };
    if editor.field.text() == editor.before && editor.then.is_edit() {
        return;
    }
    match keep_text(model, turn, &editor.then, &editor.field.text()) {
        Err(why) => model.dialogs.push(Dialog::Editor(EditorDialog { note: Some(Plain::summary(&why)), ..editor })),
        Ok(()) => keep_below(model, editor),
    }
}

/// Keeps a text below the question of what it would change, so that a no doesn't lose it.
fn keep_below(model: &mut Model, editor: EditorDialog) {
    if matches!(model.dialogs.last(), Some(Dialog::Act(_))) {
        model.dialogs.insert(model.dialogs.len() - 1, Dialog::Editor(editor));
    }
}

fn keep_text(model: &mut Model, turn: &mut UpdateTurn, then: &EditThen, text: &str) -> Result<(), String> {
    let draft = match then {
        EditThen::NodeText(node) => return plan::keep_text(model, turn, node, text),
        EditThen::Node(node) => return plan::keep_node(model, turn, node, text),
        EditThen::Edge(edge) => return deps::keep_edge(model, turn, edge, text),
        EditThen::NewNode(node) => return plan::keep_new(model, turn, node, text),
        EditThen::Override(node) => return act::keep_value(model, turn, node, text),
        EditThen::Guide(node) => return act::keep_words(model, turn, text, |text| Action::Guide { node: node.clone(), text }),
        EditThen::Feedback(node, to) => {
            let (node, to) = (node.clone(), to.clone());
            return act::keep_words(model, turn, text, |feedback| Action::Rewind { node, to, feedback });
        }
        EditThen::Card(name) => {
            turn.send(Request::SaveCard { name: name.clone(), text: text.to_owned() });
            return Ok(());
        }
        EditThen::Branch(node, what) => return branch::keep(model, node, *what, text),
        EditThen::Inputs => return plan::keep_inputs(model, turn, text),
        EditThen::WholePlan => {
            let plan: Plan = serde_json::from_value(texts::parse(text)?).map_err(|error| format!("not a plan: {error}"))?;
            return model.editor.replace_plan(&model.session.catalog, &plan);
        }
        EditThen::Payload(gate, part) => ReplyDraft::Payload(gates::payload_with(model, gate, part.as_deref(), text)?),
        EditThen::Answer(_) => ReplyDraft::Answer(Value::from(text.trim_end_matches('\n'))),
        EditThen::FormAnswer(_) => ReplyDraft::Answer(texts::parse(text)?),
    };
    if let EditThen::Payload(gate, _) | EditThen::Answer(gate) | EditThen::FormAnswer(gate) = then {
        gates::keep_draft(model, turn, gate, draft);
    }
    Ok(())
}

/// The outside editor has ended. A text that can't be taken comes back in a dialog, so that it isn't lost.
pub fn edited(model: &mut Model, turn: &mut UpdateTurn, then: &EditThen, before: &str, text: Result<String, String>) {
    let text = match text {
        // Editors end the last line by themselves.
        Ok(text) if text.trim_end_matches('\n') == before.trim_end_matches('\n') => {
            return model.status = Some(Status::note("nothing changed"));
        }
        Ok(text) if before.ends_with('\n') => text,
        Ok(text) => text.strip_suffix('\n').map_or(text.clone(), str::to_owned),
        Err(why) => {
            return model.status = Some(Status::warn(&why));
        }
    };
    let kept = keep_text(model, turn, then, &text);
    let Dialog::Editor(mut editor) = Dialog::editor("fix it here, or cancel", &text, then.clone()) else { return };
    before.clone_into(&mut editor.before);
    match kept {
        Ok(()) => keep_below(model, editor),
        Err(why) => {
            editor.note = Some(Plain::summary(&why));
            model.dialogs.push(Dialog::Editor(editor));
        }
    }
}

/// Leaves what is written; asks once where that would be lost.
pub fn leave_text(model: &mut Model, _: &mut UpdateTurn) {
    if !model.dialogs.last().is_some_and(Dialog::is_written) {
        model.dialogs.pop();
        return;
    }
    let lines = vec![Plain::line("You changed the text. Discard the changes?")];
    model.dialogs.push(Dialog::confirm(lines, Confirmed::DropText));
}

/// To the field of a form so many further.
pub fn field(model: &mut Model, by: isize) {
    if let Some(Dialog::Form(form)) = model.dialogs.last_mut() {
        form.focus = turned(form.focus, form.fields.len(), by);
    }
}

pub fn keep_form(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(Dialog::Form(form)) = model.dialogs.last_mut() else { return };
    match gates::form_answer(form) {
        Ok(answer) => {
            let then = form.then.clone();
            // A rule that can't be kept comes back to be mended.
            if !matches!(then, FormThen::Rule(..)) {
                model.dialogs.pop();
            }
            match then {
                FormThen::Reply(gate) => gates::keep_draft(model, turn, &gate, ReplyDraft::Answer(answer)),
                FormThen::Prompt(prompt) => super::prompts::ask(model, turn, &prompt, answer),
                FormThen::Rule(gate, _) => rules::keep(turn, gate, RuleScope::Project, rules::patterns(&answer)),
                FormThen::Try(tool) => {
                    if let Err(why) = inventory::tried(model, turn, &tool, &answer) {
                        inventory::try_again(model, tool, &answer, &why);
                    }
                }
            }
        }
        Err(why) => form.note = Some(Plain::summary(&why)),
    }
}

/// Takes the marked line.
pub fn take(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(Dialog::Pick(pick)) = model.dialogs.last_mut() else { return };
    if pick.is_at_fold() {
        return pick.unfold();
    }
    let Some(item) = pick.marked() else { return setup::typed_otherwise(model, turn) };
    if let Some(why) = &item.refused {
        return model.status = Some(Status::warn(&format!("{}: {}", item.label.as_str(), why.as_str())));
    }
    let then = item.then.clone();
    // The steps of setting up a model lie over each other: esc goes one back.
    if matches!(then, PickThen::SetUp(_)) {
        // What was searched for is not searched for again on the way back.
        if let Some(Dialog::Pick(pick)) = model.dialogs.last_mut() {
            pick.query = TextField::line("");
            pick.search();
        }
    } else {
        model.dialogs.pop();
    }
    follow(model, turn, then);
}

/// Does what follows from a pick.
pub fn follow(model: &mut Model, turn: &mut UpdateTurn, then: PickThen) {
    match then {
        PickThen::Command(id) => turn.next = Some(NextCommand::Run(id)),
        PickThen::AddBy(performer) => plan::ask_performer(model, performer),
        PickThen::Add(name, work) => plan::add_node(model, turn, &name, *work),
        PickThen::Work(node, work) => plan::set_work(model, turn, &node, *work),
        PickThen::Condition(edge) => deps::edit_condition(model, edge),
        PickThen::WholeEdge(edge) => deps::edit_edge(model, edge),
        PickThen::Act(offer) => act::picked(model, turn, offer),
        PickThen::Branch(actions) => branch::confirm(model, actions),
        PickThen::BranchWith(what) => branch::edit(model, what),
        PickThen::OpenRun(run) => run::open(model, turn, run),
        PickThen::CompareRun(run) => branch::compare_picked(model, turn, run),
        PickThen::Rewind(node, to) => act::ask_feedback(model, node, to),
        PickThen::Rival(number) => request::take_rival(model, number),
        PickThen::Keys(id) => own_keys::ask_keys(model, id),
        PickThen::Theme(name) => app::keep_theme(model, turn, name),
        PickThen::Model(name) => {
            setup::leave(model);
            app::use_model(model, turn, name);
        }
        PickThen::OtherModel => app::ask_model(model),
        PickThen::SetUp(choice) => setup::chosen(model, turn, choice),
        PickThen::StartWith(name, first) => run::start_with(model, turn, first, Some(name)),
        PickThen::Trust(item) => app::ask_trust(model, item),
        PickThen::KeepRule(gate, scope) => rules::keep(turn, gate, scope, Patterns::new()),
        PickThen::ShapeRule(gate) => rules::shape(model, &gate),
        PickThen::Prompt(prompt) => super::prompts::begin(model, turn, prompt),
        PickThen::EditPart(gate, part) => gates::edit_part(model, gate, part),
        PickThen::EditGate(gate) => failures::edit_payload(model, gate),
        PickThen::GateModel(gate) => failures::ask_model(model, gate),
        PickThen::GateReplan(gate) => failures::ask_guidance(model, gate),
        PickThen::Piece(gate, at) => failures::toggle_piece(model, turn, &gate, at),
        PickThen::Answer(gate, option) => gates::keep_draft(model, turn, &gate, ReplyDraft::Answer(Value::from(option))),
    }
}

/// Saves the plan instead of leaving at once.
pub fn save_first(model: &mut Model, turn: &mut UpdateTurn) {
    model.dialogs.pop();
    save::ask(model, turn);
}

/// Does what was asked.
pub fn yes(model: &mut Model, turn: &mut UpdateTurn) {
    if turn.in_burst {
        return model.status = Some(Status::warn(TOO_FAST));
    }
    let Some(Dialog::Confirm(confirm)) = model.dialogs.pop() else { return };
    match confirm.then {
        Confirmed::Branch { run, seq, actions } => turn.send(Request::Branch { run, seq, actions }),
        Confirmed::Start(first) => run::start(model, turn, first),
        Confirmed::DeleteRun(run) => turn.send(Request::DeleteRun(run)),
        Confirmed::Resume(run) => turn.send(Request::Resume(run)),
        Confirmed::Trust(item) => {
            model.status = Some(Status::good(&format!("trusted {}", item.path)));
            turn.send(Request::Trust(item));
        }
        Confirmed::RevokeRule(id) => turn.send(Request::RevokeRule(id)),
        Confirmed::DropText => close(model, turn),
        Confirmed::Leave => app::leave(model, turn),
        Confirmed::NewPlan(by) => request::new_plan(model, turn, by),
        Confirmed::ReplaceText(path, text) => turn.send(Request::SaveText { path, text, there: There::IsReplaced }),
        Confirmed::Replace(path, plan, form) => turn.send(Request::SavePlan { path, plan, form, there: There::IsReplaced }),
    }
}

/// Copies what is read.
pub fn copy_reader(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(Dialog::Reader(reader)) = model.dialogs.last() else { return };
    let text = match &reader.what {
        Reading::Inspector => return inspector::copy(model, turn),
        Reading::Gate => model.inbox.selected_doc().map(|doc| doc.doc.copied()).unwrap_or_default(),
        Reading::Words { lines, .. } => lines.iter().map(Plain::as_str).collect::<Vec<_>>().join("\n"),
    };
    inspector::copy_text(model, turn, text);
}
