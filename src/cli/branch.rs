//! `dagdeck branch`: a new run that keeps another one's events up to a point, and goes on from there with a changed plan.

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

/// Branches a run.
///
/// # Errors
/// When there is no such run or event, the edit is refused, or the journal can't be used.
pub async fn branch(args: &BranchArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let wanted = args.edit.as_ref().map(|file| source::read(file, io)).transpose()?;
    let drive = StoredRun::find_at(&args.run, args.at, &args.on.gates, args.on.json, place)?;
    let at = named::event(args.at, args.until.as_deref(), &drive.run.0, &drive.records)?;
    let seq = Record::whole(&drive.records, at);
    let kept = Run::replay(drive.records.iter().take_while(|record| record.seq <= seq));
    let mut commands = Vec::new();
    if let Some(wanted) = wanted {
        let verb = Action::Edit { edits: edits(&kept, &wanted)? };
        commands.push(Command::Act { verb: Box::new(verb), why: args.why.clone() });
    }
    if args.on.pause {
        commands = with_pause(&kept, commands);
    }
    if let Some(why) = kept.refusal_of(&commands, SystemClock.now()) {
        return Err(CliError::new(format!("can't branch so: {why}")));
    }
    if args.on.dry_run {
        return told(&drive, (at, seq), &kept, args.on.json, io);
    }
    let host = place.host()?;
    io.say(&words(&drive, (at, seq), &kept));
    let ended = drive.branch(&host, seq, commands, io).await?;
    let exit = drive.finish(&ended, io)?;
    Ok(parked_as_asked(&ended, args.on.pause).unwrap_or(exit))
}

/// What would be kept, and nothing else.
fn told(drive: &StoredRun, (at, seq): (u64, u64), kept: &Run, as_json: bool, io: &mut Io<'_>) -> Result<Exit, CliError> {
    if as_json {
        let done = kept.nodes().filter(|(_, node)| node.state.is_final()).count();
        io.json(&json!({"parent": drive.run.0, "parent_seq": seq, "over": done, "nodes": kept.nodes().count()}))?;
    } else {
        io.line(&words(drive, (at, seq), kept))?;
    }
    Ok(Exit::Success)
}

/// Where it branches off: after the step of the event `at`, which ends with `seq`.
fn words(drive: &StoredRun, (at, seq): (u64, u64), kept: &Run) -> String {
    let step = if seq > at { format!(", where the step of event {at} ends") } else { String::new() };
    format!("branches off {} after event {seq}{step}: {}", short(&drive.run.0), standing(kept))
}

/// What a branch keeps, in words.
fn standing(run: &Run) -> String {
    let done = run.nodes().filter(|(_, node)| node.state.is_final()).count();
    format!("{done} of {} nodes are over", run.nodes().count())
}
