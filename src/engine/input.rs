//! `Input`, `Command`, `Effect`, `Job`: what the world reports to a run, what people ask of it, and what it asks of the world. Plain data.

use super::{
    Action, Actor, CachedResult, Cause, DataSource, Done, FailedTry, FileAccess, GateId, GateReply, Mark, MessageRole, ModelCall,
    ModelSlots, NodeError, NodeState, Outgoing, ReplanAnswer, RunId, RunSettings, StopSignal, Time, ToolCall, ToolReport, UnfinishedAnswer,
};
use crate::plan::{CodeNode, Field, NodeId, Plan, Verdict, limits::AgentLimits};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

use super::{CallNeed, Granted};

/// What happened, as given to `Run::step`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Input {
    /// The first input of every run.
    Create { run: RunId, plan: Box<Plan>, settings: Box<RunSettings>, by: Actor },
    /// A person or client asks for something.
    Command { command: Command, by: Actor },
    /// From a worker; inputs of an old generation or attempt change nothing.
    Work { node: NodeId, generation: u32, attempt: u32, fact: WorkerFact },
    /// A signal ends the process that drives the run.
    Interrupt { signal: StopSignal },
    /// Nothing happened: what follows from the state goes on, where a step ended before all was done.
    Proceed,
    /// The planner that a new plan was asked of has answered.
    Replanned { number: u32, answer: Box<ReplanAnswer> },
    /// The first input of a run whose driver ended without leaving it: nobody works at it any more.
    Recover { by: Actor },
    /// The first input of a run whose events so far, up to this one, were copied from another one.
    Branch { from: RunId, from_seq: u64, by: Actor },
    /// A timer that an effect asked for is due. What the node's model is saying counts, and is handed back, where its time is up.
    TimerDue { timer: Timer, unfinished: Option<Box<UnfinishedAnswer>> },
}

impl WorkerFact {
    /// Text as it streams, and whether it is a thought.
    pub fn streamed(&self) -> Option<(bool, &str)> {
        match self {
            Self::Output(text) => Some((false, text)),
            Self::Thought(text) => Some((true, text)),
            _ => None,
        }
    }

    pub fn stream(is_thought: bool, text: String) -> Self {
        if is_thought { Self::Thought(text) } else { Self::Output(text) }
    }
}

/// What a worker reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum WorkerFact {
    /// The work ended well.
    Done(Done),
    /// The result that follows is one that an earlier run made of the same work.
    Cached(Box<CachedResult>),
    /// It failed, and gave nothing.
    Failed(NodeError),
    /// The work failed at a limit, and returned what it had.
    HandedBack { error: NodeError, result: Value },
    /// The work stopped because of (`Effect::Abort`).
    Aborted,
    /// A model is about to be asked; the answer comes as `Effect::Answer`, and no call is made without one.
    /// What it takes at most is told where that can be said.
    ModelAsked { call: String, model: String, need: Option<CallNeed> },
    /// A model call that may be made waits for a place at its provider.
    ModelWaits { call: String, reason: Cause },
    /// A model call is sent: one more try.
    ModelSent {
        call: String,
        /// What it counts with if nobody hears its end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unheard: Option<Box<ModelCall>>,
    },
    /// The first piece of the answer to a model call came.
    ModelAnswers { call: String },
    /// A try of a model call failed; whether another one follows comes as `Effect::Answer`.
    ModelTryFailed { call: String, failed: FailedTry },
    /// A tool call is proposed; the answer comes as `Effect::Answer`. With it comes what configuration and the arguments say of it, and what
    /// it would send out, if it reaches a place that nobody has allowed.
    ToolAsked { call: ToolCall, verdict: Verdict, why: String, leaves: Option<Box<Outgoing>> },
    /// A tool call that was released ended.
    ToolDone { call: String, report: ToolReport },
    /// A question to a person; the answer comes as `Effect::Answer`. The payload is what the person needs to see to answer (the prompt, when
    /// the operator answers for the model). A tool call under way may ask it.
    QuestionAsked { call: String, text: String, options: Vec<String>, fields: Vec<Field>, payload: Value, within: Option<String> },
    /// Who asked a question needs no answer any more.
    QuestionOver { call: String, why: String },
    /// A model call ended.
    ModelCalled(ModelCall),
    /// A message of the conversation.
    Message { role: MessageRole, content: String },
    /// The next piece of its text, for people to read.
    Output(String),
    /// The next piece of what its model thinks, for people to read.
    Thought(String),
    /// The agent wants a new plan for what comes after it.
    PlanWanted(String),
    /// Something to know of its result: a word or two for its row, and the sentence.
    Noted { label: String, text: String },
    /// A line for the node's log.
    Log(String),
}

