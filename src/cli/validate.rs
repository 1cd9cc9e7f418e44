//! `dagdeck validate`: every finding of a plan, with its place and a fix.

use super::{
    CliContext, CliError, Exit, Io, ValidateArgs, fix,
    source::{self, LocatedFinding, PlanDocument},
};
use crate::{
    plan::validate::{Finding, FixKind, Severity},
    text::{Plain, counted},
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Checks a plan file against the known agents and tools.
///
/// # Errors
/// When the file is not a plan.
pub fn validate(args: &ValidateArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let text = match io.read(&args.file) {
        Ok(text) => text,
        // `--json` gets JSON even if the file is not a plan.
        Err(failure) if args.json && failure.exit == Exit::Invalid => {
            io.json(&json!({"valid": false, "findings": [not_a_plan(&failure.message, "", None)]}))?;
            return Ok(Exit::Invalid);
        }
        Err(failure) => return Err(failure),
    };
    let document = match PlanDocument::parse(&args.file, text) {
        Ok(document) => document,
        Err(error) if args.json => {
            io.json(&json!({"valid": false, "findings": [not_a_plan(&error.to_string(), &error.path, error.at)]}))?;
            return Ok(Exit::Invalid);
        }
        Err(error) => return Err(source::unreadable(&error)),
    };
    let survey = place.survey()?;
    let catalog = survey.catalog();
    let fixing = args.fix.is_some() || args.diff;
    let (document, made) = if fixing { fix::fix(args, document, &catalog, io)? } else { (document, Vec::new()) };
    let findings = survey.findings(&document.plan);
    let exit = source::verdict(&findings);
    let (nodes, mut findings) = (document.plan.nodes.len(), document.place(findings));
    if args.diff {
        // Their places are in a text that no file holds.
        findings.iter_mut().for_each(|placed| placed.at = None);
    }
    if args.json {
        let listed: Vec<Value> = findings.iter().map(placed_json).collect();
        let mut report = json!({"valid": exit == Exit::Success, "findings": listed});
        if fixing {
            report["fixed"] = made.iter().map(|(path, fix)| json!({"path": path, "title": fix.title, "kind": fix.kind})).collect();
        }
        io.json(&report)?;
        return Ok(exit);
    }
    for finding in &findings {
        // Standard output holds the document or the difference then.
        if args.diff || (fixing && args.file == "-") {
            io.say(&placed_line(finding));
        } else {
            io.line(&placed_line(finding))?;
        }
    }
    let errors = findings.iter().filter(|placed| placed.finding.is_error()).count();
    let warnings = findings.len() - errors;
    let with = if args.diff { "with these fixes " } else { "" };
    io.say(&match exit {
        Exit::Success => format!("{with}valid: {}, {}", counted(nodes, "node"), counted(warnings, "warning")),
        _ => format!("{with}not valid: {}, {}", counted(errors, "error"), counted(warnings, "warning")),
    });
    let kinds: BTreeSet<FixKind> = findings.iter().filter_map(|placed| placed.finding.fix.as_ref()).map(|fix| fix.kind).collect();
    if args.fix.is_none() && !args.diff && !kinds.is_empty() {
        io.say(&fix_hint(&args.file, &kinds));
    }
    Ok(exit)
}

/// What applies the fixes that were listed, and the guesses.
fn fix_hint(file: &str, kinds: &BTreeSet<FixKind>) -> String {
    let command = |how: &str| format!("`dagdeck validate {} {how}`", Plain::line(file));
    match (kinds.contains(&FixKind::Safe), kinds.contains(&FixKind::Guess)) {
        (true, false) => format!("hint: {} applies the fixes", command("--fix")),
        (true, true) => {
            format!("hint: {} applies the fixes, {} the guesses too, which may not be what is meant", command("--fix"), "`--fix=guess`")
        }
        (false, _) => format!("hint: {} applies the guesses, which may not be what is meant", command("--fix=guess")),
    }
}

/// Says before a run what its plan's warnings are: in full those of what happens and who is asked, of the others how many there are.
pub(super) fn warn(document: &PlanDocument, mut findings: Vec<Finding>, io: &mut Io<'_>) {
    findings.retain(|finding| finding.severity == Severity::Warning);
    let (full, others): (Vec<Finding>, Vec<Finding>) = findings.into_iter().partition(|finding| finding.code.changes_what_happens());
    let word = if full.is_empty() { "warning" } else { "more warning" };
    document.place(full).iter().for_each(|placed| io.say(&placed_line(placed)));
    // A plan that no file holds shows them in the console.
    if !others.is_empty() && !document.origin.is_empty() {
        let origin = if document.origin == "stdin" { "-" } else { &document.origin };
        io.say(&format!("{}: `dagdeck validate {}` lists every finding", counted(others.len(), word), Plain::line(origin)));
    }
}

fn not_a_plan(message: &str, path: &str, at: Option<(usize, usize)>) -> Value {
    let (line, column) = at.unzip();
    json!({
        "code": "no-plan", "severity": "error", "node": null, "path": path, "message": message, "fix": null, "line": line, "column": column,
    })
}

/// With its place in the text, if that is known.
fn placed_json(placed: &LocatedFinding) -> Value {
    let mut json = json!(placed.finding);
    if let (Some((file, line, column)), Some(map)) = (&placed.at, json.as_object_mut()) {
        map.insert("file".into(), json!(file));
        map.insert("line".into(), json!(line));
        map.insert("column".into(), json!(column));
    }
    json
}

pub(super) fn placed_line(placed: &LocatedFinding) -> String {
    let finding = finding_line(&placed.finding);
    match &placed.at {
        Some((origin, line, column)) => format!("{}:{line}:{column}: {finding}", Plain::line(origin)),
        None => finding,
    }
}

pub(super) fn finding_line(finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let fix = finding.fix.as_ref().map(|fix| format!("; {}: {}", fix.kind.label(), fix.title)).unwrap_or_default();
    let place = if finding.path.is_empty() { "the document" } else { &finding.path };
    Plain::line(&format!("{severity}[{}] {place}: {}{fix}", finding.code, finding.message)).into_string()
}
