//! Conditions that are a word of other systems for how the source ended: as expressions they read null, and would never hold.

use super::check::{FindingPlace, PlanCheck};
use super::codes::Code;
use super::finding::Fix;
use super::wording::legible;
use crate::plan::Edge;
use crate::plan::dialect::names::NAMES;
use crate::plan::dialect::plain;
use crate::plan::edit::Edit;

/// Reports a condition that is nothing else than such a word; whether it is one.
pub(super) fn report(check: &mut PlanCheck, place: FindingPlace, word: &str) -> bool {
    let plan = check.plan;
    let (when, bare) = match place {
        FindingPlace::Edge(at) => {
            let edge = Edge { when: None, ..plan.edges[at].clone() };
            (plan.edges[at].when.as_deref(), Edit::SpliceEdges { at, remove: 1, insert: vec![edge] })
        }
        FindingPlace::Node(at) => (plan.nodes[at].policy.when.as_deref(), check.changed(at, |node| node.policy.when = None)),
        FindingPlace::Owner | FindingPlace::Plan => return false,
    };
    if when.map(str::trim) != Some(word) {
        return false;
    }
    let meant = plain(word);
    let is = |words: &[&str]| words.contains(&meant.as_str());
    let shown = legible(word);
    let (message, fix) = if is(&NAMES.outcome.success) {
        let message =
            format!("`{shown}` is no name here, so this would never hold: without a condition it goes on when the source succeeded");
        (message, Some(Fix::safe("take the condition out", bare)))
    } else if is(&NAMES.outcome.always) {
        (format!("`{shown}` is no name here, so this would never hold"), Some(Fix::guess("take the condition out", bare)))
    } else if is(&NAMES.outcome.failure) {
        let way = "give the source `on_failure: safe`, and read its `error`; or the target `join: always`";
        (format!("`{shown}` is no name here, so this would never hold, and nothing goes on after a failure: {way}"), None)
    } else {
        return false;
    };
    check.find(Code::BadCondition, place, "when", message, fix);
    true
}
