//! `dagdeck plan`: a plan from a request, printed.

use super::{CliContext, CliError, Exit, Io, PlanArgs, source, validate};
use crate::host::client::PlanWish;
use crate::plan::dialect;
use crate::planner::builtin::OpenRequest;
use serde_json::{Value, json};

/// Plans a request and prints the plan. Findings go to stderr, or with `--json` into the JSON.
///
/// # Errors
/// When no plan could be made.
pub async fn plan(args: &PlanArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let request = if args.request == "-" { io.read("-")? } else { args.request.clone() };
    let host = place.host_to_look()?;
    let answer = source::ask(&host, PlanWish::new(request), io).await?;
    let findings = source::findings(&answer.plan, &host.catalog());
    let exit = if OpenRequest::of(&answer.plan).is_empty() { source::verdict(&findings) } else { Exit::Invalid };
    if args.json {
        let listed: Vec<Value> = findings.iter().map(validate::as_json).collect();
        let valid = exit == Exit::Success;
        io.json(&json!({"plan": answer.plan, "origin": answer.origin, "remarks": answer.remarks, "calls": answer.calls, "valid": valid, "findings": listed}))?;
        return Ok(exit);
    }
    let written = dialect::write_as(&answer.plan, args.format, dialect::Syntax::Json, &host.catalog());
    io.out.write_all(written.text.as_bytes())?;
    source::describe(&answer, io);
    for finding in &findings {
        io.say(&validate::finding_line(finding));
    }
    Ok(exit)
}
