//! `InventoryScreen`: the agents, tools, MCP servers and rules of the workspace as one list of rows.

use super::list::ListCursor;
use crate::host::client::{AgentEntry, Inventory, RuleEntry, ServerEntry, ToolEntry};

/// The screen's list; empty until the host has said what there is.
#[derive(Clone, Debug, Default)]
pub struct InventoryScreen {
    pub shown: Inventory,
    pub place: ListCursor,
    /// The server that is started or ended, until the host says how it is.
    pub turning: Option<String>,
}

/// One line of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InventoryRow<'a> {
    Agent(&'a AgentEntry),
    Tool(&'a ToolEntry),
    Server(&'a ServerEntry),
    Rule(&'a RuleEntry),
}

impl InventoryScreen {
    pub fn len(&self) -> usize {
        let Inventory { agents, tools, servers, rules } = &self.shown;
        agents.len() + tools.len() + servers.len() + rules.len()
    }

    /// Whether the host has not said yet what there is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows in order: rules and servers first, as they are what changes.
    pub fn rows(&self) -> impl Iterator<Item = InventoryRow<'_>> {
        let Inventory { agents, tools, servers, rules } = &self.shown;
        let rules = rules.iter().map(InventoryRow::Rule);
        let servers = servers.iter().map(InventoryRow::Server);
        rules.chain(servers).chain(agents.iter().map(InventoryRow::Agent)).chain(tools.iter().map(InventoryRow::Tool))
    }

    pub fn row(&self, at: usize) -> Option<InventoryRow<'_>> {
        self.rows().nth(at)
    }

    pub fn selected(&self) -> Option<InventoryRow<'_>> {
        self.row(self.place.selected)
    }

    /// A tool by its name.
    pub fn tool(&self, name: &str) -> Option<&ToolEntry> {
        self.shown.tools.iter().find(|tool| tool.info.name == name)
    }

    /// Takes in what there is now. What was selected stays so.
    pub fn came(&mut self, inventory: Inventory) {
        let selected = self.selected().map(|row| row.key());
        self.shown = inventory;
        let at = selected.and_then(|key| self.rows().position(|row| row.key() == key));
        let len = self.len();
        self.place.select(at.unwrap_or(self.place.selected), len);
    }
}

impl InventoryRow<'_> {
    /// What sort of thing it is.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Agent(_) => "agent",
            Self::Tool(_) => "tool",
            Self::Server(_) => "server",
            Self::Rule(_) => "rule",
        }
    }

    fn key(&self) -> (&'static str, String) {
        let name = match self {
            Self::Agent(agent) => agent.info.name.clone(),
            Self::Tool(tool) => tool.info.name.clone(),
            Self::Server(server) => server.name.clone(),
            Self::Rule(rule) => rule.id.to_string(),
        };
        (self.kind(), name)
    }
}
