//! One plan while it is checked: what it stands in, and what was found.

use super::codes::Code;
use super::finding::{Finding, Fix, FixKind};
use super::names::Stock;
use super::outer;
use super::wording::{cut, legible, nearest};
use crate::plan::dialect::{names::NAMES, plain};
use crate::plan::edit::Edit;
use crate::plan::order::PlanGraph;
use crate::plan::{Catalog, NameScope, Node, NodeId, NodeKind, NodeValue, Plan, Policy, Route};
use serde_json::{Map, Value};
use std::{borrow::Cow, cell::OnceCell, collections::HashMap, rc::Rc};

/// Where a finding belongs; the order of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FindingPlace {
    /// The node whose body the plan is, for what stands there and speaks of the body.
    Owner,
    Plan,
    Node(usize),
    Edge(usize),
}

/// What a plan stands in; nothing for the plan itself.
#[derive(Clone, Default)]
pub(super) struct Around<'a> {
    /// The node that the plan is the body of, and the plan of that node.
    pub outer: Option<Rc<Outer<'a>>>,
    /// Every input that its texts can read.
    pub inputs: Cow<'a, Map<String, Value>>,
    /// A workflow runs around it or in it, whose results become inputs as it goes: names need not be known before.
    pub is_open: bool,
    /// Locks that the nodes around it hold.
    pub held: Vec<&'a str>,
    /// The file that it stands in.
    pub file: Option<&'a str>,
    /// No edit reaches it: it stands in a file of its own, or in the second of two nodes with the same id.
    pub is_sealed: bool,
}

/// The node that a plan is the body of.
pub(super) struct Outer<'a> {
    /// The plan that it stands in.
    pub plan: &'a Plan,
    pub graph: Rc<PlanGraph>,
    /// What that plan stands in.
    pub around: Around<'a>,
    pub at: usize,
    pub address: String,
    pub path: String,
}

/// From where names by position count, and how sure that is: in the order and in references; in the spellings of other systems by where
/// each usually counts from.
#[derive(Clone, Copy)]
pub(super) struct PositionCounting {
    pub order: (usize, FixKind),
    pub texts: [(usize, bool); 2],
}

/// The same of a plan and of what is inside its nodes, by their addresses. Fixes keep what was so at first: names that are read already tell
/// nothing any more.
pub(super) type Countings = HashMap<String, PositionCounting>;

/// In plans of more nodes no way from one to another is searched.
const MOST_SEARCHED: usize = 2_000;

pub(super) struct PlanCheck<'a> {
    pub plan: &'a Plan,
    pub catalog: &'a Catalog,
    pub graph: Rc<PlanGraph>,
    pub around: Around<'a>,
    pub findings: Vec<(FindingPlace, Finding)>,
    pub stock: Stock<'a>,
    /// Positions by ids without case and separators, once they are asked for; nothing for what two nodes share.
    plain_ids: OnceCell<HashMap<String, Option<usize>>>,
    /// Positions by what nodes call their results in fields that nothing reads.
    results: OnceCell<HashMap<&'a str, Option<usize>>>,
}

impl<'a> PlanCheck<'a> {
    pub fn new(plan: &'a Plan, catalog: &'a Catalog, around: Around<'a>, stock: Stock<'a>) -> Self {
        Self {
            plan,
            catalog,
            graph: Rc::new(PlanGraph::new(plan)),
            around,
            findings: Vec::new(),
            stock,
            plain_ids: OnceCell::new(),
            results: OnceCell::new(),
        }
    }

    /// `field` is empty for the place itself. The fix is one of this plan.
    pub fn find(&mut self, code: Code, place: FindingPlace, field: &str, message: impl Into<String>, fix: Option<Fix>) {
        let fix = fix.filter(|_| !self.around.is_sealed);
        let owner = self.around.outer.as_ref().map(|outer| outer.address.as_str());
        let fix = fix.map(|fix| Fix { title: cut(&fix.title), kind: fix.kind, edit: Edit::within(owner, fix.edit) });
        self.push(code, place, field, message.into(), fix);
    }

