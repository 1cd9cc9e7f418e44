//! `FileTool`: a tool that works on the workspace's files alone, with arguments of one type. Its work is done beside the event loop.

use super::{AbandonFlag, arguments, blocking};
use crate::engine::Preview;
use crate::plan::ToolInfo;
use crate::tools::{Assessment, DependsOn, Tool, ToolContext, ToolError, ToolOutput, Workspace};
use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(super) struct FileTool<A> {
    pub info: ToolInfo,
    /// Of arguments that may be wrong.
    pub assess: fn(&Value) -> Assessment,
    pub work: fn(&Workspace, &A, &AbandonFlag) -> Result<ToolOutput, ToolError>,
    /// What a call would change.
    pub preview: Option<fn(&ToolContext, &A) -> Preview>,
}

#[async_trait]
impl<A: DeserializeOwned + Send + 'static> Tool for FileTool<A> {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn depends_on(&self, _args: &Value) -> DependsOn {
        // The others read what they don't report.
        if self.info.name == "read_file" { DependsOn::Files } else { DependsOn::Outside }
    }

    fn assess(&self, args: &Value, _context: &ToolContext) -> Assessment {
        (self.assess)(args)
    }

    async fn call(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let args: A = arguments(args)?;
        let (root, work) = (context.workspace.clone(), self.work);
        blocking(move |stop| work(&Workspace::new(&root)?, &args, stop)).await
    }

    fn preview(&self, args: &Value, context: &ToolContext) -> Option<Preview> {
        Some((self.preview?)(context, &arguments(args.clone()).ok()?))
    }
}
