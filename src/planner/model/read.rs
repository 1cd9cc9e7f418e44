//! A model's node objects as nodes, leniently: the dialects' names for the same thing, nulls, lists written as one word.
//! What is wrong beyond that stays wrong, for validation to find.

use serde_json::{Map, Value};

use crate::models::json;
use crate::plan::dialect::{exact_json, other_names};
use crate::plan::{
    AgentNode, ApprovalNode, Approve, CodeNode, DecisionNode, Edge, MapNode, MergeNode, Node, NodeId, NodeKind, Plan, Policy,
    SandboxLimits, ToolInput, ToolNode, TransformNode,
};

/// Names of the id, the kind and what the node does, beside those that native documents have.
const READ: [&str; 9] = ["name", "description", "task", "javascript", "transform", "approval", "input", "type", "kind"];

/// A node out of an object; `position` (from 1) names a node that has no id.
pub(super) fn node(value: &Value, position: usize) -> Option<Node> {
    let object = value.as_object()?;
    let id = text(object, &["id", "name", "node_id"]).unwrap_or_else(|| format!("n{position}"));
    let mut depends_on: Vec<NodeId> = Vec::new();
    for source in other_names::sources(object).flat_map(|ids| list(Some(ids))) {
        let source = NodeId::new(source);
        if !depends_on.contains(&source) {
            depends_on.push(source);
        }
    }
    let policy = Policy {
        when: text(object, &["when"]).or_else(|| filled(other_names::condition(object)?)),
        skip_if: text(object, &["skip_if"]),
        approve: field(object, &["approve"]).cloned().or_else(|| other_names::asked(object).map(Value::from)).as_ref().and_then(approve),
        notes: text(object, &["notes"]),
        ..Policy::default()
    };
    let unknown = other_names::unknown(object).filter(|(name, _)| !READ.contains(&name.as_str()));
    let ext = unknown.map(|(name, value)| (name.clone(), value.clone())).collect();
    Some(Node { id: NodeId::new(id.trim()), kind: node_kind(object), depends_on, entry: false, exit: false, policy, ext })
}

/// The number of the past plan that a whole answer says it follows.
pub(super) fn follows(answer: &str) -> Option<usize> {
    let value = json::find(answer).and_then(|text| serde_json::from_str::<Value>(text).ok())?;
    value.get("follows")?.as_u64().and_then(|number| usize::try_from(number).ok())
}

/// The `edges` of a whole answer.
pub(super) fn edges(answer: &str) -> Vec<Edge> {
    let value: Value = json::find(answer).and_then(|text| exact_json(text).ok()).unwrap_or_default();
    let edges = value.get("edges").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
    let edge = |edge: &Map<String, Value>| {
        Some(Edge {
            from: NodeId::new(text(edge, &["from", "source"])?),
            to: NodeId::new(text(edge, &["to", "target"])?),
            when: text(edge, &["when", "condition"]),
            context: None,
            default: edge.get("default") == Some(&Value::Bool(true)),
            id: None,
            label: None,
            ext: Map::new(),
        })
    };
    edges.filter_map(edge).collect()
}

/// The kind by what is there; an agent's objective beats a tool that was named beside it only where the agent is named too.
fn node_kind(object: &Map<String, Value>) -> NodeKind {
    let agent = text(object, &["agent", "agent_name"]);
    let objective = text(object, &["objective", "description", "task", "prompt"]);
    if let Some(agent) = agent {
        return NodeKind::Agent(AgentNode { agent: Some(agent), objective, ..AgentNode::default() });
    }
    if let Some(over) = text(object, &["over"]) {
        let body = field(object, &["body"]).map(body).unwrap_or_default();
        return NodeKind::Map(MapNode { over: expression(&over), body: Box::new(body), max_parallel: None });
    }
    if let Some(tool) = text(object, &["tool", "tool_name"]) {
        return NodeKind::Tool(ToolNode { tool, input: tool_input(object) });
    }
    if let Some(code) = text(object, &["code", "javascript"]) {
        return NodeKind::Code(CodeNode { code, sandbox: SandboxLimits::default() });
    }
    if let Some(value) = field(object, &["value", "transform"]) {
        return NodeKind::Transform(TransformNode { value: value.clone() });
    }
    if let Some(question) = field(object, &["ask", "approval", "question"]) {
        return NodeKind::Approval(ask(question));
    }
    match object.get("decide") {
        Some(Value::Object(by)) => {
            let agent = AgentNode { agent: text(by, &["agent"]), objective: text(by, &["objective"]), ..AgentNode::default() };
            return NodeKind::Decision(DecisionNode::Agent(agent));
        }
        Some(decide) if filled(decide).is_some() => {
            return NodeKind::Decision(DecisionNode::Expression(expression(&filled(decide).unwrap_or_default())));
        }
        Some(_) | None => {}
    }
    if let Some(template) = object.get("merge") {
        return NodeKind::Merge(MergeNode { template: template.get("template").cloned() });
    }
    NodeKind::Agent(AgentNode { objective, ..AgentNode::default() })
}

