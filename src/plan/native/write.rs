//! From the plan's types to native JSON. Absent and empty fields are left out; unknown fields come last, as they were.

use super::FORMAT;
use super::read::{APART, EDGE_FIELDS, PLAN_FIELDS, is_taken};
use crate::plan::{
    AgentNode, CodeNode, DecisionNode, Dialect, Edge, LoopNode, MapNode, MergeNode, Node, NodeId, NodeKind, Plan, SubplanNode, ToolInput,
    ToolNode,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A plan inside of a node in the shape of another dialect; nothing for a native one.
pub(in crate::plan) type WriteBody = fn(&Plan) -> Option<Value>;

pub(in crate::plan) fn plan_to_value(plan: &Plan, write_body: WriteBody) -> Value {
    let mut map = Map::new();
    map.insert("dagdeck".into(), json!(FORMAT));
    if !plan.goal.is_empty() {
        map.insert("goal".into(), json!(plan.goal));
    }
    put_map(&mut map, "inputs", &plan.inputs);
    map.insert("nodes".into(), plan.nodes.iter().map(|node| node_to_value(node, write_body)).collect());
    if !plan.edges.is_empty() {
        map.insert("edges".into(), plan.edges.iter().map(edge_to_value).collect());
    }
    put_object(&mut map, "budget", &plan.budget);
    put_object(&mut map, "defaults", &plan.defaults);
    if plan.dialect != Dialect::Native {
        map.insert("dialect".into(), json!(plan.dialect));
    }
    put_map(&mut map, "metadata", &plan.metadata);
    put_ext(&mut map, &plan.ext, |key, _| PLAN_FIELDS.contains(&key));
    Value::Object(map)
}

/// A plan inside of a node, in the shape that it was read in.
pub(in crate::plan) fn body_to_value(body: &Plan, write_body: WriteBody) -> Value {
    write_body(body).unwrap_or_else(|| plan_to_value(body, write_body))
}

/// One node, with its work and its policy flat in it.
pub(in crate::plan) fn node_to_value(node: &Node, write_body: WriteBody) -> Value {
    let mut map = Map::new();
    map.insert("id".into(), text(&node.id));
    put_work(&mut map, &node.kind, write_body);
    if !node.depends_on.is_empty() {
        map.insert("depends_on".into(), ids(&node.depends_on));
    }
    for (field, set) in [("entry", node.entry), ("exit", node.exit)] {
        if set {
            map.insert(field.into(), Value::Bool(true));
        }
    }
    map.append(&mut object_of(&node.policy));
    put_ext(&mut map, &node.ext, |key, value| is_taken(key, value, &node.kind));
    Value::Object(map)
}

pub fn edge_to_value(edge: &Edge) -> Value {
    let mut map = Map::new();
    map.insert("from".into(), text(&edge.from));
    map.insert("to".into(), text(&edge.to));
    put_text(&mut map, "when", edge.when.as_deref());
    if let Some(keys) = &edge.context {
        map.insert("context".into(), json!(keys));
    }
    if edge.default {
        map.insert("default".into(), Value::Bool(true));
    }
    put_text(&mut map, "id", edge.id.as_deref());
    put_text(&mut map, "label", edge.label.as_deref());
    put_ext(&mut map, &edge.ext, |key, _| EDGE_FIELDS.contains(&key));
    Value::Object(map)
}

fn put_work(map: &mut Map<String, Value>, work: &NodeKind, write_body: WriteBody) {
    match work {
        NodeKind::Agent(agent) => put_agent(map, agent),
        NodeKind::Tool(ToolNode { tool, input }) => {
            put_text(map, "tool", Some(tool));
            match input {
                ToolInput::Args(args) => put_map(map, "args", args),
                ToolInput::Query(query) => put_text(map, "query", Some(query)),
            }
        }
        NodeKind::Code(CodeNode { code, sandbox }) => {
            put_text(map, "code", Some(code));
            put_object(map, "sandbox", sandbox);
        }
        NodeKind::Decision(DecisionNode::Expression(expression)) => put_text(map, "decide", Some(expression)),
        NodeKind::Decision(DecisionNode::Agent(agent)) => {
            let mut decide = Map::new();
            put_agent(&mut decide, agent);
            map.insert("decide".into(), Value::Object(decide));
        }
        NodeKind::Merge(MergeNode { template: None }) => {
            map.insert("merge".into(), Value::Bool(true));
        }
        NodeKind::Merge(MergeNode { template: Some(template) }) => {
            map.insert("merge".into(), json!({ "template": template }));
        }
        NodeKind::Transform(transform) => {
            map.insert("value".into(), transform.value.clone());
        }
        NodeKind::Approval(ask) => {
            map.insert("ask".into(), Value::Object(object_of(ask)));
        }
        NodeKind::Subplan(SubplanNode::Inline(plan)) => {
            map.insert("plan".into(), body_to_value(plan, write_body));
        }
        NodeKind::Subplan(SubplanNode::File { path, .. }) => put_text(map, "plan", Some(path)),
        NodeKind::Loop(LoopNode { body, until }) => {
            put_text(map, "until", Some(until));
            map.insert("body".into(), body_to_value(body, write_body));
        }
        NodeKind::Map(MapNode { over, body, max_parallel }) => {
            put_text(map, "over", Some(over));
            if let Some(most) = max_parallel {
                map.insert("max_parallel".into(), json!(most));
            }
            map.insert("body".into(), body_to_value(body, write_body));
        }
    }
}

fn put_agent(map: &mut Map<String, Value>, AgentNode { agent, objective, role, goal }: &AgentNode) {
    put_text(map, "agent", agent.as_deref());
    put_text(map, "role", role.as_deref());
    put_text(map, "goal", goal.as_deref());
    put_text(map, "objective", objective.as_deref());
}

fn text(id: &NodeId) -> Value {
    Value::String(id.as_str().to_owned())
}

fn ids(ids: &[NodeId]) -> Value {
    ids.iter().map(text).collect()
}

fn put_text(map: &mut Map<String, Value>, key: &str, value: Option<&str>) {
    if let Some(value) = value {
        map.insert(key.into(), Value::String(value.to_owned()));
    }
}

fn put_map(map: &mut Map<String, Value>, key: &str, value: &Map<String, Value>) {
    if !value.is_empty() {
        map.insert(key.into(), Value::Object(value.clone()));
    }
}

fn put_object(map: &mut Map<String, Value>, key: &str, value: &impl Serialize) {
    let value = object_of(value);
    if !value.is_empty() {
        map.insert(key.into(), Value::Object(value));
    }
}

/// The fields of an object; none of anything else.
pub(in crate::plan) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

/// Derived types of the plan always serialise to an object.
fn object_of(value: &impl Serialize) -> Map<String, Value> {
    serde_json::to_value(value).map_or_else(|_| Map::new(), object)
}

/// Unknown fields never take the place of known ones. A field of another dialect whose name is `taken` here is in an object of its
/// own, so that it isn't read as what it doesn't mean.
fn put_ext(map: &mut Map<String, Value>, ext: &Map<String, Value>, taken: impl Fn(&str, &Value) -> bool) {
    let mut apart = Map::new();
    for (key, value) in ext {
        if taken(key, value) {
            apart.insert(key.clone(), value.clone());
        } else if !map.contains_key(key) {
            map.insert(key.clone(), value.clone());
        }
    }
    if !apart.is_empty() {
        match map.get_mut(APART) {
            Some(Value::Object(written)) => written.append(&mut apart),
            _ => drop(map.insert(APART.into(), Value::Object(apart))),
        }
    }
}
