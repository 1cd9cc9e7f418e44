//! `Dialog`: what can lie over the screens, as a stack. A dialog carries what it was opened for; none of them decides a gate.

use super::field::{Lines, TextField};
use super::{Confirm, Confirmed, GateKey, HelpDialog, KeyContext, Pick, PickItem, Proposal, SetupLine};
use crate::engine::BreakId;
use crate::host::client::{Patterns, PromptOffer};
use crate::plan::{Edge, Field, Node, NodeId};
use crate::text::Plain;

/// What lies over the screens.
#[derive(Clone, Debug)]
pub enum Dialog {
    Pick(Pick),
    Line(LineDialog),
    Editor(EditorDialog),
    Form(FormDialog),
    /// Rows to walk through, as they are when they are drawn.
    List {
        of: ListOf,
        selected: usize,
    },
    /// An action before it is done.
    Act(Box<Proposal>),
    Confirm(Confirm),
    Reader(ReaderDialog),
    Help(HelpDialog),
}

/// What a list of a dialog shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListOf {
    /// What validation says of the plan.
    Findings,
    /// The breakpoints of the shown run.
    Breaks,
    /// Why that node isn't running.
    Why(NodeId),
}

/// One line to type.
#[derive(Clone, Debug)]
pub struct LineDialog {
    pub title: Plain,
    pub field: TextField,
    /// What was wrong with it, or what to know; may be empty.
    pub note: Plain,
    /// What the line is for.
    pub then: LineThen,
}

/// What a line is for.
#[derive(Clone, Debug, PartialEq)]
pub enum LineThen {
    /// The node's new id.
    Rename(NodeId),
    /// The plan's new goal.
    Goal,
    /// What the run may take; empty for no cap.
    Budget,
    /// The edge's new condition; empty for none.
    Condition(Box<Edge>),
    /// The file to write the plan into.
    SaveFile,
    /// The file to write that text into: a result as it is read.
    SaveText(String),
    /// The form to write it in at that path, where its own can't hold everything.
    SaveForm(String),
    /// The file of a plan to compare with.
    CompareFile,
    /// The name of a model that isn't listed.
    ModelName,
    /// What a model is set up with.
    SetUp(SetupLine),
    /// What an event is to say.
    FindEvent,
    /// Why an action is asked for.
    Why,
    /// The keys of that command.
    Keys(&'static str),
    /// A breakpoint, in place of that one.
    Break(Option<BreakId>),
    /// Words to reject a gate with.
    Reject(GateKey),
    /// The model that a node is tried again with after a failure.
    GateModel(GateKey),
    /// What the planner is to hear after a failure.
    GateReplan(GateKey),
    /// What the planner is to do otherwise with the shown run.
    Replan,
}

/// A text to type.
#[derive(Clone, Debug)]
pub struct EditorDialog {
    pub title: Plain,
    pub field: TextField,
    /// The text as it was.
    pub before: String,
    /// What was wrong with it.
    pub note: Option<Plain>,
    /// What the text is for.
    pub then: EditThen,
}

/// What a text is for.
#[derive(Clone, Debug, PartialEq)]
pub enum EditThen {
    NodeText(NodeId),
    /// The whole node as JSON.
    Node(NodeId),
    /// An edge as JSON; as it was, by addresses.
    Edge(Box<Edge>),
    /// The text of a node that is added to a run then.
    NewNode(Box<Node>),
    /// Another result of the node.
    Override(NodeId),
    /// Words for the node's next turn.
    Guide(NodeId),
    /// What a branch has other at a node.
    Branch(NodeId, Branching),
    /// Why the result of the first node is rejected; the second one works again.
    Feedback(NodeId, NodeId),
    /// The plan's inputs as JSON.
    Inputs,
    /// The whole plan as JSON.
    WholePlan,
    /// Another payload for a gate.
    Payload(GateKey, Option<String>),
    /// The answer to a gate's question.
    Answer(GateKey),
    /// The answer to a gate's form, as JSON.
    FormAnswer(GateKey),
    /// The card of an agent.
    Card(String),
}

/// What of a node a branch has other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branching {
    Text,
    Node,
    Value,
}

