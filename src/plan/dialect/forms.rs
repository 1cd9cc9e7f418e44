//! The fields of each dialect, told from fields that are only carried along.

use super::draft::Kind;
use crate::plan::Dialect;
use crate::plan::native::{EDGE_FIELDS, PLAN_FIELDS, is_node_field};

/// Whether a name means something in a dialect, in this kind of object.
pub(super) fn is_field(dialect: Dialect, kind: Kind, name: &str) -> bool {
    let fields: &[&str] = match (dialect, kind) {
        (Dialect::Native, Kind::Plan) => &PLAN_FIELDS,
        (Dialect::Native, Kind::Edge) => &EDGE_FIELDS,
        (Dialect::Native, Kind::Node) => return is_node_field(name),
        (Dialect::Orchestration, Kind::Plan) => &["nodes", "metadata"],
        (Dialect::Orchestration, Kind::Node) => &["id", "agent", "objective", "depends_on"],
        (Dialect::Tools, Kind::Plan) => &["dag"],
        (Dialect::Tools, Kind::Node) => &["id", "tool", "query", "dependencies"],
        (Dialect::Hybrid, Kind::Plan) => &["tasks"],
        (Dialect::Hybrid, Kind::Node) => &super::hybrid::FIELDS,
        (Dialect::Workflow, Kind::Plan) => &["nodes", "connections"],
        (Dialect::Workflow, Kind::Node) => &["id", "agent_name", "is_entry", "is_exit", "skip_condition"],
        (Dialect::Workflow, Kind::Edge) => &["source_id", "target_id", "condition", "context_passed"],
        (Dialect::Stages, Kind::Plan) => &["stages", "edges"],
        (Dialect::Stages, Kind::Node) => &super::stages::FIELDS,
        (Dialect::Stages, Kind::Edge) => &["from_stage_id", "to_stage_id", "condition", "edge_id", "edge_type"],
        (Dialect::Orchestration | Dialect::Tools | Dialect::Hybrid, Kind::Edge) => &[],
    };
    fields.contains(&name)
}

/// Whether a reader keeps this name only to write the document back as it was.
pub(super) fn is_memo(dialect: Dialect, kind: Kind, name: &str) -> bool {
    match (dialect, kind) {
        (Dialect::Stages, Kind::Plan) => name == super::stages::LAYOUT,
        (Dialect::Stages, Kind::Node) => super::stages::is_memo(name),
        (Dialect::Hybrid, Kind::Node) => ["type", "sandbox_config"].contains(&name),
        _ => false,
    }
}
