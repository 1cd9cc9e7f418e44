//! `Dialog`: what can lie over the screens, as a stack. A dialog carries what it was opened for; none of them decides a gate.

use super::{
    Doc, GateKey, KeyContext, Offer, Proposal,
    field::{Lines, TextField},
    fuzzy,
};
use crate::plan::{Edge, Field, NodeId};
use crate::text::Plain;

/// What lies over the screens.
#[derive(Clone, Debug)]
pub enum Dialog {
    /// Pick one of a list.
    Pick(Pick),
    /// Type one line.
    Line(LineDialog),
    /// Type a text.
    Editor(EditorDialog),
    /// Fill in a form.
    Form(FormDialog),
    /// All findings.
    Findings {
        /// Which one is selected.
        selected: usize,
    },
    /// An action before it is done.
    Act(Box<Proposal>),
    /// The breakpoints of the shown run.
    Breaks {
        /// Which one is selected.
        selected: usize,
    },
    /// Why a node isn't running.
    Why {
        /// Which node.
        node: NodeId,
        /// Which line is selected.
        selected: usize,
    },
    /// Yes or no.
    Confirm(Confirm),
    /// Something to read.
    Reader(ReaderDialog),
}

/// A list with a search line.
#[derive(Clone, Debug)]
pub struct Pick {
    /// What is picked.
    pub title: Plain,
    /// What is searched for.
    pub query: TextField,
    /// All there is.
    pub items: Vec<PickItem>,
    /// Which items match, best first.
    pub shown: Vec<usize>,
    /// Which line is marked.
    pub selected: usize,
    /// What the pick is for.
    pub then: PickThen,
}

/// One line of a list to pick from.
#[derive(Clone, Debug)]
pub struct PickItem {
    /// What is given to whoever asked.
    pub value: String,
    /// What it is called.
    pub label: Plain,
    /// More words.
    pub detail: Plain,
    /// The key that does the same, if any.
    pub key: Option<String>,
    /// Why it can't be picked now.
    pub refused: Option<Plain>,
}

/// What a pick is for.
#[derive(Clone, Debug, PartialEq)]
pub enum PickThen {
    /// Run the command of that id.
    Command,
    /// Add a node of that sort of work.
    AddKind,
    /// Add a node with that agent or tool.
    AddWorker {
        /// `agent` or `tool`.
        kind: &'static str,
    },
    /// Give the node that agent or tool.
    Worker {
        /// Which node.
        node: NodeId,
    },
    /// Edit the condition of that incoming edge.
    Edge {
        /// Which node.
        node: NodeId,
    },
    /// To edit whole.
    WholeEdge {
        /// Which node.
        node: NodeId,
    },
    /// Do that with the shown run.
    Act {
        /// What was offered when the list was made.
        offers: Vec<Offer>,
    },
    /// Branch off with that.
    Branch,
    /// Compare the shown run with that one.
    CompareRun,
    /// That node is to do better.
    Rewind {
        /// Whose result is rejected.
        node: NodeId,
    },
    /// Use that theme.
    Theme,
    /// Use that model.
    Model,
    /// Answer with that option.
    Option {
        /// Which gate.
        gate: GateKey,
    },
}

impl Pick {
    /// A list of which everything is shown.
    pub fn new(title: &str, items: Vec<PickItem>, then: PickThen) -> Self {
        let shown = (0..items.len()).collect();
        Self { title: Plain::summary(title), query: TextField::new(Lines::One, ""), items, shown, selected: 0, then }
    }

    /// Searches again, after the query changed.
    pub fn search(&mut self) {
        self.shown = fuzzy::rank(&self.query.text(), self.items.iter().map(|item| (item.label.as_str(), item.detail.as_str())));
        self.selected = 0;
    }

    /// The marked item.
    pub fn marked(&self) -> Option<&PickItem> {
        self.shown.get(self.selected).and_then(|at| self.items.get(*at))
    }
}

impl PickItem {
    /// An item that can be picked.
    pub fn new(value: &str, label: &str, detail: &str) -> Self {
        Self { value: value.to_owned(), label: Plain::summary(label), detail: Plain::summary(detail), key: None, refused: None }
    }
}

/// One line to type.
#[derive(Clone, Debug)]
pub struct LineDialog {
    /// What is asked.
    pub title: Plain,
    /// What is typed.
    pub field: TextField,
    /// What was wrong with it, or what to know.
    pub note: Option<Plain>,
    /// What the line is for.
    pub then: LineThen,
}

/// What a line is for.
#[derive(Clone, Debug, PartialEq)]
pub enum LineThen {
    /// The node's new id.
    Rename {
        /// Which node.
        node: NodeId,
    },
    /// The plan's new goal.
    Goal,
    /// The edge's new condition; empty for none.
    Condition {
        /// The edge as it is.
        edge: Box<Edge>,
    },
    /// The file to write the plan into.
    SaveFile,
    /// The file of a plan to compare with.
    CompareFile,
    /// What an event is to say.
    FindEvent,
    /// Why an action is asked for.
    Why,
    /// A breakpoint, in place of that one.
    Break {
        /// Which one.
        id: Option<crate::engine::BreakId>,
    },
    /// Words to reject a gate with.
    Reject {
        /// Which gate.
        gate: GateKey,
    },
}

/// A text to type.
#[derive(Clone, Debug)]
pub struct EditorDialog {
    /// What is edited.
    pub title: Plain,
    /// What is typed.
    pub field: TextField,
    /// The text as it was.
    pub before: String,
    /// What to know about it.
    pub about: &'static str,
    /// What was wrong with it.
    pub note: Option<Plain>,
    /// What the text is for.
    pub then: EditThen,
}

