//! `Hearing`: one answer of a model as it comes: who sees it, what it has taken so far, and whether it still says something new.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use super::{Port, repetition::Repetition, session::StreamAudience, tokens};
use crate::engine::{MessageRole, ModelCall, TokenUsage};
use crate::models::{ChatAnswer, ChatRequest, Delta, ModelError};

/// An answer as it comes.
pub(super) struct Hearing<'a> {
    port: &'a dyn Port,
    request: &'a ChatRequest,
    provider: &'a str,
    stream: StreamAudience,
    text: String,
    thoughts: String,
    pub spent: UnreportedUsage,
    repetition: Repetition,
    is_endless: Arc<AtomicBool>,
}

impl<'a> Hearing<'a> {
    pub fn new(port: &'a dyn Port, request: &'a ChatRequest, provider: &'a str, stream: StreamAudience) -> Self {
        let hearing = Self {
            port,
            request,
            provider,
            stream,
            text: String::new(),
            thoughts: String::new(),
            spent: UnreportedUsage::default(),
            repetition: Repetition::new(),
            is_endless: Arc::default(),
        };
        hearing.begins();
        hearing
    }

    /// Whether it says the same words over and over.
    pub fn is_endless(&self) -> Arc<AtomicBool> {
        self.is_endless.clone()
    }

    /// Whether some of it was shown.
    pub fn streamed(&self) -> bool {
        self.stream == StreamAudience::Show && !self.text.is_empty()
    }

    pub fn hear(&mut self, delta: Delta) {
        self.spent.watch(&delta, self.request);
        match delta {
            Delta::Text(text) => {
                if self.stream == StreamAudience::Show {
                    self.port.output(&text);
                }
                self.port.hears(tokens::of_text(&text), &text);
                self.is_endless.fetch_or(self.repetition.hears(&text), Ordering::Relaxed);
                self.text.push_str(&text);
            }
            Delta::Reasoning(text) => {
                self.port.thought(&text);
                self.port.hears(tokens::of_text(&text), "");
                self.is_endless.fetch_or(self.repetition.hears(&text), Ordering::Relaxed);
                self.thoughts.push_str(&text);
            }
            Delta::Restart { why, .. } => {
                if self.streamed() {
                    self.port.output(&format!("\n[trying again: {why}]\n"));
                }
                self.port.log(&format!("trying the model again: {why}"));
                if !self.thoughts.is_empty() {
                    self.port.thought(&format!("\n[trying again: {why}]\n"));
                }
                self.record_thoughts();
                self.text.clear();
                self.thoughts.clear();
                self.repetition = Repetition::new();
                self.begins();
            }
            Delta::Call | Delta::Waits { .. } | Delta::Otherwise { .. } => {}
        }
    }

    /// Thoughts are for people to read: they are on record, and in no conversation.
    pub fn record_thoughts(&self) {
        if !self.thoughts.trim().is_empty() {
            self.port.message(MessageRole::Reasoning, &self.thoughts);
        }
    }

    /// What there is of it by now, with the tokens of all that was sent and said.
    pub fn so_far(self) -> (String, TokenUsage) {
        (self.text, self.spent.so_far(self.request))
    }

    fn begins(&self) {
        let call = ModelCall {
            model: self.request.model.clone(),
            provider: self.provider.to_owned(),
            usage: self.spent.before(),
            estimated: true,
            ..ModelCall::default()
        };
        self.port.asks(call, crate::models::tokens::count_prompt(self.request));
    }
}

/// What answers took that were no use and that no provider counted: counted here.
#[derive(Default)]
pub(super) struct UnreportedUsage {
    /// Tokens of the answer under way.
    written: u64,
    usage: TokenUsage,
    /// What a provider counted of answers that were no use.
    reported: TokenUsage,
}

impl UnreportedUsage {
    fn watch(&mut self, delta: &Delta, request: &ChatRequest) {
        match delta {
            Delta::Text(text) | Delta::Reasoning(text) => self.written += tokens::of_text(text),
            Delta::Restart { usage: None, .. } => self.lose(request),
            Delta::Restart { usage: Some(usage), .. } => {
                self.reported.add(*usage);
                self.written = 0;
            }
            Delta::Call | Delta::Waits { .. } | Delta::Otherwise { .. } => {}
        }
    }

    /// The last answer broke off. What a provider reported has all of it.
    pub fn broken_off(&mut self, error: &ModelError, request: &ChatRequest) {
        if self.written > 0 && error.usage.is_none() {
            self.lose(request);
        }
    }

    fn lose(&mut self, request: &ChatRequest) {
        let prompt = crate::models::tokens::count_prompt(request);
        self.usage.add(TokenUsage::of(prompt, std::mem::take(&mut self.written)));
    }

    /// What answers before this one took.
    fn before(&self) -> TokenUsage {
        let mut all = self.usage;
        all.add(self.reported);
        all
    }

    /// All that was sent and said by now, with the answer under way.
    fn so_far(&self, request: &ChatRequest) -> TokenUsage {
        let mut all = self.before();
        all.add(TokenUsage::of(crate::models::tokens::count_prompt(request), self.written));
        all
    }

    /// A price that was said is of one answer alone.
    pub fn added_to(self, mut reply: ChatAnswer) -> ChatAnswer {
        if self.usage != TokenUsage::default() {
            reply.usage.add(self.usage);
            (reply.estimated, reply.cost_usd) = (true, None);
        }
        reply
    }
}
