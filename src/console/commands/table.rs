//! The table itself, in groups as help shows them.

use super::{CommandRun, ConsoleCommand, Guard, guards as when};
use crate::console::model::{Focus, HistoryStep, Intent, KeyContext, Model, MoveBy, PickThen, Screen, TreeView};
use crate::console::update::actions::replay::ReplayDirection;
use crate::console::update::actions::{act, breaks, deps, dialogs, failures, findings, gates, graph, inspector, moving, replay};
use crate::console::update::{ConsoleEffect, NextCommand, UpdateTurn, actions};
use crate::engine::{Action, ActionTarget};
use crate::plan::drawing::GraphMove;

/// One row of the table. The second text is the short form for the hint bar; empty: the title.
const fn row(
    id: &'static str,
    keys: &'static [&'static str],
    context: KeyContext,
    texts: (&'static str, &'static str, &'static str),
    guard: Guard,
    run: fn(&mut Model, &mut UpdateTurn),
) -> ConsoleCommand {
    of(id, keys, context, texts, guard, CommandRun::Does(run))
}

/// The row of a command whose key opens a text field.
const fn field(
    id: &'static str,
    keys: &'static [&'static str],
    context: KeyContext,
    texts: (&'static str, &'static str, &'static str),
    guard: Guard,
    run: fn(&mut Model, &mut UpdateTurn),
) -> ConsoleCommand {
    of(id, keys, context, texts, guard, CommandRun::OpensField(run))
}

/// The row of a reply to the selected gate.
const fn reply(
    id: &'static str,
    keys: &'static [&'static str],
    texts: (&'static str, &'static str, &'static str),
    guard: Guard,
    intent: Intent,
) -> ConsoleCommand {
    of(id, keys, KeyContext::Decide, texts, guard, CommandRun::Replies(intent))
}

const fn of(
    id: &'static str,
    keys: &'static [&'static str],
    context: KeyContext,
    (title, hint, description): (&'static str, &'static str, &'static str),
    guard: Guard,
    run: CommandRun,
) -> ConsoleCommand {
    ConsoleCommand { id, title, hint, description, keys, context, guard, run }
}

use KeyContext::{
    Act, Always, Breaks, Compare, Confirm, Cost, Deps, Draft, Editor, Filter, Findings, Form, Found, Gate, Global, Graph, Help, Inbox,
    Inspector, Inventory, Line, Log, LogFilter, Moving, Pick, Plan, Reader, Replay, Request, Run, Runs, Start, StartRows, Timeline, Trace,
    Tree, Versus, Why, Words,
};

pub const GROUPS: &[&[ConsoleCommand]] =
    &[APP, MOVE, REQUEST, TREE, GRAPH, PLAN, DEPS, RUN, REPLAY, LOG, INSPECTOR, INBOX, RUNS, INVENTORY, STATS, COMPARE, DIALOGS];

#[rustfmt::skip]
const APP: &[ConsoleCommand] = &[
    field("app.palette", &[":", "ctrl-p"], Global, ("All commands", "commands", "every command with its key, or why it can't be used now"), when::always, |_, turn| turn.next = Some(NextCommand::Palette)),
    row("app.help", &["?"], Global, ("Help", "help", "what works here, with keys"), when::always, actions::app::help),
    row("app.help_here", &["f1"], Always, ("Help", "help", "what works here, with keys"), when::always, actions::app::help),
    row("app.back", &["esc"], Global, ("Close or go back", "back", "closes what is open; never quits, decides or leaves a run"), when::always, actions::app::back),
    row("app.plan", &["1"], Global, ("Plan screen", "", "the tree with its inspector"), when::always, |model, _| model.go(Screen::Plan)),
    row("app.inbox", &["2", "i"], Global, ("Inbox", "inbox", "open gates of the runs that this console drives"), when::always, actions::app::inbox_screen),
    row("app.runs", &["3"], Global, ("Runs", "runs", "running and earlier runs"), when::always, actions::app::runs_screen),
    row("app.log", &["5"], Global, ("Log", "log", "the events of the shown run as they happen"), when::some_run, |model, _| actions::run::screen(model, Screen::Log)),
    row("app.timeline", &["6"], Global, ("Timeline", "timeline", "when each node of the shown run waited and worked"), when::some_run, |model, _| actions::run::screen(model, Screen::Timeline)),
    row("app.trace", &["7"], Global, ("Trace", "trace", "what led to the selected node's result"), when::some_run, actions::origins::trace),
    row("app.inventory", &["8"], Global, ("Agents and tools", "", "agents, tools, servers and rules, and how they were used"), when::always, actions::inventory::screen),
    row("app.cost", &["9"], Global, ("Cost", "cost", "what the model calls of the shown run took, and what for"), when::some_run, actions::cost::screen),
    row("app.graph", &["v", "4"], Global, ("Graph, or back to the tree", "graph", "the plan as a graph; press again for the tree"), when::always, |model, _| model.toggle(Screen::Graph)),
    row("app.model", &["M"], Global, ("Model", "", "which model is used; connect one or switch"), when::always, actions::app::model),
    row("app.trust", &[], Global, ("Trust workspace files", "", "cards and settings it brings; shows what each changes"), when::always, actions::app::trust),
    row("app.theme", &["T"], Global, ("Theme", "", "change the colours"), when::always, actions::app::theme),
    row("app.tour", &[], Global, ("Tour", "", "the program shown by itself, in ten seconds"), when::always, |_, turn| turn.effects.push(ConsoleEffect::Tour)),
    row("app.stats", &["0"], Global, ("Statistics", "", "how agents and models did, and what they took"), when::always, actions::learning::screen),
    row("app.keys", &[], Global, ("Change keys", "", "your own keys for a command; kept in your settings file"), when::always, |_, turn| turn.next = Some(NextCommand::Keys)),
    row("app.quit", &["q"], Global, ("Quit", "quit", "asks first while runs are under way"), when::always, actions::app::quit),
    row("app.interrupt", &["ctrl-c"], Always, ("Quit", "quit", "asks first while runs are under way"), when::always, actions::app::quit),
    row("app.suspend", &["ctrl-z"], Always, ("Suspend", "", "back to the shell; `fg` brings the console back"), when::always, |_, turn| turn.effects.push(ConsoleEffect::Suspend)),
    row("app.redraw", &["ctrl-l"], Always, ("Redraw", "", "draws the whole screen again"), when::always, |_, turn| turn.effects.push(ConsoleEffect::Repaint)),
];

