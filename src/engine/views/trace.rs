//! `Trace`: where a result came from: the results that went into it, what was called and touched on the way, who approved, down to the
//! roots. Each node is in it once; wherever else it went in, a row says so.

use crate::engine::{
    Actor, CachedResult, DataSource, EdgeState, FileAccess, GateId, GateKind, Mark, NodeState, StateGroup, Time, TokenUsage, Totals,
    Transcript, TranscriptEntry,
    graph::NodeIx,
    inner_run::InnerRunIx,
    run::{GateEnd, GateState, RunState},
};
use crate::plan::{CodeNode, LoopNode, MapNode, NodeId, NodeKind, Path, names_in_code};
use indexmap::IndexSet;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Characters of a result that are shown.
const SHORT: usize = 200;

/// Where a result came from.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Trace {
    /// The node that was asked for, then those that went into it, each once.
    pub steps: Vec<TraceStep>,
    /// The tree: each row behind what it went into.
    pub rows: Vec<TraceRow>,
}

/// One row of the tree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceRow {
    /// 0 for the node that was asked for.
    pub depth: usize,
    /// In `Trace::steps`.
    pub step: usize,
    /// How it went into the row that it is under; the node that was asked for went into none.
    pub came: Option<Came>,
    /// It is further up with all that went into it.
    pub again: bool,
}

/// What one node made, and of what.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceStep {
    pub node: NodeId,
    /// Its state in one word.
    pub state: &'static str,
    /// `rehearsal`, `overridden`, … when the result is not a plain one.
    pub mark: Option<Mark>,
    /// The beginning of its result, or of its error where it has none.
    pub result: Option<String>,
    /// Who made it, and at what price.
    #[serde(flatten)]
    pub made: Made,
    /// Plan inputs that it read.
    pub inputs: Vec<String>,
    /// The results that went into it.
    pub came: Vec<Came>,
    /// Its tool calls, in order.
    pub calls: Vec<TracedCall>,
    pub files: Vec<FileAccess>,
    /// Sources read: URLs, searches, databases.
    pub sources: Vec<DataSource>,
    /// Its gates, in order.
    pub approvals: Vec<Approval>,
    /// The earlier result that was taken in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<CachedResult>,
}

/// Who made a result, and at what price.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Made {
    /// The agent, tool or kind of work.
    pub by: String,
    /// Models that were asked, each once.
    pub models: Vec<String>,
    pub generation: u32,
    /// Attempts in this generation.
    pub attempts: u32,
    /// Why it is of an earlier state of things.
    pub stale: Option<String>,
    /// Of its model calls.
    pub tokens: TokenUsage,
    /// US dollars, as far as prices are known.
    pub cost_usd: f64,
    /// Whether tokens were counted here, because a provider didn't report them.
    pub estimated: bool,
    /// Whether the price of a call is unknown, so that the dollars are not all.
    pub unpriced: bool,
    pub started_at: Option<Time>,
    pub finished_at: Option<Time>,
    /// How long its own work took, once it is over.
    pub took_ms: Option<u64>,
}

impl Made {
    /// What it took, without times.
    pub fn took(&self) -> Totals {
        Totals {
            tokens: self.tokens.total(),
            cost_usd: self.cost_usd,
            estimated: self.estimated,
            unpriced: self.unpriced,
            ..Totals::default()
        }
    }
}

/// A result that went into another node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Came {
    pub node: NodeId,
    pub how: How,
    /// Who handed it on: a node that was passed through, or the one whose plan is inside.
    pub through: Option<NodeId>,
}

/// The way of a result into another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Edge,
    /// A text of the node names it.
    Reference,
    /// It is what the plan inside gave.
    Inside,
    /// The node around it gave it as an input.
    Input,
    /// The turn before gave it.
    Previous,
}

