//! Agents and tools by name, tool arguments against their schema, tool patterns.

use super::{Check, Code, Fix, Place, did_you_mean};
use crate::plan::edit::Edit;
use crate::plan::reference::has_references;
use crate::plan::{AgentWork, Approve, DecisionWork, Risk, ToolInfo, ToolInput, ToolWork, Verdict, Work};
use jsonschema::Validator;
use serde_json::{Map, Value};
use std::collections::HashMap;

pub(super) fn check(check: &mut Check) {
    let catalog = check.catalog;
    let agents: HashMap<&str, usize> = catalog.agents.iter().enumerate().map(|(at, agent)| (agent.name.as_str(), at)).collect();
    let mut tools: HashMap<&str, usize> = catalog.tools.iter().enumerate().map(|(at, tool)| (tool.name.as_str(), at)).collect();
    for (alias, name) in &catalog.aliases {
        if let Some(&at) = tools.get(name.as_str()) {
            tools.entry(alias).or_insert(at);
        }
    }
    let mut validators: Vec<Option<Option<Validator>>> = Vec::new();
    validators.resize_with(catalog.tools.len(), || None);
    let mut patterns: HashMap<&str, bool> = HashMap::new();
    let plan = check.plan;
    for (at, node) in plan.nodes.iter().enumerate() {
        match &node.work {
            Work::Agent(work) | Work::Decision(DecisionWork::Agent(work)) => agent(check, at, work, &agents),
            Work::Tool(work) => match tools.get(work.tool.as_str()) {
                None => unknown_tool(check, at, work),
                Some(&tool) => {
                    let info = &catalog.tools[tool];
                    let validator = validators[tool].get_or_insert_with(|| jsonschema::options().build(&info.input_schema).ok());
                    arguments(check, at, work, info, validator.as_ref());
                    permission(check, at, info);
                }
            },
            Work::Code(_)
            | Work::Decision(DecisionWork::Expression(_))
            | Work::Merge(_)
            | Work::Transform(_)
            | Work::Approval(_)
            | Work::Plan(_)
            | Work::Loop(_)
            | Work::Map(_) => {}
        }
        for (i, pattern) in node.policy.tools.iter().flatten().enumerate() {
            if !*patterns.entry(pattern).or_insert_with(|| matches_a_tool(check, pattern)) {
                let near = check.nearest(pattern, catalog.tools.iter().map(|tool| tool.name.as_str()));
                let message = format!("`{}` matches no tool{}", pattern.escape_debug(), did_you_mean(near));
                check.find(Code::ToolPattern, Place::Node(at), &format!("tools[{i}]"), message, None);
            }
        }
    }
}

fn matches_a_tool(check: &Check, pattern: &str) -> bool {
    let Ok(glob) = globset::Glob::new(check.catalog.canonical(pattern)) else { return false };
    let glob = glob.compile_matcher();
    check.catalog.tools.iter().any(|tool| glob.is_match(&tool.name))
}

fn agent(check: &mut Check, at: usize, work: &AgentWork, agents: &HashMap<&str, usize>) {
    let place = Place::Node(at);
    let Some(name) = work.agent.as_deref() else {
        if work.role.is_none() {
            check.find(Code::NoAgent, place, "agent", "names no agent card and has no `role`", None);
        }
        return;
    };
    let Some(&card) = agents.get(name) else {
        let catalog = check.catalog;
        let near = check.nearest(name, catalog.agents.iter().map(|agent| agent.name.as_str()));
        let fix = near.map(|near| {
            let agent = AgentWork { agent: Some(near.to_owned()), ..work.clone() };
            let work = match check.plan.nodes[at].work {
                Work::Decision(_) => Work::Decision(DecisionWork::Agent(agent)),
                _ => Work::Agent(agent),
            };
            Fix::new(format!("use `{near}`"), Edit::set_work(check.plan.nodes[at].id.clone(), work))
        });
        let message = format!("there is no agent `{}`{}", name.escape_debug(), did_you_mean(near));
        check.find(Code::UnknownAgent, place, "agent", message, fix);
        return;
    };
    let policy = &check.plan.nodes[at].policy;
    if is_unasked(policy.approve.or(check.plan.defaults.approve)) {
        let globs = policy.tools.as_ref().unwrap_or(&check.catalog.agents[card].tools);
        let reach =
            globs.iter().filter_map(|glob| globset::Glob::new(check.catalog.canonical(glob)).ok()).map(|glob| glob.compile_matcher());
        let reach: Vec<_> = reach.collect();
        let open = check.catalog.tools.iter().find(|tool| is_open(tool) && reach.iter().any(|glob| glob.is_match(&tool.name)));
        if let Some(tool) = open {
            let message = format!("the configuration lets this agent call `{}` without asking, and the plan doesn't ask either", tool.name);
            check.find(Code::OpenSideEffects, place, "approve", message, None);
        }
    }
}

