//! `McpListing`: what a server listed last: its tools, and which definition of each may be called by the rules. It is kept in the state
//! folder, so that plans are made and checked without starting anything.

use super::offers::McpOffers;
use crate::plan::{Risk, ToolInfo, ToolReach, Verdict};
use crate::text::hex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use crate::files::{self, beside};

/// Most tools of one server that count.
const MOST_TOOLS: usize = 1_000;
/// Longest description that is shown to models, in characters.
const DESCRIPTION: usize = 8_000;
/// Longest schemas of a tool as JSON, in bytes.
const SCHEMAS: usize = 256 << 10;

/// The tools of one server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct McpListing {
    /// Of how the server is reached; what another program listed counts for nothing.
    pub(super) launch: String,
    pub(super) tools: Vec<Arc<ListedTool>>,
    /// By tool, the definition that the rules speak of: the first one, then those that a person said yes to.
    #[serde(default)]
    accepted: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) offers: McpOffers,
}

/// A tool as its server describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ListedTool {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) input_schema: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) output_schema: Option<Value>,
    pub(super) hints: ToolHints,
}

/// What a server says of a tool. What it doesn't say is thought to be the worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ToolHints {
    pub(super) read_only: bool,
    /// It only adds.
    pub(super) harmless: bool,
    /// It reaches nothing but its own world.
    pub(super) closed: bool,
}

impl ToolHints {
    pub(super) fn risk(self) -> Risk {
        match self {
            Self { read_only: true, closed: true, .. } => Risk::Read,
            Self { read_only: true, closed: false, .. } => Risk::Network,
            Self { harmless: true, .. } => Risk::Write,
            Self { .. } => Risk::Execute,
        }
    }

    /// The same for people.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self { read_only: true, closed: true, .. } => "it only reads, and reaches nothing else",
            Self { read_only: true, closed: false, .. } => "it only reads, and may reach other places",
            Self { harmless: true, closed: true, .. } => "it adds and destroys nothing, and reaches nothing else",
            Self { harmless: true, closed: false, .. } => "it adds and destroys nothing, and may reach other places",
            Self { closed: true, .. } => "it may change or destroy things, and reaches nothing else",
            Self { closed: false, .. } => "it may change or destroy things, and may reach other places",
        }
    }
}

impl ListedTool {
    /// The description for catalogs, before the rules were asked.
    pub(super) fn info(&self, server: &str) -> ToolInfo {
        ToolInfo {
            name: format!("{server}:{}", self.name),
            description: self.description.clone(),
            input_schema: self.input_schema.clone(),
            risk: self.hints.risk(),
            verdict: Verdict::Ask,
            reach: Some(ToolReach::Private),
        }
    }

    fn fingerprint(&self) -> String {
        hex(&Sha256::digest(json!(self).to_string()))
    }
}

impl McpListing {
    /// Reads what is kept of a server that is reached like this.
    pub(super) fn open(file: &Path, launch: &str) -> Option<Self> {
        let text = files::read_text(file, files::DOCUMENT).ok()?;
        serde_json::from_str(&text).ok().filter(|kept: &Self| kept.launch == launch)
    }

