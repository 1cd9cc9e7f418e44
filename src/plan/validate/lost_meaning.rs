//! What a document says in a field that nothing reads, where silence or a warning would let something happen otherwise than it is written:
//! whether, how often and after what something runs, what it is to do, and who is asked.

use super::asking::plain_words;
use super::check::PlanCheck;
use super::finding::Fix;
use super::lost_order::{linked, lost_order, right_place, says_order};
use super::unread::asks as is_asked;
use super::wording::{legible, meant};
use crate::plan::dialect::names::NAMES;
use crate::plan::dialect::{DocumentPart, asks, gate, is_alias, is_field, is_kept, is_like_a_gate, is_step, known_fields, plain};
use crate::plan::edit::Edit;
use crate::plan::fields::is_quiet;
use crate::plan::native::node_fields;
use crate::plan::{Approve, Dialect, NodeKind};
use serde_json::Value;

/// What an unknown field says that must not be passed over.
pub(super) fn lost_meaning(check: &PlanCheck, part: DocumentPart, at: Option<usize>, name: &str, value: &Value) -> Option<String> {
    if is_field(check.plan.dialect, part, name) || value.is_null() || NAMES.unknown.harmless.contains(&name) {
        return None;
    }
    if part != DocumentPart::Edge
        && let Some(message) = lost_gate(check, (part, at), name, value)
    {
        return Some(message);
    }
    match part {
        DocumentPart::Plan => of_plan(check, name, value),
        DocumentPart::Node => of_node(check, at?, name, value),
        DocumentPart::Edge => of_edge(check, name, value),
    }
}

/// In an unknown field that seems to ask a person: a slip of a gate's name that says yes, or nodes that are to wait.
fn lost_gate(check: &PlanCheck, (part, at): (DocumentPart, Option<usize>), name: &str, value: &Value) -> Option<String> {
    let shown = legible(name);
    // A node may name what it depends on as what it reviews.
    let is_joined = at.is_some_and(|at| linked(check, at, value).is_empty());
    if let Some(message) = waiting_nodes(check, part, (name, value), 2).filter(|_| !is_joined) {
        return Some(message);
    }
    // A short name is one slip from many others.
    let names = NAMES.gate.names.iter().copied().filter(|gate| gate.len() >= LONG_NAME);
    let near = meant(name, names).filter(|near| plain(near) != plain(name) && *value == Value::Bool(true))?;
    Some(format!("nothing reads `{shown}`: if it means `{near}`, this would run without asking; write `approve`"))
}

/// Nodes that a field names which are to wait for a person, where nothing reads it; `depth` is how far inside of it they may be.
pub(super) fn waiting_nodes(check: &PlanCheck, part: DocumentPart, (name, value): (&str, &Value), depth: usize) -> Option<String> {
    let (shown, word) = (legible(name), plain(name));
    let asks = speaks_of_asking(name);
    let halts = NAMES.gate.halts.iter().any(|part| word.contains(part));
    let may = part == DocumentPart::Plan || !value.is_string();
    let named = if (asks || halts) && may { nodes_in(check, value, 2) } else { Vec::new() };
    let is_done = |at: &usize| if asks { is_asked(check, *at) } else { check.plan.nodes[*at].policy.breakpoint.is_some() };
    if !named.iter().all(is_done) {
        let (lost, field) = if asks { ("run unasked", "approve") } else { ("not halt there", "breakpoint") };
        return Some(format!("`{shown}` names nodes, but nothing reads it here, so they would {lost}: write `{field}` at each of them"));
    }
    let fields = value.as_object().filter(|_| depth > 0)?;
    fields.iter().find_map(|(inner, value)| waiting_nodes(check, part, (inner, value), depth - 1))
}

/// Whether a name is about asking a person: that of a gate, or `manual_nodes`, `human_steps`.
fn speaks_of_asking(name: &str) -> bool {
    let said = plain_words(name);
    let of_nodes = || said.split(' ').any(|word| ["nodes", "node", "steps", "step", "tasks", "task", "loop", "at"].contains(&word));
    let of_people = || said.split(' ').any(|word| NAMES.asking.names.contains(&word) || word == "supervised");
    gate(name, &Value::Bool(true), None).is_some() || is_like_a_gate(name) || of_people() && of_nodes()
}

