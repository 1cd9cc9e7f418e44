//! Plans in words: what a node does, by whom, and its text to edit.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value};

use super::inputs;
use crate::console::theme::{Role, of_state};
use crate::engine::{CountedNodes, EventTone, ImpactLine, NodeImpact, NodeState, RunId, RunStatus, StateGroup, short_name};
use crate::plan::dialect::{body_from_value, body_to_value, exact_json, node_from_value, node_to_value};
use crate::plan::validate::{Finding, Severity};
use crate::plan::{AgentNode, Approve, DecisionNode, Edge, Field, Node, NodeKind, SubplanNode, ToolInput, ToolNode, nest};

pub use crate::plan::gated;
use crate::text::{Glyph, Plain};

/// Who does a node's work: the card's or tool's name, the person who is asked, else the sort of work.
pub fn worker(node: &Node) -> Plain {
    if matches!(node.kind, NodeKind::Approval(_)) { Plain::line("you") } else { node.kind.worker_label() }
}

pub fn agent(work: &AgentNode) -> Plain {
    Plain::summary(work.agent.as_deref().or(work.role.as_deref()).unwrap_or("agent"))
}

/// Characters of a node's text that a line may need.
const ON_A_LINE: usize = 400;

/// Text on one line, with the values of the plan's inputs in their places.
fn short(text: &str, inputs: &Map<String, Value>) -> Plain {
    Plain::summary(&inputs::filled(&text.chars().take(ON_A_LINE).collect::<String>(), inputs))
}

fn named(args: &Map<String, Value>, inputs: &Map<String, Value>) -> Plain {
    let mut line = Plain::default();
    for (at, (name, value)) in args.iter().enumerate().take(8) {
        let value = value.as_str().map_or_else(|| short(&value.to_string(), inputs), |text| short(text, inputs));
        let gap = Plain::blank(if at == 0 { 0 } else { 2 });
        line = line.then(&gap).then(&short(name, inputs)).then(&Plain::line(": ")).then(&value);
    }
    line
}

/// Characters of an argument up to which a row has it; the card has all.
const SHORT: usize = 40;

/// What a tool is given, on the row of its node: what a person gave it instead of the plan, where one did, without code and other long texts.
pub fn arguments(work: &ToolNode, edited: Option<&Value>, inputs: &Map<String, Value>) -> Plain {
    let args = match &work.input {
        ToolInput::Args(args) => edited.and_then(Value::as_object).unwrap_or(args),
        ToolInput::Query(query) => return short(query, inputs),
    };
    let is_short = |value: &Value| value.as_str().is_none_or(|text| text.chars().count() <= SHORT && !text.contains('\n'));
    let short: Map<String, Value> =
        args.iter().filter(|(_, value)| is_short(value)).map(|(name, value)| (name.clone(), value.clone())).collect();
    named(if short.is_empty() { args } else { &short }, inputs)
}

/// What a node does, on one line, with the values of the plan's inputs in their places.
pub fn summary(node: &Node, inputs: &Map<String, Value>) -> Plain {
    match &node.kind {
        NodeKind::Tool(ToolNode { input: ToolInput::Args(args), .. }) => named(args, inputs),
        NodeKind::Subplan(SubplanNode::File { path, .. }) => Plain::summary(path),
        NodeKind::Subplan(SubplanNode::Inline(plan)) => short(&plan.goal, inputs),
        _ => short(&text(node), inputs),
    }
}

/// A node's text as a person edits it: objective, arguments as JSON, code, value, question.
pub fn text(node: &Node) -> String {
    match &node.kind {
        NodeKind::Agent(work) | NodeKind::Decision(DecisionNode::Agent(work)) => {
            work.objective.clone().or_else(|| work.goal.clone()).unwrap_or_default()
        }
        NodeKind::Tool(work) => match &work.input {
            ToolInput::Args(args) => pretty(&Value::Object(args.clone())),
            ToolInput::Query(query) => query.clone(),
        },
        NodeKind::Code(work) => work.code.clone(),
        NodeKind::Decision(DecisionNode::Expression(text)) => text.clone(),
        NodeKind::Merge(work) => work.template.as_ref().map(pretty).unwrap_or_default(),
        NodeKind::Transform(work) => pretty(&work.value),
        NodeKind::Approval(ask) => ask.text.clone(),
        NodeKind::Subplan(SubplanNode::Inline(plan)) => pretty(&body_to_value(plan)),
        NodeKind::Subplan(SubplanNode::File { path, .. }) => path.clone(),
        NodeKind::Loop(work) => work.until.clone(),
        NodeKind::Map(work) => work.over.clone(),
    }
}

