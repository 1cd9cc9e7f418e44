//! What a document is around its nodes: a plan within an object, a bare list, nodes under another name or by id. All of it is read as
//! the list that its form has.

use super::aliases::{self, is_alike};
use super::forms::DocumentShape;
use super::groups;
use super::names::NAMES;
use super::reading::{self, FieldReading, ListForm, aside, rename_key, replace};
use super::stages;
use super::values::{plan_from_value, tell};
use crate::plan::native::{FORMAT, ShapeError};
use crate::plan::value_text;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Brings the nodes of a document where its form has them.
pub(super) fn outline(document: &mut Value) -> Vec<FieldReading> {
    let mut notes: Vec<FieldReading> = wrapped(document).into_iter().collect();
    let is_bare = is_nodes(document) || is_by_id(document) && document.as_object().is_some_and(|map| map.len() > 1);
    if is_bare {
        *document = json!({ "nodes": document.take() });
    }
    if let Value::Object(map) = document {
        notes.extend(outputs_by_name(map));
        notes.extend(groups::grouped(map));
        named_list(map, &mut notes);
        plain_tasks(map, &mut notes);
        for name in ["nodes", "dag", "tasks"] {
            if map.get(name).and_then(Value::as_object).is_some_and(|nodes| nodes.values().all(Value::is_object)) {
                take_list(map, name, name, &mut notes);
            }
        }
        names_of_stages(map, &mut notes);
    }
    if is_bare {
        let message = "the document is its nodes alone: read as the `nodes` of a plan".to_owned();
        notes.push(FieldReading { field: "nodes".into(), message, list: Some(ListForm::Bare), ..FieldReading::default() });
    }
    notes
}

/// Edges as n8n has them: by the name of a node its outputs, each with the nodes that it leads to. A node with several outputs chooses
/// between them by itself there; what says so here is an edge's condition, which somebody has to write.
fn outputs_by_name(map: &mut Map<String, Value>) -> Option<FieldReading> {
    let written = map.get("connections").filter(|written| written.is_object() && map.get("edges").is_none())?.clone();
    let nodes = map.get("nodes")?.as_array()?;
    if nodes.iter().any(|node| node.get("agent_name").is_some() || node.get("name").is_none()) {
        return None;
    }
    let id = |name: &str| {
        let named = nodes.iter().find(|node| node.get("name").and_then(Value::as_str) == Some(name));
        named.and_then(|node| node.get("id")?.as_str()).unwrap_or(name).to_owned()
    };
    let mut edges = Vec::new();
    for (name, outputs) in written.as_object()? {
        for (kind, ways) in outputs.as_object()? {
            let ways = ways.as_array()?;
            for (number, targets) in ways.iter().enumerate() {
                for target in targets.as_array().into_iter().flatten() {
                    let mut edge = json!({"from": id(name), "to": id(target.get("node")?.as_str()?)});
                    // Other kinds lead from what a node uses to the node, such as a model to its agent.
                    if kind != "main" {
                        edge["label"] = json!(kind);
                    }
                    if ways.len() > 1 {
                        edge["when"] = json!(format!("output {} of {name}", number + 1));
                    }
                    edges.push(edge);
                }
            }
        }
    }
    let read = Value::Array(edges);
    rename_key(map, "connections", "edges");
    map.insert("edges".to_owned(), read.clone());
    let message = "`connections` is read as `edges`, as n8n means them; its nodes call what dagdeck doesn't have: say of each what it does";
    let reading = FieldReading::of("edges", read, message.to_owned());
    Some(FieldReading { name: "connections".into(), written: Some(written), list: Some(ListForm::Spread), ..reading })
}

pub(super) fn is_nodes(value: &Value) -> bool {
    value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(Value::is_object))
}

/// Whether an object holds steps by their ids.
fn is_by_id(value: &Value) -> bool {
    value.as_object().is_some_and(|map| !map.is_empty() && map.values().all(aliases::is_step))
}

/// Whether a document has nodes under some name.
fn holds_nodes(value: &Value) -> bool {
    let Value::Object(map) = value else { return false };
    tell(value).is_ok() || other_list(map).is_some() || groups::group_list(map).is_some()
}