impl EditorDialog {
    /// Whether it takes words, or what was one line: enter accepts them there, as wherever words are typed.
    pub fn is_words(&self) -> bool {
        match self.then {
            EditThen::Answer(_) | EditThen::Guide(_) | EditThen::Feedback(..) => true,
            EditThen::Payload(_, Some(_)) => !self.before.contains('\n'),
            _ => false,
        }
    }
}

impl LineThen {
    /// Whether leaving it would lose words of a person that are nowhere else.
    pub fn is_written(&self) -> bool {
        matches!(self, Self::Reject(_) | Self::Why | Self::Goal | Self::Budget | Self::Condition(_) | Self::Break(_))
    }

    /// Whether it edits something that is there, so that a line left as it was changes nothing.
    pub fn is_edit(&self) -> bool {
        matches!(self, Self::Rename(_) | Self::Goal | Self::Budget | Self::Condition(_))
    }
}

impl EditThen {
    /// Whether it edits something that is there, so that a text left as it was changes nothing.
    pub fn is_edit(&self) -> bool {
        matches!(self, Self::NodeText(_) | Self::Node(_) | Self::Edge(_) | Self::Inputs | Self::WholePlan | Self::Payload(..))
    }

    /// What to know about the text; may be empty.
    pub fn about(&self) -> &'static str {
        match self {
            Self::Override(_) | Self::Branch(_, Branching::Value) => "read as JSON if it looks like JSON, else as text",
            Self::Edge(_) => "`when`, `context` (keys that pass), `default` (of a decision), `label`",
            _ => "",
        }
    }
}

/// A form to fill in.
#[derive(Clone, Debug)]
pub struct FormDialog {
    pub title: Plain,
    /// The fields; first the option to take, where there are some.
    pub fields: Vec<(Asks, TextField)>,
    /// Which one takes keys.
    pub focus: usize,
    /// What was wrong with it.
    pub note: Option<Plain>,
    /// What the form is for.
    pub then: FormThen,
}

/// What a form is for.
#[derive(Clone, Debug, PartialEq)]
pub enum FormThen {
    /// The reply to that gate.
    Reply(GateKey),
    /// The text of that prompt.
    Prompt(Box<PromptOffer>),
    /// The arguments of a tool to try.
    Try(String),
    /// The patterns of the rule that the reply to that gate becomes, and those that its weight was asked for.
    Rule(GateKey, Option<Patterns>),
}

/// What a line of a form asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Asks {
    /// One of these options.
    Option(Vec<String>),
    Field(Field),
}

/// Something to read.
#[derive(Clone, Debug)]
pub struct ReaderDialog {
    pub what: Reading,
    /// First line in sight.
    pub scroll: usize,
}

#[derive(Clone, Debug)]
pub enum Reading {
    /// The inspector, alone.
    Inspector,
    /// The selected gate, alone.
    Gate,
    Words {
        title: Plain,
        lines: Vec<Plain>,
    },
}

impl Dialog {
    /// Asks for a line.
    pub fn line(title: &str, field: TextField, note: &str, then: LineThen) -> Self {
        Self::Line(LineDialog { title: Plain::summary(title), field, note: Plain::line(note), then })
    }

    /// Asks for a text: one of several lines is read from its start on, one line is gone on with.
    pub fn editor(title: &str, text: &str, then: EditThen) -> Self {
        let mut field = TextField::new(Lines::Many, text);
        if text.contains('\n') {
            field.to_first_value();
        }
        Self::Editor(EditorDialog { title: Plain::summary(title), field, before: text.to_owned(), note: None, then })
    }

