//! An event in words: whose it is, of what sort, what happened, and who did it.

use serde_json::Value;

use crate::console::model::{Doc, log::StreamedText, words};
use crate::console::theme::Role;
use crate::engine::{Action, Actor, Event, GateReply, Job, NextCall, NodeFact, Outcome, Record, Run};
use crate::plan::NodeId;
use crate::text::{Plain, count, counted, duration, timestamp};

/// An event on one line.
#[derive(Clone, Debug, PartialEq)]
pub struct EventLine {
    /// Whose it is, where it is about a node.
    pub node: Option<NodeId>,
    /// Of what sort, in one word: what a filter names.
    pub kind: &'static str,
    /// What happened.
    pub what: Plain,
    /// Who did it: a person, a rule, a model or a tool; empty where it followed by itself.
    pub who: Plain,
    /// How it looks.
    pub role: Role,
}

/// Characters of a text that a line tells.
const ON_A_LINE: usize = 200;

fn start(text: &str) -> Plain {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Plain::summary(&line.chars().take(ON_A_LINE).collect::<String>())
}

fn actor(by: &Actor) -> Plain {
    Plain::summary(&if by.via.is_empty() || by.via == "console" { by.who.clone() } else { format!("{} ({})", by.who, by.via) })
}

/// Words with more words behind them, where there are some.
fn because(words: &str, more: &str) -> Plain {
    let more = start(more);
    if more.is_empty() { Plain::line(words) } else { Plain::line(words).then(&Plain::line(": ")).then(&more) }
}

/// An event in words. `run` knows which node a gate belongs to.
pub fn told(event: &Event, run: &Run) -> EventLine {
    let none = Plain::default();
    let (kind, what, who, role) = match event {
        Event::RunCreated { plan, by, .. } => {
            let words = format!("created, {}", counted(plan.nodes.len(), "node"));
            ("run", because(&words, &plan.goal), actor(by), Role::Text)
        }
        Event::RunStarted => ("run", Plain::line("started"), none, Role::Text),
        Event::RunRecovered { by } => ("run", Plain::line("opened again after it broke off"), actor(by), Role::Warning),
        Event::RunReopened { by } => ("run", Plain::line("goes on after its end"), actor(by), Role::Accent),
        Event::Branched { from, from_seq, by } => {
            let words = format!("branches off {} after its event {from_seq}", from.0);
            ("run", Plain::summary(&words), actor(by), Role::Accent)
        }
        Event::Acted { verb, by, why, .. } => ("verb", asked(verb, why), actor(by), Role::Accent),
        Event::Carried => ("engine", Plain::line("the verb is carried out"), none, Role::Dim),
        Event::Undone { verb, by } => ("verb", Plain::line(&format!("took back the verb of event {verb}")), actor(by), Role::Accent),
        Event::RunCancelled { by } => ("verb", Plain::line("the run was cancelled"), actor(by), Role::Warning),
        Event::RunSettled { outcome, reason } => ("run", because(outcome_word(*outcome), reason), none, words::status_role((*outcome).into())),
        Event::GateDecided { decision, by, .. } => ("gate", decided(decision), actor(by), Role::Accent),
        Event::GateVoided { reason, .. } => ("gate", because("void", reason), none, Role::Dim),
        Event::ApprovalRequired { gate } => ("gate", because("asks", &gate.why), none, Role::Gate),
        Event::Refused { what, why, by } => ("refused", because(&format!("refused: {what}"), why), actor(by), Role::Error),
        other => return told_of_node(other, run),
    };
    EventLine { node: run_node(event, run), kind, what, who, role }
}

/// What somebody asked, with their words for a node, and why.
fn asked(verb: &Action, why: &str) -> Plain {
    let words = verb.words();
    let Some(text) = verb.told() else { return because(&words, why) };
    let told = because(&words, text);
    if why.trim().is_empty() { told } else { told.then(&because(" (because", why)).then(&Plain::line(")")) }
}

