//! Commands: a worker confines itself, then becomes the shell that runs the command.

use serde::{Deserialize, Serialize};
use std::{
    ffi::OsString,
    io::Write as _,
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Command, ExitCode},
};

use super::{
    SandboxConfig, SandboxError,
    confine::{self, CommandLimits},
    program, worker,
};

/// How a command is confined.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::tools) struct Confined {
    /// The shell's text.
    pub(in crate::tools) command: String,
    /// Directories that may be written to.
    pub(in crate::tools) writable: Vec<PathBuf>,
    /// Whether the network may be used.
    pub(in crate::tools) network: bool,
    /// Memory of one process in MiB.
    pub(in crate::tools) memory_mb: u64,
    /// Processor time of one process in seconds.
    pub(in crate::tools) cpu_s: u64,
}

/// The process that becomes the command: the leader of a session, and with that of a group, of its own.
pub(in crate::tools) fn wrap(config: &SandboxConfig, confined: &Confined) -> Result<tokio::process::Command, SandboxError> {
    let order = serde_json::to_string(confined).map_err(|cause| SandboxError::Start(cause.to_string()))?;
    let mut command = tokio::process::Command::new(program(config)?);
    command.arg(worker::EXEC).arg(order);
    Ok(command)
}

/// The worker's side; comes back only when the command can't be started.
pub(super) fn exec(args: Vec<OsString>) -> ExitCode {
    let order = args.first().and_then(|arg| arg.to_str()).and_then(|arg| serde_json::from_str::<Confined>(arg).ok());
    let Some(order) = order else { return ExitCode::from(126) };
    // Without a terminal of its own a command can't write past dagdeck to the operator's, nor read what is typed there.
    let alone = rustix::process::setsid().map_err(|cause| format!("no session of its own: {cause}"));
    let limits = CommandLimits { writable: &order.writable, network: order.network, memory_mb: order.memory_mb, cpu_s: order.cpu_s };
    let words = match alone.and_then(|_| confine::command(&limits)) {
        Ok(()) => Command::new("sh").arg("-c").arg(&order.command).exec().to_string(),
        Err(cause) => format!("the sandbox can't be set up: {cause}"),
    };
    let _ = writeln!(std::io::stderr(), "{words}");
    ExitCode::from(126)
}
