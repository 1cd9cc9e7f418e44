//! `NodeState` and `NodeRun`: the state of one node of a run. Read by views; changed only by `Run::evolve`.

use super::{
    CachedResult, Cause, DataSource, FileAccess, GateId, Mark, ModelCall, NodeError, Time, TokenUsage, ToolCall, ToolReport, WorkSpan,
    result_text,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The state of a node. Match without a wildcard arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, strum::EnumIter)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum NodeState {
    /// It waits for those that it depends on.
    #[default]
    Pending,
    /// May start as soon as a slot is free.
    Ready,
    /// Ready, but held (breakpoint, pause, lock, slot).
    Held,
    /// A gate is open: this is the oldest of the node.
    Waiting { gate: GateId },
    /// A worker is at it.
    Running,
    /// A worker is at it, and is to return what it has.
    Stopping,
    /// An attempt failed; another follows.
    Retrying { until: Time },
    /// It has a result.
    Succeeded,
    /// No model answered, or what it reads was made without one: its result is made up, and nothing of it happened.
    Rehearsed,
    /// `skip_if` held.
    Passed,
    /// It never ran: a guard, its join or a person said so.
    Skipped,
    /// It has an error in place of a result.
    Failed,
    /// Failed, and its consumers get the error.
    FailedSafe,
    /// Cancelled or rejected.
    Cancelled,
    /// Nobody knows whether its effect happened.
    Unknown,
}

impl NodeState {
    /// Its word, as shown and as printed in JSON, and what it comes to: the one row of each state beside its description and its glyph.
    fn row(&self) -> (&'static str, StateGroup, EndKind) {
        match self {
            Self::Pending => ("pending", StateGroup::Ahead, EndKind::Open),
            Self::Ready => ("ready", StateGroup::Ahead, EndKind::Open),
            Self::Held => ("held", StateGroup::Ahead, EndKind::Open),
            Self::Waiting { .. } => ("waiting", StateGroup::Waiting, EndKind::Open),
            Self::Running => ("running", StateGroup::Working, EndKind::Open),
            Self::Stopping => ("stopping", StateGroup::Working, EndKind::Open),
            Self::Retrying { .. } => ("retrying", StateGroup::Resting, EndKind::Open),
            Self::Succeeded => ("succeeded", StateGroup::Done, EndKind::Gives),
            Self::Rehearsed => ("rehearsed", StateGroup::Done, EndKind::Gives),
            Self::Passed => ("passed", StateGroup::Done, EndKind::HandsOn),
            Self::Skipped => ("skipped", StateGroup::NotRun, EndKind::Closes),
            Self::Failed => ("failed", StateGroup::Failed, EndKind::Closes),
            Self::FailedSafe => ("failed_safe", StateGroup::Failed, EndKind::Gives),
            Self::Cancelled => ("cancelled", StateGroup::NotRun, EndKind::Closes),
            Self::Unknown => ("unknown", StateGroup::Waiting, EndKind::Open),
        }
    }

    pub fn word(&self) -> &'static str {
        self.row().0
    }

    pub fn group(&self) -> StateGroup {
        self.row().1
    }

    pub(super) fn end(&self) -> EndKind {
        self.row().2
    }

    /// Every state, in the order of help.
    pub fn all() -> impl Iterator<Item = Self> {
        <Self as strum::IntoEnumIterator>::iter()
    }

    /// Whether a worker is at it.
    pub fn is_at_work(&self) -> bool {
        self.group() == StateGroup::Working
    }

    /// Whether it ended by a failure, whatever its consumers make of that.
    pub fn has_failed(&self) -> bool {
        self.group() == StateGroup::Failed
    }

    /// Whether it ended otherwise than planned: failed, or cancelled.
    pub fn ended_badly(&self) -> bool {
        self.has_failed() || *self == Self::Cancelled
    }

    /// Whether it ended with a result of its own.
    pub fn has_result(&self) -> bool {
        self.group() == StateGroup::Done && self.end() == EndKind::Gives
    }

    /// Whether the node's generation has ended.
    pub fn has_ended(&self) -> bool {
        self.end() != EndKind::Open
    }
}

/// How a node is, coarsely. Whoever needs no more asks for this, so that a new state is thought of in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateGroup {
    /// Has not begun.
    Ahead,
    /// Waits for a person.
    Waiting,
    Working,
    /// Waits for its next attempt.
    Resting,
    /// Ended well.
    Done,
    Failed,
    /// Ended without a result: skipped, or cancelled.
    NotRun,
}

/// What a state comes to for those behind the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndKind {
    /// It is not over.
    Open,
    /// It gives a result, or word of its failure.
    Gives,
    /// It hands on what it received.
    HandsOn,
    /// Nothing comes of it.
    Closes,
}

/// What keeps a node that was skipped from running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkippedBy {
    /// The plan: a guard, or ways that lead elsewhere. Nothing is missing because of it.
    #[default]
    Plan,
    /// A person, who skipped it or what it would have come after.
    Person,
}

impl SkippedBy {
    pub(super) fn is_plan(&self) -> bool {
        *self == Self::Plan
    }
}

