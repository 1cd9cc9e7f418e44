//! A trace and a timeline in words: the line of a trace, what is behind it, and what a node waited for and did.

use crate::console::model::{Doc, TraceLine, TraceView, Traced, texts};
use crate::console::theme::Role;
use crate::engine::{Doing, Run, TimelineChart, TraceStep, arguments};
use crate::plan::NodeId;
use crate::text::{Plain, clock, duration};

/// A line of a trace: pieces with their looks.
pub fn trace_line(view: &TraceView, line: TraceLine) -> Vec<(Plain, Role)> {
    let Some(step) = view.trace().steps.get(line.step) else { return Vec::new() };
    let say = |head: &str, role: Role, what: &str| vec![(Plain::line(&format!("{head} ")), Role::Dim), (Plain::summary(what), role)];
    let said = match line.what {
        Traced::Result(row) => Some(result(view, step, row)),
        Traced::Input(at) => step.inputs.get(at).map(|input| say("input", Role::Text, input)),
        Traced::Approval(at) => {
            step.approvals.get(at).map(|approval| say("gate", Role::Gate, &format!("{} ({})", approval.label(), approval.about)))
        }
        Traced::Call(at) => step.calls.get(at).map(|call| {
            let role = if call.ok == Some(false) { Role::Error } else { Role::Code };
            say("call", role, &format!("{} {}", call.tool, arguments(&call.args).as_str()))
        }),
        Traced::File(at) => step.files.get(at).map(|file| say(&file.operation, Role::Code, &file.path)),
        Traced::Source(at) => step.sources.get(at).map(|source| say(&source.kind, Role::Code, &source.identifier)),
    };
    said.unwrap_or_default()
}

fn result(view: &TraceView, step: &TraceStep, row: usize) -> Vec<(Plain, Role)> {
    let row = view.trace().rows.get(row);
    let how = row.and_then(|row| row.came.as_ref()).map(|came| {
        let through = came.through.as_ref().map(|through| format!(" through {through}")).unwrap_or_default();
        format!("{}{through}", came.how.label())
    });
    let mut pieces = vec![(Plain::summary(&step.node), Role::Accent), (Plain::blank(2).then(&Plain::summary(&step.made.by)), Role::Dim)];
    if let Some(how) = how {
        pieces.push((Plain::line(", ").then(&Plain::summary(&how)), Role::Dim));
    }
    if row.is_some_and(|row| row.again) {
        pieces.push((Plain::line("  shown above"), Role::Dim));
        return pieces;
    }
    let mark = step.mark.as_ref().map(|mark| format!(", {}", mark.as_str())).unwrap_or_default();
    pieces.push((Plain::blank(2).then(&Plain::summary(&format!("{}{mark}", step.state))), Role::Text));
    if step.made.stale.is_some() {
        pieces.push((Plain::line(", stale"), Role::Stale));
    }
    if let Some(result) = &step.result {
        pieces.push((Plain::line("  ").then(&Plain::summary(result)), Role::Dim));
    }
    pieces
}

/// What is behind the selected line of a trace.
pub fn traced(view: &TraceView) -> Doc<'static> {
    let mut doc = Doc::default();
    let Some((line, step)) = view.line().and_then(|line| Some((line, view.trace().steps.get(line.step)?))) else { return doc };
    match line.what {
        Traced::Result(_) | Traced::Input(_) => of_step(step, &mut doc),
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
            doc.field("asked", &clock(approval.asked.0));
            doc.field("answer", &Plain::line(approval.decision.unwrap_or("none")));
            if let Some(reason) = &approval.voided {
                doc.field("closed", &Plain::summary(reason));
            }
            if let Some((by, at)) = approval.by.as_ref().zip(approval.at) {
                doc.field("by", &by.label());
                doc.field("at", &clock(at.0));
            }
        }
    }
    doc
}

fn of_step(step: &TraceStep, doc: &mut Doc<'static>) {
    doc.field("node", &Plain::summary(&step.node));
    doc.field("state", &Plain::line(step.state));
    if let Some(why) = &step.made.stale {
        doc.line(Role::Stale, Plain::line(&format!("{:<12} ", "stale")).then(&Plain::summary(why)));
    }
    doc.field("made by", &Plain::summary(&step.made.by));
    for model in &step.made.models {
        doc.field("model", &Plain::summary(model));
    }
    if step.made.tokens.total() > 0 {
        doc.field("took", &step.made.took().label());
    }
    for came in &step.came {
        doc.field("used", &Plain::summary(&format!("{} {}", came.node, came.how.label())));
    }
    for input in &step.inputs {
        doc.field("input", &Plain::summary(input));
    }
    if let Some(result) = &step.result {
        doc.heading("its result begins");
        doc.text(Role::Text, result);
    }
}

/// What a node waited for and did, in a run as it is seen.
pub fn stretches(run: &Run, chart: &TimelineChart, node: &NodeId) -> Doc<'static> {
    let mut doc = Doc::default();
    let Some(bar) = chart.bars.iter().find(|bar| bar.node == *node) else { return doc };
    doc.field("node", &Plain::summary(node).then(&Plain::line(if bar.critical { "  on the critical path" } else { "" })));
    if let Some(why) = run.node(node).and_then(|node| node.stale.as_ref()) {
        doc.line(Role::Stale, Plain::line(&format!("{:<12} ", "stale")).then(&Plain::summary(&why.message())));
    }
    if let Some(after) = &bar.after {
        doc.field("after", &Plain::summary(&after.label()));
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
pub fn doing_role(doing: Doing) -> Role {
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
