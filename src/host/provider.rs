//! `Provider`: the way to one provider of models, for all runs of the process: its slots, and the rate that it takes calls at. Whoever is
//! about to send a try enters here, in order, and leaves with what became of it.
//!
//! A refusal for the rate closes the way for everybody until the provider takes calls again; then they go in one by one, with a pause that
//! shrinks as long as nobody is refused.

use super::clock::{Clock, SystemClock};
use crate::engine::{Cause, Time, TryVerdict};
use crate::models::{ChatModel, ModelError, config::ProviderLimits};
use crate::text::duration;
use std::{
    collections::VecDeque,
    hash::{BuildHasher, Hasher, RandomState},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{Mutex as Line, OnceCell, OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep_until},
};

/// Slots of a provider that says nothing about them.
const SLOTS: u32 = 16;
/// What the limits of requests and tokens count over.
const MINUTE: Duration = Duration::from_secs(60);
/// How long the way stays closed where a refusal doesn't say: doubles up to the most.
const CLOSED: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));
/// The longest pause between two calls once the way is open again, and the shortest that is kept.
const PACE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_millis(20));

/// The way to one provider.
#[derive(Debug)]
pub(super) struct Provider {
    name: String,
    limits: ProviderLimits,
    slots: OnceCell<(u32, Arc<Semaphore>)>,
    /// Held by the one who goes in next.
    line: Line<()>,
    rate: Mutex<Rate>,
}

/// How fast calls may go in.
#[derive(Debug, Default)]
struct Rate {
    closed_until: Option<Instant>,
    /// How long the last refusal closed the way, where it didn't say for how long.
    closed_for: Duration,
    /// Between two calls, since a refusal.
    pace: Duration,
    next: Option<Instant>,
    /// Since when every call was refused.
    refusing: Option<Instant>,
    /// What went in during the last minute, oldest first.
    sent: VecDeque<SentCall>,
    count: u64,
}

#[derive(Debug)]
struct SentCall {
    number: u64,
    at: Instant,
    tokens: u64,
}

/// A place for one try. Gives its slot back when it is dropped.
#[derive(Debug)]
pub(super) struct ProviderSlot<'a> {
    provider: &'a Provider,
    number: u64,
    at: Instant,
    _slot: Option<OwnedSemaphorePermit>,
}

impl Provider {
    pub(super) fn new(name: String, limits: ProviderLimits) -> Self {
        Self { name, limits, slots: OnceCell::new(), line: Line::new(()), rate: Mutex::default() }
    }

    /// How many calls it works at once: as configured, else as the server says, else the default.
    pub(super) async fn slots(&self, model: &dyn ChatModel) -> u32 {
        self.semaphore(model).await.0
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    async fn semaphore(&self, model: &dyn ChatModel) -> &(u32, Arc<Semaphore>) {
        let learn = async {
            let known = match self.limits.slots {
                Some(slots) => slots,
                None => model.slots().await.unwrap_or(SLOTS),
            };
            let slots = known.max(1);
            (slots, Arc::new(Semaphore::new(slots as usize)))
        };
        self.slots.get_or_init(|| learn).await
    }

    /// Waits for a slot, then for the rate. What it waits for is told when the wait begins, and again when that changes.
    pub(super) async fn enter(&self, model: &dyn ChatModel, tokens: u64, told: &(dyn Fn(Cause) + Sync)) -> ProviderSlot<'_> {
        let slots = &self.semaphore(model).await.1;
        let slot = match Arc::clone(slots).try_acquire_owned() {
            Ok(slot) => Some(slot),
            Err(_) => {
                let closed = self.rate().closed_until.filter(|until| *until > Instant::now());
                told(closed.map_or_else(|| Cause::ModelSlot { provider: self.name.clone() }, |until| self.waits_until(until)));
                // It is never closed.
                Arc::clone(slots).acquire_owned().await.ok()
            }
        };
        let _turn = match self.line.try_lock() {
            Ok(turn) => turn,
            Err(_) => {
                let until = self.opens(tokens).unwrap_or_else(Instant::now);
                told(self.waits_until(until));
                self.line.lock().await
            }
        };
        let mut last = None;
        while let Some(until) = self.opens(tokens) {
            if last != Some(until) {
                told(self.waits_until(until));
                last = Some(until);
            }
            sleep_until(until).await;
        }
        let at = Instant::now();
        ProviderSlot { provider: self, number: self.rate().goes_in(at, tokens), at, _slot: slot }
    }

