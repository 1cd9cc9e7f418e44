//! `Expense`: each model call of a run, with what it was for and whether its result stands. Made from the records alone, so that it costs
//! no replay; its sum is what the run's state says it took (a property holds that).

use crate::engine::{Event, EventTrait, Job, ModelCall, NodeFact, REHEARSAL, Record, Spent, Time, TokenUsage};
use crate::plan::NodeId;
use serde::Serialize;
use std::collections::BTreeMap;

/// Kinds of events that expenses are made from, as the journal names them.
pub const EXPENSE_EVENTS: [&str; 14] = [
    "run_created",
    "branched",
    "node_started",
    "node_cached",
    "node_retrying",
    "node_failed",
    "node_cancelled",
    "node_interrupted",
    "node_unknown",
    "tool_started",
    "tool_finished",
    "model_sent",
    "model_try_failed",
    "model_called",
];

/// One model call.
#[derive(Clone, Debug, PartialEq)]
pub struct Expense {
    /// When it ended.
    pub at: Time,
    /// Absent: the plan was made by it.
    pub node: Option<NodeId>,
    pub agent: Option<String>,
    /// The tools that were at work then: the one that asked the model is among them.
    pub tools: Vec<String>,
    pub call: ModelCall,
    pub spent_for: SpentFor,
}

/// What a model call was good for, as far as is known by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpentFor {
    /// A call of which nobody has heard the end: it is under way, or who made it is there no more.
    UnderWay,
    /// A plan, a result that stands, or one that is still being made.
    Result,
    /// An attempt that failed, broke off or was cancelled.
    FailedAttempt,
    /// A result that was made again later.
    ReplacedResult,
}

/// One node, while the records are read.
#[derive(Default)]
struct Spender {
    generation: u32,
    agent: Option<String>,
    /// The tool of each call that has not ended.
    tools: BTreeMap<String, String>,
    /// The calls of this attempt, by their place among all.
    attempt: Vec<usize>,
    /// Those of the attempts before it.
    earlier: Vec<usize>,
    /// Calls of which nobody has heard the end, as they count until somebody does.
    unheard: BTreeMap<String, (u64, Expense)>,
}

/// The model calls of a run, in their order. A run that branched off has only its own: those before belong to the run that it left.
/// The records may be all of a run or only those of `EXPENSE_EVENTS`.
pub fn expenses(records: &[Record]) -> Vec<Expense> {
    let mut all = Vec::new();
    let mut spenders: BTreeMap<&NodeId, Spender> = BTreeMap::new();
    let mut left_at = 0;
    let mut seqs = Vec::new();
    for record in records {
        if let Event::Branched { from_seq, .. } = &record.event {
            left_at = *from_seq;
        }
        if let Event::RunCreated { settings, .. } = &record.event {
            all.extend(settings.planning.iter().map(|call| Expense {
                at: record.at,
                node: None,
                agent: None,
                tools: Vec::new(),
                call: call.clone(),
                spent_for: SpentFor::Result,
            }));
        }
        if let Event::Node { node_id, generation, fact } = &record.event {
            let spender = spenders.entry(node_id).or_default();
            spender.hear(node_id, *generation, fact, record, &mut all);
            if record.event.has(EventTrait::LosesAttempt) {
                // What was sent before the run branched off is not its own.
                let lost = std::mem::take(&mut spender.unheard).into_values().filter(|(seq, _)| *seq > left_at);
                let first = all.len();
                all.extend(lost.map(|(_, expense)| expense));
                spender.attempt.extend(first..all.len());
                spender.attempt.iter().for_each(|&call| all[call].spent_for = SpentFor::FailedAttempt);
            }
        }
        seqs.resize(all.len(), record.seq);
    }
    let open = spenders.into_values().flat_map(|spender| spender.unheard.into_values()).map(|(seq, expense)| (expense, seq));
    all.into_iter().zip(seqs).chain(open).filter(|(_, seq)| *seq > left_at).map(|(expense, _)| expense).collect()
}

