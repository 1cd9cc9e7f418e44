//! How a plan ended, by its final nodes: the run's own plan and every body by the same rules. Why a node was skipped, and so why its edges
//! are dead, is known only once all of its sources are over; that is found here, when the plan is over. In proportion to the plan.

use super::{
    EdgeId, EdgeState, Mark, NodeState, SkippedBy, StateGroup,
    graph::NodeIx,
    inner_run::{InnerRun, InnerRunIx},
    run::RunState,
    state::EndKind,
};
use crate::plan::{Dialect, Join};
use std::collections::BTreeMap;

/// Nodes that ended badly which are named one by one.
const NAMED: usize = 4;

/// Why a node was skipped; the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SkipCause {
    /// A guard, a condition or a decision led elsewhere.
    Routed,
    /// It needed a branch that was routed away, and another branch led to it.
    Unmet,
    /// Something failed or was cancelled, or a person skipped it.
    Broken,
}

/// How a plan ended, in numbers of its nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PlanEnd {
    /// Final nodes that ended well.
    pub well: u32,
    /// Of those, were rehearsed.
    pub rehearsed: u32,
    /// Final nodes that ended badly.
    pub badly: u32,
    /// Nodes that failed or were cancelled; those that failed safe only where they are final. Bodies that ended in part count too.
    pub failed: u32,
    /// The first of these.
    pub bad: Vec<NodeIx>,
    /// Whether a person skipped a node and another one ran without what it was to give.
    pub forgone: bool,
    /// The first node that needed a branch that was not taken.
    pub unmet: Option<NodeIx>,
    /// A stage that is not terminal, at which a walk stopped.
    pub stopped_at: Option<NodeIx>,
}

impl PlanEnd {
    pub fn has_failed(&self) -> bool {
        self.stopped_at.is_some() || self.well == 0 && self.badly > 0
    }

    pub fn is_partial(&self) -> bool {
        self.badly > 0 || self.failed > 0 || self.forgone || self.unmet.is_some()
    }

    /// Whether every final node was routed away.
    pub fn had_nothing_due(&self) -> bool {
        self.well + self.badly == 0 && self.stopped_at.is_none()
    }
}

impl RunState {
    /// How a plan that is over ended.
    pub(super) fn plan_end(&self, inner: InnerRunIx) -> PlanEnd {
        let mut end = PlanEnd::default();
        let Some(inner) = self.inner(inner) else { return end };
        let causes = self.skip_causes(inner);
        let last = self.last_of_walk(inner);
        for ix in inner.nodes() {
            let before = end.failed;
            let shape = &self.graph.nodes[ix];
            let is_final = u32::from(shape.outs.is_empty() || self.is_terminal(ix) || last == Some(ix));
            let node = &self.nodes[ix];
            match node.state.group() {
                StateGroup::Done => {
                    end.rehearsed += if node.state == NodeState::Rehearsed { is_final } else { 0 };
                    end.well += is_final;
                    end.failed += u32::from(node.mark == Some(Mark::Partial));
                }
                // A failure that its consumers got is theirs to judge; at a final node nobody is left to.
                StateGroup::Failed if node.state.end() == EndKind::Gives => {
                    end.badly += is_final;
                    end.failed += is_final;
                }
                StateGroup::NotRun if node.state == NodeState::Skipped => {
                    end.forgone |= self.flows[ix].outcome.skipped_by == SkippedBy::Person && self.is_missed(ix);
                    match causes.get(&ix) {
                        Some(SkipCause::Broken) => end.badly += is_final,
                        Some(SkipCause::Unmet) => {
                            end.badly += is_final;
                            end.unmet.get_or_insert(ix);
                        }
                        Some(SkipCause::Routed) | None => {}
                    }
                }
                StateGroup::Failed | StateGroup::NotRun => {
                    end.badly += is_final;
                    end.failed += 1;
                }
                StateGroup::Ahead | StateGroup::Waiting | StateGroup::Working | StateGroup::Resting => {}
            }
            if end.failed > before && end.bad.len() < NAMED {
                end.bad.push(ix);
            }
        }
        let has_terminals = inner.plan.dialect == Dialect::Stages && !inner.plan.edges.is_empty();
        end.stopped_at = last.filter(|&ix| has_terminals && !self.is_terminal(ix));
        end
    }

