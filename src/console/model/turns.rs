//! Which turn of a body a drawing shows: that of the selected node, else the last that began. So all states and edges in a frame are
//! of one turn.

use super::{Model, drawing::address};
use crate::plan::{NodeId, nest};

/// The turn of a body that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turns {
    /// What is before the ids of its nodes: `loop[2]/`.
    pub prefix: String,
    /// Which one it is, and how many there are; nothing for a body that runs once.
    pub of: Option<(usize, usize)>,
}

impl Model {
    /// The node of the shown run, or of the plan, that a box at this address shows.
    pub fn standing_at(&self, at: &NodeId) -> NodeId {
        let known = |id: NodeId| self.shown_run().is_some_and(|run| run.seen().run.node(&id).is_some()).then_some(id);
        let owner = nest::owner(at).map(NodeId::new);
        let turns = owner.and_then(|owner| self.turns(&owner));
        turns.and_then(|turns| known(NodeId::new(format!("{}{}", turns.prefix, nest::name(at))))).unwrap_or_else(|| at.clone())
    }

    /// The turn that is shown of the body of the node at this address; nothing where no run is shown and where none began.
    pub fn turns(&self, owner: &NodeId) -> Option<Turns> {
        let run = self.shown_run()?;
        let id = self.standing_at(owner);
        let body = run.seen().run.node_doc(&id)?.kind.body()?;
        let inner = &body.nodes.first()?.id;
        let is_there = |middle: &str| run.seen().run.node(&NodeId::new(format!("{id}{middle}/{inner}"))).is_some();
        if is_there("") {
            return Some(Turns { prefix: format!("{id}/"), of: None });
        }
        // Loops count from 1, maps from 0.
        let first = usize::from(!is_there("[0]"));
        let count = count(|at| is_there(&format!("[{}]", at + first)));
        let last = count.checked_sub(1)?;
        let selected = self.selected_turn(&id, owner).and_then(|number| number.checked_sub(first)).filter(|at| *at < count);
        let at = selected.unwrap_or(last);
        Some(Turns { prefix: format!("{id}[{}]/", at + first), of: Some((at + first, count)) })
    }

    /// The number of the turn that the selected node is in.
    fn selected_turn(&self, id: &NodeId, owner: &NodeId) -> Option<usize> {
        let selected = self.selected_id().filter(|selected| address(selected).starts_with(&**owner))?;
        let rest = selected.strip_prefix(&**id)?.strip_prefix('[')?;
        rest.split_once(']')?.0.parse().ok()
    }
}

/// How many numbers from 0 on hold, when all before the first that doesn't do.
fn count(holds: impl Fn(usize) -> bool) -> usize {
    let mut beyond = 1;
    while holds(beyond - 1) {
        beyond *= 2;
    }
    let (mut known, mut open) = (beyond / 2, beyond - 1);
    while known < open {
        let middle = (known + open) / 2;
        if holds(middle) {
            known = middle + 1;
        } else {
            open = middle;
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn counting_asks_a_few_times_only() {
        for many in [0, 1, 2, 3, 7, 8, 9, 1_000] {
            let asked = std::cell::Cell::new(0);
            let found = count(|at| {
                asked.set(asked.get() + 1);
                at < many
            });
            assert_eq!(found, many);
            assert!(asked.get() < 25);
        }
    }
}
