//! Agents and tools by name, tool arguments against their schema, tool patterns.

use super::check::{Countings, FindingPlace, PlanCheck};
use super::codes::Code;
use super::finding::{Fix, FixKind};
use super::wording::legible;
use super::wording::{did_you_mean, kind_of};
use crate::plan::dialect::{names::NAMES, plain};
use crate::plan::edit::Edit;
use crate::plan::fields::{AS_WRITTEN, is_stand_in};
use crate::plan::reference::has_references;
use crate::plan::{
    AgentNode, Approve, Catalog, DecisionNode, Dialect, Node, NodeKind, Plan, Risk, ToolInfo, ToolInput, ToolNode, ToolServer, Verdict,
    may_mean, value_text,
};
use globset::GlobMatcher;
use jsonschema::{Validator, error::ValidationErrorKind};
use serde_json::{Map, Value};
use std::{collections::HashMap, rc::Rc};

/// What the catalog holds, by name, with what was worked out about it so far; the same for a plan and what stands inside it.
#[derive(Default)]
pub(super) struct Stock<'a> {
    pub(super) agents: HashMap<&'a str, usize>,
    tools: HashMap<&'a str, usize>,
    /// By tool: made when first needed; nothing for a schema that is none.
    validators: HashMap<usize, Option<Rc<Validator>>>,
    /// By pattern, whether it matches any tool.
    patterns: HashMap<&'a str, bool>,
    /// By card and pattern, whether it only matches tools that the card doesn't have.
    beyond: HashMap<(usize, &'a str), bool>,
    /// How many more fixes and near names may be looked for: each costs in proportion to the plan.
    pub suggestions: usize,
    pub countings: Countings,
}

impl<'a> Stock<'a> {
    pub fn new(catalog: &'a Catalog, countings: Countings) -> Self {
        let agents = catalog.agents.iter().enumerate().map(|(at, agent)| (agent.name.as_str(), at)).collect();
        let mut tools: HashMap<&str, usize> = catalog.tools.iter().enumerate().map(|(at, tool)| (tool.name.as_str(), at)).collect();
        for (alias, name) in &catalog.aliases {
            if let Some(&at) = tools.get(name.as_str()) {
                tools.entry(alias).or_insert(at);
            }
        }
        Self { agents, tools, suggestions: 200, countings, ..Self::default() }
    }
}

pub(super) fn check(check: &mut PlanCheck) {
    let plan = check.plan;
    for (at, node) in plan.nodes.iter().enumerate() {
        if let Some(work) = node.kind.agent() {
            agent(check, at, work);
        } else if let Some(work) = node.kind.tool() {
            tool(check, at, work);
        }
        patterns(check, FindingPlace::Node(at), "", node.policy.tools.as_deref());
    }
    patterns(check, FindingPlace::Plan, "defaults.", plan.defaults.tools.as_deref());
}

fn patterns<'a>(check: &mut PlanCheck<'a>, place: FindingPlace, prefix: &str, patterns: Option<&'a [String]>) {
    for (i, pattern) in patterns.unwrap_or_default().iter().enumerate() {
        let known = check.stock.patterns.get(pattern.as_str()).copied();
        let fits = known.unwrap_or_else(|| matches_a_tool(check, pattern));
        check.stock.patterns.insert(pattern, fits);
        if !fits {
            let catalog = check.catalog;
            let near = check.nearest(pattern, tool_names(catalog));
            let message = format!("`{}` matches no tool{}", legible(pattern), did_you_mean(near));
            let fix = match (near, place) {
                (Some(near), FindingPlace::Node(at)) => {
                    check.with_policy(at, kind_of(pattern, near, tool_names(catalog)), format!("use `{near}`"), |policy| {
                        policy.tools.iter_mut().for_each(|list| list[i] = near.to_owned())
                    })
                }
                (Some(_) | None, _) => None,
            };
            check.find(Code::ToolPattern, place, &format!("{prefix}tools[{i}]"), message, fix);
        }
    }
}

fn tool_names(catalog: &Catalog) -> impl Iterator<Item = &str> {
    catalog.tools.iter().map(|tool| tool.name.as_str())
}

fn matches_a_tool(check: &PlanCheck, pattern: &str) -> bool {
    let Some(glob) = glob(check, pattern) else { return false };
    let unknown = || check.catalog.servers.iter().any(|(server, state)| *state == ToolServer::Unlisted && may_mean(pattern, server));
    check.catalog.tools.iter().any(|tool| glob.is_match(&tool.name)) || unknown()
}

