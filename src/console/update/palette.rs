//! The list of all commands, with their keys, or why they can't be used now; and the menu of what can be done with a node and its run.

use super::actions;
use crate::console::commands;
use crate::console::commands::ConsoleCommand;
use crate::console::model::{Dialog, Model, PickItem, PickThen, contexts};
use crate::console::view;
use crate::text::Plain;

/// Most commands that are suggested, and most of them by use.
const SUGGESTED: usize = 6;
const BY_USE: usize = 3;

pub fn open(model: &mut Model) {
    let here = contexts(model);
    let is_run = model.shown_run().is_some();
    let mut items: Vec<(&ConsoleCommand, PickItem)> = Vec::new();
    for command in commands::all().filter(|command| command.in_palette()) {
        let keymap = &model.look.keymap;
        let key = match here.contains(&command.context) {
            true => keymap.reaching(&here, command).map(|key| key.to_string()),
            false => keymap.hint(command.id),
        };
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
        items.push((command, PickItem { key, refused: refused.err().map(|why| Plain::line(&why)), group: command.group(is_run), ..item }));
    }
    // What was taken last comes first, then what the hints show.
    let hints = view::hints(model).into_iter().map(|hint| hint.command).filter(|id| *id != "app.help");
    let mut first: Vec<&str> = model.request.taken.iter().rev().take(BY_USE).copied().chain(hints).collect();
    first.retain(|id| items.iter().any(|(command, item)| command.id == *id && item.refused.is_none()));
    let items = items
        .into_iter()
        .map(|(command, item)| (command.id, item))
        .chain(actions::act::without_key(model).into_iter().chain(actions::prompts::items(model)).map(|item| ("", item)));
    model.dialogs.push(Dialog::pick("Commands", grouped(items.collect(), &first)));
}

/// Asks for the command that is to have other keys.
pub fn keys(model: &mut Model) {
    let item = |command: &'static ConsoleCommand| {
        let keys = actions::own_keys::named(model, command.id);
        let gap = if keys.is_empty() { "" } else { "  " };
        PickItem::new(PickThen::Keys(command.id), command.title, &format!("{keys}{gap}{}", command.id))
    };
    let items = commands::all().map(item).collect();
    let file = model.session.settings.as_str();
    let place = if file.is_empty() { "your settings file, for which the system names no folder" } else { file };
    let note = format!("They are kept in {place}");
    model.dialogs.push(Dialog::noted_pick("change keys: of which command?", &note, items));
}

/// Everything that can be done with the selected node and its run: what helps most first, what can't be done now last, with the reason.
pub fn menu(model: &mut Model) {
    let mut items = actions::act::items(model);
    let first = view::suggested(model);
    // What helps and is no action on a run, such as editing the node, is a command.
    for command in first.iter().filter_map(|id| find(id)).filter(|command| command.in_palette() && command.id != "act.menu") {
        let is_usable = (command.guard)(model).is_ok() && !items.iter().any(|(key, _)| *key == command.id);
        if is_usable && command.group(true) == "This node" {
            let item = PickItem::new(PickThen::Command(command.id), command.title, command.description);
            items.push((command.id, PickItem { key: model.look.keymap.hint(command.id), group: "This node", ..item }));
        }
    }
    let node = model.selected_id().and_then(|id| Some(model.shown_run()?.title_of(id)));
    let title = Plain::line("Actions").then(&node.map(|node| Plain::line(": ").then(&node)).unwrap_or_default());
    model.dialogs.push(Dialog::pick(title.as_str(), grouped(items, &first)));
}

/// Items in the order of their groups: the first ones of these ids are suggested, what can't be used is last.
fn grouped(mut items: Vec<(&'static str, PickItem)>, first: &[&str]) -> Vec<PickItem> {
    let mut suggested: Vec<&str> = Vec::new();
    for id in first.iter().filter(|id| !id.is_empty()) {
        let item = items.iter_mut().find(|(known, item)| known == id && item.refused.is_none());
        if let Some((_, item)) = item.filter(|_| suggested.len() < SUGGESTED && !suggested.contains(id)) {
            item.group = "Suggested";
            suggested.push(id);
        }
    }
    let nth = |id: &str, item: &PickItem| match item.group {
        "Suggested" => suggested.iter().position(|known| *known == id).unwrap_or_default(),
        _ => 0,
    };
    let group = |item: &PickItem| commands::GROUPS.iter().position(|group| *group == item.group);
    // Of a node in a run, what is done with it comes before what is changed in its plan.
    let is_edit = |id: &str, item: &PickItem| item.group == "This node" && id.starts_with("plan.");
    items.sort_by_key(|(id, item)| (item.refused.is_some(), group(item), nth(id, item), is_edit(id, item)));
    items.into_iter().map(|(_, item)| item).collect()
}

/// The command of that id, unless only its own key may run it.
pub fn find(id: &str) -> Option<&'static ConsoleCommand> {
    commands::find(id).filter(|command| !command.replies())
}
