//! A trace and a timeline in words: the line of a trace, what is behind it, and what a node waited for and did.

use super::outcome::result as result_of;
use crate::console::model::{Doc, Inspector, LABEL, RunView, TraceLine, TraceView, Traced, texts};
use crate::console::theme::Role;
use crate::engine::{Doing, How, Mark, Time, TimelineChart, TraceStep, arguments};
use crate::plan::NodeId;
use crate::text::{Plain, duration, offset};

/// A line of a trace: pieces with their looks. A node's state is a mark before it.
pub fn trace_line(view: &TraceView, run: &RunView, line: TraceLine) -> Vec<(Plain, Role)> {
    let Some(step) = view.trace().steps.get(line.step) else { return Vec::new() };
    let say = |head: &str, role: Role, what: &str| vec![(Plain::line(head).pad(WORD), Role::Dim), (Plain::summary(what), role)];
    let said = match line.what {
        Traced::Result(row) => Some(result(view, run, step, row)),
        Traced::Input(at) => step.inputs.get(at).map(|input| say("input", Role::Dim, input)),
        Traced::Approval(at) => step.approvals.get(at).map(|approval| {
            let about = match approval.about.as_str() {
                "before" => String::new(),
                "after" => ", after it ran".to_owned(),
                about => format!(", {about}"),
            };
            let role = if approval.decision.is_none() && approval.voided.is_none() { Role::Waiting } else { Role::Dim };
            say("gate", role, &format!("{}{about}", approval.label()))
        }),
        Traced::Call(at) => step.calls.get(at).map(|call| {
            let role = if call.ok == Some(false) { Role::Failed } else { Role::Dim };
            say("call", role, &format!("{}  {}", call.tool, arguments(&call.args).as_str()))
        }),
        Traced::File(at) => step.files.get(at).map(|file| say(&file.operation, Role::Dim, &file.path)),
        Traced::Source(at) => step.sources.get(at).map(|source| say(&source.kind, Role::Dim, &source.identifier)),
    };
    said.unwrap_or_default()
}

/// Columns of the word before what a node used or did.
const WORD: usize = 7;

fn result(view: &TraceView, run: &RunView, step: &TraceStep, row: usize) -> Vec<(Plain, Role)> {
    let row = view.trace().rows.get(row);
    let mut pieces = vec![(run.title_of(&step.node), Role::Text)];
    // What went in by its edge is the usual.
    if let Some(came) = row.and_then(|row| row.came.as_ref()) {
        let how = if came.how == How::Edge { "" } else { came.how.label() };
        let through = came.through.as_ref().map(|through| format!(" through {}", run.title_of(through).as_str())).unwrap_or_default();
        let how = format!("{how}{through}");
        if !how.is_empty() {
            pieces.push((Plain::line(", ").then(&Plain::summary(how.trim())), Role::Dim));
        }
    }
    if row.is_some_and(|row| row.again) {
        pieces.push((Plain::line("  shown above"), Role::Dim));
        return pieces;
    }
    if let Some(mark) = step.mark.as_ref().filter(|mark| **mark != Mark::Rehearsal) {
        pieces.push((Plain::line(", ").then(&Plain::summary(&mark.label())), Role::Warning));
    }
    if step.cached.is_some() {
        pieces.push((Plain::line(", cached"), Role::Dim));
    }
    if let Some(result) = run.result_line(&step.node) {
        pieces.push((Plain::blank(2).then(&result), Role::Dim));
    }
    pieces
}

