//! From native JSON to the plan's types, with the place and the words of the first thing that is wrong.

use super::{FORMAT, ShapeError};
use crate::plan::dialect;
use crate::plan::{
    AgentNode, Ask, Budget, CodeNode, DecisionNode, Edge, LoopNode, MapNode, MergeNode, Node, NodeId, NodeKind, Plan, Policy, SubplanNode,
    ToolInput, ToolNode, TransformNode,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The most nodes of a plan together with the plans in its files, and the most that may run inside others in one run.
pub const MAX_NODES: usize = 100_000;

/// Plans within plans, at most; also the limit of what is read.
pub const MAX_DEPTH: usize = 8;
/// Fields that show a work; the first of each work is the one that messages name.
const WORKS: [(&str, &str); 12] = [
    ("agent", "agent"),
    ("role", "agent"),
    ("objective", "agent"),
    ("tool", "tool"),
    ("code", "code"),
    ("decide", "decide"),
    ("merge", "merge"),
    ("value", "value"),
    ("ask", "ask"),
    ("plan", "plan"),
    ("until", "until"),
    ("over", "over"),
];
/// Fields that stand beside those.
const BESIDE: [&str; 5] = ["args", "query", "sandbox", "body", "max_parallel"];
/// Fields of the document itself.
pub(in crate::plan) const PLAN_FIELDS: [&str; 9] =
    ["dagdeck", "goal", "inputs", "nodes", "edges", "budget", "defaults", "dialect", "metadata"];
/// Fields of an edge.
pub(in crate::plan) const EDGE_FIELDS: [&str; 7] = ["from", "to", "when", "context", "default", "id", "label"];
/// Fields of a node beside those that show its work and those of its policy.
const NODE_FIELDS: [&str; 10] = ["id", "depends_on", "entry", "exit", "goal", "args", "query", "sandbox", "body", "max_parallel"];
/// Holds fields of another dialect whose names mean something else here.
pub(super) const APART: &str = "ext";
/// Every field of `Policy`.
const POLICY_FIELDS: [&str; 21] = [
    "when",
    "skip_if",
    "join",
    "route",
    "approve",
    "side_effects",
    "retry",
    "timeout_s",
    "budget",
    "model",
    "tools",
    "context",
    "inputs",
    "on_failure",
    "cache",
    "locks",
    "output_schema",
    "breakpoint",
    "max_iterations",
    "replan_when",
    "notes",
];

/// Every field that some node may have.
pub(in crate::plan) fn node_fields() -> impl Iterator<Item = &'static str> {
    NODE_FIELDS.into_iter().chain(WORKS.iter().map(|(field, _)| *field)).chain(POLICY_FIELDS)
}

/// Whether some node may have this field.
pub(in crate::plan) fn is_node_field(name: &str) -> bool {
    node_fields().any(|field| field == name)
}

/// Whether a field of a node with this work would be read as something known.
pub(super) fn is_taken(name: &str, value: &Value, kind: &NodeKind) -> bool {
    let beside = match kind {
        NodeKind::Agent(_) => name == "goal",
        NodeKind::Tool(_) => ["args", "query"].contains(&name),
        NodeKind::Code(_) => name == "sandbox",
        NodeKind::Loop(_) => name == "body",
        NodeKind::Map(_) => ["body", "max_parallel"].contains(&name),
        NodeKind::Decision(_) | NodeKind::Merge(_) | NodeKind::Transform(_) | NodeKind::Approval(_) | NodeKind::Subplan(_) => false,
    };
    beside
        || ["id", "depends_on", "entry", "exit"].contains(&name)
        || WORKS.iter().any(|(field, _)| *field == name)
        || POLICY_FIELDS.contains(&name)
        || (value.is_null() && BESIDE.contains(&name))
}

/// Reads a whole document. The format version may be absent.
///
/// # Errors
/// The first place that is not as it should be.
pub fn plan_from_value(value: Value) -> Result<Plan, ShapeError> {
    plan_at(value, "", 0)
}

