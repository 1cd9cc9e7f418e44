//! Validation: every finding of a plan at once, each with a stable code, its place, words for a person and, where one is known, a fix
//! that the editor can apply. Errors stop a run, warnings don't. Pure; close to linear in nodes and edges.

mod codes;
mod decisions;
mod fields;
mod fix;
#[cfg(test)]
mod fix_tests;
mod joins;
#[cfg(test)]
mod joins_tests;
mod leaving;
mod names;
mod nested;
#[cfg(test)]
mod nested_tests;
mod outer;
mod policy;
mod readings;
mod structure;
#[cfg(test)]
mod tests;
mod texts;
#[cfg(test)]
mod walk_tests;
mod walks;
mod window;

pub use codes::{Code, CodeInfo, Severity, codes};
pub use fix::fixes;

use super::dialect::plain;
use super::edit::Edit;
use super::order::PlanGraph;
use super::{Catalog, Dialect, NameScope, Node, NodeId, NodeKind, NodeValue, Plan, Policy, Route};
use names::Stock;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{borrow::Cow, rc::Rc};

/// Something that is wrong with a plan, or may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub code: Code,
    pub severity: Severity,
    /// The node that it is about: its address, `outer/inner`, if it stands inside another. What is about a plan or an edge inside a node
    /// is about that node.
    pub node: Option<NodeId>,
    /// The edge that it is about: its position in `edges` of the plan that it stands in.
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
    pub kind: FixKind,
    pub edit: Edit,
}

/// How sure it is that a fix gives what was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixKind {
    /// What is written has one meaning, and the fix gives it.
    Safe,
    /// A near name, a removal, a cut: a person decides.
    Guess,
}

impl FixKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Guess => "guess",
        }
    }

    /// In front of a fix's title.
    pub fn label(self) -> &'static str {
        match self {
            Self::Safe => "fix",
            Self::Guess => "guess",
        }
    }
}

/// Whether a run may start with these findings.
pub fn is_runnable(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.severity == Severity::Warning)
}

/// Everything that is to be said about a plan: first the plan, then its nodes in order, each with what stands inside it, then its edges.
pub fn validate(plan: &Plan, catalog: &Catalog) -> Vec<Finding> {
    let around = Around { inputs: Cow::Borrowed(&plan.inputs), is_open: plan.dialect == Dialect::Workflow, ..Around::default() };
    let mut check = PlanCheck::new(plan, catalog, around, Stock::new(catalog));
    check.everything();
    in_order(check.findings)
}

fn in_order(mut findings: Vec<(FindingPlace, Finding)>) -> Vec<Finding> {
    findings.sort_by_key(|(place, _)| *place);
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// Where a finding belongs; the order of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FindingPlace {
    /// The node whose body the plan is, for what stands there and speaks of the body.
    Owner,
    Plan,
    Node(usize),
    Edge(usize),
}

/// What a plan stands in; nothing for the plan itself.
#[derive(Clone, Default)]
struct Around<'a> {
    /// The node that the plan is the body of, and the plan of that node.
    outer: Option<Rc<Outer<'a>>>,
    /// Every input that its texts can read.
    inputs: Cow<'a, Map<String, Value>>,
    /// A workflow runs around it or in it, whose results become inputs as it goes: names need not be known before.
    is_open: bool,
    /// Locks that the nodes around it hold.
    held: Vec<&'a str>,
    /// The file that it stands in.
    file: Option<&'a str>,
    /// No edit reaches it: it stands in a file of its own, or in the second of two nodes with the same id.
    is_sealed: bool,
}

/// The node that a plan is the body of.
struct Outer<'a> {
    /// The plan that it stands in.
    plan: &'a Plan,
    graph: Rc<PlanGraph>,
    /// What that plan stands in.
    around: Around<'a>,
    at: usize,
    address: String,
    path: String,
}

struct PlanCheck<'a> {
    plan: &'a Plan,
    catalog: &'a Catalog,
    graph: Rc<PlanGraph>,
    around: Around<'a>,
    findings: Vec<(FindingPlace, Finding)>,
    stock: Stock<'a>,
    /// From where names by position count, once that is known.
    counting: Option<(usize, FixKind)>,
}

