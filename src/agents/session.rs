//! `ModelSession`: model calls of one attempt under its limits of tokens and time, each reported through the port.

use std::time::Duration;
use tokio::time::{Instant, timeout};

use super::attempt::{AttemptLimits, millis};
use super::{Port, tokens};
use crate::engine::{ErrorKind, ModelCall, NodeError, TokenUsage, TryVerdict};
use crate::models::{ChatMessage, ChatModel, ChatReply, ChatRequest, Delta, ModelError, ModelSettings, OutputSchema, ToolOffer};

/// No call is made for an answer that may not even be this long.
pub(super) const SHORTEST_ANSWER: u64 = 64;

/// Model calls of one attempt.
pub(super) struct ModelSession<'a> {
    provider: &'a dyn ChatModel,
    model: &'a str,
    settings: &'a ModelSettings,
    /// Limits of the attempt.
    pub caps: AttemptLimits,
    /// Where everything is reported.
    pub port: &'a dyn Port,
    /// Tokens used so far; may pass the cap when a provider reports more than was asked for.
    spent: u64,
    worked: Duration,
    /// Whether a tool that changes the world was called: from then on a failure proves nothing.
    pub acted: bool,
    /// What people said that the agent has not got yet.
    said: Vec<String>,
    /// Whether the agent is to hand back what it has.
    wraps_up: bool,
    /// Whether an answer was cut off because the node was stopped.
    pub was_cut: bool,
}

/// The permit for one call. There is no other way to get one than to ask for it.
pub(super) struct CallPermit(());

pub(super) struct SessionCall<'c> {
    /// That it may be made.
    pub permit: CallPermit,
    pub messages: &'c [ChatMessage],
    pub offers: &'c [ToolOffer],
    pub schema: Option<OutputSchema>,
    /// Longest answer that the limit allows.
    pub cap: u64,
    /// Who sees the answer as it comes.
    pub stream: StreamAudience,
}

/// Who sees an answer as it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamAudience {
    /// It is part of the node's output.
    Show,
    /// It is a thought on the way.
    Hide,
}

impl<'a> ModelSession<'a> {
    pub fn new(provider: &'a dyn ChatModel, model: &'a str, settings: &'a ModelSettings, caps: AttemptLimits, port: &'a dyn Port) -> Self {
        Self {
            provider,
            model,
            settings,
            caps,
            port,
            spent: 0,
            worked: Duration::ZERO,
            acted: false,
            said: Vec::new(),
            wraps_up: false,
            was_cut: false,
        }
    }

    /// Tokens that are left of the limit.
    pub fn left(&self) -> u64 {
        self.caps.tokens.saturating_sub(self.spent)
    }

    /// The longest answer that this conversation leaves room for; `None` when not even a minimal one fits.
    pub fn room(&self, messages: &[ChatMessage], offers: &[ToolOffer]) -> Option<u64> {
        let prompt = tokens::of_messages(messages) + tokens::of_offers(offers);
        self.left().checked_sub(prompt).filter(|room| *room >= SHORTEST_ANSWER)
    }

    /// Whether an answer that reached its output cap was cut by the node's limit and not by the execution's settings.
    pub fn cut_by_limit(&self, cap: u64) -> bool {
        self.settings.max_tokens.is_none_or(|own| own > cap)
    }

    /// Asks for leave to make the next call. What comes with it stays here until the agent gets it.
    pub async fn permit(&mut self) -> Result<CallPermit, NodeError> {
        let go = self.port.model(self.model).await.map_err(NodeError::permanent)?;
        self.said.extend(go.guidance);
        self.wraps_up |= go.wrap_up;
        Ok(CallPermit(()))
    }

    /// What people said and the agent has not got yet, in words for it; taken out.
    pub fn take_guidance(&mut self) -> Option<String> {
        if self.said.is_empty() {
            return None;
        }
        let said = std::mem::take(&mut self.said);
        Some(format!("The operator says, and it goes before everything else here:\n{}", said.join("\n\n")))
    }

    /// Whether the agent is to hand back what it has.
    pub fn wraps_up(&self) -> bool {
        self.wraps_up
    }

