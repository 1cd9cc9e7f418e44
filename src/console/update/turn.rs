//! `UpdateTurn`: one message being worked on, and what the world is asked to do for it.

use crate::console::model::{EditThen, Key};
use crate::engine::{StopSignal, Time};
use crate::host::client::Request;
use crate::text::Plain;

/// What is asked of the world.
#[derive(Clone, Debug, PartialEq)]
pub enum ConsoleEffect {
    Send(Request),
    /// Draw a frame soon.
    Frame,
    Repaint,
    /// Put text on the clipboard.
    Copy(String),
    /// Let the person edit text in `$EDITOR`.
    OpenEditor {
        text: String,
        /// End of the file's name.
        suffix: &'static str,
        /// What it is for.
        then: EditThen,
    },
    UseTheme(String),
    /// Gates wait: ring, and say so in the title.
    Attention {
        waiting: usize,
        /// Whether a new one opened.
        ring: bool,
    },
    /// Show the tour.
    Tour,
    /// Back to the shell until `fg`.
    Suspend,
    /// Leave, with these lines for the scrollback.
    Quit {
        summary: Vec<Plain>,
        /// What becomes of runs that go on.
        parting: Parting,
    },
}

/// What becomes of runs that go on when the console is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parting {
    /// They are cancelled.
    Cancels,
    /// They stay as they are, and can be resumed: what is at work breaks off.
    Leaves,
    /// The same, because a signal ended the console.
    Interrupted(StopSignal),
}

/// Why a key doesn't decide yet.
pub const TOO_FAST: &str = "not counted: this key came within half a second of another one; press it again";

/// One message being worked on: when it came, and what it asks of the world.
#[derive(Debug)]
pub struct UpdateTurn {
    /// When the message came.
    pub now: Time,
    /// The key, if the message is one.
    pub key: Option<Key>,
    /// Whether no key had come for a while before this message.
    pub quiet: bool,
    /// Whether the key came at once with others.
    pub in_burst: bool,
    /// What is asked of the world.
    pub effects: Vec<ConsoleEffect>,
    /// The command that comes after this one.
    pub next: Option<NextCommand>,
}

/// What a command leaves to be done after it, where all commands are known.
#[derive(Clone, Debug, PartialEq)]
pub enum NextCommand {
    /// Show the list of all commands.
    Palette,
    /// Show what can be done with the selected node and its run.
    Menu,
    /// Ask for the command that is to have other keys.
    Keys,
    /// Run the command of that id.
    Run(&'static str),
}

impl UpdateTurn {
    pub fn send(&mut self, request: Request) {
        self.effects.push(ConsoleEffect::Send(request));
    }
}
