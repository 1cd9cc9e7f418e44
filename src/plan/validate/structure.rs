//! Ids, edges, cycles.

use super::check::{FindingPlace, PlanCheck};
use super::codes::Code;
use super::finding::{Fix, FixKind};
use super::naming::{NamedOrder, NamingText};
use super::positions;
use super::wording::did_you_mean;
use super::wording::legible;
use crate::plan::dialect::plain;
use crate::plan::edit::{Edit, with_name};
use crate::plan::fields::is_stand_in;
use crate::plan::order::{EdgePlace, OrderedEdge};
use crate::plan::{Edge, Node, NodeId, NodeKind, is_legal_id};
use serde_json::Value;
use std::collections::HashSet;

/// What the planner left open, as long as a node asks about it.
fn not_understood(check: &mut PlanCheck) {
    let plan = check.plan;
    let open = |name: &str| plan.metadata.get("open").and_then(|open| open[name].as_array()).map(Vec::as_slice).unwrap_or_default();
    let parts: Vec<String> = open("not_understood").iter().map(|part| format!("not understood: {part}")).collect();
    let problems = open("problems").iter().filter_map(Value::as_str).map(str::to_owned);
    let why: Vec<String> = problems.chain(parts).collect();
    let asks = plan.nodes.iter().position(|node| matches!(node.kind, NodeKind::Approval(_)));
    let Some(at) = asks.filter(|_| check.around.outer.is_none() && !why.is_empty() && open("readings").is_empty()) else { return };
    let message = format!("{}; nothing runs until you say it in other words, or replace this node", why.join("; "));
    check.find(Code::NotUnderstood, FindingPlace::Node(at), "ask", message, None);
}

pub(super) fn check(check: &mut PlanCheck) {
    if check.plan.nodes.is_empty() {
        let message = match &check.around.outer {
            Some(outer) => format!("the inner plan of `{}` has no nodes", outer.address),
            None => "the plan has no nodes".to_owned(),
        };
        check.find(Code::EmptyPlan, FindingPlace::Plan, "nodes", message, None);
        return;
    }
    not_understood(check);
    ids(check);
    for at in 0..check.graph.links().len() {
        let link = check.graph.links()[at];
        ends(check, link);
    }
    cycles(check);
    for at in 0..check.plan.nodes.len() {
        duplicate_edges(check, at);
    }
}

fn ids(check: &mut PlanCheck) {
    let mut seen: HashSet<&str> = HashSet::new();
    let plan = check.plan;
    for (at, node) in plan.nodes.iter().enumerate() {
        if !is_legal_id(&node.id) {
            let is_first = check.graph.position(&node.id) == Some(at);
            let fix = free_id(check, &node.id).map(|id| {
                let title = format!("rename to `{id}`");
                let follow = Edit::RenameNode { from: node.id.clone(), to: id.clone() };
                Fix::safe(title, if is_first { follow } else { check.changed(at, |node| node.id = id) })
            });
            let words = "is not a valid id: use 1 to 64 of A-Z a-z 0-9 _ -, and not inputs, deps, nodes or run";
            check.find(Code::BadId, FindingPlace::Node(at), "id", format!("`{}` {words}", legible(&node.id)), fix);
        }
        if !seen.insert(&node.id) {
            let fix = free_id(check, &node.id)
                .map(|id| Fix::guess(format!("rename the second one to `{id}`"), check.changed(at, |node| node.id = id)));
            check.find(Code::DuplicateId, FindingPlace::Node(at), "id", format!("there is already a node `{}`", node.id), fix);
        }
    }
}

/// A legal id that no node has, made of a wrong or taken one.
fn free_id(check: &mut PlanCheck, wrong: &str) -> Option<NodeId> {
    if !check.may_suggest() {
        return None;
    }
    let legal = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let base: String = wrong.chars().map(legal).take(58).collect();
    let base = if base.is_empty() { "node".to_owned() } else { base };
    let numbered = (2..10_000).map(|n| format!("{base}_{n}"));
    std::iter::once(base.clone()).chain(numbered).find(|id| is_legal_id(id) && check.graph.position(id).is_none()).map(NodeId::new)
}

