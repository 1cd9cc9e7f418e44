//! Writing the plan into a file.

use super::super::UpdateTurn;
use crate::console::model::{Confirmed, Dialog, LineThen, Model, Status, TextField};
use crate::host::client::{Request, There};
use crate::plan::dialect::{Format, write};
use crate::plan::{Dialect, Plan, nest};
use crate::text::{Plain, bytes};

/// Asks for the file; a plan that came from one offers that.
pub fn ask(model: &mut Model, _: &mut UpdateTurn) {
    let file = model.editor.version().and_then(|version| version.origin.file()).unwrap_or("plan.json");
    let (field, note) = (TextField::offering(file), "a path in the workspace; .yaml writes YAML");
    model.dialogs.push(Dialog::line("save the plan to which file?", field, note, LineThen::SaveFile));
}

/// The file's name was typed. A form that can't hold the plan is told first, with the choice of another.
pub fn to_file(model: &mut Model, turn: &mut UpdateTurn, path: &str) {
    if path.is_empty() {
        return;
    }
    let plan = model.editor.plan();
    let form = plan.dialect;
    let lost = write(plan, Format::Document(form)).lost;
    let Some(first) = lost.first() else { return send(model, turn, path, form) };
    let more = if lost.len() > 1 { format!(" and {} more", lost.len() - 1) } else { String::new() };
    let note = format!("{} leaves out {}{more}; native keeps everything", form.name(), first.path);
    let title = format!("save in which form, native or {}?", form.name());
    model.dialogs.push(Dialog::line(&title, TextField::offering(Dialect::Native.name()), &note, LineThen::SaveForm(path.to_owned())));
}

/// The form was typed.
pub fn in_form(model: &mut Model, turn: &mut UpdateTurn, path: &str, form: &str) -> Result<(), String> {
    let own = model.editor.plan().dialect;
    let form = [Dialect::Native, own].into_iter().find(|known| known.name() == form);
    let form = form.ok_or_else(|| format!("type native or {}", own.name()))?;
    send(model, turn, path, form);
    Ok(())
}

fn send(model: &Model, turn: &mut UpdateTurn, path: &str, form: Dialect) {
    let plan = Box::new(model.editor.plan().clone());
    turn.send(Request::SavePlan { path: path.to_owned(), plan, form, there: There::Stays });
}

/// The plan was written.
pub fn saved(model: &mut Model, path: &str, plan: &Plan) {
    model.editor.saved(path, plan);
    model.status = Some(Status::good(&format!("saved to {path}")));
}

/// Asks for the file to write the selected node's result into, as it is read.
pub fn ask_result(model: &mut Model, _: &mut UpdateTurn) {
    let Some((node, mut text)) = model.selected_id().zip(model.selected_text()) else { return };
    let file = format!("{}.md", nest::name(node));
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let title = format!("save the result of `{node}` to which file?");
    let note = format!("a path in the workspace; {} as it is read", bytes(text.len() as u64));
    model.dialogs.push(Dialog::line(&title, TextField::offering(&file), &note, LineThen::SaveText(text)));
}

/// The file's name was typed.
pub fn text_to_file(turn: &mut UpdateTurn, path: &str, text: &str) {
    if !path.is_empty() {
        turn.send(Request::SaveText { path: path.to_owned(), text: text.to_owned(), there: There::Stays });
    }
}

/// There is a file already: it is replaced only when the person says so.
pub fn text_is_there(model: &mut Model, path: String, text: String) {
    let there = Plain::line("There is already a file ").then(&Plain::summary(&path));
    model.dialogs.push(Dialog::confirm(vec![there, Plain::line("Replace it?")], Confirmed::ReplaceText(path, text)));
}

/// There is a file already: it is replaced only when the person says so.
pub fn is_there(model: &mut Model, path: String, (plan, form): (Box<Plan>, Dialect), has_comments: bool) {
    let lost = has_comments.then(|| Plain::line("Its comments and other words will be lost: write to another file to keep them."));
    let there = Plain::line("There is already a file ").then(&Plain::summary(&path));
    let lines = [there].into_iter().chain(lost).chain([Plain::line("Replace it?")]).collect();
    model.dialogs.push(Dialog::confirm(lines, Confirmed::Replace(path, plan, form)));
}
