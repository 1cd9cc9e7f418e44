//! `Pick`: a list with a search line, what stands in it, and what follows when something of it is picked.

use super::field::TextField;
use super::{Branching, GateKey, Offer, SetupChoice, fuzzy};
use crate::engine::{Action, RunId};
use crate::host::client::{PromptOffer, RuleScope, TrustItem};
use crate::plan::{Edge, NodeId, NodeKind};
use crate::text::Plain;

/// What a text is taken for that matches nothing of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypedAs {
    /// The address of a server, to set it up.
    Address,
    /// The name of a model of the server in use.
    Model,
    /// The name of a model of the server that is set up.
    SetUpModel,
}

/// A list with a search line.
#[derive(Clone, Debug)]
pub struct Pick {
    pub title: Plain,
    /// What to know before; may be empty.
    pub note: Plain,
    /// Where the host searches: the words for which it found the items.
    pub found_for: Option<String>,
    /// What becomes of a text that matches nothing, where something does.
    pub otherwise: Option<(TypedAs, Plain)>,
    /// What is searched for.
    pub query: TextField,
    pub items: Vec<PickItem>,
    /// Which items match, best first.
    pub shown: Vec<usize>,
    /// Which line is marked.
    pub selected: usize,
    /// Whether what can't be taken now is shown too, with why.
    pub unfolded: bool,
}

/// One line of a list to pick from.
#[derive(Clone, Debug)]
pub struct PickItem {
    /// What follows when it is picked.
    pub then: PickThen,
    /// What it is called.
    pub label: Plain,
    pub detail: Plain,
    /// The key that does the same, if any.
    pub key: Option<String>,
    /// Why it can't be picked now.
    pub refused: Option<Plain>,
    /// Below which heading it is; empty for none.
    pub group: &'static str,
}

/// What follows when something is picked.
#[derive(Clone, Debug, PartialEq)]
pub enum PickThen {
    /// Run the command of that id.
    Command(&'static str),
    /// Pick who does the work of a new node.
    AddBy(Performer),
    /// Add a node that does this, called like this.
    Add(String, Box<NodeKind>),
    /// Give the node this work, which another agent or tool does.
    Work(NodeId, Box<NodeKind>),
    /// Edit the condition of that edge.
    Condition(Box<Edge>),
    /// Edit all of that edge.
    WholeEdge(Box<Edge>),
    /// Do that with the shown run.
    Act(Offer),
    /// Branch off and do this first.
    Branch(Vec<Action>),
    /// Branch off with something other at the selected node.
    BranchWith(Branching),
    OpenRun(RunId),
    /// Compare the shown run with that one.
    CompareRun(RunId),
    /// Reject the result of the first node, so that the second one works again.
    Rewind(NodeId, NodeId),
    Theme(String),
    /// Type the keys of that command.
    Keys(&'static str),
    /// Take that plan of several.
    Rival(usize),
    Model(String),
    /// Type the name of a model.
    OtherModel,
    /// Go on with setting up a model.
    SetUp(SetupChoice),
    /// Start the plan with that model, and these actions first.
    StartWith(&'static str, Vec<Action>),
    /// Show what that file would change, and ask.
    Trust(Box<TrustItem>),
    /// Keep the rule of that scope which the yes to the gate becomes.
    KeepRule(GateKey, RuleScope),
    /// Write which arguments that rule covers.
    ShapeRule(GateKey),
    /// Begin a request with that prompt of a server.
    Prompt(Box<PromptOffer>),
    /// Answer the gate with that option.
    Answer(GateKey, String),
    /// Edits a part of what a gate asks about, or all of it.
    EditPart(GateKey, Option<String>),
    /// Edits what a gate asks about.
    EditGate(GateKey),
    /// Type the name of the model that a node is tried again with.
    GateModel(GateKey),
    /// Type what the planner is to hear after a failure.
    GateReplan(GateKey),
    /// Take that piece of a new plan, or leave it out.
    Piece(GateKey, usize),
}

/// Who does the work of a new node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Performer {
    Agent,
    Tool,
    /// An agent whose answer picks one edge.
    Decider,
}

impl Pick {
    /// A list of which everything is shown.
    pub fn new(title: &str, items: Vec<PickItem>) -> Self {
        let mut pick = Self {
            title: Plain::summary(title),
            note: Plain::default(),
            found_for: None,
            otherwise: None,
            query: TextField::line(""),
            items,
            shown: Vec::new(),
            selected: 0,
            unfolded: false,
        };
        pick.search();
        pick
    }

    /// Searches again, after the query changed. What can't be taken now is found, and not shown before.
    pub fn search(&mut self) {
        let items = self.items.iter().map(|item| (item.label.as_str(), item.detail.as_str()));
        self.shown = match &self.found_for {
            None => fuzzy::rank(&self.query.text(), items),
            // Until the host has searched, what it found before is gone through.
            Some(words) => {
                let mut shown = fuzzy::having(&self.query.text(), items);
                if words == self.query.text().trim() {
                    let rest: Vec<usize> = (0..self.items.len()).filter(|at| !shown.contains(at)).collect();
                    shown.extend(rest);
                }
                shown
            }
        };
        if self.query.is_empty() && !self.unfolded && self.items.iter().any(|item| item.refused.is_none()) {
            self.shown.retain(|at| self.items[*at].refused.is_none());
        }
        self.selected = 0;
    }

    /// How many items are not shown, as they can't be taken now.
    pub fn folded(&self) -> usize {
        if self.query.is_empty() { self.items.len() - self.shown.len() } else { 0 }
    }

    /// Shows them too.
    pub fn unfold(&mut self) {
        let at = self.selected;
        self.unfolded = true;
        self.search();
        self.selected = at;
    }

    /// Lines to walk through: what is folded is one.
    pub fn lines(&self) -> usize {
        self.shown.len() + usize::from(self.folded() > 0)
    }

    /// Whether the line of what is folded is marked.
    pub fn is_at_fold(&self) -> bool {
        self.folded() > 0 && self.selected >= self.shown.len()
    }

    /// Whether the letters that move elsewhere move here too, as long as nothing is typed.
    pub fn walks(&self) -> bool {
        self.query.is_empty() && self.items.iter().all(|item| matches!(item.then, PickThen::Theme(_)))
    }

    pub fn marked(&self) -> Option<&PickItem> {
        self.shown.get(self.selected).and_then(|at| self.items.get(*at))
    }
}

impl PickItem {
    /// An item that can be picked.
    pub fn new(then: PickThen, label: &str, detail: &str) -> Self {
        Self { then, label: Plain::summary(label), detail: Plain::summary(detail), key: None, refused: None, group: "" }
    }
}
