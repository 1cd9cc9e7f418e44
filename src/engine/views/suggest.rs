//! `Suggestion`: what past runs say could be done better, with the evidence. It changes nothing by itself: a person takes it or dismisses it.

use super::stats::{Stats, StatsCell, WorkStats};
use crate::text::{Plain, cost};
use serde::{Deserialize, Serialize};

/// Nothing is suggested on fewer cases than this.
pub const FEWEST_EVIDENCE: u64 = 10;
/// A cheaper model has to cost at most this share of what the other one does.
const WORTH_CHANGING: f64 = 0.5;
/// A cheaper model may succeed this much less often, in a hundred attempts.
const AS_WELL: f64 = 2.0;

/// An agent as it is set up now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SuggestedFor {
    pub agent: String,
    /// The model that it asks where its plan names none.
    pub model: Option<String>,
    /// The tools that its card names one by one.
    pub tools: Vec<String>,
}

/// What could be done better.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "change")]
pub enum SuggestedChange {
    /// Ask another model for an agent.
    Model { agent: String, model: String },
    /// Take a tool from an agent's card.
    DropTool { agent: String, tool: String },
}

/// A change, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suggestion {
    /// The same as long as it says the same.
    pub id: String,
    #[serde(flatten)]
    pub change: SuggestedChange,
    /// The cases, in words.
    pub evidence: String,
}

impl SuggestedChange {
    fn id(&self) -> String {
        match self {
            Self::Model { agent, model } => format!("model:{agent}:{model}"),
            Self::DropTool { agent, tool } => format!("drop:{agent}:{tool}"),
        }
    }

    /// What would be done, for people.
    pub fn label(&self) -> Plain {
        Plain::summary(&match self {
            Self::Model { agent, model } => format!("use {model} for {agent}"),
            Self::DropTool { agent, tool } => format!("drop {tool} from the card of {agent}"),
        })
    }
}

impl Suggestion {
    /// What the statistics suggest for the agents as they are set up.
    pub fn all(stats: &Stats, agents: &[SuggestedFor]) -> Vec<Self> {
        let asked = stats.by_asked();
        agents.iter().flat_map(|agent| cheaper(&asked, agent).into_iter().chain(unused(stats, agent))).collect()
    }

    fn new(change: SuggestedChange, evidence: String) -> Self {
        Self { id: change.id(), change, evidence }
    }
}

/// The cheapest model that did as well for an agent as the one that it asks.
fn cheaper(asked: &[StatsCell], agent: &SuggestedFor) -> Option<Suggestion> {
    let own: Vec<&StatsCell> = asked.iter().filter(|cell| cell.key.agent.as_deref() == Some(&agent.agent)).collect();
    let now = own.iter().find(|cell| cell.key.model == agent.model && agent.model.is_some())?;
    let (now_cost, now_rate) = (price(&now.done)?, rate(&now.done)?);
    let other = |cell: &&&StatsCell| {
        let as_well = rate(&cell.done).is_some_and(|rate| rate + AS_WELL >= now_rate);
        as_well && price(&cell.done).is_some_and(|price| price <= WORTH_CHANGING * now_cost)
    };
    let best = own.iter().filter(other).min_by(|a, b| price(&a.done).unwrap_or(f64::MAX).total_cmp(&price(&b.done).unwrap_or(f64::MAX)))?;
    let (model, best_cost) = (best.key.model.clone()?, price(&best.done)?);
    let succeeded = |done: &WorkStats| format!("{} of {}", done.succeeded, done.ran_out());
    let evidence = format!(
        "on {model} it succeeded in {} attempts, on {} in {}, at {} an attempt in place of {}",
        succeeded(&best.done),
        agent.model.as_deref().unwrap_or_default(),
        succeeded(&now.done),
        cost(best_cost),
        cost(now_cost)
    );
    Some(Suggestion::new(SuggestedChange::Model { agent: agent.agent.clone(), model }, evidence))
}

