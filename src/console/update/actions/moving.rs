//! Moving through whatever has the focus.

use super::{super::UpdateTurn, graph, inspector, origins};
use crate::console::model::{Dialog, Focus, Model, Reading, Screen, docs};
use crate::plan::drawing::GraphMove;

/// Layers of the graph that a page is.
const PAGE_OF_LAYERS: isize = 3;

/// How far.
#[derive(Clone, Copy)]
enum MoveBy {
    Rows(isize),
    Top,
    Bottom,
}

/// One down.
pub fn down(model: &mut Model, _: &mut UpdateTurn) {
    go(model, MoveBy::Rows(1));
}

/// One up.
pub fn up(model: &mut Model, _: &mut UpdateTurn) {
    go(model, MoveBy::Rows(-1));
}

/// A page down.
pub fn page_down(model: &mut Model, _: &mut UpdateTurn) {
    let page = page(model);
    go(model, MoveBy::Rows(page));
}

/// A page up.
pub fn page_up(model: &mut Model, _: &mut UpdateTurn) {
    let page = page(model);
    go(model, MoveBy::Rows(-page));
}

/// To the start.
pub fn top(model: &mut Model, _: &mut UpdateTurn) {
    go(model, MoveBy::Top);
}

/// To the end.
pub fn bottom(model: &mut Model, _: &mut UpdateTurn) {
    go(model, MoveBy::Bottom);
}

/// Scrolls the other pane down.
pub fn detail_down(model: &mut Model, _: &mut UpdateTurn) {
    detail(model, 1);
}

/// Scrolls the other pane up.
pub fn detail_up(model: &mut Model, _: &mut UpdateTurn) {
    detail(model, -1);
}

fn detail(model: &mut Model, by: isize) {
    match (model.dialogs.is_empty(), model.place.screen) {
        (true, Screen::Plan | Screen::Graph) => inspector::scroll(model, by * 3),
        (true, Screen::Inbox) => payload(model, MoveBy::Rows(by * 3)),
        (true, Screen::Compare) => difference(model, by * 3),
        (true, Screen::Log) => event(model, by * 3),
        (true, Screen::Trace) => behind(model, by * 3),
        (true, Screen::Versus) => {
            if let Some(versus) = &mut model.runs.versus {
                let lines = versus.look().len();
                versus.scroll = moved(versus.scroll, lines, MoveBy::Rows(by * 3));
            }
        }
        (true, Screen::Runs | Screen::Timeline) | (false, _) => go(model, MoveBy::Rows(by * 3)),
    }
}

/// Half a screen of what has the focus, so that the eye keeps some of it.
fn page(model: &Model) -> isize {
    let layout = model.layout();
    let rows = match (model.dialogs.last(), model.place.screen, model.place.focus) {
        (Some(_), _, _) => usize::from(model.place.size.1.saturating_sub(2)),
        (None, Screen::Graph, Focus::Tree) => return PAGE_OF_LAYERS,
        (None, Screen::Plan | Screen::Graph, Focus::Inspector) => layout.detail_rows(),
        (None, _, _) => layout.list_rows(),
    };
    isize::try_from(rows / 2).unwrap_or(1).max(1)
}

fn go(model: &mut Model, by: MoveBy) {
    let findings = model.editor.findings().len();
    let links = model.blockers().len();
    let breaks = model.shown_run().map_or(0, |view| view.newest().run.breakpoints().count());
    let read = match model.dialogs.last() {
        Some(Dialog::Reader(reader)) => reading_len(model, &reader.what),
        _ => 0,
    };
    match model.dialogs.last_mut() {
        Some(Dialog::Findings { selected }) => *selected = moved(*selected, findings, by),
        Some(Dialog::Breaks { selected }) => *selected = moved(*selected, breaks, by),
        Some(Dialog::Why { selected, .. }) => *selected = moved(*selected, links, by),
        Some(Dialog::Act(proposal)) => proposal.scroll = moved(proposal.scroll, docs::proposal(proposal).len(), by),
        Some(Dialog::Reader(reader)) => reader.scroll = moved(reader.scroll, read, by),
        Some(Dialog::Pick(pick)) => pick.selected = moved(pick.selected, pick.shown.len(), by),
        Some(Dialog::Line(_) | Dialog::Editor(_) | Dialog::Form(_) | Dialog::Confirm(_)) => {}
        None => screen(model, by),
    }
}

