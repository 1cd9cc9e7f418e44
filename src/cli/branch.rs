//! `dagdeck branch`: a new run that keeps another run's events up to a point and continues from there, if wanted with a changed plan.

use super::{
    BranchArgs, CliContext, CliError, Exit, Io,
    act::{edits, parked_as_asked, with_pause},
    headless::StoredRun,
    ls::short,
    named, source,
};
use crate::{
    engine::{Action, Command, Record, Run},
    host::{Clock, SystemClock},
};
use serde_json::json;

/// # Errors
/// When there is no such run or event, the edit is refused, or the journal can't be used.
pub async fn branch(args: &BranchArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let wanted = args.edit.as_ref().map(|file| source::read(file, io)).transpose()?;
    let stored = StoredRun::find_at(&args.run, args.at, &args.on.gates, args.on.json, place)?;
    let at = named::event(args.at, args.until.as_deref(), &stored.run.0, &stored.records)?;
    let seq = Record::whole(&stored.records, at);
    let kept = Run::replay(stored.records.iter().take_while(|record| record.seq <= seq));
    let mut commands = Vec::new();
    if let Some(wanted) = wanted {
        let action = Action::Edit { edits: edits(&kept, &wanted)? };
        commands.push(Command::Act { action: Box::new(action), why: args.why.clone() });
    }
    if args.on.pause {
        commands = with_pause(&kept, commands);
    }
    if let Some(why) = kept.refusal_of(&commands, SystemClock.now()) {
        return Err(CliError::new(format!("can't branch: {why}")));
    }
    if args.on.dry_run {
        return dry_run(&stored, (at, seq), &kept, args.on.json, io);
    }
    let host = place.host()?;
    io.say(&message(&stored, (at, seq), &kept));
    let ended = stored.branch(&host, seq, commands, io).await?;
    let exit = stored.finish(&ended, io)?;
    Ok(parked_as_asked(&ended, args.on.pause).unwrap_or(exit))
}

fn dry_run(stored: &StoredRun, (at, seq): (u64, u64), kept: &Run, as_json: bool, io: &mut Io<'_>) -> Result<Exit, CliError> {
    if as_json {
        let done = kept.nodes().filter(|(_, node)| node.state.is_final()).count();
        io.json(&json!({"parent": stored.run.0, "parent_seq": seq, "over": done, "nodes": kept.nodes().count()}))?;
    } else {
        io.line(&message(stored, (at, seq), kept))?;
    }
    Ok(Exit::Success)
}

/// Where it branches: after the step of the event `at`, which ends with `seq`.
fn message(stored: &StoredRun, (at, seq): (u64, u64), kept: &Run) -> String {
    let step = if seq > at { format!(" (the end of the step of event {at})") } else { String::new() };
    format!("branches from {} after event {seq}{step}: {}", short(&stored.run.0), kept_nodes(kept))
}

fn kept_nodes(run: &Run) -> String {
    let done = run.nodes().filter(|(_, node)| node.state.is_final()).count();
    format!("{done} of {} nodes have ended", run.nodes().count())
}
