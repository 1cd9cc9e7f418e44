//! What model calls cost and how much a model takes in: slim dated tables that are shipped, with the user's own figures over them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::engine::TokenUsage;
use crate::plan::listed;

/// The price of a model in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// US dollars per million prompt tokens.
    pub prompt: f64,
    /// US dollars per million answer tokens.
    pub completion: f64,
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
}

impl Prices {
    /// The shipped table.
    pub fn shipped() -> Self {
        // The file is part of the program and a test reads it, so the default is never used.
        toml::from_str(include_str!("prices.toml")).unwrap_or_default()
    }

    /// The shipped table with other prices over it.
    pub fn with(overrides: &BTreeMap<String, Price>) -> Self {
        let mut prices = Self::shipped();
        prices.models.extend(overrides.iter().map(|(name, price)| (name.clone(), *price)));
        prices
    }

    /// The price of a model, whatever provider, date or version its name has.
    pub fn of(&self, model: &str) -> Option<Price> {
        listed(&self.models, model).copied()
    }

    /// What a call cost in US dollars, if the model's price is known.
    pub fn cost(&self, model: &str, usage: TokenUsage) -> Option<f64> {
        let price = self.of(model)?;
        Some((usage.prompt as f64 * price.prompt + usage.completion as f64 * price.completion) / 1e6)
    }
}

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
    fn providers_dates_and_versions_are_looked_through() {
        let prices = Prices::shipped();
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
    }

    #[test]
    fn the_users_prices_win() {
        let own = BTreeMap::from([("gpt-4o".to_owned(), Price { prompt: 1.0, completion: 1.0 })]);
        assert_eq!(Prices::with(&own).of("gpt-4o"), Some(Price { prompt: 1.0, completion: 1.0 }));
    }
}
