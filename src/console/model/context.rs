//! Which contexts hold now: where keys work.

use super::KeyContext::{Always, Deps, Filter, Global, Inspector, LogFilter, Moving, Request, Tree};
use super::{Dialog, Focus, KeyContext, Model, Screen};

/// Contexts that hold now, innermost first.
pub fn contexts(model: &Model) -> Vec<KeyContext> {
    if let Some(dialog) = model.dialogs.last() {
        let moves = !dialog.types() && !matches!(dialog, Dialog::Confirm(_));
        return [Some(dialog.context()), moves.then_some(Moving), Some(Always)].into_iter().flatten().collect();
    }
    // What is looked at as it was comes before all that changes it.
    let replay = model.replay().map(|_| KeyContext::Replay);
    let run = model.shown_run().map(|_| KeyContext::Run);
    // A key that decides means nothing else on any screen of a run, also where it may not decide.
    let gate = model.card_gate().is_some().then_some(KeyContext::Gate);
    let draft = model.selected_draft().filter(|_| gate.is_some()).map(|_| KeyContext::Draft);
    let decide = run.map(|_| KeyContext::Decide);
    let around = |inner: &[KeyContext], outer: &[KeyContext]| {
        let outer = outer.iter().copied().chain([Moving, Global, Always]);
        draft.into_iter().chain(gate).chain(decide).chain(inner.iter().copied()).chain(replay).chain(run).chain(outer).collect()
    };
    let list = |context| vec![context, Moving, Global, Always];
    match (model.place.screen, model.place.focus) {
        (Screen::Inbox, _) => {
            draft.into_iter().chain([KeyContext::Gate, KeyContext::Decide, KeyContext::Inbox, Moving, Global, Always]).collect()
        }
        (Screen::Compare, _) => list(KeyContext::Compare),
        (Screen::Runs, _) => list(KeyContext::Runs),
        (Screen::Inventory, _) => list(KeyContext::Inventory),
        (Screen::Stats, _) => list(KeyContext::Stats),
        (Screen::Versus, _) => list(KeyContext::Versus),
        (Screen::Log, Focus::Filter) => vec![LogFilter, Always],
        (Screen::Log, _) => around(&[KeyContext::Log], &[]),
        (Screen::Timeline, _) => around(&[KeyContext::Timeline], &[]),
        (Screen::Trace, _) => around(&[KeyContext::Trace], &[]),
        (Screen::Cost, _) => around(&[KeyContext::Cost], &[]),
        (Screen::Plan, Focus::Request) if replay.is_none() && model.at_start() => vec![Request, KeyContext::StartRows, Always],
        (Screen::Plan, Focus::Request) if replay.is_none() => vec![Request, Always],
        (Screen::Plan, Focus::Filter) => vec![Filter, Always],
        (Screen::Plan, _) if model.deps_target().is_some() => vec![Deps, Moving, Always],
        (Screen::Plan | Screen::Graph, Focus::Inspector) => around(&[], &[Inspector, KeyContext::Plan]),
        // A replay has the same keys as beside the tree.
        (Screen::Graph, _) if replay.is_some() => around(&[], &[KeyContext::Graph, Tree, KeyContext::Plan]),
        (Screen::Graph, _) => around(&[KeyContext::Graph], &[Tree, KeyContext::Plan]),
        (Screen::Plan, Focus::Tree | Focus::Request) if model.tree().searches() && replay.is_none() => {
            around(&[KeyContext::Found], &[Tree, KeyContext::Plan])
        }
        (Screen::Plan, Focus::Tree | Focus::Request) if model.at_start() => {
            around(&[KeyContext::Start, KeyContext::StartRows], &[Tree, KeyContext::Plan])
        }
        (Screen::Plan, Focus::Tree | Focus::Request) => around(&[], &[Tree, KeyContext::Plan]),
    }
}
