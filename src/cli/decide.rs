//! `dagdeck approve`, `reject`, `answer`: reply to a gate of a stored run, and continue the run. And `replan`, which opens one.

use super::{
    AnswerArgs, ApproveArgs, CliContext, CliError, DecideArgs, Exit, Io, RejectArgs, ReplanArgs, RuleArgs,
    headless::{StoredRun, flags},
    ls::short,
    named,
    permissions::propose,
};
use crate::{
    engine::{Command, Gate, GateId, GateKind, GateReply, Run, WrittenValue},
    plan::{NodeId, dialect::exact_json},
    store::SHORTEST_NAME,
};
use serde_json::Value;

/// Approves a gate, with the payload shown or a changed one.
///
/// # Errors
/// When there is no such open gate, the payload doesn't fit, or the run can't continue.
pub async fn approve(args: &ApproveArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let reply = match &args.payload {
        None if !args.piece.is_empty() => GateReply::Modify { payload: pieces(args, place, io)? },
        None => GateReply::Approve,
        Some(text) => {
            let payload = exact_json(text).map_err(|error| {
                CliError::usage(format!("`--payload` is not JSON: {error}")).hint("copy the payload that was shown and change it")
            })?;
            GateReply::Modify { payload }
        }
    };
    reply_to((&args.decide, Some(&args.rule)), (reply, &args.message), place, io).await
}

/// Rejects a gate.
///
/// # Errors
/// When there is no such open gate, or the run can't continue.
pub async fn reject(args: &RejectArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    reply_to((&args.decide, Some(&args.rule)), (GateReply::Reject { message: args.message.clone() }, ""), place, io).await
}

/// Answers a question; the value is JSON if it parses, otherwise text.
///
/// # Errors
/// When there is no such open question, the answer doesn't fit, or the run can't continue.
pub async fn answer(args: &AnswerArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let value = WrittenValue::read(&args.message).map_or_else(|_| Value::String(args.message.clone()), WrittenValue::value);
    reply_to((&args.decide, None), (GateReply::Answer { value }, ""), place, io).await
}

