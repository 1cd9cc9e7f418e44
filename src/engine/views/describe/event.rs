//! An event on one line: which node, of what kind, what happened, and who did it. Console, shell and docs show these lines.

use super::result::result_line;
use crate::engine::{
    Action, Actor, Event, FailedTry, FailureChoice, GateId, GateReply, HeldCall, Job, Mark, ModelCall, NextCall, NodeFact, NodeRun,
    NodeState, Outcome, ReplanTrigger, RunState, RunStatus, Time, ToolReport, Topic,
};
use crate::plan::{NodeId, value_text};
use crate::text::{Plain, clock, count, counted, duration};
use EventKind as Kind;
use EventTone::State;
use serde_json::Value;

/// An event on one line.
#[derive(Clone, Debug, PartialEq)]
pub struct EventLine {
    pub node: Option<NodeId>,
    pub kind: EventKind,
    pub head: Plain,
    /// Why, or with what; may be empty.
    pub more: Plain,
    /// A person, a rule, a model or a tool; empty where it followed by itself.
    pub who: Plain,
    pub tone: EventTone,
}

/// What an event is of, by which a filter finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum EventKind {
    Run,
    Node,
    Model,
    Tool,
    Text,
    Gate,
    Action,
    Refused,
    Engine,
}

impl EventKind {
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// What an event means, for those who style it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventTone {
    Text,
    Dim,
    Accent,
    Warning,
    Error,
    Code,
    Gate,
    State(NodeState),
    Run(RunStatus),
}

/// Characters of a text that a line shows.
const ON_A_LINE: usize = 200;
/// Arguments that a line shows.
const ARGUMENTS: usize = 8;

/// Kind, what happened, who did it.
type LineParts = (EventKind, What, Plain, EventTone);
/// What happened, and why or with what.
type What = (Plain, Plain);

impl Event {
    /// `run` knows which node a gate belongs to, and the tools of calls.
    pub fn describe(&self, run: &RunState) -> EventLine {
        let none = Plain::default;
        let (kind, (head, more), who, tone) = match self {
            Self::RunCreated { plan, by, .. } => {
                (Kind::Run, because(&format!("created, {}", counted(plan.nodes.len(), "node")), &plan.goal), actor(by), EventTone::Text)
            }
            Self::ReplanAsked { node, trigger, guidance, by, .. } => {
                let why = trigger.reason(&node.clone().unwrap_or_else(|| NodeId::new("")), by.as_ref());
                let why = if *trigger == ReplanTrigger::Person {
                    guidance.join("; ")
                } else {
                    [why].into_iter().chain(guidance.iter().cloned()).collect::<Vec<_>>().join("; ")
                };
                (Kind::Run, because("asks the planner for a new plan", &why), by.as_ref().map_or_else(none, actor), EventTone::Accent)
            }
            Self::ReplanFailed { why, .. } => (Kind::Run, because("no new plan came", why), none(), EventTone::Warning),
            Self::RunStarted => (Kind::Run, just("run started"), none(), EventTone::Text),
            Self::RunInterrupted { signal } => (Kind::Run, just(&format!("interrupted by {}", signal.name())), none(), EventTone::Warning),
            Self::RunRecovered { by, model: Some(model) } => {
                (Kind::Run, because("resumed", &format!("with model {model}")), actor(by), EventTone::Warning)
            }
            Self::ModelChosen { model, by, .. } => {
                (Kind::Run, just(&format!("from here on the model is {model}")), actor(by), EventTone::Accent)
            }
            Self::RunRecovered { by, .. } => (Kind::Run, just("resumed"), actor(by), EventTone::Accent),
            Self::RunReopened { by } => (Kind::Run, just("reopened after its end"), actor(by), EventTone::Accent),
            Self::Branched { from, from_seq, by } => {
                (Kind::Run, just(&format!("branched off {} after event {from_seq}", from.0)), actor(by), EventTone::Accent)
            }
            Self::Acted { action, by, why, .. } => (Kind::Action, acted(action, why), actor(by), EventTone::Accent),
            Self::Carried => (Kind::Engine, just("the action is complete"), none(), EventTone::Dim),
            Self::Undone { action, by } => {
                (Kind::Action, just(&format!("undid the action of event {action}")), actor(by), EventTone::Accent)
            }
            Self::RunCancelled { by } => (Kind::Action, just("cancelled the run"), actor(by), EventTone::Warning),
            Self::RunEnded { outcome, reason } => {
                (Kind::Run, because(settled(*outcome), &reason.message()), none(), EventTone::Run((*outcome).into()))
            }
            Self::GateDecided { gate, decision, by, message } => {
                (Kind::Gate, replied(gate.0, decision, message), actor(by), EventTone::Accent)
            }
            Self::GateVoided { gate, reason } => {
                (Kind::Gate, because(&format!("gate {} closed", gate.0), &reason.message()), none(), EventTone::Dim)
            }
            Self::ApprovalRequired { gate } => (Kind::Gate, because("waiting", &gate.why), none(), EventTone::Gate),
            Self::Refused { what, why, by } => (Kind::Refused, because(&format!("refused: {what}"), why), actor(by), EventTone::Error),
            Self::StageStarted { .. } => (Kind::Node, just("stage started"), none(), EventTone::Dim),
            Self::Checkpoint { .. } => (Kind::Node, just("checkpoint"), none(), EventTone::Dim),
            Self::StageFinished { .. } => (Kind::Node, just("stage finished"), none(), EventTone::Dim),
            Self::LogLine { text, .. } => (Kind::Text, because("log", text), none(), EventTone::Dim),
            Self::Node { node_id, fact, .. } => fact.describe(node_id, run),
        };
        EventLine { node: self.about(run), kind, head, more, who, tone }
    }

