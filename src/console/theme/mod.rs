//! How things look: a style for each role, a mark for each meaning. The only place that knows colours.
//!
//! Views ask for `Role`s and `Glyph`s. A state is always glyph, word and style together, so that colour never carries it
//! alone. Without colour (`NO_COLOR`, a dumb terminal) every role keeps its weight, and what had a background is reversed.

mod colour;
mod error;
mod file;
mod role;

#[cfg(test)]
mod tests;

use ratatui::style::{Color, Modifier, Style};

use crate::engine::{NodeState, RunStatus};
use crate::text::{Glyph, GlyphSet};

pub use colour::Depth;
pub use error::ThemeError;
pub use file::{load, shipped};
pub use role::Role;

/// A theme resolved for one terminal.
#[derive(Clone, Debug, PartialEq)]
pub struct Theme {
    styles: [Style; Role::ALL.len()],
    glyphs: GlyphSet,
}

impl Theme {
    /// The style of a role. A role without a background leaves the one below, so that rows keep their selection.
    pub fn style(&self, role: Role) -> Style {
        self.styles[role as usize]
    }

    /// The style of a role that keeps nothing of what was drawn before but the background.
    pub fn style_over(&self, role: Role) -> Style {
        let text = self.style(Role::Text).fg.unwrap_or(Color::Reset);
        Style { fg: Some(text), sub_modifier: Modifier::all(), ..Style::new() }.patch(self.style(role))
    }

    /// The characters of a mark.
    pub fn glyph(&self, glyph: Glyph) -> &'static str {
        self.glyphs.get(glyph)
    }

    /// Which characters may be drawn.
    pub fn glyphs(&self) -> GlyphSet {
        self.glyphs
    }

    /// The same styles with another set of glyphs.
    #[must_use]
    pub fn with_glyphs(mut self, glyphs: GlyphSet) -> Self {
        self.glyphs = glyphs;
        self
    }
}

/// How a node's state looks.
pub fn of_node(state: &NodeState, run: RunStatus) -> (Glyph, Role) {
    match state.rests_as(run) {
        Some(RunStatus::Interrupted) => (run.glyph(), Role::Unknown),
        Some(RunStatus::Waiting) => (run.glyph(), Role::Waiting),
        Some(_) => (run.glyph(), Role::Held),
        None => of_state(state),
    }
}

/// The same of a node whose run goes on.
pub fn of_state(state: &NodeState) -> (Glyph, Role) {
    match state {
        NodeState::Pending => (Glyph::Pending, Role::Pending),
        NodeState::Ready => (Glyph::Ready, Role::Ready),
        NodeState::Held => (Glyph::Held, Role::Held),
        NodeState::Waiting { .. } => (Glyph::Waiting, Role::Waiting),
        NodeState::Running => (Glyph::Running, Role::Running),
        NodeState::Stopping => (Glyph::Stopping, Role::Running),
        NodeState::Retrying { .. } => (Glyph::Retrying, Role::Retrying),
        NodeState::Succeeded => (Glyph::Succeeded, Role::Succeeded),
        NodeState::Rehearsed => (Glyph::Rehearsed, Role::Rehearsed),
        NodeState::Passed => (Glyph::Passed, Role::Passed),
        NodeState::Skipped => (Glyph::Skipped, Role::Skipped),
        NodeState::Failed => (Glyph::Failed, Role::Failed),
        NodeState::FailedSafe => (Glyph::FailedSafe, Role::FailedSafe),
        NodeState::Cancelled => (Glyph::Cancelled, Role::Cancelled),
        NodeState::Unknown => (Glyph::Unknown, Role::Unknown),
    }
}

impl Default for Theme {
    /// The terminal's own 16 colours, Unicode glyphs.
    fn default() -> Self {
        file::built_in(Depth::Ansi16)
    }
}
