//! `RunStatus`: how a run is, in one word, the same in header, list, shell and JSON.

use crate::engine::{Outcome, Pace, RunState, StopSignal};
use crate::text::Glyph;
use serde::{Deserialize, Serialize};

/// How a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    #[default]
    Running,
    /// A person paused it, and some nodes still finish.
    Pausing,
    Paused,
    /// All that is left waits for people's replies.
    Waiting,
    /// All that is left is held by breakpoints or people, and no gate is open.
    Held,
    /// The process that drove it ended in the middle of work.
    Interrupted,
    /// No process drives it, and none ended in the middle of work: what is left starts once somebody resumes it.
    #[strum(serialize = "not under way")]
    NotUnderWay,
    /// Its journal can't be written, so nothing of it goes on.
    Frozen,
    Succeeded,
    Partial,
    Rehearsed,
    Failed,
    Cancelled,
}

impl From<Outcome> for RunStatus {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Succeeded => Self::Succeeded,
            Outcome::Partial => Self::Partial,
            Outcome::Rehearsed => Self::Rehearsed,
            Outcome::Failed => Self::Failed,
            Outcome::Cancelled => Self::Cancelled,
        }
    }
}

impl RunStatus {
    /// The word on screens and in JSON.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// The word, and for one that was interrupted the signal that did it, where that is known.
    pub fn label(self, signal: Option<StopSignal>) -> String {
        let signal = signal.filter(|_| self == Self::Interrupted).map(|signal| format!(" by {}", signal.name()));
        format!("{}{}", self.word(), signal.unwrap_or_default())
    }

    pub fn glyph(self) -> Glyph {
        match self {
            Self::Running => Glyph::Running,
            Self::Pausing | Self::Paused | Self::Held | Self::NotUnderWay => Glyph::Held,
            Self::Waiting => Glyph::Waiting,
            Self::Interrupted | Self::Frozen => Glyph::Unknown,
            Self::Succeeded => Glyph::Succeeded,
            Self::Partial => Glyph::Warning,
            Self::Rehearsed => Glyph::Rehearsed,
            Self::Failed => Glyph::Failed,
            Self::Cancelled => Glyph::Cancelled,
        }
    }

    /// Whether its nodes work right now.
    pub fn is_at_work(self) -> bool {
        matches!(self, Self::Running | Self::Pausing)
    }

    /// Whether its time goes by: it is open, and somebody or something goes on with it. Waits and pauses are part of its time.
    pub fn is_timed(self) -> bool {
        matches!(self, Self::Running | Self::Pausing | Self::Paused | Self::Waiting | Self::Held)
    }
}

impl RunState {
    /// How the run is by its journal; whether a process drives it, only the host knows.
    pub fn status(&self) -> RunStatus {
        match (self.outcome(), self.pace()) {
            (Some((outcome, _)), _) => outcome.into(),
            (None, Pace::Paused) => RunStatus::Paused,
            (None, Pace::Going | Pace::Pausing) if self.is_parked() && self.open_gates().next().is_some() => RunStatus::Waiting,
            (None, Pace::Going | Pace::Pausing) if self.is_parked() => RunStatus::Held,
            (None, Pace::Pausing) => RunStatus::Pausing,
            (None, Pace::Going) => RunStatus::Running,
        }
    }

    /// How the run is if no process drives it: interrupted if the last one ended in the middle of work.
    pub fn status_without_driver(&self) -> RunStatus {
        match self.status() {
            RunStatus::Running | RunStatus::Pausing if self.is_idle() && self.interrupted_by().is_none() => RunStatus::NotUnderWay,
            RunStatus::Running | RunStatus::Pausing => RunStatus::Interrupted,
            status => status,
        }
    }
}
