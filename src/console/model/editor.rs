//! `PlanEditor`: the plan that is edited, its history, what validation says of it, and the rows of its tree. Every change goes through
//! the history, so undo and redo have no limit.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Compare, Tree, Version, versions::Versions};
use crate::plan::{
    Catalog, Edge, Node, NodeId, Plan,
    edit::{Edit, EditError, History},
    nest,
    validate::{Finding, Severity, mend, validate},
};
use crate::text::Plain;

/// The plan that is edited.
#[derive(Clone, Debug, Default)]
pub struct PlanEditor {
    plan: Plan,
    /// The same with what stands inside its nodes, flat, where there is any.
    outline: Option<Box<Plan>>,
    history: History,
    /// The plan that was here before the one that is being made, while it is.
    aside: Option<Box<Plan>>,
    /// What validation found, errors first.
    pub findings: Vec<Finding>,
    /// The findings of each node, the worst first, by their place among all.
    marks: BTreeMap<NodeId, Vec<usize>>,
    /// The rows.
    pub tree: Tree,
    /// The plans that came, and which of them this one goes back to.
    versions: Versions,
    /// The node whose dependencies are being changed in place.
    pub deps: Option<NodeId>,
    /// How it came, and what it is compared with.
    pub compare: Compare,
}

impl PlanEditor {
    /// The plan as it is now.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The plan as the tree shows it: with what stands inside its nodes, flat.
    pub fn shown(&self) -> &Plan {
        self.outline.as_deref().unwrap_or(&self.plan)
    }

    /// A node by its address, as the tree shows it.
    pub fn node(&self, address: &NodeId) -> Option<&Node> {
        self.shown().nodes.iter().find(|node| node.id == *address)
    }

    /// The plan as it came, with who made it; nothing before one did, and while one is being made.
    pub fn version(&self) -> Option<&Version> {
        if self.aside.is_some() { None } else { self.versions.at(self.history.depths().0) }
    }

    fn outline(&mut self) {
        self.outline = nest::is_nested(&self.plan).then(|| Box::new(nest::outline(&self.plan)));
        let shown = self.outline.as_deref().unwrap_or(&self.plan);
        self.tree.rebuild(shown);
    }

    /// Whether something can be undone.
    pub fn can_undo(&self) -> bool {
        self.history.depths().0 > 0
    }

    /// Whether something can be done again.
    pub fn can_redo(&self) -> bool {
        self.history.depths().1 > 0
    }

    /// Findings that stop a run. They stand first.
    pub fn errors(&self) -> usize {
        self.findings.partition_point(|finding| finding.severity == Severity::Error)
    }

    /// What validation says of a node, the worst first.
    pub fn findings_of(&self, id: &NodeId) -> impl Iterator<Item = &Finding> {
        self.marks.get(id).into_iter().flatten().filter_map(|at| self.findings.get(*at))
    }

    /// What validation says of nodes that stand inside a node, at any depth.
    pub fn findings_inside(&self, id: &NodeId) -> impl Iterator<Item = &Finding> {
        let prefix = format!("{id}/");
        let inside = self.marks.range(NodeId::new(&prefix)..).take_while(move |(node, _)| node.starts_with(&prefix));
        inside.flat_map(|(_, marks)| marks).filter_map(|at| self.findings.get(*at))
    }

    /// The node at which a finding is shown: one of an edge at the node that the edge leads to.
    pub fn home_of(&self, finding: &Finding) -> Option<NodeId> {
        match self.edge_of(finding) {
            Some(edge) => Some(edge.to),
            None => finding.node.clone(),
        }
    }

    /// The edge that a finding is about, by addresses.
    pub fn edge_of(&self, finding: &Finding) -> Option<Edge> {
        let at = finding.edge?;
        match &finding.node {
            None => self.plan.edges.get(at).cloned(),
            Some(owner) => {
                let body = nest::find(&self.plan, owner)?.work.body()?;
                body.edges.get(at).map(|edge| nest::edge_under(&format!("{owner}/"), edge))
            }
        }
    }

    /// Whether a plan stands inside a node and has no nodes yet.
    pub fn is_empty_inside(&self, id: &NodeId) -> bool {
        let body = nest::find(&self.plan, id).and_then(|node| node.work.body());
        body.is_some_and(|body| body.nodes.is_empty())
    }

