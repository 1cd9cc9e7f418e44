//! `run_python`: a Python program, confined like a command: in the workspace, without network, unable to write elsewhere, within limits of
//! time and memory, ended with everything it started. What it writes into `out`, and its plots, are kept in the state folder.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{arguments, describe, run_command::ended, scratch::Scratch, shared::program};
use crate::engine::{FileAccess, Outgoing, Preview};
use crate::files::{self, beside};
use crate::plan::{PYTHON_TOOL, Risk, ToolInfo, ToolReach};
use crate::text::hex;
use crate::tools::{
    Assessment, CommandConfig, Tool, ToolContext, ToolError, ToolOutput, ToolsConfig, Workspace,
    sandbox::{self, Confined, ConfinedCommand, Feed, ProcessLimits, SandboxConfig},
};

/// Bytes kept of each stream.
const OUTPUT: usize = 64 << 10;
/// Time of a program that doesn't ask for more, in seconds.
const TIME_S: u64 = 60;
/// Files that are kept of one call, and the largest of them in bytes.
const MOST_FILES: usize = 50;
const LARGEST: u64 = 32 << 20;
/// The largest note of what a program made, in bytes.
const NOTE: u64 = 4 << 20;
/// What reads the program and notes what it makes.
const RUNNER: &str = include_str!("runner.py");

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunPythonArgs {
    /// The program, run in the workspace's top directory. Its variable `result` is handed back as `value`. Files to keep go into the folder `out` (a variable, too); open matplotlib figures are kept by themselves.
    #[schemars(length(min = 1))]
    code: String,
    /// Data that the program sees as `inputs`.
    #[schemars(extend("type" = ["object", "array", "string", "number", "boolean", "null"]))]
    #[serde(default)]
    inputs: Value,
    /// Longest time in seconds. Default: 60.
    #[schemars(range(min = 1))]
    timeout_s: Option<u64>,
}

pub(super) struct RunPython {
    info: ToolInfo,
    program: PathBuf,
    command: CommandConfig,
    sandbox: SandboxConfig,
}

/// What the runner notes when a program has ended.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ProgramNotes {
    wrote: Vec<String>,
    value: Value,
}

/// A file that a program made.
#[derive(Debug, Serialize)]
struct MadeFile {
    name: String,
    /// Where it is kept; absent where it can't be.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl RunPython {
    /// None where there is no Python 3.
    pub(super) fn new(config: &ToolsConfig) -> Option<Self> {
        let program = program("python3")?;
        let network = if config.command.network { "with network" } else { "without network" };
        let description = format!(
            "Run a Python 3 program in the workspace, {network}, unable to write elsewhere. Gives {{value, stdout, stderr, files}}; \
             an exception or an exit code other than 0 is an error."
        );
        let info = describe::<RunPythonArgs>(PYTHON_TOOL, &description, Risk::Execute, ToolReach::Private);
        Some(Self { info, program, command: config.command.clone(), sandbox: config.sandbox.clone() })
    }
}

#[async_trait]
impl Tool for RunPython {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn assess(&self, args: &Value, _context: &ToolContext) -> Assessment {
        let lines = args["code"].as_str().unwrap_or_default().lines().count();
        let leaves = self.command.network.then(|| Outgoing { host: "*".into(), ..Outgoing::default() });
        let why = format!("runs {} of Python", crate::text::counted(lines, "line"));
        Assessment { leaves, ..Assessment::local(Risk::Execute, why) }
    }

