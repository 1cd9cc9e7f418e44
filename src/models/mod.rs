//! Chat models behind one trait: servers in the forms of OpenAI, Anthropic and Gemini, rehearsal, the operator.

mod anthropic;
pub mod client;
pub mod config;
mod gemini;
pub mod http;
pub mod json;
pub mod local;
mod openai;
pub mod prices;
pub mod providers;
pub mod rehearsal;
pub mod servers;
pub mod tokens;
mod turns;
pub mod waits;

use async_trait::async_trait;
use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

use crate::engine::{ModelCall, TokenUsage, TryVerdict};

/// A model that answers conversations.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Provider for people: a host name, `rehearsal`, `operator`.
    fn provider(&self) -> &str;

    /// Answers one conversation. Streamed pieces go to `sink` as they come; the reply is the whole.
    /// Dropping the future cancels the call.
    ///
    /// # Errors
    /// Any failure after the retries that the provider does by itself.
    async fn chat(&self, request: &ChatRequest, sink: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatAnswer, ModelError>;

    /// The key that it uses, as far as it is known by now.
    fn key(&self) -> Option<&SecretString> {
        None
    }

    /// How many calls it works at once, where it says so or is known to work few: a server of one machine.
    async fn slots(&self) -> Option<u32> {
        None
    }

    /// Whether its calls cost nothing: it runs on the user's own machine.
    fn costs_nothing(&self) -> bool {
        false
    }

    /// How many tokens a model takes in, as far as that is known without asking.
    fn window(&self, _model: &str) -> Option<u64> {
        None
    }

    /// The model that `auto` means there, and why, where the server can be asked.
    async fn auto(&self) -> Option<AutoModel> {
        None
    }

    /// The same, as far as it is known without asking.
    fn known_auto(&self) -> Option<&AutoModel> {
        None
    }

    /// Names of the models that the provider offers, if it can say.
    ///
    /// # Errors
    /// When the provider can't be asked.
    async fn list(&self) -> Result<Vec<String>, ModelError>;
}

/// A model that nobody named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutoModel {
    pub name: String,
    /// Why this one, for people.
    pub why: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// Model name as the provider knows it.
    pub model: String,
    pub messages: Vec<ChatMessage>,
    pub tools: Vec<ToolOffer>,
    /// Whether the answer is worth nothing without the tools: a server that refuses them is then not asked without.
    pub needs_tools: bool,
    /// Structured output wanted, if any.
    pub schema: Option<OutputSchema>,
    pub settings: ModelSettings,
    /// It is paid once: an answer that is no use is not asked for again, in another way, before the caller says so.
    #[serde(skip)]
    pub once: bool,
}

impl ChatRequest {
    /// Made-up ids of calls go on counting through the conversation, so that they stay unique in it.
    fn made_up_id(&self, at: usize) -> String {
        let made = |message: &ChatMessage| match message {
            ChatMessage::Assistant { calls, .. } => calls.len(),
            ChatMessage::System { .. } | ChatMessage::User { .. } | ChatMessage::Tool { .. } => 0,
        };
        format!("call_{}", self.messages.iter().map(made).sum::<usize>() + at + 1)
    }
}

/// Sampling and limits of a model call. What is absent is left to the server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ModelSettings {
    /// Sampling temperature: 0 for the likeliest words, higher for more varied ones.
    pub temperature: Option<f64>,
    /// Longest answer in tokens.
    pub max_tokens: Option<u64>,
    /// Sample from the likeliest words that together have this probability.
    pub top_p: Option<f64>,
    /// Seed for repeatable sampling, where the server supports it.
    pub seed: Option<i64>,
    /// Texts at which an answer stops.
    pub stop: Vec<String>,
    /// How long a reasoning model thinks: `low`, `medium` or `high`.
    pub reasoning_effort: Option<String>,
}

/// Structured output by JSON Schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputSchema {
    pub name: String,
    pub schema: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "role")]
pub enum ChatMessage {
    /// What the model is and is to do.
    System { content: String },
    /// What it is asked, and what it is given.
    User { content: String },
    /// What it answered, with the calls that it wants.
    Assistant { content: String, calls: Vec<CallRequest> },
    /// The result of such a call, as text.
    Tool { call: String, content: String },
}

