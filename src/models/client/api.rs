//! The forms in which servers are spoken to: where calls go, what they hold, and how an answer is put together from its events.

use serde_json::Value;
use std::borrow::Cow;

use super::features::Features;
use crate::engine::TokenUsage;
use crate::models::{ChatAnswer, ChatRequest, Delta, anthropic, gemini, openai};

/// A form of request and answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// OpenAI's chat completions, which most servers speak.
    #[default]
    Openai,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's own form.
    Gemini,
}

/// What became of a piece of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerPiece {
    /// Taken; more comes.
    More,
    /// The answer is over.
    Done,
    /// It is an error of the server.
    Error,
    /// It makes no sense.
    Unreadable,
}

/// An answer under way.
pub trait Assembly: Send {
    /// Takes the data of one event, and passes on what is new.
    fn take(&mut self, event: &str, sink: &mut (dyn FnMut(Delta) + Send)) -> AnswerPiece;

    /// Takes a whole answer in place of a stream.
    fn take_whole(&mut self, body: &str, sink: &mut (dyn FnMut(Delta) + Send)) -> AnswerPiece;

    /// Whether the server said why it stopped.
    fn is_finished(&self) -> bool;

    /// Whether anything was said at all.
    fn is_empty(&self) -> bool;

    /// Whether the server stopped because of an error of its own.
    fn failed(&self) -> bool {
        false
    }

    /// Why the model refused, in its words.
    fn refusal(&self) -> Option<&str> {
        None
    }

    /// What the server says it counted; it is the last thing that comes.
    fn reported(&self) -> Option<TokenUsage>;

    /// The answer, whole.
    fn into_reply(self: Box<Self>, request: &ChatRequest) -> ChatAnswer;
}

impl Api {
    /// Where calls go, under the server's address.
    pub(super) fn path(self, model: &str) -> Cow<'static, str> {
        match self {
            Self::Openai => "chat/completions".into(),
            Self::Anthropic => "messages".into(),
            Self::Gemini => gemini::path(model).into(),
        }
    }

    /// Where the list of models is, under the server's address.
    pub(super) fn list(self) -> &'static str {
        match self {
            Self::Openai | Self::Anthropic => "models",
            // A page holds 50 unless more are asked for.
            Self::Gemini => "models?pageSize=1000",
        }
    }

    /// The body of a call. `cap` is the limit of its answer.
    pub(super) fn body(self, request: &ChatRequest, features: &Features, cap: Option<u64>) -> Value {
        match self {
            Self::Openai => openai::request_body(request, features, cap),
            Self::Anthropic => anthropic::request_body(request, features, cap),
            Self::Gemini => gemini::request_body(request, features, cap),
        }
    }

    /// Whether a call must have a limit of its answer.
    pub(super) fn needs_cap(self) -> bool {
        self == Self::Anthropic
    }

    pub(super) fn assembly(self, request: &ChatRequest, features: &Features) -> Box<dyn Assembly> {
        match self {
            Self::Openai => Box::<openai::Chunks>::default(),
            Self::Anthropic => Box::new(anthropic::Events::new(request, features.schema)),
            Self::Gemini => Box::<gemini::Candidates>::default(),
        }
    }
}
