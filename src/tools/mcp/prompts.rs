//! Prompts of servers: texts that they make for a request. Whoever asked for one reads it first; it starts nothing.

use super::{connection::McpConnection, error::McpError, outcome};
use rmcp::model::{GetPromptRequestParams, PromptMessage, Role};
use serde_json::{Map, Value};
use std::{path::Path, time::Duration};

impl McpConnection {
    /// The text of a prompt, of several messages one below the other; `files` is the folder for what is no text.
    pub(super) async fn prompt(
        &self,
        name: &str,
        arguments: Map<String, Value>,
        files: &Path,
        patience: Duration,
    ) -> Result<String, McpError> {
        self.asked();
        let mut params = GetPromptRequestParams::new(name);
        params.arguments = Some(arguments);
        let answer = tokio::time::timeout(patience, self.peer().get_prompt(params)).await;
        let answer = answer.map_err(|_| McpError::new(format!("it said nothing for {} s", patience.as_secs())))?;
        let answer = answer.map_err(|error| McpError::new(format!("it gave no text: {error}")))?;
        Ok(answer.messages.iter().map(|message| line(message, files)).collect::<Vec<_>>().join("\n\n"))
    }
}

fn line(message: &PromptMessage, files: &Path) -> String {
    let text = outcome::part(&message.content, files);
    match message.role {
        Role::User => text,
        Role::Assistant => format!("assistant: {text}"),
    }
}
