//! Which MCP servers there are: those of the user's own file, then those of the workspace as far as they are trusted.

use super::places::Folders;
use crate::files;
use crate::models::config::Lookup;
use crate::plan::{Catalog, Plan};
use crate::tools::{
    KnownSecrets, McpConfig,
    mcp::{MCP_FILE, MCP_USER_FILE, McpEntry, McpServers, McpSettings, McpSource, McpTrust},
};
use serde_json::json;
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

/// The tools that the nodes of a plan name, at any depth.
pub(super) fn tools_of(plan: &Plan) -> BTreeSet<&str> {
    let own = plan.nodes.iter().filter_map(|node| Some(node.kind.tool()?.tool.as_str()));
    own.chain(plan.nodes.iter().filter_map(|node| node.kind.body()).flat_map(tools_of)).collect()
}

/// The catalog as a run keeps it: of servers' tools that no node names, only what gates need to know.
pub(super) fn kept_catalog(mut catalog: Catalog, plan: &Plan) -> Catalog {
    let named: BTreeSet<String> = tools_of(plan).into_iter().map(|name| catalog.canonical(name).to_owned()).collect();
    for tool in catalog.tools.iter_mut().filter(|tool| tool.name.contains(':') && !named.contains(&tool.name)) {
        tool.description.clear();
        tool.input_schema = json!({});
    }
    catalog
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Risk, ToolInfo, Verdict};

    #[test]
    fn a_run_keeps_the_whole_description_of_the_tools_that_it_names_alone() {
        let (verdict, input_schema) = (Verdict::Allow, json!({"type": "object"}));
        let tool = |name: &str| ToolInfo {
            name: name.into(),
            description: "what it does".into(),
            input_schema: input_schema.clone(),
            risk: Risk::Network,
            verdict,
            reach: None,
        };
        let catalog = Catalog {
            tools: ["s:a", "s:b", "s:c", "s:d", "own"].map(tool).to_vec(),
            aliases: [("other".to_owned(), "s:c".to_owned())].into(),
            ..Catalog::default()
        };
        let inside = json!({"dagdeck": 1, "goal": "g", "nodes": [{"id": "x", "tool": "s:b"}, {"id": "y", "tool": "other"}]});
        let nodes = json!([{"id": "a", "tool": "s:a"}, {"id": "in", "plan": inside}]);
        let plan: Plan = serde_json::from_value(json!({"dagdeck": 1, "goal": "g", "nodes": nodes})).unwrap();
        let kept = kept_catalog(catalog, &plan);
        let whole: Vec<&str> = kept
            .tools
            .iter()
            .filter(|tool| tool.input_schema == input_schema && !tool.description.is_empty())
            .map(|tool| tool.name.as_str())
            .collect();
        assert_eq!(whole, ["s:a", "s:b", "s:c", "own"]);
        assert_eq!((kept.tools[3].risk, kept.tools[3].verdict), (Risk::Network, verdict), "what gates need stays");
    }
}
