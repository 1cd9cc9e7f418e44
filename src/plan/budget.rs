//! Budgets as people write them: `$2`, `200k tokens`, `10 min`, `50 calls`, or several of these with commas between.

use super::Budget;
use crate::text::{cost, duration, thousands};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is no budget, and how one is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BudgetFault(String);

/// How a budget is written, for those who wrote something else.
const FORMS: &str = "`$2`, `200k tokens`, `10 min` or `50 calls`, or several of these with commas between";

impl Budget {
    /// Reads a budget as a person writes it.
    ///
    /// # Errors
    /// What can't be read, and how it is written.
    pub fn parse(text: &str) -> Result<Self, BudgetFault> {
        let mut budget = Self::default();
        for part in parts(text) {
            budget.take(part).map_err(BudgetFault)?;
        }
        if budget == Self::default() { Err(BudgetFault(format!("a budget is {FORMS}"))) } else { Ok(budget) }
    }

    fn take(&mut self, part: &str) -> Result<(), String> {
        let wrong = || format!("`{part}` is no budget: write {FORMS}");
        let twice = || format!("`{part}` caps again what is capped already");
        let (is_money, bare) = part.strip_prefix('$').map_or((false, part), |rest| (true, rest.trim()));
        let digits = bare.find(|c: char| !(c.is_ascii_digit() || ".,_".contains(c))).unwrap_or(bare.len());
        let (number, unit) = bare.split_at(digits);
        let number: f64 = number.replace(['_', ','], "").parse().map_err(|_| wrong())?;
        let unit = unit.trim().to_lowercase();
        let (times, unit) = match unit.split_once(' ').unwrap_or((unit.as_str(), "")) {
            ("k", rest) => (1e3, rest),
            ("m", rest) if !rest.is_empty() => (1e6, rest),
            _ => (1.0, unit.as_str()),
        };
        let (number, unit) = (number * times, unit.trim());
        if !(number.is_finite() && number > 0.0) {
            return Err(format!("`{part}` is no budget: it must be more than 0"));
        }
        let free = match unit {
            "" | "usd" | "dollars" | "dollar" if is_money || !unit.is_empty() => self.usd.replace(number).is_none(),
            _ if is_money => return Err(wrong()),
            "tokens" | "token" | "tok" => self.tokens.replace(whole(number).ok_or_else(wrong)?).is_none(),
            "ktokens" | "ktok" => self.tokens.replace(whole(number * 1e3).ok_or_else(wrong)?).is_none(),
            "mtokens" | "mtok" => self.tokens.replace(whole(number * 1e6).ok_or_else(wrong)?).is_none(),
            "calls" | "call" | "model calls" | "model call" => self.model_calls.replace(whole(number).ok_or_else(wrong)?).is_none(),
            "s" | "sec" | "secs" | "second" | "seconds" => self.seconds.replace(number).is_none(),
            "m" | "min" | "mins" | "minute" | "minutes" => self.seconds.replace(number * 60.0).is_none(),
            "h" | "hour" | "hours" => self.seconds.replace(number * 3_600.0).is_none(),
            _ => return Err(wrong()),
        };
        if free { Ok(()) } else { Err(twice()) }
    }