/// Some pieces of a new plan, by the numbers that they are shown with.
fn pieces(args: &ApproveArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Value, CliError> {
    let (stored, name) = asked(&args.decide, place)?;
    let gate = find(&stored, name.as_deref(), false)?;
    let shown = gate.payload.as_array().filter(|_| matches!(gate.kind, GateKind::Replan { .. }));
    let Some(shown) = shown else {
        return Err(CliError::new(format!("gate {} at `{}` proposes no new plan, so it has no pieces", gate.id.0, gate.node)));
    };
    let mut numbers = args.piece.clone();
    numbers.sort_unstable();
    numbers.dedup();
    let piece = |number: &usize| number.checked_sub(1).and_then(|at| shown.get(at)).cloned();
    let pieces: Option<Vec<Value>> = numbers.iter().map(piece).collect();
    let left = shown.iter().enumerate().filter(|(at, _)| !numbers.contains(&(at + 1)));
    let left: Vec<String> = left.map(|(at, piece)| format!("{} ({})", at + 1, piece["piece"].as_str().unwrap_or_default())).collect();
    if pieces.is_some() && !left.is_empty() {
        io.say(&format!("left out of the new plan, so that nothing waits for it: {}", left.join(", ")));
    }
    pieces.map(Value::Array).ok_or_else(|| CliError::usage(format!("the new plan has the pieces 1 to {}", shown.len())))
}

/// Has the planner propose a new plan, and goes on with the run until it waits for a reply to that.
///
/// # Errors
/// When no new plan can be made now, or the run can't be driven.
pub async fn replan(args: &ReplanArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let stored = StoredRun::find(&args.of.run, args.json, place)?;
    let command = Command::Replan { guidance: args.message.clone() };
    stored.resume(vec![command], &flags(&args.gates)?, place, io).await
}

async fn reply_to(
    (args, rule): (&DecideArgs, Option<&RuleArgs>),
    (reply, message): (GateReply, &str),
    place: &CliContext,
    io: &mut Io<'_>,
) -> Result<Exit, CliError> {
    let flags = flags(&args.gates)?;
    let (stored, name) = asked(args, place)?;
    let gate = find(&stored, name.as_deref(), matches!(reply, GateReply::Answer { .. }))?;
    let run = stored.run.0.clone();
    if matches!((&reply, &gate.kind), (GateReply::Answer { .. }, GateKind::Approval | GateKind::Review)) {
        let (name, node) = (short(&run), &gate.node);
        let (yes, no) = (format!("dagdeck approve {name} {}", gate.id.0), format!("dagdeck reject {name} {}", gate.id.0));
        let hint = format!("`{yes}` or `{no}`; `dagdeck override {name} {node}` sets a result instead of running it");
        return Err(CliError::new(format!("gate {} at `{node}` takes a yes or a no, not an answer", gate.id.0)).hint(hint));
    }
    let is_approval = reply == GateReply::Approve;
    let command = Command::Decide { gate: gate.id, decision: reply.clone(), hash: gate.hash.clone(), message: message.to_owned() };
    if let Some(why) = stored.state.refusal(&command).filter(|_| is_approval && gate.kind.wants_answer()) {
        let hint = format!("`dagdeck answer {} {} -m ANSWER` answers it", short(&run), gate.id.0);
        return Err(CliError::new(format!("can't approve gate {} at `{}`: {why}", gate.id.0, gate.node)).hint(hint));
    }
    let refused = stored.state.refusal(&command).is_some();
    let made = match rule.filter(|_| !refused) {
        Some(rule) => rule.keep((&stored.run, &stored.state), (gate, &reply), place, io)?,
        None => None,
    };
    let is_ruled = made.is_some();
    let ended = stored.resume(vec![command], &flags, place, io).await;
    if ended.is_ok() && rule.is_some() && !is_ruled {
        propose((&stored.run, &stored.state), (gate, &reply), place, io);
    }
    made.filter(|_| ended.is_err()).into_iter().for_each(|rule| rule.take_back(io));
    ended
}

/// The run, and what names its gate.
fn asked(args: &DecideArgs, place: &CliContext) -> Result<(StoredRun, Option<String>), CliError> {
    let is_gate = |run: &Run, name: &str| name.parse().is_ok_and(|number| name.len() < SHORTEST_NAME || run.gate(GateId(number)).is_some());
    let has = |run: &Run, name: &str| is_gate(run, name) || run.node(&NodeId::new(name)).is_some();
    let (run, gate) = named::run_and_part(args.run.as_deref(), args.part.as_deref(), has, place)?;
    Ok((StoredRun::find(&run, args.json, place)?, gate.map(str::to_owned)))
}

/// The open gate by its number, by its node, or the only one; for an answer the only question.
fn find<'r>(stored: &'r StoredRun, name: Option<&str>, is_answer: bool) -> Result<&'r Gate, CliError> {
    let (run, id) = (&stored.state, stored.run.0.as_str());
    let fits = |gate: &&Gate| match name {
        None => true,
        Some(name) => name == gate.node.as_str() || name.parse() == Ok(gate.id.0),
    };
    let label = |gate: &Gate| format!("gate {} at `{}`", gate.id.0, gate.node);
    let open: Vec<String> = run.open_gates().map(label).collect();
    let fitting: Vec<&Gate> = run.open_gates().filter(fits).collect();
    let questions: Vec<&Gate> = fitting.iter().copied().filter(|gate| gate.kind.question().is_some()).collect();
    match (&fitting[..], name) {
        ([gate], _) => Ok(gate),
        (_, None) if is_answer && questions.len() == 1 => Ok(questions[0]),
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
        (_, _) => Err(with_open_gates(format!("{} gates are open; say which", fitting.len()), &open)),
    }
}

fn with_open_gates(message: String, open: &[String]) -> CliError {
    let failure = CliError::new(message);
    if open.is_empty() { failure } else { failure.hint(format!("open: {}", open.join(", "))) }
}