    /// An id that no node beside `beside` has, made of these words; as an address.
    pub fn free_id(&self, beside: Option<&NodeId>, words: &str) -> NodeId {
        let prefix = beside.map_or("", |beside| nest::prefix(beside));
        let legal = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
        let base: String = words.chars().map(legal).take(56).collect();
        let base = if base.is_empty() { "node".to_owned() } else { base };
        let numbered = (2..).map(|number| NodeId::new(format!("{prefix}{base}_{number}")));
        let first = NodeId::new(format!("{prefix}{base}"));
        let mut all = std::iter::once(first.clone()).chain(numbered);
        all.find(|id| self.node(id).is_none()).unwrap_or(first)
    }

    /// A new plan comes in place of the old one; undo brings the old one back.
    pub fn begin(&mut self, version: Version) {
        self.swap(version);
        self.forget();
        self.tree = Tree::default();
        self.outline();
    }

    fn swap(&mut self, version: Version) {
        let whole = self.whole(&version.plan);
        if self.plan.nodes.is_empty() || self.change(&whole).is_err() {
            // There was nothing to come back to. Or its edges form a cycle: it opens all the same, with the finding, but nothing leads
            // back from it.
            self.history = History::default();
            self.plan = (*version.plan).clone();
        }
        self.versions.push(self.history.depths().0, version);
        self.follow_version();
    }

    /// Compares with the version that the plan goes back to now.
    fn follow_version(&mut self) {
        let version = self.versions.at(self.history.depths().0);
        self.compare.came(version.map(|version| &*version.plan));
    }

    /// Applies an edit to the plan; what was undone before can't be done again any more.
    fn change(&mut self, edit: &Edit) -> Result<(), EditError> {
        let edits = self.history.depths().0;
        self.history.apply(&mut self.plan, edit)?;
        self.versions.forget_after(edits);
        Ok(())
    }

    /// Drops what was known of the plan that was here.
    fn forget(&mut self) {
        self.deps = None;
        self.findings.clear();
        self.marks.clear();
    }

    /// A node of a plan that is being made came, for the first time or again. The first one takes the place of the old plan, which
    /// is kept aside until the new one is settled.
    pub fn stream(&mut self, goal: &Plain, node: Node) {
        if self.aside.is_none() {
            let fresh = Plan { goal: goal.as_str().to_owned(), ..Plan::default() };
            self.aside = Some(Box::new(std::mem::replace(&mut self.plan, fresh)));
            self.forget();
            self.tree = Tree::default();
        }
        match self.plan.nodes.iter_mut().find(|known| known.id == node.id) {
            Some(known) => *known = node,
            None => self.plan.nodes.push(node),
        }
        self.outline();
    }

    /// The plan that was being made is complete.
    pub fn complete(&mut self, version: Version) {
        match self.aside.take() {
            Some(before) => {
                self.plan = *before;
                self.swap(version);
                self.outline();
            }
            None => self.begin(version),
        }
    }

    /// No more nodes come: what there is of a plan that was being made is the plan.
    pub fn settle(&mut self) {
        if self.aside.is_some() {
            let plan = Box::new(std::mem::take(&mut self.plan));
            self.complete(Version { plan, ..Version::default() });
        }
    }

    /// The edit that puts a whole plan in place of this one.
    fn whole(&self, plan: &Plan) -> Edit {
        Edit::batch([
            Edit::SpliceNodes { at: 0, remove: self.plan.nodes.len(), insert: plan.nodes.clone() },
            Edit::SpliceEdges { at: 0, remove: self.plan.edges.len(), insert: plan.edges.clone() },
            Edit::SetHead { head: Box::new(Plan { nodes: Vec::new(), edges: Vec::new(), ..plan.clone() }) },
        ])
    }

    /// Changes the plan that a node stands in; the edit is made of ids as they are there.
    fn apply_at(&mut self, catalog: &Catalog, address: &NodeId, edit: Edit) -> Result<(), String> {
        self.apply(catalog, &Edit::within(nest::owner(address), edit))
    }

    fn apply(&mut self, catalog: &Catalog, edit: &Edit) -> Result<(), String> {
        self.change(edit).map_err(|error| error.to_string())?;
        self.refresh(catalog);
        Ok(())
    }

    /// Puts another plan in place.
    ///
    /// # Errors
    /// Why it is refused, in words.
    pub fn replace_plan(&mut self, catalog: &Catalog, plan: Plan) -> Result<(), String> {
        if plan == self.plan {
            return Ok(());
        }
        let edit = self.whole(&plan);
        self.apply(catalog, &edit)
    }

    /// Compares with how the plan came.
    pub fn compare_with_version(&mut self) {
        self.compare.with_version(&self.plan);
    }

    /// Compares with another plan.
    pub fn compare_with(&mut self, name: &str, other: Plan) {
        self.compare.with_other(&self.plan, name, other);
    }

    /// Compares again, after the plan changed.
    pub fn compare_again(&mut self) {
        self.compare.refresh(&self.plan);
    }