fn run_node(event: &Event, run: &Run) -> Option<NodeId> {
    match event {
        Event::GateDecided { gate, .. } | Event::GateVoided { gate, .. } => run.gate(*gate).map(|(gate, _)| gate.node.clone()),
        Event::Acted { verb, .. } => verb.node().cloned(),
        other => other.node().cloned(),
    }
}

/// What a node streamed, as far as its row knows it. `piece` is one of its events.
pub fn told_of_stream(stream: &StreamedText, piece: &Event, run: &Run) -> EventLine {
    EventLine { what: said(stream).then(&Plain::summary(stream.tail())), ..told(piece, run) }
}

/// How much a node streamed; its words come behind.
pub fn said(stream: &StreamedText) -> Plain {
    match stream.pieces() {
        [_] => Plain::line("says: "),
        _ => Plain::line(&format!("says {}: ", stream.much())),
    }
}

/// What happened at a node.
fn told_of_node(event: &Event, run: &Run) -> EventLine {
    let none = Plain::default();
    let (what, role) = match event {
        Event::Node { fact: NodeFact::Ready, .. } => (Plain::line("ready"), Role::Ready),
        Event::Node { fact: NodeFact::Held { reason }, .. } => (because("held", reason), Role::Held),
        Event::Node { fact: NodeFact::Started { attempt: 1, job }, .. } => (because("started", &job_words(job)), Role::Running),
        Event::Node { fact: NodeFact::Started { attempt, job }, .. } => {
            (because(&format!("started, attempt {attempt}"), &job_words(job)), Role::Running)
        }
        Event::Node { fact: NodeFact::Retrying { attempt, error, .. }, .. } => {
            (because(&format!("attempt {attempt} failed, tries again"), &error.message), Role::Retrying)
        }
        Event::Node { fact: NodeFact::Routed { taken, dead, why }, .. } if taken.is_empty() && dead.is_empty() => {
            (because("nothing comes after it", why), Role::Dim)
        }
        Event::Node { fact: NodeFact::Routed { taken, dead, why }, .. } if dead.is_empty() && why.is_empty() => {
            (Plain::line(&format!("leads on by {}", counted(taken.len(), "edge"))), Role::Dim)
        }
        Event::Node { fact: NodeFact::Routed { taken, dead, why }, .. } => {
            let words = format!("leads on by {}, {} dead", counted(taken.len(), "edge"), dead.len());
            (because(&words, why), Role::Dim)
        }
        Event::Node { fact: NodeFact::BodyStarted { index: None }, .. } => (Plain::line("the plan inside begins"), Role::Running),
        Event::Node { fact: NodeFact::BodyStarted { index: Some(index) }, .. } => {
            (Plain::line(&format!("turn {index} of the plan inside begins")), Role::Running)
        }
        Event::StageStarted { .. } => (Plain::line("stage started"), Role::Dim),
        Event::Checkpoint { .. } => (Plain::line("checkpoint"), Role::Dim),
        Event::StageFinished { .. } => (Plain::line("stage finished"), Role::Dim),
        Event::Node { fact: NodeFact::Completed { result, mark }, .. } => {
            let words = mark.as_ref().map_or("succeeded".to_owned(), |mark| format!("succeeded, {mark}"));
            (because(&words, &value_line(result)), Role::Succeeded)
        }
        Event::Node { fact: NodeFact::Returned { mark }, .. } => {
            (because("returned a result", mark.as_deref().unwrap_or_default()), Role::Waiting)
        }
        Event::Node { fact: NodeFact::Failed { error, safe: true, .. }, .. } => {
            (because("failed, its consumers are told", &error.message), Role::FailedSafe)
        }
        Event::Node { fact: NodeFact::Failed { error, .. }, .. } => (because("failed", &error.message), Role::Failed),
        Event::Node { fact: NodeFact::Skipped { reason, .. }, .. } => (because("skipped", reason), Role::Skipped),
        Event::Node { fact: NodeFact::Passed { reason }, .. } => (because("passed", reason), Role::Passed),
        Event::Node { fact: NodeFact::Cancelled { reason }, .. } => (because("cancelled", reason), Role::Cancelled),
        Event::Node { fact: NodeFact::BreakHit { reason, .. }, .. } => (because("a breakpoint keeps it", reason), Role::Held),
        Event::Node { fact: NodeFact::Interrupted { reason, .. }, .. } => (because("interrupted", reason), Role::Warning),
        Event::Node { fact: NodeFact::Unknown { reason }, .. } => (because("unknown", reason), Role::Unknown),
        other => return told_of_work(other, run),
    };
    EventLine { node: event.node().cloned(), kind: "node", what, who: none, role }
}

