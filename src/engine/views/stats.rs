//! `Stats`: what agents did and took in the runs that are over, by agent, model and kind of goal, and which agent follows which.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is known of past runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Runs that count.
    pub runs: u64,
    /// One for each agent, model and kind of goal.
    pub cells: Vec<StatsCell>,
    /// The same with models as plans and runs name them, so that they can be asked again.
    pub asked: Vec<StatsCell>,
    /// The most frequent first.
    pub follows: Vec<Follows>,
}

/// What tells attempts apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StatsKey {
    /// The card's name, else the role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// As the answers name it, with its provider: `gpt-5-mini (openai)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The kind of the run's goal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
}

/// What attempts of one agent with one model for one kind of goal came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatsCell {
    pub key: StatsKey,
    pub done: WorkStats,
}

/// What attempts came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkStats {
    pub attempts: u64,
    pub succeeded: u64,
    /// Returned what they had at a limit.
    pub handed_back: u64,
    pub failed: u64,
    pub prompt: u64,
    pub completion: u64,
    /// Calls of a model: the iterations of an agent.
    pub model_calls: u64,
    /// As far as prices are known.
    pub known_cost_usd: f64,
    /// Attempts with a call whose price is unknown.
    pub unpriced: u64,
    /// Attempts with tokens that were counted here.
    pub estimated: u64,
    /// Time without what was waited for people.
    pub took_ms: u64,
    /// By tool: in how many attempts it was called, and how often.
    pub tools: BTreeMap<String, ToolUse>,
}

/// How a tool was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    pub attempts: u64,
    pub calls: u64,
}

/// One agent worked with the result of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Follows {
    pub before: String,
    pub after: String,
    pub runs: u64,
}

/// What the cells are summed up by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum StatsBy {
    #[default]
    AgentAndModel,
    Agent,
    Model,
    Goal,
}

impl StatsBy {
    pub const ALL: [Self; 4] = [Self::AgentAndModel, Self::Agent, Self::Model, Self::Goal];

    fn key(self, cell: &StatsKey) -> StatsKey {
        let StatsKey { agent, model, goal } = cell.clone();
        match self {
            Self::AgentAndModel => StatsKey { agent, model, goal: None },
            Self::Agent => StatsKey { agent, ..StatsKey::default() },
            Self::Model => StatsKey { model, ..StatsKey::default() },
            Self::Goal => StatsKey { goal, ..StatsKey::default() },
        }
    }

    /// What it is by, for a heading.
    pub fn label(self) -> &'static str {
        match self {
            Self::AgentAndModel => "agent and model",
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Goal => "kind of goal",
        }
    }
}

impl Stats {
    /// What the cells come to, those with the most attempts first.
    pub fn by(&self, by: StatsBy) -> Vec<StatsCell> {
        let mut rows = summed(&self.cells, by);
        rows.sort_by_key(|row| std::cmp::Reverse(row.done.attempts));
        rows
    }

    /// What agents came to with each model as it was asked for.
    pub(super) fn by_asked(&self) -> Vec<StatsCell> {
        summed(&self.asked, StatsBy::AgentAndModel)
    }
}

fn summed(cells: &[StatsCell], by: StatsBy) -> Vec<StatsCell> {
    let mut sums: BTreeMap<StatsKey, WorkStats> = BTreeMap::new();
    for cell in cells {
        sums.entry(by.key(&cell.key)).or_default().add(&cell.done);
    }
    sums.into_iter().map(|(key, done)| StatsCell { key, done }).collect()
}

impl WorkStats {
    pub fn add(&mut self, other: &Self) {
        self.attempts += other.attempts;
        self.succeeded += other.succeeded;
        self.handed_back += other.handed_back;
        self.failed += other.failed;
        self.prompt += other.prompt;
        self.completion += other.completion;
        self.model_calls += other.model_calls;
        self.known_cost_usd += other.known_cost_usd;
        self.unpriced += other.unpriced;
        self.estimated += other.estimated;
        self.took_ms += other.took_ms;
        for (tool, used) in &other.tools {
            let sum = self.tools.entry(tool.clone()).or_default();
            sum.attempts += used.attempts;
            sum.calls += used.calls;
        }
    }

    /// Attempts that nobody broke off.
    pub fn ran_out(&self) -> u64 {
        self.succeeded + self.handed_back + self.failed
    }

    /// US dollars of an attempt on average, where all prices are known.
    pub fn mean_cost(&self) -> Option<f64> {
        (self.unpriced == 0 && self.attempts > 0).then(|| self.known_cost_usd / self.attempts as f64)
    }

    /// Tokens of an attempt on average.
    pub fn mean_tokens(&self) -> u64 {
        (self.prompt + self.completion) / self.attempts.max(1)
    }

    /// Milliseconds of an attempt on average.
    pub fn mean_ms(&self) -> u64 {
        self.took_ms / self.attempts.max(1)
    }

    /// Model calls of an attempt on average.
    pub fn mean_calls(&self) -> f64 {
        self.model_calls as f64 / self.attempts.max(1) as f64
    }
}

impl StatsKey {
    /// `writer · gpt-5-mini (openai)`; what is not known is left out.
    pub fn label(&self) -> String {
        [&self.agent, &self.model, &self.goal].into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" · ")
    }
}