/// A call that a model asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallRequest {
    /// The provider's id, or one made up when it sends none.
    pub id: String,
    /// Tool's name as offered.
    pub name: String,
    /// Arguments as the model wrote them; may not be JSON.
    pub arguments: String,
    /// What Gemini's models thought before the call, sealed: they take the call's result only together with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// A tool as offered to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolOffer {
    /// Name of letters, digits, `_` and `-`.
    pub name: String,
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// The next piece of the answer.
    Text(String),
    /// Reasoning text, where a provider streams it.
    Reasoning(String),
    /// A tool call begins; its arguments are not streamed.
    Call,
    /// It failed and is sent again, but not yet; why, and when.
    Waits { why: String },
    /// The server refused or ignored a part of the call, so it is sent again at once, in another way (`without tools`). The answer that was
    /// no use took so much, where that was reported.
    Otherwise { why: String, how: String, usage: Option<TokenUsage> },
    /// The call is being retried; text streamed so far is void. What that took, where it was reported, is a part of what comes with the
    /// reply or the error.
    Restart { why: String, usage: Option<TokenUsage> },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatAnswer {
    pub text: String,
    pub calls: Vec<CallRequest>,
    /// As reported, or counted locally.
    pub usage: TokenUsage,
    /// Whether `usage` was counted locally.
    pub estimated: bool,
    pub finish: Finish,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// US dollars: as the provider says, else by the table of prices; `None` where neither knows.
    pub cost_usd: Option<f64>,
    /// What was done otherwise than asked, for people: tools left out because the server refuses them.
    pub notes: Vec<String>,
}

impl ChatAnswer {
    /// The call that it came from, for the record.
    pub fn call(&self, provider: &str, took: Duration) -> ModelCall {
        ModelCall {
            model: self.model.clone(),
            provider: provider.to_owned(),
            usage: self.usage,
            estimated: self.estimated,
            cost_usd: self.cost_usd,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            finish: self.finish.word().to_owned(),
            id: String::new(),
        }
    }
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Finish {
    #[default]
    Stop,
    /// It asked for tool calls.
    ToolCalls,
    /// The output cap was reached; the answer is cut.
    Length,
    /// The provider filtered it.
    Filtered,
}

impl Finish {
    /// In a word, for the record.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// A failed call, in words that a person can act on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// What sort of failure.
    pub kind: ModelErrorKind,
    pub message: String,
    pub hint: Option<String>,
    /// Whether sending it again can help.
    pub verdict: TryVerdict,
    /// What the provider reported for an answer that broke off or was rejected.
    pub usage: Option<TokenUsage>,
}

impl ModelError {
    /// An error without a hint, of a call for which no usage was reported.
    pub fn new(kind: ModelErrorKind, verdict: TryVerdict, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, verdict, usage: None }
    }

    /// The same error with a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// What sort of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// No key is configured.
    NoKey,
    /// The key was refused.
    WrongKey,
    /// The model is not known there.
    UnknownModel,
    /// The prompt does not fit.
    ContextTooLong,
    /// Too many requests, or quota used up.
    RateLimit,
    /// Name not found, connection refused, TLS.
    NoRoute,
    /// No answer, or no further piece of it, in time.
    Timeout,
    /// The stream ended in the middle.
    CutStream,
    Server,
    /// The request was refused as malformed (4xx).
    BadRequest,
    /// It doesn't say which models it has.
    Unlisted,
    /// The reply made no sense.
    Nonsense,
    /// The provider's filter refused.
    Refused,
    /// A budget outside of the run doesn't hold it; nothing was sent.
    OverBudget,
}

impl ModelErrorKind {
    /// Whether such a failure shows that the server did nothing: the call was refused at the door, or never came there.
    pub fn proves_nothing_began(self) -> bool {
        matches!(self, Self::RateLimit | Self::NoRoute)
    }

    /// Whether the server said that it gives no answer, or was never reached: nothing is charged for that.
    pub fn is_free(self) -> bool {
        match self {
            Self::NoKey | Self::WrongKey | Self::UnknownModel | Self::ContextTooLong | Self::RateLimit | Self::NoRoute => true,
            Self::Server | Self::BadRequest | Self::Unlisted | Self::OverBudget => true,
            Self::Timeout | Self::CutStream | Self::Nonsense | Self::Refused => false,
        }
    }
}
