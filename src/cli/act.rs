//! The actions that steer a run which nobody drives: each says first what it would change, then the run goes on, or stays paused.

use super::{
    ActArgs, CliContext, CliError, EditArgs, Exit, GuideArgs, Io, NodeArgs, OverrideArgs, PauseArgs, RerunArgs, RewindArgs, TargetArgs,
    UndoArgs, headless::StoredRun, named, source,
};
use crate::{
    engine::{Action, ActionTarget, Command, Impact, Input, NodeState, Outcome, Record, RerunReach, Run, Time, WrittenValue},
    host::{Clock, Headless, HeadlessEnd, SystemClock},
    plan::{
        NodeId, Plan,
        diff::Diff,
        edit::Edit,
        validate::{Severity, validate},
    },
    text::Plain,
};
use serde_json::json;

/// An action that is about nodes, a branch, or the run.
#[derive(Clone, Copy, Debug)]
pub enum Whom {
    Cancel,
    Stop,
    Hold,
    Release,
}

/// Cancels, stops, holds or releases.
///
/// # Errors
/// When nothing fits, or the run can't be driven.
pub async fn target(whom: Whom, args: &TargetArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let target = match (&args.node, args.branch) {
        (None, _) => ActionTarget::Run,
        (Some(node), false) => ActionTarget::Node(NodeId::new(node)),
        (Some(node), true) => ActionTarget::Branch(NodeId::new(node)),
    };
    let action = match whom {
        Whom::Cancel => Action::Cancel { target },
        Whom::Stop => Action::Stop { target },
        Whom::Hold => Action::Hold { target },
        Whom::Release => Action::Release { target },
    };
    act(&args.run, action, &args.act, place, io).await
}

/// Pauses a run.
///
/// # Errors
/// When it is paused or over.
pub async fn pause(args: &PauseArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    act(&args.run, Action::Pause, &args.act, place, io).await
}

/// Undoes the newest action; where that is a pause that was sent together with an action, or the run is to stay paused, the newest one
/// that is no pause.
///
/// # Errors
/// When there is none whose effect has not begun.
pub async fn undo(args: &UndoArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let drive = StoredRun::find(&args.run, &args.on.gates, args.on.json, place)?;
    let Some(words) = taken_back(&drive, args.on.pause) else {
        return Err(CliError::new("nothing can be undone any more"));
    };
    let host = drive.host(args.on.dry_run, place)?;
    if args.on.dry_run {
        if args.on.json {
            io.json(&json!({ "takes_back": words }))?
        } else {
            io.line(&format!("undoes: {}", Plain::line(&words.join(", "))))?
        }
        return Ok(Exit::Success);
    }
    io.say(&format!("undoes: {}", words.join(", ")));
    let pause = Command::act(Action::Pause);
    let mut commands = vec![Command::Undo; words.len()];
    let paused = [commands.clone(), vec![pause]].concat();
    if args.on.pause && drive.state.refusal_of(&paused, SystemClock.now()).is_none() {
        commands = paused;
    }
    let ended = drive.advance(&host, commands, io).await?;
    let exit = drive.finish(&ended, io)?;
    Ok(parked_as_asked(&ended, args.on.pause).unwrap_or(exit))
}

/// The actions that go, the newest first: the newest one, and the one that a pause was sent with, as without its pause that would go on;
/// where the run is to stay paused, the one before its pauses.
fn taken_back(drive: &StoredRun, pauses: bool) -> Option<Vec<String>> {
    let (mut run, mut words, mut pause) = (drive.state.clone(), Vec::new(), None);
    loop {
        let newest = run.undoable().map(|(seq, words)| (seq, words.to_owned()));
        let said_before = |seq: u64| pause.is_some_and(|pause| Record::whole(&drive.records, seq) < pause);
        let Some((seq, newest)) = newest.filter(|(seq, _)| pauses || !said_before(*seq)) else {
            return (!pauses && !words.is_empty()).then_some(words);
        };
        let is_pause = newest == Action::Pause.label();
        words.push(newest);
        if !is_pause {
            return Some(words);
        }
        pause = Some(seq);
        run = Run::replay(drive.records.iter().take_while(|record| record.seq < seq));
    }
}

