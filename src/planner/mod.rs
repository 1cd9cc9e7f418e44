//! From a request to a plan: by model, or built in.

pub mod builtin;
pub mod model;

use crate::engine::ModelCall;
use crate::plan::{Node, Plan};

/// Where a planner's progress goes.
pub trait PlanSink: Send {
    /// A status line for people.
    fn progress(&mut self, text: &str);

    /// A node was generated, or generated again (same id).
    fn node(&mut self, node: Node);
}

/// What a planner made. It may have findings; the editor shows them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Planned {
    pub plan: Plan,
    /// Who made it, for people.
    pub origin: String,
    /// Remarks for people (edges that were added, rounds of repair).
    pub remarks: Vec<String>,
    /// What its model calls took, also those whose answer was no use.
    pub calls: Vec<ModelCall>,
    /// Whether it is the plan that was there, changed.
    pub changes: bool,
    /// How its model names nodes without faults, where that was not known before.
    pub learned: Option<model::Ids>,
    /// What keeps the plan from running, as its model heard it.
    pub faults: Vec<String>,
}
