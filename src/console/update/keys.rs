//! From a key to the command it means here, or to the text field that takes it.

use super::{UpdateTurn, verbs};
use crate::console::{
    commands::{self, ConsoleCommand, KeyContext},
    keymap::Key,
    model::{Dialog, Focus, Model, Screen, Status},
};

/// Contexts that hold now, innermost first.
pub fn contexts(model: &Model) -> Vec<KeyContext> {
    if let Some(dialog) = model.dialogs.last() {
        return match dialog {
            Dialog::Pick(_) => vec![KeyContext::Pick, KeyContext::Always],
            Dialog::Line(_) => vec![KeyContext::Line, KeyContext::Always],
            Dialog::Editor(_) => vec![KeyContext::Editor, KeyContext::Always],
            Dialog::Form(_) => vec![KeyContext::Form, KeyContext::Always],
            Dialog::Act(_) => vec![KeyContext::Act, KeyContext::Moving, KeyContext::Always],
            Dialog::Breaks { .. } => vec![KeyContext::Breaks, KeyContext::Moving, KeyContext::Always],
            Dialog::Why { .. } => vec![KeyContext::Why, KeyContext::Moving, KeyContext::Always],
            Dialog::Confirm(_) => vec![KeyContext::Confirm, KeyContext::Always],
            Dialog::Findings { .. } => vec![KeyContext::Findings, KeyContext::Moving, KeyContext::Always],
            Dialog::Reader(_) => vec![KeyContext::Reader, KeyContext::Moving, KeyContext::Always],
        };
    }
    match (model.place.screen, model.place.focus) {
        (Screen::Inbox, _) => vec![KeyContext::Inbox, KeyContext::Moving, KeyContext::Global, KeyContext::Always],
        (Screen::Compare, _) => vec![KeyContext::Compare, KeyContext::Moving, KeyContext::Global, KeyContext::Always],
        (Screen::Runs, _) => vec![KeyContext::Runs, KeyContext::Moving, KeyContext::Global, KeyContext::Always],
        (Screen::Log, Focus::Filter) => vec![KeyContext::LogFilter, KeyContext::Always],
        (Screen::Log, _) => of_a_run(model, &[KeyContext::Log], &[KeyContext::Moving, KeyContext::Global, KeyContext::Always]),
        (Screen::Versus, _) => vec![KeyContext::Versus, KeyContext::Moving, KeyContext::Global, KeyContext::Always],
        (Screen::Timeline, _) => of_a_run(model, &[KeyContext::Timeline], &[KeyContext::Moving, KeyContext::Global, KeyContext::Always]),
        (Screen::Trace, _) => of_a_run(model, &[KeyContext::Trace], &[KeyContext::Moving, KeyContext::Global, KeyContext::Always]),
        (Screen::Graph, Focus::Inspector) => of_a_run(model, &[], INSPECTOR),
        // What is looked at as it was is replayed by the same keys as beside the tree.
        (Screen::Graph, _) if model.replay().is_some() => of_a_run(model, &[], GRAPH),
        (Screen::Graph, _) => of_a_run(model, &[KeyContext::Graph], TREE),
        (Screen::Plan, Focus::Request) if model.replay().is_none() => vec![KeyContext::Request, KeyContext::Always],
        (Screen::Plan, Focus::Filter) => vec![KeyContext::Filter, KeyContext::Always],
        (Screen::Plan, _) if model.deps_target().is_some() => vec![KeyContext::Deps, KeyContext::Moving, KeyContext::Always],
        (Screen::Plan, Focus::Inspector) => of_a_run(model, &[], INSPECTOR),
        (Screen::Plan, Focus::Tree | Focus::Request) => of_a_run(model, &[], TREE),
    }
}

const INSPECTOR: &[KeyContext] = &[KeyContext::Inspector, KeyContext::Plan, KeyContext::Moving, KeyContext::Global, KeyContext::Always];
const GRAPH: &[KeyContext] =
    &[KeyContext::Graph, KeyContext::Tree, KeyContext::Plan, KeyContext::Moving, KeyContext::Global, KeyContext::Always];
const TREE: &[KeyContext] = &[KeyContext::Tree, KeyContext::Plan, KeyContext::Moving, KeyContext::Global, KeyContext::Always];

/// Contexts with those of a run between them, where one is shown; what is looked at as it was comes before all that changes it.
fn of_a_run(model: &Model, inner: &[KeyContext], outer: &[KeyContext]) -> Vec<KeyContext> {
    let replay = model.replay().map(|_| KeyContext::Replay);
    let run = model.shown_run().map(|_| KeyContext::Run);
    inner.iter().copied().chain(replay).chain(run).chain(outer.iter().copied()).collect()
}

/// A key came.
pub fn key(model: &mut Model, turn: &mut UpdateTurn, key: Key) {
    model.safety.key(turn.now);
    turn.key = Some(key);
    model.status = None;
    let asked = model.inbox.asked.take();
    match model.look.keymap.resolve(&contexts(model), key) {
        Some(command) => {
            if command.context == KeyContext::Inbox {
                model.inbox.asked = asked;
            }
            run(model, turn, command);
        }
        None if model.types() => type_key(model, key),
        None if model.dialogs.is_empty() => model.status = elsewhere(model, key).map(|words| Status::note(&words)),
        None => {}
    }
}

/// Where a key works that means nothing here.
fn elsewhere(model: &Model, key: Key) -> Option<String> {
    let mut places: Vec<String> = Vec::new();
    for command in commands::all().filter(|command| model.look.keymap.keys_of(command.id).contains(&key)) {
        let Some(place) = command.context.place() else { continue };
        let words = format!("{place} ({})", command.in_hints());
        if !places.contains(&words) {
            places.push(words);
        }
    }
    (!places.is_empty()).then(|| format!("nothing here: {key} works {}", places.join(", ")))
}

/// Runs a command, or says why it can't be run now.
pub fn run(model: &mut Model, turn: &mut UpdateTurn, command: &ConsoleCommand) {
    let selected = model.selected_id().cloned();
    match (command.guard)(model) {
        Ok(()) => (command.run)(model, turn),
        Err(reason) => model.status = Some(Status::warn(&format!("{}: {reason}", command.title))),
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
        let new = model.look.keymap.hint("request.focus").unwrap_or_default();
        model.status = Some(Status::warn(&format!("nothing takes text here: press {new} for a new request, then paste")));
        return;
    }
    with_field(model, |field| field.paste(text));
}

fn type_key(model: &mut Model, key: Key) {
    with_field(model, |field| field.key(key));
}

/// Changes the text field with the focus, and what follows from its text.
pub(super) fn with_field(model: &mut Model, change: impl FnOnce(&mut crate::console::model::TextField)) {
    if let Some(dialog) = model.dialogs.last_mut() {
        if let Some(field) = dialog.field() {
            change(field);
        }
        if let Dialog::Pick(pick) = dialog {
            pick.search();
        }
        return;
    }
    match model.place.focus {
        Focus::Request => change(&mut model.request.field),
        Focus::Filter if model.place.screen == Screen::Log => {
            if let Some(view) = model.shown_run_mut() {
                change(&mut view.log.filter);
                view.filter_log();
            }
        }
        Focus::Filter => model.with_tree(|tree, plan| {
            change(&mut tree.filter);
            tree.rebuild(plan);
        }),
        Focus::Tree | Focus::Inspector => {}
    }
    verbs::inspector::follow(model);
}
