//! Changing what is shown: the one way that an edit of the plan goes, wherever it was made. In a run it is an action like others.

use super::super::UpdateTurn;
use super::act::{Proposed, propose};
use crate::console::model::{Addressed, Model, PlanScreen, Status};
use crate::engine::Action;
use crate::plan::edit::Edit;

/// Makes an edit of what is shown. `make` may find that nothing has to change.
///
/// # Errors
/// Why it is refused, in words.
pub fn change(
    model: &mut Model,
    turn: &mut UpdateTurn,
    make: impl FnOnce(Addressed<'_>) -> Result<Option<Edit>, String>,
) -> Result<Proposed, String> {
    let Some(edit) = make(model.addressed())? else { return Ok(Proposed::Sent) };
    match model.place.shown {
        PlanScreen::Plan => model.editor.make(&model.session.catalog, &edit).map(|()| Proposed::Sent),
        PlanScreen::Run(_) => propose(model, turn, Action::Edit { edits: vec![edit] }),
    }
}

/// Says what a change did, or why it was refused. One that is asked about first says it itself.
pub fn report(model: &mut Model, done: Result<Proposed, String>, said: &str) {
    model.status = match done {
        Ok(Proposed::Sent) => Some(Status::good(said)),
        Ok(Proposed::Asked) => None,
        Err(why) => Some(Status::bad(&why)),
    };
}