fn ends(check: &mut PlanCheck, link: OrderedEdge) {
    let Some(edge) = check.plan.edge_at(link.place) else { return };
    let (place, field) = match link.place {
        EdgePlace::Edge(at) => (FindingPlace::Edge(at), String::new()),
        EdgePlace::Dependency(node, at) => (FindingPlace::Node(node), format!("depends_on[{at}]")),
    };
    let ext = if let EdgePlace::Edge(at) = link.place { Some(&check.plan.edges[at].ext) } else { None };
    let stands_in = |id: &NodeId| ext.is_some_and(|ext| is_stand_in(id, ext));
    if edge.from == edge.to && !stands_in(&edge.to) {
        let fix = match link.place {
            EdgePlace::Edge(at) => Fix::guess("remove the dependency", Edit::RemoveEdge { at }),
            EdgePlace::Dependency(node, i) => {
                let is_only = check.plan.nodes[node].depends_on.len() == 1 && check.graph.predecessors(node).all(|source| source == node);
                lost_dependency(check, node, i, is_only)
            }
        };
        let fix = Some(fix);
        check.find(Code::SelfDependency, place, &field, format!("`{}` depends on itself", edge.to), fix);
    }
    for (id, end, is_source) in [(&edge.from, link.from, true), (&edge.to, link.to, false)] {
        if end.is_some() || stands_in(id) {
            continue;
        }
        let other = if is_source { &edge.to } else { &edge.from };
        if let Some((named, fix)) = several(check, id, (link.place, &edge), is_source) {
            let field = if field.is_empty() { if is_source { "from" } else { "to" } } else { field.as_str() };
            let message = format!("there is no node `{}`: it names `{}`", legible(id), named.join("`, `"));
            check.find(Code::UnknownDependency, place, field, message, Some(fix));
            continue;
        }
        let near = found_name(check, id, other, is_source).filter(|(near, _)| fits(check, near, &edge, is_source));
        let fix = match (link.place, &near) {
            (_, Some((near, FixKind::Safe))) if plain(near) != plain(id) => all_by_position(check, near),
            (EdgePlace::Edge(at), Some((near, kind))) => {
                let mut edge = edge.clone();
                *(if is_source { &mut edge.from } else { &mut edge.to }) = near.clone();
                Fix::new(*kind, format!("use `{near}`"), Edit::SpliceEdges { at, remove: 1, insert: vec![edge] })
            }
            (EdgePlace::Edge(at), None) => {
                let with = edge.when.as_ref().map(|when| format!(", and with it its condition `{when}`")).unwrap_or_default();
                Fix::guess(format!("remove the edge{with}"), Edit::RemoveEdge { at })
            }
            (EdgePlace::Dependency(node, at), Some((near, kind))) if !check.plan.nodes[node].depends_on.contains(near) => {
                Fix::new(*kind, format!("depend on `{near}`"), check.changed(node, |node| node.depends_on[at] = near.clone()))
            }
            (EdgePlace::Dependency(node, at), near) => lost_dependency(check, node, at, near.is_none()),
        };
        let near = near.map(|(near, _)| near);
        let field = if field.is_empty() { if is_source { "from" } else { "to" } } else { field.as_str() };
        let message = format!("there is no node `{}`{}", legible(id), did_you_mean(near.as_deref()));
        check.find(Code::UnknownDependency, place, field, message, Some(fix));
    }
}

/// The nodes that are named where one id belongs, such as `a and c` or `after a`, each with an edge of its own.
fn several(check: &PlanCheck, said: &str, (place, edge): (EdgePlace, &Edge), is_source: bool) -> Option<(Vec<NodeId>, Fix)> {
    // What is spelled otherwise than an id, but is one name, is told as that.
    if check.has_alike(said) {
        return None;
    }
    let text = NamingText::of(check, said).filter(NamingText::is_whole)?;
    let other = check.graph.position(if is_source { &edge.to } else { &edge.from })?;
    let against = if is_source { NamedOrder::Target } else { NamedOrder::Source };
    let named = text.about(other);
    let closes = |at: usize| if is_source { check.graph.closes(at, other) } else { check.graph.closes(other, at) }.is_some();
    if named.is_empty() || named.iter().any(|(at, relation)| *relation == against || closes(*at)) {
        return None;
    }
    let named: Vec<NodeId> = named.into_iter().map(|(at, _)| check.graph.id(at).clone()).collect();
    let edit = match place {
        EdgePlace::Edge(at) => {
            let to =
                |id: &NodeId| if is_source { Edge { from: id.clone(), ..edge.clone() } } else { Edge { to: id.clone(), ..edge.clone() } };
            Edit::SpliceEdges { at, remove: 1, insert: named.iter().map(to).collect() }
        }
        EdgePlace::Dependency(node, at) => check.changed(node, |node| {
            let missing: Vec<NodeId> = named.iter().filter(|id| !node.depends_on.contains(id)).cloned().collect();
            node.depends_on.splice(at..=at, missing);
        }),
    };
    let kind = if check.plan.dialect.walks() { FixKind::Guess } else { FixKind::Safe };
    let title = format!("{} `{}`", if is_source { "depend on" } else { "lead to" }, named.join("`, `"));
    Some((named, Fix::new(kind, title, edit)))
}

