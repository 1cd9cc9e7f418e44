//! A bare `{{s.status}}` is a field of what `s` gave, and nothing when `s` failed: whoever wrote it may mean the state of `s` itself.

use super::check::{FindingPlace, PlanCheck};
use super::codes::Code;
use super::finding::Fix;
use crate::plan::code::is_identifier;
use crate::plan::dialect::names::NAMES;
use crate::plan::edit::Edit;
use crate::plan::{Edge, Node, NodeKind, NodeTextMut, OnFailure, Path, Plan, Root, each_text_mut, node_texts_mut};

/// Looks at one path that a text reads; `source` is the node that it begins with.
pub(super) fn check(check: &mut PlanCheck, place: FindingPlace, field: &str, path: &Path, source: usize) {
    let (Root::Node(id), Some(word)) = (&path.root, path.fields.first()) else { return };
    if ["output", "outputs"].contains(&word.as_str()) && !promises(&check.plan.nodes[source], word) {
        let message = format!("`{id}.{word}` reads a field of the result of `{id}`; the result itself is `{id}.result`");
        let edit = changed(check.plan, place, &format!("{id}.{word}"), &format!("{id}.result"));
        let fix = edit.map(|edit| Fix::guess(format!("read `{id}.result`"), edit));
        return check.find(Code::ForeignReference, place, field, message, fix);
    }
    if !["status", "error", "state"].contains(&word.as_str()) || promises(&check.plan.nodes[source], word) {
        return;
    }
    let source = &check.plan.nodes[source].policy;
    let is_safe = source.on_failure.or(check.plan.defaults.on_failure) == Some(OnFailure::Safe);
    if is_safe && word == "error" {
        return;
    }
    let own = if word == "error" { "error" } else { "status" };
    let is_plain = id.chars().all(is_identifier) && !id.starts_with(|c: char| c.is_ascii_digit());
    let right = if is_plain { format!("nodes.{id}.{own}") } else { format!("nodes[\"{id}\"].{own}") };
    let lacks = if is_safe { format!("has no `{word}`") } else { "is empty".to_owned() };
    let message =
        format!("`{id}.{word}` reads a field of the result of `{id}`, which {lacks} when `{id}` fails; its own {own} is `{right}`");
    let edit = changed(check.plan, place, &format!("{id}.{word}"), &right);
    let fix = edit.map(|edit| Fix::guess(format!("read `{right}`"), edit));
    check.find(Code::OwnState, place, field, message, fix);
}

/// A path such as `steps.a.output`, which means `a.result`.
pub(super) fn unwrapped(check: &PlanCheck, place: FindingPlace, path: &Path) -> Option<Fix> {
    let Root::Unknown(word) = &path.root else { return None };
    let id = path.fields.first().filter(|id| NAMES.foreign.before.contains(&word.as_str()) && check.graph.position(id).is_some())?;
    let behind = path.fields.get(1).filter(|word| NAMES.foreign.behind.contains(&word.as_str()));
    let written = behind.map_or_else(|| format!("{word}.{id}"), |behind| format!("{word}.{id}.{behind}"));
    let edit = changed(check.plan, place, &written, &format!("{id}.result"))?;
    Some(Fix::safe(format!("read `{id}.result`"), edit))
}

/// Whether the result of a node has this field as far as the plan says.
fn promises(node: &Node, field: &str) -> bool {
    if let Some(schema) = &node.policy.output_schema {
        return schema.get("properties").is_some_and(|properties| properties.get(field).is_some());
    }
    match &node.kind {
        NodeKind::Transform(transform) => transform.value.get(field).is_some(),
        NodeKind::Merge(merge) => merge.template.as_ref().is_some_and(|template| template.get(field).is_some()),
        NodeKind::Code(code) => code.code.contains(field),
        NodeKind::Approval(ask) => ask.fields.iter().any(|asked| asked.name == field),
        NodeKind::Agent(_) | NodeKind::Tool(_) | NodeKind::Decision(_) | NodeKind::Subplan(_) | NodeKind::Loop(_) | NodeKind::Map(_) => {
            false
        }
    }
}

pub(super) fn changed(plan: &Plan, place: FindingPlace, from: &str, to: &str) -> Option<Edit> {
    match place {
        FindingPlace::Node(at) => {
            let mut node = plan.nodes[at].clone();
            node_texts_mut(&mut node, |_, text| match text {
                NodeTextMut::Template(text) => *text = in_template(text, from, to),
                NodeTextMut::Json(value) => each_text_mut(value, &mut |text| *text = in_template(text, from, to)),
                NodeTextMut::Expression(text) | NodeTextMut::Condition(text) | NodeTextMut::ResultCondition(text) => {
                    *text = in_expression(text, from, to);
                }
                NodeTextMut::Code(_) => {}
            });
            (node != plan.nodes[at]).then(|| Edit::SpliceNodes { at, remove: 1, insert: vec![node] })
        }
        FindingPlace::Edge(at) => {
            let edge = &plan.edges[at];
            let when = edge.when.as_ref().map(|text| in_expression(text, from, to)).filter(|text| Some(text) != edge.when.as_ref())?;
            Some(Edit::SpliceEdges { at, remove: 1, insert: vec![Edge { when: Some(when), ..edge.clone() }] })
        }
        FindingPlace::Owner | FindingPlace::Plan => None,
    }
}

fn in_template(text: &str, from: &str, to: &str) -> String {
    let mut parts = text.split("{{");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (inner, rest) = part.split_at(part.find("}}").unwrap_or(0));
        out = format!("{out}{{{{{}{rest}", in_expression(inner, from, to));
    }
    out
}

fn in_expression(text: &str, from: &str, to: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, behind) = (&rest[..at], &rest[at + from.len()..]);
        let joins = |c: char| is_identifier(c) || ['-', '.', '"', '\'', '['].contains(&c);
        let is_whole = !before.ends_with(joins) && !behind.starts_with(|c: char| is_identifier(c) || c == '-');
        out = format!("{out}{before}{}", if is_whole { to } else { from });
        rest = behind;
    }
    out + rest
}
