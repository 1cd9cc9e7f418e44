//! Edges that a field says which nothing reads: what comes next after a node, pairs, ids by the ids that they wait for. It gives them only
//! where each part of the value says one; which direction is meant has to be in the names.

use super::check::PlanCheck;
use super::finding::{Fix, FixKind};
use crate::plan::dialect::names::NAMES;
use crate::plan::dialect::plain;
use crate::plan::edit::Edit;
use crate::plan::expr::Expr;
use crate::plan::fields::is_quiet;
use crate::plan::{Edge, NodeId, NodeKind, Route, value_text};
use serde_json::{Map, Value};

/// One node before another, perhaps on a condition.
pub(super) struct SaidEdge {
    pub from: usize,
    pub to: usize,
    when: Option<String>,
}

/// Names of the edges of a graph.
const EDGES: [&str; 7] = ["edges", "links", "connections", "transitions", "arcs", "dependencies", "flows"];

/// Longer lists are no more than told.
const MOST: usize = 1_000;

/// What a field of the plan says in the form of edges, or a field inside of it.
pub(super) fn pairs(check: &PlanCheck, name: &str, value: &Value) -> Option<Vec<SaidEdge>> {
    let edge = |from: &Value, to: &Value| Some(SaidEdge { from: node(check, from)?, to: node(check, to)?, when: None });
    let word = plain(name);
    match value {
        Value::Array(list) if (1..=MOST).contains(&list.len()) => list
            .iter()
            .map(|entry| match entry {
                Value::Array(ends) if ends.len() == 2 => edge(&ends[0], &ends[1]),
                Value::Object(fields) => edge(end(fields, "from")?, end(fields, "to")?),
                _ => None,
            })
            .collect(),
        Value::Object(fields) if !fields.is_empty() && fields.len() <= MOST => {
            let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
            let is_back = has(&NAMES.said_order.needs_map);
            if is_back != has(&NAMES.said_order.leads_map)
                && let Some(said) = by_node(check, fields, is_back)
            {
                return Some(said);
            }
            let is_edges = |inner: &str| EDGES.contains(&plain(inner).as_str());
            let inner = fields.iter().find(|(inner, value)| is_edges(inner) && value.is_array())?;
            pairs(check, inner.0, inner.1)
        }
        _ => None,
    }
}

/// Ids by the id of the node that they lead to, or from.
fn by_node(check: &PlanCheck, fields: &Map<String, Value>, is_back: bool) -> Option<Vec<SaidEdge>> {
    let mut said = Vec::new();
    for (own, others) in fields {
        let own = node(check, &Value::from(own.as_str()))?;
        for other in others.as_array().map_or_else(|| std::slice::from_ref(others), Vec::as_slice) {
            if !is_quiet(other) {
                let other = node(check, other)?;
                let (from, to) = if is_back { (other, own) } else { (own, other) };
                said.push(SaidEdge { from, to, when: None });
            }
        }
    }
    Some(said).filter(|said| !said.is_empty())
}

/// What a field of a node says of what comes next.
fn ways(check: &PlanCheck, own: usize, name: &str, value: &Value) -> Option<Vec<SaidEdge>> {
    if !NAMES.said_order.leads.contains(&plain(name).as_str()) || matches!(check.plan.nodes[own].kind, NodeKind::Decision(_)) {
        return None;
    }
    let mut said = Vec::new();
    for way in value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice) {
        let (to, when) = match way {
            Value::Object(fields) => way_of(check, fields)?,
            bare => (bare, None),
        };
        if !is_nowhere(to) {
            said.push(SaidEdge { from: own, to: node(check, to)?, when });
        }
    }
    Some(said).filter(|said| !said.is_empty())
}

/// Where an object leads, and on which condition; nothing if it says more than that.
fn way_of<'v>(check: &PlanCheck, fields: &'v Map<String, Value>) -> Option<(&'v Value, Option<String>)> {
    let (mut to, mut when) = (None, None);
    for (name, value) in fields.iter().filter(|(_, value)| !is_quiet(value)) {
        let word = plain(name);
        if NAMES.said_order.way.contains(&word.as_str()) && to.is_none() {
            to = Some(value);
        } else if NAMES.said_order.way_when.contains(&word.as_str()) && when.is_none() {
            let bare = value.as_str()?.replace(['{', '}', '$'], "").trim().to_owned();
            when = Expr::parse(&bare, check).ok().map(|_| Some(bare))?;
        } else if !NAMES.unknown.harmless.contains(&name.as_str()) {
            return None;
        }
    }
    Some((to?, when))
}

