//! `Node`: one step of a plan: exactly one kind, its plain dependencies, its policy.

use super::{Budget, NodeId, Plan, limits};
use crate::text::Plain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One step of a plan. Its serialised form is the native one (`super::native`).
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique in the plan.
    pub id: NodeId,
    /// What the node does.
    pub kind: NodeKind,
    /// Sources of plain edges, in order; edges with conditions are in `Plan::edges`.
    pub depends_on: Vec<NodeId>,
    /// Where the token of a walk starts (workflow and stages).
    pub entry: bool,
    /// Where a walk may end; in stages it ends there.
    pub exit: bool,
    /// How it is run.
    pub policy: Policy,
    /// Fields of the document that this version doesn't know, kept for writing back.
    pub ext: Map<String, Value>,
}

impl Node {
    /// A node without dependencies and with no policy of its own.
    pub fn new(id: impl Into<NodeId>, kind: NodeKind) -> Self {
        Self { id: id.into(), kind, depends_on: Vec::new(), entry: false, exit: false, policy: Policy::default(), ext: Map::new() }
    }

    /// What it does, in one line for people: its title (other formats call it name, label or description), else the first sentence of its
    /// notes, objective, role's goal or question. None where nobody wrote one.
    pub fn title(&self) -> Option<Plain> {
        let written = ["title", "name", "label", "description"].into_iter().filter_map(|field| self.ext.get(field)?.as_str());
        let question = if let NodeKind::Approval(ask) = &self.kind { Some(ask.text.as_str()) } else { None };
        let agent = self.kind.agent();
        let objective = agent.and_then(|agent| agent.objective.as_deref().or(agent.goal.as_deref()));
        let texts = written.chain(self.policy.notes.as_deref()).chain(objective).chain(question);
        let mut titles = texts.map(|text| Plain::summary(first_sentence(text)));
        titles.find(|title| !title.is_empty())
    }

    /// Its title, else its id within its own plan.
    pub fn title_or_id(&self) -> Plain {
        self.title().unwrap_or_else(|| Plain::summary(super::nest::name(&self.id)))
    }
}

/// Up to the first full stop, question mark or line end; without the full stop.
fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default();
    let stop = ["? ", ". ", ": "].into_iter().filter_map(|stop| Some((line.find(stop)?, stop))).min();
    stop.map_or(line.strip_suffix('.').unwrap_or(line), |(at, stop)| &line[..at + usize::from(stop.starts_with('?'))])
}

/// What a node does.
#[derive(Clone, Debug, PartialEq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum NodeKind {
    /// Runs an agent card, or an inline role.
    Agent(AgentNode),
    /// One tool call, no model.
    Tool(ToolNode),
    /// JavaScript in the sandbox; sees `deps` and `inputs`; its `return` value is the result.
    Code(CodeNode),
    /// Picks exactly one outgoing edge by an expression's value or an agent's answer.
    Decision(DecisionNode),
    /// Joins branches; the result is an object by source id, or the template's value.
    Merge(MergeNode),
    /// Pure data shaping by template or expression.
    Transform(TransformNode),
    /// A question to a person as a node of its own.
    Approval(ApprovalNode),
    /// A sub-plan as a node.
    #[strum(serialize = "plan")]
    Subplan(SubplanNode),
    /// Repeats its body until a condition holds.
    Loop(LoopNode),
    /// Runs its body once for each entry of a list.
    Map(MapNode),
}

impl NodeKind {
    /// The sort of work in one word, as people are shown it.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// The plan inside: of a sub-plan whose file was loaded, a loop, or a map.
    pub fn body(&self) -> Option<&Plan> {
        let (Self::Subplan(SubplanNode::Inline(body) | SubplanNode::File { loaded: Some(body), .. })
        | Self::Loop(LoopNode { body, .. })
        | Self::Map(MapNode { body, .. })) = self
        else {
            return None;
        };
        Some(body)
    }

    /// The plan inside, to change it. A loaded file is not changed from here.
    pub fn body_mut(&mut self) -> Option<&mut Plan> {
        let (Self::Subplan(SubplanNode::Inline(body)) | Self::Loop(LoopNode { body, .. }) | Self::Map(MapNode { body, .. })) = self else {
            return None;
        };
        Some(body)
    }

