//! The names of each dialect's fields: those that it has, told from fields that are only carried along, and those that authors write
//! in their place.

use super::reading::AS_WRITTEN;
use super::stages::names as stage_names;
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
        (Dialect::Hybrid, DocumentPart::Node) => &HYBRID_FIELDS,
        (Dialect::Workflow, DocumentPart::Plan) => &["nodes", "connections"],
        (Dialect::Workflow, DocumentPart::Node) => &["id", "agent_name", "is_entry", "is_exit", "skip_condition"],
        (Dialect::Workflow, DocumentPart::Edge) => &["source_id", "target_id", "condition", "context_passed"],
        (Dialect::Stages, DocumentPart::Plan) => &["stages", "edges"],
        (Dialect::Stages, DocumentPart::Node) => &stage_names::FIELDS,
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
        (Dialect::Orchestration, DocumentPart::Plan) => &[&ORCHESTRATION_DOCUMENT],
        (Dialect::Orchestration, DocumentPart::Node) => &[&ORCHESTRATION_NODE],
        (Dialect::Tools, DocumentPart::Plan) => &[&TOOLS_DOCUMENT],
        (Dialect::Tools, DocumentPart::Node) => &[&TOOLS_TASK],
        (Dialect::Hybrid, DocumentPart::Plan) => &[&HYBRID_DOCUMENT],
        (Dialect::Hybrid, DocumentPart::Node) => &[&HYBRID_TASK, &HYBRID_AGENT],
        (Dialect::Workflow, DocumentPart::Plan) => &[&WORKFLOW_DOCUMENT],
        (Dialect::Workflow, DocumentPart::Node) => &[&WORKFLOW_NODE],
        (Dialect::Workflow, DocumentPart::Edge) => &[&CONNECTION],
        (Dialect::Stages, DocumentPart::Plan) => &[&stage_names::DOCUMENT],
        (Dialect::Stages, DocumentPart::Node) => &[&stage_names::STAGE],
        (Dialect::Stages, DocumentPart::Edge) => &[&stage_names::EDGE],
    };
    // An orchestration node with a field of dagdeck's own is a native one, and one with an `agent_name` makes a workflow.
    let native = dialect == Dialect::Orchestration && (is_field(Dialect::Native, part, name) || name == "agent_name");
    let shape = matches!(part, DocumentPart::Plan) && (SHAPES.contains(&name) || stage_names::GRAPHS.contains(&name));
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
        (Dialect::Stages, DocumentPart::Plan) => name == stage_names::LAYOUT,
        (Dialect::Stages, DocumentPart::Node) => stage_names::is_memo(name),
        (Dialect::Hybrid, DocumentPart::Node) => ["type", "sandbox_config"].contains(&name),
        _ => false,
    }
}

pub(super) const ORCHESTRATION_DOCUMENT: Slips =
    Slips { what: "an orchestration plan", renamed: &[], elsewhere: &[("connections", "write the order as each node's `depends_on`")] };
pub(super) const ORCHESTRATION_NODE: Slips = Slips {
    what: "an orchestration node",
    renamed: &[
        ("agent_name", "agent"),
        ("agent_id", "agent"),
        ("node_id", "id"),
        ("prompt", "objective"),
        ("instruction", "objective"),
        ("instructions", "objective"),
        ("task", "objective"),
    ],
    elsewhere: &[],
};

pub(super) const TOOLS_DOCUMENT: Slips = Slips {
    what: "a tools plan",
    renamed: &[],
    elsewhere: &[
        ("edges", "write the order as each task's `dependencies`"),
        ("connections", "write the order as each task's `dependencies`"),
    ],
};
pub(super) const TOOLS_TASK: Slips = Slips {
    what: "a tools task",
    renamed: &[("name", "id"), ("input", "query"), ("args", "query"), ("arguments", "query")],
    elsewhere: &[],
};

/// Fields of a task of any type.
pub(super) const HYBRID_FIELDS: [&str; 16] = [
    "id",
    "type",
    "tool",
    "arguments",
    "code",
    "sandbox_config",
    "agent_role",
    "agent_goal",
    "agent_model",
    "agent_tools",
    "agent_context",
    "max_iterations",
    "timeout",
    "budget",
    "depends_on",
    "side_effects",
];
pub(super) const HYBRID_DOCUMENT: Slips = Slips {
    what: "a hybrid plan",
    renamed: &[],
    elsewhere: &[("edges", "write the order as each task's `depends_on`"), ("connections", "write the order as each task's `depends_on`")],
};
pub(super) const HYBRID_TASK: Slips = Slips {
    what: "a hybrid task",
    renamed: &[("name", "id"), ("task_id", "id"), ("args", "arguments"), ("timeout_ms", "timeout")],
    elsewhere: &[("timeout_s", "write `timeout`, in milliseconds"), ("timeout_seconds", "write `timeout`, in milliseconds")],
};
pub(super) const HYBRID_AGENT: Slips = Slips {
    what: "an agent_delegation task",
    renamed: &[
        ("agent", "agent_role"),
        ("role", "agent_role"),
        ("goal", "agent_goal"),
        ("objective", "agent_goal"),
        ("prompt", "agent_goal"),
        ("instruction", "agent_goal"),
        ("instructions", "agent_goal"),
        ("task", "agent_goal"),
        ("model", "agent_model"),
        ("tools", "agent_tools"),
        ("context", "agent_context"),
    ],
    elsewhere: &[],
};
pub(super) const CODE_TYPE: &str = "code_execution";
pub(super) const AGENT_TYPE: &str = "agent_delegation";

pub(super) const WORKFLOW_DOCUMENT: Slips =
    Slips { what: "a workflow", renamed: &[("edges", "connections"), ("links", "connections")], elsewhere: &[] };
pub(super) const WORKFLOW_NODE: Slips = Slips {
    what: "a workflow node",
    renamed: &[
        ("agent", "agent_name"),
        ("agent_id", "agent_name"),
        ("entry", "is_entry"),
        ("entrypoint", "is_entry"),
        ("exit", "is_exit"),
        ("terminal", "is_exit"),
        ("skip_if", "skip_condition"),
        ("skip_when", "skip_condition"),
        ("node_id", "id"),
        ("prompt", "objective"),
        ("instruction", "objective"),
        ("instructions", "objective"),
        ("task", "objective"),
    ],
    elsewhere: &[
        ("depends_on", "write a connection with `source_id` and `target_id`"),
        ("dependencies", "write a connection with `source_id` and `target_id`"),
    ],
};
pub(super) const CONNECTION: Slips = Slips {
    what: "a connection",
    renamed: &[
        ("source", "source_id"),
        ("from", "source_id"),
        ("target", "target_id"),
        ("to", "target_id"),
        ("when", "condition"),
        ("context", "context_passed"),
    ],
    elsewhere: &[],
};
