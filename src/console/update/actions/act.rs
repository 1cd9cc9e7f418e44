//! Actions on a run: what can be done, what it would change, and sending it. An action that ends, skips or repeats work is shown first and
//! asked; one that only steers is sent at once. Either can be undone until its effect begins.

use serde_json::Value;

use super::super::{TOO_FAST, UpdateTurn};
use crate::console::commands::guards::run_present;
use crate::console::model::{Dialog, EditThen, LineThen, Model, Offer, PickItem, PickThen, Proposal, RunView, Status, TextField, texts};
use crate::engine::{Action, ActionTarget, Command, HeldAt, NodeImpact, NodeState, RerunReach, Run, StateGroup, WrittenValue};
use crate::host::client::Request;
use crate::plan::{NodeId, Verdict};
use crate::text::Plain;

/// Sends an action, or shows first what it would change.
///
/// # Errors
/// Why it can't be done, for people.
pub fn propose(model: &mut Model, turn: &mut UpdateTurn, action: Action) -> Result<Proposed, String> {
    let view = model.shown_run().ok_or("no run is shown")?;
    let run = &view.newest().run;
    if let Some(why) = run.refusal(&Command::act(action.clone())) {
        return Err(why);
    }
    let id = view.id.clone();
    let proposal = Proposal::new(id, view.newest(), action, turn.now);
    if asks(&proposal, run.outcome().is_some()) && !asks_itself(model, &proposal) {
        model.dialogs.push(Dialog::Act(Box::new(proposal)));
        return Ok(Proposed::Asked);
    }
    turn.send(Request::Command { run: proposal.run.clone(), command: proposal.command() });
    Ok(Proposed::Sent)
}

/// What became of an action that was proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proposed {
    /// It went to the host.
    Sent,
    /// What it would change is shown first.
    Asked,
}

/// Whether an action is shown before it is done: where it ends, skips, starts or repeats work, where it does harm, and where it would change
/// a run that is over.
fn asks(proposal: &Proposal, is_over: bool) -> bool {
    let is_broad = match proposal.action {
        Action::Cancel { .. }
        | Action::Stop { .. }
        | Action::Retry { .. }
        | Action::Rerun { .. }
        | Action::Skip { .. }
        | Action::Override { .. }
        | Action::Rewind { .. } => true,
        Action::Edit { .. } => is_over || !proposal.impact.nodes(NodeImpact::Starts).is_empty(),
        Action::Hold { .. }
        | Action::Release { .. }
        | Action::Guide { .. }
        | Action::Pause
        | Action::Resume
        | Action::Step { .. }
        | Action::RunTo { .. }
        | Action::StepInto { .. }
        | Action::Break { .. }
        | Action::Unbreak { .. }
        | Action::Rebreak { .. } => false,
    };
    is_broad || !proposal.impact.is_harmless()
}

/// Whether what the action does is asked again before anything happens: a retry of a tool that asks before each call. One question is enough.
fn asks_itself(model: &Model, proposal: &Proposal) -> bool {
    let Action::Retry { node } = &proposal.action else { return false };
    // What follows from it and never ran is no loss; anything else that is done again is asked about first.
    let is_new = |kind: &NodeImpact| {
        matches!(kind, NodeImpact::Runs | NodeImpact::Starts | NodeImpact::Succeeds | NodeImpact::Passes | NodeImpact::Skips)
    };
    let mut others = NodeImpact::all().filter(|kind| !is_new(kind)).flat_map(|kind| proposal.impact.nodes(kind));
    let never_ran = proposal.impact.nodes(NodeImpact::Runs);
    if others.any(|other| other != node && !never_ran.contains(other)) {
        return false;
    }
    let has_failed = model.shown_run().and_then(|view| view.newest().state(node)).is_some_and(NodeState::has_failed);
    let tool = model.addressed().node(node).and_then(|node| node.kind.tool());
    has_failed && tool.and_then(|work| model.session.catalog.tool(&work.tool)).is_some_and(|tool| tool.verdict == Verdict::Ask)
}

