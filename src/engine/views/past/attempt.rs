//! `PastAttempt`: one attempt of a node that is over: who worked, on how much, what it took and how it ended.

use crate::engine::{Job, Mark, ModelCall, REHEARSAL, Spent, Time};
use crate::plan::NodeId;
use crate::text::tokens;
use serde::Serialize;
use std::collections::BTreeMap;

/// What sort of worker it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, strum::IntoStaticStr, strum::EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum WorkerSort {
    Agent,
    Tool,
    Code,
    /// A loop or a map: what it took is in the attempts of the nodes inside.
    Passes,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, strum::IntoStaticStr, strum::EnumString)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum AttemptOutcome {
    Succeeded,
    /// A limit, or a fault of the model, ended the work early: it returned what it had.
    HandedBack,
    Failed,
    /// A person ended it, or the process that drove the run did.
    BrokenOff,
}

impl AttemptOutcome {
    /// By the mark of the result; none where a rehearsal or a person made it.
    pub(super) fn of(mark: Option<&Mark>) -> Option<Self> {
        match mark {
            None | Some(Mark::Answered | Mark::Partial | Mark::Other(_)) => Some(Self::Succeeded),
            Some(Mark::BudgetExhausted | Mark::Cut | Mark::RepeatedCall | Mark::RepeatedWords) => Some(Self::HandedBack),
            Some(Mark::Stopped | Mark::Overridden) => Some(Self::BrokenOff),
            Some(Mark::Rehearsal) => None,
        }
    }
}

/// One attempt that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct PastAttempt {
    pub node: NodeId,
    pub generation: u32,
    pub sort: WorkerSort,
    /// The agent's card, else its role; the tool; what says how often the plan inside runs. Empty for code.
    pub worker: String,
    /// The model as the plan or the run names it.
    pub asked: Option<String>,
    /// The model and its provider as the answers name them.
    pub answered: Option<(String, String)>,
    pub spent: Spent,
    /// Tokens of what it got: its own texts, and the results of the nodes before it.
    pub input_tokens: u64,
    pub result_tokens: u64,
    /// From its start to its end, without what it waited for people.
    pub took_ms: u64,
    /// How often it called each tool; of a loop or a map how many passes there were, under no name.
    pub tools: BTreeMap<String, u32>,
    pub end: (AttemptOutcome, Time),
}

/// An attempt under way.
pub(super) struct Trial {
    so_far: PastAttempt,
    began: Time,
    /// Gates of it that are open.
    open: u32,
    waits_since: Time,
    waited_ms: u64,
    rehearsed: bool,
    /// Calls of which nobody has heard the end, as they count then.
    unheard: BTreeMap<String, ModelCall>,
}

/// What a trial starts with, beside its job.
pub(super) struct TrialInput<'a> {
    /// Tokens of the results that it gets.
    pub(super) given: u64,
    /// The model for agents that name none.
    pub(super) model: Option<&'a str>,
    /// What says how often the plan inside runs.
    pub(super) passes: &'a str,
}

impl Trial {
    /// None for what the engine does by itself.
    pub(super) fn new((node, generation): (&NodeId, u32), job: &Job, input: &TrialInput<'_>, at: Time) -> Option<Self> {
        let mut asked = None;
        let mut rehearsed = false;
        let (sort, worker, own) = match job {
            Job::Agent(job) => {
                asked = job.model.clone().or_else(|| input.model.map(str::to_owned));
                rehearsed = job.rehearsed;
                let texts = [&job.role, &job.goal, &job.objective].into_iter().flatten().map(|text| tokens(text)).sum::<u64>();
                let inputs = if job.inputs.is_empty() { 0 } else { tokens(&serde_json::json!(job.inputs).to_string()) };
                (WorkerSort::Agent, job.agent.clone().or_else(|| job.role.clone())?, texts + inputs)
            }
            Job::Tool { tool, args } => (WorkerSort::Tool, tool.clone(), tokens(&args.to_string())),
            Job::Code { .. } => (WorkerSort::Code, String::new(), 0),
            Job::Inside { .. } => (WorkerSort::Passes, input.passes.to_owned(), 0),
            Job::Inline { .. } => return None,
        };
        let so_far = PastAttempt {
            node: node.clone(),
            generation,
            sort,
            worker,
            asked,
            answered: None,
            spent: Spent::default(),
            input_tokens: own + input.given,
            result_tokens: 0,
            took_ms: 0,
            tools: BTreeMap::new(),
            end: (AttemptOutcome::BrokenOff, at),
        };
        Some(Self { so_far, began: at, open: 0, waits_since: at, waited_ms: 0, rehearsed, unheard: BTreeMap::new() })
    }

    pub(super) fn sent(&mut self, call: &str, unheard: &ModelCall) {
        self.unheard.insert(call.to_owned(), unheard.clone());
    }

    pub(super) fn heard(&mut self, call: &str) {
        self.unheard.remove(call);
    }

    /// Nobody hears the end of its calls any more: what they count with.
    pub(super) fn lose(&mut self) -> Vec<ModelCall> {
        let lost: Vec<ModelCall> = std::mem::take(&mut self.unheard).into_values().collect();
        lost.iter().for_each(|call| self.so_far.spent.add(Spent::of(call)));
        lost
    }

    pub(super) fn called(&mut self, call: &ModelCall) {
        self.heard(&call.id);
        self.rehearsed |= call.provider == REHEARSAL;
        self.so_far.spent.add(Spent::of(call));
        self.so_far.answered = Some((call.model.clone(), call.provider.clone()));
    }

    pub(super) fn used(&mut self, tool: &str) {
        *self.so_far.tools.entry(tool.to_owned()).or_default() += 1;
    }

    pub(super) fn pass(&mut self) {
        self.used("");
    }

    pub(super) fn wait(&mut self, at: Time) {
        if self.open == 0 {
            self.waits_since = at;
        }
        self.open += 1;
    }

    pub(super) fn go_on(&mut self, at: Time) {
        if self.open == 1 {
            self.waited_ms += at.since(self.waits_since);
        }
        self.open = self.open.saturating_sub(1);
    }

    pub(super) fn end(mut self, end: AttemptOutcome, at: Time, result_tokens: u64) -> Option<PastAttempt> {
        if self.open > 0 {
            self.open = 1;
            self.go_on(at);
        }
        let took_ms = at.since(self.began).saturating_sub(self.waited_ms);
        (!self.rehearsed).then_some(PastAttempt { result_tokens, took_ms, end: (end, at), ..self.so_far })
    }
}
