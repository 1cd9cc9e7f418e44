//! Writing the plan into a file.

use super::super::UpdateTurn;
use crate::console::model::{Confirmed, Dialog, LineThen, Model, Status, TextField};
use crate::host::client::{Request, There};
use crate::plan::Plan;
use crate::text::Plain;

/// Asks for the file; a plan that came from one offers that.
pub fn ask(model: &mut Model, _: &mut UpdateTurn) {
    let origin = model.editor.version().map(|version| version.origin.as_str()).unwrap_or_default();
    let from = origin.strip_prefix("from ").filter(|origin| *origin != "a run").unwrap_or("plan.json");
    let (field, note) = (TextField::offering(from), "a path in the workspace; .yaml writes YAML");
    model.dialogs.push(Dialog::line("save the plan to which file?", field, note, LineThen::SaveFile));
}

/// The file's name was typed.
pub fn to_file(model: &mut Model, turn: &mut UpdateTurn, path: &str) {
    if !path.is_empty() {
        let plan = Box::new(model.editor.plan().clone());
        turn.send(Request::SavePlan { path: path.to_owned(), plan, there: There::Stays });
    }
}

/// The plan was written.
pub fn saved(model: &mut Model, path: &str, plan: &Plan) {
    model.editor.compare.keep(plan);
    model.status = Some(Status::good(&format!("saved to {path}")));
}

/// There is a file already: it is replaced only when the person says so.
pub fn is_there(model: &mut Model, path: String, plan: Box<Plan>) {
    let lines = vec![Plain::line("There is already a file ").then(&Plain::summary(&path)), Plain::line("Replace it?")];
    model.dialogs.push(Dialog::confirm(lines, Confirmed::Replace(path, plan)));
}
