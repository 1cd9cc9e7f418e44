//! `Compare`: the plan being edited beside how it came, or beside another plan: what differs, piece by piece, and how to make a piece.

use crate::console::model::ListCursor;
use crate::plan::Plan;
use crate::plan::diff::{Diff, Difference, DifferenceText};
use crate::plan::edit::Edit;
use crate::text::Plain;

/// What the plan can be compared with, and the comparison that is shown.
#[derive(Clone, Debug, Default)]
pub struct Compare {
    /// The plan as it came; nothing before one did.
    came: Option<Box<Plan>>,
    /// The plan as it was last written into a file or run.
    kept: Option<Box<Plan>>,
    /// The plan that it is compared with, where that is another one.
    other: Option<(Plain, Box<Plan>)>,
    /// What differs: from how it came to the plan, or from the plan to the other one.
    diff: Diff,
    /// The pieces in words.
    differences: Vec<DifferenceText>,
    pub place: ListCursor,
}

impl Compare {
    /// The plan goes back to this one: from a planner, a file, or a run.
    pub fn came(&mut self, plan: Option<&Plan>) {
        if self.came.as_deref() != plan {
            self.came = plan.cloned().map(Box::new);
        }
    }

    /// The plan is in a file or in a run now.
    pub fn keep(&mut self, plan: &Plan) {
        self.kept = Some(Box::new(plan.clone()));
    }

    /// Whether the plan was changed since it came, was written and was run, so that leaving would lose the changes.
    pub fn would_be_lost(&self, plan: &Plan) -> bool {
        let is_changed = |known: &Option<Box<Plan>>| known.as_ref().is_none_or(|known| **known != *plan);
        self.came.is_some() && !plan.nodes.is_empty() && is_changed(&self.came) && is_changed(&self.kept)
    }

    /// Whether it is known how the plan came.
    pub fn has_version(&self) -> bool {
        self.came.is_some()
    }

    /// Whether the plan is compared with how it came.
    pub fn is_with_version(&self) -> bool {
        self.other.is_none()
    }

    /// What the plan is compared with, by its name; `None` for how it came.
    pub fn name(&self) -> Option<&Plain> {
        self.other.as_ref().map(|(name, _)| name)
    }

    /// Compares with another plan by its name, or with how the plan came.
    pub fn with(&mut self, plan: &Plan, other: Option<(Plain, Box<Plan>)>) {
        (self.other, self.place) = (other, ListCursor::default());
        self.refresh(plan);
    }

    /// Compares again, after the plan changed.
    pub fn refresh(&mut self, plan: &Plan) {
        self.diff = match (&self.other, &self.came) {
            (Some((_, other)), _) => Diff::new(plan, other),
            (None, Some(came)) => Diff::new(came, plan),
            (None, None) => Diff::default(),
        };
        self.differences = self.diff.pieces.iter().map(Difference::description).collect();
        self.place.selected = self.place.selected.min(self.differences.len().saturating_sub(1));
    }

    /// The pieces in words.
    pub fn differences(&self) -> &[DifferenceText] {
        &self.differences
    }

    /// The selected piece in words.
    pub fn selected(&self) -> Option<&DifferenceText> {
        self.differences.get(self.place.selected)
    }

    pub fn piece(&self) -> Option<&Difference> {
        self.diff.pieces.get(self.place.selected)
    }

    /// The differences as they are made: back to how the plan came, or on to the other plan.
    fn makes(&self) -> Diff {
        if self.is_with_version() { self.diff.inverse() } else { self.diff.clone() }
    }

    /// Positions of other pieces that must be made together with the selected one.
    pub fn needed(&self, plan: &Plan) -> Vec<usize> {
        let mut needed = self.makes().with_needed(plan, self.place.selected);
        needed.retain(|at| *at != self.place.selected);
        needed
    }

    /// The edit that makes the selected piece, with those that it needs.
    ///
    /// # Errors
    /// Why it can't be made, in words.
    pub fn edit(&self, plan: &Plan) -> Result<Edit, String> {
        let makes = self.makes();
        let mut tried = plan.clone();
        let mut edits = Vec::new();
        for at in makes.with_needed(plan, self.place.selected) {
            let Some(piece) = makes.pieces.get(at) else { continue };
            let edit = piece.edit(&tried).map_err(|error| error.to_string())?;
            edit.apply(&mut tried).map_err(|error| error.to_string())?;
            edits.push(edit);
        }
        Ok(Edit::batch(edits))
    }
}
