//! `run_javascript`: a script in the sandbox, for agents; plans have code nodes for the same.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{arguments, describe};
use crate::engine::Preview;
use crate::plan::{Risk, SandboxLimits, ToolInfo, ToolReach};
use crate::tools::{
    Assessment, Tool, ToolContext, ToolError, ToolOutput, ToolsConfig,
    sandbox::{self, SandboxConfig, SandboxError},
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunJavascriptArgs {
    /// Body of an async function; `return` gives the result, `console.log` is kept. There are no files, no network and no timers.
    #[schemars(length(min = 1))]
    code: String,
    /// Data that the code sees as `inputs`.
    #[schemars(extend("type" = ["object", "array", "string", "number", "boolean", "null"]))]
    #[serde(default)]
    inputs: Value,
    /// Longest time in milliseconds. Default: 5000.
    #[schemars(range(min = 1, max = 600_000))]
    time_ms: Option<u64>,
}

pub(super) struct RunJavascript {
    info: ToolInfo,
    sandbox: SandboxConfig,
}

impl RunJavascript {
    pub(super) fn new(config: &ToolsConfig) -> Self {
        let description = "Run JavaScript in a sandbox to calculate or to reshape data. Gives {value, logs}. `value` must be JSON.";
        Self {
            info: describe::<RunJavascriptArgs>("run_javascript", description, Risk::Read, ToolReach::Public),
            sandbox: config.sandbox.clone(),
        }
    }
}

#[async_trait]
impl Tool for RunJavascript {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn assess(&self, _args: &Value, _context: &ToolContext) -> Assessment {
        Assessment::read("runs code in the sandbox, without files or network")
    }

    async fn call(&self, args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let args: RunJavascriptArgs = arguments(args)?;
        let limits = SandboxLimits { time_ms: args.time_ms, memory_mb: None };
        let outcome = sandbox::javascript(&self.sandbox, &args.code, json!({}), args.inputs, &limits).await.map_err(tool_error)?;
        Ok(ToolOutput { value: json!({"value": outcome.value, "logs": outcome.logs}), ..ToolOutput::default() })
    }

    fn preview(&self, args: &Value, _context: &ToolContext) -> Option<Preview> {
        Some(Preview::Text(args["code"].as_str()?.to_owned()))
    }
}

/// An error for the author of the code: with what it logged before.
fn tool_error(error: SandboxError) -> ToolError {
    let mut message = error.to_string();
    if !error.logs().is_empty() {
        message.push_str(&format!("; it logged before: {}", error.logs().join(" | ")));
    }
    let failed = ToolError::failed(message);
    error.hint().map_or(failed.clone(), |hint| failed.hint(hint))
}