    /// What a server lists now, after what it listed before; and what of it can't be used.
    pub(super) fn next(before: Option<&Self>, launch: &str, listed: Vec<ListedTool>) -> (Self, Vec<String>) {
        let mut listing = Self { launch: launch.to_owned(), ..Self::default() };
        listing.accepted = before.map(|before| before.accepted.clone()).unwrap_or_default();
        let (mut names, mut problems) = (BTreeSet::new(), Vec::new());
        for mut tool in listed {
            let name = tool.name.escape_debug().to_string();
            if let Some(why) = unusable(&tool) {
                problems.push(format!("the tool `{name}` is left out: {why}"));
            } else if listing.tools.len() == MOST_TOOLS {
                problems.push(format!("it lists more than {MOST_TOOLS} tools; the rest is left out"));
                break;
            } else if names.insert(tool.name.clone()) {
                if tool.description.chars().count() > DESCRIPTION {
                    tool.description = tool.description.chars().take(DESCRIPTION).chain(['…']).collect();
                }
                listing.accepted.entry(tool.name.clone()).or_insert_with(|| tool.fingerprint());
                listing.tools.push(Arc::new(tool));
            } else {
                problems.push(format!("it lists the tool `{name}` twice; the first counts"));
            }
        }
        (listing, problems)
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Arc<ListedTool>> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Whether a tool isn't what the rules speak of any more.
    pub(super) fn has_changed(&self, tool: &ListedTool) -> bool {
        self.accepted.get(&tool.name) != Some(&tool.fingerprint())
    }

    /// A person said yes to a tool as it is.
    pub(super) fn accept(&mut self, tool: &ListedTool) {
        self.accepted.insert(tool.name.clone(), tool.fingerprint());
    }

    /// Keeps it for the next time. Where it can't be kept, the server is listed again.
    pub(super) fn keep(&self, file: &Path) {
        let kept = file.parent().map_or(Ok(()), files::private_folder);
        let kept = kept.and_then(|()| beside::write_private(file, json!(self).to_string().as_bytes()));
        if let Err(error) = kept {
            tracing::warn!("`{}` can't be written: {error}", file.display());
        }
    }
}

fn unusable(tool: &ListedTool) -> Option<String> {
    let is_name = (1..=128).contains(&tool.name.len()) && tool.name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./".contains(&b));
    if !is_name {
        return Some("its name has other characters than A-Z a-z 0-9 _ - . /, or more than 128".to_owned());
    }
    let size = tool.input_schema.to_string().len() + tool.output_schema.as_ref().map_or(0, |schema| schema.to_string().len());
    (size > SCHEMAS).then(|| format!("its schemas have {} kB; the limit is {} kB", size >> 10, SCHEMAS >> 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str) -> ListedTool {
        let hints = ToolHints { read_only: true, harmless: false, closed: true };
        ListedTool { name: name.into(), description: description.into(), input_schema: json!({}), output_schema: None, hints }
    }

    #[test]
    fn a_changed_definition_is_known_until_a_person_says_yes_to_it() {
        let (first, _) = McpListing::next(None, "l", vec![tool("a", "reads"), tool("b", "reads")]);
        assert!(first.tools.iter().all(|tool| !first.has_changed(tool)));
        let (mut second, _) =
            McpListing::next(Some(&first), "l", vec![tool("a", "reads, and sends"), tool("b", "reads"), tool("c", "new")]);
        let changed: Vec<bool> = second.tools.iter().map(|tool| second.has_changed(tool)).collect();
        assert_eq!(changed, [true, false, false]);
        let a = second.tools[0].clone();
        second.accept(&a);
        assert!(!second.has_changed(&a));
        let (back, _) = McpListing::next(Some(&second), "l", vec![tool("a", "reads")]);
        assert!(back.has_changed(&back.tools[0]), "also when it changes back");
    }

    #[test]
    fn a_tool_that_comes_back_after_it_was_gone_is_still_compared() {
        let (first, _) = McpListing::next(None, "l", vec![tool("a", "reads")]);
        let (gone, _) = McpListing::next(Some(&first), "l", vec![]);
        let (back, _) = McpListing::next(Some(&gone), "l", vec![tool("a", "sends")]);
        assert!(back.has_changed(&back.tools[0]));
    }

    #[test]
    fn what_can_not_be_named_or_is_named_twice_is_left_out_with_a_reason() {
        let listed = vec![tool("a", "first"), tool("a", "second"), tool("b c", ""), tool("\u{1b}[31m", ""), tool("", "")];
        let (listing, problems) = McpListing::next(None, "l", listed);
        assert_eq!(listing.tools.iter().map(|tool| tool.description.as_str()).collect::<Vec<_>>(), ["first"]);
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert!(!problems.iter().any(|problem| problem.contains('\u{1b}')));
    }

    #[test]
    fn what_is_not_said_is_thought_to_be_the_worst() {
        assert_eq!(ToolHints::default().risk(), Risk::Execute);
        assert_eq!(ToolHints { harmless: true, ..ToolHints::default() }.risk(), Risk::Write);
        assert_eq!(ToolHints { read_only: true, ..ToolHints::default() }.risk(), Risk::Network);
        assert_eq!(ToolHints { read_only: true, closed: true, harmless: false }.risk(), Risk::Read);
    }

    #[test]
    fn a_listing_is_read_again_for_the_same_command_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp/s.json");
        let (listing, _) = McpListing::next(None, "l", vec![tool("a", "reads")]);
        listing.keep(&file);
        assert_eq!(McpListing::open(&file, "l"), Some(listing));
        assert_eq!(McpListing::open(&file, "other"), None);
    }
}
