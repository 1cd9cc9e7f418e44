//! Validation: every finding of a plan at once, each with a stable code, its place, words for a person and, where one is known, a fix
//! that the editor can apply. Errors stop a run, warnings don't. Pure; close to linear in nodes and edges.

mod codes;
mod fields;
mod names;
mod policy;
mod structure;
#[cfg(test)]
mod tests;
mod texts;

pub use codes::{Code, CodeInfo, Severity, codes};

use super::edit::Edit;
use super::order::Graph;
use super::{Catalog, Node, NodeId, NodeValue, Plan, Route, Scope, Work};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Something that is wrong with a plan, or may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable.
    pub code: Code,
    /// As `codes` says.
    pub severity: Severity,
    /// The node that it is about.
    pub node: Option<NodeId>,
    /// The edge that it is about: its position in `edges`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edge: Option<usize>,
    /// The place in the native form, such as `nodes[2].args.path`.
    pub path: String,
    /// For people, lower-case start.
    pub message: String,
    /// A change that would settle it.
    pub fix: Option<Fix>,
}

/// A change that would settle a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fix {
    /// What it does, in words.
    pub title: String,
    /// How.
    pub edit: Edit,
}

/// Whether a run may start with these findings.
pub fn is_runnable(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.severity == Severity::Warning)
}

/// Everything that is to be said about a plan: first the plan, then its nodes in order, then its edges.
pub fn validate(plan: &Plan, catalog: &Catalog) -> Vec<Finding> {
    let mut check = Check { plan, catalog, graph: Graph::new(plan), findings: Vec::new(), suggestions: 200 };
    structure::check(&mut check);
    names::check(&mut check);
    texts::check(&mut check);
    policy::check(&mut check);
    fields::check(&mut check);
    let mut findings = check.findings;
    findings.sort_by_key(|(place, _)| *place);
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// Where a finding belongs; the order of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Plan,
    Node(usize),
    Edge(usize),
}

struct Check<'a> {
    plan: &'a Plan,
    catalog: &'a Catalog,
    graph: Graph,
    findings: Vec<(Place, Finding)>,
    /// How many more fixes and near names may be looked for: each costs in proportion to the plan.
    suggestions: usize,
}

impl<'a> Check<'a> {
    /// `field` is empty for the place itself.
    fn find(&mut self, code: Code, place: Place, field: &str, message: impl Into<String>, fix: Option<Fix>) {
        let (node, edge, base) = match place {
            Place::Plan => (None, None, String::new()),
            Place::Node(at) => (Some(self.plan.nodes[at].id.clone()), None, format!("nodes[{at}]")),
            Place::Edge(at) => (None, Some(at), format!("edges[{at}]")),
        };
        let path = if field.is_empty() || base.is_empty() { base + field } else { format!("{base}.{field}") };
        self.findings.push((place, Finding { code, severity: code.severity(), node, edge, path, message: message.into(), fix }));
    }

    /// Spends one suggestion, if there is one left.
    fn may_suggest(&mut self) -> bool {
        let may = self.suggestions > 0;
        self.suggestions = self.suggestions.saturating_sub(1);
        may
    }

    /// The known name that is nearest to a wrong one.
    fn nearest<'n>(&mut self, wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
        if self.may_suggest() { nearest(wrong, names) } else { None }
    }

    fn nearest_node(&mut self, wrong: &str) -> Option<NodeId> {
        let plan = self.plan;
        self.nearest(wrong, plan.nodes.iter().map(|node| node.id.as_str())).map(NodeId::new)
    }

    fn changed(&self, at: usize, change: impl FnOnce(&mut Node)) -> Edit {
        let mut node = self.plan.nodes[at].clone();
        change(&mut node);
        Edit::SpliceNodes { at, remove: 1, insert: vec![node] }
    }

    /// Whether edges that leave the node carry labels, of which an answer names one.
    fn decides(&self, at: usize) -> bool {
        let node = &self.plan.nodes[at];
        match node.policy.route {
            Some(route) => route == Route::Decision,
            None => matches!(node.work, Work::Decision(_)) || self.plan.defaults.route == Some(Route::Decision),
        }
    }
}

impl Fix {
    fn new(title: impl Into<String>, edit: Edit) -> Self {
        Self { title: title.into(), edit }
    }
}

impl Scope for Check<'_> {
    fn node(&self, id: &str) -> Option<NodeValue<'_>> {
        self.graph.position(id).map(|_| NodeValue::default())
    }

    fn inputs(&self) -> &Map<String, Value> {
        &self.plan.inputs
    }
}

/// The name with the fewest edits to `wrong`, if they are few for its length.
pub fn nearest<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (wrong.len() / 3).max(1) + 1;
    let close = names.filter(|name| *name != wrong && name.len().abs_diff(wrong.len()) <= limit);
    let measured = close.map(|name| (distance(&wrong.to_lowercase(), &name.to_lowercase()), name));
    measured.filter(|(distance, _)| *distance <= limit).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// Letters to insert, delete or replace.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

/// The words that follow an unknown name.
fn did_you_mean(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}
