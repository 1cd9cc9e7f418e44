//! Which contexts hold now: where keys work.

use super::{Dialog, Focus, KeyContext, Model, Screen};

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
