//! What subcommands share that drive a run without a person: flags that decide gates, what is printed as it happens, signals, and the
//! message and exit code at the end.

use super::{
    CliContext, CliError, Exit, GateArgs, Io,
    ls::short,
    named,
    run_driver::RunDriver,
    show::{payload_lines, preview_lines},
    signals::end_signal,
};
use crate::plan::NodeId;
use crate::{
    engine::{
        Action, ActionTarget, Command, Event, EventTrait, GateKind, GateReply, NodeFact, NodeRun, NodeState, Record, Run, RunId, RunStatus,
        StopSignal, Time, elapsed, result_notes,
    },
    host::{CapPolicy, Flags, Headless, HeadlessEnd, LocalHost, PreviewSeen, ResumeFrom, RunSignals, Yes},
    plan::{Catalog, Plan},
    store::RunFilter,
    text::{Plain, counted, has_key, some_of},
};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::{sync::mpsc, time::timeout};

/// A stored run, and how to continue it.
pub(super) struct StoredRun {
    pub(super) run: RunId,
    pub(super) records: Vec<Record>,
    /// As journalled.
    pub(super) state: Run,
    json: bool,
}

impl StoredRun {
    pub(super) fn find(name: &str, json: bool, place: &CliContext) -> Result<Self, CliError> {
        Self::find_at(name, None, json, place)
    }

    /// Of a damaged run, the part before the damage is enough if `at` is in it.
    pub(super) fn find_at(name: &str, at: Option<i64>, json: bool, place: &CliContext) -> Result<Self, CliError> {
        let store = place.store()?;
        let run = store.resolve(name, RunFilter::Workspace(&place.places.workspace))?;
        let records = named::records(&store, &run, at)?;
        let state = Run::replay(&records);
        Ok(Self { run, records, state, json })
    }

    /// Continues the run to its end or to a gate that only a person can decide, and prints how it ended.
    pub(super) async fn resume(
        &self,
        commands: Vec<Command>,
        flags: &Flags,
        place: &CliContext,
        io: &mut Io<'_>,
    ) -> Result<Exit, CliError> {
        let ended = self.advance(&RunDriver::of((&self.run, &self.state), false, place).await?, commands, flags, io).await?;
        self.finish(&ended, io)
    }

    /// Journals what is asked of the run, starts nothing, and prints how the run is left.
    pub(super) async fn record(&self, driver: &RunDriver, commands: Vec<Command>, done: &str, io: &mut Io<'_>) -> Result<Exit, CliError> {
        let mut printer = Printer { json: self.json, io };
        let (status, reason) = if driver.is_other_process() {
            let (records, state) = driver.order(&self.run, commands, &Flags::default()).await?;
            records.iter().for_each(|record| printer.print(record));
            (state.status(), format!("it goes on in the host; `dagdeck attach {}` shows it", short(&self.run.0)))
        } else {
            let state = driver.host.record(&self.run, commands, &mut |record| printer.print(record)).await?;
            left(&self.run, &state, None)
        };
        if self.json {
            io.json_line(&json!({"run": self.run, "outcome": status, "reason": reason, "exit": Exit::Success.number()}))?;
        } else {
            io.say(done);
            io.say(&format!("run {} {}: {}", short(&self.run.0), status.word(), Plain::line(&reason)));
        }
        Ok(Exit::Success)
    }

    pub(super) async fn advance(
        &self,
        driver: &RunDriver,
        commands: Vec<Command>,
        flags: &Flags,
        io: &mut Io<'_>,
    ) -> Result<Headless, CliError> {
        if !driver.is_other_process() {
            return self.resume_from(ResumeFrom::End, &driver.host, commands, flags, io).await;
        }
        self.warn_of_unmatched(flags, io);
        self.look_again(&driver.host, &commands, flags, io).await?;
        let known = self.records.last().map_or(0, |record| record.seq);
        driver.order(&self.run, commands, flags).await?;
        let mut printer = Printer { json: self.json, io };
        let print = &mut |record: &Record| {
            if record.seq > known {
                printer.print(record);
            }
        };
        driver.follow(&self.run, print).await
    }

