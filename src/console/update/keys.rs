//! From a key to the command it means here, or to the text field that takes it.

use super::{Turn, verbs};
use crate::console::{
    commands::{self, Command, Context},
    keymap::Key,
    model::{Dialog, Focus, Model, Screen, Status},
};

/// Contexts that hold now, innermost first.
pub fn contexts(model: &Model) -> Vec<Context> {
    if let Some(dialog) = model.dialogs.last() {
        return match dialog {
            Dialog::Pick(_) => vec![Context::Pick, Context::Always],
            Dialog::Line(_) => vec![Context::Line, Context::Always],
            Dialog::Editor(_) => vec![Context::Editor, Context::Always],
            Dialog::Form(_) => vec![Context::Form, Context::Always],
            Dialog::Act(_) => vec![Context::Act, Context::Moving, Context::Always],
            Dialog::Breaks { .. } => vec![Context::Breaks, Context::Moving, Context::Always],
            Dialog::Why { .. } => vec![Context::Why, Context::Moving, Context::Always],
            Dialog::Confirm(_) => vec![Context::Confirm, Context::Always],
            Dialog::Findings { .. } => vec![Context::Findings, Context::Moving, Context::Always],
            Dialog::Reader(_) => vec![Context::Reader, Context::Moving, Context::Always],
        };
    }
    match (model.place.screen, model.place.focus) {
        (Screen::Inbox, _) => vec![Context::Inbox, Context::Moving, Context::Global, Context::Always],
        (Screen::Compare, _) => vec![Context::Compare, Context::Moving, Context::Global, Context::Always],
        (Screen::Runs, _) => vec![Context::Runs, Context::Moving, Context::Global, Context::Always],
        (Screen::Log, Focus::Filter) => vec![Context::LogFilter, Context::Always],
        (Screen::Log, _) => of_a_run(model, &[Context::Log], &[Context::Moving, Context::Global, Context::Always]),
        (Screen::Versus, _) => vec![Context::Versus, Context::Moving, Context::Global, Context::Always],
        (Screen::Timeline, _) => of_a_run(model, &[Context::Timeline], &[Context::Moving, Context::Global, Context::Always]),
        (Screen::Trace, _) => of_a_run(model, &[Context::Trace], &[Context::Moving, Context::Global, Context::Always]),
        (Screen::Graph, Focus::Inspector) => of_a_run(model, &[], INSPECTOR),
        // What is looked at as it was is replayed by the same keys as beside the tree.
        (Screen::Graph, _) if model.replay().is_some() => of_a_run(model, &[], GRAPH),
        (Screen::Graph, _) => of_a_run(model, &[Context::Graph], TREE),
        (Screen::Plan, Focus::Request) if model.replay().is_none() => vec![Context::Request, Context::Always],
        (Screen::Plan, Focus::Filter) => vec![Context::Filter, Context::Always],
        (Screen::Plan, _) if model.deps_target().is_some() => vec![Context::Deps, Context::Moving, Context::Always],
        (Screen::Plan, Focus::Inspector) => of_a_run(model, &[], INSPECTOR),
        (Screen::Plan, Focus::Tree | Focus::Request) => of_a_run(model, &[], TREE),
    }
}

const INSPECTOR: &[Context] = &[Context::Inspector, Context::Plan, Context::Moving, Context::Global, Context::Always];
const GRAPH: &[Context] = &[Context::Graph, Context::Tree, Context::Plan, Context::Moving, Context::Global, Context::Always];
const TREE: &[Context] = &[Context::Tree, Context::Plan, Context::Moving, Context::Global, Context::Always];

/// Contexts with those of a run between them, where one is shown; what is looked at as it was comes before all that changes it.
fn of_a_run(model: &Model, inner: &[Context], outer: &[Context]) -> Vec<Context> {
    let replay = model.replay().map(|_| Context::Replay);
    let run = model.shown_run().map(|_| Context::Run);
    inner.iter().copied().chain(replay).chain(run).chain(outer.iter().copied()).collect()
}

/// A key came.
pub fn key(model: &mut Model, turn: &mut Turn, key: Key) {
    model.safety.key(turn.now);
    turn.key = Some(key);
    model.status = None;
    let asked = model.inbox.asked.take();
    match model.look.keymap.resolve(&contexts(model), key) {
        Some(command) => {
            if command.context == Context::Inbox {
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
pub fn run(model: &mut Model, turn: &mut Turn, command: &Command) {
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
pub fn paste(model: &mut Model, turn: &mut Turn, text: &str) {
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