/// What an attempt costs, where enough of them say so.
fn price(done: &WorkStats) -> Option<f64> {
    done.mean_cost().filter(|cost| *cost > 0.0 && done.ran_out() >= FEWEST_EVIDENCE)
}

/// How many of a hundred attempts succeed, where there are enough.
fn rate(done: &WorkStats) -> Option<f64> {
    (done.ran_out() >= FEWEST_EVIDENCE).then(|| 100.0 * done.succeeded as f64 / done.ran_out() as f64)
}

/// The tools that an agent could call and never did, while it called others.
fn unused(stats: &Stats, agent: &SuggestedFor) -> Vec<Suggestion> {
    let mut done = WorkStats::default();
    let own = stats.cells.iter().filter(|cell| cell.key.agent.as_deref() == Some(&agent.agent));
    own.for_each(|cell| done.add(&cell.done));
    if done.ran_out() < FEWEST_EVIDENCE || !agent.tools.iter().any(|tool| done.tools.contains_key(tool)) {
        return Vec::new();
    }
    let never = agent.tools.iter().filter(|tool| !done.tools.contains_key(*tool));
    let suggestion = |tool: &String| {
        let change = SuggestedChange::DropTool { agent: agent.agent.clone(), tool: tool.clone() };
        Suggestion::new(change, format!("it called {tool} in none of {} attempts", done.ran_out()))
    };
    never.map(suggestion).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{StatsKey, ToolUse};

    fn cell(model: &str, attempts: u64, succeeded: u64, usd: f64) -> StatsCell {
        let key = StatsKey { agent: Some("writer".into()), model: Some(model.into()), goal: Some("write".into()) };
        let tools = [("read_file".to_owned(), ToolUse { attempts: 3, calls: 4 })].into();
        let known_cost_usd = usd * attempts as f64;
        StatsCell {
            key,
            done: WorkStats { attempts, succeeded, failed: attempts - succeeded, known_cost_usd, tools, ..WorkStats::default() },
        }
    }

    fn suggested(cells: Vec<StatsCell>) -> Vec<String> {
        let agent =
            SuggestedFor { agent: "writer".into(), model: Some("large".into()), tools: vec!["read_file".into(), "summarize".into()] };
        let stats = Stats { asked: cells.clone(), cells, ..Stats::default() };
        Suggestion::all(&stats, &[agent]).into_iter().map(|suggestion| suggestion.id).collect()
    }

    #[test]
    fn a_model_that_did_as_well_for_less_is_suggested_and_nothing_on_fewer_than_ten_cases() {
        let drop = "drop:writer:summarize".to_owned();
        let mini = "model:writer:mini".to_owned();
        assert_eq!(suggested(vec![cell("large", 31, 30, 0.06), cell("mini", 35, 34, 0.01)]), [mini, drop.clone()]);
        for (why, cells) in [
            ("it failed more often", vec![cell("large", 31, 31, 0.06), cell("mini", 35, 30, 0.01)]),
            ("it is hardly cheaper", vec![cell("large", 31, 30, 0.06), cell("mini", 35, 34, 0.05)]),
            ("nine cases are too few", vec![cell("large", 31, 30, 0.06), cell("mini", 9, 9, 0.01)]),
            ("nine cases are too few to compare with", vec![cell("large", 9, 9, 0.06), cell("mini", 35, 35, 0.01)]),
            ("a price is unknown", {
                let mut cells = vec![cell("large", 31, 30, 0.06), cell("mini", 35, 34, 0.01)];
                cells[1].done.unpriced = 1;
                cells
            }),
        ] {
            assert_eq!(suggested(cells), std::slice::from_ref(&drop), "{why}");
        }
        assert_eq!(suggested(vec![cell("large", 9, 9, 0.06)]), [""; 0], "nine cases say nothing of a tool");
    }
}
