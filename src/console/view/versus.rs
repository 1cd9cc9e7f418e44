//! Two runs side by side: a row for each difference of their plans and each node that is not the same, and the selected one in full.

use ratatui::layout::Rect;

use super::pen::{Pen, below, text_of};
use super::{compare, doc};
use crate::console::model::{CompareScreen, Model, RunView, ScreenLayout, VersusRow, docs};
use crate::console::theme::{Role, of_node};
use crate::plan::NodeId;
use crate::text::{Plain, counted};

/// Draws the rows and the selected one.
pub fn draw(model: &Model, pen: &mut Pen<'_>, layout: &ScreenLayout) {
    let (area, open) = (layout.list, model.dialogs.is_empty());
    let Some(versus) = &model.runs.versus else {
        pen.title(area, &[(Plain::line("two runs"), Role::Title)]);
        return pen.no_rows(below(area), "No runs are compared.");
    };
    pen.title(area, &[(Plain::line(&counted(versus.len(), "difference")), Role::Title)]);
    let (comparison, [first, second]) = (versus.comparison(), [1, 2].map(|at| Rect { y: area.y + at, height: 1, ..area }));
    for (at, (row, totals)) in [(first, &comparison.left), (second, &comparison.right)].into_iter().enumerate() {
        let (id, goal) = &versus.sides[at];
        let run = model.runs.number(id).map(|number| format!("run {number}  ")).unwrap_or_default();
        let row = text_of(row);
        let end = pen.pieces_right(row, &[(docs::totals(totals), Role::Dim)]);
        let name = Plain::line(&format!("{:<8}{run}", if at == 0 { "first" } else { "second" }));
        pen.pieces(Rect { width: end.saturating_sub(row.x + 2), ..row }, &[(name, Role::Dim), (goal.clone(), Role::Text)]);
    }
    let rows = Rect { y: second.bottom(), height: area.height.saturating_sub(3), ..area };
    if versus.is_empty() {
        pen.words(rows.x + 2, rows.y, rows.width.saturating_sub(2), "The plans and all results are equal.", Role::Text);
    }
    pen.list(rows, (versus.place.top, versus.len()), Some(versus.place.selected), open, |pen, at, line| match versus.row(at) {
        Some(VersusRow::Plan(difference)) => {
            pen.pieces(text_of(line), &compare::row(difference));
        }
        Some(VersusRow::Node(node)) => sides(model, versus, &node.node, pen, line),
        None => {}
    });
    if let Some(difference) = versus.difference().filter(|_| !versus.is_empty()) {
        doc::beside(pen, layout.detail, "the difference", difference, versus.place.scroll);
    }
}

/// Columns of a node's title at most, as a part of the row.
const TITLE: u16 = 3;

/// What became of a node in both runs.
fn sides(model: &Model, versus: &CompareScreen, id: &NodeId, pen: &mut Pen<'_>, line: Rect) {
    let views = versus.sides.each_ref().map(|(run, _)| model.runs.get(run));
    let known = |view: &&RunView| view.newest().run.node(id).is_some();
    let title = views.into_iter().flatten().find(known).map_or_else(|| Plain::summary(id), |view| view.title_of(id));
    let name = line.width / TITLE;
    pen.text(line.x + 2, line.y, name, &title, Role::Text);
    let (x, half) = (line.x + name + 4, line.width.saturating_sub(name + 6) / 2);
    for (at, view) in (0..).zip(views) {
        let area = Rect { x: x + at * half, width: half.saturating_sub(2), ..line };
        let node = view.and_then(|view| Some((view, view.newest().run.node(id)?)));
        let Some((view, node)) = node else {
            pen.pieces(area, &[(Plain::line("not in this run"), Role::Dim)]);
            continue;
        };
        let (glyph, role) = of_node(&node.state, view.status());
        let said = view.result_line(id).unwrap_or_else(|| Plain::line(node.state.label(view.status())));
        pen.pieces(area, &[(Plain::line(pen.theme.glyph(glyph)).then(&Plain::blank(1)), role), (said, Role::Text)]);
    }
}
