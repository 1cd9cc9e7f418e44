//! The actions on a run that nobody drives. Each says first what it would change. Those that let something run continue the run, and
//! exit with the state that it halts in; the others are journalled, and the run stays as it is until somebody resumes it.

use super::{
    ActArgs, CliContext, CliError, DriveArgs, EditArgs, Exit, GateArgs, GuideArgs, Io, OverrideArgs, PauseArgs, ReasonArgs, ReleaseArgs,
    RerunArgs, RetryArgs, RewindArgs, RunNodeArgs, RunToArgs, SkipArgs, StepArgs, TargetArgs,
    headless::{StoredRun, flags},
    named,
    run_driver::RunDriver,
    source::{self, PlanDocument},
    validate::warn,
};
use crate::{
    engine::{
        Action, ActionTarget, Command, Event, Impact, Input, NodeFact, NodeImpact, NodeState, Record, RerunReach, Run, Time, WrittenValue,
    },
    host::{Clock, SystemClock, Yes},
    plan::{NodeId, diff::Diff, edit::Edit},
};
use serde_json::json;

/// What a person asks of a stored run.
struct RequestedAction<'a> {
    action: Action,
    why: &'a str,
    act: &'a ActArgs,
    /// Flags of an action that lets something run.
    gates: Option<&'a GateArgs>,
    pause: bool,
    /// A yes is for the nodes that the action starts, and for no others.
    only_started: bool,
}

/// Cancels, stops or holds.
///
/// # Errors
/// When nothing fits, or the run can't be driven.
pub async fn target(make: fn(ActionTarget) -> Action, args: &TargetArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let (stored, target) = found(args, place)?;
    RequestedAction::new(make(target), &args.act).because(&args.reason).of(stored, place, io).await
}

/// Ends a hold, or continues after a breakpoint.
///
/// # Errors
/// When nothing is held, or the run can't be driven.
pub async fn release(args: &ReleaseArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let (stored, target) = found(&args.target, place)?;
    let asked = RequestedAction::new(Action::Release { target }, &args.target.act).because(&args.target.reason).then(&args.go_on);
    asked.of(stored, place, io).await
}

fn found(args: &TargetArgs, place: &CliContext) -> Result<(StoredRun, ActionTarget), CliError> {
    let (run, node) = named::run_and_node(&args.of, place)?;
    let target = match node.map(NodeId::new) {
        None if args.branch => return Err(CliError::usage("`--branch` needs a node").hint("name the node where the branch begins")),
        None => ActionTarget::Run,
        Some(node) if args.branch => ActionTarget::Branch(node),
        Some(node) => ActionTarget::Node(node),
    };
    Ok((StoredRun::find(&run, args.act.json, place)?, target))
}

/// # Errors
/// When it is paused or over.
pub async fn pause(args: &PauseArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let stored = StoredRun::find(&args.of.run, args.act.json, place)?;
    RequestedAction::new(Action::Pause, &args.act).because(&args.reason).of(stored, place, io).await
}

/// Starts one node or makes one held call, and says which.
///
/// # Errors
/// When nothing can go, or the run can't be driven.
pub async fn step(args: &StepArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let (run, node) = named::run_and_node(&args.of, place)?;
    let stored = StoredRun::find(&run, args.act.json, place)?;
    let action = Action::Step { node: node.map(NodeId::new) };
    RequestedAction::new(action, &args.act).because(&args.reason).starting(&args.gates).of(stored, place, io).await
}

/// Runs what a node needs, and pauses before it.
///
/// # Errors
/// When it has started, or the run can't be driven.
pub async fn run_to(args: &RunToArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let stored = StoredRun::find(&args.of.run, args.act.json, place)?;
    let action = Action::RunTo { node: NodeId::new(&args.of.node) };
    RequestedAction::new(action, &args.act).because(&args.reason).starting(&args.gates).of(stored, place, io).await
}

/// Runs a node again.
///
/// # Errors
/// When it isn't over, or the run can't be driven.
pub async fn rerun(args: &RerunArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let scope = if args.alone { RerunReach::Alone } else { RerunReach::Downstream };
    at_node(|node| Action::Rerun { node, scope }, &args.node.node, Some(&args.node.go_on), place, io).await
}