impl How {
    pub fn label(self) -> &'static str {
        match self {
            Self::Edge => "as a dependency",
            Self::Reference => "named in its text",
            Self::Inside => "from inside",
            Self::Input => "as an input",
            Self::Previous => "from the turn before",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TracedCall {
    pub tool: String,
    pub args: Value,
    /// Whether it succeeded; absent while it runs.
    pub ok: Option<bool>,
    /// The beginning of what it gave.
    pub result: Option<String>,
}

/// A gate and its answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Approval {
    pub gate: GateId,
    /// What it asked about: `before`, `after`, `question`, or the tool.
    pub about: String,
    pub asked: Time,
    /// The answer; absent while it is open, and where it ended without one.
    pub decision: Option<&'static str>,
    /// Why it ended without an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voided: Option<String>,
    pub by: Option<Actor>,
    pub at: Option<Time>,
    /// It was about an earlier generation of the node.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub earlier: bool,
}

impl Approval {
    /// The state or end of the question.
    pub fn label(&self) -> String {
        let earlier = if self.earlier { ", for an earlier generation" } else { "" };
        match (self.decision, &self.by, &self.voided) {
            (Some(decision), Some(by), _) => format!("{decision} by {}{earlier}", by.label()),
            (Some(decision), None, _) => format!("{decision}{earlier}"),
            (None, _, Some(reason)) if reason.is_empty() => "closed".to_owned(),
            (None, _, Some(reason)) => format!("closed: {reason}"),
            (None, _, None) => "not answered yet".to_owned(),
        }
    }
}

impl Trace {
    /// The step of a row.
    pub fn step(&self, row: &TraceRow) -> Option<&TraceStep> {
        self.steps.get(row.step)
    }
}

impl RunState {
    /// Where a node's result came from; `None` when the run has no such node. `transcript` is of the same events.
    pub fn trace(&self, id: &NodeId, transcript: &Transcript) -> Option<Trace> {
        let mut gates: BTreeMap<&NodeId, Vec<GateId>> = BTreeMap::new();
        for (gate, _) in self.gates() {
            gates.entry(&gate.node).or_default().push(gate.id);
        }
        let mut trace = Trace::default();
        let mut known: BTreeMap<NodeIx, usize> = BTreeMap::new();
        let mut next = vec![(0, None, self.graph.find(id)?)];
        while let Some((depth, came, ix)) = next.pop() {
            let seen = known.get(&ix).copied();
            let step = seen.unwrap_or(trace.steps.len());
            trace.rows.push(TraceRow { depth, step, came, again: seen.is_some() });
            if seen.is_none() {
                known.insert(ix, step);
                let step = self.step_of(ix, transcript, gates.get(&self.id_of(ix)).map_or(&[], Vec::as_slice));
                let sources = step.came.iter().rev().filter_map(|came| Some((depth + 1, Some(came.clone()), self.graph.find(&came.node)?)));
                next.extend(sources);
                trace.steps.push(step);
            }
        }
        Some(trace)
    }

    /// The nodes that say what a body gives: of a walk, the one that ended last.
    fn exits(&self, inner: InnerRunIx) -> Vec<NodeIx> {
        let Some(inner) = self.inner(inner) else { return Vec::new() };
        let gave = |ix: &NodeIx| self.nodes[*ix].result.is_some();
        if inner.plan.dialect.walks() {
            return inner.walked.last().copied().into_iter().collect();
        }
        inner.nodes().filter(|ix| self.graph.nodes[*ix].outs.is_empty()).filter(gave).collect()
    }

    /// The body that ran before the one that a node is in, where they run one after the other.
    pub(in crate::engine) fn turn_before(&self, ix: NodeIx) -> Option<InnerRunIx> {
        let owner = self.inner_of(ix)?.owner?;
        let bodies = self.flows[owner].bodies.as_ref().filter(|bodies| bodies.most == 1)?;
        let turn = bodies.inner_runs.binary_search(&self.graph.nodes[ix].home).ok()?;
        bodies.inner_runs.get(turn.checked_sub(1)?).copied()
    }

