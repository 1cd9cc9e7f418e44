//! The fields of each dialect, told from fields that are only carried along, and how its documents are made: their lists, the ends of
//! their edges, other names of their fields, and their readers.

use super::aliases::{DEPENDS_ON, NATIVE_DOCUMENT, NATIVE_EDGE, NATIVE_NODE};
use super::reading::{AS_WRITTEN, FieldReading};
use super::spread::EndNames;
use super::{hybrid, orchestration, stages, tools, workflow};
use crate::plan::fields::{Slips, is_quiet};
use crate::plan::native::{self, EDGE_FIELDS, PLAN_FIELDS, ShapeError, is_node_field};
use crate::plan::{Dialect, Edge, Node, Plan};
use serde_json::{Map, Value, json};

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

type Names = &'static [(&'static str, &'static str)];

/// How the documents of a dialect are made.
pub(super) struct DocumentShape {
    pub dialect: Dialect,
    /// A native document of another dialect's plan: its fields are what they are called.
    pub is_literal: bool,
    /// The list of nodes.
    pub nodes: &'static str,
    /// The list of edges.
    pub edges: Option<&'static str>,
    pub ends: [&'static str; 2],
    /// The field with the ids that a node waits for.
    pub depends_on: Option<&'static str>,
    pub document_names: Names,
    node_names: &'static [&'static Slips],
    pub edge_names: Names,
    pub read_node: fn(Value, &str) -> Result<Node, ShapeError>,
    pub read_edge: fn(Value, &str) -> Result<Edge, ShapeError>,
}

const NATIVE: Slips = Slips { what: "a node", renamed: NATIVE_NODE, elsewhere: &[] };

pub(super) fn shape(dialect: Dialect) -> DocumentShape {
    let native = DocumentShape {
        dialect,
        is_literal: false,
        nodes: "nodes",
        edges: Some("edges"),
        ends: ["from", "to"],
        depends_on: Some("depends_on"),
        document_names: NATIVE_DOCUMENT,
        node_names: &[&NATIVE],
        edge_names: NATIVE_EDGE,
        read_node: native::node_from_value,
        read_edge: native::edge_from_value,
    };
    let document = |slips: &Slips| slips.renamed;
    match dialect {
        Dialect::Native => native,
        Dialect::Orchestration => DocumentShape {
            edges: None,
            document_names: document(&orchestration::DOCUMENT),
            node_names: &[&orchestration::NODE],
            read_node: orchestration::node,
            ..native
        },
        Dialect::Tools => DocumentShape {
            nodes: "dag",
            edges: None,
            depends_on: Some("dependencies"),
            document_names: document(&tools::DOCUMENT),
            node_names: &[&tools::TASK],
            read_node: tools::task,
            ..native
        },
        Dialect::Hybrid => DocumentShape {
            nodes: "tasks",
            edges: None,
            document_names: document(&hybrid::DOCUMENT),
            node_names: &[&hybrid::TASK, &hybrid::AGENT],
            read_node: hybrid::task,
            ..native
        },
        Dialect::Workflow => DocumentShape {
            edges: Some("connections"),
            ends: ["source_id", "target_id"],
            depends_on: None,
            document_names: document(&workflow::DOCUMENT),
            node_names: &[&workflow::NODE],
            edge_names: document(&workflow::CONNECTION),
            read_node: workflow::node,
            read_edge: workflow::connection,
            ..native
        },
        Dialect::Stages => DocumentShape {
            nodes: "stages",
            ends: ["from_stage_id", "to_stage_id"],
            depends_on: None,
            document_names: document(&stages::DOCUMENT),
            node_names: &[&stages::STAGE],
            edge_names: document(&stages::EDGE),
            read_node: stages::stage_alone,
            read_edge: stages::edge,
            ..native
        },
    }
}

impl DocumentShape {
    /// The shape of this document.
    pub fn of(document: &Map<String, Value>, dialect: Dialect) -> Self {
        let named = document.get("dialect").and_then(Value::as_str);
        let is_literal = dialect == Dialect::Native && named.is_some_and(|name| name != Dialect::Native.name());
        let bare = shape(dialect);
        if is_literal { Self { is_literal, document_names: &[], node_names: &[], edge_names: &[], ..bare } } else { bare }
    }

    /// The names of the ends of its edges.
    pub fn end_names(&self) -> EndNames {
        self.ends
            .map(|end| [end].into_iter().chain(self.edge_names.iter().filter(|(_, right)| *right == end).map(|(name, _)| *name)).collect())
    }

    /// The names of this node's fields, as an agent's differ from a tool's in hybrid plans.
    pub fn node_names(&self, node: &Map<String, Value>) -> Vec<(&'static str, &'static str)> {
        let is_tool = node.contains_key("tool") || node.contains_key("code");
        let sets = self.node_names.iter().take(if is_tool { 1 } else { 2 });
        let names = sets.flat_map(|slips| slips.renamed.iter().copied());
        let sources =
            self.depends_on.filter(|_| !self.is_literal).into_iter().flat_map(|field| DEPENDS_ON.iter().map(move |name| (*name, field)));
        names.chain(sources.filter(|(name, field)| name != field)).collect()
    }

    /// What stands in for a field that is missing, so that the rest can be read.
    pub fn stand_in(&self, field: &str) -> Value {
        match field {
            "body" | "plan" => json!({ "dagdeck": native::FORMAT, "nodes": [] }),
            "type" if self.dialect == Dialect::Stages => json!("AGENT"),
            "type" => json!(hybrid::AGENT_TYPE),
            _ => json!(""),
        }
    }

    /// What a node says without the field for it.
    pub fn implied(&self, node: &mut Map<String, Value>, notes: &mut Vec<FieldReading>) {
        if self.dialect != Dialect::Hybrid || node.get("type").is_some_and(|kind| !kind.is_null()) || node.contains_key("tool") {
            return;
        }
        let says = |name: &str| node.get(name).is_some_and(|value| !value.is_null());
        let kind = match (says("code"), says("agent_role") || says("agent_goal")) {
            (true, _) => hybrid::CODE_TYPE,
            (false, true) => hybrid::AGENT_TYPE,
            (false, false) => return,
        };
        node.insert("type".into(), json!(kind));
        let message = format!("has no `type`: read as `{kind}`");
        notes.push(FieldReading { field: "type".into(), read: Some(json!(kind)), name: "type".into(), message, ..FieldReading::default() });
    }
}
