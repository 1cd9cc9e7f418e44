//! `Catalog`: what a plan may name: agents and tools, with the facts that validation, gates and pickers need. Pure data.

use super::{Approve, DecisionNode, NodeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What is there to be used by plans.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalog {
    pub agents: Vec<AgentInfo>,
    pub tools: Vec<ToolInfo>,
    /// Other names that plans may use for tools, each with the tool's own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub aliases: BTreeMap<String, String>,
    /// Tools that can't work before somebody sets them up.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub not_set_up: BTreeSet<String>,
    /// Tools that send out what they are given, and whose results are private all the same.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub senders: BTreeSet<String>,
    /// The servers that have tools of their own, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub servers: BTreeMap<String, ToolServer>,
    /// The models that work.
    #[serde(default)]
    pub models: ModelFacts,
    /// What tools say of arguments that their schemas take, by the tool's own name.
    #[serde(skip)]
    pub checks: ArgumentChecks,
}

/// Why a tool would refuse arguments that its schema takes, if it would. Asked before anything runs, so it looks at nothing but these.
pub type ArgumentCheck = fn(&Value) -> Option<String>;

/// Checks by the names of their tools. Code, so no part of what two catalogs are compared by.
#[derive(Clone, Debug, Default)]
pub struct ArgumentChecks(BTreeMap<String, ArgumentCheck>);

impl ArgumentChecks {
    pub fn get(&self, tool: &str) -> Option<ArgumentCheck> {
        self.0.get(tool).copied()
    }
}

impl FromIterator<(String, ArgumentCheck)> for ArgumentChecks {
    fn from_iter<I: IntoIterator<Item = (String, ArgumentCheck)>>(checks: I) -> Self {
        Self(checks.into_iter().collect())
    }
}

impl PartialEq for ArgumentChecks {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// What is known of models, as far as plans are checked against it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelFacts {
    /// The model of agents that name none; absent: none is asked.
    pub preset: Option<String>,
    /// Other names that plans may use for models, and classes, each with the model's own name.
    pub names: BTreeMap<String, String>,
    /// How many tokens each model takes in, by its name without provider and date.
    pub windows: BTreeMap<String, u64>,
    /// Most tokens that results of earlier steps take in a prompt; 0 where nobody said.
    pub context_tokens: u64,
}

impl ModelFacts {
    /// The model's own name.
    pub fn resolve<'a>(&'a self, name: &'a str) -> &'a str {
        self.names.get(name).map_or(name, String::as_str)
    }

    /// How many tokens a model takes in, if that is known.
    pub fn window(&self, model: &str) -> Option<u64> {
        listed(&self.windows, self.resolve(model)).copied()
    }
}

/// What a table says of a model: by its exact name, else without its provider (`openai/`), else without a date or version at its end
/// (`gpt-4o-2024-11-20`, `claude-sonnet-4-20250514`, `o3-latest`).
pub fn listed<'t, T>(table: &'t BTreeMap<String, T>, model: &str) -> Option<&'t T> {
    let bare = model.rsplit('/').next().unwrap_or(model);
    let is_version = |rest: &str| {
        rest.strip_prefix(['-', '@', ':'])
            // A shorter number is another model: `claude-sonnet-4-5` is no version of `claude-sonnet-4`.
            .is_some_and(|version| {
                version == "latest"
                    || version.split('-').next().is_some_and(|first| first.len() >= 3)
                        && version.chars().all(|c| c.is_ascii_digit() || c == '-')
            })
    };
    let family = || table.iter().filter(|(name, _)| bare.strip_prefix(name.as_str()).is_some_and(is_version));
    table.get(model).or_else(|| table.get(bare)).or_else(|| Some(family().max_by_key(|(name, _)| name.len())?.1))
}

impl Catalog {
    /// A tool by any of its names.
    pub fn tool(&self, name: &str) -> Option<&ToolInfo> {
        let find = |name: &str| self.tools.iter().find(|tool| tool.name == name);
        find(name).or_else(|| find(self.aliases.get(name)?))
    }

    /// What a tool reaches, by any of its names.
    pub fn reach(&self, name: &str) -> ToolReach {
        let tool = self.tool(name);
        tool.and_then(|tool| tool.reach).unwrap_or_else(|| ToolReach::published(tool.map_or(name, |tool| &tool.name)))
    }

    /// Whether a tool sends out what it is given, to an address of its arguments or elsewhere; by any of its names.
    pub fn sends(&self, name: &str) -> bool {
        self.reach(name) == ToolReach::AnyAddress || self.senders.contains(self.canonical(name))
    }

    /// The server of a tool that isn't known, with the server's name.
    pub fn server_of<'a>(&'a self, tool: &str) -> Option<(&'a str, &'a ToolServer)> {
        let (server, _) = tool.split_once(':')?;
        self.servers.get_key_value(server).map(|(name, state)| (name.as_str(), state))
    }

    /// The name that a tool is registered under, whichever of its names is given. Other texts, such as globs, stay as they are.
    pub fn canonical<'a>(&'a self, name: &'a str) -> &'a str {
        self.tool(name).map_or(name, |tool| &tool.name)
    }
}

/// A server that has tools of its own, which are called `server:tool`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolServer {
    /// Its tools are known.
    Listed,
    /// It was never started, so nobody knows them.
    Unlisted,
    /// It can't be started.
    Off { why: String },
}

/// Whether a pattern of tools may mean tools of a server that nobody knows.
pub fn may_mean(pattern: &str, server: &str) -> bool {
    let of_server = pattern.split_once(':').map_or(pattern, |(server, _)| server);
    globset::Glob::new(of_server).is_ok_and(|glob| glob.compile_matcher().is_match(server))
}

