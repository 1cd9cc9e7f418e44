//! Two runs side by side: a row for each difference of their plans and each node that is not the same, and the selected one in full.

use ratatui::layout::Rect;

use super::{doc, pen::Pen};
use crate::console::{
    model::{CompareScreen, Model, ScreenLayout, VersusRow, docs},
    theme::Role,
};
use crate::text::{Plain, counted};

/// Draws the rows and the selected one.
pub fn draw(model: &Model, pen: &mut Pen<'_>, layout: &ScreenLayout) {
    let area = layout.list;
    let open = model.dialogs.is_empty();
    let Some(versus) = &model.runs.versus else {
        pen.title(area, &[(Plain::line("two runs"), Role::Title)], open);
        pen.words(area.x + 2, area.y + 1, area.width.saturating_sub(2), "No runs are compared.", Role::Dim);
        return;
    };
    pen.title(area, &[(Plain::line(&counted(versus.len(), "difference")), Role::Title), (names(model, versus), Role::Dim)], open);
    let comparison = versus.comparison();
    let took = Plain::line("first: ").then(&docs::totals(&comparison.left)).then(&Plain::line("   second: "));
    pen.text(area.x + 2, area.y + 1, area.width.saturating_sub(3), &took.then(&docs::totals(&comparison.right)), Role::Dim);
    if versus.is_empty() {
        pen.words(area.x + 2, area.y + 2, area.width.saturating_sub(2), "The plans and all results are equal.", Role::Text);
    }
    for (y, at) in (area.top() + 2..area.bottom()).zip(versus.top..versus.len()) {
        let line = Rect { y, height: 1, ..area };
        match versus.row(at) {
            None => break,
            Some(VersusRow::Plan(difference)) => {
                let pieces = [
                    (Plain::line(difference.mark.sign()).then(&Plain::blank(1)), docs::mark_role(difference.mark)),
                    (Plain::line(difference.sort).pad(6), Role::Dim),
                    (Plain::summary(&difference.subject).then(&Plain::blank(2)), Role::Text),
                    (Plain::summary(&difference.field), Role::Dim),
                ];
                pen.pieces(Rect { x: line.x + 2, width: line.width.saturating_sub(3), ..line }, &pieces);
            }
            Some(VersusRow::Node(node)) => sides(node, pen, line),
        }
        if at == versus.selected {
            pen.select(line, open);
        }
    }
    detail(versus, pen, layout.detail);
}

/// Which runs they are.
fn names(model: &Model, versus: &CompareScreen) -> Plain {
    let number = |at: usize| {
        let id = &versus.sides[at].0;
        model.runs.open.iter().position(|run| run.id == *id).map_or("?".to_owned(), |at| (at + 1).to_string())
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

fn detail(versus: &CompareScreen, pen: &mut Pen<'_>, area: Rect) {
    if area.height < 2 || area.width < 4 {
        return;
    }
    let area = if area.x > 0 { pen.divide(area) } else { area };
    let inside = Rect { x: area.x + 1, y: area.y + 1, width: area.width.saturating_sub(2), height: area.height - 1 };
    if let Some(said) = versus.difference() {
        doc::draw(pen, inside, said, versus.scroll.min(said.len().saturating_sub(1)));
    }
    pen.title(area, &[(Plain::line("the difference"), Role::Dim)], false);
}
