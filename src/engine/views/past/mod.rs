//! `PastRun`: what a run that is over leaves to learn from: what was asked, how it ended, and what each attempt of its nodes took. Made
//! from the records alone, so that it costs no replay. What was only rehearsed teaches nothing and is left out.

mod attempt;
mod goal;

pub use attempt::{AttemptOutcome, PastAttempt, WorkerSort};
pub use goal::goal_sort;

use crate::engine::{Event, EventTrait, GateId, Measure, NodeFact, Outcome, REHEARSAL, Record, RunId, RunSettings, Spent, Time};
use crate::plan::{Node, NodeId, NodeKind, Plan, nest, value_text};
use crate::text::tokens;
use attempt::{Trial, TrialInput};
use serde_json::Value;
use std::collections::BTreeMap;

/// Kinds of events that a past run is made from, as the journal names them.
pub const PAST_EVENTS: [&str; 24] = [
    "run_created",
    "run_started",
    "branched",
    "model_chosen",
    "run_settled",
    "run_reopened",
    "acted",
    "undone",
    "approval_required",
    "gate_decided",
    "gate_voided",
    "node_started",
    "node_retrying",
    "node_cached",
    "node_completed",
    "node_failed",
    "node_cancelled",
    "node_interrupted",
    "node_unknown",
    "tool_started",
    "model_sent",
    "model_try_failed",
    "model_called",
    "body_started",
];

/// Nodes of a plan that its outline tells.
const OUTLINED: usize = 40;

/// A run that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct PastRun {
    pub run: RunId,
    /// As it started.
    pub plan: Plan,
    /// The model for agents that name none.
    pub model: Option<String>,
    pub workspace: String,
    /// Whether the request, or an input, was read from a file or stdin.
    pub private: bool,
    pub began: Time,
    pub ended: Time,
    pub outcome: Outcome,
    /// Whether it went by itself from its start to its end: no branch, no question to people, no act of theirs.
    pub undisturbed: bool,
    /// What its nodes took together; what the plan took to make is no part of it.
    pub spent: Spent,
    /// In the order in which they ended.
    pub attempts: Vec<PastAttempt>,
}

impl PastRun {
    /// A run by its records: all of them, or those of `PAST_EVENTS`. None where it is not over, or was only rehearsed.
    pub fn of(records: &[Record]) -> Option<Self> {
        let Event::RunCreated { run, plan, settings, .. } = &records.first()?.event else { return None };
        let mut reader = PastReader::new(plan, settings);
        records.iter().for_each(|record| reader.hear(record));
        let (ended, outcome) = reader.end.filter(|_| !settings.rehearse)?;
        let private = settings.private_request || !settings.private_inputs.is_empty();
        Some(Self {
            run: run.clone(),
            plan: (**plan).clone(),
            model: settings.model.clone(),
            workspace: settings.host.get("workspace").and_then(Value::as_str).unwrap_or_default().to_owned(),
            private,
            began: reader.began,
            ended,
            outcome,
            undisturbed: !reader.disturbed,
            spent: reader.spent,
            attempts: reader.done,
        })
    }

    /// What was asked.
    pub fn request(&self) -> &str {
        &self.plan.goal
    }

    /// Its plan in words for a planner: a node a line, with its worker, what it needs, and its objective.
    pub fn outline(&self) -> String {
        let line = |node: &Node| {
            let after = if node.depends_on.is_empty() { String::new() } else { format!(" after {}", listed_ids(&node.depends_on)) };
            let title = node.title().map(|title| format!(": {title}")).unwrap_or_default();
            format!("{} ({}){after}{title}", node.id, node.kind.worker_label())
        };
        nest::outline(&self.plan).nodes.iter().take(OUTLINED).map(line).collect::<Vec<_>>().join("\n")
    }

