//! Changing what is shown: the one way that an edit of the plan goes, wherever it was made.

use super::super::Turn;
use crate::console::model::{Addressed, Model, Status};
use crate::plan::edit::Edit;

/// Makes an edit of the plan that is shown. `make` may find that nothing has to change.
///
/// # Errors
/// Why it is refused, in words.
pub fn change(model: &mut Model, _: &mut Turn, make: impl FnOnce(Addressed<'_>) -> Result<Option<Edit>, String>) -> Result<(), String> {
    match make(model.editor.addressed())? {
        Some(edit) => model.editor.make(&model.session.catalog, &edit),
        None => Ok(()),
    }
}

/// Says what a change did, or why it was refused.
pub fn report(model: &mut Model, done: Result<(), String>, said: &str) {
    model.status = Some(match done {
        Ok(()) => Status::good(said),
        Err(why) => Status::bad(&why),
    });
}