/// Tries a node again that ended badly.
///
/// # Errors
/// When it didn't, or the run can't be driven.
pub async fn retry(args: &RetryArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    at_node(|node| Action::Retry { node }, &args.node, Some(&args.go_on), place, io).await
}

/// # Errors
/// When the node is over, or the run can't be driven.
pub async fn skip(args: &SkipArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    at_node(|node| Action::Skip { node }, args, None, place, io).await
}

/// Sets a node's result, or marks it done.
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
    at_node(|node| Action::Override { node, value }, &args.node, None, place, io).await
}

async fn at_node(
    make: impl FnOnce(NodeId) -> Action,
    args: &SkipArgs,
    go_on: Option<&DriveArgs>,
    place: &CliContext,
    io: &mut Io<'_>,
) -> Result<Exit, CliError> {
    let stored = StoredRun::find(&args.of.run, args.act.json, place)?;
    let asked = RequestedAction::new(make(NodeId::new(&args.of.node)), &args.act).because(&args.reason);
    let asked = match go_on {
        Some(go_on) => asked.then(go_on),
        None => asked,
    };
    asked.of(stored, place, io).await
}

/// Sends a message to an agent.
///
/// # Errors
/// When the node takes none, or the run can't be driven.
pub async fn guide(args: &GuideArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let RunNodeArgs { run, node } = &args.of;
    let stored = StoredRun::find(run, args.act.json, place)?;
    let action = Action::Guide { node: NodeId::new(node), text: args.message.clone() };
    RequestedAction::new(action, &args.act).of(stored, place, io).await
}

/// Rejects a result with feedback.
///
/// # Errors
/// When there is no such way back, or the run can't be driven.
pub async fn rewind(args: &RewindArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let stored = StoredRun::find(&args.of.run, args.act.json, place)?;
    let node = NodeId::new(&args.of.node);
    let to = args.to.as_ref().map_or_else(|| node.clone(), NodeId::new);
    let action = Action::Rewind { node, to, feedback: args.message.clone() };
    RequestedAction::new(action, &args.act).then(&args.go_on).of(stored, place, io).await
}

/// Makes the plan of a run like the one in a file, as far as it has not run.
///
/// # Errors
/// When the file holds no plan, nothing differs, an edit is refused, or the run can't be driven.
pub async fn edit(args: &EditArgs, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
    let wanted = PlanDocument::open(&args.file, io)?;
    let stored = StoredRun::find(&args.of.run, args.act.json, place)?;
    let edits = edits(&stored.state, &wanted, io)?;
    RequestedAction::new(Action::Edit { edits }, &args.act).because(&args.reason).of(stored, place, io).await
}

