//! An action before it is done, beside the tree that shows what it would change; and the list of breakpoints.

use ratatui::{
    layout::Rect,
    widgets::{Clear, Widget},
};

use super::{
    dialogs::{boxed_rows, keys, last_row},
    doc,
    pen::Pen,
    sentence,
};
use crate::console::{
    model::{Model, Proposal, Screen, ScreenLayout, docs, scrolled},
    theme::Role,
};
use crate::engine::Obstacle;
use crate::plan::NodeId;
use crate::text::{Glyph, Plain};

/// Rows of a proposal that stands where no pane has room for it.
const ROWS: u16 = 12;

/// Draws the action that is shown before it is done: in the place of the details, so that the tree stays in sight.
pub fn proposal(model: &Model, proposal: &Proposal, pen: &mut Pen<'_>, layout: &ScreenLayout) {
    let said = docs::proposal(proposal);
    let fits = matches!(model.place.screen, Screen::Plan | Screen::Graph) && layout.detail.height >= 5 && layout.detail.width >= 30;
    let inside = if fits {
        let area = layout.detail;
        Clear.render(area, pen.buffer);
        pen.wash(area, Role::Text);
        let area = if area.x > 0 { pen.divide(area) } else { area };
        pen.title(area, &[(Plain::line("confirm the action"), Role::Title)], true);
        Rect { x: area.x + 1, y: area.y + 1, width: area.width.saturating_sub(2), height: area.height - 1 }
    } else {
        boxed_rows(pen, ROWS, &Plain::line("confirm the action"))
    };
    let body = Rect { height: inside.height.saturating_sub(1), ..inside };
    doc::draw(pen, body, &said, proposal.scroll.min(said.len().saturating_sub(1)));
    let hints = [("proposal.yes", "do it"), ("proposal.why", "add a reason"), ("proposal.no", "don't do it"), ("move.down", "down")];
    keys(model, pen, last_row(inside), &hints);
}

/// Draws why a node isn't running: what it waits for, and what that waits for.
pub fn why(model: &Model, node: &NodeId, selected: usize, pen: &mut Pen<'_>) {
    let links = model.blockers();
    let rows = u16::try_from(links.len().max(1) + 2).unwrap_or(u16::MAX);
    let inside = boxed_rows(pen, rows, &Plain::line("why ").then(&Plain::summary(node)).then(&Plain::line(" isn't running")));
    let list = Rect { height: inside.height.saturating_sub(2), ..inside };
    if links.is_empty() {
        pen.words(list.x, list.y, list.width, "the node is not in the run", Role::Dim);
    }
    let selected = selected.min(links.len().saturating_sub(1));
    let top = scrolled(0, selected, links.len(), usize::from(list.height));
    for (y, (at, link)) in (list.top()..list.bottom()).zip(links.iter().enumerate().skip(top)) {
        let line = Rect { y, height: 1, ..list };
        let indent = u16::try_from(link.depth.min(DEEPEST) * 2).unwrap_or(0);
        let (mark, role) = match (link.obstacle.is_for_people(), link.obstacle) {
            (true, _) => (Glyph::Gate, Role::Waiting),
            (false, Obstacle::Work) => (Glyph::Running, Role::Running),
            (false, _) => (Glyph::Bullet, Role::Dim),
        };
        let text = if link.obstacle.is_for_people() { Role::Waiting } else { Role::Text };
        let mut pieces = vec![(Plain::line(pen.theme.glyph(mark)).then(&Plain::blank(1)), role)];
        pieces.extend(sentence::row(&Plain::summary(&link.sentence), text));
        pen.pieces(Rect { x: line.x + 2 + indent, width: line.width.saturating_sub(2 + indent), ..line }, &pieces);
        if at == selected {
            pen.select(line, true);
        }
    }
    keys(model, pen, last_row(inside), &[("why.go", "go there"), ("move.down", "down"), ("why.close", "close")]);
}

/// Levels that are indented.
const DEEPEST: usize = 12;

/// Draws the list of breakpoints.
pub fn breakpoints(model: &Model, selected: usize, pen: &mut Pen<'_>) {
    let Some(view) = model.shown_run() else { return };
    let points: Vec<_> = view.seen().run.breakpoints().collect();
    let rows = u16::try_from(points.len().max(1) + 2).unwrap_or(u16::MAX);
    let inside = boxed_rows(pen, rows, &Plain::line("breakpoints of this run"));
    let list = Rect { height: inside.height.saturating_sub(2), ..inside };
    if points.is_empty() {
        pen.words(list.x, list.y, list.width, "none: the run halts nowhere by itself", Role::Dim);
    }
    let selected = selected.min(points.len().saturating_sub(1));
    let top = scrolled(0, selected, points.len(), usize::from(list.height));
    for (y, (at, (id, point))) in (list.top()..list.bottom()).zip(points.iter().enumerate().skip(top)) {
        let line = Rect { y, height: 1, ..list };
        let mark = Plain::line(pen.theme.glyph(Glyph::Bullet)).then(&Plain::line(&format!(" {:<3}", id.0)));
        let mut pieces = vec![(mark, Role::Failed)];
        pieces.extend(sentence::row(&Plain::summary(&point.label()), Role::Text));
        pen.pieces(Rect { x: line.x + 2, width: line.width.saturating_sub(2), ..line }, &pieces);
        if at == selected {
            pen.select(line, true);
        }
    }
    let hints = [("breaks.add", "add"), ("breaks.edit", "change"), ("breaks.remove", "remove"), ("breaks.close", "close")];
    keys(model, pen, last_row(inside), &hints);
}
