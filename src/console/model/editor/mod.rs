//! `PlanEditor`: the plan that is edited, what validation says of it, the rows of its tree, and what it is compared with. Each of
//! these is a piece of its own; here they are kept in step.

mod addressed;
mod compare;
mod document;
mod review;
mod versions;

use std::collections::BTreeSet;

use super::{PlanForecast, TreeView};
use crate::engine::ModelCall;
use crate::plan::edit::Edit;
use crate::plan::validate::{Finding, FixKind, fixes};
use crate::plan::{Catalog, Edge, Node, NodeId, Plan, nest};
use crate::text::Plain;
use document::EditedPlan;

pub use addressed::Addressed;
pub use compare::Compare;
pub use document::HistoryStep;
pub use review::Review;
pub use versions::{PlanOrigin, Version};

/// The plan that is edited.
#[derive(Clone, Debug, Default)]
pub struct PlanEditor {
    document: EditedPlan,
    /// The plan with what is inside its nodes, flat, where there is any.
    outline: Option<Box<Plan>>,
    pub review: Review,
    /// The rows.
    pub tree: TreeView,
    /// The node whose dependencies are being changed in place.
    pub deps: Option<NodeId>,
    /// How it came, and what it is compared with.
    pub compare: Compare,
    pub forecast: PlanForecast,
}

impl PlanEditor {
    /// The plan as it is now.
    pub fn plan(&self) -> &Plan {
        self.document.plan()
    }

    /// The plan as the tree shows it: with what is inside its nodes, flat.
    pub fn shown(&self) -> &Plan {
        self.outline.as_deref().unwrap_or(self.plan())
    }