#[rustfmt::skip]
const MOVE: &[ConsoleCommand] = &[
    row("move.down", &["j", "down"], Moving, ("Down", "", "one down"), when::always, |model, _| moving::go(model, MoveBy::Rows(1))),
    row("move.up", &["k", "up"], Moving, ("Up", "", "one up"), when::always, |model, _| moving::go(model, MoveBy::Rows(-1))),
    row("move.page_down", &["ctrl-d", "pagedown"], Moving, ("Page down", "", "a page down"), when::always, |model, _| moving::page(model, 1)),
    row("move.page_up", &["ctrl-u", "pageup"], Moving, ("Page up", "", "a page up"), when::always, |model, _| moving::page(model, -1)),
    row("move.top", &["g", "home"], Moving, ("First", "", "to the start"), when::always, |model, _| moving::go(model, MoveBy::Top)),
    row("move.bottom", &["G", "end"], Moving, ("Last", "", "to the end, and follows new output"), when::always, |model, _| moving::go(model, MoveBy::Bottom)),
    row("move.detail_down", &["J", "shift-down"], Moving, ("Scroll the other pane down", "", "scrolls the inspector or payload from the list"), when::always, |model, _| moving::detail(model, 1)),
    row("move.detail_up", &["K", "shift-up"], Moving, ("Scroll the other pane up", "", "scrolls the inspector or payload from the list"), when::always, |model, _| moving::detail(model, -1)),
];

#[rustfmt::skip]
const REQUEST: &[ConsoleCommand] = &[
    field("request.focus", &["n"], Global, ("New request", "new request", "type what you want; dagdeck makes a plan for it"), when::always, actions::request::focus),
    row("request.submit", &["enter"], Request, ("Make a plan", "make a plan", "sends the request to the planner"), when::always, actions::request::submit),
    row("request.newline", &["alt-enter", "ctrl-j"], Request, ("New line", "new line", "starts a new line in the request"), when::always, |model, _| model.request.field.newline()),
    row("request.older", &["up", "ctrl-p"], Request, ("Earlier request", "earlier", "the request that you made before"), when::always, actions::request::older),
    row("request.newer", &["down", "ctrl-n"], Request, ("Later request", "", "the request that you made after it"), when::always, actions::request::newer),
    row("request.leave", &["esc"], Request, ("To the tree", "to the tree", "to the tree; your text stays"), when::always, actions::request::leave),
    row("request.tree", &["tab"], Request, ("To the tree", "", "to the tree; your text stays"), when::always, actions::request::leave),
    row("request.cancel", &["ctrl-x"], Plan, ("Stop planning", "stop planning", "stops the planner; nodes planned so far stay"), when::planning, actions::request::cancel),
];

#[rustfmt::skip]
const TREE: &[ConsoleCommand] = &[
    row("start.open", &["enter", "l", "right"], Start, ("Open the run", "open", "shows it; starts nothing"), when::always, actions::run::open_latest),
    row("start.row_1", &["f2"], StartRows, ("Open a listed run", "", "shows that run; starts nothing"), when::always, |model, turn| actions::run::open_named(model, turn, 0)),
    row("start.row_2", &["f3"], StartRows, ("Open a listed run", "", "shows that run; starts nothing"), when::always, |model, turn| actions::run::open_named(model, turn, 1)),
    row("start.row_3", &["f4"], StartRows, ("Open a listed run", "", "shows that run; starts nothing"), when::always, |model, turn| actions::run::open_named(model, turn, 2)),
    row("start.row_4", &["f5"], StartRows, ("Open a listed run", "", "shows that run; starts nothing"), when::always, |model, turn| actions::run::open_named(model, turn, 3)),
    row("start.row_5", &["f6"], StartRows, ("Open a listed run", "", "shows that run; starts nothing"), when::always, |model, turn| actions::run::open_named(model, turn, 4)),
    row("start.row_6", &["f7"], StartRows, ("Open a listed run", "", "shows that run; starts nothing"), when::always, |model, turn| actions::run::open_named(model, turn, 5)),
    row("tree.open", &["enter"], Tree, ("Open details", "details", "to the inspector; on a reference, to the node itself"), when::has_nodes, actions::tree::open),
    row("tree.in", &["l", "right"], Tree, ("Unfold, go in", "", "unfolds, or goes to the first node inside"), when::has_nodes, actions::tree::go_in),
    row("tree.out", &["h", "left"], Tree, ("Fold, go out", "", "folds, or goes to the node above"), when::has_nodes, actions::tree::go_out),
    row("tree.fold", &["space"], Tree, ("Fold or unfold", "", "hides or shows the rows under this node"), when::has_nodes, |model, _| model.with_tree(TreeView::toggle_fold)),
    row("tree.fold_all", &["Z"], Tree, ("Fold or unfold all", "", "folds all rows, or unfolds them"), when::has_nodes, |model, _| model.with_tree(TreeView::toggle_all)),
    row("tree.orient", &["t"], Tree, ("Last nodes first", "", "draws it from the first nodes, or from the final ones"), when::has_nodes, actions::tree::orient),
    field("tree.filter", &["/"], Tree, ("Search", "search", "by id and words, is:failed, is:waiting, agent:, tool:"), when::has_nodes, actions::tree::filter),
    row("tree.attention", &["."], Plan, ("Next gate, halt or failure", "next gate or halt", "the oldest gate, else halt or failure; then the next"), when::needs_you, actions::tree::attention),
    row("filter.older", &["up"], Filter, ("Earlier search", "earlier", "what you searched for before"), when::typed_before, actions::typing::older),
    row("filter.newer", &["down"], Filter, ("Later search, or keep", "", "the next search; after the last, back to the tree"), when::always, actions::typing::newer),
    row("filter.done", &["enter"], Filter, ("To what was found", "go there", "back to the tree; what was found stays marked"), when::always, actions::typing::filter_done),
    row("filter.clear", &["esc"], Filter, ("Leave the search", "leave", "back to the tree; nothing is marked"), when::always, actions::tree::filter_clear),
    row("found.next", &["n"], Found, ("Next hit", "next hit", "the next node that the search found"), when::has_nodes, |model, _| actions::tree::next_hit(model, true)),
    row("found.previous", &["N"], Found, ("Previous hit", "", "the node before it that the search found"), when::has_nodes, |model, _| actions::tree::next_hit(model, false)),
];

