//! `Renames`: the names that live edits gave to nodes, for folds that keep what they know of a node under its name. Found from the events
//! alone. A verb that is taken back takes its names back.

use super::{Event, Record, Verb};
use crate::plan::{NodeId, edit::Edit};
use std::collections::BTreeMap;

/// Nodes by their old names, each with its new one; all at once, so that two may swap theirs.
pub type Names = Vec<(NodeId, NodeId)>;

/// Verbs that gave names, by their place in the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Renames {
    verbs: BTreeMap<u64, Names>,
}

impl Renames {
    /// Which nodes have another name from this event on; none for nearly all events.
    pub fn fold(&mut self, record: &Record) -> Names {
        match &record.event {
            Event::Acted { verb, .. } => {
                let Verb::Edit { edits } = &**verb else { return Names::new() };
                let mut names = Names::new();
                edits.iter().for_each(|edit| follow(edit, record.seq, &mut names));
                if !names.is_empty() {
                    self.verbs.insert(record.seq, names.clone());
                }
                names
            }
            Event::Undone { verb, .. } => self.verbs.remove(verb).unwrap_or_default().into_iter().map(|(old, new)| (new, old)).collect(),
            _ => Names::new(),
        }
    }
}

/// What is kept under old names stands under the new ones.
pub fn carry<T>(kept: &mut BTreeMap<NodeId, T>, names: &Names) {
    let moved: Vec<(NodeId, T)> = names.iter().filter_map(|(old, new)| Some((new.clone(), kept.remove(old)?))).collect();
    kept.extend(moved);
}

/// Names after one more edit. Whoever has a name that another one gets goes out of the way, as in the run's own plan: it was removed.
fn follow(edit: &Edit, seq: u64, names: &mut Names) {
    match edit {
        Edit::RenameNode { from, to } if from != to => {
            // No node can be called so, so nothing is ever told under it; taking the verb back brings it back.
            give(names, to, &NodeId::new(format!(" {seq} {to}")));
            give(names, from, to);
        }
        Edit::Batch { edits } => edits.iter().for_each(|edit| follow(edit, seq, names)),
        Edit::RenameNode { .. }
        | Edit::AddNode { .. }
        | Edit::RemoveNode { .. }
        | Edit::ReplaceNode { .. }
        | Edit::SetWork { .. }
        | Edit::SetPolicy { .. }
        | Edit::MoveNode { .. }
        | Edit::DuplicateNode { .. }
        | Edit::AddDependency { .. }
        | Edit::RemoveDependency { .. }
        | Edit::AddEdge { .. }
        | Edit::RemoveEdge { .. }
        | Edit::ReplaceEdge { .. }
        | Edit::SetGoal { .. }
        | Edit::SetInputs { .. }
        | Edit::SetBudget { .. }
        | Edit::SetDefaults { .. }
        | Edit::SetHead { .. }
        | Edit::SpliceNodes { .. }
        | Edit::SpliceEdges { .. }
        | Edit::Within { .. } => {}
    }
}

/// Whoever is called `from` now is called `to`. A node that came with the same edits under a name that is free by them has no past.
fn give(names: &mut Names, from: &NodeId, to: &NodeId) {
    if let Some((_, new)) = names.iter_mut().find(|(_, new)| new == from) {
        new.clone_from(to);
    } else if names.iter().all(|(old, _)| old != from) {
        names.push((from.clone(), to.clone()));
    }
}
