//! `run_command`: a shell command in the workspace, confined: no network, nothing written outside the workspace and a scratch
//! directory, none of dagdeck's keys in its environment, ended with everything it started, at the latest when dagdeck ends.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

use super::{arguments, describe, scratch::Scratch};
use crate::engine::{Outgoing, Preview};
use crate::plan::{Risk, SHELL_TOOL, ToolInfo, ToolReach};
use crate::text::TEXT_CUT;
use crate::tools::{
    Assessment, CommandConfig, Tool, ToolContext, ToolError, ToolOutput, ToolsConfig, Workspace,
    sandbox::{self, Confined, ConfinedCommand, Feed, Finished, ProcessLimits, SandboxConfig},
};

/// Bytes kept of each stream.
const OUTPUT: usize = 64 << 10;
/// Time of a command that doesn't ask for more, in seconds.
const TIME_S: u64 = 60;
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunCommandArgs {
    /// Command for `sh -c`, run in the workspace's top directory.
    #[schemars(length(min = 1))]
    command: String,
    /// Longest time in seconds. Default: 60.
    #[schemars(range(min = 1))]
    timeout_s: Option<u64>,
    /// Hand back the output also when the command fails, instead of an error. Default: false.
    #[serde(default)]
    allow_failure: bool,
}

pub(super) struct RunCommand {
    info: ToolInfo,
    command: CommandConfig,
    sandbox: SandboxConfig,
}

impl RunCommand {
    pub(super) fn new(config: &ToolsConfig) -> Self {
        let network = if config.command.network { "with network" } else { "without network" };
        let description = format!(
            "Run a shell command in the workspace, {network}, unable to write elsewhere. Gives {{exit_code, stdout, stderr}}; \
             an exit code other than 0 is an error unless `allow_failure` is set."
        );
        let info = describe::<RunCommandArgs>(SHELL_TOOL, &description, Risk::Execute, ToolReach::Private);
        Self { info, command: config.command.clone(), sandbox: config.sandbox.clone() }
    }
}

/// What confines a command here, in words.
pub(super) fn bounds(network: bool, config: &SandboxConfig) -> String {
    let network = if network { "with network" } else { "without network" };
    match sandbox::confinement().missing() {
        None if sandbox::protects_mounts(config) => format!("{network}, changes nothing outside the workspace"),
        None => format!("{network}, writes only inside the workspace, but may change modes and times of files elsewhere"),
        Some(missing) => format!("{network}; note: {missing}"),
    }
}

#[async_trait]
impl Tool for RunCommand {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    fn assess(&self, args: &Value, _context: &ToolContext) -> Assessment {
        let command: String = args["command"].as_str().unwrap_or_default().chars().take(80).collect();
        let leaves = self.command.network.then(|| Outgoing { host: "*".into(), ..Outgoing::default() });
        Assessment { leaves, ..Assessment::local(Risk::Execute, format!("runs `{command}`")) }
    }

    async fn call(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let args: RunCommandArgs = arguments(args)?;
        let workspace = Workspace::new(&context.workspace)?;
        let scratch = Scratch::new().map_err(|cause| ToolError::refused(format!("can't make a scratch directory: {cause}")))?;
        let seconds = args.timeout_s.unwrap_or(TIME_S).min(self.command.max_timeout_s);
        let confined = Confined {
            command: ConfinedCommand::Shell(args.command.clone()),
            writable: vec![workspace.root().to_path_buf(), scratch.path().to_path_buf()],
            network: self.command.network,
            memory_mb: self.command.memory_mb,
            // A program may use several processors.
            cpu_s: seconds.saturating_mul(8),
            mounts: sandbox::protects_mounts(&self.sandbox),
        };
        let refused = |cause: String| ToolError::refused(format!("the command can't be started: {cause}"));
        let mut command = sandbox::wrap(&self.sandbox, &confined).map_err(|cause| refused(cause.to_string()))?;
        let further = self.command.env.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        command.env_clear().envs(sandbox::plain_environment()).envs(further);
        command.env("TMPDIR", scratch.path()).env("TERM", "dumb").env("NO_COLOR", "1").current_dir(workspace.root());
        let caps = ProcessLimits { wall: Duration::from_secs(seconds), stdout: OUTPUT, stderr: OUTPUT };
        let done =
            sandbox::run(command, Feed::Lifeline, &caps, context.watcher.as_deref()).await.map_err(|cause| refused(cause.to_string()))?;
        report(&args, seconds, &done)
    }

    fn preview(&self, args: &Value, _context: &ToolContext) -> Option<Preview> {
        Some(Preview::Text(format!("$ {}\n\n{}", args["command"].as_str()?, bounds(self.command.network, &self.sandbox))))
    }
}

/// The exit code of what has ended; an error where it was stopped, or failed and that isn't allowed.
pub(super) fn ended(what: &str, seconds: u64, done: &Finished, allow_failure: bool) -> Result<Option<i32>, ToolError> {
    use std::os::unix::process::ExitStatusExt as _;
    let (stdout, stderr) = (done.stdout.text(), done.stderr.text());
    let Some(status) = done.status else {
        let message = format!("the {what} was stopped after {seconds} s{}", output(&stdout, &stderr));
        return Err(ToolError::failed(message).hint(format!("raise `timeout_s`, or do less in one {what}")));
    };
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    };
    if !status.success() && !allow_failure {
        return Err(ToolError::failed(format!("the {what} failed with {how}{}", output(&stdout, &stderr))));
    }
    // As a shell reports a signal.
    Ok(status.code().or_else(|| status.signal().map(|signal| 128 + signal)))
}

fn report(args: &RunCommandArgs, seconds: u64, done: &Finished) -> Result<ToolOutput, ToolError> {
    let code = ended("command", seconds, done, args.allow_failure)?;
    let mut value = json!({"exit_code": code, "stdout": done.stdout.text(), "stderr": done.stderr.text()});
    if let (Some(missing), Some(fields)) = (sandbox::confinement().missing(), value.as_object_mut()) {
        fields.insert("note".into(), Value::from(missing));
    }
    Ok(ToolOutput { value, ..ToolOutput::default() })
}

/// The end of what a command said, for an error.
fn output(stdout: &str, stderr: &str) -> String {
    let text = if stderr.trim().is_empty() { stdout.trim() } else { stderr.trim() };
    let skipped = text.chars().count().saturating_sub(2_000);
    let cut = (skipped > 0).then_some(TEXT_CUT);
    let end: String = cut.into_iter().chain(text.chars().skip(skipped)).collect();
    if end.is_empty() { String::new() } else { format!(":\n{end}") }
}
