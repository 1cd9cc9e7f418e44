//! Stages, phases and milestones that hold tasks: those of one start together, after those of the one before, unless the document says an
//! order itself.

use super::aliases;
use super::names::NAMES;
use super::reading::{FieldReading, ListForm, rename_key};
use crate::plan::fields::is_quiet;
use serde_json::{Map, Value, json};

/// Reads the tasks in the groups of a document as its nodes.
pub(super) fn grouped(map: &mut Map<String, Value>) -> Option<FieldReading> {
    if ["nodes", "dag", "tasks"].iter().any(|name| map.contains_key(*name)) {
        return None;
    }
    let (name, groups) = group_list(map)?;
    let written = map.get(name)?.clone();
    // Jobs start when what they need is done, and do their steps one after the other.
    let are_jobs = name == JOBS;
    let is_told = groups.iter().filter_map(tasks_of).flatten().any(|(_, task)| order_of(task).is_some());
    let is_named = groups.iter().any(|group| order_of(group).is_some());
    let mut nodes: Vec<Value> = Vec::new();
    let mut ends: Vec<GroupEnd> = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let last = || ends.last().filter(|_| !is_told && !are_jobs).map(|end| end.last.clone()).unwrap_or_default();
        let mut before = order_of(group).map_or_else(last, |named| named_ends(named, &ends));
        let mut tasks: Vec<(String, Map<String, Value>)> = Vec::new();
        for (place, task) in tasks_of(group)? {
            let mut task = task_of(task.clone(), group);
            tasks.push((id_of(&mut task, || format!("step_{}_{}", at + 1, place + 1)), task));
        }
        let ids: Vec<String> = tasks.iter().map(|(id, _)| id.clone()).collect();
        let sources: Vec<String> = tasks.iter().flat_map(|(_, task)| order_of_task(task)).collect();
        for (id, task) in &mut tasks {
            // What waits for another one of the group waits for what is before the group, too.
            if !order_of_task(task).iter().any(|source| ids.contains(source)) {
                add_order(task, &before);
            }
            if are_jobs || is_sequence(group) {
                before = vec![id.clone()];
            }
        }
        let is_last = |id: &&String| !sources.contains(*id);
        let last = if are_jobs || is_sequence(group) { before } else { ids.iter().filter(is_last).cloned().collect() };
        ends.push(GroupEnd { labels: labels(group), last });
        if let (Some((_, first)), Some(rest)) = (tasks.first_mut(), unread(group)) {
            first.insert("group".to_owned(), rest);
        }
        nodes.extend(tasks.into_iter().map(|(_, task)| Value::Object(task)));
    }
    let read = Value::Array(nodes);
    rename_key(map, name, "nodes");
    map.insert("nodes".to_owned(), read.clone());
    let order = match (is_told, is_named) {
        _ if are_jobs => "those of each one after the other, after those of the entries that it names",
        (true, true) => "in the order that those and the entries say",
        (true, false) => "in the order that those say",
        (false, true) => "each after those of the entries that its own names, or of the entry before",
        (false, false) => "each after those of the entry before",
    };
    let message = format!("what the entries of `{name}` hold is read as the nodes, {order}");
    let reading = FieldReading::of("nodes", read, message);
    Some(FieldReading { name: name.into(), written: Some(written), list: Some(ListForm::Spread), ..reading })
}

/// The name of groups that run by themselves.
const JOBS: &str = "jobs";

/// The groups of a document, with the name of their list or of the object that has them by their names.
pub(super) fn group_list(map: &Map<String, Value>) -> Option<(&'static str, Vec<Value>)> {
    let groups = |written: &Value| {
        let groups: Vec<Value> = match written {
            Value::Array(groups) => groups.clone(),
            Value::Object(by_name) => by_name.iter().map(|(name, group)| named_group(name, group)).collect(),
            _ => return None,
        };
        let are_groups = !groups.is_empty() && groups.iter().all(|group| group.is_object() && tasks_of(group).is_some());
        are_groups.then_some(groups)
    };
    let names = NAMES.group.lists.iter().copied().chain([JOBS]);
    names.into_iter().find_map(|name| {
        let written = map.get(name).filter(|written| name != JOBS || written.is_object())?;
        groups(written).map(|groups| (name, groups))
    })
}

/// A group that stands under its name, perhaps as its tasks alone.
fn named_group(name: &str, group: &Value) -> Value {
    let mut group = match group {
        Value::Object(group) => group.clone(),
        tasks => Map::from_iter([("tasks".to_owned(), tasks.clone())]),
    };
    group.entry("id").or_insert_with(|| json!(name));
    Value::Object(group)
}