    fn warn_of_unmatched(&self, flags: &Flags, io: &mut Io<'_>) {
        if let (Some(plan), Some(settings)) = (self.state.plan(), self.state.settings()) {
            warn_of_unmatched(flags, plan, &settings.catalog, io);
        }
    }

    /// Continues the run, or a branch of it.
    pub(super) async fn resume_from(
        &self,
        from: ResumeFrom,
        host: &LocalHost,
        commands: Vec<Command>,
        flags: &Flags,
        io: &mut Io<'_>,
    ) -> Result<Headless, CliError> {
        self.warn_of_unmatched(flags, io);
        if from == ResumeFrom::End {
            self.look_again(host, &commands, flags, io).await?;
        }
        let mut stop = signals();
        let mut printer = Printer { json: self.json, io };
        let ended = host.resume_headless((&self.run, from), commands, flags, &mut stop, &mut |record| printer.print(record)).await?;
        cancel_if_asked(ended, host, &mut stop, &mut printer).await
    }

    /// Shows what a yes would let happen, where no shell has shown it yet.
    ///
    /// # Errors
    /// When something else would happen than what was shown.
    async fn look_again(&self, host: &LocalHost, commands: &[Command], flags: &Flags, io: &mut Io<'_>) -> Result<(), CliError> {
        let yes = |gate| {
            commands.iter().any(|command| matches!(command, Command::Decide { gate: id, decision: GateReply::Approve, .. } if *id == gate))
        };
        let by_flag = flags.yes != Yes::Absent || !flags.approve.is_empty();
        let asked = self.state.open_gates().map(|gate| gate.id).filter(|gate| by_flag || yes(*gate));
        let (mut changed, mut unseen) = (Vec::new(), Vec::new());
        for look in host.look_at(&self.run, &self.state, asked).await {
            let Some((gate, _)) = self.state.gate(look.gate) else { continue };
            let node = Plain::line(&gate.node);
            if look.seen != PreviewSeen::AsItIs {
                io.say(&format!("gate at {node}"));
                let preview = look.preview.iter().flat_map(preview_lines);
                payload_lines(gate).into_iter().chain(preview).for_each(|line| io.say(&format!("  {line}")));
            }
            match look.seen {
                PreviewSeen::Otherwise => changed.push(node.into_string()),
                PreviewSeen::Never if yes(look.gate) => unseen.push(node.into_string()),
                PreviewSeen::Never | PreviewSeen::AsItIs => {}
            }
        }
        let why = match (&changed[..], &unseen[..]) {
            ([], []) => return Ok(()),
            ([], unseen) => format!("what {} asks was not shown before", unseen.join(", ")),
            (changed, _) => format!("what {} would do has changed since it was shown", changed.join(", ")),
        };
        Err(CliError::new(format!("nothing was approved: {why}"))
            .hint("above is what would happen now; the same command again approves that"))
    }

    pub(super) fn finish(&self, ended: &Headless, io: &mut Io<'_>) -> Result<Exit, CliError> {
        finish(ended, self.json, io)
    }
}

/// Checked before anything costs money.
pub(super) fn flags(args: &GateArgs) -> Result<Flags, CliError> {
    let yes = if args.yes { Yes::Given } else { Yes::Absent };
    let GateArgs { approve, deny, allow_host, unknown, .. } = args.clone();
    let at_cap = if args.ask_at_cap { CapPolicy::Ask } else { CapPolicy::HandBack };
    let flags = Flags { yes, approve, deny, allow_host, unknown, at_cap };
    flags.check().map_err(|problem| CliError { exit: Exit::Usage, ..CliError::from(problem) })?;
    Ok(flags)
}

/// Says before a run which flags decide nothing in it.
pub(super) fn warn_of_unmatched(flags: &Flags, plan: &Plan, catalog: &Catalog, io: &mut Io<'_>) {
    flags.unmatched(plan, catalog).iter().for_each(|flag| io.say(&format!("warning: {}", Plain::line(flag))));
}

