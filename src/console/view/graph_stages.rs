//! The graph by stages: the nodes of a stage side by side, each with its state and its time. The marks before them say which ones the
//! selected node needs, and which it feeds.

use std::collections::BTreeSet;

use ratatui::layout::Rect;

use super::graph::{States, box_mark};
use super::pen::Pen;
use super::row;
use crate::console::model::{Model, STAGE_GUTTER, StageRow, Stages, outermost};
use crate::console::theme::Role;
use crate::engine::{StateGroup, Time};
use crate::plan::drawing::GraphDrawing;
use crate::text::{Glyph, Plain};

/// Columns of a node's time, and of the marks before its title.
const TIME: u16 = 6;
const MARKS: u16 = 4;
/// Blank columns behind a node.
const BEHIND: u16 = 2;

/// How a node is tied to the selected one.
struct Ties {
    selected: Option<usize>,
    needs: BTreeSet<usize>,
    feeds: BTreeSet<usize>,
}

impl Ties {
    fn of(model: &Model, chart: &GraphDrawing) -> Self {
        let selected = model.selected_id().and_then(|id| chart.place(outermost(id)));
        let needs = selected.map(|place| chart.sources(place).collect()).unwrap_or_default();
        let feeds = selected.map(|place| chart.targets(place).collect()).unwrap_or_default();
        Self { selected, needs, feeds }
    }
}

/// Draws the rows in sight. Gives how many nodes are above and below them.
pub fn draw(
    (model, now): (&Model, Time),
    (chart, stages): (&GraphDrawing, &Stages),
    pen: &mut Pen<'_>,
    area: Rect,
    focused: bool,
) -> (usize, usize) {
    let (states, ties) = (States::new(model, chart), Ties::of(model, chart));
    let rows = stages.rows.iter().skip(stages.top).take(usize::from(area.height));
    for (y, StageRow { stage, nodes }) in (area.y..).zip(rows) {
        if let Some(stage) = stage {
            let number = Plain::line(&stage.to_string()).pad_start(usize::from(STAGE_GUTTER) - 1);
            pen.text(area.x, y, STAGE_GUTTER, &number, Role::Dim);
        }
        for (nth, place) in (0..).zip(&stages.nodes[nodes.clone()]) {
            let x = area.x + STAGE_GUTTER + nth * stages.cell;
            let cell = Rect { x, y, width: stages.cell.min(area.right().saturating_sub(x)), height: 1 };
            StageNode { model, now, chart, states: &states, ties: &ties, place: *place }.draw(pen, cell, focused);
        }
    }
    let from = |row: usize| stages.rows.get(row).map_or(stages.nodes.len(), |row| row.nodes.start);
    (from(stages.top), stages.nodes.len() - from(stages.top + usize::from(area.height)))
}

/// One node being drawn.
struct StageNode<'a> {
    model: &'a Model,
    now: Time,
    chart: &'a GraphDrawing,
    states: &'a States<'a>,
    ties: &'a Ties,
    place: usize,
}

impl StageNode<'_> {
    fn draw(&self, pen: &mut Pen<'_>, cell: Rect, focused: bool) {
        let Some(node) = self.chart.nodes().get(self.place) else { return };
        let is_selected = self.ties.selected == Some(self.place);
        let run = self.model.shown_run().and_then(|view| view.seen().run.node(&node.id));
        let end = cell.right().saturating_sub(BEHIND);
        let tie = [(&self.ties.needs, Glyph::Before), (&self.ties.feeds, Glyph::Behind)];
        if let Some((_, glyph)) = tie.into_iter().find(|(tied, _)| tied.contains(&self.place)) {
            pen.glyph(cell.x, cell.y, 1, glyph, Role::Accent);
        }
        if let Some((glyph, role)) = box_mark(self.model, &node.id) {
            pen.glyph(cell.x + 2, cell.y, 1, glyph, role);
        }
        let took = run.map(|node| row::took(node, self.now)).unwrap_or_default();
        let inside = run.and_then(|run| row::inside(run, self.model.shown_run()?.seen().run.count_inside(&node.id)));
        let (x, mut room) = (cell.x + MARKS, end.saturating_sub(cell.x + MARKS + if took.is_empty() { 0 } else { TIME + 1 }));
        let role = match run.map(|run| run.state.group()) {
            Some(StateGroup::NotRun) => Role::Dim,
            Some(_) | None if is_selected || self.states.is_on_path(&node.id) => Role::Title,
            Some(_) | None => Role::Text,
        };
        let title = self.model.shown_run().map_or_else(|| node.title.clone(), |view| view.title_of(&node.id));
        let used = pen.text(x, cell.y, room, &title.truncate_middle(usize::from(room)), role);
        room -= used;
        if let Some((words, role)) = inside.filter(|(words, _)| words.len() + 2 <= usize::from(room)) {
            pen.words(x + used + 2, cell.y, room, &words, role);
        }
        if !took.is_empty() {
            pen.text(end.saturating_sub(TIME), cell.y, TIME, &took.pad_start(usize::from(TIME)), Role::Dim);
        }
        if is_selected {
            pen.select(Rect { width: end.saturating_sub(cell.x) + 1, ..cell }, focused);
        }
    }
}

/// What the marks before nodes mean.
pub fn legend(pen: &Pen<'_>) -> Vec<(Plain, Role)> {
    let mark = |glyph: Glyph| (Plain::line(pen.theme.glyph(glyph)), Role::Accent);
    let words = |words: &str| (Plain::line(words), Role::Dim);
    vec![mark(Glyph::Before), words(" it needs  "), mark(Glyph::Behind), words(" it feeds ")]
}
