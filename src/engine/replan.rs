//! New plans for what is left of a run, as plain data: which one is being made, what came of it, and the pieces of a proposal.

use super::{Actor, GateId, ModelCall, ReplanTrigger};
use crate::plan::{
    NodeId, Plan,
    diff::{Diff, Difference, DifferenceMark},
    edit::Edit,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// New plans that a run asks for by itself.
pub(super) const MOST_BY_ITSELF: u32 = 3;

/// What came of asking a planner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplanAnswer {
    /// The whole plan as it would be, or why there is none.
    pub plan: Result<Box<Plan>, String>,
    /// What the planner's model took.
    pub calls: Vec<ModelCall>,
}

/// A piece of a proposal, as a gate shows it. Only the change counts; the rest says it in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplanPiece {
    /// On one line: `+ node  book_other`.
    pub piece: String,
    /// What comes and what goes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    pub change: Difference,
}

impl ReplanPiece {
    fn of(change: &Difference) -> Self {
        let text = change.description();
        let words = [text.sort, &text.subject, &text.field].into_iter().filter(|words| !words.is_empty());
        let piece = format!("{} {}", text.mark.glyph(), words.collect::<Vec<_>>().join("  "));
        let sign = |mark: DifferenceMark| if mark == DifferenceMark::Changed { " " } else { mark.glyph() };
        let lines = text.lines.iter().map(|(mark, line)| format!("{} {line}", sign(*mark)).trim_end().to_owned()).collect();
        Self { piece, lines, change: change.clone() }
    }

    /// What leads from one plan to the other, in an order in which it can be made.
    pub(super) fn between(plan: &Plan, proposed: &Plan) -> Vec<Self> {
        let diff = Diff::new(plan, proposed);
        diff.order().into_iter().filter_map(|at| diff.pieces.get(at)).map(Self::of).collect()
    }

    /// The pieces in a gate's payload; none where it is something else.
    pub fn read(payload: &Value) -> Option<Vec<Self>> {
        serde_json::from_value(payload.clone()).ok()
    }

    /// The edits that make these pieces of a plan as it is now.
    ///
    /// # Errors
    /// Why a piece can't be made.
    pub(super) fn edits(pieces: &[Self], plan: &Plan) -> Result<Vec<Edit>, String> {
        let mut tried = plan.clone();
        let mut edits = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let edit = piece.change.edit(&tried).and_then(|edit| edit.apply(&mut tried).map(|_| edit));
            edits.push(edit.map_err(|error| format!("`{}` can't be made: {error}", piece.piece))?);
        }
        Ok(edits)
    }

    /// The node that a piece adds or changes.
    pub(super) fn writes(&self) -> Option<NodeId> {
        self.change.writes()
    }
}

/// The new plan that is being made, or waits for people.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplanUnderWay {
    /// From 1; names it.
    pub number: u32,
    /// The node that waits for it.
    pub node: Option<NodeId>,
    pub trigger: ReplanTrigger,
    /// What people said that the planner is to hear, oldest first.
    pub guidance: Vec<String>,
    /// Who asked; nobody: the plan did.
    pub by: Option<Actor>,
    /// Where it waits for people, once it is there.
    pub gate: Option<GateId>,
}
