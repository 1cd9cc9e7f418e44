//! `dagdeck undo`: undoes the last action of a run, as long as it has had no effect.

use super::{CliContext, CliError, Exit, Io, UndoArgs, headless::StoredRun, run_driver::RunDriver};
use crate::{
    engine::{Action, Command, Record, Run},
    text::Plain,
};
use serde_json::json;

/// What can be undone, and what else ends an action that lasts.
const WHEN: &str = "only the last action can be undone, and only until a node starts or ends after it; `dagdeck release` ends a hold, `dagdeck resume` a pause";

/// Undoes the newest action; where that is a pause that was sent together with an action, both.
///
/// # Errors
/// When there is none whose effect has not begun.
pub async fn undo(args: &UndoArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let stored = StoredRun::find(&args.of.run, args.act.json, place)?;
    let undone = undone(&stored).ok_or_else(|| CliError::new("nothing can be undone").hint(WHEN))?;
    let label = Plain::line(&undone.join(", "));
    if args.act.dry_run {
        RunDriver::of((&stored.run, &stored.state), true, place).await?;
        if args.act.json {
            io.json(&json!({ "takes_back": undone }))?
        } else {
            io.line(&format!("would undo: {label}"))?
        }
        return Ok(Exit::Success);
    }
    let driver = RunDriver::of((&stored.run, &stored.state), false, place).await?;
    let exit = stored.record(&driver, vec![Command::Undo; undone.len()], &format!("undid: {label}"), io).await?;
    Ok(exit)
}

/// The actions that go, the newest first: the newest one, and the one that its pause was sent with, which would go on without it.
fn undone(stored: &StoredRun) -> Option<Vec<String>> {
    let newest = |run: &Run| run.undoable().map(|(seq, words)| (seq, words.to_owned()));
    let (pause, last) = newest(&stored.state)?;
    let mut undone = vec![last];
    if undone[0] == Action::Pause.label() {
        let before = Run::replay(stored.records.iter().take_while(|record| record.seq < pause));
        let with_it = newest(&before).filter(|(seq, _)| Record::whole(&stored.records, *seq) >= pause);
        undone.extend(with_it.map(|(_, words)| words));
    }
    Some(undone)
}