/// What is known of one node of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeRun {
    pub state: NodeState,
    /// Why it is in this state; empty when the state says it all.
    pub reason: Cause,
    /// From 1; raised by each rerun.
    pub generation: u32,
    /// Attempts started in this generation.
    pub attempt: u32,
    /// Its result, once it has one.
    pub result: Option<Arc<Value>>,
    /// Its last error; none once it succeeded.
    pub error: Option<NodeError>,
    /// `budget_exhausted`, `rehearsal`, … when the result is not a plain one.
    pub mark: Option<Mark>,
    /// When it started and ended.
    pub span: WorkSpan,
    /// What it used and touched.
    pub lineage: Lineage,
    /// What runs inside it.
    pub inside: Inside,
    /// Why its result is of an earlier state of things.
    pub stale: Option<Cause>,
    /// What its earlier generations took.
    pub earlier: Spent,
}

impl NodeRun {
    /// Why its result is no plain one, in a word or two: a person gave it, a limit cut it short, an earlier run made it. That it is
    /// rehearsed, its state says.
    pub fn mark_label(&self) -> Option<String> {
        let cached = || self.lineage.cached.as_ref().map(|_| "cached".to_owned());
        let Some(mark) = self.mark.as_ref().filter(|_| self.state != NodeState::Rehearsed) else { return cached() };
        let done = self.result.as_deref().is_none_or(Value::is_null);
        Some(if *mark == Mark::Overridden && done { "marked done".to_owned() } else { mark.label() })
    }

    /// The tool that reported this value as what it did, if one of the node's calls did.
    pub fn reporter(&self, result: &Value) -> Option<&str> {
        let reports = self.lineage.tools.iter().rev();
        let mut said = reports.filter(|(_, report)| report.as_ref().is_some_and(|report| report.ok && report.value == *result));
        said.next().map(|(call, _)| call.tool.as_str())
    }

    /// Its result as it is read.
    pub fn result_text(&self) -> Option<String> {
        self.result.as_deref().map(|result| result_text(result, self.reporter(result)))
    }

    /// What all its generations took together.
    pub fn spent(&self) -> Spent {
        let mut spent = self.earlier;
        spent.add(Spent { attempts: self.attempt, ..self.lineage.spent });
        spent
    }
}

/// Whether an edge let its target go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum EdgeState {
    #[default]
    Undecided,
    Taken,
    Dead,
}

impl EdgeState {
    /// The word in JSON.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// Tokens of its model calls.
    pub tokens: TokenUsage,
    /// US dollars, as far as prices are known.
    pub cost_usd: f64,
    pub model_calls: u32,
    pub attempts: u32,
    /// Whether tokens were counted here, because a provider didn't report them.
    pub estimated: bool,
    /// Whether the price of a call is unknown, so that the dollars are not all.
    pub unpriced: bool,
}

impl Spent {
    /// What one model call took. People cost nothing.
    pub fn of(call: &ModelCall) -> Self {
        Self {
            tokens: call.usage,
            cost_usd: call.cost_usd.unwrap_or_default(),
            model_calls: 1,
            attempts: 0,
            estimated: call.estimated,
            unpriced: call.cost_usd.is_none() && call.usage.total() > 0,
        }
    }

    /// US dollars, if every price is known.
    pub fn known_cost(&self) -> Option<f64> {
        (!self.unpriced).then_some(self.cost_usd)
    }

    /// Adds what other work took.
    pub fn add(&mut self, other: Self) {
        self.tokens.add(other.tokens);
        self.cost_usd += other.cost_usd;
        self.model_calls += other.model_calls;
        self.attempts += other.attempts;
        self.estimated |= other.estimated;
        self.unpriced |= other.unpriced;
    }
}

/// Nodes that run inside a composite node, at any depth, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inside {
    /// That began or may begin.
    pub nodes: u32,
    pub over: u32,
    /// Open gates among them.
    pub waiting: u32,
    /// That failed, were rejected or cancelled.
    pub bad: u32,
}

/// What a node used and touched (seed 000's metadata).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lineage {
    /// What its model calls took.
    pub spent: Spent,
    /// The model that was asked last.
    pub model: Option<String>,
    /// Tool calls in order, with what they gave once they ended.
    pub tools: Vec<(ToolCall, Option<ToolReport>)>,
    pub files: Vec<FileAccess>,
    pub sources: Vec<DataSource>,
    /// Whether private data went into it: its result, and an agent's conversation, may hold some.
    pub private: bool,
    /// Whether it is only rehearsed: it runs no tool and no code, and opens no gate.
    pub rehearsed: bool,
    /// Whether a call of it was let go that may have changed something outside.
    pub acted: bool,
    /// What to know of its result.
    pub notes: Vec<ResultNote>,
    /// The earlier result that was taken in place of work.
    pub cached: Option<Box<CachedResult>>,
}

impl Lineage {
    /// An attempt starts: private data may reach it.
    pub(super) fn begin(&mut self, private: bool) {
        self.private |= private;
        self.cached = None;
    }

    /// Something to know of the result, said once.
    pub(super) fn note(&mut self, label: &str, text: &str) {
        if self.notes.iter().all(|note| note.text != text) {
            self.notes.push(ResultNote { label: label.to_owned(), text: text.to_owned() });
        }
    }

    /// An earlier result was taken: it keeps its marks.
    pub(super) fn take_over(&mut self, source: &CachedResult) {
        self.private |= source.private;
        self.model.clone_from(&source.model);
        self.files.clone_from(&source.files);
        self.sources.clone_from(&source.sources);
        self.cached = Some(Box::new(source.clone()));
    }
}

/// Something to know of a result: what was cut of its context, a limit that was passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ResultNote {
    /// In a word or two.
    pub label: String,
    pub text: String,
}
