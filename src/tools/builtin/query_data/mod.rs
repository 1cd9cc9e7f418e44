//! `query_data`: one SELECT over files of the workspace as tables. The files are read here, the query runs in the sandbox's worker.

pub(in crate::tools) mod database;
mod totals;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::io::Read as _;

use super::{
    AbandonFlag, access, arguments, blocking, decode, describe, list_directory,
    paths::{Paths, paths_schema},
};
use crate::engine::{DataSource, Preview};
use crate::plan::{Risk, ToolInfo, ToolReach};
use crate::tools::walk::{Seen, walk};
use crate::tools::{
    Assessment, DependsOn, Tool, ToolContext, ToolError, ToolOutput, ToolsConfig, Workspace,
    sandbox::{self, SandboxConfig, SandboxError},
    tables::TableFormat,
};
use database::{QueryFile, QueryJob};

/// Largest file in bytes.
const FILE: u64 = 32 << 20;
/// All files together, in bytes.
const ALL: u64 = 64 << 20;
/// Most files.
const FILES: usize = 50;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct QueryDataArgs {
    /// One SELECT (or WITH … SELECT) of SQLite. A table is called by its file without folder and ending: `data/sales.csv` is `sales`.
    #[schemars(length(min = 1))]
    sql: String,
    /// File of the workspace, or a glob such as `logs/*.log`; or a list of them.
    #[schemars(schema_with = "paths_schema")]
    files: Paths,
    /// How the files are read. Default: by the ending and by what they hold.
    #[schemars(extend("enum" = ["csv", "tsv", "json", "jsonl", "yaml", "log", "access", "lines", null]))]
    file_format: Option<TableFormat>,
    /// Give at most this many rows. Default: all, and more than 10000 are an error.
    #[schemars(range(min = 1, max = 10_000))]
    max_rows: Option<usize>,
    /// A file that can't be read is an empty table whose `fault` says why, and no error.
    #[serde(default)]
    unreadable: bool,
}

pub(super) struct QueryData {
    info: ToolInfo,
    sandbox: SandboxConfig,
}

impl QueryData {
    pub(super) fn new(config: &ToolsConfig) -> Self {
        let description = "Query data files of the workspace with SQL: CSV, TSV, JSON, JSON lines, YAML, logs (line, time, level, component, \
                     message; access logs: line, ip, user, time, method, path, status, bytes, …), other text (line, text). `rowid` is the row's \
                     number in the file. A column is numeric only if all its cells are plain decimals; empty cells are null. \
                     Gives {columns, rows: [object], count, truncated, tables, notes}: read the notes.";
        Self { info: describe::<QueryDataArgs>("query_data", description, Risk::Read, ToolReach::Private), sandbox: config.sandbox.clone() }
    }
}

#[async_trait]
impl Tool for QueryData {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn depends_on(&self, _args: &Value) -> DependsOn {
        DependsOn::Files
    }

    fn assess(&self, args: &Value, _context: &ToolContext) -> Assessment {
        let files = arguments::<QueryDataArgs>(args.clone()).map(|args| args.files.label()).unwrap_or_default();
        Assessment::read(format!("queries {files}"))
    }

    async fn call(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let args: QueryDataArgs = arguments(args)?;
        let root = context.workspace.clone();
        let job = blocking(move |stop| job(&Workspace::new(&root)?, args, stop)).await?;
        let paths: Vec<String> = job.files.iter().map(|file| file.path.clone()).collect();
        let sql = job.sql.clone();
        let answer = sandbox::query(&self.sandbox, job).await.map_err(tool_error)?;
        let value = answer.map_err(|fault| {
            let refused = ToolError::refused(fault.message);
            fault.hint.into_iter().fold(refused, ToolError::hint)
        })?;
        Ok(ToolOutput {
            value,
            files: paths.iter().map(|path| access(path.clone(), "read", None)).collect(),
            sources: paths.into_iter().map(|path| DataSource { kind: "file".into(), identifier: path, query: Some(sql.clone()) }).collect(),
        })
    }