    /// Makes the difference that is selected in the comparison.
    ///
    /// # Errors
    /// Why it is refused, in words.
    pub fn make_piece(&mut self, catalog: &Catalog) -> Result<(), String> {
        let edit = self.compare.edit(&self.plan)?;
        self.apply(catalog, &edit)?;
        self.compare_again();
        Ok(())
    }

    /// Adds a node at the end.
    ///
    /// # Errors
    /// Why it is refused, in words.
    pub fn add(&mut self, catalog: &Catalog, node: Node) -> Result<(), String> {
        let within = nest::node_within(nest::prefix(&node.id), &node);
        self.apply_at(catalog, &node.id, Edit::AddNode { node: Box::new(within), at: None })
    }

    /// Deletes a node with its edges.
    ///
    /// # Errors
    /// Why it is refused, in words.
    pub fn remove(&mut self, catalog: &Catalog, id: &NodeId) -> Result<(), String> {
        self.apply_at(catalog, id, Edit::RemoveNode { id: local(id) })
    }

    /// Adds a copy of a node behind it.
    ///
    /// # Errors
    /// Why it is refused, in words.
    pub fn duplicate(&mut self, catalog: &Catalog, id: &NodeId, copy: &NodeId) -> Result<(), String> {
        self.apply_at(catalog, id, Edit::DuplicateNode { id: local(id), copy: local(copy) })
    }

    /// Writes a node anew under its id.
    ///
    /// # Errors
    /// Why it is refused, in words.
    pub fn replace(&mut self, catalog: &Catalog, node: Node) -> Result<(), String> {
        if self.node(&node.id) == Some(&node) {
            return Ok(());
        }
        let within = nest::node_within(nest::prefix(&node.id), &node);
        self.apply_at(catalog, &node.id, Edit::ReplaceNode { node: Box::new(within) })
    }

    /// Renames a node; what refers to it follows.
    ///
    /// # Errors
    /// Why it is refused, in words.
    pub fn rename(&mut self, catalog: &Catalog, from: &NodeId, to: &str) -> Result<(), String> {
        let to = NodeId::new(to);
        if local(from) == to {
            return Ok(());
        }
        let rename = Edit::within(nest::owner(from), Edit::RenameNode { from: local(from), to: to.clone() });
        self.change(&rename).map_err(|error| error.to_string())?;
        self.tree.rename(from, &NodeId::new(format!("{}{to}", nest::prefix(from))));
        self.refresh(catalog);
        Ok(())
    }

    /// Gives the plan other inputs.
    ///
    /// # Errors
    /// Why it is refused, in words.
    pub fn set_inputs(&mut self, catalog: &Catalog, inputs: Map<String, Value>) -> Result<(), String> {
        self.apply(catalog, &Edit::SetInputs { inputs })
    }

    /// Gives the plan another goal.
    ///
    /// # Errors
    /// Why it is refused, in words.
    pub fn set_goal(&mut self, catalog: &Catalog, goal: &str) -> Result<(), String> {
        if goal == self.plan.goal {
            return Ok(());
        }
        self.apply(catalog, &Edit::SetGoal { goal: goal.to_owned() })
    }

    /// Whether a node has an edge from another one.
    pub fn depends(&self, target: &NodeId, source: &NodeId) -> bool {
        self.node(target).is_some_and(|node| node.depends_on.contains(source))
            || self.shown().edges.iter().any(|edge| edge.from == *source && edge.to == *target)
    }

    /// Takes a dependency, or gives it back.
    ///
    /// # Errors
    /// Why it is refused, in words; a cycle is spelled out.
    pub fn toggle_dependency(&mut self, catalog: &Catalog, target: &NodeId, source: &NodeId) -> Result<(), String> {
        if target == source {
            return Err(format!("`{target}` can't depend on itself"));
        }
        if nest::prefix(target) != nest::prefix(source) {
            return Err(format!(
                "`{target}` and `{source}` don't stand in the same plan: a plan inside a node gets what it needs as `inputs`"
            ));
        }
        let (node, on) = (local(target), local(source));
        let edit = if self.depends(target, source) { Edit::RemoveDependency { node, on } } else { Edit::AddDependency { node, on } };
        self.apply_at(catalog, target, edit)
    }

    /// All edges into a node; plain dependencies as edges without a condition.
    pub fn edges_into(&self, id: &NodeId) -> Vec<Edge> {
        let plain = self.node(id).map(|node| node.depends_on.as_slice()).unwrap_or_default();
        let plain = plain.iter().map(|from| Edge {
            from: from.clone(),
            to: id.clone(),
            when: None,
            context: None,
            default: false,
            id: None,
            label: None,
            ext: serde_json::Map::new(),
        });
        self.shown().edges.iter().filter(|edge| edge.to == *id).cloned().chain(plain).collect()
    }

