//! Errors of providers, as they word them.

use super::*;
use ModelErrorKind::{BadRequest, ContextTooLong, RateLimit, Refused, Server as Failed, UnknownModel, WrongKey};
use TryVerdict::{After, Again, Never};

/// Status, message, code, and what is understood: kind, verdict, words for a person.
type Row = (u16, &'static str, &'static str, ModelErrorKind, TryVerdict, &'static str);

const OPENROUTER: [Row; 7] = [
    (401, "No auth credentials found", "401", WrongKey, Never, "OPENAI_API_KEY"),
    (402, "Insufficient credits. Add more using https://openrouter.ai/settings/credits", "402", RateLimit, Never, "quota"),
    (
        403,
        "m requires moderation on P. Your input was flagged for \"violence\". No credits were charged.",
        "403",
        Refused,
        Never,
        "flagged",
    ),
    (400, "m is not a valid model ID", "400", UnknownModel, Never, "no model `m`"),
    (404, "No endpoints found for m.", "404", UnknownModel, Never, "no model `m`"),
    (404, "No endpoints found matching your data policy (Free model publication).", "404", BadRequest, Never, "data policy"),
    (503, "No allowed providers are available for the selected model.", "503", Failed, Again, "No allowed providers"),
];

const GROQ: [Row; 4] = [
    (
        413,
        "Request too large for model `m` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce your message size and try again.",
        "rate_limit_exceeded",
        ContextTooLong,
        Never,
        "Limit 12000",
    ),
    (
        429,
        "Rate limit reached for model `m` on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38s.",
        "rate_limit_exceeded",
        RateLimit,
        After { ms: 578_000 },
        "tokens per day",
    ),
    (
        400,
        "The model `m` has been decommissioned and is no longer supported.",
        "model_decommissioned",
        UnknownModel,
        Never,
        "decommissioned",
    ),
    (400, "Failed to call a function. Please adjust your prompt.", "tool_use_failed", BadRequest, Never, "Failed to call"),
];

const DEEPSEEK: [Row; 4] = [
    (401, "Authentication Fails, Your api key: ****cret is invalid", "invalid_request_error", WrongKey, Never, "OPENAI_API_KEY"),
    (402, "Insufficient Balance", "invalid_request_error", RateLimit, Never, "quota"),
    (400, "Model Not Exist", "invalid_request_error", UnknownModel, Never, "no model `m`"),
    (503, "Service is too busy. We advise users to temporarily switch to others.", "service_unavailable_error", Failed, Again, "too busy"),
];

const AZURE: [Row; 5] = [
    (401, "Access denied due to invalid subscription key or wrong API endpoint.", "401", WrongKey, Never, "OPENAI_API_KEY"),
    (
        404,
        "The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.",
        "DeploymentNotFound",
        UnknownModel,
        Never,
        "deployment",
    ),
    (404, "Resource not found", "404", BadRequest, Never, "OPENAI_BASE_URL"),
    (
        429,
        "Requests have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 6 seconds.",
        "429",
        RateLimit,
        After { ms: 6_000 },
        "S0",
    ),
    (
        400,
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        "content_filter",
        Refused,
        Never,
        "content management",
    ),
];

/// More than a minute's tokens at once, and a quota behind a gateway: no waiting changes either.
const OPENAI: [Row; 2] = [
    (
        429,
        "Request too large for m on tokens per min (TPM): Limit 30000, Requested 342389.",
        "rate_limit_exceeded",
        ContextTooLong,
        Never,
        "Limit 30000",
    ),
    (
        429,
        "litellm.RateLimitError: RateLimitError: OpenAIException - You exceeded your current quota, please check your plan and billing details.",
        "429",
        RateLimit,
        Never,
        "billing",
    ),
];

async fn understood(status: u16, body: &Value, kind: ModelErrorKind, verdict: TryVerdict, said: &str) {
    let exchange = chat(vec![Reply::json(status, body), Reply::json(404, &json!({}))], limits(), &request()).await;
    let error = exchange.outcome.unwrap_err();
    assert_eq!((error.kind, error.verdict), (kind, verdict), "{status} {body}\n{error}");
    let words = format!("{error} {}", error.hint.as_deref().unwrap_or_default());
    assert!(words.contains(said), "{status} {body}\n{words}");
}

#[tokio::test]
async fn errors_of_providers_are_understood_as_they_word_them() {
    let all = OPENROUTER.iter().chain(&GROQ).chain(&DEEPSEEK).chain(&AZURE).chain(&OPENAI);
    for &(status, message, code, kind, verdict, said) in all {
        understood(status, &refused(message, json!(code)), kind, verdict, said).await;
    }
}

#[tokio::test]
async fn what_openrouter_passes_on_is_understood_as_its_upstream_said_it() {
    for (status, raw, kind, verdict, said) in [
        (429, "m is temporarily rate-limited upstream. Please retry shortly", RateLimit, Again, "temporarily rate-limited upstream"),
        (400, "This endpoint's maximum context length is 8192 tokens", ContextTooLong, Never, "too long"),
    ] {
        let metadata = json!({"raw": raw, "provider_name": "P"});
        let body = json!({"error": {"message": "Provider returned error", "code": status, "metadata": metadata}});
        understood(status, &body, kind, verdict, said).await;
    }
}
