//! Applying fixes one after the other, safe ones before guesses. A fix may uncover other findings, so each is tried on a copy and kept only if the plan is better
//! for it. Between two steps that leave fewer findings each one is tried once, so this ends whatever the fixes are.

use super::codes::{Code, Severity};
use super::finding::{Finding, Fix, FixKind};
use super::validate;
use crate::plan::edit::Edit;
use crate::plan::{Catalog, NodeId, Plan};
use std::collections::{BTreeMap, BTreeSet};

/// How much is looked at in one go, in nodes: each try reads the whole plan.
const MOST_NODES: usize = 2_000_000;

/// The fixes that help, each with the place of its finding, in order: safe ones, then guesses if those may be made, errors first. None makes a plan worse, and none brings
/// an error for a warning.
pub fn fixes(plan: &Plan, catalog: &Catalog, most: FixKind) -> Vec<(String, Fix)> {
    let mut plan = plan.clone();
    let mut made = Vec::new();
    for kind in [FixKind::Safe, FixKind::Guess].into_iter().filter(|kind| *kind <= most) {
        of_kind(&mut plan, catalog, kind, &mut made);
    }
    made
}

fn of_kind(plan: &mut Plan, catalog: &Catalog, most: FixKind, made: &mut Vec<(String, Fix)>) {
    let mut findings = by_severity(plan, catalog);
    let mut batched: BTreeSet<Code> = BTreeSet::new();
    let mut tried: BTreeSet<(Code, Option<NodeId>, String)> = BTreeSet::new();
    for _ in 0..(MOST_NODES / (plan.nodes.len() + 1)).clamp(8, 400) {
        let may = |finding: &&Finding| finding.fix.as_ref().is_some_and(|fix| fix.kind <= most) && !tried.contains(&name(finding));
        // Names in texts go before those of the order, which show from where all of them count.
        let first = |finding: &&Finding| (finding.fix.as_ref().map(|fix| fix.kind), finding.code == Code::UnknownDependency);
        let untried = findings.iter().filter(may).min_by_key(first);
        let Some((finding, fix)) = untried.and_then(|finding| Some((finding, finding.fix.as_ref()?))) else { break };
        if batched.insert(finding.code)
            && let Some(batch) = together(plan, catalog, &findings, finding.code, most)
        {
            tried.clear();
            made.extend(batch.fixes);
            (*plan, findings) = (batch.plan, batch.findings);
            continue;
        }
        let this = name(finding);
        let mut changed = plan.clone();
        if fix.edit.apply(&mut changed).is_err() {
            tried.insert(this);
            continue;
        }
        let after = by_severity(&changed, catalog);
        let is_less = weight(&after) < weight(&findings);
        // A guess that only moves what is wrong could be moved back by the next one; one that removes an edge can't.
        let gains = is_less || changed.all_edges().count() < plan.all_edges().count();
        let is_better = is_better(&findings, &after, finding) && (gains || fix.kind == FixKind::Safe);
        if is_better && gains {
            // What was refused before may go now.
            tried.clear();
        } else {
            tried.insert(this);
        }
        if is_better {
            made.push((finding.path.clone(), fix.clone()));
            (*plan, findings) = (changed, after);
        }
    }
}

/// A plan after several fixes, with what is found in it.
struct FixBatch {
    plan: Plan,
    findings: Vec<Finding>,
    fixes: Vec<(String, Fix)>,
}

/// All fixes for one kind of finding at once, one for each node, where every one of them settles its finding and nothing else comes up:
/// one reading of the plan for all. None when that is not so.
fn together(plan: &Plan, catalog: &Catalog, findings: &[Finding], code: Code, most: FixKind) -> Option<FixBatch> {
    let mut changed = plan.clone();
    let mut fixes: BTreeMap<usize, (String, Fix)> = BTreeMap::new();
    let of_code = findings.iter().filter(|finding| finding.code == code);
    let kind = of_code.clone().filter_map(|finding| finding.fix.as_ref()).map(|fix| fix.kind).filter(|kind| *kind <= most).min()?;
    for finding in of_code {
        let Some(fix) = finding.fix.as_ref().filter(|fix| fix.kind == kind) else { continue };
        // A node in the place of itself under the same id touches nothing else.
        let Edit::SpliceNodes { at, remove: 1, insert } = &fix.edit else { continue };
        let is_alone = insert.len() == 1 && plan.nodes.get(*at).is_some_and(|node| node.id == insert[0].id) && !fixes.contains_key(at);
        if is_alone && fix.edit.apply(&mut changed).is_ok() {
            fixes.insert(*at, (finding.path.clone(), fix.clone()));
        }
    }
    let after = by_severity(&changed, catalog);
    let errors = if code.severity() == Severity::Error { fixes.len() } else { 0 };
    let ((errors_after, all_after), (errors_before, all_before)) = (weight(&after), weight(findings));
    let is_settled = errors_after + errors <= errors_before && all_after + fixes.len() <= all_before;
    (is_settled && fixes.len() > 1).then(|| FixBatch { plan: changed, findings: after, fixes: fixes.into_values().collect() })
}

fn by_severity(plan: &Plan, catalog: &Catalog) -> Vec<Finding> {
    let mut findings = validate(plan, catalog);
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// What tells a finding from others, wherever its place moves.
fn name(finding: &Finding) -> (Code, Option<NodeId>, String) {
    (finding.code, finding.node.clone(), format!("{}: {}", finding.path, finding.message))
}

/// Errors first, then everything.
fn weight(findings: &[Finding]) -> (usize, usize) {
    (findings.iter().filter(|finding| finding.is_error()).count(), findings.len())
}

/// Fewer errors; or as many, no more warnings, and at least the finding itself is settled.
fn is_better(before: &[Finding], after: &[Finding], settled: &Finding) -> bool {
    let same = |findings: &[Finding]| {
        findings.iter().filter(|one| (one.code, &one.node, &one.message) == (settled.code, &settled.node, &settled.message)).count()
    };
    let ((errors, all), (errors_before, all_before)) = (weight(after), weight(before));
    errors < errors_before || (errors == errors_before && all <= all_before && same(after) < same(before))
}