/// Proposes, and says why not where it can't be done.
pub fn attempt(model: &mut Model, turn: &mut UpdateTurn, action: Action) {
    let words = action.label();
    if let Err(why) = propose(model, turn, action) {
        model.status = Some(Status::warn(&format!("can't {words}: {why}")));
    }
}

/// Looks again at what is proposed to runs that went on meanwhile.
pub fn refresh(model: &mut Model) {
    for dialog in &mut model.dialogs {
        if let Dialog::Act(proposal) = dialog
            && let Some(view) = model.runs.get(&proposal.run)
        {
            proposal.refresh(view.newest());
        }
    }
}

/// Sends the action that is shown.
pub fn yes(model: &mut Model, turn: &mut UpdateTurn) {
    if turn.in_burst {
        return model.status = Some(Status::warn(TOO_FAST));
    }
    refresh(model);
    let Some(Dialog::Act(proposal)) = model.dialogs.pop() else { return };
    match &proposal.refused {
        Some(why) => model.status = Some(Status::warn(why)),
        None => {
            turn.send(Request::Command { run: proposal.run.clone(), command: proposal.command() });
            // The text that it came of is done with.
            model.dialogs.pop_if(|dialog| matches!(dialog, Dialog::Editor(_)));
        }
    }
}

/// Asks for words of why.
pub fn why(model: &mut Model, _: &mut UpdateTurn) {
    let Some(Dialog::Act(proposal)) = model.dialogs.last() else { return };
    let field = TextField::line(&proposal.why);
    model.dialogs.push(Dialog::line("why? The journal keeps it with the action", field, "", LineThen::Why));
}

/// Words of why were typed.
pub fn keep_why(model: &mut Model, text: &str) {
    if let Some(Dialog::Act(proposal)) = model.dialogs.last_mut() {
        text.trim().clone_into(&mut proposal.why);
    }
}

/// Undoes the newest action.
pub fn undo(model: &mut Model, turn: &mut UpdateTurn) {
    if let Some(view) = model.shown_run() {
        turn.send(Request::Command { run: view.id.clone(), command: Command::Undo });
    }
}

