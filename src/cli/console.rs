//! `dagdeck console`: the full-screen console on a host in this process.

use super::{ConsoleArgs, Exit, Failure, Place};

/// Opens the console.
///
/// # Errors
/// When the terminal, the configuration or the journal can't be used.
pub fn console(_args: &ConsoleArgs, _place: &Place) -> Result<Exit, Failure> {
    Err(Failure::new("no console"))
}