/// How long after an interrupt a second one cancels the run.
const CANCEL_WITHIN: Duration = Duration::from_secs(2);

/// Signals as they come. The first one stops the run; a second interrupt soon after it cancels the run; any other ends the program at once.
pub(super) fn signals() -> RunSignals {
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let first = end_signal().await;
        let at = Instant::now();
        // Nobody hears it once the run is over.
        let _ = sender.send(first);
        let mut last = end_signal().await;
        if (first, last) == (StopSignal::Interrupt, StopSignal::Interrupt) && at.elapsed() < CANCEL_WITHIN {
            let _ = sender.send(last);
            last = end_signal().await;
        }
        std::process::exit(i32::from(Exit::Signalled(last).number()));
    });
    receiver
}

/// Gives a person who interrupted a run the time to interrupt again, which cancels it.
pub(super) async fn cancel_if_asked(
    ended: Headless,
    host: &LocalHost,
    stop: &mut RunSignals,
    printer: &mut Printer<'_, '_>,
) -> Result<Headless, CliError> {
    if ended.end != HeadlessEnd::Stopped(StopSignal::Interrupt) {
        return Ok(ended);
    }
    printer.io.say("interrupted, the run is kept; press ctrl-c again within 2 s to cancel it");
    if !matches!(timeout(CANCEL_WITHIN, stop.recv()).await, Ok(Some(_))) {
        return Ok(ended);
    }
    let cancel = vec![Command::act(Action::Cancel { target: ActionTarget::Run })];
    Ok(host.resume_headless((&ended.run, ResumeFrom::End), cancel, &Flags::default(), stop, &mut |record| printer.print(record)).await?)
}

/// Prints events as they happen: as JSON lines to stdout, or as messages to stderr.
pub(super) struct Printer<'a, 'b> {
    pub(super) json: bool,
    pub(super) io: &'a mut Io<'b>,
}

impl Printer<'_, '_> {
    pub(super) fn print(&mut self, record: &Record) {
        if !self.json {
            if let Some(message) = message(&record.event, &Run::default()) {
                self.io.say(&message);
            }
            return;
        }
        // A reader that went away must not stop the run: its journal has everything.
        let _ = self.io.json_line(record);
        let _ = self.io.out.flush();
    }
}

/// For the events that a person follows. A message that a person has to act on is never cut.
pub(super) fn message(event: &Event, run: &Run) -> Option<String> {
    if !event.has(EventTrait::Printed) {
        return None;
    }
    if let Event::Node { node_id, fact: NodeFact::Failed { error, safe, .. }, .. } = event {
        let state = if *safe { NodeState::FailedSafe } else { NodeState::Failed };
        let hint = error.hint.as_ref().map(|hint| format!("\nhint: {}", Plain::line(hint))).unwrap_or_default();
        return Some(format!("{}: {}: {}{hint}", Plain::line(node_id), state.word(), Plain::line(&error.message)));
    }
    if let Event::Refused { what, why, .. } = event {
        return Some(format!("refused: {}: {}", Plain::line(what), Plain::line(why)));
    }
    let line = event.describe(run);
    if event.has(EventTrait::Brief) {
        return Some(line.label(&line.head).into_string());
    }
    Some(line.label(&line.what()).truncate(LINE).into_string())
}

/// Lines of a gate's payload that are printed where a run stops; `show` prints all.
const PAYLOAD_LINES: usize = 40;

/// Names in one sentence.
const FEW: usize = 5;

/// Columns of a line about an event.
const LINE: usize = 160;

