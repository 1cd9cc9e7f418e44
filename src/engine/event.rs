//! `Event`: every fact of a run, in the order it became true. Plain data; the journal keeps them, everything shown is a view of them.

use super::{
    Action, Actor, BreakId, CachedResult, Cause, EdgeId, EventTrait, FailedTry, Gate, GateId, GateReply, HeldAt, HeldCall, Job, Mark,
    MessageRole, ModelCall, ModelSlots, Moment, NodeError, Outcome, ReplanTrigger, RunId, RunSettings, SearchMark, SkippedBy, StopSignal,
    Time, ToolCall, ToolReport, Topic, cause::sentence,
};
use crate::plan::{NodeId, Plan};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CallNeed, CapAmount, Reservation};

/// A fact of a run. On the wire node events are as flat as the others; see `wire`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(strum::EnumDiscriminants), strum_discriminants(derive(strum::EnumIter)))]
#[serde(rename_all = "snake_case", remote = "Self")]
pub enum Event {
    /// The first event of every run.
    RunCreated { run: RunId, plan: Box<Plan>, settings: Box<RunSettings>, by: Actor },
    /// A person let it go: nodes start from here on.
    RunStarted,
    /// The run goes on after the process that drove it ended in the middle. What becomes of each node that was at work follows in the same batch.
    RunRecovered {
        /// Who opened it again.
        by: Actor,
        /// In older journals: the model that a person chose, as `ModelChosen` says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// A person chose another model: nodes that start from here on ask it. The run is no rehearsal any more.
    ModelChosen {
        model: String,
        /// Where its provider takes fewer calls at once than the run has slots.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slots: Option<ModelSlots>,
        by: Actor,
    },
    /// A signal ended the process that drove the run. It goes on with `RunRecovered`.
    RunInterrupted { signal: StopSignal },
    /// The run was over and goes on, by the action that comes right behind, or because the last one is undone there.
    RunReopened { by: Actor },
    /// The run leaves the one that its events so far were copied from; `from_seq` is the last event that they share. What becomes of each
    /// node that was at work there follows in the same batch, as after a crash.
    Branched { from: RunId, from_seq: u64, by: Actor },
    /// A new plan for what is left is asked for.
    ReplanAsked {
        /// From 1; names it.
        number: u32,
        /// The node that waits for it.
        node: Option<NodeId>,
        trigger: ReplanTrigger,
        /// What people said that the planner is to hear, oldest first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        guidance: Vec<String>,
        /// Nobody: the plan did.
        by: Option<Actor>,
    },
    /// No new plan came of it.
    ReplanFailed { number: u32, why: String },
    /// Somebody cancelled the run.
    RunCancelled { by: Actor },
    /// Nothing is left to do. The last event of a run, unless somebody opens it again.
    #[serde(rename = "run_settled")]
    RunEnded {
        outcome: Outcome,
        #[serde(with = "sentence")]
        reason: Cause,
    },
    /// A gate opened: its node waits for a person.
    ApprovalRequired { gate: Box<Gate> },
    /// A gate was answered. Journalled before any effect of the answer.
    GateDecided {
        gate: GateId,
        decision: GateReply,
        by: Actor,
        /// What the person said with it, beside a rejection's own text; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message: String,
    },
    /// A gate ended without an answer: its node was cancelled, or its payload changed.
    GateVoided {
        gate: GateId,
        #[serde(with = "sentence")]
        reason: Cause,
    },
    /// A stage of a stages plan starts.
    StageStarted { node_id: NodeId },
    /// A stage's results are in the journal.
    Checkpoint { node_id: NodeId },
    /// A stage is over.
    StageFinished { node_id: NodeId },
    /// A line of a node's log (`console.log`, warnings).
    LogLine { node_id: NodeId, text: String },
    /// Somebody asked something of the run; what follows from it comes right behind.
    Acted {
        #[serde(rename = "verb")]
        action: Box<Action>,
        /// The nodes that it changes by itself: held, released, reset, …
        nodes: Vec<NodeId>,
        by: Actor,
        /// Why, in their own text; may be empty.
        why: String,
    },
    /// All that an action called for at once is on record. From here on it can be undone, until something happens because of it. The end
    /// of the run says so too.
    Carried,
    /// An action was undone: the run is as it would be without it.
    Undone {
        /// The action's place in the run.
        #[serde(rename = "verb")]
        action: u64,
        by: Actor,
    },
    /// A command that was refused, and why (the answer to a late decision names who decided).
    Refused { by: Actor, what: String, why: String },
    /// Something that happened to a node, in one of its generations.
    #[serde(skip)]
    Node { node_id: NodeId, generation: u32, fact: NodeFact },
}

/// What happens to one generation of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(strum::EnumDiscriminants), strum_discriminants(derive(strum::EnumIter)))]
#[serde(rename_all = "snake_case")]
pub enum NodeFact {
    /// Every incoming edge that its join needs is decided; guards held.
    #[serde(rename = "node_ready")]
    Ready {
        /// It is only rehearsed, so no gate opens before it.
        #[serde(default, skip_serializing_if = "is_false")]
        rehearsed: bool,
    },
    /// Ready, but something other than a gate holds it back (slot, lock, breakpoint, pause).
    #[serde(rename = "node_held")]
    Held {
        #[serde(with = "sentence")]
        reason: Cause,
    },
    /// An attempt starts; its effect follows from this event.
    #[serde(rename = "node_started")]
    Started {
        /// From 1.
        attempt: u32,
        /// What is done, with references resolved.
        job: Box<Job>,
        /// Private data reaches it.
        #[serde(default, skip_serializing_if = "is_false")]
        private: bool,
    },
    /// This attempt failed and another one will follow, at this time at the earliest.
    #[serde(rename = "node_retrying")]
    Retrying { attempt: u32, error: NodeError, until: Time },
    /// A node's routes were decided: before its end, in the same batch; or of outgoing edges that an edit gave it after its end.
    #[serde(rename = "node_routed")]
    Routed {
        taken: Vec<EdgeId>,
        dead: Vec<EdgeId>,
        /// Why these and not others, where there was something to choose.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// A body of a composite node begins: its nodes enter the run. The index is the turn of a loop (from 1), or the entry of a map (from 0).
    BodyStarted { index: Option<u32> },
    /// A node ended with a result, marked when it is not a plain one.
    #[serde(rename = "node_completed")]
    Completed { result: Value, mark: Option<Mark> },
    /// A node's worker handed in a result that waits at a gate; the gate's payload is the result. Always in the same batch as the gate.
    #[serde(rename = "node_returned")]
    Returned { mark: Option<Mark> },
    /// A node failed for good.
    #[serde(rename = "node_failed")]
    Failed {
        error: NodeError,
        /// `on_failure: safe`: its edges are taken with `{error, failed_safe: true}`.
        safe: bool,
        /// A result that it had before the failure (a route that could not be evaluated), if any.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "super::report::present")]
        result: Option<Value>,
    },
    /// Its attempts are over without a result that is used, and somebody says what follows from it.
    EndKept {
        kept: Box<HeldAt>,
        #[serde(with = "sentence")]
        reason: Cause,
    },
    /// A node never ran: a guard or a join said so, or a person skipped it.
    #[serde(rename = "node_skipped")]
    Skipped {
        #[serde(with = "sentence")]
        reason: Cause,
        #[serde(default, skip_serializing_if = "SkippedBy::is_plan")]
        by: SkippedBy,
    },
    /// `skip_if` held: the node was passed through.
    #[serde(rename = "node_passed")]
    Passed {
        #[serde(with = "sentence")]
        reason: Cause,
    },
    /// A node was cancelled, or rejected at its gate.
    #[serde(rename = "node_cancelled")]
    Cancelled {
        #[serde(with = "sentence")]
        reason: Cause,
    },
    /// The process that drove the run ended in the middle of this attempt, which left nothing behind: the node goes again.
    #[serde(rename = "node_interrupted")]
    Interrupted {
        /// The attempt that broke off.
        attempt: u32,
        #[serde(with = "sentence")]
        reason: Cause,
    },
    /// Nobody knows whether the node's effect happened; somebody must say.
    #[serde(rename = "node_unknown")]
    Unknown {
        #[serde(with = "sentence")]
        reason: Cause,
    },
    /// A model call may go; its effect follows from this event.
    ModelStarted {
        /// Ties the answer to the call.
        call: String,
        model: String,
        /// What people wrote for the agent, and it has not received yet.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        guidance: Vec<String>,
        /// The agent is to return what it has.
        #[serde(default, skip_serializing_if = "is_false")]
        wrap_up: bool,
        /// What is kept for it, where a cap counts it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reserved: Option<Box<Reservation>>,
    },
    /// A model call waits until others have given back what they don't take of a budget.
    ModelDeferred {
        call: String,
        model: String,
        need: CallNeed,
        /// It is a last turn.
        #[serde(default, skip_serializing_if = "is_false")]
        last: bool,
        #[serde(with = "sentence")]
        reason: Cause,
    },
    /// A model call waits for a place at its provider. It keeps its node's slot and locks, and is no work.
    ModelWaits {
        call: String,
        #[serde(with = "sentence")]
        reason: Cause,
    },
    /// A try of a model call is sent. Until its answer begins, that is no work. Its number is from 1; a try that only the rate limit refused
    /// counts as none, and is sent again by its number.
    ModelSent {
        call: String,
        number: u32,
        /// What it counts with if nobody hears its end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unheard: Option<Box<ModelCall>>,
    },
    /// The answer to a model call begins.
    ModelAnswers { call: String },
    /// A try of a model call failed.
    ModelTryFailed {
        call: String,
        number: u32,
        failed: FailedTry,
        /// When the next one is sent at the earliest; absent: none is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_at: Option<Time>,
        /// What is kept for that, where a cap counts it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reserved: Option<CapAmount>,
    },
    /// A model call or a tool call is held before it happens: by a breakpoint, by the plan's own where none is named, or as people step
    /// through the node.
    CallHeld { point: Option<BreakId>, held: Box<HeldCall> },
    /// An agent proposed a tool call.
    ToolProposed { call: ToolCall },
    /// The call may run; its effect follows from this event. `call.args` are those that were approved.
    ToolStarted {
        call: ToolCall,
        /// What allows it, where nobody was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
    },
    /// The call will not run; the text goes to the model.
    ToolRefused { call: String, message: String },
    /// A person gave a result in the tool's place.
    ToolAnswered { call: String, value: Value },
    /// A call that ran ended, well or badly.
    ToolFinished { call: String, report: ToolReport },
    /// An agent's question was answered; the answer goes to it.
    QuestionAnswered { call: String, value: Value },
    /// A model call ended.
    ModelCalled { call: ModelCall },
    /// A message of an agent's conversation, as it was sent or received.
    Message { role: MessageRole, content: String },
    /// Streamed text; merged, and not part of the state that decides.
    Output { text: String },
    /// What its model thinks, as it comes; merged. The whole of it follows as a message.
    Thought { text: String },
    /// Its agent wants a new plan for what comes after it.
    PlanWanted { why: String },
    /// Something to know of its result, in a word or two and as a sentence: what was cut of its context, a limit that was passed.
    Noted { label: String, text: String },
    /// The result of the attempt is one that an earlier run made of the same work; it follows.
    #[serde(rename = "node_cached")]
    Cached { source: Box<CachedResult> },
    /// A breakpoint keeps a node.
    BreakHit {
        /// Which breakpoint; absent when the plan's own `breakpoint` does.
        point: Option<BreakId>,
        moment: Moment,
        kept: Box<HeldAt>,
        #[serde(with = "sentence")]
        reason: Cause,
    },
}

impl NodeFact {
    fn traits<'a>(&self, node: &'a NodeId) -> (Topic<'a>, &'static [EventTrait]) {
        use EventTrait::*;
        match self {
            Self::Ready { .. } | Self::Returned { .. } => (Topic::Node(node), &[]),
            Self::Held { .. } => (Topic::Node(node), &[AsksForLocks]),
            Self::Started { .. } => (Topic::Node(node), &[Printed, Brief, HasEffects, StartsOrEndsNode, AsksForLocks, ReadsOthers]),
            Self::Retrying { .. } => (Topic::Node(node), &[Printed, HasEffects, LosesAttempt]),
            Self::Routed { .. } => (Topic::Node(node), &[DecidesEdges, ReadsOthers]),
            Self::BodyStarted { .. } => (Topic::Node(node), &[ChangesNodes]),
            Self::Completed { .. } => (Topic::Node(node), &[Printed, Brief, StartsOrEndsNode, DecidesEdges]),
            Self::Failed { .. } => (
                Topic::Node(node),
                &[Marked(SearchMark::Failure), Printed, HasEffects, LosesAttempt, StartsOrEndsNode, DecidesEdges, Audited],
            ),
            Self::EndKept { .. } => (Topic::Node(node), &[Marked(SearchMark::Failure), HasEffects, LosesAttempt]),
            Self::Skipped { .. } => (Topic::Node(node), &[Printed, HasEffects, EndsWork, StartsOrEndsNode, DecidesEdges, ReadsOthers]),
            Self::Passed { .. } => (Topic::Node(node), &[Printed, StartsOrEndsNode, DecidesEdges, ReadsOthers]),
            Self::Cancelled { .. } => (Topic::Node(node), &[Printed, HasEffects, EndsWork, LosesAttempt, StartsOrEndsNode, DecidesEdges]),
            Self::Interrupted { .. } => (Topic::Node(node), &[Printed, LosesAttempt]),
            Self::Unknown { .. } => (Topic::Node(node), &[Marked(SearchMark::Failure), Printed, LosesAttempt, StartsOrEndsNode]),
            Self::BreakHit { .. } => (Topic::Node(node), &[Marked(SearchMark::Break), Printed, HasEffects]),
            Self::ModelStarted { .. } | Self::ModelAnswers { .. } => (Topic::Call(node), &[HasEffects]),
            Self::ModelWaits { .. } | Self::ModelDeferred { .. } => (Topic::Call(node), &[Printed]),
            Self::ModelSent { .. } => (Topic::Call(node), &[]),
            Self::ModelTryFailed { .. } => (Topic::Call(node), &[Printed, HasEffects]),
            Self::CallHeld { .. } => (Topic::Call(node), &[Marked(SearchMark::Break), Printed]),
            Self::ToolStarted { .. } => (Topic::Call(node), &[Durable, HasEffects, Audited]),
            Self::ToolRefused { .. } | Self::ToolAnswered { .. } => (Topic::Call(node), &[HasEffects, Audited]),
            Self::QuestionAnswered { .. } => (Topic::Call(node), &[HasEffects]),
            Self::ToolFinished { .. } | Self::ToolProposed { .. } => (Topic::Call(node), &[Reports, Audited]),
            Self::ModelCalled { .. } => (Topic::Call(node), &[Reports]),
            Self::Message { .. } | Self::Output { .. } => (Topic::Text(node), &[Reports]),
            Self::Thought { .. } => (Topic::Text(node), &[Reports, Unlisted]),
            Self::Cached { .. } | Self::Noted { .. } | Self::PlanWanted { .. } => (Topic::Call(node), &[Printed, Reports]),
        }
    }
}

/// The events that have a cause.
macro_rules! caused {
    ($cause:ident) => {
        Event::RunEnded { reason: $cause, .. }
            | Event::GateVoided { reason: $cause, .. }
            | Event::Node {
                fact: NodeFact::Held { reason: $cause }
                    | NodeFact::ModelWaits { reason: $cause, .. }
                    | NodeFact::ModelDeferred { reason: $cause, .. }
                    | NodeFact::Skipped { reason: $cause, .. }
                    | NodeFact::Passed { reason: $cause }
                    | NodeFact::Cancelled { reason: $cause }
                    | NodeFact::Interrupted { reason: $cause, .. }
                    | NodeFact::Unknown { reason: $cause }
                    | NodeFact::BreakHit { reason: $cause, .. }
                    | NodeFact::EndKept { reason: $cause, .. },
                ..
            }
    };
}

impl Event {
    /// What each event is about and what holds for it: the one list of all events beside `evolve` and their messages.
    pub(super) fn traits(&self) -> (Topic<'_>, &'static [EventTrait]) {
        use EventTrait::*;
        match self {
            Self::RunCreated { .. } => (Topic::Run, &[ChangesNodes, Audited]),
            Self::RunStarted | Self::RunInterrupted { .. } | Self::RunReopened { .. } => (Topic::Run, &[]),
            Self::RunRecovered { .. } | Self::Branched { .. } => (Topic::Run, &[HasEffects, ChangesDriver, Audited]),
            Self::ModelChosen { .. } => (Topic::Run, &[Marked(SearchMark::Action), Printed, HasEffects, Audited]),
            Self::ReplanAsked { .. } => (Topic::Run, &[Marked(SearchMark::Action), Printed, HasEffects, Audited]),
            Self::ReplanFailed { .. } => (Topic::Run, &[Printed]),
            Self::RunCancelled { .. } => (Topic::Run, &[EndsRun, Audited]),
            Self::RunEnded { .. } => (Topic::Run, &[EndsRun]),
            Self::ApprovalRequired { gate } => {
                (Topic::Gate(gate.id), &[Marked(SearchMark::Gate), Printed, ChangesGates, ReadsOthers, Audited])
            }
            Self::GateDecided { gate, .. } => (Topic::Gate(*gate), &[Marked(SearchMark::Action), Durable, ChangesGates, Audited]),
            Self::GateVoided { gate, .. } => (Topic::Gate(*gate), &[ChangesGates, Audited]),
            Self::StageStarted { node_id } | Self::Checkpoint { node_id } | Self::StageFinished { node_id } => (Topic::Node(node_id), &[]),
            Self::LogLine { node_id, .. } => (Topic::Text(node_id), &[Reports]),
            Self::Acted { .. } => (Topic::Action, &[Marked(SearchMark::Action), Steers, HasEffects, Audited]),
            Self::Carried => (Topic::Action, &[Unlisted]),
            Self::Undone { .. } => (Topic::Action, &[Marked(SearchMark::Action), Steers, HasEffects, ChangesGates, ChangesNodes, Audited]),
            Self::Refused { .. } => (Topic::Action, &[Printed, Audited]),
            Self::Node { node_id, fact, .. } => fact.traits(node_id),
        }
    }

