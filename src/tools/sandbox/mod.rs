//! The sandbox: code that nobody vouches for runs in a worker process of dagdeck's own binary, with limits that the worker sets on
//! itself before it reads a line of that code. The parent ends the whole process group at the wall limit; where the parent dies itself, a
//! command's worker ends the group, and a script's worker ends by its limits.

mod confine;
mod exec;
mod html;
mod javascript;
mod job;
mod live;
mod process;
mod worker;

use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{ffi::OsString, os::unix::process::ExitStatusExt as _, path::PathBuf, process::Stdio, sync::OnceLock, time::Duration};
use tokio::process::Command;

use crate::plan::{
    SandboxLimits,
    limits::{SCRIPT_MEMORY_MB as MEMORY_MB, SCRIPT_TIME_MS as TIME_MS},
};
use crate::text::duration;
use crate::tools::builtin::query_data::database::{QueryFault, QueryJob};
use job::{QUERY_TIME_MS, SandboxAnswer, SandboxJob};

pub use confine::{Confinement, confinement};
pub(super) use exec::{Confined, ConfinedCommand, wrap};
pub use live::Watcher;
pub(super) use process::{Feed, Finished, ProcessGroup, ProcessLimits, run};
pub use worker::worker_main;

/// Largest result in bytes.
const OUTPUT: usize = 4 << 20;
/// A worker is ended at four times its script's time and this: its own limit is of processor time, which a busy machine hands out slowly.
const GRACE: Duration = Duration::from_secs(10);

/// Where the worker process comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxConfig {
    /// The binary; absent: the one that runs now. Its `main` must call `worker_main` first.
    pub program: Option<PathBuf>,
    /// Where files are kept that code makes; absent: they aren't.
    pub kept: Option<PathBuf>,
}

/// What a script gave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JsOutcome {
    /// What it returned; null for nothing.
    pub value: Value,
    /// What it wrote with `console.log`.
    pub logs: Vec<String>,
}

/// Why a script gave nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SandboxError {
    /// The script threw at this line (from 1), or can't be understood; with what it wrote before.
    #[error("{}", located(message, *line))]
    Script { message: String, line: Option<u32>, logs: Vec<String> },
    /// The time limit was reached; with what it wrote before, unless it had to be killed.
    #[error("the code ran longer than its limit of {}", duration(*ms))]
    Time { ms: u64, logs: Vec<String> },
    #[error("the sandbox stopped the code: {0}")]
    Died(String),
    /// The worker could not be started.
    #[error("the sandbox can't start: {0}")]
    Start(String),
}

/// Whether commands can be kept from changing anything outside their directories, modes and times included. Tried once, by a worker.
pub fn protects_mounts(config: &SandboxConfig) -> bool {
    static TRIED: OnceLock<bool> = OnceLock::new();
    *TRIED.get_or_init(|| {
        let Ok(program) = program(config) else { return false };
        let mut probe = std::process::Command::new(program);
        let output = probe.arg(job::PROBE).env_clear().stdin(Stdio::null()).output();
        output.is_ok_and(|output| output.status.success() && String::from_utf8_lossy(&output.stdout).trim() == job::MOUNTS)
    })
}

fn located(message: &str, line: Option<u32>) -> String {
    line.map_or_else(|| message.to_owned(), |line| format!("{message} (line {line})"))
}

/// Words for each limit that asks for more than is given; such a script runs within what is given.
pub fn over(limits: &SandboxLimits) -> Vec<String> {
    let asked = [("memory_mb", limits.memory_mb, MEMORY_MB.1), ("time_ms", limits.time_ms, TIME_MS.1)];
    let message = |(name, asked, most): (&str, Option<u64>, u64)| {
        let asked = asked.filter(|asked| *asked > most)?;
        Some(format!("`sandbox.{name}` is {asked}; the limit is {most}"))
    };
    asked.into_iter().filter_map(message).collect()
}

impl SandboxError {
    /// What the script wrote before it ended, as far as that is known.
    pub fn logs(&self) -> &[String] {
        match self {
            Self::Script { logs, .. } | Self::Time { logs, .. } => logs,
            Self::Died(_) | Self::Start(_) => &[],
        }
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Script { .. } => None,
            Self::Time { .. } => Some("raise the node's `sandbox.time_ms`, or do less".into()),
            Self::Died(_) => Some("raise the node's `sandbox.memory_mb`, or use less memory".into()),
            Self::Start(_) => Some("run `dagdeck doctor`".into()),
        }
    }
}

