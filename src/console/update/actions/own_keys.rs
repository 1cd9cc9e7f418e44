//! A person's own keys for a command: which command, which keys. They hold at once, and are kept in the person's settings file.

use super::super::UpdateTurn;
use crate::console::commands;
use crate::console::model::{Dialog, Key, LineThen, Model, PickItem, PickThen, Status, TextField};
use crate::host::client::Request;
use crate::text::Plain;

/// Asks for the command.
pub fn ask(model: &mut Model, _: &mut UpdateTurn) {
    let item = |command: &'static commands::ConsoleCommand| {
        let keys = named(model, command.id);
        let gap = if keys.is_empty() { "" } else { "  " };
        PickItem::new(PickThen::Keys(command.id), command.title, &format!("{keys}{gap}{}", command.id))
    };
    let items = commands::all().map(item).collect();
    let note = Plain::line("They are kept in ").then(&place(model));
    model.dialogs.push(Dialog::noted_pick("change keys: of which command?", note.as_str(), items));
}

fn place(model: &Model) -> Plain {
    let file = &model.session.settings;
    if file.is_empty() { Plain::line("your settings file, for which the system names no folder") } else { file.clone() }
}

/// The keys of a command by their names.
fn named(model: &Model, id: &str) -> String {
    model.look.keymap.keys_of(id).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Asks for the keys.
pub fn ask_keys(model: &mut Model, id: &'static str) {
    let title = commands::find(id).map_or(id, |command| command.title);
    let (field, note) = (TextField::line(&named(model, id)), "names with spaces between, such as: ctrl-r f5; nothing for no key");
    model.dialogs.push(Dialog::line(&format!("keys of {title} ({id})"), field, note, LineThen::Keys(id)));
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
    let title = commands::find(command).map_or(command, |command| command.title);
    model.status = Some(Status::good(&format!("keys of {title}, kept in {file}")));
}