impl<'a> PlanCheck<'a> {
    fn new(plan: &'a Plan, catalog: &'a Catalog, around: Around<'a>, stock: Stock<'a>) -> Self {
        Self { plan, catalog, graph: Rc::new(PlanGraph::new(plan)), around, findings: Vec::new(), stock, counting: None }
    }

    fn everything(&mut self) {
        readings::check(self);
        structure::check(self);
        decisions::check(self);
        joins::check(self);
        walks::check(self);
        names::check(self);
        texts::check(self);
        policy::check(self);
        window::check(self);
        fields::check(self);
        leaving::check(self);
        nested::check(self);
    }

    /// `field` is empty for the place itself. The fix is one of this plan.
    fn find(&mut self, code: Code, place: FindingPlace, field: &str, message: impl Into<String>, fix: Option<Fix>) {
        let fix = fix.filter(|_| !self.around.is_sealed);
        let owner = self.around.outer.as_ref().map(|outer| outer.address.as_str());
        let fix = fix.map(|fix| Fix { title: cut(&fix.title), kind: fix.kind, edit: Edit::within(owner, fix.edit) });
        self.push(code, place, field, message.into(), fix);
    }

    /// As `find`, with a fix of the whole document.
    fn push(&mut self, code: Code, place: FindingPlace, field: &str, message: String, fix: Option<Fix>) {
        let outer = self.around.outer.as_deref();
        let owner = outer.map(|outer| NodeId::new(&outer.address));
        let local = |at: usize| &self.plan.nodes[at].id;
        let inside = outer.map_or_else(String::new, |outer| format!("{}.{}.", outer.path, outer.field()));
        let (node, edge, base) = match place {
            FindingPlace::Owner => (owner, None, outer.map_or_else(String::new, |outer| outer.path.clone())),
            FindingPlace::Plan => (owner, None, inside.trim_end_matches('.').to_owned()),
            FindingPlace::Node(at) => (Some(self.address(local(at))), None, format!("{inside}nodes[{at}]")),
            FindingPlace::Edge(at) => (owner, Some(at), format!("{inside}edges[{at}]")),
        };
        let path = if field.is_empty() || base.is_empty() { base + field } else { format!("{base}.{field}") };
        let file = if place == FindingPlace::Owner { outer.and_then(|outer| outer.around.file) } else { self.around.file };
        let message = file.map_or_else(|| message.clone(), |file| format!("in `{}`: {message}", legible(file)));
        let message = cut(&message);
        self.findings.push((place, Finding { code, severity: code.severity(), node, edge, path, message, fix }));
    }

    /// A node's id as it is from outside.
    fn address(&self, id: &NodeId) -> NodeId {
        match &self.around.outer {
            Some(outer) => NodeId::new(format!("{}/{id}", outer.address)),
            None => id.clone(),
        }
    }

    /// Spends one suggestion, if there is one left.
    fn may_suggest(&mut self) -> bool {
        let may = self.stock.suggestions > 0;
        self.stock.suggestions = self.stock.suggestions.saturating_sub(1);
        may
    }

    /// The known name that is nearest to a wrong one.
    fn nearest<'n>(&mut self, wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
        if self.may_suggest() { nearest(wrong, names) } else { None }
    }

    /// The node whose id is nearest to a wrong one, other than the one that says it.
    fn nearest_node(&mut self, wrong: &str, other_than: Option<&NodeId>) -> Option<NodeId> {
        let ids = self.plan.nodes.iter().map(|node| &node.id).filter(|id| other_than != Some(*id));
        self.nearest(wrong, ids.map(NodeId::as_str)).map(NodeId::new)
    }

    fn changed(&self, at: usize, change: impl FnOnce(&mut Node)) -> Edit {
        let mut node = self.plan.nodes[at].clone();
        change(&mut node);
        Edit::SpliceNodes { at, remove: 1, insert: vec![node] }
    }

    fn with_policy(&self, at: usize, kind: FixKind, title: impl Into<String>, change: impl FnOnce(&mut Policy)) -> Option<Fix> {
        Some(Fix::new(kind, title, self.changed(at, |node| change(&mut node.policy))))
    }

    /// Whether one of the edges that leave the node is named by its answer, which may be a label.
    fn decides(&self, at: usize) -> bool {
        let node = &self.plan.nodes[at];
        match node.policy.route {
            Some(route) => route == Route::Decision,
            None => node.kind.is_decision() || self.plan.defaults.route == Some(Route::Decision),
        }
    }
}

