//! Prompts of MCP servers, for clients: which ones were listed, and the text of one.

use super::client::{Notice, Problem, PromptOffer};
use crate::plan::Field;
use crate::tools::mcp::{McpPrompt, McpPromptArgument, McpServers};
use serde_json::{Map, Value};

/// All that servers listed by now.
pub(super) fn offers(servers: &McpServers) -> Vec<PromptOffer> {
    let of = |server: &str, prompt: McpPrompt| PromptOffer {
        server: server.to_owned(),
        name: prompt.name,
        description: prompt.description,
        fields: prompt.arguments.into_iter().map(field).collect(),
    };
    let usable = servers.status().into_iter().filter(|server| server.is_usable);
    usable.flat_map(|server| server.offers.prompts.into_iter().map(move |prompt| of(&server.name, prompt)).collect::<Vec<_>>()).collect()
}

fn field(argument: McpPromptArgument) -> Field {
    let McpPromptArgument { name, description, is_required } = argument;
    let label = (!description.is_empty()).then(|| format!("{name}: {description}"));
    Field { name, label, optional: !is_required, ..Field::default() }
}

/// What becomes of asking for one.
pub(super) async fn text(servers: &McpServers, server: &str, name: &str, arguments: Map<String, Value>) -> Notice {
    match servers.prompt(server, name, arguments).await {
        Ok(text) => Notice::PromptText(text),
        Err(error) => {
            let problem = Problem::new(format!("the prompt `{name}` of the MCP server `{server}` can't be used: {error}"));
            Notice::Problem(match error.hint {
                Some(hint) => problem.hint(hint),
                None => problem,
            })
        }
    }
}
