//! A person's own keys for a command: which command, which keys. They hold at once, and are kept in the person's settings file.

use super::super::UpdateTurn;
use crate::console::model::{Dialog, Key, LineThen, Model, Status, TextField};
use crate::host::client::Request;

/// The keys of a command by their names.
pub fn named(model: &Model, id: &str) -> String {
    model.look.keymap.keys_of(id).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Asks for the keys.
pub fn ask_keys(model: &mut Model, id: &'static str) {
    let (field, note) = (TextField::line(&named(model, id)), "names with spaces between, such as: ctrl-r f5; nothing for no key");
    model.dialogs.push(Dialog::line(&format!("keys of {id}"), field, note, LineThen::Keys(id)));
}

/// The keys were typed.
///
/// # Errors
/// What is wrong with them, in words.
pub fn keep(model: &mut Model, turn: &mut UpdateTurn, id: &'static str, text: &str) -> Result<(), String> {
    let keys = text.split_whitespace().map(Key::parse).collect::<Result<Vec<_>, _>>()?;
    let mut keymap = model.look.keymap.clone();
    keymap.set(id, keys.clone());
    let is_its = |words: &String| words.contains(&format!("`{id}`"));
    if let Some(words) = keymap.conflicts().into_iter().find(is_its) {
        return Err(words);
    }
    model.look.keymap = keymap;
    turn.send(Request::KeepKeys { command: id.to_owned(), keys: keys.iter().map(ToString::to_string).collect() });
    Ok(())
}

/// They are in that file.
pub fn kept(model: &mut Model, command: &str, file: &str) {
    model.status = Some(Status::good(&format!("keys of {command}, kept in {file}")));
}
