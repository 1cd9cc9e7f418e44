//! Places in the document that a plan was read from. Findings speak native (`nodes[0].tool`); whoever wrote another dialect looks for
//! `tasks[0].tool`.

use super::names::NAMES;
use super::reading::{FieldReading, ListForm, readings};
use super::source::SourceText;
use super::{field_names, forms, spread, stages};
use crate::plan::fields::step;
use crate::plan::{Dialect, NodeKind, Plan, SubplanNode};
use std::borrow::Cow;

/// The place that a native path means in a document of this shape. What the document doesn't say by a field of its own, such as the order
/// of stages without edges, is told by the thing around it.
pub fn source_path(plan: &Plan, shape: Dialect, path: &str) -> String {
    let mut place = place_of(plan, shape, path);
    // A list that stands under another name or by id, or is the whole document.
    let lists: Vec<FieldReading> = readings(&plan.ext);
    let is = |form: ListForm| lists.iter().find(|reading| reading.list == Some(form));
    let list = is(ListForm::ById).or(is(ListForm::Plain)).or(is(ListForm::Bare));
    if let Some((list, rest)) = list.and_then(|list| Some((list, place.strip_prefix(&list.field)?)))
        && rest.starts_with('[')
    {
        let name = if is(ListForm::Bare).is_some() { String::new() } else { step("", &list.name) };
        let node = entry("nodes", path).and_then(|(at, _)| plan.nodes.get(at)).filter(|_| list.list == Some(ListForm::ById));
        place = match (node, rest.split_once(']')) {
            (Some(node), Some((_, rest))) => step(&name, &node.id) + rest,
            _ => name + rest,
        };
    }
    match readings(&plan.ext).into_iter().find(|reading| reading.list == Some(ListForm::Inside)) {
        Some(outside) if place.is_empty() => outside.name,
        Some(outside) => format!("{}.{place}", step("", &outside.name)),
        None => place,
    }
}

fn place_of(plan: &Plan, shape: Dialect, path: &str) -> String {
    if let Some((at, rest)) = entry("nodes", path)
        && let Some(node) = plan.nodes.get(at)
    {
        let place = match shape {
            Dialect::Native | Dialect::Orchestration | Dialect::Workflow => format!("nodes[{at}]"),
            Dialect::Tools => format!("dag[{at}]"),
            Dialect::Hybrid => format!("tasks[{at}]"),
            Dialect::Stages => stages::stage_place(plan, at, &node.id),
        };
        if let Some(body) = node.kind.body()
            && let Some((field, inner)) = rest.split_once('.').filter(|(field, _)| ["plan", "body"].contains(field))
        {
            return format!("{place}.{field}.{}", source_path(body, shape_of(&node.kind, body), inner));
        }
        let (field, tail) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
        return match shape {
            Dialect::Native | Dialect::Orchestration => under(&place, field, tail),
            Dialect::Tools => match field {
                "depends_on" => under(&place, "dependencies", tail),
                "query" | "args" => under(&place, "query", ""),
                _ => under(&place, field, tail),
            },
            Dialect::Hybrid => hybrid(&place, &node.kind, field, tail),
            Dialect::Workflow => match field {
                "agent" => under(&place, "agent_name", tail),
                "entry" => under(&place, "is_entry", tail),
                "exit" => under(&place, "is_exit", tail),
                "skip_if" => under(&place, "skip_condition", tail),
                "depends_on" => place,
                _ => under(&place, field, tail),
            },
            Dialect::Stages => match field {
                "depends_on" => place,
                "decide" | "merge" if !tail.is_empty() => under(&place, stages::field(node, &tail[1..]), ""),
                _ => under(&place, stages::field(node, field), tail),
            },
        };
    }
    if let Some((at, rest)) = entry("edges", path) {
        let at = spread::written_at(&plan.ext, &forms::shape(shape).end_names(), at);
        let (field, tail) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
        return match shape {
            Dialect::Workflow => {
                let names = [("from", "source_id"), ("to", "target_id"), ("when", "condition"), ("context", "context_passed")];
                under(&format!("connections[{at}]"), called(&names, field), tail)
            }
            Dialect::Stages => {
                let names = [("from", "from_stage_id"), ("to", "to_stage_id"), ("when", "condition"), ("id", "edge_id")];
                under(&stages::edge_place(plan, at), called(&names, field), tail)
            }
            Dialect::Native | Dialect::Orchestration | Dialect::Tools | Dialect::Hybrid => under(&format!("edges[{at}]"), field, tail),
        };
    }
    path.to_owned()
}

