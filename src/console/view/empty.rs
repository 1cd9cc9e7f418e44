//! The first screen: what to do, with examples.

use ratatui::layout::Rect;

use super::doc;
use super::pen::Pen;
use crate::console::model::{Doc, EXAMPLES, Model};
use crate::console::theme::Role;
use crate::text::{Glyph, Plain};

/// Says what to do when there is no plan.
pub fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let above = u16::from(area.height > 12);
    let area =
        Rect { x: area.x + 2, y: area.y + above, width: area.width.saturating_sub(4).min(100), height: area.height.saturating_sub(above) };
    let mut doc = Doc::default();
    if let Some(planning) = &model.request.planning {
        doc.line(Role::Text, Plain::line("Making a plan. Its nodes appear here one by one."));
        doc.line(Role::Dim, planning.text.clone());
    } else {
        doc.line(Role::Heading, Plain::line(&format!("Type what you want done, then press {}.", model.hint("request.submit"))));
        doc.line(Role::Text, Plain::line("dagdeck makes a plan, which you can read, change and run. Nothing runs until you start it."));
        doc.line(Role::Text, Plain::default());
        doc.line(Role::Dim, Plain::line("For example"));
        let bullet = Plain::line(pen.theme.glyph(Glyph::Bullet)).then(&Plain::blank(2));
        for (example, needs_model) in EXAMPLES {
            let mark = if needs_model && model.session.lacks_model() { "  (needs a model)" } else { "" };
            doc.line(Role::Text, bullet.clone().then(&Plain::line(example)).then(&Plain::line(mark)));
        }
        if model.session.lacks_model() {
            let words = format!(
                "No model is set up: plans come from the built-in planner, and tools run for real. Where a plan needs a model, you \
                 can answer in its place or rehearse. Press esc, then {}, to set one up.",
                model.hint("app.model")
            );
            doc.line(Role::Text, Plain::default());
            doc.line(Role::Dim, Plain::line(&words));
        }
    }
    doc::draw(pen, area, &doc, 0);
}
