//! Follow-up requests: a plan that goes on from what a run gave. The results are inputs of the plan, as data; those that it reads stay
//! in it, with the note of which run they are from. A planner that read private ones may have put them into any node.

use super::client::Problem;
use crate::engine::{NodeState, Run, RunId, short_name};
use crate::plan::Plan;
use serde_json::{Map, Value, json};

/// Key in a plan's metadata: the run that it goes on from.
const AFTER: &str = "after";
/// Bytes of JSON of a result that is handed on.
const LONGEST: usize = 100_000;

/// What a run gave, for a plan that goes on from it.
pub(super) struct EarlierRun {
    run: RunId,
    pub(super) goal: String,
    pub(super) results: Map<String, Value>,
    /// Whether one of them may hold private data.
    is_private: bool,
    /// Names of those that are too long.
    left_out: Vec<String>,
}

impl EarlierRun {
    /// # Errors
    /// When it is under way, or gave nothing.
    pub(super) fn of(id: &RunId, run: &Run) -> Result<Self, Problem> {
        let name = short_name(&id.0);
        if run.outcome().is_none() {
            return Err(Problem::new(format!("run `{name}` has not ended: a request can go on from its results once it has"))
                .hint(format!("`dagdeck replan {name} -m TEXT` changes what is left of it")));
        }
        let is_private = run.settings().is_some_and(|settings| settings.private_request);
        let goal = run.plan().map(|plan| plan.goal.clone()).unwrap_or_default();
        let mut earlier = Self { run: id.clone(), goal, results: Map::new(), is_private, left_out: Vec::new() };
        for (node, state) in run.own_nodes().filter(|(_, node)| node.state == NodeState::Succeeded) {
            let Some(result) = state.result.as_deref() else { continue };
            if result.to_string().len() > LONGEST {
                earlier.left_out.push(node.to_string());
                continue;
            }
            earlier.results.insert(node.to_string(), result.clone());
            earlier.is_private |= state.lineage.private;
        }
        if earlier.results.is_empty() {
            return Err(Problem::new(format!("run `{name}` gave no result that a request could go on from")));
        }
        Ok(earlier)
    }

    /// Keeps the results that a plan reads, and notes where they are from. Gives remarks for people.
    pub(super) fn settle(&self, plan: &mut Plan) -> Vec<String> {
        let read = serde_json::to_string(&(&plan.nodes, &plan.edges)).unwrap_or_default();
        let is_in_name = |letter: char| letter.is_alphanumeric() || "_-".contains(letter);
        let reads = |name: &str| read.split(|letter| !is_in_name(letter)).any(|word| word == name);
        plan.inputs.retain(|name, _| !self.results.contains_key(name) || reads(name));
        let kept: Vec<&String> = plan.inputs.keys().filter(|name| self.results.contains_key(*name)).collect();
        let name = short_name(&self.run.0);
        let used = kept.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let used =
            if kept.is_empty() { format!("it uses no result of run {name}") } else { format!("it uses results of run {name}: {used}") };
        let long = (!self.left_out.is_empty()).then(|| format!("too long to hand on: {}", self.left_out.join(", ")));
        plan.metadata.insert(AFTER.to_owned(), json!({"run": self.run, "private": self.is_private}));
        [used].into_iter().chain(long).collect()
    }
}

/// The run that a plan goes on from, and whether the plan was made of private data.
pub(super) fn noted(plan: &Plan) -> (Option<RunId>, bool) {
    let note = plan.metadata.get(AFTER);
    let run = note.and_then(|note| note.get("run")).and_then(Value::as_str);
    (run.map(|run| RunId(run.to_owned())), note.is_some_and(|note| note.get("private") != Some(&json!(false))))
}