    fn step_of(&self, ix: NodeIx, transcript: &Transcript, gates: &[GateId]) -> TraceStep {
        let (id, node) = (self.id_of(ix), &self.nodes[ix]);
        let lineage = &node.lineage;
        let result = node.result.as_deref().map(short).or_else(|| node.error.as_ref().map(|error| cut(&error.message)));
        let call = |(call, report): &(crate::engine::ToolCall, Option<crate::engine::ToolReport>)| TracedCall {
            tool: call.tool.clone(),
            args: call.args.clone(),
            ok: report.as_ref().map(|report| report.ok),
            result: report.as_ref().map(|report| short(&report.value)),
        };
        let mut origins = Origins { run: self, seen: BTreeSet::new(), came: Vec::new(), inputs: Vec::new() };
        // What never began used nothing.
        if node.state.group() != StateGroup::NotRun || node.span.started.is_some() {
            origins.of(ix);
        }
        TraceStep {
            state: node.state.word(),
            mark: node.mark.clone(),
            result,
            made: Made {
                by: self.doc(ix).map(|node| node.kind.worker().unwrap_or(node.kind.name()).to_owned()).unwrap_or_default(),
                models: models(transcript.entries(&id)),
                generation: node.generation,
                attempts: node.attempt,
                stale: node.stale.as_ref().map(crate::engine::Cause::message),
                tokens: lineage.spent.tokens,
                cost_usd: lineage.spent.cost_usd,
                estimated: lineage.spent.estimated,
                unpriced: lineage.spent.unpriced,
                started_at: node.span.started,
                finished_at: node.span.finished,
                took_ms: node.work_ms(),
            },
            inputs: origins.inputs,
            came: origins.came,
            calls: lineage.tools.iter().map(call).collect(),
            files: lineage.files.clone(),
            sources: lineage.sources.clone(),
            approvals: gates.iter().filter_map(|&gate| self.gate_run(gate)).map(|gate| approval(gate, node.generation)).collect(),
            cached: lineage.cached.as_deref().cloned(),
            node: id,
        }
    }
}

/// What went into one node.
struct Origins<'a> {
    run: &'a RunState,
    seen: BTreeSet<NodeIx>,
    came: Vec<Came>,
    inputs: Vec<String>,
}