/// Requests that a server or the way to it failed, and charged nothing for.
pub fn failed_requests<'a>(records: impl IntoIterator<Item = &'a Record>) -> usize {
    let is_failed = |record: &&Record| {
        let Event::Node { fact: NodeFact::ModelTryFailed { failed, .. }, .. } = &record.event else { return false };
        failed.usage == Some(TokenUsage::default())
    };
    records.into_iter().filter(is_failed).count()
}

/// What the results took where they were made that this run took from the cache, of those since then.
pub fn saved(records: &[Record], since: Time) -> Spent {
    let left_at =
        records.iter().rev().find_map(|record| if let Event::Branched { from_seq, .. } = record.event { Some(from_seq) } else { None });
    let own = records.iter().filter(|record| record.at >= since && record.seq > left_at.unwrap_or_default());
    own.fold(Spent::default(), |mut all, record| {
        if let Event::Node { fact: NodeFact::Cached { source }, .. } = &record.event {
            all.add(source.spent);
        }
        all
    })
}

impl Spender {
    fn hear(&mut self, node: &NodeId, generation: u32, fact: &NodeFact, record: &Record, all: &mut Vec<Expense>) {
        let at = record.at;
        if let NodeFact::Started { job, .. } = fact {
            self.start(generation, job, all);
        }
        if let NodeFact::ToolStarted { call, .. } = fact {
            self.tools.insert(call.id.clone(), call.tool.clone());
        }
        if let NodeFact::ToolFinished { call, .. } = fact {
            self.tools.remove(call);
        }
        // A rehearsal asks no model: its figures are estimates of what one would take.
        if let NodeFact::ModelCalled { call } = fact
            && call.provider != REHEARSAL
        {
            self.attempt.push(all.len());
            self.unheard.remove(&call.id);
            all.push(self.expense(node, at, call, SpentFor::Result));
        }
        if let NodeFact::ModelTryFailed { call, .. } = fact {
            self.unheard.remove(call);
        }
        if let NodeFact::ModelSent { call, unheard: Some(unheard), .. } = fact {
            // An agent's turns come one after the other: nobody hears the end of one before it any more.
            if self.tools.is_empty() {
                self.lose(all);
            }
            let expense = self.expense(node, at, unheard, SpentFor::UnderWay);
            self.unheard.insert(call.clone(), (record.seq, expense));
        }
    }

    fn expense(&self, node: &NodeId, at: Time, call: &ModelCall, spent_for: SpentFor) -> Expense {
        let (agent, tools) = (self.agent.clone(), self.tools.values().cloned().collect());
        Expense { at, node: Some(node.clone()), agent, tools, call: call.clone(), spent_for }
    }

    /// Nobody hears the end of what was under way any more.
    fn lose(&mut self, all: &mut Vec<Expense>) {
        for (_, lost) in std::mem::take(&mut self.unheard).into_values() {
            self.attempt.push(all.len());
            all.push(Expense { spent_for: SpentFor::FailedAttempt, ..lost });
        }
    }

    fn start(&mut self, generation: u32, job: &Job, all: &mut Vec<Expense>) {
        // It was taken back while it was at work, where no event of its own says so.
        self.lose(all);
        self.earlier.append(&mut self.attempt);
        if generation != self.generation {
            let replaced = self.earlier.drain(..).filter(|&call| all[call].spent_for == SpentFor::Result).collect::<Vec<_>>();
            replaced.into_iter().for_each(|call| all[call].spent_for = SpentFor::ReplacedResult);
        }
        self.generation = generation;
        self.tools.clear();
        self.agent = None;
        if let Job::Agent(job) = job {
            self.agent = job.agent.clone().or_else(|| job.role.clone());
        }
        if let Job::Tool { tool, .. } = job {
            self.tools.insert(String::new(), tool.clone());
        }
    }
}

impl Expense {
    /// What several took together.
    pub fn sum<'a>(expenses: impl IntoIterator<Item = &'a Self>) -> Spent {
        expenses.into_iter().fold(Spent::default(), |mut all, expense| {
            all.add(Spent::of(&expense.call));
            all
        })
    }
}