    /// The node that it is about, itself or by its gate or action.
    pub fn about(&self, run: &RunState) -> Option<NodeId> {
        if let Self::Acted { action, .. } = self {
            return action.node().cloned();
        }
        // The state that it is told by may not have the gate yet.
        if let Self::ApprovalRequired { gate } = self {
            return Some(gate.node.clone());
        }
        let Topic::Gate(gate) = self.topic() else { return self.node().cloned() };
        run.gate(gate).map(|(gate, _)| gate.node.clone())
    }
}

impl EventLine {
    /// What happened, with its reason.
    pub fn what(&self) -> Plain {
        if self.more.is_empty() { self.head.clone() } else { self.head.clone().then(&Plain::line(": ")).then(&self.more) }
    }

    /// For plain output, behind the node: `step: succeeded: 3 files`.
    pub fn label(&self, what: &Plain) -> Plain {
        match &self.node {
            // An action names its node.
            Some(node) if self.kind != Kind::Action => Plain::line(node).then(&Plain::line(": ")).then(what),
            Some(_) | None => what.clone(),
        }
    }
}

impl NodeFact {
    fn describe(&self, node: &NodeId, run: &RunState) -> LineParts {
        let none = Plain::default;
        match self {
            Self::Ready { .. } => (Kind::Node, just("ready"), none(), State(NodeState::Ready)),
            Self::Held { reason } => (Kind::Node, because_of("held", &reason.message()), none(), State(NodeState::Held)),
            Self::Started { attempt, job, .. } => {
                let again = if *attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
                (Kind::Node, because(&format!("started{again}"), &job_label(job)), none(), State(NodeState::Running))
            }
            Self::Retrying { attempt, error, until } => {
                let tone = State(NodeState::Retrying { until: *until });
                (Kind::Node, because(&format!("attempt {attempt} failed, will be retried"), &error.message), none(), tone)
            }
            Self::Routed { taken, dead, why } => (Kind::Node, because(&routed(taken.len(), dead.len()), why), none(), EventTone::Dim),
            Self::BodyStarted { index: None } => (Kind::Node, just("inner plan started"), none(), State(NodeState::Running)),
            Self::BodyStarted { index: Some(index) } => {
                (Kind::Node, just(&format!("inner plan [{index}] started")), none(), State(NodeState::Running))
            }
            Self::Completed { result, mark } => completed(run.node(node), result, mark.as_ref()),
            Self::Returned { mark } => {
                let tone = State(NodeState::Waiting { gate: GateId::default() });
                (Kind::Node, because("returned a result", mark.as_ref().map_or("", Mark::as_str)), none(), tone)
            }
            Self::Failed { error, safe: true, .. } => {
                (Kind::Node, because("failed_safe", &error.message), none(), State(NodeState::FailedSafe))
            }
            Self::Failed { error, .. } => (Kind::Node, because("failed", &error.message), none(), State(NodeState::Failed)),
            Self::EndKept { reason, .. } => (Kind::Node, because("attempts are over", &reason.message()), none(), State(NodeState::Held)),
            Self::Skipped { reason, .. } => (Kind::Node, because_of("skipped", &reason.message()), none(), State(NodeState::Skipped)),
            Self::Passed { reason } => (Kind::Node, because("passed", &reason.message()), none(), State(NodeState::Passed)),
            Self::Cancelled { reason } => (Kind::Node, because_of("cancelled", &reason.message()), none(), State(NodeState::Cancelled)),
            Self::BreakHit { reason, .. } => (Kind::Node, because("held", &reason.message()), none(), State(NodeState::Held)),
            Self::Interrupted { reason, .. } => (Kind::Node, because("interrupted", &reason.message()), none(), EventTone::Warning),
            Self::Unknown { reason } => (Kind::Node, because("unknown", &reason.message()), none(), State(NodeState::Unknown)),
            Self::CallHeld { held, .. } => held_call(held),
            Self::ToolProposed { call } => {
                (Kind::Tool, because("wants to call", arguments(&call.args).as_str()), Plain::summary(&call.tool), EventTone::Dim)
            }
            Self::ToolStarted { call, .. } => {
                (Kind::Tool, because("call started", arguments(&call.args).as_str()), Plain::summary(&call.tool), EventTone::Code)
            }
            Self::ToolRefused { message, .. } => (Kind::Tool, because("call refused", message), none(), EventTone::Warning),
            Self::ToolAnswered { value, .. } => {
                (Kind::Tool, because("a person filled in the result", &value_text(value)), none(), EventTone::Accent)
            }
            Self::ToolFinished { call, report } => ended_call(report, tool_of(run, node, call)),
            Self::QuestionAnswered { value, .. } => (Kind::Gate, because("was answered", &value_text(value)), none(), EventTone::Accent),
            Self::ModelStarted { model, guidance, wrap_up, .. } => started_call(model, guidance, *wrap_up),
            Self::ModelWaits { reason, .. } | Self::ModelDeferred { reason, .. } => {
                (Kind::Model, because("call held", &reason.message()), none(), State(NodeState::Held))
            }
            Self::ModelSent { number: 0 | 1, .. } => (Kind::Model, just("call sent"), none(), EventTone::Dim),
            Self::ModelSent { number, .. } => (Kind::Model, just(&format!("call sent, try {number}")), none(), EventTone::Dim),
            Self::ModelAnswers { .. } => (Kind::Model, just("answer begins"), none(), EventTone::Dim),
            Self::ModelTryFailed { number, failed, next_at, .. } => tried(*number, failed, *next_at),
            Self::ModelCalled { call } => called(call),
            Self::Message { role, content } => {
                (Kind::Text, because(&format!("message of {}", role.word()), content), none(), EventTone::Dim)
            }
            Self::Output { text } => (Kind::Text, because("says", text), none(), EventTone::Dim),
            Self::Thought { text } => (Kind::Text, because("thinks", text), none(), EventTone::Dim),
            Self::PlanWanted { why } => (Kind::Node, because("wants a new plan", why), none(), EventTone::Warning),
            Self::Cached { source } => (Kind::Node, because("cached", &source.message()), none(), EventTone::Accent),
            Self::Noted { label, text } => (Kind::Model, because(label, text), none(), EventTone::Warning),
        }
    }
}

