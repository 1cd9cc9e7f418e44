//! Workflow plans: `{nodes: [{id, agent_name, is_entry, is_exit, skip_condition}], connections: [{source_id, target_id, condition,
//! context_passed}]}`. One token walks; the first connection whose condition holds is taken.

use super::draft::Loss;
use super::draft::{DocumentDraft, place, rename};
use super::names::NAMES;
use super::parts::{self, nodes};
use crate::plan::fields::Fields;
use crate::plan::fields::ShapeError;
use crate::plan::{AgentNode, Dialect, Edge, Node, NodeKind, Plan, Policy};
use serde_json::{Map, Value, json};

pub(super) fn read(value: Value) -> Result<Plan, ShapeError> {
    let mut fields = Fields::open(value, "", &NAMES.form(Dialect::Workflow).document)?;
    let nodes = nodes(&mut fields, "nodes", node)?;
    let edges = parts::edges(&mut fields, "connections", connection)?;
    Ok(parts::plan(Dialect::Workflow, nodes, edges, fields))
}

pub(super) fn node(value: Value, path: &str) -> Result<Node, ShapeError> {
    let mut fields = Fields::open(value, path, &NAMES.form(Dialect::Workflow).node)?;
    let id = fields.need_text("id")?;
    let work =
        AgentNode { agent: Some(fields.need_text("agent_name")?), objective: fields.some_text("objective")?, ..AgentNode::default() };
    let entry = fields.flag("is_entry")?;
    let exit = fields.flag("is_exit")?;
    let policy = Policy { skip_if: fields.some_text("skip_condition")?, ..Policy::default() };
    Ok(Node { entry, exit, policy, ext: fields.rest(), ..Node::new(id.as_str(), NodeKind::Agent(work)) })
}

pub(super) fn connection(value: Value, path: &str) -> Result<Edge, ShapeError> {
    let mut fields = Fields::open(value, path, &NAMES.form(Dialect::Workflow).edge)?;
    let from = fields.need_text("source_id")?;
    let to = fields.need_text("target_id")?;
    let when = fields.some_text("condition")?;
    let context = fields.texts("context_passed")?;
    let id = fields.some_text("id")?;
    let label = fields.some_text("label")?;
    Ok(Edge { when, context, id, label, ext: fields.rest(), ..Edge::new(from.as_str(), to.as_str()) })
}

pub(super) fn write(plan: &Plan) -> (Value, Vec<Loss>) {
    let mut draft = DocumentDraft::new(plan, Dialect::Workflow);
    let mut document = Map::new();
    document.insert("nodes".into(), Value::Null);
    document.insert("connections".into(), Value::Null);
    draft.head(&mut document, &[]);
    let edges = draft.edges();
    let (entries, exits) = draft.walk(&edges);
    draft.put_nodes(&mut document, "nodes", |draft, (at, node), fields, written| {
        written.insert("agent_name".into(), draft.agent_name(&place(at), node, fields));
        if draft.is_same() {
            rename(fields, "objective", written, "objective");
        }
        fields.shift_remove("entry");
        fields.shift_remove("exit");
        for (key, marked) in [("is_entry", &entries), ("is_exit", &exits)] {
            if marked.contains(&at) {
                written.insert(key.into(), json!(true));
            }
        }
        rename(fields, "skip_if", written, "skip_condition");
    });
    let names = [("when", "condition"), ("context", "context_passed"), ("id", "id"), ("label", "label")];
    let names = if draft.is_same() { &names[..] } else { &names[..2] };
    let connections = draft.put_edges(&edges, ["source_id", "target_id"], names);
    // A workflow of one node may do without the list, or with nothing in its place.
    let connections =
        if draft.is_same() && connections.is_empty() { plan.ext.get("connections").cloned() } else { Some(Value::Array(connections)) };
    match connections {
        Some(connections) => document.insert("connections".into(), connections),
        None => document.shift_remove("connections"),
    };
    (Value::Object(document), draft.finish())
}
