//! A node of a plan in words: what it does, what it needs, how it is run, what validation says of it.

use serde_json::Value;

use crate::console::model::{Doc, LABEL, Model, inputs, texts};
use crate::console::theme::Role;
use crate::engine::inside_ended;
use crate::plan::validate::Code;
use crate::plan::{Approve, Edge, MapNode, Node, NodeId, NodeKind, Plan, Policy, SubplanNode, ToolInput, ToolNode, nest, order::EdgePlace};
use crate::text::Plain;

/// What a node is to do, and what is wrong with it.
pub fn details(model: &Model, node: &Node) -> Doc<'static> {
    let mut doc = Doc::default();
    if model.shown_run().is_none() {
        findings(model, node, &mut doc);
    }
    does(node, &mut doc);
    if let NodeKind::Approval(ask) = &node.kind {
        for option in &ask.options {
            doc.line(Role::Text, Plain::line("  or: ").then(&Plain::summary(option)));
        }
    }
    given(model, node, &mut doc);
    if !doc.is_empty() {
        doc.line(Role::Text, Plain::default());
    }
    turns(model, node, &mut doc);
    dependencies(model, node, &mut doc);
    if texts::gated(node, &model.session.catalog) {
        doc.field("asks", &Plain::line(if node.policy.approve == Some(Approve::After) { "after it ran" } else { "before it starts" }));
    }
    takes(model, node, &mut doc);
    inputs(model, node, &mut doc);
    description(model, node, &mut doc);
    policy(&node.policy, &mut doc);
    doc
}

/// What it will take, and what that is known from.
fn takes(model: &Model, node: &Node, doc: &mut Doc<'static>) {
    let Some(estimate) = model.editor.forecast.get().filter(|_| model.shown_run().is_none()) else { return };
    let Some(known) = estimate.estimate.node(&node.id) else { return };
    let (parts, basis) = (known.takes.long_parts(), known.basis_label());
    if parts.is_empty() {
        return doc.field("takes", &Plain::line("unknown: no similar past run"));
    }
    doc.field("takes", &crate::engine::listed(parts));
    doc.line(Role::Dim, Plain::blank(LABEL + 1).then(&Plain::line(&basis)));
}

/// What it does, as it is written: the command, the code, the words for the agent.
pub fn does(node: &Node, doc: &mut Doc<'_>) {
    let NodeKind::Tool(ToolNode { input: ToolInput::Args(args), .. }) = &node.kind else {
        return doc.text(Role::Code, &texts::text(node));
    };
    for (name, value) in args {
        let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        for (at, line) in crate::console::model::lines(&written).into_iter().enumerate() {
            let head = match (name.as_str(), at) {
                ("command", 0) => "$ ".to_owned(),
                ("command", _) => "  ".to_owned(),
                (name, 0) => format!("{name:<LABEL$} "),
                (_, _) => " ".repeat(LABEL + 1),
            };
            doc.line(Role::Text, Plain::line(&head).then(&line));
        }
    }
}

/// A node as JSON.
pub fn source(node: &Node) -> Doc<'static> {
    let mut doc = Doc::default();
    let plan = Plan { nodes: vec![node.clone()], ..Plan::default() };
    let value = serde_json::to_value(&plan).ok().and_then(|plan| plan.get("nodes")?.get(0).cloned()).unwrap_or(Value::Null);
    doc.text(Role::Code, &texts::pretty(&value));
    doc
}

fn findings(model: &Model, node: &Node, doc: &mut Doc<'static>) {
    let place = model.tree().row().map_or(0, |row| row.index);
    for finding in model.editor.review.of_row(&node.id, place) {
        let (word, _, role) = texts::severity(finding.severity);
        let edge = model.editor.edge_of(finding).map(|edge| format!("edge from {}: ", edge.from)).unwrap_or_default();
        let message = finding.message.replace('`', "");
        doc.line(role, Plain::line(&format!("{word}: {edge}{message} ({})", finding.code)));
        if let Some(fix) = &finding.fix {
            doc.line(Role::Dim, Plain::line(&format!("  {}: ", fix.kind.label())).then(&Plain::summary(&fix.title.replace('`', ""))));
        }
        if finding.code == Code::NotUnderstood {
            let setup = model.hint("app.model");
            let model =
                if model.session.lacks_model() { format!("; {setup} sets up a model, which takes any words") } else { String::new() };
            doc.line(Role::Dim, Plain::line(&format!("  understood, for example: Which files contain todo?{model}")));
        }
    }
    if !doc.is_empty() {
        doc.line(Role::Text, Plain::default());
    }
}