/// A document that holds its plan in one field: what is beside it becomes fields of the plan.
fn wrapped(document: &mut Value) -> Option<FieldReading> {
    let Value::Object(map) = &mut *document else { return None };
    let is_tools = map.get("dag").is_some_and(|dag| dag.is_array() || is_by_id(dag));
    let is_plan = |name: &str| name != "dag" && map.contains_key(name) || name == "dag" && is_tools;
    if ["dagdeck", "nodes", "dag", "tasks", "connections", "stages"].into_iter().any(is_plan)
        || other_list(map).is_some()
        || groups::group_list(map).is_some()
    {
        return None;
    }
    let is_graph = |name: &str| NAMES.stage.graphs.contains(&name) && map[name].get("stages").is_some();
    let mut plans = map.iter().filter(|(_, value)| holds_nodes(value));
    let (Some((name, plan)), None) = (plans.next(), plans.next()) else { return None };
    if is_graph(name) || map.keys().any(|key| key != name && plan.get(key).is_some()) {
        return None;
    }
    let (name, at) = (name.clone(), map.keys().position(|key| key == name));
    let Some(Value::Object(mut plan)) = map.shift_remove(&name) else { return None };
    let beside = std::mem::take(map);
    plan.extend(beside.clone());
    *document = Value::Object(plan);
    let message = format!("the plan is in `{name}`: read as the whole document");
    Some(FieldReading { name, written: Some(Value::Object(beside)), at, message, list: Some(ListForm::Inside), ..FieldReading::default() })
}

/// Another version may mean anything by the same words.
pub(super) fn version(map: &mut Map<String, Value>, notes: &mut Vec<FieldReading>) -> Result<(), ShapeError> {
    let Some(written) = map.get("dagdeck").filter(|version| !version.is_null()) else { return Ok(()) };
    if written.as_u64() == Some(FORMAT) {
        return Ok(());
    }
    if written.as_f64() == Some(FORMAT as f64) || written.as_str().is_some_and(|text| text.trim() == FORMAT.to_string()) {
        let message = format!("{written} is read as {FORMAT}");
        replace(map, "dagdeck", json!(FORMAT), message, false, notes);
        return Ok(());
    }
    plan_from_value(json!({ "dagdeck": written, "nodes": [] })).map(drop)
}

/// A list of nodes under a name that no form has.
fn named_list(map: &mut Map<String, Value>, notes: &mut Vec<FieldReading>) {
    if let Some(name) = other_list(map) {
        take_list(map, &name, "nodes", notes);
    }
}

/// The name of a list of nodes that no form has: a usual one, or that of the only list of steps.
fn other_list(map: &Map<String, Value>) -> Option<String> {
    let is_graph = |name: &str| map.get(name).is_some_and(|graph| graph.get("stages").is_some());
    if ["nodes", "dag", "tasks", "stages", "connections"].iter().any(|name| map.contains_key(*name))
        || NAMES.stage.graphs.iter().copied().any(is_graph)
    {
        return None;
    }
    let are_objects = |value: &Value| value.as_object().is_some_and(|map| !map.is_empty() && map.values().all(Value::is_object));
    let is_list = |name: &str, value: &Value| is_nodes(value) || is_by_id(value) || BY_ID.contains(&name) && are_objects(value);
    let usual = NAMES.node.lists.iter().find_map(|name| map.iter().find(|(key, value)| is_alike(key, name) && is_list(name, value)));
    let usual = usual.map(|(key, _)| key.clone());
    let is_steps = |value: &Value| is_nodes(value) && value.as_array().is_some_and(|list| list.iter().all(aliases::is_step));
    let mut steps = map.iter().filter(|(_, value)| is_steps(value)).map(|(name, _)| name.clone());
    usual.or_else(|| steps.next().filter(|_| steps.next().is_none()))
}

/// Names of objects that hold nodes by their ids, whatever those have.
const BY_ID: [&str; 4] = ["steps", "states", "jobs", "task_nodes"];

/// Puts a list, or an object by id, where a form has its list of nodes.
fn take_list(map: &mut Map<String, Value>, name: &str, field: &str, notes: &mut Vec<FieldReading>) {
    rename_key(map, name, field);
    let mut form = ListForm::Plain;
    if let Some(Value::Object(by_id)) = map.get_mut(field) {
        form = ListForm::ById;
        let list = std::mem::take(by_id).into_iter().map(|(key, mut node)| {
            if let Value::Object(node) = &mut node
                && !node.contains_key("id")
            {
                node.shift_insert(0, "id".to_owned(), json!(key));
                let id = FieldReading::of("id", json!(key), String::new());
                reading::note(node, vec![FieldReading { name: reading::KEY.into(), written: Some(json!(key)), ..id }]);
            }
            node
        });
        let list = list.collect();
        map.insert(field.to_owned(), list);
    }
    let message = match (form, name == field) {
        (ListForm::ById, true) => format!("`{name}` is an object by id: read as a list"),
        (ListForm::ById, false) => format!("`{name}` is an object by id: read as the list `{field}`"),
        _ => format!("`{name}` is read as `{field}`"),
    };
    notes.push(FieldReading { field: field.into(), name: name.into(), message, list: Some(form), ..FieldReading::default() });
}