/// A plan at a place, so many plans deep.
fn plan_at(value: Value, path: &str, depth: usize) -> Result<Plan, ShapeError> {
    let mut fields = NativeFields::new(value, path, "a plan")?;
    if depth > MAX_DEPTH {
        return Err(fields.wrong("", format!("plans can be nested {MAX_DEPTH} deep at most")));
    }
    match fields.take("dagdeck") {
        None => {}
        Some(Value::Number(version)) if version.as_u64() == Some(FORMAT) => {}
        Some(version) => {
            return Err(fields.wrong("dagdeck", format!("format version {version} is unknown; this dagdeck reads version {FORMAT}")));
        }
    }
    let goal = fields.text("goal")?.unwrap_or_default();
    let inputs = fields.map("inputs")?.unwrap_or_default();
    let nodes = fields.list("nodes")?.ok_or_else(|| fields.wrong("", "a plan needs a list of `nodes`"))?;
    let nodes = nodes
        .into_iter()
        .enumerate()
        .map(|(i, node)| node_at(node, &fields.place(&format!("nodes[{i}]")), depth))
        .collect::<Result<Vec<_>, _>>()?;
    let edges = fields.list("edges")?.unwrap_or_default();
    let edges = edges
        .into_iter()
        .enumerate()
        .map(|(i, edge)| edge_from_value(edge, &fields.place(&format!("edges[{i}]"))))
        .collect::<Result<Vec<_>, _>>()?;
    let budget: Budget = fields.typed("budget")?.unwrap_or_default();
    let defaults = match fields.take("defaults") {
        Some(value) => {
            let mut defaults = NativeFields::new(value, &fields.place("defaults"), "defaults")?;
            let policy = defaults.policy()?;
            if let Some(key) = defaults.map.keys().next() {
                return Err(defaults.wrong(key, "unknown policy field"));
            }
            policy
        }
        None => Policy::default(),
    };
    let dialect = fields.typed("dialect")?.unwrap_or_default();
    let metadata = fields.map("metadata")?.unwrap_or_default();
    let ext = fields.rest(|key, _| PLAN_FIELDS.contains(&key));
    Ok(Plan { goal, inputs, nodes, edges, budget, defaults, dialect, metadata, ext })
}

/// Reads a plan inside of a node, which may stand in the shape of another dialect, as a file may.
///
/// # Errors
/// The first place that is not as it should be.
pub fn body_from_value(value: Value) -> Result<Plan, ShapeError> {
    body_at(value, "", 0)
}

fn body_at(value: Value, path: &str, depth: usize) -> Result<Plan, ShapeError> {
    let placed = |error: ShapeError| match error.path.as_str() {
        "" => ShapeError { path: path.to_owned(), ..error },
        inner if inner.starts_with('[') => ShapeError { path: format!("{path}{inner}"), ..error },
        inner => ShapeError { path: format!("{path}.{inner}"), ..error },
    };
    match dialect::read_body(value).map_err(placed)? {
        Ok(plan) => Ok(plan),
        Err(native) => plan_at(native, path, depth),
    }
}

/// Reads one node; `path` is where it stands.
///
/// # Errors
/// The first place that is not as it should be; also when the node has no work or more than one.
pub fn node_from_value(value: Value, path: &str) -> Result<Node, ShapeError> {
    node_at(value, path, 0)
}

fn node_at(value: Value, path: &str, depth: usize) -> Result<Node, ShapeError> {
    let mut fields = NativeFields::new(value, path, "a node")?;
    let id = fields.text("id")?.ok_or_else(|| fields.wrong("", "a node needs an `id`"))?;
    let kind = node_kind(&mut fields, &id, depth)?;
    let depends_on = fields.texts("depends_on")?.unwrap_or_default().iter().map(NodeId::new).collect();
    let entry = fields.typed("entry")?.unwrap_or(false);
    let exit = fields.typed("exit")?.unwrap_or(false);
    let policy = fields.policy()?;
    let ext = fields.rest(|key, value| is_taken(key, value, &kind));
    Ok(Node { id: NodeId::new(id), kind, depends_on, entry, exit, policy, ext })
}

/// Reads one edge; `path` is where it stands.
///
/// # Errors
/// The first place that is not as it should be.
pub fn edge_from_value(value: Value, path: &str) -> Result<Edge, ShapeError> {
    let mut fields = NativeFields::new(value, path, "an edge")?;
    let from = fields.text("from")?.ok_or_else(|| fields.wrong("", "an edge needs `from`"))?;
    let to = fields.text("to")?.ok_or_else(|| fields.wrong("", "an edge needs `to`"))?;
    Ok(Edge {
        from: NodeId::new(from),
        to: NodeId::new(to),
        when: fields.text("when")?,
        context: fields.texts("context")?,
        default: fields.typed("default")?.unwrap_or(false),
        id: fields.text("id")?,
        label: fields.text("label")?,
        ext: fields.rest(|key, _| EDGE_FIELDS.contains(&key)),
    })
}

