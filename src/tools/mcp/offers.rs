//! What a server has beside tools: resources to read and prompts to begin with, as it listed them. Texts of others: shown, never obeyed.

use serde::{Deserialize, Serialize};

/// Resources and prompts of one server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct McpOffers {
    /// None where it has nothing to read.
    pub resources: Option<Vec<McpResource>>,
    /// Addresses with gaps to fill in, such as `note://{name}`.
    pub templates: Vec<McpResource>,
    pub prompts: Vec<McpPrompt>,
}

/// Something that a server lets read by its address.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct McpResource {
    pub uri: String,
    /// Its name, and what it says of it.
    pub description: String,
}

/// A text that a server makes for a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct McpPrompt {
    pub name: String,
    pub description: String,
    pub arguments: Vec<McpPromptArgument>,
}

/// What a prompt is made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct McpPromptArgument {
    pub name: String,
    pub description: String,
    pub is_required: bool,
}
