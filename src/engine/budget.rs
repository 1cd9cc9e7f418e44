//! What may be spent: amounts of tokens, money and model calls, what a call takes of them at most, and what caps leave. Figures only: who
//! may call is in `decide/budget.rs`, what is taken and given back in `evolve/spend.rs`.

use super::usage::{TokenUsage, is_zero};
use crate::plan::{Budget, NodeId, value_text};
use crate::text::thousands;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Billionths in a US dollar.
const NANO: f64 = 1e9;

/// So much of everything that caps count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CapAmount {
    /// Tokens of prompts and answers.
    #[serde(skip_serializing_if = "is_zero")]
    pub tokens: u64,
    /// Billionths of a US dollar, so that sums are exact.
    #[serde(skip_serializing_if = "is_zero")]
    pub nano_usd: u64,
    /// Model calls.
    #[serde(skip_serializing_if = "is_zero")]
    pub calls: u64,
}

impl CapAmount {
    /// What a finished model call took.
    pub fn of(usage: TokenUsage, cost_usd: Option<f64>) -> Self {
        Self { tokens: usage.total(), nano_usd: nano_usd(cost_usd.unwrap_or_default()), calls: 1 }
    }

    /// Billionths of US dollars, rather too many than too few.
    pub fn of_usd(usd: f64) -> u64 {
        nano_usd(usd)
    }

    /// Its money in US dollars.
    pub fn usd(self) -> f64 {
        self.nano_usd as f64 / NANO
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            nano_usd: self.nano_usd.saturating_add(other.nano_usd),
            calls: self.calls.saturating_add(other.calls),
        }
    }

    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            nano_usd: self.nano_usd.saturating_sub(other.nano_usd),
            calls: self.calls.saturating_sub(other.calls),
        }
    }
}

/// US dollars in billionths, rather too many than too few.
pub(super) fn nano_usd(usd: f64) -> u64 {
    (usd * NANO).ceil() as u64
}

/// What a token costs at most, in billionths of a US dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenPrice {
    pub prompt: u64,
    pub answer: u64,
}

impl TokenPrice {
    fn of(self, usage: TokenUsage) -> u64 {
        usage.prompt.saturating_mul(self.prompt).saturating_add(usage.completion.saturating_mul(self.answer))
    }

    fn dearest(self) -> u64 {
        self.prompt.max(self.answer)
    }
}

/// What a model call takes at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallNeed {
    /// Tokens of its prompt at most.
    pub prompt: u64,
    /// Tokens of the shortest answer that is worth a call.
    pub least: u64,
    /// Tokens of the longest answer that it has use for.
    pub most: u64,
    /// Tokens of a last turn that is to stay possible behind it, prompt and answer; 0 where there is nothing to hand back.
    #[serde(skip_serializing_if = "is_zero")]
    pub last: u64,
    /// Absent where nobody knows it: then no money is reserved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<TokenPrice>,
}

impl CallNeed {
    /// The call with an answer of so many tokens.
    pub(super) fn turn(&self, answer: u64) -> CapAmount {
        self.amount(TokenUsage::of(self.prompt, answer), 1)
    }

    /// The last turn behind it.
    pub(super) fn last_turn(&self) -> CapAmount {
        let dearest = self.price.unwrap_or_default().dearest();
        CapAmount { tokens: self.last, nano_usd: self.last.saturating_mul(dearest), calls: u64::from(self.last > 0) }
    }

    /// So much of what it needs, at its prices.
    pub fn amount(&self, usage: TokenUsage, calls: u64) -> CapAmount {
        CapAmount { tokens: usage.total(), nano_usd: self.price.unwrap_or_default().of(usage), calls }
    }
}

/// How much a person adds to a budget, as they write it.
///
/// # Errors
/// What is wrong with it.
pub(super) fn more(value: &Value) -> Result<Budget, String> {
    Budget::parse(&value_text(value)).map_err(|fault| fault.to_string())
}

/// What a million tokens of prompts and of answers cost, as a person says it.
///
/// # Errors
/// What is wrong with it.
pub(super) fn price(value: &Value) -> Result<TokenPrice, String> {
    let text = value_text(value);
    let wrong =
        || format!("`{text}` is no price: write dollars for a million tokens, of prompts and of answers, as in `0.15, 0.6`, or `0`");
    if text.trim() == "0" {
        return Ok(TokenPrice::default());
    }
    let (prompt, answer) = text.split_once(',').ok_or_else(wrong)?;
    let nano = |part: &str| {
        let usd = part.trim().trim_start_matches('$').parse::<f64>().ok().filter(|usd| usd.is_finite() && *usd >= 0.0);
        usd.map(|usd| (usd * 1e3).ceil() as u64).ok_or_else(wrong)
    };
    Ok(TokenPrice { prompt: nano(prompt)?, answer: nano(answer)? })
}

