//! Ids, edges, cycles, decisions, joins.

use super::{Check, Code, Fix, Place, did_you_mean};
use crate::plan::edit::Edit;
use crate::plan::order::{EdgePlace, Link};
use crate::plan::{Join, NodeId, Work, is_legal_id};
use std::collections::HashSet;

pub(super) fn check(check: &mut Check) {
    if check.plan.nodes.is_empty() {
        check.find(Code::EmptyPlan, Place::Plan, "nodes", "the plan has no nodes", None);
        return;
    }
    ids(check);
    for at in 0..check.graph.links().len() {
        let link = check.graph.links()[at];
        ends(check, link);
    }
    cycles(check);
    for at in 0..check.plan.nodes.len() {
        duplicate_edges(check, at);
        if check.decides(at) {
            decision(check, at);
        }
        if matches!(check.plan.nodes[at].work, Work::Merge(_)) && check.graph.incoming(at).count() < 2 {
            check.find(Code::MergeInputs, Place::Node(at), "", "a merge needs at least two incoming edges to join anything", None);
        }
    }
    default_outside(check);
    alternatives(check);
}

fn ids(check: &mut Check) {
    let mut seen: HashSet<&str> = HashSet::new();
    let plan = check.plan;
    for (at, node) in plan.nodes.iter().enumerate() {
        if !is_legal_id(&node.id) {
            let fix = free_id(check, &node.id)
                .map(|id| Fix::new(format!("rename to `{id}`"), Edit::RenameNode { from: node.id.clone(), to: id }));
            let words = "is no legal id: 1 to 64 of A-Z a-z 0-9 _ -, and not inputs, deps, nodes or run";
            check.find(Code::BadId, Place::Node(at), "id", format!("`{}` {words}", node.id.escape_debug()), fix);
        }
        if !seen.insert(&node.id) {
            let fix = free_id(check, &node.id)
                .map(|id| Fix::new(format!("rename the second one to `{id}`"), check.changed(at, |node| node.id = id)));
            check.find(Code::DuplicateId, Place::Node(at), "id", format!("there is already a node `{}`", node.id), fix);
        }
    }
}

/// A legal id that no node has, made of a wrong or taken one.
fn free_id(check: &mut Check, wrong: &str) -> Option<NodeId> {
    if !check.may_suggest() {
        return None;
    }
    let legal = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let base: String = wrong.chars().map(legal).take(58).collect();
    let base = if base.is_empty() { "node".to_owned() } else { base };
    let numbered = (2..10_000).map(|n| format!("{base}_{n}"));
    std::iter::once(base.clone()).chain(numbered).find(|id| is_legal_id(id) && check.graph.position(id).is_none()).map(NodeId::new)
}

fn ends(check: &mut Check, link: Link) {
    let Some(edge) = check.plan.edge_at(link.place) else { return };
    let (place, field) = match link.place {
        EdgePlace::Edge(at) => (Place::Edge(at), String::new()),
        EdgePlace::Dependency(node, at) => (Place::Node(node), format!("depends_on[{at}]")),
    };
    if edge.from == edge.to {
        let fix = match link.place {
            EdgePlace::Edge(at) => Edit::RemoveEdge { at },
            EdgePlace::Dependency(..) => Edit::RemoveDependency { node: edge.to.clone(), on: edge.from.clone() },
        };
        let fix = Some(Fix::new("remove the dependency", fix));
        check.find(Code::SelfDependency, place, &field, format!("`{}` depends on itself", edge.to), fix);
    }
    for (id, end, is_source) in [(&edge.from, link.from, true), (&edge.to, link.to, false)] {
        if end.is_some() {
            continue;
        }
        let near = check.nearest_node(id).filter(|near| *near != edge.to || !is_source);
        let fix = match (link.place, &near) {
            (EdgePlace::Edge(at), Some(near)) => {
                let mut edge = edge.clone();
                *(if is_source { &mut edge.from } else { &mut edge.to }) = near.clone();
                Fix::new(format!("use `{near}`"), Edit::SpliceEdges { at, remove: 1, insert: vec![edge] })
            }
            (EdgePlace::Edge(at), None) => Fix::new("remove the edge", Edit::RemoveEdge { at }),
            (EdgePlace::Dependency(node, at), Some(near)) if !check.plan.nodes[node].depends_on.contains(near) => {
                Fix::new(format!("depend on `{near}`"), check.changed(node, |node| node.depends_on[at] = near.clone()))
            }
            (EdgePlace::Dependency(node, at), _) => {
                let edit = check.changed(node, |node| {
                    node.depends_on.remove(at);
                });
                Fix::new("remove the dependency", edit)
            }
        };
        let field = if field.is_empty() { if is_source { "from" } else { "to" } } else { field.as_str() };
        let message = format!("there is no node `{}`{}", id.escape_debug(), did_you_mean(near.as_deref()));
        check.find(Code::UnknownDependency, place, field, message, Some(fix));
    }
}

