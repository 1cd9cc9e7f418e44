//! `Offer`: what a person may be offered to do with a run. `Proposal`: an action before it is done: what it would change, node by node, what
//! that costs, and the words that a person gives for it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::RunAt;
use crate::engine::{Action, Command, Impact, Moment, NodeImpact, Run, RunId, Time};
use crate::plan::{Breakpoint, NodeId};

/// Something that can be offered to be done with a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Offer {
    /// An action as it is.
    Act(Action),
    /// Asks for a value first.
    Value(NodeId),
    /// Asks for words first.
    Guide(NodeId),
    /// Asks for whom first.
    Rewind(NodeId),
    /// Asks for a breakpoint, at that node to begin with.
    Break(NodeId),
    /// The list of breakpoints.
    Breaks,
    /// Undoes the newest action.
    Undo,
    /// Why a node isn't running.
    Why,
}

impl Offer {
    /// Why it can't be done with a run now; what is asked for first is taken as given.
    pub fn refusal(&self, run: &Run) -> Option<String> {
        let action = match self {
            Self::Undo => return run.refusal(&Command::Undo),
            Self::Breaks | Self::Why => return None,
            // Without a result it would only lose the one that it has.
            Self::Act(Action::Override { node, value: Value::Null }) if run.node(node).is_some_and(|node| node.state.has_result()) => {
                return Some("it is done already".into());
            }
            Self::Act(action) => action.clone(),
            Self::Value(node) => Action::Override { node: node.clone(), value: Value::Null },
            Self::Guide(node) => Action::Guide { node: node.clone(), text: "-".into() },
            Self::Rewind(node) => {
                let action = |to: &NodeId| Action::Rewind { node: node.clone(), to: to.clone(), feedback: "-".into() };
                let targets = run.feedback_targets(node);
                let may = targets.iter().map(action).find(|action| run.refusal(&Command::act(action.clone())).is_none());
                may.unwrap_or_else(|| action(node))
            }
            Self::Break(_) => Action::Break { point: Breakpoint { at: Moment::Before, node: None, when: None, disabled: false } },
        };
        run.refusal(&Command::act(action))
    }
}

/// An action before it is done.
#[derive(Clone, Debug)]
pub struct Proposal {
    pub run: RunId,
    pub action: Action,
    /// What it would change, as the run is now.
    pub impact: Impact,
    /// Why it can't be done any more, where the run went on meanwhile.
    pub refused: Option<String>,
    /// Why it is asked, in the person's words.
    pub why: String,
    /// First line in sight.
    pub scroll: usize,
    fates: BTreeMap<NodeId, NodeImpact>,
    /// The last event that was looked at.
    seq: u64,
}

impl Proposal {
    /// What an action would do to a run as it is now.
    pub fn new(id: RunId, fold: &RunAt, action: Action, now: Time) -> Self {
        let mut proposal = Self {
            run: id,
            action,
            impact: Impact::default(),
            refused: None,
            why: String::new(),
            scroll: 0,
            fates: BTreeMap::new(),
            seq: 0,
        };
        proposal.look(&fold.run, now);
        proposal
    }

    /// Looks again, where the run went on. In proportion to the run, so once a frame at most.
    pub fn refresh(&mut self, fold: &RunAt) {
        if fold.run.last_seq() != self.seq {
            self.look(&fold.run, fold.last);
        }
    }

    fn look(&mut self, run: &Run, now: Time) {
        self.seq = run.last_seq();
        self.refused = run.refusal(&Command::act(self.action.clone()));
        self.impact = if self.refused.is_some() { Impact::default() } else { run.impact(&self.action, now) };
        let fates = NodeImpact::all().flat_map(|fate| self.impact.nodes(fate).iter().map(move |node| (node.clone(), fate)));
        self.fates = fates.collect();
    }

    /// What would become of a node, the worst of it, and whether that depends on what comes before.
    pub fn fate(&self, node: &NodeId) -> Option<(NodeImpact, bool)> {
        self.fates.get(node).map(|fate| (*fate, self.impact.may_be_otherwise(node)))
    }

    /// The command, with the words.
    pub fn command(&self) -> Command {
        Command::Act { action: Box::new(self.action.clone()), why: self.why.clone() }
    }
}
