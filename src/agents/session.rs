//! `ModelSession`: model calls of one attempt under its limit of tokens, each reported through the port.

use std::{future::poll_fn, sync::atomic::Ordering, task::Poll, time::Duration};
use tokio::time::Instant;

use super::attempt::AttemptLimits;
use super::hearing::Hearing;
use super::{Port, repetition, tokens};
use crate::engine::{CallNeed, ErrorKind, Mark, ModelCall, NodeError, TokenUsage, TryVerdict};
use crate::models::{
    ChatAnswer, ChatMessage, ChatModel, ChatRequest, Delta, ModelError, ModelErrorKind, ModelSettings, OutputSchema, ToolOffer,
    tokens::{at_most, of_schema},
};
use crate::text::thousands;

/// No call is made for an answer that may not even be this long.
pub(super) const SHORTEST_ANSWER: u64 = 64;

/// Tokens of a last turn beside its opening: the words that ask for it, what was said last, and the answer.
const LAST_TURN: u64 = 768;

/// How long an answer may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerRoom {
    /// So many tokens, and not fewer than the shortest answer.
    Tokens(u64),
    /// As long as the model makes it: nobody wrote a limit.
    Open,
}

impl AnswerRoom {
    fn of(tokens: u64) -> Option<Self> {
        (tokens >= SHORTEST_ANSWER).then_some(Self::Tokens(tokens))
    }

    /// What is left without these tokens, if it is enough for an answer.
    pub fn without(self, tokens: u64) -> Option<Self> {
        match self {
            Self::Tokens(room) => Self::of(room.checked_sub(tokens)?),
            Self::Open => Some(Self::Open),
        }
    }

    /// One of so many equal parts, if it is enough for an answer.
    pub fn part_of(self, parts: u32) -> Option<Self> {
        match self {
            Self::Tokens(room) => Self::of(room / u64::from(parts.max(1))),
            Self::Open => Some(Self::Open),
        }
    }

    /// The same where there is a limit, but no longer than this.
    pub fn at_most(self, most: u64) -> Self {
        match self {
            Self::Tokens(room) => Self::Tokens(room.min(most)),
            Self::Open => Self::Open,
        }
    }
}

/// How a call ended that gave no answer but was charged.
const FAILED: &str = "failed";

/// Model calls of one attempt.
pub(super) struct ModelSession<'a> {
    provider: &'a dyn ChatModel,
    model: &'a str,
    settings: &'a ModelSettings,
    /// Limits of the attempt.
    pub caps: AttemptLimits,
    /// Where everything is reported.
    pub port: &'a dyn Port,
    /// Whether the agent can do nothing without its tools.
    pub needs_tools: bool,
    /// Whether a tool that changes the world was called: from then on a failure proves nothing.
    pub acted: bool,
    /// Whether the last call was refused because its prompt is too long for the model.
    pub too_long: bool,
    /// Whether the last call was refused because a budget outside of the run doesn't hold it.
    pub over_budget: bool,
    taken: CallsTaken,
    steered: Steered,
    /// What was done otherwise than asked, as far as the log has it.
    noted: Vec<String>,
}

/// What the calls took so far.
#[derive(Default)]
struct CallsTaken {
    /// Tokens of prompts and answers; may pass the limit when a provider reports more than was asked for.
    tokens: u64,
    /// Of these, tokens that the model wrote.
    written: u64,
    replies: u32,
}

/// What was done to the work, mostly by people.
#[derive(Default)]
struct Steered {
    /// What they said that the agent has not got yet.
    said: Vec<String>,
    /// Whether the agent is to hand back what it has.
    wraps_up: bool,
    /// Whether that is because a budget is used up.
    at_cap: bool,
    /// Tokens that the next call may take, prompt and answer, where a budget says so.
    granted: Option<u64>,
    /// Whether the last permit said so.
    is_capped: bool,
    /// Why an answer was cut off here, if one was.
    cut_off: Option<CutOff>,
}

