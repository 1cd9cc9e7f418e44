//! `dagdeck approve`, `reject`, `answer`: decides a gate of a run that nobody drives, and goes on with it.

use super::{AnswerArgs, ApproveArgs, CliContext, CliError, DecideArgs, Exit, Io, RejectArgs, headless::StoredRun, ls::short, named};
use crate::engine::{Command, Gate, GateId, GateReply};
use serde_json::Value;

/// Approves a gate, as it is or with another payload.
///
/// # Errors
/// When there is no such open gate, the payload doesn't fit, or the run can't go on.
pub async fn approve(args: &ApproveArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let decision = match &args.payload {
        None => GateReply::Approve,
        Some(text) => {
            let payload = serde_json::from_str(text)
                .map_err(|error| CliError::usage(format!("`--payload` is not JSON: {error}")).hint("write it as it was shown, changed"))?;
            GateReply::Modify { payload }
        }
    };
    decide(&args.decide, decision, place, io).await
}

/// Rejects a gate.
///
/// # Errors
/// When there is no such open gate, or the run can't go on.
pub async fn reject(args: &RejectArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    decide(&args.decide, GateReply::Reject { message: args.message.clone() }, place, io).await
}

/// Answers a question; the value is JSON where it parses as such, else text.
///
/// # Errors
/// When there is no such open question, the answer doesn't fit, or the run can't go on.
pub async fn answer(args: &AnswerArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let value = serde_json::from_str(&args.value).unwrap_or_else(|_| Value::String(args.value.clone()));
    decide(&args.decide, GateReply::Answer { value }, place, io).await
}

async fn decide(args: &DecideArgs, decision: GateReply, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let drive = StoredRun::find(&args.run, &args.gates, args.json, place)?;
    let gate = find(&drive, args.gate.as_deref())?;
    let command = Command::Decide { gate: gate.id, decision, hash: gate.hash.clone() };
    drive.resume(vec![command], place, io).await
}

/// The open gate that is meant: by its number, by its node, or the only one.
fn find<'r>(drive: &'r StoredRun, name: Option<&str>) -> Result<&'r Gate, CliError> {
    let (run, id) = (&drive.state, drive.run.0.as_str());
    let fits = |gate: &&Gate| match name {
        None => true,
        Some(name) => name == gate.node.as_str() || name.parse() == Ok(gate.id.0),
    };
    let words = |gate: &Gate| format!("{} at `{}`", gate.id.0, gate.node);
    let open: Vec<String> = run.open_gates().map(words).collect();
    let fitting: Vec<&Gate> = run.open_gates().filter(fits).collect();
    match (&fitting[..], name) {
        ([gate], _) => Ok(gate),
        ([], Some(name)) => match name.parse().ok().and_then(|number| run.gate(GateId(number))) {
            // Whatever is said of it now is refused, with the reason.
            Some((gate, _)) => Ok(gate),
            None if name.parse::<u32>().is_err() => {
                let node = named::node(name, id, run, &drive.records)?;
                Err(told(format!("no gate is open at `{node}`"), &open))
            }
            None => Err(told(format!("run `{}` has no gate {name}", short(id)), &open)),
        },
        ([], None) => Err(CliError::new(format!("run `{}` has no open gate", short(id)))),
        (_, _) => Err(told(format!("{} gates are open: say which", fitting.len()), &open)),
    }
}

/// What is wrong, with the gates that are open.
fn told(message: String, open: &[String]) -> CliError {
    let failure = CliError::new(message);
    if open.is_empty() { failure } else { failure.hint(format!("open gates: {}", open.join(", "))) }
}