    /// Whether other nodes run inside it: a sub-plan, a loop, or a map.
    pub fn is_composite(&self) -> bool {
        matches!(self, Self::Subplan(_) | Self::Loop(_) | Self::Map(_))
    }

    /// Whether its answer names one of its ways out.
    pub fn is_decision(&self) -> bool {
        matches!(self, Self::Decision(_))
    }

    /// The agent that works, or decides.
    pub fn agent(&self) -> Option<&AgentNode> {
        let (Self::Agent(agent) | Self::Decision(DecisionNode::Agent(agent))) = self else { return None };
        Some(agent)
    }

    /// Who does the work, by the name of its card, role or tool; none where the engine or a person does it.
    pub fn worker(&self) -> Option<&str> {
        let agent = self.agent().and_then(|agent| agent.agent.as_deref().or(agent.role.as_deref()));
        agent.or_else(|| self.tool().map(|tool| tool.tool.as_str()))
    }

    /// Who does the work, else its sort: `writer`, `decision: router`, `read_file`, `merge`.
    pub fn worker_label(&self) -> Plain {
        let prefix = if self.is_decision() && self.agent().is_some() { "decision: " } else { "" };
        let sort = if self.agent().is_some() { "agent" } else { self.name() };
        Plain::line(prefix).then(&Plain::summary(self.worker().unwrap_or(sort)))
    }

    /// The tool call of a tool node.
    pub fn tool(&self) -> Option<&ToolNode> {
        let Self::Tool(tool) = self else { return None };
        Some(tool)
    }
}

/// An agent's work. Either `agent` names a card or `role` and `goal` make one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentNode {
    /// The card's name.
    pub agent: Option<String>,
    /// What this node should accomplish; may hold references. Absent: the card's template with the plan's goal.
    pub objective: Option<String>,
    /// Inline card: who the agent is.
    pub role: Option<String>,
    /// Inline card: what it is after.
    pub goal: Option<String>,
}

/// One tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolNode {
    /// `name` or `server:name`.
    pub tool: String,
    /// Its arguments.
    pub input: ToolInput,
}

/// Arguments of a tool node; may hold references.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolInput {
    /// By name.
    Args(Map<String, Value>),
    /// For the tool's one required string parameter.
    Query(String),
}

/// JavaScript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CodeNode {
    /// A function body; never expanded as a template.
    pub code: String,
    /// Limits; the sandbox's own defaults where absent.
    #[serde(default)]
    pub sandbox: SandboxLimits,
}

/// Limits of one sandbox run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxLimits {
    /// Memory in MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::SCRIPT_MEMORY_MB.1))]
    pub memory_mb: Option<u64>,
    /// Processor time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::SCRIPT_TIME_MS.1))]
    pub time_ms: Option<u64>,
}

/// What names a decision's route.
#[derive(Clone, Debug, PartialEq)]
pub enum DecisionNode {
    /// An expression's value.
    Expression(String),
    /// An agent's answer.
    Agent(AgentNode),
}

/// A sub-plan.
#[derive(Clone, Debug, PartialEq)]
pub enum SubplanNode {
    /// Written where it is used.
    Inline(Box<Plan>),
    /// A file of its own.
    File {
        /// Relative to the file of the plan that names it.
        path: String,
        /// What is in it, once somebody who may read files has read it. Never written.
        loaded: Option<Box<Plan>>,
    },
}

/// A loop. `Policy::max_iterations` of the node limits it. The body gets the inputs `iteration` (from 1) and `previous` (the result before).
#[derive(Clone, Debug, PartialEq)]
pub struct LoopNode {
    /// What is repeated.
    pub body: Box<Plan>,
    /// Condition over the body's nodes and inputs, read after each time; true ends the loop.
    pub until: String,
}

/// Fan-out decided at run time. The body gets the inputs `item` and `index` (from 0).
#[derive(Clone, Debug, PartialEq)]
pub struct MapNode {
    /// Expression that gives a list.
    pub over: String,
    /// What runs once for each entry.
    pub body: Box<Plan>,
    /// Bodies that run at once; absent: as many as there are slots.
    pub max_parallel: Option<u32>,
}

