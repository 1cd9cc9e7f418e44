//! What went wrong with a call, and whether trying again can help: by status, by the server's words, by the transport's error.

use reqwest::header::HeaderMap;
use std::time::Duration;

use super::wire::Complaint;
use crate::models::{ModelError, ModelErrorKind, http};

#[derive(Debug)]
pub(super) struct TryFailure {
    pub error: ModelError,
    pub again: RetryAdvice,
}

/// Whether another attempt can help.
#[derive(Debug, PartialEq)]
pub(super) enum RetryAdvice {
    /// It may pass by itself: wait and send the same.
    Later,
    /// The request was refused as malformed: send less, if something optional is left to leave out.
    Differently(Box<Complaint>),
    /// The same answer would come again.
    Never,
}

impl TryFailure {
    pub(super) fn new(kind: ModelErrorKind, message: String, again: RetryAdvice) -> Self {
        Self { error: ModelError { kind, message, hint: None, retry_after_ms: None }, again }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.error.hint = Some(hint.into());
        self
    }
}

/// Where calls go, for messages.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    pub host: String,
    /// What set the address (`OPENAI_BASE_URL`, `base_url in [models]`).
    pub address_from: String,
    /// What gave the key, or what would (`OPENAI_API_KEY`).
    pub key_from: String,
    pub has_key: bool,
}

/// Sorts an error reply, or an error inside a stream.
pub(super) fn of_reply(endpoint: &Endpoint, model: &str, status: Option<u16>, body: &str, retry_after: Option<Duration>) -> TryFailure {
    let complaint = serde_json::from_str(body).ok().and_then(|value| Complaint::of(&value));
    let from_html = complaint.is_none() && body.trim_start().starts_with('<');
    let complaint =
        complaint.unwrap_or_else(|| Complaint { message: if from_html { String::new() } else { shorten(body) }, ..Default::default() });
    let status = status.or_else(|| complaint.code.parse().ok()).unwrap_or(0);
    let kind = kind_of(status, &complaint, endpoint.has_key);
    let detail = if complaint.message.is_empty() { String::new() } else { format!(": {}", shorten(&complaint.message)) };
    let status_text = if status == 0 { String::new() } else { format!(" ({status})") };
    let Endpoint { host, address_from, key_from, .. } = endpoint;
    let again = again(kind, status, &complaint);
    let (message, hint) = match kind {
        ModelErrorKind::NoKey => (format!("`{host}` needs a key{detail}"), format!("set {key_from}")),
        ModelErrorKind::WrongKey => (format!("`{host}` refused the key{status_text}{detail}"), format!("check {key_from}")),
        ModelErrorKind::UnknownModel => {
            (format!("`{host}` has no model `{model}`{detail}"), "`dagdeck models` lists the models; choose one with --model".into())
        }
        ModelErrorKind::ContextTooLong => (
            format!("the prompt is too long for `{model}`{detail}"),
            "give the node less context, or use a model with a larger window".into(),
        ),
        ModelErrorKind::RateLimit if again == RetryAdvice::Never => (
            format!("the quota at `{host}` is used up{detail}"),
            format!("check billing and limits of the account, or put another key in {key_from}"),
        ),
        ModelErrorKind::RateLimit => {
            (format!("`{host}` limits the rate of requests{status_text}{detail}"), "wait a while, or run fewer nodes at once".into())
        }
        // LiteLLM's proxy without a database fails like this when no key comes.
        ModelErrorKind::Server if !endpoint.has_key => {
            (format!("`{host}` failed{status_text}{detail}"), format!("retry the node; if the server needs a key, set {key_from}"))
        }
        ModelErrorKind::Server => (format!("`{host}` failed{status_text}{detail}"), "retry the node".into()),
        ModelErrorKind::Timeout => (format!("`{host}` timed out{status_text}{detail}"), "retry the node".into()),
        ModelErrorKind::NoRoute => {
            (format!("a proxy in front of `{host}` refused{status_text}{detail}"), "check HTTPS_PROXY and NO_PROXY".into())
        }
        ModelErrorKind::Refused => (format!("the filter of `{host}` blocked the request{detail}"), "change the objective".into()),
        ModelErrorKind::BadRequest if status == 404 || from_html => (
            format!("`{host}` has no chat completions there{status_text}{detail}"),
            format!("check the address in {address_from}; it usually ends in /v1"),
        ),
        ModelErrorKind::BadRequest | ModelErrorKind::CutStream | ModelErrorKind::Nonsense => {
            (format!("`{host}` refused the request{status_text}{detail}"), "check the node's prompt and settings".into())
        }
    };
    let mut failure = TryFailure::new(kind, message, again).hint(hint);
    failure.error.retry_after_ms = retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    failure
}