/// What is kept for one model call, and for the last turn behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    pub need: CallNeed,
    pub call: CapAmount,
    pub last: CapAmount,
    /// It is the last turn itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_cap: bool,
}

/// What a model call may take, as its worker hears it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    /// Tokens of its prompt and its answer together.
    pub tokens: u64,
    /// There is no other turn behind it: a budget is used up.
    pub at_cap: bool,
}

/// What a node, with all that runs inside it, or the run has taken and keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    pub used: CapAmount,
    /// For calls under way.
    pub reserved: CapAmount,
    /// For the last turns of agents at work.
    pub kept: CapAmount,
}

impl Account {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { used: self.used.plus(other.used), reserved: self.reserved.plus(other.reserved), kept: self.kept.plus(other.kept) }
    }
}

/// Whose budget it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "of")]
pub enum BudgetScope {
    Run,
    Node {
        node: NodeId,
    },
    /// The node and what only it feeds.
    Branch {
        node: NodeId,
    },
}

impl BudgetScope {
    /// As in "the budget of …".
    pub fn label(&self) -> String {
        match self {
            Self::Run => "the run".to_owned(),
            Self::Node { node } => format!("`{node}`"),
            Self::Branch { node } => format!("the branch at `{node}`"),
        }
    }
}

/// What caps leave; absent: no cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CapRoom {
    tokens: Option<u64>,
    nano_usd: Option<u64>,
    calls: Option<u64>,
}

impl CapRoom {
    /// Whether a budget caps what model calls take.
    pub fn is_capped(budget: &Budget) -> bool {
        budget.tokens.is_some() || budget.usd.is_some() || budget.model_calls.is_some()
    }

    /// What is left of a budget of which so much is taken.
    pub fn left(budget: &Budget, taken: CapAmount) -> Self {
        Self {
            tokens: budget.tokens.map(|cap| cap.saturating_sub(taken.tokens)),
            nano_usd: budget.usd.map(|cap| ((cap * NANO) as u64).saturating_sub(taken.nano_usd)),
            calls: budget.model_calls.map(|cap| cap.saturating_sub(taken.calls)),
        }
    }

    /// What both leave.
    pub fn and(self, other: Self) -> Self {
        let least = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        Self {
            tokens: least(self.tokens, other.tokens),
            nano_usd: least(self.nano_usd, other.nano_usd),
            calls: least(self.calls, other.calls),
        }
    }

    /// What is left without an amount; none where it doesn't fit.
    pub fn without(self, amount: CapAmount) -> Option<Self> {
        let rest = |left: Option<u64>, taken: u64| match left {
            Some(left) => left.checked_sub(taken).map(Some),
            None => Some(None),
        };
        Some(Self {
            tokens: rest(self.tokens, amount.tokens)?,
            nano_usd: rest(self.nano_usd, amount.nano_usd)?,
            calls: rest(self.calls, amount.calls)?,
        })
    }

    /// Tokens of the longest answer that fits behind the call's prompt, for one of so many that share what there is; none where not even
    /// the shortest fits.
    pub fn answer(self, need: &CallNeed, sharers: u64) -> Option<u64> {
        let spare = self.without(need.turn(need.least))?;
        let price = need.price.unwrap_or_default().answer;
        let of_money = spare.nano_usd.and_then(|nano| nano.checked_div(price));
        let more = spare.tokens.into_iter().chain(of_money).min();
        let share = more.map(|more| (more / sharers.max(1)).max(COMFORTABLE.min(more)));
        Some(share.map_or(need.most, |share| need.least.saturating_add(share)).min(need.most).max(need.least))
    }

    /// Tokens that a last turn may take, prompt and answer, no more than it has use for; none where it doesn't fit.
    pub fn last_turn(self, need: &CallNeed) -> Option<CapAmount> {
        self.without(need.last_turn()).filter(|_| need.last > 0)?;
        let price = need.price.unwrap_or_default().dearest();
        let of_money = self.nano_usd.and_then(|nano| nano.checked_div(price));
        let wanted = need.prompt.saturating_add(need.most.min(COMFORTABLE)).max(need.last);
        let tokens = self.tokens.into_iter().chain(of_money).fold(wanted, u64::min);
        Some(CapAmount { tokens, nano_usd: tokens.saturating_mul(price), calls: 1 })
    }
}

