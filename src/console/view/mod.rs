//! View: draws the model and changes nothing. Says where the cursor belongs and which gates were drawn, for keystroke safety.

mod act;
mod called;
mod compare;
mod cost;
mod dialogs;
mod doc;
mod empty;
mod footer;
mod gate;
mod graph;
mod graph_stages;
mod header;
mod help;
mod inbox;
mod inspector;
mod inventory;
mod lane;
mod live;
mod log;
mod pen;
mod request;
mod row;
mod runs;
mod scrub;
mod sentence;
mod stats;
mod timeline;
mod tour;
mod trace;
mod tree;
mod versus;

use ratatui::{buffer::Buffer, layout::Rect};

use super::model::{Dialog, Model, SMALLEST, Screen};
use super::theme::Role;
use super::widget::to_ascii;
use crate::engine::Time;
use crate::text::{GlyphSet, Plain};

pub use called::suggested;
pub use footer::{Hint, hints};
use pen::Pen;
pub use pen::Shown;
pub use tour::draw as tour;

/// Draws the model as it is at a moment.
pub fn draw(model: &Model, now: Time, buffer: &mut Buffer) -> Shown {
    let mut shown = Shown::default();
    let area = buffer.area;
    let mut pen = Pen { buffer, theme: &model.look.theme };
    pen.wash(area, Role::Text);
    if !model.place.fits() || area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        too_small(&mut pen, area);
    } else if dialogs::fills_screen(model) {
        dialogs::draw(model, &model.layout(), &mut pen, &mut shown);
    } else {
        screen(model, now, &mut pen, &mut shown);
    }
    if model.look.theme.glyphs() == GlyphSet::Ascii {
        to_ascii(buffer);
    }
    shown
}

fn too_small(pen: &mut Pen<'_>, area: Rect) {
    let sentence = Plain::line("dagdeck needs 40 columns and 10 rows.");
    for (y, line) in (area.top()..area.bottom()).zip(sentence.wrap(usize::from(area.width))) {
        pen.text(area.x, y, area.width, &line, Role::Text);
    }
}

fn screen(model: &Model, now: Time, pen: &mut Pen<'_>, shown: &mut Shown) {
    let layout = model.layout();
    let now = model
        .shown_run()
        .filter(|_| !matches!(model.place.screen, Screen::Inbox | Screen::Versus | Screen::Runs | Screen::Inventory | Screen::Stats))
        .map_or(now, |view| view.moment(now));
    header::draw(model, now, pen, layout.header);
    match model.place.screen {
        Screen::Plan => {
            tree::draw(model, now, pen, layout.list, shown);
            inspector::draw(model, now, pen, layout.detail, shown);
            match model.shown_run() {
                Some(view) => live::draw(model, view, pen, &layout),
                None => graph::beside(model, now, pen, layout.live),
            }
            request::draw(model, pen, layout.request, shown);
        }
        Screen::Graph => {
            graph::draw(model, now, pen, layout.list);
            inspector::draw(model, now, pen, layout.detail, shown);
        }
        Screen::Inbox => inbox::draw(model, now, pen, &layout, shown),
        Screen::Compare => compare::draw(model, pen, &layout),
        Screen::Runs => runs::draw(model, now, pen, &layout),
        Screen::Inventory => inventory::draw(model, pen, &layout),
        Screen::Stats => stats::draw(model, pen, &layout),
        Screen::Log => log::draw(model, pen, &layout, shown),
        Screen::Timeline => timeline::draw(model, now, pen, &layout),
        Screen::Trace => trace::draw(model, now, pen, &layout),
        Screen::Cost => cost::draw(model, pen, &layout),
        Screen::Versus => versus::draw(model, pen, &layout),
    }
    scrub::draw(model, pen, layout.scrub);
    if model.dialogs.is_empty() {
        footer::draw(model, pen, layout.footer);
    } else {
        shown.gates.clear();
        shown.cursor = None;
        // A line of text for an action leaves what the action would change in sight.
        if let (Some(proposal), Some(Dialog::Line(_))) = (model.proposal(), model.dialogs.last()) {
            act::proposal(model, proposal, pen, &layout);
        }
        dialogs::draw(model, &layout, pen, shown);
        footer::draw(model, pen, layout.footer);
    }
}
