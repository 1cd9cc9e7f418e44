//! Plans as JSON values, read and written in any dialect. A body in a native plan may stand in the shape of another dialect, so the
//! native form of `Plan` and `Node` is whole only here.

use super::aliases::is_alike;
use super::draft::Loss;
use super::names::NAMES;
use super::{field_names, hybrid, orchestration, reading, stages, tools, workflow};
use crate::plan::fields::is_quiet;
use crate::plan::native::{self, ShapeError, edge_from_value, edge_to_value};
use crate::plan::{Catalog, Dialect, Edge, Node, Plan, Policy};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::Value;

/// Reads a native document. The format version may be absent.
///
/// # Errors
/// The first place that is not as it should be.
pub fn plan_from_value(value: Value) -> Result<Plan, ShapeError> {
    native::plan_from_value(value, read_body)
}

/// Reads a plan inside of a node, which may stand in the shape of another dialect, as a file may.
///
/// # Errors
/// The first place that is not as it should be.
pub fn body_from_value(value: Value) -> Result<Plan, ShapeError> {
    native::body_from_value(value, read_body)
}

/// Reads one native node; `path` is where it stands.
///
/// # Errors
/// The first place that is not as it should be; also when the node has more than one kind.
pub fn node_from_value(value: Value, path: &str) -> Result<Node, ShapeError> {
    native::node_from_value(value, path, read_body)
}

pub fn plan_to_value(plan: &Plan) -> Value {
    native::plan_to_value(plan, write_body)
}

/// A plan inside of a node, in the shape that it was read in.
pub fn body_to_value(body: &Plan) -> Value {
    native::body_to_value(body, write_body)
}

/// One node, with its kind and its policy flat in it.
pub fn node_to_value(node: &Node) -> Value {
    native::node_to_value(node, write_body)
}

/// Types whose serialised form is the native one.
macro_rules! native_form {
    ($($type:ty: $write:ident, $read:expr;)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $write(self).serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $read(Value::deserialize(deserializer)?).map_err(D::Error::custom)
            }
        }
    )*};
}

native_form! {
    Plan: plan_to_value, plan_from_value;
    Node: node_to_value, |value| node_from_value(value, "");
    Edge: edge_to_value, |value| edge_from_value(value, "");
}

/// The document of a plan in a dialect, in the one way that its writer has.
pub(super) fn document(plan: &Plan, dialect: Dialect, catalog: &Catalog) -> (Value, Vec<Loss>) {
    match dialect {
        Dialect::Native => (plan_to_value(plan), Vec::new()),
        Dialect::Orchestration => orchestration::write(plan),
        Dialect::Tools => tools::write(plan, catalog),
        Dialect::Hybrid => hybrid::write(plan, catalog),
        Dialect::Workflow => workflow::write(plan),
        Dialect::Stages => stages::write(plan),
    }
}

/// The plan in a document of this shape, once it is amended.
///
/// # Errors
/// The first place that is not as it should be.
pub(super) fn shaped(shape: Dialect, value: Value) -> Result<Plan, ShapeError> {
    let mut plan = match shape {
        Dialect::Native => return plan_from_value(value),
        Dialect::Orchestration => orchestration::read(value),
        Dialect::Tools => tools::read(value),
        Dialect::Hybrid => hybrid::read(value),
        Dialect::Workflow => workflow::read(value),
        Dialect::Stages => stages::read(value),
    }?;
    // Gates hold in every form.
    for node in plan.nodes.iter_mut().filter(|node| reading::readings(&node.ext).iter().any(|reading| reading.field == "approve")) {
        node.policy.approve = node.ext.shift_remove("approve").and_then(|approve| serde_json::from_value(approve).ok());
    }
    if reading::readings(&plan.ext).iter().any(|reading| reading.field == "defaults") {
        let defaults = plan.ext.shift_remove("defaults").and_then(|defaults| serde_json::from_value(defaults).ok());
        plan.defaults = defaults.unwrap_or_default();
    }
    Ok(plan)
}