#[rustfmt::skip]
const GRAPH: &[ConsoleCommand] = &[
    row("graph.left", &["h", "left"], Graph, ("Left", "", "to the box on the left in the same layer"), when::has_nodes, |model, _| graph::step(model, GraphMove::Left)),
    row("graph.right", &["l", "right"], Graph, ("Right", "", "to the box on the right in the same layer"), when::has_nodes, |model, _| graph::step(model, GraphMove::Right)),
    row("graph.open", &["enter"], Graph, ("Open details", "details", "the selected node's details beside the graph"), when::has_nodes, |model, _| model.place.focus = Focus::Inspector),
    row("graph.fold", &["space"], Graph, ("Fold or unfold", "fold", "folds the inner plan or the one around, or shows it again"), when::shows_boxes, graph::fold),
    row("graph.fold_all", &["Z"], Graph, ("Fold or unfold all", "", "folds all inner plans, or shows them again"), when::shows_boxes, |model, _| model.with_tree(|tree, _| tree.drawing.toggle_all())),
    row("graph.form", &["f"], Graph, ("By stages, or boxes", "by stages or boxes", "the nodes of a stage side by side; again: boxes and lines"), when::has_nodes, graph::toggle_form),
    row("graph.next_turn", &["}"], Graph, ("Next turn", "", "the next turn of the loop, or entry of the map"), when::run_shown, |model, _| graph::turn(model, 1)),
    row("graph.previous_turn", &["{"], Graph, ("Previous turn", "", "the previous turn of the loop, or entry of the map"), when::run_shown, |model, _| graph::turn(model, -1)),
];