/// The plan inside of a map: an object with nodes, or the nodes alone.
fn body(value: &Value) -> Plan {
    let nodes = value.get("nodes").unwrap_or(value).as_array().into_iter().flatten();
    Plan { nodes: nodes.enumerate().filter_map(|(at, value)| node(value, at + 1)).collect(), ..Plan::default() }
}

/// An expression without the braces that references in texts have.
fn expression(text: &str) -> String {
    let bare = text.trim().strip_prefix("{{").and_then(|text| text.strip_suffix("}}")).filter(|inner| !inner.contains("{{"));
    bare.unwrap_or(text).trim().to_owned()
}

fn tool_input(object: &Map<String, Value>) -> ToolInput {
    // A model that has to write every argument writes null for those that it leaves out.
    let given = |args: Map<String, Value>| ToolInput::Args(args.into_iter().filter(|(_, value)| !value.is_null()).collect());
    match field(object, &["args", "arguments", "input", "parameters"]) {
        Some(Value::Object(args)) => given(args.clone()),
        // Arguments as JSON in a text, as models write them in their own tool calls.
        Some(Value::String(text)) => match exact_json(text) {
            Ok(Value::Object(args)) => given(args),
            Ok(_) | Err(_) => ToolInput::Query(text.clone()),
        },
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_)) | None => {
            text(object, &["query"]).map_or_else(|| ToolInput::Args(Map::new()), ToolInput::Query)
        }
    }
}

fn ask(question: &Value) -> ApprovalNode {
    match question {
        Value::Object(object) => ApprovalNode {
            text: text(object, &["text", "ask", "question"]).unwrap_or_default(),
            options: list(field(object, &["options"])),
            fields: Vec::new(),
        },
        other => ApprovalNode { text: filled(other).unwrap_or_default(), ..ApprovalNode::default() },
    }
}

/// A model may ask for more gates, never for fewer: what asks by configuration is a person's to free.
fn approve(value: &Value) -> Option<Approve> {
    match value {
        Value::Bool(true) => Some(Approve::Before),
        other => serde_json::from_value(other.clone()).ok().filter(|approve| *approve != Approve::Never),
    }
}

/// The first of these fields that is there and not null.
fn field<'a>(object: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| object.get(*name)).filter(|value| !value.is_null())
}

/// The first of these fields that holds a text that isn't blank.
fn text(object: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| filled(object.get(*name)?))
}

