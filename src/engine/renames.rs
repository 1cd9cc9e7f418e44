//! `Renames`: the names that live edits gave to nodes, for folds that keep what they know of a node under its name. Found from the events
//! alone. An action that is undone takes its names back.

use super::{Action, Event, Record};
use crate::plan::{NodeId, edit::Edit};
use std::collections::BTreeMap;

/// Nodes by their old names, each with its new one; all at once, so that two may swap theirs.
pub type NewNames = Vec<(NodeId, NodeId)>;

/// Actions that gave names, by their place in the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Renames {
    actions: BTreeMap<u64, NewNames>,
}

impl Renames {
    /// Which nodes have another name from this event on; none for nearly all events.
    pub fn fold(&mut self, record: &Record) -> NewNames {
        if let Event::Undone { action, .. } = &record.event {
            return self.actions.remove(action).unwrap_or_default().into_iter().map(|(old, new)| (new, old)).collect();
        }
        let mut names = NewNames::new();
        let Event::Acted { action, .. } = &record.event else { return names };
        let Action::Edit { edits } = &**action else { return names };
        for (from, to) in edits.iter().flat_map(Edit::renames) {
            // A node that has the name makes room, as in the run's own plan: it was removed. No node can be called so, so nothing is ever
            // kept under it; undoing the action brings it back.
            give(&mut names, to, &NodeId::new(format!(" {} {to}", record.seq)));
            give(&mut names, from, to);
        }
        if !names.is_empty() {
            self.actions.insert(record.seq, names.clone());
        }
        names
    }
}

/// What is kept under old names is moved to the new ones.
pub fn carry<T>(kept: &mut BTreeMap<NodeId, T>, names: &NewNames) {
    let moved: Vec<(NodeId, T)> = names.iter().filter_map(|(old, new)| Some((new.clone(), kept.remove(old)?))).collect();
    kept.extend(moved);
}

/// The one who is called `from` now is called `to`. A node that came with the same edits under a name that is free by them has no past.
fn give(names: &mut NewNames, from: &NodeId, to: &NodeId) {
    if let Some((_, new)) = names.iter_mut().find(|(_, new)| new == from) {
        new.clone_from(to);
    } else if names.iter().all(|(old, _)| old != from) {
        names.push((from.clone(), to.clone()));
    }
}
