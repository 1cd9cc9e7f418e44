//! Why a node isn't running: the whole of what it waits for, as it is now, with ways to each of those that hold it up.

use super::super::UpdateTurn;
use crate::console::model::{Dialog, GateKey, ListOf, Model, Screen, Scroll, Tab};
use crate::engine::{Blocker, Obstacle};

/// Opens the list for the selected node.
pub fn open(model: &mut Model, _: &mut UpdateTurn) {
    if let Some(node) = model.selected_id().cloned() {
        model.dialogs.push(Dialog::List { of: ListOf::Why(node), selected: 0 });
    }
}

fn selected(model: &Model) -> Option<Blocker> {
    let Some(Dialog::List { selected, .. }) = model.dialogs.last() else { return None };
    let links = model.blockers();
    links.get((*selected).min(links.len().saturating_sub(1))).cloned()
}

/// To the node that is in the way; where it waits for an answer, to its gate.
pub fn go(model: &mut Model, turn: &mut UpdateTurn) {
    let Some(link) = selected(model) else { return };
    model.dialogs.pop();
    if !matches!(model.place.screen, Screen::Plan | Screen::Graph) {
        model.place.screen = Screen::Plan;
    }
    model.reveal(&link.node);
    (model.inspector.run_tab, model.inspector.scroll) = (Tab::Output, Scroll::Start);
    if let (Obstacle::Gate { gate }, Some(view)) = (link.obstacle, model.shown_run().filter(|view| view.replay().is_none())) {
        let key = GateKey { run: view.id.clone(), gate };
        super::app::inbox_screen(model, turn);
        model.inbox.select(Some(key));
    }
}
