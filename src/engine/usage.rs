//! Tokens of model calls.

use serde::{Deserialize, Serialize};

/// Tokens of one or more model calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    pub prompt: u64,
    pub completion: u64,
    /// Of the prompt: read from the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached: u64,
    /// Of the prompt: written to the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_written: u64,
    /// Of the answer: thinking that is no part of its text.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands in a reference")]
pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl TokenUsage {
    /// Tokens of a prompt and an answer, nothing known of caches and thinking.
    pub fn of(prompt: u64, completion: u64) -> Self {
        Self { prompt, completion, ..Self::default() }
    }

    /// Prompt and answer together.
    pub fn total(self) -> u64 {
        self.prompt + self.completion
    }

    /// Adds another call's usage.
    pub fn add(&mut self, other: Self) {
        self.prompt += other.prompt;
        self.completion += other.completion;
        self.cached += other.cached;
        self.cache_written += other.cache_written;
        self.reasoning += other.reasoning;
    }

    /// What is left without a part of it.
    #[must_use]
    pub fn without(self, part: Self) -> Self {
        Self {
            prompt: self.prompt.saturating_sub(part.prompt),
            completion: self.completion.saturating_sub(part.completion),
            cached: self.cached.saturating_sub(part.cached),
            cache_written: self.cache_written.saturating_sub(part.cache_written),
            reasoning: self.reasoning.saturating_sub(part.reasoning),
        }
    }
}