/// What can be done: what it is called, what it does, and the command that does the same by key.
type OfferRow = (&'static str, &'static str, &'static str, Offer);

/// All that can be done with the selected node, and with the run.
fn offers(model: &Model) -> [(&'static str, Vec<OfferRow>); 2] {
    let (mut of_one, mut offers) = (Vec::new(), Vec::new());
    if let Some((view, node)) = model.shown_run().zip(model.selected_id()) {
        if view.newest().state(node).is_some_and(|state| matches!(state.group(), StateGroup::NotRun | StateGroup::Ahead)) {
            of_one.push(("Why it isn't running", "what it waits for, or what kept it from running", "act.why", Offer::Why));
        }
        of_one.extend(of_node(node, &retry_or_rerun(&view.newest().run, node)));
    }
    let run = || ActionTarget::Run;
    let mut say = |label, words, key, action| offers.push((label, words, key, Offer::Act(action)));
    // One key does both: what it does now is offered.
    match model.shown_run().map(RunView::pacing) {
        Some(Action::Resume) => say("Resume the run", "goes on, also after breakpoints", "act.pause", Action::Resume),
        Some(_) | None => say("Pause the run", "no node starts until you resume it; running nodes finish", "act.pause", Action::Pause),
    }
    say("Step", "runs one node, then pauses", "", Action::Step { node: None });
    say("Hold every node", "each starts only once you release it, alone or with all others", "", Action::Hold { target: run() });
    say("Release every node", "ends all holds", "", Action::Release { target: run() });
    offers.push(("Breakpoints", "the list: add, change, remove", "act.breaks", Offer::Breaks));
    offers.push(("Undo the last action", "works until the action takes effect", "act.undo", Offer::Undo));
    let mut say = |label, words, key, action| offers.push((label, words, key, Offer::Act(action)));
    say(
        "Stop the run early, with what it has",
        "agents end with what they have so far; nothing else starts",
        "",
        Action::Stop { target: run() },
    );
    say("Cancel the run, without a result", "ends everything now", "run.cancel", Action::Cancel { target: run() });
    [("This node", of_one), ("This run", offers)]
}

/// All that can be done with a node, the usual before the rare and the harmful. `again` is what its key does now: of what makes a node run
/// again, that one has the key.
fn of_node(node: &NodeId, again: &Action) -> Vec<OfferRow> {
    let at = || node.clone();
    let one = || ActionTarget::Node(node.clone());
    let branch = || ActionTarget::Branch(node.clone());
    let say = Offer::Act;
    let key_of = |action: &Action| if action == again { "act.again" } else { "" };
    let (retry, rerun) = (Action::Retry { node: at() }, Action::Rerun { node: at(), scope: RerunReach::Downstream });
    let alone = Action::Rerun { node: at(), scope: RerunReach::Alone };
    let point = "before or after it, on failure, or at each call; with a condition";
    vec![
        ("Retry", "tries the failed node once more, or skips the wait before the next attempt", key_of(&retry), say(retry)),
        ("Step", "runs it, then pauses", "act.step", say(Action::Step { node: Some(at()) })),
        ("Step into", "halts before each of its model and tool calls", "act.into", say(Action::StepInto { node: at() })),
        ("Release", "ends the hold, or goes on after a breakpoint", "act.hold", say(Action::Release { target: one() })),
        ("Run to here", "runs what it needs, then pauses before it", "act.run_to", say(Action::RunTo { node: at() })),
        ("Breakpoint", point, "act.break", Offer::Break(at())),
        ("Hold", "keeps it from starting until you release it", "act.hold", say(Action::Hold { target: one() })),
        ("Guide the agent", "sends it a message, which it reads before its next model call", "act.guide", Offer::Guide(at())),
        ("Rewind", "rejects its result: your words go to an agent before it, which works again", "", Offer::Rewind(at())),
        ("Override the result", "uses the value that you write as its result", "", Offer::Value(at())),
        ("Mark as done", "counts as done, with an empty result", "", say(Action::Override { node: at(), value: Value::Null })),
        ("Rerun, with all after it", "runs it and everything that depends on it anew", key_of(&rerun), say(rerun)),
        ("Rerun alone", "runs it again; nodes that used the old result keep it and become stale", "", say(alone)),
        ("Skip", "it does not run; what depends on it may not either", "", say(Action::Skip { node: at() })),
        ("Stop early, with what it has", "the agent ends with what it has so far", "", say(Action::Stop { target: one() })),
        ("Cancel, without a result", "ends it; what only it feeds ends too", "run.cancel_node", say(Action::Cancel { target: one() })),
        (
            "Hold this branch",
            "of this node and what only it feeds none starts until you release it",
            "",
            say(Action::Hold { target: branch() }),
        ),
        ("Release this branch", "ends the holds of this node and of what only it feeds", "", say(Action::Release { target: branch() })),
        (
            "Stop this branch early, with what it has",
            "this node and what only it feeds: agents end with what they have so far",
            "",
            say(Action::Stop { target: branch() }),
        ),
        (
            "Cancel this branch, without results",
            "ends this node and what only it feeds",
            "run.cancel_branch",
            say(Action::Cancel { target: branch() }),
        ),
    ]
}

/// What has no key of its own, so that the list of all commands finds it too. Where no run takes actions, each says so.
pub fn without_key(model: &Model) -> Vec<PickItem> {
    if let Err(why) = run_present(model) {
        let none = NodeId::new("node");
        let named = of_node(&none, &Action::Retry { node: none.clone() }).into_iter().filter(|(_, _, key, _)| key.is_empty());
        return named
            .map(|(label, words, _, offer)| PickItem {
                refused: Some(Plain::line(&why)),
                group: "This node",
                ..PickItem::new(PickThen::Act(offer), label, words)
            })
            .collect();
    }
    items(model).into_iter().filter(|(key, _)| key.is_empty()).map(|(_, item)| item).collect()
}

/// All offers as items, each with the command of its key.
pub fn items(model: &Model) -> Vec<(&'static str, PickItem)> {
    let Some(view) = model.shown_run() else { return Vec::new() };
    let item = |group, (label, words, key, offer): OfferRow| {
        let refused = offer.refusal(&view.newest().run).map(|why| Plain::summary(&why));
        (key, PickItem { key: model.look.keymap.hint(key), refused, group, ..PickItem::new(PickThen::Act(offer), label, words) })
    };
    offers(model).into_iter().flat_map(|(group, offers)| offers.into_iter().map(move |offer| item(group, offer))).collect()
}

/// Something of the menu was picked.
pub fn picked(model: &mut Model, turn: &mut UpdateTurn, offer: Offer) {
    match offer {
        Offer::Act(action) => attempt(model, turn, action),
        Offer::Value(node) => ask_value(model, node),
        Offer::Guide(node) => ask_guide(model, node),
        Offer::Rewind(node) => ask_whom(model, node),
        Offer::Break(node) => super::breaks::ask(model, Some(&node)),
        Offer::Breaks => super::breaks::list(model, turn),
        Offer::Undo => undo(model, turn),
        Offer::Why => super::why::open(model, turn),
    }
}

fn ask_value(model: &mut Model, node: NodeId) {
    let run = model.shown_run().map(|view| &view.newest().run);
    let result = run.and_then(|run| run.node(&node)?.result.as_deref());
    let kept = run.and_then(|run| match run.kept(&node)? {
        HeldAt::Result { result, .. } => Some(result),
        HeldAt::Failure { result, .. } => result.as_ref(),
        HeldAt::Start => None,
    });
    let text = result.or(kept).map(texts::result).unwrap_or_default();
    model.dialogs.push(Dialog::editor(&format!("the result of `{node}`"), &text, EditThen::Override(node)));
}

/// The value was written.
///
/// # Errors
/// Why it can't be taken, in words.
pub fn keep_value(model: &mut Model, turn: &mut UpdateTurn, node: &NodeId, text: &str) -> Result<(), String> {
    let text = text.trim_end_matches('\n');
    let value = WrittenValue::read(text).map_err(|error| error.to_string())?.value();
    propose(model, turn, Action::Override { node: node.clone(), value }).map(drop)
}

fn ask_guide(model: &mut Model, node: NodeId) {
    model.dialogs.push(Dialog::editor(&format!("message to `{node}`, before its next model call"), "", EditThen::Guide(node)));
}

/// Words for an action were written.
///
/// # Errors
/// Why they can't be taken, for people.
pub fn keep_words(model: &mut Model, turn: &mut UpdateTurn, text: &str, action: impl FnOnce(String) -> Action) -> Result<(), String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("write something first".into());
    }
    propose(model, turn, action(text.to_owned())).map(drop)
}

