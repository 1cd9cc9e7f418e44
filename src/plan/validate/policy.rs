//! Limits, schemas, budgets, and fields that this version reads but doesn't act on.

use super::{Check, Code, Fix, Place};
use crate::plan::edit::Edit;
use crate::plan::{Budget, OnFailure, Policy, Work};

/// The most iterations of an agent.
const MAX_ITERATIONS: u32 = 20;
/// The most attempts of a node.
const MAX_ATTEMPTS: u32 = 20;

pub(super) fn check(check: &mut Check) {
    let plan = check.plan;
    limits(check, Place::Plan, "defaults.", &plan.defaults);
    not_yet(check, Place::Plan, "defaults.", &plan.defaults);
    budget(check, Place::Plan, "budget", &plan.budget);
    if plan.budget != Budget::default() {
        check.find(Code::NotYet, Place::Plan, "budget", "caps of the whole run are not enforced yet, those of a node's tokens are", None);
    }
    let own = |policy: &Policy| policy.budget.is_some();
    let is_open = |node: &crate::plan::Node| matches!(node.work, Work::Agent(_)) && !own(&node.policy);
    if plan.budget == Budget::default() && !own(&plan.defaults) && plan.nodes.iter().any(is_open) {
        let mut defaults = plan.defaults.clone();
        defaults.budget = Some(Budget { tokens: Some(10_000), ..Budget::default() });
        let fix = Fix::new("give each agent 10,000 tokens", Edit::SetDefaults { defaults: Box::new(defaults) });
        check.find(
            Code::NoBudget,
            Place::Plan,
            "budget",
            "agents run without a budget: the default of 10,000 tokens each applies",
            Some(fix),
        );
    }
    for (at, node) in plan.nodes.iter().enumerate() {
        let place = Place::Node(at);
        if node.policy != Policy::default() {
            limits(check, place, "", &node.policy);
            not_yet(check, place, "", &node.policy);
        }
        if let Work::Code(code) = &node.work {
            for (field, limit) in [("sandbox.memory_mb", code.sandbox.memory_mb), ("sandbox.time_ms", code.sandbox.time_ms)] {
                if limit == Some(0) {
                    check.find(Code::BadLimit, place, field, format!("`{field}` must be more than 0"), None);
                }
            }
        }
    }
}

fn limits(check: &mut Check, place: Place, prefix: &str, policy: &Policy) {
    let mut wrong = |field: &str, message: String| check.find(Code::BadLimit, place, &format!("{prefix}{field}"), message, None);
    if let Some(attempts) = policy.retry.as_ref().map(|retry| retry.attempts).filter(|n| !(1..=MAX_ATTEMPTS).contains(n)) {
        wrong("retry.attempts", format!("`attempts` must be 1 to {MAX_ATTEMPTS}, not {attempts}"));
    }
    if let Some(seconds) = policy.timeout_s.filter(|seconds| !(seconds.is_finite() && *seconds > 0.0)) {
        wrong("timeout_s", format!("`timeout_s` must be more than 0, not {seconds}"));
    }
    if let Some(iterations) = policy.max_iterations.filter(|n| !(1..=MAX_ITERATIONS).contains(n)) {
        let fix = (if let Place::Node(at) = place { Some(at) } else { None }).map(|at| {
            let clamped = iterations.clamp(1, MAX_ITERATIONS);
            let policy = Policy { max_iterations: Some(clamped), ..policy.clone() };
            Fix::new(format!("set it to {clamped}"), Edit::SetPolicy { id: check.plan.nodes[at].id.clone(), policy: Box::new(policy) })
        });
        let message = format!("`max_iterations` must be 1 to {MAX_ITERATIONS}, not {iterations}");
        check.find(Code::BadLimit, place, &format!("{prefix}max_iterations"), message, fix);
    }
    if let Some(caps) = &policy.budget {
        budget(check, place, &format!("{prefix}budget"), caps);
    }
    if let Some(schema) = &policy.output_schema
        && let Err(error) = jsonschema::options().build(schema)
    {
        check.find(Code::BadSchema, place, &format!("{prefix}output_schema"), format!("no JSON Schema: {error}"), None);
    }
}

fn budget(check: &mut Check, place: Place, field: &str, caps: &Budget) {
    let positive = |cap: Option<f64>| cap.is_none_or(|cap| cap.is_finite() && cap > 0.0);
    for (cap, fine) in [
        ("tokens", caps.tokens != Some(0)),
        ("usd", positive(caps.usd)),
        ("seconds", positive(caps.seconds)),
        ("model_calls", caps.model_calls != Some(0)),
    ] {
        if !fine {
            check.find(Code::BadLimit, place, &format!("{field}.{cap}"), format!("`{cap}` must be more than 0"), None);
        }
    }
}

fn not_yet(check: &mut Check, place: Place, prefix: &str, policy: &Policy) {
    let fields = [
        ("cache", policy.cache.is_some(), "results are not cached yet"),
        ("breakpoint", policy.breakpoint.is_some(), "breakpoints are not acted on yet"),
        ("replan_when", policy.replan_when.is_some(), "nothing is replanned yet"),
        ("on_failure", policy.on_failure == Some(OnFailure::Replan), "nothing is replanned yet: the node fails"),
        ("on_failure", policy.on_failure == Some(OnFailure::Ask), "nobody is asked yet: the node fails"),
    ];
    for (field, written, message) in fields {
        if written {
            check.find(Code::NotYet, place, &format!("{prefix}{field}"), message, None);
        }
    }
}