    pub fn topic(&self) -> Topic<'_> {
        self.traits().0
    }

    pub fn has(&self, wanted: EventTrait) -> bool {
        self.traits().1.contains(&wanted)
    }

    pub fn mark(&self) -> Option<SearchMark> {
        self.traits().1.iter().find_map(|held| if let EventTrait::Marked(mark) = held { Some(*mark) } else { None })
    }

    /// Whether it only adds words.
    pub fn is_text(&self) -> bool {
        matches!(self.topic(), Topic::Text(_))
    }

    /// The node that an event is about, if it is about one. Of a gate, only its opening says it.
    pub fn node(&self) -> Option<&NodeId> {
        if let Self::ApprovalRequired { gate } = self {
            return Some(&gate.node);
        }
        match self.topic() {
            Topic::Node(node) | Topic::Call(node) | Topic::Text(node) => Some(node),
            Topic::Gate(_) | Topic::Run | Topic::Action => None,
        }
    }

    /// Why it happened, where an event has that.
    pub(super) fn cause(&self) -> Option<&Cause> {
        if let Self::Node { fact: NodeFact::CallHeld { held, .. }, .. } = self {
            return Some(&held.reason);
        }
        if let caused!(cause) = self { Some(cause) } else { None }
    }

    pub(super) fn cause_mut(&mut self) -> Option<&mut Cause> {
        if let Self::Node { fact: NodeFact::CallHeld { held, .. }, .. } = self {
            return Some(&mut held.reason);
        }
        if let caused!(cause) = self { Some(cause) } else { None }
    }
}

fn is_false(is: &bool) -> bool {
    !is
}