/// What a text is for.
#[derive(Clone, Debug, PartialEq)]
pub enum EditThen {
    /// The node's text.
    NodeText {
        /// Which node.
        node: NodeId,
    },
    /// The whole node as JSON.
    Node {
        /// Which node.
        node: NodeId,
    },
    /// An edge as JSON.
    Edge {
        /// As it was, by addresses.
        edge: Box<Edge>,
    },
    /// The text of a node that is added to a run then.
    NewNode {
        /// The node.
        node: Box<crate::plan::Node>,
    },
    /// Another result of the node.
    Override {
        /// Which node.
        node: NodeId,
    },
    /// Words for the node's next turn.
    Guide {
        /// Which node.
        node: NodeId,
    },
    /// What a branch has other at a node.
    Branch {
        /// Which node.
        node: NodeId,
        /// What of it.
        what: Branching,
    },
    /// Why a result is rejected.
    Feedback {
        /// Whose result.
        node: NodeId,
        /// Who is to do better.
        to: NodeId,
    },
    /// The plan's inputs as JSON.
    Inputs,
    /// The whole plan as JSON.
    WholePlan,
    /// Another payload for a gate.
    Payload {
        /// Which gate.
        gate: GateKey,
    },
    /// The answer to a gate's question.
    Answer {
        /// Which gate.
        gate: GateKey,
    },
    /// The answer to a gate's form, as JSON.
    FormAnswer {
        /// Which gate.
        gate: GateKey,
    },
}

/// What of a node a branch has other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branching {
    /// Its text.
    Text,
    /// All its fields.
    Node,
    /// Its result.
    Value,
}

impl EditorDialog {
    /// A text to edit, from its start on.
    pub fn new(title: Plain, text: &str, then: EditThen) -> Self {
        let mut field = TextField::new(Lines::Many, text);
        field.rewind();
        Self { title, field, before: text.to_owned(), about: "", note: None, then }
    }
}

impl LineThen {
    /// Whether it edits something that is there, so that a line left as it was changes nothing.
    pub fn is_edit(&self) -> bool {
        match self {
            Self::Rename { .. } | Self::Goal | Self::Condition { .. } => true,
            Self::SaveFile | Self::CompareFile | Self::FindEvent | Self::Why | Self::Break { .. } | Self::Reject { .. } => false,
        }
    }
}

impl EditThen {
    /// Whether it edits something that is there, so that a text left as it was changes nothing.
    pub fn is_edit(&self) -> bool {
        match self {
            Self::NodeText { .. } | Self::Node { .. } | Self::Edge { .. } | Self::Inputs | Self::WholePlan | Self::Payload { .. } => true,
            Self::NewNode { .. }
            | Self::Override { .. }
            | Self::Guide { .. }
            | Self::Feedback { .. }
            | Self::Branch { .. }
            | Self::Answer { .. }
            | Self::FormAnswer { .. } => false,
        }
    }
}

/// A form to fill in.
#[derive(Clone, Debug)]
pub struct FormDialog {
    /// What is asked.
    pub title: Plain,
    /// The fields; first the option to take, where there are some.
    pub fields: Vec<(Asks, TextField)>,
    /// Which one takes keys.
    pub focus: usize,
    /// What was wrong with it.
    pub note: Option<Plain>,
    /// For which gate.
    pub gate: GateKey,
}

/// What a line of a form asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Asks {
    /// One of these options.
    Option(Vec<String>),
    /// A field.
    Field(Field),
}

/// A question that wants yes or no.
#[derive(Clone, Debug)]
pub struct Confirm {
    /// The question, and what a yes would do.
    pub lines: Vec<Plain>,
    /// What a yes does.
    pub then: Confirmed,
}

/// What a yes does.
#[derive(Clone, Debug, PartialEq)]
pub enum Confirmed {
    /// Branches a new run off.
    Branch {
        /// Which run.
        run: crate::engine::RunId,
        /// The last event that is kept.
        seq: u64,
        /// What comes first.
        actions: Vec<crate::engine::Action>,
    },
    /// Drives a run on that was interrupted.
    Resume(crate::engine::RunId),
    /// Cancels all runs and leaves.
    CancelAllAndQuit,
    /// Drops the text that was being edited.
    DropText,
    /// Leaves; the plan's changes are lost.
    Leave,
    /// Writes a plan over the file that is there.
    Replace {
        /// The file.
        path: String,
        /// The plan.
        plan: Box<crate::plan::Plan>,
    },
}

/// Something to read.
#[derive(Clone, Debug)]
pub struct ReaderDialog {
    /// What is read.
    pub what: Reading,
    /// First line in sight.
    pub scroll: usize,
}

/// What is read.
#[derive(Clone, Debug)]
pub enum Reading {
    /// What works here.
    Help {
        /// Contexts that held when help was asked for, innermost first.
        contexts: Vec<KeyContext>,
        /// The lines, made anew before each frame: what can be used changes while they are read.
        lines: Doc<'static>,
    },
    /// The inspector, alone.
    Inspector,
    /// The selected gate, alone.
    Gate,
    /// Some words.
    Words {
        /// A title.
        title: Plain,
        /// The words.
        lines: Vec<Plain>,
    },
}

impl Dialog {
    /// The text field that takes keys, if one does.
    pub fn field(&mut self) -> Option<&mut TextField> {
        match self {
            Self::Pick(pick) => Some(&mut pick.query),
            Self::Line(line) => Some(&mut line.field),
            Self::Editor(editor) => Some(&mut editor.field),
            Self::Form(form) => form.fields.get_mut(form.focus).map(|(_, field)| field),
            Self::Findings { .. } | Self::Act(_) | Self::Breaks { .. } | Self::Why { .. } | Self::Confirm(_) | Self::Reader(_) => None,
        }
    }
}
