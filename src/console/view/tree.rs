//! The tree: one row for each node in sight. Which node is selected, what is searched and what works right now stand around the rows.

use std::cmp::Ordering;

use ratatui::layout::Rect;

use super::pen::{Pen, Shown};
use super::row::{Columns, RowDrawing};
use super::{empty, live, request, sentence};
use crate::console::model::{Focus, Model, RunView, StopKind};
use crate::console::theme::Role;
use crate::engine::{GateId, Time};
use crate::plan::tree::Orientation;
use crate::text::{Glyph, Plain, counted};

/// Draws the tree below its title.
pub fn draw(model: &Model, now: Time, pen: &mut Pen<'_>, area: Rect, shown: &mut Shown) {
    if area.width == 0 || area.height < 2 {
        return;
    }
    if area.height == 2 && model.reads_output() {
        return folded(model, pen, area);
    }
    let focused = matches!(model.place.focus, Focus::Tree | Focus::Filter) && model.dialogs.is_empty();
    title(model, pen, area, shown);
    let inside = Rect { y: area.y + 1, height: area.height - 1, ..area };
    let tree = model.tree();
    if model.plan().nodes.is_empty() {
        return empty::draw(model, now, pen, inside);
    }
    let columns = Columns::of(model, now, inside.width);
    let target = model.deps_target().and_then(|target| tree.graph().position(target));
    let needs: Vec<usize> = target.map(|target| tree.graph().predecessors(target).collect()).unwrap_or_default();
    let after = target.map(|target| tree.graph().descendants(target)).unwrap_or_default();
    pen.list(inside, (tree.top(), tree.rows().len()), Some(tree.selected()), focused, |pen, at, line| {
        let row = &tree.rows()[at];
        if let Some(node) = model.plan().nodes.get(row.index) {
            RowDrawing { model, now, row, node, columns, needs: &needs, after: &after }.draw(pen, line);
        }
    });
    let used = u16::try_from(tree.rows().len().saturating_sub(tree.top())).unwrap_or(u16::MAX);
    // On a wide terminal they have a pane of their own.
    let layout = model.layout();
    if layout.live.is_empty() {
        let (used, in_card) = (used.min(inside.height), model.selected_id().filter(|_| !layout.detail.is_empty()));
        live::below(model, in_card, pen, Rect { y: inside.y + used, height: inside.height - used, ..inside });
    }
}

/// The tree on one line, while what came out of the run has its room.
fn folded(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let Some(view) = model.shown_run() else { return };
    let counts = view.counts();
    let steps = counted(counts.all as usize, "node");
    let rest = if counts.done == counts.all { "all done".to_owned() } else { counts.label().into_string() };
    let mark = Plain::line(pen.theme.glyph(Glyph::Folded)).then(&Plain::line(&format!(" {steps}, {rest}")));
    pen.text(area.x + 3, area.y, area.width.saturating_sub(4), &mark, Role::Dim);
}

/// How many of the nodes above what is in sight need a person, halt or failed, and how many of those below.
fn out_of_sight(model: &Model, pen: &Pen<'_>, rows: u16) -> [Vec<(Plain, Role)>; 2] {
    let kinds = [
        (StopKind::Gate(GateId(0)), Glyph::Gate, Role::Gate),
        (StopKind::Halt, Glyph::AtBreakpoint, Role::Held),
        (StopKind::Failure, Glyph::Failed, Role::Failed),
    ];
    let mut counts = [[0_usize; 3]; 2];
    for stop in model.shown_run().map(RunView::stops).unwrap_or_default() {
        let side = match model.tree().side_of(&stop.node, usize::from(rows)) {
            Ordering::Less => 0,
            Ordering::Greater => 1,
            Ordering::Equal => continue,
        };
        if let Some(kind) = kinds.iter().position(|(kind, ..)| kind.is_like(stop.kind)) {
            counts[side][kind] += 1;
        }
    }
    counts.map(|counts| {
        let some = kinds.iter().zip(counts).filter(|(_, count)| *count > 0);
        some.map(|((_, glyph, role), count)| (Plain::line(&format!("  {} {count}", pen.theme.glyph(*glyph))), *role)).collect()
    })
}

fn title(model: &Model, pen: &mut Pen<'_>, area: Rect, shown: &mut Shown) {
    let tree = model.tree();
    if let Some(target) = model.deps_target() {
        let words = Plain::line("what ").then(&Plain::summary(target)).then(&Plain::line(" depends on"));
        return pen.title(area, &[(words, Role::Title)]);
    }
    if model.place.focus == Focus::Filter || !tree.filter.is_empty() {
        pen.title(area, &[(Plain::line("search: ").then(&Plain::blank(24)), Role::Title)]);
        let line = Rect { x: area.x + 9, width: 24.min(area.width.saturating_sub(10)), height: 1, ..area };
        request::field(pen, line, &tree.filter, model.place.focus == Focus::Filter && model.dialogs.is_empty(), shown);
        let words = match tree.hit() {
            _ if !tree.searches() => String::new(),
            (_, 0) => "no node matches".to_owned(),
            (Some(at), all) => format!("{} of {all}", at + 1),
            (None, all) => format!("{all} found"),
        };
        let x = line.right() + 2;
        pen.words(x, area.y, area.right().saturating_sub(x), &words, Role::Heading);
        return;
    }
    let mut words = Vec::new();
    if tree.orientation() == Orientation::Goal {
        words.push((Plain::line("last nodes first  "), Role::Dim));
    }
    let [above, below] = out_of_sight(model, pen, area.height - 1);
    pen.out_of_sight(area, (tree.top(), tree.rows().len()), area.height - 1, [&above, &below]);
    let version = model.editor.version().filter(|_| model.shown_run().is_none());
    let origin = version.map(|version| version.origin.label()).unwrap_or_default();
    if !origin.is_empty() {
        words.push((sentence::bare(&origin), Role::Dim));
    }
    pen.title(area, &words);
}