#[rustfmt::skip]
const PLAN: &[ConsoleCommand] = &[
    row("plan.run", &["r"], Plan, ("Run", "run", "starts the plan; errors among the findings prevent it"), when::can_run, |model, turn| actions::run::ask_start(model, turn, Vec::new())),
    row("plan.step", &["s"], Plan, ("Run step by step", "", "starts the plan paused; each step then runs one node"), when::can_run, |model, turn| actions::run::ask_start(model, turn, vec![Action::Pause])),
    row("plan.add", &["a", "+"], Tree, ("Add a node", "add", "a new node that depends on the selected one"), when::changing, actions::plan::add),
    row("plan.delete", &["d", "delete"], Tree, ("Delete the node", "", "with its edges; undo brings it back"), when::changing_removal, actions::plan::delete),
    row("plan.rename", &["R"], Tree, ("Rename the node", "", "references to it follow"), when::changing_nodes, actions::plan::rename),
    row("plan.duplicate", &["c"], Tree, ("Duplicate the node", "", "a copy with the same dependencies"), when::changing_nodes, actions::plan::duplicate),
    row("plan.edit", &["e"], Tree, ("Edit its text", "edit", "objective, arguments, code, value or question"), when::changing_nodes, actions::plan::edit),
    row("plan.edit_outside", &["E"], Tree, ("Edit its text in $EDITOR", "", "objective, arguments, code, value or question"), when::changing_nodes, actions::plan::edit_outside),
    row("plan.edit_all", &["ctrl-e"], Tree, ("Edit the plan in $EDITOR", "", "the whole plan as JSON text"), when::editing, actions::plan::edit_all),
    row("plan.inputs", &["I"], Tree, ("Inputs of the plan", "inputs", "the values that nodes use as {{inputs.…}}"), when::editing_nodes, actions::plan::inputs),
    row("plan.budget", &[], Plan, ("Budget", "budget", "caps on money, tokens, calls, seconds of a plan or run"), when::changing_nodes, actions::cost::budget),
    row("plan.goal", &["O"], Tree, ("Goal of the plan", "", "what the plan is for, in your words; agents read it"), when::editing_nodes, actions::plan::goal),
    row("plan.worker", &["w"], Tree, ("Change agent or tool", "", "picks another one from the catalog"), when::changing_worker, actions::plan::worker),
    row("plan.gate", &["p"], Tree, ("Ask before or after", "", "asks you before it runs, after, both, or never"), when::changing_nodes, actions::plan::gate),
    row("plan.break", &["b"], Tree, ("Break here in every run", "breakpoint", "each run holds the node, others go on; again: no longer"), when::editing_nodes, actions::plan::toggle_break),
    row("plan.deps", &["D"], Tree, ("Change dependencies", "dependencies", "marks rows that this node depends on, or unmarks them"), when::changing_nodes, deps::begin),
    row("plan.condition", &["C"], Tree, ("Conditions on its edges", "", "picks an incoming edge and edits its condition"), when::changing_nodes, |model, turn| deps::pick_edge(model, turn, "condition on which edge", PickThen::Condition)),
    row("plan.edge", &["L"], Tree, ("Edit an edge as JSON", "", "condition, keys that pass, default, label"), when::changing_nodes, |model, turn| deps::pick_edge(model, turn, "edit which edge", PickThen::WholeEdge)),
    row("plan.node", &["S"], Tree, ("Edit the node as JSON", "", "its kind, limits, retries, model and all other fields"), when::changing_nodes, actions::plan::node),
    row("plan.save", &["ctrl-s"], Plan, ("Save the plan to a file …", "save", "asks for the name; .yaml writes YAML"), when::editing_nodes, actions::save::ask),
    row("plan.undo", &["u"], Tree, ("Undo", "undo", "undoes the last change; no limit"), when::can_undo, |model, _| actions::plan::step(model, HistoryStep::Undo)),
    row("plan.redo", &["U", "ctrl-r"], Tree, ("Redo", "", "does the undone change again"), when::can_redo, |model, _| actions::plan::step(model, HistoryStep::Redo)),
    row("plan.compare", &["="], Plan, ("Compare with the original", "compare", "shows what you changed; each change can be undone alone"), when::has_version, actions::compare::toggle),
    row("plan.rivals", &["V"], Plan, ("Several plans to pick from", "", "three plans for what is typed, else for the goal"), when::always, actions::request::rivals),
    row("plan.compare_file", &[], Plan, ("Compare with a file …", "", "shows where another plan differs; take over any of it"), when::editing_nodes, actions::compare::ask_file),
    row("plan.findings", &["F"], Plan, ("Findings", "findings", "errors and warnings about the plan, with fixes"), when::has_findings, findings::open),
    row("plan.fix", &["f"], Tree, ("Fix the first finding here", "", "applies the first fix suggested for the selected node"), when::has_findings, findings::fix_here),
];

#[rustfmt::skip]
const DEPS: &[ConsoleCommand] = &[
    row("deps.toggle", &["space"], Deps, ("Add or remove", "add or remove", "adds this row as a dependency, or removes it"), when::always, deps::toggle),
    row("deps.undo", &["u"], Deps, ("Undo", "undo", "the last change"), when::can_undo_change, deps::undo),
    row("deps.done", &["enter", "esc", "D"], Deps, ("Done", "done", "back to the tree"), when::always, deps::done),
];

#[rustfmt::skip]
const RUN: &[ConsoleCommand] = &[
    row("act.menu", &["m"], Run, ("Actions", "actions", "what can be done with this node and this run"), when::run_present, |_, turn| turn.next = Some(NextCommand::Menu)),
    row("act.pause", &["p"], Run, ("Pause, or resume", "pause", "starts no more nodes; press again to resume"), when::run_live, act::pause),
    row("act.step", &["s"], Run, ("Step", "step", "runs the selected or the next node, then pauses"), when::run_live, act::step),
    row("act.into", &[","], Run, ("Step into", "", "halts before each model and tool call of the node"), when::node_live, act::into),
    row("act.run_to", &["'"], Run, ("Run to here", "run to here", "runs what the node needs, then pauses before it"), when::node_live, |model, turn| act::at_node(model, turn, |_, node| Action::RunTo { node })),
    row("act.break", &["b"], Run, ("Breakpoint before the node", "breakpoint", "halts before the node; press again to remove"), when::node_of_open_run, breaks::toggle),
    row("act.breaks", &["B"], Run, ("Breakpoints", "", "lists them: add, change, remove, set conditions"), when::run_present, breaks::list),
    row("act.hold", &[";"], Run, ("Hold, or release", "hold", "keeps the node from starting until you release it"), when::node_live, act::hold),
    row("act.again", &["r"], Run, ("Retry or rerun", "rerun", "retries a failed node; else reruns it and all after it"), when::node_present, act::again),
    row("act.guide", &["\""], Run, ("Guide", "guide", "sends the agent a message, read before its next call"), when::node_live, act::guide),
    row("act.replan", &[], Run, ("Replan what is left", "", "asks the planner for another way; you see it first"), when::run_present, failures::ask_replan),
    row("act.why", &["W"], Run, ("Why it isn't running", "why", "lists what it waits for and takes you there"), when::node_shown, actions::why::open),
    row("run.resume", &["!"], Run, ("Resume the run", "resume", "goes on with a run that was interrupted"), when::interrupted, actions::branch::resume),
    row("run.compare", &["="], Run, ("Compare with another run", "compare", "plans and results side by side"), when::run_shown, actions::branch::ask_other),
    row("run.save_result", &["ctrl-s"], Run, ("Save the result to a file", "save", "the selected node's result as it is read; asks for a name"), when::has_result, actions::save::ask_result),
    row("act.undo", &["u"], Run, ("Undo the last action", "undo", "works until the action takes effect"), when::can_take_back, act::undo),
    row("run.cancel_node", &["ctrl-x"], Run, ("Cancel the node", "", "ends it without a result; shows first what else ends"), when::node_live, |model, turn| act::at_node(model, turn, |_, node| Action::Cancel { target: ActionTarget::Node(node) })),
    row("run.cancel_branch", &["|"], Run, ("Cancel the branch", "cancel branch", "the node and all that only it feeds; shows them first"), when::node_live, |model, turn| act::at_node(model, turn, |_, node| Action::Cancel { target: ActionTarget::Branch(node) })),
    row("run.cancel", &["ctrl-k"], Run, ("Cancel the run", "cancel run", "stops everything; shows first what that ends"), when::run_live, |model, turn| act::attempt(model, turn, Action::Cancel { target: ActionTarget::Run })),
    row("run.gate", &["o"], Tree, ("Show its gate", "to its gate", "opens the selected node's gate in the inbox"), when::node_gated, actions::run::to_gate),
    row("run.take_plan", &["P"], Plan, ("Edit a copy of its plan", "edit its plan", "copies this run's plan to the plan screen"), when::run_shown, actions::run::take_plan),
    row("stage.next", &[">"], Plan, ("Next: plan or run", "next run", "shows the plan, then each open run"), when::has_stages, |model, _| actions::run::switch(model, 1)),
    row("stage.previous", &["<"], Plan, ("Previous: plan or run", "", "shows the plan, then each open run, backwards"), when::has_stages, |model, _| actions::run::switch(model, model.runs.open.len())),
];

