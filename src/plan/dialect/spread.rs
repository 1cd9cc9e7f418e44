//! Edges that are written several at once: with lists as their ends, as a chain of arrows, as one text, or by the node that they leave. Each
//! is read as an edge from one source to one target.

use super::reading::{FieldReading, ListForm, readings};
use serde_json::{Map, Value, json};

/// The names of the fields that hold sources, and of those that hold targets.
pub(super) type EndNames = [Vec<&'static str>; 2];

/// Puts several edges in the place of each that has a list of ids as an end.
pub(super) fn spread(document: &mut Map<String, Value>, list: &str, ends: &EndNames) -> Option<FieldReading> {
    let written = match document.get(list)? {
        Value::Array(written) => written,
        other => return whole(document, list, &other.clone(), ends),
    };
    let places: Vec<String> = written
        .iter()
        .enumerate()
        .flat_map(|(at, edge)| {
            let chain = Some(format!("{list}[{at}]")).filter(|_| is_several(edge));
            listed_ends(edge, ends).into_iter().flatten().map(move |field| format!("{list}[{at}].{field}")).chain(chain)
        })
        .collect();
    let (first, written) = (places.first()?.clone(), Value::Array(written.clone()));
    let read: Value = written.as_array()?.iter().flat_map(|edge| edges_of(edge, ends)).collect();
    document.insert(list.to_owned(), read.clone());
    let message = match places.as_slice() {
        [_] if first.ends_with(']') => format!("`{first}` is a chain: read as one edge for each arrow"),
        [_] => format!("`{first}` is a list: read as one edge for each entry"),
        _ => {
            format!(
                "{} are lists: read as one edge for each entry",
                places.iter().map(|at| format!("`{at}`")).collect::<Vec<_>>().join(", ")
            )
        }
    };
    let reading = FieldReading::of(list, read, message);
    Some(FieldReading { inside: Some(first), written: Some(written), list: Some(ListForm::Spread), ..reading })
}

/// Edges that are no list: a text of arrows, or by the node that they leave where they lead.
fn whole(document: &mut Map<String, Value>, list: &str, written: &Value, ends: &EndNames) -> Option<FieldReading> {
    let [from, to] = ends.each_ref().map(|names| names[0]);
    let edges: Vec<Value> = match written {
        Value::String(text) => {
            let lines: Vec<&str> = text.split(['\n', ';']).filter(|line| !line.trim().is_empty()).collect();
            let chains: Option<Vec<_>> = lines.iter().map(|line| chains(line)).collect();
            chains?.concat().into_iter().map(|(a, b)| json!({ from: a, to: b })).collect()
        }
        Value::Object(by_source) => {
            let id = |id: &Value| id.is_string() || id.is_number();
            let mut edges = Vec::new();
            for (source, targets) in by_source {
                for target in targets.as_array().map_or_else(|| std::slice::from_ref(targets), Vec::as_slice) {
                    if !target.is_null() {
                        edges.push(id(target).then(|| json!({ from: source, to: target }))?);
                    }
                }
            }
            edges
        }
        _ => return None,
    };
    let read = Some(Value::Array(edges)).filter(|edges| edges.as_array().is_some_and(|edges| !edges.is_empty()))?;
    document.insert(list.to_owned(), read.clone());
    let kind = if written.is_object() { "has where they lead by the node that they leave" } else { "is a text" };
    let reading = FieldReading::of(list, read, format!("`{list}` {kind}: read as a list of edges"));
    Some(FieldReading { written: Some(written.clone()), list: Some(ListForm::Spread), ..reading })
}

/// The edges of chains with commas between them, or of one with commas between the nodes of a group.
fn chains(text: &str) -> Option<Vec<(String, String)>> {
    let parts: Option<Vec<_>> = text.split(',').map(chain).collect();
    parts.map(|parts| parts.concat()).or_else(|| chain(text))
}

/// The edges of `a -> b -> c` and `a -> [b, c]`.
fn chain(text: &str) -> Option<Vec<(String, String)>> {
    let text = ["-->", "→", "=>", "⇒", ">>"].into_iter().fold(text.to_owned(), |text, arrow| text.replace(arrow, "->"));
    let group = |part: &str| {
        let bare = part.trim().trim_matches(['[', ']', '(', ')', '{', '}']).to_owned();
        let ids: Vec<String> = bare.split([',', '&', '|', '+']).map(|id| id.trim().trim_matches(['"', '\'', '`']).to_owned()).collect();
        let is_id = |id: &String| !id.is_empty() && !id.contains(|c: char| c.is_whitespace() || "<>=[](){}:".contains(c));
        ids.iter().all(is_id).then_some(ids)
    };
    let groups: Vec<Vec<String>> = text.split("->").map(group).collect::<Option<_>>()?;
    let pairs = groups.windows(2).flat_map(|both| both[0].iter().flat_map(|from| both[1].iter().map(|to| (from.clone(), to.clone()))));
    Some(pairs.collect()).filter(|pairs: &Vec<_>| !pairs.is_empty())
}

/// Whether an edge is a text that says more than one.
fn is_several(edge: &Value) -> bool {
    edge.as_str().and_then(chains).is_some_and(|pairs| pairs.len() > 1)
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
    if let Some(pairs) = edge.as_str().and_then(chains).filter(|pairs| pairs.len() > 1) {
        let [from, to] = ends.each_ref().map(|names| names[0]);
        return pairs.into_iter().map(|(a, b)| json!({ from: a, to: b })).collect();
    }
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
