//! From a key to the command it means here, or to the text field that takes it.

use std::collections::BTreeSet;

use super::actions::{gates, moving, typing::with_field};
use super::{NextCommand, UpdateTurn, palette};
use crate::console::commands;
use crate::console::commands::{CommandRun, ConsoleCommand};
use crate::console::model::{Dialog, Key, KeyContext, Model, MoveBy, Screen, Status, contexts};

pub fn key(model: &mut Model, turn: &mut UpdateTurn, key: Key) {
    model.safety.key(turn.now);
    turn.key = Some(key);
    model.status = None;
    let asked = model.inbox.asked.take();
    match model.look.keymap.resolve(&contexts(model), key) {
        // A gate that opens where somebody is isn't selected by the key that replies to one.
        Some(command) if command.replies() => {
            model.inbox.asked = asked;
            run(model, turn, command);
        }
        Some(command) => {
            let is_free = model.dialogs.is_empty() && !model.types();
            // The key to the next gate goes to the one that opened here, and not past it.
            if is_free && command.id != "tree.attention" {
                model.select_card_gate();
            }
            run(model, turn, command);
            if is_free {
                model.select_card_gate();
            }
        }
        None if model.types() => type_key(model, key),
        None if model.dialogs.is_empty() => model.status = Some(Status::note(&elsewhere(model, key))),
        None => {}
    }
}

/// What is said where a key means nothing: where it works, if that is one place, and how to see what works here.
fn elsewhere(model: &Model, key: Key) -> String {
    let known = commands::all().filter(|command| model.look.keymap.keys_of(command.id).contains(&key));
    let places: BTreeSet<String> =
        known.filter_map(|command| Some(format!("{} ({})", command.context.place()?, command.in_hints()))).collect();
    let help = model.hint("app.help");
    match places.first().filter(|_| places.len() == 1) {
        // Who typed a request finds it nowhere.
        _ if model.plan().nodes.is_empty() && key.typed().is_some() && model.place.screen == Screen::Plan => {
            format!("{key} means nothing here: {} types a request, {help} shows what works", model.hint("request.focus"))
        }
        Some(place) => format!("not here: {key} works {place}"),
        None => format!("{key} means nothing here: {help} shows what works"),
    }
}

/// Runs a command, or says why it can't be run now.
pub fn run(model: &mut Model, turn: &mut UpdateTurn, command: &ConsoleCommand) {
    let selected = model.selected_id().cloned();
    match (command.guard)(model) {
        Ok(()) => match command.run {
            CommandRun::Does(run) | CommandRun::OpensField(run) => run(model, turn),
            CommandRun::Replies(intent) => gates::reply(model, turn, intent),
        },
        Err(reason) => model.status = Some(Status::warn(&format!("{}: {reason}", command.title))),
    }
    match turn.next.take() {
        Some(NextCommand::Keys) => palette::keys(model),
        Some(NextCommand::Palette) => palette::open(model),
        Some(NextCommand::Menu) => palette::menu(model),
        Some(NextCommand::Run(id)) => {
            if let Some(command) = palette::find(id) {
                model.request.taken.retain(|taken| *taken != id);
                model.request.taken.push(id);
                run(model, turn, command);
            }
        }
        None => {}
    }
    if model.selected_id() != selected.as_ref() {
        model.inspector.scroll = crate::console::model::Scroll::Start;
    }
}

/// Text was pasted: it goes into the text field with the focus, and nowhere else.
pub fn paste(model: &mut Model, turn: &mut UpdateTurn, text: &str) {
    model.safety.key(turn.now);
    model.inbox.asked = None;
    if !model.types() {
        let new = model.hint("request.focus");
        return model.status = Some(Status::warn(&format!("you can't paste here: press {new} for a new request, then paste")));
    }
    with_field(model, |field| field.paste(text));
}

/// Text came at once and without the brackets of a paste. Its first character may be the key that opens the field for the rest; it is no
/// key otherwise.
pub fn typed_at_once(model: &mut Model, turn: &mut UpdateTurn, text: &str) {
    let mut rest = text.chars();
    let first = rest.next().and_then(|first| Key::parse(&first.to_string()).ok());
    let command = first.and_then(|key| model.look.keymap.resolve(&contexts(model), key));
    match command {
        Some(command) if !model.types() && matches!(command.run, CommandRun::OpensField(_)) => {
            run(model, turn, command);
            paste(model, turn, rest.as_str());
        }
        _ => typed_into(model, turn, text),
    }
}

/// In a form a tab goes to the next field, as the key does.
fn typed_into(model: &mut Model, turn: &mut UpdateTurn, text: &str) {
    if !matches!(model.dialogs.last(), Some(Dialog::Form(_))) {
        return paste(model, turn, text);
    }
    for (at, part) in text.split('\t').enumerate() {
        if at > 0 {
            super::actions::dialogs::field(model, 1);
        }
        paste(model, turn, part);
    }
}

fn type_key(model: &mut Model, key: Key) {
    let walks = matches!(model.dialogs.last(), Some(Dialog::Pick(pick)) if pick.walks());
    let moves = model.look.keymap.resolve(&[KeyContext::Moving], key).map(|command| command.id);
    match moves.filter(|_| walks) {
        Some("move.down") => return moving::go(model, MoveBy::Rows(1)),
        Some("move.up") => return moving::go(model, MoveBy::Rows(-1)),
        Some(_) | None => {}
    }
    with_field(model, |field| field.key(key));
}