    /// Whether a node that this one leads to ran without it; one that a person gave a result needs nothing.
    fn is_missed(&self, ix: NodeIx) -> bool {
        let mut targets = self.graph.nodes[ix].outs.iter().map(|&edge| self.graph.link(edge).to);
        targets.any(|target| self.has_started(target) && self.nodes[target].mark != Some(Mark::Overridden))
    }

    /// Where the token of a walk came last.
    fn last_of_walk(&self, inner: &InnerRun) -> Option<NodeIx> {
        let was_reached = |ix: NodeIx| self.has_started(ix) || self.nodes[ix].state == NodeState::Passed;
        let went_on = |ix: NodeIx| {
            let outs = self.graph.nodes[ix].outs.iter();
            outs.filter(|&&edge| self.edge_state(edge) == EdgeState::Taken).any(|&edge| was_reached(self.graph.link(edge).to))
        };
        inner.nodes().find(|&ix| inner.plan.dialect.walks() && was_reached(ix) && !went_on(ix))
    }

    /// Why each skipped node of a plan was skipped. A cause passes on from node to node and only ever gets worse.
    fn skip_causes(&self, inner: &InnerRun) -> BTreeMap<NodeIx, SkipCause> {
        let skipped = inner.nodes().filter(|&ix| self.nodes[ix].state == NodeState::Skipped);
        let mut causes: BTreeMap<NodeIx, SkipCause> = skipped.map(|ix| (ix, self.own_cause(ix))).collect();
        let mut next: Vec<NodeIx> = causes.keys().copied().collect();
        while let Some(source) = next.pop() {
            for &edge in &self.graph.nodes[source].outs {
                let target = self.graph.link(edge).to;
                let (Some(&cause), Some(&known)) = (causes.get(&source), causes.get(&target)) else { continue };
                let cause = self.passed_on(edge, cause);
                if self.is_closed(target) && cause > known {
                    causes.insert(target, cause);
                    next.push(target);
                }
            }
        }
        causes
    }

    /// The cause of a skip as far as nodes that were not skipped say.
    fn own_cause(&self, ix: NodeIx) -> SkipCause {
        let ended = |edge: &EdgeId| {
            let state = &self.nodes[self.graph.link(*edge).from].state;
            state.ended_badly() && state.end() == EndKind::Closes
        };
        let dead = || self.graph.nodes[ix].ins.iter().filter(|&&edge| self.edge_state(edge) == EdgeState::Dead);
        let broken = self.flows[ix].outcome.skipped_by == SkippedBy::Person || self.is_closed(ix) && dead().any(ended);
        if broken { SkipCause::Broken } else { SkipCause::Routed }
    }

    /// What a skipped node's cause comes to at the end of an edge: an unconditional edge that its target needed beside another one is unmet.
    fn passed_on(&self, edge: EdgeId, cause: SkipCause) -> SkipCause {
        let link = self.graph.link(edge);
        let needs = match self.graph.nodes[link.to].join {
            None | Some(Join::All) => !link.alternative,
            Some(Join::Settled | Join::Any | Join::Always) => false,
        };
        let tally = self.flows[link.to].tally;
        let got_another = tally.plain.taken + tally.alternatives.taken > 0;
        if cause == SkipCause::Routed && needs && got_another { SkipCause::Unmet } else { cause }
    }

    /// Whether its join, and not its own guard, keeps a node from running.
    fn is_closed(&self, ix: NodeIx) -> bool {
        self.flows[ix].tally.verdict(self.graph.nodes[ix].join) == Some(false)
    }
}