#[rustfmt::skip]
const REPLAY: &[ConsoleCommand] = &[
    row("replay.toggle", &["H"], Run, ("Replay, or leave it", "replay", "shows the run event by event; calls nothing"), when::run_shown, replay::toggle),
    row("replay.back", &["["], Replay, ("Previous event", "event back", "the run before this event"), when::replaying, |model, _| replay::step(model, ReplayDirection::Back, |_| true)),
    row("replay.forward", &["]"], Replay, ("Next event", "forward", "the run after the next event"), when::replaying, |model, _| replay::step(model, ReplayDirection::Forward, |_| true)),
    row("replay.node_back", &["("], Replay, ("Previous start or end", "node", "back to where a node started or ended"), when::replaying, |model, _| replay::step_by_node(model, ReplayDirection::Back)),
    row("replay.node_forward", &[")"], Replay, ("Next start or end", "", "on to where a node starts or ends"), when::replaying, |model, _| replay::step_by_node(model, ReplayDirection::Forward)),
    row("replay.time_back", &["{"], Replay, ("10 seconds back", "", "the run 10 seconds earlier"), when::replaying, |model, _| replay::step_by_time(model, ReplayDirection::Back)),
    row("replay.time_forward", &["}"], Replay, ("10 seconds forward", "", "the run 10 seconds later"), when::replaying, |model, _| replay::step_by_time(model, ReplayDirection::Forward)),
    row("replay.play", &["space"], Replay, ("Play or stop", "play", "plays the events; waits over 2 s are cut short"), when::replaying, replay::play),
    row("replay.branch", &["b"], Replay, ("Branch off from here", "branch", "starts a new run from this event; you may edit it first"), when::replaying, actions::branch::ask),
    row("replay.faster", &["+"], Replay, ("Play faster", "", "up to 256 times the real speed"), when::replaying, |model, turn| replay::change_speed(model, turn, 1)),
    row("replay.slower", &["_"], Replay, ("Play slower", "", "down to the real speed"), when::replaying, |model, turn| replay::change_speed(model, turn, -1)),
    field("replay.find", &["/"], Replay, ("Search for an event", "search", "by node, kind, or any text of the event"), when::replaying, replay::find),
    row("replay.next", &["n"], Replay, ("Next match", "", "the next event that matches the search"), when::searched, |model, _| replay::search(model, ReplayDirection::Forward)),
    row("replay.previous", &["N"], Replay, ("Previous match", "", "the previous event that matches the search"), when::searched, |model, _| replay::search(model, ReplayDirection::Back)),
    row("replay.first", &["0"], Replay, ("First event", "", "to the start of the run"), when::replaying, |model, _| replay::go(model, |replay, records| replay.seek(records, 1))),
    row("replay.last", &["$"], Replay, ("Back to now", "now", "ends the replay and shows the run as it is now"), when::replaying, |model, _| _ = replay::leave(model)),
];