/// All names by position as one edit: after one of them alone, those that are left could count from elsewhere.
fn all_by_position(check: &mut PlanCheck, near: &NodeId) -> Fix {
    let plan = check.plan;
    let (base, kind) = positions::counting(check).order;
    let is_lost = |id: &NodeId| check.graph.position(id).is_none();
    let right = |id: &mut NodeId| {
        let meant = position_in(id).filter(|_| is_lost(id)).and_then(|number| plan.nodes.get(number.checked_sub(base)?));
        meant.map(|node| *id = node.id.clone()).is_some()
    };
    let node = |at: usize| {
        let mut fixed = plan.nodes[at].clone();
        let leads = |edge: &&Edge| edge.to == fixed.id;
        let sources: Vec<NodeId> = fixed.depends_on.iter().chain(plan.edges.iter().filter(leads).map(|edge| &edge.from)).cloned().collect();
        for id in sources {
            let mut meant = id.clone();
            if right(&mut meant) {
                fixed = with_name(&fixed, &id, &meant, &plan.inputs);
                fixed.depends_on.iter_mut().filter(|source| **source == id).for_each(|source| *source = meant.clone());
                // Two names of one position are one dependency.
                let mut seen = HashSet::new();
                fixed.depends_on.retain(|source| *source != meant || seen.insert(source.clone()));
            }
        }
        (fixed != plan.nodes[at]).then(|| check.changed(at, |node| *node = fixed))
    };
    let edge = |at: usize| {
        let mut edge = plan.edges[at].clone();
        let is_changed = right(&mut edge.from) | right(&mut edge.to);
        is_changed.then(|| Edit::SpliceEdges { at, remove: 1, insert: vec![edge] })
    };
    let edits = (0..plan.nodes.len()).filter_map(node).chain((0..plan.edges.len()).filter_map(edge)).collect();
    Fix::new(kind, format!("use `{near}`, and replace every name like this"), Edit::Batch { edits })
}

/// A dependency that leads nowhere: where no other is meant, the node before takes its place, so that the order stays.
fn lost_dependency(check: &PlanCheck, node: usize, at: usize, is_lost: bool) -> Fix {
    let before = node.checked_sub(1).map(|before| check.graph.id(before).clone()).filter(|before| {
        let is_free = !check.plan.nodes[node].depends_on.contains(before);
        let source = check.graph.position(before).filter(|source| Some(*source) != check.graph.position(check.graph.id(node)));
        is_lost && is_free && source.is_some_and(|source| check.graph.closes(source, node).is_none())
    });
    match before {
        Some(before) => {
            let edit = check.changed(node, |node| node.depends_on[at] = before.clone());
            Fix::guess(format!("make it depend on `{before}`, the node before it in the plan"), edit)
        }
        None => Fix::guess("remove the dependency", check.changed(node, |node| drop(node.depends_on.remove(at)))),
    }
}

/// The node that is meant by a name which no node has, and how sure that is: by the name alone, by its number, by what it does, or as the
/// nearest one.
pub(super) fn found_name(check: &mut PlanCheck, wrong: &str, other: &NodeId, is_before: bool) -> Option<(NodeId, FixKind)> {
    if wrong.is_empty() || !check.may_suggest() {
        return None;
    }
    let plan = check.plan;
    let is_meant = plain(wrong);
    let mut same = plan.nodes.iter().filter(|node| plain(&node.id) == is_meant);
    if let (Some(node), None) = (same.next(), same.next()) {
        return Some((node.id.clone(), FixKind::Safe));
    }
    if let Some(number) = position_in(wrong) {
        let (base, kind) = positions::counting(check).order;
        if let Some(node) = number.checked_sub(base).and_then(|at| plan.nodes.get(at)).filter(|node| node.id != *other) {
            return Some((node.id.clone(), kind));
        }
    }
    if let Some(at) = nearest_pair(check, wrong, other, is_before) {
        return Some((plan.nodes[at].id.clone(), FixKind::Guess));
    }
    check.nearest_node(wrong, Some(other)).map(|near| (near, FixKind::Guess))
}

