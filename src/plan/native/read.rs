//! From native JSON to the plan's types, with the place and the words of the first thing that is wrong.

use super::{FORMAT, ShapeError};
use crate::plan::fields::Fields;
use crate::plan::{
    AgentNode, ApprovalNode, Budget, CodeNode, DecisionNode, Edge, LoopNode, MapNode, MergeNode, Node, NodeId, NodeKind, Plan, Policy,
    SubplanNode, ToolInput, ToolNode, TransformNode,
};
use schemars::schema_for;
use serde_json::{Map, Value};
use std::sync::LazyLock;

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
static POLICY_FIELDS: LazyLock<Vec<String>> =
    LazyLock::new(|| schema_for!(Policy).get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys).cloned().collect());

/// Every field that some node may have.
pub(in crate::plan) fn node_fields() -> impl Iterator<Item = &'static str> {
    NODE_FIELDS.into_iter().chain(WORKS.iter().map(|(field, _)| *field)).chain(POLICY_FIELDS.iter().map(String::as_str))
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
        || POLICY_FIELDS.iter().any(|field| field == name)
        || (value.is_null() && BESIDE.contains(&name))
}

/// Reads a plan inside of a node that stands in the shape of another dialect; gives a native one back.
pub(in crate::plan) type ReadBody = fn(Value) -> Result<Result<Plan, Value>, ShapeError>;

/// What reading a node takes with it.
#[derive(Clone, Copy)]
struct Nesting {
    /// So many plans stand around this one.
    depth: usize,
    read_body: ReadBody,
}

