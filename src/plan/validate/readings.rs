//! What the reader took otherwise than it is written, until somebody changes it: each with the words of the reader. What has one meaning
//! is a warning with a safe fix, which writes it as it was read; what couldn't be read is an error.

use super::check::{FindingPlace, PlanCheck};
use super::codes::Code;
use super::finding::Fix;
use crate::plan::dialect::names::NAMES;
use crate::plan::dialect::{FieldReading, ListForm, Part, gate, held, without};
use crate::plan::edit::Edit;
use crate::plan::fields::AS_WRITTEN;
use crate::plan::{Dialect, Edge, Node, NodeId, Plan};
use serde_json::{Map, Value, json};

pub(super) fn check(check: &mut PlanCheck) {
    let plan = check.plan;
    for (at, reading) in held(plan, &Part::Plan) {
        let head = Plan { nodes: Vec::new(), edges: Vec::new(), ext: without(&plan.ext, at), ..plan.clone() };
        find(check, FindingPlace::Plan, reading, Edit::SetHead { head: Box::new(head) });
    }
    for (i, node) in plan.nodes.iter().enumerate() {
        for (at, reading) in held(plan, &Part::Node(node)) {
            let ext = if is_untyped(plan, &reading) { bare(&node.ext) } else { without(&node.ext, at) };
            let mut insert = Node { ext, ..node.clone() };
            if reading.field == "context" {
                let sources: Vec<NodeId> = named_nodes(check, &reading).into_iter().filter(|id| !insert.depends_on.contains(id)).collect();
                insert.depends_on.extend(sources);
            }
            find(check, FindingPlace::Node(i), reading, Edit::SpliceNodes { at: i, remove: 1, insert: vec![insert] });
        }
    }
    for (i, edge) in plan.edges.iter().enumerate() {
        for (at, reading) in held(plan, &Part::Edge(edge)) {
            let insert = vec![Edge { ext: without(&edge.ext, at), ..edge.clone() }];
            find(check, FindingPlace::Edge(i), reading, Edit::SpliceEdges { at: i, remove: 1, insert });
        }
    }
}

/// Whether nothing says what a stage does; what stands in for that is an agent.
fn is_untyped(plan: &Plan, reading: &FieldReading) -> bool {
    plan.dialect == Dialect::Stages && reading.wrong && reading.field == "type" && reading.read == Some(json!("AGENT"))
}

/// Whether a field says who is asked, whether something runs or after what: only a person takes that out.
fn is_decisive(reading: &FieldReading) -> bool {
    let asks = reading.written.as_ref().is_some_and(|written| gate(&reading.name, written, Some("approve")).is_some());
    asks || [&reading.field, &reading.name]
        .iter()
        .any(|name| NAMES.unknown.decisive.contains(&name.as_str()) || NAMES.node.depends_on.contains(&name.as_str()))
}

/// The nodes that a list names which couldn't be read, if it names nothing else.
fn named_nodes(check: &PlanCheck, reading: &FieldReading) -> Vec<NodeId> {
    let list = reading.written.as_ref().and_then(Value::as_array).filter(|_| reading.wrong && reading.read.is_none());
    let named = |value: &Value| value.as_str().map(NodeId::new).filter(|id| check.graph.position(id).is_some());
    list.and_then(|list| list.iter().map(named).collect()).unwrap_or_default()
}

/// The nodes that are named inside of what can't be read as a list of ids, as such a list.
fn named_inside(check: &PlanCheck, place: FindingPlace, reading: &FieldReading, edit: Edit) -> Option<Fix> {
    fn gather(value: &Value, named: &mut dyn FnMut(&str)) {
        match value {
            Value::String(text) => named(text),
            Value::Array(list) => list.iter().for_each(|value| gather(value, named)),
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                named(name);
                gather(value, named);
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let (FindingPlace::Node(own), Edit::SpliceNodes { at, remove, mut insert }) = (place, edit) else { return None };
    let mut named: Vec<NodeId> = Vec::new();
    gather(reading.written.as_ref()?, &mut |text| {
        let id = NodeId::new(text.trim());
        let is_other = check.graph.position(&id).is_some_and(|at| at != own && check.graph.closes(at, own).is_none());
        if is_other && !named.contains(&id) {
            named.push(id);
        }
    });
    if named.is_empty() {
        return None;
    }
    let title = format!("depend on `{}`", named.join("`, `"));
    insert.first_mut()?.depends_on.extend(named);
    Some(Fix::guess(title, Edit::SpliceNodes { at, remove, insert }))
}

/// The unknown fields without any reading.
fn bare(ext: &Map<String, Value>) -> Map<String, Value> {
    ext.iter().filter(|(name, _)| *name != AS_WRITTEN).map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn find(check: &mut PlanCheck, place: FindingPlace, reading: FieldReading, edit: Edit) {
    if reading.message.is_empty() {
        return;
    }
    let is_gate = ["approve", "defaults"].contains(&reading.field.as_str());
    let (code, fix) = match (reading.wrong, &reading.read) {
        (true, None) if !named_nodes(check, &reading).is_empty() => {
            let is_order = reading.field == "context" && !reading.is_lost();
            (Code::WrongShape, is_order.then(|| Fix::safe("write it as `depends_on`", edit)))
        }
        (true, None) if NAMES.node.depends_on.contains(&reading.field.as_str()) && !reading.is_lost() => {
            (Code::WrongShape, named_inside(check, place, &reading, edit))
        }
        (true, None) if reading.is_lost() || is_decisive(&reading) => (Code::WrongShape, None),
        (true, None) => (Code::WrongShape, Some(Fix::guess(format!("remove `{}`", reading.name), edit))),
        (true, Some(_)) if is_untyped(check.plan, &reading) => {
            (Code::WrongShape, Some(Fix::guess("make it an agent that works by its name", edit)))
        }
        (true, Some(_)) => (Code::WrongShape, None),
        (false, _) if reading.is_lost() => (Code::ReadAs, None),
        // No other form has such a field.
        (false, _) if is_gate && check.plan.dialect != Dialect::Native => (Code::ReadAs, None),
        (false, _) if reading.list == Some(ListForm::OtherPlans) => {
            (Code::WrongShape, Some(Fix::guess("keep this one, and remove the others", edit)))
        }
        (false, _) if reading.list == Some(ListForm::Surplus) => (Code::ReadAs, Some(Fix::safe("remove them", edit))),
        (false, _) if reading.list == Some(ListForm::Spread) && reading.field == reading.name => {
            (Code::ReadAs, Some(Fix::safe("write each edge by itself", edit)))
        }
        (false, _) if reading.field.is_empty() => (Code::ReadAs, Some(Fix::safe("write it as an object", edit))),
        (false, Some(value)) if reading.field == reading.name && (value.is_string() || value.is_number()) => {
            (Code::ReadAs, Some(Fix::safe(format!("write it as {value}"), edit)))
        }
        (false, _) => (Code::ReadAs, Some(Fix::safe(format!("write it as `{}`", reading.field), edit))),
    };
    let field = reading.inside.unwrap_or(reading.name);
    check.find(code, place, &field, reading.message, fix);
}