/// Of the nodes that do what a name says the one that is nearest to the other end, on its right side; the first of several. The other end
/// may be meant by such a name, too.
fn nearest_pair(check: &PlanCheck, name: &str, other: &NodeId, is_before: bool) -> Option<usize> {
    let plan = check.plan;
    let doing = |name: &str| -> Vec<usize> {
        let is_meant = plain(name);
        let does = |node: &Node| {
            let title = node.ext.get("title").or_else(|| node.ext.get("name")).and_then(Value::as_str);
            let agent = node.kind.agent();
            let (card, objective) = (agent.and_then(|agent| agent.agent.as_deref()), agent.and_then(|agent| agent.objective.as_deref()));
            let tool = node.kind.tool().map(|tool| tool.tool.as_str());
            [tool, card, objective, title].into_iter().flatten().any(|name| plain(name) == is_meant)
        };
        (0..plan.nodes.len()).filter(|at| does(&plan.nodes[*at])).collect()
    };
    let others = check.graph.position(other).map_or_else(|| doing(other), |at| vec![at]);
    let near: Vec<usize> = doing(name).into_iter().filter(|at| !others.contains(at) || others.len() > 1).collect();
    let distance = |at: usize| {
        let right = others.iter().map(|other| if is_before { (at, *other) } else { (*other, at) });
        right.filter(|(from, to)| from < to).map(|(from, to)| to - from).min()
    };
    match near.as_slice() {
        [only] => Some(*only),
        _ if others.is_empty() => if is_before { near.last() } else { near.first() }.copied(),
        _ => near.iter().filter_map(|at| Some((distance(*at)?, *at))).min().map(|(_, at)| at),
    }
}

/// The number in a name such as `Step_4`, `<node-1>`, `#E2` or `0`.
pub(super) fn position_in(name: &str) -> Option<usize> {
    let bare = name.trim_matches(|c: char| !c.is_alphanumeric());
    let digits = bare.trim_start_matches(|c: char| !c.is_ascii_digit());
    let word = plain(bare[..bare.len() - digits.len()].trim_matches('#'));
    let words = ["", "step", "node", "task", "stage", "subtask", "action", "item", "job", "op", "s", "n", "t", "e", "resource"];
    words.contains(&word.as_str()).then(|| digits.parse().ok()).flatten()
}

/// Whether an edge may have this end: it joins two nodes and closes no cycle.
fn fits(check: &PlanCheck, near: &NodeId, edge: &Edge, is_source: bool) -> bool {
    let (from, to) = if is_source { (near, &edge.to) } else { (&edge.from, near) };
    match (check.graph.position(from), check.graph.position(to)) {
        (Some(from), Some(to)) => from != to && check.graph.closes(from, to).is_none(),
        (Some(_) | None, _) => true,
    }
}

fn cycles(check: &mut PlanCheck) {
    let cycles = check.graph.cycles();
    if cycles.is_empty() {
        return;
    }
    let mut in_cycle = vec![false; check.graph.len()];
    for cycle in &cycles {
        cycle.iter().for_each(|&node| in_cycle[node] = true);
        let [first, .., last] = cycle[..] else { continue };
        let (node, on) = (check.graph.id(first).clone(), check.graph.id(last).clone());
        let fix = Fix::guess(format!("remove the dependency of `{node}` on `{on}`"), Edit::RemoveDependency { node, on });
        let message = format!("nodes depend on each other in a cycle: {}", check.graph.spell(cycle));
        check.find(Code::Cycle, FindingPlace::Node(first), "depends_on", message, Some(fix));
    }
    if check.plan.dialect.walks() {
        return;
    }
    let mut starts = vec![false; check.graph.len()];
    check.graph.topological().into_iter().for_each(|node| starts[node] = true);
    let leads = check.graph.leading_to(check.graph.final_nodes());
    for node in 0..check.graph.len() {
        if !starts[node] && !in_cycle[node] {
            check.find(Code::Unreachable, FindingPlace::Node(node), "", "can never start: it needs a node of a cycle", None);
        } else if starts[node] && !leads[node] {
            check.find(Code::NoExit, FindingPlace::Node(node), "", "leads only into a cycle, to no final node", None);
        }
    }
}

/// Edges with conditions may well join the same nodes; plain ones gain nothing by it.
fn duplicate_edges(check: &mut PlanCheck, at: usize) {
    let plan = check.plan;
    let is_plain = |link: &OrderedEdge| match link.place {
        EdgePlace::Edge(edge) => plan.edges[edge].when.is_none(),
        EdgePlace::Dependency(..) => true,
    };
    let mut links: Vec<(usize, EdgePlace)> = check
        .graph
        .incoming(at)
        .map(|link| check.graph.links()[link])
        .filter(is_plain)
        .filter_map(|link| Some((link.from?, link.place)))
        .collect();
    links.sort_by_key(|(source, _)| *source);
    let doubles: Vec<(usize, EdgePlace)> = links.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1]).collect();
    for (source, place) in doubles {
        let message = format!("two plain edges lead here from `{}`", check.graph.id(source));
        let edit = match place {
            EdgePlace::Edge(at) => Edit::RemoveEdge { at },
            EdgePlace::Dependency(node, i) => check.changed(node, |node| drop(node.depends_on.remove(i))),
        };
        check.find(Code::DuplicateEdge, FindingPlace::Node(at), "depends_on", message, Some(Fix::guess("remove one of them", edit)));
    }
}
