//! Agent cards, their registry, and the loop that runs an agent node.

mod answer;
mod attempt;
mod calls;
mod card;
mod class;
mod context;
mod dynamic;
mod execution;
mod hearing;
mod offers;
mod prompt;
mod registry;
mod repetition;
mod select;
mod service;
mod session;
mod shipped;
#[cfg(test)]
mod tests;
mod tokens;
mod turns;
mod watch;

pub use attempt::AttemptEnd;
pub use card::{Card, CardError, CardKind, CardLimits, ToolList};
pub use execution::{Execution, Responder, run};
pub use registry::{AgentRegistry, CardSource, Cards, Reloaded};
pub use shipped::SHIPPED;
pub use watch::Watch;

use async_trait::async_trait;
use serde_json::Value;

use crate::engine::{CallNeed, Granted, MessageRole, ModelCall, ToolCall};
use crate::plan::Field;

/// Why nobody replies, or why a model may not be called, in words for the one who asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

/// What a running agent may do to the world: everything goes through the engine. Implemented by the host.
#[async_trait]
pub trait Port: Send + Sync {
    /// Proposes a tool call, waits for its decision (a gate may open), runs it when it may run, and gives what came of it.
    async fn tool(&self, call: ToolCall) -> ToolReply;

    /// Asks a person and waits for the answer.
    ///
    /// # Errors
    /// When nobody replies.
    async fn ask(&self, question: Question) -> Result<Value, Refusal>;

    /// Asks whether a model may be called that takes so much at most, and waits until it may. No call is made without this.
    ///
    /// # Errors
    /// When it may not be called.
    async fn model(&self, model: &str, need: Option<CallNeed>) -> Result<GoAhead, Refusal>;

    /// Reports a finished model call.
    fn model_called(&self, call: ModelCall);

    /// Says that a call begins, with what it took before, and how long its prompt is: where it is broken off, this is reported in its place.
    fn asks(&self, call: ModelCall, prompt: u64);

    /// More of it came: so many tokens, and the text of it that may be handed back.
    fn hears(&self, tokens: u64, text: &str);

    /// Reports a message of the conversation.
    fn message(&self, role: MessageRole, content: &str);

    fn output(&self, text: &str);

    /// Waits until the node is to stop and has had its time to finish what it says.
    async fn overdue(&self) {
        std::future::pending().await
    }

    /// The next piece of what the model thinks.
    fn thought(&self, text: &str);

    /// Something to know of the result, also for who sees only that: a word or two, and the sentence.
    fn note(&self, label: &str, text: &str);

    /// The agent wants a new plan for what comes after it, and says why.
    fn plan_wanted(&self, why: &str);

    /// Writes a line to the node's log.
    fn log(&self, line: &str);
}

/// A model call may be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoAhead {
    /// What people said meanwhile, oldest first.
    pub guidance: Vec<String>,
    /// The agent is to hand back what it has, without tools.
    pub wrap_up: bool,
    /// What the call may take, where a budget says so.
    pub granted: Option<Granted>,
}

/// What came of a tool call, for the model.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolReply {
    /// It ran, or a person answered in its place.
    Value(Value),
    /// It ran and failed; the message, which has the hint in it, goes to the model.
    Failed(crate::engine::NodeError),
    /// It was refused; the words go to the model.
    Refused(String),
}

/// A question to a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Unique within the node's generation.
    pub call: String,
    pub text: String,
    pub options: Vec<String>,
    pub fields: Vec<Field>,
    /// What the person needs to see to answer.
    pub payload: Value,
}
