//! Private data on its way out: where what a tool read reaches a call that sends something to a place outside, that call asks first.

use super::check::{FindingPlace, PlanCheck};
use super::codes::Code;
use super::names::globs;
use crate::plan::order::EdgePlace;
use crate::plan::{Node, NodeKind, NodeText, Path, Plan, ToolReach, expr, node_texts};

pub(super) fn check(check: &mut PlanCheck) {
    let plan = check.plan;
    // Of each node that may hold private data: the node that it came from first.
    let mut origins: Vec<Option<usize>> = vec![None; plan.nodes.len()];
    for at in check.graph.topological() {
        let reached = origin(check, at, &origins);
        if reached.is_none()
            && let Some(reader) = agent_tool(check, plan, &plan.nodes[at], |tool| check.catalog.reach(tool) == ToolReach::Private)
            && let Some(sender) = agent_tool(check, plan, &plan.nodes[at], |tool| check.catalog.sends(tool))
        {
            let message = format!(
                "this agent may read private data by `{reader}` and send it by `{sender}`, which asks then (`--allow-host HOST` allows it)"
            );
            check.find(Code::PrivateData, FindingPlace::Node(at), "", message, None);
        }
        if let Some(from) = reached
            && let Some(sender) = sends(check, plan, &plan.nodes[at])
        {
            let inside = if plan.nodes[at].kind.body().is_some() { " inside it" } else { "" };
            let message = format!(
                "private data from `{}` reaches `{sender}`{inside}, which asks before it sends (`--allow-host HOST` allows it)",
                plan.nodes[from].id
            );
            check.find(Code::PrivateData, FindingPlace::Node(at), "", message, None);
        }
        if reached.is_none()
            && matches!(plan.nodes[at].kind, NodeKind::Loop(_))
            && gives(check, &plan.nodes[at].kind)
            && let Some(sender) = sends(check, plan, &plan.nodes[at])
        {
            let message = format!(
                "what one iteration reads is private in the next, so that `{sender}` asks before it sends (`--allow-host HOST` allows it)"
            );
            check.find(Code::PrivateData, FindingPlace::Node(at), "", message, None);
        }
        origins[at] = reached.or_else(|| gives(check, &plan.nodes[at].kind).then_some(at));
    }
}

/// Where the private data came from that reaches a node: by what it reads, or by an edge.
fn origin(check: &PlanCheck, at: usize, origins: &[Option<usize>]) -> Option<usize> {
    let node = &check.plan.nodes[at];
    let mut named: Vec<Path> = Vec::new();
    node_texts(node, |_, text| match text {
        NodeText::ResultCondition(_) | NodeText::Code(_) => {}
        NodeText::Template(_) if matches!(node.kind, NodeKind::Approval(_)) => {}
        text => named.extend(text.paths(check)),
    });
    let conditions = check.graph.incoming(at).filter_map(|link| match check.graph.links()[link].place {
        EdgePlace::Edge(at) => check.plan.edges[at].when.as_deref(),
        EdgePlace::Dependency(..) => None,
    });
    named.extend(conditions.flat_map(|when| expr::check(when, check).unwrap_or_default()));
    let named = named.iter().filter_map(|path| check.graph.position(path.node()?));
    named.chain(check.graph.predecessors(at)).find_map(|source| origins[source])
}

/// Whether a node reads something private by itself.
fn gives(check: &PlanCheck, kind: &NodeKind) -> bool {
    let inside = |body: &Plan| body.nodes.iter().any(|node| gives(check, &node.kind));
    kind.tool().is_some_and(|work| check.catalog.reach(&work.tool) == ToolReach::Private) || kind.body().is_some_and(inside)
}

/// The tool by which a node of a plan, or a node inside it, may send what reaches it to any address.
fn sends<'c>(check: &PlanCheck<'c>, plan: &'c Plan, node: &'c Node) -> Option<&'c str> {
    if let Some(body) = node.kind.body() {
        return body.nodes.iter().find_map(|inner| sends(check, body, inner));
    }
    if let Some(work) = node.kind.tool() {
        return Some(check.catalog.canonical(&work.tool)).filter(|tool| check.catalog.sends(tool));
    }
    agent_tool(check, plan, node, |tool| check.catalog.sends(tool))
}

/// A tool of this kind that an agent may call.
fn agent_tool<'c>(check: &PlanCheck<'c>, plan: &'c Plan, node: &'c Node, is_one: impl Fn(&str) -> bool) -> Option<&'c str> {
    let agent = node.kind.agent()?;
    let card = agent.agent.as_deref().and_then(|name| check.stock.agents.get(name)).map(|&card| &check.catalog.agents[card].tools);
    let written = node.policy.tools.as_ref().or(plan.defaults.tools.as_ref());
    if written.is_none() && card.is_none() {
        return None;
    }
    let tools = check.catalog.tools.iter().map(|tool| tool.name.as_str()).filter(|tool| is_one(tool));
    let has = |patterns: &Vec<String>, tool: &str| globs(check, patterns).iter().any(|glob| glob.is_match(tool));
    tools.into_iter().find(|tool| [written, card].into_iter().flatten().all(|patterns| has(patterns, tool)))
}