impl Nesting {
    fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

/// Reads a whole document. The format version may be absent.
///
/// # Errors
/// The first place that is not as it should be.
pub(in crate::plan) fn plan_from_value(value: Value, read_body: ReadBody) -> Result<Plan, ShapeError> {
    plan_at(value, "", Nesting { depth: 0, read_body })
}

fn plan_at(value: Value, path: &str, nesting: Nesting) -> Result<Plan, ShapeError> {
    let mut fields = Fields::native(value, path, "a plan")?;
    if nesting.depth > MAX_DEPTH {
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
    let inputs = fields.object("inputs")?.unwrap_or_default();
    let nodes = fields.each("nodes", |node, path| node_at(node, path, nesting))?;
    let nodes = nodes.ok_or_else(|| fields.wrong("", "a plan needs a list of `nodes`"))?;
    let edges = fields.each("edges", edge_from_value)?.unwrap_or_default();
    let budget: Budget = fields.typed("budget")?.unwrap_or_default();
    let defaults = match fields.take("defaults") {
        Some(value) => {
            let mut defaults = Fields::native(value, &fields.place("defaults"), "defaults")?;
            let policy = policy(&mut defaults)?;
            if let Some(key) = defaults.map.keys().next() {
                return Err(defaults.wrong(key, "unknown policy field"));
            }
            policy
        }
        None => Policy::default(),
    };
    let dialect = fields.typed("dialect")?.unwrap_or_default();
    let metadata = fields.object("metadata")?.unwrap_or_default();
    let ext = rest(fields, |key, _| PLAN_FIELDS.contains(&key));
    Ok(Plan { goal, inputs, nodes, edges, budget, defaults, dialect, metadata, ext, ..Plan::default() })
}

/// Reads a plan inside of a node, which may stand in the shape of another dialect, as a file may.
///
/// # Errors
/// The first place that is not as it should be.
pub(in crate::plan) fn body_from_value(value: Value, read_body: ReadBody) -> Result<Plan, ShapeError> {
    body_at(value, "", Nesting { depth: 0, read_body })
}

fn body_at(value: Value, path: &str, nesting: Nesting) -> Result<Plan, ShapeError> {
    let placed = |error: ShapeError| match error.path.as_str() {
        "" => ShapeError { path: path.to_owned(), ..error },
        inner if inner.starts_with('[') => ShapeError { path: format!("{path}{inner}"), ..error },
        inner => ShapeError { path: format!("{path}.{inner}"), ..error },
    };
    match (nesting.read_body)(value).map_err(placed)? {
        Ok(plan) => Ok(plan),
        Err(native) => plan_at(native, path, nesting),
    }
}

/// Reads one node; `path` is where it stands.
///
/// # Errors
/// The first place that is not as it should be; also when the node has no work or more than one.
pub(in crate::plan) fn node_from_value(value: Value, path: &str, read_body: ReadBody) -> Result<Node, ShapeError> {
    node_at(value, path, Nesting { depth: 0, read_body })
}

fn node_at(value: Value, path: &str, nesting: Nesting) -> Result<Node, ShapeError> {
    let mut fields = Fields::native(value, path, "a node")?;
    let id = fields.need_text("id")?;
    let kind = node_kind(&mut fields, &id, nesting)?;
    let depends_on = fields.ids("depends_on")?;
    let entry = fields.typed("entry")?.unwrap_or(false);
    let exit = fields.typed("exit")?.unwrap_or(false);
    let policy = policy(&mut fields)?;
    let ext = rest(fields, |key, value| is_taken(key, value, &kind));
    Ok(Node { id: NodeId::new(id), kind, depends_on, entry, exit, policy, ext })
}

/// Reads one edge; `path` is where it stands.
///
/// # Errors
/// The first place that is not as it should be.
pub fn edge_from_value(value: Value, path: &str) -> Result<Edge, ShapeError> {
    let mut fields = Fields::native(value, path, "an edge")?;
    let from = fields.need_text("from")?;
    let to = fields.need_text("to")?;
    Ok(Edge {
        from: NodeId::new(from),
        to: NodeId::new(to),
        when: fields.text("when")?,
        context: fields.texts("context")?,
        default: fields.typed("default")?.unwrap_or(false),
        id: fields.text("id")?,
        label: fields.text("label")?,
        ext: rest(fields, |key, _| EDGE_FIELDS.contains(&key)),
    })
}

fn node_kind(fields: &mut Fields, id: &str, nesting: Nesting) -> Result<NodeKind, ShapeError> {
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
        [work] => one_kind(fields, work, nesting),
        [] if fields.has("body") => {
            let words = "needs `until` to make it a loop, or `over` to run it once for each entry of a list";
            Err(fields.wrong("body", format!("`{id}` has a `body`: it {words}")))
        }
        // Validation says that it has no kind.
        [] => Ok(NodeKind::Agent(AgentNode::default())),
        ["agent", "decide"] if fields.map.get("decide") == Some(&Value::Bool(true)) => {
            fields.take("decide");
            agent(fields).map(|agent| NodeKind::Decision(DecisionNode::Agent(agent)))
        }
        [first, second, ..] => {
            let field = WORKS.iter().find(|(field, work)| work == second && fields.has(field)).map_or(*second, |(field, _)| *field);
            Err(fields.wrong(field, format!("`{id}` has more than one kind, `{first}` and `{second}`: keep one")))
        }
    }
}

fn agent(fields: &mut Fields) -> Result<AgentNode, ShapeError> {
    Ok(AgentNode {
        agent: fields.text("agent")?,
        objective: fields.text("objective")?,
        role: fields.text("role")?,
        goal: fields.text("goal")?,
    })
}

fn one_kind(fields: &mut Fields, work: &str, nesting: Nesting) -> Result<NodeKind, ShapeError> {
    Ok(match work {
        "agent" => NodeKind::Agent(agent(fields)?),
        "tool" => {
            let tool = fields.text("tool")?.unwrap_or_default();
            let input = match (fields.object("args")?, fields.text("query")?) {
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
        "plan" => NodeKind::Subplan(sub_plan(fields, nesting)?),
        "until" => {
            let until = fields.text("until")?.unwrap_or_default();
            NodeKind::Loop(LoopNode { body: body(fields, "until", nesting)?, until })
        }
        "over" => {
            let over = fields.text("over")?.unwrap_or_default();
            let body = body(fields, "over", nesting)?;
            NodeKind::Map(MapNode { over, body, max_parallel: fields.typed("max_parallel")? })
        }
        _ => NodeKind::Approval(ask(fields)?),
    })
}

/// An expression, or an agent in an object of its own.
fn decision(fields: &mut Fields) -> Result<DecisionNode, ShapeError> {
    let wrong = "must be an expression as text, or an object with `agent` and `objective`";
    match fields.take("decide") {
        Some(Value::String(expression)) => Ok(DecisionNode::Expression(expression)),
        Some(value @ Value::Object(_)) => {
            let mut inner = Fields::native(value, &fields.place("decide"), "a decision")?;
            let agent = agent(&mut inner)?;
            match inner.map.keys().next() {
                None => Ok(DecisionNode::Agent(agent)),
                Some(key) => Err(inner.wrong(key, "a decision has no such field, only `agent`, `objective`, `role`, `goal`")),
            }
        }
        _ => Err(fields.wrong("decide", wrong)),
    }
}

fn sub_plan(fields: &mut Fields, nesting: Nesting) -> Result<SubplanNode, ShapeError> {
    match fields.take("plan") {
        Some(Value::String(path)) => Ok(SubplanNode::File { path, loaded: None }),
        Some(value) => body_at(value, &fields.place("plan"), nesting.deeper()).map(|plan| SubplanNode::Inline(Box::new(plan))),
        None => Err(fields.wrong("plan", "must be a plan or the path of its file")),
    }
}

fn body(fields: &mut Fields, work: &str, nesting: Nesting) -> Result<Box<Plan>, ShapeError> {
    match fields.take("body") {
        Some(value) => body_at(value, &fields.place("body"), nesting.deeper()).map(Box::new),
        None => Err(fields.wrong("body", format!("`{work}` needs a `body`: the plan that is repeated"))),
    }
}

fn merge(fields: &mut Fields) -> Result<MergeNode, ShapeError> {
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
fn ask(fields: &mut Fields) -> Result<ApprovalNode, ShapeError> {
    if let Some(Value::String(text)) = fields.map.get("ask") {
        let text = text.clone();
        fields.take("ask");
        return Ok(ApprovalNode { text, ..ApprovalNode::default() });
    }
    Ok(fields.typed("ask")?.unwrap_or_default())
}

/// What is unknown; fields that stood apart because their names are `taken` here come back among them.
fn rest(fields: Fields, taken: impl Fn(&str, &Value) -> bool) -> Map<String, Value> {
    let mut map = fields.map;
    if let Some(Value::Object(apart)) = map.get_mut(APART) {
        let (back, stay): (Map<_, _>, Map<_, _>) = std::mem::take(apart).into_iter().partition(|(key, value)| taken(key, value));
        if stay.is_empty() && !back.is_empty() {
            map.shift_remove(APART);
        } else {
            *apart = stay;
        }
        map.extend(back);
    }
    map
}

fn policy(fields: &mut Fields) -> Result<Policy, ShapeError> {
    let written = POLICY_FIELDS.iter().filter_map(|key| Some((key.clone(), fields.take(key)?)));
    let written: Map<String, Value> = written.collect();
    if written.is_empty() {
        return Ok(Policy::default());
    }
    serde_path_to_error::deserialize(Value::Object(written)).map_err(|error| fields.inside("", &error))
}
