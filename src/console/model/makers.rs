//! Who made what a gate asks about: the agents before its node that could work again.

use super::Model;
use crate::engine::{Action, Command};
use crate::plan::NodeId;

impl Model {
    /// The agents before a node whose work could be sent back, the nearest first.
    pub fn makers(&self, node: &NodeId) -> Vec<NodeId> {
        let Some(run) = self.shown_run().map(|view| &view.newest().run) else { return Vec::new() };
        let graph = self.tree().graph();
        let mut near: Vec<usize> = graph.position(node).into_iter().collect();
        let mut at = 0;
        while at < near.len() {
            near.extend(graph.predecessors(near[at]).filter(|source| !near.contains(source)).collect::<Vec<_>>());
            at += 1;
        }
        let again = |id: &NodeId| Action::Rewind { node: id.clone(), to: id.clone(), feedback: "-".into() };
        let ids = near.iter().skip(1).map(|at| graph.id(*at).clone());
        ids.filter(|id| run.feedback_targets(id).contains(id) && run.refusal(&Command::act(again(id))).is_none()).collect()
    }
}
