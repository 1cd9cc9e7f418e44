//! `Stop`: where a run waits for a person: a gate, a halt, a failure, a result that is out of date.

use super::RunAt;
use crate::engine::{GateId, StateGroup, Time};
use crate::plan::NodeId;
use crate::text::counted;

/// One place where a run waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stop {
    pub since: Time,
    pub kind: StopKind,
    pub node: NodeId,
}

/// What a person is waited for with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopKind {
    Gate(GateId),
    /// A breakpoint, or a held call.
    Halt,
    Failure,
    Stale,
}

impl StopKind {
    /// Whether it is of the same kind, whichever gate.
    pub fn is_like(self, other: Self) -> bool {
        matches!((self, other), (Self::Gate(_), Self::Gate(_))) || self == other
    }

    /// One of them.
    pub fn word(self) -> &'static str {
        match self {
            Self::Gate(_) => "gate",
            Self::Halt => "halt",
            Self::Failure => "failure",
            Self::Stale => "stale result",
        }
    }

    /// So many of them, as the header counts them.
    pub fn counted(self, count: usize) -> String {
        match self {
            Self::Gate(_) => format!("{count} {} you", if count == 1 { "needs" } else { "need" }),
            Self::Halt => counted(count, "halt"),
            Self::Failure => format!("{count} failed"),
            Self::Stale => format!("{count} stale"),
        }
    }
}

/// All of them, the oldest first. One that waits at a gate halts after that, if at all.
pub fn stops(seen: &RunAt) -> Vec<Stop> {
    let run = &seen.run;
    let gates = run.open_gates().map(|gate| Stop { since: gate.opened, node: gate.node.clone(), kind: StopKind::Gate(gate.id) });
    let others = run.nodes().filter_map(|(id, node)| {
        let halts = || run.kept(id).is_some() || run.held_calls(id).next().is_some();
        let (kind, since) = match node.state.group() {
            StateGroup::Failed => (StopKind::Failure, node.span.finished),
            StateGroup::Ahead | StateGroup::Working | StateGroup::Resting if halts() => {
                (StopKind::Halt, seen.timeline.stretches(id).last().map(|last| last.from))
            }
            StateGroup::Ahead | StateGroup::Working | StateGroup::Resting | StateGroup::Waiting => return None,
            StateGroup::Done | StateGroup::NotRun if node.stale.is_some() => (StopKind::Stale, node.span.finished),
            StateGroup::Done | StateGroup::NotRun => return None,
        };
        Some(Stop { since: since.unwrap_or_default(), node: id.clone(), kind })
    });
    let mut all: Vec<Stop> = gates.chain(others).collect();
    all.sort();
    all
}
