//! The inspector: the tabs of the selected node.

use ratatui::layout::Rect;

use super::doc;
use super::doc::InSight;
use super::pen::Pen;
use crate::console::model::{Focus, Model, Scroll, Tab, docs};
use crate::console::theme::Role;
use crate::text::Plain;

/// Draws the inspector below its tabs.
pub fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let Some((area, inside)) = doc::pane(pen, area) else { return };
    let focused = model.place.focus == Focus::Inspector && model.dialogs.is_empty();
    let said = docs::inspector(model);
    let live = model.tab() == Tab::Output && model.selected_works();
    let seen = match model.inspector.scroll {
        Scroll::Line(at) => doc::draw(pen, inside, &said, at.min(said.len().saturating_sub(1))),
        Scroll::Start if !live => doc::draw(pen, inside, &said, 0),
        Scroll::Start | Scroll::End => doc::draw_end(pen, inside, &said),
    };
    title(model, pen, area, focused, seen);
}

fn title(model: &Model, pen: &mut Pen<'_>, area: Rect, focused: bool, seen: InSight) {
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
    words.push(seen.label());
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
