//! Limits, schemas, budgets, and fields that this version reads but doesn't act on.

use super::check::{FindingPlace, PlanCheck};
use super::codes::Code;
use super::finding::{Fix, FixKind};
use crate::plan::edit::Edit;
use crate::plan::limits::{MOST_ATTEMPTS, MOST_ITERATIONS, SCRIPT_MEMORY_MB, SCRIPT_TIME_MS};
use crate::plan::{Breakpoint, Budget, CachePolicy, CodeNode, Moment, Node, NodeKind, Plan, Policy, Risk, SandboxLimits};
use std::time::Duration;

pub(super) fn check(check: &mut PlanCheck) {
    let plan = check.plan;
    limits(check, FindingPlace::Plan, "defaults.", &plan.defaults);
    breakpoint(check, FindingPlace::Plan, "defaults.", &plan.defaults);
    cache(check, FindingPlace::Plan, "defaults.", &plan.defaults);
    budget(check, FindingPlace::Plan, "budget", &plan.budget);
    if plan.budget.seconds.is_some() && check.around.outer.is_some() {
        check.find(Code::NotYet, FindingPlace::Plan, "budget.seconds", "a time limit of an inner plan is not enforced yet", None);
    }
    low_budget(check);
    for (at, node) in plan.nodes.iter().enumerate() {
        let place = FindingPlace::Node(at);
        if node.policy != Policy::default() {
            limits(check, place, "", &node.policy);
            breakpoint(check, place, "", &node.policy);
            cache(check, place, "", &node.policy);
            denied_effects(check, at, node);
            idle_iterations(check, at, node);
        }
        if let NodeKind::Code(code) = &node.kind {
            sandbox(check, at, code);
        }
    }
}

/// What a plan says of a tool's effects holds; of one that changes things that is told.
fn denied_effects(check: &mut PlanCheck, at: usize, node: &Node) {
    let Some(tool) = node.kind.tool().filter(|_| node.policy.side_effects == Some(false)) else { return };
    let name = check.catalog.canonical(&tool.tool).to_owned();
    let risk = check.catalog.tools.iter().find(|tool| tool.name == name).map(|tool| tool.risk);
    if matches!(risk, Some(Risk::Write | Risk::Execute)) {
        let message = format!(
            "`{name}` can change things; by `side_effects: false` it is repeated as if it didn't, after a crash without a question"
        );
        check.find(Code::DeniedEffects, FindingPlace::Node(at), "side_effects", message, None);
    }
}

/// Only agents and loops go round.
fn idle_iterations(check: &mut PlanCheck, at: usize, node: &Node) {
    if node.policy.max_iterations.is_some() && node.kind.agent().is_none() && !matches!(node.kind, NodeKind::Loop(_)) {
        let fix = check.with_policy(at, FixKind::Guess, "remove the limit", |policy| policy.max_iterations = None);
        let message = format!("a node of kind {} does its work once, so `max_iterations` limits nothing", node.kind.name());
        check.find(Code::NoEffect, FindingPlace::Node(at), "max_iterations", message, fix);
    }
}

fn sandbox(check: &mut PlanCheck, at: usize, code: &CodeNode) {
    let SandboxLimits { memory_mb, time_ms } = code.sandbox;
    let limits = [("sandbox.memory_mb", memory_mb, SCRIPT_MEMORY_MB.1), ("sandbox.time_ms", time_ms, SCRIPT_TIME_MS.1)];
    for (field, limit, most) in limits {
        let Some(limit) = limit.filter(|limit| !(1..=most).contains(limit)) else { continue };
        let (title, limit_instead) =
            if limit == 0 { ("remove the limit".to_owned(), None) } else { (format!("set it to {most}"), Some(most)) };
        let edit = check.changed(at, |node| {
            if let NodeKind::Code(code) = &mut node.kind {
                let limit = if field == "sandbox.memory_mb" { &mut code.sandbox.memory_mb } else { &mut code.sandbox.time_ms };
                *limit = limit_instead;
            }
        });
        let message = format!("`{field}` must be 1 to {most}, not {limit}");
        check.find(Code::BadLimit, FindingPlace::Node(at), field, message, Some(Fix::safe(title, edit)));
    }
    let ends = time_ms.unwrap_or(SCRIPT_TIME_MS.0);
    let is_longer = |seconds: &f64| Duration::try_from_secs_f64(*seconds).is_ok_and(|timeout| timeout > Duration::from_millis(ends));
    if let Some(seconds) = check.plan.nodes[at].policy.timeout_s.filter(is_longer) {
        let message = format!("`timeout_s` of {seconds} has no effect: `sandbox.time_ms` ends the code after {ends} ms");
        check.find(Code::NoEffect, FindingPlace::Node(at), "timeout_s", message, None);
    }
}