fn glob(check: &PlanCheck, pattern: &str) -> Option<GlobMatcher> {
    globset::Glob::new(check.catalog.canonical(pattern)).ok().map(|glob| glob.compile_matcher())
}

pub(super) fn globs(check: &PlanCheck, patterns: &[String]) -> Vec<GlobMatcher> {
    patterns.iter().filter_map(|pattern| glob(check, pattern)).collect()
}

fn agent(check: &mut PlanCheck, at: usize, work: &AgentNode) {
    let place = FindingPlace::Node(at);
    let plan = check.plan;
    let written = plan.nodes[at].policy.tools.as_deref().or(plan.defaults.tools.as_deref());
    for (field, text) in [("objective", &work.objective), ("goal", &work.goal)] {
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            check.find(Code::EmptyObjective, place, field, format!("`{field}` is empty: say what the agent should do"), None);
        }
    }
    let Some(name) = work.agent.as_deref() else {
        if work.role.is_none() {
            no_agent(check, at, work);
        }
        return reach(check, at, written.unwrap_or_default(), None);
    };
    let catalog = check.catalog;
    let Some(&card) = check.stock.agents.get(name) else {
        if is_stand_in(name, &plan.nodes[at].ext) {
            return;
        }
        let names = || catalog.agents.iter().map(|agent| agent.name.as_str());
        let near = check.nearest(name, names());
        let is_other = near.is_none_or(|near| !is_slip(name, near));
        let by_role = || by_agent(check, at, name, work.clone());
        let fix = if is_other { by_role() } else { None }.or_else(|| {
            let near = near?;
            let agent = AgentNode { agent: Some(near.to_owned()), ..work.clone() };
            let work =
                if plan.nodes[at].kind.is_decision() { NodeKind::Decision(DecisionNode::Agent(agent)) } else { NodeKind::Agent(agent) };
            Some(Fix::new(kind_of(name, near, names()), format!("use `{near}`"), check.changed(at, |node| node.kind = work)))
        });
        let message = format!("there is no agent `{}`{}", legible(name), did_you_mean(near));
        return check.find(Code::UnknownAgent, place, "agent", message, fix);
    };
    beyond(check, at, card);
    let card = &catalog.agents[card].tools;
    reach(check, at, written.unwrap_or(card), written.and(Some(card)));
}

fn no_agent(check: &mut PlanCheck, at: usize, work: &AgentNode) {
    if *work != AgentNode::default() || check.plan.nodes[at].kind.is_decision() {
        return check.find(
            Code::NoAgent,
            FindingPlace::Node(at),
            "agent",
            "has neither an `agent` nor a `role`",
            by_agent(check, at, ROLE, work.clone()),
        );
    }
    let words = "has no kind: add the field of one: `agent`, `tool`, `code`, `decide` (decision), `merge`, `value` (transform), `ask` (approval), \
                 `plan` (subplan), `until` (loop) or `over` (map)";
    let fix = by_fields(check, at);
    check.find(Code::NoKind, FindingPlace::Node(at), "", words, fix);
}

/// The node as the work of an agent that is told what is in its fields, where these are words.
fn by_fields(check: &PlanCheck, at: usize) -> Option<Fix> {
    let ext = &check.plan.nodes[at].ext;
    let is_said = |name: &str| name != AS_WRITTEN && !NAMES.unknown.harmless.contains(&name);
    let says = |value: &Value| value.as_str().is_some_and(|text| !text.trim().is_empty());
    let words = ext.iter().filter(|(name, value)| is_said(name) && (value.is_string() || value.is_array()));
    let words: Vec<(&String, &Value)> = words.collect();
    let is_work = words.iter().any(|(name, value)| NAMES.node.work.contains(&name.as_str()) && says(value));
    if !is_work || ext.iter().any(|(name, value)| is_said(name) && value.is_object()) {
        return None;
    }
    let told = words.iter().map(|(name, value)| match value {
        Value::String(text) => format!("{name}: {text}"),
        value => format!("{name}: {}", list_text(value)),
    });
    let work = AgentNode { objective: Some(told.collect::<Vec<_>>().join("\n")), ..AgentNode::default() };
    let mut fix = by_agent(check, at, ROLE, work)?;
    fix.title.push_str(", with what its fields say as its objective");
    if let Edit::SpliceNodes { insert, .. } = &mut fix.edit {
        insert.iter_mut().for_each(|node| node.ext.retain(|name, _| words.iter().all(|(said, _)| *said != name)));
    }
    Some(fix)
}

