//! `History`: undo and redo without limit.

use super::{Edit, EditError};
use crate::plan::Plan;

/// Edits that were made, and those that were undone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    undo: Vec<Edit>,
    redo: Vec<Edit>,
}

impl History {
    /// Applies an edit and remembers it; what was undone before can't be redone any more.
    ///
    /// # Errors
    /// When the edit is refused; nothing changes.
    pub fn apply(&mut self, plan: &mut Plan, edit: &Edit) -> Result<(), EditError> {
        self.undo.push(edit.apply(plan)?);
        self.redo.clear();
        Ok(())
    }

    /// Takes the last edit back; `false` when there is none.
    ///
    /// # Errors
    /// When the plan is not the one that the history belongs to; nothing changes.
    pub fn undo(&mut self, plan: &mut Plan) -> Result<bool, EditError> {
        Self::step(&mut self.undo, &mut self.redo, plan)
    }

    /// Makes the last edit that was undone again; `false` when there is none.
    ///
    /// # Errors
    /// When the plan is not the one that the history belongs to; nothing changes.
    pub fn redo(&mut self, plan: &mut Plan) -> Result<bool, EditError> {
        Self::step(&mut self.redo, &mut self.undo, plan)
    }

    /// How many edits can be undone and redone.
    pub fn depths(&self) -> (usize, usize) {
        (self.undo.len(), self.redo.len())
    }

    fn step(from: &mut Vec<Edit>, to: &mut Vec<Edit>, plan: &mut Plan) -> Result<bool, EditError> {
        let Some(edit) = from.last() else { return Ok(false) };
        to.push(edit.replay(plan)?);
        from.pop();
        Ok(true)
    }
}