/// A plan whose cap is lower than the caps of its agents together can run out of it before they do.
fn low_budget(check: &mut PlanCheck) {
    let Some(cap) = check.plan.budget.tokens.filter(|cap| *cap > 0) else { return };
    let all = tokens(check.plan);
    if all > cap {
        let message = format!("the budgets of the agents add up to {all} tokens, but the plan has {cap}");
        let budget = Budget { tokens: Some(all), ..check.plan.budget.clone() };
        let fix = Fix::guess(format!("raise it to {all}"), Edit::SetBudget { budget });
        check.find(Code::LowBudget, FindingPlace::Plan, "budget.tokens", message, Some(fix));
    }
}

/// What the agents of a plan may use by the budgets that they were given; a loop as often as it may run.
fn tokens(plan: &Plan) -> u64 {
    let of = |node: &Node| {
        let own = node.policy.budget.as_ref().or(plan.defaults.budget.as_ref()).and_then(|budget| budget.tokens);
        let own = own.filter(|_| node.kind.agent().is_some()).unwrap_or(0);
        let times = match node.kind {
            NodeKind::Loop(_) => node.policy.max_iterations.or(plan.defaults.max_iterations).unwrap_or(1).clamp(1, MOST_ITERATIONS),
            _ => 1,
        };
        own.saturating_add(node.kind.body().map_or(0, tokens).saturating_mul(times.into()))
    };
    plan.nodes.iter().map(of).fold(0, u64::saturating_add)
}

fn limits(check: &mut PlanCheck, place: FindingPlace, prefix: &str, policy: &Policy) {
    if let Some(retry) = policy.retry.as_ref().filter(|retry| !(1..=MOST_ATTEMPTS).contains(&retry.attempts)) {
        let attempts = retry.attempts.clamp(1, MOST_ATTEMPTS);
        let message = format!("`attempts` must be 1 to {MOST_ATTEMPTS}, not {}", retry.attempts);
        let fix = set(check, place, FixKind::Safe, format!("set it to {attempts}"), |policy| {
            policy.retry.iter_mut().for_each(|retry| retry.attempts = attempts);
        });
        check.find(Code::BadLimit, place, &format!("{prefix}retry.attempts"), message, fix);
    }
    if let Some(seconds) = policy.timeout_s.filter(|seconds| !(seconds.is_finite() && *seconds > 0.0)) {
        let message = format!("`timeout_s` must be more than 0, not {seconds}");
        let fix = set(check, place, FixKind::Guess, "remove the limit", |policy| policy.timeout_s = None);
        check.find(Code::BadLimit, place, &format!("{prefix}timeout_s"), message, fix);
    }
    if let Some(iterations) = policy.max_iterations.filter(|n| !(1..=MOST_ITERATIONS).contains(n)) {
        let clamped = iterations.clamp(1, MOST_ITERATIONS);
        let message = format!("`max_iterations` must be 1 to {MOST_ITERATIONS}, not {iterations}");
        let fix = set(check, place, FixKind::Safe, format!("set it to {clamped}"), |policy| policy.max_iterations = Some(clamped));
        check.find(Code::BadLimit, place, &format!("{prefix}max_iterations"), message, fix);
    }
    for (field, caps) in [("budget", &policy.budget), ("branch_budget", &policy.branch_budget)] {
        caps.iter().for_each(|caps| budget(check, place, &format!("{prefix}{field}"), caps));
    }
    if policy.branch_budget.as_ref().is_some_and(|caps| caps.seconds.is_some()) {
        check.find(Code::NotYet, place, &format!("{prefix}branch_budget.seconds"), "a time limit of a branch is not enforced yet", None);
    }
    if let Some(schema) = &policy.output_schema
        && let Err(error) = jsonschema::options().build(schema)
    {
        check.find(Code::BadSchema, place, &format!("{prefix}output_schema"), format!("not a valid JSON Schema: {error}"), None);
    }
}