/// The edits that make one plan of another, each after those that it needs; warnings of that plan are said.
pub(super) fn edits(run: &Run, document: &PlanDocument, io: &mut Io<'_>) -> Result<Vec<Edit>, CliError> {
    let wanted = &document.plan;
    let catalog = run.settings().map(|settings| settings.catalog.clone()).unwrap_or_default();
    let findings = source::findings(wanted, &catalog);
    if let Some(error) = findings.iter().find(|finding| finding.is_error()) {
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
    warn(document, findings, io);
    Ok(edits)
}

/// Journals a breakpoint that comes or goes.
pub(super) async fn set(
    action: Action,
    stored: StoredRun,
    (reason, args): (&ReasonArgs, &ActArgs),
    place: &CliContext,
    io: &mut Io<'_>,
) -> Result<Exit, CliError> {
    RequestedAction::new(action, args).because(reason).of(stored, place, io).await
}

impl<'a> RequestedAction<'a> {
    fn new(action: Action, act: &'a ActArgs) -> Self {
        Self { action, why: "", act, gates: None, pause: false, only_started: false }
    }

    fn because(self, reason: &'a ReasonArgs) -> Self {
        Self { why: &reason.message, ..self }
    }

    fn then(self, go_on: &'a DriveArgs) -> Self {
        Self { gates: Some(&go_on.gates), pause: go_on.pause, ..self }
    }

    fn starting(self, gates: &'a GateArgs) -> Self {
        Self { gates: Some(gates), only_started: true, ..self }
    }

    async fn of(self, stored: StoredRun, place: &CliContext, io: &mut Io<'_>) -> Result<Exit, CliError> {
        let Self { action, why, act, gates, pause, only_started } = self;
        let mut flags = gates.map(flags).transpose()?;
        if let Some(flags) = flags.as_mut().filter(|flags| only_started && flags.yes == Yes::Given) {
            flags.yes = Yes::ToStarted;
        }
        for node in nodes_of(&action) {
            named::node(node.as_str(), &stored.run.0, &stored.state, &stored.records)?;
        }
        let now = SystemClock.now();
        let driver = RunDriver::of((&stored.run, &stored.state), act.dry_run, place).await?;
        let state = driver.state(&stored.state, now);
        let command = Command::Act { action: Box::new(action.clone()), why: why.to_owned() };
        if let Some(why) = state.refusal(&command) {
            return Err(CliError::new(format!("can't {}: {why}", refused(&action, &why, &state))));
        }
        let mut impact = state.impact(&action, now);
        // What the run starts by going on is not the action's doing.
        let mut anyway = state.clone();
        anyway.step(&Input::Proceed, now);
        impact.retain(NodeImpact::Starts, |id| anyway.node(id).is_none_or(|node| node.state != NodeState::Running));
        if act.dry_run {
            return print_impact(&action, &impact, act.json, io);
        }
        for (_, line) in impact.lines() {
            io.say(line.as_str());
        }
        let Some(flags) = flags.filter(|_| !pause) else {
            let commands = if pause { with_pause(&stored.state, vec![command]) } else { vec![command] };
            return stored.record(&driver, commands, &format!("recorded: {}", action.label()), io).await;
        };
        let ended = stored.advance(&driver, vec![command], &flags, io).await?;
        if let Action::Step { .. } = action {
            io.say(&stepped(&ended.state, &place.store()?.records(&stored.run)?[stored.records.len()..]));
        }
        stored.finish(&ended, io)
    }
}

/// What a step started, as it is now.
fn stepped(state: &Run, new: &[Record]) -> String {
    let started = new.iter().filter(|record| matches!(record.event, Event::Node { fact: NodeFact::Started { .. }, .. }));
    let ran: Vec<String> = started
        .filter_map(|record| {
            let id = record.event.node()?;
            Some(format!("{id} ({})", state.node(id)?.state.word()))
        })
        .collect();
    if ran.is_empty() { "nothing started".to_owned() } else { format!("ran {}", ran.join(", ")) }
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

/// The commands of a run that does not go on: it pauses first, so that the action is the newest thing to undo, or, where it is over until
/// the action is sent, behind that.
pub(super) fn with_pause(state: &Run, commands: Vec<Command>) -> Vec<Command> {
    let pause = || vec![Command::act(Action::Pause)];
    let ways = [[pause(), commands.clone()].concat(), [commands.clone(), pause()].concat()];
    ways.into_iter().find(|way| state.refusal_of(way, Time(0)).is_none()).unwrap_or(commands)
}

/// What an action would change, and nothing else.
fn print_impact(action: &Action, impact: &Impact, as_json: bool, io: &mut Io<'_>) -> Result<Exit, CliError> {
    if as_json {
        let Impact { lost, ends, .. } = impact;
        let lost = json!({"tokens": lost.tokens, "cost_usd": lost.cost_usd, "time_ms": lost.work_ms.unwrap_or_default()});
        let mut value = json!({ "verb": action, "lost": lost, "ends": ends });
        NodeImpact::all().for_each(|kind| value[kind.key()] = json!(impact.nodes(kind)));
        io.json(&value)?;
        return Ok(Exit::Success);
    }
    let lines = impact.lines();
    let what = if lines.is_empty() { "; no node changes now" } else { "; this would change:" };
    io.line(&format!("would {}{what}", action.label()))?;
    lines.iter().try_for_each(|(_, line)| io.line(&format!("  {}", line.as_str())))?;
    Ok(Exit::Success)
}
