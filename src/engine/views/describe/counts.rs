//! `NodeCounts`: the nodes of a run in numbers, the same in header, dialogs, farewell, shell and JSON. Nodes inside others are counted
//! apart, those that have not begun too where their number is known.

use super::listed;
use crate::engine::{NodeState, RunState, RunStatus, StateGroup};
use crate::text::Plain;
use serde::Serialize;

/// Nodes of the run's own plan by how they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NodeCounts {
    pub all: u32,
    pub done: u32,
    /// No model answered: nothing of them happened.
    pub rehearsed: u32,
    /// At work, or between two attempts.
    pub running: u32,
    /// At work when the run was interrupted.
    pub interrupted: u32,
    /// Wait for a person.
    pub waiting: u32,
    pub failed: u32,
    pub failed_safe: u32,
    /// Skipped or cancelled.
    pub not_run: u32,
    /// Of those done, with a result that was made of earlier ones.
    pub stale: u32,
    pub inside: u32,
    /// Of those inside, have ended.
    pub inside_ended: u32,
}

/// What a number of nodes has in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedNodes {
    Done,
    Rehearsed,
    Running,
    Interrupted,
    Waiting,
    Failed,
    FailedSafe,
    NotRun,
    Stale,
    Inside,
}

/// How far what runs inside a node, or a run's nodes, is.
pub fn inside_ended(ended: u32, all: u32) -> String {
    format!("{ended}/{all} inside ended")
}

impl NodeState {
    /// Whether nobody works at a node that is at work by the journal, as its run is so.
    pub fn is_interrupted(&self, run: RunStatus) -> bool {
        run == RunStatus::Interrupted && self.is_at_work()
    }

    /// How a node is that is at work by the journal in a run that is not: it is as its run is, as all that is inside of it is.
    pub fn rests_as(&self, run: RunStatus) -> Option<RunStatus> {
        let rests =
            matches!(run, RunStatus::Interrupted | RunStatus::Waiting | RunStatus::Held | RunStatus::Paused | RunStatus::NotUnderWay);
        (rests && self.is_at_work()).then_some(run)
    }

    /// The word on screens, for a node of a run that is so.
    pub fn label(&self, run: RunStatus) -> &'static str {
        self.rests_as(run).map_or(self.word(), RunStatus::word)
    }
}

impl RunState {
    /// In proportion to the nodes of the run's own plan. `status` is the run's own, or what it is without a driver.
    pub fn counts(&self, status: RunStatus) -> NodeCounts {
        let mut counts = NodeCounts::default();
        for (id, node) in self.own_nodes() {
            counts.all += 1;
            counts.stale += u32::from(node.stale.is_some());
            counts.inside += self.count_inside(id);
            counts.inside_ended += node.inside.over;
            match node.state.group() {
                // The run is about to be cancelled, as it is left.
                _ if status == RunStatus::Cancelled && !node.state.has_ended() => counts.not_run += 1,
                StateGroup::Ahead => {}
                StateGroup::Working | StateGroup::Resting => match node.state.rests_as(status) {
                    Some(RunStatus::Interrupted) => counts.interrupted += 1,
                    // What it waits for is inside.
                    Some(_) => {}
                    None => counts.running += 1,
                },
                StateGroup::Waiting => counts.waiting += 1,
                StateGroup::Done if node.state == NodeState::Rehearsed => counts.rehearsed += 1,
                StateGroup::Done => counts.done += 1,
                StateGroup::Failed if node.state == NodeState::FailedSafe => counts.failed_safe += 1,
                StateGroup::Failed => counts.failed += 1,
                StateGroup::NotRun => counts.not_run += 1,
            }
        }
        counts
    }
}

impl NodeCounts {
    /// Such as `2/4 done`, `1 failed`, `3/12 inside ended`: how many are done, and all else that isn't 0.
    pub fn parts(self) -> Vec<(CountedNodes, Plain)> {
        let Self { all, done, rehearsed, running, interrupted, waiting, failed, failed_safe, not_run, stale, inside, inside_ended } = self;
        let some = |what, count: u32, word: &str| (count > 0).then(|| (what, Plain::line(&format!("{count} {word}"))));
        let inner = (inside > 0).then(|| (CountedNodes::Inside, Plain::line(&self::inside_ended(inside_ended, inside))));
        let others = [
            some(CountedNodes::Rehearsed, rehearsed, "rehearsed"),
            some(CountedNodes::Running, running, "running"),
            some(CountedNodes::Interrupted, interrupted, "interrupted"),
            some(CountedNodes::Waiting, waiting, "waiting"),
            some(CountedNodes::Failed, failed, "failed"),
            some(CountedNodes::FailedSafe, failed_safe, "failed_safe"),
            some(CountedNodes::NotRun, not_run, "not run"),
            some(CountedNodes::Stale, stale, "stale"),
            inner,
        ];
        let done = (CountedNodes::Done, Plain::line(&format!("{done}/{all} done")));
        [done].into_iter().chain(others.into_iter().flatten()).collect()
    }

    /// All of them, with commas between.
    pub fn label(self) -> Plain {
        listed(self.parts().into_iter().map(|(_, part)| part))
    }
}