/// Changes things and isn't asked about by the configuration. Where that asks, no plan can silence it.
fn is_open(tool: &ToolInfo) -> bool {
    tool.risk >= Risk::Write && tool.verdict == Verdict::Allow
}

/// Whether a plan asks nothing before a node starts.
fn is_unasked(approve: Option<Approve>) -> bool {
    match approve {
        None | Some(Approve::Never | Approve::After) => true,
        Some(Approve::Before | Approve::Both) => false,
    }
}

fn permission(check: &mut Check, at: usize, info: &ToolInfo) {
    if info.verdict == Verdict::Deny {
        check.find(Code::DeniedTool, Place::Node(at), "tool", format!("the configuration never lets `{}` run", info.name), None);
    }
    let node = &check.plan.nodes[at];
    if is_open(info) && is_unasked(node.policy.approve.or(check.plan.defaults.approve)) {
        let mut policy = node.policy.clone();
        policy.approve = Some(Approve::Before);
        let fix = Fix::new("ask before it runs", Edit::SetPolicy { id: node.id.clone(), policy: Box::new(policy) });
        let message = format!("the configuration lets `{}` change things without asking, and the plan doesn't ask either", info.name);
        check.find(Code::OpenSideEffects, Place::Node(at), "approve", message, Some(fix));
    }
}

fn unknown_tool(check: &mut Check, at: usize, work: &ToolWork) {
    let catalog = check.catalog;
    let near = check.nearest(&work.tool, catalog.tools.iter().map(|tool| tool.name.as_str()));
    let fix = near.map(|near| {
        let work = ToolWork { tool: near.to_owned(), ..work.clone() };
        Fix::new(format!("use `{near}`"), Edit::set_work(check.plan.nodes[at].id.clone(), Work::Tool(work)))
    });
    let message = format!("there is no tool `{}`{}", work.tool.escape_debug(), did_you_mean(near));
    check.find(Code::UnknownTool, Place::Node(at), "tool", message, fix);
}

/// The one required text parameter of a tool, for `query`.
pub(crate) fn query_parameter(schema: &Value) -> Option<&str> {
    let required = schema.get("required")?.as_array()?;
    let is_text = |name: &str| schema.pointer(&format!("/properties/{name}/type")).and_then(Value::as_str) == Some("string");
    match required.as_slice() {
        [only] => only.as_str().filter(|name| is_text(name)),
        _ => None,
    }
}

fn arguments(check: &mut Check, at: usize, work: &ToolWork, info: &ToolInfo, validator: Option<&Validator>) {
    let place = Place::Node(at);
    let args: Value = match &work.input {
        ToolInput::Args(args) => Value::Object(args.clone()),
        ToolInput::Query(query) => match query_parameter(&info.input_schema) {
            Some(name) => Value::Object(Map::from_iter([(name.to_owned(), Value::from(query.as_str()))])),
            None => {
                let message = format!("`{}` has not exactly one required text parameter: give it `args`", info.name);
                check.find(Code::BadQuery, place, "query", message, None);
                return;
            }
        },
    };
    let Some(validator) = validator.filter(|validator| !validator.is_valid(&args)) else { return };
    for error in validator.iter_errors(&args) {
        let pointer = error.instance_path().to_string();
        let about_names = matches!(error.schema_path().to_string().rsplit('/').next(), Some("required" | "additionalProperties"));
        // What a reference gives is not known yet; which arguments there are is.
        if !about_names && args.pointer(&pointer).is_some_and(has_references) {
            continue;
        }
        let field =
            if matches!(work.input, ToolInput::Query(_)) { "query".to_owned() } else { format!("args{}", pointer.replace('/', ".")) };
        check.find(Code::BadArguments, place, &field, format!("`{}` does not take this: {error}", info.name), None);
    }
}
