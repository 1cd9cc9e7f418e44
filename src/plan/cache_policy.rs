//! `CachePolicy`: what a node's `cache` says: that its result is never taken from an earlier run, or how old such a one may be.

use serde_json::Value;

/// What a plan says of the cache of results.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CachePolicy {
    /// Its result is neither taken from the cache nor kept there.
    Off,
    /// Seconds that a result may be old.
    Ttl(f64),
}

/// A `cache` that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{written} says nothing about the cache: write \"off\", or {{\"ttl_s\": seconds}}")]
pub struct CachePolicyError {
    written: String,
}

impl CachePolicy {
    /// `"off"`, or `{"ttl_s": seconds}`.
    ///
    /// # Errors
    /// What it may be.
    pub fn read(written: &Value) -> Result<Self, CachePolicyError> {
        if written == "off" {
            return Ok(Self::Off);
        }
        let only = written.as_object().filter(|object| object.len() == 1).and_then(|object| object.get("ttl_s"));
        let seconds = only.and_then(Value::as_f64).filter(|seconds| *seconds > 0.0);
        seconds.map(Self::Ttl).ok_or_else(|| CachePolicyError { written: written.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_cache_is_off_or_has_a_time_above_nothing() {
        assert_eq!(CachePolicy::read(&json!("off")), Ok(CachePolicy::Off));
        assert_eq!(CachePolicy::read(&json!({"ttl_s": 3600})), Ok(CachePolicy::Ttl(3600.0)));
        for wrong in [json!("on"), json!(5), json!({}), json!({"ttl_s": 0}), json!({"ttl_s": "1h"}), json!({"ttl_s": 1, "x": 2})] {
            assert!(CachePolicy::read(&wrong).is_err(), "{wrong}");
        }
    }
}
