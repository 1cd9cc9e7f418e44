//! Budgets outside of runs: what a day may take, and what planning may take of the run that it is for. Each try of a model call reserves
//! in all of them what it may take at most, just before it is sent, and settles when it has ended.

use crate::engine::{Account, CallNeed, CapAmount, Cause, Shortage, TokenUsage, TryVerdict, reservation};
use crate::models::{ChatModel, ChatRequest, ModelError, ModelErrorKind, prices::Prices, tokens};
use crate::plan::Budget;
use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// How often is looked whether others have given back what they don't take: they may be other processes.
const LOOK: Duration = Duration::from_millis(200);

/// Tokens of the shortest answer that is worth a call.
const SHORTEST_ANSWER: u64 = 64;

/// A budget that is kept outside of a run.
pub(super) trait Purse: fmt::Debug + Send + Sync {
    /// Keeps what a call may take at most.
    fn reserve(&self, need: &CallNeed) -> Result<CapAmount, PurseShort>;

    /// The call has taken so much, and the rest of what was kept for it is free.
    fn settle(&self, reserved: CapAmount, taken: CapAmount);
}

/// Why a call can't be made.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PurseShort {
    /// It fits if others give back what they don't take.
    Later(Cause),
    Never {
        message: String,
        hint: String,
    },
}

/// The budgets that count what is asked of a model, and what it costs.
#[derive(Clone, Debug, Default)]
pub(super) struct Purses {
    pub(super) all: Vec<Arc<dyn Purse>>,
    pub(super) prices: Arc<Prices>,
}

impl Purses {
    /// Keeps in each of them what a try may take; waits while others have what it needs.
    ///
    /// # Errors
    /// When one of them doesn't hold it.
    pub(super) async fn enter(
        &self,
        model: &dyn ChatModel,
        request: &ChatRequest,
        waits: &(dyn Fn(Cause) + Sync),
    ) -> Result<PurseShares, ModelError> {
        let mut shares = PurseShares { kept: Vec::new(), need: CallNeed::default(), sent: false };
        if self.all.is_empty() {
            return Ok(shares);
        }
        let need = CallNeed {
            prompt: tokens::at_most(&request.messages, &request.tools, request.schema.as_ref()),
            least: SHORTEST_ANSWER,
            most: request.settings.max_tokens.unwrap_or(u64::MAX),
            ..CallNeed::default()
        };
        shares.need = self.prices.need(model, &request.model, need);
        for purse in &self.all {
            let mut told = false;
            let reserved = loop {
                match purse.reserve(&shares.need) {
                    Ok(reserved) => break reserved,
                    Err(PurseShort::Never { message, hint }) => {
                        return Err(ModelError::new(ModelErrorKind::OverBudget, TryVerdict::Never, message).hint(hint));
                    }
                    Err(PurseShort::Later(cause)) if !std::mem::replace(&mut told, true) => waits(cause),
                    Err(PurseShort::Later(_)) => tokio::time::sleep(LOOK).await,
                }
            };
            shares.kept.push((purse.clone(), reserved));
        }
        Ok(shares)
    }
}

/// What is kept for one try. Where nobody says how it ended, it took nothing before it was sent, and all of it after that.
#[derive(Debug)]
pub(super) struct PurseShares {
    kept: Vec<(Arc<dyn Purse>, CapAmount)>,
    need: CallNeed,
    sent: bool,
}

impl PurseShares {
    /// Tokens that the try may take, prompt and answer.
    pub(super) fn tokens(&self) -> Option<u64> {
        self.kept.iter().map(|(_, reserved)| reserved.tokens).min()
    }

    pub(super) fn sent(&mut self) {
        self.sent = true;
    }

    /// It has ended with what its provider reported; nothing, where that reported nothing.
    pub(super) fn settle(self, usage: Option<TokenUsage>, cost_usd: Option<f64>) {
        self.took(usage, 1, cost_usd);
    }

    /// It failed. One that only a rate refused counts as no call: the same request goes later.
    pub(super) fn failed(self, usage: Option<TokenUsage>, refused: bool) {
        let calls = u64::from(!refused || usage.is_some_and(|usage| usage.total() > 0));
        self.took(usage, calls, None);
    }

    fn took(mut self, usage: Option<TokenUsage>, calls: u64, cost_usd: Option<f64>) {
        let Some(usage) = usage else { return };
        let priced = self.need.amount(usage, calls);
        let taken = cost_usd.map_or(priced, |usd| CapAmount { nano_usd: CapAmount::of_usd(usd), ..priced });
        for (purse, reserved) in std::mem::take(&mut self.kept) {
            purse.settle(reserved, taken);
        }
    }
}

impl Drop for PurseShares {
    fn drop(&mut self) {
        for (purse, reserved) in std::mem::take(&mut self.kept) {
            purse.settle(reserved, if self.sent { reserved } else { CapAmount::default() });
        }
    }
}

/// What planning may take of the run that it is for.
#[derive(Debug)]
pub(super) struct PlanningPurse {
    budget: Budget,
    account: Mutex<Account>,
}

impl PlanningPurse {
    pub(super) fn new(budget: Budget) -> Self {
        Self { budget, account: Mutex::default() }
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Purse for PlanningPurse {
    fn reserve(&self, need: &CallNeed) -> Result<CapAmount, PurseShort> {
        let mut account = self.account();
        let reserved = reservation(&self.budget, &account, need, 1).map_err(|short| short_of("the run", short, "raise `--budget`"))?;
        account.reserved = account.reserved.plus(reserved);
        Ok(reserved)
    }

    fn settle(&self, reserved: CapAmount, taken: CapAmount) {
        let mut account = self.account();
        account.reserved = account.reserved.minus(reserved);
        account.used = account.used.plus(taken);
    }
}

/// In words whose budget is short.
pub(super) fn short_of(whose: &str, short: Shortage, hint: &str) -> PurseShort {
    match short {
        Shortage::Later => {
            PurseShort::Later(format!("waits until calls under way give back what they don't use of the budget of {whose}").into())
        }
        Shortage::Never(figures) => {
            PurseShort::Never { message: format!("the budget of {whose} is used up: {figures}"), hint: hint.to_owned() }
        }
    }
}
