//! `Offer`: what a person may be offered to do with a run. `Proposal`: a verb before it is said: what it would change, node by node, what
//! that costs, and the words that a person gives for it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Fold;
use crate::console::theme::Role;
use crate::engine::{Action, Command, Impact, Moment, Run, RunId, Time};
use crate::plan::{Breakpoint, NodeId};
use crate::text::counted;

/// Something that can be offered to be done with a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Offer {
    /// A verb as it is.
    Say(Action),
    /// Asks for a value first.
    Value(NodeId),
    /// Asks for words first.
    Guide(NodeId),
    /// Asks for whom first.
    Rewind(NodeId),
    /// Asks for a breakpoint, at that node to begin with.
    Break(Option<NodeId>),
    /// The list of breakpoints.
    Breaks,
    /// Takes the newest verb back.
    Undo,
}

impl Offer {
    /// Why it can't be done with a run now; what is asked for first is taken as given.
    pub fn refusal(&self, run: &Run) -> Option<String> {
        let verb = match self {
            Self::Undo => return run.refusal(&Command::Undo),
            Self::Breaks => return None,
            Self::Say(verb) => verb.clone(),
            Self::Value(node) => Action::Override { node: node.clone(), value: Value::Null },
            Self::Guide(node) => Action::Guide { node: node.clone(), text: "-".into() },
            Self::Rewind(node) => {
                let verb = |to: &NodeId| Action::Rewind { node: node.clone(), to: to.clone(), feedback: "-".into() };
                let targets = run.feedback_targets(node);
                let may = targets.iter().map(verb).find(|verb| run.refusal(&Command::act(verb.clone())).is_none());
                may.unwrap_or_else(|| verb(node))
            }
            Self::Break(_) => Action::Break { point: Breakpoint { at: Moment::Before, node: None, when: None } },
        };
        run.refusal(&Command::act(verb))
    }
}

/// A verb before it is said.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// To which run.
    pub run: RunId,
    /// Which verb.
    pub verb: Action,
    /// What it would change, as the run stands now.
    pub blast: Impact,
    /// Why it can't be carried out any more, where the run went on meanwhile.
    pub refused: Option<String>,
    /// Why it is asked, in the person's words.
    pub why: String,
    /// First line in sight.
    pub scroll: usize,
    fates: BTreeMap<NodeId, Fate>,
    /// The last event that was looked at.
    seq: u64,
}

/// What a verb would make of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// Its result would be of an earlier state of things.
    Stale,
    /// Its open question would be void.
    Void,
    /// It would start at once.
    Starts,
    /// It would be held.
    Holds,
    /// It is at work and would hand back what it has.
    Wraps,
    /// It would be skipped.
    Skips,
    /// It would be cancelled before it starts.
    Cancels,
    /// It would run again.
    Reruns,
    /// It is at work and would be stopped.
    Stops,
}

impl Fate {
    /// All of them, the worst last.
    pub const ALL: [Self; 9] =
        [Self::Stale, Self::Void, Self::Starts, Self::Holds, Self::Wraps, Self::Skips, Self::Cancels, Self::Reruns, Self::Stops];

    /// In a word for a row.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Void => "void",
            Self::Starts => "starts",
            Self::Holds => "held",
            Self::Wraps => "hands back",
            Self::Skips => "skipped",
            Self::Cancels => "cancelled",
            Self::Reruns => "again",
            Self::Stops => "stopped",
        }
    }

    /// What becomes of so many nodes.
    pub fn words(self, nodes: usize) -> String {
        let (one, several) = match self {
            Self::Stale => ("is stale, made of earlier results", "are stale, made of earlier results"),
            Self::Void => return format!("{} {}", counted(nodes, "open question"), if nodes == 1 { "is void" } else { "are void" }),
            Self::Starts => ("starts at once", "start at once"),
            Self::Holds => ("is held", "are held"),
            Self::Wraps => ("hands back what it has, and ends", "hand back what they have, and end"),
            Self::Skips => ("is skipped", "are skipped"),
            Self::Cancels => ("is cancelled before it starts", "are cancelled before they start"),
            Self::Reruns => ("runs again", "run again"),
            Self::Stops => ("is stopped at work", "are stopped at work"),
        };
        format!("{} {}", counted(nodes, "node"), if nodes == 1 { one } else { several })
    }

    /// How it looks.
    pub fn role(self) -> Role {
        match self {
            Self::Stale | Self::Void => Role::Warning,
            Self::Starts => Role::Running,
            Self::Holds => Role::Held,
            Self::Wraps => Role::Warning,
            Self::Skips => Role::Skipped,
            Self::Cancels => Role::Cancelled,
            Self::Reruns => Role::Retrying,
            Self::Stops => Role::Failed,
        }
    }

    /// The nodes of it.
    pub fn of(self, blast: &Impact) -> &[NodeId] {
        // Without `..`, so that a list that is new there is thought of here.
        let Impact { stops, wraps, skips, cancels, reruns, holds, starts, voids, stale, lost: _, ends: _ } = blast;
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

impl Proposal {
    /// What a verb would do to a run as it stands now.
    pub fn new(id: RunId, fold: &Fold, verb: Action, now: Time) -> Self {
        let mut proposal =
            Self { run: id, verb, blast: Impact::default(), refused: None, why: String::new(), scroll: 0, fates: BTreeMap::new(), seq: 0 };
        proposal.look(&fold.run, now);
        proposal
    }

    /// Looks again, where the run went on. In proportion to the run, so once a frame at most.
    pub fn refresh(&mut self, fold: &Fold) {
        if fold.run.last_seq() != self.seq {
            self.look(&fold.run, fold.clock.last);
        }
    }

    fn look(&mut self, run: &Run, now: Time) {
        self.seq = run.last_seq();
        self.refused = run.refusal(&Command::act(self.verb.clone()));
        self.blast = if self.refused.is_some() { Impact::default() } else { run.blast(&self.verb, now) };
        let fates = Fate::ALL.into_iter().flat_map(|fate| fate.of(&self.blast).iter().map(move |node| (node.clone(), fate)));
        self.fates = fates.collect();
    }

    /// What would become of a node; the worst of it.
    pub fn fate(&self, node: &NodeId) -> Option<Fate> {
        self.fates.get(node).copied()
    }

    /// The command, with the words.
    pub fn command(&self) -> Command {
        Command::Act { verb: Box::new(self.verb.clone()), why: self.why.clone() }
    }
}