/// Runs a node again.
///
/// # Errors
/// When it isn't over, or the run can't be driven.
pub async fn rerun(args: &RerunArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let scope = if args.alone { RerunReach::Alone } else { RerunReach::Downstream };
    act(&args.run, Action::Rerun { node: NodeId::new(&args.node), scope }, &args.act, place, io).await
}

/// Tries a node again that ended badly.
///
/// # Errors
/// When it didn't, or the run can't be driven.
pub async fn retry(args: &NodeArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    act(&args.run, Action::Retry { node: NodeId::new(&args.node) }, &args.act, place, io).await
}

/// Never runs a node.
///
/// # Errors
/// When it is over, or the run can't be driven.
pub async fn skip(args: &NodeArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    act(&args.run, Action::Skip { node: NodeId::new(&args.node) }, &args.act, place, io).await
}

/// Gives a node's result, or marks it done.
///
/// # Errors
/// When the result doesn't fit, or the run can't be driven.
pub async fn overrule(args: &OverrideArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let given = args.value.as_ref().map(|text| WrittenValue::read(text)).transpose().map_err(|why| {
        CliError::new(format!("the result is not valid: {why}")).hint("put text that starts with {, [ or \" in quotes, as a JSON string")
    })?;
    if let Some(WrittenValue::Text(_)) = &given {
        io.say("the result is not JSON, so it is used as text");
    }
    let value = given.map(WrittenValue::value).unwrap_or_default();
    act(&args.run, Action::Override { node: NodeId::new(&args.node), value }, &args.act, place, io).await
}

/// Says something to a node.
///
/// # Errors
/// When it takes no words, or the run can't be driven.
pub async fn guide(args: &GuideArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    act(&args.run, Action::Guide { node: NodeId::new(&args.node), text: args.text.clone() }, &args.act, place, io).await
}

/// Rejects a result with feedback.
///
/// # Errors
/// When there is no such way back, or the run can't be driven.
pub async fn rewind(args: &RewindArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let node = NodeId::new(&args.node);
    let to = args.to.as_ref().map_or_else(|| node.clone(), NodeId::new);
    act(&args.run, Action::Rewind { node, to, feedback: args.feedback.clone() }, &args.act, place, io).await
}

/// Makes the plan of a run like the one in a file, as far as it has not run.
///
/// # Errors
/// When the file holds no plan, nothing differs, an edit is refused, or the run can't be driven.
pub async fn edit(args: &EditArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let wanted = source::read(&args.file, io)?;
    let drive = StoredRun::find(&args.run, &args.act.on.gates, args.act.on.json, place)?;
    let edits = edits(&drive.state, &wanted)?;
    carry(drive, Action::Edit { edits }, &args.act, place, io).await
}

/// The edits that make one plan of another, each after those that it needs.
pub(super) fn edits(run: &Run, wanted: &Plan) -> Result<Vec<Edit>, CliError> {
    let catalog = run.settings().map(|settings| settings.catalog.clone()).unwrap_or_default();
    let findings = validate(wanted, &catalog);
    if let Some(error) = findings.iter().find(|finding| finding.severity == Severity::Error) {
        return Err(CliError::invalid(format!("the plan in the file can't run: {}", error.message))
            .hint("`dagdeck validate FILE` lists all findings"));
    }
    let mut plan = run.plan().cloned().unwrap_or_default();
    let diff = Diff::new(&plan, wanted);
    let mut edits = Vec::new();
    for at in diff.order() {
        let refused = |error: crate::plan::edit::EditError| CliError::invalid(format!("the plan can't be changed like this: {error}"));
        let edit = diff.pieces[at].edit(&plan).map_err(refused)?;
        edit.apply(&mut plan).map_err(refused)?;
        edits.push(edit);
    }
    if edits.is_empty() {
        return Err(CliError::new("the plan in the file is the same as the run's plan"));
    }
    Ok(edits)
}

async fn act(run: &str, action: Action, args: &ActArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let drive = StoredRun::find(run, &args.on.gates, args.on.json, place)?;
    carry(drive, action, args, place, io).await
}

