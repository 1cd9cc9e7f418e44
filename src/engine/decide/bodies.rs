//! A composite node at work: when its next body begins, and what it gives once all are over.

use super::end::plan_error;
use crate::engine::run::Decider;
use crate::engine::{
    Cause, ErrorKind, Event, Mark, NodeError, NodeFact, Time,
    ends::PlanEnd,
    graph::NodeIx,
    inner_run::{Bodies, MOST_NODES, Times},
};
use crate::plan::NodeKind;
use serde_json::Value;

impl Decider<'_> {
    /// The next step of a composite node: a body begins, or the node ends.
    pub(super) fn follow_bodies(&self, ix: NodeIx, now: Time) -> Vec<Event> {
        let Some(bodies) = &self.flows[ix].bodies else { return Vec::new() };
        match &self.flows[ix].drive.stopped_by {
            Some(who) if bodies.inner_runs.is_empty() => return self.cancel(ix, &Cause::Stopped { by: who.clone() }),
            None if bodies.may_begin() => return self.begin(ix, bodies),
            Some(_) | None => {}
        }
        match bodies.times {
            Times::Once => self.follow_once(ix, bodies, now),
            Times::Until(most) => self.follow_loop(ix, bodies, most, now),
            Times::Each(_) => self.follow_map(ix, bodies, now),
        }
    }

    /// What goes on inside is cancelled first.
    fn fail_whole(&self, ix: NodeIx, error: NodeError) -> Vec<Event> {
        let reason = Cause::PartOf { node: self.id_of(ix) };
        let inside = self.open_inside(ix).flat_map(|inner| self.cancel(inner, &reason));
        inside.chain(self.fail(ix, error, None)).collect()
    }

    /// So many nodes more than there are would be too many.
    pub(super) fn too_many(&self, more: usize) -> NodeError {
        let inside = self.nodes_inside();
        let message = format!("{inside} nodes run inside others; with {more} more they would pass the limit of {MOST_NODES}");
        NodeError::new(ErrorKind::Limit, message).hint("make the lists shorter, or the inner plans smaller")
    }

    /// The next body begins, unless the run would grow too large by it.
    fn begin(&self, ix: NodeIx, bodies: &Bodies) -> Vec<Event> {
        let nodes = bodies.body.nodes.len();
        if self.nodes_inside() + nodes > MOST_NODES {
            return self.fail_whole(ix, self.too_many(nodes));
        }
        vec![self.fact(ix, NodeFact::BodyStarted { index: bodies.next_index() })]
    }

    fn follow_once(&self, ix: NodeIx, bodies: &Bodies, now: Time) -> Vec<Event> {
        let Some(&inner) = bodies.inner_runs.last() else { return Vec::new() };
        let end = self.plan_end(inner);
        if end.has_failed() {
            let why = self.went_wrong(&end);
            return self.fail(ix, body_failed(&format!("no final node of the inner plan has a result: {why}")), None);
        }
        self.finish(ix, self.body_result(inner), self.whole_mark(ix, end.rehearsed > 0, end.is_partial()), now)
    }

    /// Loops ask their condition inside the body that has just ended.
    fn follow_loop(&self, ix: NodeIx, bodies: &Bodies, most: u32, now: Time) -> Vec<Event> {
        let (Some(&inner), Some(NodeKind::Loop(work))) = (bodies.inner_runs.last(), self.doc(ix).map(|node| &node.kind)) else {
            return Vec::new();
        };
        let turn = bodies.inner_runs.len();
        let result = self.body_result(inner);
        let end = self.plan_end(inner);
        if end.has_failed() {
            let why = self.went_wrong(&end);
            return self.fail(ix, body_failed(&format!("no final node of iteration {turn} has a result: {why}")), None);
        }
        match self.holds_in(&work.until, inner) {
            Err(message) => self.fail(ix, plan_error(message), Some(result)),
            Ok(holds) if holds || self.is_wrapping_up(ix) => {
                let bad = bodies.inner_runs.iter().any(|&inner| self.plan_end(inner).is_partial());
                self.finish(ix, result, self.whole_mark(ix, end.rehearsed > 0, bad), now)
            }
            Ok(_) if turn < most as usize => self.begin(ix, bodies),
            Ok(_) => {
                let error = NodeError::new(ErrorKind::Limit, format!("after {turn} iterations `{}` is not true", work.until));
                self.fail(ix, error.hint("raise `max_iterations` of the loop, or fix what it repeats"), Some(result))
            }
        }
    }

    /// A list by entry; null where a body failed. When none of them ended well, the node failed.
    fn follow_map(&self, ix: NodeIx, bodies: &Bodies, now: Time) -> Vec<Event> {
        let ends: Vec<PlanEnd> = bodies.inner_runs.iter().map(|&inner| self.plan_end(inner)).collect();
        let failed = ends.iter().filter(|end| end.has_failed()).count();
        if failed > 0 && failed == bodies.inner_runs.len() {
            return self.fail(ix, body_failed(&format!("all {failed} entries failed")), None);
        }
        let result = |(end, &inner): (&PlanEnd, _)| if end.has_failed() { Value::Null } else { self.body_result(inner) };
        let results = ends.iter().zip(&bodies.inner_runs).map(result).collect();
        self.finish(
            ix,
            Value::Array(results),
            self.whole_mark(ix, ends.iter().any(|end| end.rehearsed > 0), bodies.may_begin() || ends.iter().any(PlanEnd::is_partial)),
            now,
        )
    }

    /// The mark of what runs inside a node: what it gives is made up, something in it went wrong or was not done, or it was stopped.
    fn whole_mark(&self, ix: NodeIx, rehearsed: bool, bad: bool) -> Option<Mark> {
        let stopped = || self.is_wrapping_up(ix).then_some(Mark::Stopped);
        rehearsed.then_some(Mark::Rehearsal).or_else(|| bad.then_some(Mark::Partial)).or_else(stopped)
    }
}

fn body_failed(message: &str) -> NodeError {
    NodeError::permanent(message).hint("look at the nodes of the inner plan")
}
