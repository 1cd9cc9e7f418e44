//! `dagdeck branch`: a new run that keeps another run's events up to a point and continues from there, if wanted with a changed plan.

use super::{
    BranchArgs, CliContext, CliError, Exit, Io,
    act::{edits, with_pause},
    headless::{StoredRun, flags},
    ls::short,
    named,
    source::PlanDocument,
};
use crate::{
    engine::{Action, Command, Pace, Record, Run},
    host::{Clock, ResumeFrom, SystemClock},
};
use serde_json::json;

/// # Errors
/// When there is no such run or event, the edit is refused, or the journal can't be used.
pub async fn branch(args: &BranchArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let flags = flags(&args.go_on.gates)?;
    let wanted = args.edit.as_ref().map(|file| PlanDocument::open(file, io)).transpose()?;
    let stored = StoredRun::find_at(&args.of.run, args.at, args.act.json, place)?;
    let at = named::event(args.at, args.until.as_deref(), &stored.run.0, &stored.records)?;
    let seq = Record::whole(&stored.records, at);
    let kept = Run::replay(stored.records.iter().take_while(|record| record.seq <= seq));
    let mut commands = Vec::new();
    if let Some(wanted) = wanted {
        let action = Action::Edit { edits: edits(&kept, &wanted, io)? };
        commands.push(Command::Act { action: Box::new(action), why: args.message.clone() });
    }
    if args.go_on.pause {
        commands = with_pause(&kept, commands);
    }
    if let Some(why) = kept.refusal_of(&commands, SystemClock.now()) {
        return Err(CliError::new(format!("can't branch: {why}")));
    }
    if commands.is_empty() && kept.outcome().is_some() && !place.store()?.is_imported(&stored.run)? {
        let step = if seq > at { format!("events {at} to {seq} belong together, and ") } else { String::new() };
        return Err(CliError::new(format!("a branch at event {at} changes nothing: {step}run `{}` ended there", short(&stored.run.0)))
            .hint("name an earlier event with `--at` or `--until`, or a changed plan with `--edit`"));
    }
    if args.act.dry_run {
        return dry_run(&stored, (at, seq), &kept, args.act.json, io);
    }
    let host = place.host()?;
    io.say(&format!("branches{}", message(&stored, (at, seq), &kept)));
    if kept.pace() != Pace::Going && !args.go_on.pause {
        io.say("the run is paused there, so the branch is paused too: `dagdeck resume last` resumes it");
    }
    let ended = stored.resume_from(ResumeFrom::Event(seq), &host, commands, &flags, io).await?;
    let exit = stored.finish(&ended, io)?;
    Ok(if args.go_on.pause && exit == Exit::Undecided { Exit::Success } else { exit })
}

fn dry_run(stored: &StoredRun, (at, seq): (u64, u64), kept: &Run, as_json: bool, io: &mut Io<'_>) -> Result<Exit, CliError> {
    if as_json {
        let done = kept.nodes().filter(|(_, node)| node.state.has_ended()).count();
        io.json(&json!({"parent": stored.run.0, "parent_seq": seq, "over": done, "nodes": kept.nodes().count()}))?;
    } else {
        io.line(&format!("would branch{}", message(stored, (at, seq), kept)))?;
    }
    Ok(Exit::Success)
}

/// Where it branches: after the step of the event `at`, which ends with `seq`.
fn message(stored: &StoredRun, (at, seq): (u64, u64), kept: &Run) -> String {
    let step = if seq > at { format!(" (events {at} to {seq} belong together)") } else { String::new() };
    format!(" from {}, keeping events 1 to {seq}{step}; {}", short(&stored.run.0), kept_nodes(kept))
}

fn kept_nodes(run: &Run) -> String {
    let done = run.nodes().filter(|(_, node)| node.state.has_ended()).count();
    format!("{done} of {} nodes have ended", run.nodes().count())
}
