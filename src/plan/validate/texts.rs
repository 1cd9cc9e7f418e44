//! References and conditions: they can be read, name something, and what they read has run by then.

use super::check::{FindingPlace, PlanCheck};
use super::codes::Code;
use super::finding::{Fix, FixKind};
use super::wording::did_you_mean;
use super::wording::legible;
use super::{outcomes, outer, own_state, structure};
use crate::plan::edit::{Edit, with_name};
use crate::plan::expr;
use crate::plan::reference::{references, references_in_text};
use crate::plan::{NodeId, NodeKind, NodeText, Path, Root, TextPlace, names_in_code, node_texts};
use serde_json::Value;
use std::collections::BTreeMap;

/// Where a text stands, which decides what may be read.
#[derive(Clone, Copy, PartialEq)]
enum TextKind {
    Template,
    Condition,
}

/// A node that reads another one which is not next to it: settled in groups at the end.
struct ReadReference {
    place: FindingPlace,
    field: String,
    reader: usize,
    written: String,
}

pub(super) fn check(check: &mut PlanCheck) {
    let mut reads: BTreeMap<usize, Vec<ReadReference>> = BTreeMap::new();
    for at in 0..check.plan.nodes.len() {
        node(check, at, &mut reads);
    }
    let plan = check.plan;
    for (at, edge) in plan.edges.iter().enumerate() {
        let (Some(text), Some(from)) = (&edge.when, check.graph.position(&edge.from)) else { continue };
        if !check.decides(from) {
            condition(check, FindingPlace::Edge(at), "when", text, Some((from, true)), &mut reads);
        }
    }
    for (source, reads) in reads {
        unordered(check, source, reads);
    }
}

type Reads = BTreeMap<usize, Vec<ReadReference>>;

/// The end of a loop is read among the names of its body, once all of that is over.
pub(super) fn until(check: &mut PlanCheck, text: &str) {
    condition(check, FindingPlace::Owner, "until", text, None, &mut BTreeMap::new());
}

fn node(check: &mut PlanCheck, at: usize, reads: &mut Reads) {
    let plan = check.plan;
    let node = &plan.nodes[at];
    node_texts(node, |place, text| match text {
        NodeText::Template(text) => {
            if matches!(node.kind, NodeKind::Approval(_)) {
                filled(check, at, place.field, text);
            }
            template_text(check, at, place.field, text, reads);
        }
        NodeText::Json(value) => template(check, at, place, value, reads),
        NodeText::Code(code) => {
            filled(check, at, place.field, code);
            code_reads(check, at, code);
        }
        NodeText::Expression(text) | NodeText::Condition(text) => {
            condition(check, FindingPlace::Node(at), place.field, text, Some((at, false)), reads);
        }
        NodeText::ResultCondition(text) => condition(check, FindingPlace::Node(at), place.field, text, Some((at, true)), reads),
    });
}

fn filled(check: &mut PlanCheck, at: usize, field: &str, text: &str) {
    if text.trim().is_empty() {
        check.find(Code::EmptyText, FindingPlace::Node(at), field, format!("`{field}` is empty"), None);
    }
}

/// Code gets the results of its direct dependencies and nothing else.
fn code_reads(check: &mut PlanCheck, at: usize, code: &str) {
    let node = check.graph.id(at).clone();
    for name in names_in_code(code, "deps") {
        let source = check.graph.position(name);
        if source.is_some_and(|source| check.graph.predecessors(at).any(|other| other == source)) {
            continue;
        }
        let shown = legible(name);
        let (code, message, fix) = match source {
            None if outer::find(check, name).is_some() => {
                let words = "a node outside this body: name it in `inputs` of the node around";
                (Code::OuterReference, format!("the code reads `deps.{shown}`, {words}, and read `inputs.{shown}`"), None)
            }
            None => {
                let near = check.nearest_node(name, Some(&node));
                let words = format!("the code reads `deps.{shown}`, but there is no such node{}", did_you_mean(near.as_deref()));
                (Code::UnknownReference, words, None)
            }
            Some(source) => {
                let fix = dependency(check, source, at);
                (Code::CodeReads, format!("the code reads `deps.{shown}`, but `{node}` doesn't depend on it"), fix)
            }
        };
        check.find(code, FindingPlace::Node(at), "code", message, fix);
    }
}

fn template_text(check: &mut PlanCheck, at: usize, field: &str, text: &str, reads: &mut Reads) {
    if text.contains("{{") || text.contains("$OUTPUT[") {
        settle(check, at, field, references_in_text(text, check), reads);
    }
}