/// Why an answer is cut off before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CutOff {
    /// The node is to stop.
    Stopped,
    /// It says the same words over and over.
    Repeats,
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
    pub cap: AnswerRoom,
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
            needs_tools: false,
            acted: false,
            too_long: false,
            over_budget: false,
            taken: CallsTaken::default(),
            steered: Steered::default(),
            noted: Vec::new(),
        }
    }

    /// Tokens that a further prompt and its answer may take.
    pub fn left(&self) -> u64 {
        let own = self.caps.tokens.map_or(self.caps.window, |limit| limit.saturating_sub(self.taken.tokens).min(self.caps.window));
        // What is granted counts a token a byte; texts are cut by four bytes a token.
        self.steered.granted.map_or(own, |granted| own.min(granted / 4))
    }

    /// The longest answer that this conversation leaves room for under a written limit; `None` when not even a minimal one fits.
    pub fn room(&self, messages: &[ChatMessage], offers: &[ToolOffer]) -> Option<AnswerRoom> {
        let granted = match self.steered.granted {
            Some(granted) => AnswerRoom::of(granted.checked_sub(at_most(messages, offers, None))?)?,
            None => AnswerRoom::Open,
        };
        let Some(limit) = self.caps.tokens else { return Some(granted) };
        let prompt = tokens::of_messages(messages) + tokens::of_offers(offers);
        let own = limit.saturating_sub(self.taken.tokens).checked_sub(prompt)?;
        AnswerRoom::of(own).map(|_| match granted {
            AnswerRoom::Tokens(granted) => AnswerRoom::Tokens(granted.min(own)),
            AnswerRoom::Open => AnswerRoom::Tokens(own),
        })
    }

    /// Whether the model has written as much as it may where nobody wrote a limit.
    pub fn wrote_enough(&self) -> bool {
        self.caps.tokens.is_none() && self.taken.written >= self.caps.written
    }

    /// Whether an answer that reached its output cap was cut by the node's limit and not by the execution's settings.
    pub fn cut_by_limit(&self, cap: AnswerRoom) -> bool {
        match cap {
            AnswerRoom::Tokens(cap) => self.settings.max_tokens.is_none_or(|own| own > cap),
            AnswerRoom::Open => self.steered.is_capped,
        }
    }

    /// Asks for leave to make the next call, of this prompt. What comes with it stays here until the agent gets it.
    pub async fn permit(
        &mut self,
        messages: &[ChatMessage],
        offers: &[ToolOffer],
        schema: Option<&OutputSchema>,
    ) -> Result<CallPermit, NodeError> {
        let of_schema = schema.map_or(0, of_schema);
        let opening = &messages[..messages.len().min(2)];
        let need = CallNeed {
            prompt: at_most(messages, offers, schema),
            least: SHORTEST_ANSWER,
            most: self.settings.max_tokens.unwrap_or(u64::MAX),
            last: at_most(opening, &[], schema) + LAST_TURN,
            price: None,
        };
        let go = self.port.model(self.model, Some(need)).await.map_err(|refusal| NodeError::permanent(refusal.0))?;
        self.steered.said.extend(go.guidance);
        self.steered.wraps_up |= go.wrap_up;
        self.steered.at_cap |= go.granted.is_some_and(|granted| granted.at_cap);
        self.steered.granted = go.granted.map(|granted| granted.tokens.saturating_sub(of_schema));
        self.steered.is_capped = go.granted.is_some();
        Ok(CallPermit(()))
    }

    /// What people said and the agent has not got yet, in words for it; taken out.
    pub fn take_guidance(&mut self) -> Option<String> {
        if self.steered.said.is_empty() {
            return None;
        }
        let said = std::mem::take(&mut self.steered.said);
        Some(format!("The operator says, and it goes before everything else here:\n{}", said.join("\n\n")))
    }

    /// Whether the agent is to hand back what it has.
    pub fn wraps_up(&self) -> bool {
        self.steered.wraps_up
    }

    /// Whether that is because a budget is used up.
    pub fn is_at_cap(&self) -> bool {
        self.steered.at_cap
    }

    /// Why it hands back what it has, in a sentence.
    pub fn early(&self) -> &'static str {
        if self.steered.at_cap { "the budget is used up" } else { "the operator stopped the node" }
    }

    /// What marks a result that is handed back early.
    pub fn early_mark(&self) -> Mark {
        if self.steered.at_cap { Mark::BudgetExhausted } else { Mark::Stopped }
    }

    /// Why an answer was cut off here, if one was.
    pub fn cut_off_by(&self) -> Option<CutOff> {
        self.steered.cut_off
    }

    /// Answers that came so far.
    pub fn replies(&self) -> u32 {
        self.taken.replies
    }

    /// Makes one call and reports it.
    pub async fn call(&mut self, call: SessionCall<'_>) -> Result<ChatAnswer, NodeError> {
        let stream = call.stream;
        let request = self.request(call);
        self.steered.granted = None;
        let started = Instant::now();
        let port = self.port;
        let mut hearing = Hearing::new(port, &request, self.provider.provider(), stream);
        let is_endless = hearing.is_endless();
        let mut sink = |delta: Delta| hearing.hear(delta);
        // The turn that is there to hand back what there is has all its time.
        let is_last = self.steered.wraps_up;
        let overdue = async { if is_last { std::future::pending().await } else { port.overdue().await } };
        let answered = tokio::select! {
            biased;
            answered = self.provider.chat(&request, &mut sink) => Ok(answered),
            // Looked at behind every piece: the answer is read in this very task.
            () = poll_fn(|_| if is_endless.load(Ordering::Relaxed) { Poll::Ready(()) } else { Poll::Pending }) => Err(CutOff::Repeats),
            () = overdue => Err(CutOff::Stopped),
        };
        let took = started.elapsed();
        hearing.record_thoughts();
        self.over_budget = matches!(&answered, Ok(Err(error)) if error.kind == ModelErrorKind::OverBudget);
        self.too_long = matches!(&answered, Ok(Err(error)) if error.kind == ModelErrorKind::ContextTooLong);
        let streamed = hearing.streamed();
        let reply = match answered {
            Ok(Ok(reply)) => hearing.spent.added_to(reply),
            Ok(Err(error)) => {
                hearing.spent.broken_off(&error, &request);
                let reported = ChatAnswer { usage: error.usage.unwrap_or_default(), model: self.model.to_owned(), ..ChatAnswer::default() };
                let all = hearing.spent.added_to(reported);
                if all.usage != TokenUsage::default() {
                    self.report(&all, FAILED, took);
                }
                return Err(self.node_error(error));
            }
            Err(why) => self.cut_off(why, hearing),
        };
        if !streamed && stream == StreamAudience::Show && !reply.text.is_empty() {
            port.output(&reply.text);
        }
        self.taken.replies += 1;
        self.report(&reply, reply.finish.word(), took);
        Ok(reply)
    }

    fn request(&self, call: SessionCall<'_>) -> ChatRequest {
        let CallPermit(()) = call.permit;
        let mut settings = self.settings.clone();
        if let AnswerRoom::Tokens(cap) = call.cap {
            settings.max_tokens = Some(settings.max_tokens.map_or(cap, |own| own.min(cap)));
        }
        ChatRequest {
            model: self.model.to_owned(),
            messages: call.messages.to_vec(),
            tools: call.offers.to_vec(),
            needs_tools: self.needs_tools && !call.offers.is_empty(),
            schema: call.schema,
            settings,
            once: self.steered.is_capped,
        }
    }

    /// What there is of an answer that would have gone on; its tokens are counted here.
    fn cut_off(&mut self, why: CutOff, hearing: Hearing<'_>) -> ChatAnswer {
        self.port.log(match why {
            CutOff::Stopped => "stopped: the answer went on and was cut off",
            CutOff::Repeats => "the model said the same words over and over, so its answer was cut off",
        });
        self.steered.cut_off = Some(why);
        let (text, usage) = hearing.so_far();
        let text = match why {
            CutOff::Stopped => text,
            CutOff::Repeats => repetition::without(&text),
        };
        ChatAnswer { text, usage, estimated: true, model: self.model.to_owned(), ..ChatAnswer::default() }
    }

    fn report(&mut self, reply: &ChatAnswer, finish: &str, took: Duration) {
        for note in &reply.notes {
            if !self.noted.contains(note) {
                self.port.log(note);
                self.noted.push(note.clone());
            }
        }
        self.taken.tokens = self.taken.tokens.saturating_add(reply.usage.total());
        let had_enough = self.wrote_enough();
        self.taken.written = self.taken.written.saturating_add(reply.usage.completion);
        if self.wrote_enough() && !had_enough {
            let line = format!(
                "the model has written {} tokens; where no limit is set, {} are enough",
                thousands(self.taken.written),
                thousands(self.caps.written)
            );
            self.port.note("limit passed", &line);
        }
        self.port.model_called(ModelCall { finish: finish.to_owned(), ..reply.call(self.provider.provider(), took) });
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
