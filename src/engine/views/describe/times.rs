//! The three times, defined here and nowhere else; whatever shows one of them says which.
//!
//! - **Elapsed**: from start to end. Of a run from its creation, of a branch from where it left its parent, to the run's end, or to now
//!   while it is open. Pauses and waits are part of it; the time in which it was over, until somebody opened it again, is not.
//! - **Work time**: while a worker worked. Of a node all attempts of its generation together; a node with a plan inside works as long as
//!   something inside does. Of a run the work times of all nodes that have workers, added up: nodes at work side by side count twice, so it
//!   may exceed the elapsed time.
//! - **Wait time**: while a node waited for people, slots, locks, rates or its next attempt. The timeline shows it.

use crate::engine::{Mark, NodeRun, RunState, RunStatus, StopSignal, Time, WorkSpan};
use crate::text::{Plain, duration};

/// `elapsed 6.1s`
pub fn elapsed(ms: u64) -> Plain {
    Plain::line("elapsed ").then(&duration(ms))
}

/// The elapsed time of a run that is so. Of one whose process was killed nobody knows more than when its last event happened.
pub fn elapsed_of(status: RunStatus, interrupted_by: Option<StopSignal>, ms: u64) -> Plain {
    let is_killed = status == RunStatus::Interrupted && interrupted_by.is_none();
    if is_killed { elapsed(ms).then(&Plain::line(" to its last event")) } else { elapsed(ms) }
}

/// `work 45ms`
pub fn work(ms: u64) -> Plain {
    Plain::line("work ").then(&duration(ms))
}

/// The elapsed time of a run that was created then, by that moment, and was over for so long in between: of a run in memory as of one
/// that is only listed.
fn run_ms(created: Time, until: Time, over_ms: u64) -> u64 {
    until.since(created).saturating_sub(over_ms)
}

impl RunStatus {
    /// Until when the run's elapsed time counts: now while its time goes by, else when its last event happened.
    pub fn moment(self, last: Time, now: Time) -> Time {
        if self.is_timed() { now } else { last }
    }

    /// How long a run takes or took that was created then, had its last event at `last`, and was over for so long before that.
    pub fn elapsed_ms(self, created: Time, (last, over_ms): (Time, u64), now: Time) -> u64 {
        run_ms(created, self.moment(last, now), over_ms)
    }
}

impl RunState {
    pub fn began(&self) -> Time {
        self.progress.created
    }

    /// Until its end, or until `now` while it is open.
    pub fn elapsed_ms(&self, now: Time) -> u64 {
        run_ms(self.progress.created, self.progress.ended.unwrap_or(now), self.progress.over_ms)
    }

    /// How long it was over before somebody opened it again.
    pub fn over_ms(&self) -> u64 {
        self.progress.over_ms
    }

    /// Of all nodes that are over, those that only contain others apart.
    pub fn work_ms(&self) -> u64 {
        self.nodes().filter(|(_, node)| node.inside.nodes == 0).filter_map(|(_, node)| node.work_ms()).sum()
    }
}

impl NodeRun {
    /// Until `now`. `None` where the node has not begun, and where a person gave its result.
    pub fn work_ms_by(&self, now: Time) -> Option<u64> {
        let given = self.mark == Some(Mark::Overridden);
        let WorkSpan { started, working, worked_ms, .. } = self.span;
        started.filter(|_| !given).map(|_| worked_ms + working.map_or(0, |since| now.since(since)))
    }

    /// Once the node is over.
    pub fn work_ms(&self) -> Option<u64> {
        self.work_ms_by(self.span.finished?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_run_whose_process_was_killed_is_said_to_be_that_of_its_last_event() {
        let said = |status, signal| elapsed_of(status, signal, 24).into_string();
        assert_eq!(said(RunStatus::Interrupted, None), "elapsed 24ms to its last event");
        assert_eq!(said(RunStatus::Interrupted, Some(StopSignal::Terminate)), "elapsed 24ms");
        assert_eq!(said(RunStatus::Succeeded, None), "elapsed 24ms");
    }
}