fn node_kind(fields: &mut NativeFields, id: &str, depth: usize) -> Result<NodeKind, ShapeError> {
    let mut found: Vec<&str> = Vec::new();
    for (field, work) in WORKS {
        if fields.has(field) && !found.contains(&work) {
            found.push(work);
        }
    }
    // Models that must fill every field write nulls; `value: null` is a work only when nothing else is.
    if found.is_empty() && fields.map.contains_key("value") {
        found.push("value");
    }
    let value = if found == ["value"] { fields.map.shift_remove("value") } else { None };
    let known = |key: &String| WORKS.iter().any(|(field, _)| field == key) || BESIDE.contains(&key.as_str());
    fields.map.retain(|key, value| !(value.is_null() && known(key)));
    if let Some(value) = value {
        return Ok(NodeKind::Transform(TransformNode { value }));
    }
    match found.as_slice() {
        [work] => one_kind(fields, work, depth),
        [] if fields.has("body") => Err(fields
            .wrong("", format!("`{id}` has a `body`: add `until` to make it a loop, or `over` to run it once for each entry of a list"))),
        [] => {
            let words = "has no kind: give it one of `agent`, `tool`, `code`, `decide`, `merge`, `value`, `ask`, `plan`, `until`, `over`";
            Err(fields.wrong("", format!("`{id}` {words}")))
        }
        ["agent", "decide"] if fields.map.get("decide") == Some(&Value::Bool(true)) => {
            fields.take("decide");
            agent(fields).map(|agent| NodeKind::Decision(DecisionNode::Agent(agent)))
        }
        [first, second, ..] => Err(fields.wrong("", format!("`{id}` has more than one kind, `{first}` and `{second}`: keep one"))),
    }
}

fn agent(fields: &mut NativeFields) -> Result<AgentNode, ShapeError> {
    Ok(AgentNode {
        agent: fields.text("agent")?,
        objective: fields.text("objective")?,
        role: fields.text("role")?,
        goal: fields.text("goal")?,
    })
}

fn one_kind(fields: &mut NativeFields, work: &str, depth: usize) -> Result<NodeKind, ShapeError> {
    Ok(match work {
        "agent" => NodeKind::Agent(agent(fields)?),
        "tool" => {
            let tool = fields.text("tool")?.unwrap_or_default();
            let input = match (fields.map("args")?, fields.text("query")?) {
                (Some(_), Some(_)) => return Err(fields.wrong("query", "a tool takes `args` or `query`, not both")),
                (None, Some(query)) => ToolInput::Query(query),
                (args, None) => ToolInput::Args(args.unwrap_or_default()),
            };
            NodeKind::Tool(ToolNode { tool, input })
        }
        "code" => {
            let code = fields.text("code")?.unwrap_or_default();
            NodeKind::Code(CodeNode { code, sandbox: fields.typed("sandbox")?.unwrap_or_default() })
        }
        "decide" => NodeKind::Decision(decision(fields)?),
        "merge" => NodeKind::Merge(merge(fields)?),
        "plan" => NodeKind::Subplan(sub_plan(fields, depth)?),
        "until" => {
            let until = fields.text("until")?.unwrap_or_default();
            NodeKind::Loop(LoopNode { body: body(fields, "until", depth)?, until })
        }
        "over" => {
            let over = fields.text("over")?.unwrap_or_default();
            let body = body(fields, "over", depth)?;
            NodeKind::Map(MapNode { over, body, max_parallel: fields.typed("max_parallel")? })
        }
        _ => NodeKind::Approval(ask(fields)?),
    })
}

/// An expression, or an agent in an object of its own.
fn decision(fields: &mut NativeFields) -> Result<DecisionNode, ShapeError> {
    let wrong = "must be an expression as text, or an object with `agent` and `objective`";
    match fields.take("decide") {
        Some(Value::String(expression)) => Ok(DecisionNode::Expression(expression)),
        Some(value @ Value::Object(_)) => {
            let mut inner = NativeFields::new(value, &fields.place("decide"), "a decision")?;
            let agent = agent(&mut inner)?;
            match inner.map.keys().next() {
                None => Ok(DecisionNode::Agent(agent)),
                Some(key) => Err(inner.wrong(key, "a decision has no such field, only `agent`, `objective`, `role`, `goal`")),
            }
        }
        _ => Err(fields.wrong("decide", wrong)),
    }
}

fn sub_plan(fields: &mut NativeFields, depth: usize) -> Result<SubplanNode, ShapeError> {
    match fields.take("plan") {
        Some(Value::String(path)) => Ok(SubplanNode::File { path, loaded: None }),
        Some(value) => body_at(value, &fields.place("plan"), depth + 1).map(|plan| SubplanNode::Inline(Box::new(plan))),
        None => Err(fields.wrong("plan", "must be a plan or the path of its file")),
    }
}

fn body(fields: &mut NativeFields, work: &str, depth: usize) -> Result<Box<Plan>, ShapeError> {
    match fields.take("body") {
        Some(value) => body_at(value, &fields.place("body"), depth + 1).map(Box::new),
        None => Err(fields.wrong("", format!("`{work}` needs a `body`: the plan that is repeated"))),
    }
}

