//! The worker's side: one job from stdin, one answer to stdout. The limits are in force before the job's code is looked at.

use serde_json::Value;
use std::{
    ffi::OsString,
    io::{Read as _, Write as _},
    process::ExitCode,
    time::Duration,
};

use super::{
    confine, exec, html, javascript,
    job::{ALONE, EXEC, JOB, MOUNTS, PROBE, SandboxAnswer, SandboxJob},
};
use crate::tools::builtin::query_data::database::{self, QueryLimits};

/// Limits of a query; those of the worker are wider, so that these speak first.
const QUERY_LIMITS: QueryLimits = QueryLimits { time: Duration::from_secs(10), memory: Some(256 << 20) };
/// Stack of the thread that runs the job.
const STACK: usize = 16 << 20;

/// Runs as a sandbox worker if the program was started as one; `main` calls this before anything else and ends with the code.
pub fn worker_main(args: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut args = args.into_iter().skip(1);
    match args.next()?.to_str()? {
        JOB => Some(serve()),
        EXEC => Some(exec::exec(args.collect())),
        PROBE => Some(probe()),
        ALONE => Some(exec::alone(args.collect())),
        _ => None,
    }
}

/// Says whether mounts can be protected, after doing so here.
fn probe() -> ExitCode {
    let said = confine::mounts(&[]).map(|()| writeln!(std::io::stdout(), "{MOUNTS}"));
    if matches!(said, Ok(Ok(()))) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn serve() -> ExitCode {
    let mut input = Vec::new();
    if std::io::stdin().lock().read_to_end(&mut input).is_err() {
        return ExitCode::FAILURE;
    }
    // A thread of our own has a stack whose size doesn't depend on the shell that started dagdeck.
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || answer(&input));
    let answer = match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) | Err(_) => return ExitCode::FAILURE,
    };
    match std::io::stdout().lock().write_all(&answer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn answer(input: &[u8]) -> Vec<u8> {
    let answer = match serde_json::from_slice::<SandboxJob>(input) {
        Err(cause) => SandboxAnswer::failed(format!("can't read the job: {cause}")),
        Ok(job) => match confine::worker(&job) {
            Err(cause) => SandboxAnswer::failed(format!("can't set up the sandbox: {cause}")),
            Ok(()) => work(job),
        },
    };
    serde_json::to_vec(&answer).unwrap_or_default()
}

fn work(job: SandboxJob) -> SandboxAnswer {
    match job {
        SandboxJob::Javascript { code, deps, inputs, memory_mb, time_ms } => javascript::run(&code, &deps, &inputs, memory_mb, time_ms),
        SandboxJob::Query(job) => match serde_json::to_value(database::answer(&job, QUERY_LIMITS)) {
            Ok(value) => SandboxAnswer::Value { value, logs: Vec::new() },
            Err(cause) => SandboxAnswer::failed(cause.to_string()),
        },
        SandboxJob::Html { html } => match html::to_text(&html) {
            Ok(text) => SandboxAnswer::Value { value: Value::from(text), logs: Vec::new() },
            Err(cause) => SandboxAnswer::failed(cause),
        },
    }
}
