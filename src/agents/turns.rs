//! The agent loop: the model speaks, its calls are made, their results go back, until it answers or a limit is reached.
//! Before each call the whole of it is reserved, with room for one last turn; so a limit is kept, and what there is is handed back.

use serde_json::Value;

use super::answer::{self, ResultCheck, ResultFault};
use super::attempt::{AttemptEnd, limit};
use super::calls::{self, CallOutcome, MadeCalls, SideEffect};
use super::offers::Offers;
use super::prompt::Prompt;
use super::session::{AnswerRoom, CallPermit, CutOff, ModelSession, SHORTEST_ANSWER, SessionCall, StreamAudience};
use super::tokens;
use crate::engine::{Done, Mark, MessageRole, NodeError};
use crate::models::{ChatAnswer, ChatMessage, Finish};
use crate::plan::{ToolInfo, dialect::exact_json};

/// Tokens kept free for the last turn's answer.
const LAST_ANSWER: u64 = 256;

/// Tokens of a tool's result that is never cut to make a conversation shorter.
const SHORTEST_TOOL_RESULT: u64 = 200;

/// What the next turn may do.
enum TurnKind {
    /// Call tools or answer.
    Open(AnswerRoom),
    /// Answer: the count of turns leaves no room for tools.
    Answer(AnswerRoom),
    /// Hand back what there is.
    Last(LastTurnReason),
}

/// Why there is no further turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LastTurnReason {
    Iterations,
    Tokens,
    /// A budget that others may share is used up.
    Budget,
    Stopped,
    /// The agent makes the same call again and again.
    Repeats,
}

/// Whether a turn has tools.
#[derive(Clone, Copy)]
enum TurnTools {
    Offered,
    None,
}

/// What a reply leads to.
enum AfterReply {
    Done(Done),
    GoOn,
}

/// What to do where a written limit leaves no room.
const RAISE: &str = "raise the node's `budget.tokens`, or give it less context";

struct Conversation<'a, 's> {
    session: &'s mut ModelSession<'a>,
    offers: Offers,
    made: MadeCalls,
    check: &'s ResultCheck,
    messages: Vec<ChatMessage>,
    /// The last text of the model, for a turn that has no room for the whole conversation.
    last_words: String,
    /// Whether the model was still using tools when it last spoke.
    at_work: bool,
    repaired: bool,
}

/// Talks until there is a result, or a limit is reached.
pub(super) async fn converse(
    session: &mut ModelSession<'_>,
    prompt: &Prompt,
    tools: &[ToolInfo],
    check: &ResultCheck,
) -> Result<AttemptEnd, NodeError> {
    let mut talk = Conversation {
        session,
        offers: Offers::new(tools, check.schema()),
        made: MadeCalls::default(),
        check,
        messages: Vec::new(),
        last_words: String::new(),
        at_work: false,
        repaired: false,
    };
    talk.push(ChatMessage::System { content: prompt.system.clone() });
    talk.push(ChatMessage::User { content: prompt.user() });
    match talk.talk().await {
        // What was said last is all there is.
        Err(error) if talk.session.over_budget => talk.out_of_tokens(LastTurnReason::Budget).map_err(|_| error),
        end => end,
    }
}

impl Conversation<'_, '_> {
    async fn talk(&mut self) -> Result<AttemptEnd, NodeError> {
        for number in 1..=self.session.caps.iterations {
            let mut turn = self.turn(number)?;
            let offers = if let TurnKind::Open(_) = turn { self.offers.list() } else { &[] };
            let permit = self.session.permit(&self.messages, offers, self.check.asked().as_ref()).await?;
            if let Some(text) = self.session.take_guidance() {
                self.push(ChatMessage::User { content: text });
                turn = self.turn(number)?;
            }
            if self.session.wraps_up() {
                let why = if self.session.is_at_cap() { LastTurnReason::Budget } else { LastTurnReason::Stopped };
                return self.last_turn(why, permit).await;
            }
            let next = match turn {
                TurnKind::Open(cap) => self.open_turn(cap, permit).await?,
                TurnKind::Answer(cap) => self.answer_turn(cap, permit).await?,
                TurnKind::Last(why) => return self.last_turn(why, permit).await,
            };
            if let AfterReply::Done(done) = next {
                return Ok(AttemptEnd::Done(done));
            }
        }
        Err(out_of_turns("the agent used all its turns without an answer"))
    }

