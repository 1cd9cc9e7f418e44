//! A client for one server of models: what a call sends, what it learned about the server, whether the answer is what was asked for.
//!
//! A call is sent once; whether trying again can help is said in its error. Only where the server refused an optional part it is asked again
//! at once, without that part.

pub mod api;
pub(super) mod complaint;
mod failure;
pub(super) mod features;
mod learned;
mod local;
mod phrases;
mod room;
mod server;
mod sse;
#[cfg(test)]
mod tests;
mod transfer;

use async_trait::async_trait;
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::{
    borrow::Cow,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{sync::OnceCell, time::timeout};

pub use self::{
    api::Api,
    features::CapParameter,
    learned::Learned,
    server::{ApiKey, Auth, CallLimits, Server, ServerTraits},
};
use self::{
    failure::{Endpoint, TryFailure},
    features::{Features, SchemaMode, Sent, UNKNOWN_OUTPUT},
    learned::Lasting,
};
use super::config::AUTO;
use super::{AutoModel, ChatAnswer, ChatModel, ChatRequest, Delta, Finish, ModelError, ModelErrorKind, http, json, prices::Prices, tokens};
use crate::engine::{TokenUsage, TryVerdict};

/// How long a server may take to say which models it has, after it refused one.
const NEAREST: Duration = Duration::from_secs(5);
/// A shorter key is part of too many words to be looked for in a text.
const SHORTEST_SECRET: usize = 8;
/// Sends of one call that leave out or change a part, each after a refusal.
const LESSER_SENDS: usize = 8;

/// What is known about models, by all clients together.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    pub learned: Arc<Learned>,
    /// What models take in and write.
    pub prices: Arc<Prices>,
}

/// A client for one server.
#[derive(Debug)]
pub struct ModelClient {
    http: reqwest::Client,
    base: Url,
    endpoint: Endpoint,
    key: ApiKey,
    limits: CallLimits,
    traits: ServerTraits,
    knowledge: Knowledge,
    small: Option<String>,
    /// What `auto` means here.
    auto: OnceCell<AutoModel>,
    /// Set once it was said what that is.
    said_auto: AtomicBool,
    /// Set once the server is known to run on one machine.
    known_local: OnceLock<()>,
}

impl ModelClient {
    /// A client; nothing is sent yet.
    ///
    /// # Errors
    /// When TLS can't be set up.
    pub fn new(server: Server, knowledge: Knowledge) -> Result<Self, ModelError> {
        let Server { base, address_from, key, key_from, limits, traits, small } = server;
        let http = http::client(limits.connect, http::proxies_for(&base)).map_err(|error| {
            let message = format!("can't set up secure connections: {}", http::causes(&error));
            ModelError::new(ModelErrorKind::NoRoute, TryVerdict::Never, message).hint("install the system's CA certificates")
        })?;
        let host = base.host_str().unwrap_or_default();
        let host = base.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let endpoint = Endpoint { host, address_from, key_from, has_key: !matches!(key, ApiKey::None) };
        Ok(Self {
            http,
            base,
            endpoint,
            key,
            limits,
            traits,
            knowledge,
            small,
            auto: OnceCell::new(),
            said_auto: AtomicBool::new(false),
            known_local: OnceLock::new(),
        })
    }

    fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.base.as_str().trim_end_matches('/'))
    }

    fn features_of(&self, model: &str) -> Features {
        let learned = self.knowledge.learned.of(&self.endpoint.host, model);
        learned.unwrap_or_else(|| Features { cap: self.traits.cap, ..Features::default() })
    }

    /// The limit of an answer that is sent: what was asked for, as far as the model can write so much and there is room beside the prompt.
    /// Nobody asked: the model's own limit where that is smaller than the room, because servers take less by themselves.
    fn cap(&self, request: &ChatRequest, features: &Features) -> Option<u64> {
        if features.cap == CapParameter::Refused {
            return None;
        }
        let known = features.largest_cap.or_else(|| self.knowledge.prices.output(&request.model));
        let room = || Some(self.window(&request.model)?.saturating_sub(tokens::count_prompt(request)));
        let own = match request.settings.max_tokens {
            Some(wanted) => Some([known, room().filter(|room| *room > 0)].into_iter().flatten().fold(wanted, u64::min)),
            None if self.traits.api.needs_cap() => Some(known.unwrap_or(UNKNOWN_OUTPUT)),
            None => known.filter(|known| room().is_some_and(|room| *known < room)),
        };
        [own, features.cap_now].into_iter().flatten().min()
    }

    /// What `auto` means: the provider's small model where it is offered; else what runs by now; else the only model that chats, or the
    /// first in the server's own order.
    async fn choose(&self) -> Result<AutoModel, ModelError> {
        let names = self.offered().await?;
        let host = &self.endpoint.host;
        let chats = |name: &&String| {
            let name = name.to_lowercase();
            !["embed", "whisper", "tts", "rerank", "moderation", "dall-e", "bge-"].iter().any(|other| name.contains(other))
        };
        let chosen = |model: &String, why: String| Ok(AutoModel { name: model.clone(), why });
        if let Some(small) = names.iter().find(|name| Some(*name) == self.small.as_ref()) {
            return chosen(small, format!("no model is named, so the small one of {host} is used: `{small}`"));
        }
        let running = if self.traits.is_local { self.running().await } else { Vec::new() };
        if let Some(running) = running.iter().find(chats) {
            return chosen(running, format!("no model is named, so the one that runs at {host} is used: `{running}`"));
        }
        let fit: Vec<&String> = names.iter().filter(chats).collect();
        match fit[..] {
            [only] => chosen(only, format!("no model is named, so the only one that {host} offers is used: `{only}`")),
            [first, ..] => chosen(
                first,
                format!("no model is named, so the first of {} that {host} lists is used: `{first}`; --model names another", fit.len()),
            ),
            [] => {
                let message = format!("`{host}` lists no chat model");
                Err(ModelError::new(ModelErrorKind::UnknownModel, TryVerdict::Never, message)
                    .hint("load a model there, or choose one with --model"))
            }
        }
    }

    /// Models that a server on the user's machine has in memory, by Ollama's and LM Studio's own interfaces.
    async fn running(&self) -> Vec<String> {
        let root = |path: &str| self.base.join(path).map(String::from).unwrap_or_default();
        let text = |value: &Value, field: &str| value.get(field).and_then(Value::as_str).map(str::to_owned);
        let mut running = Vec::new();
        for (path, list) in [("/api/ps", "models"), ("/api/v0/models", "data")] {
            let Ok(body) = self.fetch_from(&root(path)).await else { continue };
            let body: Value = serde_json::from_str(&body).unwrap_or_default();
            let entries = body.get(list).and_then(Value::as_array).into_iter().flatten();
            // Ollama lists what is in memory; LM Studio lists all, with a state.
            let loaded = entries.filter(|entry| text(entry, "state").is_none_or(|state| state == "loaded"));
            running.extend(loaded.filter_map(|entry| text(entry, "name").or_else(|| text(entry, "id"))));
        }
        running
    }

    /// Names of the models that the server lists, in its order.
    async fn offered(&self) -> Result<Vec<String>, ModelError> {
        let text = self.fetch_text(self.traits.api.list()).await.map_err(|failure| self.clean(*failure.error))?;
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        self.learn_windows(&value);
        let entries = value.get("data").or_else(|| value.get("models")).and_then(Value::as_array);
        // Ollama without models sends null.
        let entries = match entries {
            Some(entries) => entries.as_slice(),
            None if value.get("object").is_some_and(|object| object == "list") => &[],
            None => return Err(*failure::nonsense(&self.endpoint, "something that is not a list of models", &text).error),
        };
        let answers = |entry: &&Value| match entry.get("supportedGenerationMethods").and_then(Value::as_array) {
            Some(methods) => methods.iter().any(|method| method == "generateContent"),
            None => true,
        };
        Ok(entries.iter().filter(answers).filter_map(name_in_list).collect())
    }

    /// Remembers the windows that a list of models names.
    fn learn_windows(&self, list: &Value) {
        let entries = list.get("data").or_else(|| list.get("models")).and_then(Value::as_array);
        let windows: Vec<_> =
            entries.into_iter().flatten().filter_map(|entry| Some((name_in_list(entry)?, window_in_list(entry)?))).collect();
        self.knowledge.learned.has_windows(&self.endpoint.host, &windows);
    }

    /// Adds to an unknown model's error what the server offers instead: the names that are nearest.
    async fn with_nearest(&self, model: &str, error: ModelError) -> ModelError {
        if error.kind != ModelErrorKind::UnknownModel {
            return error;
        }
        let Ok(Ok(mut names)) = timeout(NEAREST, self.offered()).await else { return error };
        let distance = |name: &String| strsim::damerau_levenshtein(&name.to_lowercase(), &model.to_lowercase());
        names.sort_by_key(|name| (distance(name), name.clone()));
        names.truncate(3);
        match names.is_empty() {
            true => error,
            false => error.hint(format!("it offers {}; `dagdeck models` lists all; choose one with --model", quoted(&names))),
        }
    }

    /// The request with a model's real name, and why that one where nobody named it and this is the first call.
    async fn named<'r>(&self, request: &'r ChatRequest) -> Result<(Cow<'r, ChatRequest>, Option<String>), ModelError> {
        if request.model != AUTO {
            return Ok((Cow::Borrowed(request), None));
        }
        let AutoModel { name: model, why } = self.auto.get_or_try_init(|| self.choose()).await?.clone();
        let is_first = !self.said_auto.swap(true, Ordering::Relaxed);
        Ok((Cow::Owned(ChatRequest { model, ..request.clone() }), is_first.then_some(why)))
    }

    /// Sends the call, and once more for each part that the server refuses, without that.
    async fn converse(&self, request: &ChatRequest, sink: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatAnswer, ModelError> {
        let mut features = self.features_of(&request.model);
        // A server may have been given tools since: work that needs them asks for them again.
        let asks_anew = request.needs_tools && std::mem::take(&mut features.refuses_tools);
        let (mut lesser_sends, mut holds) = (0, asks_anew.then_some(Lasting::Kept));
        // What answers cost that were no use.
        let mut lost = TokenUsage::default();
        loop {
            let mut streamed = false;
            let mut pass = |delta: Delta| {
                streamed = true;
                sink(delta);
            };
            let cap = self.cap(request, &features);
            let outcome = match self.transfer(request, &features, cap, &mut pass).await {
                Ok(reply) => self.judge(request, reply),
                Err(failure) => Err(failure),
            };
            let mut failure = match outcome {
                Ok(mut reply) => {
                    if let Some(holds) = holds {
                        self.knowledge.learned.keep(&self.endpoint.host, &request.model, &features, holds);
                    }
                    reply.notes.extend(self.notes(request, &features));
                    reply.cost_usd = reply.cost_usd.filter(|_| lost == TokenUsage::default());
                    reply.usage.add(lost);
                    // By the name of the model that answered: another one's price is none.
                    reply.cost_usd = reply.cost_usd.or_else(|| self.knowledge.prices.cost(&reply.model, reply.usage));
                    reply.cost_usd = reply.cost_usd.or(self.costs_nothing().then_some(0.0));
                    return Ok(reply);
                }
                Err(failure) => failure,
            };
            if let Some(window) = failure.refused.as_deref().and_then(|complaint| room::window(&complaint.text())) {
                self.knowledge.learned.has_windows(&self.endpoint.host, &[(request.model.clone(), window)]);
            }
            let usage = failure.error.usage;
            lost.add(usage.unwrap_or_default());
            failure.error.usage = Some(lost).filter(|lost| *lost != TokenUsage::default());
            let less = (lesser_sends < LESSER_SENDS).then(|| self.less(request, &features, cap, &failure)).flatten();
            // What an answer took that was no use is for the caller to settle before there is another one.
            if let Some((less, found)) = less.as_ref().filter(|_| request.once && !failure.error.kind.is_free()) {
                self.knowledge.learned.keep(&self.endpoint.host, &request.model, less, *found);
                failure.error.verdict = TryVerdict::Again;
                return Err(self.clean(*failure.error));
            }
            let Some((less, found)) = less else {
                // An answer that ignored the schema in every form is asked for in the last one from now on.
                if holds == Some(Lasting::ForNow) {
                    self.knowledge.learned.keep(&self.endpoint.host, &request.model, &features, Lasting::ForNow);
                }
                return Err(self.clean(*failure.error));
            };
            if less.refuses_tools && request.needs_tools {
                return Err(self.needs_tools(request, failure.error.usage));
            }
            let how = features.changed_to(&less).to_owned();
            features = less;
            lesser_sends += 1;
            holds = Some(if holds == Some(Lasting::ForNow) { Lasting::ForNow } else { found });
            let why = self.clean(*failure.error).message;
            sink(Delta::Otherwise { why: why.clone(), how, usage });
            if streamed {
                sink(Delta::Restart { why, usage });
            }
        }
    }

    /// What is left to send after a refusal, and for how long that holds; `None` when it is not about a part that can be left out.
    fn less(&self, request: &ChatRequest, features: &Features, cap: Option<u64>, failure: &TryFailure) -> Option<(Features, Lasting)> {
        let ModelError { kind, .. } = *failure.error;
        let sent = Sent { cap, prompt: tokens::count_prompt(request) };
        if kind == ModelErrorKind::Nonsense {
            // The server may have ignored the schema: it is asked for in words, once.
            failure.refused.as_deref()?;
            let in_words = Features { schema: SchemaMode::Prompt, ..features.clone() };
            return (features.schema != SchemaMode::Prompt).then_some((in_words, Lasting::ForNow));
        }
        let complaint = failure.refused.as_deref()?;
        let part = features.refused_part(request, kind, complaint)?;
        // Groq's word for an answer that missed the schema by chance.
        let holds = if complaint.code == "json_validate_failed" { Lasting::ForNow } else { Lasting::Kept };
        Some((features.without(part, sent, complaint)?, holds))
    }

    /// What was asked otherwise than wanted, for people.
    fn notes(&self, request: &ChatRequest, features: &Features) -> Vec<String> {
        let Endpoint { host, .. } = &self.endpoint;
        let tools = (features.refuses_tools && !request.tools.is_empty())
            .then(|| format!("`{}` at {host} can't call tools, so it was asked without them", request.model));
        let cap = (features.cap == CapParameter::Refused && request.settings.max_tokens.is_some())
            .then(|| format!("{host} takes no limit of the answer, so `{}` was asked without one", request.model));
        tools.into_iter().chain(cap).collect()
    }

    fn needs_tools(&self, request: &ChatRequest, usage: Option<TokenUsage>) -> ModelError {
        let message = format!("`{}` at {} can't call tools, and this work needs them", request.model, self.endpoint.host);
        let error = ModelError::new(ModelErrorKind::BadRequest, TryVerdict::Never, message).hint("choose a model that can call tools");
        ModelError { usage, ..error }
    }

    /// Whether a complete reply is what was asked for.
    fn judge(&self, request: &ChatRequest, (reply, refusal): (ChatAnswer, Option<String>)) -> Result<ChatAnswer, TryFailure> {
        let reported = (!reply.estimated).then_some(reply.usage);
        self.judged(request, reply, refusal).map_err(|mut failure| {
            failure.error.usage = reported;
            failure
        })
    }

    fn judged(&self, request: &ChatRequest, mut reply: ChatAnswer, refusal: Option<String>) -> Result<ChatAnswer, TryFailure> {
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
        if let Some(key) = self.key().map(|key| key.expose_secret()).filter(|key| key.len() >= SHORTEST_SECRET) {
            error.message = error.message.replace(key, "[key]");
        }
        error
    }
}

