//! Any server of OpenAI's chat completions: one client, its retries, what it learned about the server's features.
//!
//! A call is tried again when that can help (429, 408, 425, 5xx, no connection, a stream that broke off), with what the server asks
//! to wait, and never after another 4xx, except once for each optional part that the server refused, without that part.

mod assemble;
mod failure;
mod features;
mod sse;
#[cfg(test)]
mod tests;
mod transfer;
mod wire;

use async_trait::async_trait;
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::{
    borrow::Cow,
    collections::HashMap,
    hash::{BuildHasher, Hasher, RandomState},
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::{sync::OnceCell, time::timeout};

use self::{
    failure::{Endpoint, TryFailure},
    features::Features,
};
use super::config::{AUTO, DEFAULT_MODEL};
use super::{ChatModel, ChatReply, ChatRequest, Delta, Finish, ModelError, ModelErrorKind, http, json};
use crate::engine::{TokenUsage, TryVerdict};

/// How long calls may take and how often they are tried.
#[derive(Clone, Debug, PartialEq)]
pub struct CallLimits {
    pub connect: Duration,
    /// Until the first piece of the answer: a long prompt on a small machine takes its time.
    pub first: Duration,
    pub between: Duration,
    /// The call with all its attempts and pauses.
    pub overall: Duration,
    /// Attempts in all, at least 1.
    pub attempts: u32,
    /// The first pause; doubles each time.
    pub backoff: Duration,
    /// The longest pause. A server that asks for more gets its way by an error that says so.
    pub longest_pause: Duration,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first: Duration::from_secs(120),
            between: Duration::from_secs(60),
            overall: Duration::from_secs(900),
            attempts: 3,
            backoff: Duration::from_millis(500),
            longest_pause: Duration::from_secs(60),
        }
    }
}

/// Where a key comes from. It is never shown, logged or sent anywhere but to the server.
#[derive(Debug)]
pub enum ApiKey {
    /// The server wants none, or nobody gave one.
    None,
    Given(SecretString),
    /// A shell command that prints it; run at the first call, then remembered.
    Command {
        line: String,
        printed: OnceCell<SecretString>,
    },
}

/// Where a server is and how to speak to it.
#[derive(Debug)]
pub struct Server {
    /// The address up to and without `/chat/completions`.
    pub base: Url,
    /// What set the address, for messages.
    pub address_from: String,
    pub key: ApiKey,
    /// What gave the key, or what would, for messages.
    pub key_from: String,
    pub limits: CallLimits,
}

/// A client for one server.
#[derive(Debug)]
pub struct OpenAi {
    http: reqwest::Client,
    base: Url,
    endpoint: Endpoint,
    key: ApiKey,
    limits: CallLimits,
    /// By model. Filled only after a call succeeded with what was left.
    features: Mutex<HashMap<String, Features>>,
    /// What `auto` means here.
    auto: OnceCell<String>,
}

impl OpenAi {
    /// A client; nothing is sent yet.
    ///
    /// # Errors
    /// When TLS can't be set up.
    pub fn new(server: Server) -> Result<Self, ModelError> {
        let Server { base, address_from, key, key_from, limits } = server;
        let http = http::client(limits.connect, http::proxies_for(&base)).map_err(|error| {
            let message = format!("can't set up secure connections: {}", http::causes(&error));
            ModelError::new(ModelErrorKind::NoRoute, TryVerdict::Never, message).hint("install the system's CA certificates")
        })?;
        let host = base.host_str().unwrap_or_default();
        let host = base.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let endpoint = Endpoint { host, address_from, key_from, has_key: !matches!(key, ApiKey::None) };
        Ok(Self { http, base, endpoint, key, limits, features: Mutex::default(), auto: OnceCell::new() })
    }

    fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.base.as_str().trim_end_matches('/'))
    }

    fn features_of(&self, model: &str) -> Features {
        let known = self.features.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(model).cloned().unwrap_or_default()
    }

    fn remember(&self, model: &str, features: Features) {
        let mut known = self.features.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(model.to_owned(), features);
    }

    /// What `auto` means: OpenAI's default where it is offered (a gateway), else the first model that chats.
    async fn choose(&self) -> Result<String, ModelError> {
        let names = self.list().await?;
        let chats = |name: &&String| !["embed", "whisper", "tts", "rerank", "moderation"].iter().any(|other| name.contains(other));
        let chosen = names.iter().find(|name| *name == DEFAULT_MODEL).or_else(|| names.iter().find(chats));
        chosen.cloned().ok_or_else(|| {
            let message = format!("`{}` lists no chat model", self.endpoint.host);
            ModelError::new(ModelErrorKind::UnknownModel, TryVerdict::Never, message).hint("load a model there, or choose one with --model")
        })
    }

    /// The request with a model's real name.
    async fn named<'r>(&self, request: &'r ChatRequest) -> Result<Cow<'r, ChatRequest>, ModelError> {
        if request.model != AUTO {
            return Ok(Cow::Borrowed(request));
        }
        let model = self.auto.get_or_try_init(|| self.choose()).await?.clone();
        Ok(Cow::Owned(ChatRequest { model, ..request.clone() }))
    }

    /// Tries until it works or can't.
    async fn converse(&self, request: &ChatRequest, sink: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatReply, ModelError> {
        let mut features = self.features_of(&request.model);
        let mut attempt = 1;
        // What answers cost that were no use.
        let mut lost = TokenUsage::default();
        loop {
            let mut streamed = false;
            let mut pass = |delta: Delta| {
                streamed = true;
                sink(delta);
            };
            let outcome = match self.transfer(request, &features, &mut pass).await {
                Ok(reply) => self.judge(request, reply),
                Err(failure) => Err(failure),
            };
            let mut failure = match outcome {
                Ok(mut reply) => {
                    self.remember(&request.model, features);
                    reply.cost_usd = reply.cost_usd.filter(|_| lost == TokenUsage::default());
                    reply.usage.add(lost);
                    return Ok(reply);
                }
                Err(failure) => failure,
            };
            lost.add(failure.error.usage.unwrap_or_default());
            failure.error.usage = Some(lost).filter(|lost| *lost != TokenUsage::default());
            let less = failure.refused.as_deref().and_then(|complaint| features.without_what_was_refused(request, complaint));
            let again = failure.error.verdict != TryVerdict::Never && attempt < self.limits.attempts;
            let pause = if again { self.pause(attempt, failure.error.verdict.wait_ms()) } else { None };
            match (less, pause) {
                (Some(less), _) => features = less,
                (None, Some(pause)) => {
                    tracing::debug!(host = %self.endpoint.host, attempt, ?pause, kind = ?failure.error.kind, "trying the model again");
                    attempt += 1;
                    tokio::time::sleep(pause).await;
                }
                (None, None) => return Err(self.clean(failure.error)),
            }
            if streamed {
                sink(Delta::Restart { why: self.clean(failure.error).message });
            }
        }
    }

    /// The pause after a failed attempt; `None` when the server asks for one that is too long to sit through.
    fn pause(&self, attempt: u32, asked_ms: Option<u64>) -> Option<Duration> {
        match asked_ms.map(Duration::from_millis) {
            Some(asked) => Some(asked).filter(|asked| *asked <= self.limits.longest_pause),
            None => {
                let full = self.limits.backoff.saturating_mul(1 << attempt.saturating_sub(1).min(16)).min(self.limits.longest_pause);
                // Spread over the upper half, so that nodes that failed together don't come back together.
                let spread = RandomState::new().build_hasher().finish() % 1000;
                Some(full / 2 + full.mul_f64(spread as f64 / 2000.0))
            }
        }
    }

    /// Whether a complete reply is what was asked for.
    fn judge(&self, request: &ChatRequest, (reply, refusal): (ChatReply, Option<String>)) -> Result<ChatReply, TryFailure> {
        let reported = (!reply.estimated).then_some(reply.usage);
        self.judged(request, reply, refusal).map_err(|mut failure| {
            failure.error.usage = reported;
            failure
        })
    }

    fn judged(&self, request: &ChatRequest, mut reply: ChatReply, refusal: Option<String>) -> Result<ChatReply, TryFailure> {
        if let Some(reason) = refusal {
            let message = format!("`{}` refused: {}", request.model, failure::shorten(&reason));
            return Err(TryFailure::new(ModelErrorKind::Refused, message, TryVerdict::Never).hint("change the objective"));
        }
        let wants_json = request.schema.is_some() && reply.calls.is_empty();
        if reply.finish == Finish::Filtered && (wants_json || reply.text.is_empty()) {
            let message = format!("the filter of `{}` blocked the answer", self.endpoint.host);
            return Err(TryFailure::new(ModelErrorKind::Refused, message, TryVerdict::Never).hint("change the objective"));
        }
        if !wants_json {
            return Ok(reply);
        }
        if reply.finish == Finish::Length {
            let message = format!("the answer of `{}` reached its token limit before its JSON was complete", request.model);
            return Err(TryFailure::new(ModelErrorKind::Nonsense, message, TryVerdict::Never)
                .hint("raise max_tokens of [models.settings], or ask for less"));
        }
        match json::find(&reply.text) {
            Some(json) => {
                reply.text = json.to_owned();
                Ok(reply)
            }
            None => {
                let mut failure = failure::nonsense(&self.endpoint, "text instead of JSON", &reply.text).hint("try a larger model");
                // The server may have ignored the schema: ask in another way.
                failure.refused = Some(Box::default());
                Err(failure)
            }
        }
    }

    /// Takes the key out of words that a server may have repeated it in.
    fn clean(&self, mut error: ModelError) -> ModelError {
        let key = match &self.key {
            ApiKey::None => None,
            ApiKey::Given(key) => Some(key),
            ApiKey::Command { printed, .. } => printed.get(),
        };
        if let Some(key) = key.map(|key| key.expose_secret()).filter(|key| !key.is_empty()) {
            error.message = error.message.replace(key, "[key]");
        }
        error
    }
}

