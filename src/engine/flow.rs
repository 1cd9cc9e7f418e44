//! `Flow`: what the engine keeps of a node beside what views see: its phase, its tokens in numbers, its worker, its approval.

use super::{
    Account, CallNeed, CapAmount, Cause, EdgeId, FailedTry, GateId, HeldAt, HeldCall, Mark, ModelCall, Moment, NextCall, SkippedBy, Time,
    graph::NodeIx, inner_run::Bodies,
};
use crate::plan::Join;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// The phase of a node as the engine sees it. Finer than `NodeState`; phases marked *agenda* call for a decision at once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Phase {
    #[default]
    /// It waits for its sources.
    Inputs,
    /// The join is decided, for or against. *Agenda.*
    Joined { go: bool },
    /// A gate must be opened before it starts. *Agenda.*
    Asking,
    /// A gate of the node as a whole is open: before it, after it, an approval node's question, or what became of it.
    AtGate(GateId),
    /// That gate was answered, and the answer has consequences other than a start. *Agenda.*
    Answered(GateId),
    /// In the queue for a slot.
    Queued,
    /// Waits for a lock, by its number.
    Locked(u32),
    /// Started; the engine does the work itself. *Agenda.*
    Inline,
    /// A body may begin, or all are over. *Agenda.*
    Bodies,
    /// Bodies are at work.
    Inside,
    /// A worker is at it.
    Working,
    /// Waits for its next attempt.
    Resting,
    /// Held by a person or a breakpoint.
    Held,
    /// Let go; what was kept goes on. *Agenda.*
    Freed,
    /// Its attempts are over, and what follows from that is for somebody to say. *Agenda.*
    Stuck,
    /// The same, and a new plan is being made, or another one comes first.
    Replanning,
    /// Nobody knows what became of it; somebody must be asked. *Agenda.*
    Lost,
    /// Its generation is over.
    Ended,
}

/// The part of its generation that a node is in: what most questions about a phase come down to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PhasePart {
    /// Inputs are missing, or its guards were not asked yet.
    Ahead,
    /// Its guards held; a gate, a slot or a lock is between it and its start.
    InLine,
    /// A gate of the node as a whole waits for an answer.
    AtGate(GateId),
    /// That gate was answered.
    Answered,
    /// A hold or a breakpoint keeps it, or has just released it.
    Held,
    /// The engine or a worker is at it.
    AtWork,
    /// What runs inside it is at work.
    Inside,
    /// Its next attempt is due later.
    Resting,
    /// Its attempts are over, and what follows from that is not decided.
    Stuck,
    /// Nobody knows what became of it.
    Lost,
    /// Its generation is over.
    Over,
}

impl PhasePart {
    /// Whether what runs inside the node is at work.
    pub fn is_inside(self) -> bool {
        self == Self::Inside
    }
}

impl Phase {
    pub fn part(self) -> PhasePart {
        match self {
            Self::Inputs | Self::Joined { .. } => PhasePart::Ahead,
            Self::Asking | Self::Queued | Self::Locked(_) => PhasePart::InLine,
            Self::AtGate(gate) => PhasePart::AtGate(gate),
            Self::Answered(_) => PhasePart::Answered,
            Self::Held | Self::Freed => PhasePart::Held,
            Self::Stuck | Self::Replanning => PhasePart::Stuck,
            Self::Inline | Self::Working => PhasePart::AtWork,
            Self::Bodies | Self::Inside => PhasePart::Inside,
            Self::Resting => PhasePart::Resting,
            Self::Lost => PhasePart::Lost,
            Self::Ended => PhasePart::Over,
        }
    }
}

/// Tokens on incoming edges in numbers, so that a join never scans.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct EdgeCounts {
    pub plain: EdgeClassCounts,
    pub alternatives: EdgeClassCounts,
}

/// Tokens of one class of edges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct EdgeClassCounts {
    pub waiting: u32,
    pub taken: u32,
    pub dead: u32,
}

impl EdgeCounts {
    /// What the join says: go, don't, or not yet.
    pub fn verdict(self, join: Option<Join>) -> Option<bool> {
        let waiting = self.plain.waiting + self.alternatives.waiting;
        let taken = self.plain.taken + self.alternatives.taken;
        let dead = self.plain.dead + self.alternatives.dead;
        let settled = waiting == 0;
        if settled && taken + dead == 0 {
            return Some(true);
        }
        match join {
            None if self.plain.dead > 0 => Some(false),
            None | Some(Join::Settled) => settled.then_some(taken > 0),
            Some(Join::All) if dead > 0 => Some(false),
            Some(Join::All | Join::Always) => settled.then_some(true),
            Some(Join::Any) if taken > 0 => Some(true),
            Some(Join::Any) => settled.then_some(false),
        }
    }
}

