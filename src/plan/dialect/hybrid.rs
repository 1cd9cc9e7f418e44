//! Hybrid plans: `{tasks: […]}` of tool calls (`tool`, `arguments`), `code_execution` and `agent_delegation`. A task without side
//! effects is safe to fail: that is read into the policy and not written back.

use super::draft::Loss;
use super::draft::{DocumentDraft, place, rename};
use super::field_names::{AGENT_TYPE, CODE_TYPE};
use super::names::NAMES;
use super::parts::{self, nodes};
use crate::plan::fields::Fields;
use crate::plan::fields::ShapeError;
use crate::plan::{
    AgentNode, Budget, Catalog, CodeNode, Dialect, Node, NodeKind, OnFailure, Plan, Policy, SandboxLimits, ToolInfo, ToolInput, ToolNode,
};
use serde_json::{Map, Value, json};

pub(super) fn read(value: Value) -> Result<Plan, ShapeError> {
    let mut fields = Fields::open(value, "", &NAMES.form(Dialect::Hybrid).document)?;
    let nodes = nodes(&mut fields, "tasks", task)?;
    Ok(parts::plan(Dialect::Hybrid, nodes, Vec::new(), fields))
}

pub(super) fn task(value: Value, path: &str) -> Result<Node, ShapeError> {
    let mut fields = Fields::open(value, path, &NAMES.form(Dialect::Hybrid).node)?;
    let id = fields.need_text("id")?;
    let kind = fields.take("type");
    let mut policy = Policy::default();
    let work = match kind.as_ref().map(Value::as_str) {
        None if fields.has("tool") => tool(&mut fields)?,
        None => return Err(fields.wrong("type", format!("`{id}` has no kind: it needs a `tool`, or `type` {CODE_TYPE} or {AGENT_TYPE}"))),
        Some(Some(CODE_TYPE)) => code(&mut fields)?,
        Some(Some(AGENT_TYPE)) => agent(&mut fields, &mut policy)?,
        Some(Some(kind)) if fields.has("tool") => {
            fields.keep("type", json!(kind));
            tool(&mut fields)?
        }
        Some(_) => {
            let kind = kind.unwrap_or_default();
            return Err(fields.wrong("type", format!("{kind} is not a kind of task: use {CODE_TYPE}, {AGENT_TYPE}, or none with a `tool`")));
        }
    };
    let depends_on = fields.ids("depends_on")?;
    policy.side_effects = fields.choice("side_effects")?;
    policy.timeout_s = fields.amount("timeout")?.map(|ms| ms / 1000.0);
    if !has_side_effects(&work, &policy) {
        policy.on_failure = Some(OnFailure::Safe);
    }
    Ok(Node { depends_on, policy, ext: fields.rest(), ..Node::new(id.as_str(), work) })
}

/// What the format says of a task that doesn't: tools and agents have some, code has none.
fn has_side_effects(work: &NodeKind, policy: &Policy) -> bool {
    policy.side_effects.unwrap_or(!matches!(work, NodeKind::Code(_)))
}

fn tool(fields: &mut Fields) -> Result<NodeKind, ShapeError> {
    let tool = fields.need_text("tool")?;
    let args = fields.object("arguments")?;
    if args.as_ref().is_some_and(Map::is_empty) {
        fields.keep("arguments", json!({}));
    }
    Ok(NodeKind::Tool(ToolNode { tool, input: ToolInput::Args(args.unwrap_or_default()) }))
}

fn code(fields: &mut Fields) -> Result<NodeKind, ShapeError> {
    let code = fields.need_text("code")?;
    let mut sandbox = SandboxLimits::default();
    if let Some(config) = fields.object("sandbox_config")? {
        sandbox = limits(&config);
        fields.keep("sandbox_config", Value::Object(config));
    }
    Ok(NodeKind::Code(CodeNode { code, sandbox }))
}

/// The limits that a sandbox configuration sets, under the names that are in use.
fn limits(config: &Map<String, Value>) -> SandboxLimits {
    let figure = |names: &[&str]| names.iter().find_map(|name| config.get(*name).and_then(Value::as_u64)).filter(|figure| *figure > 0);
    SandboxLimits {
        memory_mb: figure(&["memory_mb", "memoryLimit", "memory_limit"]),
        time_ms: figure(&["time_ms", "timeout", "timeout_ms"]),
    }
}

fn agent(fields: &mut Fields, policy: &mut Policy) -> Result<NodeKind, ShapeError> {
    let role = Some(fields.need_text("agent_role")?);
    let goal = Some(fields.need_text("agent_goal")?);
    policy.model = fields.text("agent_model")?;
    policy.tools = fields.texts("agent_tools")?;
    policy.inputs = fields.object("agent_context")?;
    let most = fields.count("max_iterations")?.map(u32::try_from).transpose();
    policy.max_iterations = most.map_err(|_| fields.wrong("max_iterations", "too large; write 1 to 20"))?;
    let tokens = fields.count("budget")?;
    policy.budget = tokens.map(|tokens| Budget { tokens: Some(tokens), ..Budget::default() });
    Ok(NodeKind::Agent(AgentNode { role, goal, ..AgentNode::default() }))
}

pub(super) fn write(plan: &Plan, catalog: &Catalog) -> (Value, Vec<Loss>) {
    DocumentDraft::new(plan, Dialect::Hybrid).whole("tasks", &[], |draft, (at, node), fields, written| {
        put_kind(draft, &place(at), (node, catalog), fields, written);
        draft.put_sources(at, "depends_on", written, false);
        put_policy(draft, &place(at), node, fields, written);
    })
}

