//! How ends are counted: in the node's own plan and for those around it. One function for both directions, so that running again undoes//! back exactly what the end gave. And what ends give to a walk.

use crate::engine::{graph::NodeIx, run::RunState};
use crate::plan::Dialect;
use serde_json::Value;
use std::sync::Arc;

/// What happens to a node's generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum GenerationChange {
    Ends,
    /// It was over, and the node runs again.
    Reopens,
}

impl GenerationChange {
    fn shift(self, number: &mut u32, by: u32) {
        *number = match self {
            Self::Ends => *number + by,
            Self::Reopens => number.saturating_sub(by),
        };
    }
}

impl RunState {
    /// Counts an end in its inner run and for those around it, or undoes that. The last one of a body lets the owner go on.
    pub(super) fn count(&mut self, ix: NodeIx, turn: GenerationChange) {
        let bad = u32::from(self.nodes[ix].state.ended_badly());
        let home = self.graph.nodes[ix].home;
        let Some(inner) = self.inner_runs.slot_mut(home) else { return };
        let was_over = inner.unfinished == 0;
        match turn {
            GenerationChange::Ends => inner.unfinished = inner.unfinished.saturating_sub(1),
            GenerationChange::Reopens => inner.unfinished += 1,
        }
        let is_over = inner.unfinished == 0;
        let owner = inner.owner;
        let owners: Vec<NodeIx> = self.owners(ix).collect();
        for owner in owners {
            let inside = &mut self.nodes[owner].inside;
            turn.shift(&mut inside.over, 1);
            turn.shift(&mut inside.bad, bad);
        }
        match owner.filter(|&owner| !self.is_over(owner)) {
            Some(owner) if is_over => self.body_ended(owner),
            Some(owner) if was_over => self.body_reopened(owner),
            Some(_) | None => {}
        }
    }

    /// A walk takes in what a node that has just ended gives. One that ran again alone keeps its place.
    pub(super) fn walk_on(&mut self, ix: NodeIx) {
        let again = self.flows[ix].outcome.former.take().is_some();
        let gives = self.nodes[ix].state.has_result();
        let result = self.nodes[ix].result.clone().filter(|_| gives);
        let home = self.graph.nodes[ix].home;
        let Some(inner) = self.inner_runs.slot_mut(home).filter(|inner| inner.plan.dialect.walks()) else { return };
        if again && inner.walked.contains(&ix) {
            if result.is_none() {
                inner.walked.retain(|&walked| walked != ix);
            }
            return self.walk_again(home);
        }
        let Some(result) = result else { return };
        inner.walked.push(ix);
        if let (Dialect::Workflow, Value::Object(given)) = (inner.plan.dialect, &*result) {
            Arc::make_mut(&mut inner.inputs).extend(given.clone());
        }
    }
}
