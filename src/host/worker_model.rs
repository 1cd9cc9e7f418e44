//! Models as a node's work asks them: by a port that puts every try on record, and lets the run say whether another one follows.

use super::{
    jobs::Kit,
    tries::{Tries, TryRecord},
    workers::WorkerPort,
};
use crate::engine::{Answer, CallNeed, Cause, FailedTry, ModelCall, TryVerdict, WorkerFact};
use crate::models::{ChatAnswer, ChatModel, ChatRequest, Delta, ModelError, ModelErrorKind, tokens};
use async_trait::async_trait;
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// The model of an agent, which asks for leave before each of its calls.
pub(super) struct AgentModel {
    pub(super) tries: Tries,
    pub(super) port: WorkerPort,
    pub(super) call: Arc<CurrentCall>,
}

/// No call of a tool is made for an answer that may not even be this long.
const SHORTEST_ANSWER: u64 = 64;

/// The call that an agent may make; there is one at a time.
#[derive(Debug, Default)]
pub(super) struct CurrentCall(Mutex<ReleasedCall>);

/// A call that may be made.
#[derive(Clone, Debug, Default)]
pub(super) struct ReleasedCall {
    pub(super) id: String,
    /// Tokens that it may take, prompt and answer, where a budget says so.
    pub(super) tokens: Option<u64>,
}

impl CurrentCall {
    pub(super) fn set(&self, call: ReleasedCall) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = call;
    }

    pub(super) fn get(&self) -> ReleasedCall {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl ChatModel for AgentModel {
    fn provider(&self) -> &str {
        self.tries.model.provider()
    }

    async fn chat(&self, request: &ChatRequest, sink: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatAnswer, ModelError> {
        self.tries.chat(request, &Recorded::new(&self.port, self.call.get()), sink).await
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
        let need = CallNeed {
            prompt: tokens::at_most(&request.messages, &request.tools, request.schema.as_ref()),
            least: SHORTEST_ANSWER,
            most: request.settings.max_tokens.unwrap_or(u64::MAX),
            ..CallNeed::default()
        };
        let need = self.kit.models().prices().need(self.tries.model.as_ref(), &request.model, need);
        let call = match self.port.request_model(&request.model, Some(need)).await {
            Ok((id, go)) => ReleasedCall { id, tokens: go.granted.map(|granted| granted.tokens) },
            Err(refusal) => return Err(ModelError::new(ModelErrorKind::Refused, TryVerdict::Never, refusal.0)),
        };
        let started = Instant::now();
        let id = call.id.clone();
        let reply = self.tries.chat(request, &Recorded::new(&self.port, call), sink).await?;
        let mut call = ModelCall { id, ..reply.call(self.provider(), started.elapsed()) };
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
    call: String,
    /// Tokens that its next try may take.
    tokens: Mutex<Option<u64>>,
}

impl<'a> Recorded<'a> {
    fn new(port: &'a WorkerPort, call: ReleasedCall) -> Self {
        Self { port, call: call.id, tokens: Mutex::new(call.tokens) }
    }

    fn tokens(&self) -> MutexGuard<'_, Option<u64>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl TryRecord for Recorded<'_> {
    fn within(&self) -> Option<u64> {
        *self.tokens()
    }

    fn waits(&self, reason: Cause) {
        self.port.report(WorkerFact::ModelWaits { call: self.call.clone(), reason });
    }

    fn sent(&self, unheard: ModelCall) {
        self.port.under_way().is_sent(true);
        let unheard = Some(Box::new(ModelCall { id: self.call.clone(), ..unheard }));
        self.port.report(WorkerFact::ModelSent { call: self.call.clone(), unheard });
    }

    fn again(&self, failed: FailedTry) {
        self.port.report(WorkerFact::ModelTryFailed { call: self.call.clone(), failed });
    }

    fn answers(&self) {
        self.port.report(WorkerFact::ModelAnswers { call: self.call.clone() });
    }

    async fn failed(&self, failed: FailedTry) -> Option<Duration> {
        self.port.under_way().is_sent(false);
        let call = self.call.clone();
        match self.port.ask(call.clone(), WorkerFact::ModelTryFailed { call, failed }).await {
            Answer::Again { after_ms, tokens } => {
                *self.tokens() = tokens;
                Some(Duration::from_millis(after_ms))
            }
            Answer::Go { .. } | Answer::Run { .. } | Answer::Refused { .. } | Answer::Value(_) => None,
        }
    }
}
