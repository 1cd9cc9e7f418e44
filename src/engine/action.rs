//! `Action`: what people ask of a run beside answering its gates, as plain data. One action is one event, with who and why.

use super::{Mark, NodeError};
use crate::plan::{Breakpoint, NodeId, dialect::exact_json, edit::Edit, value_text};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What an action is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "on", content = "node")]
pub enum ActionTarget {
    Node(NodeId),
    /// A node and what only it feeds.
    Branch(NodeId),
    Run,
}

/// How far a rerun reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RerunReach {
    /// The node alone: its edges stay as they are, and its consumers are marked stale.
    Alone,
    /// The node and everything that can be reached from it.
    Downstream,
}

/// Names a breakpoint within its run; counts up from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BreakId(pub u32);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verb")]
pub enum Action {
    /// End it without a result.
    Cancel { target: ActionTarget },
    /// Wrap up. An agent at work gets one last turn without tools, at its next model call, and its result is marked `stopped`; tool calls
    /// and questions that wait for a person are refused. Of a plan inside a node nothing more begins. Tools and code hand nothing back:
    /// alone they can't be stopped, in a branch or a run they finish. What has not started in a branch or a run is cancelled.
    Stop { target: ActionTarget },
    /// Don't start until released. Of a node with a plan inside that is at work nothing more inside starts, in bodies that begin later
    /// neither.
    Hold { target: ActionTarget },
    /// End a hold, or go on from a breakpoint; with all that runs inside.
    Release { target: ActionTarget },
    /// Try again a node that ended badly, or now one that waits for its next attempt.
    Retry { node: NodeId },
    /// Run again a node that is over.
    Rerun { node: NodeId, scope: RerunReach },
    /// Never run it.
    Skip { node: NodeId },
    /// Take this as its result; null marks it done.
    Override { node: NodeId, value: Value },
    /// Change the plan. Nodes that are over and changed run again, with what depends on them.
    Edit { edits: Vec<Edit> },
    /// Text for an agent's next turn, or for the node when it starts.
    Guide { node: NodeId, text: String },
    /// Reject a result with feedback to a node upstream, or to the node itself: that one and what depends on it run again.
    Rewind { node: NodeId, to: NodeId, feedback: String },
    /// Start no more nodes.
    Pause,
    /// Go on, also from breakpoints.
    Resume,
    /// Let one node go, the next one where none is named, and pause.
    Step { node: Option<NodeId> },
    /// Run what the node needs, and pause before it.
    RunTo { node: NodeId },
    /// Stop before each model call and each tool call of a node, from its start or from now on. `Step` lets one call go, `Release` and
    /// `Resume` end it. Of a run that is paused the node starts.
    StepInto { node: NodeId },
    /// Halt here from now on.
    Break { point: Breakpoint },
    /// Halt there no more.
    Unbreak { point: BreakId },
    /// A breakpoint becomes another one, under its number.
    Rebreak { point: BreakId, with: Breakpoint },
}

/// What a breakpoint keeps from happening.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kept")]
pub enum HeldAt {
    /// The start of the node.
    Start,
    /// The use of its result.
    Result { result: Value, mark: Option<Mark> },
    Failure {
        error: NodeError,
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "super::report::present")]
        result: Option<Value>,
    },
}

impl HeldAt {
    /// What is kept, on one line; nothing where it is only a start.
    pub fn label(&self) -> Option<String> {
        match self {
            Self::Start => None,
            Self::Result { result, .. } => Some(format!("its result is {}", value_text(result))),
            Self::Failure { error, .. } => Some(format!("it failed: {}", error.message)),
        }
    }
}

/// A change of the plan, as an action.
fn edit_label(edit: &Edit) -> String {
    match edit {
        Edit::RemoveNode { id } => format!("delete `{id}`"),
        Edit::AddNode { node, .. } => format!("add `{}`", node.id),
        Edit::RenameNode { from, to } => format!("rename `{from}` to `{to}`"),
        Edit::ReplaceNode { node } => format!("change `{}`", node.id),
        Edit::SetKind { id, .. } => format!("change what `{id}` does"),
        Edit::SetPolicy { id, .. } => format!("change how `{id}` is run"),
        Edit::MoveNode { id, .. } => format!("move `{id}`"),
        Edit::DuplicateNode { id, copy } => format!("copy `{id}` as `{copy}`"),
        Edit::AddDependency { node, on } => format!("make `{node}` depend on `{on}`"),
        Edit::RemoveDependency { node, on } => format!("make `{node}` no longer depend on `{on}`"),
        Edit::AddEdge { edge, .. } | Edit::ReplaceEdge { edge, .. } => format!("change the edge from `{}` to `{}`", edge.from, edge.to),
        Edit::SetGoal { .. } => "change the goal".to_string(),
        Edit::SetInputs { .. } => "change the inputs".to_string(),
        Edit::SetBudget { .. } => "change the budget".to_string(),
        Edit::SetDefaults { .. } => "change the defaults".to_string(),
        Edit::Within { node, edit } => format!("{} in `{node}`", edit_label(edit)),
        Edit::Batch { edits } => edits_label(edits),
        Edit::RemoveEdge { .. } | Edit::SetHead { .. } | Edit::SpliceNodes { .. } | Edit::SpliceEdges { .. } => "edit the plan".to_string(),
    }
}

