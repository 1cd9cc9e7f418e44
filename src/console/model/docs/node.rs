//! A node of a plan in words: what it does, what it needs, how it is run, what validation says of it.

use serde_json::Value;

use crate::console::model::{Doc, Model, inputs, words};
use crate::console::theme::Role;
use crate::plan::{DecisionWork, Node, NodeId, Plan, Policy, Work, order::EdgePlace};
use crate::text::Plain;

/// What a node is to do, and what is wrong with it.
pub fn details(model: &Model, node: &Node) -> Doc<'static> {
    let mut doc = Doc::default();
    if model.shown_run().is_none() {
        findings(model, node, &mut doc);
    }
    doc.field("node", &Plain::summary(&node.id));
    doc.field(words::kind(&node.work), &words::worker(node));
    description(model, node, &mut doc);
    dependencies(model, node, &mut doc);
    inputs(model, node, &mut doc);
    doc.heading(words::text_name(&node.work));
    doc.text(Role::Code, &words::text(node));
    given(model, node, &mut doc);
    if let Work::Approval(ask) = &node.work {
        for option in &ask.options {
            doc.line(Role::Text, Plain::line("  or: ").then(&Plain::summary(option)));
        }
    }
    policy(&node.policy, &mut doc);
    doc
}

/// A node as JSON.
pub fn source(node: &Node) -> Doc<'static> {
    let mut doc = Doc::default();
    let plan = Plan { nodes: vec![node.clone()], ..Plan::default() };
    let value = serde_json::to_value(&plan).ok().and_then(|plan| plan.get("nodes")?.get(0).cloned()).unwrap_or(Value::Null);
    doc.text(Role::Code, &words::pretty(&value));
    doc
}

fn findings(model: &Model, node: &Node, doc: &mut Doc<'static>) {
    for finding in model.editor.findings_of(&node.id) {
        let role = words::severity_role(finding.severity);
        doc.line(role, Plain::line(&format!("{}: {} ({})", words::severity(finding.severity), finding.message, finding.code)));
        if let Some(fix) = &finding.fix {
            doc.line(Role::Dim, Plain::line("  fix: ").then(&Plain::summary(&fix.title)));
        }
    }
    if !doc.is_empty() {
        doc.line(Role::Text, Plain::default());
    }
}

fn description(model: &Model, node: &Node, doc: &mut Doc<'static>) {
    let catalog = &model.session.catalog;
    let words = match &node.work {
        Work::Agent(work) | Work::Decision(DecisionWork::Agent(work)) => {
            catalog.agents.iter().find(|agent| Some(&agent.name) == work.agent.as_ref()).map(|agent| &agent.description)
        }
        Work::Tool(work) => catalog.tool(&work.tool).map(|tool| &tool.description),
        Work::Code(_)
        | Work::Decision(DecisionWork::Expression(_))
        | Work::Merge(_)
        | Work::Transform(_)
        | Work::Approval(_)
        | Work::Plan(_)
        | Work::Loop(_)
        | Work::Map(_) => None,
    };
    if let Some(words) = words {
        doc.line(Role::Dim, Plain::blank(13).then(&Plain::summary(words)));
    }
}

/// The plan's inputs that the node names, with their values.
fn inputs(model: &Model, node: &Node, doc: &mut Doc<'static>) {
    let plan = model.plan();
    let named = inputs::named(plan, node);
    for (at, name) in named.iter().enumerate() {
        let value = match plan.inputs.get(name) {
            Some(Value::String(text)) => Plain::summary(text),
            Some(value) => Plain::summary(&value.to_string()),
            None => Plain::line("not given"),
        };
        doc.field(if at == 0 { "inputs" } else { "" }, &Plain::summary(name).then(&Plain::line(": ")).then(&value));
    }
    if let (false, None, Some(key)) = (named.is_empty(), model.shown_run(), model.look.keymap.hint("plan.inputs")) {
        doc.line(Role::Dim, Plain::blank(13).then(&Plain::line(&format!("{key} changes them"))));
    }
}

/// What the node was given in the run, where that is not what the plan says.
fn given(model: &Model, node: &Node, doc: &mut Doc<'static>) {
    let given = model.shown_run().and_then(|run| run.transcripts.get(&node.id)).map(|transcript| transcript.given.as_slice());
    let Some(given) = given.filter(|given| !given.is_empty()) else { return };
    let written = crate::console::model::lines(&words::text(node));
    if written != given {
        doc.heading(&format!("{} as given in this run", words::text_name(&node.work)));
        for line in given {
            doc.line(Role::Code, line.clone());
        }
    }
}

/// Ids of neighbours that are named one by one.
const NAMED: usize = 40;

/// What the selected node needs and what it feeds, found by its own edges.
fn dependencies(model: &Model, node: &Node, doc: &mut Doc<'static>) {
    let (graph, Some(row)) = (model.tree().graph(), model.tree().row()) else { return };
    listed("needs", node.depends_on.iter().map(NodeId::as_str), doc);
    if row.index >= graph.len() {
        return;
    }
    let written = graph.incoming(row.index).filter_map(|link| match graph.links()[link].place {
        EdgePlace::Edge(at) => model.plan().edges.get(at),
        EdgePlace::Dependency(_, _) => None,
    });
    for edge in written.take(NAMED) {
        let when = edge.when.as_deref().map(|when| format!("{} when {when}", edge.from)).unwrap_or_else(|| edge.from.to_string());
        doc.field("needs", &Plain::summary(&when));
    }
    listed("feeds", graph.successors(row.index).map(|at| graph.id(at).as_str()), doc);
}

fn listed<'a>(name: &str, ids: impl Iterator<Item = &'a str>, doc: &mut Doc<'static>) {
    let ids: Vec<&str> = ids.collect();
    if ids.is_empty() {
        return;
    }
    let more = if ids.len() > NAMED { format!(" and {} more", ids.len() - NAMED) } else { String::new() };
    doc.field(name, &Plain::summary(&format!("{}{more}", ids[..ids.len().min(NAMED)].join(", "))));
}

fn policy(policy: &Policy, doc: &mut Doc<'static>) {
    let written = match serde_json::to_value(policy) {
        Ok(Value::Object(map)) => map,
        _ => return,
    };
    let mut written = written.into_iter().filter(|(_, value)| !value.is_null()).peekable();
    if written.peek().is_none() {
        return;
    }
    doc.heading("policy");
    for (name, value) in written {
        let words = if name == "approve" { words::approve(policy.approve).to_owned() } else { words::result(&value) };
        doc.field(&name, &Plain::summary(&words));
    }
}
