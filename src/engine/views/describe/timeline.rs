//! What a node did for a while, and what let it start: glyphs, labels, sentences.

use crate::engine::{After, Doing, StartCause};
use crate::text::Glyph;

impl Doing {
    pub const ALL: [Self; 8] = [Self::Inputs, Self::Slot, Self::Held, Self::Gate, Self::Model, Self::Working, Self::Resting, Self::Unknown];

    /// Its glyph, label and description.
    fn shown(self) -> (Glyph, &'static str, &'static str) {
        match self {
            Self::Inputs => (Glyph::Pending, "inputs", "waits for its inputs"),
            Self::Slot => (Glyph::Ready, "slot", "waits for a slot"),
            Self::Held => (Glyph::Held, "held", "is held"),
            Self::Gate => (Glyph::Gate, "gate", "waits at a gate"),
            Self::Model => (Glyph::BarEmpty, "model", "waits for its model"),
            Self::Working => (Glyph::BarFull, "work", "works"),
            Self::Resting => (Glyph::Retrying, "retry", "waits for its next attempt"),
            Self::Unknown => (Glyph::Unknown, "unknown", "waits for a person to say what happened"),
        }
    }

    pub fn glyph(self) -> Glyph {
        self.shown().0
    }

    /// In a word, for legends.
    pub fn label(self) -> &'static str {
        self.shown().1
    }

    pub fn description(self) -> &'static str {
        self.shown().2
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