#[rustfmt::skip]
const LOG: &[ConsoleCommand] = &[
    row("log.go", &["enter"], Log, ("Replay from this event", "to this event", "shows the run right after this event"), when::has_events, actions::log::go),
    field("log.filter", &["/"], Log, ("Filter", "filter", "words, node:ID, kind:WORD; shows events that match all"), when::run_shown, |model, _| model.place.focus = Focus::Filter),
    row("log.node", &["o"], Log, ("Only this node", "only this node", "only events of this node; press again for all"), when::has_events, actions::log::only_node),
    row("log.follow", &["f"], Log, ("Follow the end", "follow", "keeps the newest event selected"), when::run_shown, actions::log::follow),
    row("log.copy", &["y"], Log, ("Copy the event", "copy", "copies it as JSON"), when::has_events, actions::log::copy),
    row("versus.node", &["enter"], Versus, ("To its node", "to node", "shows the node in the run"), when::run_shown, actions::branch::to_node),
    row("timeline.node", &["enter"], Timeline, ("To its node", "to node", "shows the node in the tree"), when::has_nodes, |model, _| model.go(Screen::Plan)),
    row("timeline.trace", &["o"], Timeline, ("Trace its result", "trace", "what led to the selected node's result"), when::node_shown, actions::origins::trace),
    row("trace.go", &["enter"], Trace, ("Go there", "go there", "to the node, its tool calls, or the reply in the log"), when::node_shown, actions::origins::go),
    row("cost.group", &["o"], Cost, ("Sum up otherwise", "sum up otherwise", "by node, agent, model or tool"), when::run_shown, actions::cost::group),
    row("cost.budget", &["$"], Cost, ("Change the budget", "budget", "caps on money, tokens and calls of this run"), when::run_present, actions::cost::budget),
    row("cost.node", &["enter"], Cost, ("To its node", "to node", "shows the selected node in the tree"), when::run_shown, actions::cost::node),
    row("trace.from", &["o"], Trace, ("Trace from here", "trace from here", "what led to this line's result"), when::node_shown, actions::origins::from_here),
    row("log.filter_older", &["up"], LogFilter, ("Earlier filter", "earlier", "what you filtered by before"), when::typed_before, actions::typing::older),
    row("log.filter_newer", &["down"], LogFilter, ("Later filter, or keep", "", "the next filter; after the last, back to the events"), when::always, actions::typing::newer),
    row("log.filter_done", &["enter"], LogFilter, ("Keep the filter", "keep", "back to the events; the filter stays"), when::always, actions::typing::filter_done),
    row("log.filter_clear", &["esc"], LogFilter, ("Clear the filter", "clear", "removes the words; a filter by node stays"), when::always, actions::log::filter_clear),
];

#[rustfmt::skip]
const INSPECTOR: &[ConsoleCommand] = &[
    row("focus.next", &["tab"], Global, ("Next pane", "next pane", "to the next pane"), when::always, |model, _| actions::app::focus(model, 1)),
    row("focus.previous", &["backtab"], Global, ("Previous pane", "", "to the previous pane"), when::always, |model, _| actions::app::focus(model, -1)),
    row("inspector.next", &["]"], Plan, ("Next tab", "", "output, prompt, tools, timing, node"), when::has_nodes, |model, _| inspector::tab(model, 1)),
    row("inspector.previous", &["["], Plan, ("Previous tab", "", "output, prompt, tools, timing, node"), when::has_nodes, |model, _| inspector::tab(model, -1)),
    row("inspector.right", &["l", "right"], Inspector, ("Next tab", "next tab", "output, prompt, tools, timing, node"), when::has_nodes, |model, _| inspector::tab(model, 1)),
    row("inspector.left", &["h", "left"], Inspector, ("Previous tab", "", "output, prompt, tools, timing, node"), when::has_nodes, |model, _| inspector::tab(model, -1)),
    row("inspector.zoom", &["z"], Plan, ("Zoom", "zoom", "this pane alone, without borders, to read or copy"), when::has_nodes, inspector::zoom),
    row("inspector.source", &["#"], Plan, ("Result as it is written", "", "Markdown and tables as they are written; again: drawn"), when::has_result, inspector::source),
    row("inspector.copy", &["y"], Plan, ("Copy", "copy", "copies what the card shows; a result as it is written"), when::has_nodes, inspector::copy),
];

#[rustfmt::skip]
const INBOX: &[ConsoleCommand] = &[
    reply("gate.approve", &["a"], ("Approve", "approve", "approves it as shown, or as you edited it"), when::gate, Intent::Approve),
    reply("gate.allow_host", &["A"], ("Always allow it", "always", "approves, and allows its host or tool here from now on"), when::gate_takes_rule, Intent::ApproveAlways),
    row("rules.propose", &["Y"], Global, ("Keep a rule for its like", "keep a rule", "which calls like the approved one no longer ask"), when::rule_offered, actions::rules::propose),
    row("gate.edit", &["e"], Gate, ("Edit or answer", "edit/answer", "edits what it asks about, or writes the answer"), when::gate, gates::edit),
    row("gate.edit_outside", &["E"], Gate, ("Edit it in $EDITOR", "", "edits what it asks about in your editor"), when::gate, gates::edit_outside),
    reply("gate.reject", &["x"], ("Reject with a reason", "reject", "write why, press enter, then press it again to send"), when::gate, Intent::Reject),
    field("gate.back", &["R"], Gate, ("Send back to who made it", "send back", "your words go to the agent before, which works again"), when::gate_of_agent, act::send_back),
    reply("gate.skip", &["-"], ("Skip the node", "skip", "the node does not run; shows what changes, asks again"), when::gate, Intent::Skip),
    reply("gate.cancel_branch", &["X"], ("Cancel the branch", "cancel branch", "ends the node and what only it feeds; asks again first"), when::gate, Intent::CancelBranch),
    row("gate.drop", &["u"], Draft, ("Discard your draft", "discard draft", "discards the edited payload, answer or reason"), when::draft, gates::drop_draft),
    row("gate.node", &["enter", "o"], Inbox, ("To its node", "to node", "shows the node in its run"), when::gate, gates::to_node),
    row("gate.now", &["$"], Inbox, ("End the replay of its run", "to now", "ends the replay, so that you can reply"), when::gate_replayed, gates::now),
    row("gate.go_on", &["!"], Inbox, ("Resume its run", "resume", "no dagdeck process is running it; resume it, then reply"), when::gate_left, gates::go_on),
    row("gate.copy", &["y"], Inbox, ("Copy the payload", "", "copies it to the clipboard"), when::gate, gates::copy),
    row("gate.zoom", &["z"], Inbox, ("Zoom", "zoom", "the payload alone, without borders"), when::gate, gates::zoom),
];

