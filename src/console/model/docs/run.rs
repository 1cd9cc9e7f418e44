//! A node of a run in words: what it said, what it was given, which tools it called, how long it took.

use jiff::tz::TimeZone;
use serde_json::Value;

use super::{outcome, says};
use crate::console::model::{Doc, Model, RunView, Tab, texts};
use crate::console::theme::Role;
use crate::engine::{
    HeldAt, Mark, MessageRole, NextCall, NodeError, NodeRun, NodeState, RunStatus, StateGroup, ToolCall, ToolReport, Totals, result_text,
};
use crate::plan::NodeId;
use crate::text::{Plain, cost, count, counted, duration, time_of_day};

/// Streamed text, then the result or the error, behind what is to be said first.
/// `go_on` says how a node goes on from a breakpoint.
pub fn output<'a>((model, run): (&Model, &'a RunView), id: &NodeId, first: Doc<'a>, go_on: &str) -> Doc<'a> {
    let Some(node) = run.seen().run.node(id) else { return says("this node is not in the run") };
    let mut doc = first;
    if let Some(problem) = &run.frozen {
        doc.text(Role::Error, &problem.message);
        problem.hint.iter().for_each(|hint| doc.text(Role::Text, &format!("hint: {hint}")));
    }
    let before = doc.len();
    if let Some(error) = node.error.as_ref().filter(|_| node.state.is_at_work()) {
        let first = error.message.lines().next().unwrap_or_default();
        doc.text(Role::Dim, &format!("the attempt before failed: {first}"));
    } else if let Some(error) = &node.error {
        failed((model, run), id, (node.state.label(run.seen_status()), error), &mut doc);
    } else {
        let (state, reason) = (node.state.label(run.seen_status()), run.seen().run.reason(id));
        // What kept it from running says more than the node before it.
        if let Some(root) = root_cause(model, run, id) {
            doc.text(Role::Hint, &format!("{state}: {}", run.titled(&root)));
            let why = model.hint("act.why");
            doc.line(Role::Hint, Plain::line(&format!("{}; {why} shows the whole chain", run.titled(&reason))));
        } else if reason.starts_with(state) {
            doc.text(Role::Hint, &run.titled(&reason));
        } else if !reason.is_empty() {
            doc.text(Role::Hint, &format!("{state}: {}", run.titled(&reason)));
        }
    }
    made_otherwise(run, (id, node), &mut doc);
    if let Some(kept) = run.seen().run.kept(id) {
        if matches!(kept, HeldAt::Start) {
            ahead(run, id, &mut doc);
            doc.line(Role::Text, Plain::default());
        }
        tell_kept((kept, run.seen().run.node(id)), go_on, &mut doc);
    }
    if let Some(transcript) = run.seen().transcript(id) {
        if !transcript.log.is_empty() {
            doc.heading("log");
            doc.lines(Role::Dim, &transcript.log);
        }
        if run.is_output(id) {
            outcome::outcome((model, run), id, &mut doc);
        } else if node.result.is_some() {
            doc.heading("result");
            outcome::result(&model.inspector, run, id, &mut doc);
        } else if !transcript.output.is_empty() || !transcript.thoughts.is_empty() {
            if !transcript.thoughts.is_empty() {
                doc.heading("thinking");
                doc.lines(Role::Dim, transcript.thoughts.lines());
            }
            let printed = unsaid(transcript.output.lines(), node.error.as_ref());
            if !doc.is_empty() && !printed.is_empty() {
                doc.line(Role::Text, Plain::default());
            }
            doc.lines(Role::Text, printed);
        }
    }
    if doc.len() > before {
        return doc;
    }
    if node.state.has_ended() || node.state.is_at_work() && node.inside.nodes == 0 {
        let (status, ended) = (run.seen_status(), node.state.has_ended());
        let yet = if ended || status == RunStatus::Interrupted { "" } else { " yet" };
        doc.line(Role::Dim, Plain::line(&format!("{}: no output{yet}", node.state.label(status))));
    } else {
        for link in model.why(run, id) {
            doc.text(Role::Hint, &format!("{}{}", "  ".repeat(link.depth), run.titled(&link.sentence)));
        }
    }
    given(run, id, &mut doc);
    doc
}

/// That an earlier run made the result, or why it is no plain one.
fn made_otherwise(run: &RunView, (id, node): (&NodeId, &NodeRun), doc: &mut Doc<'_>) {
    if let Some(source) = &node.lineage.cached {
        doc.text(Role::Hint, &format!("cached {}", source.message()));
    }
    if let Some(mark) = &node.mark {
        let done = node.result.as_deref().is_none_or(Value::is_null);
        let role = if *mark == Mark::Rehearsal { Role::Rehearsed } else { Role::Warning };
        doc.text(role, &mark_description(mark, done, run.seen().run.rehearsed_because(id)));
    }
}

