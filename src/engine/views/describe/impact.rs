//! An action's impact, line by line.

use crate::engine::{Impact, NodeImpact, Outcome};
use crate::plan::NodeId;
use crate::text::{Plain, some_of};

/// Nodes that one line names.
const NAMED: usize = 60;

/// What one line of an impact is about, for those who style it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImpactLine {
    Nodes(NodeImpact),
    Ends(Outcome),
    Lost,
}

impl NodeImpact {
    /// The worst last, each with its word for a row, its label before nodes, and its name in JSON.
    const TABLE: [(Self, &'static str, &'static str, &'static str); 20] = [
        (Self::Stale, "stale", "leaves stale", "stale"),
        (Self::Void, "gate closes", "closes gates of", "voids"),
        (Self::Starts, "starts", "starts", "starts"),
        (Self::Succeeds, "succeeds", "succeeds", "succeeds"),
        (Self::Rehearses, "rehearses", "rehearses", "rehearses"),
        (Self::Passes, "passes", "passes through", "passes"),
        (Self::Holds, "held", "holds", "holds"),
        (Self::HoldsAfterGate, "held", "holds after its gate", "holds_after_gate"),
        (Self::Finishes, "finishes", "finishes", "finishes"),
        (Self::Wraps, "wraps up", "ends early, with what they have", "wraps"),
        (Self::Skips, "skipped", "skips", "skips"),
        (Self::Cancels, "cancelled", "cancels before it runs", "cancels"),
        (Self::Fails, "fails", "fails", "fails"),
        (Self::Reruns, "runs again", "runs again", "reruns"),
        (Self::Runs, "runs", "runs", "runs"),
        (Self::AsksAgain, "asks again", "asks again", "asks_again"),
        (Self::RehearsesAgain, "rehearses again", "rehearses again", "rehearses_again"),
        (Self::ActsAgain, "runs again", "may change things a second time", "acts_again"),
        (Self::Stops, "stopped", "interrupts", "stops"),
        (Self::CancelsAtWork, "cancelled", "cancels in its work", "cancels_at_work"),
    ];

    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        Self::TABLE.iter().map(|row| row.0)
    }

    fn row(self) -> &'static (Self, &'static str, &'static str, &'static str) {
        &Self::TABLE[self as usize]
    }

    /// For a row of the node.
    pub fn word(self) -> &'static str {
        self.row().1
    }

    /// In front of the nodes' names.
    fn label(self) -> &'static str {
        self.row().2
    }

    /// The same of nodes that are reached only if what comes before leads there.
    fn label_if_reached(self) -> &'static str {
        match self {
            Self::Reruns => "runs again if the plan still leads there",
            Self::Runs => "runs if the plan leads there",
            Self::AsksAgain => "asks again if the plan still leads there",
            Self::RehearsesAgain => "rehearses again if the plan still leads there",
            Self::ActsAgain => "may change things a second time, if the plan still leads there",
            other => other.label(),
        }
    }

    /// The wider kind of change whose nodes it names more exactly.
    pub(in crate::engine) fn of(self) -> Option<Self> {
        match self {
            Self::Rehearses => Some(Self::Succeeds),
            Self::Runs | Self::AsksAgain | Self::RehearsesAgain => Some(Self::Reruns),
            Self::CancelsAtWork => Some(Self::Stops),
            Self::HoldsAfterGate => Some(Self::Holds),
            _ => None,
        }
    }

    pub fn key(self) -> &'static str {
        self.row().3
    }
}

impl Impact {
    /// The worst first; none where nothing changes at once.
    pub fn lines(&self) -> Vec<(ImpactLine, Plain)> {
        self.lines_by(NodeId::to_string)
    }

    /// The same with other names of the nodes.
    pub fn lines_by(&self, name: impl Fn(&NodeId) -> String) -> Vec<(ImpactLine, Plain)> {
        let named = NodeImpact::all().rev().map(|kind| (kind, self.named(kind))).filter(|(_, nodes)| !nodes.is_empty());
        let line = |kind: NodeImpact, label: &str, nodes: &[&NodeId]| {
            let names: Vec<String> = nodes.iter().map(|node| name(node)).collect();
            let line = Plain::summary(&format!("{label}: {}", some_of(&names, NAMED)));
            (!nodes.is_empty()).then_some((ImpactLine::Nodes(kind), line))
        };
        let nodes = named.flat_map(|(kind, nodes)| {
            let (later, sure): (Vec<_>, Vec<_>) = nodes.into_iter().partition(|node| self.may_be_otherwise(node));
            [line(kind, kind.label(), &sure), line(kind, kind.label_if_reached(), &later)].into_iter().flatten()
        });
        let ends = self.ends.map(|outcome| (ImpactLine::Ends(outcome), Plain::line(&format!("ends the run: {}", outcome.word()))));
        let is_lost = self.lost.tokens > 0 || self.lost.cost_usd > 0.0 || self.lost.work_ms.is_some_and(|ms| ms > 0);
        let lost = is_lost.then(|| Plain::line("spent on what is dropped: ").then(&self.lost.label()));
        nodes.chain(ends).chain(lost.map(|lost| (ImpactLine::Lost, lost))).collect()
    }

    /// The nodes of a kind that no narrower one names.
    fn named(&self, kind: NodeImpact) -> Vec<&NodeId> {
        let narrower: Vec<&NodeId> =
            NodeImpact::all().filter(|other| other.of() == Some(kind)).flat_map(|other| self.nodes(other)).collect();
        self.nodes(kind).iter().filter(|node| !narrower.contains(node)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Totals;

    #[test]
    fn every_kind_of_change_has_a_line_and_what_is_lost_too() {
        let lines = |impact: &Impact| impact.lines().into_iter().map(|(_, line)| line.into_string()).collect::<Vec<_>>();
        assert_eq!(lines(&Impact::default()), Vec::<String>::new());
        let lost = Totals { tokens: 7, work_ms: Some(0), ..Totals::default() };
        let ends = Some(Outcome::Failed);
        let mut impact = Impact { lost, ends, ..Impact::default() };
        for (kind, node) in [(NodeImpact::Wraps, "a"), (NodeImpact::Stale, "c"), (NodeImpact::Wraps, "b")] {
            impact.add(kind, node.into());
        }
        assert!(NodeImpact::all().enumerate().all(|(at, kind)| kind as usize == at), "the table has a row for every kind");
        let expected = [
            "ends early, with what they have: a, b",
            "leaves stale: c",
            "ends the run: failed",
            "spent on what is dropped: work 0ms, 7 tokens",
        ];
        assert_eq!(lines(&impact), expected);
        let work = Impact { lost: Totals { work_ms: Some(1_200), ..Totals::default() }, ..Impact::default() };
        assert_eq!(lines(&work), ["spent on what is dropped: work 1.2s"]);
    }
}
