//! Names that authors write for fields which are called otherwise, by form and kind of object, and words that would ask a person. A name
//! stands here only if it has one meaning.

use serde_json::{Map, Value};

/// Names of a list of nodes that no form has.
pub(super) const NODES: [&str; 11] =
    ["steps", "task_nodes", "subtasks", "plan", "actions", "workflow_nodes", "jobs", "pipeline", "execution_plan", "action_plan", "states"];

/// Fields by which an object is a step, whatever else it has.
const STEP: [&str; 17] = [
    "agent",
    "agent_name",
    "agent_id",
    "tool",
    "tool_name",
    "task",
    "action",
    "objective",
    "prompt",
    "instruction",
    "instructions",
    "description",
    "function",
    "code",
    "command",
    "cmd",
    "run",
];

/// Whether a value is an object that says what to do.
pub(in crate::plan) fn is_step(value: &Value) -> bool {
    STEP.iter().any(|name| value.get(*name).is_some_and(|value| !value.is_null()))
}

/// Whether a value is an object that says what to do by its title alone.
pub(super) fn is_titled(value: &Value) -> bool {
    ["title", "name"].iter().any(|name| value.get(*name).is_some_and(Value::is_string))
}

/// Names of the ids that a node waits for.
pub(in crate::plan) const DEPENDS_ON: &[&str] = &[
    "depends_on",
    "dependencies",
    "deps",
    "dep",
    "needs",
    "after",
    "requires",
    "depends",
    "depend_on",
    "dependson",
    "prerequisites",
    "predecessors",
    "upstream",
    "parents",
    "parent",
    "dependency",
    "dependent_task_ids",
    "dependencies_ids",
    "depends_on_steps",
    "blocked_by",
    "waits_for",
    "wait_for",
    "run_after",
    "start_after",
    "follows",
    "previous",
];

/// Names of the one field of an object that stands where an id belongs.
pub(super) const NODE_REFERENCE: [&str; 6] = ["id", "node", "task", "from", "node_id", "task_id"];

/// Fields that would have a person asked.
pub(super) const GATES: &[&str] = &[
    "gate",
    "gates",
    "approval",
    "approvals",
    "approve_before",
    "approval_required",
    "requires_approval",
    "require_approval",
    "needs_approval",
    "ask_approval",
    "await_approval",
    "wait_for_approval",
    "manual_approval",
    "human_approval",
    "user_approval",
    "approver",
    "approvers",
    "confirm",
    "confirmation",
    "confirmation_required",
    "requires_confirmation",
    "require_confirmation",
    "needs_confirmation",
    "human_in_the_loop",
    "hitl",
    "human_review",
    "review_required",
    "requires_review",
    "needs_review",
    "requires_human",
    "human_required",
    "permission",
    "permission_required",
    "requires_permission",
    "ask_first",
    "ask_before",
    "ask_user",
    "ask_human",
    "approve_first",
    "manual",
    "manual_step",
    "pause_for_human",
    "sign_off",
    "gate_before",
];

pub(super) const NATIVE_DOCUMENT: &[(&str, &str)] =
    &[("links", "edges"), ("task_links", "edges"), ("transitions", "edges"), ("flows", "edges"), ("objective", "goal")];
pub(super) const NATIVE_NODE: &[(&str, &str)] = &[
    ("node_id", "id"),
    ("task_id", "id"),
    ("step_id", "id"),
    ("tool_name", "tool"),
    ("arguments", "args"),
    ("parameters", "args"),
    ("params", "args"),
    ("tool_args", "args"),
    ("tool_input", "args"),
    ("agent_name", "agent"),
    ("agent_id", "agent"),
    ("prompt", "objective"),
    ("instruction", "objective"),
    ("instructions", "objective"),
    ("condition", "when"),
    ("if", "when"),
    ("skip_condition", "skip_if"),
    ("timeout_seconds", "timeout_s"),
    ("question", "ask"),
];
pub(super) const NATIVE_EDGE: &[(&str, &str)] = &[
    ("source", "from"),
    ("source_id", "from"),
    ("src", "from"),
    ("from_id", "from"),
    ("from_node", "from"),
    ("target", "to"),
    ("target_id", "to"),
    ("dst", "to"),
    ("to_id", "to"),
    ("to_node", "to"),
    ("condition", "when"),
    ("if", "when"),
];

/// Names of a line for the shell.
pub(super) const COMMANDS: [&str; 4] = ["command", "cmd", "run", "shell"];

