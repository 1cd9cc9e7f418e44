//! `UseCounts`: how the tools and agents of a workspace were used, by its journal; and the inventory that is made with them.

use super::{
    client::{Notice, Problem, ServerTurn},
    inventory::{AgentEntry, Inventory, RuleEntry, ServerEntry, ToolEntry, UseCount},
    jobs::Kit,
    kept_rules::KeptRule,
    local::Shared,
};
use crate::engine::{Event, NodeFact, RunId};
use crate::files;
use crate::plan::{AgentInfo, NodeId, ToolInfo, value_text};
use crate::store::{AgentUse, Audit, Store, StoreError};
use crate::tools::mcp::{McpError, McpStatus};
use std::{collections::BTreeMap, path::Path};

/// How tools and agents of a workspace were used, by name.
#[derive(Clone, Debug, Default)]
pub struct UseCounts {
    tools: BTreeMap<String, UseCount>,
    agents: BTreeMap<String, UseCount>,
}

impl UseCounts {
    /// What a journal has of a workspace: the audit for tools, all runs that are kept for agents.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn read(store: &Store, workspace: &Path) -> Result<Self, StoreError> {
        let mut counts = Self::default();
        counts.take_audit(&store.audit()?, workspace);
        for AgentUse { agent, began, error } in store.agent_uses(workspace)? {
            let count = counts.agents.entry(agent).or_default();
            count.began(began);
            error.iter().for_each(|error| count.went_wrong(error));
        }
        Ok(counts)
    }

    fn take_audit(&mut self, audit: &Audit, workspace: &Path) {
        let mut calls: BTreeMap<(&RunId, &NodeId, u32, &str), &str> = BTreeMap::new();
        for (run, entry, event) in audit.of_workspace(workspace) {
            let Event::Node { node_id, generation, fact } = event else { continue };
            if let NodeFact::ToolStarted { call, .. } = fact {
                calls.insert((run, node_id, *generation, call.id.as_str()), call.tool.as_str());
                self.tools.entry(call.tool.clone()).or_default().began(entry.at);
            }
            if let NodeFact::ToolFinished { call, report } = fact
                && !report.ok
                && let Some(tool) = calls.get(&(run, node_id, *generation, call.as_str()))
            {
                self.tools.entry((*tool).to_owned()).or_default().went_wrong(&value_text(&report.value));
            }
        }
    }
}

impl Kit {
    /// What there is, with how it was used.
    pub(super) fn inventory(&self, model: Option<&str>, counts: &UseCounts, rules: &[KeptRule]) -> Inventory {
        let file = self.kept_trust.rules().file().display().to_string();
        let (catalog, registry) = (self.catalog(model), self.toolbox.now());
        let used = |counts: &BTreeMap<String, UseCount>, name: &str| counts.get(name).cloned().unwrap_or_default();
        let agent = |info: AgentInfo| AgentEntry { used: used(&counts.agents, &info.name), info };
        let tool = |info: ToolInfo| ToolEntry {
            is_set_up: registry.is_configured(&info.name),
            rule: registry.rule_of(&info.name).unwrap_or_default(),
            used: used(&counts.tools, &info.name),
            info,
        };
        Inventory {
            agents: catalog.agents.into_iter().map(agent).collect(),
            tools: catalog.tools.into_iter().map(tool).collect(),
            servers: self.toolbox.servers().status().into_iter().map(ServerEntry::of).collect(),
            rules: rules.iter().map(|rule| RuleEntry::of(rule, &file)).collect(),
        }
    }
}

impl RuleEntry {
    fn of(rule: &KeptRule, file: &str) -> Self {
        let (what, label, file) = (rule.what(), rule.label(), file.to_owned());
        Self { id: rule.id, what, label, made: rule.made, hits: rule.hits, file }
    }
}

impl ServerEntry {
    fn of(status: McpStatus) -> Self {
        let McpStatus { name, state, label, origin, log, problems, is_fine, .. } = status;
        Self { name, state, label, origin, log: log.display().to_string(), problems, is_fine }
    }
}

impl Shared {
    /// What there is, as it is now.
    pub(super) fn inventory(&self) -> Result<Notice, Problem> {
        let counts = UseCounts::read(&self.store, &self.places.workspace)?;
        let inventory = self.kit.inventory(self.chosen().as_deref(), &counts, &self.places.kept_trust().rules().list()?);
        Ok(Notice::Inventory(Box::new(inventory)))
    }

    /// Ends a server, and starts it where that is wanted; gives what became of it.
    pub(super) async fn turn_server(&self, name: &str, turn: ServerTurn) -> Vec<Notice> {
        let servers = self.kit.toolbox.servers();
        servers.stop_one(name).await;
        let failed = match turn {
            ServerTurn::Restart => servers.list(|known, _| known == name).await,
            ServerTurn::Stop => Vec::new(),
        };
        let problem = |(_, error): (String, McpError)| {
            let message = format!("the MCP server `{name}` can't be used: {error}");
            Notice::Problem(Problem { message, hint: error.hint })
        };
        failed.into_iter().map(problem).chain([self.inventory().unwrap_or_else(Notice::Problem)]).collect()
    }
}

impl Shared {
    /// The end of a server's log.
    pub(super) fn server_log(&self, name: String) -> Result<Notice, Problem> {
        let status = self.kit.toolbox.servers().status().into_iter().find(|status| status.name == name);
        let log = status.ok_or_else(|| Problem::new(format!("there is no MCP server `{name}`")))?.log;
        let text = files::read_text(&log, files::DOCUMENT);
        let text = text.map_err(|error| Problem::new(format!("the log `{}` can't be read: {error}", log.display())))?;
        Ok(Notice::ServerLog { name, text })
    }
}
