//! The client protocol: what a console asks of a host and what it is told. Plain data, so that it can cross a socket.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

pub use super::inventory::{AgentEntry, CoveredCalls, Inventory, RuleEntry, RuleOffer, RuleScope, ServerEntry, ToolEntry, UseCount};
pub use super::learned::{EstimateReport, LearnWish, LearnedNews, StatsReport, SuggestionEntry, SuggestionState, SuggestionTurn};
pub use super::model_setup::{
    KeptModel, ModelOffer, ModelSetup, ModelTrial, ProviderOffer, SetupFailure, SetupFault, SetupKey, SetupNews, SetupStep, TypedKey,
    read_price,
};
pub use super::trust::{TrustItem, TrustState};
use crate::engine::{Action, Command, GateId, ModelCall, Outcome, Record, RunId, RunStatus, Time};
use crate::plan::{Budget, Catalog, Field, Node, NodeId, Plan};

pub use super::inventory::Patterns;

/// Whoever can connect a console to runs.
pub trait Client: Send {
    /// A new connection. The first notice is `Notice::Hello`.
    fn connect(&self) -> Connection;
}

/// Two ends of one conversation with a host. Dropping it detaches.
pub struct Connection {
    /// Requests go in here.
    pub requests: mpsc::UnboundedSender<Request>,
    /// Notices come out here, in order.
    pub notices: mpsc::Receiver<Notice>,
}

/// Names a planning request within its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PlanningId(pub u64);