fn description(model: &Model, node: &Node, doc: &mut Doc<'static>) {
    let catalog = &model.session.catalog;
    let card = node.kind.agent().and_then(|work| catalog.agents.iter().find(|agent| Some(&agent.name) == work.agent.as_ref()));
    let tool = node.kind.tool().and_then(|work| catalog.tool(&work.tool));
    if let Some(words) = card.map(|card| &card.description).or(tool.map(|tool| &tool.description)) {
        // The rest of a tool's manual is for models; what this node does with it follows.
        let first = words.split_once(". ").map_or(words.as_str(), |(first, _)| first);
        let name = node.kind.worker().unwrap_or(node.kind.name());
        let name = if name.len() > LABEL { Plain::blank(LABEL + 1) } else { Plain::line(name).pad(LABEL + 1) };
        doc.line(Role::Dim, name.then(&Plain::summary(first)));
    }
}

/// The plan's inputs that the node names, with their values.
fn inputs(model: &Model, node: &Node, doc: &mut Doc<'static>) {
    let plan = model.plan();
    let named = inputs::named(plan, node);
    let owner = nest::owner(&node.id).and_then(|owner| plan.nodes.iter().find(|node| &*node.id == owner));
    for (at, name) in named.iter().enumerate() {
        let value = match owner.and_then(|owner| passed(owner, name)).or_else(|| plan.inputs.get(name).map(value_line)) {
            Some(value) => value,
            None => Plain::line("not given"),
        };
        doc.field(if at == 0 { "inputs" } else { "" }, &Plain::summary(name).then(&Plain::line(": ")).then(&value));
    }
    if named.is_empty() || model.shown_run().is_some() {
        return;
    }
    let hint = match owner {
        Some(owner) => model.look.keymap.hint("plan.node").map(|key| format!("{key} on {} changes its value", owner.id)),
        None => model.look.keymap.hint("plan.inputs").map(|key| format!("press {key} to change them")),
    };
    if let Some(hint) = hint {
        doc.line(Role::Dim, Plain::blank(LABEL + 1).then(&Plain::summary(&hint)));
    }
}

