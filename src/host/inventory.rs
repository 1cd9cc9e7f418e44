//! `Inventory`: the agents, tools, MCP servers and kept rules of a workspace as a client gets them: where each is from, what decides about it,
//! and how it was used; and rules that a person may keep. Plain data.

use crate::engine::Time;
use crate::plan::{AgentInfo, ToolInfo};
use crate::text::counted;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Characters kept of an error.
const ERROR: usize = 300;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inventory {
    pub agents: Vec<AgentEntry>,
    pub tools: Vec<ToolEntry>,
    pub servers: Vec<ServerEntry>,
    pub rules: Vec<RuleEntry>,
}

/// An agent, and how it was used in all runs that are kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentEntry {
    #[serde(flatten)]
    pub info: AgentInfo,
    pub used: UseCount,
}

/// A tool, and how it was used in all runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolEntry {
    #[serde(flatten)]
    pub info: ToolInfo,
    /// Whether it can work as things are set up.
    pub is_set_up: bool,
    /// The rule that applies where the arguments are not looked at.
    pub rule: String,
    pub used: UseCount,
}

/// An MCP server as it is now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerEntry {
    pub name: String,
    pub state: String,
    /// Its command line or address.
    pub label: String,
    pub origin: String,
    /// The file of its log.
    pub log: String,
    pub problems: Vec<String>,
    /// Whether nothing is wrong with it.
    pub is_fine: bool,
}

/// How often something was used, and what went wrong last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UseCount {
    pub times: u64,
    pub failed: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

/// A rule that a reply to a gate made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleEntry {
    pub id: u32,
    /// What it does, in words.
    pub what: String,
    /// The same, and who made it.
    pub label: String,
    pub made: Time,
    /// How many calls it decided.
    pub hits: u64,
    /// The file that it is kept in.
    pub file: String,
}

impl UseCount {
    pub(super) fn began(&mut self, at: Time) {
        self.times += 1;
        self.last = self.last.max(Some(at));
    }

    pub(super) fn went_wrong(&mut self, error: &str) {
        self.failed += 1;
        self.last_error = Some(error.chars().take(ERROR).collect());
    }
}

/// What arguments must be like, by their names.
pub type Patterns = BTreeMap<String, String>;

/// How far a reply to a gate reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum RuleScope {
    /// The same tool with the same arguments, in this run.
    Same,
    /// The tool on this node, in this run.
    Node,
    /// The tool in this run.
    Run,
    /// The tool in this workspace, from now on; of `run_command` the same command, of `run_python` the same program.
    Project,
}

impl RuleScope {
    pub const ALL: [Self; 4] = [Self::Same, Self::Node, Self::Run, Self::Project];

    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// A rule for calls like one that was approved, kept once a person takes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleOffer {
    pub scope: RuleScope,
    /// What it would do, in words; or why no such rule can be made.
    pub rule: Result<String, String>,
    pub covered: CoveredCalls,
}

/// What people replied before to calls that a rule covers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoveredCalls {
    pub approved: usize,
    pub rejected: usize,
    /// The newest of them, by their arguments.
    pub newest: Vec<String>,
}

impl CoveredCalls {
    /// In words.
    pub fn label(&self) -> String {
        let newest: Vec<&str> = self.newest.iter().map(String::as_str).collect();
        let approved = format!("would have covered {} that you approved", counted(self.approved, "call"));
        let rejected = if self.rejected > 0 { format!(" and {} that you rejected", self.rejected) } else { String::new() };
        let newest = if newest.is_empty() { String::new() } else { format!(": {}", newest.join("; ")) };
        format!("{approved}{rejected}{newest}")
    }
}