/// A merge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergeNode {
    /// Absent: an object by source id.
    pub template: Option<Value>,
}

/// A transform.
#[derive(Clone, Debug, PartialEq)]
pub struct TransformNode {
    /// JSON whose strings may hold references; a reference alone keeps its type.
    pub value: Value,
}

/// A question to a person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ApprovalNode {
    /// The question; may hold references.
    pub text: String,
    /// Choices offered, if any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Form fields to fill in, if any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
}

/// One field of a form.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Key in the reply.
    pub name: String,
    /// What is accepted.
    #[serde(default)]
    pub kind: FieldKind,
    /// What people see; absent: the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Preset value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// A text must be one of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Whether it may be left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

impl Field {
    /// What it takes, for people.
    pub fn takes(&self) -> String {
        let kind = match self.kind {
            FieldKind::Text if !self.options.is_empty() => format!("one of: {}", self.options.join(", ")),
            FieldKind::Text => "text".to_owned(),
            FieldKind::Number => "a number".to_owned(),
            FieldKind::Boolean => "yes or no".to_owned(),
        };
        if self.optional { kind + ", or nothing" } else { kind }
    }
}

/// What a form field accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FieldKind {
    /// Any text.
    #[default]
    Text,
    /// A number.
    Number,
    /// Yes or no.
    Boolean,
}

/// How a node is run. Absent fields fall back to the plan's defaults, then to dagdeck's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Policy {
    /// Condition: false skips the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Condition: true skips the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_if: Option<String>,
    /// How incoming edges combine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub join: Option<Join>,
    /// How outgoing edges are taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Route>,
    /// Gates around the node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approve: Option<Approve>,
    /// Whether it changes things; overrides the tool or card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side_effects: Option<bool>,
    /// Retries after temporary errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// Working time of one attempt in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub timeout_s: Option<f64>,
    /// Caps for this node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// Caps for this node and what only it feeds, together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch_budget: Option<Budget>,
    /// Model for this node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Tools or globs; narrows the tools of the card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// How results of dependencies are given to a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextMode>,
    /// Named extra context; may hold references.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Map<String, Value>>,
    /// What a failure does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<OnFailure>,
    /// Result cache: "off" or {"ttl_s": seconds}.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<Value>,
    /// Nodes that share a name never run together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locks: Option<Vec<String>>,
    /// JSON Schema of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = ["object", "boolean", "null"]))]
    pub output_schema: Option<Value>,
    /// Breakpoint, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakpoint: Option<Value>,
    /// Most turns of an agent, or iterations of a loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::MOST_ITERATIONS))]
    pub max_iterations: Option<u32>,
    /// Condition over the result that asks for a new plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replan_when: Option<String>,
    /// Notes for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

/// How incoming edges combine. Absent: conditional edges are alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Join {
    /// Every edge taken.
    All,
    /// All decided, at least one taken.
    Settled,
    /// First taken edge.
    Any,
    /// All decided, whatever they are.
    Always,
}

/// How outgoing edges are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// Every edge whose condition holds.
    All,
    /// Only the first whose condition holds.
    First,
    /// The one that the decision names.
    Decision,
}

/// Gates around a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Approve {
    /// No gate of the plan's or the card's own. What the configuration asks about is asked all the same.
    Never,
    /// Before it starts.
    Before,
    /// After its result, before it is used.
    After,
    /// Both.
    Both,
}

/// Retries of one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Retry {
    /// Attempts in all.
    #[schemars(range(min = 1, max = limits::MOST_ATTEMPTS))]
    pub attempts: u32,
    /// First pause in milliseconds; doubles each time.
    pub backoff_ms: u64,
    /// Longest pause in milliseconds.
    pub max_ms: u64,
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempts: 3, backoff_ms: 500, max_ms: 30_000 }
    }
}

/// How dependency results reach a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextMode {
    /// Results as text, one after the other.
    Concat,
    /// JSON with lineage.
    Structured,
    /// A model picks what is relevant.
    Selected,
}

/// What a failure does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The node fails; its edges die.
    Fail,
    /// Its edges are taken with `{error, failed_safe: true}`.
    Safe,
    /// The planner proposes a new remainder.
    Replan,
    /// A person is asked.
    Ask,
}