fn kind_of(status: u16, complaint: &Complaint, has_key: bool) -> ModelErrorKind {
    let text = format!("{} {}", complaint.message, complaint.code).to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    let about_key = says(&[
        "invalid_api_key",
        "incorrect api key",
        "invalid api key",
        "api key not valid",
        "no api key",
        "missing api key",
        "no connected db",
    ]);
    let too_long = says(&[
        "context_length",
        "context length",
        "context window",
        "contextwindow",
        "context size",
        "exceed_context",
        "prompt is too long",
        "maximum context",
    ]);
    let model_words = says(&["model_not_found", "invalid model", "unknown model", "no such model"])
        || (text.contains("model") && says(&["not found", "does not exist", "not exist", "not have access"]));
    match status {
        401 if !has_key => ModelErrorKind::NoKey,
        401 => ModelErrorKind::WrongKey,
        407 => ModelErrorKind::NoRoute,
        408 | 504 => ModelErrorKind::Timeout,
        413 => ModelErrorKind::ContextTooLong,
        425 | 429 => ModelErrorKind::RateLimit,
        // A gateway passes on what its upstream said under any status of its own.
        _ if too_long => ModelErrorKind::ContextTooLong,
        _ if about_key && !has_key => ModelErrorKind::NoKey,
        _ if about_key => ModelErrorKind::WrongKey,
        500.. => ModelErrorKind::Server,
        _ if says(&["content_filter", "content management policy", "content_policy"]) => ModelErrorKind::Refused,
        400..=499 if model_words => ModelErrorKind::UnknownModel,
        403 if !has_key => ModelErrorKind::NoKey,
        403 => ModelErrorKind::WrongKey,
        // Only an error inside a stream has no status: go by its words.
        0 if says(&["rate limit", "rate_limit", "ratelimit", "quota"]) => ModelErrorKind::RateLimit,
        0 => ModelErrorKind::Server,
        _ => ModelErrorKind::BadRequest,
    }
}

fn again(kind: ModelErrorKind, status: u16, complaint: &Complaint) -> RetryAdvice {
    match kind {
        // `insufficient_quota` comes as 429 too, but no waiting helps.
        ModelErrorKind::RateLimit if complaint.code.contains("insufficient_quota") || complaint.message.contains("insufficient_quota") => {
            RetryAdvice::Never
        }
        ModelErrorKind::RateLimit | ModelErrorKind::Server | ModelErrorKind::Timeout => RetryAdvice::Later,
        ModelErrorKind::BadRequest if matches!(status, 400 | 404 | 415 | 422) => RetryAdvice::Differently(Box::new(complaint.clone())),
        ModelErrorKind::BadRequest
        | ModelErrorKind::NoKey
        | ModelErrorKind::WrongKey
        | ModelErrorKind::UnknownModel
        | ModelErrorKind::ContextTooLong
        | ModelErrorKind::NoRoute
        | ModelErrorKind::CutStream
        | ModelErrorKind::Nonsense
        | ModelErrorKind::Refused => RetryAdvice::Never,
    }
}

/// Sorts an error of the transport. `begun` says whether a part of the answer had come.
pub(super) fn of_transport(endpoint: &Endpoint, error: reqwest::Error, begun: Begun) -> TryFailure {
    let error = error.without_url();
    let cause = http::root_cause(&error);
    let Endpoint { host, address_from, .. } = endpoint;
    if error.is_connect() {
        let again = if cause.contains("certificate") { RetryAdvice::Never } else { RetryAdvice::Later };
        return TryFailure::new(ModelErrorKind::NoRoute, format!("can't reach `{host}`: {cause}"), again)
            .hint(format!("check that the server runs and that the address in {address_from} is right; behind a proxy, set HTTPS_PROXY"));
    }
    match begun {
        Begun::No => TryFailure::new(
            ModelErrorKind::NoRoute,
            format!("`{host}` closed the connection before it answered: {cause}"),
            RetryAdvice::Later,
        )
        .hint(format!("check that the address in {address_from} has chat completions")),
        Begun::Yes => cut(endpoint, &cause),
    }
}

/// How far a reply had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begun {
    No,
    Yes,
}

/// The answer ended in the middle.
pub(super) fn cut(endpoint: &Endpoint, how: &str) -> TryFailure {
    TryFailure::new(ModelErrorKind::CutStream, format!("the answer of `{}` was cut off: {how}", endpoint.host), RetryAdvice::Later)
        .hint("retry the node")
}

/// Nothing came in time. Not tried again here: a person who waited that long decides whether to wait again.
pub(super) fn silent(endpoint: &Endpoint, waited: Duration, begun: Begun) -> TryFailure {
    let what = match begun {
        Begun::No => "did not answer within",
        Begun::Yes => "stopped in the middle of its answer for",
    };
    TryFailure::new(ModelErrorKind::Timeout, format!("`{}` {what} {} s", endpoint.host, waited.as_secs_f64()), RetryAdvice::Never)
        .hint("retry the node, or raise the limits in [models.timeouts]")
}

/// A reply that is not a chat completion.
pub(super) fn nonsense(endpoint: &Endpoint, what: &str, body: &str) -> TryFailure {
    let excerpt = shorten(body);
    let excerpt = if excerpt.is_empty() { String::new() } else { format!(": `{excerpt}`") };
    TryFailure::new(ModelErrorKind::Nonsense, format!("`{}` sent {what}{excerpt}", endpoint.host), RetryAdvice::Never)
        .hint(format!("check the address in {}; it usually ends in /v1", endpoint.address_from))
}

/// The first 200 characters on one line.
pub(super) fn shorten(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// How long the server asks to wait: `retry-after-ms`, `retry-after` in seconds or as a date, or what LiteLLM passes on as
/// `llm_provider-retry-after`.
pub(super) fn retry_after(headers: &HeaderMap, now: jiff::Timestamp) -> Option<Duration> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(ms) = header("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }
    let text = header("retry-after").or_else(|| header("llm_provider-retry-after"))?;
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(date.duration_since(now).try_into().unwrap_or(Duration::ZERO))
}