/// A call or question of a running node that a person must answer or release.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pending {
    pub wait: Wait,
    pub call: String,
    pub decided: bool,
}

/// What a call waits for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Wait {
    /// A person answers it; `inner` questions are asked by a tool that is at work.
    Gate { gate: GateId, inner: bool },
    /// Somebody releases it; `number` counts the holds of its worker, `inner` calls are made by a tool that is at work, and the call is
    /// the `nth` of its name in the attempt.
    Hold { number: u32, inner: bool, held: Box<HeldCall>, name: String, nth: u32 },
}

/// By what a worker that wants its slot back waits in line: held calls first, then by age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SlotLine {
    Hold(u32),
    Gate(GateId),
}

impl Pending {
    pub fn line(&self) -> SlotLine {
        match self.wait {
            Wait::Gate { gate, .. } => SlotLine::Gate(gate),
            Wait::Hold { number, .. } => SlotLine::Hold(number),
        }
    }

    pub fn gate(&self) -> Option<GateId> {
        match self.wait {
            Wait::Gate { gate, .. } => Some(gate),
            Wait::Hold { .. } => None,
        }
    }

    pub fn held(&self) -> Option<&HeldCall> {
        match &self.wait {
            Wait::Gate { .. } => None,
            Wait::Hold { held, .. } => Some(held),
        }
    }

    /// Whether a tool at work waits for it.
    pub fn is_inner(&self) -> bool {
        match self.wait {
            Wait::Gate { inner, .. } | Wait::Hold { inner, .. } => inner,
        }
    }

    /// Whether a call is held, and nobody has released it.
    pub fn is_held(&self) -> bool {
        !self.decided && self.held().is_some()
    }

    /// Name of a held call, and which of that name it is.
    pub fn place(&self) -> Option<(String, u32)> {
        match &self.wait {
            Wait::Gate { .. } => None,
            Wait::Hold { name, nth, .. } => Some((name.clone(), *nth)),
        }
    }
}

/// The worker of the attempt under way.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Worker {
    /// Since when it has its slot and its clock stands as `worked_ms` says; absent while it waits for a person or for its slot back.
    pub since: Option<Time>,
    /// Working time before that.
    pub worked_ms: u64,
    /// Tool calls under way.
    pub calls: u32,
    /// Questions not yet answered to the worker, oldest first.
    pub pending: Vec<Pending>,
    /// A call was released, whatever it does.
    pub acted: bool,
    /// A call that leaves something behind was released.
    pub began: bool,
    /// Texts of people for its node that it has received.
    pub heard: usize,
    /// Calls that were ever held.
    pub holds: u32,
    /// How many calls of each name the attempt has come to.
    pub made: BTreeMap<String, u32>,
    /// Model calls under way.
    pub models: BTreeMap<String, ModelTries>,
    /// What is kept for the last turn of its agent.
    pub kept: CapAmount,
}

/// A model call under way.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ModelTries {
    /// Tries that it has used.
    pub tries: u32,
    /// A tool at work makes it.
    pub inner: bool,
    /// What it waits for; absent while its answer comes.
    pub waits: Option<Cause>,
    /// What is reserved for it; absent where no cap counts it.
    pub held: Option<HeldAmount>,
    /// What the try under way counts with if nobody hears its end; absent once somebody has.
    pub unheard: Option<Box<ModelCall>>,
}

/// What is reserved for a model call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HeldAmount {
    pub need: CallNeed,
    /// For the try under way.
    pub reserved: CapAmount,
    /// What its provider reported of tries that failed: the end of the call reports it again.
    pub failed: CapAmount,
    /// Whether the try under way was sent.
    pub sent: bool,
}

impl ModelTries {
    /// A try is sent.
    pub fn sent(&mut self, unheard: Option<&ModelCall>) {
        self.waits = Some(Cause::FirstWords);
        self.unheard = unheard.cloned().map(Box::new);
        if let Some(held) = &mut self.held {
            held.sent = true;
        }
    }

    /// A try failed, and the next one is sent then, if one is.
    pub fn failed(&mut self, failed: &FailedTry, next_at: Option<Time>) {
        self.tries += u32::from(failed.uses_try());
        self.unheard = None;
        self.waits = next_at.map(|until| Cause::NextTry { until, failed: failed.message.clone() });
    }
}

impl Worker {
    /// Whether a tool at work makes a call, and not the agent. An agent's next turn begins when the tools of its last one are done, so a
    /// model that is asked before that is asked by one of them. Tools call no tools.
    pub fn asks_from_tool(&self, next: &NextCall) -> bool {
        match next {
            NextCall::Model { .. } => self.calls > 0,
            NextCall::Tool { .. } => false,
        }
    }