/// The only argument of a call, where it is a text: a command, a path, a question.
fn only_text(args: &Map<String, Value>) -> Option<(&str, &str)> {
    let mut args = args.iter();
    let (name, value) = args.next()?;
    value.as_str().map(|text| (name.as_str(), text)).filter(|_| args.next().is_none())
}

fn argument(work: &ToolNode) -> Option<(&str, &str)> {
    match &work.input {
        ToolInput::Args(args) => only_text(args),
        ToolInput::Query(_) => None,
    }
}

/// The text of a node as it is edited: a single argument is edited itself, without the JSON around it.
pub fn to_edit(node: &Node) -> String {
    node.kind.tool().and_then(argument).map_or_else(|| text(node), |(_, text)| text.to_owned())
}

/// What the text of a node is called, and the end of a file name that tells an editor what it is.
fn sort_of_text(work: &NodeKind) -> (&'static str, &'static str) {
    match work {
        NodeKind::Agent(_) | NodeKind::Decision(DecisionNode::Agent(_)) => ("objective", ".md"),
        NodeKind::Tool(ToolNode { input: ToolInput::Args(args), .. }) => {
            ("arguments", if only_text(args).is_some() { ".txt" } else { ".json" })
        }
        NodeKind::Tool(ToolNode { input: ToolInput::Query(_), .. }) => ("query", ".txt"),
        NodeKind::Code(_) => ("code", ".js"),
        NodeKind::Decision(DecisionNode::Expression(_)) => ("expression", ".md"),
        NodeKind::Merge(_) => ("template", ".json"),
        NodeKind::Transform(_) => ("value", ".json"),
        NodeKind::Approval(_) => ("question", ".md"),
        NodeKind::Subplan(SubplanNode::Inline(_)) => ("inner plan", ".json"),
        NodeKind::Subplan(SubplanNode::File { .. }) => ("file", ".txt"),
        NodeKind::Loop(_) => ("repeats until", ".txt"),
        NodeKind::Map(_) => ("once for each of", ".txt"),
    }
}

/// What the text of a node is called.
pub fn text_name(work: &NodeKind) -> &'static str {
    sort_of_text(work).0
}

/// The end of a file name that tells an editor what the text is.
pub fn text_suffix(work: &NodeKind) -> &'static str {
    sort_of_text(work).1
}

/// A title for editing a node's text.
pub fn text_title(node: &Node) -> String {
    match &node.kind {
        NodeKind::Loop(_) => format!("`{}` repeats until", node.id),
        NodeKind::Map(_) => format!("`{}` runs once for each of", node.id),
        kind => format!("{} of `{}`", kind.tool().and_then(argument).map_or(text_name(kind), |(name, _)| name), node.id),
    }
}

/// The node's work with another text.
///
/// # Errors
/// Words for a person when the text must be JSON and is not.
pub fn with_text(work: &NodeKind, text: &str) -> Result<NodeKind, String> {
    let mut work = work.clone();
    match &mut work {
        NodeKind::Agent(agent) | NodeKind::Decision(DecisionNode::Agent(agent)) => {
            agent.objective = (!text.trim().is_empty()).then(|| text.to_owned())
        }
        NodeKind::Tool(tool) => match &mut tool.input {
            ToolInput::Args(args) if only_text(args).is_some() => args.values_mut().for_each(|value| {
                // The editor's last line has an end; a command or a path has none.
                let is_line = value.as_str().is_some_and(|before| !before.contains('\n'));
                *value = Value::from(if is_line { text.trim_end_matches('\n') } else { text });
            }),
            ToolInput::Args(args) => match parse(text)? {
                Value::Object(given) => *args = given,
                _ => return Err("arguments must be a JSON object".into()),
            },
            ToolInput::Query(query) => text.clone_into(query),
        },
        NodeKind::Code(code) => text.clone_into(&mut code.code),
        NodeKind::Decision(DecisionNode::Expression(expression)) => text.clone_into(expression),
        NodeKind::Merge(merge) => merge.template = if text.trim().is_empty() { None } else { Some(parse(text)?) },
        NodeKind::Transform(transform) => transform.value = parse(text)?,
        NodeKind::Approval(ask) => text.clone_into(&mut ask.text),
        NodeKind::Subplan(SubplanNode::Inline(plan)) => **plan = body_from_value(parse(text)?).map_err(|error| error.to_string())?,
        NodeKind::Subplan(SubplanNode::File { path, loaded }) => {
            text.trim().clone_into(path);
            *loaded = None;
        }
        NodeKind::Loop(work) => text.clone_into(&mut work.until),
        NodeKind::Map(work) => text.clone_into(&mut work.over),
    }
    Ok(work)
}

