//! The list of all commands, with their keys, or why they can't be used now.

use super::actions;
use crate::console::commands;
use crate::console::commands::ConsoleCommand;
use crate::console::model::{Dialog, Model, PickItem, PickThen, contexts};
use crate::text::Plain;

pub fn open(model: &mut Model) {
    let here = contexts(model);
    let mut items: Vec<(&ConsoleCommand, PickItem)> = Vec::new();
    for command in commands::all().filter(|command| command.in_palette()) {
        let key = model.look.keymap.hint(command.id);
        // One that is in two contexts is listed once, with the keys of both.
        if let Some((_, known)) = items.iter_mut().find(|(known, _)| known.is_like(command)) {
            let other = key.filter(|key| known.key.as_ref() != Some(key));
            let both: Vec<String> = known.key.take().into_iter().chain(other).collect();
            known.key = (!both.is_empty()).then(|| both.join(" "));
            continue;
        }
        let refused = match command.screen() {
            _ if command.replies() => Err("press its own key, where the gate is shown".into()),
            Some(screen) if !here.contains(&command.context) => Err(screen.into()),
            Some(_) | None => (command.guard)(model),
        };
        let item = PickItem::new(PickThen::Command(command.id), command.title, command.description);
        items.push((command, PickItem { key, refused: refused.err().map(|why| Plain::line(&why)), ..item }));
    }
    // What was taken last comes first.
    let used = |command: &ConsoleCommand| model.request.taken.iter().rev().position(|id| *id == command.id).unwrap_or(usize::MAX);
    items.sort_by_key(|(command, _)| used(command));
    let items = items.into_iter().map(|(_, item)| item).chain(actions::act::without_key(model)).collect();
    model.dialogs.push(Dialog::pick("commands", items));
}

/// The command of that id, unless only its own key may run it.
pub fn find(id: &str) -> Option<&'static ConsoleCommand> {
    commands::find(id).filter(|command| !command.replies())
}
