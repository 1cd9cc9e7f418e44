//! Tries against providers that refuse, fail and are slow, in paused time.

use super::{
    provider::Provider,
    purse::Purses,
    tries::{LoneModel, Tries, TryRecord},
};
use crate::engine::{Cause, FailedTry, ModelCall, TryVerdict, next_try};
use crate::models::{ChatAnswer, ChatModel, ChatRequest, Delta, ModelError, ModelErrorKind, config::ProviderLimits};
use crate::plan::Retry;
use async_trait::async_trait;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};
use tokio::{task::JoinSet, time::Instant};

/// A server in memory: each call is judged by a function of its number, and takes so long.
struct AnsweringServer<J> {
    judge: J,
    takes: Duration,
    slots: Option<u32>,
    calls: AtomicU32,
    busy: AtomicU32,
    most: AtomicU32,
}

impl<J: Fn(u32) -> Result<(), ModelError> + Send + Sync + 'static> AnsweringServer<J> {
    fn new(takes_ms: u64, slots: Option<u32>, judge: J) -> Arc<Self> {
        let takes = Duration::from_millis(takes_ms);
        Arc::new(Self { judge, takes, slots, calls: AtomicU32::new(0), busy: AtomicU32::new(0), most: AtomicU32::new(0) })
    }

    fn tries(self: &Arc<Self>, limits: ProviderLimits) -> Tries {
        Tries { model: self.clone(), provider: Arc::new(Provider::new("host".into(), limits)), purses: Purses::default() }
    }
}

#[async_trait]
impl<J: Fn(u32) -> Result<(), ModelError> + Send + Sync> ChatModel for AnsweringServer<J> {
    fn provider(&self) -> &str {
        "host"
    }

    async fn chat(&self, _: &ChatRequest, _: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatAnswer, ModelError> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        (self.judge)(call)?;
        self.most.fetch_max(self.busy.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        tokio::time::sleep(self.takes).await;
        self.busy.fetch_sub(1, Ordering::SeqCst);
        Ok(ChatAnswer::default())
    }

    async fn slots(&self) -> Option<u32> {
        self.slots
    }

    async fn list(&self) -> Result<Vec<String>, ModelError> {
        Ok(Vec::new())
    }
}

/// Notes what happens to a call, and decides as the engine does.
struct Noted {
    attempts: u32,
    used: AtomicU32,
    notes: Mutex<Vec<String>>,
}

impl Noted {
    fn new(attempts: u32) -> Self {
        Self { attempts, used: AtomicU32::new(0), notes: Mutex::default() }
    }

    fn note(&self, text: impl Into<String>) {
        self.notes.lock().unwrap().push(text.into());
    }
}

#[async_trait]
impl TryRecord for Noted {
    fn waits(&self, reason: Cause) {
        self.note(match reason {
            Cause::ModelSlot { .. } => "slot",
            _ => "rate",
        });
    }

    fn sent(&self, _unheard: ModelCall) {
        self.note("sent");
    }

    fn again(&self, failed: FailedTry) {
        self.note(failed.otherwise.unwrap_or_default());
    }

    fn answers(&self) {
        self.note("answers");
    }

    async fn failed(&self, failed: FailedTry) -> Option<Duration> {
        self.note(if failed.refused { "refused" } else { "failed" });
        let used = self.used.fetch_add(u32::from(!failed.refused), Ordering::SeqCst) + 1;
        next_try(&Retry { attempts: self.attempts, ..Retry::default() }, used, &failed, "a").map(Duration::from_millis)
    }
}

/// Refuses tools, and answers without them.
struct WithoutTools;

#[async_trait]
impl ChatModel for WithoutTools {
    fn provider(&self) -> &str {
        "host"
    }