fn filled(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn list(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(filled).collect(),
        Some(one) => filled(one).into_iter().collect(),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Node {
        node(&value, 7).unwrap()
    }

    #[test]
    fn each_work_is_read_by_what_is_there() {
        let agent = read(json!({"id": "a", "agent": "writer", "objective": "write", "tool": null, "depends_on": ["b", "b", "c"]}));
        assert_eq!(
            agent.kind,
            NodeKind::Agent(AgentNode { agent: Some("writer".into()), objective: Some("write".into()), ..Default::default() })
        );
        assert_eq!(agent.depends_on, ["b".into(), "c".into()]);
        let args = json!({"path": "{{a.result}}"});
        let args = args.as_object().unwrap();
        assert_eq!(
            read(json!({"id": "t", "agent": "", "tool": "read_file", "args": args})).kind,
            NodeKind::Tool(ToolNode { tool: "read_file".into(), input: ToolInput::Args(args.clone()) })
        );
        assert!(matches!(read(json!({"code": "return 1"})).kind, NodeKind::Code(_)));
        assert!(matches!(read(json!({"value": {"x": "{{a}}"}})).kind, NodeKind::Transform(_)));
        assert!(matches!(read(json!({"ask": "Go?"})).kind, NodeKind::Approval(ask) if ask.text == "Go?"));
        assert!(
            matches!(read(json!({"ask": {"text": "Go?", "options": ["yes"]}})).kind, NodeKind::Approval(ask) if ask.options == ["yes"])
        );
    }

    #[test]
    fn an_order_a_condition_and_a_gate_are_taken_by_any_of_their_names_and_what_is_unknown_is_kept() {
        let node = read(json!({"id": "b", "agent": "writer", "objective": "y", "needs": ["a"], "blocked_by": "c", "condition": "a.n > 1",
            "requires_approval": true, "for_each": "x", "type": "agent", "title": "B", "reasoning": ""}));
        assert_eq!(node.depends_on, ["a".into(), "c".into()]);
        assert_eq!((node.policy.when.as_deref(), node.policy.approve), (Some("a.n > 1"), Some(Approve::Before)));
        assert_eq!(Value::Object(node.ext), json!({"for_each": "x", "title": "B"}));
    }

    #[test]
    fn other_dialects_names_and_shapes_are_taken() {
        let tool = read(json!({"id": 3, "tool": "web_search", "query": "trains", "dependencies": "b"}));
        assert_eq!((tool.id.as_str(), tool.depends_on), ("3", vec!["b".into()]));
        assert_eq!(tool.kind, NodeKind::Tool(ToolNode { tool: "web_search".into(), input: ToolInput::Query("trains".into()) }));
        let written = read(json!({"tool": "t", "arguments": "{\"a\": 1}"}));
        assert!(matches!(written.kind, NodeKind::Tool(ToolNode { input: ToolInput::Args(args), .. }) if args["a"] == 1));
        assert_eq!(read(json!({"approve": true})).policy.approve, Some(Approve::Before));
        assert_eq!(read(json!({"approve": "after"})).policy.approve, Some(Approve::After));
        assert_eq!(read(json!({"approve": "never"})).policy.approve, None, "a model frees nothing of its gate");
    }

    #[test]
    fn decisions_and_maps_are_read_with_their_title_and_without_braces() {
        let map =
            read(json!({"id": "m", "title": "Each", "over": "{{find.result}}", "body": {"nodes": [{"id": "x", "value": "{{item}}"}]}}));
        let NodeKind::Map(MapNode { over, body, .. }) = &map.kind else { panic!("{map:?}") };
        assert_eq!((over.as_str(), body.nodes.len(), &map.ext["title"]), ("find.result", 1, &json!("Each")));
        assert_eq!(
            read(json!({"decide": "'a' if b.result else 'c'"})).kind,
            NodeKind::Decision(DecisionNode::Expression("'a' if b.result else 'c'".into()))
        );
        assert!(matches!(
            read(json!({"decide": {"agent": "writer", "objective": "Which?"}})).kind,
            NodeKind::Decision(DecisionNode::Agent(_))
        ));
    }

    #[test]
    fn arguments_that_are_null_are_left_out() {
        let tool = read(json!({"tool": "t", "args": {"path": "a", "last": null}}));
        assert!(
            matches!(tool.kind, NodeKind::Tool(ToolNode { input: ToolInput::Args(args), .. }) if Value::Object(args.clone()) == json!({"path": "a"}))
        );
    }

    #[test]
    fn edges_are_read_where_a_model_writes_them_apart() {
        let edges = |answer: &str| edges(answer).iter().map(|edge| format!("{}>{}", edge.from, edge.to)).collect::<Vec<_>>();
        let answer = r#"{"nodes": [], "edges": [{"from": "a", "to": "b"}, {"source": "b", "target": "c"}, {"from": 1}, "x"]}"#;
        assert_eq!(edges(answer), ["a>b", "b>c"]);
        assert_eq!(edges("{\"nodes\": []}"), Vec::<String>::new());
    }

    #[test]
    fn what_is_missing_is_left_for_validation() {
        let empty = read(json!({}));
        assert_eq!(empty.id.as_str(), "n7");
        assert_eq!(empty.kind, NodeKind::Agent(AgentNode::default()));
        assert_eq!(node(&json!("a"), 1), None);
    }
}
