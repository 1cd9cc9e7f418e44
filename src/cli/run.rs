//! `dagdeck run`: a plan or a request without a console. Gates are decided by flags; what no flag decides stays open.

use super::{Exit, Failure, Io, Place, RunArgs, ls::short, source, source::Document, validate};
use crate::{
    engine::{Event, Record, Run},
    host::{Flags, Headless, HeadlessEnd, Yes},
    plan::{Plan, order::Graph, validate::Severity},
    text::{Plain, duration},
};
use serde_json::{Map, Value, json};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Runs a plan file, or plans and runs a request.
///
/// # Errors
/// When there is no usable plan, or the journal can't be written.
pub async fn run(args: &RunArgs, place: &Place, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let inputs = inputs(&args.set)?;
    let yes = if args.yes { Yes::Given } else { Yes::Absent };
    let flags = Flags { yes, approve: args.approve.clone(), deny: args.deny.clone() };
    flags.check().map_err(|problem| Failure { exit: Exit::Usage, ..Failure::from(problem) })?;
    let host = place.host()?;
    let mut document = if source::is_path(&args.what) || std::path::Path::new(&args.what).is_file() {
        Document::open(&args.what, io)?
    } else {
        let answer = source::ask(&host, &args.what, io).await?;
        io.say(&format!("planned by {}", Plain::line(&answer.origin)));
        for remark in &answer.remarks {
            io.say(&Plain::line(remark).into_string());
        }
        Document::unwritten(answer.plan)
    };
    document.plan.inputs.extend(inputs.clone());
    let mut findings = source::findings(&document.plan, &host.catalog());
    if source::verdict(&findings) == Exit::Invalid {
        findings.retain(|finding| finding.severity == Severity::Error);
        for placed in document.place(findings) {
            io.say(&validate::placed_words(&placed));
        }
        return Err(Failure::invalid("the plan has errors, so nothing was run").hint("`dagdeck validate FILE` lists every finding"));
    }
    let stop = CancellationToken::new();
    cancel_on_signal(stop.clone());
    let ended = {
        let mut printer = Printer { json: args.json, io: &mut *io };
        host.run_headless(document.plan, inputs, &flags, &stop, &mut |record| printer.print(record)).await?
    };
    finish(&ended, args, io)
}

/// `name=value` pairs; a value is JSON where it parses as such, else text.
fn inputs(pairs: &[String]) -> Result<Map<String, Value>, Failure> {
    pairs
        .iter()
        .map(|pair| {
            let (name, value) = pair
                .split_once('=')
                .filter(|(name, _)| !name.is_empty())
                .ok_or_else(|| Failure::usage(format!("`--set {pair}` has no name or no value")).hint("write it as --set name=value"))?;
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_string()));
            Ok((name.to_string(), value))
        })
        .collect()
}

/// The first signal to end cancels the run and lets it end in order, so that nothing it started goes on without it; whoever asks twice
/// doesn't want to wait.
fn cancel_on_signal(stop: CancellationToken) {
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
struct Printer<'a, 'b> {
    json: bool,
    io: &'a mut Io<'b>,
}

impl Printer<'_, '_> {
    fn print(&mut self, record: &Record) {
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
fn words(event: &Event) -> Option<String> {
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
        Event::ApprovalRequired { gate } => line(&gate.node, &format!("waits for a decision: {}", gate.why)),
        Event::Refused { what, why, .. } => Some(format!("refused: {}: {}", Plain::line(what), Plain::line(why))),
        _ => None,
    }
}

fn finish(ended: &Headless, args: &RunArgs, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let name = short(&ended.run.0);
    let (exit, outcome, reason) = match &ended.end {
        HeadlessEnd::Settled { outcome, reason } => (Exit::from(*outcome), json!(outcome), reason.clone()),
        HeadlessEnd::Parked(_) => (Exit::Undecided, json!("waiting"), "a gate is open that nothing decides".to_string()),
    };
    if args.json {
        let last = json!({"run": ended.run, "outcome": outcome, "reason": reason, "exit": exit.number()});
        io.json_line(&last)?;
        return Ok(exit);
    }
    if let HeadlessEnd::Parked(gates) = &ended.end {
        for gate in gates {
            let tool = gate.tool.as_ref().map(|tool| format!(" ({})", Plain::line(tool))).unwrap_or_default();
            io.say(&format!("gate at {}{tool}: {}", Plain::line(&gate.node), Plain::line(&gate.why)));
            io.say(&match &gate.flag {
                Some(flag) => format!("hint: `{}` would approve it; `--yes` approves every gate", Plain::line(flag)),
                None => "hint: only a person can answer this: run the plan in the console".to_string(),
            });
        }
    } else {
        print_results(&ended.state, io)?;
    }
    let word = outcome.as_str().unwrap_or_default();
    let took = took(&ended.state).map(|took| format!(" in {took}")).unwrap_or_default();
    let reason = if reason.is_empty() { String::new() } else { format!(": {}", Plain::line(&reason)) };
    io.say(&format!("run {name} {word}{took}{reason}"));
    Ok(exit)
}

/// Results of the exit nodes, as data.
fn print_results(run: &Run, io: &mut Io<'_>) -> Result<(), Failure> {
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
    let graph = Graph::new(plan);
    graph.exits().filter_map(|at| plan.nodes.get(at)).map(|node| &node.id).collect()
}

fn took(run: &Run) -> Option<Plain> {
    let spans = || run.nodes().map(|(_, node)| node.span);
    let start = spans().filter_map(|span| span.started).min()?;
    let end = spans().filter_map(|span| span.finished).max()?;
    Some(duration(end.since(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_json_where_they_parse_and_text_elsewhere() {
        let set = ["n=3".to_string(), "name=Ada L".to_string(), "list=[1]".to_string(), "eq=a=b".to_string()];
        let inputs = inputs(&set).unwrap();
        assert_eq!(Value::Object(inputs), json!({"n": 3, "name": "Ada L", "list": [1], "eq": "a=b"}));
    }

    #[test]
    fn an_input_without_a_value_is_a_usage_error() {
        assert_eq!(inputs(&["x".to_string()]).unwrap_err().exit, Exit::Usage);
    }
}