    /// What the next turn may do: with tools only if a last turn still fits behind it.
    fn turn(&self, number: u32) -> Result<TurnKind, NodeError> {
        let last_turn = tokens::of_messages(self.opening()) + LAST_ANSWER;
        if number == 1 && self.session.room(&self.messages, &[]).is_none() {
            let message = format!(
                "the prompt takes about {} tokens, and the node's limit is {}",
                tokens::of_messages(&self.messages),
                self.session.caps.limit()
            );
            return Err(limit(message, RAISE));
        }
        let room = self.session.room(&self.messages, self.offers.list()).and_then(|room| room.without(last_turn));
        match room {
            Some(_) if self.made.insists() => Ok(TurnKind::Last(LastTurnReason::Repeats)),
            Some(_) if self.session.wrote_enough() => Ok(TurnKind::Last(LastTurnReason::Tokens)),
            // Nothing is used yet, but what was written leaves room for one answer only.
            None if number == 1 && !self.session.wrote_enough() && self.session.replies() == 0 => {
                let cap = self.session.room(&self.messages, &[]).ok_or_else(|| limit("no room for an answer".to_owned(), RAISE))?;
                Ok(TurnKind::Answer(cap))
            }
            None => Ok(TurnKind::Last(LastTurnReason::Tokens)),
            Some(_) if number == self.session.caps.iterations && self.at_work => Ok(TurnKind::Last(LastTurnReason::Iterations)),
            Some(cap) if number == self.session.caps.iterations => Ok(TurnKind::Answer(cap)),
            Some(cap) => Ok(TurnKind::Open(cap)),
        }
    }

    /// System prompt and objective.
    fn opening(&self) -> &[ChatMessage] {
        &self.messages[..self.messages.len().min(2)]
    }

    async fn open_turn(&mut self, cap: AnswerRoom, permit: CallPermit) -> Result<AfterReply, NodeError> {
        let reply = self.ask(cap, TurnTools::Offered, permit).await?;
        if reply.calls.is_empty() { self.answered(&reply, cap) } else { self.carry_out(reply).await }
    }

    async fn answer_turn(&mut self, cap: AnswerRoom, permit: CallPermit) -> Result<AfterReply, NodeError> {
        let reply = self.ask(cap, TurnTools::None, permit).await?;
        match handed_in(&reply) {
            Some(value) => self.hand_in(value, None),
            None => self.answered(&reply, cap),
        }
    }

