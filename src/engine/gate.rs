//! Gates: questions with an id that only a person or a rule may answer, as data.

use super::Time;
use crate::plan::{Field, NodeId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

use super::{BudgetScope, CallNeed};

/// Names a gate within its run; counts up from 1 in order of opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GateId(pub u32);

/// A question that is waiting for an answer, or was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    pub id: GateId,
    /// Who is held up.
    pub node: NodeId,
    /// The node's generation that asks; a later one asks again.
    pub generation: u32,
    /// The tool whose call it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What sort of question.
    pub kind: GateKind,
    /// The exact thing that will happen (arguments, result, prompt), not a description of it.
    pub payload: Value,
    /// SHA-256 (hex) of the node's definition and the payload; an approval is bound to it.
    pub hash: String,
    pub why: String,
    /// When it opened; its clock starts here.
    pub opened: Time,
}

/// How the reason of a gate begins that the plan itself wants before a node.
pub(in crate::engine) const PLAN_ASKS: &str = "the plan asks";

impl Gate {
    /// Whether the plan itself wants it, whatever is allowed.
    pub fn is_planned(&self) -> bool {
        self.why.starts_with(PLAN_ASKS)
    }

    /// What it asks, in a sentence.
    pub fn asks(&self) -> String {
        match &self.kind {
            GateKind::Approval => "may it start?".to_owned(),
            GateKind::Review => "is its result good?".to_owned(),
            GateKind::Permission { tool, .. } if tool == "run_command" => "may it run this command?".to_owned(),
            GateKind::Permission { tool, .. } => format!("may it call {tool}?"),
            GateKind::Question { text, .. }
            | GateKind::UnknownEffect { text }
            | GateKind::Failure { text, .. }
            | GateKind::Replan { text, .. } => text.clone(),
        }
    }

    /// The one host, with its port, that it asks about sending something to.
    pub fn host(&self) -> Option<&str> {
        match &self.kind {
            GateKind::Permission { leaves, .. } => leaves.as_ref().map(|outgoing| outgoing.host.as_str()).filter(|host| *host != "*"),
            GateKind::Approval
            | GateKind::Review
            | GateKind::Question { .. }
            | GateKind::UnknownEffect { .. }
            | GateKind::Failure { .. }
            | GateKind::Replan { .. } => None,
        }
    }
}

/// What sort of question a gate is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum GateKind {
    /// Before the node starts.
    #[serde(rename = "before")]
    Approval,
    /// After the node's result, before it is used.
    #[serde(rename = "after")]
    Review,
    /// Before one tool call in the middle of a node.
    #[serde(rename = "tool")]
    Permission {
        call: String,
        /// The tool's full name.
        tool: String,
        /// What the call would send out, if the gate asks about that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        leaves: Option<Box<Outgoing>>,
    },
    /// Somebody asks, perhaps with options or the fields of a form: an agent, a `human` card, the operator in the model's place, an approval
    /// node, the server of a tool. The call ties the answer to the asker within the node.
    Question {
        text: String,
        options: Vec<String>,
        fields: Vec<Field>,
        call: Option<String>,
        /// The tool call under way that asks, and does nothing until it is answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        within: Option<String>,
        /// A budget doesn't hold a model call: the answer is how much to add.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cap: Option<Box<CapQuestion>>,
    },
    /// Nobody knows whether the node took effect: a person says what becomes of it.
    UnknownEffect { text: String },
    /// The node failed, and its plan asks what becomes of it. The payload is what it was to do.
    Failure { text: String, choices: Vec<FailureChoice> },
    /// A new plan for what is left of the run is proposed. The payload is its pieces.
    Replan {
        text: String,
        trigger: ReplanTrigger,
        /// What the planner's model was told, to say it again where it is asked once more.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        guidance: Vec<String>,
        /// Whether that model has read private results.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        private: bool,
    },
}

/// What becomes of a node that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum FailureChoice {
    /// It is tried again, as it is.
    Retry,
    /// It is tried again with another model, which the reply names.
    Model,
    Skip,
    /// The planner proposes a new plan; the reply may say what it is to hear.
    Replan,
    Fail,
}

