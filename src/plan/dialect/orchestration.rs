//! Orchestration plans: `{nodes: [{id, agent, objective, depends_on}], metadata}`.

use super::draft::Loss;
use super::draft::{DocumentDraft, place};
use super::names::NAMES;
use super::parts::nodes;
use crate::plan::fields::Fields;
use crate::plan::fields::ShapeError;
use crate::plan::{AgentNode, Dialect, Node, NodeKind, Plan};
use serde_json::{Value, json};

pub(super) fn read(value: Value) -> Result<Plan, ShapeError> {
    let mut fields = Fields::open(value, "", &NAMES.form(Dialect::Orchestration).document)?;
    let nodes = nodes(&mut fields, "nodes", node)?;
    let metadata = fields.object_if_any("metadata");
    Ok(Plan { dialect: Dialect::Orchestration, nodes, metadata, ext: fields.rest(), ..Plan::default() })
}

pub(super) fn node(value: Value, path: &str) -> Result<Node, ShapeError> {
    let mut fields = Fields::open(value, path, &NAMES.form(Dialect::Orchestration).node)?;
    let id = fields.need_text("id")?;
    let work =
        AgentNode { agent: Some(fields.need_text("agent")?), objective: Some(fields.need_text("objective")?), ..AgentNode::default() };
    let depends_on = fields.ids("depends_on")?;
    Ok(Node { depends_on, ext: fields.rest(), ..Node::new(id.as_str(), NodeKind::Agent(work)) })
}

pub(super) fn write(plan: &Plan) -> (Value, Vec<Loss>) {
    DocumentDraft::new(plan, Dialect::Orchestration).whole("nodes", &["metadata"], |draft, (at, node), fields, written| {
        written.insert("agent".into(), draft.agent_name(&place(at), node, fields));
        let objective = fields.shift_remove("objective").unwrap_or_else(|| match fields.shift_remove("goal") {
            Some(goal) => {
                draft.lose(format!("{}.goal", place(at)), "the orchestration format has no `goal`, so it is written as `objective`");
                goal
            }
            None => {
                draft.lose(place(at), "the orchestration format needs `objective`, so it is written empty");
                json!("")
            }
        });
        written.insert("objective".into(), objective);
        draft.put_sources(at, "depends_on", written, !draft.is_same());
    })
}
