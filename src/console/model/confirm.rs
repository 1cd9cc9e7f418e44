//! `Confirm`: a question that wants yes or no, and what a yes does. It carries what it was opened for.

use crate::engine::{Action, RunId};
use crate::host::client::TrustItem;
use crate::plan::{Dialect, Plan};
use crate::text::Plain;

/// A question that wants yes or no.
#[derive(Clone, Debug)]
pub struct Confirm {
    /// The question, and what a yes would do.
    pub lines: Vec<Plain>,
    /// What a yes does.
    pub then: Confirmed,
}

/// What a yes does.
#[derive(Clone, Debug, PartialEq)]
pub enum Confirmed {
    /// Branches a new run off.
    Branch {
        run: RunId,
        /// The last event that is kept.
        seq: u64,

        actions: Vec<Action>,
    },
    /// Starts one more run of the plan, with these actions first.
    Start(Vec<Action>),
    /// Resumes a run that was interrupted.
    Resume(RunId),
    /// Deletes a run for good.
    DeleteRun(RunId),
    /// Ends a rule.
    RevokeRule(u32),
    /// Drops the text that was being edited.
    DropText,
    /// Leaves: runs stay as they are, and what is in no file is lost.
    Leave,
    /// Puts another plan in the place of one with changes that are nowhere else.
    NewPlan(NewPlan),
    /// Trusts that file as it was shown.
    Trust(Box<TrustItem>),
    /// Writes the text over the file of that path.
    ReplaceText(String, String),
    /// Writes the plan over the file of that path, in that form.
    Replace(String, Box<Plan>, Dialect),
}

/// From where another plan comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewPlan {
    /// From the request that is typed.
    Request,
    /// From several for it, of which one is picked.
    Rivals,
    /// From the shown run.
    Run,
}
