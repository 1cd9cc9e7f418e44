//! The model of a node's tools: each call asks the run first and is reported to it, as an agent's own turns are.

use super::{jobs::Kit, workers::WorkerPort};
use crate::engine::{ModelCall, TryVerdict, WorkerFact};
use crate::models::{ChatModel, ChatReply, ChatRequest, Delta, ModelError, ModelErrorKind};
use async_trait::async_trait;
use std::sync::Arc;
use tokio::time::Instant;

/// A model that its run knows of.
pub(super) struct Overseen {
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) port: WorkerPort,
    /// Knows what calls cost.
    pub(super) kit: Arc<Kit>,
}

#[async_trait]
impl ChatModel for Overseen {
    fn provider(&self) -> &str {
        self.model.provider()
    }

    async fn chat(&self, request: &ChatRequest, sink: &mut (dyn FnMut(Delta) + Send)) -> Result<ChatReply, ModelError> {
        if let Err(message) = self.port.request_model(&request.model).await {
            return Err(ModelError::new(ModelErrorKind::Refused, TryVerdict::Never, message));
        }
        let started = Instant::now();
        let reply = self.model.chat(request, sink).await?;
        self.port.report(WorkerFact::ModelCalled(ModelCall {
            model: reply.model.clone(),
            provider: self.provider().to_owned(),
            usage: reply.usage,
            estimated: reply.estimated,
            cost_usd: reply.cost_usd.or_else(|| self.kit.models.prices().cost(&reply.model, reply.usage)),
            duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            finish: reply.finish.word().to_owned(),
        }));
        Ok(reply)
    }

    async fn list(&self) -> Result<Vec<String>, ModelError> {
        self.model.list().await
    }
}
