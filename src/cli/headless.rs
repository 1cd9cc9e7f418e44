//! What verbs have in common that drive a run without a person: flags that decide gates, what is printed as it happens, signals, and
//! the words and exit code at the end.

use super::{CliContext, CliError, Exit, GateArgs, Io, ls::short, named};
use crate::{
    engine::{Command, Event, Pace, Record, Run, RunId},
    host::{Flags, Headless, HeadlessEnd, LocalHost, Yes},
    plan::{Plan, order::PlanGraph},
    store::RunFilter,
    text::{Plain, duration},
};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// A stored run, and how it is to be driven on.
pub(super) struct StoredRun {
    pub(super) run: RunId,
    pub(super) records: Vec<Record>,
    /// As journalled.
    pub(super) state: Run,
    flags: Flags,
    json: bool,
}

impl StoredRun {
    /// The run that a person means.
    pub(super) fn find(name: &str, gates: &GateArgs, json: bool, place: &CliContext) -> Result<Self, CliError> {
        Self::find_at(name, None, gates, json, place)
    }

    /// The same, as far as it has to be whole to be told of an event.
    pub(super) fn find_at(name: &str, at: Option<i64>, gates: &GateArgs, json: bool, place: &CliContext) -> Result<Self, CliError> {
        let flags = flags(gates)?;
        let store = place.store()?;
        let run = store.resolve(name, RunFilter::Workspace(&place.places.workspace))?;
        let records = named::records(&store, &run, at)?;
        let state = Run::replay(&records);
        Ok(Self { run, records, state, flags, json })
    }

    /// Goes on with the run to its end, or to where only people can help, and tells how it stands then.
    pub(super) async fn resume(&self, commands: Vec<Command>, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
        let ended = self.go_on(&self.host(false, place)?, commands, io).await?;
        self.finish(&ended, io)
    }

    /// The host that may drive the run on; a dry run needs none that can write.
    ///
    /// # Errors
    /// When none may, before anything is said of what a verb would change.
    pub(super) fn host(&self, dry_run: bool, place: &CliContext) -> Result<LocalHost, CliError> {
        let host = if dry_run { place.host_to_look()? } else { place.host()? };
        host.may_drive(&self.run, &self.state)?;
        Ok(host)
    }

    pub(super) async fn go_on(&self, host: &LocalHost, commands: Vec<Command>, io: &mut Io<'_>) -> Result<Headless, CliError> {
        let stop = CancellationToken::new();
        cancel_on_signal(stop.clone());
        let mut printer = Printer { json: self.json, io };
        Ok(host.resume_headless(&self.run, commands, &self.flags, &stop, &mut |record| printer.print(record)).await?)
    }

    /// A branch of the run goes on instead.
    pub(super) async fn branch(&self, host: &LocalHost, seq: u64, commands: Vec<Command>, io: &mut Io<'_>) -> Result<Headless, CliError> {
        let stop = CancellationToken::new();
        cancel_on_signal(stop.clone());
        let mut printer = Printer { json: self.json, io };
        Ok(host.branch_headless((&self.run, seq), commands, &self.flags, &stop, &mut |record| printer.print(record)).await?)
    }

    pub(super) fn finish(&self, ended: &Headless, io: &mut Io<'_>) -> Result<Exit, CliError> {
        finish(ended, self.json, io)
    }
}

/// The flags, checked before anything is paid for.
pub(super) fn flags(args: &GateArgs) -> Result<Flags, CliError> {
    let yes = if args.yes { Yes::Given } else { Yes::Absent };
    let flags = Flags { yes, approve: args.approve.clone(), deny: args.deny.clone(), unknown: args.unknown };
    flags.check().map_err(|problem| CliError { exit: Exit::Usage, ..CliError::from(problem) })?;
    Ok(flags)
}

/// The first signal to end cancels the run and lets it end in order, so that nothing it started goes on without it; whoever asks twice
/// doesn't want to wait.
pub(super) fn cancel_on_signal(stop: CancellationToken) {
    tokio::spawn(async move {
        told_to_end().await;
        stop.cancel();
        told_to_end().await;
        std::process::exit(i32::from(Exit::Cancelled.number()));
    });
}

/// Waits for Ctrl-C, a request to terminate, or the end of the terminal, unless that is meant not to matter (`nohup`).
async fn told_to_end() {
    async fn comes(kind: SignalKind) {
        match signal(kind) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            // Where a signal can't be had, the system's own handling of it holds.
            Err(_) => std::future::pending().await,
        }
    }
    let hang_up = async { if hang_ups_are_ignored() { std::future::pending().await } else { comes(SignalKind::hangup()).await } };
    tokio::select! {
        () = comes(SignalKind::interrupt()) => {}
        () = comes(SignalKind::terminate()) => {}
        () = hang_up => {}
    }
}

/// Whether the program was started with hang-ups ignored; elsewhere than on Linux nobody can tell.
fn hang_ups_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// Prints what happens as it happens: events as JSON lines to stdout, or words to stderr.
pub(super) struct Printer<'a, 'b> {
    pub(super) json: bool,
    pub(super) io: &'a mut Io<'b>,
}

impl Printer<'_, '_> {
    pub(super) fn print(&mut self, record: &Record) {
        if !self.json {
            if let Some(words) = words(&record.event) {
                self.io.say(&words);
            }
            return;
        }
        // A reader that went away must not stop the run: its journal has everything.
        let _ = self.io.json_line(record);
        let _ = self.io.out.flush();
    }
}

