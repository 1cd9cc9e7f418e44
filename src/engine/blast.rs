//! `Blast`: what a verb would change. Found by trying the verb on a copy of the run, so it is what will happen, not a description of it.

use super::{Actor, Command, Input, NodeState, Time, Verb, run::Run};
use crate::plan::NodeId;

/// What a verb would change at once. What follows later from nodes that still run is not known to anybody.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Blast {
    /// At work now; they would be stopped.
    pub stops: Vec<NodeId>,
    /// They would be skipped, as their ways are closed.
    pub skips: Vec<NodeId>,
    /// They would be cancelled before they start.
    pub cancels: Vec<NodeId>,
    /// They would run again.
    pub reruns: Vec<NodeId>,
    /// They would be held.
    pub holds: Vec<NodeId>,
    /// They would start at once.
    pub starts: Vec<NodeId>,
    /// Their open questions would be void.
    pub voids: Vec<NodeId>,
    /// Their results would be of an earlier state of things.
    pub stale: Vec<NodeId>,
    /// Tokens that what would be stopped or done again has taken so far.
    pub tokens: u64,
    /// US dollars, likewise.
    pub cost_usd: f64,
    /// Working time in milliseconds, likewise.
    pub time_ms: u64,
}

impl Blast {
    /// Whether nothing that was done or asked is lost.
    pub fn is_harmless(&self) -> bool {
        let lists = [&self.stops, &self.skips, &self.cancels, &self.reruns, &self.voids, &self.stale];
        lists.into_iter().all(Vec::is_empty)
    }
}

impl Run {
    /// What a verb would change. In proportion to the run.
    pub fn blast(&self, verb: &Verb, now: Time) -> Blast {
        let mut after = self.clone();
        let by = Actor { who: String::new(), via: String::new() };
        let batch = after.step(&Input::Command { command: Command::act(verb.clone()), by }, now);
        let mut blast = Blast::default();
        for (id, node) in self.nodes() {
            let Some(then) = after.node(id) else { continue };
            if then.generation == node.generation && then.state == node.state && then.reason == node.reason {
                continue;
            }
            let again = then.generation > node.generation;
            let list = match (&node.state, &then.state) {
                (NodeState::Running | NodeState::Retrying { .. }, _) if again || then.state.is_final() => Some(&mut blast.stops),
                _ if again => Some(&mut blast.reruns),
                (_, NodeState::Skipped) => Some(&mut blast.skips),
                (_, NodeState::Cancelled) => Some(&mut blast.cancels),
                (_, NodeState::Held) => Some(&mut blast.holds),
                (_, NodeState::Running) => Some(&mut blast.starts),
                (_, _) if after.is_held(id) && !self.is_held(id) => Some(&mut blast.holds),
                (_, _) => None,
            };
            let Some(list) = list else { continue };
            list.push(id.clone());
            let lost = again || then.state.is_final();
            if lost {
                blast.tokens += node.lineage.tokens.total();
                blast.cost_usd += node.lineage.cost_usd;
                let ended = node.span.finished.unwrap_or(now);
                blast.time_ms += node.span.started.map_or(0, |started| ended.since(started));
            }
        }
        let voided = batch.records.iter().filter_map(|record| match &record.event {
            super::Event::GateVoided { gate, .. } => self.gate(*gate).map(|(gate, _)| gate.node.clone()),
            _ => None,
        });
        blast.voids = voided.collect();
        blast
    }
}
