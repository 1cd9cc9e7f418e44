//! `McpConnection::list`: what a live server lists, page by page: its tools, its resources and its prompts. A server that can't list what it
//! has beside tools hides no tool.

use super::{
    connection::McpConnection,
    error::McpError,
    listing::{ListedTool, ToolHints},
    offers::{McpOffers, McpPrompt, McpPromptArgument, McpResource},
};
use rmcp::{
    model::{PaginatedRequestParams, Prompt, Tool},
    service::ServiceError,
};
use serde_json::Value;
use std::{sync::atomic::Ordering, time::Duration};

/// Most pages of a list.
const PAGES: usize = 100;

/// Most resources and prompts that count.
const MOST: usize = 1_000;

/// Longest description of one of them, in characters.
const DESCRIPTION: usize = 300;

/// Everything that a server lists.
pub(super) struct ServerInventory {
    pub(super) tools: Vec<ListedTool>,
    pub(super) offers: McpOffers,
}

impl McpConnection {
    /// All that it has. What changes meanwhile makes it stale again.
    pub(super) async fn list(&self, patience: Duration) -> Result<ServerInventory, McpError> {
        let stale = &self.heard().is_stale;
        stale.store(false, Ordering::Relaxed);
        let listed = self.list_all(patience).await;
        if listed.is_err() {
            stale.store(true, Ordering::Relaxed);
        }
        listed
    }

    async fn list_all(&self, patience: Duration) -> Result<ServerInventory, McpError> {
        let peer = self.peer();
        let able = peer.peer_info().map(|info| info.capabilities.clone());
        let tools = match able.as_ref().is_none_or(|able| able.tools.is_some()) {
            true => {
                let listed = pages("tools", patience, |params| {
                    let peer = peer.clone();
                    async move {
                        let page = peer.list_tools(params).await?;
                        Ok((page.tools, page.next_cursor))
                    }
                });
                listed.await?
            }
            false => Vec::new(),
        };
        let mut offers = McpOffers::default();
        if able.as_ref().is_some_and(|able| able.resources.is_some()) {
            let listed = pages("resources", patience, |params| {
                let peer = peer.clone();
                async move {
                    let page = peer.list_resources(params).await?;
                    Ok((page.resources, page.next_cursor))
                }
            });
            let described = |title: Option<String>, name, text| about(title.unwrap_or(name), text);
            let resources = self.as_far_as_it_can(listed.await).into_iter();
            let resources = resources.map(|one| McpResource { uri: one.uri, description: described(one.title, one.name, one.description) });
            offers.resources = Some(resources.collect());
            let listed = pages("resource templates", patience, |params| {
                let peer = peer.clone();
                async move {
                    let page = peer.list_resource_templates(params).await?;
                    Ok((page.resource_templates, page.next_cursor))
                }
            });
            let templates = self.as_far_as_it_can(listed.await).into_iter();
            let templates =
                templates.map(|one| McpResource { uri: one.uri_template, description: described(one.title, one.name, one.description) });
            offers.templates = templates.collect();
        }
        if able.as_ref().is_some_and(|able| able.prompts.is_some()) {
            let listed = pages("prompts", patience, |params| {
                let peer = peer.clone();
                async move {
                    let page = peer.list_prompts(params).await?;
                    Ok((page.prompts, page.next_cursor))
                }
            });
            offers.prompts = self.as_far_as_it_can(listed.await).into_iter().map(prompt).collect();
        }
        Ok(ServerInventory { tools: tools.into_iter().map(tool).collect(), offers })
    }

    /// A list that a server promises and doesn't give is empty, with a line in its log.
    fn as_far_as_it_can<T>(&self, listed: Result<Vec<T>, McpError>) -> Vec<T> {
        let mut listed = listed.unwrap_or_else(|error| {
            self.heard().log.line(&format!("dagdeck: {error}\n"));
            Vec::new()
        });
        listed.truncate(MOST);
        listed
    }
}

/// A whole list, page by page.
async fn pages<T, F: Future<Output = Result<(Vec<T>, Option<String>), ServiceError>>>(
    what: &str,
    patience: Duration,
    next: impl Fn(Option<PaginatedRequestParams>) -> F,
) -> Result<Vec<T>, McpError> {
    let (mut all, mut cursor) = (Vec::new(), None);
    for _ in 0..PAGES {
        let params = cursor.take().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let page = tokio::time::timeout(patience, next(params)).await;
        let page = page.map_err(|_| McpError::new(format!("it didn't list its {what} within {} s", patience.as_secs())).transient())?;
        let (entries, next_cursor) = page.map_err(|error| McpError::new(format!("it didn't list its {what}: {error}")))?;
        all.extend(entries);
        match next_cursor.filter(|next| !next.is_empty()) {
            Some(next) => cursor = Some(next),
            None => return Ok(all),
        }
    }
    Err(McpError::new(format!("its list of {what} has more than {PAGES} pages")))
}

fn tool(tool: Tool) -> ListedTool {
    let hints = tool.annotations.as_ref();
    let is = |hint: Option<bool>, said: bool| hint == Some(said);
    let hints = ToolHints {
        read_only: is(hints.and_then(|hints| hints.read_only_hint), true),
        harmless: is(hints.and_then(|hints| hints.destructive_hint), false),
        closed: is(hints.and_then(|hints| hints.open_world_hint), false),
    };
    let title = tool.title.or_else(|| tool.annotations.and_then(|hints| hints.title));
    ListedTool {
        name: tool.name.into_owned(),
        description: tool.description.map(std::borrow::Cow::into_owned).or(title).unwrap_or_default(),
        input_schema: Value::Object((*tool.input_schema).clone()),
        output_schema: tool.output_schema.map(|schema| Value::Object((*schema).clone())),
        hints,
    }
}

fn prompt(prompt: Prompt) -> McpPrompt {
    let argument = |one: rmcp::model::PromptArgument| McpPromptArgument {
        name: one.name,
        description: short(one.description.or(one.title).unwrap_or_default()),
        is_required: one.required == Some(true),
    };
    McpPrompt {
        name: prompt.name,
        description: short(prompt.description.or(prompt.title).unwrap_or_default()),
        arguments: prompt.arguments.unwrap_or_default().into_iter().map(argument).collect(),
    }
}

/// A name with what is said of it.
fn about(name: String, description: Option<String>) -> String {
    short(match description.filter(|text| !text.trim().is_empty() && *text != name) {
        Some(text) => format!("{name}: {text}"),
        None => name,
    })
}

fn short(text: String) -> String {
    text.chars().take(DESCRIPTION).collect()
}