    async fn chat(&self, _: &ChatRequest, sink: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatAnswer, ModelError> {
        sink(Delta::Otherwise { why: "no tools here".into(), how: "without tools".into(), usage: None });
        sink(Delta::Text("fine".into()));
        Ok(ChatAnswer::default())
    }

    async fn list(&self) -> Result<Vec<String>, ModelError> {
        Ok(Vec::new())
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_again_at_once_is_on_record_as_a_send_of_its_own() {
    let tries = Tries {
        model: Arc::new(WithoutTools),
        provider: Arc::new(Provider::new("host".into(), ProviderLimits::default())),
        purses: Purses::default(),
    };
    let (answer, notes) = one(&tries, 1).await;
    assert!(answer.is_ok());
    assert_eq!(notes, ["sent", "without tools", "sent", "answers"]);
}

fn error(kind: ModelErrorKind, verdict: TryVerdict) -> ModelError {
    ModelError::new(kind, verdict, "it failed")
}

fn refused(ms: u64) -> ModelError {
    error(ModelErrorKind::RateLimit, TryVerdict::After { ms })
}

async fn one(tries: &Tries, attempts: u32) -> (Result<ChatAnswer, ModelError>, Vec<String>) {
    let noted = Noted::new(attempts);
    let outcome = tries.chat(&ChatRequest::default(), &noted, &mut |_| ()).await;
    (outcome, noted.notes.into_inner().unwrap())
}

/// Calls that begin at once; how many failed, and how long all took.
async fn many(count: usize, tries: &Tries) -> (usize, Duration) {
    let began = Instant::now();
    let mut all = JoinSet::new();
    for _ in 0..count {
        let tries = tries.clone();
        all.spawn(async move { one(&tries, 1).await.0.is_err() });
    }
    let failed = all.join_all().await.into_iter().filter(|failed| *failed).count();
    (failed, began.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_lasting_failure_is_sent_as_often_as_there_are_attempts_and_the_error_says_so() {
    for (attempts, verdict, sends) in [(3, TryVerdict::Again, 3), (1, TryVerdict::Again, 1), (3, TryVerdict::Never, 1)] {
        let server = AnsweringServer::new(0, None, move |_| Err(error(ModelErrorKind::Server, verdict)));
        let (outcome, _) = one(&server.tries(ProviderLimits::default()), attempts).await;
        let failed = outcome.unwrap_err();
        assert_eq!((server.calls.load(Ordering::SeqCst), failed.verdict), (sends, TryVerdict::Never));
        assert_eq!(failed.message, if sends == 1 { "it failed" } else { "it failed (tried 3 times)" });
    }
}

#[tokio::test(start_paused = true)]
async fn planning_tries_by_the_same_rules() {
    let server = AnsweringServer::new(0, None, |_| Err(error(ModelErrorKind::Server, TryVerdict::Again)));
    let model = LoneModel { tries: server.tries(ProviderLimits::default()) };
    assert!(model.chat(&ChatRequest::default(), &mut |_| ()).await.is_err());
    assert_eq!(server.calls.load(Ordering::SeqCst), Retry::default().attempts);
}

#[tokio::test(start_paused = true)]
async fn two_hundred_calls_at_a_hundred_and_twenty_a_minute_all_succeed() {
    let next = Mutex::new(Instant::now());
    let server = AnsweringServer::new(200, None, move |_| {
        let (mut next, now) = (next.lock().unwrap(), Instant::now());
        if *next > now {
            return Err(refused(490));
        }
        *next = now + Duration::from_millis(500);
        Ok(())
    });
    let (failed, took) = many(200, &server.tries(ProviderLimits::default())).await;
    assert_eq!(failed, 0);
    let ideal = Duration::from_millis(500) * 199;
    assert!(took < ideal * 2, "{took:?} where {ideal:?} is the least");
}

#[tokio::test(start_paused = true)]
async fn two_hundred_calls_keep_all_slots_busy() {
    let server = AnsweringServer::new(200, None, |_| Ok(()));
    let (failed, took) = many(200, &server.tries(ProviderLimits::default())).await;
    let ideal = Duration::from_millis(200) * 200_u32.div_ceil(16);
    assert_eq!((failed, server.most.load(Ordering::SeqCst)), (0, 16));
    assert!(took <= ideal.mul_f64(1.1), "{took:?} where {ideal:?} is the least");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_works_two_calls_at_once_gets_two_and_the_others_say_that_they_wait() {
    let server = AnsweringServer::new(10_000, Some(2), |_| Ok(()));
    let tries = server.tries(ProviderLimits::default());
    let (both, third) = tokio::join!(many(2, &tries), async {
        tokio::task::yield_now().await;
        one(&tries, 1).await.1
    });
    assert_eq!((both.0, third), (0, ["slot", "sent", "answers"].map(String::from).to_vec()));
    assert_eq!(server.most.load(Ordering::SeqCst), 2);
    let own = ProviderLimits { slots: Some(5), ..ProviderLimits::default() };
    many(9, &server.tries(own)).await;
    assert_eq!(server.most.load(Ordering::SeqCst), 5, "what is configured goes before what the server says");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_closes_the_way_for_everybody_until_the_time_that_it_names() {
    let server = AnsweringServer::new(10, None, |call| if call == 1 { Err(refused(20_000)) } else { Ok(()) });
    let tries = server.tries(ProviderLimits::default());
    let began = Instant::now();
    let (first, late) = tokio::join!(one(&tries, 1), async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        one(&tries, 1).await
    });
    assert_eq!(first.1, ["sent", "refused", "rate", "sent", "answers"]);
    assert_eq!(late.1.last().map(String::as_str), Some("answers"));
    assert!(late.1.starts_with(&["rate".to_owned()]) && began.elapsed() >= Duration::from_secs(20), "{:?}", late.1);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_takes_no_call_for_ten_minutes_fails_them() {
    for wait in [TryVerdict::Again, TryVerdict::After { ms: 7_000 }] {
        let server = AnsweringServer::new(0, None, move |_| Err(error(ModelErrorKind::RateLimit, wait)));
        let began = Instant::now();
        let failed = one(&server.tries(ProviderLimits::default()), 1).await.0.unwrap_err();
        assert_eq!(failed.message, "it failed, and takes no calls within 10m00s");
        let took = began.elapsed().as_secs();
        assert!((560..=600).contains(&took), "{took} s");
    }
    let server = AnsweringServer::new(0, None, |_| Err(refused(3_600_000)));
    let began = Instant::now();
    assert!(one(&server.tries(ProviderLimits::default()), 1).await.0.is_err());
    assert_eq!(began.elapsed(), Duration::ZERO, "who asks for an hour is not waited for");
}

#[tokio::test(start_paused = true)]
async fn requests_and_tokens_of_a_minute_are_kept() {
    let server = AnsweringServer::new(0, None, |_| Ok(()));
    let limits = ProviderLimits { requests_per_minute: Some(10), ..ProviderLimits::default() };
    assert_eq!(many(25, &server.tries(limits)).await.1.as_secs(), 120);
    let request = ChatRequest { messages: vec![crate::models::ChatMessage::User { content: "x".repeat(4_000) }], ..ChatRequest::default() };
    let tokens = crate::models::tokens::count_prompt(&request);
    let slow = AnsweringServer::new(90_000, None, |_| Ok(()));
    let limits = ProviderLimits { tokens_per_minute: Some(2 * tokens), slots: Some(100), ..ProviderLimits::default() };
    let (tries, began) = (slow.tries(limits), Instant::now());
    let calls = (0..5).map(|_| async { tries.chat(&request, &Noted::new(1), &mut |_| ()).await.map(drop) });
    futures::future::join_all(calls).await;
    assert_eq!(began.elapsed().as_secs(), 120 + 90);
}