/// Tasks that have no field of the hybrid form's own are nodes as others are.
fn plain_tasks(map: &mut Map<String, Value>, notes: &mut Vec<FieldReading>) {
    let own = ["tool", "code", "arguments", "agent_role", "agent_goal", "agent_model", "agent_tools", "agent_context"];
    let is_typed = |task: &Value| {
        task.get("type").and_then(Value::as_str).is_some_and(|kind| ["_execution", "_delegation"].iter().any(|own| kind.ends_with(own)))
    };
    let has_own = |task: &Value| is_typed(task) || own.iter().any(|name| task.get(name).is_some_and(|value| !value.is_null()));
    let is_plain = |task: &Value| !has_own(task) && (aliases::is_step(task) || aliases::is_titled(task));
    let are_plain = match map.get("tasks") {
        Some(Value::Array(tasks)) => !tasks.is_empty() && tasks.iter().all(is_plain),
        Some(Value::Object(tasks)) => !tasks.is_empty() && tasks.values().all(is_plain),
        _ => false,
    };
    if are_plain && !["nodes", "dag", "stages", "connections"].iter().any(|name| map.contains_key(*name)) {
        take_list(map, "tasks", "nodes", notes);
    }
}

/// Nodes without ids that the others name by another field, or that are numbered, have that for an id.
pub(super) fn ids_by_name(map: &mut Map<String, Value>, shape: &DocumentShape) {
    let Some(Value::Array(nodes)) = map.get(shape.nodes) else { return };
    let ids = ["id", "node_id", "task_id", "step_id", "stage_id"];
    if shape.is_literal || !nodes.iter().all(|node| node.is_object() && ids.iter().all(|id| node.get(id).is_none())) {
        return;
    }
    let fields = ["name", "task", "title", "tool", "tool_name", "action"];
    let by_name = fields.into_iter().find(|field| {
        let names: Vec<&str> = nodes.iter().filter_map(|node| node.get(*field)?.as_str()).collect();
        let different: HashSet<&str> = names.iter().copied().collect();
        different.len() == nodes.len() && map.iter().any(|(key, value)| *key != "goal" && is_named(value, field, &different))
    });
    let is_numbered = |field: &&str| {
        let numbers: HashSet<u64> = nodes.iter().filter_map(|node| node.get(*field)?.as_u64()).collect();
        numbers.len() == nodes.len()
    };
    let Some(field) = by_name.or_else(|| ["step", "step_number", "number"].into_iter().find(is_numbered)) else { return };
    for node in map.get_mut(shape.nodes).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut) {
        let Some(id) = node.get(field).map(|id| json!(value_text(id))) else { continue };
        let by = if by_name.is_some() { ", by which others name it" } else { "" };
        let message = format!("has no `id`: read as {id}, its `{field}`{by}");
        node.shift_insert(0, "id".to_owned(), id.clone());
        reading::note(node, vec![FieldReading::of("id", id, message)]);
    }
}

/// Whether a text beside the nodes' own field says one of these names alone, or refers to it as `{{name.output}}`.
fn is_named(value: &Value, own: &str, names: &HashSet<&str>) -> bool {
    match value {
        Value::String(text) => {
            let referred = || text.split("{{").skip(1).filter_map(|rest| rest.trim_start().split(['.', '}', ' ', '|', '[']).next());
            names.contains(text.trim()) || referred().any(|name| names.contains(name))
        }
        Value::Array(list) => list.iter().any(|value| is_named(value, own, names)),
        Value::Object(fields) => fields.iter().any(|(field, value)| field != own && is_named(value, own, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Names of stages beside nodes that are no stages themselves say an order which nobody can read.
fn names_of_stages(map: &mut Map<String, Value>, notes: &mut Vec<FieldReading>) {
    let Some(names) = map.get("stages").and_then(Value::as_array).filter(|list| !list.iter().any(Value::is_object)) else { return };
    let Some(list) = ["nodes", "tasks", "dag"].into_iter().find(|name| map.get(*name).is_some_and(is_nodes)) else { return };
    let nodes = map.get(list).and_then(Value::as_array).into_iter().flatten();
    let mut named = nodes.filter(|node| ["id", "stage_id"].iter().any(|id| node.get(id).is_some_and(|id| names.contains(id)))).peekable();
    if named.peek().is_some() && named.all(|node| stages::stage_alone(node.clone(), "").is_ok()) {
        return;
    }
    let message = format!("`stages` is a list of names beside `{list}`: write the order that it means as each node's `depends_on`");
    aside(map, "stages", message, notes);
}
