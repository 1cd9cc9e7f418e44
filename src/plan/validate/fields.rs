//! Fields of the document that mean nothing where they stand. Unknown ones are kept, since a later version may know them; one that
//! looks like a slip of the pen is told, because the plan would otherwise run without what was meant.

use super::{Check, Code, Fix, Place, distance};
use crate::plan::edit::Edit;
use crate::plan::native::{self, EDGE_FIELDS, PLAN_FIELDS, is_node_field, node_fields};
use crate::plan::{Node, Plan};

pub(super) fn check(check: &mut Check) {
    let plan = check.plan;
    for name in plan.ext.keys() {
        if let Some(meant) = meant(name, PLAN_FIELDS.into_iter()) {
            check.find(Code::UnknownField, Place::Plan, name, words(name, meant), None);
        }
    }
    for (at, node) in plan.nodes.iter().enumerate() {
        for name in node.ext.keys() {
            of_node(check, at, name);
        }
    }
    for (at, edge) in plan.edges.iter().enumerate() {
        for name in edge.ext.keys() {
            if let Some(meant) = meant(name, EDGE_FIELDS.into_iter()) {
                check.find(Code::UnknownField, Place::Edge(at), name, words(name, meant), None);
            }
        }
    }
}

fn of_node(check: &mut Check, at: usize, name: &str) {
    if is_node_field(name) {
        let message = format!("`{name}` means nothing for this kind of node");
        check.find(Code::UnknownField, Place::Node(at), name, message, None);
    } else if let Some(meant) = meant(name, node_fields()) {
        let fix = renamed(check.plan, at, name, meant);
        check.find(Code::UnknownField, Place::Node(at), name, words(name, meant), fix);
    }
}

fn words(name: &str, meant: &str) -> String {
    format!("`{name}` is no field of dagdeck's, so it does nothing; did you mean `{meant}`?")
}

/// The node with the field under the name that was meant, if it can be read so.
fn renamed(plan: &Plan, at: usize, name: &str, meant: &str) -> Option<Fix> {
    let mut value = native::node_to_value(&plan.nodes[at]);
    let fields = value.as_object_mut().filter(|fields| !fields.contains_key(meant))?;
    let written = fields.shift_remove(name)?;
    fields.insert(meant.to_owned(), written);
    let node: Node = native::node_from_value(value, "").ok()?;
    Some(Fix { title: format!("call it `{meant}`"), edit: Edit::SpliceNodes { at, remove: 1, insert: vec![node] } })
}

/// A known name that is one slip away; two in longer names.
fn meant<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let slips = if name.len() < 5 { 1 } else { 2 };
    let near = known.filter(|known| known.len().abs_diff(name.len()) <= slips);
    near.map(|known| (distance(name, known), known)).filter(|(count, _)| *count <= slips).min().map(|(_, known)| known)
}
