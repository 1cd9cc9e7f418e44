//! Whether and when a failed try of a model call is followed by another one: one policy, for nodes and for planning. Clients send once.

use super::{TokenUsage, TryVerdict};
use crate::plan::Retry;
use serde::{Deserialize, Serialize};

/// One send of a model call that gave no answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedTry {
    /// Text for a person.
    pub message: String,
    /// Whether sending it again can help, as the client judges it.
    pub verdict: TryVerdict,
    /// The provider took no call at all, because of its rate: that uses no try.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
    /// How it is sent again at once, where the server refused or ignored a part of it: that uses no try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<String>,
    /// What the provider reported for it all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<TokenUsage>,
}

impl FailedTry {
    /// Whether it is one of the tries that a call may have.
    pub fn uses_try(&self) -> bool {
        !self.refused && self.otherwise.is_none()
    }
}

/// Milliseconds until the next try of a call that has used so many; none when it has failed for good. `seed` names the call, so that those
/// that failed together don't come back together.
pub fn next_try(retry: &Retry, used: u32, failed: &FailedTry, seed: &str) -> Option<u64> {
    match failed.verdict {
        TryVerdict::Never => None,
        // The provider's rate says when it takes calls again; what is sent otherwise is sent at once.
        TryVerdict::Again | TryVerdict::After { .. } if !failed.uses_try() => Some(failed.verdict.wait_ms().unwrap_or(0)),
        TryVerdict::Again | TryVerdict::After { .. } if used >= retry.attempts => None,
        TryVerdict::Again | TryVerdict::After { .. } => Some(pause(retry, used, seed).max(failed.verdict.wait_ms().unwrap_or(0))),
    }
}

/// Doubles each time up to the longest; between three quarters of that and all of it, by a hash: each is clearly longer than the one before.
pub(super) fn pause(retry: &Retry, used: u32, seed: &str) -> u64 {
    let doubled = retry.backoff_ms.saturating_mul(1 << used.saturating_sub(1).min(30)).min(retry.max_ms);
    let name = format!("{seed}/{used}");
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let least = doubled - doubled / 4;
    least + (hash >> 16) % (doubled / 4 + 1)
}