fn cycles(check: &mut Check) {
    let cycles = check.graph.cycles();
    if cycles.is_empty() {
        return;
    }
    let mut in_cycle = vec![false; check.graph.len()];
    for cycle in &cycles {
        cycle.iter().for_each(|&node| in_cycle[node] = true);
        let [first, .., last] = cycle[..] else { continue };
        let (node, on) = (check.graph.id(first).clone(), check.graph.id(last).clone());
        let fix = Fix::new(format!("take the dependency of `{node}` on `{on}` away"), Edit::RemoveDependency { node, on });
        let message = format!("nodes depend on each other in a circle: {}", check.graph.spell(cycle));
        check.find(Code::Cycle, Place::Node(first), "depends_on", message, Some(fix));
    }
    let mut starts = vec![false; check.graph.len()];
    check.graph.topological().into_iter().for_each(|node| starts[node] = true);
    let dead_ends = leads_to_exit(check);
    for node in 0..check.graph.len() {
        if !starts[node] && !in_cycle[node] {
            check.find(Code::Unreachable, Place::Node(node), "", "can never start: it is behind a cycle", None);
        } else if starts[node] && !dead_ends[node] {
            check.find(Code::NoExit, Place::Node(node), "", "leads to no exit, only into a cycle", None);
        }
    }
}

/// For each node whether an exit can be reached from it.
fn leads_to_exit(check: &Check) -> Vec<bool> {
    let mut leads = vec![false; check.graph.len()];
    let mut stack: Vec<usize> = check.graph.exits().collect();
    while let Some(node) = stack.pop() {
        if !std::mem::replace(&mut leads[node], true) {
            stack.extend(check.graph.predecessors(node));
        }
    }
    leads
}

/// Edges with conditions may well join the same nodes; plain ones gain nothing by it.
fn duplicate_edges(check: &mut Check, at: usize) {
    let plan = check.plan;
    let is_plain = |link: &Link| match link.place {
        EdgePlace::Edge(edge) => plan.edges[edge].when.is_none(),
        EdgePlace::Dependency(..) => true,
    };
    let links = check.graph.incoming(at).map(|link| check.graph.links()[link]).filter(is_plain);
    let mut sources: Vec<usize> = links.filter_map(|link| link.from).collect();
    sources.sort_unstable();
    let doubles: Vec<usize> = sources.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    for source in doubles {
        let message = format!("two plain edges lead here from `{}`", check.graph.id(source));
        check.find(Code::DuplicateEdge, Place::Node(at), "depends_on", message, None);
    }
}