/// What a node's worker did.
fn told_of_work(event: &Event, run: &Run) -> EventLine {
    let tool_of = |node_id: &NodeId, id: &str| {
        let tools = run.node(node_id).map(|node| node.lineage.tools.as_slice()).unwrap_or_default();
        tools.iter().rfind(|(call, _)| call.id == id).map(|(call, _)| Plain::summary(&call.tool)).unwrap_or_default()
    };
    let none = Plain::default();
    let (kind, what, who, role) = match event {
        Event::Node { fact: NodeFact::ToolProposed { call }, .. } => {
            ("tool", because("proposes a call", &arguments(&call.args)), Plain::summary(&call.tool), Role::Dim)
        }
        Event::Node { fact: NodeFact::CallHeld { held, .. }, .. } => {
            let kind = match held.next {
                NextCall::Model { .. } => "model",
                NextCall::Tool { .. } => "tool",
            };
            (kind, because(&format!("held before it calls {}", held.next.words()), &held.reason), none, Role::Held)
        }
        Event::Node { fact: NodeFact::ToolRefused { message, .. }, .. } => ("tool", because("call refused", message), none, Role::Warning),
        Event::Node { fact: NodeFact::ToolStarted { call }, .. } => {
            ("tool", because("call started", &arguments(&call.args)), Plain::summary(&call.tool), Role::Code)
        }
        Event::Node { fact: NodeFact::ToolAnswered { value, .. }, .. } => {
            ("tool", because("answered in the tool's place", &value_line(value)), none, Role::Accent)
        }
        Event::Node { node_id, fact: NodeFact::ToolFinished { call, report }, .. } => {
            let words = format!("call {} in {}", if report.ok { "ended" } else { "failed" }, duration(report.duration_ms).as_str());
            let role = if report.ok { Role::Code } else { Role::Error };
            ("tool", because(&words, &value_line(&report.value)), tool_of(node_id, call), role)
        }
        other => return told_of_words(other),
    };
    EventLine { node: event.node().cloned(), kind, what, who, role }
}

/// What a node asked of models and people, and what it said.
fn told_of_words(event: &Event) -> EventLine {
    let none = Plain::default();
    let (kind, what, who, role) = match event {
        Event::Node { fact: NodeFact::QuestionAnswered { value, .. }, .. } => {
            ("gate", because("its question was answered", &value_line(value)), none, Role::Accent)
        }
        Event::Node { fact: NodeFact::ModelStarted { model, guidance, wrap_up, .. }, .. } => {
            let words = if *wrap_up { "last model call started, to hand back what there is" } else { "model call started" };
            ("model", because(words, &guidance.join(" ")), Plain::summary(model), Role::Dim)
        }
        Event::Node { fact: NodeFact::ModelCalled { call }, .. } => {
            let tokens = count(call.usage.total());
            let words = format!("model call, {} tokens in {}", tokens.as_str(), duration(call.duration_ms).as_str());
            ("model", because(&words, &call.finish), Plain::summary(&call.model), Role::Text)
        }
        Event::Node { fact: NodeFact::Message { role, content }, .. } => {
            ("text", because(&format!("message of {role}"), content), none, Role::Dim)
        }
        Event::Node { fact: NodeFact::Output { text }, .. } => ("text", because("says", text), none, Role::Dim),
        Event::LogLine { text, .. } => ("text", because("log", text), none, Role::Dim),
        // All others are told above.
        _ => ("engine", none.clone(), none, Role::Dim),
    };
    EventLine { node: event.node().cloned(), kind, what, who, role }
}