async fn carry(drive: StoredRun, action: Action, args: &ActArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    for node in nodes_of(&action) {
        named::node(node.as_str(), &drive.run.0, &drive.state, &drive.records)?;
    }
    let now = SystemClock.now();
    let host = drive.host(args.on.dry_run, place)?;
    let state = drive.state.without_driver(now);
    let command = Command::Act { action: Box::new(action.clone()), why: args.why.clone() };
    if let Some(why) = state.refusal(&command) {
        return Err(CliError::new(format!("can't {}: {why}", refused(&action, &why, &state))));
    }
    let mut impact = state.impact(&action, now);
    // What the run starts by going on is not the action's doing.
    let mut anyway = state.clone();
    anyway.step(&Input::Proceed, now);
    impact.starts.retain(|id| anyway.node(id).is_none_or(|node| node.state != NodeState::Running));
    if args.on.dry_run {
        return print_impact(&action, &impact, args.on.json, io);
    }
    for (_, line) in impact.lines() {
        io.say(line.as_str());
    }
    let (pauses, cancels) = (action == Action::Pause, action == Action::Cancel { target: ActionTarget::Run });
    let commands = if args.on.pause && !pauses { with_pause(&drive.state, vec![command]) } else { vec![command] };
    let ended = drive.advance(&host, commands, io).await?;
    let exit = drive.finish(&ended, io)?;
    Ok(match &ended.end {
        HeadlessEnd::Settled { outcome: Outcome::Cancelled, .. } if cancels => Exit::Success,
        HeadlessEnd::Frozen(_) | HeadlessEnd::Stopped(_) => exit,
        HeadlessEnd::Settled { .. } | HeadlessEnd::Parked(_) => parked_as_asked(&ended, pauses || args.on.pause).unwrap_or(exit),
    })
}

/// What is refused, in words: of several edits the one that can't be.
fn refused(action: &Action, why: &str, state: &Run) -> String {
    let Action::Edit { edits } = action else { return action.label() };
    let mut alone = edits.iter().map(|edit| Action::Edit { edits: vec![edit.clone()] });
    let refused = alone.find(|action| state.refusal(&Command::act(action.clone())).as_deref() == Some(why));
    refused.map_or_else(|| "change the plan like this".to_owned(), |action| action.label())
}

/// The nodes that an action names.
fn nodes_of(action: &Action) -> impl Iterator<Item = &NodeId> {
    let to = if let Action::Rewind { to, .. } = action { Some(to) } else { None };
    action.node().into_iter().chain(to)
}

/// Success, where a run stands still as its person wanted.
pub(super) fn parked_as_asked(ended: &Headless, pauses: bool) -> Option<Exit> {
    match &ended.end {
        HeadlessEnd::Parked(_) if pauses => Some(Exit::Success),
        HeadlessEnd::Settled { .. } | HeadlessEnd::Frozen(_) | HeadlessEnd::Stopped(_) | HeadlessEnd::Parked(_) => None,
    }
}

/// The same, and the run does not go on: it pauses first, so that the action is the newest thing to undo, or, where it is over until
/// the action is sent, behind that.
pub(super) fn with_pause(state: &Run, commands: Vec<Command>) -> Vec<Command> {
    let pause = || vec![Command::act(Action::Pause)];
    let ways = [[pause(), commands.clone()].concat(), [commands.clone(), pause()].concat()];
    ways.into_iter().find(|way| state.refusal_of(way, Time(0)).is_none()).unwrap_or(commands)
}

/// What an action would change, and nothing else.
fn print_impact(action: &Action, impact: &Impact, as_json: bool, io: &mut Io<'_>) -> Result<Exit, CliError> {
    if as_json {
        let Impact { stops, wraps, skips, cancels, reruns, holds, starts, voids, stale, lost, ends } = impact;
        io.json(&json!({
            "verb": action, "stops": stops, "wraps": wraps, "skips": skips, "cancels": cancels, "reruns": reruns,
            "holds": holds, "starts": starts, "voids": voids, "stale": stale,
            "lost": {"tokens": lost.tokens, "cost_usd": lost.cost_usd, "time_ms": lost.work_ms.unwrap_or_default()}, "ends": ends,
        }))?;
        return Ok(Exit::Success);
    }
    let lines = impact.lines();
    if lines.is_empty() {
        io.line("no node changes at once")?;
    }
    lines.iter().try_for_each(|(_, line)| io.line(line.as_str()))?;
    Ok(Exit::Success)
}