    /// Gives an edge another condition, or none.
    ///
    /// # Errors
    /// Why it is refused, in words.
    pub fn set_condition(&mut self, catalog: &Catalog, edge: &Edge, when: Option<&str>) -> Result<(), String> {
        if edge.when.as_deref() == when {
            return Ok(());
        }
        let changed = Edge { when: when.map(str::to_owned), ..nest::edge_within(nest::prefix(&edge.to), edge) };
        self.replace_edge(catalog, edge, changed)
    }

    /// Writes an edge anew; `changed` names nodes as they are called where it stands.
    ///
    /// # Errors
    /// Why it is refused, in words; a cycle is spelled out.
    pub fn replace_edge(&mut self, catalog: &Catalog, edge: &Edge, changed: Edge) -> Result<(), String> {
        let address = edge.to.clone();
        let edge = nest::edge_within(nest::prefix(&address), edge);
        if edge == changed {
            return Ok(());
        }
        let edges = match nest::owner(&address) {
            Some(owner) => nest::find(&self.plan, owner).and_then(|node| node.work.body()).map(|body| &body.edges),
            None => Some(&self.plan.edges),
        };
        let changed = Box::new(changed);
        let edit = match edges.into_iter().flatten().position(|known| *known == edge) {
            Some(at) => Edit::ReplaceEdge { at, edge: changed },
            None => Edit::batch([
                Edit::RemoveDependency { node: edge.to.clone(), on: edge.from.clone() },
                Edit::AddEdge { edge: changed, at: None },
            ]),
        };
        self.apply_at(catalog, &address, edit)
    }

    /// Applies the fix of a finding.
    ///
    /// # Errors
    /// Why it is refused, in words.
    pub fn fix(&mut self, catalog: &Catalog, finding: usize) -> Result<(), String> {
        let fix = self.findings.get(finding).and_then(|finding| finding.fix.clone()).ok_or("this finding has no fix")?;
        self.apply(catalog, &fix.edit)
    }

    /// Applies every fix that makes things better, each as a change of its own. Gives how many were applied.
    pub fn fix_all(&mut self, catalog: &Catalog) -> usize {
        let edits = mend(&self.plan, catalog);
        let applied = edits.iter().take_while(|edit| self.change(edit).is_ok()).count();
        self.refresh(catalog);
        applied
    }

    /// Takes the last change back.
    pub fn undo(&mut self, catalog: &Catalog) {
        self.step(catalog, History::undo);
    }

    /// Does the last change that was taken back again.
    pub fn redo(&mut self, catalog: &Catalog) {
        self.step(catalog, History::redo);
    }

    fn step(&mut self, catalog: &Catalog, step: impl FnOnce(&mut History, &mut Plan) -> Result<bool, EditError>) {
        if step(&mut self.history, &mut self.plan).is_err() {
            let version = self.version().cloned();
            self.history = History::default();
            self.versions = Versions::default();
            version.into_iter().for_each(|version| self.versions.push(0, version));
        }
        self.follow_version();
        if self.deps.as_ref().is_some_and(|id| self.node(id).is_none()) {
            self.deps = None;
        }
        self.refresh(catalog);
    }

    /// Selects a node in the tree.
    pub fn select(&mut self, id: &NodeId) {
        self.with_tree(|tree, plan| {
            tree.reveal(plan, id);
        });
    }

    /// Computes the picture again, where it must be.
    pub fn draw_picture(&mut self) {
        self.tree.picture.refresh(&self.plan);
    }

    /// Changes the tree.
    pub fn with_tree(&mut self, change: impl FnOnce(&mut Tree, &Plan)) {
        change(&mut self.tree, self.outline.as_deref().unwrap_or(&self.plan));
    }

    /// Validates again and computes the rows again.
    pub fn refresh(&mut self, catalog: &Catalog) {
        self.outline();
        // An empty editor is where everybody begins, not a mistake.
        self.findings = if self.plan.nodes.is_empty() { Vec::new() } else { validate(&self.plan, catalog) };
        self.findings.sort_by_key(|finding| finding.severity);
        let mut marks: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        for (at, finding) in self.findings.iter().enumerate() {
            if let Some(node) = self.home_of(finding) {
                marks.entry(node).or_default().push(at);
            }
        }
        self.marks = marks;
    }
}

/// The id of a node as it is in the plan that it stands in.
fn local(address: &NodeId) -> NodeId {
    NodeId::new(&address[nest::prefix(address).len()..])
}
