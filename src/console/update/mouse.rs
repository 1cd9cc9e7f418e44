//! The mouse: a click selects the row under it, the wheel scrolls what is under it. Neither replies to a gate, runs a command or answers a
//! question.

use ratatui::layout::{Position, Rect};

use super::{
    UpdateTurn,
    actions::{graph, moving, origins},
};
use crate::console::model::{Focus, Model, MoveBy, Screen, Scroll};
use crate::console::term::MouseAct;

/// Rows of the timeline and of two runs above their first entry, besides the title.
const AXIS: u16 = 1;

/// Takes in what the mouse did.
pub fn mouse(model: &mut Model, turn: &UpdateTurn, what: MouseAct, (x, y): (u16, u16)) {
    // As with a key: no reply is on its way while a hand moves, and a question that waits for the same key again is withdrawn.
    model.safety.key(turn.now);
    (model.status, model.inbox.asked) = (None, None);
    let (layout, at) = (model.layout(), Position { x, y });
    let steps = match what {
        MouseAct::Click if model.dialogs.is_empty() => return click(model, layout.list, layout.detail, at),
        MouseAct::Click => return,
        MouseAct::WheelUp => -1,
        MouseAct::WheelDown => 1,
    };
    if model.dialogs.is_empty() && layout.detail.contains(at) {
        return moving::detail(model, steps);
    }
    let focus = std::mem::replace(&mut model.place.focus, Focus::Tree);
    moving::go(model, MoveBy::Rows(steps));
    model.place.focus = focus;
    model.select_card_gate();
}

fn click(model: &mut Model, list: Rect, detail: Rect, at: Position) {
    if detail.contains(at) && matches!(model.place.screen, Screen::Plan | Screen::Graph) {
        return model.place.focus = Focus::Inspector;
    }
    if !list.contains(at) || model.tree().rows().is_empty() && model.place.screen == Screen::Plan {
        return;
    }
    let above = match model.place.screen {
        Screen::Stats => 1,
        Screen::Timeline | Screen::Versus => 1 + AXIS,
        Screen::Plan
        | Screen::Graph
        | Screen::Inbox
        | Screen::Runs
        | Screen::Inventory
        | Screen::Compare
        | Screen::Log
        | Screen::Trace
        | Screen::Cost => 1,
    };
    let Some(row) = (at.y - list.y).checked_sub(above).map(usize::from) else { return };
    model.place.focus = Focus::Tree;
    match model.place.screen {
        Screen::Plan => {
            let row = model.tree().top() + row;
            if row < model.tree().rows().len() {
                model.with_tree(|tree, _| tree.select(row));
                model.inspector.scroll = Scroll::Start;
                model.select_card_gate();
            }
        }
        Screen::Graph => {
            let place = (at.x - list.x, at.y - list.y - above);
            if let Some(node) = model.tree().drawing.at(place, list.width).cloned() {
                graph::select(model, &node);
                model.select_card_gate();
            }
        }
        Screen::Inbox => {
            let row = model.inbox.top + row;
            if row < model.inbox.gates.len() {
                model.inbox.select_at(row);
            }
        }
        Screen::Log => {
            if let Some(view) = model.shown_run_mut() {
                let row = view.log.place.top + row;
                if row < view.log.len() {
                    view.log.select(row);
                    view.log.follow = false;
                }
            }
        }
        Screen::Stats => {
            let row = model.session.stats.place.top + row;
            model.session.stats.go(|at, len| if row < len { row } else { at });
        }
        Screen::Timeline => {
            let row = model.place.first_bar + row;
            origins::step(model, |at, len| if row < len { row } else { at });
        }
        Screen::Runs | Screen::Inventory | Screen::Compare | Screen::Versus | Screen::Trace | Screen::Cost => {
            if let Some((place, len)) = model.list_mut()
                && place.top + row < len
            {
                place.select(place.top + row, len);
            }
        }
    }
}
