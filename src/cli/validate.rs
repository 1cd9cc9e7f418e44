//! `dagdeck validate`: every finding of a plan, with its place and a fix.

use super::{Exit, Failure, Io, Place, ValidateArgs, source};
use crate::{
    plan::validate::{Finding, Severity},
    text::{Plain, counted},
};
use serde_json::{Value, json};

/// Checks a plan file against the agents and tools that there are.
///
/// # Errors
/// When the file can't be read as a plan.
pub fn validate(args: &ValidateArgs, place: &Place, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let plan = match source::read(&args.file, io) {
        Ok(plan) => plan,
        // What asks for JSON gets JSON also for a text that is no plan at all.
        Err(failure) if args.json && failure.exit == Exit::Invalid => {
            let finding =
                json!({"code": "no-plan", "severity": "error", "node": null, "path": "", "message": failure.message, "fix": null});
            io.json(&json!({"valid": false, "findings": [finding]}))?;
            return Ok(Exit::Invalid);
        }
        Err(failure) => return Err(failure),
    };
    let findings = source::findings(&plan, &place.survey()?.catalog());
    let exit = source::verdict(&findings);
    if args.json {
        let listed: Vec<Value> = findings.iter().map(as_json).collect();
        io.json(&json!({"valid": exit == Exit::Success, "findings": listed}))?;
        return Ok(exit);
    }
    for finding in &findings {
        print(finding, io)?;
    }
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let warnings = findings.len() - errors;
    io.say(&match exit {
        Exit::Success => format!("valid: {}, {}", counted(plan.nodes.len(), "node"), counted(warnings, "warning")),
        _ => format!("not valid: {}, {}", counted(errors, "error"), counted(warnings, "warning")),
    });
    Ok(exit)
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

fn print(finding: &Finding, io: &mut Io<'_>) -> Result<(), Failure> {
    io.line(&words(finding))
}