/// Asks which agent is to do better: the node itself, or one upstream, the nearest first.
fn ask_whom(model: &mut Model, node: NodeId) {
    let Some(run) = model.shown_run().map(|view| &view.newest().run) else { return };
    let graph = model.tree().graph();
    let mut near: Vec<usize> = graph.position(&node).into_iter().collect();
    let mut at = 0;
    while at < near.len() {
        for source in graph.predecessors(near[at]).collect::<Vec<_>>() {
            if !near.contains(&source) {
                near.push(source);
            }
        }
        at += 1;
    }
    let targets = run.feedback_targets(&node);
    let near = near.iter().map(|at| graph.id(*at)).filter(|id| targets.contains(*id));
    let items = near.map(|id| {
        let action = Action::Rewind { node: node.clone(), to: id.clone(), feedback: "-".into() };
        let refused = run.refusal(&Command::act(action)).map(|why| Plain::summary(&why));
        let then = PickThen::Rewind(node.clone(), id.clone());
        PickItem { refused, ..PickItem::new(then, id, if *id == node { "itself" } else { "" }) }
    });
    let items: Vec<PickItem> = items.collect();
    if let [PickItem { then: PickThen::Rewind(node, to), refused: None, .. }] = items.as_slice() {
        return ask_feedback(model, node.clone(), to.clone());
    }
    model.dialogs.push(Dialog::pick(&format!("reject the result of `{node}`: which node works again?"), items));
}

