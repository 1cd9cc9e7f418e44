//! `dagdeck plan`: a plan from a request, printed.

use super::{CliContext, CliError, Exit, Io, PlanArgs, export, named, rivals, source, validate};
use crate::host::{
    LocalHost,
    client::{MadePlan, ModelStatus, PlanWish},
};
use crate::plan::{
    Budget, Plan, dialect,
    diff::{Diff, Difference},
    validate::Finding,
};
use crate::planner::builtin::OpenRequest;
use crate::text::{Plain, counted};
use serde_json::{Value, json};

/// Plans a request and prints the plan. Findings go to stderr, or with `--json` into the JSON.
///
/// # Errors
/// When no plan could be made.
pub async fn plan(args: &PlanArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let request = if args.request == "-" { io.read("-")? } else { args.request.clone() };
    let host = place.host_to_look()?;
    let before = args.on.as_deref().map(|file| source::read(file, io)).transpose()?;
    if before.is_some() && !matches!(host.model(), ModelStatus::Connected { .. }) {
        let hint = "change the file by hand, or set up a model: `dagdeck doctor` shows how";
        let error = CliError::new("a request can change a plan only with a model, and none is set up").hint(hint);
        return Err(CliError { exit: Exit::Rehearsed, ..error });
    }
    let made = match args.among.rivals {
        Some(count) => {
            let rivals = rivals::ask(&host, (&request, Budget::default()), count, io).await?;
            if args.among.pick.is_none() && !args.json {
                return rivals::write(&rivals, &place.places.workspace, args.format, &host, io);
            }
            if args.among.pick.is_none() {
                let plans: Vec<Value> = rivals.iter().map(|rival| as_json(&rival.made, &rival.findings)).collect();
                io.json(&json!({ "plans": plans }))?;
                return Ok(Exit::Success);
            }
            rivals::pick(rivals, args.among.pick, io)?
        }
        None => {
            let after = named::earlier_run(args.after.as_deref(), &host, place)?;
            source::ask(&host, PlanWish { on: before.clone().map(Box::new), after, ..PlanWish::new(request) }, io).await?
        }
    };
    let exit = print(&made, before.as_ref(), args, &host, io)?;
    export::say_keys(&json!(made.plan).to_string(), place, io);
    Ok(exit)
}

fn print(made: &MadePlan, before: Option<&Plan>, args: &PlanArgs, host: &LocalHost, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let findings = host.findings(&made.plan);
    let exit = verdict(made, &findings);
    if args.json {
        io.json(&as_json(made, &findings))?;
        return Ok(exit);
    }
    let written = dialect::write_as(&made.plan, args.format, dialect::Syntax::Json, &host.catalog());
    io.out.write_all(written.text.as_bytes())?;
    source::describe(made, io);
    if let Some(before) = before {
        let pieces: Vec<_> = Diff::new(before, &made.plan).pieces.iter().map(Difference::description).collect();
        let kept = if made.changes { "" } else { ": it is a plan of its own, not the one that was there changed" };
        io.say(&format!("{}{kept}", counted(pieces.len(), "difference")));
        for piece in &pieces {
            let line = format!("{} {} {} {}", piece.mark.glyph(), piece.sort, piece.subject, piece.field);
            io.say(Plain::line(line.trim_end()).as_str());
        }
    }
    for finding in &findings {
        io.say(&validate::finding_line(finding));
    }
    Ok(exit)
}

fn verdict(made: &MadePlan, findings: &[Finding]) -> Exit {
    if OpenRequest::of(&made.plan).is_empty() { source::verdict(findings) } else { Exit::Invalid }
}

fn as_json(made: &MadePlan, findings: &[Finding]) -> Value {
    let listed: Vec<Value> = findings.iter().map(|finding| json!(finding)).collect();
    let valid = verdict(made, findings) == Exit::Success;
    json!({
        "plan": made.plan, "origin": made.origin, "remarks": made.remarks, "calls": made.calls, "changes": made.changes, "valid": valid,
        "findings": listed,
    })
}