#[rustfmt::skip]
const RUNS: &[ConsoleCommand] = &[
    row("runs.open", &["enter", "l", "right"], Runs, ("Open the run", "open", "shows it; starts nothing"), when::has_runs, actions::run::open_listed),
    row("runs.search", &["/"], Runs, ("Search the runs", "search", "by goal, state, time or result; enter opens one"), when::has_runs, actions::past::search),
    row("runs.delete", &["d", "delete"], Runs, ("Delete the run", "delete", "its results and log, for good; asks first"), when::driven_by_nobody, actions::branch::delete),
    row("runs.resume", &["!"], Runs, ("Resume the selected run", "resume", "goes on with a run that was interrupted"), when::interrupted_listed, actions::branch::resume_listed),
];

#[rustfmt::skip]
const INVENTORY: &[ConsoleCommand] = &[
    row("inventory.open", &["enter", "l", "right"], Inventory, ("Open it", "open", "tries a tool, edits a card, reads a log, ends a rule"), when::has_inventory, actions::inventory::open),
    row("inventory.try", &["t"], Inventory, ("Try the tool", "try", "asks for its arguments, then runs it; its gates stay"), when::tool_selected, actions::inventory::attempt),
    row("inventory.edit", &["e", "E"], Inventory, ("Edit the card in $EDITOR", "edit card", "a shipped card becomes a file of your own"), when::agent_selected, actions::inventory::edit),
    row("inventory.start", &["s"], Inventory, ("Start or restart a server", "start", "ends it first where it is running"), when::server_selected, actions::inventory::start),
    row("inventory.stop", &["S"], Inventory, ("Stop the server", "stop", "the next call of one of its tools starts it again"), when::server_selected, actions::inventory::stop),
    row("inventory.log", &["o"], Inventory, ("Read the server's log", "log", "what it wrote, the end of it"), when::server_selected, actions::inventory::log),
    row("inventory.revoke", &["d", "delete"], Inventory, ("End the rule", "end rule", "such calls ask again; asks first"), when::rule_selected, actions::inventory::revoke),
    row("inventory.again", &["r"], Inventory, ("Look again", "", "reads them anew"), when::always, actions::inventory::screen),
];

#[rustfmt::skip]
const STATS: &[ConsoleCommand] = &[
    row("stats.by", &["b"], KeyContext::Stats, ("Sum up by something else", "sum up otherwise", "by agent and model, agent, model, or kind of goal"), when::always, actions::learning::sum_up),
    row("stats.take", &["t"], KeyContext::Stats, ("Take the suggestion", "take", "changes your settings or the card, and says which file"), when::suggestion_open, actions::learning::take),
    row("stats.dismiss", &["d", "delete"], KeyContext::Stats, ("Dismiss the suggestion", "dismiss", "it is not suggested again"), when::suggestion_open, actions::learning::dismiss),
    row("stats.undo", &["u"], KeyContext::Stats, ("Undo", "undo", "sets back what taking or dismissing it changed"), when::suggestion_answered, actions::learning::undo),
    row("stats.again", &["r"], KeyContext::Stats, ("Read the statistics again", "", "with what ended since"), when::always, actions::learning::screen),
];

#[rustfmt::skip]
const COMPARE: &[ConsoleCommand] = &[
    row("compare.back", &["x", "delete"], Compare, ("Undo this change", "undo this", "sets this part back to the original"), when::differs_from_version, |model, _| actions::compare::make(model, "set back")),
    row("compare.accept", &["a"], Compare, ("Take over this change", "take over", "makes this part like the other plan"), when::differs_from_other, |model, _| actions::compare::make(model, "taken over")),
    row("compare.node", &["enter", "o"], Compare, ("To its node", "to node", "selects the node in the tree"), when::has_nodes, actions::compare::to_node),
    row("compare.undo", &["u"], Compare, ("Undo", "undo", "undoes the last change to the plan"), when::can_undo, |model, _| actions::plan::step(model, HistoryStep::Undo)),
    row("compare.redo", &["U", "ctrl-r"], Compare, ("Redo", "", "makes the undone change to the plan again"), when::can_redo, |model, _| actions::plan::step(model, HistoryStep::Redo)),
    row("compare.close", &["="], Compare, ("Close", "", "back to the tree"), when::always, actions::compare::toggle),
];

