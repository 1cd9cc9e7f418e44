//! `dagdeck validate`: every finding of a plan, with its place and a fix.

use super::{
    CliContext, CliError, Exit, Io, ValidateArgs,
    source::{self, LocatedFinding, PlanDocument},
};
use crate::{
    plan::validate::{Finding, Severity},
    text::{Plain, counted},
};
use serde_json::{Value, json};

/// Checks a plan file against the agents and tools that there are.
///
/// # Errors
/// When the file can't be read as a plan.
pub fn validate(args: &ValidateArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let text = match io.read(&args.file) {
        Ok(text) => text,
        // What asks for JSON gets JSON also for what is no plan at all.
        Err(failure) if args.json && failure.exit == Exit::Invalid => {
            io.json(&json!({"valid": false, "findings": [no_plan(&failure.message, "", None)]}))?;
            return Ok(Exit::Invalid);
        }
        Err(failure) => return Err(failure),
    };
    let document = match PlanDocument::parse(&args.file, text) {
        Ok(document) => document,
        Err(error) if args.json => {
            io.json(&json!({"valid": false, "findings": [no_plan(&error.to_string(), &error.path, error.at)]}))?;
            return Ok(Exit::Invalid);
        }
        Err(error) => return Err(source::unreadable(&error)),
    };
    let findings = source::findings(&document.plan, &place.survey()?.catalog());
    let exit = source::verdict(&findings);
    let (nodes, findings) = (document.plan.nodes.len(), document.place(findings));
    if args.json {
        let listed: Vec<Value> = findings.iter().map(placed_json).collect();
        io.json(&json!({"valid": exit == Exit::Success, "findings": listed}))?;
        return Ok(exit);
    }
    for finding in &findings {
        io.line(&placed_words(finding))?;
    }
    let errors = findings.iter().filter(|placed| placed.finding.severity == Severity::Error).count();
    let warnings = findings.len() - errors;
    io.say(&match exit {
        Exit::Success => format!("valid: {}, {}", counted(nodes, "node"), counted(warnings, "warning")),
        _ => format!("not valid: {}, {}", counted(errors, "error"), counted(warnings, "warning")),
    });
    Ok(exit)
}

/// The finding that stands for a text which is no plan.
fn no_plan(message: &str, path: &str, at: Option<(usize, usize)>) -> Value {
    let (line, column) = at.unzip();
    json!({
        "code": "no-plan", "severity": "error", "node": null, "path": path, "message": message, "fix": null, "line": line, "column": column,
    })
}

/// A finding as its JSON, with its place in the text where that is known.
fn placed_json(placed: &LocatedFinding) -> Value {
    let mut told = as_json(&placed.finding);
    if let (Some((file, line, column)), Some(map)) = (&placed.at, told.as_object_mut()) {
        map.insert("file".into(), json!(file));
        map.insert("line".into(), json!(line));
        map.insert("column".into(), json!(column));
    }
    told
}

/// A finding on one line, behind its place in the text.
pub(super) fn placed_words(placed: &LocatedFinding) -> String {
    let words = words(&placed.finding);
    placed.at.as_ref().map_or(words.clone(), |(origin, line, column)| format!("{}:{line}:{column}: {words}", Plain::line(origin)))
}

/// A finding as its JSON.
pub(super) fn as_json(finding: &Finding) -> Value {
    json!(finding)
}

/// A finding on one line.
pub(super) fn words(finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let fix = finding.fix.as_ref().map(|fix| format!("; fix: {}", fix.title)).unwrap_or_default();
    let code = json!(finding.code);
    let code = code.as_str().unwrap_or_default();
    Plain::line(&format!("{severity}[{code}] {}: {}{fix}", finding.path, finding.message)).into_string()
}
