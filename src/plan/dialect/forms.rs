//! The fields of each dialect, told from fields that are only carried along.

use super::reading::AS_WRITTEN;
use super::{hybrid, orchestration, stages, tools, workflow};
use crate::plan::fields::{Slips, is_quiet};
use crate::plan::native::{EDGE_FIELDS, PLAN_FIELDS, is_node_field};
use crate::plan::{Dialect, Plan};
use serde_json::Value;

/// One kind of object in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::plan) enum DocumentPart {
    Plan,
    /// A node, task or stage.
    Node,
    /// An edge or connection.
    Edge,
}

/// The names that mean something in a dialect, in this kind of object; of native nodes see `node_fields`.
pub(in crate::plan) fn fields(dialect: Dialect, part: DocumentPart) -> &'static [&'static str] {
    match (dialect, part) {
        (Dialect::Native, DocumentPart::Plan) => &PLAN_FIELDS,
        (Dialect::Native, DocumentPart::Edge) => &EDGE_FIELDS,
        (Dialect::Native, DocumentPart::Node) | (Dialect::Orchestration | Dialect::Tools | Dialect::Hybrid, DocumentPart::Edge) => &[],
        (Dialect::Orchestration, DocumentPart::Plan) => &["nodes", "metadata"],
        (Dialect::Orchestration, DocumentPart::Node) => &["id", "agent", "objective", "depends_on"],
        (Dialect::Tools, DocumentPart::Plan) => &["dag"],
        (Dialect::Tools, DocumentPart::Node) => &["id", "tool", "query", "dependencies"],
        (Dialect::Hybrid, DocumentPart::Plan) => &["tasks"],
        (Dialect::Hybrid, DocumentPart::Node) => &hybrid::FIELDS,
        (Dialect::Workflow, DocumentPart::Plan) => &["nodes", "connections"],
        (Dialect::Workflow, DocumentPart::Node) => &["id", "agent_name", "is_entry", "is_exit", "skip_condition"],
        (Dialect::Workflow, DocumentPart::Edge) => &["source_id", "target_id", "condition", "context_passed"],
        (Dialect::Stages, DocumentPart::Plan) => &["stages", "edges"],
        (Dialect::Stages, DocumentPart::Node) => &stages::FIELDS,
        (Dialect::Stages, DocumentPart::Edge) => &["from_stage_id", "to_stage_id", "condition", "edge_id", "edge_type"],
    }
}

/// Whether a name means something in a dialect, in this kind of object.
pub(in crate::plan) fn is_field(dialect: Dialect, part: DocumentPart, name: &str) -> bool {
    match (dialect, part) {
        (Dialect::Native, DocumentPart::Node) => is_node_field(name),
        _ => fields(dialect, part).contains(&name),
    }
}

/// Whether an unknown field is there only to be written back: it says nothing, or a reader keeps it to know how something was written.
pub(in crate::plan) fn is_kept(dialect: Dialect, part: DocumentPart, name: &str, value: &Value) -> bool {
    is_quiet(value) || is_memo(dialect, part, name)
}

/// Whether a field that is only carried along would be taken for something in a dialect: for one of its own, for a slip of one, or for
/// what tells another shape.
pub(super) fn is_taken(dialect: Dialect, part: DocumentPart, name: &str) -> bool {
    let slips: &[&Slips] = match (dialect, part) {
        (Dialect::Native, _) | (Dialect::Orchestration | Dialect::Tools | Dialect::Hybrid, DocumentPart::Edge) => &[],
        (Dialect::Orchestration, DocumentPart::Plan) => &[&orchestration::DOCUMENT],
        (Dialect::Orchestration, DocumentPart::Node) => &[&orchestration::NODE],
        (Dialect::Tools, DocumentPart::Plan) => &[&tools::DOCUMENT],
        (Dialect::Tools, DocumentPart::Node) => &[&tools::TASK],
        (Dialect::Hybrid, DocumentPart::Plan) => &[&hybrid::DOCUMENT],
        (Dialect::Hybrid, DocumentPart::Node) => &[&hybrid::TASK, &hybrid::AGENT],
        (Dialect::Workflow, DocumentPart::Plan) => &[&workflow::DOCUMENT],
        (Dialect::Workflow, DocumentPart::Node) => &[&workflow::NODE],
        (Dialect::Workflow, DocumentPart::Edge) => &[&workflow::CONNECTION],
        (Dialect::Stages, DocumentPart::Plan) => &[&stages::DOCUMENT],
        (Dialect::Stages, DocumentPart::Node) => &[&stages::STAGE],
        (Dialect::Stages, DocumentPart::Edge) => &[&stages::EDGE],
    };
    // An orchestration node with a field of dagdeck's own is a native one, and one with an `agent_name` makes a workflow.
    let native = dialect == Dialect::Orchestration && (is_field(Dialect::Native, part, name) || name == "agent_name");
    let shape = matches!(part, DocumentPart::Plan) && (SHAPES.contains(&name) || stages::GRAPHS.contains(&name));
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
pub(super) fn is_memo(dialect: Dialect, part: DocumentPart, name: &str) -> bool {
    match (dialect, part) {
        (_, DocumentPart::Plan) if name == OWN_SHAPE => true,
        _ if name == AS_WRITTEN => true,
        (Dialect::Stages, DocumentPart::Plan) => name == stages::LAYOUT,
        (Dialect::Stages, DocumentPart::Node) => stages::is_memo(name),
        (Dialect::Hybrid, DocumentPart::Node) => ["type", "sandbox_config"].contains(&name),
        _ => false,
    }
}