/// What a client asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Make a plan; streamed as `PlanNode`s, ended by `PlanReady` or `PlanFailed`.
    Plan { id: PlanningId, wish: PlanWish },
    /// Give up making a plan.
    CancelPlanning(PlanningId),
    /// Start a run; answered by `RunOpened` (live) or `Problem`.
    Start {
        plan: Box<Plan>,
        /// Values over the plan's inputs.
        inputs: Map<String, Value>,
        /// Said before its nodes may start: a pause, breakpoints.
        first: Vec<Action>,
        /// For this run, in place of the model that is used.
        model: Option<String>,
        /// What planning took, unless another run was started from this plan.
        planning: Vec<ModelCall>,
    },
    /// A command to a live run; what follows comes as `Events`.
    Command { run: RunId, command: Command },
    /// The list of runs, newest first.
    ListRuns,
    /// Open a run to look at; answered by `RunOpened`. Starts nothing.
    OpenRun(RunId),
    /// Keep a theme in the person's settings; answered by `ThemeKept`.
    KeepTheme(String),
    /// Keep the keys of a command in the person's settings; answered by `KeysKept`.
    KeepKeys { command: String, keys: Vec<String> },
    /// A run in a few words; answered by `RunPeeked`.
    PeekRun(RunId),
    /// The newest runs that have these words, in their goal, name, state, time or results; answered by `RunsFound`, or by `Problem`.
    SearchRuns(String),
    /// How much of the journal a run takes; answered by `RunWeighed`, or by `Problem`.
    WeighRun(RunId),
    /// Delete a run for good; answered by `RunDeleted` and the list of runs, or by `Problem`.
    DeleteRun(RunId),
    /// Drive a run on that was interrupted; answered by `RunOpened`, then its `Events`, or by `Problem`.
    Resume(RunId),
    /// A new run that keeps a run's events up to one of them and goes on from there; answered by `RunOpened` (live) or `Problem`.
    /// The actions (edits, holds, breakpoints, a pause) come before anything starts.
    Branch { run: RunId, seq: u64, actions: Vec<Action> },
    /// A picture of what a gate's payload, possibly edited, would do; answered by `Preview` when there is one.
    Preview { run: RunId, gate: GateId, payload: Value },
    /// Use this model for plans and runs from now on, and for what a run that goes on has not started.
    UseModel { model: String, run: Option<RunId> },
    /// The models on offer; answered by `Models`.
    ListModels,
    /// The providers that a model can be set up of; answered by `Providers`.
    ListProviders,
    /// A step of setting up a model; answered by `SetUp` with the same number.
    SetUp { id: u64, step: SetupStep, setup: Box<ModelSetup> },
    /// Have a server make the text of a prompt; answered by `PromptText` or `Problem`.
    Prompt { server: String, name: String, arguments: Map<String, Value> },
    /// Files of the workspace that count only if they are trusted; answered by `Trust`.
    ListTrust,
    /// Trust a file as it was listed; answered by `Catalog` or `Problem`.
    Trust(Box<TrustItem>),
    /// Lets private data of this workspace be sent to a host from now on.
    AllowHost(String),
    /// Approve a gate as it is shown, and let such calls of its tool run in this workspace from now on.
    ApproveAlways { run: RunId, gate: GateId, hash: String },
    /// Rules for calls like the one that was approved or rejected at a gate; answered by `RuleOffers` or `Problem`. Keeps nothing.
    OfferRules { run: RunId, gate: GateId },
    /// The rule for the workspace whose arguments have these patterns; answered by `RuleWeighed` or `Problem`. Keeps nothing.
    WeighRule { run: RunId, gate: GateId, only: Patterns },
    /// Keep a rule of that scope, with these patterns where there are some; answered by `RuleKept` or `Problem`.
    KeepRule { run: RunId, gate: GateId, scope: RuleScope, only: Patterns },
    /// Agents, tools, servers and rules, with how they were used; answered by `Inventory` or `Problem`.
    ListInventory,
    /// Start a server of tools anew, or end it; answered by `Inventory` or `Problem`.
    TurnServer { name: String, turn: ServerTurn },
    /// The end of a server's log; answered by `ServerLog` or `Problem`.
    ReadServerLog(String),
    /// The card of an agent, to edit it; answered by `CardRead` or `Problem`.
    ReadCard(String),
    /// Keep a card as it was edited; answered by `CardSaved`, `CardRefused` or `Problem`.
    SaveCard { name: String, text: String },
    /// End a rule; answered by `Inventory` or `Problem`.
    RevokeRule(u32),
    /// What past runs teach; answered by `LearnedNews`, or by `Problem`.
    Learn(LearnWish),
    /// Read the plan in a file, by its path from the workspace; answered by `PlanRead` or `Problem`.
    ReadPlan(String),
    /// Write a text into a file, by its path from the workspace; answered by `TextSaved`, `TextThere` or `Problem`.
    SaveText { path: String, text: String, there: There },
    /// Write a plan into a file, by its path from the workspace; answered by `PlanSaved`, `PlanThere` or `Problem`.
    /// It is YAML where the path ends so (`.yaml`, `.yml`), else JSON; what its form can't hold is left out.
    SavePlan { path: String, plan: Box<Plan>, form: crate::plan::Dialect, there: There },
}

/// What a plan is wanted for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanWish {
    /// The request in a person's words.
    pub text: String,
    /// The run that is over, whose results the request may go on from.
    pub after: Option<RunId>,
    /// The plan that is there and has not run: the request may go on from it.
    pub on: Option<Box<Plan>>,
    /// Which of several plans for the same request, from 0.
    pub rival: u32,
    /// What the run may take that it is for: planning counts.
    pub budget: Budget,
}

impl PlanWish {
    /// A request of its own.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// A prompt of an MCP server: a text that it makes for a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PromptOffer {
    pub server: String,
    pub name: String,
    pub description: String,
    /// What it wants to know.
    pub fields: Vec<Field>,
}

/// A plan with how it was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MadePlan {
    pub plan: Plan,
    /// Who made it, for people (`built-in planner`, `gpt-4o`).
    pub origin: String,
    pub remarks: Vec<String>,
    /// What its model calls took, also those whose answer was no use.
    pub calls: Vec<ModelCall>,
    /// Whether it is the plan that was there, changed.
    pub changes: bool,
}

