//! Models as a node's work asks them: by a port that puts every try on record, and lets the run say whether another one follows.

use super::{
    jobs::Kit,
    tries::{Tries, TryRecord},
    workers::WorkerPort,
};
use crate::engine::{Answer, Cause, FailedTry, TryVerdict, WorkerFact};
use crate::models::{ChatAnswer, ChatModel, ChatRequest, Delta, ModelError, ModelErrorKind};
use async_trait::async_trait;
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// The model of an agent, which asks for leave before each of its calls.
pub(super) struct AgentModel {
    pub(super) tries: Tries,
    pub(super) port: WorkerPort,
    pub(super) call: Arc<CurrentCall>,
}

/// The call that an agent may make; there is one at a time.
#[derive(Debug, Default)]
pub(super) struct CurrentCall(Mutex<String>);

impl CurrentCall {
    pub(super) fn set(&self, call: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = call;
    }

    fn get(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl ChatModel for AgentModel {
    fn provider(&self) -> &str {
        self.tries.model.provider()
    }

    async fn chat(&self, request: &ChatRequest, sink: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatAnswer, ModelError> {
        self.tries.chat(request, &Recorded { port: &self.port, call: &self.call.get() }, sink).await
    }

    async fn list(&self) -> Result<Vec<String>, ModelError> {
        self.tries.model.list().await
    }
}

/// The model of a node's tools: each call asks the run first and is reported to it, as an agent's own turns are.
pub(super) struct ToolModel {
    pub(super) tries: Tries,
    pub(super) port: WorkerPort,
    /// Knows what calls cost.
    pub(super) kit: Arc<Kit>,
}

#[async_trait]
impl ChatModel for ToolModel {
    fn provider(&self) -> &str {
        self.tries.model.provider()
    }

    async fn chat(&self, request: &ChatRequest, sink: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatAnswer, ModelError> {
        let call = match self.port.request_model(&request.model).await {
            Ok((call, _)) => call,
            Err(refusal) => return Err(ModelError::new(ModelErrorKind::Refused, TryVerdict::Never, refusal.0)),
        };
        let started = Instant::now();
        let reply = self.tries.chat(request, &Recorded { port: &self.port, call: &call }, sink).await?;
        let mut call = reply.call(self.provider(), started.elapsed());
        call.cost_usd = call.cost_usd.or_else(|| self.kit.models().prices().cost(&reply.model, reply.usage));
        self.port.report(WorkerFact::ModelCalled(call));
        Ok(reply)
    }

    async fn list(&self) -> Result<Vec<String>, ModelError> {
        self.tries.model.list().await
    }
}

/// A call as its run knows it.
struct Recorded<'a> {
    port: &'a WorkerPort,
    call: &'a str,
}

#[async_trait]
impl TryRecord for Recorded<'_> {
    fn waits(&self, reason: Cause) {
        self.port.report(WorkerFact::ModelWaits { call: self.call.to_owned(), reason });
    }

    fn sent(&self) {
        self.port.under_way().is_sent(true);
        self.port.report(WorkerFact::ModelSent { call: self.call.to_owned() });
    }

    fn again(&self, failed: FailedTry) {
        self.port.report(WorkerFact::ModelTryFailed { call: self.call.to_owned(), failed });
    }

    fn answers(&self) {
        self.port.report(WorkerFact::ModelAnswers { call: self.call.to_owned() });
    }

    async fn failed(&self, failed: FailedTry) -> Option<Duration> {
        self.port.under_way().is_sent(false);
        let call = self.call.to_owned();
        match self.port.ask(call.clone(), WorkerFact::ModelTryFailed { call, failed }).await {
            Answer::Again { after_ms } => Some(Duration::from_millis(after_ms)),
            Answer::Go { .. } | Answer::Run { .. } | Answer::Refused { .. } | Answer::Value(_) => None,
        }
    }
}
