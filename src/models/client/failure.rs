//! What went wrong with a call, and whether trying again can help: by status, by the server's words, by the transport's error.

use std::time::Duration;

use super::{
    complaint::Complaint,
    phrases::{PHRASES, is_said},
};
use crate::engine::TryVerdict;
use crate::models::{ModelError, ModelErrorKind, http, waits};

#[derive(Debug)]
pub(super) struct TryFailure {
    pub error: Box<ModelError>,
    /// What the server had against the form of the request: it may take one with less in it.
    pub refused: Option<Box<Complaint>>,
}

impl TryFailure {
    pub(super) fn new(kind: ModelErrorKind, message: String, verdict: TryVerdict) -> Self {
        Self { error: Box::new(ModelError::new(kind, verdict, message)), refused: None }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { error: Box::new(self.error.hint(hint)), ..self }
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

/// Sorts an error reply, or an error inside a stream. Without a model, what was asked for is the list of models.
pub(super) fn of_reply(endpoint: &Endpoint, model: &str, status: Option<u16>, body: &str, retry_after: Option<Duration>) -> TryFailure {
    let complaint = serde_json::from_str(body).ok().and_then(|value| Complaint::of(&value));
    let from_html = complaint.is_none() && body.trim_start().starts_with('<');
    let mut complaint =
        complaint.unwrap_or_else(|| Complaint { message: if from_html { String::new() } else { shorten(body) }, ..Default::default() });
    if status == Some(402) {
        complaint.code = "402".to_owned();
    }
    let status = status.or_else(|| complaint.code.parse().ok()).unwrap_or(0);
    let asks_for_list = model.is_empty();
    let kind = match status {
        404 | 405 | 501 if asks_for_list => ModelErrorKind::Unlisted,
        _ => kind_of(status, &complaint, endpoint.has_key),
    };
    let detail = if complaint.message.is_empty() { String::new() } else { format!(": {}", shorten(&complaint.message)) };
    let status_text = if status == 0 { String::new() } else { format!(" ({status})") };
    let Endpoint { host, address_from, key_from, .. } = endpoint;
    let wait = retry_after.or_else(|| waits::in_words(body));
    let verdict = verdict(kind, &complaint, wait);
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
        ModelErrorKind::RateLimit if verdict == TryVerdict::Never => (
            format!("the quota at `{host}` is used up{detail}"),
            format!("check billing and limits of the account, or put another key in {key_from}"),
        ),
        ModelErrorKind::RateLimit => {
            (format!("`{host}` limits the rate of requests{status_text}{detail}"), "wait a while, or run fewer nodes at once".into())
        }
        ModelErrorKind::Unlisted => (
            format!("`{host}` doesn't list its models{status_text}"),
            format!("name one with --model; if it isn't answered either, check the address in {address_from}"),
        ),
        // LiteLLM's proxy without a database fails like this when no key comes.
        ModelErrorKind::Server if !endpoint.has_key => {
            (format!("`{host}` failed{status_text}{detail}"), format!("try again; if the server needs a key, set {key_from}"))
        }
        ModelErrorKind::Server => (format!("`{host}` failed{status_text}{detail}"), "try again later".into()),
        ModelErrorKind::Timeout => (format!("`{host}` timed out{status_text}{detail}"), "try again later".into()),
        ModelErrorKind::NoRoute => {
            (format!("a proxy in front of `{host}` refused{status_text}{detail}"), "check HTTPS_PROXY and NO_PROXY".into())
        }
        ModelErrorKind::Refused => (format!("the filter of `{host}` blocked the request{detail}"), "change the objective".into()),
        ModelErrorKind::BadRequest if from_html || (status == 404 && !complaint.text().contains("no endpoints")) => (
            format!("`{host}` has no chat completions there{status_text}{detail}"),
            format!("check the address in {address_from}; it usually ends in /v1"),
        ),
        ModelErrorKind::BadRequest | ModelErrorKind::CutStream | ModelErrorKind::Nonsense | ModelErrorKind::OverBudget => {
            (format!("`{host}` refused the request{status_text}{detail}"), "check the node's prompt and settings".into())
        }
    };
    let mut failure = TryFailure::new(kind, message, verdict).hint(hint);
    if matches!(status, 400 | 402 | 404 | 415 | 422 | 500) {
        failure.refused = Some(Box::new(complaint));
    }
    failure
}

fn kind_of(status: u16, complaint: &Complaint, has_key: bool) -> ModelErrorKind {
    let text = complaint.text();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let about_key = is_said(&PHRASES.about_key, &text);
    let too_long = is_said(&PHRASES.too_long, &text);
    let model_words = is_said(&PHRASES.no_such_model, &text)
        || (text.contains("model") && says(&["not found", "not_found", "does not exist", "not exist", "not have access"]));
    match status {
        401 if !has_key => ModelErrorKind::NoKey,
        401 => ModelErrorKind::WrongKey,
        407 => ModelErrorKind::NoRoute,
        408 | 504 => ModelErrorKind::Timeout,
        413 => ModelErrorKind::ContextTooLong,
        425 | 429 if !text.contains("request too large") => ModelErrorKind::RateLimit,
        _ if is_used_up(complaint) => ModelErrorKind::RateLimit,
        // A gateway passes on what its upstream said under any status of its own.
        _ if too_long => ModelErrorKind::ContextTooLong,
        _ if about_key && !has_key => ModelErrorKind::NoKey,
        _ if about_key => ModelErrorKind::WrongKey,
        500.. => ModelErrorKind::Server,
        _ if says(&["content_filter", "content management policy", "content_policy", "was flagged"]) => ModelErrorKind::Refused,
        400..=499 if model_words => ModelErrorKind::UnknownModel,
        403 if !has_key => ModelErrorKind::NoKey,
        403 => ModelErrorKind::WrongKey,
        // Only an error inside a stream has no status: go by its words.
        0 if says(&["rate limit", "rate_limit", "ratelimit", "quota"]) => ModelErrorKind::RateLimit,
        0 if says(&["invalid_request_error", "badrequest"]) => ModelErrorKind::BadRequest,
        0 => ModelErrorKind::Server,
        _ => ModelErrorKind::BadRequest,
    }
}

fn verdict(kind: ModelErrorKind, complaint: &Complaint, wait: Option<Duration>) -> TryVerdict {
    match kind {
        ModelErrorKind::RateLimit if is_used_up(complaint) => TryVerdict::Never,
        ModelErrorKind::RateLimit | ModelErrorKind::Server | ModelErrorKind::Timeout => match wait {
            Some(wait) => TryVerdict::After { ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX) },
            None => TryVerdict::Again,
        },
        _ => TryVerdict::Never,
    }
}

