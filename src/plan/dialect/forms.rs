//! The fields of each dialect, told from fields that are only carried along.

use super::fields::{Slips, is_quiet};
use super::{hybrid, orchestration, stages, tools, workflow};
use crate::plan::native::{EDGE_FIELDS, PLAN_FIELDS, is_node_field};
use crate::plan::{Dialect, Plan};
use serde_json::Value;

/// One kind of object in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::plan) enum Part {
    /// The document itself.
    Plan,
    /// A node, task or stage.
    Node,
    /// An edge or connection.
    Edge,
}

/// The names that mean something in a dialect, in this kind of object; of native nodes see `node_fields`.
pub(in crate::plan) fn fields(dialect: Dialect, part: Part) -> &'static [&'static str] {
    match (dialect, part) {
        (Dialect::Native, Part::Plan) => &PLAN_FIELDS,
        (Dialect::Native, Part::Edge) => &EDGE_FIELDS,
        (Dialect::Native, Part::Node) | (Dialect::Orchestration | Dialect::Tools | Dialect::Hybrid, Part::Edge) => &[],
        (Dialect::Orchestration, Part::Plan) => &["nodes", "metadata"],
        (Dialect::Orchestration, Part::Node) => &["id", "agent", "objective", "depends_on"],
        (Dialect::Tools, Part::Plan) => &["dag"],
        (Dialect::Tools, Part::Node) => &["id", "tool", "query", "dependencies"],
        (Dialect::Hybrid, Part::Plan) => &["tasks"],
        (Dialect::Hybrid, Part::Node) => &hybrid::FIELDS,
        (Dialect::Workflow, Part::Plan) => &["nodes", "connections"],
        (Dialect::Workflow, Part::Node) => &["id", "agent_name", "is_entry", "is_exit", "skip_condition"],
        (Dialect::Workflow, Part::Edge) => &["source_id", "target_id", "condition", "context_passed"],
        (Dialect::Stages, Part::Plan) => &["stages", "edges"],
        (Dialect::Stages, Part::Node) => &stages::FIELDS,
        (Dialect::Stages, Part::Edge) => &["from_stage_id", "to_stage_id", "condition", "edge_id", "edge_type"],
    }
}

/// Whether a name means something in a dialect, in this kind of object.
pub(in crate::plan) fn is_field(dialect: Dialect, part: Part, name: &str) -> bool {
    match (dialect, part) {
        (Dialect::Native, Part::Node) => is_node_field(name),
        _ => fields(dialect, part).contains(&name),
    }
}

/// Whether an unknown field is there only to be written back: it says nothing, or a reader keeps it to know how something was written.
pub(in crate::plan) fn is_kept(dialect: Dialect, part: Part, name: &str, value: &Value) -> bool {
    is_quiet(value) || is_memo(dialect, part, name)
}

/// Whether a field that is only carried along would be taken for something in a dialect: for one of its own, for a slip of one, or for
/// what tells another shape.
pub(super) fn is_taken(dialect: Dialect, part: Part, name: &str) -> bool {
    let slips: &[&Slips] = match (dialect, part) {
        (Dialect::Native, _) | (Dialect::Orchestration | Dialect::Tools | Dialect::Hybrid, Part::Edge) => &[],
        (Dialect::Orchestration, Part::Plan) => &[&orchestration::DOCUMENT],
        (Dialect::Orchestration, Part::Node) => &[&orchestration::NODE],
        (Dialect::Tools, Part::Plan) => &[&tools::DOCUMENT],
        (Dialect::Tools, Part::Node) => &[&tools::TASK],
        (Dialect::Hybrid, Part::Plan) => &[&hybrid::DOCUMENT],
        (Dialect::Hybrid, Part::Node) => &[&hybrid::TASK, &hybrid::AGENT],
        (Dialect::Workflow, Part::Plan) => &[&workflow::DOCUMENT],
        (Dialect::Workflow, Part::Node) => &[&workflow::NODE],
        (Dialect::Workflow, Part::Edge) => &[&workflow::CONNECTION],
        (Dialect::Stages, Part::Plan) => &[&stages::DOCUMENT],
        (Dialect::Stages, Part::Node) => &[&stages::STAGE],
        (Dialect::Stages, Part::Edge) => &[&stages::EDGE],
    };
    // An orchestration node with a field of dagdeck's own is a native one, and one with an `agent_name` makes a workflow.
    let native = dialect == Dialect::Orchestration && (is_field(Dialect::Native, part, name) || name == "agent_name");
    let shape = matches!(part, Part::Plan) && (SHAPES.contains(&name) || stages::GRAPHS.contains(&name));
    let slip = slips.iter().any(|slips| slips.renamed.iter().chain(slips.elsewhere).any(|(wrong, _)| *wrong == name));
    native || shape || slip || is_field(dialect, part, name)
}

/// The unknown field of a body that was read, where it stands, in the shape of its own dialect.
pub(in crate::plan) const OWN_SHAPE: &str = "own_shape";

/// Whether a body is written in the shape of its own dialect where it stands.
pub(in crate::plan) fn stands_in_own_shape(body: &Plan) -> bool {
    body.ext.get(OWN_SHAPE) == Some(&Value::Bool(true))
}

/// Fields that tell a shape.
const SHAPES: [&str; 6] = ["dagdeck", "nodes", "dag", "tasks", "connections", "stages"];

/// Whether a reader keeps this name only to write the document back as it was.
pub(super) fn is_memo(dialect: Dialect, part: Part, name: &str) -> bool {
    match (dialect, part) {
        (_, Part::Plan) if name == OWN_SHAPE => true,
        (Dialect::Stages, Part::Plan) => name == stages::LAYOUT,
        (Dialect::Stages, Part::Node) => stages::is_memo(name),
        (Dialect::Hybrid, Part::Node) => ["type", "sandbox_config"].contains(&name),
        _ => false,
    }
}