    /// The model's reply to the conversation. One that is too long for the model is sent again with less of what tools gave.
    async fn ask(&mut self, cap: AnswerRoom, tools: TurnTools, mut permit: CallPermit) -> Result<ChatAnswer, NodeError> {
        loop {
            let offers = match tools {
                TurnTools::Offered => self.offers.list(),
                TurnTools::None => &[],
            };
            let (messages, schema) = (&self.messages, self.check.asked());
            let call = SessionCall { permit, messages, offers, schema, cap, stream: StreamAudience::Show };
            match self.session.call(call).await {
                Ok(reply) => {
                    self.heard(&reply);
                    return Ok(reply);
                }
                Err(_) if self.session.too_long && self.shorten() => {
                    let offers = match tools {
                        TurnTools::Offered => self.offers.list(),
                        TurnTools::None => &[],
                    };
                    permit = self.session.permit(&self.messages, offers, self.check.asked().as_ref()).await?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Cuts long results of tools to half; `false` when there are none.
    fn shorten(&mut self) -> bool {
        let mut is_shorter = false;
        for message in &mut self.messages {
            let ChatMessage::Tool { content, .. } = message else { continue };
            let size = tokens::of_text(content);
            if size > SHORTEST_TOOL_RESULT {
                *content = tokens::cut(content, size / 2);
                is_shorter = true;
            }
        }
        if is_shorter {
            self.session.port.note("context cut", "the conversation is too long for the model, so what tools gave is cut to half");
        }
        is_shorter
    }

    fn answered(&mut self, reply: &ChatAnswer, cap: AnswerRoom) -> Result<AfterReply, NodeError> {
        self.at_work = false;
        if reply.text.trim().is_empty() {
            return self.empty(reply);
        }
        let mark = self.mark_of_cut(reply, cap);
        self.hand_in(answer::parse(&reply.text), mark)
    }

    /// One turn without tools, to hand back what there is. At the limit of tokens that is the node's result; an agent that was still at
    /// work at the limit of iterations has failed, whatever it hands back.
    async fn last_turn(&mut self, why: LastTurnReason, permit: CallPermit) -> Result<AttemptEnd, NodeError> {
        let reached = match why {
            LastTurnReason::Iterations => "all turns are used",
            LastTurnReason::Tokens => "all tokens are used",
            LastTurnReason::Budget => "the budget is used up",
            LastTurnReason::Stopped => "the operator stopped the node",
            LastTurnReason::Repeats => "the same call was made again and again",
        };
        let text = format!("This is your last turn: {reached}. You have no more tools. Give the best result that you have now.");
        if !self.at_work {
            // Nothing was begun with tools, so this is an ordinary answer in less space.
            self.session.port.log(&format!("{reached}: the agent gets one more turn, without tools"));
        }
        self.push(ChatMessage::User { content: text.clone() });
        self.messages = self.fitting(&text);
        let Some(cap) = self.session.room(&self.messages, &[]) else { return self.out_of_tokens(why) };
        let reply = self.ask(cap, TurnTools::None, permit).await?;
        let result = match handed_in(&reply) {
            Some(value) => value,
            None if reply.text.trim().is_empty() => {
                let hint = match why {
                    LastTurnReason::Iterations | LastTurnReason::Tokens => "raise this limit of the node",
                    LastTurnReason::Budget => "raise the budget",
                    LastTurnReason::Stopped => "run the node again",
                    LastTurnReason::Repeats => "change the objective or the tools, or use another model",
                };
                return Err(limit(format!("{reached}, and the agent gave no result"), hint));
            }
            None => answer::parse(&reply.text),
        };
        match why {
            LastTurnReason::Iterations => {
                let text =
                    format!("the agent was still working after {} turns; its result may be incomplete", self.session.caps.iterations);
                Ok(AttemptEnd::Limit { error: out_of_turns(text), handed_back: result })
            }
            LastTurnReason::Tokens | LastTurnReason::Budget => self.handed_back(result, Mark::BudgetExhausted),
            LastTurnReason::Stopped => self.handed_back(result, Mark::Stopped),
            LastTurnReason::Repeats => self.handed_back(result, Mark::RepeatedCall),
        }
    }

    /// What is handed back at the limit of tokens, or because the work was stopped.
    fn handed_back(&self, result: Value, mark: Mark) -> Result<AttemptEnd, NodeError> {
        let result = self.check.judge(&result).or_else(|fault| fault.settle(result, self.session.port))?;
        Ok(AttemptEnd::Done(Done { result, mark: Some(mark) }))
    }

    /// The whole conversation if it fits, else its opening and the model's last text.
    fn fitting(&self, text: &str) -> Vec<ChatMessage> {
        if self.session.room(&self.messages, &[]).is_some() {
            return self.messages.clone();
        }
        let mut messages = self.opening().to_vec();
        let spare = self.session.left().saturating_sub(tokens::of_messages(&messages) + tokens::of_text(text) + 2 * SHORTEST_ANSWER);
        if !self.last_words.is_empty() && spare > SHORTEST_ANSWER {
            messages.push(ChatMessage::Assistant { content: tokens::cut(&self.last_words, spare), calls: Vec::new() });
        }
        messages.push(ChatMessage::User { content: text.to_owned() });
        messages
    }

    /// A provider took more than was asked for: what was said last is all there is.
    fn out_of_tokens(&self, why: LastTurnReason) -> Result<AttemptEnd, NodeError> {
        let result = answer::parse(&self.last_words);
        if self.last_words.trim().is_empty() || matches!(self.check.judge(&result), Err(ResultFault::Schema(_))) {
            let (message, hint) = match why {
                LastTurnReason::Budget => ("the budget is used up, and the agent gave no result".to_owned(), "raise the budget"),
                LastTurnReason::Iterations | LastTurnReason::Tokens | LastTurnReason::Stopped | LastTurnReason::Repeats => {
                    let message = format!("all {} tokens are used, and the agent gave no result", self.session.caps.limit());
                    (message, "raise the node's `budget.tokens`")
                }
            };
            return Err(limit(message, hint));
        }
        let mark = match why {
            LastTurnReason::Iterations | LastTurnReason::Tokens | LastTurnReason::Budget | LastTurnReason::Repeats => Mark::BudgetExhausted,
            LastTurnReason::Stopped => Mark::Stopped,
        };
        self.handed_back(result, mark)
    }

    async fn carry_out(&mut self, reply: ChatAnswer) -> Result<AfterReply, NodeError> {
        self.at_work = true;
        let (outcomes, trace) = calls::carry_out(&reply.calls, &self.offers, &mut self.made, self.session.port).await;
        self.session.acted |= trace == SideEffect::Perhaps;
        let all_well = outcomes.iter().all(|outcome| !matches!(outcome, CallOutcome::Wrong(_)));
        let share = self.share(outcomes.len());
        let mut handed_in = None;
        for (call, outcome) in reply.calls.iter().zip(outcomes) {
            let text = match outcome {
                CallOutcome::Reply(text) | CallOutcome::Wrong(text) => text,
                CallOutcome::Result(value) if all_well => {
                    handed_in.get_or_insert(value);
                    "taken".to_owned()
                }
                CallOutcome::Result(_) => {
                    "not accepted: another call in the same reply failed; look at it, then send the result again".to_owned()
                }
            };
            self.push(ChatMessage::Tool { call: call.id.clone(), content: tokens::cut(&text, share) });
        }
        match handed_in {
            Some(value) => self.hand_in(value, None),
            None => Ok(AfterReply::GoOn),
        }
    }

    /// Tokens for each of the results, so that a further turn has room beside them.
    fn share(&self, results: usize) -> u64 {
        let taken = tokens::of_messages(&self.messages) + tokens::of_messages(self.opening()) + tokens::of_offers(self.offers.list());
        let spare = self.session.left().saturating_sub(taken + LAST_ANSWER) / 2;
        (spare / u64::try_from(results).unwrap_or(u64::MAX).max(1)).max(SHORTEST_ANSWER)
    }

    /// A result that passes ends the node; one that doesn't gets one round of repair.
    fn hand_in(&mut self, result: Value, mark: Option<Mark>) -> Result<AfterReply, NodeError> {
        let result = match self.check.judge(&result) {
            Ok(result) => result,
            Err(fault) if self.repaired => fault.settle(result, self.session.port)?,
            Err(fault) => {
                self.repaired = true;
                self.at_work = false;
                self.push(ChatMessage::User { content: fault.request() });
                return Ok(AfterReply::GoOn);
            }
        };
        Ok(AfterReply::Done(Done { result, mark }))
    }

    fn empty(&mut self, reply: &ChatAnswer) -> Result<AfterReply, NodeError> {
        match reply.finish {
            Finish::Filtered => {
                Err(NodeError::permanent("the provider's filter blocked the answer").hint("change the objective, or use another model"))
            }
            Finish::Length => Err(limit("the model used all its tokens before it answered", "raise the node's `budget.tokens`")),
            Finish::Stop | Finish::ToolCalls => {
                self.push(ChatMessage::User { content: "Your reply was empty. Reply with the result, or call a tool.".to_owned() });
                Ok(AfterReply::GoOn)
            }
        }
    }

    fn mark_of_cut(&self, reply: &ChatAnswer, cap: AnswerRoom) -> Option<Mark> {
        match reply.finish {
            _ if self.session.cut_off_by() == Some(CutOff::Stopped) => Some(Mark::Stopped),
            _ if self.session.cut_off_by() == Some(CutOff::Repeats) => Some(Mark::RepeatedWords),
            Finish::Length if self.session.cut_by_limit(cap) => Some(Mark::BudgetExhausted),
            Finish::Length | Finish::Filtered => Some(Mark::Cut),
            Finish::Stop | Finish::ToolCalls => None,
        }
    }

    fn heard(&mut self, reply: &ChatAnswer) {
        if !reply.text.trim().is_empty() {
            self.last_words.clone_from(&reply.text);
        }
        self.push(ChatMessage::Assistant { content: reply.text.clone(), calls: reply.calls.clone() });
    }

    /// Adds a message and reports it.
    fn push(&mut self, message: ChatMessage) {
        let port = self.session.port;
        match &message {
            ChatMessage::System { content } => port.message(MessageRole::System, content),
            ChatMessage::User { content } => port.message(MessageRole::User, content),
            ChatMessage::Tool { content, .. } => port.message(MessageRole::Tool, content),
            ChatMessage::Assistant { content, calls } => {
                let mut text = content.clone();
                for call in calls {
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    text.push_str(&format!("→ {}({})", call.name, call.arguments));
                }
                port.message(MessageRole::Assistant, &text);
            }
        }
        self.messages.push(message);
    }
}

fn out_of_turns(message: impl Into<String>) -> NodeError {
    limit(message, "raise the node's `max_iterations`")
}

/// A result that a model hands in by tool although none is on offer.
fn handed_in(reply: &ChatAnswer) -> Option<Value> {
    let call = reply.calls.iter().find(|call| call.name == super::offers::RETURN_RESULT)?;
    exact_json(&call.arguments).ok()?.get("result").cloned()
}