    /// Asks to pick one of these.
    pub fn pick(title: &str, items: Vec<PickItem>) -> Self {
        Self::Pick(Pick::new(title, items))
    }

    /// The same, with something to know before.
    pub fn noted_pick(title: &str, note: &str, items: Vec<PickItem>) -> Self {
        Self::Pick(Pick { note: Plain::line(note), ..Pick::new(title, items) })
    }

    /// Asks whether to do something.
    pub fn confirm(lines: Vec<Plain>, then: Confirmed) -> Self {
        Self::Confirm(Confirm { lines, then })
    }

    /// Shows something to read.
    pub fn reader(what: Reading, scroll: usize) -> Self {
        Self::Reader(ReaderDialog { what, scroll })
    }

    /// The text field that takes keys, if one does.
    pub fn field(&mut self) -> Option<&mut TextField> {
        match self {
            Self::Pick(pick) => Some(&mut pick.query),
            Self::Line(line) => Some(&mut line.field),
            Self::Editor(editor) => Some(&mut editor.field),
            Self::Form(form) => form.fields.get_mut(form.focus).map(|(_, field)| field),
            Self::Help(help) => Some(&mut help.query),
            Self::List { .. } | Self::Act(_) | Self::Confirm(_) | Self::Reader(_) => None,
        }
    }

    /// Where moving through it moves: the selected row, or the first line in sight.
    pub fn at(&mut self) -> Option<&mut usize> {
        match self {
            Self::Pick(pick) => Some(&mut pick.selected),
            Self::List { selected, .. } => Some(selected),
            Self::Act(proposal) => Some(&mut proposal.scroll),
            Self::Reader(reader) => Some(&mut reader.scroll),
            Self::Help(help) => Some(&mut help.page),
            Self::Line(_) | Self::Editor(_) | Self::Form(_) | Self::Confirm(_) => None,
        }
    }

    /// Where its keys work.
    pub fn context(&self) -> KeyContext {
        match self {
            Self::Pick(_) => KeyContext::Pick,
            Self::Line(_) => KeyContext::Line,
            Self::Editor(editor) if editor.is_words() => KeyContext::Words,
            Self::Editor(_) => KeyContext::Editor,
            Self::Form(_) => KeyContext::Form,
            Self::List { of: ListOf::Findings, .. } => KeyContext::Findings,
            Self::List { of: ListOf::Breaks, .. } => KeyContext::Breaks,
            Self::List { of: ListOf::Why(_), .. } => KeyContext::Why,
            Self::Act(_) => KeyContext::Act,
            Self::Confirm(_) => KeyContext::Confirm,
            Self::Reader(_) => KeyContext::Reader,
            Self::Help(_) => KeyContext::Help,
        }
    }

    /// What it asks for, where something is written in it; else nothing.
    pub fn title(&self) -> Plain {
        match self {
            Self::Editor(editor) => editor.title.clone(),
            Self::Line(line) => line.title.clone(),
            Self::Form(form) => form.title.clone(),
            Self::Pick(_) | Self::List { .. } | Self::Act(_) | Self::Confirm(_) | Self::Reader(_) | Self::Help(_) => Plain::default(),
        }
    }

    /// Whether leaving it would lose words of a person.
    pub fn is_written(&self) -> bool {
        match self {
            Self::Editor(editor) => editor.field.text() != editor.before,
            Self::Line(line) => line.then.is_written() && line.field.is_changed(),
            Self::Form(form) => form.fields.iter().any(|(_, field)| field.is_changed()),
            Self::Pick(_) | Self::List { .. } | Self::Act(_) | Self::Confirm(_) | Self::Reader(_) | Self::Help(_) => false,
        }
    }

    /// Whether it takes text, so that characters are no keys.
    pub fn types(&self) -> bool {
        matches!(self, Self::Pick(_) | Self::Line(_) | Self::Editor(_) | Self::Form(_) | Self::Help(_))
    }
}
