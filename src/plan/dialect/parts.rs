//! What the readers of dialects share.

use crate::plan::fields::{Fields, ShapeError};
use crate::plan::{Dialect, Edge, Node, Plan};
use serde_json::Value;

/// The entries of the list that makes the document a plan of its dialect.
pub(super) fn nodes(fields: &mut Fields, key: &str, read: fn(Value, &str) -> Result<Node, ShapeError>) -> Result<Vec<Node>, ShapeError> {
    fields.each(key, read)?.ok_or_else(|| fields.missing(key))
}

/// The edges of a dialect that has some; an empty list is kept.
pub(super) fn edges(fields: &mut Fields, key: &str, read: fn(Value, &str) -> Result<Edge, ShapeError>) -> Result<Vec<Edge>, ShapeError> {
    let edges = fields.each(key, read)?;
    if edges.as_ref().is_some_and(Vec::is_empty) {
        fields.keep(key, Value::Array(Vec::new()));
    }
    Ok(edges.unwrap_or_default())
}

/// A plan with what any document may carry beside its nodes: a goal, inputs, free data.
pub(super) fn plan(dialect: Dialect, nodes: Vec<Node>, edges: Vec<Edge>, mut fields: Fields) -> Plan {
    let goal = fields.text_if_any("goal");
    let inputs = fields.object_if_any("inputs");
    let metadata = fields.object_if_any("metadata");
    Plan { goal, inputs, nodes, edges, dialect, metadata, ext: fields.rest(), ..Plan::default() }
}
