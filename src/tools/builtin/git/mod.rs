//! `git`: what a repository says, as data. Reads only. What the repository's own configuration would start (filters, textconv, external
//! differences, fsmonitor, gpg, pagers, hooks) is switched off, and git runs where no second program can start: `process.rs`.

mod parse;
mod process;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{arguments, decode, describe};
use crate::engine::DataSource;
use crate::plan::{Risk, ToolInfo, ToolReach};
use crate::tools::{Assessment, Tool, ToolContext, ToolError, ToolOutput, ToolsConfig, Workspace};
use process::Repository;

/// Commits of a log that doesn't ask for more.
const LIMIT: u32 = 50;
/// Fields of a commit, each ended by NUL.
const COMMIT: &str = "--format=tformat:%H%x00%an%x00%ae%x00%aI%x00%s";

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum GitCommand {
    Status,
    Log,
    Show,
    Diff,
    Blame,
    Branches,
    Tags,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GitArgs {
    /// What to ask the repository for.
    #[schemars(extend("enum" = ["status", "log", "show", "diff", "blame", "branches", "tags"], "type" = "string"))]
    command: GitCommand,
    /// Commit, branch or tag; for log and diff also `a..b`; for show also `HEAD:path`, a file as it was. Default: the current state.
    #[schemars(length(min = 1, max = 300))]
    revision: Option<String>,
    /// File or directory, relative to the workspace.
    path: Option<String>,
    /// Only commits by this author: a part of name or address.
    author: Option<String>,
    /// Only commits after this time, such as `2024-05-04` or `2 weeks ago`.
    since: Option<String>,
    /// Only commits before this time.
    until: Option<String>,
    /// Only commits whose message contains this.
    message: Option<String>,
    /// Most commits of a log. Default: 50.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<u32>,
    /// For diff: what is staged. Default: false.
    #[serde(default)]
    staged: bool,
}

pub(super) struct Git {
    info: ToolInfo,
    process: process::GitProcess,
}

impl Git {
    /// None where there is no git.
    pub(super) fn new(config: &ToolsConfig) -> Option<Self> {
        let description = "Read the git repository of the workspace. status gives {branch, upstream, ahead, behind, clean, files: [{path, status, \
                     staged}]}; log [{hash, author, email, date, subject}], newest first; show the same of one commit with body, files and diff; \
                     diff {files: [{path, status, added, removed}], diff}; blame [{line, hash, author, date, text}]; branches and tags [{name, current, \
                     remote, hash, date, subject}].";
        let process = process::GitProcess::find(config.sandbox.clone())?;
        Some(Self { info: describe::<GitArgs>("git", description, Risk::Read, ToolReach::Private), process })
    }
}

#[async_trait]
impl Tool for Git {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn assess(&self, args: &Value, _context: &ToolContext) -> Assessment {
        Assessment::read(format!("reads the repository: git {}", args["command"].as_str().unwrap_or_default()))
    }

    async fn call(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let args: GitArgs = arguments(args)?;
        let workspace = Workspace::new(&context.workspace)?;
        let asked =
            GitQuery { repository: self.process.open(&workspace)?, revision: revision(&args)?, path: place(&workspace, &args)?, args };
        let value = asked.answer().await?;
        let source = DataSource { kind: "file".into(), identifier: ".git".into(), query: Some(asked.label()) };
        Ok(ToolOutput { value, files: Vec::new(), sources: vec![source] })
    }
}

/// A revision that can't be taken for an option.
fn revision(args: &GitArgs) -> Result<Option<String>, ToolError> {
    let Some(revision) = &args.revision else { return Ok(None) };
    if revision.starts_with('-') || revision.contains(|letter: char| letter.is_control() || letter == ' ') {
        return Err(ToolError::refused(format!("`{}` is no revision", revision.escape_debug())).hint("name a commit, branch or tag"));
    }
    Ok(Some(revision.clone()))
}

fn place(workspace: &Workspace, args: &GitArgs) -> Result<Option<String>, ToolError> {
    args.path.as_deref().map(|path| Ok(workspace.locate(path)?.display())).transpose()
}

/// One question to a repository.
struct GitQuery<'g> {
    repository: Repository<'g>,
    revision: Option<String>,
    path: Option<String>,
    args: GitArgs,
}

