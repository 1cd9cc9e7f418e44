//! From a stage document to a plan.

use super::super::names::NAMES;
use super::layout::{self, PlacedStage};
use super::names::IMPLIED;
use super::{DIALECT, StageType, name_of, plain_work};
use crate::plan::Dialect;
use crate::plan::dialect::parts;
use crate::plan::fields::Fields;
use crate::plan::native::{ShapeError, kind};
use crate::plan::order::PlanGraph;
use crate::plan::{AgentNode, DecisionNode, Edge, MergeNode, Node, NodeId, NodeKind, Plan, ToolInput, ToolNode, TransformNode};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

pub(in crate::plan) fn read(value: Value) -> Result<Plan, ShapeError> {
    let fields = Fields::open(value, "", &NAMES.form(Dialect::Stages).document)?;
    let parts = layout::take(fields.rest())?;
    let nodes = parts.stages.into_iter().map(|PlacedStage { path, key, value }| stage(value, &path, key.as_deref()));
    let mut nodes = nodes.collect::<Result<Vec<_>, _>>()?;
    let mut rest = parts.rest;
    let edges = match parts.edges {
        Some((path, Value::Array(list))) => {
            if list.is_empty() {
                rest.insert("edges".into(), json!([]));
            }
            list.into_iter().enumerate().map(|(i, value)| edge(value, &format!("{path}[{i}]"))).collect::<Result<Vec<_>, _>>()?
        }
        Some((_, Value::Null)) => {
            rest.insert("edges".into(), Value::Null);
            Vec::new()
        }
        Some((path, other)) => return Err(ShapeError { path, message: format!("must be a list, not {}", kind(&other)) }),
        None => Vec::new(),
    };
    if edges.is_empty() {
        chain(&mut nodes);
    }
    let fields = Fields::open(Value::Object(rest), "", &NAMES.form(Dialect::Stages).document)?;
    let mut plan = parts::plan(DIALECT, nodes, edges, fields);
    for (at, work) in implied(&plan) {
        plan.nodes[at].kind = work;
    }
    Ok(plan)
}

/// Each stage after the one before it.
fn chain(nodes: &mut [Node]) {
    for at in 1..nodes.len() {
        let before = nodes[at - 1].id.clone();
        if before != nodes[at].id {
            nodes[at].depends_on = vec![before];
        }
    }
}

/// The work of the stages that say no more than their type, by what leads into them, each with its position.
pub(in crate::plan) fn implied(plan: &Plan) -> Vec<(usize, NodeKind)> {
    let mut open = plan.nodes.iter().enumerate().filter(|(_, node)| node.ext.contains_key(IMPLIED)).peekable();
    if plan.dialect != DIALECT || open.peek().is_none() {
        return Vec::new();
    }
    let sources = sources(plan);
    let work = |(at, node): (usize, &Node)| {
        let sources = sources.get(&node.id).map_or(&[][..], Vec::as_slice);
        Some((at, plain_work(StageType::of(&node.kind)?, name_of(node), sources)?))
    };
    open.filter_map(work).collect()
}

/// What leads into each node, each source once, those that run later first.
pub(super) fn sources(plan: &Plan) -> BTreeMap<NodeId, Vec<&NodeId>> {
    let mut sources: BTreeMap<NodeId, Vec<&NodeId>> = BTreeMap::new();
    let written = plan.edges.iter().map(|edge| (&edge.from, &edge.to));
    let plain = plan.nodes.iter().flat_map(|node| node.depends_on.iter().map(move |from| (from, &node.id)));
    for (from, to) in written.chain(plain) {
        let list = sources.entry(to.clone()).or_default();
        if !list.contains(&from) {
            list.push(from);
        }
    }
    let order = PlanGraph::new(plan).topological();
    let rank: HashMap<&NodeId, usize> = order.into_iter().enumerate().map(|(rank, at)| (&plan.nodes[at].id, rank)).collect();
    sources.values_mut().for_each(|list| list.sort_by_key(|id| std::cmp::Reverse(rank.get(*id).copied())));
    sources
}

/// A stage by itself, for whoever wants to know whether it can be read; its id may be written outside.
pub(in crate::plan) fn stage_alone(value: Value, path: &str) -> Result<Node, ShapeError> {
    let key = value.get("stage_id").or_else(|| value.get("id")).and_then(Value::as_str).unwrap_or_default().to_owned();
    stage(value, path, Some(&key))
}

fn stage(value: Value, path: &str, key: Option<&str>) -> Result<Node, ShapeError> {
    let mut fields = Fields::open(value, path, &NAMES.form(Dialect::Stages).node)?;
    let id = id(&mut fields, key)?;
    let entry = fields.flag("entrypoint")?;
    let exit = fields.flag("terminal")?;
    let work = work(&mut fields)?;
    let ext = fields.rest();
    Ok(Node { entry, exit, ext, ..Node::new(id.as_str(), work) })
}

/// The id, and under which name it stood.
fn id(fields: &mut Fields, key: Option<&str>) -> Result<String, ShapeError> {
    for name in ["stage_id", "id"] {
        let Some(id) = fields.text(name)? else { continue };
        if let Some(key) = key.filter(|key| *key != id) {
            return Err(fields.wrong(name, format!("this stage has the key `{key}` but the id `{id}`")));
        }
        if name == "stage_id" || key.is_some() {
            fields.keep(name, json!(id));
        }
        return Ok(id);
    }
    key.map(str::to_owned).ok_or_else(|| fields.missing("stage_id"))
}