#[rustfmt::skip]
const DIALOGS: &[ConsoleCommand] = &[
    row("line.keep", &["enter"], Line, ("OK", "", "accepts what you typed"), when::always, dialogs::keep_line),
    row("line.older", &["up"], Line, ("Earlier text", "", "what you typed here before"), when::typed_before, actions::typing::older),
    row("line.newer", &["down"], Line, ("Later text", "", "what you typed here after that"), when::always, actions::typing::newer),
    row("line.cancel", &["esc"], Line, ("Close", "", "closes without a change; asks first if you wrote words"), when::always, dialogs::leave_text),
    row("editor.newline", &["enter", "alt-enter"], Editor, ("New line", "", "starts a new line"), when::always, dialogs::newline),
    row("editor.undo", &["alt-u"], Editor, ("Undo typing", "undo", "undoes what you typed last"), when::always, dialogs::undo_typing),
    row("editor.keep", &["ctrl-s"], Editor, ("OK", "", "accepts the text"), when::always, dialogs::keep_editor),
    row("words.keep", &["enter", "ctrl-s"], Words, ("OK", "", "accepts the text"), when::always, dialogs::keep_editor),
    row("words.undo", &["alt-u"], Words, ("Undo typing", "undo", "undoes what you typed last"), when::always, dialogs::undo_typing),
    row("words.newline", &["alt-enter", "ctrl-j"], Words, ("New line", "", "starts a new line"), when::always, dialogs::newline),
    row("words.cancel", &["esc"], Words, ("Close", "", "closes; asks first if the text was changed"), when::always, dialogs::leave_text),
    row("editor.cancel", &["esc"], Editor, ("Close", "", "closes; asks first if the text was changed"), when::always, dialogs::leave_text),
    row("form.next", &["tab", "down", "enter"], Form, ("Next field", "", "to the next field"), when::always, |model, _| dialogs::field(model, 1)),
    row("form.previous", &["backtab", "up"], Form, ("Previous field", "", "to the previous field"), when::always, |model, _| dialogs::field(model, -1)),
    row("form.keep", &["ctrl-s", "alt-enter"], Form, ("OK", "", "accepts the answers; sends nothing yet"), when::always, dialogs::keep_form),
    row("form.cancel", &["esc"], Form, ("Close", "", "closes; asks first if an answer was changed"), when::always, dialogs::leave_text),
    row("pick.take", &["enter"], Pick, ("OK", "", "takes the selected line"), when::always, dialogs::take),
    row("pick.down", &["down", "ctrl-n", "tab"], Pick, ("Down", "", "one down"), when::always, |model, _| moving::go(model, MoveBy::Rows(1))),
    row("pick.up", &["up", "ctrl-p", "backtab"], Pick, ("Up", "", "one up"), when::always, |model, _| moving::go(model, MoveBy::Rows(-1))),
    row("pick.page_down", &["pagedown"], Pick, ("Page down", "", "a page down"), when::always, |model, _| moving::page(model, 1)),
    row("pick.page_up", &["pageup"], Pick, ("Page up", "", "a page up"), when::always, |model, _| moving::page(model, -1)),
    row("pick.top", &["home"], Pick, ("First", "", "to the first line"), when::always, |model, _| moving::go(model, MoveBy::Top)),
    row("pick.bottom", &["end"], Pick, ("Last", "", "to the last line"), when::always, |model, _| moving::go(model, MoveBy::Bottom)),
    row("pick.cancel", &["esc"], Pick, ("Close", "", "closes without a change"), when::always, dialogs::close),
    row("findings.go", &["enter", "l", "right"], Findings, ("To the node", "", "selects the node in the tree"), when::always, findings::go),
    row("findings.fix", &["f"], Findings, ("Fix", "", "applies the suggested fix"), when::always, findings::fix),
    row("findings.fix_all", &["A"], Findings, ("Fix what is safe", "", "applies every safe fix; others are up to you"), when::always, findings::fix_all),
    row("findings.undo", &["u"], Findings, ("Undo", "", "undoes the last change"), when::can_undo, |model, _| actions::plan::step(model, HistoryStep::Undo)),
    row("findings.close", &["esc", "F", "q"], Findings, ("Close", "", "back to the tree"), when::always, dialogs::close),
    row("proposal.yes", &["y"], Act, ("Do it", "", "continues with the action"), when::always, act::yes),
    row("proposal.why", &["w"], Act, ("Add a reason", "", "the journal keeps it with the action"), when::always, act::why),
    row("proposal.no", &["n", "esc"], Act, ("Don't do it", "", "changes nothing"), when::always, dialogs::close),
    row("breaks.add", &["a"], Breaks, ("Add a breakpoint", "", "starts with the selected node"), when::run_live, breaks::add),
    row("breaks.edit", &["enter", "e"], Breaks, ("Change it", "", "its moment, nodes and condition"), when::run_live, breaks::edit),
    row("breaks.toggle", &["space"], Breaks, ("Disable or enable it", "", "it stays in the list and halts nothing until then"), when::run_live, breaks::toggle_selected),
    row("breaks.remove", &["d", "delete"], Breaks, ("Remove it", "", "the run no longer halts there"), when::run_live, breaks::remove),
    row("breaks.close", &["esc", "B", "q"], Breaks, ("Close", "", "back to the run"), when::always, dialogs::close),
    row("why.go", &["enter", "l", "right"], Why, ("Go there", "", "to the node it waits for, or to its gate"), when::always, actions::why::go),
    row("why.close", &["esc", "W", "q"], Why, ("Close", "", "back to the run"), when::always, dialogs::close),
    row("confirm.yes", &["y"], Confirm, ("Yes", "", "does what the question says"), when::always, dialogs::yes),
    row("confirm.cancel_runs", &["c"], Confirm, ("Cancel the runs and quit", "", "ends them for good; a yes keeps them"), when::quitting_runs, actions::app::cancel_runs),
    row("confirm.save", &["ctrl-s"], Confirm, ("Save the plan first", "", "asks for the file; then leave again"), when::quitting_unsaved, dialogs::save_first),
    row("confirm.no", &["n", "esc"], Confirm, ("No", "", "changes nothing"), when::always, dialogs::close),
    row("help.close", &["esc", "?", "f1"], Help, ("Close", "", "one step back"), when::always, dialogs::close),
    row("help.next", &["pagedown", "down", "tab"], Help, ("Next page", "", "the next page"), when::always, |model, _| moving::go(model, MoveBy::Rows(1))),
    row("help.previous", &["pageup", "up", "backtab"], Help, ("Page before", "", "the page before"), when::always, |model, _| moving::go(model, MoveBy::Rows(-1))),
    row("reader.copy", &["y"], Reader, ("Copy", "", "copies the text"), when::always, dialogs::copy_reader),
    row("reader.close", &["esc", "q", "z"], Reader, ("Close", "", "one step back"), when::always, dialogs::close),
];
