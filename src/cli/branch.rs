//! `dagdeck branch`: a new run that keeps another one's events up to a point, and goes on from there with a changed plan.

use super::{BranchArgs, Exit, Failure, Io, Place, act::edits, headless::Drive, ls::short, replay::place_of, source};
use crate::{
    engine::{Command, Run, Verb},
    text::Plain,
};

/// Branches a run.
///
/// # Errors
/// When there is no such run or event, the edit is refused, or the journal can't be used.
pub async fn branch(args: &BranchArgs, place: &Place, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let wanted = args.edit.as_ref().map(|file| source::read(file, io)).transpose()?;
    let drive = Drive::find(&args.run, &args.act.gates, args.act.json, place)?;
    let seq = place_of(&drive.records, args.at, args.until.as_deref())?;
    let kept = Run::replay(drive.records.iter().take_while(|record| record.seq <= seq));
    let mut commands = Vec::new();
    if args.act.pause {
        commands.push(Command::act(Verb::Pause));
    }
    if let Some(wanted) = wanted {
        let verb = Verb::Edit { edits: edits(kept.plan(), &wanted)? };
        commands.push(Command::Act { verb: Box::new(verb), why: args.act.why.clone() });
    }
    io.say(&format!("branches off {} after event {seq}: {}", short(&drive.run.0), Plain::summary(&standing(&kept))));
    if args.act.dry_run {
        return Ok(Exit::Success);
    }
    let ended = drive.branch(seq, commands, place, io).await?;
    let exit = drive.finish(&ended, io)?;
    Ok(if args.act.pause { Exit::Success } else { exit })
}

/// What a branch keeps, in words.
fn standing(run: &Run) -> String {
    let done = run.nodes().filter(|(_, node)| node.state.is_final()).count();
    format!("{done} of {} nodes are over", run.nodes().count())
}