fn stage_kind(fields: &mut Fields) -> Result<StageType, ShapeError> {
    let names = <StageType as strum::VariantNames>::VARIANTS.join(", ");
    let missing = format!("a stage needs a `type`: one of {names}");
    if fields.peek("type").is_some_and(Value::is_null) {
        return Err(fields.wrong("type", missing));
    }
    if let Some(name) = fields.text("type")? {
        let kind =
            StageType::named(&name).ok_or_else(|| fields.wrong("type", format!("`{name}` is not a stage type: use one of {names}")))?;
        fields.keep("type", json!(name));
        return Ok(kind);
    }
    // Noted, so that it isn't written where it wasn't.
    fields.keep("type", Value::Null);
    if let Some(kind) = fields.peek("role").and_then(Value::as_str).and_then(StageType::named) {
        return Ok(kind);
    }
    let says = |names: &[&str]| names.iter().any(|name| fields.has(name));
    match (says(&NAMES.stage.tool), says(&NAMES.stage.agent)) {
        (true, _) => Ok(StageType::Tool),
        (false, true) => Ok(StageType::Agent),
        (false, false) => Err(fields.wrong("type", missing)),
    }
}

/// The work; a stage that says no more than its type is marked, and gets its work later.
fn work(fields: &mut Fields) -> Result<NodeKind, ShapeError> {
    let mark = |fields: &mut Fields| fields.keep(IMPLIED, Value::Bool(true));
    Ok(match stage_kind(fields)? {
        StageType::Agent => {
            let agent = agent(fields)?;
            if agent == AgentNode::default() {
                mark(fields);
            }
            NodeKind::Agent(agent)
        }
        StageType::Tool => tool(fields)?,
        StageType::Decision => NodeKind::Decision(decision(fields)?.unwrap_or_else(|| {
            mark(fields);
            DecisionNode::Expression(String::new())
        })),
        StageType::Merge => NodeKind::Merge(MergeNode { template: fields.take("template") }),
        StageType::Transform => {
            let mut value = Value::Null;
            match named(fields, &NAMES.stage.value) {
                Some(name) => {
                    value = fields.take(name).unwrap_or_default();
                    remember(fields, &NAMES.stage.value, name, &value);
                }
                None => mark(fields),
            }
            NodeKind::Transform(TransformNode { value })
        }
    })
}

/// By an expression or an agent; neither when the stage says no more than its type.
fn decision(fields: &mut Fields) -> Result<Option<DecisionNode>, ShapeError> {
    if let Some(name) = named(fields, &NAMES.stage.decide)
        && let Some(expression) = fields.some_text(name)?
    {
        if named(fields, &NAMES.stage.agent).is_some() {
            return Err(fields.wrong(name, "a stage decides by an expression or by an agent, not by both"));
        }
        remember(fields, &NAMES.stage.decide, name, &json!(expression));
        return Ok(Some(DecisionNode::Expression(expression)));
    }
    let agent = agent(fields)?;
    Ok((agent != AgentNode::default()).then_some(DecisionNode::Agent(agent)))
}

fn tool(fields: &mut Fields) -> Result<NodeKind, ShapeError> {
    let name = named(fields, &NAMES.stage.tool).ok_or_else(|| fields.missing(NAMES.stage.tool[0]))?;
    let tool = fields.need_text(name)?;
    remember(fields, &NAMES.stage.tool, name, &json!(tool));
    let args = NAMES.stage.args.iter().copied().find(|name| fields.peek(name).is_some_and(Value::is_object));
    let query = fields.text("query")?;
    if let (Some(_), Some(_)) = (args, &query) {
        return Err(fields.wrong("query", "a tool takes arguments or a `query`, not both"));
    }
    if let Some(query) = query {
        return Ok(NodeKind::Tool(ToolNode { tool, input: ToolInput::Query(query) }));
    }
    let Some(name) = args else { return Ok(NodeKind::Tool(ToolNode { tool, input: ToolInput::Args(serde_json::Map::new()) })) };
    let args = fields.object(name)?.unwrap_or_default();
    if args.is_empty() {
        fields.keep(name, json!({}));
    } else {
        remember(fields, &NAMES.stage.args, name, &Value::Object(args.clone()));
    }
    Ok(NodeKind::Tool(ToolNode { tool, input: ToolInput::Args(args) }))
}

fn agent(fields: &mut Fields) -> Result<AgentNode, ShapeError> {
    let mut text = |names: &[&'static str]| {
        let Some(name) = named(fields, names) else { return Ok(None) };
        let text = fields.some_text(name)?;
        if let Some(text) = &text {
            remember(fields, names, name, &json!(text));
        }
        Ok(text)
    };
    Ok(AgentNode { agent: text(&NAMES.stage.agent)?, objective: text(&NAMES.stage.objective)?, ..AgentNode::default() })
}

/// The first of several names that says something.
fn named(fields: &Fields, names: &[&'static str]) -> Option<&'static str> {
    names.iter().copied().find(|name| fields.has(name))
}

/// Notes the name under which a field stood: another than the one that is written by default, or one of several.
fn remember(fields: &mut Fields, names: &[&str], name: &str, value: &Value) {
    if names.first() != Some(&name) || names.iter().any(|other| fields.has(other)) {
        fields.keep(name, value.clone());
    }
}

pub(in crate::plan) fn edge(value: Value, path: &str) -> Result<Edge, ShapeError> {
    let mut fields = Fields::open(value, path, &NAMES.form(Dialect::Stages).edge)?;
    let from = fields.need_text("from_stage_id")?;
    let to = fields.need_text("to_stage_id")?;
    let when = fields.some_text("condition")?;
    let id = fields.some_text("edge_id")?;
    Ok(Edge { when, id, ext: fields.rest(), ..Edge::new(from.as_str(), to.as_str()) })
}
