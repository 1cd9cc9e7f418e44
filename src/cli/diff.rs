//! `dagdeck diff`: what differs between two plans, piece by piece.

use super::{CliContext, CliError, DiffArgs, Exit, Io, export, ls::short, show};
use crate::{
    engine::{Comparison, ResultChange, Run, Side, listed},
    plan::{
        Plan,
        diff::{Diff, Difference, DifferenceMark},
        nest, value_text,
    },
    text::{Plain, counted},
};
use serde_json::{Value, json};

/// Columns of a result's beginning, where no terminal says how many there are.
const RESULT_COLUMNS: usize = 60;

/// Tells what differs between two plans: from the first to the second. Plans that differ give the exit code of what is only partly
/// as it should be, so that no error can be taken for a difference.
///
/// # Errors
/// When one of them can't be read.
pub fn diff(args: &DiffArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let old_name = args.old.as_deref().unwrap_or("last");
    if args.old.is_none() && args.new == "last" {
        return Err(
            CliError::usage("the newest run would be compared with itself").hint("`dagdeck diff OLD last`; `dagdeck ls` lists the runs")
        );
    }
    if old_name == "-" && args.new == "-" {
        return Err(CliError::usage("both plans can't come from stdin").hint("name a file for one of them"));
    }
    let old = nest::inlined(export::plan_of(old_name, place, io)?);
    let new = nest::inlined(export::plan_of(&args.new, place, io)?);
    let diff = Diff::new(&old, &new);
    let results = if args.results { Some(results_of([old_name, &args.new], place)?) } else { None };
    let same = diff.is_empty() && results.as_ref().is_none_or(|(results, _)| results.changed().next().is_none());
    let exit = if same { Exit::Success } else { Exit::Partial };
    if args.json {
        let as_json = |(at, piece): (usize, &Difference)| {
            let mut value = piece.to_json();
            value["needs"] = json!(needs(&diff, &old, at));
            value
        };
        let pieces: Vec<Value> = diff.pieces.iter().enumerate().map(as_json).collect();
        let mut report = json!({"equal": same, "pieces": pieces});
        if let Some((results, _)) = &results {
            report["results"] = json!(results);
        }
        io.json(&report)?;
        return Ok(exit);
    }
    for (at, piece) in diff.pieces.iter().enumerate() {
        print(piece, io)?;
        for other in needs(&diff, &old, at) {
            io.line(&Plain::line(&format!("    only together with: {}", head(&diff.pieces[other]))).into_string())?;
        }
    }
    if let Some((results, names)) = &results {
        print_results(results, names, io)?;
    }
    let others = results.as_ref().map_or(0, |(results, _)| results.changed().count());
    let differ = if others == 1 { "result differs" } else { "results differ" };
    let results = if others > 0 { format!("; {others} {differ}") } else { String::new() };
    let named = |name: &str| if name == "-" { "stdin".to_owned() } else { Plain::line(name).into_string() };
    if !same {
        io.say(&format!("- {}  + {}", named(old_name), named(&args.new)));
    }
    io.say(&format!("{}{results}", summary(&diff)));
    Ok(exit)
}

/// What became of the nodes of two runs, and their names.
fn results_of([old, new]: [&str; 2], place: &CliContext) -> Result<(Comparison, [String; 2]), CliError> {
    let run = |name: &str| {
        let (id, records) =
            show::records(name, place).map_err(|failure| failure.hint("`--results` compares two runs, as `dagdeck ls` lists them"))?;
        Ok::<_, CliError>((short(&id).to_owned(), Run::replay(&records)))
    };
    let ((old, left), (new, right)) = (run(old)?, run(new)?);
    Ok((Comparison::new(&left, &right), [old, new]))
}

/// The nodes that came out otherwise, side by side, and what both runs took.
fn print_results(results: &Comparison, [old, new]: &[String; 2], io: &mut Io<'_>) -> Result<(), CliError> {
    let (mut same, mut other) = (0, 0);
    for versus in &results.nodes {
        let sign = match versus.change {
            ResultChange::Same => {
                same += 1;
                continue;
            }
            ResultChange::Result | ResultChange::State => DifferenceMark::Changed.glyph(),
            ResultChange::Removed => DifferenceMark::Removed.glyph(),
            ResultChange::Added => DifferenceMark::Added.glyph(),
        };
        other += 1;
        io.line(&Plain::line(&format!("{sign} result  {}", versus.node)).into_string())?;
        for (sign, side) in [("-", &versus.left), ("+", &versus.right)] {
            if let Some(side) = side {
                let head = Plain::line(&format!("    {sign} ")).then(&side.label()).then(&Plain::blank(2));
                io.row(&head, &Plain::summary(&gave(side)), RESULT_COLUMNS)?;
            }
        }
    }
    for (sign, name, took) in [("-", old, results.left), ("+", new, results.right)] {
        let open = took.elapsed_ms.is_none().then(|| Plain::line("not finished"));
        let totals = listed(open.into_iter().chain([took.label()]).filter(|part| !part.is_empty()));
        io.line(&format!("{sign} run {name}: {totals}"))?;
    }
    io.say(&format!("results: {} the same, {} different", counted(same, "node"), other));
    Ok(())
}

fn gave(side: &Side) -> String {
    match (&side.error, &side.result) {
        (Some(error), _) => error.clone(),
        (None, Some(result)) => value_text(result),
        (None, None) => String::new(),
    }
}

/// Positions of the pieces without which this one can't be made, since it would close a cycle.
fn needs(diff: &Diff, old: &Plan, at: usize) -> Vec<usize> {
    diff.with_needed(old, at).into_iter().filter(|other| *other != at).collect()
}

/// The piece on one line.
fn head(piece: &Difference) -> String {
    let difference = piece.description();
    let words = [difference.sort, &difference.subject, &difference.field].into_iter().filter(|words| !words.is_empty());
    format!("{} {}", difference.mark.glyph(), words.collect::<Vec<_>>().join("  "))
}

fn print(piece: &Difference, io: &mut Io<'_>) -> Result<(), CliError> {
    io.line(&Plain::line(&head(piece)).into_string())?;
    for (mark, line) in &piece.description().lines {
        let sign = match mark {
            DifferenceMark::Added | DifferenceMark::Removed => mark.glyph(),
            DifferenceMark::Changed => " ",
        };
        io.line(Plain::line(&format!("    {sign} {line}")).as_str().trim_end())?;
    }
    Ok(())
}

fn summary(diff: &Diff) -> String {
    if diff.is_empty() {
        return "the plans are equal".into();
    }
    let count = |mark: DifferenceMark| diff.pieces.iter().filter(|piece| piece.description().mark == mark).count();
    format!(
        "{} added, {} removed, {} changed",
        count(DifferenceMark::Added),
        count(DifferenceMark::Removed),
        count(DifferenceMark::Changed)
    )
}
