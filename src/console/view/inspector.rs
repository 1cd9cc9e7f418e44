//! The inspector: the tabs of the selected node.

use ratatui::layout::Rect;

use super::{
    doc::{self, InSight},
    pen::Pen,
};
use crate::console::{
    model::{Focus, Model, Scroll, Tab, docs},
    theme::Role,
};
use crate::text::Plain;

/// Draws the inspector below its tabs.
pub fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    if area.width < 4 || area.height < 2 {
        return;
    }
    let area = if area.x > 0 { pen.divide(area) } else { area };
    let focused = model.place.focus == Focus::Inspector && model.dialogs.is_empty();
    let inside = Rect { x: area.x + 1, y: area.y + 1, width: area.width.saturating_sub(2), height: area.height - 1 };
    let said = docs::inspector(model);
    let live = model.tab() == Tab::Output && model.selected_works();
    let seen = match model.inspector.scroll {
        Scroll::Line(at) => doc::draw(pen, inside, &said, at.min(said.len().saturating_sub(1))),
        Scroll::Start if !live => doc::draw(pen, inside, &said, 0),
        Scroll::Start | Scroll::End => doc::draw_end(pen, inside, &said),
    };
    title(model, pen, area, focused, seen, said.len());
}

fn title(model: &Model, pen: &mut Pen<'_>, area: Rect, focused: bool, seen: InSight, len: usize) {
    let mut words: Vec<(Plain, Role)> = Vec::new();
    for tab in model.tabs() {
        let here = *tab == model.tab();
        let name = if here { format!("[{}]", tab.title()) } else { format!(" {} ", tab.title()) };
        let role = match (here, focused) {
            (true, true) => Role::Title,
            (true, false) => Role::Heading,
            (false, _) => Role::Dim,
        };
        words.push((Plain::line(&name), role));
    }
    if seen.from > 0 || seen.to < len {
        words.push((Plain::line(&format!("  {}-{}/{len}", seen.from + 1, seen.to)), Role::Dim));
    }
    pen.title(area, &words, focused);
    if let Some(id) = model.selected_id() {
        let room = Rect { width: area.width.saturating_sub(1), height: 1, ..area };
        let taken: usize = words.iter().map(|(word, _)| word.width()).sum();
        let name = Plain::blank(1).then(&Plain::summary(id)).then(&Plain::blank(1));
        if taken + name.width() + 4 < usize::from(area.width) {
            pen.pieces_right(room, &[(name, if focused { Role::Title } else { Role::Dim })]);
        }
    }
}