/// How a run is left, and why or what continues it.
fn left(run: &RunId, state: &Run, signal: Option<StopSignal>) -> (RunStatus, String) {
    let status = state.status_without_driver();
    let name = short(&run.0);
    let gates = state.open_gates().count();
    let reason = match (status, state.outcome()) {
        (_, Some((_, reason))) => reason.message(),
        (RunStatus::Held, None) => failed(state) + &held(state, name),
        (RunStatus::Waiting, None) => {
            format!(
                "{}{}; `dagdeck show {name}` shows {}",
                failed(state),
                counted(gates, "open gate"),
                if gates == 1 { "it" } else { "them" }
            )
        }
        (status, None) => {
            let by = signal.filter(|_| status == RunStatus::Interrupted).map(|signal| format!("interrupted by {}; ", signal.name()));
            format!("{}`dagdeck resume {name}` resumes it", by.unwrap_or_default())
        }
    };
    (status, reason)
}

/// Which nodes have failed by now, before what the run waits for.
fn failed(state: &Run) -> String {
    let failed = state.own_nodes().filter(|(_, node)| node.state == NodeState::Failed).map(|(id, _)| format!("`{id}`"));
    let failed: Vec<String> = failed.collect();
    if failed.is_empty() { String::new() } else { format!("{} failed; ", some_of(&failed, FEW)) }
}

/// Which nodes are held, why, and what releases them.
fn held(state: &Run, name: &str) -> String {
    let held: Vec<_> = state.nodes().filter(|(_, node)| node.state == NodeState::Held).collect();
    match &held[..] {
        [(id, node)] => {
            let reason = node.reason.message();
            let reason = if reason.starts_with("held") { reason } else { format!("held: {reason}") };
            format!("`{id}` is {reason}; `dagdeck release {name} {id}` releases it")
        }
        held => {
            let names: Vec<String> = held.iter().map(|(id, _)| format!("`{id}`")).collect();
            format!("{} are held; `dagdeck release {name}` releases them all", names.join(", "))
        }
    }
}

pub(super) fn finish(ended: &Headless, as_json: bool, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let name = short(&ended.run.0);
    let left = |signal| left(&ended.run, &ended.state, signal);
    let (exit, (status, reason)) = match &ended.end {
        HeadlessEnd::Ended { outcome, .. } => (Exit::from(*outcome), left(None)),
        HeadlessEnd::Parked(_) => (Exit::Undecided, left(None)),
        HeadlessEnd::Frozen(problem) => {
            io.say(&CliError::from(problem.clone()).to_string());
            (Exit::Error, (RunStatus::Frozen, if as_json { problem.message.clone() } else { String::new() }))
        }
        HeadlessEnd::Stopped(signal) => (Exit::Signalled(*signal), left(Some(*signal))),
    };
    if as_json {
        io.json_line(&json!({"run": ended.run, "outcome": status, "reason": reason, "exit": exit.number()}))?;
        return Ok(exit);
    }
    if let HeadlessEnd::Parked(gates) = &ended.end {
        for gate in gates {
            let tool = gate.tool.as_ref().map(|tool| format!(" ({})", Plain::line(tool))).unwrap_or_default();
            io.say(&format!("gate at {}{tool}: {}", Plain::line(&gate.node), Plain::line(&gate.why)));
            let asked = ended.state.gate(gate.gate).map(|(asked, _)| asked);
            let mut lines = asked.map(payload_lines).unwrap_or_default();
            lines.extend(gate.preview.iter().flat_map(preview_lines));
            lines.iter().take(PAYLOAD_LINES).for_each(|line| io.say(&format!("  {line}")));
            if lines.len() > PAYLOAD_LINES {
                let more = counted(lines.len() - PAYLOAD_LINES, "more line");
                io.say(&format!("  {more}: `dagdeck show {name} {}`", Plain::line(&gate.node)));
            }
            let is_question = asked.is_some_and(|asked| asked.kind.question().is_some());
            io.say(&match &gate.flag {
                Some(flag) if flag.starts_with("--unknown") => {
                    format!("hint: `dagdeck resume {name} {flag}` decides what becomes of it")
                }
                Some(flag) if flag.starts_with("--allow-host") => {
                    format!("hint: `dagdeck resume {name} {}` lets it send; `--yes` doesn't", Plain::line(flag))
                }
                Some(_) if asked.is_some_and(|asked| matches!(asked.kind, GateKind::Replan { .. })) => {
                    let gate = gate.gate.0;
                    format!("hint: `dagdeck approve {name} {gate}` takes it, with `--piece NUMBER` a part of it; `dagdeck reject {name} {gate}` refuses it, with `-m TEXT` has the planner try again")
                }
                Some(flag) if is_question => {
                    let (node, flag) = (Plain::line(&gate.node), Plain::line(flag));
                    format!("hint: `dagdeck answer {name} {node} -m ANSWER` answers it, `dagdeck resume {name} {flag}` says yes")
                }
                Some(_) => {
                    let gate = gate.gate.0;
                    format!("hint: `dagdeck approve {name} {gate}` or `dagdeck reject {name} {gate}` replies; `dagdeck resume {name} --yes` approves every gate that needs only a yes")
                }
                None => {
                    format!("hint: only a person can answer this: `dagdeck answer {name} {} -m ANSWER`", Plain::line(&gate.node))
                }
            });
        }
    } else if ended.state.outcome().is_some() {
        print_results(&ended.run.0, &output(&ended.state), ShownKeys::None, io)?;
        // The output is made of these results.
        for (id, node) in ended.state.nodes().filter(|(id, _)| !ended.state.is_final(id)) {
            for note in node.result.iter().flat_map(|result| result_notes(result)) {
                io.say(&format!("note: {}: {}", Plain::line(id), Plain::line(note)));
            }
        }
    }
    let is_over = ended.state.outcome().is_some();
    let elapsed = if is_over { format!(", {}", elapsed(ended.state.elapsed_ms(Time::default()))) } else { String::new() };
    let reason = if reason.is_empty() { String::new() } else { format!(": {}", Plain::line(&reason)) };
    io.say(&format!("run {name} {}{elapsed}{reason}", status.word()));
    Ok(exit)
}

