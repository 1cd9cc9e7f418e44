//! What stands inside nodes: sub-plans, loops and maps have their own rules, and their bodies are checked as plans of their own, which see
//! their own nodes, the inputs that reach them, and nothing else.

use super::check::{Around, FindingPlace, Outer, PlanCheck};
use super::codes::Code;
use super::finding::{Fix, FixKind};
use super::wording::legible;
use super::{everything, in_order, policy, texts};
use crate::plan::dialect::is_noted_unread;
use crate::plan::limits::LOOP_ITERATIONS;
use crate::plan::native::{MAX_DEPTH, kind};
use crate::plan::{Dialect, LoopNode, MapNode, Node, NodeKind, Plan, Policy, SubplanNode, expr};
use serde_json::{Map, Value};
use std::{borrow::Cow, rc::Rc};

pub(super) fn check(check: &mut PlanCheck) {
    let plan = check.plan;
    locks(check, FindingPlace::Plan, "defaults.", plan.defaults.locks.as_deref());
    for (at, node) in plan.nodes.iter().enumerate() {
        locks(check, FindingPlace::Node(at), "", node.policy.locks.as_deref());
        match &node.kind {
            NodeKind::Agent(_)
            | NodeKind::Tool(_)
            | NodeKind::Code(_)
            | NodeKind::Decision(_)
            | NodeKind::Merge(_)
            | NodeKind::Transform(_)
            | NodeKind::Approval(_) => continue,
            NodeKind::Subplan(work) => {
                if let SubplanNode::File { path, loaded: None } = work
                    && !is_noted_unread(node)
                {
                    let message = format!("`{}` was not read yet: it is read when the run starts", legible(path));
                    check.find(Code::NotLoaded, FindingPlace::Node(at), "plan", message, None);
                }
            }
            NodeKind::Loop(work) => of_loop(check, at, work),
            NodeKind::Map(work) => of_map(check, at, work),
        }
        idle(check, at, node);
        if let Some(body) = node.kind.body() {
            inside(check, at, body);
        }
    }
}

/// A lock that a node around holds is free only when that node is over.
fn locks(check: &mut PlanCheck, place: FindingPlace, prefix: &str, names: Option<&[String]>) {
    let Some(i) = names.unwrap_or_default().iter().position(|name| check.around.held.contains(&name.as_str())) else { return };
    let wanted = names.unwrap_or_default()[i].clone();
    let name = legible(&wanted);
    let message = format!("a node around this one holds the lock `{name}`, so it would wait forever");
    let drop_lock = |policy: &mut Policy| {
        policy.locks.iter_mut().for_each(|locks| locks.retain(|lock| *lock != wanted));
        policy.locks = policy.locks.take().filter(|locks| !locks.is_empty());
    };
    let title = format!("remove the lock `{name}`");
    let fix = policy::set(check, place, FixKind::Guess, title, drop_lock);
    check.find(Code::HeldLock, place, &format!("{prefix}locks[{i}]"), message, fix);
}

fn of_loop(check: &mut PlanCheck, at: usize, work: &LoopNode) {
    if check.plan.nodes[at].policy.max_iterations.or(check.plan.defaults.max_iterations).is_none() {
        let fix = check
            .with_policy(at, FixKind::Safe, format!("set it to {LOOP_ITERATIONS}"), |policy| policy.max_iterations = Some(LOOP_ITERATIONS));
        let message = "a loop needs a limit: set `max_iterations` from 1 to 20";
        check.find(Code::LoopLimit, FindingPlace::Node(at), "max_iterations", message, fix);
    }
    if work.until.trim().is_empty() {
        check.find(Code::EmptyText, FindingPlace::Node(at), "until", "`until` is empty: it says when the loop ends", None);
    }
}

fn of_map(check: &mut PlanCheck, at: usize, work: &MapNode) {
    if work.max_parallel == Some(0) {
        let edit = check.changed(at, |node| {
            if let NodeKind::Map(map) = &mut node.kind {
                map.max_parallel = Some(1);
            }
        });
        let fix = Some(Fix::safe("set it to 1", edit));
        check.find(Code::BadLimit, FindingPlace::Node(at), "max_parallel", "`max_parallel` must be at least 1", fix);
    }
    let certain = expr::Expr::parse(&work.over, check).ok().filter(|over| over.paths().is_empty());
    if let Some(value) = certain.and_then(|over| over.eval(check, expr::OnMissing::Null).ok()).filter(|value| !value.is_array()) {
        let message = format!("`{}` is {}, but a map needs a list", legible(&work.over), kind(&value));
        check.find(Code::BadCondition, FindingPlace::Node(at), "over", message, None);
    }
}

