//! Fields of the document that mean nothing where they stand. Unknown ones are kept, since a later version may know them; one that
//! looks like a slip of the pen is told, because the plan would otherwise run without what was meant.

use super::{Code, FindingPlace, Fix, PlanCheck};
use crate::plan::dialect::{DocumentPart, is_field, is_kept, known_fields};
use crate::plan::edit::Edit;
use crate::plan::native::{self, EDGE_FIELDS, PLAN_FIELDS, is_node_field, node_fields};
use crate::plan::{Dialect, Node, Plan};
use serde_json::{Map, Value};

pub(super) fn check(check: &mut PlanCheck) {
    let plan = check.plan;
    if plan.dialect != Dialect::Native {
        return of_dialect(check);
    }
    for name in plan.ext.keys() {
        if let Some(meant) = meant(name, PLAN_FIELDS.into_iter()) {
            check.find(Code::UnknownField, FindingPlace::Plan, name, unknown(name, meant), None);
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
                check.find(Code::UnknownField, FindingPlace::Edge(at), name, unknown(name, meant), None);
            }
        }
    }
}

/// Fields that a plan of another dialect carries along: those that would mean something in a native plan, and slips.
fn of_dialect(check: &mut PlanCheck) {
    let plan = check.plan;
    let mut look = |part: DocumentPart, place: FindingPlace, ext: &Map<String, Value>| {
        for (name, value) in ext {
            if is_kept(plan.dialect, part, name, value) || is_field(plan.dialect, part, name) {
                continue;
            }
            let dialect = plan.dialect.name();
            let message = if is_field(Dialect::Native, part, name) && !HARMLESS.contains(&name.as_str()) {
                format!("the {dialect} format doesn't use `{name}`: export the plan to the native format and write it there")
            } else if let Some(meant) = meant(name, known_fields(plan.dialect, part).iter().copied()) {
                format!("the {dialect} format has no field `{name}`, so it does nothing; did you mean `{meant}`?")
            } else {
                continue;
            };
            check.find(Code::UnknownField, place, name, message, None);
        }
    };
    look(DocumentPart::Plan, FindingPlace::Plan, &plan.ext);
    plan.nodes.iter().enumerate().for_each(|(at, node)| look(DocumentPart::Node, FindingPlace::Node(at), &node.ext));
    plan.edges.iter().enumerate().for_each(|(at, edge)| look(DocumentPart::Edge, FindingPlace::Edge(at), &edge.ext));
}

/// Fields of people and screens, which nobody expects to do anything.
const HARMLESS: [&str; 4] = ["notes", "label", "id", "metadata"];

fn of_node(check: &mut PlanCheck, at: usize, name: &str) {
    if is_node_field(name) {
        let message = format!("`{name}` has no effect on this kind of node");
        check.find(Code::UnknownField, FindingPlace::Node(at), name, message, None);
    } else if let Some(meant) = meant(name, node_fields()) {
        let fix = renamed(check.plan, at, name, meant);
        check.find(Code::UnknownField, FindingPlace::Node(at), name, unknown(name, meant), fix);
    }
}

fn unknown(name: &str, meant: &str) -> String {
    format!("`{name}` is not a known field, so it does nothing; did you mean `{meant}`?")
}

/// The node with the field under the name that was meant, if it can be read so.
fn renamed(plan: &Plan, at: usize, name: &str, meant: &str) -> Option<Fix> {
    let mut value = native::node_to_value(&plan.nodes[at]);
    let fields = value.as_object_mut().filter(|fields| !fields.contains_key(meant))?;
    let written = fields.shift_remove(name)?;
    fields.insert(meant.to_owned(), written);
    let node: Node = native::node_from_value(value, "").ok()?;
    Some(Fix { title: format!("rename it to `{meant}`"), edit: Edit::SpliceNodes { at, remove: 1, insert: vec![node] } })
}

/// A known name that is one slip away; two in longer names.
fn meant<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let slips = if name.len() < 5 { 1 } else { 2 };
    let near = known.filter(|known| known.len().abs_diff(name.len()) <= slips);
    near.map(|known| (strsim::levenshtein(name, known), known)).filter(|(count, _)| *count <= slips).min().map(|(_, known)| known)
}
