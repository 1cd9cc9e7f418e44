//! Stages, phases and milestones that hold tasks: those of one start together, after those of the one before, unless the document says an
//! order itself.

use super::aliases;
use super::names::NAMES;
use super::outline::is_nodes;
use super::reading::{FieldReading, ListForm, rename_key};
use serde_json::{Map, Value, json};

/// Reads the tasks in the groups of a document as its nodes.
pub(super) fn grouped(map: &mut Map<String, Value>) -> Option<FieldReading> {
    let inner = |group: &Value| {
        let lists = NAMES.group.inner.iter().filter_map(|name| group.get(*name)?.as_array());
        lists.into_iter().find(|list| !list.is_empty() && list.iter().all(|task| task.is_object() || task.is_string())).cloned()
    };
    if ["nodes", "dag", "tasks"].iter().any(|name| map.contains_key(*name)) {
        return None;
    }
    let is_groups = |value: &Value| is_nodes(value) && value.as_array().is_some_and(|list| list.iter().all(|group| inner(group).is_some()));
    let name = NAMES.group.lists.iter().copied().find(|name| map.get(*name).is_some_and(is_groups))?;
    let written = map.get(name)?.clone();
    let groups = written.as_array()?;
    let says_order = |task: &Value| NAMES.node.depends_on.iter().any(|name| task.get(*name).is_some_and(|value| !value.is_null()));
    let is_told = groups.iter().filter_map(inner).flatten().any(|task| says_order(&task));
    let mut nodes: Vec<Value> = Vec::new();
    let mut ends: Vec<(Option<String>, Vec<String>)> = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let mut before = before(group, &ends);
        let mut own = Vec::new();
        for (place, task) in inner(group)?.into_iter().enumerate() {
            let mut task = task_of(task, group);
            let id = id_of(&mut task, || format!("step_{}_{}", at + 1, place + 1));
            if !is_told && !before.is_empty() {
                task.insert("depends_on".to_owned(), json!(before));
            }
            if is_sequence(group) {
                (before, own) = (vec![id.clone()], vec![id]);
            } else {
                own.push(id);
            }
            nodes.push(Value::Object(task));
        }
        ends.push((NAMES.group.name.iter().find_map(|name| group.get(*name)?.as_str()).map(str::to_owned), own));
    }
    let read = Value::Array(nodes);
    rename_key(map, name, "nodes");
    map.insert("nodes".to_owned(), read.clone());
    let order = if is_told { "in the order that those say" } else { "each after those of the entry before" };
    let message = format!("what the entries of `{name}` hold is read as the nodes, {order}");
    let reading = FieldReading::of("nodes", read, message);
    Some(FieldReading { name: name.into(), written: Some(written), list: Some(ListForm::Spread), ..reading })
}

/// What comes before a group: the ends of those that it names, or of the one before it.
fn before(group: &Value, ends: &[(Option<String>, Vec<String>)]) -> Vec<String> {
    let Some(named) = NAMES.node.depends_on.iter().find_map(|name| group.get(*name)).filter(|named| !named.is_null()) else {
        return ends.last().map(|(_, ids)| ids.clone()).unwrap_or_default();
    };
    let named: Vec<&str> = named.as_str().into_iter().chain(named.as_array().into_iter().flatten().filter_map(Value::as_str)).collect();
    let is_named = |name: &Option<String>| name.as_deref().is_some_and(|name| named.contains(&name));
    ends.iter().filter(|(name, _)| is_named(name)).flat_map(|(_, ids)| ids.clone()).collect()
}

fn is_sequence(group: &Value) -> bool {
    let says = |name: &str| group.get(name).and_then(Value::as_str) == Some("sequential");
    ["mode", "execution", "execution_mode", "type"].into_iter().any(says) || group.get("parallel") == Some(&Value::Bool(false))
}

/// A task with the conditions and gates of its group.
fn task_of(task: Value, group: &Value) -> Map<String, Value> {
    let mut task = match task {
        Value::Object(task) => task,
        text => Map::from_iter([("objective".to_owned(), text)]),
    };
    let holds = |name: &String, value: &Value| {
        NAMES.group.condition.contains(&name.as_str()) || aliases::gate(name, value, Some("approve")).is_some()
    };
    for (name, value) in group.as_object().into_iter().flatten().filter(|(name, value)| holds(name, value)) {
        task.entry(name.clone()).or_insert_with(|| value.clone());
    }
    task
}

fn id_of(task: &mut Map<String, Value>, new: impl Fn() -> String) -> String {
    let named =
        NAMES.group.name.iter().find_map(|name| Some((*name, task.get(*name).filter(|id| id.is_string() || id.is_number())?.clone())));
    let text = |id: &Value| id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    match named {
        Some((name, id)) if !["name", "title"].contains(&name) => text(&id),
        named => {
            let id = named.map_or_else(new, |(_, id)| text(&id));
            task.shift_insert(0, "id".to_owned(), json!(id));
            id
        }
    }
}
