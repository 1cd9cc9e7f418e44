//! Fields of the document that mean nothing where they stand. Unknown ones are kept, since a later version may know them; one that
//! looks like a slip of the pen is told, because the plan would otherwise run without what was meant.

use super::check::{FindingPlace, PlanCheck};
use super::codes::Code;
use super::finding::Fix;
use super::lost_meaning::{asked_at, lost_meaning, says_nothing, waiting_nodes};
use super::lost_order::{linked, order_said, says_order};
use super::unread::{About, UnreadMeaning, unread_meaning};
use super::wording::{did_you_mean, legible, meant};
use crate::plan::dialect::names::NAMES;
use crate::plan::dialect::{DocumentPart, gate_within, is_field, is_kept, known_fields, node_from_value, node_to_value, plain, read};
use crate::plan::edit::Edit;
use crate::plan::fields::is_quiet;
use crate::plan::native::node_fields;
use crate::plan::{AgentNode, Dialect, Node, NodeKind, Plan, PlanSource, SubplanNode, value_text};
use serde_json::{Map, Value, json};

pub(super) fn check(check: &mut PlanCheck) {
    let plan = check.plan;
    of_part(check, DocumentPart::Plan, FindingPlace::Plan, &plan.ext);
    for (name, value) in &plan.metadata {
        of_metadata(check, name, value);
    }
    for (at, node) in plan.nodes.iter().enumerate() {
        of_part(check, DocumentPart::Node, FindingPlace::Node(at), &node.ext);
        of_inputs(check, at);
    }
    plan.edges.iter().enumerate().for_each(|(at, edge)| of_part(check, DocumentPart::Edge, FindingPlace::Edge(at), &edge.ext));
}

/// Inputs that name another node in other words than a reference's: these words alone would be handed in.
fn of_inputs(check: &mut PlanCheck, at: usize) {
    let plan = check.plan;
    for (name, value) in plan.nodes[at].policy.inputs.iter().flatten() {
        let Some(source) = input_of(check, value).filter(|source| *source != at) else { continue };
        let (id, is_before) = (check.graph.id(source).clone(), check.comes_before(source, at));
        let may = !plan.dialect.walks() && check.graph.closes(source, at).is_none();
        let fix = (is_before || may).then(|| {
            let edit = check.changed(at, |node| {
                node.policy.inputs.iter_mut().for_each(|inputs| drop(inputs.insert(name.clone(), json!(format!("{{{{{id}.result}}}}")))));
                if !is_before {
                    node.depends_on.push(id.clone());
                }
            });
            Fix::guess(format!("read `{{{{{id}.result}}}}`"), edit)
        });
        // Where the order is there, only the value is at stake.
        let code = if is_before { Code::ForeignReference } else { Code::WrongShape };
        let message = format!("this is handed in as it is written: what it seems to mean is `{{{{{id}.result}}}}`");
        check.find(code, FindingPlace::Node(at), &format!("inputs.{name}"), message, fix);
    }
}

