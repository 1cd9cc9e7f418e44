//! Two runs side by side: a row for each difference of their plans and each node that is not the same, and the selected one in full.

use ratatui::layout::Rect;

use super::pen::{Pen, below, text_of};
use super::{compare, doc};
use crate::console::model::{CompareScreen, Model, ScreenLayout, VersusRow, docs};
use crate::console::theme::Role;
use crate::text::{Plain, counted};

/// Draws the rows and the selected one.
pub fn draw(model: &Model, pen: &mut Pen<'_>, layout: &ScreenLayout) {
    let (area, open) = (layout.list, model.dialogs.is_empty());
    let Some(versus) = &model.runs.versus else {
        pen.title(area, &[(Plain::line("two runs"), Role::Title)]);
        return pen.no_rows(below(area), "No runs are compared.");
    };
    pen.title(area, &[(Plain::line(&counted(versus.len(), "difference")), Role::Title), (names(model, versus), Role::Dim)]);
    let comparison = versus.comparison();
    let took = Plain::line("first: ").then(&docs::totals(&comparison.left)).then(&Plain::line("   second: "));
    let totals = below(area);
    pen.text(totals.x + 2, totals.y, totals.width.saturating_sub(3), &took.then(&docs::totals(&comparison.right)), Role::Dim);
    let rows = below(totals);
    if versus.is_empty() {
        pen.words(rows.x + 2, rows.y, rows.width.saturating_sub(2), "The plans and all results are equal.", Role::Text);
    }
    pen.list(rows, (versus.place.top, versus.len()), Some(versus.place.selected), open, |pen, at, line| match versus.row(at) {
        Some(VersusRow::Plan(difference)) => {
            pen.pieces(text_of(line), &compare::row(difference));
        }
        Some(VersusRow::Node(node)) => sides(node, pen, line),
        None => {}
    });
    if let Some(difference) = versus.difference() {
        doc::beside(pen, layout.detail, "the difference", difference, versus.place.scroll);
    }
}

/// Which runs they are.
fn names(model: &Model, versus: &CompareScreen) -> Plain {
    let number = |at: usize| {
        let id = &versus.sides[at].0;
        model.runs.number(id).map_or("?".to_owned(), |number| number.to_string())
    };
    Plain::line(&format!("  first: run {}, ", number(0)))
        .then(&versus.sides[0].1.truncate(24))
        .then(&Plain::line(&format!("  second: run {}, ", number(1))))
        .then(&versus.sides[1].1.truncate(24))
}

/// Columns of a node's id.
const NODE: u16 = 18;

fn sides(node: &crate::engine::NodeComparison, pen: &mut Pen<'_>, line: Rect) {
    let name = Plain::summary(&node.node).truncate_middle(usize::from(NODE));
    pen.text(line.x + 4, line.y, NODE, &name, Role::Accent);
    let rest = line.width.saturating_sub(NODE + 6);
    let half = rest / 2;
    let x = line.x + NODE + 5;
    pen.text(x, line.y, half.saturating_sub(2), &docs::side(node.left.as_ref()), Role::DiffDel);
    pen.text(x + half, line.y, half, &docs::side(node.right.as_ref()), Role::DiffAdd);
}
