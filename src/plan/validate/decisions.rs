//! Decisions and their edges, merges.

use super::check::{FindingPlace, PlanCheck};
use super::codes::Code;
use super::finding::Fix;
use super::wording::legible;
use crate::plan::edit::Edit;
use crate::plan::expr::Expr;
use crate::plan::order::{EdgePlace, OrderedEdge};
use crate::plan::{DecisionNode, Dialect, Edge, NodeId, NodeKind};
use serde_json::Value;
use std::collections::HashSet;

pub(super) fn check(check: &mut PlanCheck) {
    for at in 0..check.plan.nodes.len() {
        if check.decides(at) {
            decision(check, at);
        }
        let is_merge = matches!(check.plan.nodes[at].kind, NodeKind::Merge(_));
        if is_merge && check.plan.dialect != Dialect::Stages && check.graph.incoming(at).count() < 2 {
            check.find(Code::MergeInputs, FindingPlace::Node(at), "", "a merge needs at least two incoming edges to join anything", None);
        }
    }
    default_outside(check);
}

/// One way out of a decision: its position in `edges` if it is written there, its target, its label.
struct DecisionWay<'a> {
    edge: Option<usize>,
    to: &'a NodeId,
    label: Option<&'a str>,
    default: bool,
}

fn ways<'a>(check: &PlanCheck<'a>, at: usize) -> Vec<DecisionWay<'a>> {
    let plan = check.plan;
    let way = |link: OrderedEdge| match link.place {
        EdgePlace::Edge(at) => {
            let edge = &plan.edges[at];
            DecisionWay { edge: Some(at), to: &edge.to, label: edge.when.as_deref(), default: edge.default }
        }
        EdgePlace::Dependency(node, _) => DecisionWay { edge: None, to: &plan.nodes[node].id, label: None, default: false },
    };
    check.graph.outgoing(at).map(|link| way(check.graph.links()[link])).collect()
}

/// A stages plan takes the first edge where no other one is named, so there a decision needs neither a default nor two ways out.
fn decision(check: &mut PlanCheck, at: usize) {
    let ways = ways(check, at);
    let place = FindingPlace::Node(at);
    let is_stage = check.plan.dialect == Dialect::Stages;
    match &ways[..] {
        // Stages have a rule of their own for it.
        [] if is_stage => {}
        [] => check.find(Code::DecisionRoutes, place, "", "a decision needs at least one outgoing edge", None),
        [_] if is_stage => {}
        [_] => check.find(Code::OneRoute, place, "", "this decision has only one outgoing edge, which is always taken", None),
        [_, _, ..] => routes(check, at, &ways),
    }
}

fn routes(check: &mut PlanCheck, at: usize, ways: &[DecisionWay]) {
    let place = FindingPlace::Node(at);
    let goes_on = check.plan.dialect == Dialect::Stages;
    let defaults = ways.iter().filter(|way| way.default).count();
    if defaults > 1 {
        let message = format!("{defaults} edges of this decision are marked as default; the first one is used");
        check.find(Code::RouteLabels, place, "", message, None);
    }
    let certain = certain_route(check, at);
    match certain.filter(|route| defaults == 0 && !goes_on && !is_named(route.as_deref(), ways)) {
        Some(route) => {
            let answer = route.map_or_else(|| "no route".to_owned(), |route| format!("`{}`", legible(&route)));
            let names: Vec<String> = ways.iter().map(|way| format!("`{}`", way.label.unwrap_or(way.to).escape_debug())).collect();
            let message = format!("it always picks {answer}, but its edges lead to {}", names.join(", "));
            check.find(Code::NoRoute, place, "decide", message, make_default(check, ways));
        }
        None if defaults == 0 && !goes_on => {
            let fix = make_default(check, ways);
            check.find(Code::NoDefault, place, "", "the node fails if its answer matches none of its edges", fix);
        }
        None => {}
    }
    let mut labels = HashSet::new();
    for (edge, label) in ways.iter().filter_map(|way| Some((way.edge?, way.label?))) {
        if !labels.insert(label) {
            let message = format!("another edge of this decision has the label `{}`; the first one is used", legible(label));
            check.find(Code::RouteLabels, FindingPlace::Edge(edge), "when", message, None);
        }
    }
    if labels.is_empty() && matches!(check.plan.nodes[at].kind, NodeKind::Decision(DecisionNode::Agent(_))) {
        let message = "none of its edges has a label, so the agent must answer with the id of a node";
        check.find(Code::NoLabels, place, "", message, label_ways(check, ways));
    }
}

fn make_default(check: &PlanCheck, ways: &[DecisionWay]) -> Option<Fix> {
    let at = ways.iter().rev().find_map(|way| way.edge)?;
    let edge = Edge { default: true, ..check.plan.edges[at].clone() };
    Some(Fix::guess(format!("make the edge to `{}` the default", edge.to), replaced(at, edge)))
}

fn label_ways(check: &PlanCheck, ways: &[DecisionWay]) -> Option<Fix> {
    let edits: Vec<Edit> = ways
        .iter()
        .filter_map(|way| way.edge)
        .map(|at| {
            let edge = &check.plan.edges[at];
            replaced(at, Edge { when: Some(edge.to.to_string()), ..edge.clone() })
        })
        .collect();
    (edits.len() == ways.len()).then(|| Fix::safe("label each edge with its target", Edit::batch(edits)))
}

fn replaced(at: usize, edge: Edge) -> Edit {
    Edit::SpliceEdges { at, remove: 1, insert: vec![edge] }
}

/// What a decision answers that reads nothing: the route, or that it names none. Absent when the answer isn't known before it runs.
fn certain_route(check: &PlanCheck, at: usize) -> Option<Option<String>> {
    let NodeKind::Decision(DecisionNode::Expression(text)) = &check.plan.nodes[at].kind else { return None };
    let expression = Expr::parse(text, check).ok().filter(|expression| expression.paths().is_empty())?;
    match expression.eval(check, crate::plan::expr::OnMissing::Null).ok()? {
        Value::String(route) => Some(Some(route)),
        Value::Number(route) => Some(Some(route.to_string())),
        Value::Bool(route) => Some(Some(route.to_string())),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn is_named(route: Option<&str>, ways: &[DecisionWay]) -> bool {
    route.is_some_and(|route| ways.iter().any(|way| way.label == Some(route) || way.to.as_str() == route))
}

/// Beside conditions an edge can be the one that is taken when none of them holds.
fn default_outside(check: &mut PlanCheck) {
    let plan = check.plan;
    for (at, edge) in plan.edges.iter().enumerate().filter(|(_, edge)| edge.default) {
        let Some(from) = check.graph.position(&edge.from).filter(|from| !check.decides(*from)) else { continue };
        let is_conditional = |link: usize| matches!(check.graph.links()[link].place, EdgePlace::Edge(at) if plan.edges[at].when.is_some());
        if check.graph.outgoing(from).any(is_conditional) {
            continue;
        }
        let fix = Some(Fix::guess("remove `default`", replaced(at, Edge { default: false, ..edge.clone() })));
        let message = "`default` only has an effect on an edge that leaves a decision, or next to edges with conditions";
        check.find(Code::DefaultOutside, FindingPlace::Edge(at), "default", message, fix);
    }
}