/// The place of a field that is named as the document writes it.
pub fn written_path(plan: &Plan, shape: Dialect, path: &str) -> String {
    let (thing, field) = split(path);
    let place = source_path(plan, shape, thing);
    let outside = readings(&plan.ext).into_iter().find(|reading| reading.list == Some(ListForm::Inside));
    let Some(outside) = outside.filter(|_| thing.is_empty()) else { return place + field };
    let first = field.split(['.', '[']).next().unwrap_or_default();
    let is_beside = first == outside.name || outside.written.is_some_and(|beside| beside.get(first).is_some());
    if is_beside || field.is_empty() { field.to_owned() } else { format!("{place}.{field}") }
}

/// The innermost node or edge of a native path, and the field of it.
fn split(path: &str) -> (&str, &str) {
    let start = ["nodes[", "edges["].iter().filter_map(|list| path.rfind(list)).max();
    path.split_at(start.and_then(|at| Some(at + path[at..].find(']')? + 1)).unwrap_or(0))
}

/// What a finding says, in the words of a document of this shape: where it names a field of the thing that `path` leads to, the name is
/// the one that the field has there.
pub fn source_message(plan: &Plan, shape: Dialect, path: &str, message: &str) -> String {
    let (thing, _) = split(path);
    if thing.is_empty() {
        return message.to_owned();
    }
    let place = source_path(plan, shape, thing);
    let name = |word: &str| {
        let is_field = NAMES.unknown.native.contains(&word) && plan.nodes.iter().all(|node| *node.id != *word);
        let there = source_path(plan, shape, &format!("{thing}.{word}"));
        there.strip_prefix(&place).and_then(|field| field.strip_prefix('.')).filter(|_| is_field).map(str::to_owned)
    };
    let parts = message.split('`').enumerate().map(|(i, part)| {
        let named = if i % 2 == 1 { name(part) } else { None };
        named.map_or(Cow::Borrowed(part), Cow::Owned)
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Line and column, from 1, of each of several places in a document's text, or of the nearest thing around it; `origin` is as in `read`.
pub fn locate(text: &str, origin: &str, paths: &[String]) -> Vec<Option<(usize, usize)>> {
    let Ok(source) = SourceText::open(text, origin) else { return vec![None; paths.len()] };
    // What is read past is no place; a text that can't be read has places too.
    let source = source.clone().parse().map_or(source, |(_, read)| read);
    source.locate(paths.iter().map(String::as_str))
}

/// The shape that a body stands in: a file may be of any, and so may be what is told as one where it stands.
fn shape_of(work: &NodeKind, body: &Plan) -> Dialect {
    let is_file = matches!(work, NodeKind::Subplan(SubplanNode::File { .. }));
    if is_file || field_names::stands_in_own_shape(body) { body.dialect } else { Dialect::Native }
}

/// The position in a list at the beginning of a path, and what follows it.
fn entry<'p>(list: &str, path: &'p str) -> Option<(usize, &'p str)> {
    let (index, rest) = path.strip_prefix(list)?.strip_prefix('[')?.split_once(']')?;
    Some((index.parse().ok()?, rest.strip_prefix('.').unwrap_or(rest)))
}

fn under(place: &str, field: &str, tail: &str) -> String {
    if field.is_empty() { format!("{place}{tail}") } else { format!("{place}.{field}{tail}") }
}

/// A field by its name in a dialect.
fn called<'n>(names: &[(&str, &'n str)], field: &'n str) -> &'n str {
    names.iter().find(|(native, _)| *native == field).map_or(field, |(_, name)| name)
}

fn hybrid(place: &str, work: &NodeKind, field: &str, tail: &str) -> String {
    let agent =
        [("agent", "agent_role"), ("role", "agent_role"), ("goal", "agent_goal"), ("objective", "agent_goal"), ("model", "agent_model")];
    match field {
        "args" => under(place, "arguments", tail),
        "timeout_s" => under(place, "timeout", tail),
        "tools" => under(place, "agent_tools", tail),
        "inputs" => under(place, "agent_context", tail),
        // Both are written otherwise inside.
        "budget" => under(place, "budget", ""),
        "sandbox" => under(place, "sandbox_config", ""),
        _ if work.agent().is_some() => under(place, called(&agent, field), tail),
        _ => under(place, field, tail),
    }
}