fn put_kind(
    draft: &mut DocumentDraft,
    place: &str,
    (node, catalog): (&Node, &Catalog),
    fields: &mut Map<String, Value>,
    written: &mut Map<String, Value>,
) {
    match &node.kind {
        NodeKind::Tool(work) => {
            rename(fields, "tool", written, "tool");
            rename(fields, "args", written, "arguments");
            if let Some(query) = fields.shift_remove("query") {
                let parameter = catalog.tool(&work.tool).and_then(ToolInfo::query_parameter).unwrap_or_else(|| {
                    draft.lose(format!("{place}.query"), "the hybrid format has named arguments, so the query is written as `query`");
                    "query"
                });
                written.insert("arguments".into(), json!({ parameter: query }));
            }
        }
        NodeKind::Code(code) => {
            written.insert("type".into(), json!(CODE_TYPE));
            rename(fields, "code", written, "code");
            fields.shift_remove("sandbox");
            put_sandbox(node, &code.sandbox, written);
        }
        NodeKind::Agent(agent) => {
            written.insert("type".into(), json!(AGENT_TYPE));
            for key in ["role", "goal", "agent", "objective"] {
                fields.shift_remove(key);
            }
            if let Some(card) = &agent.agent {
                draft.lose(
                    format!("{place}.agent"),
                    "the hybrid format has roles rather than cards, so the card's name is written as the role",
                );
                written.insert("agent_role".into(), json!(card));
            } else {
                written.insert("agent_role".into(), json!(agent.role.as_deref().unwrap_or(&node.id)));
            }
            let goal = match (&agent.goal, &agent.objective) {
                (Some(goal), Some(objective)) => {
                    draft
                        .lose(format!("{place}.objective"), "the hybrid format has one text for an agent, so it is joined to `agent_goal`");
                    format!("{goal}\n\n{objective}")
                }
                (goal, objective) => goal.clone().or_else(|| objective.clone()).unwrap_or_default(),
            };
            written.insert("agent_goal".into(), json!(goal));
            rename(fields, "model", written, "agent_model");
            rename(fields, "tools", written, "agent_tools");
            rename(fields, "inputs", written, "agent_context");
            rename(fields, "max_iterations", written, "max_iterations");
        }
        NodeKind::Decision(_)
        | NodeKind::Merge(_)
        | NodeKind::Transform(_)
        | NodeKind::Approval(_)
        | NodeKind::Subplan(_)
        | NodeKind::Loop(_)
        | NodeKind::Map(_) => {}
    }
}

fn put_sandbox(node: &Node, sandbox: &SandboxLimits, written: &mut Map<String, Value>) {
    let mut config = node.ext.get("sandbox_config").and_then(Value::as_object).cloned().unwrap_or_default();
    if limits(&config) == *sandbox {
        // As it was read, if it was there at all.
        return if !config.is_empty() {
            drop(written.insert("sandbox_config".into(), Value::Object(config)))
        };
    }
    for (names, figure) in
        [(["memory_mb", "memoryLimit", "memory_limit"], sandbox.memory_mb), (["time_ms", "timeout", "timeout_ms"], sandbox.time_ms)]
    {
        let name = names.into_iter().find(|name| config.contains_key(*name)).unwrap_or(names[1]);
        config.shift_remove(name);
        if let Some(figure) = figure {
            config.insert(name.into(), json!(figure));
        }
    }
    written.insert("sandbox_config".into(), Value::Object(config));
}

fn put_policy(draft: &mut DocumentDraft, place: &str, node: &Node, fields: &mut Map<String, Value>, written: &mut Map<String, Value>) {
    rename(fields, "side_effects", written, "side_effects");
    if fields.shift_remove("timeout_s").is_some()
        && let Some(seconds) = node.policy.timeout_s
    {
        written.insert("timeout".into(), milliseconds(seconds));
    }
    let budget = node.policy.budget.as_ref().filter(|_| matches!(node.kind, NodeKind::Agent(_)));
    if let Some(tokens) = budget.and_then(|budget| budget.tokens) {
        written.insert("budget".into(), json!(tokens));
        if let Some(Value::Object(mut rest)) = fields.shift_remove("budget") {
            rest.shift_remove("tokens");
            draft.lose_rest(&format!("{place}.budget"), &rest);
        }
    }
    let safe = fields.shift_remove("on_failure").map(|how| how == json!("safe"));
    match (has_side_effects(&node.kind, &node.policy), safe) {
        (true, Some(true)) => {
            draft.lose(format!("{place}.on_failure"), "in the hybrid format only tasks without side effects are safe to fail");
        }
        (false, Some(false) | None) => {
            draft.lose(format!("{place}.on_failure"), "in the hybrid format a task without side effects is safe to fail");
        }
        (_, Some(false)) if node.policy.on_failure != Some(OnFailure::Fail) => {
            draft.lose(format!("{place}.on_failure"), "the hybrid format has no such field");
        }
        (true, Some(false) | None) | (false, Some(true)) => {}
    }
}

/// Milliseconds as a whole number where they are one.
fn milliseconds(seconds: f64) -> Value {
    let ms = (seconds * 1e9).round() / 1e6;
    if ms.fract() == 0.0 && (0.0..9e15).contains(&ms) { json!(ms as u64) } else { json!(ms) }
}
