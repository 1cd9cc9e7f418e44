//! Findings until the plan room has them.

use crate::plan::{Catalog, NodeId, Plan, edit::Edit};

/// How bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Does not stop a run.
    Warning,
    /// Stops a run.
    Error,
}

/// A finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Stable.
    pub code: &'static str,
    /// How bad.
    pub severity: Severity,
    /// Where.
    pub node: Option<NodeId>,
    /// Words.
    pub message: String,
    /// A way out.
    pub fix: Option<Fix>,
}

/// A fix.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// Words.
    pub title: String,
    /// The change.
    pub edit: Edit,
}

/// None yet.
pub fn validate(_: &Plan, _: &Catalog) -> Vec<Finding> {
    Vec::new()
}