/// What the node was given in the run, where that is not what the plan says.
fn given(model: &Model, node: &Node, doc: &mut Doc<'static>) {
    let given = model.shown_run().and_then(|run| run.seen().transcript(&node.id)).map(|transcript| transcript.given.as_slice());
    let Some(given) = given.filter(|given| !given.is_empty()) else { return };
    let written = crate::console::model::lines(&texts::text(node));
    if written != given {
        doc.heading(&format!("{} as given in this run", texts::text_name(&node.kind)));
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
    let title = |id: &NodeId| {
        model.addressed().node(id).map_or_else(|| Plain::summary(id), |node| model.title_of(node).unwrap_or_else(|| node.title_or_id()))
    };
    listed("needs", node.depends_on.iter().map(|id| title(id).into_string()), doc);
    if row.index >= graph.len() {
        return;
    }
    for edge in graph.incoming(row.index).filter_map(|link| written(model, graph.links()[link].place)).take(NAMED) {
        let when = edge.when.as_deref().map(|when| format!(" when {when}")).unwrap_or_default();
        doc.field("needs", &title(&edge.from).then(&Plain::line(&when)));
    }
    ways_out(model, node, row.index, doc);
}

/// The edge of the plan that a link is, if it is more than a dependency.
fn written(model: &Model, place: EdgePlace) -> Option<&Edge> {
    match place {
        EdgePlace::Edge(at) => model.plan().edges.get(at),
        EdgePlace::Dependency(_, _) => None,
    }
}

/// Where a node leads, by which condition or label, and in a run what became of each way.
fn ways_out(model: &Model, node: &Node, at: usize, doc: &mut Doc<'static>) {
    let graph = model.tree().graph();
    let ways: Vec<(String, Option<&Edge>)> = graph
        .outgoing(at)
        .filter_map(|link| {
            let link = graph.links()[link];
            let to = graph.id(link.to?);
            let title = model.addressed().node(to).and_then(|node| model.title_of(node));
            Some((title.map_or_else(|| to.to_string(), Plain::into_string), written(model, link.place)))
        })
        .collect();
    if ways.iter().all(|(_, edge)| edge.is_none_or(|edge| edge.when.is_none() && !edge.default)) {
        return listed("feeds", ways.iter().map(|(to, _)| to.clone()), doc);
    }
    let ends = model.shown_run().map(|view| view.seen().run.ways_out(&node.id)).unwrap_or_default();
    for (number, (to, edge)) in ways.iter().enumerate().take(NAMED) {
        let when = match edge {
            Some(Edge { when: Some(when), default: true, .. }) => format!("{to} when {when}, else by default"),
            Some(Edge { when: Some(when), .. }) => format!("{to} when {when}"),
            Some(Edge { default: true, .. }) => format!("{to} by default"),
            Some(_) | None => to.clone(),
        };
        let end = match ends.get(number).map(|way| way.state) {
            Some(crate::engine::EdgeState::Taken) => "  taken",
            Some(crate::engine::EdgeState::Dead) => "  not taken",
            Some(crate::engine::EdgeState::Undecided) | None => "",
        };
        doc.field("feeds", &Plain::summary(&when).then(&Plain::line(end)));
    }
    let why = model.shown_run().map_or("", |view| view.seen().run.why_this_way(&node.id));
    if !why.is_empty() {
        doc.field("why this route", &Plain::summary(why));
    }
}

/// How often what is inside runs, and how far it is.
fn turns(model: &Model, node: &Node, doc: &mut Doc<'static>) {
    let most = node.policy.max_iterations.unwrap_or(1);
    let words = match &node.kind {
        NodeKind::Subplan(SubplanNode::File { path, .. }) => format!("the plan in {path}"),
        NodeKind::Subplan(SubplanNode::Inline(_)) => "once".to_owned(),
        NodeKind::Loop(work) => format!("until {}, {most} times at most", work.until),
        NodeKind::Map(MapNode { over, max_parallel: Some(most), .. }) => format!("once for each of {over}, {most} at once"),
        NodeKind::Map(MapNode { over, .. }) => format!("once for each of {over}"),
        _ => return,
    };
    doc.field("runs inside", &Plain::summary(&words));
    let run = model.shown_run().map(|view| &view.seen().run);
    let inside = run.and_then(|run| run.node(&node.id)).map(|node| node.inside).unwrap_or_default();
    let all = run.map_or(0, |run| run.count_inside(&node.id));
    if all > 0 {
        let waits = if inside.waiting > 0 { format!(", {} waiting for you", inside.waiting) } else { String::new() };
        doc.field("", &Plain::line(&format!("{}{waits}", inside_ended(inside.over, all))));
    }
}

/// A value on one line.
fn value_line(value: &Value) -> Plain {
    value.as_str().map_or_else(|| Plain::summary(&value.to_string()), Plain::summary)
}

/// What the node around it gives to a node inside, under a name.
fn passed(owner: &Node, name: &str) -> Option<Plain> {
    let turn = match (&owner.kind, name) {
        (NodeKind::Map(work), "item") => Some(format!("each of {}", work.over)),
        (NodeKind::Map(_), "index") => Some("its place, from 0".to_owned()),
        (NodeKind::Loop(_), "iteration") => Some("the iteration, from 1".to_owned()),
        (NodeKind::Loop(_), "previous") => Some("what the turn before gave".to_owned()),
        _ => None,
    };
    let given = || owner.policy.inputs.as_ref()?.get(name).map(value_line);
    let own = || owner.kind.body()?.inputs.get(name).map(value_line);
    turn.map(|words| Plain::summary(&words)).or_else(given).or_else(own)
}

fn listed(name: &str, names: impl Iterator<Item = String>, doc: &mut Doc<'static>) {
    let ids: Vec<String> = names.collect();
    if ids.is_empty() {
        return;
    }
    let more = if ids.len() > NAMED { format!(" and {} more", ids.len() - NAMED) } else { String::new() };
    doc.field(name, &Plain::summary(&format!("{}{more}", ids[..ids.len().min(NAMED)].join(", "))));
}

fn policy(policy: &Policy, doc: &mut Doc<'static>) {
    let Ok(Value::Object(mut written)) = serde_json::to_value(policy) else { return };
    written.retain(|_, value| !value.is_null());
    if written.is_empty() {
        return;
    }
    doc.heading("policy");
    for (name, value) in written {
        let words = if name == "approve" { texts::approve(policy.approve).to_owned() } else { texts::result(&value) };
        doc.field(&name, &Plain::summary(&words));
    }
}