fn list_text(value: &Value) -> String {
    match value {
        Value::Array(list) => list.iter().map(value_text).collect::<Vec<_>>().join(", "),
        value => value_text(value),
    }
}

/// The role of an agent that a guess makes.
const ROLE: &str = "assistant";

/// The node as the work of an agent without a card, which a native plan can hold, and what becomes one by that.
fn by_agent(check: &PlanCheck, at: usize, role: &str, work: AgentNode) -> Option<Fix> {
    let plan = check.plan;
    let is_native = plan.dialect == Dialect::Native;
    let may_be = plan.dialect == Dialect::Orchestration && check.around.outer.is_none();
    if !(is_native || may_be) || plan.nodes[at].kind.is_decision() {
        return None;
    }
    let kind = NodeKind::Agent(AgentNode { agent: None, role: Some(role.to_owned()), ..work });
    let title = format!("let an agent with the role `{}` do it", legible(role));
    let edit = check.changed(at, |node| node.kind = kind);
    if is_native {
        return Some(Fix::guess(title, edit));
    }
    let head = Plan { dialect: Dialect::Native, nodes: Vec::new(), edges: Vec::new(), ..plan.clone() };
    let edits = vec![Edit::SetHead { head: Box::new(head) }, edit];
    Some(Fix::guess(format!("{title}, which makes this a native plan"), Edit::batch(edits)))
}

/// A tool call in words, for whom can't make it: what its author says of it, its name, and its arguments.
fn in_words(node: &Node, work: &ToolNode) -> String {
    let said = ["description", "title", "name", "task"].into_iter().find_map(|field| node.ext.get(field)?.as_str());
    let args = match &work.input {
        ToolInput::Query(query) => vec![query.clone()],
        ToolInput::Args(args) => args.iter().map(|(name, value)| format!("{name}: {}", list_text(value))).collect(),
    };
    let said = said.filter(|said| plain(said) != plain(&work.tool)).map(str::to_owned);
    said.into_iter().chain([work.tool.clone()]).chain(args).collect::<Vec<_>>().join("\n")
}

/// A fix whose node gets a title.
fn titled(mut fix: Fix, title: &str) -> Fix {
    if let Edit::SpliceNodes { insert, .. } = &mut fix.edit {
        insert.iter_mut().for_each(|node| drop(node.ext.insert("title".to_owned(), Value::from(title))));
    }
    fix
}

/// Whether a tool takes this input, as far as that is known before a run.
fn takes(catalog: &Catalog, tool: &str, input: &ToolInput) -> bool {
    let Some(info) = catalog.tool(tool) else { return false };
    match input {
        ToolInput::Query(_) => info.query_parameter().is_some(),
        ToolInput::Args(args) => {
            let validator = jsonschema::options().build(&info.input_schema);
            validator.is_ok_and(|validator| validator.is_valid(&Value::Object(args.clone())))
        }
    }
}

/// Whether one name is so near to another that it is a slip of the pen.
fn is_slip(wrong: &str, near: &str) -> bool {
    strsim::levenshtein(&plain(wrong), &plain(near)) * 4 <= wrong.len().max(4)
}

/// Patterns of a node for tools that its card doesn't have: a node only narrows its card, so the agent doesn't get them.
fn beyond(check: &mut PlanCheck, at: usize, card: usize) {
    let (plan, catalog) = (check.plan, check.catalog);
    for (i, pattern) in plan.nodes[at].policy.tools.iter().flatten().enumerate() {
        let known = check.stock.beyond.get(&(card, pattern.as_str())).copied();
        let is_beyond = known.unwrap_or_else(|| is_beyond(check, &catalog.agents[card].tools, pattern));
        check.stock.beyond.insert((card, pattern), is_beyond);
        if is_beyond {
            let (pattern, name) = (legible(pattern), legible(&catalog.agents[card].name));
            let message = format!(
                "the card of `{name}` has no tool `{pattern}`, so the agent doesn't get it: a node can only narrow its card's tools"
            );
            let fix = check
                .with_policy(at, FixKind::Guess, "leave it out", |policy| policy.tools.iter_mut().for_each(|list| drop(list.remove(i))));
            check.find(Code::BeyondCard, FindingPlace::Node(at), &format!("tools[{i}]"), message, fix);
        }
    }
}

fn is_beyond(check: &PlanCheck, card: &[String], pattern: &str) -> bool {
    let Some(wanted) = glob(check, pattern) else { return false };
    let card = globs(check, card);
    let mut tools = check.catalog.tools.iter().filter(|tool| wanted.is_match(&tool.name)).peekable();
    tools.peek().is_some() && tools.all(|tool| card.iter().all(|own| !own.is_match(&tool.name)))
}