    async fn call(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let args: RunPythonArgs = arguments(args)?;
        let workspace = Workspace::new(&context.workspace)?;
        let unstarted = |cause: String| ToolError::refused(format!("the program can't be started: {cause}"));
        let scratch = Scratch::new().map_err(|cause| unstarted(cause.to_string()))?;
        prepare(scratch.path(), &args).map_err(|cause| unstarted(cause.to_string()))?;
        let seconds = args.timeout_s.unwrap_or(TIME_S).min(self.command.max_timeout_s);
        let place = scratch.path().display().to_string();
        let runner = format!("{place}/runner.py");
        let confined = Confined {
            command: ConfinedCommand::Program(vec![self.program.display().to_string(), "-B".into(), "-u".into(), runner]),
            writable: vec![workspace.root().to_path_buf(), scratch.path().to_path_buf()],
            network: self.command.network,
            memory_mb: self.command.memory_mb,
            cpu_s: seconds.saturating_mul(8),
            mounts: sandbox::protects_mounts(&self.sandbox),
        };
        let mut command = sandbox::wrap(&self.sandbox, &confined).map_err(|cause| unstarted(cause.to_string()))?;
        let further = self.command.env.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        command.env_clear().envs(sandbox::plain_environment()).envs(further);
        command.env("TMPDIR", scratch.path()).env("MPLCONFIGDIR", scratch.path()).env("MPLBACKEND", "Agg").env("PYTHONIOENCODING", "utf-8");
        command.current_dir(workspace.root());
        let caps = ProcessLimits { wall: Duration::from_secs(seconds), stdout: OUTPUT, stderr: OUTPUT };
        let done = sandbox::run(command, Feed::Lifeline, &caps, context.watcher.as_deref());
        let done = done.await.map_err(|cause| unstarted(cause.to_string()))?;
        ended("program", seconds, &done, false)?;
        let note = files::read_text(&scratch.path().join("made.json"), NOTE).unwrap_or_default();
        let made: ProgramNotes = serde_json::from_str(&note).unwrap_or_default();
        let (kept, written) = (self.kept(&scratch.path().join("out")), written(&made, workspace.root()));
        let mut value = json!({"value": made.value, "stdout": done.stdout.text(), "stderr": done.stderr.text(), "files": kept});
        if let (Some(missing), Some(fields)) = (sandbox::confinement().missing(), value.as_object_mut()) {
            fields.insert("note".into(), Value::from(missing));
        }
        Ok(ToolOutput { value, files: written, sources: Vec::new() })
    }

    fn preview(&self, args: &Value, _context: &ToolContext) -> Option<Preview> {
        Some(Preview::Text(format!(
            "{}\n\n{}",
            args["code"].as_str()?.trim_end(),
            super::run_command::bounds(self.command.network, &self.sandbox)
        )))
    }
}

/// Lays out what the runner reads.
fn prepare(place: &Path, args: &RunPythonArgs) -> io::Result<()> {
    std::fs::create_dir(place.join("out"))?;
    std::fs::write(place.join("runner.py"), RUNNER)?;
    std::fs::write(place.join("code.py"), &args.code)?;
    std::fs::write(place.join("inputs.json"), args.inputs.to_string())
}

/// The files of the workspace that it opened for writing, and that are there.
fn written(made: &ProgramNotes, workspace: &Path) -> Vec<FileAccess> {
    let inside = made.wrote.iter().map(Path::new).filter(|path| path.is_file()).filter_map(|path| path.strip_prefix(workspace).ok());
    let access = |path: &Path| FileAccess { path: path.display().to_string(), operation: "write".into(), content_preview: None };
    inside.map(access).collect()
}

impl RunPython {
    /// Keeps the files of a folder, called by their content and their name.
    fn kept(&self, out: &Path) -> Vec<MadeFile> {
        let mut found: Vec<PathBuf> = std::fs::read_dir(out).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
        found.sort();
        let left = found.len().saturating_sub(MOST_FILES);
        let mut kept: Vec<MadeFile> = found.iter().take(MOST_FILES).map(|file| self.keep(file)).collect();
        if left > 0 {
            let note = Some(format!("{left} more files are not kept: the limit is {MOST_FILES}"));
            kept.push(MadeFile { name: "…".into(), path: None, bytes: 0, note });
        }
        kept
    }

    fn keep(&self, file: &Path) -> MadeFile {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = file.symlink_metadata().map_or(0, |data| data.len());
        let keep = || -> io::Result<String> {
            let folder = self.sandbox.kept.as_deref().ok_or_else(|| io::Error::other("there is no place for it"))?;
            if !file.symlink_metadata()?.is_file() {
                return Err(io::Error::other("it is no plain file"));
            }
            let data = files::read_bytes(file, LARGEST).map_err(io::Error::other)?;
            files::private_folder(folder)?;
            let place = folder.join(format!("{}-{name}", hex(&Sha256::digest(&data)[..6])));
            beside::write_private(&place, &data)?;
            Ok(place.display().to_string())
        };
        match keep() {
            Ok(path) => MadeFile { name, path: Some(path), bytes, note: None },
            Err(error) => MadeFile { name, path: None, bytes, note: Some(format!("it is not kept: {error}")) },
        }
    }
}