fn called(call: &ModelCall) -> LineParts {
    let about = if call.estimated { "~" } else { "" };
    let what = format!("model call, {about}{} tokens in {}", count(call.usage.total()), duration(call.duration_ms));
    (Kind::Model, because(&what, &call.finish), Plain::summary(&call.model), EventTone::Text)
}

fn started_call(model: &str, guidance: &[String], wrap_up: bool) -> LineParts {
    let what = if wrap_up { "last model call started, to wrap up" } else { "model call started" };
    (Kind::Model, because(what, &guidance.join(" ")), Plain::summary(model), EventTone::Dim)
}

/// A tool's arguments: `path: notes.md  mode: append`.
pub fn arguments(args: &Value) -> Plain {
    match args {
        Value::Object(args) => {
            let named = args.iter().take(ARGUMENTS).map(|(name, value)| format!("{name}: {}", first_line(&value_text(value)).as_str()));
            Plain::line(&named.collect::<Vec<_>>().join("  "))
        }
        Value::Null => Plain::default(),
        other => first_line(&other.to_string()),
    }
}

/// The first line that is not blank, cut.
fn first_line(text: &str) -> Plain {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Plain::summary(&line.chars().take(ON_A_LINE).collect::<String>())
}

fn just(what: &str) -> What {
    (Plain::summary(what), Plain::default())
}

fn because(what: &str, more: &str) -> What {
    (Plain::summary(what), first_line(more))
}

/// The reason alone where it begins with what happened: `skipped by root`.
fn because_of(what: &str, reason: &str) -> What {
    if reason.starts_with(what) { just(reason) } else { because(what, reason) }
}

impl Actor {
    /// The person's name, and by which way, where that is not the console.
    pub fn label(&self) -> Plain {
        actor(self)
    }
}

fn actor(by: &Actor) -> Plain {
    // A rule's flag stands with the name.
    Plain::summary(&if by.is_rule() || ["", "console"].contains(&by.via.as_str()) {
        by.who.clone()
    } else {
        format!("{} ({})", by.who, by.via)
    })
}

