//! The rules of plans in which one token walks. A workflow: exactly one entry, at least one exit, every node reached from the entry. Stages:
//! entries and terminals, every stage between them, and what each type of stage needs; without written edges they are a chain, whose
//! first and last stage are meant. Cycles are found with those of all plans.

use super::check::{FindingPlace, PlanCheck};
use super::codes::Code;
use super::finding::{Fix, FixKind};
use super::wording::legible;
use crate::plan::edit::Edit;
use crate::plan::order::EdgePlace;
use crate::plan::{Dialect, Node, NodeKind};
use std::rc::Rc;

pub(super) fn check(check: &mut PlanCheck) {
    if check.plan.nodes.is_empty() {
        return;
    }
    match check.plan.dialect {
        Dialect::Native | Dialect::Orchestration | Dialect::Tools | Dialect::Hybrid => {}
        Dialect::Workflow => workflow(check),
        // A chain: its first stage is the entry and its last one terminal, whatever is marked.
        Dialect::Stages if check.plan.edges.is_empty() => reached(check, &[0]),
        Dialect::Stages => stages(check),
    }
}

fn marked(check: &PlanCheck, mark: fn(&Node) -> bool) -> Vec<usize> {
    check.plan.nodes.iter().enumerate().filter(|(_, node)| mark(node)).map(|(at, _)| at).collect()
}

fn workflow(check: &mut PlanCheck) {
    let entries = marked(check, |node| node.entry);
    match entries[..] {
        [] => no_entry(check, "a workflow needs exactly one entry"),
        [entry, ref more @ ..] => {
            for &at in more {
                let message = format!("a workflow has exactly one entry, and `{}` is already marked", check.graph.id(entry));
                let fix = Fix::guess("remove the mark", check.changed(at, |node| node.entry = false));
                check.find(Code::ManyEntries, FindingPlace::Node(at), "entry", message, Some(fix));
            }
            if let Some(condition) = &check.plan.nodes[entry].policy.skip_if {
                let message = format!("`{}` has no effect: a workflow always starts at its entry", legible(condition));
                let fix = check.with_policy(entry, FixKind::Guess, "remove the condition", |policy| policy.skip_if = None);
                check.find(Code::NoEffect, FindingPlace::Node(entry), "skip_if", message, fix);
            }
            reached(check, &[entry]);
        }
    }
    let exits = marked(check, |node| node.exit);
    if exits.is_empty() {
        no_exit(check, "a workflow needs at least one terminal stage");
        return;
    }
    let ends = check.graph.leading_to(exits);
    for at in (0..ends.len()).filter(|&at| !ends[at]) {
        let fix = mark_end(check, at);
        check.find(Code::NoExit, FindingPlace::Node(at), "", "leads to no node that is marked as an exit", fix);
    }
}

fn stages(check: &mut PlanCheck) {
    let entries = marked(check, |node| node.entry);
    match entries[..] {
        [] => no_entry(check, "a stage plan with edges needs an entry"),
        [entry, ref more @ ..] => {
            for &at in more {
                let message = format!("a stage plan starts at its first entry, `{}`", check.graph.id(entry));
                let fix = Fix::guess("remove the mark", check.changed(at, |node| node.entry = false));
                // Without the mark it may not be reached at all, which is worse.
                let fix = check.graph.predecessors(at).next().map(|_| fix);
                check.find(Code::LaterEntry, FindingPlace::Node(at), "entry", message, fix);
            }
            reached(check, &entries);
        }
    }
    let terminals = marked(check, |node| node.exit);
    if terminals.is_empty() {
        no_exit(check, "a stage plan with edges needs a terminal stage");
    } else {
        let leads = check.graph.leading_to(terminals);
        for at in (0..leads.len()).filter(|&at| !leads[at]) {
            let fix = mark_end(check, at);
            check.find(Code::DeadEnd, FindingPlace::Node(at), "", "leads to no terminal stage", fix);
        }
    }
    for at in 0..check.plan.nodes.len() {
        transitions(check, at);
    }
}

