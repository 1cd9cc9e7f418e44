//! The comparison of two plans: a row for each difference, and the selected one line by line.

use super::doc;
use super::pen::{Pen, below, text_of};
use crate::console::model::{Model, ScreenLayout, docs};
use crate::console::theme::Role;
use crate::plan::diff::DifferenceText;
use crate::text::{Plain, counted};

/// Draws the differences and the selected one.
pub fn draw(model: &Model, pen: &mut Pen<'_>, layout: &ScreenLayout) {
    let (area, open) = (layout.list, model.dialogs.is_empty());
    let compare = &model.editor.compare;
    let differences = compare.differences();
    let count = if differences.is_empty() { "no difference".to_owned() } else { counted(differences.len(), "difference") };
    let against = compare.name().cloned().unwrap_or_else(|| Plain::line("the original"));
    pen.title(area, &[(Plain::line(&count).then(&Plain::line(" from ")).then(&against), Role::Title)]);
    pen.list(below(area), (compare.place.top, differences.len()), Some(compare.place.selected), open, |pen, at, line| {
        pen.pieces(text_of(line), &row(&differences[at]));
    });
    doc::beside(pen, layout.detail, "the difference", &docs::compare(model), compare.place.scroll);
}

/// A difference on one line.
pub(super) fn row(difference: &DifferenceText) -> [(Plain, Role); 4] {
    [
        (Plain::line(difference.mark.glyph()).then(&Plain::blank(1)), docs::mark_role(difference.mark)),
        (Plain::line(difference.sort).pad(6), Role::Dim),
        (Plain::summary(&difference.subject).then(&Plain::blank(2)), Role::Text),
        (Plain::summary(&difference.field), Role::Dim),
    ]
}