    fn preview(&self, args: &Value, _context: &ToolContext) -> Option<Preview> {
        Some(Preview::Text(args["sql"].as_str()?.to_owned()))
    }
}

fn tool_error(error: SandboxError) -> ToolError {
    match error {
        SandboxError::Time { .. } => ToolError::refused("the query takes too long").hint("filter earlier, or query less"),
        SandboxError::Died(_) => ToolError::refused("the query needs too much memory").hint("query fewer or smaller files"),
        error @ (SandboxError::Script { .. } | SandboxError::Start(_)) => ToolError::failed(error.to_string()),
    }
}

/// The files that are meant, read.
fn job(workspace: &Workspace, args: QueryDataArgs, stop: &AbandonFlag) -> Result<QueryJob, ToolError> {
    let mut paths: Vec<String> = Vec::new();
    for path in args.files.all() {
        let found = match globbed(workspace, path, stop)? {
            Some(found) => found,
            None => vec![workspace.locate(path)?.display()],
        };
        for path in found {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    if paths.is_empty() || paths.len() > FILES {
        return Err(ToolError::refused(format!("{} files are meant; a query takes 1 to {FILES}", paths.len())));
    }
    let (mut files, mut left) = (Vec::new(), ALL);
    for path in paths {
        stop.check()?;
        let mut bytes = Vec::new();
        let read = workspace.open(&workspace.locate(&path)?)?.take(FILE + 1).read_to_end(&mut bytes);
        read.map_err(|cause| ToolError::failed(format!("`{path}` can't be read: {cause}")))?;
        let size = bytes.len() as u64;
        if size > FILE || size > left {
            let what =
                if size > FILE { format!("`{path}` is larger than 32 MiB") } else { "the files are larger than 64 MiB together".into() };
            return Err(ToolError::refused(what).hint("query a part: `search_files` finds lines, `read_file` reads some"));
        }
        left -= size;
        files.push(QueryFile { text: decode(bytes, &path)?, path, format: args.file_format });
    }
    Ok(QueryJob { sql: args.sql, files, max_rows: args.max_rows, unreadable: args.unreadable })
}

/// Files that a glob matches; none for a plain path.
fn globbed(workspace: &Workspace, path: &str, stop: &AbandonFlag) -> Result<Option<Vec<String>>, ToolError> {
    if !path.contains(['*', '?', '[', '{']) || workspace.locate(path).is_ok_and(|at| workspace.kind(&at).is_some()) {
        return Ok(None);
    }
    let pattern = list_directory::Pattern::new(path.strip_prefix("./").unwrap_or(path))?;
    let matched = |all: bool| {
        let mut found = Vec::new();
        for entry in walk(workspace.root(), Seen::of(all, false), None).flatten() {
            stop.check()?;
            let below = entry.path().strip_prefix(workspace.root()).unwrap_or(entry.path());
            if entry.file_type().is_some_and(|kind| kind.is_file()) && pattern.matches(below) {
                found.push(below.to_string_lossy().into_owned());
            }
        }
        Ok::<_, ToolError>(found)
    };
    let mut found = matched(false)?;
    if found.is_empty() {
        // Logs are often kept out of version control, and still meant here.
        found = matched(true)?;
    }
    if found.is_empty() {
        return Err(ToolError::refused(format!("no file matches `{}`", path.escape_debug())).hint("`list_directory` shows the files"));
    }
    Ok(Some(found))
}

/// What a query of one file answers.
#[cfg(test)]
pub(crate) fn query(sql: &str, path: &str, text: &str) -> Option<Value> {
    use database::{QueryLimits, answer};
    let file = QueryFile { path: path.into(), text: text.into(), format: None };
    let job = QueryJob { sql: sql.into(), files: vec![file], max_rows: None, unreadable: false };
    answer(&job, QueryLimits { time: std::time::Duration::from_secs(5), memory: None }).ok()
}