    /// What it took, as estimates measure it; none where a price is unknown.
    pub fn took(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::Tokens => Some(self.spent.tokens.total() as f64),
            Measure::Usd => self.spent.known_cost(),
            Measure::Ms => Some(self.ended.since(self.began) as f64),
            Measure::ModelCalls => Some(f64::from(self.spent.model_calls)),
        }
    }

    /// Which agent's result an agent worked with, by the plan: each pair once.
    pub fn follows(&self) -> Vec<(String, String)> {
        let flat = nest::outline(&self.plan);
        let agent = |id: &NodeId| flat.nodes.iter().find(|node| node.id == *id)?.kind.agent()?.agent.clone();
        let plain = flat.nodes.iter().flat_map(|node| node.depends_on.iter().map(|from| (from, &node.id)));
        let pairs = plain.chain(flat.edges.iter().map(|edge| (&edge.from, &edge.to)));
        let mut pairs: Vec<_> = pairs.filter_map(|(from, to)| Some((agent(from)?, agent(to)?))).collect();
        pairs.sort();
        pairs.dedup();
        pairs
    }
}

fn listed_ids(ids: &[NodeId]) -> String {
    ids.iter().map(NodeId::as_str).collect::<Vec<_>>().join(", ")
}

/// Reads one run.
struct PastReader {
    /// The nodes that each node gets results of, by their addresses in the document.
    sources: BTreeMap<NodeId, Vec<NodeId>>,
    /// What says how often the plan inside a loop or a map runs, by the same addresses.
    passes: BTreeMap<NodeId, String>,
    model: Option<String>,
    began: Time,
    end: Option<(Time, Outcome)>,
    disturbed: bool,
    /// The node of each gate that opened.
    gates: BTreeMap<GateId, NodeId>,
    trials: BTreeMap<NodeId, Trial>,
    /// Tokens of the result of each node that has one.
    results: BTreeMap<NodeId, u64>,
    spent: Spent,
    done: Vec<PastAttempt>,
}

