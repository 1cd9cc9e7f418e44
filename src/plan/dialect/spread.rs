//! Edges whose ends are lists: one is read as an edge from each source to each target.

use super::reading::{FieldReading, ListForm, readings};
use serde_json::{Map, Value, json};

/// The names of the fields that hold sources, and of those that hold targets.
pub(super) type EndNames = [Vec<&'static str>; 2];

/// Puts several edges in the place of each that has a list of ids as an end.
pub(super) fn spread(document: &mut Map<String, Value>, list: &str, ends: &EndNames) -> Option<FieldReading> {
    let Value::Array(written) = document.get(list)? else { return None };
    let places: Vec<String> = written
        .iter()
        .enumerate()
        .flat_map(|(at, edge)| listed_ends(edge, ends).into_iter().flatten().map(move |field| format!("{list}[{at}].{field}")))
        .collect();
    let (first, written) = (places.first()?.clone(), Value::Array(written.clone()));
    let read: Value = written.as_array()?.iter().flat_map(|edge| edges_of(edge, ends)).collect();
    document.insert(list.to_owned(), read.clone());
    let message = match places.as_slice() {
        [_] => format!("`{first}` is a list: read as one edge for each entry"),
        _ => format!(
            "{} are lists: read as one edge for each entry",
            places.iter().map(|at| format!("`{at}`")).collect::<Vec<_>>().join(", ")
        ),
    };
    let reading = FieldReading::of(list, read, message);
    Some(FieldReading { inside: Some(first), written: Some(written), list: Some(ListForm::Spread), ..reading })
}

/// Where the edge of a plan at this position stands in the document.
pub(super) fn written_at(ext: &Map<String, Value>, ends: &EndNames, at: usize) -> usize {
    let Some(reading) = readings(ext).into_iter().find(|reading| reading.list == Some(ListForm::Spread) && reading.field == reading.name)
    else {
        return at;
    };
    let mut left = at;
    for (place, edge) in reading.written.iter().filter_map(Value::as_array).flatten().enumerate() {
        match left.checked_sub(edges_of(edge, ends).len()) {
            Some(rest) => left = rest,
            None => return place,
        }
    }
    at
}

/// The fields of an edge that hold more than one end, by source and target.
fn listed_ends(edge: &Value, ends: &EndNames) -> [Option<String>; 2] {
    let is_id = |value: &Value| value.is_string() || value.is_number();
    let is_ids = |value: &Value| value.as_array().is_some_and(|ids| ids.len() > 1 && ids.iter().all(is_id));
    ends.each_ref().map(|names| names.iter().find(|name| edge.get(**name).is_some_and(is_ids)).map(|name| (*name).to_owned()))
}

/// What an edge is read as: itself, or one for each pair of its ends. Only the first keeps the name of them all.
fn edges_of(edge: &Value, ends: &EndNames) -> Vec<Value> {
    let mut edges = vec![edge.clone()];
    for field in listed_ends(edge, ends).into_iter().flatten() {
        let ids = edge[&field].as_array().cloned().unwrap_or_default();
        let one = |edge: &Value, id: &Value| {
            let mut edge = edge.clone();
            edge[&field] = json!(id);
            edge
        };
        edges = edges.iter().flat_map(|edge| ids.iter().map(|id| one(edge, id)).collect::<Vec<_>>()).collect();
    }
    for other in edges.iter_mut().skip(1).filter_map(Value::as_object_mut) {
        other.retain(|name, _| !["id", "edge_id"].contains(&name.as_str()));
    }
    edges
}