    /// When the next call may go in; none when it may go now.
    fn opens(&self, tokens: u64) -> Option<Instant> {
        let now = Instant::now();
        self.rate().opens(&self.limits, tokens, now).filter(|at| *at > now)
    }

    fn waits_until(&self, at: Instant) -> Cause {
        let left = at.saturating_duration_since(Instant::now());
        Cause::ModelRate { provider: self.name.clone(), until: self.moment(left) }
    }

    fn moment(&self, left: Duration) -> Time {
        SystemClock.now().plus(u64::try_from(left.as_millis()).unwrap_or(u64::MAX))
    }

    /// Marks the error of a call that would have to wait for too long.
    pub(super) fn gives_up(&self, error: &mut ModelError) {
        let patience = duration((self.limits.refused_s * 1000.0) as u64);
        error.verdict = TryVerdict::Never;
        error.message = format!("{}, and takes no calls within {patience}", error.message);
        error.hint = Some("run the node again later, or raise refused_s of [models.limits]".to_owned());
    }

    fn rate(&self) -> MutexGuard<'_, Rate> {
        self.rate.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ProviderSlot<'_> {
    /// The call was answered, with so many tokens.
    pub(super) fn answered(self, tokens: u64) {
        let mut rate = self.provider.rate();
        (rate.refusing, rate.closed_for) = (None, Duration::ZERO);
        let slower = rate.pace.mul_f64(0.9);
        rate.pace = if slower < PACE.1 { Duration::ZERO } else { slower };
        if let Some(sent) = rate.sent.iter_mut().find(|sent| sent.number == self.number) {
            sent.tokens = tokens;
        }
    }

    /// The provider refused the call for its rate, and perhaps said for how long. Gives how long the call must wait; none when the
    /// provider has taken none for too long, or would.
    pub(super) fn refused(self, wait: Option<Duration>) -> Option<Duration> {
        let now = Instant::now();
        let mut rate = self.provider.rate();
        // Calls that were on their way together are refused together: that is one refusal.
        let is_news = rate.closed_until.is_none_or(|until| until <= self.at);
        if wait.is_none() && is_news {
            rate.closed_for = (rate.closed_for * 2).clamp(CLOSED.0, CLOSED.1);
        }
        let closed = wait.unwrap_or(rate.closed_for);
        rate.pace = rate.pace.max(closed.clamp(PACE.1, PACE.0));
        let until = rate.closed_until.map_or(now + closed, |until| until.max(now + closed));
        rate.closed_until = Some(until);
        let since = *rate.refusing.get_or_insert(now);
        let patience = Duration::try_from_secs_f64(self.provider.limits.refused_s).unwrap_or(Duration::MAX);
        (until.saturating_duration_since(since) <= patience).then(|| until.saturating_duration_since(now))
    }
}

impl Rate {
    fn opens(&mut self, limits: &ProviderLimits, tokens: u64, now: Instant) -> Option<Instant> {
        while self.sent.front().is_some_and(|sent| sent.at + MINUTE <= now) {
            self.sent.pop_front();
        }
        let paced = self.next.filter(|_| !self.pace.is_zero());
        let requests = limits.requests_per_minute.and_then(|most| {
            let over = (self.sent.len() as u64 + 1).checked_sub(most.max(1)).filter(|over| *over > 0)?;
            self.sent.get(usize::try_from(over).ok()? - 1).map(|sent| sent.at + MINUTE)
        });
        let tokens = limits.tokens_per_minute.and_then(|most| self.frees(most, tokens));
        [self.closed_until, paced, requests, tokens].into_iter().flatten().max()
    }

    /// When so many tokens are free again. A call that is larger than the whole limit goes in alone.
    fn frees(&self, most: u64, tokens: u64) -> Option<Instant> {
        let mut taken: u64 = self.sent.iter().map(|sent| sent.tokens).sum();
        let mut last = None;
        for sent in &self.sent {
            if taken + tokens <= most {
                break;
            }
            taken -= sent.tokens;
            last = Some(sent.at + MINUTE);
        }
        last
    }

    fn goes_in(&mut self, at: Instant, tokens: u64) -> u64 {
        self.count += 1;
        self.sent.push_back(SentCall { number: self.count, at, tokens });
        // A little later each time, so that clients of several processes don't march in step.
        let jitter = RandomState::new().build_hasher().finish() % 1000;
        self.next = Some(at + self.pace + self.pace.mul_f64(jitter as f64 / 4000.0));
        self.count
    }
}