    /// As it is written; empty where nothing is capped.
    pub fn label(&self) -> String {
        let parts = [
            self.usd.map(|usd| cost(usd).into_string()),
            self.tokens.map(|tokens| format!("{} tokens", thousands(tokens))),
            self.model_calls.map(|calls| if calls == 1 { "1 call".to_owned() } else { format!("{} calls", thousands(calls)) }),
            self.seconds.map(|seconds| duration((seconds * 1e3) as u64).into_string()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The same as one types it, to be changed: what `parse` reads back equal.
    pub fn written(&self) -> String {
        let parts = [
            self.usd.map(|usd| format!("${usd}")),
            self.tokens.map(|tokens| format!("{tokens} tokens")),
            self.model_calls.map(|calls| format!("{calls} calls")),
            self.seconds.map(|seconds| if seconds % 60.0 == 0.0 { format!("{} min", seconds / 60.0) } else { format!("{seconds} s") }),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// How much one might add to it, in what it counts.
    pub fn examples(&self) -> String {
        let parts = [
            self.usd.map(|_| "`$1`"),
            self.tokens.map(|_| "`5k tokens`"),
            self.model_calls.map(|_| "`5 calls`"),
            self.seconds.map(|_| "`5 min`"),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" or ")
    }

    /// Caps of `other` in the place of these, where it has one.
    #[must_use]
    pub fn overridden(&self, other: &Self) -> Self {
        Self {
            tokens: other.tokens.or(self.tokens),
            usd: other.usd.or(self.usd),
            seconds: other.seconds.or(self.seconds),
            model_calls: other.model_calls.or(self.model_calls),
        }
    }

    /// One of so many equal parts, so that together they are no more.
    #[must_use]
    pub fn part_of(&self, parts: u32) -> Self {
        let parts = parts.max(1);
        Self {
            tokens: self.tokens.map(|cap| cap / u64::from(parts)),
            usd: self.usd.map(|cap| cap / f64::from(parts)),
            seconds: self.seconds,
            model_calls: self.model_calls.map(|cap| cap / u64::from(parts)),
        }
    }

    /// Raises the caps that there are; says whether there was one to raise.
    pub fn raise(&mut self, more: &Self) -> bool {
        let before = self.clone();
        if let (Some(cap), Some(more)) = (&mut self.tokens, more.tokens) {
            *cap = cap.saturating_add(more);
        }
        if let (Some(cap), Some(more)) = (&mut self.usd, more.usd) {
            *cap += more;
        }
        if let (Some(cap), Some(more)) = (&mut self.seconds, more.seconds) {
            *cap += more;
        }
        if let (Some(cap), Some(more)) = (&mut self.model_calls, more.model_calls) {
            *cap = cap.saturating_add(more);
        }
        *self != before
    }
}

/// A budget in settings, as people write it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct WrittenBudget(pub Budget);

impl TryFrom<String> for WrittenBudget {
    type Error = BudgetFault;

    fn try_from(text: String) -> Result<Self, BudgetFault> {
        Budget::parse(&text).map(Self)
    }
}

impl From<WrittenBudget> for String {
    fn from(budget: WrittenBudget) -> Self {
        budget.0.written()
    }
}

/// What stands between commas that are not inside of a number.
fn parts(text: &str) -> Vec<&str> {
    let is_inside = |at: usize| {
        let digits = text[at + 1..].chars().take_while(char::is_ascii_digit).count();
        digits == 3 && text[..at].ends_with(|before: char| before.is_ascii_digit())
    };
    let (mut found, mut from) = (Vec::new(), 0);
    for (at, _) in text.match_indices(',').filter(|(at, _)| !is_inside(*at)) {
        found.push(&text[from..at]);
        from = at + 1;
    }
    found.push(&text[from..]);
    found.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// A number of things that can be counted.
fn whole(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && number < 1e15).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_budget_is_read_as_people_write_it() {
        let budget = |tokens, usd, seconds, model_calls| Ok(Budget { tokens, usd, seconds, model_calls });
        assert_eq!(Budget::parse("$2"), budget(None, Some(2.0), None, None));
        assert_eq!(Budget::parse("0.5 usd"), budget(None, Some(0.5), None, None));
        assert_eq!(Budget::parse("200k tokens"), budget(Some(200_000), None, None, None));
        assert_eq!(Budget::parse("1.5 M tokens"), budget(Some(1_500_000), None, None, None));
        assert_eq!(Budget::parse("$2,000, 5,000 tokens"), budget(Some(5_000), Some(2_000.0), None, None));
        assert_eq!(Budget::parse("200ktokens"), budget(Some(200_000), None, None, None));
        assert_eq!(Budget::parse("10m"), budget(None, None, Some(600.0), None));
        assert_eq!(Budget::parse("$2, 90 s, 50 calls"), budget(None, Some(2.0), Some(90.0), Some(50)));
    }

    #[test]
    fn what_is_no_budget_is_refused_with_the_forms_that_are() {
        for wrong in ["", "2", "lots", "$2 tokens", "0 calls", "1.5 calls", "$2, $3", "-1 tokens", "200k"] {
            let error = Budget::parse(wrong).unwrap_err().to_string();
            assert!(error.contains("budget") || error.contains("capped already"), "{wrong}: {error}");
        }
    }

    proptest! {
        #[test]
        fn a_budget_that_is_written_reads_back_equal(
            tokens in prop::option::of(1_u64..1_000_000), cents in prop::option::of(1_u32..10_000),
            seconds in prop::option::of(1_u32..10_000), model_calls in prop::option::of(1_u64..1_000),
        ) {
            let (usd, seconds) = (cents.map(|cents| f64::from(cents) / 100.0), seconds.map(f64::from));
            let budget = Budget { tokens, usd, seconds, model_calls };
            prop_assume!(budget != Budget::default());
            prop_assert_eq!(Budget::parse(&budget.written()), Ok(budget));
        }
    }
}