/// What people ask of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "command")]
pub enum Command {
    /// Let nodes start.
    Start,
    /// Answer a gate; another hash now than the one that was shown refuses the answer.
    Decide {
        gate: GateId,
        decision: GateReply,
        hash: String,
        /// What the person said with it, beside a rejection's own text; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message: String,
    },
    /// Why is in their own text, and may be empty.
    Act {
        #[serde(rename = "verb")]
        action: Box<Action>,
        why: String,
    },
    /// Undo the newest action whose effect has not begun.
    Undo,
    /// Ask another model from here on: for what starts later, and what runs again. Its provider may take fewer calls at once than the run
    /// has slots.
    UseModel { model: String, slots: Option<ModelSlots> },
    /// Have a new plan made for what is left, with what the planner is to hear; may be empty.
    Replan { guidance: String },
}

impl Command {
    /// A reply without words of its own.
    pub fn decide(gate: GateId, decision: GateReply, hash: impl Into<String>) -> Self {
        Self::Decide { gate, decision, hash: hash.into(), message: String::new() }
    }

    /// An action without a reason.
    pub fn act(action: Action) -> Self {
        Self::Act { action: Box::new(action), why: String::new() }
    }

    /// Whether it may break off what is at work.
    pub fn steers(&self) -> bool {
        match self {
            Self::Act { .. } | Self::Undo => true,
            Self::Start | Self::Decide { .. } | Self::UseModel { .. } | Self::Replan { .. } => false,
        }
    }
}

/// A timer of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Timer {
    pub node: NodeId,
    pub generation: u32,
    pub attempt: u32,
    pub kind: TimerKind,
}

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TimerKind {
    /// The next attempt may start.
    Retry,
    /// The attempt's working time is over.
    Timeout,
    /// The run's is, by its budget. It is of no node.
    Budget,
}

/// What a run asks of the world. Carried out only after the batch's events are in the journal.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    Start {
        node: NodeId,
        generation: u32,
        attempt: u32,
        job: Box<Job>,
        /// Results of the dependencies that were taken, in edge order.
        deps: Vec<Dep>,
        /// Whether a gate has already approved this exact payload.
        approved: bool,
        /// Absent: no earlier result is taken, and nobody takes this one later.
        cache: Option<CacheUse>,
    },
    /// Stop a worker; it answers `Aborted` or with what it had.
    Abort { node: NodeId, generation: u32, attempt: u32 },
    /// Answer a worker that waits.
    Answer { node: NodeId, generation: u32, attempt: u32, call: String, answer: Answer },
    /// Send `Input::TimerDue` at this moment.
    SetTimer { timer: Timer, at: Time },
    /// Workers that start from here on ask this model.
    UseModel { model: String },
    /// Ask the planner for a new plan, by what the run is now; it answers with `Input::Replanned`.
    Replan { number: u32 },
}

/// How the result of an attempt may come from the cache, and become a part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CacheUse {
    /// How old a result may be in seconds, where the plan says so.
    pub ttl_s: Option<f64>,
    /// Whether an earlier result may be taken: what a person lets run again is made anew, and so is all that a branch comes to.
    pub reads: bool,
    /// Whether what the node sends out would be asked about.
    pub asks_to_send: bool,
}

