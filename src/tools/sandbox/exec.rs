//! Commands: a worker leads a session of its own, confines itself, starts the shell in it, and watches over both ends: it ends as the
//! shell does, and it ends everything when dagdeck is gone, by whatever death. A signal that the kernel sends at a parent's death would
//! reach the shell alone, and would come with the end of a mere thread, too.

use rustix::process::{Signal, getpid, kill_current_process_group, kill_process};
use serde::{Deserialize, Serialize};
use std::{
    ffi::OsString,
    io::{Read as _, Write as _},
    os::unix::process::ExitStatusExt as _,
    path::PathBuf,
    process::{Command, ExitCode, ExitStatus, Stdio},
    thread,
};

use super::{
    SandboxConfig, SandboxError,
    confine::{self, CommandLimits},
    job, program,
};

/// Stack of the thread that listens for dagdeck's end; it counts against the command's memory.
const LISTENER_STACK: usize = 128 << 10;

/// How a command is confined.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::tools) struct Confined {
    pub(in crate::tools) command: ConfinedCommand,
    /// Directories that may be written to.
    pub(in crate::tools) writable: Vec<PathBuf>,
    /// Whether the network may be used.
    pub(in crate::tools) network: bool,
    /// Memory of one process in MiB.
    pub(in crate::tools) memory_mb: u64,
    /// Processor time of one process in seconds.
    pub(in crate::tools) cpu_s: u64,
    /// Whether all other directories are read-only, modes and times included.
    pub(in crate::tools) mounts: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::tools) enum ConfinedCommand {
    /// A command for the shell, which may start what it likes.
    Shell(String),
    /// A program with its arguments, which may start what it likes.
    Program(Vec<String>),
    /// A program with its arguments, which can start no other one.
    Alone(Vec<String>),
}

/// The process that runs the command: the leader of a session, and with that of a group, of its own. To be run with a lifeline.
pub(in crate::tools) fn wrap(config: &SandboxConfig, confined: &Confined) -> Result<tokio::process::Command, SandboxError> {
    let order = serde_json::to_string(confined).map_err(|cause| SandboxError::Start(cause.to_string()))?;
    let mut command = tokio::process::Command::new(program(config)?);
    command.arg(job::EXEC).arg(order);
    Ok(command)
}

pub(super) fn exec(args: Vec<OsString>) -> ExitCode {
    let order = args.first().and_then(|arg| arg.to_str()).and_then(|arg| serde_json::from_str::<Confined>(arg).ok());
    let Some(order) = order else { return ExitCode::from(126) };
    match oversee(&order) {
        Ok(status) => end_like(status),
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "{message}");
            ExitCode::from(126)
        }
    }
}

/// Runs the command to its end. What it leaves running is ended by the process that waits for this one.
fn oversee(order: &Confined) -> Result<ExitStatus, String> {
    let unset = |cause: String| format!("can't set up the sandbox: {cause}");
    // Without a terminal of its own a command can't write past dagdeck to the operator's, nor read what is typed there.
    rustix::process::setsid().map_err(|cause| unset(format!("can't start a session: {cause}")))?;
    let limits = CommandLimits { writable: &order.writable, network: order.network, memory_mb: order.memory_mb, cpu_s: order.cpu_s };
    if order.mounts {
        confine::mounts(&order.writable).map_err(|cause| unset(format!("other directories can't be made read-only: {cause}")))?;
    }
    confine::command(&limits).map_err(unset)?;
    let listener = thread::Builder::new().stack_size(LISTENER_STACK).spawn(end_with_dagdeck);
    listener.map_err(|cause| unset(cause.to_string()))?;
    let mut command = match &order.command {
        ConfinedCommand::Shell(text) => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(text);
            shell
        }
        ConfinedCommand::Program(args) => {
            let (program, args) = args.split_first().ok_or("nothing to run")?;
            let mut command = Command::new(program);
            command.args(args);
            command
        }
        ConfinedCommand::Alone(args) => {
            let own = program(&SandboxConfig::default()).map_err(|cause| cause.to_string())?;
            let mut alone = Command::new(own);
            alone.arg(job::ALONE).args(args);
            alone
        }
    };
    command.stdin(Stdio::null()).status().map_err(|cause| cause.to_string())
}

/// Becomes a program that can start no other one.
pub(super) fn alone(args: Vec<OsString>) -> ExitCode {
    use std::os::unix::process::CommandExt as _;
    let become_it = || {
        confine::alone()?;
        let (program, args) = args.split_first().ok_or("nothing to run")?;
        Err::<(), String>(Command::new(program).args(args).exec().to_string())
    };
    if let Err(message) = become_it() {
        let _ = writeln!(std::io::stderr(), "can't set up the sandbox: {message}");
    }
    ExitCode::from(126)
}

/// Nothing is ever written to the lifeline: it only ends, when dagdeck does. Then so does the group, this process with it.
fn end_with_dagdeck() {
    let mut nothing = Vec::new();
    // However reading ends, nobody holds the other end any more.
    let _ = std::io::stdin().lock().read_to_end(&mut nothing);
    let _ = kill_current_process_group(Signal::KILL);
}

/// Ends as the command did, so that a signal stays a signal.
fn end_like(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal().and_then(Signal::from_named_raw) {
        let _ = kill_process(getpid(), signal);
    }
    // As a shell reports a signal, where this process doesn't die of it.
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}
