//! What the nodes at work said last: on the rows that the tree leaves free, and on a wide terminal in a pane of its own.

use ratatui::layout::Rect;

use super::pen::Pen;
use crate::console::model::{Model, RunView, Tab, TreeRow};
use crate::console::theme::Role;
use crate::engine::{NodeRun, arguments};
use crate::plan::Node;
use crate::text::{Glyph, Plain};

/// Lines of nodes at work that are shown below the tree.
const LIVE: usize = 6;
/// Lines of one node in the pane at least.
const OF_EACH: usize = 3;

/// What nodes at work said last, at the end of the rows that the tree leaves free. What the card shows is not said again.
pub fn below(model: &Model, view: &RunView, rows: &[TreeRow], pen: &mut Pen<'_>, area: Rect) {
    let run = &view.seen().run;
    let in_card = model.selected_id().filter(|_| model.tab() == Tab::Output);
    let said = rows.iter().filter(|row| Some(&row.node) != in_card).filter_map(|row| {
        let node = run.node(&row.node).filter(|node| node.state.is_at_work())?;
        let of = view.plan().nodes.get(row.index)?;
        let (said, writes) = last(view, of, node)?;
        Some((view.title_of(&of.id), said, writes))
    });
    let room = usize::from(area.height.saturating_sub(1)).min(LIVE);
    let lines: Vec<_> = said.take(room).collect();
    let wide = lines.iter().map(|(title, ..)| title.width()).max().unwrap_or(0).min(usize::from(area.width / 3));
    let top = area.bottom() - u16::try_from(lines.len()).unwrap_or(0);
    let beside = usize::from(area.width.saturating_sub(4)).saturating_sub(wide + 4);
    for (y, (title, line, writes)) in (top..).zip(lines) {
        let pieces = [
            (Plain::line(pen.theme.glyph(Glyph::Running)), Role::Running),
            (Plain::blank(1).then(&title.truncate(wide).pad(wide)).then(&Plain::blank(2)), Role::Text),
            // Of what a model writes, its end is what is new.
            (if writes { tail(&line, beside) } else { line }, Role::Dim),
        ];
        pen.pieces(Rect { x: area.x + 3, y, width: area.width.saturating_sub(4), height: 1 }, &pieces);
    }
}

/// The end of a line, from the start of a word on.
fn tail(line: &Plain, columns: usize) -> Plain {
    let cut = line.truncate_start(columns);
    match cut.as_str().split_once(' ') {
        Some((_, words)) if cut != *line => Plain::line("… ").then(&Plain::line(words)),
        _ => cut,
    }
}

/// The nodes at work one below the other, each with the end of what it said. Since when they work is on their rows of the tree.
pub fn pane(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let Some(view) = model.shown_run().filter(|_| area.width > 4 && area.height > 1) else { return };
    let run = &view.seen().run;
    let at_work: Vec<(&Node, &NodeRun)> = model
        .plan()
        .nodes
        .iter()
        .filter_map(|node| Some((node, run.node(&node.id).filter(|at| at.state.is_at_work() && at.inside.nodes == 0)?)))
        .collect();
    let each = (usize::from(area.height) / at_work.len().max(1)).saturating_sub(2).max(OF_EACH);
    let inside = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let mut y = area.y + 1;
    for (of, node) in at_work {
        if y + 1 >= inside.bottom() {
            break;
        }
        let row = Rect { y, height: 1, ..inside };
        let mark = Plain::line(pen.theme.glyph(Glyph::Running)).then(&Plain::blank(1));
        pen.pieces(row, &[(mark, Role::Running), (view.title_of(&of.id), Role::Text)]);
        let lines = ending(view, of, node, usize::from(inside.width.saturating_sub(2)), each);
        let (newest, older) = lines.split_last().map_or((None, &[][..]), |(newest, older)| (Some(newest), older));
        y += 1;
        for (line, role) in older.iter().map(|line| (line, Role::Dim)).chain(newest.map(|line| (line, Role::Text))) {
            if y >= inside.bottom() {
                break;
            }
            pen.text(inside.x + 2, y, inside.width.saturating_sub(2), line, role);
            y += 1;
        }
        y += 1;
    }
}

/// The last rows of what a node streamed, else what it said last.
fn ending(view: &RunView, of: &Node, node: &NodeRun, columns: usize, most: usize) -> Vec<Plain> {
    let output = view.seen().transcript(&of.id).map(|transcript| transcript.output.lines()).unwrap_or_default();
    let mut rows: Vec<Plain> = Vec::new();
    for line in output.iter().rev().filter(|line| !line.as_str().trim().is_empty()).take(most) {
        rows.splice(0..0, line.wrap(columns));
    }
    if rows.is_empty() {
        rows.extend(last(view, of, node).map(|(line, _)| line));
    }
    rows.split_off(rows.len().saturating_sub(most))
}

/// What a node said last, and whether a model writes it.
fn last(view: &RunView, of: &Node, node: &NodeRun) -> Option<(Plain, bool)> {
    let output = || view.seen().transcript(&of.id)?.last_line().filter(|line| !line.is_empty()).cloned();
    // What a tool writes says more than that it was called.
    let is_tool = of.kind.tool().is_some();
    let said = if is_tool { output().or_else(|| calls(node)) } else { calls(node).or_else(output) };
    Some((said?, !is_tool && calls(node).is_none()))
}

/// The tool that a node uses right now.
fn calls(node: &NodeRun) -> Option<Plain> {
    let (call, _) = node.lineage.tools.iter().rfind(|(_, report)| report.is_none())?;
    Some(Plain::line("calls ").then(&Plain::summary(&call.tool)).then(&Plain::blank(2)).then(&arguments(&call.args)))
}
