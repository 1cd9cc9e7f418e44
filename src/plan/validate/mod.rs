//! Validation: every finding of a plan at once, each with a stable code, its place, words for a person and, where one is known, a fix
//! that the editor can apply. Errors stop a run, warnings don't. Pure; close to linear in nodes and edges.

mod asking;
mod check;
mod codes;
mod decisions;
#[cfg(test)]
mod field_tests;
mod fields;
mod finding;
mod fix;
#[cfg(test)]
mod fix_tests;
mod foreign;
mod joins;
#[cfg(test)]
mod joins_tests;
mod keys;
mod leaving;
mod lost_meaning;
mod lost_order;
mod names;
mod naming;
mod nested;
#[cfg(test)]
mod nested_tests;
mod outcomes;
mod outer;
mod own_state;
mod policy;
mod positions;
mod readings;
mod said_edges;
#[cfg(test)]
mod said_edges_tests;
mod structure;
#[cfg(test)]
mod tests;
mod texts;
mod unread;
#[cfg(test)]
mod unread_tests;
#[cfg(test)]
mod walk_tests;
mod walks;
mod window;
mod wording;

pub use codes::{Code, CodeInfo, Severity, codes};
pub use finding::{Finding, Fix, FixKind};
pub use fix::fixes;
pub use wording::nearest;

use super::{Catalog, Dialect, Plan};
use check::{Around, Countings, FindingPlace, PlanCheck};
use names::Stock;
use std::borrow::Cow;

/// Everything that is to be said about a plan: first the plan, then its nodes in order, each with what stands inside it, then its edges.
pub fn validate(plan: &Plan, catalog: &Catalog) -> Vec<Finding> {
    validate_counted(plan, catalog, &mut Countings::default())
}

/// The same, where names by position count as is known; what comes to be known is added.
fn validate_counted(plan: &Plan, catalog: &Catalog, countings: &mut Countings) -> Vec<Finding> {
    let around = Around { inputs: Cow::Borrowed(&plan.inputs), is_open: plan.dialect == Dialect::Workflow, ..Around::default() };
    let mut check = PlanCheck::new(plan, catalog, around, Stock::new(catalog, std::mem::take(countings)));
    everything(&mut check);
    *countings = check.stock.countings;
    in_order(check.findings)
}

fn in_order(mut findings: Vec<(FindingPlace, Finding)>) -> Vec<Finding> {
    findings.sort_by_key(|(place, _)| *place);
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// Every check of one plan and of what stands inside it.
fn everything(plan: &mut PlanCheck) {
    readings::check(plan);
    structure::check(plan);
    decisions::check(plan);
    joins::check(plan);
    walks::check(plan);
    names::check(plan);
    texts::check(plan);
    foreign::check(plan);
    policy::check(plan);
    window::check(plan);
    fields::check(plan);
    leaving::check(plan);
    keys::check(plan);
    nested::check(plan);
}
