//! What model calls cost and how much a model takes in: slim dated tables that are shipped, with the user's own figures over them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::ChatModel;
use crate::engine::{CallNeed, TokenPrice, TokenUsage};
use crate::plan::listed;

/// The price of a model in US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// US dollars per million prompt tokens.
    pub prompt: f64,
    /// US dollars per million answer tokens.
    pub completion: f64,
    /// US dollars per million prompt tokens that the provider has in its cache; like other prompt tokens without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// US dollars per million prompt tokens that the provider puts in its cache; like other prompt tokens without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_written: Option<f64>,
    /// US dollars per million tokens of thinking; like other answer tokens without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<f64>,
}

impl Price {
    fn of(&self, usage: TokenUsage) -> f64 {
        let plain = usage.prompt.saturating_sub(usage.cached + usage.cache_written);
        let said = usage.completion.saturating_sub(usage.reasoning);
        let parts = [
            (plain, self.prompt),
            (usage.cached.min(usage.prompt), self.cached.unwrap_or(self.prompt)),
            (usage.cache_written.min(usage.prompt), self.cache_written.unwrap_or(self.prompt)),
            (said, self.completion),
            (usage.reasoning.min(usage.completion), self.reasoning.unwrap_or(self.completion)),
        ];
        parts.iter().map(|(tokens, price)| *tokens as f64 * price).sum::<f64>() / 1e6
    }
}

/// Prices by model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prices {
    /// The day that the shipped prices were looked up.
    pub as_of: String,
    /// By model name, without provider and date.
    pub models: BTreeMap<String, Price>,
    /// How many tokens a model takes in, prompt and answer together, by the same names.
    pub windows: BTreeMap<String, u64>,
    /// How many tokens a model writes at most in one answer, by the same names.
    pub outputs: BTreeMap<String, u64>,
    /// Of the windows those that a person set.
    #[serde(skip)]
    own_windows: BTreeMap<String, u64>,
}

impl Prices {
    /// The shipped table.
    pub fn shipped() -> Self {
        // The file is part of the program and a test reads it, so the default is never used.
        toml::from_str(include_str!("prices.toml")).unwrap_or_default()
    }

    /// The shipped table with other prices and windows over it.
    pub fn with(overrides: &BTreeMap<String, Price>, windows: &BTreeMap<String, u64>) -> Self {
        let mut prices = Self::shipped();
        prices.own_windows.clone_from(windows);
        prices.windows.extend(windows.iter().map(|(name, window)| (name.clone(), *window)));
        prices.models.extend(overrides.iter().map(|(name, price)| (name.clone(), *price)));
        prices
    }

    /// The price of a model, whatever provider, date or version its name has.
    pub fn of(&self, model: &str) -> Option<Price> {
        listed(&self.models, model).copied()
    }

    /// Tokens that a model takes in, prompt and answer together.
    pub fn window(&self, model: &str) -> Option<u64> {
        listed(&self.windows, model).copied()
    }

    /// The same where a server said so: what a person set goes before its word, and that before the shipped table.
    pub fn window_beside(&self, model: &str, said: Option<u64>) -> Option<u64> {
        listed(&self.own_windows, model).copied().or(said).or_else(|| self.window(model))
    }

    /// Tokens that a model writes at most.
    pub fn output(&self, model: &str) -> Option<u64> {
        listed(&self.outputs, model).copied()
    }

    /// What a call needs of caps, with what is known of its model: the longest answer that it gives, and the dearest of its prices.
    pub fn need(&self, server: &dyn ChatModel, model: &str, need: CallNeed) -> CallNeed {
        let nano = |usd: f64| (usd * 1_000.0).ceil() as u64;
        let dearest = |price: f64, others: &[Option<f64>]| nano(others.iter().flatten().fold(price, |most, other| most.max(*other)));
        let price = self.of(model).map(|price| TokenPrice {
            prompt: dearest(price.prompt, &[price.cached, price.cache_written]),
            answer: dearest(price.completion, &[price.reasoning]),
        });
        let price = price.or_else(|| server.costs_nothing().then(TokenPrice::default));
        CallNeed { most: need.most.min(self.output(model).unwrap_or(UNKNOWN_OUTPUT)), price, ..need }
    }

    /// What a call cost in US dollars, if the model's price is known.
    pub fn cost(&self, model: &str, usage: TokenUsage) -> Option<f64> {
        Some(self.of(model)?.of(usage))
    }
}

/// Tokens of the longest answer that is asked of a model of which nobody knows how much it writes, where a cap counts them.
const UNKNOWN_OUTPUT: u64 = 8_192;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_is_dated_and_has_prices() {
        let prices = Prices::shipped();
        assert_eq!(prices.as_of.len(), "2025-09-01".len());
        assert!(prices.models.len() >= 12);
    }

    #[test]
    fn a_call_costs_prompt_and_answer() {
        let usage = TokenUsage::of(1_000_000, 500_000);
        assert_eq!(Prices::shipped().cost("gpt-4o", usage), Some(7.5));
        assert_eq!(Prices::shipped().cost("my-own-model", usage), None);
    }

    #[test]
    fn what_comes_from_a_cache_and_what_is_thought_has_its_own_price() {
        let usage = TokenUsage { cached: 600_000, cache_written: 300_000, reasoning: 50_000, ..TokenUsage::of(1_000_000, 100_000) };
        let plain = Price { prompt: 10.0, completion: 20.0, ..Price::default() };
        assert_eq!(plain.of(usage), 12.0);
        let own = Price { cached: Some(1.0), cache_written: Some(12.5), reasoning: Some(40.0), ..plain };
        assert_eq!(own.of(usage), 1.0 + 0.6 + 3.75 + 1.0 + 2.0);
    }

    #[test]
    fn providers_dates_and_versions_are_looked_through() {
        let prices = Prices::shipped();
        assert_eq!(prices.of("gpt-4o-2024-08-06"), prices.of("gpt-4o"));
        // Another number is another model.
        assert_eq!(prices.of("claude-sonnet-4-9"), None);
        for name in ["openai/gpt-4o-mini", "gpt-4o-mini-2024-07-18", "openai/gpt-4o-mini-latest"] {
            assert_eq!(prices.of(name), prices.of("gpt-4o-mini"), "{name}");
        }
        assert_eq!(prices.of("gpt-4o-audio-preview"), None);
    }

    #[test]
    fn every_model_with_a_price_has_a_window() {
        let prices = Prices::shipped();
        assert!(prices.models.keys().all(|model| prices.windows.contains_key(model)));
        assert!(prices.windows.values().all(|window| *window >= 4_096));
        assert!(prices.outputs.iter().all(|(model, most)| prices.windows.get(model).is_some_and(|window| most <= window)));
    }

    #[test]
    fn the_users_prices_win() {
        let price = Price { prompt: 1.0, completion: 1.0, ..Price::default() };
        let own = BTreeMap::from([("gpt-4o".to_owned(), price)]);
        assert_eq!(Prices::with(&own, &BTreeMap::new()).of("gpt-4o"), Some(price));
    }
}
