//! `run`: carries out one agent node by its card: in the loop, by a built-in class, or by a person.

use serde_json::{Value, json};
use std::sync::Arc;
use tokio::time::Instant;

use super::{
    Card, CardKind, Port, Question, Refusal,
    answer::{self, ResultCheck, ResultFault},
    attempt::{AttemptEnd, AttemptLimits, call_id, millis},
    class::deep_reasoner,
    context::{self, Form, Material},
    dynamic,
    prompt::{self, Prompt},
    select, service,
    session::ModelSession,
    tokens, turns,
};
use crate::engine::{AgentJob, Dep, Done, ErrorKind, Mark, MessageRole, ModelCall, NodeError, OPERATOR, REHEARSED};
use crate::models::{ChatModel, ModelSettings, rehearsal};
use crate::plan::{ContextMode, ToolInfo, limits::CONTEXT_PERCENT, value_text};

/// With what an agent is run.
#[derive(Clone)]
pub struct Execution {
    /// Who the agent is.
    pub card: Arc<Card>,
    pub responder: Responder,
    /// Tools that it may use, already narrowed (`Card::narrow`).
    pub tools: Vec<ToolInfo>,
    /// Tokens that its model takes in, as far as that is known.
    pub window: Option<u64>,
    /// Most tokens that results of earlier steps take in its prompt, where people set a limit.
    pub context_tokens: Option<u64>,
}

/// Who answers for a model.
#[derive(Clone)]
pub enum Responder {
    /// A model, with where it is asked, and the sampling and limits of the execution.
    Model { provider: Arc<dyn ChatModel>, name: String, settings: ModelSettings },
    /// The person at the console.
    Operator,
    /// Nobody: the prompt is put together and shown.
    Rehearsal,
}

/// Runs one attempt of an agent node. Dropping the future cancels it.
///
/// # Errors
/// Why the attempt failed, in the terms that retry understands.
pub async fn run(job: &AgentJob, deps: &[Dep], execution: &Execution, port: &dyn Port) -> Result<AttemptEnd, NodeError> {
    match (execution.card.kind, &execution.responder) {
        (CardKind::Dynamic, Responder::Model { provider, name, settings }) => {
            let Execution { card, tools, window, .. } = execution;
            let caps = AttemptLimits::new(job, card, *window);
            let mut session = ModelSession::new(provider.as_ref(), name, settings, caps, port);
            let (card, tools) = dynamic::written(&mut session, &prompt::objective(job, card), card, tools).await?;
            work(job, deps, &Execution { card: Arc::new(card), tools, ..execution.clone() }, port).await
        }
        _ => work(job, deps, execution, port).await,
    }
}

/// Does the work of an agent that is there.
async fn work(job: &AgentJob, deps: &[Dep], execution: &Execution, port: &dyn Port) -> Result<AttemptEnd, NodeError> {
    let Execution { card, responder, tools, window, context_tokens } = execution;
    let caps = AttemptLimits::new(job, card, *window);
    let check = ResultCheck::new(job)?;
    let mut material = Material::of(job, deps);
    let form = match job.context {
        Some(ContextMode::Structured) => Form::Json,
        None | Some(ContextMode::Concat | ContextMode::Selected) => Form::Text,
    };
    let prompt_of = |material: &Material<'_>, space: u64| {
        let context = material.context(form, caps.context(context::room(*context_tokens, space)));
        if let Some(missing) = &context.missing {
            port.note("context cut", missing);
        }
        // A limit that somebody wrote is kept by refusing what is due, not by leaving out a part of it.
        let most = if caps.tokens.is_some() { u64::MAX } else { space / 2 };
        Prompt::new(job, context, card, most)
    };
    let (provider, name, settings) = match (card.kind, responder) {
        (_, Responder::Rehearsal) => return Ok(AttemptEnd::Done(rehearse(&prompt_of(&material, caps.space()), job, tools, port))),
        (CardKind::Service, _) => {
            return service::ask(&prompt_of(&material, u64::MAX), job, card, &check, port).await.map(AttemptEnd::Done);
        }
        (CardKind::Human, _) => return ask_person(&prompt_of(&material, u64::MAX), job, &check, port).await.map(AttemptEnd::Done),
        (CardKind::Llm | CardKind::Dynamic | CardKind::DeepReasoner, Responder::Operator) => {
            return stand_in(&prompt_of(&material, caps.space()), &check, tools, port).await.map(AttemptEnd::Done);
        }
        (CardKind::Llm | CardKind::Dynamic | CardKind::DeepReasoner, Responder::Model { provider, name, settings }) => {
            (provider, name, settings)
        }
    };
    let mut session = ModelSession::new(provider.as_ref(), name, settings, caps, port);
    session.needs_tools = card.needs_tools && !tools.is_empty();
    if job.context == Some(ContextMode::Selected) {
        select::narrow(&mut material, &prompt::objective(job, card), &mut session).await;
    }
    let mut space = caps.space();
    let replies = session.replies();
    loop {
        let prompt = prompt_of(&material, space);
        let end = match card.kind {
            CardKind::DeepReasoner => deep_reasoner::reason(&mut session, &prompt, &check).await.map(AttemptEnd::Done),
            CardKind::Llm | CardKind::Dynamic | CardKind::Service | CardKind::Human => {
                turns::converse(&mut session, &prompt, tools, &check).await
            }
        };
        let is_refused = end.is_err() && session.too_long && session.replies() == replies;
        let smaller = smaller(&prompt, space);
        if !is_refused || smaller < SMALLEST_SPACE {
            return end;
        }
        port.log("the prompt is too long for the model, so it is sent again with less of the results of earlier nodes");
        space = smaller;
    }
}

