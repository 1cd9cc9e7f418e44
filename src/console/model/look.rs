//! `Look`: the theme, and which others there are; the keys. And the one line that says what just happened.

use super::Keymap;
use crate::console::theme::{Role, Theme};
use crate::engine::Time;
use crate::text::Plain;

/// How the console looks and which keys it takes.
#[derive(Clone, Debug)]
pub struct Look {
    pub theme: Theme,
    pub name: String,
    /// Names of all themes.
    pub themes: Vec<String>,
    /// Which keys mean what.
    pub keymap: Keymap,
    /// Whether times of what runs stay as they are until something happens.
    pub reduced_motion: bool,
}

/// What just happened; shown until the next key, or for some seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    pub text: Plain,
    /// Good, bad, or neither.
    pub role: Role,
    /// When it was said.
    pub since: Option<Time>,
}

/// How long something stays said, where it is no error.
const SAID_MS: u64 = 4_000;

impl Status {
    /// When it goes by itself: what went wrong stays until the next key.
    pub fn until(&self) -> Option<Time> {
        self.since.filter(|_| self.role != Role::Error).map(|since| Time(since.0 + SAID_MS))
    }

    pub fn note(text: &str) -> Self {
        Self { text: Plain::summary(text), role: Role::Text, since: None }
    }

    /// Something that went well.
    pub fn good(text: &str) -> Self {
        Self { text: Plain::summary(text), role: Role::Success, since: None }
    }

    /// Something that wants attention.
    pub fn warn(text: &str) -> Self {
        Self { text: Plain::summary(text), role: Role::Warning, since: None }
    }

    /// Something that went wrong.
    pub fn bad(text: &str) -> Self {
        Self { text: Plain::summary(text), role: Role::Error, since: None }
    }
}
