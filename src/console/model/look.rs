//! `Look`: the theme, and which others there are; the keys. And the one line that says what just happened.

use jiff::tz::TimeZone;

use super::Keymap;
use crate::console::theme::{Role, Theme};
use crate::engine::Time;
use crate::text::Plain;

/// How the console looks and which keys it takes.
#[derive(Clone, Debug)]
pub struct Look {
    /// What is drawn with: the theme in use, or one that is looked at.
    pub theme: Theme,
    /// Which of them it is.
    pub drawn: String,
    /// Which was asked for last.
    pub asked: String,
    /// Which is in use.
    pub name: String,
    /// Names of all themes, each with a few words about it.
    pub themes: Vec<(String, String)>,
    /// Which keys mean what.
    pub keymap: Keymap,
    /// Whether times of what runs stay as they are until something happens.
    pub reduced_motion: bool,
    /// What clocks go by.
    pub zone: TimeZone,
}

impl Look {
    /// With a theme of that name in use.
    pub fn new(theme: Theme, name: &str, themes: Vec<(String, String)>, keymap: Keymap) -> Self {
        let name = name.to_owned();
        Self { theme, drawn: name.clone(), asked: name.clone(), name, themes, keymap, reduced_motion: false, zone: TimeZone::UTC }
    }
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
