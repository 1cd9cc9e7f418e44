//! `Cause`: why a node, a gate or a run is as it is, as data that names nodes, people and numbers. `describe` has the sentences. On the
//! wire an event has the sentence as `reason`, and the data beside it as `cause`; a sentence of an older journal stays as it was stored.

use super::{BreakId, BudgetScope, Mark, NodeState, Time, usage::is_zero};
use crate::plan::NodeId;
use serde::{Deserialize, Serialize};

/// Why something is as it is. Match without a wildcard arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Cause {
    /// The state says it all.
    #[default]
    None,
    /// A final node was rehearsed.
    Rehearsed,
    /// A sentence that was written elsewhere: of an older journal, a plan's finding, a gate, an error.
    Text { text: String },
    /// Another node has its lock.
    Lock { lock: String, holder: NodeId },
    /// A worker has its answers and no slot.
    NoSlot,
    /// A model call waits for a free place at its provider.
    ModelSlot { provider: String },
    /// A model call waits until its provider takes calls again.
    ModelRate { provider: String, until: Time },
    /// A model call waits for its next try, as the last one failed.
    NextTry { until: Time, failed: String },
    /// A model call waits until others have given back what they don't take of this budget.
    BudgetReserved { scope: BudgetScope },
    /// What its gate asked about fits into its budget by now.
    BudgetRaised,
    /// A model call was sent, and its answer has not begun.
    FirstWords,
    /// A person holds it.
    Held { by: String },
    /// A person holds what is inside.
    HeldInside { by: String },
    /// It met one: the plan's own where none is named. Its label says when and where it holds; one whose condition
    /// has no value halts too.
    Breakpoint { point: Option<BreakId>, label: String, unjudged: Option<String> },
    /// A person goes from call to call.
    SteppingThrough { node: NodeId },
    /// A model or tool call is held, for this cause.
    AboutToCall { call: String, cause: Box<Cause> },
    /// Its guard says no.
    Condition { when: String },
    /// Its result is not wanted.
    SkipIf { condition: String },
    /// One token walks the plan.
    Walk { entry: NodeId },
    /// A source took other edges.
    OtherWay {
        node: NodeId,
        /// Labels and conditions of those that it took, else the nodes that they lead to; in earlier journals nothing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        took: Vec<String>,
        /// What the edge to this node has as label or condition.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        needs: Option<String>,
        /// Whether it was rehearsed, so that nobody knows what it really takes.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        rehearsed: bool,
    },
    /// A source ended in this state.
    Source {
        node: NodeId,
        #[serde(flatten)]
        state: NodeState,
    },
    /// The edge from this node is dead.
    DeadEdge { node: NodeId },
    /// By a person, in their own text if there is any.
    Skipped {
        by: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// By a person, in their own text if there is any.
    Cancelled {
        by: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// With the run, by a person.
    RunCancelled {
        by: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// What had not started when somebody stopped it.
    Stopped { by: String },
    /// A node at work wraps up.
    Stopping { by: String },
    /// It was at work, and ended unasked.
    WorkerStopped,
    /// By a person at its gate; by nobody in earlier journals.
    Rejected {
        message: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        by: String,
    },
    /// It is inside a node that ended.
    PartOf { node: NodeId },
    /// It was cancelled with the branch at this node.
    Branch { node: NodeId },
    /// Its process is gone.
    DriverEnded,
    /// It was at work in the run that this one left.
    BranchedOff,
    /// After this, nobody knows whether an effect happened.
    Doubt { after: Box<Cause> },
    /// Nobody answered what happened.
    Unanswered,
    /// The node's gate is no longer needed.
    HasResult,
    /// Its node has nothing more to ask.
    HasFailed,
    /// Nobody waits for the answer.
    AttemptOver,
    /// It asks nobody any more.
    NodeStopping,
    /// A person asked for it to run again.
    RunsAgain { action: String },
    /// A person gave its result.
    Overridden,
    /// What was asked about is another thing now.
    Edited,
    /// A node upstream is to do better.
    Feedback { node: NodeId, to: NodeId },
    /// What asked for it was taken back.
    Undone,
    /// A source has run again since.
    Outdated { node: NodeId },
    /// Everything that was due is done.
    Done,
    /// A person had the run wrap up.
    RunStopped { by: String },
    /// A node's work was cut short, by a person where nothing else is said, and its result is what it had by then; so were `more` others.
    EndedEarly {
        node: NodeId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mark: Option<Mark>,
        #[serde(default, skip_serializing_if = "is_zero")]
        more: u64,
    },
    /// Every final node was routed away.
    NothingDue,
    /// So many nodes failed or were cancelled.
    Bad {
        nodes: u32,
        /// The first of them; of none in earlier journals.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        named: Vec<NodeId>,
        /// How each of these ended; nothing in earlier journals.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ends: Vec<BadEnd>,
    },
    /// A person skipped what was due.
    Forgone,
    /// A walk stopped at a stage that is not terminal.
    WalkStopped { node: NodeId },
    /// The node needs a branch that was not taken.
    Unmet { node: NodeId },
    /// No end of the plan was reached.
    NoEnd { why: Box<Cause> },
}

/// How a node ended that kept its plan from ending well.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BadEnd {
    /// It has no result, only an error.
    Failed,
    /// Those behind it got its error.
    FailedSafe,
    /// Somebody or something ended it.
    Cancelled,
    /// A person said no; who, where that is known.
    Rejected { by: String },
    /// It has a result, and something inside it went wrong.
    InPart,
}

impl Cause {
    /// Whether a node at work waits for its model.
    pub(in crate::engine) fn is_model_wait(&self) -> bool {
        matches!(
            self,
            Self::ModelSlot { .. } | Self::ModelRate { .. } | Self::NextTry { .. } | Self::FirstWords | Self::BudgetReserved { .. }
        )
    }
}

impl From<String> for Cause {
    fn from(text: String) -> Self {
        if text.is_empty() { Self::None } else { Self::Text { text } }
    }
}

impl From<&str> for Cause {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// A cause as its sentence, for fields that are named `reason` on the wire.
pub(super) mod sentence {
    use super::Cause;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(cause: &Cause, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&cause.message())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Cause, D::Error> {
        String::deserialize(from).map(Cause::from)
    }
}