/// Reads the body of a node that stands in the shape of another dialect, and notes that; gives a native one back.
fn read_body(value: Value) -> Result<Result<Plan, Value>, ShapeError> {
    match tell(&value) {
        Ok(shape @ (Dialect::Orchestration | Dialect::Tools | Dialect::Hybrid | Dialect::Workflow | Dialect::Stages)) => {
            let mut plan = shaped(shape, value)?;
            plan.ext.insert(field_names::OWN_SHAPE.to_owned(), Value::Bool(true));
            Ok(Ok(plan))
        }
        // A native reader has better words for what is no plan.
        Ok(Dialect::Native) | Err(_) => Ok(Err(value)),
    }
}

/// A body in the shape that it was read in, as long as that can hold it; `None` for a native one.
fn write_body(body: &Plan) -> Option<Value> {
    if !field_names::stands_in_own_shape(body) {
        return None;
    }
    let mut bare = body.clone();
    bare.ext.shift_remove(field_names::OWN_SHAPE);
    if bare.dialect == Dialect::Native {
        return None;
    }
    let (value, lost) = document(&bare, bare.dialect, &Catalog::default());
    let same = lost.is_empty() && shaped(bare.dialect, value.clone()).as_ref() == Ok(&bare);
    same.then_some(value)
}

/// The dialect of a document by its shape.
///
/// # Errors
/// When it holds nothing like nodes, or the marks of two dialects.
pub(super) fn tell(value: &Value) -> Result<Dialect, ShapeError> {
    let Value::Object(map) = value else { return Ok(Dialect::Native) };
    if map.contains_key("dagdeck") {
        return Ok(Dialect::Native);
    }
    let has_graph = NAMES.stage.graphs.iter().any(|name| map.get(*name).is_some_and(|graph| graph.get("stages").is_some()));
    let shapes = [
        ("dag", Dialect::Tools, map.contains_key("dag")),
        ("tasks", Dialect::Hybrid, map.contains_key("tasks")),
        ("connections", Dialect::Workflow, map.contains_key("connections")),
        ("stages", Dialect::Stages, map.contains_key("stages") || has_graph),
    ];
    let mut found = shapes.iter().filter(|(_, _, there)| *there);
    match (found.next(), found.next()) {
        (Some((first, one, _)), Some((second, other, _))) => {
            let words = format!("`{first}` makes it a {} plan and `{second}` a {} plan: keep one of them", one.name(), other.name());
            return Err(ShapeError { path: (*second).to_owned(), message: words });
        }
        (Some((_, dialect, _)), None) => return Ok(*dialect),
        (None, _) => {}
    }
    let Some(nodes) = map.get("nodes") else {
        let words = "a plan needs a list of `nodes` (native, orchestration, workflow), `dag` (tools), `tasks` (hybrid) or `stages`";
        return Err(ShapeError { path: String::new(), message: words.into() });
    };
    let nodes = nodes.as_array().map_or(&[][..], Vec::as_slice);
    if nodes.iter().any(|node| node.get("agent_name").is_some_and(|name| !name.is_null())) {
        return Ok(Dialect::Workflow);
    }
    let plain = !["goal", "inputs", "edges", "budget", "defaults"].iter().any(|field| map.contains_key(*field));
    let is_orchestration = plain && !nodes.is_empty() && nodes.iter().all(is_orchestration_node);
    Ok(if is_orchestration { Dialect::Orchestration } else { Dialect::Native })
}

fn is_orchestration_node(node: &Value) -> bool {
    let Some(map) = node.as_object().filter(|map| map.contains_key("agent") && map.contains_key("objective")) else { return false };
    // What a native node reads as a condition or a limit, an orchestration can't hold.
    let policy = ["when", "skip_if", "timeout_s"];
    let is_policy =
        |name: &str| NAMES.form(Dialect::Native).node.renamed.iter().any(|(other, field)| policy.contains(field) && is_alike(other, name));
    if map.iter().any(|(name, value)| is_policy(name) && !(is_quiet(value) && *value != Value::Bool(false))) {
        return false;
    }
    let mut map = map.clone();
    if reading::readings(&map).iter().any(|reading| reading.field == "approve") {
        map.shift_remove("approve");
    }
    node_from_value(Value::Object(map), "").is_ok_and(|node| node.policy == Policy::default())
}
