//! `dagdeck approve`, `reject`, `answer`: decides a gate of a run that nobody drives, and goes on with it.

use super::{AnswerArgs, ApproveArgs, DecideArgs, Exit, Failure, Io, Place, RejectArgs, headless::Drive, ls::short, named};
use crate::engine::{Command, Decision, Gate, GateId};
use serde_json::Value;

/// Approves a gate, as it is or with another payload.
///
/// # Errors
/// When there is no such open gate, the payload doesn't fit, or the run can't go on.
pub async fn approve(args: &ApproveArgs, place: &Place, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let decision = match &args.payload {
        None => Decision::Approve,
        Some(text) => {
            let payload = serde_json::from_str(text)
                .map_err(|error| Failure::usage(format!("`--payload` is not JSON: {error}")).hint("write it as it was shown, changed"))?;
            Decision::Modify { payload }
        }
    };
    decide(&args.decide, decision, place, io).await
}

/// Rejects a gate.
///
/// # Errors
/// When there is no such open gate, or the run can't go on.
pub async fn reject(args: &RejectArgs, place: &Place, io: &mut Io<'_>) -> Result<Exit, Failure> {
    decide(&args.decide, Decision::Reject { message: args.message.clone() }, place, io).await
}

/// Answers a question; the value is JSON where it parses as such, else text.
///
/// # Errors
/// When there is no such open question, the answer doesn't fit, or the run can't go on.
pub async fn answer(args: &AnswerArgs, place: &Place, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let value = serde_json::from_str(&args.value).unwrap_or_else(|_| Value::String(args.value.clone()));
    decide(&args.decide, Decision::Answer { value }, place, io).await
}

async fn decide(args: &DecideArgs, decision: Decision, place: &Place, io: &mut Io<'_>) -> Result<Exit, Failure> {
    let drive = Drive::find(&args.run, &args.gates, args.json, place)?;
    let gate = find(&drive, args.gate.as_deref())?;
    let command = Command::Decide { gate: gate.id, decision, hash: gate.hash.clone() };
    drive.resume(vec![command], place, io).await
}

/// The open gate that is meant: by its number, by its node, or the only one.
fn find<'r>(drive: &'r Drive, name: Option<&str>) -> Result<&'r Gate, Failure> {
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
        ([], None) => Err(Failure::new(format!("run `{}` has no open gate", short(id)))),
        (_, _) => Err(told(format!("{} gates are open: say which", fitting.len()), &open)),
    }
}

/// What is wrong, with the gates that are open.
fn told(message: String, open: &[String]) -> Failure {
    let failure = Failure::new(message);
    if open.is_empty() { failure } else { failure.hint(format!("open gates: {}", open.join(", "))) }
}