/// The output of the run: its final nodes that have a result.
pub(super) fn output(run: &Run) -> Vec<(&NodeId, &NodeRun)> {
    run.nodes().filter(|(id, node)| run.is_final(id) && node.result.is_some()).collect()
}

/// What the result of a node is marked as, where it is no plain one.
pub(super) fn mark_of(node: &NodeRun) -> Option<String> {
    let state = Some(node.state.word().to_owned()).filter(|_| node.state.has_failed() || node.state == NodeState::Rehearsed);
    state.or_else(|| node.mark_label())
}

/// Prints results as they are read; several with their names. A result that is no plain one never looks like one.
pub(super) fn print_results(run: &str, results: &[(&NodeId, &NodeRun)], keys: ShownKeys, io: &mut Io<'_>) -> Result<(), CliError> {
    let many = results.len() > 1;
    for (id, node) in results {
        let Some(result) = node.result.as_deref() else { continue };
        let mark = mark_of(node);
        if many {
            let mark = mark.iter().map(|mark| format!(" ({mark})")).collect::<String>();
            io.line(&format!("== {}{}", Plain::line(id), Plain::line(&mark)))?;
        } else if let Some(mark) = mark {
            io.say(&format!("note: the result of {} is marked: {mark}", Plain::line(id)));
        }
        let text = node.result_text().unwrap_or_default();
        if text.trim().is_empty() {
            io.say(&format!("note: the result of {} is an empty text", Plain::line(id)));
        }
        match keys {
            ShownKeys::None => io.text(&text, Plain::line)?,
            ShownKeys::All => io.text(&text, Plain::typed)?,
        }
        if keys == ShownKeys::None && has_key(&text) {
            let (run, id) = (short(run), Plain::line(id));
            io.say(&format!(
                "note: what looks like a key in the result of {id} isn't shown; `dagdeck show {run} {id} --result > FILE` keeps it"
            ));
        }
        for note in result_notes(result) {
            io.say(&format!("note: {}", Plain::line(note)));
        }
    }
    Ok(())
}

/// Whether keys in a result are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ShownKeys {
    None,
    /// It goes to a file or a program, and the person asked for just that.
    All,
}
