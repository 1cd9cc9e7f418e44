//! `dagdeck host`: the process that drives the runs of a workspace and outlives consoles: how it is, starting it, ending it.

use super::{CliContext, CliError, Exit, HostAction, HostArgs, Io, context::env, ls::short, signals::end_signal};
use crate::{
    engine::RunId,
    host::{
        client::Problem,
        socket::{AttachedClient, CallError, HostAnswer, HostPlace, HostProcess, HostReport, Opening, PROTOCOL, call},
    },
    store::RunFilter,
    text::{Plain, counted, timestamp},
};
use serde_json::json;
use std::{
    env::current_exe,
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
    time::{sleep, timeout},
};

/// How long nothing runs and nobody is attached before a host ends by itself.
const IDLE: Duration = Duration::from_secs(30);

/// How long a host may take to begin, or the one before it to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Until the next try, while one host ends and another begins.
const PAUSE: Duration = Duration::from_millis(20);

/// What to do about a host that was started with something else.
const RESTART: &str = "`dagdeck host restart` starts one with yours, which goes on with its runs";

/// What the process of a host says on its standard output once clients can come, or where another process is the host.
const READY: &str = "ready";
const TAKEN: &str = "taken";

/// Shows, stops or restarts the host of the workspace, or is it.
///
/// # Errors
/// When it can't be reached, or can't begin.
pub async fn host(args: &HostArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    match args.action {
        None => status(args.json, place, io).await,
        Some(HostAction::Stop) => stop(place, io).await,
        Some(HostAction::Restart) => restart(place, io).await,
        Some(HostAction::Serve) => serve(place, io).await,
    }
}

async fn status(as_json: bool, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let found = match call(&HostPlace::of(&place.places).socket, Opening::Status).await {
        Ok(answer) => Some(status_of(answer)?),
        Err(CallError::Absent) => None,
        Err(error) => return Err(unreached(&error)),
    };
    if as_json {
        io.json(&json!({ "host": found }))?;
        return Ok(Exit::Success);
    }
    let Some(host) = found else {
        io.line("no host runs for this workspace")?;
        io.say("hint: `dagdeck attach` starts one and opens the console on it");
        return Ok(Exit::Success);
    };
    let HostReport { program, process, since, clients, runs, .. } = host;
    io.line(&format!("dagdeck {}, process {process}, since {}", Plain::line(&program), timestamp(since.0)))?;
    io.line(&counted(clients.len(), "client"))?;
    for AttachedClient { process, from, since } in &clients {
        let process = process.map_or_else(|| "a process".to_owned(), |process| format!("process {process}"));
        io.line(&format!("  {process} at {} since {}", Plain::line(from), timestamp(since.0)))?;
    }
    io.line(&format!("{} under way", counted(runs.len(), "run")))?;
    tell_runs(&runs, place, io)?;
    Ok(Exit::Success)
}

/// A line for each run: its name, how it is, and its goal.
fn tell_runs(runs: &[RunId], place: &CliContext, io: &mut Io<'_>) -> Result<(), CliError> {
    if runs.is_empty() {
        return Ok(());
    }
    let store = place.store()?;
    let rows = store.runs(RunFilter::Workspace(&place.places.workspace))?;
    for row in rows.iter().filter(|row| runs.contains(&row.run)) {
        let status = super::ls::status(row, store.driver(&row.run).as_deref());
        io.line(&format!("  {}  {}  {}", short(&row.run.0), status.word(), Plain::summary(&row.goal)))?;
    }
    Ok(())
}

async fn stop(place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let Some(runs) = stopped(place).await? else {
        io.say("no host runs for this workspace");
        return Ok(Exit::Success);
    };
    io.say("the host has ended");
    for run in runs {
        io.say(&format!("a run was left as it is: `dagdeck resume {}` resumes it", short(&run.0)));
    }
    Ok(Exit::Success)
}

/// Ends the host; the runs that it left, or `None` where there was none.
async fn stopped(place: &CliContext) -> Result<Option<Vec<RunId>>, CliError> {
    match call(&HostPlace::of(&place.places).socket, Opening::Stop).await {
        Ok(HostAnswer::Stopped(runs)) => Ok(Some(runs)),
        Ok(answer) => Err(refused(answer)),
        Err(CallError::Absent) => Ok(None),
        Err(error) => Err(unreached(&error)),
    }
}

async fn restart(place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let runs = stopped(place).await?.unwrap_or_default();
    let host = reach(place).await?.report;
    io.say(&format!("the host is dagdeck {}, process {}", Plain::line(&host.program), host.process));
    if runs.is_empty() {
        return Ok(Exit::Success);
    }
    let failed = match call(&HostPlace::of(&place.places).socket, Opening::Resume(runs.clone())).await {
        Ok(HostAnswer::Resumed(failed)) => failed,
        Ok(answer) => return Err(refused(answer)),
        Err(error) => return Err(unreached(&error)),
    };
    let going_on = runs.len() - failed.len();
    if going_on > 0 {
        io.say(&format!("{} {} on in it", counted(going_on, "run"), if going_on == 1 { "goes" } else { "go" }));
    }
    for (run, problem) in &failed {
        let named = Problem { message: format!("run {}: {}", short(&run.0), problem.message), ..problem.clone() };
        io.say(&CliError::from(named).to_string());
    }
    Ok(if failed.is_empty() { Exit::Success } else { Exit::Error })
}

