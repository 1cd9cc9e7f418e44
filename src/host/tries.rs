//! `Tries`: makes one model call in as many tries as it may have. Each goes past the limits of its provider and is on record; whoever keeps
//! the record says whether another one follows.

use super::{provider::Provider, purse::Purses};
use crate::engine::{CallNeed, Cause, FailedTry, ModelCall, TokenPrice, TokenUsage, TryVerdict, UNHEARD, next_try};
use crate::models::{AutoModel, ChatAnswer, ChatModel, ChatRequest, Delta, ModelError, ModelErrorKind, tokens};
use crate::plan::Retry;
use crate::text::duration;
use async_trait::async_trait;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

/// Keeps the tries of one call on record.
#[async_trait]
pub(super) trait TryRecord: Send + Sync {
    /// Tokens that the next try may take, prompt and answer, where a budget says so.
    fn within(&self) -> Option<u64> {
        None
    }

    /// The call waits for a place at its provider.
    fn waits(&self, reason: Cause);

    /// A try is sent, which counts with this if nobody hears its end.
    fn sent(&self, unheard: ModelCall);

    /// It is sent again at once, otherwise.
    fn again(&self, failed: FailedTry);

    fn answers(&self);

    /// A try failed: how long until the next one; none when the call has failed for good.
    async fn failed(&self, failed: FailedTry) -> Option<Duration>;
}

/// A model and the way to it.
#[derive(Clone)]
pub(super) struct Tries {
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) provider: Arc<Provider>,
    pub(super) purses: Purses,
}

