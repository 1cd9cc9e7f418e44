//! The names of each dialect's fields: those that it has, apart from fields that are only carried along.

use super::names::{NAMES, PartNames};
use super::stages::names as stage_names;
use crate::plan::fields::AS_WRITTEN;
use crate::plan::fields::is_quiet;
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
        _ => &part_names(dialect, part).fields,
    }
}

fn part_names(dialect: Dialect, part: DocumentPart) -> &'static PartNames {
    let form = NAMES.form(dialect);
    match part {
        DocumentPart::Plan => &form.document,
        DocumentPart::Node => &form.node,
        DocumentPart::Edge => &form.edge,
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
    // An orchestration node with a field of dagdeck's own is a native one, and one with an `agent_name` makes a workflow.
    let native = dialect == Dialect::Orchestration && (is_field(Dialect::Native, part, name) || name == "agent_name");
    let shape = matches!(part, DocumentPart::Plan) && (NAMES.unknown.shapes.contains(&name) || NAMES.stage.graphs.contains(&name));
    let is_slip = |names: &PartNames| names.renamed.iter().chain(&names.elsewhere).any(|(wrong, _)| *wrong == name);
    let is_agents = part == DocumentPart::Node && is_slip(&NAMES.form(dialect).agent);
    let slip = dialect != Dialect::Native && (is_agents || is_slip(part_names(dialect, part)));
    native || shape || slip || is_field(dialect, part, name)
}

/// The unknown field of a body that was read, where it stands, in the shape of its own dialect.
pub(in crate::plan) const OWN_SHAPE: &str = "own_shape";

/// Whether a body is written in the shape of its own dialect where it stands.
pub(in crate::plan) fn stands_in_own_shape(body: &Plan) -> bool {
    body.ext.get(OWN_SHAPE) == Some(&Value::Bool(true))
}

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

pub(super) const CODE_TYPE: &str = "code_execution";
pub(super) const AGENT_TYPE: &str = "agent_delegation";
