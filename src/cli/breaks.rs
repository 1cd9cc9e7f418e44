//! `dagdeck break`: sets, lists and removes the breakpoints of a stored run.

use super::{BreakArgs, CliContext, CliError, Exit, Io, act, headless::StoredRun, named};
use crate::{
    engine::{Action, BreakId, Run},
    plan::{Breakpoint, NodeId},
    text::Plain,
};
use serde_json::{Value, json};

/// # Errors
/// When there is no such run, node or breakpoint, the condition can't be read, or the run can't be driven.
pub async fn breakpoint(args: &BreakArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let has = |run: &Run, name: &str| name.contains('*') || run.node(&NodeId::new(name)).is_some();
    let (run, node) = named::run_and_part(args.run.as_deref(), args.part.as_deref(), has, place)?;
    let stored = StoredRun::find(&run, args.act.json, place)?;
    let known = |number: u32, disabled: bool| {
        let point = stored.state.breakpoints().find(|(id, _)| id.0 == number).map(|(_, point)| point.clone());
        let with = point.ok_or_else(|| CliError::new(format!("there is no breakpoint {number}")).hint("`dagdeck break` lists them"))?;
        Ok::<_, CliError>(Action::Rebreak { point: BreakId(number), with: Breakpoint { disabled, ..with } })
    };
    let action = match (args.remove, args.disable, args.enable) {
        (Some(number), _, _) => Action::Unbreak { point: BreakId(number) },
        (None, Some(number), _) => known(number, true)?,
        (None, None, Some(number)) => known(number, false)?,
        (None, None, None) if node.is_none() && args.when.is_none() => return list(&stored.state, args.act.json, io),
        (None, None, None) => {
            let (node, when) = (node.map(str::to_owned), args.when.clone());
            Action::Break { point: Breakpoint { at: args.at, node, when, disabled: false } }
        }
    };
    act::set(action, stored, (&args.reason, &args.act), place, io).await
}

fn list(run: &Run, as_json: bool, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let points: Vec<Value> = run.breakpoints().map(|(id, point)| json!({"number": id.0, "breakpoint": point})).collect();
    if as_json {
        io.json(&json!(points))?;
    } else if points.is_empty() {
        let is_over = run.outcome().is_some();
        io.say(if is_over {
            "no breakpoints, and none can be set: the run has ended"
        } else {
            "no breakpoints; `dagdeck break NODE` sets one"
        });
    }
    for (id, point) in run.breakpoints().filter(|_| !as_json) {
        let disabled = if point.disabled { "  (disabled)" } else { "" };
        io.line(&format!("{:>3}  {}{disabled}", id.0, Plain::line(&point.label())))?;
    }
    Ok(Exit::Success)
}