/// The answer to a worker's `ModelAsked`, `ModelTryFailed`, `ToolAsked` or `QuestionAsked`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// Make the model call, with what people wrote meanwhile, within what is granted. To wrap up, it is the last turn: without tools, to
    /// return what you have.
    Go { guidance: Vec<String>, wrap_up: bool, granted: Option<Granted> },
    /// Try the model call again, within so many tokens where a cap counts them.
    Again { after_ms: u64, tokens: Option<u64> },
    /// Run the call, with exactly these arguments; they may differ from those proposed.
    Run { args: Value },
    /// Don't run it; the text goes to the model.
    Refused { message: String },
    /// The value in the tool's place, or the answer to the question.
    Value(Value),
}

/// A dependency's result as a worker gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Dep {
    pub node: NodeId,
    /// Its result; null when it was passed, skipped, or its edge died.
    pub result: Arc<Value>,
    /// What code, templates and conditions read as `status`.
    pub state: NodeState,
    /// Its error's message, if it has one.
    pub error: Option<String>,
    /// How its result came about.
    pub provenance: Provenance,
}

/// How a result came about, for those who work with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Provenance {
    /// The card that made it.
    pub agent: Option<String>,
    /// The model that was asked last.
    pub model: Option<String>,
    /// Where its data came from.
    pub sources: Vec<DataSource>,
    /// Files that were touched.
    pub files: Vec<FileAccess>,
    /// Tokens that it took.
    pub tokens: u64,
    /// Why it is only what was there when the work was cut short.
    pub early: Option<Mark>,
}

/// What a worker does, with references resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "job")]
#[expect(clippy::large_enum_variant, reason = "a job travels in a box")]
pub enum Job {
    /// A model works in turns, with tools.
    Agent(AgentJob),
    /// One call.
    Tool { tool: String, args: Value },
    /// Run in the sandbox.
    Code { code: CodeNode, inputs: Map<String, Value> },
    /// Done by the engine itself: transform, decision, merge, approval.
    Inline { work: String },
    /// Run the plan inside, as often as it takes; the bodies follow as events of their own.
    Inside {
        /// What each body gets.
        inputs: Map<String, Value>,
        /// The entries of a map.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        items: Option<Vec<Value>>,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentJob {
    /// Card's name, unless inline.
    pub agent: Option<String>,
    pub role: Option<String>,
    pub goal: Option<String>,
    /// References resolved; absent: the card's template is filled by the worker.
    pub objective: Option<String>,
    /// Nodes whose results are too long for the texts that refer to them: they are named there, and are among the material.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<NodeId>,
    /// Resources of servers that the objective refers to, as it does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    pub plan_goal: String,
    /// Named extra context, references resolved.
    pub inputs: Map<String, Value>,
    /// Model for this node; absent: the run's.
    pub model: Option<String>,
    /// Globs that narrow the card's tools; absent: the card's own.
    pub tools: Option<Vec<String>>,
    /// JSON Schema of the result.
    pub output_schema: Option<Value>,
    /// 1 to 20; 0 where the plan leaves it to the card.
    pub max_iterations: u32,
    /// Prompt and answer tokens together; 0 where the plan leaves it to the card.
    pub max_tokens: u64,
    /// Working seconds.
    pub timeout_s: f64,
    /// What holds where plan and card say nothing.
    #[serde(skip_serializing_if = "AgentLimits::is_default")]
    pub otherwise: AgentLimits,
    /// Labels or targets of the outgoing edges, of which the answer must name one; empty unless the agent decides.
    pub routes: Vec<String>,
    /// How dependency results reach the model.
    pub context: Option<crate::plan::ContextMode>,
    /// Nobody answers: its prompt is put together and shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rehearsed: bool,
    /// What people wrote to it, oldest first: guidance, and what was wrong with an earlier result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guidance: Vec<String>,
    /// Its own earlier result that a person rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected: Option<Value>,
}
