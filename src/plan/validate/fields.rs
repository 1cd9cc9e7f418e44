//! Fields of the document that mean nothing where they stand. Unknown ones are kept, since a later version may know them; one that
//! looks like a slip of the pen is told, because the plan would otherwise run without what was meant.

use super::check::{FindingPlace, PlanCheck};
use super::codes::Code;
use super::finding::Fix;
use super::wording::{did_you_mean, legible};
use crate::plan::dialect::{DocumentPart, is_field, is_kept, known_fields, node_from_value, node_to_value, plain};
use crate::plan::edit::Edit;
use crate::plan::native::node_fields;
use crate::plan::{AgentNode, Dialect, Node, NodeId, NodeKind, Plan};
use serde_json::{Map, Value};

pub(super) fn check(check: &mut PlanCheck) {
    let plan = check.plan;
    of_part(check, DocumentPart::Plan, FindingPlace::Plan, &plan.ext);
    plan.nodes.iter().enumerate().for_each(|(at, node)| of_part(check, DocumentPart::Node, FindingPlace::Node(at), &node.ext));
    plan.edges.iter().enumerate().for_each(|(at, edge)| of_part(check, DocumentPart::Edge, FindingPlace::Edge(at), &edge.ext));
}

/// Fields of people and screens, which nobody expects to do anything.
const HARMLESS: [&str; 12] =
    ["notes", "note", "label", "id", "name", "title", "description", "comment", "metadata", "version", "$schema", "ext"];

fn of_part(check: &mut PlanCheck, part: DocumentPart, place: FindingPlace, ext: &Map<String, Value>) {
    let dialect = check.plan.dialect;
    for (name, value) in ext {
        let at = if let FindingPlace::Node(at) = place { Some(at) } else { None };
        if let Some(message) = at.and_then(|at| lost_meaning(check, at, name, value)) {
            let near = if dialect == Dialect::Native { meant(name, node_fields()) } else { None };
            let message = format!("{message}{}", did_you_mean(near));
            let fix = near.zip(at).and_then(|(near, at)| renamed(check.plan, at, name, near));
            check.find(Code::WrongShape, place, name, message, fix);
            continue;
        }
        // Names with this beginning are their author's own.
        if is_kept(dialect, part, name, value) || name.starts_with(['_', '$']) || name.starts_with("x_") || name.starts_with("x-") {
            continue;
        }
        if let Some(at) = at.filter(|_| dialect == Dialect::Native && ["type", "kind"].contains(&name.as_str())) {
            of_kind(check, at, name, value);
            continue;
        }
        let form = match (dialect, part) {
            (Dialect::Native, DocumentPart::Plan) => "a plan".to_owned(),
            (Dialect::Native, DocumentPart::Node) => "a node".to_owned(),
            (Dialect::Native, DocumentPart::Edge) => "an edge".to_owned(),
            _ => format!("the {} format", dialect.name()),
        };
        if is_field(dialect, part, name) {
            if dialect == Dialect::Native {
                check.find(Code::UnknownField, place, name, format!("`{name}` has no effect on this kind of node"), None);
            }
        } else if dialect != Dialect::Native && is_field(Dialect::Native, part, name) && !HARMLESS.contains(&name.as_str()) {
            let message = format!("{form} doesn't use `{name}`: export the plan to the native format and write it there");
            check.find(Code::UnknownField, place, name, message, None);
        } else {
            let is_node = dialect == Dialect::Native && part == DocumentPart::Node;
            let known: Vec<&str> = if is_node { node_fields().collect() } else { known_fields(dialect, part).to_vec() };
            let meant = meant(name, known.into_iter());
            if meant.is_none() && HARMLESS.contains(&name.as_str()) {
                continue;
            }
            let fix = meant.zip(at).filter(|_| is_node).and_then(|(meant, at)| renamed(check.plan, at, name, meant));
            let shown = legible(name);
            check.find(
                Code::UnknownField,
                place,
                name,
                format!("{form} has no field `{shown}`, so it does nothing{}", did_you_mean(meant)),
                fix,
            );
        }
    }
}

