//! `CallAsker`: brings what a tool call under way asks to people, as a gate of its node. A call that ends or stops waiting takes its question
//! back.

use super::workers::WorkerPort;
use crate::engine::{Answer, WorkerFact};
use crate::tools::{Asker, CallQuestion, KnownSecrets};
use async_trait::async_trait;
use serde_json::Value;
use std::sync::Arc;

pub(super) struct CallAsker {
    pub(super) port: WorkerPort,
    pub(super) secrets: Arc<KnownSecrets>,
    /// The call that asks.
    pub(super) within: String,
}

/// A question that waits for its answer; dropped before, it is taken back.
struct OpenQuestion<'a> {
    port: &'a WorkerPort,
    call: Option<String>,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            self.port.report(WorkerFact::QuestionOver { call, why: "the call that asked needs no answer any more".to_owned() });
        }
    }
}

#[async_trait]
impl Asker for CallAsker {
    async fn ask(&self, question: CallQuestion) -> Result<Value, String> {
        let CallQuestion { mut text, options, mut fields, payload } = question;
        self.secrets.mask_text(&mut text);
        fields.iter_mut().filter_map(|field| field.label.as_mut()).for_each(|label| self.secrets.mask_text(label));
        let call = uuid::Uuid::now_v7().simple().to_string();
        let mut open = OpenQuestion { port: &self.port, call: Some(call.clone()) };
        let within = Some(self.within.clone());
        let fact = WorkerFact::QuestionAsked { call: call.clone(), text, options, fields, payload, within };
        let answer = self.port.ask(call, fact).await;
        open.call = None;
        match answer {
            Answer::Value(value) | Answer::Run { args: value } => Ok(value),
            Answer::Refused { message } => Err(message),
            Answer::Go { .. } | Answer::Again { .. } => Err("nobody answered".to_owned()),
        }
    }
}