fn screen(model: &mut Model, by: MoveBy) {
    match model.place.screen {
        Screen::Runs => model.runs.selected = moved(model.runs.selected, model.runs.listing.len(), by),
        Screen::Compare => {
            let compare = &mut model.editor.compare;
            let selected = moved(compare.selected, compare.differences().len(), by);
            if selected != compare.selected {
                (compare.selected, compare.scroll) = (selected, 0);
            }
        }
        Screen::Versus => {
            if let Some(versus) = &mut model.runs.versus {
                versus.selected = moved(versus.selected, versus.len(), by);
                versus.scroll = 0;
            }
        }
        Screen::Timeline => origins::step(model, |at, len| moved(at, len, by)),
        Screen::Trace => {
            if let Some(trace) = model.shown_run_mut().and_then(|view| view.trace.as_mut()) {
                trace.selected = moved(trace.selected, trace.lines().len(), by);
                trace.scroll = 0;
            }
        }
        Screen::Log => {
            if let Some(view) = model.shown_run_mut() {
                let (at, len) = (view.log.selected(), view.log.len());
                let to = moved(at, len, by);
                view.log.select(to);
                // Leaving the end lets it go; going there follows it again.
                view.log.follow = to + 1 == len && view.replay().is_none();
            }
        }
        Screen::Inbox => match by {
            MoveBy::Rows(by) => model.inbox.step(by),
            MoveBy::Top => model.inbox.select_at(0),
            MoveBy::Bottom => model.inbox.select_at(usize::MAX),
        },
        Screen::Graph if model.place.focus != Focus::Inspector => match by {
            MoveBy::Rows(by) => {
                let step = if by < 0 { GraphMove::Up } else { GraphMove::Down };
                (0..by.unsigned_abs()).for_each(|_| graph::step(model, step));
            }
            MoveBy::Top => graph::end(model, true),
            MoveBy::Bottom => graph::end(model, false),
        },
        Screen::Plan | Screen::Graph => match (model.place.focus, by) {
            (Focus::Inspector, MoveBy::Rows(by)) => inspector::scroll(model, by),
            (Focus::Inspector, MoveBy::Top) => inspector::top(model),
            (Focus::Inspector, MoveBy::Bottom) => inspector::bottom(model),
            (Focus::Tree | Focus::Filter | Focus::Request, by) => model.with_tree(|tree, _| {
                let to = moved(tree.selected(), tree.rows().len(), by);
                tree.select(to);
            }),
        },
    }
}

fn difference(model: &mut Model, by: isize) {
    let last = docs::compare(model).len().saturating_sub(model.layout().detail_rows() / 2).max(1);
    model.editor.compare.scroll = moved(model.editor.compare.scroll, last, MoveBy::Rows(by));
}

fn behind(model: &mut Model, by: isize) {
    if let Some(trace) = model.shown_run_mut().and_then(|view| view.trace.as_mut()) {
        trace.scroll = moved(trace.scroll, docs::traced(trace).len(), MoveBy::Rows(by));
    }
}

fn event(model: &mut Model, by: isize) {
    let rows = model.layout().detail_rows();
    let len = docs::selected_event(model).len();
    if let Some(view) = model.shown_run_mut() {
        view.log.scroll = moved(view.log.scroll, len.saturating_sub(rows / 2).max(1), MoveBy::Rows(by));
    }
}

fn payload(model: &mut Model, by: MoveBy) {
    let len = model.inbox.selected.as_ref().and_then(|key| model.inbox.doc(key)).map_or(0, |doc| doc.doc.len());
    let last = len.saturating_sub(model.layout().detail_rows() / 2);
    model.inbox.scroll = moved(model.inbox.scroll, last.max(1), by);
}

/// Places to begin reading at: from the first line to the one from which the end is in sight.
fn reading_len(model: &Model, what: &Reading) -> usize {
    let (width, height) = (usize::from(model.place.size.0), usize::from(model.place.size.1));
    match what {
        Reading::Help { lines, .. } => lines.len(),
        Reading::Inspector => docs::inspector(model).last_page(width, height.saturating_sub(1)) + 1,
        Reading::Gate => {
            let doc = model.inbox.selected.as_ref().and_then(|key| model.inbox.doc(key));
            doc.map_or(0, |doc| doc.doc.last_page(width, height.saturating_sub(1)) + 1)
        }
        Reading::Words { lines, .. } => lines.len(),
    }
}

fn moved(at: usize, len: usize, by: MoveBy) -> usize {
    let last = len.saturating_sub(1);
    match by {
        MoveBy::Rows(by) => at.saturating_add_signed(by).min(last),
        MoveBy::Top => 0,
        MoveBy::Bottom => last,
    }
}
