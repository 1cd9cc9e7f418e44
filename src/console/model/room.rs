//! What the screen has to have room for: how much there is to list, what the card needs, what is to be typed and said. The geometry of
//! `place` follows from it.

use super::place::{Below, CardRoom, ScreenLayout, WantedRoom, request_width};
use super::{AROUND_TITLE, Focus, LANE, Model, RunView, Screen, TITLE};
use crate::text::Plain;

impl Model {
    /// Whether the request has its place: while it is written or worked on, and where there is nothing else to begin with.
    fn shows_request(&self) -> bool {
        let is_begun = self.place.focus == Focus::Request || !self.request.field.is_empty() || self.request.planning.is_some();
        is_begun || self.plan().nodes.is_empty()
    }

    pub fn layout(&self) -> ScreenLayout {
        let entries = match self.place.screen {
            Screen::Plan | Screen::Graph => self.tree().whole(),
            Screen::Inbox => self.inbox.gates.len(),
            Screen::Compare => self.editor.compare.differences().len(),
            Screen::Runs => self.runs.listing.len(),
            Screen::Inventory => self.session.inventory.len(),
            Screen::Stats => self.session.stats.len(),
            Screen::Log => self.shown_run().map_or(0, |view| view.log.len()),
            Screen::Timeline => self.shown_run().map_or(0, |view| view.seen().run.nodes().count()),
            Screen::Versus => self.runs.versus.as_ref().map_or(0, |versus| versus.len() + 1),
            Screen::Cost => self.shown_run().map_or(0, |view| view.cost.rows().len()),
            Screen::Trace => self.shown_run().and_then(|view| view.trace.as_ref()).map_or(0, |trace| trace.lines().len()),
        };
        let below = match self.replay() {
            Some(_) => Below::Scrub,
            None if self.shows_request() => Below::Request(self.request.field.rows(request_width(self.place.size.0)).0.len()),
            None => Below::Request(0),
        };
        let card = match self.shown_run().filter(|_| self.place.screen == Screen::Plan) {
            _ if self.card_gate().is_some() => CardRoom::Gate,
            Some(view) => {
                CardRoom::Output { columns: u16::try_from(view.output_columns()).unwrap_or(u16::MAX), is_read: self.reads_output() }
            }
            None => CardRoom::Rest,
        };
        let width = usize::from(self.place.size.0.saturating_sub(2)).max(1);
        let message = self.status.as_ref().map_or(0, |status| Plain::line(&status.text.as_str().replace('`', "")).wrap(width).len());
        let around = if self.shown_run().is_some() { AROUND_TITLE.1 } else { AROUND_TITLE.0 };
        let columns = around + u16::try_from(self.tree().widest().min(TITLE)).unwrap_or(0);
        let lane = if self.shown_run().is_some() { LANE + 1 } else { 0 };
        let is_run = self.shown_run().is_some();
        let told = self.shown_run().map_or(0, RunView::told);
        let message = u16::try_from(message).unwrap_or(u16::MAX);
        self.place.layout(WantedRoom { below, entries, columns, lane, is_run, told, card, message })
    }
}
