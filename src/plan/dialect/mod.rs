//! Dialects: documents of different shapes that are one plan inside. `read` tells the shape by looking at it, in JSON or YAML; `write`
//! gives any format's text and lists what that format can't express. Reading then writing the same dialect gives an equal document, and
//! after an edit the document differs from what was read only by that edit (`keep`).
//!
//! A dialect's reader takes its fields into the plan's types. What says nothing there (null, false, an empty list) and what it doesn't
//! know stays in `ext`, and its writer gives it back. A name that belongs to another dialect is an error that tells the right one.

mod aliases;
mod amend;
mod coerce;
mod diagram;
mod draft;
mod forms;
mod hybrid;
mod json;
mod keep;
mod locate;
mod orchestration;
mod place;
mod reading;
mod source;
mod spread;
mod stages;
#[cfg(test)]
mod tests;
mod tools;
mod workflow;
mod write;
mod yaml;

pub(in crate::plan) use aliases::plain;
pub use draft::Loss;
pub(in crate::plan) use forms::{DocumentPart, fields as known_fields, is_field, is_kept};
pub use place::{locate, source_message, source_path, written_path};
pub(in crate::plan) use reading::{FieldReading, ListForm, is_stand_in, without};
pub use source::{ReadError, Syntax};
pub(in crate::plan) use stages::{GRAPHS as STAGE_GRAPHS, implied as implied_stages};
pub use write::{ExportedPlan, Format, write, write_as};
pub(in crate::plan) use write::{Part, held};

use super::document::SourceDocument;
use super::fields::Fields;
use super::native::{ShapeError, plan_from_value};
use super::{Catalog, Dialect, Edge, Node, Plan, PlanSource};
use serde_json::Value;

/// Reads a plan; `origin` names the text in errors. The second value is the shape that was found, which for a native document may
/// differ from the dialect by whose rules its plan is read. What can't be read as it is written is noted in the plan, for validation to
/// tell.
///
/// # Errors
/// When the text is neither JSON nor YAML, or holds nothing like nodes.
pub fn read(text: &str, origin: &str) -> Result<(Plan, Dialect), ReadError> {
    let source = source::SourceText::open(text, origin)?;
    let (mut value, source) = source.parse()?;
    let shape = amended(&mut value, source).map_err(|error| source.fault(error))?;
    let mut plan = shaped(shape, value).map_err(|error| ReadError { shape: Some(shape), ..source.fault(error) })?;
    plan.source = PlanSource::new(SourceDocument { text: text.to_owned(), origin: origin.to_owned(), shape });
    Ok((plan, shape))
}

/// Amends what a text holds, and notes what the text is.
fn amended(value: &mut Value, source: source::SourceText<'_>) -> Result<Dialect, ShapeError> {
    let shape = amend::amend(value, "", 0)?;
    if let Value::Object(map) = value {
        let note =
            |message: &str| FieldReading { message: message.to_owned(), list: Some(reading::ListForm::Surplus), ..FieldReading::default() };
        reading::note(map, source.surplus().into_iter().map(note).collect());
    }
    Ok(shape)
}

fn shaped(shape: Dialect, value: Value) -> Result<Plan, ShapeError> {
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
pub(in crate::plan) fn read_body(value: Value) -> Result<Result<Plan, Value>, ShapeError> {
    match tell(&value) {
        Ok(shape @ (Dialect::Orchestration | Dialect::Tools | Dialect::Hybrid | Dialect::Workflow | Dialect::Stages)) => {
            let mut plan = shaped(shape, value)?;
            plan.ext.insert(forms::OWN_SHAPE.to_owned(), Value::Bool(true));
            Ok(Ok(plan))
        }
        // A native reader has better words for what is no plan.
        Ok(Dialect::Native) | Err(_) => Ok(Err(value)),
    }
}

/// A body in the shape that it was read in, as long as that can hold it; `None` for a native one.
pub(in crate::plan) fn write_body(body: &Plan) -> Option<Value> {
    if !forms::stands_in_own_shape(body) {
        return None;
    }
    let mut bare = body.clone();
    bare.ext.shift_remove(forms::OWN_SHAPE);
    if bare.dialect == Dialect::Native {
        return None;
    }
    let (value, lost) = write::document(&bare, bare.dialect, &Catalog::default());
    let same = lost.is_empty() && shaped(bare.dialect, value.clone()).as_ref() == Ok(&bare);
    same.then_some(value)
}

/// The dialect of a document by its shape.
fn tell(value: &Value) -> Result<Dialect, ShapeError> {
    let Value::Object(map) = value else { return Ok(Dialect::Native) };
    if map.contains_key("dagdeck") {
        return Ok(Dialect::Native);
    }
    let has_graph = stages::GRAPHS.iter().any(|name| map.get(*name).is_some_and(|graph| graph.get("stages").is_some()));
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
    let mut map = map.clone();
    if reading::readings(&map).iter().any(|reading| reading.field == "approve") {
        map.shift_remove("approve");
    }
    super::native::node_from_value(Value::Object(map), "").is_ok_and(|node| node.policy == super::Policy::default())
}

/// The entries of the list that makes the document a plan of its dialect.
fn nodes(fields: &mut Fields, key: &str, read: fn(Value, &str) -> Result<Node, ShapeError>) -> Result<Vec<Node>, ShapeError> {
    fields.each(key, read)?.ok_or_else(|| fields.missing(key))
}

/// The edges of a dialect that has some; an empty list is kept.
fn edges(fields: &mut Fields, key: &str, read: fn(Value, &str) -> Result<Edge, ShapeError>) -> Result<Vec<Edge>, ShapeError> {
    let edges = fields.each(key, read)?;
    if edges.as_ref().is_some_and(Vec::is_empty) {
        fields.keep(key, Value::Array(Vec::new()));
    }
    Ok(edges.unwrap_or_default())
}

/// A plan with what any document may carry beside its nodes: a goal, inputs, free data.
fn plan(dialect: Dialect, nodes: Vec<Node>, edges: Vec<Edge>, mut fields: Fields) -> Plan {
    let goal = fields.text_if_any("goal");
    let inputs = fields.object_if_any("inputs");
    let metadata = fields.object_if_any("metadata");
    Plan { goal, inputs, nodes, edges, dialect, metadata, ext: fields.rest(), ..Plan::default() }
}