/// What a node's words mean that says what to do by none of the usual names.
pub(super) fn work(node: &Map<String, Value>) -> Option<(&'static str, &'static str)> {
    let has = |names: &[&str]| names.iter().any(|name| node.get(*name).is_some_and(|value| !value.is_null()));
    let says_text = |name: &&str| node.get(*name).is_some_and(Value::is_string);
    let says = |name: &&&str| says_text(name);
    let args = ["args", "arguments", "parameters", "params", "tool_args", "tool_input"];
    if has(&["tool", "tool_name", "code", "ask", "question", "decide", "merge", "value", "plan", "until", "over", "body", "query"])
        || COMMANDS.iter().any(says_text)
    {
        return None;
    }
    if has(&args) && !has(&["agent", "agent_name", "agent_id", "role"]) {
        return ["task", "action", "function"].iter().find(says).map(|name| (*name, "tool"));
    }
    if has(&["objective", "prompt", "instruction", "instructions", "goal"]) {
        return None;
    }
    let asks_or_tells = has(&["type", "kind", "approve"]) || GATES.iter().any(|gate| has(&[gate]));
    let titles: &[&str] = if asks_or_tells { &[] } else { &["title", "name"] };
    ["task", "action", "description"].iter().chain(titles).find(says).map(|name| (*name, "objective"))
}

/// A name without what people write in different ways: case, `_`, `-` and spaces.
pub(in crate::plan) fn plain(name: &str) -> String {
    letters(name).collect()
}

fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| !['_', '-', ' '].contains(c)).flat_map(char::to_lowercase)
}

/// Whether two names differ at most in case, `_`, `-` and spaces.
pub(super) fn is_alike(one: &str, other: &str) -> bool {
    letters(one).eq(letters(other))
}

/// When a field that would have a person asked asks, by its name and value; `own` is a further name.
pub(in crate::plan) fn gate(name: &str, value: &Value, own: Option<&str>) -> Option<&'static str> {
    if name == "approve" && own.is_none() {
        return None;
    }
    let is_known = own == Some(name) || GATES.iter().any(|gate| is_alike(gate, name));
    let asked = asks(value).filter(|_| is_known || says_yes(value) && is_like_a_gate(name))?;
    Some(if asked == "before" && plain(name).ends_with("after") { "after" } else { asked })
}

/// A gate inside of what holds settings of a node, with its path.
pub(super) fn inner_gate(node: &Map<String, Value>) -> Option<(String, &'static str)> {
    let holders = ["policy", "config", "settings", "options", "metadata"].into_iter();
    let inner = holders.filter_map(|holder| Some((holder, node.get(holder)?.as_object()?)));
    let mut fields = inner.flat_map(|(holder, fields)| fields.iter().map(move |(name, value)| (holder, name, value)));
    fields.find_map(|(holder, name, value)| Some((format!("{holder}.{name}"), gate(name, value, Some("approve"))?)))
}

/// Whether a name speaks of asking a person, though nobody has listed it.
fn is_like_a_gate(name: &str) -> bool {
    let name = plain(name);
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    has(&["approv", "confirm", "humanin", "humanreview", "humanrequired", "needhuman", "needshuman", "requirehuman", "interruptbefore"])
        && !has(&["approved", "confirmed", "auto", "skip", "without", "noapprov", "noconfirm", "nohuman", "bypass"])
}

/// Whether a value is a plain yes.
fn says_yes(value: &Value) -> bool {
    let words = ["true", "yes", "on", "required", "always", "mandatory", "manual", "human", "before", "after", "both"];
    value == &Value::Bool(true) || value.as_str().is_some_and(|text| words.contains(&plain(text).as_str()))
}

/// Whether a value of `approve` is none that the field has, and may still say when it asks.
pub(super) fn is_no_choice(value: &Value) -> bool {
    let is_choice = |text: &str| ["never", "before", "after", "both"].contains(&text);
    value.is_boolean() || value.is_object() || value.as_str().is_some_and(|text| !is_choice(text))
}

/// When a gate asks, by its value; nothing if it says that nobody is asked.
pub(in crate::plan) fn asks(value: &Value) -> Option<&'static str> {
    match value {
        Value::String(text) => match plain(text).as_str() {
            "" | "never" | "none" | "no" | "false" | "off" | "auto" | "automatic" => None,
            "after" => Some("after"),
            "both" => Some("both"),
            _ => Some("before"),
        },
        Value::Object(map) => {
            let says = |name: &str| map.get(name).map(|value| asks(value).is_some());
            let off = ["enabled", "required"].into_iter().any(|name| says(name) == Some(false));
            match (says("before"), says("after")) {
                _ if off => None,
                (Some(true), Some(true)) => Some("both"),
                (Some(false) | None, Some(true)) => Some("after"),
                (Some(true), _) | (None, None) => Some("before").filter(|_| !map.is_empty()),
                (Some(false), _) | (None, Some(false)) => None,
            }
        }
        Value::Bool(true) => Some("before"),
        Value::Number(number) => (number.as_f64() != Some(0.0)).then_some("before"),
        Value::Array(list) => (!list.is_empty()).then_some("before"),
        Value::Null | Value::Bool(false) => None,
    }
}
