//! `[cache]`: which results of earlier runs are taken in place of work, and how much room they may take.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Results of earlier runs, taken where nothing that went into them has changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CacheConfig {
    /// Take and keep results. A node's `cache` and `--no-cache` turn it off for one node or run.
    pub enabled: bool,
    /// Hours that a result lives where its node says nothing else.
    pub hours: f64,
    /// Most megabytes of all results together; those that were not used for the longest time go first.
    pub max_mb: u64,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self { enabled: true, hours: 24.0, max_mb: 200 }
    }
}

impl CacheConfig {
    /// The setting that can't be, and what it may be.
    pub(super) fn fault(&self) -> Option<(&'static str, String)> {
        let is_time = self.hours.is_finite() && self.hours > 0.0;
        (!is_time).then(|| ("hours", format!("{} is no time: write hours above 0; `enabled = false` turns the cache off", self.hours)))
    }

    /// How old a result may be in milliseconds, where a node gives no time of its own in seconds.
    pub(super) fn lives_ms(&self, ttl_s: Option<f64>) -> u64 {
        let seconds = ttl_s.unwrap_or(self.hours * 3_600.0);
        if seconds.is_finite() && seconds > 0.0 { (seconds * 1_000.0) as u64 } else { 0 }
    }
}
