//! The first screen: what to do, with examples.

use ratatui::layout::Rect;

use super::pen::Pen;
use crate::console::{
    model::{EXAMPLES, Model},
    theme::Role,
};
use crate::text::{Glyph, Plain};

/// Says what to do when there is no plan.
pub fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let area = Rect { x: area.x + 2, width: area.width.saturating_sub(4).min(100), ..area };
    // What stands before a line, the line, its role.
    let mut lines: Vec<(Plain, Plain, Role)> = Vec::new();
    let none = Plain::default;
    if let Some(planning) = &model.request.planning {
        lines.push((none(), Plain::line("Making a plan. Its nodes appear here one by one."), Role::Text));
        lines.push((none(), planning.text.clone(), Role::Dim));
    } else {
        let enter = model.hint("request.submit");
        lines.push((none(), Plain::line(&format!("Type what you want done, then press {enter}.")), Role::Heading));
        lines.push((
            none(),
            Plain::line("dagdeck makes a plan, which you can read, change and run. Nothing runs until you start it."),
            Role::Text,
        ));
        lines.push((none(), Plain::default(), Role::Text));
        lines.push((none(), Plain::line("For example"), Role::Dim));
        let bullet = Plain::line(pen.theme.glyph(Glyph::Bullet)).then(&Plain::blank(1));
        lines.extend(EXAMPLES.iter().map(|example| (bullet.clone(), Plain::line(example), Role::Text)));
        if model.session.rehearses() {
            let key = model.hint("app.model");
            let words = format!(
                "No model is connected: plans come from the built-in planner, tools run for real, and nodes that need a model are \
                 rehearsed. In the tree, press {key} to connect one."
            );
            lines.push((none(), Plain::default(), Role::Text));
            lines.push((none(), Plain::line(&words), Role::Dim));
        }
    }
    let mut y = area.y + u16::from(area.height > 12);
    for (before, line, role) in lines {
        let indent = pen.text(area.x, y, area.width, &before, role);
        for piece in line.wrap(usize::from(area.width - indent)) {
            if y >= area.bottom() {
                return;
            }
            pen.text(area.x + indent, y, area.width - indent, &piece, role);
            y += 1;
        }
    }
}