/// Is the host, until it ends. On its standard output it says one line: that clients can come, or why they can't.
async fn serve(place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    // A session of its own, so that the end of a terminal is nothing to it. Where a shell started it, it has one already, or stays.
    let _ = rustix::process::setsid();
    let begun = match HostProcess::claim(HostPlace::of(&place.places)) {
        Ok(Some(process)) => place.host_to_look().map(|host| (process, host)),
        Ok(None) => {
            io.line(TAKEN)?;
            return Ok(Exit::Error);
        }
        Err(problem) => Err(problem.into()),
    };
    let (process, host) = match begun {
        Ok(begun) => begun,
        Err(error) => {
            io.line(&error.to_string())?;
            return Ok(error.exit);
        }
    };
    host.watch_cards();
    let ready = || {
        // Whoever started it may have gone.
        let _ = io.line(READY).and_then(|()| Ok(io.out.flush()?));
    };
    process.serve(host, idle(), ready, end_signal()).await?;
    Ok(Exit::Success)
}

/// How long a host stays without anything to do, which tests shorten.
fn idle() -> Duration {
    env("DAGDECK_HOST_IDLE_MS").and_then(|ms| ms.parse().ok()).map_or(IDLE, Duration::from_millis)
}

/// A host that clients can come to.
pub(super) struct ReachedHost {
    pub(super) report: HostReport,
    /// It was started for this.
    pub(super) is_new: bool,
    /// What whoever uses it should know.
    pub(super) news: Option<Problem>,
}

/// The host of the workspace; where none runs it is started. One with other settings that has nothing to do is replaced.
///
/// # Errors
/// When it can't be started, or can't be used by this program.
pub(super) async fn reach(place: &CliContext) -> Result<ReachedHost, CliError> {
    let at = HostPlace::of(&place.places);
    let (since, mut is_new) = (Instant::now(), false);
    loop {
        match call(&at.socket, Opening::Status).await {
            Ok(answer) => {
                let report = status_of(answer)?;
                let others = report.setup.differences(&place.places);
                if others.is_empty() && report.protocol == PROTOCOL {
                    return Ok(ReachedHost { report, is_new, news: None });
                }
                if !is_new && matches!(call(&at.socket, Opening::StopIdle).await, Ok(HostAnswer::Stopped(_))) {
                    continue;
                }
                if report.protocol != PROTOCOL {
                    let message = format!("the host is dagdeck {}, which this one can't work with", Plain::line(&report.program));
                    return Err(CliError::new(message).hint(RESTART));
                }
                let news =
                    Problem::new(format!("the host was started with other settings than yours: {}", others.join(", "))).hint(RESTART);
                return Ok(ReachedHost { report, is_new, news: Some(news) });
            }
            Err(CallError::Absent | CallError::Ended) if since.elapsed() < PATIENCE => {}
            Err(error) => return Err(unreached(&error)),
        }
        match &*start(&at, place).await? {
            TAKEN => sleep(PAUSE).await,
            _ => is_new = true,
        }
    }
}

/// Starts the process of a host, and waits for the line that it says.
async fn start(at: &HostPlace, place: &CliContext) -> Result<String, CliError> {
    let cannot = |why: &dyn std::fmt::Display| {
        CliError::new(format!("the host can't be started: {why}")).hint(format!("`{}` may say more", at.log.display()))
    };
    at.prepare()?;
    let log = at.open_log().map_err(|error| cannot(&error))?;
    // The program may have been replaced since it was started.
    let program = current_exe().ok().filter(|path| path.exists()).unwrap_or_else(|| PathBuf::from("/proc/self/exe"));
    let mut command = Command::new(program);
    command.arg("--workspace").arg(&place.places.workspace).arg("--home").arg(&place.places.home);
    command.args(place.picked().into_iter().flat_map(|model| ["--model", model])).args(["host", "serve"]);
    command.current_dir(&place.places.workspace).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    let mut child = command.spawn().map_err(|error| cannot(&error))?;
    let Some(out) = child.stdout.take() else { return Err(cannot(&"it has no output")) };
    let mut lines = BufReader::new(out).lines();
    match timeout(PATIENCE, lines.next_line()).await {
        Ok(Ok(Some(line))) if line == READY || line == TAKEN => Ok(line),
        Ok(Ok(Some(line))) => Err(cannot(&Plain::line(line.trim_start_matches("error: ")))),
        Ok(Ok(None)) => Err(cannot(&"it ended at once")),
        Ok(Err(error)) => Err(cannot(&error)),
        Err(_) => Err(cannot(&format!("it gave no answer for {} s", PATIENCE.as_secs()))),
    }
}

fn status_of(answer: HostAnswer) -> Result<HostReport, CliError> {
    if let HostAnswer::Status(status) = answer { Ok(*status) } else { Err(refused(answer)) }
}

/// Why the host did nothing.
pub(super) fn refused(answer: HostAnswer) -> CliError {
    match answer {
        HostAnswer::Refused(problem) => problem.into(),
        other => CliError::new(format!("the host answers something else: {other:?}")),
    }
}

/// Why it wasn't asked.
pub(super) fn unreached(error: &CallError) -> CliError {
    CliError::new(format!("the host can't be reached: {error}"))
}