/// What is behind the selected line of a trace.
pub fn traced<'a>(view: &TraceView, run: &'a RunView) -> Doc<'a> {
    let mut doc = Doc::default();
    let Some((line, step)) = view.line().and_then(|line| Some((line, view.trace().steps.get(line.step)?))) else { return doc };
    match line.what {
        Traced::Result(_) | Traced::Input(_) => of_step(step, run, &mut doc),
        Traced::Call(at) => {
            let Some(call) = step.calls.get(at) else { return doc };
            doc.line(Role::Heading, Plain::summary(&call.tool));
            doc.text(Role::Code, &texts::pretty(&call.args));
            let ended = match call.ok {
                Some(true) => "gave",
                Some(false) => "failed",
                None => "has not ended",
            };
            doc.heading(ended);
            doc.text(Role::Text, call.result.as_deref().unwrap_or_default());
        }
        Traced::File(at) => {
            let Some(file) = step.files.get(at) else { return doc };
            doc.field(&file.operation, &Plain::summary(&file.path));
            doc.text(Role::Dim, file.content_preview.as_deref().unwrap_or_default());
        }
        Traced::Source(at) => {
            let Some(source) = step.sources.get(at) else { return doc };
            doc.field(&source.kind, &Plain::summary(&source.identifier));
            doc.text(Role::Dim, source.query.as_deref().unwrap_or_default());
        }
        Traced::Approval(at) => {
            let Some(approval) = step.approvals.get(at) else { return doc };
            doc.field("gate", &Plain::summary(&approval.about));
            doc.field("asked", &after_start(run, approval.asked));
            doc.field("answer", &Plain::line(approval.decision.unwrap_or("none")));
            if let Some(reason) = &approval.voided {
                doc.field("closed", &Plain::summary(reason));
            }
            if let Some((by, at)) = approval.by.as_ref().zip(approval.at) {
                doc.field("by", &by.label());
                doc.field("at", &after_start(run, at));
            }
        }
    }
    doc
}

/// When something was, from the start of the run on.
fn after_start(run: &RunView, at: Time) -> Plain {
    offset(at.since(run.newest().run.began())).then(&Plain::line(" after the start"))
}

fn of_step<'a>(step: &TraceStep, run: &'a RunView, doc: &mut Doc<'a>) {
    if let Some(why) = &step.made.stale {
        doc.line(Role::Stale, Plain::line(&format!("{:<LABEL$} ", "stale")).then(&Plain::summary(why)));
    }
    for model in &step.made.models {
        doc.field("model", &Plain::summary(model));
    }
    if step.made.tokens.total() > 0 {
        doc.field("took", &step.made.took().label());
    }
    for came in &step.came {
        doc.field("used", &run.title_of(&came.node).then(&Plain::line(", ")).then(&Plain::summary(came.how.label())));
    }
    for input in &step.inputs {
        doc.field("input", &Plain::summary(input));
    }
    let has_result = run.seen().transcript(&step.node).is_some_and(|transcript| !transcript.result.is_empty());
    if has_result || step.result.is_some() {
        doc.heading("result");
    }
    match &step.result {
        _ if has_result => result_of(&Inspector::default(), run, &step.node, doc),
        Some(error) => doc.text(Role::Text, error),
        None => {}
    }
}

/// What a node waited for and did, in a run as it is seen.
pub fn stretches(view: &RunView, chart: &TimelineChart, node: &NodeId) -> Doc<'static> {
    let mut doc = Doc::default();
    let Some(bar) = chart.bars.iter().find(|bar| bar.node == *node) else { return doc };
    if let Some(why) = view.seen().run.node(node).and_then(|node| node.stale.as_ref()) {
        doc.line(Role::Stale, Plain::line(&format!("{:<LABEL$} ", "stale")).then(&Plain::summary(&why.message())));
    }
    if let Some(after) = &bar.after {
        let label = after.label();
        let how = label.strip_prefix(after.node.as_str()).unwrap_or_default();
        doc.field("after", &view.title_of(&after.node).then(&Plain::summary(how)));
    }
    if bar.critical {
        doc.field("path", &Plain::line("on the critical path"));
    }
    for stretch in &bar.stretches {
        let begun = Plain::line("+").then(&duration(stretch.from.since(chart.start.unwrap_or_default()))).pad(8);
        let took = duration(stretch.ms(chart.end)).pad_start(7);
        let attempt = if stretch.attempt > 1 { format!(", attempt {}", stretch.attempt) } else { String::new() };
        let again = if stretch.generation > 1 { format!(", generation {}", stretch.generation) } else { String::new() };
        let words = Plain::line(&format!("  {}{attempt}{again}", stretch.doing.description()));
        doc.line(doing_role(stretch.doing), begun.then(&took).then(&words));
    }
    doc
}

/// How a while of doing something looks.
fn doing_role(doing: Doing) -> Role {
    match doing {
        Doing::Inputs => Role::Pending,
        Doing::Slot => Role::Ready,
        Doing::Held => Role::Held,
        Doing::Gate => Role::Waiting,
        Doing::Model => Role::Held,
        Doing::Working => Role::Running,
        Doing::Resting => Role::Retrying,
        Doing::Unknown => Role::Unknown,
    }
}