#[async_trait]
impl ChatModel for OpenAi {
    fn provider(&self) -> &str {
        &self.endpoint.host
    }

    fn key(&self) -> Option<&SecretString> {
        match &self.key {
            ApiKey::None => None,
            ApiKey::Given(key) => Some(key),
            ApiKey::Command { printed, .. } => printed.get(),
        }
    }

    async fn chat(&self, request: &ChatRequest, sink: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatReply, ModelError> {
        let call = async { self.converse(&*self.named(request).await?, sink).await };
        match timeout(self.limits.overall, call).await {
            Ok(outcome) => outcome,
            Err(_elapsed) => {
                let message = format!("the call to `{}` took longer than {} s", self.endpoint.host, self.limits.overall.as_secs_f64());
                Err(TryFailure::new(ModelErrorKind::Timeout, message, TryVerdict::Never).hint("raise overall_s of [models.timeouts]").error)
            }
        }
    }

    async fn list(&self) -> Result<Vec<String>, ModelError> {
        let text = self.fetch_text("models").await.map_err(|failure| self.clean(failure.error))?;
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        let Some(entries) = value.get("data").or_else(|| value.get("models")).and_then(Value::as_array) else {
            return Err(failure::nonsense(&self.endpoint, "something that is not a list of models", &text).error);
        };
        let name = |entry: &Value| ["id", "name", "model"].iter().find_map(|field| entry.get(field)?.as_str().map(str::to_owned));
        let mut names: Vec<String> = entries.iter().filter_map(name).collect();
        names.sort();
        names.dedup();
        Ok(names)
    }
}