/// Whether an account has nothing left to spend, which no waiting changes. It comes as 429, as 402, and from Anthropic as 400.
fn is_used_up(complaint: &Complaint) -> bool {
    let text = complaint.text();
    // OpenAI's words where a gateway leaves out their code. Google says the same of a minute's rate, and names how to go on.
    let is_quota = text.contains("exceeded your current quota")
        && !["ai.google.dev", "resource_exhausted", "retry in"].iter().any(|word| text.contains(word));
    is_quota
        || complaint.code == "402"
        || ["insufficient_quota", "insufficient balance", "insufficient credits", "credit balance is too low", "billing_hard_limit"]
            .iter()
            .any(|phrase| text.contains(phrase))
}

/// Sorts an error of the transport. `begun` says whether a part of the answer had come.
pub(super) fn of_transport(endpoint: &Endpoint, error: reqwest::Error, begun: Begun) -> TryFailure {
    let error = error.without_url();
    let cause = http::root_cause(&error);
    let Endpoint { host, address_from, .. } = endpoint;
    if error.is_connect() {
        if http::is_tls(&error) {
            return TryFailure::new(ModelErrorKind::NoRoute, format!("no secure connection to `{host}`: {cause}"), TryVerdict::Never)
                .hint(format!("check that the address in {address_from} is right and that this machine trusts the server's certificate"));
        }
        return TryFailure::new(ModelErrorKind::NoRoute, format!("can't reach `{host}`: {cause}"), TryVerdict::Again)
            .hint(format!("check that the server runs and that the address in {address_from} is right; behind a proxy, set HTTPS_PROXY"));
    }
    match begun {
        Begun::No => TryFailure::new(
            ModelErrorKind::NoRoute,
            format!("`{host}` closed the connection before it answered: {cause}"),
            TryVerdict::Again,
        )
        .hint(format!("check that the address in {address_from} has chat completions")),
        // The transport's own words for it speak of its chunks.
        Begun::Yes if cause.contains("EOF") => cut(endpoint, "the connection was closed in the middle"),
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
    TryFailure::new(ModelErrorKind::CutStream, format!("the answer of `{}` was cut off: {how}", endpoint.host), TryVerdict::Again)
        .hint("try again")
}

/// Nothing came in time.
pub(super) fn silent(endpoint: &Endpoint, waited: Duration, begun: Begun) -> TryFailure {
    let what = match begun {
        Begun::No => "did not answer within",
        Begun::Yes => "stopped in the middle of its answer for",
    };
    TryFailure::new(ModelErrorKind::Timeout, format!("`{}` {what} {} s", endpoint.host, waited.as_secs_f64()), TryVerdict::Again)
        .hint("try again, or raise the limits in [models.timeouts]")
}

/// A reply that is not a chat completion.
pub(super) fn nonsense(endpoint: &Endpoint, what: &str, body: &str) -> TryFailure {
    let excerpt = shorten(body);
    let excerpt = if excerpt.is_empty() { String::new() } else { format!(": `{excerpt}`") };
    TryFailure::new(ModelErrorKind::Nonsense, format!("`{}` sent {what}{excerpt}", endpoint.host), TryVerdict::Never)
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