impl Origins<'_> {
    fn of(&mut self, ix: NodeIx) {
        self.by_edges(ix);
        let reads = self.run.reads(ix);
        self.by_name(ix, &reads, How::Reference, None);
        let mut names: Vec<String> = reads.iter().filter_map(|path| path.input().map(str::to_owned)).collect();
        if let Some(NodeKind::Code(CodeNode { code, .. })) = self.run.doc(ix).map(|node| &node.kind) {
            names.extend(names_in_code(code, "inputs").into_iter().map(str::to_owned));
        }
        self.by_input(ix, names);
        let inside = self.run.flows[ix].bodies.iter().flat_map(|bodies| {
            // Of a loop only the last turn is the result.
            let turns =
                if matches!(self.run.doc(ix).map(|node| &node.kind), Some(NodeKind::Loop(_))) { 1 } else { bodies.inner_runs.len() };
            bodies.inner_runs.iter().rev().take(turns).rev().copied()
        });
        let exits: Vec<NodeIx> = inside.flat_map(|inner| self.run.exits(inner)).collect();
        exits.into_iter().for_each(|exit| self.add(exit, How::Inside, None));
    }

    fn add(&mut self, ix: NodeIx, how: How, through: Option<NodeIx>) {
        if self.seen.insert(ix) {
            self.came.push(Came { node: self.run.id_of(ix), how, through: through.map(|ix| self.run.id_of(ix)) });
        }
    }

    fn by_edges(&mut self, ix: NodeIx) {
        for &edge in &self.run.graph.nodes[ix].ins {
            if self.run.edge_state(edge) != EdgeState::Taken {
                continue;
            }
            let source = self.run.graph.link(edge).from;
            if self.run.nodes[source].state == NodeState::Passed {
                self.run.flows[source].outcome.forwards.iter().for_each(|origin| self.add(origin.node, How::Edge, Some(source)));
            } else {
                self.add(source, How::Edge, None);
            }
        }
    }

    /// The nodes that a text names, as seen from `ix`.
    fn by_name(&mut self, ix: NodeIx, reads: &[Path], how: How, through: Option<NodeIx>) {
        let Some(inner) = self.run.inner_of(ix) else { return };
        let named: Vec<NodeIx> = reads.iter().filter_map(|path| self.run.find_in(inner, path.node()?)).collect();
        named.into_iter().for_each(|source| self.add(source, how, through));
    }

    /// What is behind the inputs that a node reads: what the nodes around it gave; what they didn't are inputs of the plan.
    fn by_input(&mut self, ix: NodeIx, mut names: Vec<String>) {
        let mut inner = ix;
        for owner in self.run.owners(ix).collect::<Vec<_>>() {
            let Some(policy) = self.run.policy(owner) else { continue };
            let given = policy.get(|policy| policy.inputs.as_ref());
            let work = &policy.node.kind;
            names.retain(|name| {
                match (given.and_then(|given| given.get(name)), work, name.as_str()) {
                    (Some(value), _, _) => {
                        let reads = self.run.reads_in(owner, value);
                        self.by_name(owner, &reads, How::Input, Some(owner));
                    }
                    (None, NodeKind::Map(MapNode { .. }), "item" | "index") => {
                        let reads = self.run.reads(owner);
                        self.by_name(owner, &reads, How::Input, Some(owner));
                    }
                    (None, NodeKind::Loop(LoopNode { .. }), "previous") => {
                        let before = self.run.turn_before(inner);
                        let exits = before.map(|inner| self.run.exits(inner)).unwrap_or_default();
                        exits.into_iter().for_each(|exit| self.add(exit, How::Previous, Some(owner)));
                    }
                    (None, NodeKind::Loop(LoopNode { .. }), "iteration") => {}
                    (None, _, _) => return work.body().is_none_or(|body| !body.inputs.contains_key(name)),
                }
                false
            });
            inner = owner;
        }
        names.sort_unstable();
        names.dedup();
        self.inputs = names;
    }
}

fn models(entries: &[TranscriptEntry]) -> Vec<String> {
    let asked = entries.iter().filter_map(|entry| if let TranscriptEntry::Model { call, .. } = entry { Some(&call.model) } else { None });
    asked.collect::<IndexSet<_>>().into_iter().cloned().collect()
}

fn approval(run: &GateState, generation: u32) -> Approval {
    let gate = &run.gate;
    let (decided, voided) = match &run.end {
        GateEnd::Open => (None, None),
        GateEnd::Decided(decided) => (Some(decided), None),
        GateEnd::Voided(reason) => (None, Some(reason.message())),
    };
    let about = match &gate.kind {
        GateKind::Approval => "before".to_owned(),
        GateKind::Review => "after".to_owned(),
        GateKind::UnknownEffect { .. } => "unknown effect".to_owned(),
        GateKind::Failure { .. } => "failure".to_owned(),
        GateKind::Replan { .. } => "new plan".to_owned(),
        GateKind::Permission { tool, .. } => tool.clone(),
        GateKind::Question { .. } => "question".to_owned(),
    };
    Approval {
        gate: gate.id,
        about,
        asked: gate.opened,
        decision: decided.map(|decided| decided.decision.label()),
        voided,
        by: decided.map(|decided| decided.by.clone()),
        at: decided.map(|decided| decided.at),
        earlier: gate.generation != generation,
    }
}

/// The beginning of a value: text without quotes.
fn short(value: &Value) -> String {
    value.as_str().map_or_else(|| cut(&value.to_string()), cut)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHORT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