/// Runs a JavaScript function body that sees `deps` (also as `nodes`) and `inputs`. Dropping the future kills it.
///
/// # Errors
/// When it throws, takes too long or too much, or returns what is no JSON.
pub async fn javascript(
    config: &SandboxConfig,
    code: &str,
    deps: Value,
    inputs: Value,
    limits: &SandboxLimits,
) -> Result<JsOutcome, SandboxError> {
    let memory_mb = limits.memory_mb.unwrap_or(MEMORY_MB.0).clamp(1, MEMORY_MB.1);
    let time_ms = limits.time_ms.unwrap_or(TIME_MS.0).clamp(1, TIME_MS.1);
    let job = SandboxJob::Javascript { code: code.to_owned(), deps, inputs, memory_mb, time_ms };
    match work(config, &job, time_ms).await? {
        SandboxAnswer::Value { value, logs } => Ok(JsOutcome { value, logs }),
        SandboxAnswer::Time { logs } => Err(SandboxError::Time { ms: time_ms, logs }),
        SandboxAnswer::Failed { message, line, logs } => Err(SandboxError::Script { message, line, logs }),
    }
}

/// Answers a query over tables. Dropping the future kills it.
///
/// # Errors
/// When the worker dies; what is wrong with the query is the inner error.
pub(super) async fn query(config: &SandboxConfig, job: QueryJob) -> Result<Result<Value, QueryFault>, SandboxError> {
    match work(config, &SandboxJob::Query(job), QUERY_TIME_MS).await? {
        SandboxAnswer::Value { value, .. } => serde_json::from_value(value).map_err(|cause| SandboxError::Died(cause.to_string())),
        SandboxAnswer::Time { logs } => Err(SandboxError::Time { ms: QUERY_TIME_MS, logs }),
        SandboxAnswer::Failed { message, line, logs } => Err(SandboxError::Script { message, line, logs }),
    }
}

/// Readable text of a page. Whatever the page does to the converter, there is a text.
pub(super) async fn html_text(config: &SandboxConfig, html: String) -> String {
    let job = SandboxJob::Html { html };
    let answer = work(config, &job, 3_000).await;
    let SandboxJob::Html { html } = job else { return String::new() };
    match answer {
        Ok(SandboxAnswer::Value { value: Value::String(text), .. }) => text,
        Ok(_) | Err(_) => html::strip_tags(&html),
    }
}

/// Gives a job to a worker and waits for its answer.
async fn work(config: &SandboxConfig, job: &SandboxJob, time_ms: u64) -> Result<SandboxAnswer, SandboxError> {
    let input = serde_json::to_vec(job).map_err(|cause| SandboxError::Start(cause.to_string()))?;
    let mut command = Command::new(program(config)?);
    command.arg0("dagdeck-sandbox").arg(job::JOB).env_clear().env("TZ", "UTC").current_dir("/").process_group(0);
    let caps = ProcessLimits { wall: Duration::from_millis(time_ms) * 4 + GRACE, stdout: OUTPUT * 2, stderr: 4096 };
    let done = run(command, Feed::Bytes(&input), &caps, None).await.map_err(|cause| SandboxError::Start(cause.to_string()))?;
    let Some(status) = done.status.filter(|status| status.signal() != Some(Signal::XCPU.as_raw())) else {
        return Err(SandboxError::Time { ms: time_ms, logs: Vec::new() });
    };
    done.stdout.whole().and_then(|bytes| serde_json::from_slice(&bytes).ok()).ok_or_else(|| {
        let stderr = done.stderr.text();
        let stderr = stderr.trim();
        SandboxError::Died(if stderr.is_empty() { status.to_string() } else { format!("{status}: {stderr}") })
    })
}

/// Variables that pass to programs: where things are and how text is written, never what opens doors.
const PASSED: &str = "PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_ALL LC_CTYPE TZ \
                      CARGO_HOME RUSTUP_HOME GOPATH GOROOT JAVA_HOME NVM_DIR PYENV_ROOT VIRTUAL_ENV";

/// The environment of programs that dagdeck starts for others.
pub(super) fn plain_environment() -> impl Iterator<Item = (&'static str, OsString)> {
    PASSED.split(' ').filter_map(|name| Some((name, std::env::var_os(name)?)))
}

/// The binary of the worker. On Linux the running program is reached by its own link, which holds even after the file was replaced.
fn program(config: &SandboxConfig) -> Result<PathBuf, SandboxError> {
    if let Some(program) = &config.program {
        return Ok(program.clone());
    }
    let own = PathBuf::from("/proc/self/exe");
    if own.exists() { Ok(own) } else { std::env::current_exe().map_err(|cause| SandboxError::Start(cause.to_string())) }
}
