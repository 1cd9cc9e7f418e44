//! Which attempts may take a result that an earlier run made, and keep theirs for later ones.

use super::{CacheUse, Job, PLANNED_BY, graph::NodeIx, run::RunState};
use crate::plan::{CachePolicy, CachePolicyError, NodeId};

impl RunState {
    /// What the plan says of the cache at a node, by itself or for all.
    pub fn cache_policy(&self, id: &NodeId) -> Option<Result<CachePolicy, CachePolicyError>> {
        self.graph.find(id).and_then(|ix| self.written_cache(ix))
    }

    fn written_cache(&self, ix: NodeIx) -> Option<Result<CachePolicy, CachePolicyError>> {
        self.policy(ix)?.get(|policy| policy.cache.as_ref().map(CachePolicy::read))
    }

    /// None where the result is only for this run: it is made up, may leave something behind, or holds what people said meanwhile.
    pub(super) fn cache_use(&self, ix: NodeIx, attempt: u32, job: &Job) -> Option<CacheUse> {
        let ttl_s = match self.written_cache(ix) {
            Some(Ok(CachePolicy::Off) | Err(_)) => return None,
            Some(Ok(CachePolicy::Ttl(seconds))) => Some(seconds),
            None => None,
        };
        let is_guided = if let Job::Agent(job) = job { !job.guidance.is_empty() || job.rejected.is_some() } else { false };
        if self.graph.nodes[ix].side_effects || self.nodes[ix].lineage.rehearsed || is_guided {
            return None;
        }
        let is_first = attempt == 1 && self.nodes[ix].generation == 1;
        let is_planned = self.plan().is_some_and(|plan| plan.metadata.contains_key(PLANNED_BY));
        let branched = self.head.as_ref().is_some_and(|head| head.branched);
        Some(CacheUse { ttl_s, reads: is_first && !branched, asks_to_send: self.is_reached(ix) || self.asks_at_its_call(ix) || is_planned })
    }
}
