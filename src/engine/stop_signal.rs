//! `StopSignal`: a signal from outside that stops a program, and with it the runs that it drives.

use serde::{Deserialize, Serialize};

/// A signal that stops the program. Its runs can be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopSignal {
    /// The terminal was closed.
    #[serde(rename = "SIGHUP")]
    HangUp = 1,
    #[serde(rename = "SIGINT")]
    Interrupt = 2,
    #[serde(rename = "SIGTERM")]
    Terminate = 15,
}

impl StopSignal {
    pub fn name(self) -> &'static str {
        match self {
            Self::HangUp => "SIGHUP",
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        }
    }

    pub fn number(self) -> u8 {
        self as u8
    }
}