/// An action with the person's text for a node, and why.
fn acted(action: &Action, why: &str) -> What {
    let why = first_line(why);
    let why = if why.is_empty() { why } else { Plain::line(" (because: ").then(&why).then(&Plain::line(")")) };
    match action.text() {
        Some(text) => (Plain::summary(&action.label()), first_line(text).then(&why)),
        None => (Plain::summary(&action.label()).then(&why), Plain::default()),
    }
}

fn routed(taken: usize, dead: usize) -> String {
    match (taken, dead) {
        (0, 0) => "no node after it".to_owned(),
        (taken, 0) => format!("{} taken", counted(taken, "edge")),
        (taken, dead) => format!("{} taken, {dead} not taken", counted(taken, "edge")),
    }
}

fn job_label(job: &Job) -> String {
    match job {
        Job::Agent(agent) => agent.objective.clone().unwrap_or_default(),
        Job::Tool { tool, args } => format!("{tool} {}", arguments(args)),
        Job::Code { .. } => "code".to_owned(),
        Job::Inline { .. } | Job::Inside { .. } => String::new(),
    }
}

fn held_call(held: &HeldCall) -> LineParts {
    let kind = match held.next {
        NextCall::Model { .. } => Kind::Model,
        NextCall::Tool { .. } => Kind::Tool,
    };
    let head = format!("held before it calls {}", held.next.label());
    (kind, because(&head, &held.reason.message()), Plain::default(), State(NodeState::Held))
}

/// The result of a node.
fn completed(node: Option<&NodeRun>, result: &Value, mark: Option<&Mark>) -> LineParts {
    let line = result_line(result, node.and_then(|node| node.reporter(result)));
    if mark == Some(&Mark::Rehearsal) {
        return (Kind::Node, because("rehearsed", &line), Plain::default(), State(NodeState::Rehearsed));
    }
    let mark = mark.map(|mark| format!(" ({})", mark.label())).unwrap_or_default();
    (Kind::Node, because(&format!("succeeded{mark}"), &line), Plain::default(), State(NodeState::Succeeded))
}

/// The end of a tool's call.
fn ended_call(report: &ToolReport, tool: Plain) -> LineParts {
    let what = format!("call {} in {}", if report.ok { "succeeded" } else { "failed" }, duration(report.duration_ms));
    let tone = if report.ok { EventTone::Code } else { EventTone::Error };
    (Kind::Tool, because(&what, &result_line(&report.value, Some(tool.as_str()))), tool, tone)
}

fn tool_of(run: &RunState, node: &NodeId, id: &str) -> Plain {
    let tools = run.node(node).map(|node| node.lineage.tools.as_slice()).unwrap_or_default();
    tools.iter().rfind(|(call, _)| call.id == id).map(|(call, _)| Plain::summary(&call.tool)).unwrap_or_default()
}

fn replied(gate: u32, reply: &GateReply, said: &str) -> What {
    match reply {
        GateReply::Approve | GateReply::Modify { .. } => because(&format!("{} at gate {gate}", reply.label()), said),
        GateReply::Reject { message } => because(&format!("rejected at gate {gate}"), message),
        GateReply::Answer { value } => because(&format!("answered at gate {gate}"), &value_text(value)),
        GateReply::Lost { choice } => because(&format!("answered at gate {gate}"), choice.label()),
        GateReply::OnFailure { choice: FailureChoice::Model, with } => {
            because(&format!("answered at gate {gate}"), &format!("retry with the model {with}"))
        }
        GateReply::OnFailure { choice, .. } => because(&format!("answered at gate {gate}"), choice.label()),
        GateReply::Skip => just(&format!("skipped at gate {gate}")),
        GateReply::CancelBranch => just(&format!("cancelled its branch at gate {gate}")),
    }
}

fn tried(number: u32, failed: &FailedTry, next_at: Option<Time>) -> LineParts {
    let what = match (next_at, &failed.otherwise) {
        (Some(_), Some(how)) => format!("sent again at once {how}"),
        (Some(at), None) if failed.refused => format!("call refused, sent again at {}", clock(at.0)),
        (Some(at), None) => format!("try {number} failed, the next at {}", clock(at.0)),
        (None, _) => format!("try {number} failed, no other follows"),
    };
    let tone = next_at.map_or(EventTone::Error, |until| State(NodeState::Retrying { until }));
    (Kind::Model, because(&what, &failed.message), Plain::default(), tone)
}

fn settled(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Succeeded => "the run succeeded",
        Outcome::Partial => "the run is partial",
        Outcome::Rehearsed => "the run was rehearsed",
        Outcome::Failed => "the run failed",
        Outcome::Cancelled => "the run was cancelled",
    }
}