/// What a node says by an unknown field that must not be passed over: whether, how often or after what it runs, and what it is to do.
fn lost_meaning(check: &PlanCheck, at: usize, name: &str, value: &Value) -> Option<String> {
    let dialect = check.plan.dialect;
    if is_field(dialect, DocumentPart::Node, name) || value.is_null() || HARMLESS.contains(&name) {
        return None;
    }
    let (word, shown) = (plain(name), legible(name));
    let is = |words: &[&str]| words.contains(&word.as_str());
    let is_off = *value == Value::Bool(false) && is(&["enabled", "active"]) || *value == Value::Bool(true) && is(&["disabled", "skip"]);
    if is_off {
        return Some(format!("`{shown}` says that this doesn't run, but it would: remove the node, or write a condition"));
    }
    if is(&["if", "when", "condition", "runif", "onlyif", "executeif", "unless", "skipif", "skipwhen", "skipcondition"]) {
        return Some(format!(
            "`{shown}` is no condition here, so this would always run: write `when` in a native plan, or a condition on an edge"
        ));
    }
    let runs_as = ["javascript", "js", "node", "nodejs", "ecmascript"];
    let language = value.as_str().filter(|language| !runs_as.contains(&plain(language).as_str()));
    if let Some(language) = language.filter(|_| is(&["language", "lang"]) && matches!(check.plan.nodes[at].kind, NodeKind::Code(_))) {
        return Some(format!("the code is in {}, but it would run as JavaScript", legible(language)));
    }
    let is_quiet = is_kept(dialect, DocumentPart::Node, name, value);
    if !is_quiet && is(&["foreach", "loop", "repeat", "repeatuntil", "forall", "fanout"]) {
        return Some(format!("`{shown}` says how often this runs, but it would run once: use a node with `over` or `until`, and a `body`"));
    }
    let holders = ["children", "subtasks", "substeps", "steps", "tasks", "nodes", "actions", "parallel", "branches", "then", "do"];
    if holders.contains(&word.as_str()) && value.as_array().is_some_and(|list| list.iter().any(Value::is_object)) {
        return Some(format!("`{shown}` holds steps of its own, which would not run: write them as nodes, or as the `plan` of this one"));
    }
    let listed = value.as_array().into_iter().flatten().chain(value.as_object().into_iter().flat_map(Map::values));
    let ids: Vec<&str> = value.as_str().into_iter().chain(listed.filter_map(Value::as_str)).collect();
    let is_whole = value.as_array().map(Vec::len).or(value.as_object().map(Map::len)).is_none_or(|count| count == ids.len());
    let own = check.graph.id(at).as_str();
    let are_nodes = is_whole && !ids.is_empty() && ids.iter().all(|id| *id != own && check.graph.position(&NodeId::new(*id)).is_some());
    let forward =
        ["next", "then", "onsuccess", "successors", "successor", "downstream", "leadsto", "blocks", "triggers", "children", "inputfrom"];
    // A slip of another field's name is told as that.
    let is_slip = meant(name, node_fields()).is_some_and(|near| near != "depends_on");
    let is_order = value.is_array() && !is_slip || is(&forward);
    (are_nodes && is_order)
        .then(|| format!("`{shown}` names other nodes, but orders nothing here: write the order as each node's `depends_on`"))
}

/// A node that says in words what it is may do something else by its fields: an approval that is none would ask nobody.
fn of_kind(check: &mut PlanCheck, at: usize, name: &str, value: &Value) {
    let Some(word) = value.as_str().map(plain) else { return };
    let kind = check.plan.nodes[at].kind.name();
    let said = match word.as_str() {
        "approval" | "gate" | "humanapproval" | "humanreview" | "humanintheloop" | "human" | "hitl" | "confirmation" | "confirm"
        | "manual" | "manualapproval" => "approval",
        "tool" | "toolcall" | "function" | "api" => "tool",
        "agent" | "llm" => "agent",
        "code" | "script" | "python" | "javascript" => "code",
        "decision" | "condition" | "router" | "branch" => "decision",
        "merge" | "join" => "merge",
        "transform" => "transform",
        "loop" => "loop",
        "map" | "foreach" => "map",
        _ => return,
    };
    if said != kind {
        let message = format!("`{name}` says {said}, but by its other fields this is a node of kind {kind}");
        check.find(Code::WrongShape, FindingPlace::Node(at), name, message, None);
    }
}

/// The node with the field under the name that was meant, if it can be read so.
fn renamed(plan: &Plan, at: usize, name: &str, meant: &str) -> Option<Fix> {
    let mut value = node_to_value(&plan.nodes[at]);
    let fields = value.as_object_mut().filter(|fields| !fields.contains_key(meant))?;
    let written = fields.shift_remove(name)?;
    fields.insert(meant.to_owned(), written);
    let node: Node = node_from_value(value, "").ok()?;
    // Another kind of node is no slip of the pen, and a question that nobody meant is answered by whoever says yes to all.
    let said = plan.nodes[at].kind != NodeKind::Agent(AgentNode::default());
    if matches!(node.kind, NodeKind::Approval(_)) && !matches!(plan.nodes[at].kind, NodeKind::Approval(_))
        || said && node.kind.name() != plan.nodes[at].kind.name()
    {
        return None;
    }
    Some(Fix::guess(format!("rename it to `{meant}`"), Edit::SpliceNodes { at, remove: 1, insert: vec![node] }))
}

/// A known name that is one slip away; two in longer names.
fn meant<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let slips = if name.len() < 5 { 1 } else { 2 };
    let near = known.filter(|known| known.len().abs_diff(name.len()) <= slips);
    near.map(|known| (strsim::levenshtein(name, known), known)).filter(|(count, _)| *count <= slips).min().map(|(_, known)| known)
}