fn template(check: &mut PlanCheck, at: usize, place: TextPlace, value: &Value, reads: &mut Reads) {
    match value {
        Value::String(text) => template_text(check, at, &place.path(), text, reads),
        Value::Array(_) | Value::Object(_) => settle(check, at, &place.path(), references(value, check), reads),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn settle(check: &mut PlanCheck, at: usize, field: &str, found: Vec<crate::plan::reference::Reference>, reads: &mut Reads) {
    let place = FindingPlace::Node(at);
    for reference in found {
        if let Some(error) = &reference.error {
            let message = format!("`{}` can't be read: {error}; for literal braces write `\\{{{{`", legible(&reference.text));
            check.find(Code::BadReference, place, field, message, None);
        }
        let number = reference.text.trim_matches(['{', '}', ' ']);
        if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && reference.paths.is_empty() {
            let written = legible(&reference.text);
            let message = format!("`{written}` is the number {} here: a node is read by its id, as in `{{{{id}}}}`", legible(number));
            check.find(Code::ForeignReference, place, field, message, None);
        }
        for path in &reference.paths {
            mention(check, place, field, path, &reference.text, TextKind::Template, Some((at, false)), reads);
        }
    }
}

fn condition(check: &mut PlanCheck, place: FindingPlace, field: &str, text: &str, reader: Option<(usize, bool)>, reads: &mut Reads) {
    if text.trim().is_empty() {
        check.find(Code::EmptyText, place, field, format!("`{field}` is empty"), None);
        return;
    }
    match expr::check(text, check) {
        Err(error) => {
            let fix = without_braces(check, place, text);
            check.find(Code::BadCondition, place, field, format!("`{}` can't be read: {error}", legible(text)), fix);
        }
        Ok(paths) => {
            for path in paths {
                mention(check, place, field, &path, &path.to_string(), TextKind::Condition, reader, reads);
            }
        }
    }
}

/// The condition without the braces that references have in other texts.
fn without_braces(check: &PlanCheck, place: FindingPlace, text: &str) -> Option<Fix> {
    let bare = text.replace("{{", "").replace("}}", "").replace("${", "").replace('}', "");
    if bare == text
        || text.contains(['"', '\'']) && text.matches("{{").count() + text.matches("${").count() != 1
        || expr::check(&bare, check).is_err()
    {
        return None;
    }
    let edit = own_state::changed(check.plan, place, text, &bare)?;
    Some(Fix::safe(format!("write `{}`", legible(bare.trim())), edit))
}

/// `reader` is the node whose ancestors may be read, and whether it may be read itself.
#[expect(clippy::too_many_arguments, reason = "the place and the kind of one mention; a struct would be built for this call alone")]
fn mention(
    check: &mut PlanCheck,
    place: FindingPlace,
    field: &str,
    path: &Path,
    written: &str,
    kind: TextKind,
    reader: Option<(usize, bool)>,
    reads: &mut Reads,
) {
    let known = path.node().and_then(|id| check.graph.position(id));
    match (&path.root, known) {
        (Root::Node(_) | Root::Entry(_), Some(source)) => {
            let Some((reader, itself)) = reader else { return };
            let near = (source == reader && itself) || check.graph.predecessors(reader).any(|other| other == source);
            own_state::check(check, place, field, path, source);
            if !near {
                reads.entry(source).or_default().push(ReadReference {
                    place,
                    field: field.to_owned(),
                    reader,
                    written: written.to_owned(),
                });
            }
        }
        (Root::Node(id) | Root::Entry(id) | Root::Unknown(id), _) => {
            let is_outcome = field == "when" && kind == TextKind::Condition && !check.around.is_open && outcomes::report(check, place, id);
            if !is_outcome && !outer::report(check, place, field, id) {
                unknown(check, place, field, (path, id), kind, reader);
            }
        }
        (Root::Inputs, _) => {
            if let Some(name) = path.fields.first().filter(|name| !check.around.inputs.contains_key(*name)) {
                unknown_input(check, place, field, name, kind);
            }
        }
        (Root::Input(_), _) => {}
    }
}

/// The results of a workflow become inputs as it goes, so there a name may be known later: a condition that it fails to find reads null.
fn unknown(
    check: &mut PlanCheck,
    place: FindingPlace,
    field: &str,
    (path, id): (&Path, &str),
    kind: TextKind,
    reader: Option<(usize, bool)>,
) {
    // What can't read itself isn't told to.
    let reader = reader.filter(|(_, itself)| !itself).map(|(reader, _)| check.graph.id(reader).clone());
    let found = structure::found_name(check, id, reader.as_ref().unwrap_or(&NodeId::new("")), true);
    let fix = own_state::unwrapped(check, place, path)
        .or_else(|| found.as_ref().zip(reader.as_ref()).and_then(|((near, kind), _)| renamed(check, place, id, near, *kind)));
    let near = found.map(|(near, _)| near);
    let name = legible(id);
    let (code, words) = match kind {
        TextKind::Condition if check.around.is_open => return,
        TextKind::Template if check.around.is_open => (Code::UnknownInput, format!("is neither a node nor an input yet: {LATER}")),
        TextKind::Template => (Code::UnknownReference, "is neither a node nor an input of the plan".to_owned()),
        TextKind::Condition => (Code::UnknownName, "is neither a node nor an input of the plan, so it reads null".to_owned()),
    };
    check.find(code, place, field, format!("`{name}` {words}{}", did_you_mean(near.as_deref())), fix);
}

/// The node with one name in its texts put in the place of another, as after a renaming.
fn renamed(check: &PlanCheck, place: FindingPlace, from: &str, to: &NodeId, kind: FixKind) -> Option<Fix> {
    let FindingPlace::Node(at) = place else { return None };
    let node = with_name(&check.plan.nodes[at], from, to, &check.plan.inputs);
    (node != check.plan.nodes[at]).then(|| Fix::new(kind, format!("read `{to}`"), Edit::SpliceNodes { at, remove: 1, insert: vec![node] }))
}

/// What must come true for a text of a workflow that names what is not known before.
const LATER: &str = "an earlier result must provide it, or the node fails";

fn unknown_input(check: &mut PlanCheck, place: FindingPlace, field: &str, name: &str, kind: TextKind) {
    let name_shown = legible(name);
    let message = match kind {
        TextKind::Condition if check.around.is_open => return,
        TextKind::Template if check.around.is_open => format!("there is no input `{name_shown}` yet: {LATER}"),
        TextKind::Template | TextKind::Condition if check.around.outer.is_some() => {
            format!("there is no input `{name_shown}` here: add it to the `inputs` of the node around, or of the plan")
        }
        TextKind::Template | TextKind::Condition => {
            let how = format!("add it to the plan's inputs, or set it at the start with `--set {name_shown}=…`");
            format!("the plan has no input `{name_shown}`: {how}")
        }
    };
    let mut inputs = check.plan.inputs.clone();
    inputs.insert(name.to_owned(), Value::String(String::new()));
    let fix = Fix::guess(format!("add an empty input `{name_shown}`"), Edit::SetInputs { inputs });
    check.find(Code::UnknownInput, place, field, message, Some(fix));
}

/// One source and those that read it from afar. Few readers look back to it; many are found by looking forward once.
fn unordered(check: &mut PlanCheck, source: usize, reads: Vec<ReadReference>) {
    let after = check.graph.descendants(source);
    for read in reads {
        if after[read.reader] {
            continue;
        }
        let (source_id, reader_id) = (check.graph.id(source).clone(), check.graph.id(read.reader).clone());
        let message = if source == read.reader {
            format!("`{}` reads the node itself, which has no result yet", legible(&read.written))
        } else {
            format!("`{}` reads `{source_id}`, which may not have run yet: `{reader_id}` doesn't depend on it", legible(&read.written))
        };
        let fix = dependency(check, source, read.reader).or_else(|| backwards(check, source, &read));
        check.find(Code::UnorderedReference, read.place, &read.field, message, fix);
    }
}

/// A node that reads what can't come before it: what waits for it the wrong way round is turned, and what reads itself reads its only
/// dependency instead.
fn backwards(check: &PlanCheck, source: usize, read: &ReadReference) -> Option<Fix> {
    let (node, on) = (check.graph.id(read.reader).clone(), check.graph.id(source).clone());
    if check.plan.dialect.walks() || check.graph.position(&node) != Some(read.reader) {
        return None;
    }
    let mut sources = check.graph.predecessors(read.reader);
    if let (Some(only), None) = (sources.next(), sources.next())
        && only != read.reader
    {
        return renamed(check, read.place, &on, &check.graph.id(only).clone(), FixKind::Guess);
    }
    let is_direct = source != read.reader && check.graph.predecessors(source).any(|other| other == read.reader);
    let turned =
        vec![Edit::RemoveDependency { node: on.clone(), on: node.clone() }, Edit::AddDependency { node: node.clone(), on: on.clone() }];
    is_direct.then(|| Fix::guess(format!("let `{node}` wait for `{on}` instead"), Edit::batch(turned)))
}

/// An edge, if it closes no cycle. In a walk it would be another way to go, not something to wait for.
fn dependency(check: &mut PlanCheck, source: usize, reader: usize) -> Option<Fix> {
    let is_second = check.graph.position(check.graph.id(reader)) != Some(reader);
    if is_second || source == reader || check.plan.dialect.walks() || !check.may_suggest() || check.graph.closes(source, reader).is_some() {
        return None;
    }
    let (node, on) = (check.graph.id(reader).clone(), check.graph.id(source).clone());
    Some(Fix::safe(format!("make `{node}` depend on `{on}`"), Edit::AddDependency { node, on }))
}
