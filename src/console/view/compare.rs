//! The comparison of two plans: a row for each difference, and the selected one line by line.

use ratatui::layout::Rect;

use super::{doc, pen::Pen};
use crate::console::{
    model::{Model, ScreenLayout, docs},
    theme::Role,
};
use crate::text::Plain;

/// Draws the differences and the selected one.
pub fn draw(model: &Model, pen: &mut Pen<'_>, layout: &ScreenLayout) {
    list(model, pen, layout.list);
    detail(model, pen, layout.detail);
}

fn list(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    if area.height == 0 {
        return;
    }
    let compare = &model.editor.compare;
    let against = match compare.name() {
        None => Plain::line("original"),
        Some(name) => name.clone(),
    };
    let count = match compare.differences().len() {
        0 => "no difference to ".to_owned(),
        1 => "1 difference to ".to_owned(),
        many => format!("{many} differences to "),
    };
    pen.title(area, &[(Plain::line(&count), Role::Title), (against, Role::Title)], model.dialogs.is_empty());
    let rows = compare.differences().iter().enumerate().skip(compare.top);
    for (y, (at, difference)) in (area.top() + 1..area.bottom()).zip(rows) {
        let line = Rect { y, height: 1, ..area };
        let role = docs::mark_role(difference.mark);
        let pieces = [
            (Plain::line(difference.mark.sign()), role),
            (Plain::line(" ").then(&Plain::line(difference.sort).pad(6)), Role::Dim),
            (Plain::summary(&difference.subject), Role::Text),
            (Plain::blank(2).then(&Plain::summary(&difference.field)), Role::Dim),
        ];
        pen.pieces(Rect { x: line.x + 2, width: line.width.saturating_sub(3), ..line }, &pieces);
        if at == compare.selected {
            pen.select(line, model.dialogs.is_empty());
        }
    }
}

fn detail(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    if area.height < 2 || area.width < 4 {
        return;
    }
    let area = if area.x > 0 { pen.divide(area) } else { area };
    let inside = Rect { x: area.x + 1, y: area.y + 1, width: area.width.saturating_sub(2), height: area.height - 1 };
    let said = docs::compare(model);
    let seen = doc::draw(pen, inside, &said, model.editor.compare.scroll.min(said.len().saturating_sub(1)));
    let mut words = vec![(Plain::line("the difference"), Role::Dim)];
    if seen.from > 0 || seen.to < said.len() {
        words.push((Plain::line(&format!("  {}-{}/{}", seen.from + 1, seen.to, said.len())), Role::Dim));
    }
    pen.title(area, &words, false);
}