/// The node that an input means by `{from: id}` or `id.output`.
fn input_of(check: &PlanCheck, value: &Value) -> Option<usize> {
    let text = match value {
        Value::Object(fields) if fields.len() == 1 => {
            let (name, inner) = fields.iter().next()?;
            let names =
                NAMES.node.reference.contains(&name.as_str()) || ["source", "ref", "output_of", "result_of"].contains(&name.as_str());
            return check.graph.position(inner.as_str().filter(|_| names)?);
        }
        Value::String(text) => text,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let id = [".output", ".result"].iter().find_map(|end| text.trim().strip_suffix(end))?;
    check.graph.position(id)
}

/// An author's own data mean nothing, but may say what somebody meant to happen.
fn of_metadata(check: &mut PlanCheck, name: &str, value: &Value) {
    let path = format!("metadata.{name}");
    // An order may be one level further in.
    let inner = value.as_object().into_iter().flatten().map(|(inner, value)| (format!("{path}.{inner}"), inner.as_str(), value));
    let mut orders = [(path.clone(), name, value)].into_iter().chain(inner);
    let (path, message, fix) = if let Some(message) = waiting_nodes(check, DocumentPart::Plan, (name, value), 1) {
        (path, message, None)
    } else if let Some((path, name, value)) = orders.find(|(_, name, value)| says_order(check, name, value)) {
        let message = format!("`{}` says an order, but orders nothing here", legible(&path));
        (path, message, order_said(check, None, name, value))
    } else if let Some(unread) = unread_meaning(check, About::Plan, name, value) {
        (format!("metadata.{}", unread.path), unread.message, unread.fix)
    } else {
        return;
    };
    check.find(Code::WrongShape, FindingPlace::Plan, &path, message, fix);
}

fn of_part(check: &mut PlanCheck, part: DocumentPart, place: FindingPlace, ext: &Map<String, Value>) {
    let dialect = check.plan.dialect;
    for (name, value) in ext {
        let at = if let FindingPlace::Node(at) = place { Some(at) } else { None };
        if let Some(message) = lost_meaning(check, part, at, name, value) {
            let near = if dialect == Dialect::Native && at.is_some() { meant(name, node_fields()) } else { None };
            // Some messages say themselves what is meant.
            let message = if near.is_some_and(|near| message.contains(&format!("means `{near}`"))) {
                message
            } else {
                format!("{message}{}", did_you_mean(near))
            };
            let fix = near.zip(at).and_then(|(near, at)| renamed(check.plan, at, name, near));
            let fix = fix.or_else(|| order_said(check, at, name, value).filter(|_| part != DocumentPart::Edge));
            let fix = fix.or_else(|| asked_at(check, name, value)).filter(|_| part != DocumentPart::Edge);
            // What leads to other nodes is no list of steps.
            let holds_steps = at.filter(|at| linked(check, *at, value).is_empty());
            let fix =
                fix.or_else(|| steps_said(check, holds_steps?, name, value)).or_else(|| steps_as_plan(check, holds_steps?, name, value));
            check.find(Code::WrongShape, place, name, message, fix);
            continue;
        }
        if let Some(unread) = said_unread(check, (part, place), name, value) {
            check.find(Code::WrongShape, place, &unread.path, unread.message, unread.fix);
            continue;
        }
        // Names with this beginning are their author's own.
        if says_nothing(dialect, part, name, value) || name.starts_with(['_', '$']) || name.starts_with("x_") || name.starts_with("x-") {
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
        } else if dialect != Dialect::Native && is_field(Dialect::Native, part, name) && !NAMES.unknown.harmless.contains(&name.as_str()) {
            let message = format!("{form} doesn't use `{name}`: export the plan to the native format and write it there");
            check.find(Code::UnknownField, place, name, message, None);
        } else {
            let is_node = dialect == Dialect::Native && part == DocumentPart::Node;
            let known: Vec<&str> = if is_node { node_fields().collect() } else { known_fields(dialect, part).to_vec() };
            let meant = meant(name, known.into_iter());
            if meant.is_none() && NAMES.unknown.harmless.contains(&name.as_str()) {
                continue;
            }
            // Its gate was read, and reported as one.
            let (gates, others) = if part == DocumentPart::Edge { (Vec::new(), Vec::new()) } else { gates_in(value) };
            if !gates.is_empty() && others.is_empty() {
                continue;
            }
            let renamed = meant.zip(at).filter(|_| is_node).and_then(|(meant, at)| renamed(check.plan, at, name, meant));
            let fix = renamed.or_else(|| said(check, at.filter(|_| part == DocumentPart::Node)?, name, value));
            let shown = legible(name);
            check.find(
                Code::UnknownField,
                place,
                name,
                match gates.first() {
                    Some(gate) => format!("of `{shown}` only `{gate}` is read: {} there does nothing", others.join(", ")),
                    None => format!("{form} has no field `{shown}`, so it does nothing{}", did_you_mean(meant)),
                },
                fix.filter(|_| gates.is_empty()),
            );
        }
    }
}

/// What a field says that is none of the form's own.
fn said_unread(check: &PlanCheck, (part, place): (DocumentPart, FindingPlace), name: &str, value: &Value) -> Option<UnreadMeaning> {
    let dialect = check.plan.dialect;
    if is_field(dialect, part, name) || is_kept(dialect, part, name, &Value::Bool(true)) {
        return None;
    }
    let about = match place {
        FindingPlace::Owner | FindingPlace::Plan => About::Plan,
        FindingPlace::Node(at) => About::Node(at),
        FindingPlace::Edge(at) => About::EdgeTo(check.graph.position(&check.plan.edges[at].to)?),
    };
    unread_meaning(check, about, name, value)
}

/// The fields of an object that ask a person, and the others, each in the words of a message.
fn gates_in(value: &Value) -> (Vec<String>, Vec<String>) {
    let (mut gates, mut others) = (Vec::new(), Vec::new());
    for (name, value) in value.as_object().into_iter().flatten() {
        match gate_within(name, value, 1) {
            Some((path, _)) => gates.push(legible(&path)),
            None => others.push(format!("`{}`", legible(name))),
        }
    }
    (gates, others)
}

/// A node that says in words what it is may do something else by its fields: an approval that is none would ask nobody.
fn of_kind(check: &mut PlanCheck, at: usize, name: &str, value: &Value) {
    let Some(word) = value.as_str().map(plain) else { return };
    let kind = check.plan.nodes[at].kind.name();
    let Some((said, _)) = NAMES.said_kind.iter().find(|(_, words)| words.contains(&word.as_str())) else { return };
    if *said != kind {
        let message = format!("`{name}` says {said}, but by its other fields this is a node of kind {kind}");
        check.find(Code::WrongShape, FindingPlace::Node(at), name, message, None);
    }
}

/// What an author says of an agent's work beside its objective, as a part of that.
fn said(check: &PlanCheck, at: usize, name: &str, value: &Value) -> Option<Fix> {
    let words = match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(|line| Some(format!("- {}", line.as_str()?))).collect::<Option<Vec<_>>>()?.join("\n"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
    };
    let NodeKind::Agent(work) = &check.plan.nodes[at].kind else { return None };
    let objective = work.objective.as_ref().filter(|_| words.len() >= SENTENCE)?;
    let objective = Some(format!("{objective}\n\n{}: {words}", name.replace(['_', '-'], " ")));
    let edit = check.changed(at, |node| {
        node.kind = NodeKind::Agent(AgentNode { objective, ..work.clone() });
        node.ext.shift_remove(name);
    });
    Some(Fix::guess("add it to the objective", edit))
}

/// Steps inside of an agent's node that say in words alone what to do, each after those that it needs: its one agent does them in this
/// order.
fn steps_said(check: &PlanCheck, at: usize, name: &str, value: &Value) -> Option<Fix> {
    let NodeKind::Agent(work) = &check.plan.nodes[at].kind else { return None };
    let objective = work.objective.as_ref()?;
    let (mut done, mut lines) = (Vec::<String>::new(), Vec::new());
    for (number, step) in value.as_array()?.iter().enumerate() {
        let (mut id, mut said) = (String::new(), Vec::new());
        for (field, value) in step.as_object()? {
            match value {
                _ if field == "id" => id = value_text(value),
                // Such as `2`, or `1.2` of the node with the id 1.
                Value::Array(needed) if NAMES.node.depends_on.contains(&field.as_str()) => {
                    let is_done = |id: &Value| done.iter().any(|done| value_text(id).rsplit('.').next() == Some(done.as_str()));
                    needed.iter().all(is_done).then_some(())?;
                }
                Value::String(text) if !text.trim().is_empty() => said.push(format!("{field}: {text}")),
                value if is_quiet(value) => {}
                _ => return None,
            }
        }
        lines.push(format!("{}. {}", number + 1, said.join("\n   ")));
        done.push(id);
    }
    let objective = Some(format!("{objective}\n\n{name}, in this order:\n{}", lines.join("\n")));
    let edit = check.changed(at, |node| {
        node.kind = NodeKind::Agent(AgentNode { objective, ..work.clone() });
        node.ext.shift_remove(name);
    });
    Some(Fix::guess("let its agent do them in this order, as a part of its objective", edit))
}

/// Steps inside of an agent's node that are nodes themselves: the plan of this node, whose objective is the goal of that.
fn steps_as_plan(check: &PlanCheck, at: usize, name: &str, value: &Value) -> Option<Fix> {
    let NodeKind::Agent(work) = &check.plan.nodes[at].kind else { return None };
    let is_native = check.plan.dialect == Dialect::Native && value.as_array().is_some_and(|steps| !steps.is_empty());
    let goal = work.objective.clone().filter(|_| is_native).unwrap_or_default();
    let inner = read(&json!({"goal": goal, "nodes": value}).to_string(), "-").ok()?.0;
    let has_kinds = inner.nodes.iter().all(|node| node.kind != NodeKind::Agent(AgentNode::default()));
    let may = is_native && has_kinds && inner.dialect == Dialect::Native;
    let edit = check.changed(at, |node| {
        node.kind = NodeKind::Subplan(SubplanNode::Inline(Box::new(Plan { source: PlanSource::default(), ..inner })));
        node.ext.shift_remove(name);
    });
    may.then(|| Fix::guess("let them be the plan of this node, in place of its agent", edit))
}

/// From how many bytes on a text is taken for a sentence.
const SENTENCE: usize = 20;

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