/// What the type of a stage asks of its written edges.
fn transitions(check: &mut PlanCheck, at: usize) {
    let graph = Rc::clone(&check.graph);
    let is_written = |link: &usize| matches!(graph.links()[*link].place, EdgePlace::Edge(_));
    let (ways_in, ways_out) = (graph.incoming(at).filter(is_written).count(), graph.outgoing(at).filter(is_written).count());
    let node = &check.plan.nodes[at];
    let place = FindingPlace::Node(at);
    if matches!(node.kind, NodeKind::Merge(_)) && ways_in < 2 {
        check.find(Code::Transition, place, "", format!("a merge stage needs at least two incoming edges and has {ways_in}"), None);
    }
    if node.exit {
        let never: Vec<usize> = graph
            .outgoing(at)
            .filter_map(|link| match graph.links()[link].place {
                EdgePlace::Edge(edge) => Some(edge),
                EdgePlace::Dependency(..) => None,
            })
            .collect();
        for edge in never {
            let message = format!("`{}` is terminal: the run ends there and never takes this edge", node.id);
            let fix = Fix::guess("remove the edge", Edit::RemoveEdge { at: edge });
            check.find(Code::NeverTaken, FindingPlace::Edge(edge), "", message, Some(fix));
        }
    } else if node.kind.is_decision() && ways_out == 0 {
        check.find(Code::Transition, place, "", "a decision stage needs at least one outgoing edge", None);
    }
}

/// The first node that nothing leads to is the one that is most likely meant.
fn no_entry(check: &mut PlanCheck, rule: &str) {
    let at = check.graph.entries().next().unwrap_or(0);
    let id = check.graph.id(at).clone();
    let kind = if check.graph.entries().count() == 1 { FixKind::Safe } else { FixKind::Guess };
    let fix = Fix::new(kind, format!("mark `{id}` as the entry"), check.changed(at, |node| node.entry = true));
    check.find(Code::NoEntry, FindingPlace::Plan, "nodes", format!("{rule}, but no node is marked as one"), Some(fix));
}

fn no_exit(check: &mut PlanCheck, rule: &str) {
    let ends: Vec<usize> = check.graph.final_nodes().collect();
    let names: Vec<String> = ends.iter().take(4).map(|&at| format!("`{}`", check.graph.id(at))).collect();
    let more = if ends.len() > names.len() { " and more" } else { "" };
    let edits = ends.iter().map(|&at| check.changed(at, |node| node.exit = true));
    // Where nodes have no connection at all, these may have been lost.
    let is_lone = |at: usize| check.graph.outgoing(at).next().is_none() && check.graph.predecessors(at).next().is_none();
    let kind = if ends.len() > 1 && ends.iter().any(|&at| is_lone(at)) { FixKind::Guess } else { FixKind::Safe };
    let fix = (!ends.is_empty()).then(|| Fix::new(kind, format!("mark as final: {}{more}", names.join(", ")), Edit::batch(edits)));
    check.find(Code::MissingExit, FindingPlace::Plan, "nodes", format!("{rule}, but no node is marked as one"), fix);
}

/// An end that isn't marked as one.
fn mark_end(check: &PlanCheck, at: usize) -> Option<Fix> {
    let is_end = check.graph.outgoing(at).next().is_none();
    is_end.then(|| Fix::safe("mark it as final", check.changed(at, |node| node.exit = true)))
}

/// Finds every node that no way leads to. In stages no way leads on from a terminal.
fn reached(check: &mut PlanCheck, entries: &[usize]) {
    let stops = check.plan.dialect == Dialect::Stages && !check.plan.edges.is_empty();
    let mut reached = vec![false; check.graph.len()];
    let mut stack = entries.to_vec();
    while let Some(at) = stack.pop() {
        let is_end = stops && check.plan.nodes[at].exit;
        if !std::mem::replace(&mut reached[at], true) && !is_end {
            stack.extend(check.graph.successors(at));
        }
    }
    for at in (0..reached.len()).filter(|&at| !reached[at]) {
        check.find(Code::NotReached, FindingPlace::Node(at), "", "can't be reached from the entry, so it never runs", None);
    }
}