    /// As `find`, with a fix of the whole document.
    pub fn push(&mut self, code: Code, place: FindingPlace, field: &str, message: String, fix: Option<Fix>) {
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

    /// Whether some node has this id, but for case and separators.
    pub fn has_alike(&self, id: &str) -> bool {
        self.plain_ids().contains_key(&plain(id))
    }

    /// The one node that has this id, but for case and separators.
    pub fn alike(&self, id: &str) -> Option<usize> {
        self.plain_ids().get(&plain(id)).copied().flatten()
    }

    fn plain_ids(&self) -> &HashMap<String, Option<usize>> {
        self.plain_ids.get_or_init(|| {
            let mut ids = HashMap::new();
            for (at, node) in self.plan.nodes.iter().enumerate() {
                ids.entry(plain(&node.id)).and_modify(|there| *there = None).or_insert(Some(at));
            }
            ids
        })
    }

    /// The one node that calls its result so.
    pub fn maker(&self, result: &str) -> Option<usize> {
        let results = self.results.get_or_init(|| {
            let mut results = HashMap::new();
            for (at, node) in self.plan.nodes.iter().enumerate() {
                let named = NAMES.foreign.named_result.iter().filter_map(|field| node.ext.get(*field));
                let texts = named
                    .flat_map(|value| value.as_str().into_iter().chain(value.as_array().into_iter().flatten().filter_map(Value::as_str)));
                for text in texts {
                    results
                        .entry(text)
                        .and_modify(|there: &mut Option<usize>| *there = there.filter(|other| *other == at))
                        .or_insert(Some(at));
                }
            }
            results
        });
        results.get(result).copied().flatten()
    }

    /// Whether a node comes before another, directly or not. In very large plans only what is direct is looked at, since it costs as much
    /// as the plan.
    pub fn comes_before(&self, from: usize, to: usize) -> bool {
        let is_direct = self.graph.successors(from).any(|next| next == to);
        is_direct || self.graph.len() <= MOST_SEARCHED && self.graph.path(from, to).is_some()
    }

    /// A node's id as it is from outside.
    pub fn address(&self, id: &NodeId) -> NodeId {
        match &self.around.outer {
            Some(outer) => NodeId::new(format!("{}/{id}", outer.address)),
            None => id.clone(),
        }
    }

    /// Spends one suggestion, if there is one left.
    pub fn may_suggest(&mut self) -> bool {
        let may = self.stock.suggestions > 0;
        self.stock.suggestions = self.stock.suggestions.saturating_sub(1);
        may
    }

    /// The known name that is nearest to a wrong one.
    pub fn nearest<'n>(&mut self, wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
        if self.may_suggest() { nearest(wrong, names) } else { None }
    }

    /// The node whose id is nearest to a wrong one, other than the one that says it.
    pub fn nearest_node(&mut self, wrong: &str, other_than: Option<&NodeId>) -> Option<NodeId> {
        let ids = self.plan.nodes.iter().map(|node| &node.id).filter(|id| other_than != Some(*id));
        self.nearest(wrong, ids.map(NodeId::as_str)).map(NodeId::new)
    }

    pub fn changed(&self, at: usize, change: impl FnOnce(&mut Node)) -> Edit {
        let mut node = self.plan.nodes[at].clone();
        change(&mut node);
        Edit::SpliceNodes { at, remove: 1, insert: vec![node] }
    }

    pub fn with_policy(&self, at: usize, kind: FixKind, title: impl Into<String>, change: impl FnOnce(&mut Policy)) -> Option<Fix> {
        Some(Fix::new(kind, title, self.changed(at, |node| change(&mut node.policy))))
    }

    /// Whether one of the edges that leave the node is named by its answer, which may be a label.
    pub fn decides(&self, at: usize) -> bool {
        let node = &self.plan.nodes[at];
        match node.policy.route {
            Some(route) => route == Route::Decision,
            None => node.kind.is_decision() || self.plan.defaults.route == Some(Route::Decision),
        }
    }
}

impl Outer<'_> {
    pub fn node(&self) -> &Node {
        &self.plan.nodes[self.at]
    }

    /// The field that the body stands in.
    pub fn field(&self) -> &'static str {
        if matches!(self.node().kind, NodeKind::Subplan(_)) { "plan" } else { "body" }
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
