//! `dagdeck validate --fix` and `--diff`: the document with its fixes, in its own form. What that form can't hold is never left out: then
//! nothing is written.

use super::{CliError, Io, ValidateArgs, source::PlanDocument};
use crate::{
    files::beside,
    plan::{
        Catalog, Dialect, NodeId, Plan,
        dialect::{Format, Syntax, write_as},
        nest::outline,
        validate::{Fix, FixKind, fixes},
    },
    text::{Plain, counted},
};
use similar::TextDiff;
use std::{collections::BTreeSet, path::Path};

/// The order that a plan gives to its nodes, as pairs.
fn orders(plan: &Plan) -> BTreeSet<(NodeId, NodeId)> {
    let flat = outline(plan);
    let sources = flat.nodes.iter().flat_map(|node| node.depends_on.iter().map(|source| (source.clone(), node.id.clone())));
    let pairs = sources.chain(flat.edges.iter().map(|edge| (edge.from.clone(), edge.to.clone())));
    let is_node = |id: &NodeId| flat.nodes.iter().any(|node| node.id == *id);
    pairs.filter(|(from, to)| from != to && is_node(from) && is_node(to)).collect()
}

/// Says what of a document's text no writer keeps, before anything is written or shown.
fn say_lost(document: &PlanDocument, (format, syntax): (Format, Syntax), io: &mut Io<'_>) {
    let has_comments = syntax.has_comments(&document.text);
    let is_laid_out = write_as(&document.plan, format, syntax, &Catalog::default()).text.trim() != document.text.trim();
    match (has_comments, is_laid_out) {
        (true, _) => io.say("comments, words around the plan and its layout are not kept"),
        (false, true) => io.say("the layout of the document is not kept: lines change that no fix is about"),
        (false, false) => {}
    }
}

/// Applies the fixes that may be made, and writes or shows the document.
///
/// # Errors
/// When its form can't hold a fix, or the file can't be written.
pub(super) fn fix(
    args: &ValidateArgs,
    document: PlanDocument,
    catalog: &Catalog,
    io: &mut Io<'_>,
) -> Result<(PlanDocument, Vec<(String, Fix)>), CliError> {
    let most = if args.fix.as_deref() == Some("guess") { FixKind::Guess } else { FixKind::Safe };
    let made = fixes(&document.plan, catalog, most);
    let mut plan = document.plan.clone();
    for (_, fix) in &made {
        fix.edit.apply(&mut plan).map_err(|error| CliError::new(error.to_string()))?;
    }
    // A guess may ask for the form that holds it, and says so.
    let shape = if plan.dialect == document.plan.dialect { document.shape } else { plan.dialect };
    let (format, syntax) = (Format::Document(shape), document.syntax());
    let written = write_as(&plan, format, syntax, &Catalog::default());
    if let Some(loss) = written.lost.first().filter(|loss| !made.is_empty() || !loss.path.is_empty()) {
        let message = match loss.path.as_str() {
            "" => format!("nothing is written: {}", loss.reason),
            path => format!("the {} format can't hold the fixes: `{path}`: {}", format.name(), loss.reason),
        };
        let refused = CliError::new(Plain::line(&message).into_string());
        let is_native = shape == Dialect::Native;
        return Err(if is_native { refused } else { refused.hint("export the plan with `--format native` and fix that file") });
    }
    let text = if made.is_empty() { document.text.clone() } else { written.text };
    if !made.is_empty() {
        say_lost(&document, (format, syntax), io);
    }
    if args.diff {
        let diff = TextDiff::from_lines(document.text.as_str(), text.as_str());
        let shown = diff.unified_diff().context_radius(3).header(&document.origin, &document.origin).to_string();
        for line in shown.lines() {
            io.line(Plain::line(line).as_str())?;
        }
    } else if args.file == "-" {
        io.out.write_all(text.as_bytes())?;
    } else if !made.is_empty() {
        beside::write(Path::new(&args.file), text.as_bytes())
            .map_err(|error| CliError::new(format!("{}: can't be written: {error}", args.file)))?;
    }
    for (path, fix) in &made {
        let kind = match (args.diff, fix.kind) {
            (true, FixKind::Guess) => "would guess",
            (true, FixKind::Safe) => "would fix",
            (false, FixKind::Guess) => "guessed",
            (false, FixKind::Safe) => "fixed",
        };
        let (path, title) = document.in_own_terms(path, &fix.title);
        let place = if path.is_empty() { "the document" } else { &path };
        io.say(&Plain::line(&format!("{kind} {place}: {title}")).into_string());
    }
    let is_there = |id: &NodeId| plan.nodes.iter().any(|node| node.id == *id);
    let (before, after) = (orders(&document.plan), orders(&plan));
    let lost = before.difference(&after).filter(|(from, to)| is_there(from) && is_there(to));
    let lost: Vec<String> = lost.map(|(from, to)| format!("`{from}` before `{to}`")).collect();
    if !lost.is_empty() {
        let message = format!("guesses removed a dependency: {}; check that the plan is right without it", lost.join(", "));
        io.say(Plain::line(&message).as_str());
    }
    let done = if args.diff { "would apply" } else { "applied" };
    io.say(&format!("{done} {}", counted(made.len(), "change")));
    let fixed = PlanDocument::parse(&args.file, text).map_err(|error| CliError::new(error.to_string()))?;
    Ok((fixed, made))
}
