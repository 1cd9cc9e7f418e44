//! `dagdeck diff`: what differs between two plans, piece by piece.

use super::{DiffArgs, Exit, Failure, Io, Place, export};
use crate::{
    plan::{
        Plan,
        diff::{Diff, Mark, Piece},
        nest,
    },
    text::Plain,
};
use serde_json::{Value, json};

/// Tells what differs between two plans: from the first to the second. Plans that differ give the exit code of what is only partly
/// as it should be, so that no error can be taken for a difference.
///
/// # Errors
/// When one of them can't be read.
pub fn diff(args: &DiffArgs, place: &Place, io: &mut Io<'_>) -> Result<Exit, Failure> {
    if args.old == "-" && args.new == "-" {
        return Err(Failure::usage("both plans can't come from stdin").hint("name a file for one of them"));
    }
    let old = nest::inlined(export::plan_of(&args.old, place, io)?);
    let new = nest::inlined(export::plan_of(&args.new, place, io)?);
    let diff = Diff::new(&old, &new);
    let exit = if diff.is_empty() { Exit::Success } else { Exit::Partial };
    if args.json {
        let as_json = |(at, piece): (usize, &Piece)| {
            let mut value = piece.to_json();
            value["needs"] = json!(needs(&diff, &old, at));
            value
        };
        let pieces: Vec<Value> = diff.pieces.iter().enumerate().map(as_json).collect();
        io.json(&json!({"equal": diff.is_empty(), "pieces": pieces}))?;
        return Ok(exit);
    }
    for (at, piece) in diff.pieces.iter().enumerate() {
        print(piece, io)?;
        for other in needs(&diff, &old, at) {
            io.line(&Plain::line(&format!("    only together with: {}", head(&diff.pieces[other]))).into_string())?;
        }
    }
    io.say(&summary(&diff));
    Ok(exit)
}

/// Positions of the pieces without which this one can't be made, since it would close a cycle.
fn needs(diff: &Diff, old: &Plan, at: usize) -> Vec<usize> {
    diff.with_needed(old, at).into_iter().filter(|other| *other != at).collect()
}

/// The piece on one line.
fn head(piece: &Piece) -> String {
    let told = piece.told();
    let words = [told.sort, &told.subject, &told.field].into_iter().filter(|words| !words.is_empty());
    format!("{} {}", told.mark.sign(), words.collect::<Vec<_>>().join("  "))
}

fn print(piece: &Piece, io: &mut Io<'_>) -> Result<(), Failure> {
    io.line(&Plain::line(&head(piece)).into_string())?;
    for (mark, line) in &piece.told().lines {
        let sign = match mark {
            Mark::Added | Mark::Removed => mark.sign(),
            Mark::Changed => " ",
        };
        io.line(Plain::line(&format!("    {sign} {line}")).as_str().trim_end())?;
    }
    Ok(())
}

fn summary(diff: &Diff) -> String {
    if diff.is_empty() {
        return "the plans are equal".into();
    }
    let count = |mark: Mark| diff.pieces.iter().filter(|piece| piece.told().mark == mark).count();
    format!("{} added, {} removed, {} changed", count(Mark::Added), count(Mark::Removed), count(Mark::Changed))
}
