//! Why a node isn't running: the chain of what it waits for, down to what a person can do something about.

use super::{NodeState, flow::Phase, graph::NodeIx, run::Run};
use crate::plan::NodeId;
use std::collections::BTreeSet;

/// The longest chain that is told.
const LINKS: usize = 100;

impl Run {
    /// What a node waits for, one sentence a link: itself first, then the source that holds it up, and so on.
    pub fn why(&self, node: &NodeId) -> Vec<String> {
        let mut sentences = Vec::new();
        let mut seen = BTreeSet::new();
        let mut next = self.graph.find(node);
        while let Some(ix) = next.filter(|&ix| seen.insert(ix) && sentences.len() < LINKS) {
            let (sentence, blocker) = self.link_of(ix);
            sentences.push(sentence);
            next = blocker;
        }
        sentences
    }

    /// A node's sentence, and who holds it up.
    fn link_of(&self, ix: NodeIx) -> (String, Option<NodeIx>) {
        let (id, node) = (self.id_of(ix), &self.nodes[ix.at()]);
        let because = if node.reason.is_empty() { String::new() } else { format!(": {}", node.reason) };
        match &node.state {
            NodeState::Pending if !self.stage.started => (format!("`{id}` waits for the run to start"), None),
            NodeState::Pending => {
                let waiting = self.graph.nodes[ix.at()].ins.iter().filter(|edge| self.tokens[edge.0 as usize].is_none());
                let sources: Vec<NodeIx> = waiting.map(|&edge| self.graph.link(edge).from).collect();
                let names: Vec<String> = sources.iter().take(5).map(|&source| format!("`{}`", self.id_of(source))).collect();
                let more = if sources.len() > names.len() { format!(" and {} more", sources.len() - names.len()) } else { String::new() };
                (format!("`{id}` waits for {}{more}", names.join(", ")), self.worst(&sources))
            }
            NodeState::Ready => {
                let slots = self.queue.slots;
                (format!("`{id}` is ready and waits for a free slot ({} of {slots} in use)", self.queue.busy), None)
            }
            NodeState::Held => {
                let holder = match self.flows[ix.at()].phase {
                    Phase::Locked(lock) => self.queue.locks[lock as usize].holder,
                    Phase::Inputs
                    | Phase::Joined { .. }
                    | Phase::Asking
                    | Phase::AtGate(_)
                    | Phase::Answered(_)
                    | Phase::Queued
                    | Phase::Inline
                    | Phase::Bodies
                    | Phase::Inside
                    | Phase::Working
                    | Phase::Resting
                    | Phase::Kept
                    | Phase::Freed
                    | Phase::Lost
                    | Phase::Ended => None,
                };
                (format!("`{id}` is held{because}"), holder)
            }
            NodeState::Waiting { gate } => (format!("`{id}` waits for an answer to gate {}{because}", gate.0), None),
            NodeState::Running if node.inside.nodes > 0 => {
                let open: Vec<NodeIx> = self.open_inside(ix).collect();
                (format!("`{id}` is running: {} of {} inside are over", node.inside.over, node.inside.nodes), self.worst(&open))
            }
            NodeState::Running => (format!("`{id}` is running"), None),
            NodeState::Retrying { .. } => (format!("`{id}` tries again soon{because}"), None),
            NodeState::Unknown => (format!("somebody must say what became of `{id}`{because}"), None),
            NodeState::Skipped => (format!("`{id}` was skipped{because}"), self.closed_by(ix)),
            NodeState::Succeeded | NodeState::Passed | NodeState::Failed | NodeState::FailedSafe | NodeState::Cancelled => {
                (format!("`{id}` {}{because}", node.state.word().replace('_', " ")), None)
            }
        }
    }

    /// The source that closed a node's join: of an edge that it needs, before one of several alternatives.
    pub(super) fn closed_by(&self, ix: NodeIx) -> Option<NodeIx> {
        let links = self.graph.nodes[ix.at()].ins.iter().filter(|edge| self.tokens[edge.0 as usize] == Some(false));
        links.map(|&edge| self.graph.link(edge)).min_by_key(|link| link.alternative).map(|link| link.from)
    }

    /// Of several sources, the one that a person can do something about, else one that waits itself.
    fn worst(&self, sources: &[NodeIx]) -> Option<NodeIx> {
        let urgency = |ix: &NodeIx| match self.nodes[ix.at()].state {
            NodeState::Waiting { .. } | NodeState::Unknown => 0,
            NodeState::Held => 1,
            NodeState::Retrying { .. } | NodeState::Pending => 2,
            NodeState::Ready | NodeState::Running => 3,
            NodeState::Succeeded
            | NodeState::Passed
            | NodeState::Skipped
            | NodeState::Failed
            | NodeState::FailedSafe
            | NodeState::Cancelled => 4,
        };
        sources.iter().copied().min_by_key(urgency)
    }
}