fn edits_label(edits: &[Edit]) -> String {
    match edits {
        [edit] => edit_label(edit),
        _ => format!("edit the plan in {} places", edits.len()),
    }
}

/// A value as a person writes it.
#[derive(Clone, Debug, PartialEq)]
pub enum WrittenValue {
    Json(Value),
    /// It is no JSON, and is taken as it is.
    Text(String),
}

/// What a person wrote begins as JSON does and is none; says where the mistake is.
#[derive(Debug, thiserror::Error)]
#[error("not valid JSON: {0}")]
pub struct WrittenValueError(serde_json::Error);

impl WrittenValue {
    /// Reads a value. What begins as JSON does is meant as JSON, and a mistake in it is not taken for text. A number that would be written
    /// otherwise, such as `1.10`, is taken as it is.
    ///
    /// # Errors
    /// Where the mistake is.
    pub fn read(text: &str) -> Result<Self, WrittenValueError> {
        match exact_json(text) {
            Ok(Value::Number(number)) if number.to_string() != text.trim() => Ok(Self::Text(text.to_owned())),
            Ok(value) => Ok(Self::Json(value)),
            Err(error) if text.trim_start().starts_with(['{', '[', '"']) => Err(WrittenValueError(error)),
            Err(_) => Ok(Self::Text(text.to_owned())),
        }
    }

    pub fn value(self) -> Value {
        match self {
            Self::Json(value) => value,
            Self::Text(text) => Value::String(text),
        }
    }
}

impl ActionTarget {
    /// The node that it names.
    pub fn node(&self) -> Option<&NodeId> {
        match self {
            Self::Node(node) | Self::Branch(node) => Some(node),
            Self::Run => None,
        }
    }

    pub fn label(&self) -> String {
        match self {
            Self::Node(node) => format!("`{node}`"),
            Self::Branch(node) => format!("the branch at `{node}`"),
            Self::Run => "the run".to_string(),
        }
    }
}

impl Action {
    /// The node that it is about, if it is about one.
    pub fn node(&self) -> Option<&NodeId> {
        match self {
            Self::Cancel { target } | Self::Stop { target } | Self::Hold { target } | Self::Release { target } => target.node(),
            Self::Retry { node }
            | Self::Rerun { node, .. }
            | Self::Skip { node }
            | Self::Override { node, .. }
            | Self::Guide { node, .. }
            | Self::Rewind { node, .. }
            | Self::RunTo { node }
            | Self::StepInto { node } => Some(node),
            Self::Step { node } => node.as_ref(),
            Self::Edit { .. } | Self::Pause | Self::Resume | Self::Break { .. } | Self::Unbreak { .. } | Self::Rebreak { .. } => None,
        }
    }

    /// What a person wrote for a node with it.
    pub fn text(&self) -> Option<&str> {
        if let Self::Guide { text, .. } | Self::Rewind { feedback: text, .. } = self { Some(text) } else { None }
    }

    /// Label, as in `somebody tried to …`.
    pub fn label(&self) -> String {
        match self {
            Self::Cancel { target } => format!("cancel {}", target.label()),
            Self::Stop { target } => format!("stop {}", target.label()),
            Self::Hold { target } => format!("hold {}", target.label()),
            Self::Release { target } => format!("release {}", target.label()),
            Self::Retry { node } => format!("retry `{node}`"),
            Self::Rerun { node, scope: RerunReach::Alone } => format!("rerun `{node}` alone"),
            Self::Rerun { node, scope: RerunReach::Downstream } => format!("rerun `{node}` with what depends on it"),
            Self::Skip { node } => format!("skip `{node}`"),
            Self::Override { node, value: Value::Null } => format!("mark `{node}` done"),
            Self::Override { node, .. } => format!("override the result of `{node}`"),
            Self::Edit { edits } => edits_label(edits),
            Self::Guide { node, .. } => format!("guide `{node}`"),
            Self::Rewind { node, to, .. } if node == to => format!("have `{node}` make its result again"),
            Self::Rewind { node, to, .. } => format!("rewind `{node}` to `{to}`"),
            Self::Pause => "pause the run".to_string(),
            Self::Resume => "resume the run".to_string(),
            Self::Step { node: None } => "step".to_string(),
            Self::Step { node: Some(node) } => format!("step `{node}`"),
            Self::RunTo { node } => format!("run to `{node}`"),
            Self::StepInto { node } => format!("step into `{node}`"),
            Self::Break { point } => format!("add a breakpoint {}", point.label()),
            Self::Unbreak { point } => format!("remove breakpoint {}", point.0),
            Self::Rebreak { point, with } if with.disabled => format!("disable breakpoint {}", point.0),
            Self::Rebreak { point, with } => format!("set breakpoint {} to halt {}", point.0, with.label()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_person_writes_keeps_its_digits() {
        let value = |text: &str| WrittenValue::read(text).unwrap().value();
        assert_eq!([value("3"), value("0.5"), value("true"), value("[1.10]")], [json!(3), json!(0.5), json!(true), json!([1.1])]);
        for text in ["1.10", "007", "12345678901234567890123", "1e3", "two"] {
            assert_eq!(value(text), json!(text));
        }
    }
}