/// What is done with a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServerTurn {
    /// It ends where it runs, and starts.
    Restart,
    Stop,
}

/// What happens to a file that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum There {
    /// It stays, and that it is there is told.
    Stays,
    /// It is replaced, in one step.
    IsReplaced,
}

/// What a client is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Notice {
    /// Prompts of the servers that were listed by now, beside what plans may name.
    Prompts(Vec<PromptOffer>),
    /// The text that a server made of a prompt, for the request line.
    PromptText(String),
    /// The first notice: who and where the host is.
    Hello(Hello),
    /// What plans may name, at first and whenever it changes (an agent card was edited, another model was chosen). Problems are cards that
    /// could not be read: file, line and words. The last good card stays.
    Catalog { catalog: Box<Catalog>, problems: Vec<Problem> },
    /// Which model is used now.
    Model(ModelStatus),
    /// Planning goes on: a status line.
    PlanProgress { id: PlanningId, text: String },
    /// A node was generated (or generated again: replace it by id).
    PlanNode { id: PlanningId, node: Box<Node> },
    /// The plan is there. It may have findings: open it in the editor.
    PlanReady { id: PlanningId, made: Box<MadePlan> },
    /// No plan could be made.
    PlanFailed { id: PlanningId, problem: Problem },
    /// A run was opened: its events so far, and who drives it on.
    RunOpened { run: RunId, records: Vec<Record>, driver: Driver },
    /// What happened in a live run, after it is in the journal.
    Events { run: RunId, records: Vec<Record> },
    /// Somebody else drives the run now, or nobody does any more.
    Driver { run: RunId, driver: Driver },
    /// The list of runs, newest first.
    Runs(Vec<RunSummary>),
    /// The theme is in that file from now on.
    ThemeKept { theme: String, file: String },
    /// The keys of that command are in that file from now on.
    KeysKept { command: String, file: String },
    /// A run in a few words.
    RunPeeked { run: RunId, peek: Box<crate::engine::RunPeek> },
    /// The runs that have these words, as they were asked for, newest first.
    RunsFound { words: String, found: Vec<FoundSummary> },
    /// About how many bytes of the journal a run takes.
    RunWeighed { run: RunId, bytes: u64 },
    /// A run was deleted; this many bytes of the journal are free for others.
    RunDeleted { run: RunId, bytes: u64 },
    /// The plan of a file, with those that it names by file. The path is the one that was asked for.
    PlanRead { path: String, plan: Box<Plan> },
    /// A plan was written to this path, as it was asked for.
    PlanSaved { path: String, plan: Box<Plan> },
    /// There is a file already, perhaps with comments, which no writer keeps; this plan was not written.
    PlanThere { path: String, plan: Box<Plan>, form: crate::plan::Dialect, has_comments: bool },
    /// A text was written to that path, as it was asked for.
    TextSaved(String),
    /// There is a file already, and nothing was written.
    TextThere { path: String, text: String },
    /// The run that something was asked of is no more: somebody deleted it.
    RunGone(RunId),
    /// A picture of what a gate's payload would do.
    Preview { run: RunId, gate: GateId, preview: crate::engine::Preview },
    /// The models on offer.
    Models(ModelList),
    /// What a model can be set up of.
    Providers(Vec<ProviderOffer>),
    /// What came of a step of setting up a model.
    SetUp { id: u64, news: SetupNews },
    /// Files that are not trusted as they are.
    Trust(Vec<TrustItem>),
    /// Agents, tools, servers and rules, as they are now.
    Inventory(Box<Inventory>),
    /// The card of an agent, and the file that a change of it goes to.
    CardRead { name: String, text: String, file: String },
    /// A card was kept in that file.
    CardSaved { name: String, file: String },
    /// A card can't be used as it was written, and nothing was kept.
    CardRefused { name: String, text: String, why: String },
    /// What past runs teach.
    LearnedNews(LearnedNews),
    /// The end of a server's log.
    ServerLog { name: String, text: String },
    /// What rules the reply to a gate could become.
    RuleOffers { run: RunId, gate: GateId, offers: Vec<RuleOffer> },
    /// What a rule of these patterns would be.
    RuleWeighed { run: RunId, gate: GateId, only: Patterns, offer: RuleOffer },
    /// A rule is kept in that file: its number, and what it does.
    RuleKept { id: u32, what: String, file: String },
    /// Something that was asked for could not be done.
    Problem(Problem),
    /// The journal can't be written: the run is frozen in memory.
    Frozen { run: RunId, problem: Problem },
}

