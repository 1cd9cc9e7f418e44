//! Applying fixes one after the other, safe ones before guesses. A fix may uncover other findings, so each is tried on a copy and kept only if the plan is better
//! for it. Between two steps that leave fewer findings each one is tried once, so this ends whatever the fixes are.

use super::check::Countings;
use super::codes::{Code, Severity};
use super::finding::{Finding, Fix, FixKind};
use super::validate_counted;
use crate::plan::edit::Edit;
use crate::plan::{Catalog, NodeId, Plan};
use std::collections::{BTreeMap, BTreeSet};

/// How much is looked at in one go, in nodes: each try reads the whole plan.
const MOST_NODES: usize = 2_000_000;

/// The fixes that help, each with the place of its finding, in order: safe ones, then guesses if those may be made, errors first. None makes a plan worse, and none brings
/// an error for a warning.
pub fn fixes(plan: &Plan, catalog: &Catalog, most: FixKind) -> Vec<(String, Fix)> {
    let mut fixing = Fixing::of(plan, catalog);
    let mut plan = plan.clone();
    let mut made = Vec::new();
    of_kind(&mut plan, &fixing, FixKind::Safe, &mut made);
    let rounds = if most == FixKind::Guess { MOST_ROUNDS } else { 0 };
    for _ in 0..rounds {
        let before = made.len();
        of_kind(&mut plan, &fixing, FixKind::Guess, &mut made);
        if made.len() == before {
            break;
        }
        // Names were counted as the plan was at first: what that left may have another reading by now.
        fixing = Fixing::of(&plan, catalog);
    }
    made
}

/// How often guesses are looked for anew in what the last ones left.
const MOST_ROUNDS: usize = 8;

/// What a plan had to be fixed when its fixes were listed: what is a guess there stays one, whatever other fixes make clear.
struct Fixing<'c> {
    catalog: &'c Catalog,
    /// By code and place, each message with whether its fix is a guess.
    listed: BTreeMap<(Code, String), Vec<(String, bool)>>,
    countings: Countings,
}

impl<'c> Fixing<'c> {
    fn of(plan: &Plan, catalog: &'c Catalog) -> Self {
        let mut listed: BTreeMap<(Code, String), Vec<(String, bool)>> = BTreeMap::new();
        let mut countings = Countings::default();
        for finding in validate_counted(plan, catalog, &mut countings) {
            let is_guess = finding.fix.is_some_and(|fix| fix.kind == FixKind::Guess);
            listed.entry((finding.code, finding.path)).or_default().push((finding.message, is_guess));
        }
        Self { catalog, listed, countings }
    }

    /// What is found in the plan by now, errors first.
    fn findings(&self, plan: &Plan) -> Vec<Finding> {
        let mut findings = validate_counted(plan, self.catalog, &mut self.countings.clone());
        findings.sort_by_key(|finding| finding.severity);
        findings
    }

    /// A finding's fix, a guess if it was listed as one.
    fn fix(&self, finding: &Finding) -> Option<Fix> {
        let fix = finding.fix.as_ref()?;
        Some(Fix { kind: self.kind(finding)?, ..fix.clone() })
    }

    fn kind(&self, finding: &Finding) -> Option<FixKind> {
        let kind = finding.fix.as_ref()?.kind;
        let Some(listed) = self.listed.get(&(finding.code, finding.path.clone())) else { return Some(kind) };
        let same = listed.iter().find(|(message, _)| *message == finding.message);
        // Another message at the same place may be the same finding with another name to use.
        let was_guess = same.map_or_else(|| listed.iter().any(|(_, is_guess)| *is_guess), |(_, is_guess)| *is_guess);
        Some(if was_guess { FixKind::Guess } else { kind })
    }
}

fn of_kind(plan: &mut Plan, fixing: &Fixing<'_>, most: FixKind, made: &mut Vec<(String, Fix)>) {
    let mut findings = fixing.findings(plan);
    let mut batched: BTreeSet<Code> = BTreeSet::new();
    let mut tried: BTreeSet<(Code, Option<NodeId>, String)> = BTreeSet::new();
    for _ in 0..(MOST_NODES / (plan.nodes.len() + 1)).clamp(8, 400) {
        let may = |finding: &&Finding| fixing.kind(finding).is_some_and(|kind| kind <= most) && !tried.contains(&name(finding));
        // Names in texts go before those of the order, which show from where all of them count; what these leave without an order is last.
        let turn = |code: Code| u8::from(code == Code::UnknownDependency) + 2 * u8::from(code == Code::UnorderedReference);
        let first = |finding: &&Finding| (fixing.kind(finding), turn(finding.code));
        let untried = findings.iter().filter(may).min_by_key(first);
        let Some((finding, fix)) = untried.and_then(|finding| Some((finding, finding.fix.as_ref()?))) else { break };
        if batched.insert(finding.code)
            && let Some(batch) = together(plan, fixing, &findings, finding.code, most)
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
        let after = fixing.findings(&changed);
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
            made.extend(fixing.fix(finding).map(|fix| (finding.path.clone(), fix)));
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
fn together(plan: &Plan, fixing: &Fixing<'_>, findings: &[Finding], code: Code, most: FixKind) -> Option<FixBatch> {
    let mut changed = plan.clone();
    let mut fixes: BTreeMap<usize, (String, Fix)> = BTreeMap::new();
    let of_code = findings.iter().filter(|finding| finding.code == code);
    let kind = of_code.clone().filter_map(|finding| fixing.kind(finding)).filter(|kind| *kind <= most).min()?;
    for finding in of_code {
        let Some(fix) = fixing.fix(finding).filter(|fix| fix.kind == kind) else { continue };
        // A node in the place of itself under the same id touches nothing else.
        let Edit::SpliceNodes { at, remove: 1, insert } = &fix.edit else { continue };
        let is_alone = insert.len() == 1 && plan.nodes.get(*at).is_some_and(|node| node.id == insert[0].id) && !fixes.contains_key(at);
        if is_alone && fix.edit.apply(&mut changed).is_ok() {
            fixes.insert(*at, (finding.path.clone(), fix.clone()));
        }
    }
    let after = fixing.findings(&changed);
    let errors = if code.severity() == Severity::Error { fixes.len() } else { 0 };
    let ((errors_after, all_after), (errors_before, all_before)) = (weight(&after), weight(findings));
    let is_settled = errors_after + errors <= errors_before && all_after + fixes.len() <= all_before;
    (is_settled && fixes.len() > 1).then(|| FixBatch { plan: changed, findings: after, fixes: fixes.into_values().collect() })
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