/// Tokens of an answer that is long enough for most: nobody gets less because others may want some too.
const COMFORTABLE: u64 = 2_048;

/// Why a budget doesn't hold a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// It does once calls under way have settled and have taken less.
    Later,
    /// What is used, reserved and wanted.
    Never(String),
}

/// What is reserved for a call out of a budget of which so much is taken, for one of so many that share it.
///
/// # Errors
/// When it doesn't fit.
pub fn reservation(budget: &Budget, account: &Account, need: &CallNeed, sharers: u64) -> Result<CapAmount, Shortage> {
    let answer = |taken: CapAmount| CapRoom::left(budget, taken).answer(need, sharers);
    match answer(account.used.plus(account.reserved).plus(account.kept)) {
        Some(answer) => Ok(need.turn(answer)),
        None if answer(account.used).is_some() => Err(Shortage::Later),
        None => Err(Shortage::Never(figures(budget, *account, need.turn(need.least)))),
    }
}

/// Of the first cap that doesn't hold so much: how much of it is used, is reserved, and is wanted.
pub(super) fn figures(budget: &Budget, account: Account, wants: CapAmount) -> String {
    let taken = account.reserved.plus(account.kept);
    let dollars = |nano: u64| format!("${:.4}", CapAmount { nano_usd: nano, ..CapAmount::default() }.usd());
    let line = |cap: String, unit: &str, [used, taken, wants]: [String; 3]| {
        format!("of {cap}{unit} {used} are used and {taken} reserved, and the next call may take {wants}")
    };
    let whole = |cap: Option<u64>, unit: &str, figures: [u64; 3]| {
        let cap = cap.filter(|cap| figures.iter().fold(0, |all: u64, part| all.saturating_add(*part)) > *cap)?;
        Some(line(thousands(cap), unit, figures.map(thousands)))
    };
    let tokens = whole(budget.tokens, " tokens", [account.used.tokens, taken.tokens, wants.tokens]);
    let calls = || whole(budget.model_calls, " model calls", [account.used.calls, taken.calls, wants.calls]);
    let money = || budget.usd.map(|cap| line(format!("${cap}"), "", [account.used.nano_usd, taken.nano_usd, wants.nano_usd].map(dollars)));
    tokens.or_else(calls).or_else(money).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need() -> CallNeed {
        CallNeed { prompt: 100, least: 64, most: 8_000, last: 300, price: Some(TokenPrice { prompt: 10, answer: 40 }) }
    }

    #[test]
    fn the_longest_answer_is_what_the_tightest_cap_leaves_behind_the_prompt() {
        let room = |budget: &Budget| CapRoom::left(budget, CapAmount::default()).answer(&need(), 1);
        assert_eq!(room(&Budget::default()), Some(8_000));
        assert_eq!(room(&Budget { tokens: Some(1_100), ..Budget::default() }), Some(1_000));
        // 1,000 for the prompt, 40,000 for the answer.
        assert_eq!(room(&Budget { usd: Some(41_000e-9), ..Budget::default() }), Some(1_000));
        assert_eq!(room(&Budget { tokens: Some(163), ..Budget::default() }), None);
        assert_eq!(room(&Budget { model_calls: Some(1), tokens: Some(164), ..Budget::default() }), Some(64));
    }

    #[test]
    fn those_who_share_a_cap_get_a_part_of_it_each_as_long_as_that_is_enough() {
        let room = |tokens| CapRoom::left(&Budget { tokens: Some(tokens), ..Budget::default() }, CapAmount::default()).answer(&need(), 4);
        assert_eq!(room(164 + 16_000), Some(64 + 4_000));
        assert_eq!(room(164 + 4_000), Some(64 + 2_048));
        assert_eq!(room(164 + 1_000), Some(64 + 1_000));
    }

    #[test]
    fn a_last_turn_takes_no_more_than_there_is() {
        let room = |tokens| CapRoom::left(&Budget { tokens: Some(tokens), ..Budget::default() }, CapAmount::default()).last_turn(&need());
        assert_eq!(room(299), None);
        assert_eq!(room(300).map(|amount| (amount.tokens, amount.nano_usd)), Some((300, 12_000)));
        assert_eq!(room(9_000).map(|amount| amount.tokens), Some(100 + 2_048));
    }
}