/// Who drives a run on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Driver {
    /// This host: its commands reach the run.
    Here,
    /// Another process, in words for people (`process 4321 (console)`).
    Elsewhere(String),
    /// Nobody: the run is over, or was interrupted and may be resumed.
    Nobody,
}

impl Driver {
    /// Whether this host's commands reach the run.
    pub fn is_here(&self) -> bool {
        *self == Self::Here
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The workspace's path for people.
    pub workspace: String,
    /// The person's name, as audit entries will have it.
    pub user: String,
    /// Which model is used now.
    pub model: ModelStatus,
    /// A person chose it: runs that are let go on ask it.
    pub is_picked: bool,
    /// What was asked for in this workspace before, oldest first.
    pub requests: Vec<String>,
    /// When a console of this workspace was last left.
    pub looked: Option<Time>,
    /// No console was ever open before.
    pub is_first: bool,
    /// The person's settings file, where the system has a place for one.
    pub settings: Option<String>,
    /// Runs go on when the client leaves.
    #[serde(default)]
    pub runs_go_on: bool,
}

/// Which model is used now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ModelStatus {
    /// None is set up; so it can be.
    Absent { how: String },
    /// A setting is wrong, so that none can be asked; with what to do about it.
    Broken { why: String, how: String },
    /// A person chose to rehearse: nodes that need a model or change anything only show what they would do.
    Rehearsal,
    /// The operator answers in the model's place.
    Operator,
    /// A real one is asked.
    Connected { model: String, provider: String },
}

/// The models on offer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelList {
    /// With the ways to do without one.
    pub names: Vec<String>,
    /// The name that the used one has here.
    pub used: Option<String>,
    /// Who chose the model that is used now, for people.
    pub why: Option<String>,
    /// Why the usual server can't be asked.
    pub usual_problem: Option<Problem>,
    /// Further servers that can't be asked.
    pub problems: Vec<Problem>,
}

/// Something that went wrong, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What and why, lower-case start.
    pub message: String,
    pub hint: Option<String>,
}

impl Problem {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None }
    }

    /// The same problem with what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// One line of the list of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    pub run: RunId,
    pub goal: String,
    /// When it was created.
    pub created: Time,
    /// When its last event happened.
    pub last: Time,
    /// How long it was over before somebody opened it again.
    pub over_ms: u64,
    /// How; `None` while open.
    pub outcome: Option<Outcome>,
    /// Who drives it on.
    pub driver: Driver,
    pub nodes: u32,
    /// Nodes that hold it up, for people.
    pub waiting: Vec<NodeId>,
    /// How it is, by who drives it.
    pub status: RunStatus,
    /// What it branched off, if it did.
    pub parent: Option<Parent>,
    /// When it was read from a file, if it was.
    pub imported: Option<Time>,
}

impl RunSummary {
    /// When it ended; `None` while open.
    pub fn finished(&self) -> Option<Time> {
        self.outcome.map(|_| self.last)
    }
}

/// A run that a search found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundSummary {
    pub summary: RunSummary,
    /// The line of a result that has the words; `None` where the run itself has them.
    pub line: Option<String>,
}

/// Where a run branched off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The run that it was.
    pub run: RunId,
    /// The last event that they share.
    pub seq: u64,
}