/// Tools that an agent may call and nobody is asked about: of its patterns, as far as its card has them.
fn reach(check: &mut PlanCheck, at: usize, patterns: &[String], card: Option<&Vec<String>>) {
    let plan = check.plan;
    if !is_unasked(plan.nodes[at].policy.approve.or(plan.defaults.approve)) {
        return;
    }
    let card = card.map(|card| globs(check, card));
    let has = |tool: &ToolInfo| card.as_ref().is_none_or(|card| card.iter().any(|own| own.is_match(&tool.name)));
    let open = patterns.iter().find_map(|pattern| {
        let glob = glob(check, pattern)?;
        let tool = check.catalog.tools.iter().find(|tool| is_open(tool) && glob.is_match(&tool.name) && has(tool))?;
        Some((pattern, &tool.name))
    });
    if let Some((pattern, tool)) = open {
        let by = if check.catalog.canonical(pattern) == tool { String::new() } else { format!(" (by `{}`)", legible(pattern)) };
        let message = format!("this agent may call `{tool}`{by} without approval: neither the configuration nor the plan asks");
        let fix = check
            .with_policy(at, FixKind::Safe, "ask for approval before it starts", |policy| policy.approve = Some(asking(policy.approve)));
        check.find(Code::OpenSideEffects, FindingPlace::Node(at), "approve", message, fix);
    }
}

/// What asks before, beside what is asked already.
fn asking(approve: Option<Approve>) -> Approve {
    match approve {
        None | Some(Approve::Never | Approve::Before) => Approve::Before,
        Some(Approve::After | Approve::Both) => Approve::Both,
    }
}

fn tool(check: &mut PlanCheck, at: usize, work: &ToolNode) {
    let Some(&tool) = check.stock.tools.get(work.tool.as_str()) else { return unknown_tool(check, at, work) };
    let info = &check.catalog.tools[tool];
    let made = check.stock.validators.entry(tool);
    let validator = made.or_insert_with(|| jsonschema::options().build(&info.input_schema).ok().map(Rc::new)).clone();
    arguments(check, at, work, info, validator.as_deref());
    permission(check, at, info);
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

fn permission(check: &mut PlanCheck, at: usize, info: &ToolInfo) {
    if check.catalog.not_set_up.contains(&info.name) {
        let message = format!("`{}` is not set up, so this node will fail: `dagdeck doctor` says what is missing", info.name);
        check.find(Code::NotSetUp, FindingPlace::Node(at), "tool", message, None);
    }
    if info.verdict == Verdict::Deny {
        check.find(
            Code::DeniedTool,
            FindingPlace::Node(at),
            "tool",
            format!("the configuration denies `{}`, so it never runs", info.name),
            None,
        );
    }
    let node = &check.plan.nodes[at];
    if is_open(info) && is_unasked(node.policy.approve.or(check.plan.defaults.approve)) {
        let fix =
            check.with_policy(at, FixKind::Safe, "ask for approval before it runs", |policy| policy.approve = Some(asking(policy.approve)));
        let message = format!("`{}` may change things without approval: neither the configuration nor the plan asks", info.name);
        check.find(Code::OpenSideEffects, FindingPlace::Node(at), "approve", message, fix);
    }
}

fn unknown_tool(check: &mut PlanCheck, at: usize, work: &ToolNode) {
    if is_stand_in(&work.tool, &check.plan.nodes[at].ext) {
        return;
    }
    let catalog = check.catalog;
    match catalog.server_of(&work.tool) {
        Some((server, ToolServer::Unlisted)) => {
            let message = format!(
                "`{}` can't be checked: its MCP server `{server}` was never started here; it is when the plan runs, or by `dagdeck tools --start`",
                legible(&work.tool)
            );
            return check.find(Code::UnlistedServer, FindingPlace::Node(at), "tool", message, None);
        }
        Some((server, ToolServer::Off { why })) => {
            let message = format!("`{}` can't be called: the MCP server `{server}` is not used: {}", legible(&work.tool), legible(why));
            return check.find(Code::NotSetUp, FindingPlace::Node(at), "tool", message, None);
        }
        Some((_, ToolServer::Listed)) | None => {}
    }
    let near = check.nearest(&work.tool, tool_names(catalog));
    let is_other = near.is_none_or(|near| !is_slip(&work.tool, near) || !takes(catalog, near, &work.input));
    let words = || AgentNode { objective: Some(in_words(&check.plan.nodes[at], work)), ..AgentNode::default() };
    let by_role = || {
        let fix = by_agent(check, at, ROLE, words())?;
        // Others may name it by what it was to do.
        Some(if check.plan.nodes[at].ext.contains_key("title") { fix } else { titled(fix, &work.tool) })
    };
    let fix = if is_other { by_role() } else { None }.or_else(|| {
        let near = near?;
        let kind = kind_of(&work.tool, near, tool_names(catalog));
        let work = ToolNode { tool: near.to_owned(), ..work.clone() };
        Some(Fix::new(kind, format!("use `{near}`"), check.changed(at, |node| node.kind = NodeKind::Tool(work))))
    });
    let message = format!("there is no tool `{}`{}", legible(&work.tool), did_you_mean(near));
    check.find(Code::UnknownTool, FindingPlace::Node(at), "tool", message, fix);
}

fn arguments(check: &mut PlanCheck, at: usize, work: &ToolNode, info: &ToolInfo, validator: Option<&Validator>) {
    let place = FindingPlace::Node(at);
    let args: Value = match &work.input {
        ToolInput::Args(args) => Value::Object(args.clone()),
        ToolInput::Query(query) => match info.query_parameter() {
            Some(name) => Value::Object(Map::from_iter([(name.to_owned(), Value::from(query.as_str()))])),
            None => {
                let message =
                    format!("`{}` doesn't have exactly one required text parameter, so it can't take `query`: write `args`", info.name);
                check.find(Code::BadQuery, place, "query", message, None);
                return;
            }
        },
    };
    let is_query = matches!(work.input, ToolInput::Query(_));
    let Some(validator) = validator.filter(|validator| !validator.is_valid(&args)) else {
        let refuses = check.catalog.checks.get(&info.name).filter(|_| !has_references(&args) && check.may_suggest());
        if let Some(message) = refuses.and_then(|refuses| refuses(&args)) {
            check.find(Code::BadArguments, place, if is_query { "query" } else { "args" }, message, None);
        }
        return;
    };
    for error in validator.iter_errors(&args) {
        let pointer = error.instance_path().to_string();
        let inside = if is_query { "query".to_owned() } else { format!("args{}", pointer.replace('/', ".")) };
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let message = format!("`{}` needs the argument `{}`", info.name, argument(&pointer, name));
                check.find(Code::BadArguments, place, &format!("{inside}.{name}"), message, None);
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                for name in unexpected {
                    unexpected_argument(check, at, info, &pointer, &format!("{inside}.{name}"), name);
                }
            }
            // What a reference gives is not known yet.
            _ if args.pointer(&pointer).is_some_and(has_references) => {}
            _ => {
                let name = if pointer.is_empty() { "arguments".to_owned() } else { format!("argument `{}`", argument(&pointer, "")) };
                check.find(Code::BadArguments, place, &inside, format!("the {name} of `{}`: {error}", info.name), None);
            }
        }
    }
}

