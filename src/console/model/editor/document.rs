//! `EditedPlan`: the plan that is edited with all that leads back: its history, the plans that came, and the one that is kept aside
//! while a new one is being made. Every change goes through the history, so undo and redo have no limit.

use super::versions::{Version, Versions};
use crate::engine::ModelCall;
use crate::plan::edit::{Edit, EditError, History};
use crate::plan::{Node, Plan};
use crate::text::Plain;

/// The plan that is edited.
#[derive(Clone, Debug, Default)]
pub(super) struct EditedPlan {
    plan: Plan,
    history: History,
    /// The plan that was here before the one that is being made, while it is.
    aside: Option<Box<Plan>>,
    /// The plans that came, and which of them this one goes back to.
    versions: Versions,
}

/// Which way a step through the history goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryStep {
    Undo,
    Redo,
}

impl EditedPlan {
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many steps can be undone, and done again.
    pub fn depths(&self) -> (usize, usize) {
        self.history.depths()
    }

    /// The plan as it came; nothing before one did, and while one is being made.
    pub fn version(&self) -> Option<&Version> {
        if self.aside.is_some() { None } else { self.versions.at(self.history.depths().0) }
    }

    /// Whether nodes of a plan that is being made have come.
    pub fn is_growing(&self) -> bool {
        self.aside.is_some()
    }

    /// What planning took, for the first run that starts from the plan.
    pub fn take_planning(&mut self) -> Vec<ModelCall> {
        self.versions.take_planning(self.history.depths().0)
    }

    /// The plan is in that file now.
    pub fn saved(&mut self, file: &str) {
        self.versions.saved(self.history.depths().0, file);
    }

    /// Applies an edit; what was undone before can't be done again any more.
    pub fn change(&mut self, edit: &Edit) -> Result<(), EditError> {
        let edits = self.history.depths().0;
        self.history.apply(&mut self.plan, edit)?;
        self.versions.forget_after(edits);
        Ok(())
    }

    /// Goes one step through the history. One that can't be gone empties the history.
    pub fn step(&mut self, step: HistoryStep) {
        let gone = match step {
            HistoryStep::Undo => self.history.undo(&mut self.plan),
            HistoryStep::Redo => self.history.redo(&mut self.plan),
        };
        if gone.is_err() {
            let version = self.version().cloned();
            self.history = History::default();
            self.versions = Versions::default();
            version.into_iter().for_each(|version| self.versions.push(0, version));
        }
    }

    /// A new plan comes in place of the old one; undo brings the old one back.
    pub fn begin(&mut self, version: Version) {
        let whole = self.whole(&version.plan);
        if self.plan.nodes.is_empty() || self.change(&whole).is_err() {
            // There was nothing to come back to. Or its edges form a cycle: it opens all the same, with the finding, but nothing leads
            // back from it.
            self.history = History::default();
            self.plan = (*version.plan).clone();
        }
        self.versions.push(self.history.depths().0, version);
    }

    /// The newest version counts as a change of the plan that was there before.
    pub fn came_from_before(&mut self) {
        let mut before = self.plan.clone();
        if self.history.clone().undo(&mut before).is_ok() {
            self.versions.rebase(self.history.depths().0, before);
        }
    }

    /// The edit that puts a whole plan in place of this one.
    pub fn whole(&self, plan: &Plan) -> Edit {
        Edit::batch([
            Edit::SpliceNodes { at: 0, remove: self.plan.nodes.len(), insert: plan.nodes.clone() },
            Edit::SpliceEdges { at: 0, remove: self.plan.edges.len(), insert: plan.edges.clone() },
            Edit::SetHead { head: Box::new(Plan { nodes: Vec::new(), edges: Vec::new(), ..plan.clone() }) },
        ])
    }

    /// A node of a plan that is being made came, for the first time or again. The first one takes the place of the old plan, which
    /// is kept aside until the new one is settled; says whether it was the first.
    pub fn stream(&mut self, goal: &Plain, node: Node) -> bool {
        let first = self.aside.is_none();
        if first {
            let fresh = Plan { goal: goal.as_str().to_owned(), ..Plan::default() };
            self.aside = Some(Box::new(std::mem::replace(&mut self.plan, fresh)));
        }
        match self.plan.nodes.iter_mut().find(|known| known.id == node.id) {
            Some(known) => *known = node,
            None => self.plan.nodes.push(node),
        }
        first
    }

    /// The plan that was kept aside is back, for the new one to come in its place; says whether there was one.
    pub fn recall(&mut self) -> bool {
        let before = self.aside.take();
        let was = before.is_some();
        before.into_iter().for_each(|before| self.plan = *before);
        was
    }

    /// What there is of a plan that is being made.
    pub fn made_so_far(&mut self) -> Option<Version> {
        self.aside.is_some().then(|| Version { plan: Box::new(std::mem::take(&mut self.plan)), ..Version::default() })
    }
}
