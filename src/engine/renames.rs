//! `Renames`: the names that live edits gave to nodes, for folds that keep what they know of a node under its name. Found from the events
//! alone. A verb that is taken back takes its names back.

use super::{Action, Event, Record};
use crate::plan::{NodeId, edit::Edit};
use std::collections::BTreeMap;

/// Nodes by their old names, each with its new one; all at once, so that two may swap theirs.
pub type NewNames = Vec<(NodeId, NodeId)>;

/// Verbs that gave names, by their place in the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Renames {
    verbs: BTreeMap<u64, NewNames>,
}

impl Renames {
    /// Which nodes have another name from this event on; none for nearly all events.
    pub fn fold(&mut self, record: &Record) -> NewNames {
        match &record.event {
            Event::Acted { verb, .. } => {
                let Action::Edit { edits } = &**verb else { return NewNames::new() };
                let mut names = NewNames::new();
                for (from, to) in edits.iter().flat_map(Edit::renames) {
                    // Whoever has the name goes out of the way, as in the run's own plan: it was removed. No node can be called so, so
                    // nothing is ever told under it; taking the verb back brings it back.
                    give(&mut names, to, &NodeId::new(format!(" {} {to}", record.seq)));
                    give(&mut names, from, to);
                }
                if !names.is_empty() {
                    self.verbs.insert(record.seq, names.clone());
                }
                names
            }
            Event::Undone { verb, .. } => self.verbs.remove(verb).unwrap_or_default().into_iter().map(|(old, new)| (new, old)).collect(),
            _ => NewNames::new(),
        }
    }
}

/// What is kept under old names stands under the new ones.
pub fn carry<T>(kept: &mut BTreeMap<NodeId, T>, names: &NewNames) {
    let moved: Vec<(NodeId, T)> = names.iter().filter_map(|(old, new)| Some((new.clone(), kept.remove(old)?))).collect();
    kept.extend(moved);
}

/// Whoever is called `from` now is called `to`. A node that came with the same edits under a name that is free by them has no past.
fn give(names: &mut NewNames, from: &NodeId, to: &NodeId) {
    if let Some((_, new)) = names.iter_mut().find(|(_, new)| new == from) {
        new.clone_from(to);
    } else if names.iter().all(|(old, _)| old != from) {
        names.push((from.clone(), to.clone()));
    }
}