/// What was printed, without its end where the error says that.
fn unsaid<'a>(printed: &'a [Plain], error: Option<&NodeError>) -> &'a [Plain] {
    let is_filled = |line: &Plain| !line.as_str().trim().is_empty();
    let filled = |lines: &'a [Plain]| &lines[..lines.iter().rposition(is_filled).map_or(0, |last| last + 1)];
    let Some(error) = error else { return printed };
    let mut left = filled(printed);
    for said in Plain::block(&error.message).iter().skip(1).filter(|line| is_filled(line)).rev() {
        let Some((_, before)) = left.split_last().filter(|(last, _)| *last == said) else { break };
        left = filled(before);
    }
    left
}

fn given<'a>(run: &'a RunView, id: &NodeId, doc: &mut Doc<'a>) {
    if let Some(given) = run.seen().transcript(id).map(|transcript| transcript.given.as_slice()).filter(|given| !given.is_empty()) {
        doc.heading("given");
        doc.lines(Role::Text, given);
    }
}

/// What kept a node from running in the end, where that is not the node before it.
fn root_cause(model: &Model, run: &RunView, id: &NodeId) -> Option<String> {
    run.seen().run.node(id).filter(|node| node.state == NodeState::Skipped)?;
    let chain = model.why(run, id);
    chain.first().filter(|_| chain.len() > 2).map(|link| link.sentence.clone())
}

/// The call that is held before it happens and goes next, with exact arguments, how many wait behind it, and the keys that continue them.
/// It is last, where it is in sight.
pub fn held(model: &Model, run: &RunView, id: &NodeId, doc: &mut Doc<'_>) {
    let mut calls = run.seen().run.held_calls(id);
    let Some(call) = calls.next() else { return };
    let behind: Vec<String> = calls.map(|call| call.next.label()).collect();
    // The title of its card says which.
    if !doc.is_empty() {
        doc.line(Role::Text, Plain::default());
    }
    if let NextCall::Tool { args, .. } = &call.next {
        doc.text(Role::Text, &texts::pretty(args));
    }
    if !behind.is_empty() {
        doc.line(Role::Dim, Plain::summary(&format!("then {}", behind.join(", "))));
    }
    if run.replay().is_none() && run.goes_on() {
        let key = |id: &str| model.hint(id);
        doc.line(Role::Hint, Plain::line(&format!("{} releases this call, {} all calls", key("act.step"), key("act.hold"))));
    }
}

/// What can be done about a failed node, by key.
fn ways_on(model: &Model, run: &RunView, node: &NodeId, doc: &mut Doc<'_>) {
    let has_failed = run.seen().run.node(node).is_some_and(|node| node.state.has_failed());
    let is_reached = run.replay().is_none() && (run.goes_on() || run.newest().run.outcome().is_some());
    if has_failed && is_reached {
        let key = |id: &str| model.hint(id);
        // Another model may do what this one failed at.
        let is_agent = run.seen().run.node_doc(node).is_some_and(|node| node.kind.agent().is_some());
        let other = if is_agent { format!(", {} takes another model or key", key("app.model")) } else { String::new() };
        let words = format!("{} tries again, {} edits it first{other}, {} has more", key("act.again"), key("plan.edit"), key("act.menu"));
        doc.line(Role::Hint, Plain::line(&words));
    }
}

/// Why it failed, what that keeps from running, and the ways on.
fn failed((model, run): (&Model, &RunView), id: &NodeId, (state, error): (&str, &NodeError), doc: &mut Doc<'_>) {
    // The title of its card says it, where it has the room.
    failure(if failure_title(model).is_some() { None } else { Some(state) }, error, doc);
    kept_from_running(run, id, doc);
    ways_on(model, run, id, doc);
}

/// Columns of a card around its title.
const TITLE_FRAME: u16 = 6;

/// What the card of a failed node is called: the failure, where that is two rows at most.
pub fn failure_title(model: &Model) -> Option<Plain> {
    let (view, id) = model.shown_run().zip(model.selected_id())?;
    let node = view.seen().run.node(id).filter(|node| node.state.has_failed() && model.tab() == Tab::Output)?;
    let first = Plain::summary(node.error.as_ref()?.message.lines().next()?.trim_end_matches(':'));
    (!first.is_empty() && first.width() <= 2 * usize::from(model.layout().detail.width.saturating_sub(TITLE_FRAME))).then_some(first)
}