/// Changes the policy that stands at a place: a node's, or the plan's defaults.
pub(super) fn set(
    check: &PlanCheck,
    place: FindingPlace,
    kind: FixKind,
    title: impl Into<String>,
    change: impl FnOnce(&mut Policy),
) -> Option<Fix> {
    match place {
        FindingPlace::Node(at) => check.with_policy(at, kind, title, change),
        FindingPlace::Owner | FindingPlace::Plan | FindingPlace::Edge(_) => {
            let mut defaults = check.plan.defaults.clone();
            change(&mut defaults);
            Some(Fix::new(kind, title, Edit::SetDefaults { defaults: Box::new(defaults) }))
        }
    }
}

fn budget(check: &mut PlanCheck, place: FindingPlace, field: &str, caps: &Budget) {
    let positive = |cap: Option<f64>| cap.is_none_or(|cap| cap.is_finite() && cap > 0.0);
    for (cap, fine) in [
        ("tokens", caps.tokens != Some(0)),
        ("usd", positive(caps.usd)),
        ("seconds", positive(caps.seconds)),
        ("model_calls", caps.model_calls != Some(0)),
    ] {
        if !fine {
            let message = format!("`{cap}` must be more than 0");
            check.find(Code::BadLimit, place, &format!("{field}.{cap}"), message, uncapped(check, place, field, cap));
        }
    }
}

/// Takes one cap away.
fn uncapped(check: &PlanCheck, place: FindingPlace, field: &str, cap: &str) -> Option<Fix> {
    let drop_cap = |budget: &mut Budget| match cap {
        "tokens" => budget.tokens = None,
        "usd" => budget.usd = None,
        "seconds" => budget.seconds = None,
        _ => budget.model_calls = None,
    };
    let title = format!("remove the limit on `{cap}`");
    if field == "budget" && place == FindingPlace::Plan {
        let mut budget = check.plan.budget.clone();
        drop_cap(&mut budget);
        return Some(Fix::guess(title, Edit::SetBudget { budget }));
    }
    set(check, place, FixKind::Guess, title, |policy| {
        let budget = if field.ends_with("branch_budget") { &mut policy.branch_budget } else { &mut policy.budget };
        budget.iter_mut().for_each(drop_cap);
        *budget = budget.take().filter(|budget| *budget != Budget::default());
    })
}

fn breakpoint(check: &mut PlanCheck, place: FindingPlace, prefix: &str, policy: &Policy) {
    let calls = |at: usize| {
        let work = &check.plan.nodes[at].kind;
        work.agent().is_some() || work.tool().is_some()
    };
    let (code, message) = match (policy.breakpoint.as_ref().map(Breakpoint::written), place) {
        (Some(Err(error)), _) => (Code::BadBreakpoint, error.to_string()),
        (Some(Ok(Some(point))), FindingPlace::Node(at)) if point.at == Moment::Call && !calls(at) => {
            (Code::NoEffect, "this node calls neither models nor tools, so this breakpoint is never reached".to_string())
        }
        (Some(Ok(_)) | None, _) => return,
    };
    // One that may be meant is a person's to take out.
    let is_idle = code == Code::NoEffect;
    let fix = is_idle.then(|| set(check, place, FixKind::Guess, "remove the breakpoint", |policy| policy.breakpoint = None)).flatten();
    check.find(code, place, &format!("{prefix}breakpoint"), message, fix);
}

/// What `cache` says can be read, and the node does work whose result can be kept.
fn cache(check: &mut PlanCheck, place: FindingPlace, prefix: &str, policy: &Policy) {
    let works = |at: usize| {
        let kind = &check.plan.nodes[at].kind;
        kind.agent().is_some() || kind.tool().is_some() || matches!(kind, NodeKind::Code(_))
    };
    let (code, message, title) = match (policy.cache.as_ref().map(CachePolicy::read), place) {
        (Some(Err(error)), _) => (Code::WrongShape, error.to_string(), "leave it to the default"),
        (Some(Ok(CachePolicy::Ttl(_))), FindingPlace::Node(at)) if !works(at) => {
            let message = "only results of agents, tools and code are kept in the cache, so `cache` does nothing here".to_owned();
            (Code::NoEffect, message, "remove it")
        }
        (Some(Ok(CachePolicy::Ttl(_))), _) if policy.side_effects == Some(true) => {
            let message = "a node with side effects runs each time, so `cache` does nothing here".to_owned();
            (Code::NoEffect, message, "remove it")
        }
        (Some(Ok(_)) | None, _) => return,
    };
    let fix = set(check, place, FixKind::Guess, title, |policy| policy.cache = None);
    check.find(code, place, &format!("{prefix}cache"), message, fix);
}
