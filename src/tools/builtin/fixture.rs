//! What the tests of the built-in tools share: a workspace in a temporary directory and one way to call a tool in it.

use serde_json::Value;
use std::{fs, path::Path};

use crate::tools::{ToolContext, ToolError, ToolOutput, ToolRegistry, ToolsConfig};

pub(super) struct Fixture {
    pub(super) dir: tempfile::TempDir,
    pub(super) context: ToolContext,
    pub(super) registry: ToolRegistry,
}

impl Fixture {
    /// A workspace with these files.
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        Self::with(ToolsConfig::default(), files)
    }

    pub(super) fn with(config: ToolsConfig, files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let context = ToolContext::of(dir.path().to_path_buf());
        Self { dir, context, registry: ToolRegistry::builtin(&config).unwrap() }
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.dir.path().join(path)).unwrap()
    }

    /// Checks and runs a call.
    pub(super) fn call(&self, tool: &str, args: Value) -> Result<ToolOutput, ToolError> {
        self.registry.check(tool, &args)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(self.registry.get(tool).unwrap().call(args, &self.context))
    }
}