/// What the card of a node is called that a breakpoint keeps, or whose next call is held.
pub fn halt_title(model: &Model) -> Option<Plain> {
    let (view, id) = model.shown_run().zip(model.selected_id()).filter(|_| model.tab() == Tab::Output)?;
    let run = &view.seen().run;
    let call = || {
        let calls: Vec<_> = run.held_calls(id).collect();
        let next = calls.first()?.next.label();
        Some(Plain::summary(&format!("held before it calls {next}{}", texts::first_of(calls.len())).replace('`', "")))
    };
    let kept = run.kept(id).map(|kept| match kept {
        HeldAt::Start => "halted before it starts",
        HeldAt::Result { .. } => "halted with its result, which nothing uses yet",
        HeldAt::Failure { .. } => "halted after it failed",
    });
    kept.map(Plain::line).or_else(call)
}

/// What a node that is halted before its start would do, and with what.
fn ahead(run: &RunView, id: &NodeId, doc: &mut Doc<'_>) {
    let Some(node) = run.seen().run.node_doc(id) else { return };
    super::node::does(node, doc);
    let graph = run.tree.graph();
    let sources = graph.position(id).into_iter().flat_map(|at| graph.predecessors(at).collect::<Vec<_>>());
    let gets: Vec<(Plain, Plain)> = sources.filter_map(|at| Some((run.title_of(graph.id(at)), run.result_line(graph.id(at))?))).collect();
    if !gets.is_empty() {
        doc.line(Role::Text, Plain::default());
    }
    for (title, result) in gets.into_iter().take(KEPT) {
        doc.field("gets", &title.then(&Plain::line(": ")).then(&result));
    }
}

/// Which nodes a failure keeps from running, by their titles.
fn kept_from_running(run: &RunView, id: &NodeId, doc: &mut Doc<'_>) {
    let graph = run.tree.graph();
    let (Some(at), true) = (graph.position(id), run.seen().run.node(id).is_some_and(|node| node.state.has_failed())) else { return };
    let mut after: Vec<usize> = graph.successors(at).collect();
    let mut next = 0;
    while next < after.len() {
        for further in graph.successors(after[next]).collect::<Vec<_>>() {
            if !after.contains(&further) {
                after.push(further);
            }
        }
        next += 1;
    }
    let is_kept =
        |id: &NodeId| run.seen().run.node(id).is_some_and(|node| matches!(node.state.group(), StateGroup::NotRun | StateGroup::Ahead));
    let titles: Vec<String> =
        after.into_iter().map(|at| graph.id(at)).filter(|id| is_kept(id)).map(|id| run.title_of(id).into_string()).collect();
    let named = titles.iter().take(KEPT).cloned().collect::<Vec<_>>().join(", ");
    let more = titles.len().saturating_sub(KEPT);
    if !titles.is_empty() {
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        doc.line(Role::Dim, Plain::line("keeps    ").then(&Plain::summary(&format!("{named}{more} from running"))));
    }
}

/// Nodes that are named of those that a failure keeps from running.
const KEPT: usize = 3;

fn failure(what: Option<&str>, error: &NodeError, doc: &mut Doc<'_>) {
    // The first line says what happened; what follows it is the program's own.
    let (first, rest) = error.message.split_once('\n').unwrap_or((&error.message, ""));
    if let Some(what) = what {
        doc.text(Role::Error, &format!("{what}: {first}"));
    }
    if !rest.trim().is_empty() {
        doc.text(Role::Text, rest);
    }
    // How to try again is said by its key.
    if let Some(hint) = error.hint.as_ref().filter(|hint| hint.as_str() != "try again") {
        doc.text(Role::Text, &format!("hint: {hint}"));
    }
}

/// What a breakpoint keeps: nothing uses it yet.
fn tell_kept((kept, node): (&HeldAt, Option<&NodeRun>), go_on: &str, doc: &mut Doc<'_>) {
    let result = match kept {
        HeldAt::Start => None,
        HeldAt::Result { result, mark } => {
            if let Some(mark) = mark {
                doc.text(Role::Held, &mark.label());
            }
            Some(result)
        }
        HeldAt::Failure { error, result } => {
            failure(Some("it failed"), error, doc);
            result.as_ref()
        }
    };
    if !go_on.is_empty() {
        doc.text(Role::Dim, go_on);
    }
    if let Some(result) = result {
        doc.heading("result, kept");
        doc.text(Role::Text, &result_text(result, node.and_then(|node| node.reporter(result))));
    }
}

