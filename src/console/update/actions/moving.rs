//! Moving through whatever has the focus.

use super::{gates, graph, inspector, origins};
use crate::console::model::{Dialog, Focus, HelpDialog, ListOf, Model, MoveBy, Reading, Screen, docs, preview};
use crate::plan::drawing::GraphMove;

/// Layers of the graph that a page is.
const PAGE_OF_LAYERS: isize = 3;
/// Lines by which the other pane scrolls.
const LINES: isize = 3;

/// Scrolls the other pane down, or up; where there is none, moves on by so much.
pub fn detail(model: &mut Model, steps: isize) {
    let by = steps * LINES;
    if !model.dialogs.is_empty() {
        return go(model, MoveBy::Rows(by));
    }
    let len = match model.place.screen {
        Screen::Plan | Screen::Graph => return inspector::scroll(model, by),
        Screen::Timeline => return go(model, MoveBy::Rows(by)),
        Screen::Inbox => return gates::scroll(model, MoveBy::Rows(by)),
        Screen::Runs => model.runs.selected().map_or(0, |run| preview(run, model.runs.peeked.of(&run.run)).len()),
        Screen::Inventory => docs::inventory(model.session.inventory.selected()).len(),
        Screen::Stats => docs::stats(&model.session.stats).len(),
        Screen::Compare => docs::compare(model).len(),
        Screen::Log => docs::selected_event(model).len(),
        Screen::Cost => model.shown_run().map_or(0, |view| docs::cost_of(view).len()),
        Screen::Trace => model.trace().zip(model.shown_run()).map_or(0, |(trace, run)| docs::traced(trace, run).len()),
        Screen::Versus => model.runs.versus.as_mut().map_or(0, |versus| versus.look(docs::versus).len()),
    };
    let last = len.saturating_sub(model.layout().detail_rows() / 2).max(1);
    let scroll = match model.place.screen {
        Screen::Log => model.shown_run_mut().map(|view| &mut view.log.place.scroll),
        _ => model.list_mut().map(|(place, _)| &mut place.scroll),
    };
    if let Some(scroll) = scroll {
        *scroll = MoveBy::Rows(by).from(*scroll, last);
    }
}

/// Pages down, or up: half a screen of what has the focus, so that the eye keeps some of it.
pub fn page(model: &mut Model, pages: isize) {
    let layout = model.layout();
    let rows = match (model.dialogs.last(), model.place.screen, model.place.focus) {
        (Some(Dialog::Pick(_)), _, _) => usize::from((model.place.size.1 * 2 / 3).max(12).saturating_sub(6)),
        (Some(_), _, _) => usize::from(model.place.size.1.saturating_sub(2)),
        (None, Screen::Graph, Focus::Tree) => return go(model, MoveBy::Rows(pages * PAGE_OF_LAYERS)),
        (None, Screen::Plan | Screen::Graph, Focus::Inspector) => layout.detail_rows(),
        (None, _, _) => layout.list_rows(),
    };
    go(model, MoveBy::Rows(pages * isize::try_from(rows / 2).unwrap_or(1).max(1)));
}

/// Moves through the topmost dialog, else through the pane that has the focus.
pub fn go(model: &mut Model, by: MoveBy) {
    let Some(dialog) = model.dialogs.last() else { return screen(model, by) };
    let len = match dialog {
        Dialog::List { of, .. } => listed(model, of),
        Dialog::Act(proposal) => docs::proposal(model, proposal).len(),
        Dialog::Reader(reader) => reading_len(model, &reader.what),
        Dialog::Help(help) => help.pages(HelpDialog::room(model.place.size)).len(),
        Dialog::Pick(pick) => pick.lines(),
        Dialog::Line(_) | Dialog::Editor(_) | Dialog::Form(_) | Dialog::Confirm(_) => return,
    };
    if let Some(at) = model.dialogs.last_mut().and_then(Dialog::at) {
        *at = by.from(*at, len);
    }
}

fn listed(model: &Model, of: &ListOf) -> usize {
    match of {
        ListOf::Findings => model.editor.findings().len(),
        ListOf::Breaks => model.shown_run().map_or(0, |view| view.newest().run.breakpoints().count()),
        ListOf::Why(_) => model.blockers().len(),
    }
}

fn screen(model: &mut Model, by: MoveBy) {
    match model.place.screen {
        Screen::Runs | Screen::Inventory | Screen::Compare | Screen::Versus | Screen::Trace | Screen::Cost => {
            if let Some((place, len)) = model.list_mut() {
                place.select(by.from(place.selected, len), len);
            }
        }
        Screen::Timeline => origins::step(model, |at, len| by.from(at, len)),
        Screen::Stats => model.session.stats.go(|at, len| by.from(at, len)),
        Screen::Log => {
            if let Some(view) = model.shown_run_mut() {
                let len = view.log.len();
                let to = by.from(view.log.place.selected, len);
                view.log.select(to);
                // Leaving the end ends following it; going there follows it again.
                view.log.follow = to + 1 == len && view.replay().is_none();
            }
        }
        Screen::Inbox => match by {
            MoveBy::Rows(by) => model.inbox.step(by),
            MoveBy::Top | MoveBy::Bottom => gates::scroll(model, by),
        },
        Screen::Graph if model.place.focus != Focus::Inspector => match by {
            MoveBy::Rows(by) => {
                let step = if by < 0 { GraphMove::Up } else { GraphMove::Down };
                (0..by.unsigned_abs()).for_each(|_| graph::step(model, step));
            }
            MoveBy::Top => graph::end(model, true),
            MoveBy::Bottom => graph::end(model, false),
        },
        Screen::Plan | Screen::Graph if model.place.focus == Focus::Inspector => inspector::go(model, by),
        Screen::Plan if model.at_start() => {
            let latest = &mut model.runs.latest;
            latest.selected = by.from(latest.selected, latest.count());
        }
        Screen::Plan | Screen::Graph => model.with_tree(|tree, _| tree.select(by.from(tree.selected(), tree.rows().len()))),
    }
}

/// Places to begin reading at: from the first line to the one from which the end is in sight.
fn reading_len(model: &Model, what: &Reading) -> usize {
    let (width, height) = (usize::from(model.place.size.0), usize::from(model.place.size.1.saturating_sub(1)));
    match what {
        Reading::Words { lines, .. } => lines.len(),
        Reading::Inspector => docs::inspector(model).last_page(width, height) + 1,
        Reading::Gate => model.inbox.selected_doc().map_or(0, |doc| doc.doc.last_page(width, height) + 1),
    }
}
