//! What validation tells: findings, and the changes that would settle them.

use super::codes::{Code, Severity};
use crate::plan::NodeId;
use crate::plan::edit::Edit;
use serde::{Deserialize, Serialize};

/// Something that is wrong with a plan, or may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub code: Code,
    pub severity: Severity,
    /// The node that it is about: its address, `outer/inner`, if it stands inside another. What is about a plan or an edge inside a node
    /// is about that node.
    pub node: Option<NodeId>,
    /// The edge that it is about: its position in `edges` of the plan that it stands in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge: Option<usize>,
    /// The place in the native form, such as `nodes[2].args.path`.
    pub path: String,
    /// For people, lower-case start.
    pub message: String,
    /// A change that would settle it.
    pub fix: Option<Fix>,
}

impl Finding {
    /// Whether no run may start with it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// A change that would settle a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fix {
    /// What it does, in words.
    pub title: String,
    pub kind: FixKind,
    pub edit: Edit,
}

/// How sure it is that a fix gives what was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixKind {
    /// What is written has one meaning, and the fix gives it.
    Safe,
    /// A near name, a removal, a cut: a person decides.
    Guess,
}

impl FixKind {
    /// In front of a fix's title.
    pub fn label(self) -> &'static str {
        match self {
            Self::Safe => "fix",
            Self::Guess => "guess",
        }
    }
}

impl Fix {
    pub fn new(kind: FixKind, title: impl Into<String>, edit: Edit) -> Self {
        Self { title: title.into(), kind, edit }
    }

    pub fn safe(title: impl Into<String>, edit: Edit) -> Self {
        Self::new(FixKind::Safe, title, edit)
    }

    pub fn guess(title: impl Into<String>, edit: Edit) -> Self {
        Self::new(FixKind::Guess, title, edit)
    }
}