/// Whether a value names no node, but the end of a walk.
pub(super) fn is_nowhere(value: &Value) -> bool {
    let text = value_text(value).to_lowercase();
    NAMES.unknown.nowhere.contains(&text.trim_matches(['$', '_', '<', '>', ' ', ':']))
}

fn node(check: &PlanCheck, value: &Value) -> Option<usize> {
    let is_id = value.is_string() || value.is_number();
    is_id.then(|| check.graph.position(&NodeId::new(value_text(value).trim())))?
}

/// One end of an edge, under any of its names.
fn end<'v>(fields: &'v Map<String, Value>, end: &str) -> Option<&'v Value> {
    let others = NAMES.form(crate::plan::Dialect::Native).edge.renamed.iter().filter(|(_, right)| *right == end);
    std::iter::once(end).chain(others.map(|(name, _)| *name)).find_map(|name| fields.get(name))
}

/// Whether the plan lacks some of it.
pub(super) fn lacks(check: &PlanCheck, said: &[SaidEdge]) -> bool {
    said.iter().any(|edge| !check.comes_before(edge.from, edge.to))
}

fn joins(check: &PlanCheck, edge: &Edge, said: &SaidEdge) -> bool {
    edge.from == *check.graph.id(said.from) && edge.to == *check.graph.id(said.to)
}

/// The edges that a field says, unless one would close a cycle.
pub(super) fn edges_said(check: &PlanCheck, at: Option<usize>, name: &str, value: &Value) -> Option<Fix> {
    let said = match at {
        Some(own) => ways(check, own, name, value),
        None => pairs(check, name, value),
    }?;
    let leads_back = |edge: &SaidEdge| edge.from == edge.to || check.graph.closes(edge.from, edge.to).is_some();
    let is_there = |edge: &SaidEdge| edge.when.is_some() && check.plan.edges.iter().any(|there| joins(check, there, edge));
    if check.plan.dialect.walks() || said.iter().any(leads_back) || said.iter().any(is_there) {
        return None;
    }
    let id = |at: usize| check.graph.id(at).clone();
    let has_conditions = said.iter().any(|edge| edge.when.is_some());
    let mut edits = Vec::new();
    let mut targets: Vec<usize> = said.iter().filter(|edge| edge.when.is_none() && !has_conditions).map(|edge| edge.to).collect();
    targets.sort_unstable();
    targets.dedup();
    for &to in &targets {
        let sources = said.iter().filter(|edge| edge.to == to && !check.graph.successors(edge.from).any(|next| next == to));
        let sources: Vec<NodeId> = sources.map(|edge| id(edge.from)).collect();
        if !sources.is_empty() {
            edits.push(check.changed(to, |node| node.depends_on.extend(sources)));
        }
    }
    if has_conditions {
        // Beside a condition no dependency may lead there anyhow.
        let is_plain = |edge: &&SaidEdge| check.plan.nodes[edge.to].depends_on.contains(check.graph.id(edge.from));
        let plain: Vec<&SaidEdge> = said.iter().filter(is_plain).collect();
        edits.extend(
            plain.iter().map(|edge| check.changed(edge.to, |node| node.depends_on.retain(|source| source != check.graph.id(edge.from)))),
        );
        let edge = |edge: &SaidEdge| Edge { when: edge.when.clone(), ..Edge::new(id(edge.from), id(edge.to)) };
        edits.push(Edit::SpliceEdges { at: check.plan.edges.len(), remove: 0, insert: said.iter().map(edge).collect() });
    }
    // Of several ways with conditions the first that holds is meant. A list of objects says no more once they are edges.
    if let Some(own) =
        at.filter(|_| has_conditions || value.is_object() || value.as_array().is_some_and(|list| list.iter().any(Value::is_object)))
    {
        edits.push(check.changed(own, |node| {
            node.ext.shift_remove(name);
            if has_conditions && said.len() > 1 {
                node.policy.route = Some(Route::First);
            }
        }));
    }
    // The ends of a dependency may be meant the other way round than those of an edge.
    let is_by_node = || value.as_object().is_some_and(|fields| fields.keys().all(|id| check.graph.position(id).is_some()));
    let is_plain = match at {
        Some(_) => !has_conditions && said.len() == 1,
        None => !plain(name).contains("depend") || is_by_node(),
    };
    let kind = if is_plain { FixKind::Safe } else { FixKind::Guess };
    let title = match &said[..] {
        [one] => format!("make `{}` depend on `{}`", id(one.to), id(one.from)),
        _ => "write it as edges".to_owned(),
    };
    let edit = if edits.len() == 1 { edits.remove(0) } else { Edit::Batch { edits } };
    Some(Fix::new(kind, title, edit))
}