impl FailureChoice {
    /// What a person picks, or types with what it needs in place of the capitals.
    pub fn label(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Model => "model NAME",
            Self::Skip => "skip",
            Self::Replan => "replan",
            Self::Fail => "fail",
        }
    }

    /// The choice that a text makes, with what stands behind its word.
    fn read(text: &str) -> Option<(Self, &str)> {
        let (word, with) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let choice = word.to_lowercase().parse().ok()?;
        let is_whole = choice == Self::Replan || (choice == Self::Model) != with.is_empty();
        is_whole.then_some((choice, with.trim()))
    }
}

/// The labels of what is offered.
pub(super) fn choice_labels(choices: &[FailureChoice], between: &str) -> String {
    choices.iter().map(|choice| choice.label()).collect::<Vec<_>>().join(between)
}

/// A model call that a budget doesn't hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapQuestion {
    pub scope: BudgetScope,
    pub model: String,
    pub need: CallNeed,
    /// The answer is the price of the model, which nobody knows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wants_price: bool,
}

/// What becomes of a node of which nobody knows whether it took effect. Journals of version 3 have the words of its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum LostChoice {
    #[serde(alias = "run again")]
    Again,
    /// It took effect, and has no result.
    #[serde(alias = "mark done")]
    Done,
    Skip,
}

impl LostChoice {
    pub const ALL: [Self; 3] = [Self::Again, Self::Done, Self::Skip];

    /// What a person picks.
    pub fn label(self) -> &'static str {
        match self {
            Self::Again => "run again",
            Self::Done => "mark done",
            Self::Skip => "skip",
        }
    }

    /// The word of the flag and of the journal.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// All labels, as a list.
    pub(super) fn labels(between: &str) -> String {
        Self::ALL.map(Self::label).join(between)
    }
}

/// What a gate asks in words, and what may be answered.
#[derive(Clone, Debug)]
pub struct GateQuestion<'a> {
    pub text: &'a str,
    pub options: Vec<String>,
    pub fields: &'a [Field],
}

impl GateKind {
    /// The model call that a budget doesn't hold, if it asks about one.
    pub fn cap(&self) -> Option<&CapQuestion> {
        if let Self::Question { cap, .. } = self { cap.as_deref() } else { None }
    }

    /// Whether a yes is no answer: there are options or a form, an agent asks, or the text begins a question as no yes or no answers it.
    pub fn wants_answer(&self) -> bool {
        match self {
            Self::Question { text, options, fields, call, .. } => {
                call.is_some() || !options.is_empty() || !fields.is_empty() || asks_for_words(text)
            }
            Self::UnknownEffect { .. } | Self::Failure { .. } => true,
            Self::Approval | Self::Review | Self::Permission { .. } | Self::Replan { .. } => false,
        }
    }

    /// What it asks in words, unless it only wants a yes.
    pub fn question(&self) -> Option<GateQuestion<'_>> {
        match self {
            Self::Question { text, options, fields, .. } => Some(GateQuestion { text, options: options.clone(), fields }),
            Self::UnknownEffect { text } => {
                Some(GateQuestion { text, options: LostChoice::ALL.map(|choice| choice.label().to_string()).to_vec(), fields: &[] })
            }
            Self::Failure { text, choices } => {
                Some(GateQuestion { text, options: choices.iter().map(|choice| choice.label().to_string()).collect(), fields: &[] })
            }
            Self::Approval | Self::Review | Self::Permission { .. } | Self::Replan { .. } => None,
        }
    }

    /// Whether its payload may be edited, so that the edited one is what happens.
    pub fn takes_payload(&self) -> bool {
        match self {
            Self::Approval | Self::Review | Self::Permission { .. } | Self::Failure { .. } | Self::Replan { .. } => true,
            Self::Question { .. } | Self::UnknownEffect { .. } => false,
        }
    }
}

/// Words that begin a question for more than a yes or no.
const ASKING: [&str; 9] = ["what", "which", "who", "whom", "whose", "where", "when", "why", "how"];

/// Whether a sentence of the text is a question that begins with such a word, or with one other word before it: "In which town?"
fn asks_for_words(text: &str) -> bool {
    let asks = |sentence: &str| {
        let begin = sentence.split_whitespace().take(2);
        begin.into_iter().any(|word| ASKING.contains(&word.to_lowercase().trim_matches(|letter: char| !letter.is_alphabetic())))
    };
    let sentences = text.split_inclusive(['.', '!', '?', ':', ';', ',', '\n']);
    sentences.filter(|sentence| sentence.ends_with('?')).any(asks)
}