/// Reads JSON.
///
/// # Errors
/// Words for a person, with line and column.
pub fn parse(text: &str) -> Result<Value, String> {
    exact_json(text).map_err(|error| format!("not valid JSON: {error}"))
}

/// A node as JSON, with the ids of the plan that it is in.
pub fn node_json(node: &Node) -> String {
    pretty(&node_to_value(&nest::node_within(nest::prefix(&node.id), node)))
}

/// A node from its JSON.
///
/// # Errors
/// Words for a person.
pub fn node_of(text: &str) -> Result<Node, String> {
    node_from_value(parse(text)?, "").map_err(|error| error.to_string())
}

/// JSON for reading and editing.
pub fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// The start of what is JSON for reading, so many bytes of it: no more is written than is shown, however large the whole is.
pub fn pretty_start(value: &impl Serialize, most: usize) -> String {
    let mut start = Start { text: Vec::new(), most };
    let cut = serde_json::to_writer_pretty(&mut start, value).is_err();
    start.into_text(cut)
}

/// Behind the first of several: that it is, and of how many.
pub fn first_of(all: usize) -> String {
    if all > 1 { format!(" (1 of {all})") } else { String::new() }
}

/// The same on one line.
pub fn compact_start(value: &impl Serialize, most: usize) -> String {
    let mut start = Start { text: Vec::new(), most };
    let cut = serde_json::to_writer(&mut start, value).is_err();
    start.into_text(cut)
}

/// Takes so many bytes and no more.
struct Start {
    text: Vec<u8>,
    most: usize,
}

impl Start {
    fn into_text(self, cut: bool) -> String {
        let text = String::from_utf8_lossy(&self.text);
        // The end may be half a character.
        if cut { format!("{}…", text.trim_end_matches(char::REPLACEMENT_CHARACTER)) } else { text.into_owned() }
    }
}

impl Write for Start {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.most - self.text.len();
        if room == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let taken = &bytes[..bytes.len().min(room)];
        self.text.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A result for reading: text as text, the rest as JSON.
pub fn result(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => pretty(other),
    }
}

/// A value on one line: text by its first line that says something, the rest as JSON.
pub fn on_a_line(value: &Value) -> Plain {
    let json = value.to_string();
    let text = value.as_str().map_or(json.as_str(), |text| text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default());
    Plain::summary(&text.chars().take(ON_A_LINE).collect::<String>())
}

/// The end of a run's name, which tells it from others.
pub fn run_name(run: &RunId) -> &str {
    short_name(&run.0)
}

/// How a run's status looks.
pub fn status_role(status: RunStatus) -> Role {
    match status {
        RunStatus::Running => Role::Running,
        RunStatus::Pausing | RunStatus::Paused | RunStatus::Held | RunStatus::NotUnderWay => Role::Held,
        RunStatus::Waiting => Role::Waiting,
        RunStatus::Interrupted | RunStatus::Frozen => Role::Unknown,
        RunStatus::Succeeded => Role::Succeeded,
        RunStatus::Partial => Role::Warning,
        RunStatus::Rehearsed => Role::Rehearsed,
        RunStatus::Failed => Role::Failed,
        RunStatus::Cancelled => Role::Cancelled,
    }
}

/// How the work of a node looks on a line of time: what is over is quiet, unless it failed.
pub fn lane_role(state: &NodeState) -> Role {
    match state.group() {
        StateGroup::Working | StateGroup::Resting => Role::Running,
        StateGroup::Failed => Role::Failed,
        StateGroup::Ahead | StateGroup::Waiting | StateGroup::Done | StateGroup::NotRun => Role::Dim,
    }
}

