//! What a node did for a while, and what let it start: glyphs, labels, sentences.

use crate::engine::{After, Doing, StartCause};
use crate::text::Glyph;

impl Doing {
    pub const ALL: [Self; 8] = [Self::Inputs, Self::Slot, Self::Held, Self::Gate, Self::Model, Self::Working, Self::Resting, Self::Unknown];

    pub fn glyph(self) -> Glyph {
        match self {
            Self::Inputs => Glyph::Pending,
            Self::Slot => Glyph::Ready,
            Self::Held => Glyph::Held,
            Self::Gate => Glyph::Gate,
            Self::Model => Glyph::BarEmpty,
            Self::Working => Glyph::BarFull,
            Self::Resting => Glyph::Retrying,
            Self::Unknown => Glyph::Unknown,
        }
    }

    /// In a word, for legends.
    pub fn label(self) -> &'static str {
        match self {
            Self::Inputs => "inputs",
            Self::Slot => "slot",
            Self::Held => "held",
            Self::Gate => "gate",
            Self::Model => "model",
            Self::Working => "work",
            Self::Resting => "retry",
            Self::Unknown => "unknown",
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Self::Inputs => "waits for its inputs",
            Self::Slot => "waits for a slot",
            Self::Held => "is held",
            Self::Gate => "waits at a gate",
            Self::Model => "waits for its model",
            Self::Working => "works",
            Self::Resting => "waits for its next attempt",
            Self::Unknown => "waits for a person to say what happened",
        }
    }
}

impl After {
    /// Label, as in `after …`.
    pub fn label(&self) -> String {
        let node = &self.node;
        match &self.by {
            StartCause::Source => node.to_string(),
            StartCause::Turn => format!("{node}, of the turn before"),
            StartCause::Slot => format!("{node}, which freed a slot"),
            StartCause::Lock { lock } => format!("{node}, which freed lock `{lock}`"),
        }
    }
}
