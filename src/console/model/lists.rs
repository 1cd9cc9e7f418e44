//! The rows of the screens that are lists and no more.

use super::{ListCursor, Model, Screen};

impl Model {
    /// The rows of a screen that is a list and no more: where the person is in them, and how many there are.
    pub fn list_mut(&mut self) -> Option<(&mut ListCursor, usize)> {
        match self.place.screen {
            Screen::Runs => Some((&mut self.runs.place, self.runs.listing.len())),
            Screen::Inventory => {
                let len = self.session.inventory.len();
                Some((&mut self.session.inventory.place, len))
            }
            Screen::Stats => {
                let len = self.session.stats.len();
                Some((&mut self.session.stats.place, len))
            }
            Screen::Compare => {
                let len = self.editor.compare.differences().len();
                Some((&mut self.editor.compare.place, len))
            }
            Screen::Versus => {
                let versus = self.runs.versus.as_mut()?;
                let len = versus.len();
                Some((&mut versus.place, len))
            }
            Screen::Trace => {
                let trace = self.shown_run_mut()?.trace.as_mut()?;
                let len = trace.lines().len();
                Some((&mut trace.place, len))
            }
            Screen::Cost => {
                let cost = &mut self.shown_run_mut()?.cost;
                let len = cost.rows().len();
                Some((&mut cost.place, len))
            }
            Screen::Plan | Screen::Graph | Screen::Inbox | Screen::Log | Screen::Timeline => None,
        }
    }
}