/// What a call sends out of this computer, and where to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outgoing {
    /// Host and port, as in `example.com:443`; `*` where the call itself chooses.
    pub host: String,
    /// The exact method and address; empty where no request is known before the call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub request: String,
    /// The headers that the call itself sets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The exact body, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Whether the call would ask also if nothing private went out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_anyway: bool,
    /// Whether people allowed its host for good in this workspace, as it stands at this call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allowed: bool,
}

impl Outgoing {
    /// What goes out, part by part, with the name of each.
    pub fn parts(&self) -> Vec<(&'static str, String)> {
        let place = if self.host == "*" { "any host that the call chooses" } else { &self.host };
        let request = Some(&self.request).filter(|request| !request.is_empty());
        let headers = self.headers.iter().map(|(name, value)| ("header", format!("{name}: {value}")));
        let rest = request.map(|request| ("request", request.clone())).into_iter().chain(headers);
        [("to", place.to_owned())].into_iter().chain(rest).chain(self.body.iter().map(|body| ("body", body.clone()))).collect()
    }
}

/// Key of the option taken in the answer to a question that has a form as well.
pub const OPTION: &str = "option";

/// Whether an answer to a form also names one of the options: there are some, and no field of the form has taken their key.
pub fn form_has_option(options: &[String], fields: &[Field]) -> bool {
    !options.is_empty() && fields.iter().all(|field| field.name != OPTION)
}

/// An answer to a gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "decision")]
pub enum GateReply {
    /// Yes, as it was shown.
    Approve,
    /// With this payload instead; checked again.
    Modify { payload: Value },
    /// No; the text goes back to the model, or on record.
    Reject { message: String },
    /// The answer to a question, or a result in the tool's place.
    Answer { value: Value },
    /// What becomes of a node whose effect is unknown.
    Lost { choice: LostChoice },
    /// What becomes of a node that failed; `with` is what the choice needs: the model's name, or what the planner is to hear.
    OnFailure {
        choice: FailureChoice,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        with: String,
    },
    /// The node is skipped.
    Skip,
    /// The node and what only it feeds are cancelled.
    CancelBranch,
}

impl GateReply {
    /// What a text answers to a failure.
    pub fn on_failure(text: &str) -> Option<Self> {
        FailureChoice::read(text).map(|(choice, with)| Self::OnFailure { choice, with: with.to_owned() })
    }

    /// What became of the question.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::Modify { .. } => "approved with changes",
            Self::Reject { .. } => "rejected",
            Self::Answer { .. } | Self::Lost { .. } | Self::OnFailure { .. } => "answered",
            Self::Skip => "skipped",
            Self::CancelBranch => "branch cancelled",
        }
    }
}

/// Who did something: a person, or a rule of the command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// User name, or the flag that decided (`--yes`).
    pub who: String,
    /// `console`, `cli`, `rule` (a flag), `permission`, …
    pub via: String,
}

impl Actor {
    /// Whether a rule did it, not a person.
    pub fn is_rule(&self) -> bool {
        ["rule", "permission"].contains(&self.via.as_str())
    }
}

/// A decision on record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decided {
    pub decision: GateReply,
    pub by: Actor,
    pub at: Time,
}

/// A preview of an effect before it happens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Preview {
    /// Old and new text of a file; `before` is absent when the file is new.
    Diff { path: String, before: Option<String>, after: String },
    /// What happens, in words.
    Text(String),
}

/// Why a new plan is wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "wanted")]
pub enum ReplanTrigger {
    /// A node failed, and its plan wants a new one then.
    Failure { message: String },
    /// The result of a node calls for one, by the condition of its plan.
    Result { condition: String },
    /// The agent of a node asks for one.
    Agent { reason: String },
    /// A person asks for one.
    Person,
}

impl ReplanTrigger {
    /// Why, in a sentence about the node; of a person, who it was.
    pub fn reason(&self, node: &NodeId, by: Option<&Actor>) -> String {
        match self {
            Self::Failure { message } => format!("`{node}` failed: {message}"),
            Self::Result { condition } => format!("the result of `{node}` calls for a new plan: {condition}"),
            Self::Agent { reason } => format!("`{node}` asks for a new plan: {reason}"),
            Self::Person => format!("{} asks for a new plan", by.map_or("somebody", |by| by.who.as_str())),
        }
    }
}