    /// Makes one call and reports it.
    pub async fn call(&mut self, call: SessionCall<'_>) -> Result<ChatReply, NodeError> {
        let CallPermit(()) = call.permit;
        let mut settings = self.settings.clone();
        settings.max_tokens = Some(settings.max_tokens.map_or(call.cap, |own| own.min(call.cap)));
        let request = ChatRequest {
            model: self.model.to_owned(),
            messages: call.messages.to_vec(),
            tools: call.offers.to_vec(),
            schema: call.schema,
            settings,
            ..ChatRequest::default()
        };
        let left = self.caps.time.saturating_sub(self.worked);
        let started = Instant::now();
        let (port, mut streamed, mut heard) = (self.port, false, String::new());
        let mut sink = |delta: Delta| match (delta, call.stream) {
            (Delta::Text(text), StreamAudience::Show) => {
                streamed |= !text.is_empty();
                heard.push_str(&text);
                port.output(&text);
            }
            (Delta::Restart { why }, StreamAudience::Show) => {
                heard.clear();
                port.output(&format!("\n[trying again: {why}]\n"));
                port.log(&format!("trying the model again: {why}"));
            }
            (Delta::Restart { why }, StreamAudience::Hide) => port.log(&format!("trying the model again: {why}")),
            (Delta::Text(_), StreamAudience::Hide) | (Delta::Reasoning(_), StreamAudience::Show | StreamAudience::Hide) => {}
        };
        // The turn that is there to hand back what there is has all its time.
        let is_last = self.wraps_up;
        let overdue = async { if is_last { std::future::pending().await } else { port.overdue().await } };
        let answered = tokio::select! {
            biased;
            answered = timeout(left, self.provider.chat(&request, &mut sink)) => Some(answered),
            () = overdue => None,
        };
        let took = started.elapsed();
        self.worked += took;
        let reply = match answered {
            Some(Ok(Ok(reply))) => reply,
            Some(Ok(Err(error))) => return Err(self.node_error(error)),
            Some(Err(_)) => return Err(self.out_of_time()),
            None => self.cut_off(&request, heard),
        };
        if !streamed && call.stream == StreamAudience::Show && !reply.text.is_empty() {
            port.output(&reply.text);
        }
        self.report(&reply, took);
        Ok(reply)
    }

    /// What there is of an answer that went on after the node was stopped; its tokens are counted here.
    fn cut_off(&mut self, request: &ChatRequest, text: String) -> ChatReply {
        self.port.log("stopped: the answer went on and was cut off");
        self.was_cut = true;
        let usage = TokenUsage::of(tokens::of_messages(&request.messages), tokens::of_text(&text));
        ChatReply { text, usage, estimated: true, model: self.model.to_owned(), ..ChatReply::default() }
    }

    fn report(&mut self, reply: &ChatReply, took: Duration) {
        self.spent = self.spent.saturating_add(reply.usage.total());
        self.port.model_called(ModelCall {
            model: self.model.to_owned(),
            provider: self.provider.provider().to_owned(),
            usage: reply.usage,
            estimated: reply.estimated,
            cost_usd: None,
            duration_ms: millis(took),
            finish: reply.finish.word().to_owned(),
        });
    }

    fn out_of_time(&self) -> NodeError {
        let seconds = self.caps.time.as_secs_f64();
        NodeError { kind: ErrorKind::Timeout, ..NodeError::permanent(format!("the agent used up its {seconds} s of work time")) }
            .hint("raise the node's `timeout_s`")
    }

    fn node_error(&self, error: ModelError) -> NodeError {
        let kind = match error.verdict {
            TryVerdict::Never => ErrorKind::Permanent,
            TryVerdict::Again | TryVerdict::After { .. } if error.kind.proves_nothing_began() && !self.acted => ErrorKind::NothingBegan,
            TryVerdict::Again | TryVerdict::After { .. } => ErrorKind::Transient,
        };
        NodeError { kind, message: error.message, hint: error.hint, retry_after_ms: error.verdict.wait_ms() }
    }
}