impl Tries {
    /// Tries until there is an answer, or there won't be one.
    ///
    /// # Errors
    /// Why the last try failed. Nobody needs to try again then.
    pub(super) async fn chat(
        &self,
        request: &ChatRequest,
        record: &dyn TryRecord,
        sink: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<ChatAnswer, ModelError> {
        // What answers cost that were no use.
        let (mut used, mut lost) = (0, TokenUsage::default());
        loop {
            let waits = |reason: Cause| record.waits(reason);
            let place = self.provider.enter(self.model.as_ref(), tokens::count_prompt(request), &waits).await;
            let mut shares = self.purses.enter(self.model.as_ref(), request, &waits).await?;
            let most = record.within().into_iter().chain(shares.tokens()).min();
            let bounded = most.map(|tokens| within(request, tokens)).transpose()?;
            let request = bounded.as_ref().unwrap_or(request);
            let unheard = self.unheard(request, most);
            record.sent(unheard.clone());
            shares.sent();
            // What this try told by itself of answers that were no use.
            let (mut begun, mut told) = (false, TokenUsage::default());
            let mut pass = |delta: Delta| match delta {
                Delta::Otherwise { why, how, usage } => {
                    record.again(FailedTry { message: why, verdict: TryVerdict::Again, refused: false, otherwise: Some(how), usage });
                    record.sent(unheard.clone());
                    begun = false;
                }
                Delta::Restart { usage, .. } => {
                    told.add(usage.unwrap_or_default());
                    sink(delta);
                }
                Delta::Text(_) | Delta::Reasoning(_) | Delta::Call | Delta::Waits { .. } => {
                    if !std::mem::replace(&mut begun, true) {
                        record.answers();
                    }
                    sink(delta);
                }
            };
            let mut error = match self.model.chat(request, &mut pass).await {
                Ok(mut reply) => {
                    shares.settle((!reply.estimated).then_some(reply.usage), reply.cost_usd);
                    place.answered(reply.usage.total());
                    if !begun {
                        record.answers();
                    }
                    reply.cost_usd = reply.cost_usd.filter(|_| lost == TokenUsage::default());
                    reply.usage.add(lost);
                    return Ok(reply);
                }
                Err(error) => error,
            };
            let refused = error.kind == ModelErrorKind::RateLimit && error.verdict != TryVerdict::Never;
            if refused {
                match place.refused(error.verdict.wait_ms().map(Duration::from_millis)) {
                    Some(wait) => error.verdict = TryVerdict::After { ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX) },
                    None => self.provider.gives_up(&mut error),
                }
            } else {
                // Its slot is free while the call waits.
                drop(place);
                used += 1;
            }
            let usage = error.usage.or(error.kind.is_free().then(TokenUsage::default));
            shares.failed(usage, refused);
            let failed = FailedTry { message: error.message.clone(), verdict: error.verdict, refused, otherwise: None, usage };
            let usage = error.usage.map(|usage| usage.without(told)).filter(|usage| *usage != TokenUsage::default());
            lost.add(error.usage.unwrap_or_default());
            error.usage = Some(lost).filter(|lost| *lost != TokenUsage::default());
            let Some(wait) = record.failed(failed).await else { return Err(spent(error, used)) };
            let pause = duration(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
            sink(Delta::Waits { why: format!("{}; trying again in {pause}", error.message) });
            if begun {
                sink(Delta::Restart { why: error.message, usage });
            }
            // The provider itself knows when it takes a call that it refused.
            if !refused {
                tokio::time::sleep(wait).await;
            }
        }
    }

    /// What a try counts with of which nobody hears the end: all that it may take, where a budget bounds that, else its prompt, at a price
    /// that nobody knows.
    fn unheard(&self, request: &ChatRequest, most: Option<u64>) -> ModelCall {
        let prompt = most.map_or_else(
            || tokens::count_prompt(request),
            |most| tokens::at_most(&request.messages, &request.tools, request.schema.as_ref()).min(most),
        );
        let usage = TokenUsage::of(prompt, most.map_or(0, |most| most - prompt));
        let price = self.purses.prices.need(self.model.as_ref(), &request.model, CallNeed::default()).price;
        let need = CallNeed { price, ..CallNeed::default() };
        let is_free = price == Some(TokenPrice::default());
        let cost_usd = price.filter(|_| most.is_some() || is_free).map(|_| need.amount(usage, 1).usd());
        let (model, provider, finish) = (request.model.clone(), self.model.provider().to_owned(), UNHEARD.to_owned());
        ModelCall { model, provider, usage, estimated: true, cost_usd, finish, ..ModelCall::default() }
    }
}

/// The request with an answer so long at most that both fit into so many tokens.
fn within(request: &ChatRequest, tokens: u64) -> Result<ChatRequest, ModelError> {
    let prompt = tokens::at_most(&request.messages, &request.tools, request.schema.as_ref());
    let Some(room) = tokens.checked_sub(prompt).filter(|room| *room > 0) else {
        let message = format!("the prompt may take {prompt} tokens, and {tokens} are left of the budget");
        return Err(ModelError::new(ModelErrorKind::ContextTooLong, TryVerdict::Never, message).hint("raise the budget"));
    };
    let mut bounded = ChatRequest { once: true, ..request.clone() };
    bounded.settings.max_tokens = Some(request.settings.max_tokens.map_or(room, |own| own.min(room)));
    Ok(bounded)
}

/// The error of a call that has failed for good.
fn spent(mut error: ModelError, used: u32) -> ModelError {
    error.verdict = TryVerdict::Never;
    if used > 1 {
        error.message = format!("{} (tried {used} times)", error.message);
    }
    error
}

/// A model for work that no run keeps on record, such as planning: its calls are tried by the same rules.
pub(super) struct LoneModel {
    pub(super) tries: Tries,
}

#[async_trait]
impl ChatModel for LoneModel {
    fn provider(&self) -> &str {
        self.tries.model.provider()
    }

    async fn chat(&self, request: &ChatRequest, sink: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatAnswer, ModelError> {
        self.tries.chat(request, &LoneRecord::default(), sink).await
    }

    async fn auto(&self) -> Option<AutoModel> {
        self.tries.model.auto().await
    }

    async fn list(&self) -> Result<Vec<String>, ModelError> {
        self.tries.model.list().await
    }
}

/// Counts the tries of one call.
#[derive(Debug, Default)]
struct LoneRecord {
    used: AtomicU32,
}

#[async_trait]
impl TryRecord for LoneRecord {
    fn waits(&self, reason: Cause) {
        tracing::info!("{reason}");
    }

    fn sent(&self, _unheard: ModelCall) {}

    fn again(&self, failed: FailedTry) {
        tracing::info!(otherwise = failed.otherwise, "{}", failed.message);
    }

    fn answers(&self) {}

    async fn failed(&self, failed: FailedTry) -> Option<Duration> {
        let used = self.used.fetch_add(u32::from(!failed.refused), Ordering::Relaxed) + 1;
        let seed = uuid::Uuid::now_v7().to_string();
        next_try(&Retry::default(), used, &failed, &seed).map(Duration::from_millis)
    }
}
