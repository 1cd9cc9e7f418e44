//! `NewAgent`: the call by which an agent that a model wrote is shown to a person, who takes it, edits it or refuses it. It asks whatever
//! is allowed, and keeps the card as a file only where the person names one. No plan and no model names it.

use super::{Assessment, Tool, ToolContext, ToolError, ToolOutput};
use crate::{
    engine::Preview,
    files,
    plan::{Risk, ToolInfo, ToolReach, Verdict, is_agent_name},
};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{fs::OpenOptions, io::Write as _, os::unix::fs::OpenOptionsExt as _, path::PathBuf};

/// Its name.
pub const NEW_AGENT: &str = "new_agent";

/// An agent as a model wrote it, or as a person changed that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenAgent {
    /// What it does, in a sentence.
    pub description: String,
    /// Names of the tools that it may use.
    pub tools: Vec<String>,
    /// Its system prompt.
    pub prompt: String,
    /// The name to keep its card under; empty: it isn't kept.
    #[serde(default)]
    pub keep_as: String,
}

impl WrittenAgent {
    /// The card as a file.
    fn card(&self, name: &str) -> String {
        let (description, tools) = (json!(self.description), json!(self.tools));
        format!("---\nname: {name}\ndescription: {description}\ntype: llm\ntools: {tools}\n---\n{}\n", self.prompt.trim())
    }
}

/// Shows a written agent.
pub struct NewAgent {
    info: ToolInfo,
    /// The folder of the person's own cards.
    folder: Option<PathBuf>,
}

impl NewAgent {
    pub fn new(folder: Option<PathBuf>) -> Self {
        let text = json!({"type": "string"});
        let info = ToolInfo {
            name: NEW_AGENT.to_owned(),
            description: "Uses an agent that a model wrote, and keeps its card under `keep_as` where that is given.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {"description": text, "tools": {"type": "array", "items": text}, "prompt": text, "keep_as": text},
                "required": ["description", "tools", "prompt"],
                "additionalProperties": false,
            }),
            risk: Risk::Read,
            verdict: Verdict::Ask,
            reach: Some(ToolReach::Private),
        };
        Self { info, folder }
    }

    fn keep(&self, agent: &WrittenAgent) -> Result<(), ToolError> {
        let name = agent.keep_as.as_str();
        if !is_agent_name(name) {
            return Err(ToolError::refused(format!("`{}` can't be an agent's name", name.escape_debug()))
                .hint("use 1 to 64 letters, digits, `_` and `-`"));
        }
        let folder = self.folder.as_ref().ok_or_else(|| ToolError::refused("the system names no folder for your agents"))?;
        let file = folder.join(format!("{name}.md"));
        let write = || {
            files::private_folder(folder)?;
            let mut new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file)?;
            new.write_all(agent.card(name).as_bytes())
        };
        write().map_err(|error| ToolError::refused(format!("`{}` can't be written: {error}", file.display())))
    }
}

#[async_trait]
impl Tool for NewAgent {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn asks_because(&self) -> Option<String> {
        Some("a model wrote this agent: take it, edit it or refuse it; a name in `keep_as` keeps its card".to_owned())
    }

    fn assess(&self, args: &Value, _context: &ToolContext) -> Assessment {
        let tools = args["tools"].as_array().map_or(0, Vec::len);
        let keeps = args["keep_as"].as_str().is_some_and(|name| !name.is_empty());
        let risk = if keeps { Risk::Write } else { Risk::Read };
        Assessment::local(risk, format!("uses an agent with {}", crate::text::counted(tools, "tool")))
    }

    async fn call(&self, args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let agent: WrittenAgent = serde_json::from_value(args.clone()).map_err(|error| ToolError::refused(error.to_string()))?;
        if !agent.keep_as.is_empty() {
            self.keep(&agent)?;
        }
        Ok(ToolOutput { value: args, ..ToolOutput::default() })
    }

    fn preview(&self, args: &Value, _context: &ToolContext) -> Option<Preview> {
        let agent: WrittenAgent = serde_json::from_value(args.clone()).ok()?;
        let name = if agent.keep_as.is_empty() { "written_agent" } else { &agent.keep_as };
        Some(Preview::Text(agent.card(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> ToolContext {
        ToolContext::of(std::env::temp_dir())
    }

    #[tokio::test]
    async fn a_written_agent_is_kept_as_a_card_only_under_a_name_that_a_person_gave() {
        let folder = tempfile::tempdir().unwrap();
        let tool = NewAgent::new(Some(folder.path().join("agents")));
        let args = |keep: &str| json!({"description": "Writes: poems", "tools": ["read_file"], "prompt": "You write.", "keep_as": keep});
        assert_eq!(tool.call(args(""), &context()).await.unwrap().value, args(""));
        assert!(!folder.path().join("agents").exists());
        tool.call(args("poet"), &context()).await.unwrap();
        let text = std::fs::read_to_string(folder.path().join("agents/poet.md")).unwrap();
        assert_eq!(text, "---\nname: poet\ndescription: \"Writes: poems\"\ntype: llm\ntools: [\"read_file\"]\n---\nYou write.\n");
        let error = tool.call(args("poet"), &context()).await.unwrap_err();
        assert!(error.message.contains("poet.md` can't be written: File exists"), "{error}");
        assert!(tool.call(args("../x"), &context()).await.unwrap_err().message.contains("can't be an agent's name"));
    }
}
