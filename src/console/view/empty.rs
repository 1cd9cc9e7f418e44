//! The first screen: what to do, with examples.

use ratatui::layout::Rect;

use super::doc;
use super::pen::Pen;
use crate::console::model::{Doc, EXAMPLES, Model, texts};
use crate::console::theme::Role;
use crate::text::{Glyph, Plain, counted};

/// Says which runs wait for somebody, and which ended last.
fn runs(model: &Model, pen: &Pen<'_>, doc: &mut Doc<'static>) {
    let latest = &model.runs.latest;
    for (title, (places, all)) in [("Open runs", &latest.open), ("Recent runs", &latest.ended)] {
        if places.is_empty() {
            continue;
        }
        doc.line(Role::Dim, Plain::line(title));
        for run in places.iter().filter_map(|at| model.runs.listing.get(*at)) {
            let waits = if run.waiting.is_empty() { String::new() } else { format!(", {}", counted(run.waiting.len(), "open gate")) };
            let state = Plain::line(pen.theme.glyph(run.status.glyph())).then(&Plain::line(&format!(" {}{waits}", run.status.word())));
            doc.line(texts::status_role(run.status), state.pad(26).then(&Plain::summary(&run.goal)));
        }
        if *all > places.len() {
            doc.line(Role::Dim, Plain::line(&format!("{} more", all - places.len())));
        }
    }
    if !doc.is_empty() {
        let (leave, list) = (model.hint("request.leave"), model.hint("app.runs"));
        doc.line(Role::Dim, Plain::line(&format!("{leave}, then {list} lists all runs; enter opens one")));
        doc.line(Role::Text, Plain::default());
    }
}

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
        runs(model, pen, &mut doc);
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