    /// The plan by the addresses that the tree shows.
    pub fn addressed(&self) -> Addressed<'_> {
        Addressed { plan: self.plan(), shown: self.shown() }
    }

    /// The plan as it came, with who made it; nothing before one did, and while one is being made.
    pub fn version(&self) -> Option<&Version> {
        self.document.version()
    }

    /// Whether nodes of a plan that is being made have come.
    pub fn is_growing(&self) -> bool {
        self.document.is_growing()
    }

    /// What planning took, for the first run that starts from the plan.
    pub fn take_planning(&mut self) -> Vec<ModelCall> {
        self.document.take_planning()
    }

    /// A plan was written into that file: this one, unless it was changed since.
    pub fn saved(&mut self, file: &str, plan: &Plan) {
        self.compare.keep(plan);
        if plan == self.plan() {
            self.document.saved(file);
        }
    }

    fn outline(&mut self) {
        self.forecast.changed();
        self.outline = nest::is_nested(self.plan()).then(|| Box::new(nest::outline(self.plan())));
        self.with_tree(TreeView::rebuild);
    }

    /// Whether something can be undone.
    pub fn can_undo(&self) -> bool {
        self.document.depths().0 > 0
    }

    /// Whether something can be done again.
    pub fn can_redo(&self) -> bool {
        self.document.depths().1 > 0
    }

    /// All findings, errors first.
    pub fn findings(&self) -> &[Finding] {
        self.review.all()
    }

    /// The node at which a finding is shown.
    pub fn home_of(&self, finding: &Finding) -> Option<NodeId> {
        review::home(self.plan(), finding)
    }

    /// The edge that a finding is about, by addresses.
    pub fn edge_of(&self, finding: &Finding) -> Option<Edge> {
        review::edge(self.plan(), finding)
    }

    /// A new plan comes in place of the old one; undo brings the old one back.
    pub fn begin(&mut self, version: Version) {
        self.document.begin(version);
        self.follow_version();
        self.forget();
        self.outline();
    }

    /// Compares with the version that the plan goes back to now.
    fn follow_version(&mut self) {
        self.compare.came(self.document.version().map(|version| &*version.plan));
    }

    /// Drops what was known of the plan that was here.
    fn forget(&mut self) {
        self.deps = None;
        self.review = Review::default();
        self.tree = TreeView::default();
    }

    /// A node of a plan that is being made came, for the first time or again.
    pub fn stream(&mut self, goal: &Plain, node: Node) {
        if self.document.stream(goal, node) {
            self.forget();
        }
        self.outline();
    }

    /// The plan that was being made is complete.
    pub fn complete(&mut self, version: Version) {
        if self.document.recall() {
            self.document.begin(version);
            self.follow_version();
            self.outline();
        } else {
            self.begin(version);
        }
    }

    /// The plan that came last is the one before it, changed: it is compared with that one.
    pub fn compare_with_before(&mut self) {
        self.document.came_from_before();
        self.follow_version();
    }

    /// No more nodes come: what there is of a plan that was being made is the plan.
    pub fn settle(&mut self) {
        if let Some(version) = self.document.made_so_far() {
            self.complete(version);
        }
    }

    /// Makes an edit.
    ///
    /// # Errors
    /// Why it is refused, in words.
    pub fn make(&mut self, catalog: &Catalog, edit: &Edit) -> Result<(), String> {
        self.document.change(edit).map_err(|error| error.to_string())?;
        self.refresh(catalog);
        Ok(())
    }

    /// Puts another plan in place.
    ///
    /// # Errors
    /// Why it is refused, in words.
    pub fn replace_plan(&mut self, catalog: &Catalog, plan: &Plan) -> Result<(), String> {
        if plan == self.plan() {
            return Ok(());
        }
        let edit = self.document.whole(plan);
        self.make(catalog, &edit)
    }

    /// Compares with another plan by its name, or with how the plan came.
    pub fn compare_with(&mut self, other: Option<(Plain, Box<Plan>)>) {
        self.compare.with(self.document.plan(), other);
    }

    /// Compares again, after the plan changed.
    pub fn compare_again(&mut self) {
        self.compare.refresh(self.document.plan());
    }

    /// Makes the difference that is selected in the comparison.
    ///
    /// # Errors
    /// Why it is refused, in words.
    pub fn make_piece(&mut self, catalog: &Catalog) -> Result<(), String> {
        let edit = self.compare.edit(self.plan())?;
        self.make(catalog, &edit)?;
        self.compare_again();
        Ok(())
    }

    /// Applies the fix of a finding.
    ///
    /// # Errors
    /// Why it is refused, in words.
    pub fn fix(&mut self, catalog: &Catalog, finding: usize) -> Result<(), String> {
        let fix = self.findings().get(finding).and_then(|finding| finding.fix.clone()).ok_or("this finding has no fix")?;
        self.make(catalog, &fix.edit)
    }

    /// Applies every safe fix that makes things better, each as a change of its own. Gives how many were applied.
    pub fn fix_all(&mut self, catalog: &Catalog) -> usize {
        let fixes = fixes(self.plan(), catalog, FixKind::Safe);
        let applied = fixes.iter().take_while(|(_, fix)| self.document.change(&fix.edit).is_ok()).count();
        self.refresh(catalog);
        applied
    }

    /// Undoes the last change, or makes it again.
    pub fn step(&mut self, catalog: &Catalog, step: HistoryStep) {
        let before: BTreeSet<NodeId> = self.addresses().cloned().collect();
        self.document.step(step);
        self.follow_version();
        self.refresh(catalog);
        // What came back by it is what was meant; of another plan in the place of all nothing is.
        let kept = self.addresses().any(|id| before.contains(id));
        let back = self.addresses().find(|id| kept && !before.contains(*id)).cloned();
        back.into_iter().for_each(|id| self.select(&id));
        if self.deps.as_ref().is_some_and(|id| self.addressed().node(id).is_none()) {
            self.deps = None;
        }
    }

    /// The nodes of the plan and of those inside its nodes.
    fn addresses(&self) -> impl Iterator<Item = &NodeId> {
        self.outline.as_deref().unwrap_or(self.document.plan()).nodes.iter().map(|node| &node.id)
    }

    /// Selects a node in the tree.
    pub fn select(&mut self, id: &NodeId) {
        self.with_tree(|tree, plan| tree.reveal(plan, id));
    }

    /// Computes the drawing again, where it must be.
    pub fn refresh_drawing(&mut self) {
        self.tree.drawing.refresh(self.document.plan());
    }

    pub fn with_tree(&mut self, change: impl FnOnce(&mut TreeView, &Plan)) {
        change(&mut self.tree, self.outline.as_deref().unwrap_or(self.document.plan()));
    }

    /// Validates again and computes the rows again.
    pub fn refresh(&mut self, catalog: &Catalog) {
        self.outline();
        self.review = Review::of(self.plan(), catalog);
    }
}