fn merge(fields: &mut NativeFields) -> Result<MergeNode, ShapeError> {
    let wrong = "must be `true` or an object with a `template`";
    match fields.take("merge") {
        Some(Value::Bool(true)) => Ok(MergeNode::default()),
        Some(Value::Object(mut map)) => {
            let template = map.shift_remove("template");
            if map.is_empty() { Ok(MergeNode { template }) } else { Err(fields.wrong("merge", wrong)) }
        }
        _ => Err(fields.wrong("merge", wrong)),
    }
}

/// A bare text is a question without options and fields.
fn ask(fields: &mut NativeFields) -> Result<Ask, ShapeError> {
    if let Some(Value::String(text)) = fields.map.get("ask") {
        let text = text.clone();
        fields.take("ask");
        return Ok(Ask { text, ..Ask::default() });
    }
    Ok(fields.typed("ask")?.unwrap_or_default())
}

/// A JSON object whose known fields are taken out one by one; what is left is unknown.
struct NativeFields {
    map: Map<String, Value>,
    path: String,
}

impl NativeFields {
    fn new(value: Value, path: &str, what: &str) -> Result<Self, ShapeError> {
        match value {
            Value::Object(map) => Ok(Self { map, path: path.to_owned() }),
            other => Err(ShapeError { path: path.to_owned(), message: format!("{what} must be an object, not {}", kind(&other)) }),
        }
    }

    fn place(&self, key: &str) -> String {
        match (self.path.is_empty(), key.is_empty()) {
            (_, true) => self.path.clone(),
            (true, false) => key.to_owned(),
            (false, false) => format!("{}.{key}", self.path),
        }
    }

    fn wrong(&self, key: &str, message: impl Into<String>) -> ShapeError {
        ShapeError { path: self.place(key), message: message.into() }
    }

    fn has(&self, key: &str) -> bool {
        self.map.get(key).is_some_and(|value| !value.is_null())
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.map.shift_remove(key).filter(|value| !value.is_null())
    }

    fn text(&mut self, key: &str) -> Result<Option<String>, ShapeError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(key, format!("must be text, not {}", kind(&other)))),
        }
    }

    fn map(&mut self, key: &str) -> Result<Option<Map<String, Value>>, ShapeError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(other) => Err(self.wrong(key, format!("must be an object, not {}", kind(&other)))),
        }
    }

    fn list(&mut self, key: &str) -> Result<Option<Vec<Value>>, ShapeError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Array(list)) => Ok(Some(list)),
            Some(other) => Err(self.wrong(key, format!("must be a list, not {}", kind(&other)))),
        }
    }

    fn texts(&mut self, key: &str) -> Result<Option<Vec<String>>, ShapeError> {
        let Some(list) = self.list(key)? else { return Ok(None) };
        let text = |(i, value)| match value {
            Value::String(text) => Ok(text),
            other => Err(self.wrong(&format!("{key}[{i}]"), format!("must be text, not {}", kind(&other)))),
        };
        list.into_iter().enumerate().map(text).collect::<Result<_, _>>().map(Some)
    }

    fn typed<T: DeserializeOwned>(&mut self, key: &str) -> Result<Option<T>, ShapeError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        serde_json::from_value(value).map(Some).map_err(|error| self.wrong(key, error.to_string()))
    }

    /// What is unknown; fields that stood apart because their names are `taken` here come back among them.
    fn rest(mut self, taken: impl Fn(&str, &Value) -> bool) -> Map<String, Value> {
        if let Some(Value::Object(apart)) = self.map.get_mut(APART) {
            let (back, stay): (Map<_, _>, Map<_, _>) = std::mem::take(apart).into_iter().partition(|(key, value)| taken(key, value));
            if stay.is_empty() && !back.is_empty() {
                self.map.shift_remove(APART);
            } else {
                *apart = stay;
            }
            self.map.extend(back);
        }
        self.map
    }

    fn policy(&mut self) -> Result<Policy, ShapeError> {
        let mut written = Map::new();
        for key in POLICY_FIELDS {
            if let Some(value) = self.take(key) {
                written.insert(key.to_owned(), value);
            }
        }
        if written.is_empty() {
            return Ok(Policy::default());
        }
        serde_json::from_value(Value::Object(written.clone())).map_err(|error| self.guilty(written, &error))
    }

    /// Which of the policy's fields `error` speaks of.
    fn guilty(&self, written: Map<String, Value>, error: &serde_json::Error) -> ShapeError {
        for (key, value) in written {
            let alone = Value::Object(Map::from_iter([(key.clone(), value)]));
            if let Err(error) = serde_json::from_value::<Policy>(alone) {
                return self.wrong(&key, error.to_string());
            }
        }
        self.wrong("", error.to_string())
    }
}

/// A JSON value's kind in words.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
