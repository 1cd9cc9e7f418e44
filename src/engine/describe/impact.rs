//! An action's impact, line by line.

use crate::engine::{Impact, Outcome};
use crate::plan::NodeId;
use crate::text::Plain;

/// Nodes that one line names.
const NAMED: usize = 60;

/// What an action changes at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeImpact {
    Stale,
    Void,
    Starts,
    Holds,
    Wraps,
    Skips,
    Cancels,
    Reruns,
    Stops,
}

/// What one line of an impact is about, for those who style it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImpactLine {
    Nodes(NodeImpact),
    Ends(Outcome),
    Lost,
}

impl NodeImpact {
    /// The worst last.
    pub const ALL: [Self; 9] =
        [Self::Stale, Self::Void, Self::Starts, Self::Holds, Self::Wraps, Self::Skips, Self::Cancels, Self::Reruns, Self::Stops];

    /// For a row of the node.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Void => "gate closes",
            Self::Starts => "starts",
            Self::Holds => "held",
            Self::Wraps => "wraps up",
            Self::Skips => "skipped",
            Self::Cancels => "cancelled",
            Self::Reruns => "again",
            Self::Stops => "stopped",
        }
    }

    /// In front of the nodes' names.
    fn label(self) -> &'static str {
        match self {
            Self::Stale => "leaves stale",
            Self::Void => "closes gates of",
            Self::Starts => "starts",
            Self::Holds => "holds",
            Self::Wraps => "ends early, with what they have",
            Self::Skips => "skips",
            Self::Cancels => "cancels before start",
            Self::Reruns => "runs again",
            Self::Stops => "stops at work",
        }
    }

    pub fn nodes(self, impact: &Impact) -> &[NodeId] {
        // Without `..`, so that a list that is new there is thought of here.
        let Impact { stops, wraps, skips, cancels, reruns, holds, starts, voids, stale, lost: _, ends: _ } = impact;
        match self {
            Self::Stale => stale,
            Self::Void => voids,
            Self::Starts => starts,
            Self::Holds => holds,
            Self::Wraps => wraps,
            Self::Skips => skips,
            Self::Cancels => cancels,
            Self::Reruns => reruns,
            Self::Stops => stops,
        }
    }
}

impl Impact {
    /// The worst first; none where nothing changes at once.
    pub fn lines(&self) -> Vec<(ImpactLine, Plain)> {
        let kinds = NodeImpact::ALL.into_iter().rev().filter(|kind| !kind.nodes(self).is_empty());
        let nodes = kinds.map(|kind| (ImpactLine::Nodes(kind), Plain::summary(&format!("{}: {}", kind.label(), names(kind.nodes(self))))));
        let ends = self.ends.map(|outcome| (ImpactLine::Ends(outcome), Plain::line(&format!("ends the run: {}", outcome.word()))));
        let is_lost = self.lost.tokens > 0 || self.lost.cost_usd > 0.0 || self.lost.work_ms.is_some_and(|ms| ms > 0);
        let lost = is_lost.then(|| self.lost.label());
        nodes.chain(ends).chain(lost.map(|lost| (ImpactLine::Lost, Plain::line("lost or repeated: ").then(&lost)))).collect()
    }
}

fn names(nodes: &[NodeId]) -> String {
    let named: Vec<&str> = nodes.iter().take(NAMED).map(NodeId::as_str).collect();
    let more = nodes.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
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
        let impact = Impact { wraps: vec!["a".into(), "b".into()], stale: vec!["c".into()], lost, ends, ..Impact::default() };
        let expected =
            ["ends early, with what they have: a, b", "leaves stale: c", "ends the run: failed", "lost or repeated: work 0ms, 7 tokens"];
        assert_eq!(lines(&impact), expected);
        let work = Impact { lost: Totals { work_ms: Some(1_200), ..Totals::default() }, ..Impact::default() };
        assert_eq!(lines(&work), ["lost or repeated: work 1.2s"]);
    }
}