/// The nodes that a value names: as texts, in lists, or by keys.
fn nodes_in(check: &PlanCheck, value: &Value, depth: usize) -> Vec<usize> {
    let one = |id: &str| check.graph.position(id.trim());
    match value {
        Value::String(id) => one(id).into_iter().collect(),
        Value::Array(list) => list.iter().flat_map(|entry| nodes_in(check, entry, depth)).collect(),
        Value::Object(fields) if depth > 0 => {
            fields.iter().flat_map(|(name, inner)| one(name).into_iter().chain(nodes_in(check, inner, depth - 1))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

/// A question at each of the nodes that a field names for that.
pub(super) fn asked_at(check: &PlanCheck, name: &str, value: &Value) -> Option<Fix> {
    let listed = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
    let is_own = |at: &usize| check.plan.nodes[*at].policy.approve.is_none();
    let ids: Option<Vec<usize>> = listed.iter().map(|id| check.graph.position(id.as_str()?.trim()).filter(is_own)).collect();
    let mut nodes = ids.filter(|ids| !ids.is_empty() && speaks_of_asking(name))?;
    nodes.sort_unstable();
    nodes.dedup();
    let approve = if plain_words(name).split(' ').any(|word| word == "after") { Approve::After } else { Approve::Before };
    let mut edits: Vec<Edit> = nodes.iter().map(|at| check.changed(*at, |node| node.policy.approve = Some(approve))).collect();
    let edit = if edits.len() == 1 { edits.remove(0) } else { Edit::Batch { edits } };
    Some(Fix::safe("ask at each of these nodes", edit))
}

/// From how many letters on a name that is almost a gate's is taken for a slip of it.
const LONG_NAME: usize = 7;

/// Whether an unknown field says nothing: it has no value, or it denies or leaves empty what is denied or empty without it.
pub(super) fn says_nothing(dialect: Dialect, part: DocumentPart, name: &str, value: &Value) -> bool {
    let is_memo = is_kept(dialect, part, name, &Value::Bool(true));
    let may_deny = match value {
        Value::Bool(said) => !said && gate(name, &Value::Bool(true), None).is_none(),
        Value::Array(_) | Value::Object(_) => part != DocumentPart::Plan,
        Value::Null | Value::Number(_) | Value::String(_) => false,
    };
    is_memo || is_quiet(value) && (!may_deny || is_alias(dialect, part, name))
}

/// In an unknown field of the plan: nodes and their order.
fn of_plan(check: &PlanCheck, name: &str, value: &Value) -> Option<String> {
    let (shown, dialect) = (legible(name), check.plan.dialect);
    let is_order = *value == Value::Bool(false) && says_order(check, name, value);
    if is_kept(dialect, DocumentPart::Plan, name, value) && !is_order {
        return None;
    }
    let listed = || value.as_array().into_iter().flatten();
    if NAMES.unknown.descriptions.contains(&plain(name).as_str()) && listed().count() == check.plan.nodes.len() && listed().all(describes) {
        return None;
    }
    if listed().any(is_step) || holds_nodes(value) {
        return Some(format!("`{shown}` holds nodes beside the plan's own, which would not run: write them into one list"));
    }
    let word = plain(name);
    if NAMES.unknown.condition.contains(&word.as_str()) {
        return Some(format!(
            "`{shown}` is no condition of a whole plan, so it would always run: write `when` at the nodes that it is about"
        ));
    }
    if let Some(message) = lost_limit(&word, value) {
        return Some(format!("`{shown}` {message}"));
    }
    says_order(check, name, value)
        .then(|| format!("`{shown}` says an order, but orders nothing here: write it as each node's `depends_on`, or as edges"))
}

/// Whether an entry says something in words alone, such as what a node that is written elsewhere does.
fn describes(entry: &Value) -> bool {
    let mut fields = entry.as_object().into_iter().flatten();
    fields.all(|(name, value)| (value.is_string() || value.is_number()) && !NAMES.node.depends_on.contains(&name.as_str()))
}

/// Whether a value holds a list of nodes at any depth: objects with ids, of which one names what it waits for.
fn holds_nodes(value: &Value) -> bool {
    let has = |node: &Value, names: &[&str]| names.iter().any(|name| node.get(*name).is_some());
    match value {
        Value::Array(list) => {
            let are_nodes =
                list.iter().all(|node| has(node, &NAMES.node.reference)) && list.iter().any(|node| has(node, &NAMES.node.depends_on));
            are_nodes && !list.is_empty() || list.iter().any(holds_nodes)
        }
        Value::Object(fields) => fields.values().any(holds_nodes),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// In an unknown field of an edge: whether it leads on.
fn of_edge(check: &PlanCheck, name: &str, value: &Value) -> Option<String> {
    let dialect = check.plan.dialect;
    let (word, shown) = (plain(name), legible(name));
    if gate(name, value, Some("approve")).is_some() {
        return Some(format!("`{shown}` asks nobody at an edge: write `approve` at the node that the edge leads to"));
    }
    if is_off(&word, value) {
        return Some(format!("`{shown}` says that this edge leads nowhere, but it would: remove the edge, or write a condition"));
    }
    let is_condition = NAMES.unknown.condition.contains(&word.as_str()) || ["guard", "skip", "only"].contains(&word.as_str());
    if is_condition && (*value == Value::Bool(false) || !is_kept(dialect, DocumentPart::Edge, name, value)) {
        return Some(format!(
            "`{shown}` is no condition here, so this edge would always lead on: write `when`, or the form's own `condition`"
        ));
    }
    let known = known_fields(dialect, DocumentPart::Edge).iter().copied();
    let near = slip(name, dialect, &["when", "condition", "default"], known)?;
    Some(format!("an edge has no field `{shown}`, and a slip of `{near}` would let it lead on always"))
}

/// Whether a field says that its object is not there.
fn is_off(word: &str, value: &Value) -> bool {
    let on = ["enabled", "active", "execute", "shouldrun", "shouldexecute", "run", "isenabled", "isactive"];
    let said = value.as_str().map(|text| text.trim().to_ascii_lowercase());
    match value {
        Value::String(_) if ["false", "no", "off"].iter().any(|no| said.as_deref() == Some(*no)) => on.contains(&word),
        Value::String(_) if ["status", "state"].contains(&word) => {
            ["disabled", "inactive", "off", "skip", "skipped", "ignored", "removed"].iter().any(|off| said.as_deref() == Some(*off))
        }
        Value::String(_) if ["true", "yes", "on"].iter().any(|yes| said.as_deref() == Some(*yes)) => {
            ["disabled", "skip", "skipped", "isdisabled"].contains(&word)
        }
        Value::Bool(false) => on.contains(&word),
        Value::Bool(true) => ["disabled", "skip", "skipped", "isdisabled"].contains(&word),
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

/// What a field says of what may not happen.
fn lost_limit(word: &str, value: &Value) -> Option<&'static str> {
    let is_rehearsal = NAMES.unknown.rehearsal.contains(&word) && !says_no(value);
    if is_rehearsal {
        return Some("says that nothing is changed, but nothing reads it, so all would run: take it out, and run with `--rehearse`");
    }
    let limits = NAMES.unknown.tools.contains(&word) && !value.is_null();
    limits.then_some("limits what tools may be called, but nothing reads it: write `tools` at each agent's node")
}

/// Whether a value says that nobody is asked.
fn says_no(value: &Value) -> bool {
    asks(value).is_none()
}

/// The field of these that a name is a slip of.
fn slip<'n>(name: &str, dialect: Dialect, of: &[&str], known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let near = meant(name, known)?;
    let is_native = dialect == Dialect::Native || near == "condition";
    (is_native && of.contains(&near) && plain(name) != plain(near)).then_some(near)
}

/// In an unknown field of a node: whether, how often or after what it runs, and what it is to do.
fn of_node(check: &PlanCheck, at: usize, name: &str, value: &Value) -> Option<String> {
    let dialect = check.plan.dialect;
    let (word, shown) = (plain(name), legible(name));
    let is = |words: &[&str]| words.contains(&word.as_str());
    if is_off(&word, value) {
        return Some(format!("`{shown}` says that this doesn't run, but it would: remove the node, or write a condition"));
    }
    if is(&NAMES.unknown.condition) {
        return Some(format!(
            "`{shown}` is no condition here, so this would always run: write `when` in a native plan, or a condition on an edge"
        ));
    }
    if let Some(message) = lost_limit(&word, value) {
        return Some(format!("`{shown}` {message}"));
    }
    let is_no_gate = gate(name, &Value::Bool(true), None).is_some() && says_no(value);
    if let Some(near) = slip(name, dialect, &["when", "skip_if", "approve", "breakpoint"], node_fields()).filter(|_| !is_no_gate) {
        return Some(format!("a node has no field `{shown}`: if it means `{near}`, the node would run without it"));
    }
    if dialect != Dialect::Native && is(&["breakpoint"]) && !says_no(value) {
        let form = dialect.name();
        return Some(format!("the {form} format has no breakpoints, so nothing would halt here: export the plan to the native format"));
    }
    let runs_as = ["javascript", "js", "node", "nodejs", "ecmascript"];
    let language = value.as_str().filter(|language| !runs_as.contains(&plain(language).as_str()));
    if let Some(language) = language.filter(|_| is(&["language", "lang"]) && matches!(check.plan.nodes[at].kind, NodeKind::Code(_))) {
        return Some(format!("the code is in {}, but it would run as JavaScript", legible(language)));
    }
    let is_quiet = is_kept(dialect, DocumentPart::Node, name, value);
    if !is_quiet && is(&["foreach", "loop", "while", "repeat", "repeatuntil", "forall", "fanout"]) {
        return Some(format!("`{shown}` has no effect here, so this would run once: use a node with `over` or `until`, and a `body`"));
    }
    let holders = ["children", "subtasks", "substeps", "steps", "tasks", "nodes", "actions", "parallel", "branches", "then", "do"];
    let is_held = holders.contains(&word.as_str()) && value.as_array().is_some_and(|list| list.iter().any(Value::is_object));
    if is_held || holds_nodes(value) {
        return Some(format!("`{shown}` holds steps of its own, which would not run: write them as nodes, or as the `plan` of this one"));
    }
    lost_order(check, at, name, value).map(|message| format!("`{shown}` {message}: {}", right_place(dialect)))
}
