//! `dagdeck approve`, `reject`, `answer`: reply to a gate of a stored run, and continue the run.

use super::{AnswerArgs, ApproveArgs, CliContext, CliError, DecideArgs, Exit, Io, RejectArgs, headless::StoredRun, ls::short, named};
use crate::engine::{Command, Gate, GateId, GateReply};
use serde_json::Value;

/// Approves a gate, with the payload shown or a changed one.
///
/// # Errors
/// When there is no such open gate, the payload doesn't fit, or the run can't continue.
pub async fn approve(args: &ApproveArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let reply = match &args.payload {
        None => GateReply::Approve,
        Some(text) => {
            let payload = serde_json::from_str(text).map_err(|error| {
                CliError::usage(format!("`--payload` is not JSON: {error}")).hint("copy the payload that was shown and change it")
            })?;
            GateReply::Modify { payload }
        }
    };
    reply_to(&args.decide, reply, place, io).await
}

/// Rejects a gate.
///
/// # Errors
/// When there is no such open gate, or the run can't continue.
pub async fn reject(args: &RejectArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    reply_to(&args.decide, GateReply::Reject { message: args.message.clone() }, place, io).await
}

/// Answers a question; the value is JSON if it parses, otherwise text.
///
/// # Errors
/// When there is no such open question, the answer doesn't fit, or the run can't continue.
pub async fn answer(args: &AnswerArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let value = serde_json::from_str(&args.value).unwrap_or_else(|_| Value::String(args.value.clone()));
    reply_to(&args.decide, GateReply::Answer { value }, place, io).await
}

async fn reply_to(args: &DecideArgs, reply: GateReply, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let stored = StoredRun::find(&args.run, &args.gates, args.json, place)?;
    let gate = find(&stored, args.gate.as_deref())?;
    let command = Command::Decide { gate: gate.id, decision: reply, hash: gate.hash.clone() };
    stored.resume(vec![command], place, io).await
}

/// The open gate by its number, by its node, or the only one.
fn find<'r>(stored: &'r StoredRun, name: Option<&str>) -> Result<&'r Gate, CliError> {
    let (run, id) = (&stored.state, stored.run.0.as_str());
    let fits = |gate: &&Gate| match name {
        None => true,
        Some(name) => name == gate.node.as_str() || name.parse() == Ok(gate.id.0),
    };
    let label = |gate: &Gate| format!("{} at `{}`", gate.id.0, gate.node);
    let open: Vec<String> = run.open_gates().map(label).collect();
    let fitting: Vec<&Gate> = run.open_gates().filter(fits).collect();
    match (&fitting[..], name) {
        ([gate], _) => Ok(gate),
        ([], Some(name)) => match name.parse().ok().and_then(|number| run.gate(GateId(number))) {
            // A closed gate: the run refuses the reply and gives the reason.
            Some((gate, _)) => Ok(gate),
            None if name.parse::<u32>().is_err() => {
                let node = named::node(name, id, run, &stored.records)?;
                Err(with_open_gates(format!("no gate is open at `{node}`"), &open))
            }
            None => Err(with_open_gates(format!("run `{}` has no gate {name}", short(id)), &open)),
        },
        ([], None) => Err(CliError::new(format!("run `{}` has no open gate", short(id)))),
        (_, _) => Err(with_open_gates(format!("{} gates are open; name one", fitting.len()), &open)),
    }
}

fn with_open_gates(message: String, open: &[String]) -> CliError {
    let failure = CliError::new(message);
    if open.is_empty() { failure } else { failure.hint(format!("open gates: {}", open.join(", "))) }
}