/// Asks for words for the agent that made what a gate asks about: it works again, and the gate with it.
pub fn send_back(model: &mut Model, _: &mut UpdateTurn) {
    let Some(node) = model.selected_gate().map(|(_, gate)| gate.node.clone()) else { return };
    let makers = model.makers(&node);
    if let [only] = makers.as_slice() {
        return ask_feedback(model, only.clone(), only.clone());
    }
    let name = |id: &NodeId| model.shown_run().map(|view| view.title_of(id)).unwrap_or_default();
    let item = |id: NodeId| PickItem::new(PickThen::Rewind(id.clone(), id.clone()), name(&id).as_str(), "");
    let items = makers.into_iter().map(item).collect();
    model.dialogs.push(Dialog::pick("which node works again with your words?", items));
}

/// Who is to do better was picked.
pub fn ask_feedback(model: &mut Model, node: NodeId, to: NodeId) {
    let name = model.shown_run().map(|view| view.title_of(&to)).unwrap_or_default();
    model.dialogs.push(Dialog::editor(&format!("`{}`: what should be better", name.as_str()), "", EditThen::Feedback(node, to)));
}

/// Pauses, or goes on.
pub fn pause(model: &mut Model, turn: &mut UpdateTurn) {
    if let Some(view) = model.shown_run() {
        let action = view.pacing();
        attempt(model, turn, action);
    }
}

/// Lets the selected node go where it may, else the next.
pub fn step(model: &mut Model, turn: &mut UpdateTurn) {
    let run = model.shown_run().map(|view| &view.newest().run);
    let may = |run: &Run, node: &NodeId| {
        let state = run.node(node).map(|node| &node.state);
        run.held_calls(node).next().is_some()
            || state.is_some_and(|state| state.group() == StateGroup::Ahead && *state != NodeState::Pending)
    };
    let node = model.selected_id().filter(|node| run.is_some_and(|run| may(run, node))).cloned();
    attempt(model, turn, Action::Step { node });
}

/// Proposes an action on the selected node of the shown run.
pub fn at_node(model: &mut Model, turn: &mut UpdateTurn, action: impl FnOnce(&Run, NodeId) -> Action) {
    if let Some((view, node)) = model.shown_run().zip(model.selected_id().cloned()) {
        let action = action(&view.newest().run, node);
        attempt(model, turn, action);
    }
}

/// Halts before each model and tool call of the selected node; where it is halted at one, goes on to the next.
pub fn into(model: &mut Model, turn: &mut UpdateTurn) {
    at_node(model, turn, |run, node| {
        let into = Action::StepInto { node: node.clone() };
        let again = run.held_calls(&node).next().is_some() && run.refusal(&Command::act(into.clone())).is_some();
        if again { Action::Step { node: Some(node) } } else { into }
    });
}

/// Holds the selected node, or releases it.
pub fn hold(model: &mut Model, turn: &mut UpdateTurn) {
    at_node(model, turn, |run, node| {
        let release = Action::Release { target: ActionTarget::Node(node.clone()) };
        let held = run.refusal(&Command::act(release.clone())).is_none();
        if held { release } else { Action::Hold { target: ActionTarget::Node(node) } }
    });
}

/// Tries again what ended badly; else runs again with all that depends on it.
pub fn again(model: &mut Model, turn: &mut UpdateTurn) {
    at_node(model, turn, |run, node| retry_or_rerun(run, &node));
}

fn retry_or_rerun(run: &Run, node: &NodeId) -> Action {
    let retry = Action::Retry { node: node.clone() };
    if run.refusal(&Command::act(retry.clone())).is_none() {
        retry
    } else {
        Action::Rerun { node: node.clone(), scope: RerunReach::Downstream }
    }
}

/// Words for the selected node's next turn.
pub fn guide(model: &mut Model, _: &mut UpdateTurn) {
    let Some(node) = model.selected_id().cloned() else { return };
    let offer = Offer::Guide(node.clone());
    match model.shown_run().and_then(|view| offer.refusal(&view.newest().run)) {
        Some(why) => model.status = Some(Status::warn(&format!("can't guide `{node}`: {why}"))),
        None => ask_guide(model, node),
    }
}
