//! `Clock`: where the host gets its time from, so that tests can bring their own.

use crate::engine::Time;
use std::time::{SystemTime, UNIX_EPOCH};

/// Says what time it is.
pub trait Clock: Send + Sync {
    fn now(&self) -> Time;
}

#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Time(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}