/// No prompt is made for a model that takes in less than this.
const SMALLEST_SPACE: u64 = 1_000;

/// Space for which a prompt that was too long is about half as long.
fn smaller(prompt: &Prompt, space: u64) -> u64 {
    let taken = (tokens::of_text(&prompt.context) * 100 / CONTEXT_PERCENT).max(tokens::of_text(&prompt.objective) * 2);
    space.min(taken) / 2
}

/// What a model would get, in the place of its answer. An estimate, of which nothing counts as spent.
fn rehearse(prompt: &Prompt, job: &AgentJob, tools: &[ToolInfo], port: &dyn Port) -> Done {
    port.message(MessageRole::System, &prompt.system);
    port.message(MessageRole::User, &prompt.user());
    let tokens = tokens::of_text(&prompt.system) + tokens::of_text(&prompt.user());
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let with = if names.is_empty() { "without tools".to_owned() } else { format!("with the tools {}", names.join(", ")) };
    port.log(&format!("rehearsed: a model would get about {tokens} tokens (estimate), {with}"));
    let result = match &job.output_schema {
        Some(schema) => rehearsal::instance(schema),
        None => Value::from(format!(
            "{REHEARSED} would ask a model, with about {tokens} tokens (estimate): {}",
            tokens::cut(&prompt.objective, EXCERPT)
        )),
    };
    Done { result, mark: Some(Mark::Rehearsal) }
}

/// Tokens of an objective that a rehearsal repeats.
const EXCERPT: u64 = 150;

/// A `human` agent: the objective is the question, and the routes of a decision are what may be chosen.
async fn ask_person(prompt: &Prompt, job: &AgentJob, check: &ResultCheck, port: &dyn Port) -> Result<Done, NodeError> {
    port.message(MessageRole::User, &prompt.user());
    let payload = if prompt.context.is_empty() { Value::Null } else { json!({ "context": prompt.context, "inputs": job.inputs }) };
    let text = prompt.objective.clone();
    let question = Question { call: call_id(), text, options: check.routes().to_vec(), fields: Vec::new(), payload };
    let result = answered(port.ask(question).await)?;
    port.message(MessageRole::Assistant, &value_text(&result));
    let result = match check.judge(&result) {
        Err(fault @ ResultFault::Route(_)) => fault.settle(result, port)?,
        Err(ResultFault::Schema(_)) => result,
        Ok(judged) => judged,
    };
    Ok(Done { result, mark: None })
}

/// The operator answers in the model's place: the assembled prompt is shown, the answer is the reply.
async fn stand_in(prompt: &Prompt, check: &ResultCheck, tools: &[ToolInfo], port: &dyn Port) -> Result<Done, NodeError> {
    port.message(MessageRole::System, &prompt.system);
    port.message(MessageRole::User, &prompt.user());
    let tools: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let payload = json!({ "system": prompt.system, "user": prompt.user(), "tools": tools });
    let mut text = format!("answer for the model: {}", prompt.objective);
    let mut rounds = 0;
    loop {
        port.model(OPERATOR, None).await.map_err(|refusal| NodeError::permanent(refusal.0))?;
        let started = Instant::now();
        let question = Question { call: call_id(), text, options: check.routes().to_vec(), fields: Vec::new(), payload: payload.clone() };
        let result = answered(port.ask(question).await)?;
        port.model_called(ModelCall {
            model: OPERATOR.to_owned(),
            provider: OPERATOR.to_owned(),
            duration_ms: millis(started.elapsed()),
            finish: "stop".to_owned(),
            ..ModelCall::default()
        });
        port.message(MessageRole::Assistant, &value_text(&result));
        let fault = match check.judge(&result) {
            Ok(result) => return Ok(Done { result, mark: None }),
            Err(fault) => fault,
        };
        rounds += 1;
        if rounds == 2 {
            return fault.settle(result, port).map(|result| Done { result, mark: None });
        }
        let why = match &fault {
            ResultFault::Schema(faults) => format!("the answer doesn't match the node's `output_schema` ({faults})"),
            ResultFault::Route(routes) => format!("the answer is none of the routes ({})", routes.join(", ")),
        };
        text = format!("{why}; answer once more: {}", prompt.objective);
    }
}

/// What a person entered: text that is wholly JSON counts as JSON. Without an answer there is no result.
fn answered(answer: Result<Value, Refusal>) -> Result<Value, NodeError> {
    match answer {
        Ok(Value::String(text)) => Ok(answer::parse(&text)),
        Ok(other) => Ok(other),
        Err(refusal) => Err(NodeError { kind: ErrorKind::Rejected, ..NodeError::permanent(refusal.0) }),
    }
}
