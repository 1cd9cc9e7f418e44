//! Which MCP servers there are: those of the user's own file, then those of the workspace as far as they are trusted.

use super::places::Folders;
use crate::files;
use crate::models::config::Lookup;
use crate::plan::{Node, Plan};
use crate::tools::{
    KnownSecrets, McpConfig,
    mcp::{MCP_FILE, MCP_USER_FILE, McpEntry, McpServers, McpSettings, McpSource, McpTrust},
};
use std::{collections::BTreeSet, path::PathBuf, sync::Arc};

/// The servers as the files name them now; those that are the same `before` stay as they are.
pub(super) fn servers(
    places: &Folders,
    config: &McpConfig,
    secrets: &Arc<KnownSecrets>,
    env: Lookup<'_>,
    before: Option<&McpServers>,
) -> McpServers {
    let settings = McpSettings { workspace: &places.workspace, state: &places.home, secrets, env, config };
    McpServers::new(&sources(places), &settings, before)
}

fn sources(places: &Folders) -> Vec<McpSource> {
    let read = |file: &PathBuf| files::read_text(file, files::DOCUMENT).ok();
    let own = places.config.as_ref().map(|folder| folder.join(MCP_USER_FILE)).and_then(|file| {
        let (text, label) = (read(&file)?, file.display().to_string());
        Some(McpSource { file, label, text, trust: McpTrust::All })
    });
    let file = places.workspace.join(MCP_FILE);
    let of_workspace = |text, trust| McpSource { file: file.clone(), label: MCP_FILE.to_owned(), text, trust };
    let found = read(&file);
    let Some(trust) = places.trust() else {
        return own.into_iter().chain(found.map(|text| of_workspace(text, McpTrust::All))).collect();
    };
    let kept = trust.kept_servers();
    // Named, so that a plan that wants one is told what is missing.
    let untrusted = found.map(|text| without(text, kept.as_ref().map(|(text, _)| text.as_str())));
    let kept = kept.map(|(text, named)| of_workspace(text, McpTrust::Files(named)));
    own.into_iter().chain(kept).chain(untrusted.flatten().map(|text| of_workspace(text, McpTrust::No))).collect()
}

/// The servers of a file that a trusted one doesn't name, as a file.
fn without(text: String, trusted: Option<&str>) -> Option<String> {
    let names = |text: &str| McpEntry::read(text).map(|entries| entries.into_iter().map(|entry| entry.name).collect::<BTreeSet<_>>());
    let known = trusted.and_then(|text| names(text).ok()).unwrap_or_default();
    let mut file: serde_json::Value = serde_json::from_str(&text).ok()?;
    file.get_mut("mcpServers")?.as_object_mut()?.retain(|name, _| !known.contains(name));
    Some(file.to_string())
}

/// Whether a tool node of a plan, at any depth, names a tool of this server.
pub(super) fn names_server(plan: &Plan, server: &str) -> bool {
    let names = |node: &Node| {
        let of = node.kind.tool().and_then(|work| work.tool.split_once(':'));
        of.is_some_and(|(named, _)| named == server) || node.kind.body().is_some_and(|body| names_server(body, server))
    };
    plan.nodes.iter().any(names)
}
