//! How the documents of each dialect are made: their lists, the ends of their edges, other names of their fields, and their readers.

use super::aliases::work;
use super::exact::exact_json;
use super::field_names::DocumentPart;
use super::names::{NAMES, PartNames};
use super::reading::{FieldReading, read_as, replace};
use super::spread::EndNames;
use super::values::node_from_value;
use super::{field_names, hybrid, orchestration, stages, tools, workflow};
use crate::plan::native::{FORMAT, ShapeError, edge_from_value};
use crate::plan::shell::quoted;
use crate::plan::{Dialect, Edge, Node, SHELL_TOOL, value_text};
use serde_json::{Map, Value, json};

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
    node_names: Vec<&'static PartNames>,
    pub edge_names: Names,
    pub read_node: fn(Value, &str) -> Result<Node, ShapeError>,
    pub read_edge: fn(Value, &str) -> Result<Edge, ShapeError>,
}

pub(super) fn shape(dialect: Dialect) -> DocumentShape {
    let names = NAMES.form(dialect);
    let native = DocumentShape {
        dialect,
        is_literal: false,
        nodes: "nodes",
        edges: Some("edges"),
        ends: ["from", "to"],
        depends_on: Some("depends_on"),
        document_names: &names.document.renamed,
        node_names: vec![&names.node, &names.agent],
        edge_names: &names.edge.renamed,
        read_node: node_from_value,
        read_edge: edge_from_value,
    };
    match dialect {
        Dialect::Native => native,
        Dialect::Orchestration => DocumentShape { edges: None, read_node: orchestration::node, ..native },
        Dialect::Tools => DocumentShape { nodes: "dag", edges: None, depends_on: Some("dependencies"), read_node: tools::task, ..native },
        Dialect::Hybrid => DocumentShape { nodes: "tasks", edges: None, read_node: hybrid::task, ..native },
        Dialect::Workflow => DocumentShape {
            edges: Some("connections"),
            ends: ["source_id", "target_id"],
            depends_on: None,
            read_node: workflow::node,
            read_edge: workflow::connection,
            ..native
        },
        Dialect::Stages => DocumentShape {
            nodes: "stages",
            ends: ["from_stage_id", "to_stage_id"],
            depends_on: None,
            read_node: stages::stage_alone,
            read_edge: stages::edge,
            ..native
        },
    }
}

/// Whether a name stands for a field of a dialect, in this kind of object.
pub(in crate::plan) fn is_alias(dialect: Dialect, part: DocumentPart, name: &str) -> bool {
    let shape = shape(dialect);
    let names = match part {
        DocumentPart::Plan => shape.document_names,
        DocumentPart::Node if NAMES.node.depends_on.contains(&name) => return true,
        DocumentPart::Node => return shape.node_names.iter().any(|slips| slips.renamed.iter().any(|(alias, _)| *alias == name)),
        DocumentPart::Edge => shape.edge_names,
    };
    names.iter().any(|(alias, _)| *alias == name)
}

impl DocumentShape {
    /// The shape of this document.
    pub fn of(document: &Map<String, Value>, dialect: Dialect) -> Self {
        let named = document.get("dialect").and_then(Value::as_str);
        let is_literal = dialect == Dialect::Native && named.is_some_and(|name| name != Dialect::Native.name());
        let bare = shape(dialect);
        if is_literal { Self { is_literal, document_names: &[], node_names: Vec::new(), edge_names: &[], ..bare } } else { bare }
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
        let sources = self
            .depends_on
            .filter(|_| !self.is_literal)
            .into_iter()
            .flat_map(|field| NAMES.node.depends_on.iter().map(move |name| (*name, field)));
        let work = if self.dialect == Dialect::Native && !self.is_literal { work(node) } else { None };
        names.chain(work).chain(sources.filter(|(name, field)| name != field)).collect()
    }