fn decision(check: &mut Check, at: usize) {
    let plan = check.plan;
    let edges: Vec<(Option<usize>, Option<&str>, bool)> = check
        .graph
        .outgoing(at)
        .map(|link| match check.graph.links()[link].place {
            EdgePlace::Edge(edge) => (Some(edge), plan.edges[edge].when.as_deref(), plan.edges[edge].default),
            EdgePlace::Dependency(..) => (None, None, false),
        })
        .collect();
    let place = Place::Node(at);
    match edges.len() {
        0 => check.find(Code::DecisionRoutes, place, "", "a decision needs at least one way out", None),
        1 => check.find(Code::OneRoute, place, "", "this decision has one way out, which is always taken", None),
        _ => {
            let defaults = edges.iter().filter(|(_, _, default)| *default).count();
            if defaults == 0 {
                let last = edges.iter().rev().find_map(|(edge, _, _)| *edge);
                let fix = last.map(|at| {
                    let edge = crate::plan::Edge { default: true, ..plan.edges[at].clone() };
                    Fix::new(format!("make the edge to `{}` the default", edge.to), Edit::ReplaceEdge { at, edge: Box::new(edge) })
                });
                check.find(Code::NoDefault, place, "", "the node fails when its answer matches none of its edges", fix);
            }
            if defaults > 1 {
                check.find(
                    Code::RouteLabels,
                    place,
                    "",
                    format!("{defaults} edges of this decision are its default; the first counts"),
                    None,
                );
            }
            let mut labels = HashSet::new();
            for (edge, label) in edges.iter().filter_map(|(edge, label, _)| Some(((*edge)?, (*label)?))) {
                if !labels.insert(label) {
                    let message = format!("another edge of this decision has the label `{}`; the first counts", label.escape_debug());
                    check.find(Code::RouteLabels, Place::Edge(edge), "when", message, None);
                }
            }
        }
    }
}

fn default_outside(check: &mut Check) {
    let plan = check.plan;
    for (at, edge) in plan.edges.iter().enumerate().filter(|(_, edge)| edge.default) {
        if check.graph.position(&edge.from).is_some_and(|from| !check.decides(from)) {
            let edge = crate::plan::Edge { default: false, ..edge.clone() };
            let fix = Some(Fix::new("drop `default`", Edit::SpliceEdges { at, remove: 1, insert: vec![edge] }));
            check.find(
                Code::DefaultOutside,
                Place::Edge(at),
                "default",
                "`default` means something only on an edge that leaves a decision",
                fix,
            );
        }
    }
}

/// How many alternatives of decisions are remembered for one node.
const GUARDS: usize = 8;

/// A node that needs every incoming edge can't need two alternatives of one decision. Each node inherits the alternatives that it
/// certainly depends on from the sources that it needs.
fn alternatives(check: &mut Check) {
    let order = check.graph.topological();
    let mut guards: Vec<Vec<(usize, usize)>> = vec![Vec::new(); check.graph.len()];
    for node in order {
        let written = check.plan.nodes[node].policy.join.or(check.plan.defaults.join);
        let natural = if matches!(check.plan.nodes[node].work, Work::Merge(_)) { Some(Join::Settled) } else { None };
        let (all, explicit) = match written.or(natural) {
            None => (true, false),
            Some(Join::All) => (true, true),
            Some(Join::Settled | Join::Any | Join::Always) => (false, false),
        };
        let links: Vec<(usize, Link)> = check.graph.incoming(node).map(|at| (at, check.graph.links()[at])).collect();
        let is_alternative = |check: &Check, link: &Link| {
            let conditional = matches!(link.place, EdgePlace::Edge(at) if check.plan.edges[at].when.is_some());
            conditional || link.from.is_some_and(|from| check.decides(from))
        };
        let needed = links.iter().filter(|(_, link)| links.len() == 1 || (all && (explicit || !is_alternative(check, link))));
        let mut own: Vec<(usize, usize)> = Vec::new();
        let mut clash = None;
        for (at, link) in needed {
            let Some(from) = link.from else { continue };
            let edge = if check.decides(from) { Some((from, *at)) } else { None };
            for guard in guards[from].iter().copied().chain(edge) {
                if let Some(other) = own.iter().find(|other| other.0 == guard.0 && other.1 != guard.1) {
                    clash = Some(other.0);
                } else if own.len() < GUARDS && !own.contains(&guard) {
                    own.push(guard);
                }
            }
        }
        if let Some(decision) = clash {
            let mut policy = check.plan.nodes[node].policy.clone();
            policy.join = Some(Join::Settled);
            let id = check.plan.nodes[node].id.clone();
            let fix = Fix::new("join what is taken: `join: settled`", Edit::SetPolicy { id, policy: Box::new(policy) });
            let message = format!(
                "needs several alternatives of the decision `{}`, of which only one is taken: it would be skipped",
                check.graph.id(decision)
            );
            check.find(Code::Alternatives, Place::Node(node), "join", message, Some(fix));
        }
        guards[node] = own;
    }
}
