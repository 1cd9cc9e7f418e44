//! The order that a document says in fields which order nothing: lists, groups and arrows of nodes, numbers, and words such as
//! "sequential".

use super::check::PlanCheck;
use super::finding::Fix;
use super::said_edges::{edges_said, is_nowhere, lacks, pairs};
use super::structure::position_in;
use super::wording::{legible, meant};
use crate::plan::dialect::names::NAMES;
use crate::plan::dialect::plain;
use crate::plan::edit::Edit;
use crate::plan::native::node_fields;
use crate::plan::{Dialect, NodeId};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Whether an unknown field of the plan says an order that the plan doesn't have.
pub(super) fn says_order(check: &PlanCheck, name: &str, value: &Value) -> bool {
    // A list beside the edges may be the other way round.
    if let Some(said) = pairs(check, name, value).filter(|said| !value.is_array() || lacks(check, said)) {
        return lacks(check, &said);
    }
    let word = plain(name);
    let is_end = |value: &Value| position(check, value).is_some();
    let is_text = |value: &Value| value.is_string() && is_end(value);
    let is_pair = |value: &Value| match value {
        Value::Array(ends) => ends.len() == 2 && ends.iter().all(is_end),
        Value::Object(fields) => {
            fields.values().filter(|value| is_text(value)).count() > 1 || fields.len() == 2 && fields.values().all(is_end)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    let of_nodes = |(id, sources): (&String, &Value)| {
        let mut all = sources.as_array().into_iter().flatten();
        is_text(&Value::from(id.as_str())) && (is_text(sources) || sources.is_array() && all.all(is_text))
    };
    if let Some(groups) = groups(check, name, value) {
        return !is_kept(check, &groups);
    }
    let listed = || value.as_array().into_iter().flatten();
    let are_edges =
        NAMES.said_order.edges.iter().any(|part| word.contains(part)) && listed().any(|edge| edge.is_array() || edge.is_object());
    let are_pairs = !is_together(name) && listed().any(is_pair);
    are_edges
        || are_pairs
        || value.as_object().is_some_and(|map| !map.is_empty() && map.iter().all(of_nodes))
        || inner_order(check, value).is_some()
}

/// The list inside of a field of the plan that says an order: `{"execution_order": […]}`.
fn inner_order<'v>(check: &PlanCheck, value: &'v Value) -> Option<(&'v str, &'v Value)> {
    let mut lists = value.as_object()?.iter().filter(|(_, inner)| inner.is_array()).map(|(name, inner)| (name.as_str(), inner));
    lists.find(|(name, inner)| says_order(check, name, inner))
}

/// The node that a value names.
fn position(check: &PlanCheck, value: &Value) -> Option<usize> {
    let id = match value {
        Value::String(id) => id.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    check.graph.position(&NodeId::new(id))
}

/// The nodes that an unknown field of the plan puts one after the other, as groups that run together.
fn groups(check: &PlanCheck, name: &str, value: &Value) -> Option<Vec<Vec<usize>>> {
    let word = plain(name);
    let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
    let all = || (0..check.plan.nodes.len()).map(|at| vec![at]).collect();
    let is_in_turn = |text: &str| NAMES.said_order.in_turn.contains(&plain(text.rsplit('.').next().unwrap_or(text)).as_str());
    let group = |entry: &Value| match entry {
        Value::Array(list) => list.iter().map(|id| position(check, id)).collect::<Option<Vec<_>>>(),
        Value::Object(fields) => {
            let mut lists = fields.values().filter_map(Value::as_array);
            lists.next().filter(|_| lists.next().is_none())?.iter().map(|id| position(check, id)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => position(check, entry).map(|at| vec![at]),
    };
    let is_walk = matches!(check.plan.dialect, Dialect::Workflow | Dialect::Stages);
    match value {
        Value::String(text) if is_in_turn(text) => (!is_walk).then(all),
        Value::Bool(said) if is_in_turn(name) == *said && (*said || word.contains("parallel")) => (!is_walk).then(all),
        Value::String(text) => arrows(check, text),
        Value::Object(fields) if fields.len() > 1 && is_counted(fields.keys().map(|key| key.parse().ok())) => {
            let groups: Vec<Vec<usize>> = fields.values().map(group).collect::<Option<_>>()?;
            let mut seen = HashSet::new();
            groups.iter().flatten().all(|at| seen.insert(*at)).then_some(groups)
        }
        Value::Object(fields) => {
            let said = fields.values().filter_map(Value::as_str).any(is_in_turn);
            (said && !is_walk).then(all)
        }
        // What runs together has no order.
        Value::Array(list) if is_together(name) && list.iter().all(Value::is_string) => None,
        Value::Array(list) if list.len() > 1 && (has(&NAMES.said_order.sequence) || is_counted(list.iter().map(number))) => {
            let groups: Vec<Vec<usize>> = list.iter().map(group).collect::<Option<_>>()?;
            let mut seen = HashSet::new();
            groups.iter().flatten().all(|at| seen.insert(*at)).then_some(groups)
        }
        Value::Array(_) | Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Whether a name says that nodes run at the same time.
pub(super) fn is_together(name: &str) -> bool {
    let word = plain(name);
    ["parallel", "concurrent", "simultan", "together", "alongside"].iter().any(|part| word.contains(part))
}

/// Whether there is a number for each, larger from one to the next.
fn is_counted(numbers: impl Iterator<Item = Option<u64>>) -> bool {
    let numbers: Option<Vec<u64>> = numbers.collect();
    numbers.is_some_and(|numbers| numbers.is_sorted_by(|one, next| one < next))
}

/// The one number of an object.
fn number(entry: &Value) -> Option<u64> {
    let mut numbers = entry.as_object()?.values().filter_map(Value::as_u64);
    numbers.next().filter(|_| numbers.next().is_none())
}

/// `a -> b -> c`.
fn arrows(check: &PlanCheck, text: &str) -> Option<Vec<Vec<usize>>> {
    let parts: Vec<&str> = text.split("->").flat_map(|part| part.split(['→', '⇒'])).collect();
    let nodes = || parts.iter().map(|part| position(check, &Value::from(*part)).map(|at| vec![at])).collect();
    (parts.len() > 1).then(nodes)?
}

/// Whether the plan has such an order: each node of a group comes after one of those before it.
fn is_kept(check: &PlanCheck, groups: &[Vec<usize>]) -> bool {
    let mut before = HashSet::<usize>::new();
    groups.iter().enumerate().all(|(number, group)| {
        let is_kept = number == 0 || group.iter().all(|&at| check.graph.predecessors(at).any(|source| before.contains(&source)));
        before.extend(group);
        is_kept
    })
}

/// By a number at each node, the nodes that come one after the other, where the plan has no other order.
fn numbered(check: &PlanCheck, name: &str) -> Option<Vec<Vec<usize>>> {
    let is_number = NAMES.said_order.numbers.contains(&plain(name).as_str());
    if !is_number || check.plan.nodes.len() > MOST_NUMBERED || matches!(check.plan.dialect, Dialect::Workflow | Dialect::Stages) {
        return None;
    }
    let mut groups = BTreeMap::<u64, Vec<usize>>::new();
    for (at, node) in check.plan.nodes.iter().enumerate() {
        if check.graph.predecessors(at).next().is_some() {
            return None;
        }
        groups.entry(node.ext.get(name)?.as_u64()?).or_default().push(at);
    }
    (groups.len() > 1).then(|| groups.into_values().collect())
}

/// In plans of more nodes a number at each of them is only a warning: it would be compared with all the others.
const MOST_NUMBERED: usize = 1_000;

/// The order that an unknown field says, as dependencies.
pub(super) fn order_said(check: &PlanCheck, at: Option<usize>, name: &str, value: &Value) -> Option<Fix> {
    if let Some(at) = at.filter(|_| NAMES.said_order.needs.iter().any(|start| plain(name).starts_with(start))) {
        let sources: Vec<NodeId> = linked(check, at, value).into_iter().map(|source| check.graph.id(source).clone()).collect();
        let edit = check.changed(at, |node| node.depends_on.extend(sources.iter().cloned()));
        return (!sources.is_empty()).then(|| Fix::guess(format!("depend on `{}`", sources.join("`, `")), edit));
    }
    if let Some(fix) = edges_said(check, at, name, value) {
        return Some(fix);
    }
    let groups = match at {
        Some(_) => numbered(check, name),
        None => groups(check, name, value).or_else(|| inner_order(check, value).and_then(|(name, inner)| groups(check, name, inner))),
    }?;
    let ranks = groups.iter().enumerate().flat_map(|(rank, group)| group.iter().map(move |&at| (at, rank)));
    let ranks: HashMap<usize, usize> = ranks.collect();
    let leads_back = |at: usize| check.graph.predecessors(at).any(|source| ranks.get(&source).is_some_and(|rank| *rank >= ranks[&at]));
    if groups.iter().flatten().any(|&at| leads_back(at)) {
        return None;
    }
    let after = |group: &[usize], at: usize| {
        let sources: Vec<NodeId> = group.iter().map(|&source| check.graph.id(source).clone()).collect();
        check.changed(at, |node| {
            let missing: Vec<NodeId> = sources.into_iter().filter(|source| !node.depends_on.contains(source)).collect();
            node.depends_on.extend(missing);
        })
    };
    let pairs = groups.iter().zip(groups.iter().skip(1));
    let edits = pairs.flat_map(|(before, group)| group.iter().map(move |&at| after(before, at))).collect();
    Some(Fix::guess("make each node depend on those before it", Edit::Batch { edits }))
}

/// How a form writes the order.
pub(super) fn right_place(dialect: Dialect) -> &'static str {
    let elsewhere = &NAMES.form(dialect).node.elsewhere;
    match (elsewhere.iter().find(|(field, _)| *field == "depends_on"), dialect) {
        (Some((_, words)), _) => words,
        (None, Dialect::Tools) => "write the order as each task's `dependencies`",
        (None, _) => "write the order as each node's `depends_on`",
    }
}

/// What a field says of the order, by its name or by the nodes that it names.
pub(super) fn lost_order(check: &PlanCheck, at: usize, name: &str, value: &Value) -> Option<String> {
    if let Some(groups) = numbered(check, name) {
        return (!groups[0].contains(&at)).then(|| "says an order, but orders nothing here".to_owned());
    }
    if is_together(name) {
        return None;
    }
    let word = plain(name);
    let is = |words: &[&str]| words.contains(&word.as_str());
    let listed = value.as_array().into_iter().flatten().chain(value.as_object().into_iter().flat_map(Map::values));
    let id = |value: &Value| match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let ids: Vec<String> = id(value).into_iter().chain(listed.filter_map(id)).collect();
    let is_order = is(&NAMES.unknown.order);
    let own = check.graph.id(at).as_str();
    let is_perhaps = is(&NAMES.unknown.perhaps_order);
    // The plan says the same by its edges.
    let beside = |id: &String| {
        let comes_before = is_perhaps && check.graph.predecessors(at).any(|before| check.graph.id(before).as_str() == id);
        comes_before || check.graph.successors(at).any(|next| check.graph.id(next).as_str() == id)
    };
    if (is_order || is_perhaps) && !ids.is_empty() && ids.iter().all(beside) {
        return None;
    }
    if is_order && let Some(lost) = ids.iter().find(|id| !is_nowhere(&Value::from(id.as_str()))) {
        let is_known = check.has_alike(lost) || position_in(lost).is_some();
        let unknown = if is_known { String::new() } else { format!(", and there is no node `{}`", legible(lost)) };
        return Some(format!("says what comes after this, but orders nothing here{unknown}"));
    }
    let is_whole = value.as_array().map(Vec::len).or(value.as_object().map(Map::len)).is_none_or(|count| count == ids.len());
    let is_node = |id: &String| id != own && check.has_alike(id);
    let are_nodes = is_whole && !ids.is_empty() && ids.iter().all(is_node);
    // A slip of another field's name is told as that.
    let is_slip = || meant(name, node_fields()).is_some_and(|near| near != "depends_on");
    let is_link = is(&NAMES.said_order.link) || NAMES.said_order.link_parts.iter().any(|part| word.contains(part));
    let is_lost = !linked(check, at, value).is_empty();
    let is_joined = !is_lost && ids.iter().all(|id| check.graph.position(id).is_some());
    let says =
        is_link && is_lost || are_nodes && !is_joined && (is_perhaps || value.is_array() && !is_slip()) || leads_inside(check, own, value);
    says.then(|| "names other nodes, but orders nothing here".to_owned())
}

/// The other nodes that a value names, by their ids or as in `id.result`, which no edge joins with this one.
pub(super) fn linked(check: &PlanCheck, at: usize, value: &Value) -> Vec<usize> {
    let named = match value {
        Value::String(text) => {
            let whole = check.graph.position(text.trim());
            whole.or_else(|| check.graph.position(text.trim().split('.').next()?)).into_iter().collect()
        }
        Value::Array(list) => list.iter().flat_map(|value| linked(check, at, value)).collect(),
        Value::Object(fields) => {
            let inside = fields.iter().flat_map(|(id, value)| check.graph.position(id).into_iter().chain(linked(check, at, value)));
            inside.collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    };
    let is_joined = |other: usize| check.graph.predecessors(at).chain(check.graph.successors(at)).any(|next| next == other);
    named.into_iter().filter(|&other| other != at && !is_joined(other)).collect()
}

/// Whether a field inside of a value says that it leads to another node.
fn leads_inside(check: &PlanCheck, own: &str, value: &Value) -> bool {
    let is_way = |name: &str| {
        let words = [&NAMES.unknown.order, &NAMES.unknown.perhaps_order, &NAMES.unknown.way];
        words.iter().any(|words| words.contains(&plain(name).as_str()))
    };
    let is_node = |id: &Value| id.as_str().is_some_and(|id| id != own && check.graph.position(id).is_some());
    match value {
        Value::Object(fields) => fields.iter().any(|(name, inner)| {
            is_way(name) && (is_node(inner) || inner.as_array().is_some_and(|list| list.iter().any(is_node)))
                || leads_inside(check, own, inner)
        }),
        Value::Array(list) => list.iter().any(|inner| leads_inside(check, own, inner)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