/// A group that was read: what others may call it, and the tasks with which it ends.
struct GroupEnd {
    labels: Vec<String>,
    last: Vec<String>,
}

/// The tasks of a group, with their places.
fn tasks_of(group: &Value) -> Option<Vec<(usize, &Value)>> {
    let lists = NAMES.group.inner.iter().filter_map(|name| group.get(*name)?.as_array());
    let list = lists.into_iter().find(|list| !list.is_empty() && list.iter().all(|task| task.is_object() || task.is_string()))?;
    Some(list.iter().enumerate().collect())
}

/// What a group or a task says that comes before it.
fn order_of(of: &Value) -> Option<&Value> {
    NAMES.node.depends_on.iter().find_map(|name| of.get(*name)).filter(|named| !named.is_null())
}

fn order_of_task(task: &Map<String, Value>) -> Vec<String> {
    NAMES.node.depends_on.iter().find_map(|name| task.get(*name)).map(named).unwrap_or_default()
}

/// The names in a text, a number or a list of them.
fn named(value: &Value) -> Vec<String> {
    let one = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    value.as_array().map_or_else(|| one(value).into_iter().collect(), |list| list.iter().filter_map(one).collect())
}

/// What others may call a group: its id, number and name, and a number with the word for it.
fn labels(group: &Value) -> Vec<String> {
    let said = NAMES.group.label.iter().filter_map(|name| Some((*name, named(group.get(*name)?))));
    said.flat_map(|(name, said)| said.into_iter().flat_map(move |label| [format!("{name} {label}"), label]))
        .map(|label| label.to_lowercase())
        .collect()
}

/// The tasks that come before a group: with which those end that it names. A name that no group has is kept for validation to find.
fn named_ends(names: &Value, ends: &[GroupEnd]) -> Vec<String> {
    let last = |name: String| {
        let label = name.to_lowercase();
        let found: Vec<String> = ends.iter().filter(|end| end.labels.contains(&label)).flat_map(|end| end.last.clone()).collect();
        if found.is_empty() { vec![name] } else { found }
    };
    named(names).into_iter().flat_map(last).collect()
}

/// Has a task wait for these, too.
fn add_order(task: &mut Map<String, Value>, before: &[String]) {
    if before.is_empty() {
        return;
    }
    let field = NAMES.node.depends_on.iter().find(|name| task.get(**name).is_some_and(|value| !value.is_null())).unwrap_or(&"depends_on");
    let mut all = task.get(*field).map(named).unwrap_or_default();
    all.extend(before.iter().filter(|id| !all.contains(id)).cloned().collect::<Vec<_>>());
    task.insert((*field).to_owned(), json!(all));
}

/// The fields of a group that mean nothing for its tasks, but for its names.
fn unread(group: &Value) -> Option<Value> {
    let group = group.as_object()?;
    let is_read = |name: &str, value: &Value| {
        let names = [&NAMES.group.label, &NAMES.group.inner, &NAMES.node.depends_on];
        names.iter().any(|names| names.contains(&name)) || SEQUENCE.contains(&name) || name == "parallel" || is_for_all(name, value)
    };
    let rest: Map<String, Value> = group
        .iter()
        .filter(|(name, value)| !is_read(name, value) && !is_quiet(value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    (!rest.is_empty()).then_some(Value::Object(rest))
}

/// Whether a field of a group holds for each of its tasks: a condition, or a gate.
fn is_for_all(name: &str, value: &Value) -> bool {
    NAMES.group.condition.contains(&name) || aliases::gate(name, value, Some("approve")).is_some()
}

/// Fields that say whether a group's tasks run one after the other.
const SEQUENCE: [&str; 4] = ["mode", "execution", "execution_mode", "type"];

fn is_sequence(group: &Value) -> bool {
    let says = |name: &str| group.get(name).and_then(Value::as_str) == Some("sequential");
    SEQUENCE.into_iter().any(says) || group.get("parallel") == Some(&Value::Bool(false))
}

/// A task with the conditions and gates of its group, and the group's name as a note.
fn task_of(task: Value, group: &Value) -> Map<String, Value> {
    let mut task = match task {
        Value::Object(task) => task,
        text => Map::from_iter([("objective".to_owned(), text)]),
    };
    for (name, value) in group.as_object().into_iter().flatten().filter(|(name, value)| is_for_all(name, value)) {
        task.entry(name.clone()).or_insert_with(|| value.clone());
    }
    let title = ["name", "title"].into_iter().find_map(|name| group.get(name).filter(|title| title.is_string()));
    if let Some(title) = title {
        task.entry("notes").or_insert_with(|| title.clone());
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
