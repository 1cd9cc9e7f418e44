//! Prompts of MCP servers, as commands of the palette: one that wants to know something asks by a form, and its text fills the request line.

use super::{super::UpdateTurn, gates, request};
use crate::console::model::{Dialog, FormDialog, FormThen, Model, PickItem, PickThen, Status};
use crate::host::client::{PromptOffer, Request};
use crate::text::Plain;
use serde_json::{Map, Value};

/// One line of the palette for each.
pub fn items(model: &Model) -> Vec<PickItem> {
    let item = |prompt: &PromptOffer| {
        let label = format!("Begin with {}:{}", prompt.server, prompt.name);
        PickItem { group: "This plan", ..PickItem::new(PickThen::Prompt(Box::new(prompt.clone())), &label, &prompt.description) }
    };
    model.session.prompts.iter().map(item).collect()
}

/// Asks for what the prompt wants to know, if it wants anything.
pub fn begin(model: &mut Model, turn: &mut UpdateTurn, prompt: Box<PromptOffer>) {
    if prompt.fields.is_empty() {
        return ask(model, turn, &prompt, Value::Null);
    }
    let title = Plain::summary(&format!("{}:{}, for the request line", prompt.server, prompt.name));
    let fields = gates::form_lines(&[], &prompt.fields, None);
    model.dialogs.push(Dialog::Form(FormDialog { title, fields, focus: 0, note: None, then: FormThen::Prompt(prompt) }));
}

/// Has the server make the text.
pub fn ask(model: &mut Model, turn: &mut UpdateTurn, prompt: &PromptOffer, answer: Value) {
    let arguments = if let Value::Object(given) = answer { given } else { Map::new() };
    model.status = Some(Status::note(&format!("{} is asked for the text …", prompt.server)));
    turn.send(Request::Prompt { server: prompt.server.clone(), name: prompt.name.clone(), arguments });
}

/// The text came: it goes below what is typed already.
pub fn came(model: &mut Model, turn: &mut UpdateTurn, text: &str) {
    let typed = model.request.field.text().trim_end().to_owned();
    model.request.field.set(&if typed.is_empty() { text.to_owned() } else { format!("{typed}\n{text}") });
    request::focus(model, turn);
    model.status = Some(Status::note("the server's text is in the request line; nothing is sent yet"));
}