/// The name of a model in a server's list.
fn name_in_list(entry: &Value) -> Option<String> {
    let name = ["id", "name", "model"].iter().find_map(|field| entry.get(field)?.as_str())?;
    // Google's list says `models/` before each.
    Some(name.strip_prefix("models/").unwrap_or(name).to_owned())
}

/// How many tokens a model takes in, as lists say it: llama.cpp, vLLM, OpenRouter, Groq, Mistral and LM Studio, LiteLLM, Google.
fn window_in_list(entry: &Value) -> Option<u64> {
    let names = ["max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens", "inputTokenLimit"];
    let loaded = entry.get("meta").and_then(|meta| meta.get("n_ctx"));
    loaded.into_iter().chain(names.iter().filter_map(|name| entry.get(name))).find_map(Value::as_u64).filter(|tokens| *tokens > 0)
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[async_trait]
impl ChatModel for ModelClient {
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

    async fn chat(&self, request: &ChatRequest, sink: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatAnswer, ModelError> {
        let call = async {
            let (request, why) = self.named(request).await?;
            match self.converse(&request, sink).await {
                Ok(mut reply) => {
                    reply.notes.extend(why);
                    Ok(reply)
                }
                Err(error) => Err(self.with_nearest(&request.model, error).await),
            }
        };
        match timeout(self.limits.overall, call).await {
            Ok(outcome) => outcome,
            Err(_elapsed) => {
                let message = format!("the call to `{}` took longer than {} s", self.endpoint.host, self.limits.overall.as_secs_f64());
                Err(ModelError::new(ModelErrorKind::Timeout, TryVerdict::Never, message).hint("raise overall_s of [models.timeouts]"))
            }
        }
    }

    async fn slots(&self) -> Option<u32> {
        self.local_slots().await
    }

    fn costs_nothing(&self) -> bool {
        self.traits.is_local || self.known_local.get().is_some()
    }

    fn window(&self, model: &str) -> Option<u64> {
        self.knowledge.prices.window_beside(model, self.knowledge.learned.window(&self.endpoint.host, model))
    }

    async fn auto(&self) -> Option<AutoModel> {
        timeout(NEAREST, self.auto.get_or_try_init(|| self.choose())).await.ok()?.ok().cloned()
    }

    fn known_auto(&self) -> Option<&AutoModel> {
        self.auto.get()
    }

    async fn list(&self) -> Result<Vec<String>, ModelError> {
        let mut names = self.offered().await?;
        names.sort();
        names.dedup();
        Ok(names)
    }
}