/// What does the work of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// A model with a prompt and tools, in a loop until it answers.
    #[default]
    Llm,
    /// A class of the program, which asks models in its own way.
    Class,
    /// A service at an address.
    Service,
    /// A model writes it for the objective.
    Dynamic,
    Human,
}

/// The public side of an agent card, and what gates need to know of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentInfo {
    pub name: String,
    /// What it does; shown to planners.
    pub description: String,
    /// What an objective looks like; shown to planners.
    pub objective_template: String,
    pub kind: AgentKind,
    /// Globs of tools that it may use.
    pub tools: Vec<String>,
    /// Where the card came from, for people.
    pub origin: String,
    /// Gates that the card asks for.
    pub approve: Option<super::Approve>,
    /// Tokens of its own prompt.
    #[serde(default)]
    pub prompt_tokens: u64,
    /// Prompt and answer tokens together that it may use where the plan doesn't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
}

/// The tool whose `command` a shell carries out.
pub const SHELL_TOOL: &str = "run_command";

/// What the call to an agent that is a service begins with; the agent's name follows.
pub const SERVICE: &str = "service:";

/// The tool that runs a Python program.
pub const PYTHON_TOOL: &str = "run_python";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolInfo {
    /// `name` or `server:name`, unique.
    pub name: String,
    /// What it does; shown to models.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    /// What it can do to the world, before the arguments are known.
    pub risk: Risk,
    /// What the configuration says of it.
    pub verdict: Verdict,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<ToolReach>,
}

impl ToolInfo {
    /// The parameter that a `query` fills: the one that is required, or the only one where none is, if it takes text.
    pub fn query_parameter(&self) -> Option<&str> {
        let properties = self.input_schema.get("properties")?.as_object()?;
        let required = self.input_schema.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let name = match required {
            [only] => only.as_str()?,
            [] if properties.len() == 1 => properties.keys().next()?,
            _ => return None,
        };
        (properties.get(name)?.get("type")?.as_str() == Some("string")).then_some(name)
    }
}

/// Whether an agent's card may be called so.
pub fn is_agent_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// What a tool's results tell, and who gets what it is given. Of a tool that doesn't say, the most careful is thought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolReach {
    /// Results and errors may tell what is on this computer, or what programs and other servers say.
    #[default]
    Private,
    /// They tell nothing of this computer.
    Public,
    /// Likewise, and a model works for it.
    Model,
    /// Likewise, and it sends what it is given to any address.
    AnyAddress,
}

impl ToolReach {
    /// Of tools in catalogs that were written down before tools said it.
    fn published(tool: &str) -> Self {
        match tool {
            "calculator" | "current_time" | "run_javascript" | "web_search" => Self::Public,
            "summarize" => Self::Model,
            "fetch_url" => Self::AnyAddress,
            _ => Self::Private,
        }
    }
}

/// Whether a node can do its work only with a model; what runs inside it apart.
pub fn needs_model(node: &super::Node, catalog: &Catalog) -> bool {
    let asks_none = |name: &str| {
        let is_other = |kind: AgentKind| matches!(kind, AgentKind::Human | AgentKind::Service);
        catalog.agents.iter().any(|info| info.name == name && is_other(info.kind))
    };
    let agent = node.kind.agent().is_some_and(|work| !work.agent.as_deref().is_some_and(asks_none));
    agent || node.kind.tool().is_some_and(|work| catalog.reach(&work.tool) == ToolReach::Model)
}

/// The nodes of a plan that need a model, at any depth; those that a person works at are left out.
pub fn that_need_model<'a>(plan: &'a super::Plan, catalog: &Catalog) -> Vec<&'a super::NodeId> {
    let person = |node: &super::Node| node.policy.model.as_deref().or(plan.defaults.model.as_deref()) == Some("operator");
    plan.nodes
        .iter()
        .flat_map(|node| {
            let own = (needs_model(node, catalog) && !person(node)).then_some(&node.id);
            own.into_iter().chain(node.kind.body().into_iter().flat_map(|body| that_need_model(body, catalog)))
        })
        .collect()
}

/// Whether a person is asked before or after the node: by the configuration about its tool, by the plan, else by its card.
pub fn gated(node: &super::Node, catalog: &Catalog) -> bool {
    let asks = |approve: Option<Approve>| match approve {
        Some(Approve::Before | Approve::After | Approve::Both) => Some(true),
        Some(Approve::Never) => Some(false),
        None => None,
    };
    let (certain, usual) = match &node.kind {
        NodeKind::Approval(_) => (true, None),
        NodeKind::Tool(work) => (catalog.tool(&work.tool).is_some_and(|tool| tool.verdict == Verdict::Ask), None),
        NodeKind::Agent(work) | NodeKind::Decision(DecisionNode::Agent(work)) => {
            let card = catalog.agents.iter().find(|agent| Some(&agent.name) == work.agent.as_ref());
            (false, card.and_then(|card| asks(card.approve)))
        }
        _ => (false, None),
    };
    certain || asks(node.policy.approve).or(usual).unwrap_or(false)
}

/// What a call can do to the world. Ordered from harmless to harmful.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Risk {
    Read,
    Network,
    /// Changes files or other state.
    Write,
    /// Runs programs, or nobody knows.
    Execute,
}

/// What is done with a call, the strictest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Verdict {
    Allow,
    /// A person is asked.
    Ask,
    Deny,
}