impl GitQuery<'_> {
    fn label(&self) -> String {
        let parts = [self.revision.as_deref(), self.path.as_deref()];
        let command = json!(self.args.command);
        std::iter::once(command.as_str().unwrap_or_default()).chain(parts.into_iter().flatten()).collect::<Vec<_>>().join(" ")
    }

    async fn answer(&self) -> Result<Value, ToolError> {
        match self.args.command {
            GitCommand::Status => self.status().await,
            GitCommand::Log => self.log().await,
            GitCommand::Show => self.show().await,
            GitCommand::Diff => self.diff().await,
            GitCommand::Blame => self.blame().await,
            GitCommand::Branches => self.references(&["refs/heads", "refs/remotes"]).await,
            GitCommand::Tags => self.references(&["refs/tags"]).await,
        }
    }

    /// Runs git with the path after all else.
    async fn run(&self, args: &[&str]) -> Result<Vec<u8>, ToolError> {
        let mut all: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        all.extend(self.path.iter().flat_map(|path| ["--".to_owned(), path.clone()]));
        self.repository.run(&all).await
    }

    async fn status(&self) -> Result<Value, ToolError> {
        let args = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--ignore-submodules=dirty"];
        Ok(parse::status(&self.run(&args).await?))
    }

    async fn log(&self) -> Result<Value, ToolError> {
        let limit = format!("--max-count={}", self.args.limit.unwrap_or(LIMIT));
        let mut args: Vec<String> =
            ["log", "-z", COMMIT, &limit, "--no-patch", "--no-show-signature", "--fixed-strings", "--regexp-ignore-case"]
                .map(str::to_owned)
                .into();
        let filters =
            [("author", &self.args.author), ("since", &self.args.since), ("until", &self.args.until), ("grep", &self.args.message)];
        args.extend(filters.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value.as_ref()?))));
        args.extend(self.revision.clone());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        Ok(Value::Array(parse::commits(&self.run(&args).await?)))
    }

    async fn show(&self) -> Result<Value, ToolError> {
        let revision = self.revision.as_deref().unwrap_or("HEAD");
        if revision.contains(':') {
            let bytes = self.repository.run(&["show", "--no-textconv", "--no-ext-diff", revision].map(str::to_owned)).await?;
            return Ok(json!({"revision": revision, "text": decode(bytes, revision)?}));
        }
        let header =
            self.repository.run(&["log", "-z", "-1", "--no-patch", "--no-show-signature", COMMIT, revision].map(str::to_owned)).await?;
        let body =
            self.repository.run(&["log", "-1", "--no-patch", "--no-show-signature", "--format=%b", revision].map(str::to_owned)).await?;
        let mut fields = match parse::commits(&header).into_iter().next() {
            Some(Value::Object(fields)) => fields,
            _ => return Err(ToolError::refused(format!("there is no commit `{revision}`"))),
        };
        fields.insert("body".into(), Value::from(String::from_utf8_lossy(&body).trim_end()));
        fields.extend(self.changes(&["show", "--format=", "--diff-merges=first-parent", "--no-show-signature", revision]).await?);
        Ok(Value::Object(fields))
    }

    async fn diff(&self) -> Result<Value, ToolError> {
        let mut args = vec!["diff"];
        args.extend(self.args.staged.then_some("--cached"));
        args.extend(self.revision.as_deref());
        Ok(Value::Object(self.changes(&args).await?))
    }

    /// Files and text of a difference.
    async fn changes(&self, args: &[&str]) -> Result<Map<String, Value>, ToolError> {
        const PLAIN: [&str; 5] = ["--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short", "--ignore-submodules=dirty"];
        let (command, rest) = args.split_at(1);
        let with = |form: &[&'static str]| [command, &PLAIN, form, rest].concat().into_iter().map(str::to_owned).collect::<Vec<_>>();
        let run = async |form: &[&'static str]| {
            let args = with(form);
            self.run(&args.iter().map(String::as_str).collect::<Vec<_>>()).await
        };
        let files = parse::files(&run(&["--name-status", "-z"]).await?, &run(&["--numstat", "-z"]).await?);
        let diff = String::from_utf8_lossy(&run(&["--patch"]).await?).into_owned();
        Ok(Map::from_iter([("files".into(), Value::Array(files)), ("diff".into(), Value::from(diff))]))
    }

    async fn blame(&self) -> Result<Value, ToolError> {
        if self.path.is_none() {
            return Err(ToolError::refused("`path` is missing: blame is about one file"));
        }
        let mut args = vec!["blame", "--porcelain", "--no-textconv"];
        args.extend(self.revision.as_deref());
        Ok(Value::Array(parse::blame(&self.run(&args).await?)))
    }

    async fn references(&self, below: &[&str]) -> Result<Value, ToolError> {
        const FORMAT: &str = "--format=%(refname)%00%(HEAD)%00%(objectname)%00%(committerdate:iso-strict)%00%(contents:subject)%00";
        let args: Vec<String> = ["for-each-ref", FORMAT].iter().chain(below).map(|arg| (*arg).to_owned()).collect();
        Ok(Value::Array(parse::branches(&self.repository.run(&args).await?)))
    }
}
