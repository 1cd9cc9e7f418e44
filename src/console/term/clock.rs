//! `TerminalClock`: moments that never go back, in the engine's terms.

use std::time::{Instant, SystemTime};

use crate::engine::Time;

/// Starts at the wall clock and runs steadily from there, whatever is done to the wall clock.
#[derive(Clone, Copy, Debug)]
pub struct TerminalClock {
    epoch: u64,
    started: Instant,
}

impl TerminalClock {
    /// A clock set by the wall clock.
    pub fn start() -> Self {
        let epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| millis(since.as_millis()));
        Self { epoch, started: Instant::now() }
    }

    pub fn now(&self) -> Time {
        Time(self.epoch).plus(millis(self.started.elapsed().as_millis()))
    }
}

fn millis(ms: u128) -> u64 {
    u64::try_from(ms).unwrap_or(u64::MAX)
}