/// An argument as people write it: `path`, `options.depth`.
fn argument(pointer: &str, name: &str) -> String {
    let parts = pointer.split('/').chain([name]).filter(|part| !part.is_empty());
    parts.map(legible).collect::<Vec<_>>().join(".")
}

/// A name that the tool doesn't have takes the place of a near one that is free.
fn unexpected_argument(check: &mut PlanCheck, at: usize, info: &ToolInfo, pointer: &str, field: &str, name: &str) {
    let plan = check.plan;
    let args = match &plan.nodes[at].kind {
        NodeKind::Tool(ToolNode { input: ToolInput::Args(args), .. }) if pointer.is_empty() => Some(args),
        _ => None,
    };
    let known = info.input_schema.get("properties").and_then(Value::as_object);
    let free = known.into_iter().flat_map(Map::keys).filter(|known| args.is_some_and(|args| !args.contains_key(*known)));
    let free: Vec<&str> = free.map(String::as_str).collect();
    let near = check.nearest(name, free.iter().copied());
    let fix = near.zip(args).map(|(near, args)| {
        let renamed = args.iter().map(|(key, value)| (if key == name { near.to_owned() } else { key.clone() }, value.clone())).collect();
        let edit = check.changed(at, |node| {
            if let NodeKind::Tool(tool) = &mut node.kind {
                tool.input = ToolInput::Args(renamed);
            }
        });
        Fix::new(kind_of(name, near, free.iter().copied()), format!("rename it to `{near}`"), edit)
    });
    let message = format!("`{}` has no argument `{}`{}", info.name, argument(pointer, name), did_you_mean(near));
    check.find(Code::BadArguments, FindingPlace::Node(at), field, message, fix);
}