impl PastReader {
    fn new(plan: &Plan, settings: &RunSettings) -> Self {
        let flat = nest::outline(plan);
        let mut sources: BTreeMap<NodeId, Vec<NodeId>> = flat.nodes.iter().map(|node| (node.id.clone(), node.depends_on.clone())).collect();
        let passes = flat.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Loop(inner) => Some((node.id.clone(), inner.until.clone())),
            NodeKind::Map(inner) => Some((node.id.clone(), inner.over.clone())),
            _ => None,
        });
        let passes = passes.collect();
        for edge in &flat.edges {
            sources.entry(edge.to.clone()).or_default().push(edge.from.clone());
        }
        Self {
            sources,
            passes,
            model: settings.model.clone(),
            began: Time::default(),
            end: None,
            disturbed: false,
            gates: BTreeMap::new(),
            trials: BTreeMap::new(),
            results: BTreeMap::new(),
            spent: Spent::default(),
            done: Vec::new(),
        }
    }

    fn hear(&mut self, record: &Record) {
        let at = record.at;
        self.disturbed |= record.event.has(EventTrait::Steers);
        if let Event::RunCreated { .. } = record.event {
            self.began = at;
        } else if let Event::RunStarted = record.event {
            self.began = at;
        } else if let Event::ModelChosen { model, .. } = &record.event {
            self.model = Some(model.clone());
        } else if let Event::Branched { .. } = record.event {
            // What was done before belongs to the run that it left.
            (self.began, self.disturbed, self.spent) = (at, true, Spent::default());
            self.done.clear();
            self.trials.clear();
        } else if let Event::RunReopened { .. } = record.event {
            self.end = None;
        } else if let Event::RunEnded { outcome, .. } = record.event {
            self.end = Some((at, outcome)).filter(|_| outcome != Outcome::Rehearsed);
            // What an action took back while it was at work ended without a word.
            let left: Vec<NodeId> = self.trials.keys().cloned().collect();
            left.iter().for_each(|node| self.finish(node, Some(AttemptOutcome::BrokenOff), at, 0));
        } else if let Event::ApprovalRequired { gate } = &record.event {
            self.disturbed = true;
            self.gates.insert(gate.id, gate.node.clone());
            self.with_trial(&gate.node, |trial| trial.wait(at));
        } else if let Event::GateDecided { gate, .. } | Event::GateVoided { gate, .. } = &record.event {
            if let Some(node) = self.gates.remove(gate) {
                self.with_trial(&node, |trial| trial.go_on(at));
            }
        } else if let Event::Node { node_id, generation, fact } = &record.event {
            self.hear_node(record, node_id, *generation, fact);
        }
    }

    fn with_trial(&mut self, node: &NodeId, change: impl FnOnce(&mut Trial)) {
        if let Some(trial) = self.trials.get_mut(node) {
            change(trial);
        }
    }

    fn hear_node(&mut self, record: &Record, node: &NodeId, generation: u32, fact: &NodeFact) {
        let at = record.at;
        if let NodeFact::Started { job, .. } = fact {
            let place = document_address(node);
            let input = TrialInput {
                given: self.given(node, &place),
                model: self.model.as_deref(),
                passes: self.passes.get(&place).map_or("", String::as_str),
            };
            let trial = Trial::new((node, generation), job, &input, at);
            // It starts anew while it was at work: what was begun is broken off.
            self.finish(node, Some(AttemptOutcome::BrokenOff), at, 0);
            self.trials.extend(trial.map(|trial| (node.clone(), trial)));
        } else if let NodeFact::ModelCalled { call } = fact {
            // A rehearsal asks no model.
            if call.provider != REHEARSAL {
                self.spent.add(Spent::of(call));
            }
            self.with_trial(node, |trial| trial.called(call));
        } else if let NodeFact::ModelSent { call, unheard: Some(unheard), .. } = fact {
            self.with_trial(node, |trial| trial.sent(call, unheard));
        } else if let NodeFact::ModelTryFailed { call, .. } = fact {
            self.with_trial(node, |trial| trial.heard(call));
        } else if let NodeFact::ToolStarted { call, .. } = fact {
            self.with_trial(node, |trial| trial.used(&call.tool));
        } else if let NodeFact::Cached { .. } = fact {
            // It took nothing, which says nothing of what the work takes.
            self.trials.remove(node);
        } else if let NodeFact::BodyStarted { .. } = fact {
            self.with_trial(node, Trial::pass);
        } else if let NodeFact::Completed { result, mark } = fact {
            let size = tokens(&value_text(result));
            self.results.insert(node.clone(), size);
            let end = AttemptOutcome::of(mark.as_ref());
            self.finish(node, end, at, size);
        } else if record.event.has(EventTrait::LosesAttempt) {
            let broke_off = matches!(fact, NodeFact::Cancelled { .. });
            let end =
                if broke_off || matches!(fact, NodeFact::Interrupted { .. }) { AttemptOutcome::BrokenOff } else { AttemptOutcome::Failed };
            self.finish(node, Some(end), at, 0);
        }
    }

    /// A rehearsed one leaves nothing.
    fn finish(&mut self, node: &NodeId, end: Option<AttemptOutcome>, at: Time, result_tokens: u64) {
        let Some(mut trial) = self.trials.remove(node) else { return };
        trial.lose().iter().for_each(|call| self.spent.add(Spent::of(call)));
        self.done.extend(end.and_then(|end| trial.end(end, at, result_tokens)));
    }

    /// Tokens of the results that a node gets.
    fn given(&self, node: &NodeId, place: &NodeId) -> u64 {
        let sources = self.sources.get(place).into_iter().flatten();
        let beside = |source: &NodeId| NodeId::new(format!("{}{}", nest::prefix(node), &source[nest::prefix(source).len()..]));
        sources.filter_map(|source| self.results.get(&beside(source))).sum()
    }
}

/// The address without the numbers of turns and entries: `a/b` of `a[3]/b`.
fn document_address(address: &str) -> NodeId {
    let steps = address.split('/').map(|step| step.split_once('[').map_or(step, |(id, _)| id));
    NodeId::new(steps.collect::<Vec<_>>().join("/"))
}