/// A value as text: as it is, or as JSON without line ends.
fn value_line(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn arguments(args: &Value) -> String {
    words::arguments(args).into_string()
}

fn job_words(job: &Job) -> String {
    match job {
        Job::Agent(agent) => agent.objective.clone().unwrap_or_default(),
        Job::Tool { tool, args } => format!("{tool} {}", arguments(args)),
        Job::Code { .. } => "code".to_owned(),
        Job::Inline { .. } | Job::Inside { .. } => String::new(),
    }
}

fn decided(decision: &GateReply) -> Plain {
    match decision {
        GateReply::Approve | GateReply::Modify { .. } => Plain::line(decision.words()),
        GateReply::Reject { message } => because("rejected", message),
        GateReply::Answer { value } => because("answered", &value_line(value)),
        GateReply::Skip => Plain::line("skipped at its gate"),
        GateReply::CancelBranch => Plain::line("its branch was cancelled at the gate"),
    }
}

fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded => "the run succeeded",
        Outcome::Partial => "the run succeeded in part",
        Outcome::Failed => "the run failed",
        Outcome::Cancelled => "the run ended as cancelled",
    }
}

/// Bytes of an event that are shown; the journal keeps all.
const SHOWN: usize = 64 << 10;

/// An event with all its fields.
pub fn event(record: &Record, run: &Run) -> Doc<'static> {
    let told = told(&record.event, run);
    let mut doc = head(&told, &Plain::line(&record.seq.to_string()), record);
    doc.text(told.role, told.what.as_str());
    doc.heading("the whole event");
    doc.text(Role::Code, &words::pretty_start(&record.event, SHOWN));
    doc
}

fn head(told: &EventLine, which: &Plain, record: &Record) -> Doc<'static> {
    let mut doc = Doc::default();
    doc.field("event", which);
    doc.field("at", &timestamp(record.at.0));
    if let Some(node) = &told.node {
        doc.field("node", &Plain::summary(node));
    }
    if !told.who.is_empty() {
        doc.field("who", &told.who);
    }
    doc.line(Role::Text, Plain::default());
    doc
}

/// What a node streamed, from its first piece on.
pub fn streamed(stream: &StreamedText, records: &[Record], run: &Run) -> Doc<'static> {
    let pieces = || stream.pieces().iter().filter_map(|at| records.get(*at));
    let (Some(first), Some(last)) = (pieces().next(), pieces().next_back()) else { return Doc::default() };
    if first.seq == last.seq {
        return event(first, run);
    }
    let which = format!("{} of {} to {}", counted(stream.pieces().len(), "piece"), first.seq, last.seq);
    let mut doc = head(&told(&first.event, run), &Plain::line(&which), first);
    doc.line(Role::Dim, Plain::line(&format!("says {}", stream.much())));
    doc.heading("what it says");
    let mut text = String::new();
    for record in pieces() {
        let Event::Node { fact: NodeFact::Output { text: piece }, .. } = &record.event else { continue };
        if text.len() + piece.len() > SHOWN {
            text.push('…');
            break;
        }
        text.push_str(piece);
    }
    doc.text(Role::Text, &text);
    doc
}

/// An event as JSON for reading.
pub fn json(record: &Record) -> String {
    serde_json::to_value(&record.event).map(|event| words::pretty(&event)).unwrap_or_default()
}