fn mark_description(mark: &Mark, has_no_result: bool, why: &str) -> String {
    match mark {
        Mark::Rehearsal => format!("rehearsed: {why}, so this only shows what would be done"),
        Mark::Partial => "something inside failed; this is the result of the rest".into(),
        Mark::BudgetExhausted => "the budget ran out; this is the result so far".into(),
        Mark::Overridden if has_no_result => "marked done by hand: it has no result".into(),
        Mark::Overridden => "overridden: this result was entered by hand".into(),
        Mark::Stopped => "stopped early: this is the result so far".into(),
        Mark::RepeatedCall => "the agent made the same call again and again; this is the result so far".into(),
        Mark::RepeatedWords => "the model said the same words over and over, so its answer was cut off".into(),
        Mark::Cut => "the model's answer was cut off; this is what came of it".into(),
        Mark::Answered | Mark::Other(_) => mark.label(),
    }
}

/// The conversation with a model.
pub fn prompt<'a>(run: &'a RunView, id: &NodeId) -> Doc<'a> {
    let messages = run.seen().transcript(id).map(|transcript| transcript.messages.as_slice()).unwrap_or_default();
    if messages.is_empty() {
        return says("no model was asked by this node");
    }
    let mut doc = Doc::default();
    for message in messages {
        doc.heading(message.role.word());
        let role = if message.role == MessageRole::Reasoning { Role::Dim } else { Role::Text };
        doc.lines(role, &message.lines);
    }
    doc
}

/// Tool calls with what they gave.
pub fn tools(run: &RunView, id: &NodeId) -> Doc<'static> {
    let calls = run.seen().run.node(id).map(|node| node.lineage.tools.as_slice()).unwrap_or_default();
    if calls.is_empty() {
        return says("this node called no tool");
    }
    let mut doc = Doc::default();
    for (call, report) in calls {
        tool(call, report.as_ref(), &mut doc);
    }
    doc
}

/// Characters of arguments and results that are shown; the journal keeps all.
const EXCERPT: usize = 4_000;

fn tool(call: &ToolCall, report: Option<&ToolReport>, doc: &mut Doc<'static>) {
    let ended = match report {
        None => Plain::line("not ended"),
        Some(report) => Plain::line(if report.ok { "ok, " } else { "failed, " }).then(&duration(report.duration_ms)),
    };
    doc.heading(Plain::summary(&call.tool).then(&Plain::line("  ")).then(&ended).as_str());
    doc.text(Role::Code, &excerpt(&texts::pretty(&call.args)));
    if let Some(report) = report {
        doc.text(if report.ok { Role::Text } else { Role::Error }, &excerpt(&result_text(&report.value, Some(&call.tool))));
        for file in &report.files {
            doc.text(Role::Dim, &format!("{} {}", file.operation, file.path));
        }
    }
}

fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}\n… {} characters more", &text[..end], text[end..].chars().count()),
    }
}

/// Times, tokens, money, files and sources, behind what is to be said first.
pub fn timing((run, zone): (&RunView, &TimeZone), id: &NodeId, mut doc: Doc<'static>) -> Doc<'static> {
    let Some(node) = run.seen().run.node(id) else { return says("this node is not in the run") };
    doc.field("state", &Plain::line(node.state.label(run.seen_status())));
    if let Some(started) = node.span.started {
        doc.field("started", &time_of_day(started.0, zone));
        node.span.finished.into_iter().for_each(|finished| doc.field("ended", &time_of_day(finished.0, zone)));
        node.work_ms().into_iter().for_each(|took| doc.field("work time", &duration(took)));
    }
    doc.field("attempts", &Plain::line(&node.attempt.to_string()));
    if node.generation > 1 {
        let times = counted(node.generation as usize - 1, "time");
        doc.field("run again", &Plain::line(&times));
    }
    let lineage = &node.lineage;
    let spent = node.spent();
    if spent.model_calls > 0 {
        doc.field("model calls", &count(u64::from(spent.model_calls)));
        let tokens = count(spent.tokens.prompt).then(&Plain::line(" in, ")).then(&count(spent.tokens.completion));
        let counted_here = if spent.estimated { " out (~: not all was reported by the provider)" } else { " out" };
        doc.field("tokens", &Plain::line(if spent.estimated { "~" } else { "" }).then(&tokens).then(&Plain::line(counted_here)));
        doc.field("cost", &Totals::from(spent).money_label().unwrap_or_else(|| cost(0.0)));
    }
    if !lineage.files.is_empty() || !lineage.sources.is_empty() {
        doc.heading("touched");
    }
    for file in &lineage.files {
        doc.field(&file.operation, &Plain::summary(&file.path));
    }
    for source in &lineage.sources {
        doc.field(&source.kind, &Plain::summary(&source.identifier));
    }
    doc
}
