//! An agent at work: the port through which everything that it does goes to its run.

use super::{
    worker_model::{CurrentCall, ReleasedCall},
    worker_tool::{Called, Consent, ToolCaller, message_with_hint},
    workers::WorkerPort,
};
use crate::agents::{GoAhead, Port, Question, Refusal, ToolReply};
use crate::engine::{Answer, CallNeed, MessageRole, ModelCall, TokenUsage, ToolCall, WorkerFact};
use crate::models::{ChatModel, prices::Prices};
use async_trait::async_trait;
use serde_json::Value;
use std::sync::Arc;

/// What an agent may do to the world.
pub(super) struct AgentPort<'a> {
    pub(super) caller: ToolCaller<'a>,
    pub(super) prices: &'a Prices,
    /// Where its model is asked, if one is.
    pub(super) server: Option<Arc<dyn ChatModel>>,
    /// What its model is asked for next.
    pub(super) call: Arc<CurrentCall>,
}

impl AgentPort<'_> {
    fn port(&self) -> &WorkerPort {
        self.caller.port
    }
}

#[async_trait]
impl Port for AgentPort<'_> {
    async fn tool(&self, mut call: ToolCall) -> ToolReply {
        // What a model writes is text: it can't name a secret into a call.
        self.caller.secrets.seal(&mut call.args);
        match self.caller.call(call, Consent::Open).await {
            Called::Ran(value) | Called::Answered(value) => ToolReply::Value(value),
            Called::Failed(error) => {
                let message = message_with_hint(&error);
                ToolReply::Failed(crate::engine::NodeError { message, hint: None, ..super::worker_tool::node_error(error) })
            }
            Called::Refused(message) => ToolReply::Refused(message),
        }
    }

    async fn ask(&self, question: Question) -> Result<Value, Refusal> {
        let Question { call, text, options, fields, payload } = question;
        let fact = WorkerFact::QuestionAsked { call: call.clone(), text, options, fields, payload, within: None };
        match self.port().ask(call, fact).await {
            Answer::Value(value) => Ok(value),
            Answer::Refused { message } => Err(Refusal(message)),
            Answer::Run { args } => Ok(args),
            Answer::Go { .. } | Answer::Again { .. } => Err(Refusal("nobody answered".to_owned())),
        }
    }

    async fn model(&self, model: &str, need: Option<CallNeed>) -> Result<GoAhead, Refusal> {
        let need = need.zip(self.server.as_deref()).map(|(need, server)| self.prices.need(server, model, need));
        let (id, go) = self.port().request_model(model, need).await?;
        self.call.set(ReleasedCall { id, tokens: go.granted.map(|granted| granted.tokens) });
        Ok(go)
    }

    fn model_called(&self, mut call: ModelCall) {
        self.port().under_way().ends();
        call.id = self.call.get().id;
        call.cost_usd = call.cost_usd.or_else(|| self.prices.cost(&call.model, call.usage));
        self.port().report(WorkerFact::ModelCalled(call));
    }

    fn asks(&self, mut call: ModelCall, prompt: u64) {
        call.id = self.call.get().id;
        let mut usage = call.usage;
        usage.add(TokenUsage::of(prompt, 0));
        call.cost_usd = self.prices.cost(&call.model, usage);
        self.port().under_way().begins(call, prompt);
    }

    fn hears(&self, tokens: u64, text: &str) {
        self.port().under_way().goes_on(tokens, text, |model, usage| self.prices.cost(model, usage));
    }

    fn message(&self, role: MessageRole, content: &str) {
        self.port().report(WorkerFact::Message { role, content: content.to_owned() });
    }

    fn output(&self, text: &str) {
        self.port().report(WorkerFact::Output(text.to_owned()));
    }

    fn thought(&self, text: &str) {
        self.port().report(WorkerFact::Thought(text.to_owned()));
    }

    fn note(&self, label: &str, text: &str) {
        self.port().report(WorkerFact::Noted { label: label.to_owned(), text: text.to_owned() });
    }

    async fn overdue(&self) {
        self.port().overdue().await;
    }

    fn plan_wanted(&self, why: &str) {
        self.port().report(WorkerFact::PlanWanted(why.to_owned()));
    }

    fn log(&self, line: &str) {
        self.port().report(WorkerFact::Log(line.to_owned()));
    }
}