    /// Whether nothing of it goes on until a person says so.
    pub fn is_idle(&self) -> bool {
        !self.pending.is_empty() && self.calls as usize <= self.held_inside()
    }

    /// Calls of tools at work that wait for a person.
    fn held_inside(&self) -> usize {
        self.pending.iter().filter(|pending| pending.is_inner()).count()
    }

    /// What it waits for where it has its slot and nothing of it goes on before a model answers: no work.
    pub fn model_wait(&self) -> Option<&Cause> {
        let waiting = || self.models.values().filter(|call| call.waits.is_some());
        let inner = waiting().filter(|call| call.inner).count() + self.held_inside();
        waiting().find_map(|call| call.waits.as_ref()).filter(|_| self.calls as usize <= inner)
    }

    /// Working time of the attempt until `now`.
    pub fn worked_until(&self, now: Time) -> u64 {
        let since = self.since.filter(|_| self.model_wait().is_none());
        self.worked_ms + since.map_or(0, |since| now.since(since))
    }

    /// Reads the clock before something changes by which it runs.
    pub fn tick(&mut self, now: Time) {
        self.worked_ms = self.worked_until(now);
        self.since = self.since.map(|_| now);
    }
}

/// A result that a passed node hands on: whose, and which keys of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ForwardedResult {
    pub node: NodeIx,
    /// Edges on the way; each lets only its `context` keys through.
    pub through: Vec<EdgeId>,
}

impl Flow {
    /// Whether something other than its start is kept: the attempt has ended.
    pub fn keeps_an_end(&self) -> bool {
        self.gates.end.is_some() || matches!(self.halt.kept.as_deref(), Some(HeldAt::Result { .. } | HeldAt::Failure { .. }))
    }
}

/// What the engine keeps of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Flow {
    pub phase: Phase,
    pub tally: EdgeCounts,
    pub worker: Option<Box<Worker>>,
    /// Attempts of this generation that failed and were followed by another one; what broke off is none of them.
    pub failures: u32,
    pub locked: bool,
    /// What runs inside it.
    pub bodies: Option<Box<Bodies>>,
    pub gates: FlowGates,
    pub halt: FlowHold,
    pub guidance: FlowGuidance,
    pub outcome: FlowOutcome,
    /// How people drive it while it is at work.
    pub drive: NodeSteering,
    /// What it takes, with all that runs inside it.
    pub account: Account,
}

/// What people answered at a node's gates, as far as it still matters.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FlowGates {
    /// The gate that approved this generation's start.
    pub approval: Option<GateId>,
    /// Mark of a result that waits at a gate.
    pub mark: Option<Mark>,
    /// How often each call was rejected, by tool and arguments.
    pub rejections: BTreeMap<String, u32>,
    /// Answers that hold for the same question of the next attempt: those that its worker never heard, because its driver ended, and those
    /// to the one call of a tool node.
    pub owed: Vec<GateId>,
    /// What its attempts came to, until somebody has said what follows.
    pub end: Option<Box<HeldAt>>,
    /// The model that a person chose for it after a failure.
    pub model: Option<String>,
    /// Why its agent wants a new plan.
    pub plan_wanted: Option<String>,
    /// Why no new plan came when one was asked for.
    pub no_plan: Option<String>,
}

/// How people and breakpoints keep a node from going on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FlowHold {
    /// Who holds it, if a person does.
    pub hold: Option<String>,
    /// What waits while it is kept.
    pub kept: Option<Box<HeldAt>>,
    /// Breakpoints met in this generation, by their moment.
    pub met: BTreeSet<Moment>,
}

/// What people wrote to a node, and about what. Outlives its generation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FlowGuidance {
    pub texts: Vec<String>,
    /// How often it was sent back with feedback.
    pub rewinds: u32,
    /// Its result that was sent back last.
    pub rejected: Option<Arc<Value>>,
}

/// How people drive one node at work.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NodeSteering {
    /// Each of its calls is held.
    pub into: bool,
    /// Who wants it to return what it has.
    pub stopped_by: Option<String>,
    /// It has received that request.
    pub on_last_turn: bool,
    /// How many calls of each name were released: an attempt that begins because the last one broke off makes so many of them unheld.
    pub passed: BTreeMap<String, u32>,
    /// Calls that were held when their attempt broke off, and that no later attempt has come to: names, and which of that name each was.
    pub held_before: Vec<(String, u32)>,
}

/// What a node leaves to those after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FlowOutcome {
    /// What keeps it from running, once it is skipped.
    pub skipped_by: SkippedBy,
    /// What a passed node hands on.
    pub forwards: Vec<ForwardedResult>,
    /// Why its routes were taken as they were.
    pub chosen: String,
    /// Its result before it ran again alone, for those who read it until there is a new one.
    pub former: Option<Arc<Value>>,
    /// Whether that result is private.
    pub former_private: bool,
}