/// How a number of nodes looks.
pub fn count_role(what: CountedNodes) -> Role {
    match what {
        CountedNodes::Done => Role::Text,
        CountedNodes::Running => Role::Running,
        CountedNodes::Interrupted => Role::Unknown,
        CountedNodes::Rehearsed => Role::Rehearsed,
        CountedNodes::Waiting => Role::Waiting,
        CountedNodes::Failed | CountedNodes::FailedSafe => Role::Failed,
        CountedNodes::NotRun | CountedNodes::Inside => Role::Dim,
        CountedNodes::Stale => Role::Stale,
    }
}

/// How an event looks.
pub fn event_role(tone: EventTone) -> Role {
    match tone {
        EventTone::Text => Role::Text,
        EventTone::Dim => Role::Dim,
        EventTone::Accent => Role::Accent,
        EventTone::Warning => Role::Warning,
        EventTone::Error => Role::Error,
        EventTone::Code => Role::Code,
        EventTone::Gate => Role::Gate,
        EventTone::State(state) => of_state(&state).1,
        EventTone::Run(status) => status_role(status),
    }
}

/// How what an action changes looks.
pub fn impact_role(about: ImpactLine) -> Role {
    match about {
        ImpactLine::Nodes(NodeImpact::Stale | NodeImpact::Void | NodeImpact::Wraps | NodeImpact::AsksAgain) => Role::Warning,
        ImpactLine::Nodes(NodeImpact::Starts | NodeImpact::Finishes | NodeImpact::Runs) => Role::Running,
        ImpactLine::Nodes(NodeImpact::Holds | NodeImpact::HoldsAfterGate) => Role::Held,
        ImpactLine::Nodes(NodeImpact::Skips) => Role::Skipped,
        ImpactLine::Nodes(NodeImpact::Rehearses | NodeImpact::RehearsesAgain) => Role::Rehearsed,
        ImpactLine::Nodes(NodeImpact::Cancels | NodeImpact::CancelsAtWork) => Role::Cancelled,
        ImpactLine::Nodes(NodeImpact::Reruns) => Role::Retrying,
        ImpactLine::Nodes(NodeImpact::Succeeds) => Role::Succeeded,
        ImpactLine::Nodes(NodeImpact::Passes) => Role::Passed,
        ImpactLine::Nodes(NodeImpact::Stops | NodeImpact::Fails | NodeImpact::ActsAgain) => Role::Failed,
        ImpactLine::Ends(outcome) => status_role(outcome.into()),
        ImpactLine::Lost => Role::Text,
    }
}

/// A field of a form: what it is called and what it takes.
pub fn field(field: &Field) -> Plain {
    let name = field.label.as_deref().unwrap_or(&field.name);
    Plain::summary(name).then(&Plain::line(" (")).then(&Plain::summary(&field.takes())).then(&Plain::line(")"))
}

/// Gates around a node in words.
pub fn approve(approve: Option<Approve>) -> &'static str {
    match approve {
        None => "as the tool or card says",
        Some(Approve::Never) => "only where the configuration asks",
        Some(Approve::Before) => "before it starts",
        Some(Approve::After) => "after its result",
        Some(Approve::Both) => "before and after",
    }
}

/// How bad a finding is: in a word, by its mark, and how that looks.
pub fn severity(severity: Severity) -> (&'static str, Glyph, Role) {
    match severity {
        Severity::Error => ("error", Glyph::Error, Role::Error),
        Severity::Warning => ("warning", Glyph::Warning, Role::Warning),
    }
}

/// Where a finding is: at which node, or on which edge.
pub fn finding_place(finding: &Finding, edge: Option<&Edge>) -> String {
    match (&finding.node, edge) {
        (_, Some(edge)) => format!("{} to {}", edge.from, edge.to),
        (Some(node), None) => node.to_string(),
        (None, None) if finding.path.is_empty() => "plan".to_owned(),
        (None, None) => finding.path.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{compact_start, pretty, pretty_start};
    use serde_json::json;

    #[test]
    fn of_a_large_value_only_the_start_is_written() {
        let value = json!({"text": "é".repeat(1_000), "more": [1, 2, 3]});
        assert_eq!(pretty_start(&value, 1 << 20), pretty(&value));
        assert_eq!(compact_start(&value, 12), "{\"text\":\"é…");
        assert_eq!(compact_start(&value, 13), "{\"text\":\"éé…".trim_end_matches("é…").to_owned() + "é…");
        assert_eq!(pretty_start(&json!(null), 4), "null");
    }
}