/// Time and attempts are those of the nodes inside.
fn idle(check: &mut PlanCheck, at: usize, node: &Node) {
    if node.policy.timeout_s.is_some() {
        let fix = check.with_policy(at, FixKind::Guess, "remove it", |policy| policy.timeout_s = None);
        let message = "`timeout_s` has no effect here: set it on the nodes of the inner plan";
        check.find(Code::NoEffect, FindingPlace::Node(at), "timeout_s", message, fix);
    }
    if node.policy.retry.is_some() {
        let fix = check.with_policy(at, FixKind::Guess, "remove it", |policy| policy.retry = None);
        let message = "`retry` has no effect here: set it on the nodes of the inner plan";
        check.find(Code::NoEffect, FindingPlace::Node(at), "retry", message, fix);
    }
}

/// Checks the plan inside a node, and what its owner says over its names.
fn inside<'a>(check: &mut PlanCheck<'a>, at: usize, body: &'a Plan) {
    let outer = outer(check, at);
    if outer.path.matches("].").count() >= MAX_DEPTH {
        let message = format!("plans can be nested {MAX_DEPTH} deep at most");
        return check.find(Code::BadLimit, FindingPlace::Node(at), outer.field(), message, None);
    }
    let around = around(check, at, body, outer);
    let mut inner = PlanCheck::new(body, check.catalog, around, std::mem::take(&mut check.stock));
    everything(&mut inner);
    if let NodeKind::Loop(work) = &check.plan.nodes[at].kind
        && !work.until.trim().is_empty()
    {
        texts::until(&mut inner, &work.until);
    }
    check.stock = inner.stock;
    check.findings.extend(in_order(inner.findings).into_iter().map(|finding| (FindingPlace::Node(at), finding)));
}

fn outer<'a>(check: &PlanCheck<'a>, at: usize) -> Outer<'a> {
    let id = &check.plan.nodes[at].id;
    let path = match &check.around.outer {
        Some(outer) => format!("{}.{}.nodes[{at}]", outer.path, outer.field()),
        None => format!("nodes[{at}]"),
    };
    Outer {
        plan: check.plan,
        graph: Rc::clone(&check.graph),
        around: check.around.clone(),
        at,
        address: check.address(id).to_string(),
        path,
    }
}

/// What a body sees: the inputs around it, its own, those that its node gives it, and what each turn gives.
fn around<'a>(check: &PlanCheck<'a>, at: usize, body: &'a Plan, outer: Outer<'a>) -> Around<'a> {
    let plan = check.plan;
    let node = &plan.nodes[at];
    let given = node.policy.inputs.as_ref().or(plan.defaults.inputs.as_ref());
    let turn: &[&str] = match &node.kind {
        NodeKind::Loop(_) => &["iteration", "previous"],
        NodeKind::Map(_) => &["item", "index"],
        _ => &[],
    };
    let names = [Some(&*check.around.inputs), Some(&body.inputs), given].into_iter().flatten().flat_map(Map::keys);
    let names = names.cloned().chain(turn.iter().map(|name| (*name).to_owned()));
    let inputs: Map<String, Value> = names.map(|name| (name, Value::Null)).collect();
    let mut held = check.around.held.clone();
    held.extend(node.policy.locks.as_ref().or(plan.defaults.locks.as_ref()).into_iter().flatten().map(String::as_str));
    let is_second = check.graph.position(&node.id) != Some(at);
    let file = match &node.kind {
        NodeKind::Subplan(SubplanNode::File { path, .. }) => Some(path.as_str()),
        _ => check.around.file,
    };
    Around {
        outer: Some(Rc::new(outer)),
        inputs: Cow::Owned(inputs),
        is_open: check.around.is_open || body.dialect == Dialect::Workflow,
        held,
        file,
        is_sealed: check.around.is_sealed || is_second || matches!(node.kind, NodeKind::Subplan(SubplanNode::File { .. })),
    }
}