impl Outer<'_> {
    fn node(&self) -> &Node {
        &self.plan.nodes[self.at]
    }

    /// The field that the body stands in.
    fn field(&self) -> &'static str {
        if matches!(self.node().kind, NodeKind::Subplan(_)) { "plan" } else { "body" }
    }
}

impl Fix {
    fn new(kind: FixKind, title: impl Into<String>, edit: Edit) -> Self {
        Self { title: title.into(), kind, edit }
    }

    fn safe(title: impl Into<String>, edit: Edit) -> Self {
        Self::new(FixKind::Safe, title, edit)
    }

    fn guess(title: impl Into<String>, edit: Edit) -> Self {
        Self::new(FixKind::Guess, title, edit)
    }
}

impl NameScope for PlanCheck<'_> {
    /// Nodes of the plans around count as known, so that a body that names one can be told how to get it.
    fn node(&self, id: &str) -> Option<NodeValue<'_>> {
        (self.graph.position(id).is_some() || outer::find(self, id).is_some()).then(NodeValue::default)
    }

    fn input(&self, name: &str) -> Option<&Value> {
        self.around.inputs.get(name)
    }

    fn inputs(&self) -> Map<String, Value> {
        self.around.inputs.clone().into_owned()
    }
}

/// Longer names than this in bytes are no slips, and comparing them would take long.
const COMPARED: usize = 128;

/// The name with the fewest edits to `wrong`, if they are few for its length.
pub fn nearest<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (wrong.len() / 3).max(1) + 1;
    let close = names.filter(|name| *name != wrong && wrong.len() <= COMPARED && name.len().abs_diff(wrong.len()) <= limit);
    let measured = close.map(|name| (strsim::levenshtein(&wrong.to_lowercase(), &name.to_lowercase()), name));
    // A name that shares no letter is no slip either.
    let is_slip = |distance: usize, name: &str| distance <= limit && distance < wrong.len().max(name.len());
    measured.filter(|(distance, name)| is_slip(*distance, name)).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// Which kind of fix puts one name in the place of another: they are the same but for case, `_`, `-` and spaces, and no other is.
fn kind_of<'n>(wrong: &str, near: &str, names: impl Iterator<Item = &'n str>) -> FixKind {
    let wrong = plain(wrong);
    let is_only = wrong == plain(near) && names.filter(|name| plain(name) == wrong).take(2).count() == 1;
    if is_only { FixKind::Safe } else { FixKind::Guess }
}

/// How much of what a plan says is repeated in a message, in characters, and how much a message has at most.
const QUOTED: (usize, usize) = (80, 600);

/// A message with what it quotes cut: what stands between backticks, and the whole of it.
fn cut(message: &str) -> String {
    let parts: Vec<Cow<str>> =
        message.split('`').enumerate().map(|(i, part)| if i % 2 == 1 { shortened(part, QUOTED.0) } else { Cow::Borrowed(part) }).collect();
    shortened(&parts.join("`"), QUOTED.1).into_owned()
}

fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some(_) => Cow::Owned(text.chars().take(most - 1).chain(['…']).collect()),
        None => Cow::Borrowed(text),
    }
}

/// The words that follow an unknown name.
fn did_you_mean(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// A name or text of the plan as messages show it: nothing in it is obeyed or hidden, and quotes stay as they are.
fn legible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\'' | '"' => shown.push(c),
            other => shown.extend(other.escape_debug()),
        }
    }
    shown
}
