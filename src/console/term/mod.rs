//! The terminal device: modes, frames, input, signals, children that borrow it. Nothing else of the console touches it.
//!
//! `Term::next` says what happened, one thing at a time; the console updates its model, asks for a frame if something
//! visible changed, and draws on `TerminalEvent::FrameDue`. Nothing is written when nothing changed, and no frame is composed
//! while the terminal is still taking the last one.

mod canvas;
mod child;
mod clipboard;
mod clock;
mod keyboard;
mod limiter;
mod modes;
mod panic;
mod session;
mod signals;
mod writer;

pub use child::EditorError;
pub use clipboard::CopyReport;
pub use clock::TerminalClock;
pub use limiter::Limiter;
pub use session::{DrawResult, Term};

use crossterm::event::KeyEvent;

use crate::engine::{StopSignal, Time};

/// Names a frame that was sent to the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(pub u64);

/// What the mouse did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseAct {
    Click,
    WheelUp,
    WheelDown,
}

/// What happened at the terminal.
#[derive(Clone, Debug, PartialEq)]
pub enum TerminalEvent {
    /// A key was pressed, or repeats while held.
    Key { key: KeyEvent, at: Time },
    /// The mouse did this at a column and row.
    Mouse { what: MouseAct, place: (u16, u16), at: Time },
    /// More keys than one came at once. None of them decides; they follow, each as its own event.
    Burst { keys: usize, at: Time },
    /// Text came at once, without the brackets of a paste. Raw, as below.
    TypedAtOnce { text: String, at: Time },
    /// Text was pasted. Raw: make it `Plain` before it is drawn.
    Paste { text: String, at: Time },
    /// The terminal has another size, or was out of our hands; a frame is already asked for.
    Resized {
        /// Columns.
        width: u16,
        /// Rows.
        height: u16,
    },
    /// A frame was asked for and may be drawn now: call `Term::draw`.
    FrameDue,
    /// The terminal has taken a frame: what it shows may be counted as seen.
    Flushed {
        /// Which, as `Term::draw` called it.
        frame: FrameId,
        at: Time,
    },
    /// The program is asked to end.
    Stop(StopSignal),
    /// The terminal is gone or broken; end without it.
    Lost(String),
}

impl TerminalEvent {
    /// Whether a person did it with keys or mouse.
    pub fn is_of_person(&self) -> bool {
        match self {
            Self::Key { .. } | Self::Mouse { .. } | Self::Burst { .. } | Self::TypedAtOnce { .. } | Self::Paste { .. } => true,
            Self::Resized { .. } | Self::FrameDue | Self::Flushed { .. } | Self::Stop(_) | Self::Lost(_) => false,
        }
    }
}
