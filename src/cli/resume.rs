//! `dagdeck resume`: continues a run that was interrupted, waits at a gate, or is paused.

use super::{
    CliContext, CliError, Exit, Io, ResumeArgs,
    headless::{StoredRun, flags},
};
use crate::{
    engine::{Action, Actor, Command, Event, Input, Pace, Run},
    host::{Clock, SystemClock},
    text::Plain,
};

/// Continues a stored run to its end, or to the next gate that no flag decides.
///
/// # Errors
/// When there is no such run, it is over, another process drives it, or the journal can't be used.
pub async fn resume(args: &ResumeArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let flags = flags(&args.gates)?;
    let stored = StoredRun::find(&args.of.run, args.json, place)?;
    let resume = Command::Act { action: Box::new(Action::Resume), why: args.reason.message.clone() };
    // Who decides a gate of a run that goes on has said nothing of what a breakpoint holds.
    let decides = !args.gates.approve.is_empty() || !args.gates.deny.is_empty();
    let resumes = stored.state.refusal(&resume).is_none() && !(decides && stored.state.pace() == Pace::Going);
    if !resumes && !args.reason.message.is_empty() {
        io.say("your message is not kept: there is nothing to resume");
    }
    let commands = if resumes { vec![resume] } else { Vec::new() };
    for command in &commands {
        released(&stored.state, command).iter().for_each(|line| io.say(line));
    }
    stored.resume(commands, &flags, place, io).await
}

/// What going on releases: each node that a breakpoint holds, and why it is held.
fn released(state: &Run, command: &Command) -> Vec<String> {
    let by = Actor { who: String::new(), via: String::new() };
    let batch = state.clone().step(&Input::Command { command: command.clone(), by }, SystemClock.now());
    let acted =
        batch.records.into_iter().filter_map(|record| if let Event::Acted { nodes, .. } = record.event { Some(nodes) } else { None });
    acted
        .flatten()
        .map(|id| {
            let reason = state.node(&id).map(|node| node.reason.message()).unwrap_or_default();
            Plain::line(&format!("released: {id}: {reason}")).into_string()
        })
        .collect()
}
