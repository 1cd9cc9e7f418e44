//! The critical path of a run as it really was. Backwards from the node that ended last, always on to the one that held it up last: the
//! source that ended last, or, where it then waited in line for a slot or a lock, the one that freed it. For schedules under limited
//! resources this is the critical sequence of J. D. Wiest, "Some properties of schedules for large projects with limited resources",
//! Operations Research 12 (1964); with slots and locks enough it is the critical path of J. E. Kelley and M. R. Walker (1959).

use crate::engine::{
    Doing, Time, TimelineChart,
    graph::NodeIx,
    run::RunState,
    views::timeline::{StartCause, Timeline},
};
use std::{cmp::Reverse, collections::BTreeSet};

impl Timeline {
    /// From the first node to the one that ended last; a node with a plan inside comes before those inside it.
    pub(in crate::engine) fn critical(&self, run: &RunState) -> Vec<NodeIx> {
        let own = run.inner(crate::engine::inner_run::InnerRunIx(0)).into_iter().flat_map(|inner| inner.nodes());
        // Each began before the one that it is found from, so this ends; a journal that says otherwise ends it, too.
        let (mut chain, mut seen) = (Vec::new(), BTreeSet::new());
        let mut next = self.last_of(run, own).map(|last| self.innermost(run, last));
        while let Some(ix) = next.filter(|ix| seen.insert(*ix)) {
            chain.push(ix);
            let around = std::iter::once(ix).chain(run.owners(ix));
            next = around.into_iter().find_map(|ix| self.after(run, ix)).map(|(before, _)| self.innermost(run, before));
        }
        let mut path = BTreeSet::new();
        let inner = chain.into_iter().rev();
        let with_owners = inner.flat_map(|ix| {
            let owners: Vec<NodeIx> = run.owners(ix).collect();
            owners.into_iter().rev().chain([ix])
        });
        with_owners.filter(|ix| path.insert(*ix)).collect()
    }

    /// Who held a node up last before it could start, and by what.
    pub(in crate::engine) fn after(&self, run: &RunState, ix: NodeIx) -> Option<(NodeIx, StartCause)> {
        self.let_in(run, ix).or_else(|| {
            let by = if run.graph.nodes[ix].ins.is_empty() { StartCause::Turn } else { StartCause::Source };
            self.all_sources(run, ix).pop().map(|source| (source, by))
        })
    }

    /// Of what ran inside a node the one that ended last, as deep as it goes; else the node itself.
    fn innermost(&self, run: &RunState, ix: NodeIx) -> NodeIx {
        let inside = run.flows[ix].bodies.iter().flat_map(|bodies| &bodies.inner_runs).filter_map(|&inner| run.inner(inner));
        match self.last_of(run, inside.flat_map(|inner| inner.nodes())) {
            Some(last) => self.innermost(run, last),
            None => ix,
        }
    }

    /// Of several nodes the one that ended last; one that is still at it comes after all that ended.
    fn last_of(&self, run: &RunState, nodes: impl Iterator<Item = NodeIx>) -> Option<NodeIx> {
        nodes.filter_map(|ix| Some((self.worked_until(run, ix)?, Reverse(ix)))).max().map(|(_, Reverse(ix))| ix)
    }
}

impl TimelineChart {
    /// How long nodes on the critical path worked, moments at which several did counted once.
    pub fn critical_work_ms(&self) -> u64 {
        let bars = self.bars.iter().filter(|bar| bar.critical).flat_map(|bar| &bar.stretches);
        let works = bars.filter(|stretch| stretch.doing == Doing::Working);
        let mut spans: Vec<(Time, Time)> = works.map(|stretch| (stretch.from, stretch.to.unwrap_or(self.end))).collect();
        spans.sort();
        let (mut worked, mut until) = (0, Time::default());
        for (from, to) in spans {
            worked += to.since(from.max(until).min(to));
            until = until.max(to);
        }
        worked
    }
}