/// An event in words, for those that a person follows.
pub(super) fn words(event: &Event) -> Option<String> {
    let line = |id: &str, what: &str| Some(format!("{}: {}", Plain::line(id), Plain::summary(what).truncate(160)));
    // What a person has to act on is never cut.
    let whole = |id: &str, what: &str| format!("{}: {}", Plain::line(id), Plain::line(what));
    match event {
        Event::NodeStarted { node_id, attempt: 1, .. } => line(node_id, "started"),
        Event::NodeStarted { node_id, attempt, .. } => line(node_id, &format!("started, attempt {attempt}")),
        Event::NodeCompleted { node_id, mark: Some(mark), .. } => line(node_id, &format!("succeeded ({mark})")),
        Event::NodeCompleted { node_id, mark: None, .. } => line(node_id, "succeeded"),
        Event::NodeFailed { node_id, error, .. } => {
            let hint = error.hint.as_ref().map(|hint| format!("\nhint: {}", Plain::line(hint))).unwrap_or_default();
            Some(whole(node_id, &format!("failed: {}", error.message)) + &hint)
        }
        Event::NodeRetrying { node_id, error, .. } => line(node_id, &format!("will be tried again: {}", error.message)),
        Event::NodeSkipped { node_id, reason, .. } => line(node_id, &format!("skipped: {reason}")),
        Event::NodePassed { node_id, reason, .. } => line(node_id, &format!("passed: {reason}")),
        Event::NodeCancelled { node_id, reason, .. } => line(node_id, &format!("cancelled: {reason}")),
        Event::NodeInterrupted { node_id, reason, .. } => line(node_id, &format!("goes again: {reason}")),
        Event::NodeUnknown { node_id, reason, .. } => line(node_id, &format!("unknown: {reason}")),
        Event::BreakHit { node_id, reason, .. } => line(node_id, &format!("held: {reason}")),
        Event::CallHeld { node_id, held, .. } => line(node_id, &format!("held before it calls {}: {}", held.next.words(), held.reason)),
        Event::ApprovalRequired { gate } => line(&gate.node, &format!("waits for a decision: {}", gate.why)),
        Event::Refused { what, why, .. } => Some(format!("refused: {}: {}", Plain::line(what), Plain::line(why))),
        _ => None,
    }
}

pub(super) fn finish(ended: &Headless, as_json: bool, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let name = short(&ended.run.0);
    let (exit, outcome, reason) = match &ended.end {
        HeadlessEnd::Settled { outcome, reason } => (Exit::from(*outcome), json!(outcome), reason.clone()),
        HeadlessEnd::Parked(gates) => match ended.state.pace() {
            Pace::Paused | Pace::Pausing => (Exit::Undecided, json!("paused"), format!("`dagdeck resume {name}` goes on with it")),
            Pace::Going if gates.is_empty() => (Exit::Undecided, json!("held"), format!("`dagdeck release {name}` lets what is held go")),
            Pace::Going => (Exit::Undecided, json!("waiting"), "a gate is open that nothing decides".to_string()),
        },
    };
    if as_json {
        let last = json!({"run": ended.run, "outcome": outcome, "reason": reason, "exit": exit.number()});
        io.json_line(&last)?;
        return Ok(exit);
    }
    if let HeadlessEnd::Parked(gates) = &ended.end {
        for gate in gates {
            let tool = gate.tool.as_ref().map(|tool| format!(" ({})", Plain::line(tool))).unwrap_or_default();
            io.say(&format!("gate at {}{tool}: {}", Plain::line(&gate.node), Plain::line(&gate.why)));
            io.say(&match &gate.flag {
                Some(flag) if flag.starts_with("--unknown") => format!("hint: `dagdeck resume {name} {flag}` says what becomes of it"),
                Some(flag) => format!("hint: `dagdeck resume {name} {}` would approve it; `--yes` approves every gate", Plain::line(flag)),
                None => format!("hint: only a person can answer this: `dagdeck answer {name} {} --value VALUE`", Plain::line(&gate.node)),
            });
        }
    } else {
        print_results(&ended.state, io)?;
    }
    let word = outcome.as_str().unwrap_or_default();
    let is_over = ended.state.outcome().is_some();
    let took = took(&ended.state).filter(|_| is_over).map(|took| format!(" in {took}")).unwrap_or_default();
    let reason = if reason.is_empty() { String::new() } else { format!(": {}", Plain::line(&reason)) };
    io.say(&format!("run {name} {word}{took}{reason}"));
    Ok(exit)
}

/// Results of the exit nodes, as data.
fn print_results(run: &Run, io: &mut Io<'_>) -> Result<(), CliError> {
    let Some(plan) = run.plan() else { return Ok(()) };
    let results: Vec<_> = exits(plan).into_iter().filter_map(|id| Some((id, run.node(id)?.result.as_ref()?))).collect();
    let many = results.len() > 1;
    for (id, result) in results {
        if many {
            io.line(&format!("== {}", Plain::line(id)))?;
        }
        let text = result.as_str().map_or_else(|| format!("{result:#}"), str::to_owned);
        for line in Plain::block(&text) {
            io.line(line.as_str())?;
        }
    }
    Ok(())
}

fn exits(plan: &Plan) -> Vec<&crate::plan::NodeId> {
    let graph = PlanGraph::new(plan);
    graph.exits().filter_map(|at| plan.nodes.get(at)).map(|node| &node.id).collect()
}

fn took(run: &Run) -> Option<Plain> {
    let spans = || run.nodes().map(|(_, node)| node.span);
    let start = spans().filter_map(|span| span.started).min()?;
    let end = spans().filter_map(|span| span.finished).max()?;
    Some(duration(end.since(start)))
}
