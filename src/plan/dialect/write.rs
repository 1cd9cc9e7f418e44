//! Plans as text of each format, with what is lost on the way.

use super::{Format, picture};
use crate::plan::chart;
use crate::plan::native::{edge_to_value, node_to_value, plan_to_value};
use crate::plan::{Node, Plan, Work};
use crate::text::{GlyphSet, safe_json};
use serde_json::{Map, Value, json};

/// A plan in a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The text, with a line break at its end.
    pub text: String,
    /// What the format can't express; nothing for native. Pictures show the structure and list no losses.
    pub lost: Vec<Loss>,
}

/// Something that a format can't express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Where it stands in the native form.
    pub path: String,
    /// Why it is lost.
    pub reason: String,
}

/// Writes a plan in a format.
pub fn write(plan: &Plan, format: Format) -> Written {
    match format {
        Format::Native => Written { text: pretty(&plan_to_value(plan)), lost: Vec::new() },
        Format::Orchestration => orchestration(plan),
        Format::Mermaid => Written { text: picture::mermaid(plan), lost: Vec::new() },
        Format::Dot => Written { text: picture::dot(plan), lost: Vec::new() },
        Format::Tree => Written { text: picture::tree(plan), lost: Vec::new() },
        Format::Text => Written { text: chart::text(plan, GlyphSet::Unicode), lost: Vec::new() },
    }
}

fn pretty(value: &Value) -> String {
    format!("{}\n", safe_json(&format!("{value:#}")))
}

fn orchestration(plan: &Plan) -> Written {
    let mut lost = Vec::new();
    let mut lose = |path: String, reason: &str| lost.push(Loss { path, reason: reason.to_owned() });
    for (field, written) in [
        ("goal", !plan.goal.is_empty()),
        ("inputs", !plan.inputs.is_empty()),
        ("budget", plan.budget != Default::default()),
        ("defaults", plan.defaults != Default::default()),
    ] {
        if written {
            lose(field.into(), "the orchestration format has no such field");
        }
    }
    for (i, edge) in plan.edges.iter().enumerate() {
        if let Value::Object(fields) = edge_to_value(edge) {
            for field in fields.keys().filter(|field| !["from", "to"].contains(&field.as_str())) {
                lose(format!("edges[{i}].{field}"), "the orchestration format has plain dependencies only");
            }
        }
    }
    let is_agent = |node: &Node| matches!(node.work, Work::Agent(_));
    let mut nodes = Vec::new();
    for (i, node) in plan.nodes.iter().enumerate() {
        if !is_agent(node) {
            lose(format!("nodes[{i}]"), "the orchestration format has agent nodes only, so the node is left out");
            continue;
        }
        let Value::Object(fields) = node_to_value(node) else { continue };
        let mut written = Map::new();
        for (field, value) in fields {
            let known = ["id", "agent", "objective", "depends_on"].contains(&field.as_str());
            if known || node.ext.contains_key(&field) {
                written.insert(field, value);
            } else {
                lose(format!("nodes[{i}].{field}"), "the orchestration format has no such field");
            }
        }
        for field in ["agent", "objective"] {
            if !written.contains_key(field) {
                written.insert(field.into(), json!(""));
                lose(format!("nodes[{i}]"), &format!("the orchestration format needs `{field}`, so it is written empty"));
            }
        }
        let written_edges = plan.edges.iter().filter(|edge| edge.to == node.id).map(|edge| &edge.from);
        let mut sources: Vec<&str> = Vec::new();
        for source in written_edges.chain(&node.depends_on) {
            let left_out = plan.nodes.iter().any(|other| other.id == *source && !is_agent(other));
            if left_out {
                lose(format!("nodes[{i}].depends_on"), &format!("`{source}` is left out"));
            } else if !sources.contains(&source.as_str()) {
                sources.push(source);
            }
        }
        written.insert("depends_on".into(), json!(sources));
        nodes.push(Value::Object(written));
    }
    let mut document = Map::from_iter([("nodes".to_owned(), Value::Array(nodes))]);
    if !plan.metadata.is_empty() {
        document.insert("metadata".into(), Value::Object(plan.metadata.clone()));
    }
    for (field, value) in &plan.ext {
        document.entry(field.clone()).or_insert_with(|| value.clone());
    }
    Written { text: pretty(&Value::Object(document)), lost }
}