    /// What stands in for a field that is missing, so that the rest can be read.
    pub fn stand_in(&self, field: &str) -> Value {
        match field {
            "body" | "plan" => json!({ "dagdeck": FORMAT, "nodes": [] }),
            "type" if self.dialect == Dialect::Stages => json!("AGENT"),
            "type" => json!(field_names::AGENT_TYPE),
            _ => json!(""),
        }
    }

    /// What a node says without the field for it.
    pub fn implied(&self, node: &mut Map<String, Value>, notes: &mut Vec<FieldReading>) {
        if self.dialect == Dialect::Native && !self.is_literal {
            called(node, notes);
            return command(node, notes);
        }
        if self.dialect != Dialect::Hybrid || node.get("type").is_some_and(|kind| !kind.is_null()) || node.contains_key("tool") {
            return;
        }
        let says = |name: &str| node.get(name).is_some_and(|value| !value.is_null());
        let kind = match (says("code"), says("agent_role") || says("agent_goal")) {
            (true, _) => field_names::CODE_TYPE,
            (false, true) => field_names::AGENT_TYPE,
            (false, false) => return,
        };
        node.insert("type".into(), json!(kind));
        let message = format!("has no `type`: read as `{kind}`");
        notes.push(FieldReading::of("type", json!(kind), message));
    }
}

/// A call as an object of its name and its arguments.
fn called(node: &mut Map<String, Value>, notes: &mut Vec<FieldReading>) {
    let Some(name) = ["tool", "function", "tool_call"].into_iter().find(|name| node.get(*name).is_some_and(Value::is_object)) else {
        return;
    };
    let Some(call) = node[name].as_object() else { return };
    let is_said = ["tool", "args"].iter().any(|field| *field != name && node.get(*field).is_some_and(|value| !value.is_null()));
    let (Some(Value::String(tool)), false) = (call.get("name"), is_said) else { return };
    let args = match call.iter().filter(|(field, _)| *field != "name").collect::<Vec<_>>()[..] {
        [] => None,
        [(field, Value::String(text))] if NAMES.node.args.contains(&field.as_str()) => exact_json(text).ok().filter(Value::is_object),
        [(field, args @ Value::Object(_))] if NAMES.node.args.contains(&field.as_str()) => Some(args.clone()),
        _ => return,
    };
    if args.is_none() && call.len() > 1 {
        return;
    }
    let tool = tool.clone();
    read_as(node, (name, "tool"), json!(tool), format!("`{name}` is read as a call of `{tool}`"), notes);
    if let Some(args) = args {
        node.insert("args".into(), args.clone());
        notes.push(FieldReading::of("args", args, String::new()));
    }
}

/// A line for the shell, where a node says nothing else: a call of the tool that runs it, which asks as any such call does. A list beside
/// it has the words that follow.
fn command(node: &mut Map<String, Value>, notes: &mut Vec<FieldReading>) {
    let kinds = ["agent", "role", "objective", "goal", "tool", "code", "decide", "merge", "value", "ask", "plan", "until", "over"];
    let Some(name) = NAMES.node.command.iter().copied().find(|name| node.get(*name).is_some_and(Value::is_string)) else { return };
    let words = match node.get("args") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(words)) if words.iter().all(|word| word.is_string() || word.is_number()) => {
            words.iter().map(value_text).collect()
        }
        Some(_) => return,
    };
    if kinds.iter().any(|field| node.get(*field).is_some_and(|value| !value.is_null())) {
        return;
    }
    let first = value_text(&node[name]);
    let Some(line) = words.iter().try_fold(first, |line, word| Some(format!("{line} {}", quoted("", word).ok()?))) else { return };
    let args = json!({ "command": line });
    if words.is_empty() {
        read_as(node, (name, "args"), args, format!("`{name}` is read as a call of `run_command`"), notes);
        node.insert("tool".into(), json!(SHELL_TOOL));
        notes.push(FieldReading::of("tool", json!(SHELL_TOOL), String::new()));
    } else {
        let message = format!("`{name}` and `args` are read as a call of `run_command` with the line `{line}`");
        read_as(node, (name, "tool"), json!(SHELL_TOOL), message, notes);
        replace(node, "args", args, String::new(), false, notes);
    }
}
